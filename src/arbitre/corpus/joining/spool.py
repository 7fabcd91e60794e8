"""Temporary file for documents that are not in a plain file."""

from __future__ import annotations

import json
import os
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from arbitre.corpus.reading.records import ByteRange
from arbitre.corpus.storage.database import temporary_space

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
        self._file: BinaryIO | None = None
        self._name, self._size = "", 0

    def keep(self, value: Json) -> ByteRange:
        """Write a document and return its place. Raises DataError if the disk is full."""
        text = json.dumps(value).encode()
        with temporary_space():
            if self._file is None:
                handle, self._name = tempfile.mkstemp(SPOOL, "arbitre-")
                self._file = os.fdopen(handle, "wb")
                weakref.finalize(self, _remove, self._file, self._name, os.getpid())
            self._file.write(text)
        self._size += len(text)
        return ByteRange(self._name, self._size - len(text), len(text))

    def flush(self) -> None:
        """Flush the file, so that other processes can read it."""
        if self._file is not None:
            with temporary_space():
                self._file.flush()


def _remove(file: BinaryIO, name: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked process does not own the file
        with suppress(OSError):
            file.close()
            Path(name).unlink()
