"""Upper bounds of the qualities of many pairs at once, cheaper than the qualities.

The pairs are the *cells* of tables, called blocks: block b compares each row in a slice of `left`, the gold rows of the
block, with each row in a slice of `right`, its predicted rows. Cells are numbered through all blocks, row by row (see
`Blocks`). With the gold rows g0, g1 and the predicted rows p0, p1, p2 in two blocks:

    block 0: g0 with p0, p1     cells 0: (g0, p0)   1: (g0, p1)
    block 1: g1 with p2         cells 2: (g1, p2)

`blocks.rows` is [0, 0, 1] and `blocks.columns` [0, 1, 2]: the position in `left` and in `right` of each cell. So
`values[left][blocks.rows]` is the value of the gold row of each cell.

Bounds of leaves are exact if that is cheap; bounds of lists use the number of their items. Fields of objects are summed
in the same order as in `QualitySolver`, so that exact bounds are equal to the last bit.
"""

from __future__ import annotations

import enum
from functools import singledispatch
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.distances.base import Blocks, slot_bounds
from arbitre.engine.columns.column import Column, LeafColumn, Link, ListColumn, MapLink, locate_failure
from arbitre.engine.columns.ragged import (
    add_one_by_one,
    chunks,
    counts_of,
    expand_slices,
    find_sorted,
    ratio_or_one,
    starts_of,
    take_or,
)
from arbitre.engine.solve.multiset_matching import common_counts
from arbitre.errors import FunctionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.engine.columns.column import Slices


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
"""Maximum depth of paths for bounds; deeper values count as equal."""

DISTINCT_MIN_CELLS: Final = 1 << 14
"""Minimum number of pairs in one table for comparing equal values once."""

MAX_COMMON_CELLS: Final = 1 << 18
"""Maximum number of values of common keys that are bounded at a time; limits memory."""


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
        left: Gold rows of the blocks.
        right: Predicted rows of the blocks.
        tightness: Basis of the bounds of lists.
        depth: Depth of the path of this column below that of the first.
    """
    size = int(blocks.starts[-1])
    if depth >= MAX_BOUND_DEPTH or size == 0:
        return np.ones(size)
    return _bounds(column, blocks, left, right, tightness=tightness, depth=depth)


@singledispatch
def _bounds(
    column: Column, blocks: Blocks, left: Indices, right: Indices, *, tightness: BoundTightness, depth: int
) -> Floats:
    """Bound objects and values of mixed kinds, field by field.

    The bound is the sum of the bounds of the fields that both rows have, divided by the weight of the fields that
    either row has. Maps are bounded by their numbers of entries.

    The result is the same whether undeclared keys share a column or not, as this depends on the other documents.
    """
    size = int(blocks.starts[-1])
    matched, mass = np.zeros(size), np.zeros(size)  # weight of the common fields of each cell, and sum of their bounds
    every: Mask | slice = slice(None)
    parts: list[Link | Slices] = [*column.links, *column.slices]
    if column.slices:
        parts.sort(key=lambda part: part.column.number)
    for part in parts:
        below = depth + len(part.column.path) - len(column.path)
        if isinstance(part, Link):
            gold, predicted, inner, cells = part.rows(left), part.rows(right), blocks, every
            if part.index is not None and not ((gold >= 0).all() and (predicted >= 0).all()):
                inner, cells = blocks.select(gold >= 0, predicted >= 0)  # only the rows that have the field
                gold, predicted = gold[gold >= 0], predicted[predicted >= 0]
            bounds = upper_bounds(part.column, inner, gold, predicted, tightness=tightness, depth=below)
            matched[cells] += part.weight
            mass[cells] += part.weight * bounds
        elif isinstance(part, MapLink) and part.column.key_ranks is not None:
            for shared, quality in _common_keys(part, blocks, left, right, tightness=tightness, depth=below):
                matched = add_one_by_one(matched, shared, np.ones(len(shared)))
                mass = add_one_by_one(mass, shared, quality)
        else:
            counts = part.counts()
            common = np.minimum(counts[left][blocks.rows], counts[right][blocks.columns])
            matched += common
            mass += common * ROUND_UP
    union = column.sizes[left][blocks.rows] + column.sizes[right][blocks.columns] - matched
    return ratio_or_one(mass, union)


def _common_keys(
    entries: MapLink, blocks: Blocks, left: Indices, right: Indices, *, tightness: BoundTightness, depth: int
) -> Iterator[tuple[Indices, Floats]]:
    """Bound the values of the keys that both rows of a cell have.

    A *common key* is a key that gold maps and predicted maps of the same block have. The values of each common key are
    an inner block: those of the gold maps are compared with those of the predicted maps. For example, if a block has
    the gold maps g0 = {"a": 1} and g1 = {"a": 2, "b": 3} and the predicted map p0 = {"a": 4}, its only common key is
    "a". The inner block compares 1 and 2 with 4; its cells belong to the cells (g0, p0) and (g1, p0).

    Yields:
        Some cells, and the bound of the value of one key in each; all keys of a cell in order.
    """
    sides = [_rows_by_key(entries, rows, counts) for rows, counts in ((left, blocks.heights), (right, blocks.widths))]
    common = np.intersect1d(sides[0].keys, sides[1].keys)
    (at_gold, gold, gold_starts), (at_predicted, predicted, predicted_starts) = (side.of(common) for side in sides)
    for chunk in chunks(counts_of(gold_starts) * counts_of(predicted_starts), MAX_COMMON_CELLS):
        starts = [begins[chunk.start : chunk.stop + 1] for begins in (gold_starts, predicted_starts)]
        inner = Blocks(*(begins - begins[0] for begins in starts))
        in_gold, in_predicted = (slice(int(begins[0]), int(begins[-1])) for begins in starts)
        bounds = upper_bounds(
            entries.column, inner, gold[in_gold], predicted[in_predicted], tightness=tightness, depth=depth
        )
        block = (common[chunk] // entries.width).repeat(inner.heights * inner.widths)  # of each cell of `inner`
        row = at_gold[in_gold][inner.rows] - blocks.left_starts[block]
        column_at = at_predicted[in_predicted][inner.columns] - blocks.right_starts[block]
        yield blocks.starts[block] + row * blocks.widths[block] + column_at, bounds


class _KeyRows(NamedTuple):
    """The entries of maps on one side of blocks, by block and key; shapes (entries,)."""

    keys: Indices
    """Block * number of keys + code of the key, increasing."""
    places: Indices
    """Position of the map among the rows of this side."""
    values: Indices
    """Row of the value."""

    def of(self, common: Indices) -> tuple[Indices, Indices, Indices]:
        """Return places and values of the entries with these keys (increasing), and the start of each key in them."""
        position = find_sorted(common, self.keys)
        hit = position >= 0
        starts = starts_of(np.bincount(position[hit], minlength=len(common)))
        return self.places[hit], self.values[hit], starts


def _rows_by_key(entries: MapLink, rows: Indices, counts: Indices) -> _KeyRows:
    """Return the entries of these maps, given the number of maps in each block."""
    place, slots = expand_slices(entries.starts, rows)
    block = np.arange(len(counts), dtype=np.intp).repeat(counts)
    keys = block[place] * entries.width + entries.codes[slots]
    order = keys.argsort(kind="stable")
    return _KeyRows(keys[order], place[order], entries.rows(slots[order]))


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
    """Bound single values by 1 - the lower bound of their distance."""
    try:
        gold, predicted = column.codes[left], column.codes[right]
        if len(blocks) == 1 and len(blocks.rows) >= DISTINCT_MIN_CELLS:
            return 1.0 - _distinct_bounds(column, blocks, gold, predicted)
        return 1.0 - slot_bounds(column.pools, column.slots, column.local, blocks, gold=gold, predicted=predicted)
    except FunctionError as error:
        raise locate_failure(error, column, left[blocks.rows], right[blocks.columns]) from error.__cause__


def _distinct_bounds(column: LeafColumn, blocks: Blocks, gold: Indices, predicted: Indices) -> Floats:
    """Return lower bounds of the distance of every cell of one block; equal values are compared once if that is exact.

    This halves the time on lists of objects in which one of two fields has few values.
    """
    pools, slots, local = column.pools, column.slots, column.local
    if all(pool.exactly_bounded is None for pool in pools):
        (rows, row_of), (columns, column_of) = (np.unique(codes, return_inverse=True) for codes in (gold, predicted))
        if 4 * len(rows) * len(columns) <= len(blocks.rows):
            distinct = Blocks(np.array([0, len(rows)], dtype=np.intp), np.array([0, len(columns)], dtype=np.intp))
            bounds = slot_bounds(pools, slots, local, distinct, gold=rows, predicted=columns)
            return bounds.reshape(len(rows), len(columns))[row_of[:, None], column_of].ravel()
    return slot_bounds(pools, slots, local, blocks, gold=gold, predicted=predicted)


@_bounds.register(ListColumn)
def _of_lists(
    column: ListColumn, blocks: Blocks, left: Indices, right: Indices, *, tightness: BoundTightness, depth: int
) -> Floats:
    """Bound lists by the items that can have a partner, divided by the items of the longer list."""
    gold, predicted = column.sizes[left][blocks.rows], column.sizes[right][blocks.columns]
    if column.matcher.transport is not None:  # mass may be split: no bound from the numbers of items
        return np.where((gold == 0.0) != (predicted == 0.0), 0.0, 1.0)
    longer, shared = np.maximum(gold, predicted), np.minimum(gold, predicted)
    known = column.multiset_keys
    if not column.site.list.prefix and column.items is not None:
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

    For each side, the bounds of its items with their best partners are summed; the bound is the smaller sum. For
    example, for two gold items and three predicted items with the bounds

        0.9  0.2  0.1    best 0.9
        0.8  0.3  0.1    best 0.8     sum 1.7

        best 0.9, 0.3 and 0.1         sum 1.3

    no matching has a quality mass above 1.3. The items of all lists of a block are compared in one table; then its rows
    and columns are reduced list by list.
    """
    sums = np.zeros(int(blocks.starts[-1]))
    (gold_lengths, gold, left_starts), (predicted_lengths, predicted, right_starts) = (
        _inside(column, rows, starts) for rows, starts in ((left, blocks.left_starts), (right, blocks.right_starts))
    )
    inner = Blocks(left_starts, right_starts)  # the same blocks, with the items of their lists
    if int(inner.starts[-1]) == 0:
        return sums
    bounds = upper_bounds(items, inner, gold, predicted, tightness=BoundTightness.PARTNERS, depth=depth + 1)
    for (rows, columns, cells), (_, _, inner_cells) in zip(blocks, inner, strict=True):
        heights, widths = gold_lengths[rows], predicted_lengths[columns]
        some_rows, some_columns = heights.nonzero()[0], widths.nonzero()[0]  # `reduceat` needs lists with items
        if len(some_rows) == 0 or len(some_columns) == 0:
            continue
        table = bounds[inner_cells].reshape(int(heights.sum()), int(widths.sum()))
        at_rows, at_columns = starts_of(heights)[some_rows], starts_of(widths)[some_columns]
        by_gold = np.add.reduceat(np.maximum.reduceat(table, at_columns, axis=1), at_rows, axis=0)
        by_predicted = np.add.reduceat(np.maximum.reduceat(table, at_rows, axis=0), at_columns, axis=1)
        sums_of_block = sums[cells].reshape(len(heights), len(widths))
        sums_of_block[np.ix_(some_rows, some_columns)] = np.minimum(by_gold, by_predicted)
    return sums


def _inside(column: ListColumn, lists: Indices, starts: Indices) -> tuple[Indices, Indices, Indices]:
    """Return the number of items of each list, the rows of all items, and the start of each block among the items.

    `starts` are the starts of the blocks among the lists: [0, 2] for one block of the lists [1, 2] and [3]. Their items
    have the lengths [2, 1], and the block starts at [0, 3].
    """
    counts = column.lengths[lists]
    return counts, column.slices[0].below(lists)[1], starts_of(counts)[starts]


# Plain rows: their upper bounds are exact and cost as much as qualities, so lazy matching would save nothing.


@singledispatch
def exactly_bounded_rows(column: Column, depth: int = 0) -> Mask | None:
    """Return a mask of the plain rows; shape (size,), None for all.

    The bound of two plain rows is their quality. Whether a row is plain depends on its value alone. Lists and non-empty
    maps are not plain. `depth` is the depth of the path of this column below that of the first.
    """
    plain = np.full(column.size, depth < MAX_BOUND_DEPTH)
    if depth < MAX_BOUND_DEPTH:
        rows = np.arange(column.size, dtype=np.intp)
        for link in column.links:
            below = exactly_bounded_rows(link.column, depth + len(link.column.path) - len(column.path))
            if below is not None:
                plain &= take_or(below, link.rows(rows), np.True_)
        for entries in column.slices:
            if entries.column.key_ranks is None:
                plain &= entries.counts() == 0
            elif (below := exactly_bounded_rows(entries.column, depth + 1)) is not None:
                owner, values = entries.below(rows)
                plain[owner[~below[values]]] = False
    return None if plain.all() else plain


@exactly_bounded_rows.register(ListColumn)
def _plain_lists(column: ListColumn, depth: int = 0) -> Mask:  # noqa: ARG001
    return np.zeros(column.size, dtype=np.bool_)


@exactly_bounded_rows.register(LeafColumn)
def _plain_leaves(column: LeafColumn, depth: int = 0) -> Mask | None:  # noqa: ARG001
    """Return a mask of the rows whose values are bounded exactly by their pool; None for all."""
    masks = [pool.exactly_bounded for pool in column.pools]
    if all(mask is None for mask in masks):
        return None
    plain = np.ones(len(column.values), dtype=np.bool_)
    for slot, mask in enumerate(masks):
        if mask is not None:
            in_slot = column.slots == slot
            plain[in_slot] = mask[column.local[in_slot]]
    return plain[column.codes]
