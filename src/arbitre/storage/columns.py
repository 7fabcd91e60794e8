"""Memory-compact columns: append-only arrays, tables of the smallest exact types, and sequences created on access."""

from __future__ import annotations

import math
import mmap
import sys
from abc import abstractmethod
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arbitre.arrays import Floats


TYPES: Final[tuple[np.dtype[Any], ...]] = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.float64))
"""Types of columns. Most masses and outcomes are small whole numbers: a path takes 26 bytes instead of 96."""


MAPPED: Final = 1 << 20
"""Size in bytes from which an array is a memory map of its own, of which only the written pages take memory.

Arrays that grow side by side on the heap leave holes of five times their size (200,000 documents).
"""


class GrowingArray:
    """Append-only array of rows with one dtype and shape.

    >>> array = GrowingArray(np.float64, 2)
    >>> array.extend([[0.5, 1.0]])
    >>> array.pad(2)
    >>> array.view().tolist()
    [[0.5, 1.0], [0.0, 0.0]]
    """

    def __init__(self, dtype: npt.DTypeLike, *shape: int) -> None:
        """Create an empty array.

        Args:
            dtype: The type of the values.
            *shape: The shape of one row.
        """
        self._dtype, self._shape = np.dtype(dtype), shape
        self._row_bytes = self._dtype.itemsize * math.prod(shape)
        self._data: bytearray | mmap.mmap = bytearray()
        self._size = 0

    def __len__(self) -> int:
        return self._size // self._row_bytes

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_data": bytearray(self._data[: self._size])}

    def write(self, data: bytes) -> None:
        """Append rows given as bytes. Fails while a view exists."""
        size = self._size + len(data)
        if isinstance(self._data, bytearray):
            self._data += data
            if size > MAPPED and sys.platform == "linux":  # only Linux moves pages instead of copying them
                known, self._data = self._data, _memory_map(2 * size)
                self._data[:size] = bytes(known)
        else:
            if size > len(self._data):
                self._data.resize(2 * size)
            self._data[self._size : size] = data
        self._size = size

    def extend(self, rows: npt.ArrayLike) -> None:
        """Append rows, shape (n, *shape). Fails while a view exists."""
        self.write(np.asarray(rows, dtype=self._dtype).tobytes())

    def pad(self, rows: int) -> None:
        """Append zeros until the array has this many rows. Fails while a view exists."""
        self.write(bytes(max(0, rows * self._row_bytes - self._size)))

    def view(self) -> npt.NDArray[Any]:
        """Return all rows without copying them, shape (n, *shape)."""
        return np.frombuffer(self._data, self._dtype, len(self) * math.prod(self._shape)).reshape(-1, *self._shape)


def _memory_map(size: int) -> mmap.mmap:
    """Return a memory map without a file, which can grow."""
    return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # a shared one cannot be written after it grew


class CompactTable:
    """Append-only table of floats, whose columns are stored exactly, in as few bytes as their values allow.

    >>> table = CompactTable(2)
    >>> table.extend(np.array([[3.0, 0.25], [300.0, 0.0]]))
    >>> table.floats().tolist(), [column.dtype.name for column in table.columns()]
    ([[3.0, 0.25], [300.0, 0.0]], ['uint16', 'float64'])
    """

    def __init__(self, width: int) -> None:
        self._columns = [GrowingArray(TYPES[0]) for _ in range(width)]
        self._types: list[np.dtype[Any]] = [TYPES[0]] * width

    @classmethod
    def of(cls, rows: Floats) -> Self:
        """Create a table of these rows, shape (n, width)."""
        table = cls(rows.shape[1])
        table.extend(rows)
        return table

    @classmethod
    def of_columns(cls, columns: Sequence[npt.NDArray[Any]]) -> Self:
        """Create a table of columns of some of the `TYPES`, each of shape (n,)."""
        table = cls(0)
        for values in columns:
            table._types.append(values.dtype)
            table._columns.append(GrowingArray(values.dtype))
            table._columns[-1].extend(values)
        return table

    def __len__(self) -> int:
        return len(self._columns[0])

    def extend(self, rows: Floats) -> None:
        """Append rows, shape (n, width). Fails while a view of a column exists."""
        for at, values in enumerate(np.ascontiguousarray(rows.T)):
            known = self._types[at]
            kind = next(kind for kind in TYPES[TYPES.index(known) :] if _holds(kind, values))
            if kind != known:
                earlier = self._columns[at].view()
                self._types[at], self._columns[at] = kind, GrowingArray(kind)
                self._columns[at].extend(earlier)
            self._columns[at].extend(values)

    def pad(self, rows: int) -> None:
        """Append zeros until the table has this many rows."""
        for column in self._columns:
            column.pad(rows)

    def columns(self) -> list[npt.NDArray[Any]]:
        """Return the columns, each of shape (n,), without copying them."""
        return [column.view() for column in self._columns]

    def floats(self, width: int | None = None) -> Floats:
        """Return the first `width` columns, by default all, as floats; shape (n, width)."""
        columns = self.columns()[:width]
        table = np.empty((len(self), len(columns)))
        for at, column in enumerate(columns):
            table[:, at] = column
        return table

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:  # noqa: FBT001
        """Return all rows as floats, shape (n, width)."""
        return self.floats() if dtype is None else self.floats().astype(dtype)


def _holds(kind: np.dtype[Any], values: Floats) -> bool:
    """Return whether a type represents values exactly, bit for bit when converted back."""
    with np.errstate(invalid="ignore"):
        same = values.astype(kind).astype(np.float64)
    return np.array_equal(same.view(np.int64), values.view(np.int64))


# Memory-compact sequences whose values are created on access.


T_co = TypeVar("T_co", covariant=True)

CHUNK_ROWS: Final = 1024
"""Number of values created at once while iterating."""


class LazySequence(Sequence[T_co]):
    """A sequence that creates its values on access. It equals any sequence of equal values."""

    __slots__ = ()

    @abstractmethod
    def at(self, rows: npt.ArrayLike) -> Iterator[T_co]:
        """Yield the values at these row indices (from 0), shape (n,)."""

    def __iter__(self) -> Iterator[T_co]:
        for begin in range(0, len(self), CHUNK_ROWS):
            yield from self.at(np.arange(begin, min(begin + CHUNK_ROWS, len(self))))

    @overload
    def __getitem__(self, at: int) -> T_co: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[T_co, ...]: ...
    def __getitem__(self, at: int | slice) -> T_co | tuple[T_co, ...]:
        chosen = range(len(self))[at]
        if isinstance(chosen, range):
            return tuple(self.at(chosen))
        return next(self.at([chosen]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)})"


class StringArray(LazySequence[str]):
    """Strings stored as concatenated UTF-8. Each takes 8 bytes in addition to its text.

    >>> texts = StringArray.of(["page_02", "é"])
    >>> texts[1], list(texts), len(texts)
    ('é', ['page_02', 'é'], 2)
    """

    __slots__ = ("_bytes", "_ends")

    def __init__(self) -> None:
        self._bytes, self._ends = GrowingArray(np.uint8), GrowingArray("<i8")

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Create an array of these strings."""
        array = cls()
        array.extend(texts)
        return array

    def __len__(self) -> int:
        return len(self._ends)

    def extend(self, texts: Iterable[str]) -> None:
        """Append strings."""
        texts = iter(texts)
        while chunk := [encoded(text) for text in islice(texts, CHUNK_ROWS)]:
            self._ends.extend(len(self._bytes) + np.cumsum(list(map(len, chunk)), dtype=np.int64))
            self._bytes.write(b"".join(chunk))

    def at(self, rows: npt.ArrayLike) -> Iterator[str]:
        """Yield the strings at these row indices, shape (n,)."""
        numbers, ends, data = np.asarray(rows, dtype=np.intp), self._ends.view(), self._bytes.view().data
        starts = np.where(numbers > 0, ends[numbers - 1], 0) if len(numbers) else numbers
        for start, end in zip(starts.tolist(), ends[numbers].tolist(), strict=True):
            yield str(data[start:end], errors="surrogatepass")


def encoded(text: str) -> bytes:
    """Encode a string as UTF-8, including lone surrogates."""
    return text.encode(errors="surrogatepass")
