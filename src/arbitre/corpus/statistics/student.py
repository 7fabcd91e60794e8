"""Student's t intervals from jackknife pseudo-values, with or without an adjustment for few units.

The jackknife linearises any function of sums (Efron and Stein, 1981). For a mean over documents, the pseudo-values are
the documents' scores. For a ratio (a pooled score, or a mean over clusters of unequal size), it agrees with the delta
method to first order and is slightly wider for few units.

The adjustment adds half a unit with score 0 and half a unit with the maximum score, as Agresti and Coull (1998) do for
proportions. Without it, an interval from few units is too narrow if some documents fail or nearly all are perfect,
because a small sample often contains no unit of the rarer kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import scipy

from arbitre.corpus.statistics.sample import chunks

if TYPE_CHECKING:
    from arbitre.arrays import Floats
    from arbitre.corpus.statistics.sample import Statistic

HALF: Final = 0.5
"""Number of units of mass-weighted mean size that the adjusted interval adds at each end of the scale."""

SMALL: Final = 1e-12
"""Share of their sum below which masses count as rounding errors."""


class Moments(NamedTuple):
    """Sums over the units with a defined score, each of shape (names,)."""

    units: Floats
    """Number of units with a defined score."""
    deviations: Floats
    """Sum of the deviations: the estimate minus the estimate without the unit."""
    squares: Floats
    """Sum of the squared deviations."""
    effective: Floats
    """Effective number of units, (sum of masses)² / sum of squared masses (Kish, 1965)."""
    largest: Floats
    """Largest absolute deviation."""


def moments(statistic: Statistic, estimates: Floats) -> Moments:
    """Compute the jackknife moments. O(units) time; memory does not grow with the number of units.

    Args:
        statistic: The statistic.
        estimates: Its value for the corpus, shape (names,).
    """
    sums = np.zeros((5, len(estimates)))
    largest = np.zeros(len(estimates))
    for chunk in chunks(len(statistic.units)):
        units = statistic.units[chunk]
        scored = ~np.isnan(statistic.of(units)) & np.any(units, axis=1, keepdims=True)
        deviations = estimates - statistic.of(left_out(statistic, chunk))
        deviations = np.where(scored & ~np.isnan(deviations), deviations, 0.0)
        masses = np.where(scored, statistic.masses(units), 0.0)
        parts = (scored, deviations, deviations**2, masses, masses**2)
        sums += [part.sum(axis=0) for part in parts]
        largest = np.maximum(largest, np.abs(deviations).max(axis=0, initial=0.0))
    count, first, second, mass, squared = sums
    effective = np.divide(mass**2, squared, out=count.copy(), where=squared > 0.0)
    return Moments(count, first, second, effective, largest)


def left_out(statistic: Statistic, chunk: slice) -> Floats:
    """Return the sums without each unit of a slice in turn, shape (units, columns)."""
    rest: Floats = statistic.total - statistic.units[chunk]
    rest[rest <= SMALL * statistic.total] = 0.0  # rounding errors must not make a denominator nonzero
    return rest


def ends(
    estimate: float, score_moments: Moments, at: int, level: float, *, top: float, added: float
) -> tuple[float, float]:
    """Return the lower and upper end of the interval of one score, which has at least two units.

    Args:
        estimate: The score of the corpus.
        score_moments: The moments of all scores.
        at: Index of the score in the moments.
        level: Confidence level, between 0 and 1.
        top: Largest possible value of the score; the smallest is 0.
        added: Number of units added at 0 and at `top`; 0 gives the unadjusted t interval.
    """
    units = score_moments.units[at]
    extra = added * units / score_moments.effective[at]
    adjusted_units = units + 2.0 * extra
    center = (units * estimate + extra * top) / adjusted_units
    offset, factor = estimate - center, units - 1.0
    squares = (
        factor**2 * score_moments.squares[at] + 2.0 * offset * factor * score_moments.deviations[at] + units * offset**2
    )
    squares = max(0.0, squares) + extra * (center**2 + (top - center) ** 2)
    quantile = scipy.special.stdtrit(units - 1.0, 0.5 + level / 2.0)
    half = quantile * np.sqrt(squares / ((adjusted_units - 1.0) * adjusted_units))
    return float(min(center - half, estimate)), float(max(center + half, estimate))
