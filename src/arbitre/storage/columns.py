"""Memory-compact columns: append-only arrays, tables of the smallest exact types, and sequences created on access."""

from __future__ import annotations

import mmap
import sys
from abc import abstractmethod
from collections.abc import Sequence
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arbitre.arrays import Floats


TYPES: Final[tuple[np.dtype[Any], ...]] = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.float64))
"""Types of columns. Most masses and outcomes are small integers: a path then needs 26 bytes per document, not 96."""

MAPPED: Final = 1 << 16
"""Size in bytes above which an array gets its own memory map, in which only written pages use memory.

On the heap, arrays that grow side by side fragment memory to five times their size (measured with 200,000 documents).
"""


class GrowingArray:
    """Append-only array of values of one dtype.

    >>> array = GrowingArray(np.float64)
    >>> array.extend([0.5, 1.0])
    >>> array.pad(3)
    >>> array.view().tolist()
    [0.5, 1.0, 0.0]
    """

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self._data: bytearray | mmap.mmap = bytearray()
        self._size = 0

    def __len__(self) -> int:
        return self._size // self.dtype.itemsize

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_data": bytearray(self._data[: self._size])}

    def write(self, data: bytes) -> None:
        """Append values given as bytes. Fails while a view exists."""
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

    def extend(self, values: npt.ArrayLike) -> None:
        """Append values, shape (n,). Fails while a view exists."""
        self.write(np.asarray(values, dtype=self.dtype).tobytes())

    def pad(self, size: int) -> None:
        """Append zeros until the array has this many values. Fails while a view exists."""
        self.write(bytes(max(0, size * self.dtype.itemsize - self._size)))

    def view(self) -> npt.NDArray[Any]:
        """Return all values without copying them, shape (n,)."""
        return np.frombuffer(self._data, self.dtype, len(self))


def _memory_map(size: int) -> mmap.mmap:
    """Return a memory map without a file, which can grow."""
    return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # a shared one cannot be written after it grew


class CompactColumn:
    """Append-only column of floats, stored exactly, in the smallest type that holds them; no bytes if all are equal.

    Two thirds of the columns of a corpus are constant, such as outcomes that its schema excludes.

    >>> column = CompactColumn()
    >>> column.extend(np.array([3.0, 3.0]))
    >>> column.view().strides, column.view().tolist()
    ((0,), [3, 3])
    >>> column.extend(np.array([0.25]))
    >>> column.view().dtype.name, column.view().tolist()
    ('float64', [3.0, 3.0, 0.25])
    """

    def __init__(self) -> None:
        self._dtype, self._size = TYPES[0], 0
        self._value, self._array = np.zeros(1), None  # type: tuple[Floats, GrowingArray | None]

    def __len__(self) -> int:
        return self._size if self._array is None else len(self._array)

    def extend(self, numbers: npt.NDArray[Any]) -> None:
        """Append numbers, shape (n,). Fails while a view exists of a column that is not constant."""
        values = np.ascontiguousarray(numbers, dtype=np.float64)
        if self._array is None:
            first = self._value if self._size else values[:1]
            if not (values.view(np.int64) != first.view(np.int64)).any():
                self._repeat(first, len(values))
                return
        kind = next(kind for kind in TYPES[TYPES.index(self._dtype) :] if _holds(kind, values))
        if kind != self._dtype or self._array is None:
            earlier, self._dtype, self._array = self.view(), kind, GrowingArray(kind)
            self._array.extend(earlier)
        self._array.extend(values)

    def pad(self, rows: int) -> None:
        """Append zeros until the column has this many rows."""
        if self._array is None:
            self.extend(np.zeros(max(0, rows - self._size)))
        else:
            self._array.pad(rows)

    def view(self) -> npt.NDArray[Any]:
        """Return all values without copying them, shape (n,)."""
        if self._array is None:
            return np.broadcast_to(self._value.astype(self._dtype), self._size)
        return self._array.view()

    def _repeat(self, value: Floats, times: int) -> None:
        """Append a value, shape (1,), that is equal to all values before it."""
        if times and not self._size:
            self._value = value.copy()
            self._dtype = next(kind for kind in TYPES if _holds(kind, value))
        self._size += times


class CompactTable:
    """Append-only table of compact columns.

    >>> table = CompactTable(2)
    >>> table.extend(np.array([[3.0, 0.25], [300.0, 0.0]]))
    >>> table.floats().tolist(), [column.dtype.name for column in table.columns()]
    ([[3.0, 0.25], [300.0, 0.0]], ['uint16', 'float64'])
    """

    def __init__(self, width: int) -> None:
        self._columns = [CompactColumn() for _ in range(width)]

    @classmethod
    def of_columns(cls, columns: Iterable[npt.NDArray[Any]]) -> Self:
        """Create a table of columns of numbers, each of shape (n,)."""
        table = cls(0)
        for values in columns:
            table._columns.append(CompactColumn())
            table._columns[-1].extend(values)
        return table

    def __len__(self) -> int:
        return len(self._columns[0])

    def extend(self, rows: Floats) -> None:
        """Append rows, shape (n, width). Fails while a view of a column exists."""
        for column, values in zip(self._columns, np.ascontiguousarray(rows.T), strict=True):
            column.extend(values)

    def pad(self, rows: int) -> None:
        """Append zeros until the table has this many rows."""
        for column in self._columns:
            column.pad(rows)

    def columns(self) -> list[npt.NDArray[Any]]:
        """Return the columns, each of shape (n,), without copying them."""
        return [column.view() for column in self._columns]

    def floats(self, width: int | None = None, rows: slice | npt.NDArray[Any] = slice(None)) -> Floats:
        """Return the first `width` columns, by default all, as floats, shape (n, width); `rows` selects rows."""
        columns = [column.view()[rows] for column in self._columns[:width]]
        table = np.empty((len(columns[0]) if columns else len(self), len(columns)))
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

MAX_UINT32: Final = (1 << 32) - 1


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
    """Strings stored as concatenated UTF-8. Each takes 4 bytes in addition to its text; 8 bytes from 4 GiB of text.

    >>> texts = StringArray.of(["page_02", "é"])
    >>> texts[1], list(texts), len(texts)
    ('é', ['page_02', 'é'], 2)
    """

    __slots__ = ("_bytes", "_ends")

    def __init__(self) -> None:
        self._bytes, self._ends = GrowingArray(np.uint8), GrowingArray(np.uint32)

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
            ends = len(self._bytes) + np.cumsum(list(map(len, chunk)), dtype=np.int64)
            if ends[-1] > MAX_UINT32 and self._ends.dtype == np.uint32:
                earlier, self._ends = self._ends.view(), GrowingArray(np.int64)
                self._ends.extend(earlier)
            self._ends.extend(ends)
            self._bytes.write(b"".join(chunk))

    def at(self, rows: npt.ArrayLike) -> Iterator[str]:
        """Yield the strings at these row indices, shape (n,)."""
        numbers, ends, data = np.asarray(rows, dtype=np.intp), self._ends.view(), self._bytes.view().data
        starts = np.where(numbers > 0, ends[numbers - 1], 0) if len(numbers) else numbers
        for start, end in zip(starts.tolist(), ends[numbers].tolist(), strict=True):
            yield str(data[start:end], errors="surrogatepass")


class RepeatedTexts(LazySequence[str | None]):
    """Texts, or None, with few distinct values: one byte each for up to 256 values, none if all are equal.

    >>> texts = RepeatedTexts()
    >>> texts.extend(["a", None, "a"])
    >>> texts[1], list(texts), texts.names
    (None, ['a', None, 'a'], ('a', None))
    """

    __slots__ = ("_codes", "_numbers")

    def __init__(self) -> None:
        self._codes, self._numbers = CompactColumn(), dict[str | None, int]()

    @classmethod
    def of(cls, texts: Iterable[str | None]) -> Self:
        """Create a column of these texts."""
        column = cls()
        column.extend(texts)
        return column

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def names(self) -> tuple[str | None, ...]:
        """The distinct texts, by code."""
        return tuple(self._numbers)

    @property
    def codes(self) -> npt.NDArray[Any]:
        """Position of each text in `names`, shape (n,)."""
        return self._codes.view()

    def extend(self, texts: Iterable[str | None]) -> None:
        """Append texts."""
        texts = iter(texts)
        while chunk := list(islice(texts, CHUNK_ROWS)):
            for text in chunk:
                self._numbers.setdefault(text, len(self._numbers))
            self._codes.extend(np.array([self._numbers[text] for text in chunk], dtype=np.float64))

    def at(self, rows: npt.ArrayLike) -> Iterator[str | None]:
        """Yield the texts at these row indices, shape (n,)."""
        names = self.names
        return (names[int(code)] for code in self.codes[np.asarray(rows, dtype=np.intp)].tolist())


def encoded(text: str) -> bytes:
    """Encode a string as UTF-8, including lone surrogates."""
    return text.encode(errors="surrogatepass")


def digest(text: str) -> int:
    """Return a 64-bit digest of a string, which orders and samples documents by their ids."""
    return int.from_bytes(blake2b(encoded(text), digest_size=8).digest())
