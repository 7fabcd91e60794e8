"""Temporary file for documents that are not in a plain file."""

from __future__ import annotations

import json
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from arbitre.corpus.reading.records import ByteRange
from arbitre.corpus.storage.temporary import TemporaryFolder, temporary_space

if TYPE_CHECKING:
    from arbitre.values import Json

SPOOL: Final = ".spool"
"""Suffix of the temporary files."""


class Spool:
    """Temporary file of JSON texts, created with the first text and deleted with this object.

    It stores documents that were decompressed, projected, repaired, or read from a table or standard input, so that
    any process on this machine can read them.
    """

    def __init__(self) -> None:
        self._folder: TemporaryFolder | None = None
        self._file: BinaryIO | None = None
        self._name, self._size = "", 0

    def keep(self, value: Json) -> ByteRange:
        """Write a document and return its place. Raises DataError if the disk is full."""
        text = json.dumps(value).encode()
        with temporary_space():
            if self._file is None:
                self._folder = TemporaryFolder()
                self._name = str(self._folder.path / f"documents{SPOOL}")
                self._file = Path(self._name).open("wb")  # noqa: SIM115
                weakref.finalize(self, self._file.close)
            self._file.write(text)
        self._size += len(text)
        return ByteRange(self._name, self._size - len(text), len(text))

    def flush(self) -> None:
        """Flush the file, so that other processes can read it."""
        if self._file is not None:
            with temporary_space():
                self._file.flush()
