"""The qualities of pairs of single values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from arbitre.engine.batches import Batch, Grid
    from arbitre.engine.columns import Floats, Indices, LeafColumn, Mask

WIDE: Final = 64
"""Tables of so many cells are measured as such; in smaller ones it is quicker to measure pair by pair."""


def measure(batch: Batch, column: LeafColumn) -> tuple[Floats, Mask | None]:
    """1 - distance of each pair; values that are not compared in the same way are at distance 1.

    In a loose batch a quality that is dear to compute may be an upper bound: which are exact, or None for all.
    """
    one = len(column.pools) == 1
    if one and batch.grid is not None and (found := _cells(column, batch.grid)) is not None:
        return found, None
    gold, predicted = column.codes[batch.left], column.codes[batch.right]
    if one:
        return _pairs(column, gold, predicted, 0, loose=batch.loose)
    quality, exact = np.zeros(len(batch)), np.ones(len(batch), dtype=np.bool_)
    for slot in range(len(column.pools)):
        here = ((column.slots[gold] == slot) & (column.slots[predicted] == slot)).nonzero()[0]
        if len(here):
            quality[here], known = _pairs(column, gold[here], predicted[here], slot, loose=batch.loose)
            if known is not None:
                exact[here] = known
    return quality, None if exact.all() else exact


def _cells(column: LeafColumn, grid: Grid) -> Floats | None:
    """The qualities of pairs that are cells of tables, None where it is better to measure them pair by pair."""
    pool = column.pools[0]
    if int(grid.blocks.starts[-1]) < WIDE * len(grid.blocks):
        return None
    left, right = column.codes[grid.left], column.codes[grid.right]
    if pool.plain is not None and not (pool.plain[left].all() and pool.plain[right].all()):
        return None
    quality = 1.0 - pool.bounded(grid.blocks, column.local[left], column.local[right])
    return quality if grid.cells is None else quality[grid.cells]


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
