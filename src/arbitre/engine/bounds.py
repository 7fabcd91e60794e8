"""Optimistic qualities of many pairs at once: never below the quality itself, and cheap.

Leaves are exact where that costs little; lists by the numbers of their items. What an object adds up is added up in
the order of `solve`, so that a bound that is exact is so to the last bit.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.distances.base import Blocks
from arbitre.engine.columns import Column, LeafColumn, ListColumn, MixedColumn, ObjectColumn
from arbitre.engine.multisets import common
from arbitre.engine.runs import counts_of, share, spread, starts_of

if TYPE_CHECKING:
    from arbitre.engine.columns import Floats, Indices


class Tell(enum.IntEnum):
    """What is asked of two lists to bound the quality of their matching; each is dearer and tighter than the last."""

    LENGTHS = 0
    """How many items they have."""
    COUNTS = 1
    """How many items they share, where items are equal or not."""
    PARTNERS = 2
    """What every item has at best with its best partner."""


OUTWARD: Final = 1.0 + 1e-15
"""Rounds up where a bound is not computed by the very operations that the quality is."""

DEEP: Final = 16
"""Bounds look so many columns down; what lies deeper may be equal."""


def bounds(
    column: Column, blocks: Blocks, left: Indices, right: Indices, *, tell: Tell = Tell.LENGTHS, depth: int = 0
) -> Floats:
    """An upper bound of the quality of every cell of the blocks; shape (cells,).

    `left` and `right` are the rows that the blocks cross, -1 for a missing one; cells of these hold any number.
    `tell` says how far lists are looked into.
    """
    size = int(blocks.starts[-1])
    if depth >= DEEP or column.size == 0 or size == 0:
        return np.ones(size)
    if isinstance(column, LeafColumn):
        return _leaf(column, blocks, left, right)
    if isinstance(column, ObjectColumn):
        return _object(column, blocks, left, right, tell=tell, depth=depth)
    if isinstance(column, ListColumn):
        return _list(column, blocks, left, right, tell=tell, depth=depth)
    if isinstance(column, MixedColumn):
        return _mixed(column, blocks, left, right, tell=tell, depth=depth)
    return np.ones(size)


def _leaf(column: LeafColumn, blocks: Blocks, left: Indices, right: Indices) -> Floats:
    gold, predicted = column.codes[left], column.codes[right]
    if len(column.pools) == 1:
        return 1.0 - column.pools[0].bounded(blocks, column.local[gold], column.local[predicted])
    quality = np.zeros(int(blocks.starts[-1]))
    for slot, pool in enumerate(column.pools):
        ours, theirs = column.slots[gold] == slot, column.slots[predicted] == slot
        if ours.any() and theirs.any():
            a, b = np.where(ours, column.local[gold], 0), np.where(theirs, column.local[predicted], 0)
            here = ours[blocks.rows] & theirs[blocks.columns]
            quality[here] = (1.0 - pool.bounded(blocks, a, b))[here]
    return quality


def _object(column: ObjectColumn, blocks: Blocks, left: Indices, right: Indices, *, tell: Tell, depth: int) -> Floats:
    size = int(blocks.starts[-1])
    matched, mass = np.zeros(size), np.zeros(size)
    for link in column.links:
        a, b = link.rows(left), link.rows(right)
        if link.index is not None:
            a, b = np.where(left >= 0, a, -1), np.where(right >= 0, b, -1)
        quality = link.weight * bounds(link.column, blocks, a, b, tell=tell, depth=depth + 1)
        if link.index is None or ((a >= 0).all() and (b >= 0).all()):
            matched += link.weight
            mass += quality
        else:
            both = (a >= 0)[blocks.rows] & (b >= 0)[blocks.columns]
            matched += np.where(both, link.weight, 0.0)
            mass += np.where(both, quality, 0.0)
    for entries in column.maps:
        counts = counts_of(entries.starts)
        shared = np.minimum(counts[left][blocks.rows], counts[right][blocks.columns])
        matched += shared
        mass += shared * OUTWARD
    union = column.sizes[left][blocks.rows] + column.sizes[right][blocks.columns] - matched
    return share(mass, union)


def _list(column: ListColumn, blocks: Blocks, left: Indices, right: Indices, *, tell: Tell, depth: int) -> Floats:
    gold, predicted = column.sizes[left][blocks.rows], column.sizes[right][blocks.columns]
    if column.matcher.transport is not None:  # the numbers of items say nothing: mass may be split
        return np.where((gold == 0.0) != (predicted == 0.0), 0.0, 1.0)
    longer, shared = np.maximum(gold, predicted), np.minimum(gold, predicted)
    known = column.marks
    if not column.prefix and column.items is not None:
        if known is not None and tell >= Tell.COUNTS:
            counts = common(column, blocks, left, right)
            if known.odd.any():
                counts = np.where(known.odd[left][blocks.rows] & known.odd[right][blocks.columns], shared, counts)
            shared = counts
        elif known is None and tell is Tell.PARTNERS:
            shared = np.minimum(shared, _best_partners(column, blocks, left, right, depth) * OUTWARD)
    return share(shared, longer)


def _best_partners(column: ListColumn, blocks: Blocks, left: Indices, right: Indices, depth: int) -> Floats:
    """For every pair of lists, at most the sum of the qualities that a matching of their items can reach.

    Every item at best has its best partner: the sum over one side, or over the other where that is less.
    """
    inner, slots, heights, widths = _inside(column, blocks, left, right)
    if column.items is None or int(inner.starts[-1]) == 0:
        return np.zeros(int(blocks.starts[-1]))
    best = bounds(column.items, inner, *slots, tell=Tell.PARTNERS, depth=depth + 1)
    sums = np.zeros(int(blocks.starts[-1]))
    for (rows, columns, cells), (_, _, within) in zip(blocks, inner, strict=True):
        tall, wide = heights[rows], widths[columns]
        some_rows, some_columns = tall.nonzero()[0], wide.nonzero()[0]
        if len(some_rows) == 0 or len(some_columns) == 0:
            continue
        table = best[within].reshape(int(tall.sum()), int(wide.sum()))
        at_rows, at_columns = (tall.cumsum() - tall)[some_rows], (wide.cumsum() - wide)[some_columns]
        by_row = np.add.reduceat(np.maximum.reduceat(table, at_columns, axis=1), at_rows, axis=0)
        by_column = np.add.reduceat(np.maximum.reduceat(table, at_rows, axis=0), at_columns, axis=1)
        sums[cells].reshape(len(tall), len(wide))[np.ix_(some_rows, some_columns)] = np.minimum(by_row, by_column)
    return sums


def _inside(
    column: ListColumn, blocks: Blocks, left: Indices, right: Indices
) -> tuple[Blocks, tuple[Indices, Indices], Indices, Indices]:
    """The blocks of the items of the lists that blocks cross, the rows of these, and how many each list has."""
    starts, slots, lengths = [], [], []
    for rows, begins in ((left, blocks.left_starts), (right, blocks.right_starts)):
        counts = np.where(rows >= 0, column.lengths[rows], 0)
        _, found = spread(column.starts, rows[counts > 0])
        starts.append(starts_of(counts)[begins])
        slots.append(column.rows(found))
        lengths.append(counts)
    return Blocks(starts[0], starts[1]), (slots[0], slots[1]), lengths[0], lengths[1]


def _mixed(column: MixedColumn, blocks: Blocks, left: Indices, right: Indices, *, tell: Tell, depth: int) -> Floats:
    quality = np.zeros(int(blocks.starts[-1]))
    for number, part in enumerate(column.parts):
        ours, theirs = (left >= 0) & (column.part[left] == number), (right >= 0) & (column.part[right] == number)
        if ours.any() and theirs.any():
            a, b = np.where(ours, column.rows[left], -1), np.where(theirs, column.rows[right], -1)
            here = ours[blocks.rows] & theirs[blocks.columns]
            quality[here] = bounds(part, blocks, a, b, tell=tell, depth=depth + 1)[here]
    return quality
