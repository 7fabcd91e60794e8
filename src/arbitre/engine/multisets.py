"""Lists of values that are equal or not: the optimal matching pairs equal items, and its size is a count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import scipy

from arbitre.engine.batches import Batch, Branch, Matched
from arbitre.engine.columns import LeafColumn, ListColumn, Marks, MixedColumn
from arbitre.engine.runs import counts_of, located, ranks, spread, starts_of

if TYPE_CHECKING:
    from arbitre.distances.base import Blocks
    from arbitre.engine.columns import Column, Floats, Indices


DENSE: Final = 1 << 18
"""Up to so many entries, which items the lists hold is written out as a table."""

BITS: Final = 63
"""The last bits of a mark, which number the bits of a sign."""


def _codes(items: Column) -> Indices:
    """A code for each item that is equal to another or not, -1 for the others; shape (items,)."""
    if isinstance(items, MixedColumn):
        codes = np.full(items.size, -1, dtype=np.intp)
        for number, part in enumerate(items.parts):
            here = items.part == number
            codes[here] = _codes(part)[items.rows[here]]
        return codes
    if not isinstance(items, LeafColumn):
        return np.full(items.size, -1, dtype=np.intp)
    exact = np.array([leaf.distance.name == "exact" for leaf in items.leaves], dtype=np.bool_)
    if exact.all():
        return items.codes
    return np.where(exact[items.slots[items.codes]], items.codes, -1)


def marks(column: ListColumn) -> Marks | None:
    """The marks of the items of a column of lists; None where these are more than equal or not."""
    items = column.items
    if items is None or not column.counts:
        return None
    slots = np.arange(int(column.starts[-1]), dtype=np.intp)
    mark = _codes(items)[column.rows(slots)]
    owner = np.arange(column.size, dtype=np.intp).repeat(column.lengths)
    odd = np.zeros(column.size, dtype=np.bool_)
    lone = (mark < 0).nonzero()[0]
    if len(lone):
        odd[owner[lone]] = True
        mark = mark.copy()
        mark[lone] = int(mark.max(initial=0)) + 1 + np.arange(len(lone), dtype=np.intp)
    width = int(mark.max(initial=0)) + 1
    table = owner * width + mark
    order = table.argsort(kind="stable")
    table = table[order]
    nth = ranks(table)
    if nth.any():
        mark = mark.copy()
        mark[order] += nth * width
        width *= int(nth.max()) + 1
        table = owner * width + mark
        order = table.argsort(kind="stable")
        table = table[order]
    signs = np.zeros(column.size, dtype=np.uint64)
    full = column.lengths.nonzero()[0]
    if len(full):
        bits = np.uint64(1) << (mark & BITS).astype(np.uint64)
        signs[full] = np.bitwise_or.reduceat(bits, column.starts[full])
    return Marks(mark, width, table, order, signs, odd)


def _partners(column: ListColumn, known: Marks, left: Indices, right: Indices) -> tuple[Indices, Indices, Indices]:
    """The items of the lists `left`, which pair each is of, and where in the table its equal in `right` is, or -1."""
    owner, slots = spread(column.starts, left)
    return slots, owner, located(known.table, right[owner] * known.width + known.mark[slots])


def count_equal(column: ListColumn, left: Indices, right: Indices) -> Floats:
    """How many items each pair of lists shares: the quality of their optimal matching; shape (pairs,)."""
    known, counts = column.marks, np.zeros(len(left))
    if known is not None:
        some = (known.signs[left] & known.signs[right]).nonzero()[0]
        _, owner, place = _partners(column, known, left[some], right[some])
        counts[some] = np.bincount(owner, weights=place >= 0, minlength=len(some))
    return counts


def match_equal(column: ListColumn, left: Indices, right: Indices) -> Matched | None:
    """The optimal matching of each pair of lists: equal items, then the others in order, with quality 0."""
    items, known = column.items, column.marks
    if items is None or known is None:
        return None
    slots, owner, place = _partners(column, known, left, right)
    hit = place >= 0
    gold, predicted, of = slots[hit], known.order[place[hit]], owner[hit]
    if not hit.all():
        rest = _leftovers(column, right, (of, predicted), (owner[~hit], slots[~hit]))
        gold, predicted, of = (np.concatenate(both) for both in zip((gold, predicted, of), rest, strict=True))
    quality = (np.arange(len(gold)) < int(hit.sum())).astype(np.float64)
    below = _known(items, column.rows(gold), column.rows(predicted), quality)
    return Matched(below, np.arange(len(below), dtype=np.intp), of)


def _known(column: Column, left: Indices, right: Indices, quality: Floats) -> Batch:
    """A closed batch of pairs of values, whose qualities are known."""
    batch = Batch(column, left, right, quality=quality)
    if isinstance(column, MixedColumn):
        for part, same, ours, theirs in column.split(left, right):
            batch.branches.append(Branch(_known(part, ours, theirs, quality[same]), same))
    return batch


def _leftovers(
    column: ListColumn, right: Indices, pairs: tuple[Indices, Indices], lone: tuple[Indices, Indices]
) -> tuple[Indices, Indices, Indices]:
    """Gold items without an equal (`lone`) with the predicted items without one (not in `pairs`), in order.

    Both are given as which pair of lists they are of, and their slots.
    """
    owner, taken = pairs
    their, slots = spread(column.starts, right)
    widths = column.lengths[right]
    begins = starts_of(widths)
    free = np.ones(len(slots), dtype=np.bool_)
    free[begins[owner] + taken - column.starts[right[owner]]] = False
    their, slots = their[free], slots[free]
    nth = ranks(lone[0])
    counts = np.bincount(their, minlength=len(right))
    kept = nth < counts[lone[0]]
    owner = lone[0][kept]
    return lone[1][kept], slots[starts_of(counts)[owner] + nth[kept]], owner


def common(column: ListColumn, blocks: Blocks, left: Indices, right: Indices) -> Floats:
    """How many items two lists share, for every cell of the blocks, whose rows are rows of the column (-1: none)."""
    known = column.marks
    if known is None or int(blocks.starts[-1]) == 0:
        return np.zeros(int(blocks.starts[-1]))
    width = known.width
    ends = (left, blocks.left_starts), (right, blocks.right_starts)
    sides = [_incidence(column, known, blocks, side) for side in ends]
    if len(blocks) == 1 and width * (len(left) + len(right)) <= DENSE:
        dense = [np.zeros((len(rows), width), dtype=np.float32) for rows in (left, right)]
        for table, (row, at) in zip(dense, sides, strict=True):
            table[row, at] = 1.0
        return (dense[0] @ dense[1].T).ravel().astype(np.float64)
    sparse = [
        scipy.sparse.csr_array((np.ones(len(row), dtype=np.float32), (row, at)), shape=(len(rows), width * len(blocks)))
        for rows, (row, at) in zip((left, right), sides, strict=True)
    ]
    product = (sparse[0] @ sparse[1].T).tocoo()
    counts = np.zeros(int(blocks.starts[-1]))
    block = np.arange(len(blocks), dtype=np.intp).repeat(blocks.heights)[product.row]
    row = product.row - blocks.left_starts[:-1][block]
    column_at = product.col - blocks.right_starts[:-1][block]
    counts[blocks.starts[:-1][block] + row * blocks.widths[block] + column_at] = product.data
    return counts


def _incidence(
    column: ListColumn, known: Marks, blocks: Blocks, side: tuple[Indices, Indices]
) -> tuple[Indices, Indices]:
    """Which of the rows of one side of the blocks hold which items, those of each block numbered apart."""
    rows, starts = side
    owner, slots = spread(column.starts, np.maximum(rows, 0))
    if len(rows) and int(rows.min()) < 0:
        real = rows[owner] >= 0
        owner, slots = owner[real], slots[real]
    if len(blocks) == 1:
        return owner, known.mark[slots]
    block = np.arange(len(blocks), dtype=np.intp).repeat(counts_of(starts))[owner]
    return owner, block * known.width + known.mark[slots]
