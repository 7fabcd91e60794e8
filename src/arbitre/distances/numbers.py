"""Distances of numbers, exact for integers of any size.

>>> RELATIVE(100, 90), RELATIVE(-1, 1)
(0.1, 1.0)
>>> RELATIVE(2**53, 2**53 + 1)
1.1102230246251564e-16
>>> absolute(scale=10)(1931, 1934)
0.3
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from arbitre.distances.base import Distance, Facts
from arbitre.distances.columns import Broadcast
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.distances.base import Floats, Indices

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


def _pool(formula: Formula, values: Sequence[float]) -> Broadcast:
    """A formula over floats, and over fractions for the pairs with a number that no float is equal to.

    Which of the two measures a pair depends on that pair alone, so its distance does not depend on the pool.
    """
    nearest = [_nearest(value) for value in values]
    floats = np.array([0.0 if value is None else value for value in nearest], dtype=np.float64)
    beyond = np.array([value is None for value in nearest], dtype=np.bool_)
    fractions = np.array([Fraction(value) for value in values] if beyond.any() else [], dtype=np.object_)

    def settled(a: Numbers, b: Numbers) -> Floats:
        return np.where(a != b, np.maximum(formula(a, b).astype(np.float64), _LEAST), 0.0)

    def measure(left: Indices, right: Indices) -> Floats:
        distances = settled(floats[left], floats[right])
        exactly = beyond[left] | beyond[right]
        if exactly.any():
            left, right = np.broadcast_arrays(left, right)
            distances[exactly] = settled(fractions[left[exactly]], fractions[right[exactly]])
        return distances

    return Broadcast(measure)


def _nearest(number: float) -> float | None:
    """The float equal to a number, or None where there is none."""
    try:
        return nearest if (nearest := float(number)) == number else None
    except OverflowError:
        return None


RELATIVE: Final = Distance("relative", _NUMBER, Facts(), partial(_pool, _relative))
"""0 where equal, else |a - b| / max(|a|, |b|), at most 1: a metric on all reals, without a scale.

Source: the biotope transform of |a - b| at 0 (Marczewski and Steinhaus, 1958).
"""


def absolute(scale: float) -> Distance:
    """min(1, |a - b| / scale), for a scale > 0: the gap from which two numbers are wholly different. A metric."""
    formula = partial(_absolute, scale=Fraction(scale))
    return Distance("absolute", _NUMBER, Facts(), partial(_pool, formula), {"scale": scale})
