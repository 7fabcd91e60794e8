"""Atomic file writing, and errors for files that cannot be read or written."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from arbitre.errors import DataError, folder_problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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
