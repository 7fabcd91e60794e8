"""Atomic files, names of files, and errors for files that cannot be read or written."""

from __future__ import annotations

import errno
import os
import re
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, TextIO

from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


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


_NEAR: Final = 20
"""Number of characters that a message shows on either side of an error."""


@contextmanager
def atomic_text_file(path: Path) -> Iterator[TextIO]:
    """Open a text file that replaces `path` when the block ends, or is discarded if the block raises.

    For the files of an `output_folder`.

    Raises DataError if it cannot be written, or if a text for it has a lone surrogate, such as a file name that is not
    Unicode.
    """
    with unicode_only(path), atomic_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file


@contextmanager
def unicode_only(path: Path) -> Iterator[None]:
    """Raise DataError if a text that is written to a file in the block has a lone surrogate."""
    try:
        yield
    except UnicodeEncodeError as error:
        near = error.object[max(error.start - _NEAR, 0) : error.end + _NEAR]
        raise DataError.of(
            f"Expected Unicode text, got the lone surrogate {error.object[error.start]!r} in {near!r}",
            file=str(path),
            hint="Rename the file, or correct the id or the text.",
        ) from error


FREE_SPACE: Final = "Free some space there, or choose a folder on another disk."
"""Hint if a disk is full."""
_WRITE_HINTS: Final = {
    errno.ENOSPC: FREE_SPACE,
    errno.EDQUOT: FREE_SPACE,
    errno.EFBIG: "Raise the limit on the size of files (ulimit -f), or choose a folder on another disk.",
}


def unwritable(path: Path, error: OSError) -> DataError:
    """Return the error for a file that cannot be written."""
    otherwise = "Check the name and the permissions, or choose another folder."
    hint = otherwise if error.errno is None else _WRITE_HINTS.get(error.errno, otherwise)
    return DataError.of(f"Cannot write the file: {error.strerror or error}", file=str(path), hint=hint)


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


def is_path_inside(path: str) -> bool:
    """Return whether a path is relative and normalized, with forward slashes and no `..`: it cannot leave its folder.

    >>> paths = ["a.json", "documents/a.json", "/a.json", "../a.json", "documents/../a.json", "./a.json", ""]
    >>> [path for path in paths if is_path_inside(path)]
    ['a.json', 'documents/a.json']
    """
    pure = PurePath(path)
    return pure.as_posix() == path and not pure.anchor and pure.name != "" and not {"..", "\0"} & {*pure.parts, *path}


_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+:)/")
"""Start of a URL; `Path` turns its two slashes into one. The name of a drive, as in `C:/`, has one letter only."""


def check_is_local(path: str | Path) -> None:
    """Raise DataError if a path is a URL, such as `s3://bucket/out`, not a path of this machine.

    >>> check_is_local("s3://bucket/out")
    Traceback (most recent call last):
    arbitre.errors.DataError: s3://bucket/out: Expected a path of this machine, got a URL
      Copy the files with the tools of the service, or mount it as a folder.
    """
    found = _URL.match(str(path))
    if found is not None and not os.path.lexists(found[1]):
        shown = re.sub(r":/+", "://", str(path), count=1)
        raise DataError.of(
            "Expected a path of this machine, got a URL",
            file=shown,
            hint="Copy the files with the tools of the service, or mount it as a folder.",
        )


def remove_folders(folders: Iterable[Path]) -> None:
    """Remove folders that are empty, the innermost first."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()
