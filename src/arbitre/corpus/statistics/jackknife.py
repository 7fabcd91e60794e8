"""Intervals in closed form, from the jackknife: Clopper-Pearson with an effective number of units, and Student's t.

The jackknife linearises any function of sums (Efron and Stein, 1981). For a mean over documents, it gives the usual
variance of the mean. For a ratio (a pooled score, or a mean over clusters of unequal size), it agrees with the delta
method to first order and is slightly larger for few units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import scipy

from arbitre.corpus.statistics.sample import chunks

if TYPE_CHECKING:
    from arbitre.arrays import Floats
    from arbitre.corpus.statistics.sample import Statistic

PRIOR_UNITS: Final = 0.6
"""Number of units with the variance of scores 0 and 1 that the Clopper-Pearson interval adds to the observed ones.

More units cover rare failures better in small samples and widen every interval; `docs/statistics.md` shows both."""

SMALL: Final = 1e-12
"""Share of their sum below which masses count as rounding errors."""

TIE_TOLERANCE: Final = 1e-12
"""Maximum difference of scores that count as equal."""


class Moments(NamedTuple):
    """Sums over the units with a defined score, each of shape (names,)."""

    units: Floats
    """Number of units with a defined score."""
    variance: Floats
    """Jackknife variance of the estimate."""
    effective: Floats
    """Effective number of units, (sum of masses)² / sum of squared masses (Kish, 1965)."""
    graded: Floats
    """Number of units whose score is neither 0 nor the maximum; 0 if all units have the same score."""
    tied: Floats
    """1 if all units have the same score, else 0."""


def moments(statistic: Statistic, estimates: Floats, tops: Floats) -> Moments:
    """Compute the jackknife moments. O(units) time; memory does not grow with the number of units.

    Args:
        statistic: The statistic.
        estimates: Its value for the corpus, shape (names,).
        tops: Largest possible value of each score, shape (names,); the smallest is 0.
    """
    sums = np.zeros((5, len(estimates)))
    largest = np.zeros(len(estimates))
    for chunk in chunks(len(statistic.units)):
        units = statistic.units[chunk]
        scores = statistic.of(units)
        scored = ~np.isnan(scores) & np.any(units, axis=1, keepdims=True)
        deviations = estimates - statistic.of(left_out(statistic, chunk))
        deviations = np.where(scored & ~np.isnan(deviations), deviations, 0.0)
        masses = np.where(scored, statistic.masses(units), 0.0)
        graded = scored & (scores > TIE_TOLERANCE) & (scores < tops - TIE_TOLERANCE)
        parts = (scored, deviations**2, masses, masses**2, graded)
        sums += [part.sum(axis=0) for part in parts]
        largest = np.maximum(largest, np.abs(deviations).max(axis=0, initial=0.0))
    count, squares, mass, squared, between = sums
    effective = np.divide(mass**2, squared, out=count.copy(), where=squared > 0.0)
    variance = squares * (count - 1.0) / np.maximum(count, 1.0)
    tied = largest <= TIE_TOLERANCE
    return Moments(count, variance, effective, np.where(tied, 0.0, between), tied.astype(np.float64))


def left_out(statistic: Statistic, chunk: slice) -> Floats:
    """Return the sums without each unit of a slice in turn, shape (units, columns)."""
    rest: Floats = statistic.total - statistic.units[chunk]
    rest[rest <= SMALL * statistic.total] = 0.0  # rounding errors must not make a denominator nonzero
    return rest


def t_ends(estimate: float, score_moments: Moments, at: int, level: float) -> tuple[float, float]:
    """Return the lower and upper end of Student's t interval of one score, which has at least two units."""
    if score_moments.tied[at]:
        return estimate, estimate
    quantile = scipy.special.stdtrit(score_moments.units[at] - 1.0, 0.5 + level / 2.0)
    half = quantile * np.sqrt(score_moments.variance[at])
    return float(estimate - half), float(estimate + half)


def binomial_ends(estimate: float, score_moments: Moments, at: int, level: float, top: float) -> tuple[float, float]:
    """Return the lower and upper end of the Clopper-Pearson interval with an effective number of units.

    As Korn and Graubard (1998), the number of units is that of scores 0 and 1 which would have the same variance. With
    n units, of effective number k and mean m, the variance ratio is r = k variance / (m (1 - m)): 1 for scores 0 and 1,
    less if scores lie in between. Because the variance is estimated, r is multiplied by (t / z)², up to 1. Then
    `PRIOR_UNITS` with ratio 1 are averaged with the g units whose score lies in between: r' = (g r + p) / (g + p). The
    effective number of units is k / r'. If all scores are 0 or 1, or all are equal, r' = 1.

    Args:
        estimate: The score of the corpus.
        score_moments: The moments of all scores. The score has at least two units.
        at: Index of the score in the moments.
        level: Confidence level, between 0 and 1.
        top: Largest possible value of the score; the smallest is 0.
    """
    units, effective = score_moments.units[at], score_moments.effective[at]
    graded, share = score_moments.graded[at], min(max(estimate / top, 0.0), 1.0)
    binary = share * (1.0 - share)
    ratio = effective * score_moments.variance[at] / (top * top * binary) if binary > 0.0 else 0.0
    observed = ratio * (units - 1.0) / units
    tail = 0.5 + level / 2.0
    widened = ratio * (scipy.special.stdtrit(max(effective - 1.0, 1.0), tail) / scipy.special.ndtri(tail)) ** 2
    ratio = max(observed, min(1.0, widened))
    ratio = max(observed, (graded * ratio + PRIOR_UNITS) / (graded + PRIOR_UNITS))
    size = effective / ratio
    right, wrong = share * size, (1.0 - share) * size
    low = scipy.special.betaincinv(right, wrong + 1.0, 1.0 - tail) if share > 0.0 else 0.0
    high = scipy.special.betaincinv(right + 1.0, wrong, tail) if share < 1.0 else 1.0
    return float(min(low * top, estimate)), float(max(high * top, estimate))
