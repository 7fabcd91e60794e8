"""Matchings that keep the order of both lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.matching.assignment import TIE
from arbitre.matching.coupling import Coupling

if TYPE_CHECKING:
    from arbitre.arrays import Floats, Mask


def sequence(quality: Floats, allowed: Mask | None = None) -> Coupling:
    """The order-preserving alignment of greatest S, with most pairs among those (within 1e-9).

    `quality` has shape (n, m). Dynamic programming (Needleman & Wunsch, 1970) without gap costs: O(n m).

    >>> sequence(np.array([[0.1, 0.9], [0.8, 0.2]])).predicted
    array([1])
    """
    rows, columns = quality.shape
    gain = quality + TIE / max(min(rows, columns), 1)
    if allowed is not None:
        gain = np.where(allowed, gain, -1.0)
    best = np.zeros((rows + 1, columns + 1))
    for row in range(rows):
        here = np.maximum(best[row, 1:], best[row, :-1] + gain[row])
        np.maximum.accumulate(here, out=best[row + 1, 1:])
    gold: list[int] = []
    predicted: list[int] = []
    row, column = rows, columns
    while row and column:
        if best[row, column] == best[row - 1, column]:
            row -= 1
        elif best[row, column] == best[row, column - 1]:
            column -= 1
        else:
            row, column = row - 1, column - 1
            gold.append(row)
            predicted.append(column)
    return Coupling.of(gold[::-1], predicted[::-1], quality.shape)
