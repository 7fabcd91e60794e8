"""Array types, and sums that are correctly rounded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


FEW: Final = 64
"""Number of values up to which `math.fsum` is faster than looking at them."""

LOOKED_AT: Final = 1 << 14
"""Number of values that are looked at together."""


def exact_sum(column: npt.NDArray[Any]) -> float:
    """Return the correctly rounded sum of a column of numbers, shape (n,).

    Most columns of counts contain only integers: then no order of addition rounds, and `sum` takes a tenth of the time
    of `math.fsum` (a million documents).
    """
    if column.dtype.kind in "ub":
        return float(column.sum(dtype=np.uint64))
    if len(column) > FEW and _whole(column):
        return float(column.sum())
    return math.fsum(column.data)


def exact_sums(parts: Iterable[Floats], width: int) -> Floats:
    """Return the correctly rounded sums of the columns of consecutive parts of a table, each of shape (n, width)."""
    held: list[list[float]] = [[] for _ in range(width)]
    for part in parts:
        for at, column in enumerate(part.T):
            values = [float(column.sum())] if _whole(column) else column.tolist()
            held[at] = exact_parts([*held[at], *values])
    return np.array([math.fsum(values) for values in held])


def _whole(column: npt.NDArray[Any]) -> bool:
    """Return whether a column has only integers, whose sum is exact in any order."""
    total = 0.0
    for start in range(0, len(column), LOOKED_AT):  # copies are small, and most columns of fractions end at the first
        values = column[start : start + LOOKED_AT]
        total += float(np.abs(values).sum())
        if not total < 2.0**53 or not np.array_equal(values, np.rint(values)):
            return False
    return True


def exact_dot(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return the sum of the products of two arrays of shape (n,): rounded products, whose sum is correctly rounded.

    BLAS, which computes `first @ second`, adds in an order that depends on memory addresses and on threads.
    """
    return math.fsum(np.multiply(first, second).tolist())


def weighted_sums(weights: Floats, values: Floats) -> Floats:
    """Return `weights @ values` for weights that count something. The result is the same in every run.

    Each value is split into two multiples of powers of 2. They have so few digits that their products and sums are
    exact: the order in which BLAS adds them does not matter. Of each value, what is less than 2**-52 of the largest
    value in its column is lost, unless the weights of a row add up to more than 2**26.

    Args:
        weights: Integers, at least 0; shape (rows, n).
        values: Finite numbers; shape (n,) or (n, columns).

    Returns:
        The sums; shape (rows,) or (rows, columns).
    """
    bits = 52 - math.ceil(math.log2(max(1.0, float(weights.sum(axis=-1).max(initial=1.0)))))
    largest = np.abs(values).max(axis=0, initial=0.0)
    grid = np.exp2(np.ceil(np.log2(np.where(largest > 0.0, largest, 1.0))) - bits)
    high = np.rint(values / grid) * grid
    grid = grid * 2.0**-bits
    low = np.rint((values - high) / grid) * grid
    sums: Floats = weights @ high
    # Counts have no low part: without it, the product of many weights takes half the time.
    if values.ndim == 1:
        return sums + weights @ low if low.any() else sums
    split = low.any(axis=0)
    sums[:, split] += weights @ low[:, split]
    return sums


def exact_parts(values: list[float]) -> list[float]:
    """Return a few non-overlapping numbers with exactly the same sum (Shewchuk, 1997)."""
    parts: list[float] = []
    while rest := math.fsum([*values, *(-part for part in parts)]):
        parts.append(rest)
        if not math.isfinite(rest):
            break
    return parts
