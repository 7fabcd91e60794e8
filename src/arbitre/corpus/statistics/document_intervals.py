"""Confidence intervals of single documents, whose units are entries: a ratio estimator (Cochran, 1977, ch. 6)."""

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
"""Share of its terms below which a sum of squares counts as 0."""


def document_intervals(tallies: Floats, level: float = LEVEL, *, units: Floats | None = None) -> Floats:
    """Compute an interval for the f1q of each document, for other entries of the same kind.

    The *units* of a document are its matched pairs, which add 2q to the numerator of f1q and 2 to its denominator, and
    its unmatched entries, which add 0 and 1. Units are treated as independent. The variance is that of the linearised
    ratio; the quantile is that of Student's t with (number of units - 1) degrees of freedom.

    The interval does not apply to other documents. It is too narrow for few entries, especially if nearly all of them
    are correct. If all units have the same quality, both ends equal f1q.

    Args:
        tallies: Masses, shape (documents, 5): gold, predicted, matched, quality mass and sum of squared qualities, as
            in a Sample. A common factor does not change the interval.
        level: Confidence level.
        units: Number of units of each document, shape (documents,). By default gold + predicted - matched, which is
            correct if masses are counts, such as numbers of list items. Pass it if masses are not counts, such as sums
            of weights; all units of a document then have equal weight.

    Returns:
        Lower and upper ends, shape (documents, 2), in [0, 1]; NaN if there are fewer than two units or the sum of
        squares is unknown.

    >>> tallies = np.array([[4, 5, 4, 3.03, 2.3549], [2, 2, 2, 2, 2], [1, 1, 1, 0.5, 0.25]])
    >>> document_intervals(tallies).round(4).tolist()
    [[0.3638, 0.9829], [1.0, 1.0], [nan, nan]]
    >>> document_intervals(1e6 * tallies, units=np.array([5.0, 2.0, 1.0])).round(4).tolist()
    [[0.3638, 0.9829], [1.0, 1.0], [nan, nan]]
    """
    gold, predicted, matched, quality, squares = tallies.T
    both_sides, mass = gold + predicted, gold + predicted - matched
    count = mass if units is None else units
    f1q = ratio(2.0 * quality, both_sides)
    terms = 4.0 * squares + f1q * f1q * (both_sides + 2.0 * matched)
    residuals = terms - 8.0 * f1q * quality
    residuals[residuals <= VARIANCE_TOLERANCE * terms] = 0.0
    free = np.where(count >= MIN_UNITS, count - 1.0, np.nan)
    half = scipy.special.stdtrit(free, 0.5 + level / 2.0) * np.sqrt(residuals * mass / free) / both_sides
    ends: Floats = np.stack([f1q - half, f1q + half], axis=-1).clip(0.0, 1.0)
    return ends
