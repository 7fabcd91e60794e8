"""Distances of values that are equal or not, or that stand in a stated order.

>>> EXACT(1, 1.0), EXACT(1, True)
(0.0, 1.0)
>>> ordinal(["low", "medium", "high"])("low", "medium")
0.5
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.distances.base import Distance, Facts
from arbitre.distances.columns import Broadcast, codes
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.distances.base import Floats, Indices
    from arbitre.values import Json


def _exact(values: Sequence[Json]) -> Broadcast:
    code = codes(values)

    def measure(left: Indices, right: Indices) -> Floats:
        return np.not_equal(code[left], code[right]).astype(np.float64)

    return Broadcast(measure)


EXACT: Final = Distance("exact", frozenset(Kind), Facts(), _exact)
"""0 where two values of any kind are equal as JSON (True is not 1, 1 is 1.0), else 1: the discrete metric."""


def ordinal(order: Sequence[Json]) -> Distance:
    """|rank - rank| / (K - 1) between scalars of an order of K distinct ones; in [0, 1], a metric.

    A value outside the order is at 0 from an equal one, at 1 from every other.
    """
    ranked = list(order)
    kinds = frozenset(kind for kind in Kind if kind.scalar)
    return Distance("ordinal", kinds, Facts(), partial(_ordinal, ranked), {"order": ranked})


def _ordinal(order: list[Json], values: Sequence[Json]) -> Broadcast:
    rank = codes(values, known=order)
    inside = rank < len(order)
    steps = max(len(order) - 1, 1)

    def measure(left: Indices, right: Indices) -> Floats:
        a, b = rank[left], rank[right]
        graded: Floats = np.abs(a - b) / steps
        return np.where(inside[left] & inside[right], graded, a != b)

    return Broadcast(measure)
