"""Distances of numbers, exact for integers of any size.

>>> RELATIVE(100, 90), RELATIVE(-1, 1)
(0.1, 1.0)
>>> RELATIVE(2**53, 2**53 + 1)
1.1102230246251564e-16
>>> absolute(scale=10)(1931, 1934)
0.3
>>> rounded(grid=0.5)(1.1, 0.9), tolerance(within=0.25)(1, 1.25)
(0.0, 0.0)
>>> cycle(period=12)(12, 2) == 2 / 6
True
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from arbitre.distances.base import Distance, Facts
from arbitre.distances.discrete import EXACT
from arbitre.distances.pool_helpers import BroadcastPool, value_codes
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.distances.base import Pool

    Numbers = npt.NDArray[Any]
    Formula = Callable[[Numbers, Numbers], Numbers]

_NUMBER = frozenset({Kind.NUMBER})

_LEAST = np.finfo(np.float64).smallest_subnormal
"""Rounding never brings two different numbers to distance 0."""


def _relative(a: Numbers, b: Numbers) -> Numbers:
    x, y = np.abs(a), np.abs(b)
    larger = np.maximum(x, y)
    # Across zero the gap is at least the larger magnitude, and could overflow.
    gap = np.where(np.sign(a) == np.sign(b), np.abs(x - y), larger)
    distances: Numbers = gap / np.where(larger == 0, 1, larger)
    return distances


def _absolute(a: Numbers, b: Numbers, scale: Fraction) -> Numbers:
    unit = np.array(scale, dtype=a.dtype)
    with np.errstate(over="ignore"):  # a gap beyond the largest float is beyond the scale
        distances: Numbers = np.minimum(np.abs(a - b) / unit, 1)
    return distances


def _tolerance(a: Numbers, b: Numbers, within: Fraction) -> Numbers:
    most, larger, smaller = np.array(within, dtype=a.dtype), np.maximum(a, b), np.minimum(a, b)
    with np.errstate(over="ignore", invalid="ignore"):  # a gap beyond the largest float is beyond what is tolerated
        gap = larger - smaller
        rest = larger - gap
        lost = (larger - (gap + rest)) + (rest - smaller)  # by the rounding of the gap, exactly (Knuth's sum)
        distances: Numbers = (gap > most) | ((gap == most) & (lost > 0))
    return distances


def _pool(formula: Formula, least: float, values: Sequence[float]) -> BroadcastPool:
    """A formula over floats, and over fractions for the pairs with a number that no float is equal to.

    Which of the two measures a pair depends on that pair alone, so its distance does not depend on the pool. Two
    different numbers are at `least` so far apart.
    """
    nearest = [_nearest(value) for value in values]
    floats = np.array([0.0 if value is None else value for value in nearest], dtype=np.float64)
    beyond = np.array([value is None for value in nearest], dtype=np.bool_)
    fractions = np.array([Fraction(value) for value in values] if beyond.any() else [], dtype=np.object_)

    def settled(a: Numbers, b: Numbers) -> Floats:
        return np.where(a != b, np.maximum(formula(a, b).astype(np.float64), least), 0.0)

    def measure(left: Indices, right: Indices) -> Floats:
        distances = settled(floats[left], floats[right])
        exactly = beyond[left] | beyond[right]
        if exactly.any():
            left, right = np.broadcast_arrays(left, right)
            distances[exactly] = settled(fractions[left[exactly]], fractions[right[exactly]])
        return distances

    return BroadcastPool(measure)


def _nearest(number: float) -> float | None:
    """The float equal to a number, or None where there is none."""
    try:
        return nearest if (nearest := float(number)) == number else None
    except OverflowError:
        return None


RELATIVE: Final = Distance("relative", _NUMBER, Facts(), partial(_pool, _relative, _LEAST))
"""0 where equal, else |a - b| / max(|a|, |b|), at most 1: a metric on all reals, without a scale.

Source: the biotope transform of |a - b| at 0 (Marczewski and Steinhaus, 1958).
"""


def absolute(scale: float) -> Distance:
    """min(1, |a - b| / scale), for a scale > 0: the gap from which two numbers are wholly different. A metric."""
    formula = partial(_absolute, scale=Fraction(scale))
    return Distance("absolute", _NUMBER, Facts(), partial(_pool, formula, _LEAST), {"scale": scale})


def log(scale: float) -> Distance:
    """|asinh(a / scale) - asinh(b / scale)|, brought into [0, 1] by x / (1 + x): a metric.

    A logarithm of both signs: below the scale > 0 it counts differences, far above it ratios. The rounding of x is
    that of asinh, about 1e-14. Source: Johnson, 1949, for the transformation.

    >>> log(scale=1)(10, 20), log(scale=1)(1000, 2000)
    (0.4087321692401002, 0.40938382544524704)
    """
    return Distance("log", _NUMBER, Facts(), partial(_log, scale), {"scale": scale})


def _log(scale: float, values: Sequence[float]) -> BroadcastPool:
    code = value_codes(values)
    place = np.array([_asinh(Fraction(value) / Fraction(scale)) for value in values], dtype=np.float64)

    def measure(left: Indices, right: Indices) -> Floats:
        gap = np.abs(place[left] - place[right])
        return np.where(code[left] != code[right], np.maximum(gap / (1 + gap), _LEAST), 0.0)

    return BroadcastPool(measure)


def _asinh(ratio: Fraction) -> float:
    try:
        return math.asinh(float(ratio))
    except OverflowError:
        size = math.log(2 * abs(ratio.numerator)) - math.log(ratio.denominator)
        return size if ratio > 0 else -size


def rounded(grid: float) -> Distance:
    """0 where two numbers have the same nearest multiple of `grid` > 0 (halves to the even one), else 1.

    A pseudo-metric, unlike `tolerance`: but neighbours on either side of a half are at 1.
    """
    facts = Facts(separating=False, witness=(0, grid / 4))
    return Distance("rounded", _NUMBER, facts, partial(_rounded, Fraction(grid)), {"grid": grid})


def _rounded(grid: Fraction, values: Sequence[float]) -> Pool:
    return EXACT.pool([round(Fraction(value) / grid) for value in values])


def tolerance(within: float) -> Distance:
    """0 where |a - b| <= `within`, which is > 0, else 1.

    Not a metric: 0 and 2t are each within t of t, and not of each other; `rounded` keeps the triangle inequality.
    """
    facts = Facts(separating=False, triangle=False, witness=(0, within))
    pool = partial(_pool, partial(_tolerance, within=Fraction(within)), 0.0)
    return Distance("tolerance", _NUMBER, facts, pool, {"within": within})


def cycle(period: int) -> Distance:
    """min(r, K - r) / floor(K / 2) for r = |a - b|, between whole numbers from 0 to the period K >= 2; in [0, 1].

    0 and K are one point: months 1-12, hours 0-23 (or 24), degrees 0-359. Any other number, such as month 13 or hour
    2.5, is at 0 from an equal one, at 1 from every other. A pseudo-metric. Source: Lee, 1958.
    """
    facts = Facts(separating=False, witness=(0, period))
    return Distance("cycle", _NUMBER, facts, partial(_cycle, period), {"period": period})


def _cycle(period: int, values: Sequence[float]) -> BroadcastPool:
    code = value_codes(values)
    inside = np.array([0 <= value <= period and value == int(value) for value in values], dtype=np.bool_)
    place = np.array([int(value) if held else 0 for value, held in zip(values, inside, strict=True)], dtype=np.int64)

    def measure(left: Indices, right: Indices) -> Floats:
        apart = np.abs(place[left] - place[right])
        around: Floats = np.minimum(apart, period - apart) / (period // 2)
        return np.where(inside[left] & inside[right], around, code[left] != code[right])

    return BroadcastPool(measure)
