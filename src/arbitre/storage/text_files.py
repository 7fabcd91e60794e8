"""Write result files: atomic text files and JSON."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO

from arbitre.errors import DataError
from arbitre.storage.files import atomic_file
from arbitre.storage.output_folder import output_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


_NEAR: Final = 20
"""Number of characters that a message shows on either side of an error."""


@contextmanager
def atomic_text_file(path: Path) -> Iterator[TextIO]:
    """Open a text file that replaces `path` when the block ends, or is discarded if the block raises.

    For the files of an `output_folder`.

    Raises DataError if it cannot be written, or if a text for it has a lone surrogate, such as a file name that is not
    Unicode.
    """
    with _unicode_only(path), atomic_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file


@contextmanager
def output_text_file(path: Path) -> Iterator[TextIO]:
    """Open a single text file like `atomic_text_file`. It replaces only a file that arbitre wrote (`output_file`)."""
    with _unicode_only(path), output_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file


@contextmanager
def _unicode_only(path: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeEncodeError as error:
        near = error.object[max(error.start - _NEAR, 0) : error.end + _NEAR]
        raise DataError.of(
            f"Expected Unicode text, got the lone surrogate {error.object[error.start]!r} in {near!r}",
            file=str(path),
            hint="Rename the file, or correct the id or the text.",
        ) from error
