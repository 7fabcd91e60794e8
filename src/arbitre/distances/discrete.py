"""Distances between discrete values: exact equality, a given order, a table of costs, a tree.

>>> EXACT(1, 1.0), EXACT(1, True)
(0.0, 1.0)
>>> ordinal(["low", "medium", "high"])("low", "medium")
0.5
>>> table(["sailor", "mariner", "clerk"], [[0, 0.1, 1], [0.1, 0, 1], [1, 1, 0]])("mariner", "sailor")
0.1

>>> animals = taxonomy({"cat": "mammal", "dog": "mammal", "mammal": "animal", "trout": "animal"})
>>> animals("cat", "dog"), animals("cat", "trout"), animals("cat", "animal")
(0.6666666666666666, 1.0, 0.6666666666666666)
"""

from __future__ import annotations

from functools import partial
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.distances.base import BroadcastPool, Distance, Facts, enumerated_pool, value_codes
from arbitre.distances.sets import build_bags
from arbitre.errors import Problem, SchemaError, shown
from arbitre.paths import pointer
from arbitre.values import SCALARS, Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.distances.base import Integers
    from arbitre.distances.sets import BagPool
    from arbitre.values import Json


TRIANGLE_TOLERANCE: Final = 1e-12
"""Tolerance of the triangle inequality for the rounding of decimal costs."""

_ONE_KIND: Final = (
    "Values of different kinds always have distance 1. Write all values as texts, and set "
    '"normalize": ["text"] to convert the values in documents.'
)


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
        order: K distinct scalars of one kind, in order.

    Raises:
        SchemaError: The values are of different kinds.
    """
    ranked = list(order)
    kinds = [kind_of(value) for value in ranked]
    if len(set(kinds)) > 1:
        message = f"Expected all values of `order` to be of the same kind, got {shown(ranked)}"
        raise SchemaError(Problem(message, pointer="/ordinal/order", hint=_ONE_KIND))
    return Distance("ordinal", SCALARS, Facts(), partial(_ordinal, ranked), {"order": ranked})


def _ordinal(order: list[Json], values: Sequence[Json]) -> BroadcastPool:
    """Prepare values: ranked ones are compared by their difference in rank / largest difference."""
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
        costs: K rows of K numbers in [0, 1]; symmetric, 0 on the diagonal, 1 for values of different kinds.

    Raises:
        SchemaError: The costs are not such a table.
    """
    known = list(values)
    problems = list(_cost_table_problems(known, costs))
    if problems:
        raise SchemaError(*problems)
    square = np.array(costs, dtype=np.float64)
    square.flags.writeable = False
    options = {"values": known, "costs": square.tolist()}
    return Distance("table", SCALARS, _facts(known, square), partial(_table, known, square), options)


def _cost_table_problems(values: Sequence[Json], costs: Sequence[Sequence[float]]) -> Iterator[Problem]:
    """Yield what is wrong with a table of costs.

    It must be square and symmetric, with 0 on the diagonal and 1 for values of different kinds.
    """
    size, kinds = len(values), [kind_of(value) for value in values]
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
            elif kinds[row] != kinds[column] and line[column] != 1:
                pair = f"{shown(values[column])} and {shown(values[row])}"
                message = f"Expected a cost of 1 between {pair}, which are of different kinds, got {line[column]}"
                yield Problem(message, pointer=f"/table/costs/{row}/{column}", hint=_ONE_KIND)
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


# Distance between labels of a tree: the length of the path between them.


if TYPE_CHECKING:
    Lines = dict[str, tuple[int, ...]]


def taxonomy(parents: Mapping[str, str]) -> Distance:
    """Return the distance path length / diameter of two labels of a tree, in [0, 1]: a metric.

    A label that is not in the tree has distance 0 to an equal label and 1 to every other label.
    Source: Rada et al., 1989.

    Args:
        parents: Parent of every label except the root.

    Raises:
        SchemaError: The labels contain a cycle, or several of them have no parent.
    """
    lines = _lines(parents)
    deepest = set(lines[max(lines, key=lambda label: len(lines[label]))])
    diameter = max(len(deepest.symmetric_difference(line)) for line in lines.values())
    pool = partial(_pool, lines, diameter)
    return Distance("taxonomy", frozenset({Kind.STRING}), Facts(), pool, {"parents": dict(parents)})


def _lines(parents: Mapping[str, str]) -> Lines:
    """Return, for each label, its number followed by the numbers of its ancestors up to the root."""
    problems = []
    labels = dict.fromkeys(chain(parents, parents.values()))
    roots = [label for label in labels if label not in parents]
    if len(roots) > 1:
        message = f"Expected `parents` to lead to one root, got {', '.join(roots)}"
        hint = "Give all of them except one a parent, or give all of them a common parent."
        problems.append(Problem(message, pointer="/taxonomy/parents", hint=hint))
    try:
        labels = dict.fromkeys(TopologicalSorter({child: [parent] for child, parent in parents.items()}).static_order())
    except CycleError as error:
        cycle = error.args[1]
        message = f"Expected `parents` to lead to a root, got the cycle {', '.join(cycle)}"
        hint = "Remove the parent of the root."
        problems.append(Problem(message, pointer="/taxonomy" + pointer(["parents", cycle[0]]), hint=hint))
    if problems:
        raise SchemaError(*problems)
    lines: Lines = {}
    for number, label in enumerate(labels):  # parents first
        lines[label] = (number, *(lines[parents[label]] if label in parents else ()))
    return lines


def _pool(lines: Lines, diameter: int, values: Sequence[str]) -> BagPool:
    """Return a pool that computes path lengths from common ancestors.

    The path length of two labels is the number of labels that are an ancestor of (or equal to) only one of them.
    """
    numbers = value_codes(values, known=list(lines))
    above = [lines.get(value, (number,)) for value, number in zip(values, numbers.tolist(), strict=True)]
    owner = np.repeat(np.arange(len(values)), [len(line) for line in above])
    ancestors = np.fromiter(chain.from_iterable(above), dtype=np.int64, count=len(owner))
    return build_bags(len(values), owner, ancestors, partial(_steps, diameter))


def _steps(diameter: int, common: Integers, left: Integers, right: Integers) -> Floats:
    return np.where(common == 0, 1.0, (left + right - 2 * common) / diameter)
