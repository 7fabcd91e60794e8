"""Repair the faults of predictions in the documents, and compare the repaired documents again."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from arbitre.comparison.levels import NONE, of_nodes
from arbitre.comparison.node_tree import MASS_TOLERANCE, NodeTree
from arbitre.diagnosis.causes.repair_gain import f1q_gain
from arbitre.diagnosis.causes.taxonomy import FAULTS
from arbitre.engine import compare_batch
from arbitre.engine.columns.column import Column
from arbitre.engine.columns.fields import apply_aliases
from arbitre.errors import DataError
from arbitre.paths import wildcard
from arbitre.values import ABSENT, Json, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats
    from arbitre.diagnosis.causes.taxonomy import Taxonomy
    from arbitre.schema.plan import Plan

_CONTAINERS: Final = {Kind.OBJECT: dict[str, Any], Kind.ARRAY: list[Any]}


def rematched_gains(plan: Plan, gold: Sequence[Json], taxonomy: Taxonomy) -> tuple[Floats, Floats]:
    """Return the increases in f1q of the entries if predictions are repaired and compared again.

    Args:
        plan: The compiled schema.
        gold: The gold documents; ABSENT for a missing document.
        taxonomy: The faults of the predictions.

    Returns:
        The gains for each class of faults, shape (documents, classes), and for each path, shape (documents, paths).

    Raises:
        DataError: Items are matched by transport, so that no single repaired document exists.
    """
    if any(level.share is not None for level in taxonomy.levels):
        raise DataError.of(
            "Repaired documents cannot be compared again: items are matched by transport",
            hint="Omit `rematch`, or choose a one-to-one matching.",
        )
    document = taxonomy.document
    faults = taxonomy.fault.nonzero()[0]
    sets: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for node, number, verdict, path in zip(
        faults.tolist(),
        document[faults].tolist(),
        taxonomy.verdict[faults].tolist(),
        taxonomy.path[faults].tolist(),
        strict=True,
    ):
        sets[number, verdict - 1].append(node)
        sets[number, len(FAULTS) + path].append(node)
    node_tree = NodeTree.of(taxonomy.levels)
    repaired = [repaired_prediction(node_tree, nodes) for nodes in sets.values()]
    levels = compare_batch(plan, [gold[number] for number, _ in sets], repaired).levels(plan.entries)
    changes = np.zeros((len(taxonomy.tallies), len(FAULTS) + len(taxonomy.paths), 2))
    tallies = of_nodes(levels, wildcard(plan.entries), len(repaired))
    for (number, repair), tally in zip(sets, tallies, strict=True):
        changed = tally - taxonomy.tallies[number]
        changes[number, repair] = changed[0] + changed[1], changed[3]
    gains = f1q_gain(taxonomy.tallies, changes)
    return gains[:, : len(FAULTS)], gains[:, len(FAULTS) :]


def repaired_prediction(node_tree: NodeTree, faults: Sequence[int]) -> Json:
    """Return the prediction of one document with some of its faults repaired; ABSENT if nothing is left of it."""
    return _Repair(node_tree, faults).document()


class _Repair:
    """A prediction in which some nodes are replaced by their gold values, added or dropped."""

    def __init__(self, node_tree: NodeTree, nodes: Sequence[int]) -> None:
        self._tree, self._repaired = node_tree, frozenset(nodes)
        self._children: defaultdict[int, list[int]] = defaultdict(list)
        pending, known = [*nodes], {*nodes}
        while pending:
            node = pending.pop()
            parent = self._parent(node)
            self._children[parent].append(node)
            if parent not in known and parent != NONE:
                known.add(parent)
                pending.append(parent)

    def _parent(self, node: int) -> int:
        level, at = self._tree.place(node)
        return int(level.parent[at])

    def document(self) -> Json:
        """Return the repaired prediction; ABSENT if nothing is left of it."""
        return self._value(self._children[NONE][0])

    def _value(self, node: int) -> Json:
        level, at = self._tree.place(node)
        if node in self._repaired:
            return self._tree.value(node, gold=True)
        if level.right[at] < 0:
            container = _CONTAINERS[Kind(int(level.gold_kind[at]))]()
            return self._edited(container, node)
        value = self._tree.value(node, gold=False)
        if isinstance(value, dict) and isinstance(level.source, Column) and level.source.site is not None:
            value = apply_aliases(value, level.source.site.object.aliases)
        if level.left[at] < 0 and self._dropped_weight(node) >= level.predicted[at] - MASS_TOLERANCE:
            return ABSENT
        return self._edited(value.copy(), node)

    def _dropped_weight(self, node: int) -> float:
        """Return the weight of the children of a spurious node that are dropped."""
        children = (child for child in self._children[node] if self._value(child) is ABSENT)
        return sum(self._tree.place(child)[0].weight for child in children)

    def _edited(self, value: dict[str, Json] | list[Json], node: int) -> Json:
        """Replace, drop and add the children of a node that change."""
        replaced: dict[int | str, Json] = {}
        added: dict[int | str, Json] = {}
        for child in self._children[node]:
            level, at = self._tree.place(child)
            rows = level.right if level.right[at] >= 0 else level.left
            token = level.source.tokens_of(rows[at : at + 1])[0]
            (replaced if rows is level.right else added)[token] = self._value(child)
        if isinstance(value, dict):
            changed = cast("dict[str, Json]", replaced | added)
            return {key: new for key, new in (value | changed).items() if new is not ABSENT}
        items = [replaced.get(position, item) for position, item in enumerate(value)]
        items = [item for item in items if item is not ABSENT]
        for position in sorted(map(int, added)):
            items.insert(position, added[position])
        return items
