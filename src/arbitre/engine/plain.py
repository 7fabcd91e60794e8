"""Rows for which upper bounds are exact and cost no less than qualities, so that lazy matching would save nothing."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.bounds import DEEP
from arbitre.engine.columns import Column, LeafColumn, ListColumn
from arbitre.engine.runs import gathered

if TYPE_CHECKING:
    from arbitre.arrays import Mask


@singledispatch
def plain(column: Column, depth: int = 0) -> Mask | None:
    """Return which rows are plain; shape (size,), None for all.

    Whether a row is plain depends on its value alone. Lists and maps with entries are not plain.
    """
    known = np.full(column.size, depth < DEEP)
    if depth < DEEP:
        rows = np.arange(column.size, dtype=np.intp)
        for link in column.links:
            below = plain(link.column, depth + 1)
            if below is not None:
                known &= gathered(below, link.rows(rows), np.True_)
        for entries in column.slices:
            known &= entries.counts() == 0
    return None if known.all() else known


@plain.register(ListColumn)
def _lists(column: ListColumn, depth: int = 0) -> Mask:  # noqa: ARG001
    return np.zeros(column.size, dtype=np.bool_)


@plain.register(LeafColumn)
def _leaves(column: LeafColumn, depth: int = 0) -> Mask | None:  # noqa: ARG001
    masks = [pool.plain for pool in column.pools]
    if all(mask is None for mask in masks):
        return None
    known = np.ones(len(column.values), dtype=np.bool_)
    for slot, mask in enumerate(masks):
        if mask is not None:
            here = column.slots == slot
            known[here] = mask[column.local[here]]
    return known[column.codes]
