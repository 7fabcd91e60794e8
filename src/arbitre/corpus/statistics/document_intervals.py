"""Intervals of single documents, whose units are their own entries: a ratio estimator (Cochran, 1977, ch. 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import scipy

from arbitre.corpus.statistics.bootstrap import LEVEL
from arbitre.corpus.statistics.sample import ratio

if TYPE_CHECKING:
    from arbitre.arrays import Floats

MIN_UNITS: Final = 2.0
"""Minimum number of units for an interval."""

VARIANCE_TOLERANCE: Final = 1e-12
"""A sum of squares below this share of its terms counts as 0."""


def document_intervals(tallies: Floats, level: float = LEVEL, *, units: Floats | None = None) -> Floats:
    """Compute an interval for the f1q of each document, over other entries of the same kind.

    The *units* of a document are its matched pairs, which add 2q to the numerator of f1q and 2 to its denominator, and
    its entries without partner, which add 0 and 1; each is taken as drawn by itself. The variance is that of the
    linearised ratio, the quantile Student's t with one degree of freedom less than there are units.

    The interval says nothing about other documents. It is too narrow for few entries, the more so where nearly all is
    right. If all units are alike, as when all is right, both ends are f1q: no spread was seen, not that there is none.

    Args:
        tallies: Masses, shape (documents, 5): gold, predicted, matched, quality mass and sum of squared qualities, as
            in a Sample. They may be in any unit: a common factor does not change the interval.
        level: Confidence level.
        units: Number of units of each document, shape (documents,). By default the masses are counts, as those of the
            items of a list are, and the number is gold + predicted - matched. Pass it for masses that are not counts,
            such as sums of weights; the units of a document are then taken as of equal weight.

    Returns:
        Low and high end, shape (documents, 2), in [0, 1]; nan if there are fewer than two units or the sum of squares
        is not known.

    >>> tallies = np.array([[4, 5, 4, 3.03, 2.3549], [2, 2, 2, 2, 2], [1, 1, 1, 0.5, 0.25]])
    >>> document_intervals(tallies).round(4).tolist()
    [[0.3638, 0.9829], [1.0, 1.0], [nan, nan]]
    >>> document_intervals(1e6 * tallies, units=np.array([5.0, 2.0, 1.0])).round(4).tolist()
    [[0.3638, 0.9829], [1.0, 1.0], [nan, nan]]
    """
    gold, predicted, matched, quality, squares = tallies.T
    whole, mass = gold + predicted, gold + predicted - matched
    count = mass if units is None else units
    f1q = ratio(2.0 * quality, whole)
    terms = 4.0 * squares + f1q * f1q * (whole + 2.0 * matched)
    residuals = terms - 8.0 * f1q * quality
    residuals[residuals <= VARIANCE_TOLERANCE * terms] = 0.0
    free = np.where(count >= MIN_UNITS, count - 1.0, np.nan)
    half = scipy.special.stdtrit(free, 0.5 + level / 2.0) * np.sqrt(residuals * mass / free) / whole
    ends: Floats = np.stack([f1q - half, f1q + half], axis=-1).clip(0.0, 1.0)
    return ends
