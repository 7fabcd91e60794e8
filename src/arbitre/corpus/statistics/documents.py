"""Intervals of single documents, whose units are their own entries: a ratio estimator (Cochran, 1977, ch. 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import scipy

from arbitre.corpus.statistics.resampling import LEVEL
from arbitre.corpus.statistics.sample import ratio

if TYPE_CHECKING:
    from arbitre.corpus.statistics.sample import Floats

LEAST: Final = 2.0
"""Of fewer units than this the spread is not known."""

ROUNDING: Final = 1e-12
"""A sum of squares that is this small beside its terms is 0."""


def document_intervals(tallies: Floats, level: float = LEVEL) -> Floats:
    """Between which values the f1q of each document would lie, had it held other entries of the same kind.

    `tallies` has shape (documents, 5), its columns those of a Sample; the result is (documents, 2), low and high in
    [0, 1], nan where there are fewer than two units or the sum of squares is not known. The *units* of a document are
    its matched pairs, which add 2q to the numerator of f1q and 2 to its denominator, and its entries without partner,
    which add 0 and 1; each is taken as drawn by itself. The variance is that of the linearised ratio, the quantile
    Student's t with one degree of freedom less than there are units, the ends are clipped.

    It says nothing of other documents, and is too narrow for few entries, the more so where nearly all is right. Where
    all units are alike, as when all is right, both ends are f1q: no spread was seen, not that there is none.

    >>> document_intervals(np.array([[4, 5, 4, 3.03, 2.3549], [2, 2, 2, 2, 2], [1, 1, 1, 0.5, 0.25]])).round(4).tolist()
    [[0.3638, 0.9829], [1.0, 1.0], [nan, nan]]
    """
    gold, predicted, matched, quality, squares = tallies.T
    whole, units = gold + predicted, gold + predicted - matched
    f1q = ratio(2.0 * quality, whole)
    terms = 4.0 * squares + f1q * f1q * (whole + 2.0 * matched)
    residuals = terms - 8.0 * f1q * quality
    residuals[residuals <= ROUNDING * terms] = 0.0
    free = np.where(units >= LEAST, units - 1.0, np.nan)
    half = scipy.special.stdtrit(free, 0.5 + level / 2.0) * np.sqrt(residuals * units / free) / whole
    ends: Floats = np.stack([f1q - half, f1q + half], axis=-1).clip(0.0, 1.0)
    return ends
