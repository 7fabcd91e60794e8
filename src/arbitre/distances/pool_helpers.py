"""Helpers shared by several distances: pools of numpy formulas, codes of equal values, checks of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arbitre.distances.base import Pool
from arbitre.errors import SolverError
from arbitre.values import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.base import Blocks
    from arbitre.values import Json

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BroadcastPool(Pool):
    """A pool whose distance is a vectorised function of the indices of two values."""

    measure: Callable[[Indices, Indices], Floats]

    def distances(self, left: Indices, right: Indices) -> Floats:
        return self.measure(left, right)


@dataclass(frozen=True, slots=True)
class DeferredPool(Pool):
    """A pool of texts whose distances are slow, with another pool whose distances are lower bounds.

    Equal texts have distance 0, and texts with the bound 1 have distance 1. `margin` is subtracted from all other
    bounds; it is greater than their rounding errors.
    """

    texts: Sequence[str]
    bounds: Pool
    margin: float

    @property
    def exactly_bounded(self) -> Mask:
        return np.zeros(len(self.texts), dtype=np.bool_)

    def lower_bounds_pairwise(self, left: Indices, right: Indices) -> tuple[Floats, Mask]:
        bounds = self.bounds.distances(left, right)
        exact = bounds == 1.0
        alike = (bounds <= self.margin).nonzero()[0]
        pairs = zip(left[alike].tolist(), right[alike].tolist(), strict=True)
        exact[alike] = [self.texts[gold] == self.texts[predicted] for gold, predicted in pairs]
        return np.where(bounds == 1.0, 1.0, self._lowered(bounds)), exact

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        return self._lowered(self.bounds.lower_bounds_blockwise(blocks, left, right))

    def _lowered(self, bounds: Floats) -> Floats:
        lowered: Floats = np.maximum(bounds - self.margin, 0.0)
        return lowered


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


def partial_pool(codes: Integers, inside: Mask, graded: Callable[[Indices, Indices], Floats]) -> BroadcastPool:
    """Return a pool for a distance that is defined for some values only.

    Any other value has distance 0 to an equal value and 1 to every other value.

    Args:
        codes: Code of each value, equal for equal values; shape (values,).
        inside: Mask of the values for which the distance is defined; shape (values,).
        graded: Returns the distances for the indices of two values; any numbers if one of them is not inside.
    """

    def measure(left: Indices, right: Indices) -> Floats:
        return np.where(inside[left] & inside[right], graded(left, right), codes[left] != codes[right])

    return BroadcastPool(measure)


def enumerated_pool(
    values: Iterable[Json], known: Sequence[Json], graded: Callable[[Integers, Integers], Floats]
) -> BroadcastPool:
    """Return a `partial_pool` for a distance that is defined on a list of distinct values.

    Args:
        values: The values of the pool.
        known: The list of distinct values.
        graded: Returns the distances for two arrays of positions in `known`; shapes (n,).
    """
    codes = value_codes(values, known=known)
    inside = codes < len(known)
    rank = np.where(inside, codes, 0)
    return partial_pool(codes, inside, lambda left, right: graded(rank[left], rank[right]))


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
