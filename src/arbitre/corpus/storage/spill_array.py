"""Append-only arrays in memory or in temporary files."""

from __future__ import annotations

import mmap
import tempfile
import weakref
from typing import Any, BinaryIO, Final, cast

import numpy as np
import numpy.typing as npt

from arbitre.corpus.storage.temporary import temporary_space

MEMORY_LIMIT: Final = 1 << 26
"""Maximum size of an array in memory, in bytes (64 MiB)."""

_CHUNK_BYTES: Final = 1 << 16
"""Maximum number of zero bytes written at once."""


class SpillArray:
    """Append-only array of rows with one dtype and shape.

    Beyond `memory_limit` bytes the rows move to a temporary file, which is mapped into memory and deleted with its last
    view. Methods raise DataError if the disk is full.
    """

    def __init__(self, dtype: npt.DTypeLike, *shape: int, memory_limit: int | None = None) -> None:
        """Create an empty array.

        Args:
            dtype: The type of the values.
            *shape: The shape of one row.
            memory_limit: Maximum size in memory, in bytes; None for `MEMORY_LIMIT`.
        """
        self._dtype, self._shape = np.dtype(dtype), shape
        self._limit = MEMORY_LIMIT if memory_limit is None else memory_limit
        self._bytes = self._dtype.itemsize * int(np.prod(shape))
        self._held, self._size = bytearray(), 0
        self._file: BinaryIO | None = None
        self._mapped: npt.NDArray[Any] | None = None

    def __len__(self) -> int:
        return self._size // self._bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._dtype, self._shape, self._limit, self.view().tobytes())

    def write(self, data: bytes | bytearray) -> None:
        """Append rows given as bytes. Fails while a view of an array in memory exists."""
        if self._size + len(data) <= self._limit:
            self._held += data
        else:
            with temporary_space():
                if self._file is None:
                    self._file = cast("BinaryIO", tempfile.TemporaryFile(prefix="arbitre-"))  # noqa: SIM115
                    weakref.finalize(self, self._file.close)
                    self._file.write(self._held)
                    self._held = bytearray()
                self._file.write(data)
            self._mapped = None
        self._size += len(data)

    def extend(self, rows: npt.ArrayLike) -> None:
        """Append rows, shape (n, *shape)."""
        self.write(np.asarray(rows, dtype=self._dtype).tobytes())

    def pad(self, rows: int) -> None:
        """Append zeros until the array has this many rows."""
        missing = rows * self._bytes - self._size
        for start in range(0, missing, _CHUNK_BYTES):
            self.write(bytes(min(_CHUNK_BYTES, missing - start)))

    def view(self) -> npt.NDArray[Any]:
        """Return all rows without copying them, shape (n, *shape)."""
        if self._file is None:
            return self._shaped(self._held)
        if self._mapped is None:
            with temporary_space():
                self._file.flush()
                self._mapped = self._shaped(mmap.mmap(self._file.fileno(), self._size))
        return self._mapped

    def _shaped(self, buffer: bytearray | mmap.mmap) -> npt.NDArray[Any]:
        return np.frombuffer(buffer, self._dtype).reshape(-1, *self._shape)


def _restored(dtype: np.dtype[Any], shape: tuple[int, ...], memory_limit: int, data: bytes) -> SpillArray:
    """Return a pickled array."""
    array = SpillArray(dtype, *shape, memory_limit=memory_limit)
    array.write(data)
    return array


def spill_zeros(rows: int, width: int) -> npt.NDArray[np.float64]:
    """Return zeros, shape (rows, width), in a temporary file if large. Raises DataError if the disk is full."""
    column = SpillArray(np.float64, width)
    column.pad(rows)
    return column.view()
