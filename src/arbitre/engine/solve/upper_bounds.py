"""Upper bounds of the qualities of many pairs at once, cheaper than the qualities.

Bounds of leaves are exact if that is cheap; bounds of lists use the number of their items. Fields of objects are summed
in the same order as in `QualitySolver`, so that exact bounds are equal to the last bit.
"""

from __future__ import annotations

import enum
from functools import singledispatch
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.distances.base import Blocks
from arbitre.engine.columns.column import Column, LeafColumn, ListColumn
from arbitre.engine.columns.ragged import ratio_or_one, starts_of
from arbitre.engine.columns.readings import slot_bounds
from arbitre.engine.solve.function_errors import located
from arbitre.engine.solve.multiset_matching import common_counts
from arbitre.errors import FunctionError

if TYPE_CHECKING:
    from arbitre.arrays import Floats, Indices


class BoundTightness(enum.IntEnum):
    """Basis of the bound for two lists; each is tighter and more expensive than the one before."""

    LENGTHS = 0
    """Numbers of items."""
    COUNTS = 1
    """Number of common items, for items that always have distance 0 or 1."""
    PARTNERS = 2
    """Quality of each item with its best partner."""


ROUND_UP: Final = 1.0 + 1e-15
"""Factor that rounds a bound up if it is not computed with the same operations as the quality."""

MAX_BOUND_DEPTH: Final = 16
"""Maximum depth of columns for bounds; deeper values count as equal."""


def upper_bounds(
    column: Column,
    blocks: Blocks,
    left: Indices,
    right: Indices,
    *,
    tightness: BoundTightness = BoundTightness.LENGTHS,
    depth: int = 0,
) -> Floats:
    """Return an upper bound of the quality of every cell of the blocks; shape (cells,).

    Args:
        column: The column of both rows of each cell.
        blocks: The slices of `left` and `right` that are compared.
        left: Gold rows; -1 for none. The bounds of cells with -1 are undefined.
        right: Predicted rows; -1 for none.
        tightness: Basis of the bounds of lists.
        depth: Depth of this column below the first.
    """
    size = int(blocks.starts[-1])
    if depth >= MAX_BOUND_DEPTH or column.size == 0 or size == 0:
        return np.ones(size)
    return _bounds(column, blocks, left, right, tightness=tightness, depth=depth)


@singledispatch
def _bounds(
    column: Column, blocks: Blocks, left: Indices, right: Indices, *, tightness: BoundTightness, depth: int
) -> Floats:
    """Bound objects and values of mixed kinds, field by field."""
    size = int(blocks.starts[-1])
    matched, mass = np.zeros(size), np.zeros(size)
    for link in column.links:
        a, b = link.rows(left), link.rows(right)
        quality = link.weight * upper_bounds(link.column, blocks, a, b, tightness=tightness, depth=depth + 1)
        if link.index is None or ((a >= 0).all() and (b >= 0).all()):
            matched += link.weight
            mass += quality
        else:
            both = (a >= 0)[blocks.rows] & (b >= 0)[blocks.columns]
            matched += np.where(both, link.weight, 0.0)
            mass += np.where(both, quality, 0.0)
    for entries in column.slices:
        counts = entries.counts()
        shared = np.minimum(counts[left][blocks.rows], counts[right][blocks.columns])
        matched += shared
        mass += shared * ROUND_UP
    union = column.sizes[left][blocks.rows] + column.sizes[right][blocks.columns] - matched
    return ratio_or_one(mass, union)


@_bounds.register(LeafColumn)
def _of_leaves(
    column: LeafColumn,
    blocks: Blocks,
    left: Indices,
    right: Indices,
    *,
    tightness: BoundTightness,  # noqa: ARG001  (the signature of all kinds)
    depth: int,  # noqa: ARG001
) -> Floats:
    try:
        gold, predicted = column.codes[left], column.codes[right]
        return 1.0 - slot_bounds(column.pools, column.slots, column.local, blocks, gold=gold, predicted=predicted)
    except FunctionError as error:
        raise located(error, column, left[blocks.rows], right[blocks.columns]) from error.__cause__


@_bounds.register(ListColumn)
def _of_lists(
    column: ListColumn, blocks: Blocks, left: Indices, right: Indices, *, tightness: BoundTightness, depth: int
) -> Floats:
    gold, predicted = column.sizes[left][blocks.rows], column.sizes[right][blocks.columns]
    if column.matcher.transport is not None:  # mass may be split: no bound from the numbers of items
        return np.where((gold == 0.0) != (predicted == 0.0), 0.0, 1.0)
    longer, shared = np.maximum(gold, predicted), np.minimum(gold, predicted)
    known = column.multiset_keys
    if not column.links and column.items is not None:
        if known is not None and tightness >= BoundTightness.COUNTS:
            counts = common_counts(column, blocks, left, right)
            if known.has_uncountable.any():
                counts = np.where(
                    known.has_uncountable[left][blocks.rows] & known.has_uncountable[right][blocks.columns],
                    shared,
                    counts,
                )
            shared = counts
        elif known is None and tightness is BoundTightness.PARTNERS:
            best = _best_partners(column, column.items, blocks, left, right, depth=depth)
            shared = np.minimum(shared, best * ROUND_UP)
    return ratio_or_one(shared, longer)


def _best_partners(
    column: ListColumn, items: Column, blocks: Blocks, left: Indices, right: Indices, *, depth: int
) -> Floats:
    """Return an upper bound of the quality mass of the matching of each pair of lists; shape (cells,).

    For each side, the qualities of its items with their best partners are summed; the bound is the smaller sum.
    """
    sums = np.zeros(int(blocks.starts[-1]))
    (tall, gold, left_starts), (wide, predicted, right_starts) = (
        _inside(column, rows, starts) for rows, starts in ((left, blocks.left_starts), (right, blocks.right_starts))
    )
    inner = Blocks(left_starts, right_starts)
    if int(inner.starts[-1]) == 0:
        return sums
    best = upper_bounds(items, inner, gold, predicted, tightness=BoundTightness.PARTNERS, depth=depth + 1)
    for (rows, columns, cells), (_, _, within) in zip(blocks, inner, strict=True):
        heights, widths = tall[rows], wide[columns]
        some_rows, some_columns = heights.nonzero()[0], widths.nonzero()[0]
        if len(some_rows) == 0 or len(some_columns) == 0:
            continue
        table = best[within].reshape(int(heights.sum()), int(widths.sum()))
        at_rows, at_columns = starts_of(heights)[some_rows], starts_of(widths)[some_columns]
        by_row = np.add.reduceat(np.maximum.reduceat(table, at_columns, axis=1), at_rows, axis=0)
        by_column = np.add.reduceat(np.maximum.reduceat(table, at_rows, axis=0), at_columns, axis=1)
        sums[cells].reshape(len(heights), len(widths))[np.ix_(some_rows, some_columns)] = np.minimum(by_row, by_column)
    return sums


def _inside(column: ListColumn, lists: Indices, starts: Indices) -> tuple[Indices, Indices, Indices]:
    """Return the number of items of each list, the rows of the items, and the first item of each block."""
    counts = np.where(lists >= 0, column.lengths[lists], 0)
    _, rows = column.slices[0].below(lists[counts > 0])
    return counts, rows, starts_of(counts)[starts]
