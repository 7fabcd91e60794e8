"""Floors: a quality below the floor of a leaf counts as 0.

>>> from arbitre.distances.text.edit import LEVENSHTEIN
>>> half = with_floor(LEVENSHTEIN, 0.5)
>>> half("abcd", "abxx"), half("abcd", "axxx")
(0.5, 1.0)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.distances.base import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.base import Blocks, Distance
    from arbitre.values import Json

ROUNDING: Final = 1e-12
"""Amount by which a quality may fall short of the floor, so that 1 - 0.9 reaches a floor of 0.1."""

_TWO_VALUED: Final = frozenset({"exact", "rounded", "tolerance"})
"""Distances that are 0 or 1, which a floor does not change."""


@dataclass(frozen=True, slots=True)
class FlooredPool(Pool):
    """The pool of a distance with a floor: distances above 1 - `floor` become 1.

    A lower bound above 1 - `floor` is exact, as the distance is then 1.
    """

    base: Pool
    floor: float

    @property
    def exactly_bounded(self) -> Mask | None:
        return self.base.exactly_bounded

    def distances(self, left: Indices, right: Indices) -> Floats:
        return self._cut(self.base.distances(left, right))

    def lower_bounds_pairwise(self, left: Indices, right: Indices) -> tuple[Floats, Mask | None]:
        bounds, exact = self.base.lower_bounds_pairwise(left, right)
        return self._cut(bounds), None if exact is None else exact | self._below(bounds)

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        return self._cut(self.base.lower_bounds_blockwise(blocks, left, right))

    def _below(self, distances: Floats) -> Mask:
        below: Mask = distances > 0.0 if self.floor == 1.0 else 1.0 - distances < self.floor - ROUNDING
        return below

    def _cut(self, distances: Floats) -> Floats:
        return np.where(self._below(distances), 1.0, distances)


def with_floor(distance: Distance, floor: float | None) -> Distance:
    """Return a distance that is 1 where the quality 1 - d is below `floor`, and d elsewhere.

    It keeps symmetry, but not the triangle inequality: d(x, y) and d(y, z) can be at most
    1 - `floor` while d(x, z) exceeds it. With the floor 1, only values at distance 0 count as equal. Source: ANLS, with
    the floor 0.5 (Biten et al., 2019).

    Args:
        distance: The distance.
        floor: Quality in (0, 1] from which values count; None for no floor.
    """
    if floor is None or distance.name == "exact":
        return distance
    options = {**distance.options, "floor": floor}
    if distance.name in _TWO_VALUED:
        return replace(distance, options=options)
    facts = distance.facts
    discrete = floor == 1.0 and facts.identity and (facts.separating or facts.pseudometric)
    kept = not facts.identity or (facts.symmetric and not facts.separating)
    facts = replace(
        facts,
        symmetric=facts.symmetric or discrete,
        triangle=discrete,
        range=(facts.range[0], 1.0),
        witness=facts.witness if kept else None,
    )
    return replace(
        distance,
        options=options,
        facts=facts,
        pool=partial(_pool, distance.pool, floor),
        without_floor=distance,
    )


def _pool(prepare: Callable[[Sequence[Json]], Pool], floor: float, values: Sequence[Json]) -> FlooredPool:
    return FlooredPool(prepare(values), floor)


def base_pool(pool: Pool) -> Pool:
    """Return the pool that computes the distances, without a floor."""
    return pool.base if isinstance(pool, FlooredPool) else pool
