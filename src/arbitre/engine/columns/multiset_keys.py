"""Keys that tell the equal items of lists of discrete values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.columns.column import LeafColumn, ListColumn, MultisetKeys, by_kind, leaf_columns
from arbitre.engine.columns.ragged import run_ranks

if TYPE_CHECKING:
    from arbitre.arrays import Indices
    from arbitre.engine.columns.column import Column


def multiset_keys(column: ListColumn) -> MultisetKeys | None:
    """Return the marks of the items of lists; None where items are not either equal or at distance 1."""
    items = column.items
    if items is None or not column.is_multiset:
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
    nth = run_ranks(table[order])
    if nth.any():  # the t-th of equal items gets a mark of its own
        mark = mark.copy()
        mark[order] += nth * width
        width *= int(nth.max()) + 1
        table = owner * width + mark
        order = table.argsort(kind="stable")
    return MultisetKeys(mark, width, table[order], order, odd)


def _codes(items: Column) -> Indices:
    """Return a code per item, the same for equal items; -1 for items of undeclared kinds. Shape (items,)."""
    codes = np.full(items.size, -1, dtype=np.intp)
    for link in by_kind(items):
        for leaves in leaf_columns([link.column]):
            rows = link.rows(np.arange(items.size, dtype=np.intp))
            here = (rows >= 0).nonzero()[0]
            codes[here] = _exact_codes(leaves)[rows[here]]
    return codes


def _exact_codes(column: LeafColumn) -> Indices:
    exact = np.array([leaf.distance.name == "exact" for leaf in column.leaves], dtype=np.bool_)
    if exact.all():
        return column.codes
    return np.where(exact[column.slots[column.codes]], column.codes, -1)
