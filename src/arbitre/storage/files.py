"""Atomic file writing, names of files, and errors for files that cannot be read or written."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arbitre.errors import DataError, folder_problem

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Write a file atomically.

    Yields:
        Temporary path in the same folder. It replaces `path` when the block ends and is deleted if the block raises.

    Raises:
        DataError: The file cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield part
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error


def unreadable(path: Path, error: Exception) -> DataError:
    """Return the error for a file that cannot be opened, read or decompressed."""
    if isinstance(error, IsADirectoryError):
        return DataError(folder_problem(path))
    return DataError.of(
        f"Cannot read the file: {getattr(error, 'strerror', None) or error}",
        file=str(path),
        hint="Check the name and the permissions.",
    )


def unwritable(path: Path, error: OSError) -> DataError:
    """Return the error for a file that cannot be written."""
    return DataError.of(
        f"Cannot write the file: {error.strerror or error}",
        file=str(path),
        hint="Check the name and the permissions, or choose another folder.",
    )


_DEVICES: Final = frozenset(
    (
        "con",
        "prn",
        "aux",
        "nul",
        "conin$",
        "conout$",
        *(f"{port}{number}" for port in ("com", "lpt") for number in "123456789¹²³"),
    )
)
"""Names that Windows reserves for devices, in every folder and with any suffix."""


def is_file_name(name: str) -> bool:
    """Return whether a name can be that of a file or a folder on every system.

    >>> names = ["page 1", "a/b", "..", "con", "Nul.json", "COM1.tar.gz", "console", "page."]
    >>> [name for name in names if is_file_name(name)]
    ['page 1', 'console']
    """
    if name in {"", ".", ".."} or Path(name).name != name or "\0" in name or name[-1] in ". ":
        return False
    return name.partition(".")[0].rstrip().lower() not in _DEVICES
