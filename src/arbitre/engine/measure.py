"""The qualities of pairs of single values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from arbitre.engine.columns import Floats, Indices, LeafColumn, Mask


def measure(column: LeafColumn, left: Indices, right: Indices, *, loose: bool) -> tuple[Floats, Mask | None]:
    """1 - distance of each pair; values that are not compared in the same way are at distance 1.

    Where `loose`, a quality that is dear to compute may be an upper bound: which are exact, or None for all.
    """
    gold, predicted = column.codes[left], column.codes[right]
    if len(column.pools) == 1:
        return _pairs(column, gold, predicted, 0, loose=loose)
    quality, exact = np.zeros(len(left)), np.ones(len(left), dtype=np.bool_)
    for slot in range(len(column.pools)):
        here = ((column.slots[gold] == slot) & (column.slots[predicted] == slot)).nonzero()[0]
        if len(here):
            quality[here], known = _pairs(column, gold[here], predicted[here], slot, loose=loose)
            if known is not None:
                exact[here] = known
    return quality, None if exact.all() else exact


def _pairs(
    column: LeafColumn, gold: Indices, predicted: Indices, slot: int, *, loose: bool
) -> tuple[Floats, Mask | None]:
    """The qualities of pairs of codes of one slot: each distinct pair is measured once."""
    pool = column.pools[slot]
    a, b = column.local[gold], column.local[predicted]
    size = len(column.values)
    back = None
    if len(a) > size:  # else few pairs: hardly any repeats
        distinct, back = np.unique(a * size + b, return_inverse=True)
        a, b = np.divmod(distinct, size)
    distances, exact = pool.glimpsed(a, b) if loose else (pool.paired(a, b), None)
    if back is not None:
        distances, exact = distances[back], None if exact is None else exact[back]
    return 1.0 - distances, exact
