"""Plain rows: their upper bounds are exact and cost as much as qualities, so lazy matching would save nothing."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.columns.column import Column, LeafColumn, ListColumn
from arbitre.engine.columns.ragged import take_or
from arbitre.engine.solve.upper_bounds import MAX_BOUND_DEPTH

if TYPE_CHECKING:
    from arbitre.arrays import Mask


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
