"""Append-only arrays, and tables of numbers with the smallest exact type for each column."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from arbitre.arrays import Floats

TYPES: Final[tuple[np.dtype[Any], ...]] = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.float64))
"""Types of columns. Most masses and outcomes are small whole numbers: a path takes 26 bytes instead of 96."""


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
        self._data = bytearray()

    def __len__(self) -> int:
        return len(self._data) // self._row_bytes

    def write(self, data: bytes) -> None:
        """Append rows given as bytes. Fails while a view exists."""
        self._data += data

    def extend(self, rows: npt.ArrayLike) -> None:
        """Append rows, shape (n, *shape). Fails while a view exists."""
        self.write(np.asarray(rows, dtype=self._dtype).tobytes())

    def pad(self, rows: int) -> None:
        """Append zeros until the array has this many rows. Fails while a view exists."""
        self.write(bytes(max(0, rows * self._row_bytes - len(self._data))))

    def view(self) -> npt.NDArray[Any]:
        """Return all rows without copying them, shape (n, *shape)."""
        return np.frombuffer(self._data, self._dtype).reshape(-1, *self._shape)


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
