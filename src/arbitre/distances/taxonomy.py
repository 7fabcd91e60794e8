"""Distance between labels of a tree: the length of the path between them.

>>> animals = taxonomy({"cat": "mammal", "dog": "mammal", "mammal": "animal", "trout": "animal"})
>>> animals("cat", "dog"), animals("cat", "trout"), animals("cat", "animal")
(0.6666666666666666, 1.0, 0.6666666666666666)
"""

from __future__ import annotations

from functools import partial
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from arbitre.distances.bags import build_bags
from arbitre.distances.base import Distance, Facts
from arbitre.distances.pool_helpers import value_codes
from arbitre.errors import Problem, SchemaError
from arbitre.paths import pointer
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.arrays import Floats
    from arbitre.distances.bags import BagPool
    from arbitre.distances.pool_helpers import Integers

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
