"""Distances between discrete values: exact equality, a given order, a table of costs.

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
"""Tolerance of the triangle inequality for the rounding of decimal costs."""


def _exact(values: Sequence[Json]) -> BroadcastPool:
    code = value_codes(values)

    def measure(left: Indices, right: Indices) -> Floats:
        return np.not_equal(code[left], code[right]).astype(np.float64)

    return BroadcastPool(measure)


EXACT: Final = Distance("exact", frozenset(Kind), Facts(), _exact)
"""0 if two values of any kind are equal as JSON (True is not 1, 1 is 1.0), else 1: the discrete metric."""


def ordinal(order: Sequence[Json]) -> Distance:
    """Return the distance |i - j| / (K - 1) of the values at positions i and j of `order`: a metric.

    A value that is not in `order` has distance 0 to an equal value and 1 to every other value.

    Args:
        order: K distinct scalars, in order.
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
    """Return the distance `costs[i][j]` of `values[i]` and `values[j]`.

    Its facts are computed from the costs: whether they are separating and satisfy the triangle inequality (up to
    1e-12). A value that is not in `values` has distance 0 to an equal value and 1 to every other value.

    Args:
        values: K distinct scalars.
        costs: K rows of K numbers in [0, 1]; symmetric, 0 on the diagonal.

    Raises:
        SchemaError: The costs are not a symmetric square table with zeros on the diagonal.
    """
    known = list(values)
    problems = list(_cost_table_problems(len(known), costs))
    if problems:
        raise SchemaError(*problems)
    square = np.array(costs, dtype=np.float64)
    square.flags.writeable = False
    options = {"values": known, "costs": square.tolist()}
    return Distance("table", SCALARS, _facts(known, square), partial(_table, known, square), options)


def _cost_table_problems(size: int, costs: Sequence[Sequence[float]]) -> Iterator[Problem]:
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
                message = f"Expected a symmetric cost of {costs[column][row]}, got {line[column]}"
                yield Problem(message, pointer=f"/table/costs/{row}/{column}")
        if line[row] != 0:
            message = f"Expected the cost between a value and itself to be 0, got {line[row]}"
            yield Problem(message, pointer=f"/table/costs/{row}/{row}")


def _facts(known: list[Json], square: Floats) -> Facts:
    """Compute the facts of a table of costs, with the worst violation as witness."""
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
