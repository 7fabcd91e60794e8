"""Distances between numbers, exact for integers of any size.

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

from arbitre.distances.base import BroadcastPool, Distance, Facts, partial_pool, value_codes
from arbitre.distances.discrete import EXACT
from arbitre.errors import SchemaError
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.base import Pool

    Numbers = npt.NDArray[Any]
    Formula = Callable[[Numbers, Numbers], Numbers]

_NUMBER = frozenset({Kind.NUMBER})

_LEAST = np.finfo(np.float64).smallest_subnormal
"""Smallest distance between two different numbers, so that rounding never makes it 0."""

_ERROR: Final = 2.0**-49
"""Bound of the rounding errors of a difference and of its limit, relative to the larger magnitude: 8 units of rounding,
with a margin of 2."""


def _relative(a: Numbers, b: Numbers) -> Numbers:
    x, y = np.abs(a), np.abs(b)
    larger = np.maximum(x, y)
    # With different signs, the gap is at least the larger magnitude (distance 1), and computing it could overflow.
    gap = np.where(np.sign(a) == np.sign(b), np.abs(x - y), larger)
    distances: Numbers = gap / np.where(larger == 0, 1, larger)
    return distances


def _absolute(a: Numbers, b: Numbers, scale: Fraction) -> Numbers:
    unit = np.array(scale, dtype=a.dtype)
    with np.errstate(over="ignore"):  # a gap that overflows exceeds the scale
        distances: Numbers = np.minimum(np.abs(a - b) / unit, 1)
    return distances


def _pool(formula: Formula, values: Sequence[float]) -> BroadcastPool:
    """Return a pool that computes with floats, and with fractions if a number of the pair is not exactly a float.

    The choice depends on the pair alone, so its distance does not depend on the pool.

    Args:
        formula: Computes distances from two arrays of floats or fractions.
        values: The numbers.
    """
    floats, inexact = _floats(values)
    fractions = np.array([Fraction(value) for value in values] if inexact.any() else [], dtype=np.object_)

    def compute(a: Numbers, b: Numbers) -> Floats:
        return np.where(a != b, np.maximum(formula(a, b).astype(np.float64), _LEAST), 0.0)

    def measure(left: Indices, right: Indices) -> Floats:
        distances = compute(floats[left], floats[right])
        by_fractions = inexact[left] | inexact[right]
        if by_fractions.any():
            left, right = np.broadcast_arrays(left, right)
            distances[by_fractions] = compute(fractions[left[by_fractions]], fractions[right[by_fractions]])
        return distances

    return BroadcastPool(measure)


def _floats(values: Sequence[float]) -> tuple[Floats, Mask]:
    """Return the numbers as floats, with 0 for those that are not exactly a float, and a mask of the latter."""
    nearest = [_nearest(value) for value in values]
    floats = np.array([0.0 if value is None else value for value in nearest], dtype=np.float64)
    return floats, np.array([value is None for value in nearest], dtype=np.bool_)


def _nearest(number: float) -> float | None:
    """Return the float that equals a number, or None if there is none."""
    try:
        return nearest if (nearest := float(number)) == number else None
    except OverflowError:
        return None


RELATIVE: Final = Distance("relative", _NUMBER, Facts(), partial(_pool, _relative))
"""|a - b| / max(|a|, |b|), at most 1, and 0 if a = b: a metric on all reals that needs no scale.

Source: the biotope transform of |a - b| at 0 (Marczewski and Steinhaus, 1958).
"""


def absolute(scale: float) -> Distance:
    """Return the distance min(1, |a - b| / scale): a metric.

    Args:
        scale: Difference from which two numbers have distance 1; above 0.
    """
    formula = partial(_absolute, scale=Fraction(scale))
    return Distance("absolute", _NUMBER, Facts(), partial(_pool, formula), {"scale": scale})


def log(scale: float) -> Distance:
    """Return the distance x / (1 + x) for x = |asinh(a / scale) - asinh(b / scale)|, in [0, 1): a metric.

    asinh is a logarithm for both signs: x is about the difference of numbers below the scale, and the logarithm of the
    ratio of numbers far above it. The rounding error of x is about 1e-14. Source of the transformation: Johnson, 1949.

    Args:
        scale: Magnitude at which asinh changes from linear to logarithmic; above 0.

    >>> log(scale=1)(10, 20), log(scale=1)(1000, 2000)
    (0.4087321692401002, 0.40938382544524704)
    """
    return Distance("log", _NUMBER, Facts(), partial(_log, scale), {"scale": scale})


def _log(scale: float, values: Sequence[float]) -> BroadcastPool:
    """Prepare numbers, compared by g / (1 + g) for the gap g of their asinh(x / scale)."""
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
    """Return the distance that is 0 if two numbers round to the same multiple of `grid`, else 1.

    Ties round to the even multiple. They are ties of the floats: with `grid` 0.1, 0.15 is not a tie, as neither number
    is exactly a float. It is a pseudo-metric, unlike `tolerance`, but close numbers on opposite sides of a rounding
    boundary have distance 1.

    Args:
        grid: Step of the grid; above 0.
    """
    facts = Facts(separating=False, witness=(0, grid / 4))
    return Distance("rounded", _NUMBER, facts, partial(_rounded, Fraction(grid)), {"grid": grid})


def _rounded(grid: Fraction, values: Sequence[float]) -> Pool:
    return EXACT.pool([round(Fraction(value) / grid) for value in values])


def tolerance(within: float | None = None, relative: float | None = None) -> Distance:
    """Return the distance that is 0 if |a - b| <= max(within, relative * max(|a|, |b|)), else 1.

    The numbers and the options are decimals, as they are written: 20.00 and 19.99 differ by exactly 0.01. It is
    symmetric: the share is taken of the larger magnitude, not of gold. Not a metric: with `within` = t,
    d(0, t) = d(t, 2t) = 0, but d(0, 2t) = 1. `rounded` satisfies the triangle inequality.

    Args:
        within: Largest tolerated difference; above 0.
        relative: Largest tolerated difference as a share of the larger magnitude; at least 2^-52, below 1.

    Raises:
        SchemaError: Neither is given.

    >>> tolerance(relative=0.05)(1.0, 0.95), tolerance(relative=0.05)(100, 94), tolerance(0.01, 0.0001)(20.00, 19.99)
    (0.0, 1.0, 0.0)
    """
    if within is None and relative is None:
        raise SchemaError.of(
            "Expected `tolerance` to have the option `within`, `relative` or both, got neither",
            hint='Write {"tolerance": {"within": ...}} or {"tolerance": {"relative": ...}}.',
        )
    pair = (0, within) if within is not None else (1, 1.0 - (relative or 0.0) / 2.0)
    facts = Facts(separating=False, triangle=False, witness=pair)
    limits = _decimal(within or 0), _decimal(relative or 0)
    given = {"within": within, "relative": relative}
    options = {name: value for name, value in given.items() if value is not None}
    return Distance("tolerance", _NUMBER, facts, partial(_tolerance, *limits), options)


def _tolerance(within: Fraction, relative: Fraction, values: Sequence[float]) -> BroadcastPool:
    """Prepare numbers, compared as floats, or as decimals if rounding errors could decide."""
    floats, inexact = _floats(values)
    least, share = float(within), float(relative)

    def is_beyond(pair: int) -> bool:
        a, b = (_decimal(values[index]) for index in divmod(pair, len(values)))
        return abs(a - b) > max(within, relative * max(abs(a), abs(b)))

    def measure(left: Indices, right: Indices) -> Floats:
        a, b = floats[left], floats[right]
        larger = np.maximum(np.abs(a), np.abs(b))
        limit = np.maximum(least, share * larger)
        with np.errstate(over="ignore"):
            gap = np.abs(a - b)
        distances = (gap > limit).astype(np.float64)
        unsure = np.abs(gap - limit) <= _ERROR * larger + _ERROR * least + 8 * _LEAST
        unsure |= np.isinf(gap) | inexact[left] | inexact[right]
        if unsure.any():
            pairs, where = np.unique((left * len(values) + right)[unsure], return_inverse=True)
            distances[unsure] = np.array([is_beyond(pair) for pair in pairs.tolist()], dtype=np.float64)[where]
        return distances

    return BroadcastPool(measure)


def _decimal(number: float) -> Fraction:
    """Return the decimal that a number is written as: exact for integers, else the shortest that gives the float."""
    return Fraction(number) if number == int(number) else Fraction(repr(float(number)))


def cycle(period: int) -> Distance:
    """Return the distance min(r, K - r) / floor(K / 2) for r = |a - b| and the period K, in [0, 1]: a pseudo-metric.

    It is defined for integers from 0 to K, where 0 and K are the same point: months 1-12, hours 0-23 (or 24), degrees
    0-359. Any other number, such as month 13 or hour 2.5, has distance 0 to an equal number and 1 to every other
    number. Source: Lee, 1958.

    Args:
        period: Length K of the cycle; at least 2.
    """
    facts = Facts(separating=False, witness=(0, period))
    return Distance("cycle", _NUMBER, facts, partial(_cycle, period), {"period": period})


def _cycle(period: int, values: Sequence[float]) -> BroadcastPool:
    """Prepare numbers: integers in [0, period] are compared by their shorter way round / longest way."""
    inside = np.array([0 <= value <= period and value == int(value) for value in values], dtype=np.bool_)
    points = [int(value) if on_cycle else 0 for value, on_cycle in zip(values, inside, strict=True)]
    point = np.array(points, dtype=np.int64)

    def graded(left: Indices, right: Indices) -> Floats:
        gap = np.abs(point[left] - point[right])
        distances: Floats = np.minimum(gap, period - gap) / (period // 2)
        return distances

    return partial_pool(value_codes(values), inside, graded)
