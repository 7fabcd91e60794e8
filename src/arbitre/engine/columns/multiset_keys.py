"""Keys that identify equal items of lists of discrete values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.columns.column import LeafColumn, ListColumn, MultisetKeys, by_kind, leaf_columns
from arbitre.engine.columns.ragged import rank_among_equal

if TYPE_CHECKING:
    from arbitre.arrays import Indices
    from arbitre.engine.columns.column import Column


def multiset_keys(column: ListColumn) -> MultisetKeys | None:
    """Return the keys of the items of lists; None unless two items always have distance 0 or 1."""
    items = column.items
    if items is None or not column.is_multiset:
        return None
    slots = np.arange(int(column.starts[-1]), dtype=np.intp)
    keys = _codes(items)[column.rows(slots)]
    owner = np.arange(column.size, dtype=np.intp).repeat(column.lengths)
    has_uncountable = np.zeros(column.size, dtype=np.bool_)
    uncountable = (keys < 0).nonzero()[0]
    if len(uncountable):
        has_uncountable[owner[uncountable]] = True
        keys = keys.copy()
        keys[uncountable] = int(keys.max(initial=0)) + 1 + np.arange(len(uncountable), dtype=np.intp)
    width = int(keys.max(initial=0)) + 1
    table = owner * width + keys
    order = table.argsort(kind="stable")
    nth = rank_among_equal(table[order])
    if nth.any():  # the t-th occurrence of equal items in a list gets its own key
        keys = keys.copy()
        keys[order] += nth * width
        width *= int(nth.max()) + 1
        table = owner * width + keys
        order = table.argsort(kind="stable")
    return MultisetKeys(keys, width, table[order], order, has_uncountable)


def _codes(items: Column) -> Indices:
    """Return a code for each item, the same for equal items; -1 for undeclared kinds. Shape (items,)."""
    codes = np.full(items.size, -1, dtype=np.intp)
    for link in by_kind(items):
        for leaves in leaf_columns([link.column]):
            rows = link.rows(np.arange(items.size, dtype=np.intp))
            linked = (rows >= 0).nonzero()[0]
            codes[linked] = _exact_codes(leaves)[rows[linked]]
    return codes


def _exact_codes(column: LeafColumn) -> Indices:
    exact = np.array([leaf.distance.name == "exact" for leaf in column.leaves], dtype=np.bool_)
    if exact.all():
        return column.codes
    return np.where(exact[column.slots[column.codes]], column.codes, -1)
