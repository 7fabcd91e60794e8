"""Moved objects: objects and lists that are missing in one place of a document, but predicted in another place.

The other place is another entry, or a list or an object further out or further in. An object is one moved object if
most of its content agrees, and if chance does not explain the agreement. The values inside are not listed again. If the
object was predicted without its lists, their items may have moved elsewhere.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.comparison.levels import NONE
from arbitre.diagnosis.joins import WEAK
from arbitre.diagnosis.moved_candidates import MAX_COPIES, LeafFaults, is_undeclared
from arbitre.diagnosis.moved_chance import base_chance
from arbitre.engine.columns.column import Column, ListColumn, ObjectColumn, below_transport
from arbitre.values import Json, canonical

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from arbitre.arrays import Indices, Mask
    from arbitre.comparison.node_tree import NodeTree
    from arbitre.paths import Path
    from arbitre.schema.plan import Plan

    _Value = tuple[str, Hashable]
    """A value inside an object: its wildcard path relative to the object, and its form."""

FALSE_SHARE: Final = 0.05
"""Maximum expected share of false findings among the moved objects of a document."""

MIN_SHARE: Final = 0.6
"""Minimum share of the content of both objects that agrees."""

MAX_WEIGHT: Final = 14.0
"""Maximum weight of a value, about that of a text of 10 characters, so that no value decides alone."""

MIN_ITEMS: Final = 2
"""Minimum number of values of a moved list of single values."""


MAX_TRIED: Final = 4
"""Maximum number of predicted objects that are compared with a gold object, those with most in common first."""


class MovedObject(NamedTuple):
    """The node of a gold object and the node of the predicted object."""

    gold: int
    predicted: int


@dataclass(eq=False, slots=True)
class _Content:
    """The content of one side of an object or a list.

    Attributes:
        node: The node.
        values: The nodes of its values.
        weight: Weight of all values.
        lists: Weight of the values in each of its lists, by the path of the list.
    """

    node: int
    values: defaultdict[_Value, list[int]] = field(default_factory=lambda: defaultdict(list))
    weight: float = 0.0
    lists: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, path: str, form: Hashable, leaf: int, weight: float) -> None:
        """Add a value: its path relative to the object, its form, its node and its weight."""
        self.values[path, form].append(leaf)
        self.weight += weight
        if "*" in path:
            self.lists[path.partition("*")[0]] += weight


class _Alike(NamedTuple):
    """An object and a predicted object whose content agrees.

    Attributes:
        gold: The content of the object.
        predicted: The content of the predicted object.
        shared: The equal values: a gold leaf, a predicted leaf, their number, and the number of values of the predicted
            object that could be equal.
        whole: Whether both have the same lists.
    """

    gold: _Content
    predicted: _Content
    shared: Sequence[tuple[int, int, int, int]]
    whole: bool


class _Pair(NamedTuple):
    """An object and a predicted object that may be one moved object, with the probability of this by chance."""

    p: float
    gold: int
    predicted: int
    reported: bool
    whole: bool


@dataclass(eq=False, slots=True)
class _Taken:
    """The moved objects of one side.

    Attributes:
        ends: All of them.
        whole: Those that moved with everything in them.
        around: The nodes of the objects in `whole`, and those above.
    """

    ends: set[int] = field(default_factory=set)
    whole: set[int] = field(default_factory=set)
    around: set[int] = field(default_factory=set)

    def overlaps(self, node: int, above: set[int], *, whole: bool) -> bool:
        """Return whether an object is one of them, lies in one of them, or contains one of them.

        Args:
            node: The object.
            above: The object and the nodes above it.
            whole: Whether everything in it moved with it.
        """
        return node in self.ends or bool(above & self.whole) or (whole and node in self.around)

    def add(self, node: int, above: set[int], *, whole: bool) -> None:
        """Add an object."""
        self.ends.add(node)
        if whole:
            self.whole.add(node)
            self.around |= above


@dataclass(frozen=True, eq=False, slots=True)
class MovedObjects:
    """The moved objects of documents that were compared together.

    Attributes:
        nodes: The moved objects of each document.
        inside: For gold and for the prediction, whether each node is a moved object or lies in one. Shape (nodes,).
    """

    nodes: Sequence[Sequence[MovedObject]]
    inside: tuple[Mask, Mask]

    @classmethod
    def of(
        cls, plan: Plan, tree: NodeTree, faults: Sequence[LeafFaults], documents: int, joined: Indices
    ) -> MovedObjects:
        """Find the moved objects. Objects below lists that are matched by transport are left out.

        Args:
            plan: The compiled schema.
            tree: The compared nodes.
            faults: The wrong leaves of each column.
            documents: Number of documents.
            joined: Nodes of the items that were split or merged.
        """
        search = _Search(plan, tree, faults, joined)
        nodes: list[list[MovedObject]] = [[] for _ in range(documents)]
        for document in search.documents:
            nodes[document] = search.moved(document)
        ends = ({pair[side] for pairs in nodes for pair in pairs} for side in (0, 1))
        gold, predicted = (search.below(own) for own in ends)
        return cls(nodes, (gold, predicted))


class _Search:
    """Searches documents for moved objects.

    Attributes:
        documents: The documents with objects on both sides that may have moved.
    """

    def __init__(self, plan: Plan, tree: NodeTree, faults: Sequence[LeafFaults], joined: Indices) -> None:
        self._plan, self._tree, self._faults = plan, tree, faults
        levels = tree.levels
        empty = np.empty(0, dtype=np.intp)
        self._parent = np.concatenate([empty, *(level.parent for level in levels)])
        document = np.concatenate([empty, *(level.document for level in levels)])
        gold, predicted = self._candidates(joined)
        numbers = [np.bincount(document[side], minlength=document.max(initial=-1) + 1) for side in (gold, predicted)]
        both = (numbers[0] > 0) & (numbers[1] > 0)
        self._able = gold & both[document], predicted & both[document]
        self.documents: list[int] = both.nonzero()[0].tolist()
        self._known: dict[tuple[Path, int], tuple[Counter[str], int, int, float]] = {}
        self._weights: dict[int, float] = {}
        self._sizes: dict[int, tuple[int, int]] = {}
        self._alike: dict[int, list[_Alike]] = {}
        self._read(document)
        self._chances = self._leaf_chances()

    def below(self, nodes: set[int]) -> Mask:
        """Return whether each node is one of some nodes, or lies in one of them."""
        inside = np.zeros(len(self._parent) + 1, dtype=np.bool_)  # the last element is for nodes without a parent
        if nodes:
            inside[list(nodes)] = True
            for level in self._tree.levels:
                inside[level.nodes] |= inside[level.parent]
        return inside[:-1]

    def _candidates(self, joined: Indices) -> tuple[Mask, Mask]:
        """Return whether each node is a gold object, and a predicted object, that may have moved."""
        size = len(self._parent)
        excluded = np.zeros(size + 1, dtype=np.bool_)
        excluded[joined] = True
        around = {int(node) for start in joined.tolist() for node in self._above(start)}
        entries = self._plan.entries
        able = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
        for level in self._tree.levels:
            here = level.nodes
            excluded[here] |= excluded[level.parent] | level.kind_mismatch
            column = level.source
            if level.leaf or level.inner or not isinstance(column, Column) or level.path == entries[: len(level.path)]:
                continue
            if not isinstance(column, ObjectColumn | ListColumn) or below_transport(column):
                continue
            whole = isinstance(column, ObjectColumn) or level.item
            for side, rows, other in zip(able, (level.left, level.right), (level.predicted, level.gold), strict=True):
                alone = level.quality < WEAK if whole else other == 0.0
                side[here] = (rows >= 0) & alone & ~excluded[here] & (level.parent != NONE)
        for side in able:
            side[list(around)] = False
        return able

    def _above(self, node: int) -> Iterator[int]:
        """Yield the nodes above a node, from the inside out."""
        while (node := int(self._parent[node])) != NONE:
            yield node

    def _leaf_chances(self) -> tuple[Mapping[int, float], Mapping[int, float]]:
        """Return the probability that an unrelated value equals each of the equal leaves, in gold and as predicted.

        Leaves that are not wrong, or have undeclared keys, are missing from the result.
        """
        pairs = [pair[:2] for several in self._alike.values() for alike in several for pair in alike.shared]
        wanted = np.zeros((2, len(self._parent)), dtype=np.bool_)
        if pairs:
            gold, predicted = zip(*pairs, strict=True)
            wanted[0, list(gold)] = wanted[1, list(predicted)] = True
        chances: tuple[dict[int, float], dict[int, float]] = {}, {}
        for part in self._faults if pairs else ():
            own = part.gold.where(wanted[0, part.gold.nodes])
            theirs = part.predicted.where(wanted[1, part.predicted.nodes])
            if len(own):
                chances[0].update(zip(own.nodes.tolist(), part.chance(own).tolist(), strict=True))
            if len(theirs):
                counts, codes = part.predicted_counts, part.column.codes[theirs.rows]
                share = counts.chance(counts.of(codes, theirs.documents), theirs.documents)
                share = np.maximum(share, part.corpus_chance(theirs))
                chances[1].update(zip(theirs.nodes.tolist(), share.tolist(), strict=True))
        return chances

    def _read(self, document: Indices) -> None:
        """Read the content of all candidates, and find those that are alike."""
        if not self.documents:
            return
        size = len(self._parent)
        depth = np.concatenate([np.full(len(level), len(level.path)) for level in self._tree.levels])
        nearest = [np.full(size + 1, NONE, dtype=np.intp) for _ in self._able]
        around: tuple[dict[int, list[_Content]], ...] = {}, {}  # each candidate, and the candidates that it lies in
        for level in self._tree.levels:
            ids = np.arange(level.first, level.first + len(level))
            for side, able, rows, chains in zip(nearest, self._able, (level.left, level.right), around, strict=True):
                side[ids] = np.where(able[ids], ids, side[level.parent])
                if not level.leaf:
                    continue
                at = ((side[ids] != NONE) & (rows >= 0)).nonzero()[0]
                names, values = level.texts(), level.source.values_of(rows[at])
                for place, node, value in zip(at.tolist(), side[ids[at]].tolist(), values, strict=True):
                    leaf, form = level.first + place, value_form(value)
                    weight = self._weights[leaf] = min(MAX_WEIGHT, -math.log(base_chance(value)))
                    for content in chains.get(node) or self._chain(node, side, chains):
                        content.add(_below(names[place], int(depth[content.node])), form, leaf, weight)
        contents_of: tuple[defaultdict[int, list[_Content]], ...] = defaultdict(list), defaultdict(list)
        for chains, contents in zip(around, contents_of, strict=True):
            for node, (content, *_) in chains.items():
                contents[int(document[node])].append(content)
        for number in self.documents:
            gold, predicted = (
                [content for content in contents[number] if self._complete(content)] for contents in contents_of
            )
            self._sizes[number] = len(gold), len(predicted)
            self._alike[number] = list(self._pairs(gold, predicted))

    def _chain(self, node: int, nearest: Indices, chains: dict[int, list[_Content]]) -> list[_Content]:
        """Return the content of a candidate and of those that it lies in, innermost first, and add them to `chains`.

        All values of a candidate share one chain, which cuts the time to read the content by a third.
        """
        new: list[int] = []
        while node != NONE and node not in chains:
            chains[node] = []  # in the order in which they are found
            new.append(node)
            node = int(nearest[self._parent[node]])
        chain = chains.get(node, [])
        for inner in reversed(new):
            chains[inner] = chain = [_Content(inner), *chain]
        return chain

    def _path(self, node: int) -> Path:
        return self._tree.place(node)[0].path

    def moved(self, document: int) -> list[MovedObject]:
        """Return the moved objects of a document, with the procedure of Benjamini and Hochberg (1995)."""
        sources, targets = self._sizes[document]
        tested = (self._tested(alike, targets) for alike in self._alike[document])
        pairs = sorted(pair for pair in tested if pair.p <= FALSE_SHARE)
        best: dict[int, float] = {}
        for pair in pairs:
            best.setdefault(pair.gold, pair.p)
        passed = [rank for rank, p in enumerate(sorted(best.values()), 1) if p <= FALSE_SHARE * rank / sources]
        limit = FALSE_SHARE * max(passed, default=0) / max(sources, 1)
        taken = _Taken(), _Taken()
        partners: dict[int, int] = {}
        moved = []
        for pair in pairs:
            above = [{node, *self._above(node)} for node in (pair.gold, pair.predicted)]
            ends = list(zip((pair.gold, pair.predicted), above, taken, strict=True))
            if pair.p > limit or any(own.overlaps(end, nodes, whole=pair.whole) for end, nodes, own in ends):
                continue
            if any(partners.get(node) in above[1] for node in above[0]):
                continue
            partners[pair.gold] = pair.predicted
            for end, nodes, own in ends:
                own.add(end, nodes, whole=pair.whole)
            if pair.reported:
                moved.append(MovedObject(pair.gold, pair.predicted))
        return sorted(moved)

    def _complete(self, content: _Content) -> bool:
        """Return whether the content is that of an object, of an item, or of a list of several single values."""
        level, _ = self._tree.place(content.node)
        if level.item or isinstance(level.source, ObjectColumn):
            return True
        return len(content.values) >= MIN_ITEMS and all(path == "*" for path, _ in content.values)

    def _pairs(self, gold: Sequence[_Content], predicted: Sequence[_Content]) -> Iterator[_Alike]:
        """Yield the pairs of objects in different places whose content agrees."""
        places: defaultdict[_Value, list[_Content]] = defaultdict(list)
        for content in predicted:
            for value in content.values:
                places[value].append(content)
        copies = Counter(value for content in gold for value in content.values if value in places)
        for content in gold:
            found: dict[int, tuple[float, _Content]] = {}
            for value, leaves in content.values.items():
                if 0 < copies[value] * len(places.get(value, ())) <= MAX_COPIES:
                    for other in places[value]:
                        weight, _ = found.get(other.node, (0.0, other))
                        found[other.node] = weight + self._weights[leaves[0]], other
            best = sorted(found.values(), key=lambda one: (-one[0], one[1].node))
            for _, other in best[:MAX_TRIED]:
                alike = self._compared(content, other)
                if alike is not None and self._elsewhere(content.node, other.node):
                    yield alike

    def _compared(self, gold: _Content, predicted: _Content) -> _Alike | None:
        """Return the pair of two objects, unless too much of their content differs.

        If one of them lacks a list, its values do not count.
        """
        common = [value for value in gold.values if value in predicted.values]
        numbers = {value: min(len(gold.values[value]), len(predicted.values[value])) for value in common}
        weight = math.fsum(number * self._weights[gold.values[value][0]] for value, number in numbers.items())
        without = gold.lists.keys() ^ predicted.lists.keys()
        if weight < MIN_SHARE * max(gold.weight, predicted.weight):
            sizes = [
                side.weight - math.fsum(side.lists.get(path, 0.0) for path in without) for side in (gold, predicted)
            ]
            if not without or len(common) < MIN_ITEMS or weight < MIN_SHARE * max(sizes):
                return None
        rivals = Counter[str]()
        for (path, _), nodes in predicted.values.items():
            rivals[path] += len(nodes)
        shared = [
            (gold.values[value][0], predicted.values[value][0], number, rivals[value[0]])
            for value, number in numbers.items()
        ]
        return _Alike(gold, predicted, shared, not without)

    def _tested(self, alike: _Alike, targets: int) -> _Pair:
        """Return the pair with its p-value: the probability of agreement by chance with one of the targets."""
        gold, predicted = alike.gold.node, alike.predicted.node
        elsewhere = self._path(gold) != self._path(predicted)
        own, theirs = self._chances
        chance = 1.0
        for leaf, other, number, rivals in alike.shared:
            one = max(own.get(leaf, 1.0), theirs.get(other, 0.0) if elsewhere else 0.0)
            chance *= min(1.0, one * rivals) ** number
        if targets * chance <= FALSE_SHARE:
            chance = max(chance, self._object_chance(gold))
        return _Pair(targets * chance, gold, predicted, not self._same_list(gold, predicted), alike.whole)

    def _same_list(self, gold: int, predicted: int) -> bool:
        """Return whether two nodes are items of one pair of lists: the item did not move then."""
        level, at = self._tree.place(gold)
        other, place = self._tree.place(predicted)
        return level.item and other.item and int(level.parent[at]) == int(other.parent[place])

    def _elsewhere(self, gold: int, predicted: int) -> bool:
        """Return whether two nodes are in different places, such that the object may have moved.

        It did not move if its pointer is the same, if a key around it was renamed, or if both items around it have no
        partner: then they could be partners of each other.
        """
        if gold == predicted:
            return False
        pointers = self._tree.pointer(gold, gold=True), self._tree.pointer(predicted, gold=False)
        chains = [list(reversed((node, *self._above(node)))) for node in (gold, predicted)]
        depth = next((at for at, (one, other) in enumerate(zip(*chains, strict=False)) if one != other), None)
        if pointers[0] == pointers[1] or depth is None:
            return False
        (level, at), (other, place) = (self._tree.place(chain[depth]) for chain in chains)
        if self._path(gold)[len(level.path) :] != self._path(predicted)[len(other.path) :]:
            return True
        if level.item and other.item:
            inner = chains[0][depth] != gold or chains[1][depth] != predicted
            return not inner or level.right[at] >= 0 or other.left[place] >= 0
        return not (isinstance(other.source, Column) and is_undeclared(self._plan, other.source))

    def _object_chance(self, node: int) -> float:
        """Return the probability that an unrelated object of the document equals a gold object.

        It is the share of equal gold objects, or the share of equal pairs of a gold object and a predicted object; see
        `ValueCounts.chance` and `coincidence`.
        """
        level, at = self._tree.place(node)
        counts, total, single, coincidence = self._objects(level.path, int(level.document[at]))
        return max((counts[repr(self._tree.value(node, gold=True))] - single / total) / total, coincidence, 0.0)

    def _objects(self, path: Path, document: int) -> tuple[Counter[str], int, int, float]:
        """Return the gold objects of a path with their numbers, how many there are, and how many occur once.

        The last figure is the share of equal pairs by chance.
        """
        if (path, document) in self._known:
            return self._known[path, document]
        every, wrong = (Counter[str](), Counter[str]()), (Counter[str](), Counter[str]())
        for level in self._tree.levels:
            if level.path == path and not (level.leaf or level.inner):
                for side, rows in enumerate((level.left, level.right)):
                    at = ((level.document == document) & (rows >= 0)).nonzero()[0]
                    texts = list(map(repr, level.source.values_of(rows[at])))
                    able = self._able[side][level.first + at].tolist()
                    every[side].update(texts)
                    wrong[side].update(text for text, other in zip(texts, able, strict=True) if other)
        totals = [max(1, side.total()) for side in every]
        share = sum(number * every[0][text] for text, number in wrong[1].items()) / totals[0] / totals[1]
        for own, other, total in zip(wrong, wrong[::-1], totals, strict=True):
            share *= sum(number for text, number in own.items() if text not in other) / total
        single = sum(number == 1 for number in every[0].values())
        self._known[path, document] = every[0], totals[0], single, share
        return self._known[path, document]


@lru_cache(maxsize=1 << 10)
def _below(path: str, depth: int) -> str:
    """Return a wildcard path relative to the object at this depth in it."""
    return path.split("/", 1 + depth)[-1]


def value_form(value: Json) -> Hashable:
    """Return the form in which values in different places are compared: case, spaces and text or number do not count.

    >>> value_form("Jean  PAUL"), value_form(12.0), value_form("12"), value_form(True)
    ('jean paul', '12', '12', 'true')
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return " ".join(str(value).casefold().split()) if isinstance(value, str | int | float) else canonical(value)
