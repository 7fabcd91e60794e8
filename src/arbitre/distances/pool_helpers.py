"""Helpers shared by several distances: pools of numpy formulas, codes of equal values, checks of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arbitre.errors import SolverError
from arbitre.values import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.distances.base import Blocks
    from arbitre.values import Json

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BroadcastPool:
    """A pool whose distance is a vectorised function of the indices of two values."""

    measure: Callable[[Indices, Indices], Floats]

    @property
    def exactly_bounded(self) -> None:
        return None

    def distances(self, left: Indices, right: Indices) -> Floats:
        return self.measure(left, right)

    def lower_bounds_pairwise(self, left: Indices, right: Indices) -> tuple[Floats, None]:
        return self.measure(left, right), None

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        return self.measure(left[blocks.rows], right[blocks.columns])


def value_codes(values: Iterable[Json], known: Iterable[Json] = ()) -> Integers:
    """Return one code for each value, equal if and only if the values are equal as JSON; shape (n,).

    Args:
        values: The values; n of them.
        known: Distinct values that get the codes 0, 1, ... in their order.

    >>> value_codes(["b", True, 1, 1.0], known=["a", "b"]).tolist()
    [1, 2, 3, 3]
    """
    table: dict[Hashable, int] = {canonical(value): number for number, value in enumerate(known)}
    return np.array([table.setdefault(canonical(value), len(table)) for value in values], dtype=np.int64)


def enumerated_pool(
    values: Iterable[Json], known: Sequence[Json], graded: Callable[[Integers, Integers], Floats]
) -> BroadcastPool:
    """Return a pool for a distance that is defined on a list of distinct values.

    A value outside the list has distance 0 to an equal value and 1 to every other value.

    Args:
        values: The values of the pool.
        known: The list of distinct values.
        graded: Returns the distances for two arrays of positions in `known`; shapes (n,).
    """
    rank = value_codes(values, known=known)

    def measure(left: Indices, right: Indices) -> Floats:
        a, b = rank[left], rank[right]
        inside = (a < len(known)) & (b < len(known))
        return np.where(inside, graded(np.where(inside, a, 0), np.where(inside, b, 0)), a != b)

    return BroadcastPool(measure)


def ratio_or_zero(part: Integers, whole: Integers) -> Floats:
    """Return part / whole, or 0 for 0 / 0: two empty values are equal."""
    quotient: Floats = part / np.maximum(whole, 1)
    return quotient


def check_distances(distances: npt.NDArray[Any], shape: tuple[int, ...], library: str) -> Floats:
    """Check that a library's distances have this shape and are finite and in [0, 1]; return them as float64.

    Raises:
        SolverError: They are not.
    """
    if distances.shape != shape:
        message = f"Expected `{library}` to return distances of shape {shape}, got {distances.shape}"
    elif not (distances.min(initial=0) >= 0 and distances.max(initial=1) <= 1):  # nan is neither
        message = f"Expected `{library}` to return finite distances within [0, 1], got values outside of it or NaN"
    else:
        return distances.astype(np.float64, copy=False)
    raise SolverError.of(message, hint=f"This version of {library} computes wrong results: install another version.")
