"""Moved values: values that are missing or wrong in one object, but appear in another object or field.

Objects that moved as a whole are found first (see `moved_objects`); the values inside them are not listed again.

Values such as small page numbers also agree by chance. All values that may have moved from one object to another are
therefore tested together: the p-value is the probability that unrelated wrong values agree. The procedure of Benjamini
and Hochberg (1995) limits the expected share of false findings in each document.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from arbitre.comparison.diagnosis import DoubtfulAlignment, Moved
from arbitre.comparison.node_tree import NodeTree
from arbitre.diagnosis.moved_candidates import LeafFaults, MoveCandidate, same_path, siblings
from arbitre.diagnosis.moved_objects import MovedObjects
from arbitre.engine.columns.column import Column, ListColumn
from arbitre.paths import order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Indices
    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.moved_chance import UsualValues
    from arbitre.schema.plan import Plan

FALSE_SHARE: Final = 0.05
"""Maximum expected share of false findings among the pairs of objects between which values moved."""


class MovedNodes(NamedTuple):
    """A moved value: the node in gold and the node in the prediction, of a leaf or of an object."""

    gold: int
    predicted: int


@dataclass(frozen=True)
class MovedResults:
    """The moved values of documents that were compared together."""

    tree: NodeTree
    """The compared nodes."""
    nodes: Sequence[Sequence[MovedNodes]]
    """The nodes of the moved values of each document."""
    doubtful: Sequence[tuple[DoubtfulAlignment, ...]]
    """The doubtful alignments of each document."""

    @cached_property
    def values(self) -> Sequence[tuple[Moved, ...]]:
        """The moved values of each document. Only single pairs need them: a corpus is diagnosed in 4% less time."""
        values = ([_value(self.tree, moved) for moved in of_document] for of_document in self.nodes)
        return [tuple(sorted(own, key=lambda value: (order(value.source), order(value.target)))) for own in values]

    @classmethod
    def of(
        cls,
        plan: Plan,
        levels: Sequence[Level],
        documents: int,
        usual: UsualValues | None = None,
        joined: Indices | None = None,
    ) -> MovedResults:
        """Return the moved values. Paths below lists that are matched by transport are left out.

        Args:
            plan: The compiled schema.
            levels: The levels of the documents.
            documents: Number of documents.
            usual: How often each value occurs in the gold of the corpus; None for a single pair.
            joined: Nodes of the items that were split or merged; they did not move.
        """
        tree = NodeTree.of(levels)
        nodes, doubts = find_moved(plan, levels, tree, documents, usual=usual, joined=joined)
        return cls(tree, nodes, [tuple(sorted(own, key=lambda doubt: order(doubt.gold))) for own in doubts])

    def parts_of(self, document: int) -> dict[str, Any]:
        """Return the fields of `Diagnosis` on moved values, for one document."""
        return {"moved": self.values[document], "doubtful": self.doubtful[document]}


def find_moved(
    plan: Plan,
    levels: Sequence[Level],
    tree: NodeTree,
    documents: int,
    *,
    usual: UsualValues | None = None,
    joined: Indices | None = None,
) -> tuple[list[list[MovedNodes]], list[list[DoubtfulAlignment]]]:
    """Return the moved values of each document, as nodes, and its doubtful alignments; see `MovedResults.of`.

    A value that has the same pointer on both sides did not move, even if the objects around it are not matched. The
    same holds for the values of the two items of a doubtful alignment.
    """
    close, faults = plan.close, LeafFaults.of(plan, levels, documents, usual)
    objects = MovedObjects.of(plan, tree, faults, documents, np.empty(0, dtype=np.intp) if joined is None else joined)
    candidates = [
        *siblings(faults, close),
        *(candidate for part in faults for candidate in same_path(part, close)),
    ]
    by_document: list[list[MoveCandidate]] = [[] for _ in range(documents)]
    for candidate in candidates:
        by_document[candidate.document].append(candidate)
    sources, kept = _sources(faults, documents), KeptEvidence(faults)
    moved, doubtful = [], []
    for members, number, whole in zip(by_document, sources, objects.nodes, strict=True):
        doubts = _doubtful(tree, kept, members, number)
        doubtful.append([*doubts.values()])
        remaining = [
            candidate
            for candidate in members
            if (candidate.source, candidate.target) not in doubts
            and not (objects.inside[0][candidate.gold] or objects.inside[1][candidate.predicted])
            and _pointer(tree, candidate.gold, gold=True) != _pointer(tree, candidate.predicted, gold=False)
        ]
        moved.append(sorted([*(MovedNodes(*nodes) for nodes in whole), *significant(remaining, number)]))
    return moved, doubtful


class KeptEvidence:
    """Values that agree within a matched pair, and how improbable their agreement is by chance."""

    def __init__(self, faults: Sequence[LeafFaults]) -> None:
        self._faults = faults

    def of(self, owner: int) -> tuple[float, tuple[str, ...]]:
        """Return minus the logarithm of the probability, and the wildcard paths of the values."""
        total, paths = 0.0, []
        for path in self._faults:
            leaves = path.agreeing.where(path.agreeing.owners == owner)
            if len(leaves):
                total -= math.fsum(map(math.log, path.own_chance(leaves).tolist()))
                paths.append(path.path)
        return total, tuple(sorted(dict.fromkeys(paths), key=order))


def _doubtful(
    tree: NodeTree, kept: KeptEvidence, candidates: Sequence[MoveCandidate], sources: int
) -> dict[tuple[int, int], DoubtfulAlignment]:
    """Return the doubtful alignments of a document, by the node of the gold item and that of the alternative.

    The texts that a gold item shares with another predicted item must be more improbable by chance than all values that
    agree in its own pair. At least one of the two items has a partner, or the list is matched by keys.
    """
    groups: defaultdict[tuple[int, int], list[MoveCandidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.source != candidate.target and isinstance(tree.value(candidate.gold, gold=True), str):
            groups[candidate.source, candidate.target].append(candidate)
    doubts = {}
    for (source, target), members in groups.items():
        (level, at), (other, place) = tree.place(source), tree.place(target)
        column = level.source
        if not (level.item and other.item and level.parent[at] == other.parent[place] and isinstance(column, Column)):
            continue
        keyed = isinstance(column.parent, ListColumn) and column.parent.match_keys is not None
        if not (keyed or level.paired[at] or other.paired[place]):
            continue
        chosen = _one_to_one(members, set(), set())
        if _p_value(chosen) > FALSE_SHARE / sources:
            continue
        evidence, decided_by = kept.of(source)
        if -math.fsum(math.log(candidate.chance) for candidate in chosen) <= evidence:
            continue
        paired = level.right[at] >= 0
        texts = dict.fromkeys(tree.place(candidate.gold)[0].text for candidate in chosen)
        doubts[source, target] = DoubtfulAlignment(
            level.text,
            _pointer(tree, source, gold=True),
            _pointer(tree, source, gold=False) if paired else None,
            _pointer(tree, target, gold=False),
            decided_by,
            tuple(sorted(texts, key=order)),
        )
    return doubts


def _sources(faults: Sequence[LeafFaults], documents: int) -> list[int]:
    """Return the number of objects around wrong gold leaves, for each document."""
    places = {
        place for path in faults for place in zip(path.gold.documents.tolist(), path.gold.owners.tolist(), strict=True)
    }
    counts = Counter(document for document, _ in places)
    return [counts[document] for document in range(documents)]


def significant(candidates: Sequence[MoveCandidate], sources: int) -> list[MovedNodes]:
    """Return the candidates that chance does not explain; each leaf at most once.

    Args:
        candidates: The candidates of a document.
        sources: Number of objects from which values may have moved: the number of tests.
    """
    groups: defaultdict[tuple[int, int], list[MoveCandidate]] = defaultdict(list)
    for candidate in candidates:
        groups[min(candidate[1:3]), max(candidate[1:3])].append(candidate)
    ranked = []
    for members in groups.values():
        chosen = _one_to_one(members, set(), set())
        ranked.append((_p_value(chosen), chosen))
    ranked.sort(key=lambda test: (test[0], test[1][0].gold))
    accepted = max((rank for rank, (p, _) in enumerate(ranked, 1) if p <= FALSE_SHARE * rank / sources), default=0)
    limit = FALSE_SHARE * accepted / max(sources, 1)
    gold: set[int] = set()
    predicted: set[int] = set()
    moved = []
    for _, members in ranked[:accepted]:
        remaining = _one_to_one(members, gold, predicted)
        if remaining and _p_value(remaining) <= limit:
            moved += [MovedNodes(candidate.gold, candidate.predicted) for candidate in remaining]
            gold.update(candidate.gold for candidate in remaining)
            predicted.update(candidate.predicted for candidate in remaining)
    return sorted(moved)


def _one_to_one(candidates: Sequence[MoveCandidate], gold: set[int], predicted: set[int]) -> list[MoveCandidate]:
    """Return candidates without these leaves, best first; each leaf occurs in one candidate at most."""
    gold, predicted, chosen = set(gold), set(predicted), []
    for candidate in sorted(candidates, key=lambda item: (-item.quality, item.chance, item.gold, item.predicted)):
        if candidate.gold not in gold and candidate.predicted not in predicted:
            gold.add(candidate.gold)
            predicted.add(candidate.predicted)
            chosen.append(candidate)
    return chosen


def _p_value(candidates: Sequence[MoveCandidate]) -> float:
    """Return the probability that all these values agree by chance with those of one of the possible targets."""
    targets = min(candidate.targets for candidate in candidates)
    return min(1.0, targets * prod(candidate.chance for candidate in candidates))


def _pointer(tree: NodeTree, node: int, *, gold: bool) -> str:
    """Return the JSON Pointer of a node, in gold or in the prediction."""
    level, at = tree.place(node)
    return cast("Column", level.source).pointer(int(level.rows(gold=gold)[at]))


def _value(tree: NodeTree, nodes: MovedNodes) -> Moved:
    """Return the path, the value and the pointers of a moved value."""
    pointers = (_pointer(tree, nodes.gold, gold=True), _pointer(tree, nodes.predicted, gold=False))
    return Moved(tree.place(nodes.gold)[0].text, tree.value(nodes.gold, gold=True), *pointers)
