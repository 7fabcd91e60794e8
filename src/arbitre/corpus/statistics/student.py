"""Student's t intervals from jackknife pseudo-values, with or without an adjustment for few units.

The jackknife linearises any score of sums (Efron and Stein, 1981): for a mean over documents its pseudo-values are the
documents' scores, for a ratio (a pooled score, or a mean over clusters of unequal size) it agrees with the delta method
to first order, and is a little wider for few units.

The adjustment adds half a unit that scores 0 and half a unit that scores the maximum, as Agresti and Coull (1998) do
for a proportion. Without it an interval of few units is too narrow when some documents fail, or when nearly all are
perfect: the units that would show it are often not in the sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.special import stdtrit

from arbitre.corpus.statistics.sample import chunks

if TYPE_CHECKING:
    from arbitre.arrays import Floats
    from arbitre.corpus.statistics.sample import Statistic

HALF: Final = 0.5
"""Number of units added at each end of the scale by the adjusted interval, in units of mass-weighted mean size."""

SMALL: Final = 1e-12
"""Masses below this share of their sum, and deviations below this, are rounding errors."""


class Moments(NamedTuple):
    """Sums over the units that have a score, one value per score: shape (names,)."""

    units: Floats
    """Number of units that have the score."""
    deviations: Floats
    """Sum of the estimate less the estimate without the unit."""
    squares: Floats
    """Sum of the squares of these."""
    effective: Floats
    """Effective number of units, (sum of masses)² / sum of squared masses (Kish, 1965)."""
    largest: Floats
    """Largest absolute deviation."""


def moments(statistic: Statistic, estimates: Floats) -> Moments:
    """Leave out each unit in turn. O(units) time; memory does not grow with the number of units."""
    sums = np.zeros((5, len(estimates)))
    largest = np.zeros(len(estimates))
    for some in chunks(len(statistic.units)):
        units = statistic.units[some]
        scored = ~np.isnan(statistic.of(units)) & np.any(units, axis=1, keepdims=True)
        deviations = estimates - statistic.of(left_out(statistic, some))
        deviations = np.where(scored & ~np.isnan(deviations), deviations, 0.0)
        masses = np.where(scored, statistic.masses(units), 0.0)
        parts = (scored, deviations, deviations**2, masses, masses**2)
        sums += [part.sum(axis=0) for part in parts]
        largest = np.maximum(largest, np.abs(deviations).max(axis=0, initial=0.0))
    count, first, second, mass, squared = sums
    effective = np.divide(mass**2, squared, out=count.copy(), where=squared > 0.0)
    return Moments(count, first, second, effective, largest)


def left_out(statistic: Statistic, some: slice) -> Floats:
    """The sums over all units but one, for each unit of a slice: shape (units, columns)."""
    rest: Floats = statistic.total - statistic.units[some]
    rest[rest <= SMALL * statistic.total] = 0.0  # a denominator is 0 or it is not: rounding must not decide
    return rest


def ends(estimate: float, found: Moments, at: int, level: float, *, top: float, added: float) -> tuple[float, float]:
    """The ends of the interval of one score, which has at least two units.

    Args:
        estimate: The score of the corpus.
        found: The moments of all scores.
        at: Index of the score in the moments.
        level: Confidence level, between 0 and 1.
        top: Largest possible value of the score; the smallest is 0.
        added: Units added at 0 and at `top`; 0 is the plain t interval.
    """
    units = found.units[at]
    extra = added * units / found.effective[at]
    whole = units + 2.0 * extra
    center = (units * estimate + extra * top) / whole
    offset, factor = estimate - center, units - 1.0
    squares = factor**2 * found.squares[at] + 2.0 * offset * factor * found.deviations[at] + units * offset**2
    squares = max(0.0, squares) + extra * (center**2 + (top - center) ** 2)
    half = stdtrit(units - 1.0, 0.5 + level / 2.0) * np.sqrt(squares / ((whole - 1.0) * whole))
    return float(min(center - half, estimate)), float(max(center + half, estimate))
