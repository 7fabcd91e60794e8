"""Distances of values that are equal or not, or that stand in a stated order.

>>> EXACT(1, 1.0), EXACT(1, True)
(0.0, 1.0)
>>> ordinal(["low", "medium", "high"])("low", "medium")
0.5
>>> table(["sailor", "mariner", "clerk"], [[0, 0.1, 1], [0.1, 0, 1], [1, 1, 0]])("mariner", "sailor")
0.1
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.distances.base import Distance, Facts
from arbitre.distances.pool_helpers import BroadcastPool, enumerated_pool, value_codes
from arbitre.errors import Problem, SchemaError
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.distances.pool_helpers import Integers
    from arbitre.values import Json

SCALARS: Final = frozenset(kind for kind in Kind if kind.scalar)

TRIANGLE_TOLERANCE: Final = 1e-12
"""By so much a side of a triangle of decimal costs may be longer than the two others, and is not."""


def _exact(values: Sequence[Json]) -> BroadcastPool:
    code = value_codes(values)

    def measure(left: Indices, right: Indices) -> Floats:
        return np.not_equal(code[left], code[right]).astype(np.float64)

    return BroadcastPool(measure)


EXACT: Final = Distance("exact", frozenset(Kind), Facts(), _exact)
"""0 where two values of any kind are equal as JSON (True is not 1, 1 is 1.0), else 1: the discrete metric."""


def ordinal(order: Sequence[Json]) -> Distance:
    """|rank - rank| / (K - 1) between scalars of an order of K distinct ones; in [0, 1], a metric.

    A value outside the order is at 0 from an equal one, at 1 from every other.
    """
    ranked = list(order)
    return Distance("ordinal", SCALARS, Facts(), partial(_ordinal, ranked), {"order": ranked})


def _ordinal(order: list[Json], values: Sequence[Json]) -> BroadcastPool:
    steps = max(len(order) - 1, 1)

    def graded(a: Integers, b: Integers) -> Floats:
        distances: Floats = np.abs(a - b) / steps
        return distances

    return enumerated_pool(values, order, graded)


def table(values: Sequence[Json], costs: Sequence[Sequence[float]]) -> Distance:
    """`costs[i][j]` between `values[i]` and `values[j]`, distinct scalars; in [0, 1].

    The costs are a square, symmetric, and 0 on the diagonal; whether they separate and keep the triangle inequality (to
    1e-12) is found out, with a witness. A value outside the table is at 0 from an equal one, at 1 from every other.
    Raises SchemaError, at pointers from the name of the distance on, for costs that are no such table.
    """
    known = list(values)
    problems = list(_misfits(len(known), costs))
    if problems:
        raise SchemaError(*problems)
    square = np.array(costs, dtype=np.float64)
    square.flags.writeable = False
    options = {"values": known, "costs": square.tolist()}
    return Distance("table", SCALARS, _facts(known, square), partial(_table, known, square), options)


def _misfits(size: int, costs: Sequence[Sequence[float]]) -> Iterator[Problem]:
    if len(costs) != size:
        message = f"Expected `costs` to have a row for each of {size} values, got {len(costs)} rows"
        yield Problem(message, pointer="/table/costs")
        return
    wrong = [row for row, line in enumerate(costs) if len(line) != size]
    for row in wrong:
        message = f"Expected a row of `costs` to have {size} numbers, got {len(costs[row])}"
        yield Problem(message, pointer=f"/table/costs/{row}")
    if wrong:
        return
    for row, line in enumerate(costs):
        for column in range(row):
            if line[column] != costs[column][row]:
                message = f"Expected the cost to be {costs[column][row]} both ways, got {line[column]}"
                yield Problem(message, pointer=f"/table/costs/{row}/{column}")
        if line[row] != 0:
            message = f"Expected the cost between a value and itself to be 0, got {line[row]}"
            yield Problem(message, pointer=f"/table/costs/{row}/{row}")


def _facts(known: list[Json], square: Floats) -> Facts:
    """Which facts hold, with the worst witness of the first that does not."""
    same = np.argwhere(np.triu(square == 0, 1))
    worst, corners = TRIANGLE_TOLERANCE, None
    for middle, leg in enumerate(square):
        excess = square - (leg[:, None] + leg)
        first, last = np.unravel_index(int(excess.argmax()), excess.shape)
        if excess[first, last] > worst:
            worst, corners = excess[first, last], (first, middle, last)
    first_denied = same[0] if len(same) else corners
    witness = None if first_denied is None else tuple(known[index] for index in first_denied)
    return Facts(separating=not len(same), triangle=corners is None, witness=witness)


def _table(known: list[Json], square: Floats, values: Sequence[Json]) -> BroadcastPool:
    def graded(a: Integers, b: Integers) -> Floats:
        return square[a, b]

    return enumerated_pool(values, known, graded)
