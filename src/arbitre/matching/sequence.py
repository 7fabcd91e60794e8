"""Order-preserving matching of two lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.matching.assignment import TIE
from arbitre.matching.coupling import Coupling

if TYPE_CHECKING:
    from arbitre.arrays import Floats, Mask


def sequence(quality: Floats, allowed: Mask | None = None) -> Coupling:
    """Return the order-preserving matching with the greatest sum of qualities.

    Ties within 1e-9 go to the matching with more pairs. Dynamic programming without gap costs (Needleman and Wunsch,
    1970); O(n m).

    Args:
        quality: Qualities of all pairs, in [0, 1]; shape (n, m).
        allowed: Mask of the pairs that may be matched; None for all.

    >>> sequence(np.array([[0.1, 0.9], [0.8, 0.2]])).predicted
    array([1])
    """
    rows, columns = quality.shape
    gain = quality + TIE / max(min(rows, columns), 1)
    if allowed is not None:
        gain = np.where(allowed, gain, -1.0)
    best = np.zeros((rows + 1, columns + 1))
    for row in range(rows):
        candidates = np.maximum(best[row, 1:], best[row, :-1] + gain[row])
        np.maximum.accumulate(candidates, out=best[row + 1, 1:])
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
