"""A temporary file for documents that no plain file holds as they are compared."""

from __future__ import annotations

import json
import os
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from arbitre.corpus.records import Place

if TYPE_CHECKING:
    from arbitre.values import Json


SPOOL: Final = ".spool"
"""How the names of these files end."""


class Spool:
    """JSON texts one after the other, in a file that is made with the first and goes with this object.

    What is unpacked, built by an expression, repaired, read from a table or from standard input is kept here, so that
    any process of the machine reads it by its place. The file stands where temporary files stand (`tempfile`).
    """

    def __init__(self) -> None:
        self._file: BinaryIO | None = None
        self._name = ""
        self._size = 0

    def keep(self, value: Json) -> Place:
        """Write a document; where it stands."""
        text = json.dumps(value).encode()
        if self._file is None:
            self._file = self._made()
        self._file.write(text)
        self._size += len(text)
        return Place(self._name, self._size - len(text), len(text))

    def flush(self) -> None:
        """Let others read what was written."""
        if self._file is not None:
            self._file.flush()

    def _made(self) -> BinaryIO:
        handle, self._name = tempfile.mkstemp(prefix="arbitre-", suffix=SPOOL)
        file = os.fdopen(handle, "wb")
        weakref.finalize(self, _remove, file, self._name, os.getpid())
        return file


def _remove(file: BinaryIO, name: str, owner: int) -> None:
    """Forked processes have the object too, but the file is not theirs."""
    if os.getpid() == owner:
        with suppress(OSError):
            file.close()
            Path(name).unlink()
