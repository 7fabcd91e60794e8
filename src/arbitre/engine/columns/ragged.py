"""Helpers for ragged arrays (concatenated slices of different lengths) and for look-ups in sorted arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.arrays import Floats, Indices, Mask

Number = TypeVar("Number", bound=np.generic)


def starts_of(counts: Indices) -> Indices:
    """Return the start of each slice and the end of the last one, from their lengths; shape (slices + 1,).

    >>> starts_of(np.array([2, 0, 3]))
    array([0, 2, 2, 5])
    """
    starts = np.zeros(len(counts) + 1, dtype=np.intp)
    counts.cumsum(out=starts[1:])
    return starts


def counts_of(starts: Indices) -> Indices:
    """Return the lengths of slices from their starts: the inverse of `starts_of`.

    >>> counts_of(np.array([0, 2, 2, 5]))
    array([2, 0, 3])
    """
    return starts[1:] - starts[:-1]


def chunks(sizes: Indices, limit: int) -> Iterator[slice]:
    """Split consecutive slices, given their lengths, into runs of one slice or of at most `limit` elements.

    >>> list(chunks(np.array([2, 3, 9, 1]), 5))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    begin, total = 0, 0
    for position, size in enumerate(sizes.tolist()):
        if total and total + size > limit:
            yield slice(begin, position)
            begin, total = position, 0
        total += size
    if begin < len(sizes):
        yield slice(begin, len(sizes))


def cross_slices(heights: Indices, widths: Indices) -> tuple[Indices, Indices, Indices]:
    """Return the table, row and column of each cell of tables of these sizes, concatenated row by row.

    >>> cross_slices(np.array([1, 2]), np.array([2, 1]))
    (array([0, 0, 1, 1]), array([0, 0, 0, 1]), array([0, 1, 0, 0]))
    """
    sizes = heights * widths
    owner = np.arange(len(sizes), dtype=np.intp).repeat(sizes)
    cell = np.arange(len(owner), dtype=np.intp) - (sizes.cumsum() - sizes)[owner]
    rows, columns = np.divmod(cell, widths[owner])
    return owner, rows, columns


def add_one_by_one(totals: Floats, index: Indices, masses: Floats) -> Floats:
    """Return the totals, with each mass added to the total with its index, one after the other in this order.

    >>> add_one_by_one(np.array([0.5, 1.0]), np.array([1, 1]), np.array([0.25, 1.0]))
    array([0.5 , 2.25])
    """
    every = np.concatenate([np.arange(len(totals), dtype=np.intp), index])
    sums: Floats = np.bincount(every, weights=np.concatenate([totals, masses]), minlength=len(totals)).astype(
        np.float64, copy=False
    )
    return sums


def expand_slices(starts: Indices, rows: Indices) -> tuple[Indices, Indices]:
    """Expand slices: return the entries `starts[r]:starts[r + 1]` of each row r in `rows`, in order.

    Returns the position in `rows` that each entry belongs to, and the entries.

    >>> expand_slices(np.array([0, 2, 2, 5]), np.array([2, 0]))
    (array([0, 0, 0, 1, 1]), array([2, 3, 4, 0, 1]))
    """
    begin = starts[rows]
    if len(rows) == 1:  # saves 2 to 3% on nested documents
        entries = np.arange(begin[0], starts[rows[0] + 1], dtype=np.intp)
        return np.zeros(len(entries), dtype=np.intp), entries
    counts = starts[rows + 1] - begin
    owner = np.arange(len(rows), dtype=np.intp).repeat(counts)
    offset = counts.cumsum() - counts - begin
    return owner, np.arange(len(owner), dtype=np.intp) - offset.repeat(counts)


def first_of_equal(ordered: npt.NDArray[Number]) -> Mask:
    """Return a mask of the values of a sorted array that differ from their predecessor; shape (n,).

    >>> first_of_equal(np.array([3, 3, 5]))
    array([ True, False,  True])
    """
    new = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return new


def rank_among_equal(ordered: npt.NDArray[Number]) -> Indices:
    """Return the number of equal values before each value of a sorted array; shape (n,).

    >>> rank_among_equal(np.array([3, 3, 5, 8, 8, 8]))
    array([0, 1, 0, 0, 1, 2])
    """
    new = first_of_equal(ordered)
    first = new.nonzero()[0]
    before: Indices = np.arange(len(ordered), dtype=np.intp) - first[new.cumsum() - 1]
    return before


def find_sorted(table: Indices, keys: Indices) -> Indices:
    """Return the position of each wanted value in a sorted array, or -1; shape (wanted,).

    >>> find_sorted(np.array([2, 5, 9]), np.array([9, 4, 2, 10]))
    array([ 2, -1,  0, -1])
    """
    if len(table) == 0:
        return np.full(len(keys), -1, dtype=np.intp)
    place = table.searchsorted(keys)
    place[place == len(table)] = 0
    positions: Indices = np.where(table[place] == keys, place, -1)
    return positions


def take_or(values: npt.NDArray[Number], rows: Indices, absent: Number | int) -> npt.NDArray[Number]:
    """Return the value of each row, or `absent` for a negative row; shape (rows,)."""
    if len(values) == 0:
        return np.full(len(rows), absent, dtype=values.dtype)
    return np.where(rows >= 0, values[rows], values.dtype.type(absent))


def ratio_or_one(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, at most 1, and 1 for a whole of 0; shape (n,).

    >>> ratio_or_one(np.array([1.0, 0.0]), np.array([4.0, 0.0]))
    array([0.25, 1.  ])
    """
    positive = whole > 0.0
    if np.count_nonzero(positive) == len(positive):  # saves 2 to 3% on nested documents
        ratio = part / whole
    else:
        ratio = np.ones(len(part))
        np.divide(part, whole, out=ratio, where=positive)
    return np.minimum(ratio, 1.0, out=ratio)
