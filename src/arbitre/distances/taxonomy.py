"""The distance of labels of a tree: the length of the path between them.

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
    """Steps from one label to the other in a tree, over the most steps between any two; in [0, 1], a metric.

    `parents` says the parent of every label but the root. A label outside the tree is at 0 from an equal one, at 1
    from every other. Raises SchemaError, at a pointer from the name of the distance on, where labels go round in a
    circle or several have no parent. Source: Rada et al., 1989.
    """
    lines = _lines(parents)
    deepest = set(lines[max(lines, key=lambda label: len(lines[label]))])
    diameter = max(len(deepest.symmetric_difference(line)) for line in lines.values())
    pool = partial(_pool, lines, diameter)
    return Distance("taxonomy", frozenset({Kind.STRING}), Facts(), pool, {"parents": dict(parents)})


def _lines(parents: Mapping[str, str]) -> Lines:
    """The number of each label, then those of its ancestors up to the root."""
    problems = []
    labels = dict.fromkeys(chain(parents, parents.values()))
    roots = [label for label in labels if label not in parents]
    if len(roots) > 1:
        message = f"Expected `parents` to lead to one root, got {', '.join(roots)}"
        hint = "Give all of these but one a parent, or all of them a common one."
        problems.append(Problem(message, pointer="/taxonomy/parents", hint=hint))
    try:
        labels = dict.fromkeys(TopologicalSorter({child: [parent] for child, parent in parents.items()}).static_order())
    except CycleError as error:
        circle = error.args[1]
        message = f"Expected `parents` to lead to a root, got the circle {', '.join(circle)}"
        hint = "Leave the root out: it has no parent."
        problems.append(Problem(message, pointer="/taxonomy" + pointer(["parents", circle[0]]), hint=hint))
    if problems:
        raise SchemaError(*problems)
    lines: Lines = {}
    for number, label in enumerate(labels):  # parents first
        lines[label] = (number, *(lines[parents[label]] if label in parents else ()))
    return lines


def _pool(lines: Lines, diameter: int, values: Sequence[str]) -> BagPool:
    """Two labels are as many steps apart as there are labels above one of them only, these included."""
    numbers = value_codes(values, known=list(lines))
    above = [lines.get(value, (number,)) for value, number in zip(values, numbers.tolist(), strict=True)]
    owner = np.repeat(np.arange(len(values)), [len(line) for line in above])
    ancestors = np.fromiter(chain.from_iterable(above), dtype=np.int64, count=len(owner))
    return build_bags(len(values), owner, ancestors, partial(_steps, diameter))


def _steps(diameter: int, common: Integers, left: Integers, right: Integers) -> Floats:
    return np.where(common == 0, 1.0, (left + right - 2 * common) / diameter)
