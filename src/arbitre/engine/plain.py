"""Which rows hold nothing that is dear to compare: to look at their bounds first would save nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.bounds import DEEP
from arbitre.engine.columns import Column, LeafColumn, MixedColumn, ObjectColumn
from arbitre.engine.runs import counts_of, gathered

if TYPE_CHECKING:
    from arbitre.engine.columns import Mask


def plain(column: Column, depth: int = 0) -> Mask | None:
    """The rows that are compared exactly as quickly as their bounds are known; shape (size,), None for all.

    A list is not; a row is plain or not by itself, whatever the others hold.
    """
    if isinstance(column, LeafColumn):
        return _leaf(column)
    if isinstance(column, ObjectColumn) and depth < DEEP:
        return _object(column, depth)
    known = np.zeros(column.size, dtype=np.bool_)
    if isinstance(column, MixedColumn):
        for number, part in enumerate(column.parts):
            inside, here = plain(part, depth), column.part == number
            known[here] = True if inside is None else inside[column.rows[here]]
    return known


def _leaf(column: LeafColumn) -> Mask | None:
    masks = [pool.plain for pool in column.pools]
    if all(mask is None for mask in masks):
        return None
    known = np.ones(len(column.values), dtype=np.bool_)
    for slot, mask in enumerate(masks):
        if mask is not None:
            here = column.slots == slot
            known[here] = mask[column.local[here]]
    return known[column.codes]


def _object(column: ObjectColumn, depth: int) -> Mask | None:
    rows, known = np.arange(column.size, dtype=np.intp), np.ones(column.size, dtype=np.bool_)
    for link in column.links:
        below = plain(link.column, depth + 1)
        if below is not None:
            known &= gathered(below, link.rows(rows), np.True_)
    for entries in column.maps:
        known &= counts_of(entries.starts) == 0
    return None if known.all() else known
