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
from arbitre.engine.columns.alternatives import slot_bounds
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
        left: Gold rows.
        right: Predicted rows.
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

    It makes no difference whether undeclared keys share a column, as this depends on the other documents.
    """
    size = int(blocks.starts[-1])
    matched, mass = np.zeros(size), np.zeros(size)
    every: Mask | slice = slice(None)
    parts: list[Link | Slices] = [*column.links, *column.slices]
    if column.slices:
        parts.sort(key=lambda part: part.column.number)
    for part in parts:
        below = depth + len(part.column.path) - len(column.path)
        if isinstance(part, Link):
            a, b, inner, cells = part.rows(left), part.rows(right), blocks, every
            if part.index is not None and not ((a >= 0).all() and (b >= 0).all()):
                inner, cells = blocks.select(a >= 0, b >= 0)
                a, b = a[a >= 0], b[b >= 0]
            matched[cells] += part.weight
            mass[cells] += part.weight * upper_bounds(part.column, inner, a, b, tightness=tightness, depth=below)
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

    Yields:
        Cells and bounds of the values of a key, in the order of the keys.
    """
    width, sides = entries.width, []
    for rows, counts in ((left, blocks.heights), (right, blocks.widths)):
        owner, slots = expand_slices(entries.starts, rows)
        keys = np.arange(len(blocks), dtype=np.intp).repeat(counts)[owner] * width + entries.codes[slots]
        order = keys.argsort(kind="stable")
        sides.append((keys[order], owner[order], entries.rows(slots[order])))
    common = np.intersect1d(sides[0][0], sides[1][0])
    owners, values, starts = [], [], []
    for keys, owner, rows in sides:
        place = find_sorted(common, keys)
        hit = place >= 0
        owners.append(owner[hit])
        values.append(rows[hit])
        starts.append(starts_of(np.bincount(place[hit], minlength=len(common))))
    for chunk in chunks(counts_of(starts[0]) * counts_of(starts[1]), MAX_COMMON_CELLS):
        within = [slice(int(begins[chunk.start]), int(begins[chunk.stop])) for begins in starts]
        inner = Blocks(*(begins[chunk.start : chunk.stop + 1] - begins[chunk.start] for begins in starts))
        gold, predicted = (rows[part] for rows, part in zip(values, within, strict=True))
        block = (common[chunk] // width).repeat(inner.heights * inner.widths)
        row = owners[0][within[0]][inner.rows] - blocks.left_starts[block]
        column_at = owners[1][within[1]][inner.columns] - blocks.right_starts[block]
        cells = blocks.starts[block] + row * blocks.widths[block] + column_at
        yield cells, upper_bounds(entries.column, inner, gold, predicted, tightness=tightness, depth=depth)


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
        (rows, row), (columns, at) = (np.unique(codes, return_inverse=True) for codes in (gold, predicted))
        if 4 * len(rows) * len(columns) <= len(blocks.rows):
            distinct = Blocks(np.array([0, len(rows)], dtype=np.intp), np.array([0, len(columns)], dtype=np.intp))
            bounds = slot_bounds(pools, slots, local, distinct, gold=rows, predicted=columns)
            return bounds.reshape(len(rows), len(columns))[row[:, None], at].ravel()
    return slot_bounds(pools, slots, local, blocks, gold=gold, predicted=predicted)


@_bounds.register(ListColumn)
def _of_lists(
    column: ListColumn, blocks: Blocks, left: Indices, right: Indices, *, tightness: BoundTightness, depth: int
) -> Floats:
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
    counts = column.lengths[lists]
    return counts, column.slices[0].below(lists)[1], starts_of(counts)[starts]


# Plain rows: their upper bounds are exact and cost as much as qualities, so lazy matching would save nothing.


@singledispatch
def exactly_bounded_rows(column: Column, depth: int = 0) -> Mask | None:
    """Return a mask of the plain rows; shape (size,), None for all.

    Whether a row is plain depends on its value alone. Lists and non-empty maps are not plain.
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
def _lists(column: ListColumn, depth: int = 0) -> Mask:  # noqa: ARG001
    return np.zeros(column.size, dtype=np.bool_)


@exactly_bounded_rows.register(LeafColumn)
def _leaves(column: LeafColumn, depth: int = 0) -> Mask | None:  # noqa: ARG001
    masks = [pool.exactly_bounded for pool in column.pools]
    if all(mask is None for mask in masks):
        return None
    plain = np.ones(len(column.values), dtype=np.bool_)
    for slot, mask in enumerate(masks):
        if mask is not None:
            in_slot = column.slots == slot
            plain[in_slot] = mask[column.local[in_slot]]
    return plain[column.codes]
