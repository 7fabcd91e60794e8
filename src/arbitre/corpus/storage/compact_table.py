"""Append-only tables of numbers, with the smallest exact type for each column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from arbitre.corpus.storage.spill_array import SpillArray, spill_zeros

if TYPE_CHECKING:
    import numpy.typing as npt

    from arbitre.arrays import Floats

TYPES: Final[tuple[np.dtype[Any], ...]] = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.float64))
"""Types of columns. Most masses and outcomes are small whole numbers: a path takes 26 bytes instead of 96."""

_CHUNK_ROWS: Final = 1 << 16


class CompactTable:
    """Append-only table of floats, whose columns are stored exactly, in as few bytes as their values allow.

    >>> table = CompactTable(2)
    >>> table.extend(np.array([[3.0, 0.25], [300.0, 0.0]]))
    >>> table.floats().tolist(), [column.dtype.name for column in table.columns()]
    ([[3.0, 0.25], [300.0, 0.0]], ['uint16', 'float64'])
    """

    def __init__(self, width: int) -> None:
        self._columns = [SpillArray(TYPES[0]) for _ in range(width)]
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
                self._types[at], self._columns[at] = kind, _converted(self._columns[at].view(), kind)
            self._columns[at].extend(values.astype(kind))

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
        table = spill_zeros(len(self), len(columns))
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


def _converted(values: npt.NDArray[Any], kind: np.dtype[Any]) -> SpillArray:
    array = SpillArray(kind)
    for begin in range(0, len(values), _CHUNK_ROWS):
        array.extend(values[begin : begin + _CHUNK_ROWS])
    return array
