"""Pairs of a gold value and a predicted value that may be one moved value."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from arbitre.comparison.levels import NONE
from arbitre.diagnosis.moved_chance import ValueCounts, base_chance, coincidence
from arbitre.distances.base import Blocks
from arbitre.engine.columns.column import LeafColumn, ObjectColumn, below_transport
from arbitre.engine.columns.ragged import cross_slices, starts_of
from arbitre.engine.solve.solver import QualitySolver
from arbitre.engine.solve.upper_bounds import upper_bounds
from arbitre.errors import ArbitreError
from arbitre.normalizers import normalize
from arbitre.values import Kind, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.moved_chance import UsualValues
    from arbitre.engine.columns.column import Column
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

MAX_COPIES: Final = 64
"""Maximum number of pairs of one value in a document; values with more pairs are too common to be evidence."""

MAX_CELLS: Final = 1 << 13
"""Maximum number of pairs of a document and path that is searched for nearly equal texts."""


class MoveCandidate(NamedTuple):
    """A gold leaf and a predicted leaf that may be one moved value, as nodes.

    Attributes:
        document: Index of the document.
        source: Node of the object around the gold leaf.
        target: Node of the object around the predicted leaf.
        gold: Node of the gold leaf.
        predicted: Node of the predicted leaf.
        quality: Quality of the pair.
        chance: Probability that an unrelated wrong value of the target agrees with the gold value.
        targets: Number of objects with wrong values to which the value may have moved.
    """

    document: int
    source: int
    target: int
    gold: int
    predicted: int
    quality: float
    chance: float
    targets: int


@dataclass(frozen=True, eq=False, slots=True)
class WrongLeaves:
    """Leaves of one side of a column, such as those whose counterpart is missing or not close. Shapes (leaves,)."""

    nodes: Indices
    rows: Indices
    documents: Indices
    parents: Indices
    owners: Indices
    """Nearest object or item around each leaf."""

    def where(self, selected: Mask | Indices) -> WrongLeaves:
        """Return the selected leaves, in this order."""
        return WrongLeaves(*(getattr(self, name)[selected] for name in WrongLeaves.__slots__))

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, eq=False, slots=True)
class LeafFaults:
    """The wrong leaves of a column, and the values of its gold leaves."""

    column: LeafColumn
    path: str
    gold: WrongLeaves
    predicted: WrongLeaves
    agreeing: WrongLeaves
    """The gold leaves whose counterpart is close."""
    counts: ValueCounts
    predicted_counts: ValueCounts
    coincidence: Floats
    """Lower bound of the probability that unrelated values of a document are equal; shape (documents,)."""
    usual: UsualValues | None
    """How often each value occurs in the gold of a corpus; None for a single pair."""

    @classmethod
    def of(cls, plan: Plan, levels: Sequence[Level], documents: int, usual: UsualValues | None) -> list[LeafFaults]:
        """Return the faults of each column of declared fields that is not below a list matched by transport.

        Undeclared keys are renamed fields; several of them may share a column.
        """
        owners = owners_of(levels)
        columns: dict[int, list[Level]] = {}
        for level in levels:
            if level.leaf and not level.named and isinstance(level.source, LeafColumn):
                columns.setdefault(id(level.source), []).append(level)
        faults = []
        for group in columns.values():
            column = group[0].source
            if isinstance(column, LeafColumn) and not below_transport(column) and not is_undeclared(plan, column):
                counts = [_counts(column, group, side, documents) for side in ("left", "right")]
                sides = [_wrong(group, owners, plan.close, gold=gold) for gold in (True, False)]
                agreeing = _wrong(group, owners, plan.close, gold=True, wrong=False)
                chance = coincidence(counts, [(column.codes[side.rows], side.documents) for side in sides])
                faults.append(
                    cls(column, group[0].text, sides[0], sides[1], agreeing, counts[0], counts[1], chance, usual)
                )
        return faults

    @property
    def custom(self) -> bool:
        """Whether values are compared by a custom distance, which is not called again."""
        return any(leaf.distance.custom for leaf in self.column.leaves)

    def values_at(self, leaves: WrongLeaves) -> list[Json]:
        """Return the normalised value of each leaf."""
        return [self.column.values[code] for code in self.column.codes[leaves.rows].tolist()]

    def chance(self, gold: WrongLeaves, near: Indices | None = None) -> Floats:
        """Return the probability that an unrelated value of the path equals each of these gold leaves.

        Args:
            gold: The leaves.
            near: For values that are nearly equal, the number of gold values of the document that are nearly equal.
        """
        other = self.corpus_chance(gold) if self.usual is not None else self.coincidence[gold.documents]
        chance: Floats = np.maximum(self.own_chance(gold, near), other)
        return chance

    def own_chance(self, gold: WrongLeaves, near: Indices | None = None) -> Floats:
        """Return the same probability from the length of the value and the gold values of its document alone."""
        counts = self.counts.of(self.column.codes[gold.rows], gold.documents) if near is None else near
        base = np.array([base_chance(value, near=near is not None) for value in self.values_at(gold)])
        chance: Floats = np.maximum(base, self.counts.chance(counts, gold.documents))
        return chance

    def corpus_chance(self, leaves: WrongLeaves) -> Floats:
        """Return the probability that a value of other documents equals the value of each leaf; 0 for a single pair."""
        if self.usual is None:
            return np.zeros(len(leaves))
        own, totals = self.counts.of(self.column.codes[leaves.rows], leaves.documents), self.counts.totals
        frequencies, counted = self.usual
        documents = leaves.documents
        return frequencies.chance(self.path, self.values_at(leaves), own, totals[documents], counted[documents])


def is_undeclared(plan: Plan, column: Column) -> bool:
    """Return whether the values of a column are below a key that the schema does not declare."""
    while column.parent is not None:
        if has_undeclared_key(plan, column):
            return True
        column = column.parent
    return False


def has_undeclared_key(plan: Plan, column: Column) -> bool:
    """Return whether the values of a column are fields that the schema does not declare."""
    if not isinstance(column.parent, ObjectColumn):
        return False
    node = column.parent.site.object
    declared = node.declared_map or column.token in node.field_sites
    return not declared and column.site is plan.sites[node.additional]


def owners_of(levels: Sequence[Level]) -> Indices:
    """Return the nearest object, or list that is an item of a list, around each node; NONE for none."""
    size = sum(map(len, levels)) + 1  # the last element is for nodes without a parent
    owners, holds = np.full(size, NONE, dtype=np.intp), np.zeros(size, dtype=np.bool_)
    for level in levels:
        nodes = level.nodes
        owners[nodes] = np.where(holds[level.parent], level.parent, owners[level.parent])
        holds[nodes] = not level.leaf and (level.item or isinstance(level.source, ObjectColumn))
    return owners


def _counts(column: LeafColumn, levels: Sequence[Level], side: Literal["left", "right"], documents: int) -> ValueCounts:
    rows, document = (np.concatenate([getattr(level, name) for level in levels]) for name in (side, "document"))
    return ValueCounts(column.codes[rows[rows >= 0]], document[rows >= 0], len(column.values), documents)


def _wrong(levels: Sequence[Level], owners: Indices, close: float, *, gold: bool, wrong: bool = True) -> WrongLeaves:
    """Return the leaves of one side whose counterpart is missing or not close; the others if not `wrong`."""
    parts = []
    for level in levels:
        masks = level.leaf_masks()
        rows = level.rows(gold=gold)
        agreeing = masks[2] & (level.quality >= close)
        at = (masks[0 if gold else 1] & (agreeing != wrong)).nonzero()[0]
        nodes = level.first + at
        parts.append((nodes, rows[at], level.document[at], level.parent[at], owners[nodes]))
    return WrongLeaves(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def same_path(faults: LeafFaults, close: float) -> Iterator[MoveCandidate]:
    """Yield the candidates of one path: equal values, and texts that are nearly equal.

    Custom distances are not called; only equal values are candidates then.
    """
    gold, predicted = faults.gold, faults.predicted
    if len(gold) == 0 or len(predicted) == 0:
        return
    codes = faults.column.codes
    left, right = _equal(gold.documents, codes[gold.rows], predicted.documents, codes[predicted.rows])
    yield from _candidates(faults, left, right, np.ones(len(left)), None)
    if not faults.custom:
        yield from _candidates(faults, *_near(faults, close), close)


def _candidates(
    faults: LeafFaults, left: Indices, right: Indices, quality: Floats, close: float | None
) -> Iterator[MoveCandidate]:
    """Yield the candidates of these pairs of leaves.

    `close` is the minimum quality if the values are nearly equal, None if they are equal.
    """
    sources, targets = faults.gold.owners[left], faults.predicted.owners[right]
    elsewhere = ((sources != targets) & (sources != NONE) & (targets != NONE)).nonzero()[0]
    if len(elsewhere) == 0:
        return
    left, right, quality = left[elsewhere], right[elsewhere], quality[elsewhere]
    gold, predicted = faults.gold.where(left), faults.predicted.where(right)
    codes = faults.column.codes[gold.rows]
    if close is None:
        chance = faults.chance(gold)
    else:
        chance = faults.chance(gold, _near_counts(faults, codes, gold.documents, close))
        chance = np.maximum(chance, faults.corpus_chance(gold) + faults.corpus_chance(predicted))
    _, first, inverse, rivals = np.unique(
        faults.predicted.owners, return_index=True, return_inverse=True, return_counts=True
    )
    targets = np.bincount(faults.predicted.documents[first])[gold.documents]
    chance = np.minimum(1.0, chance * rivals[inverse[right]])
    columns = (gold.documents, gold.owners, predicted.owners, gold.nodes, predicted.nodes, quality, chance, targets)
    yield from map(MoveCandidate, *(column.tolist() for column in columns))


def _equal(
    gold_documents: Indices, gold_codes: Indices, predicted_documents: Indices, predicted_codes: Indices
) -> tuple[Indices, Indices]:
    """Return all pairs of equal values of one document, except values with more than `MAX_COPIES` pairs."""
    width = 1 + int(max(gold_codes.max(), predicted_codes.max()))
    gold, predicted = gold_documents * width + gold_codes, predicted_documents * width + predicted_codes
    _, numbers = np.unique(np.concatenate([gold, predicted]), return_inverse=True)
    gold, predicted = np.split(numbers, [len(gold)])
    size = int(numbers.max()) + 1
    heights, widths = np.bincount(gold, minlength=size), np.bincount(predicted, minlength=size)
    kept = (heights * widths <= MAX_COPIES).nonzero()[0]
    owner, row, column = cross_slices(heights[kept], widths[kept])
    left, right = gold.argsort(kind="stable"), predicted.argsort(kind="stable")
    return left[starts_of(heights)[kept][owner] + row], right[starts_of(widths)[kept][owner] + column]


def _near(faults: LeafFaults, close: float) -> tuple[Indices, Indices, Floats]:
    """Return the pairs of different texts of one document that are nearly equal, with their qualities.

    Documents with more than `MAX_CELLS` pairs are left out.
    """
    column = faults.column
    size = 1 + int(max(faults.gold.documents.max(), faults.predicted.documents.max()))
    sides, counts = [], []
    for leaves in (faults.gold, faults.predicted):
        texts = (column.kinds[column.codes[leaves.rows]] == Kind.STRING).nonzero()[0]
        sides.append(texts[leaves.documents[texts].argsort(kind="stable")])
        counts.append(np.bincount(leaves.documents[texts], minlength=size))
    few = counts[0] * counts[1] <= MAX_CELLS
    left, right = (
        side[few[leaves.documents[side]]] for side, leaves in zip(sides, (faults.gold, faults.predicted), strict=True)
    )
    blocks = Blocks(*(starts_of(np.where(few, number, 0)) for number in counts))
    cells, quality = _at_least(column, blocks, faults.gold.rows[left], faults.predicted.rows[right], close)
    left, right = left[blocks.rows[cells]], right[blocks.columns[cells]]
    differ = column.codes[faults.gold.rows[left]] != column.codes[faults.predicted.rows[right]]
    return left[differ], right[differ], quality[differ]


def _at_least(
    column: LeafColumn, blocks: Blocks, left: Indices, right: Indices, least: float
) -> tuple[Indices, Floats]:
    """Return the cells of the blocks whose quality is at least `least`, with their qualities.

    Bounds, which are many times cheaper for long texts, exclude most cells.
    """
    cells = (upper_bounds(column, blocks, left, right) >= least).nonzero()[0]
    quality = QualitySolver().evaluate(column, left[blocks.rows[cells]], right[blocks.columns[cells]]).quality
    good = quality >= least
    return cells[good], quality[good]


def _near_counts(faults: LeafFaults, codes: Indices, documents: Indices, close: float) -> Indices:
    """Return the number of gold values of each document that are equal or nearly equal to each of these codes."""
    column, counts = faults.column, faults.counts
    present = (column.codes >= 0).nonzero()[0]
    row_of_code = np.empty(len(column.values), dtype=np.intp)
    row_of_code[column.codes[present]] = present
    asked, inverse = np.unique(documents * counts.width + codes, return_inverse=True)
    edges = np.arange(int(documents.max()) + 2) * counts.width
    known = counts.keys[: counts.keys.searchsorted(edges[-1])]
    blocks = Blocks(asked.searchsorted(edges), known.searchsorted(edges))
    rows = [row_of_code[keys % counts.width] for keys in (asked, known)]
    cells, _ = _at_least(column, blocks, rows[0], rows[1], close)
    numbers = counts.counts[blocks.columns[cells]]
    totals = np.bincount(blocks.rows[cells], weights=numbers, minlength=len(asked))
    return totals.astype(np.intp)[inverse]


def siblings(faults: Sequence[LeafFaults], close: float) -> Iterator[MoveCandidate]:
    """Yield the candidates between the fields of one object, compared with the distance of the gold field."""
    wrong: dict[int, list[tuple[int, int]]] = {}
    for number, of_path in enumerate(faults):
        for at in _direct(of_path.predicted).tolist():
            wrong.setdefault(int(of_path.predicted.parents[at]), []).append((number, at))
    fields = FieldCoincidence(faults)
    found = []
    for number, of_path in enumerate(faults):
        places = []
        for at in _direct(of_path.gold).tolist():
            for other, place in wrong.get(int(of_path.gold.parents[at]), ()):
                if other != number:
                    places.append((at, other, place, len(wrong[int(of_path.gold.parents[at])])))
                    fields.note(number, at, other, place)
        if places and of_path.column.forms is None and not of_path.custom:
            found.append((number, places))
    for number, places in found:
        yield from _between(faults, number, places, close, fields)


class FieldCoincidence:
    """The share of equal values among two fields of different objects of a document, for documents without a corpus."""

    def __init__(self, faults: Sequence[LeafFaults]) -> None:
        self._faults = faults
        self._alike: Counter[tuple[str, int]] = Counter()
        self._known: dict[tuple[str, int], float] = {}
        self._keys: dict[int, list[Hashable]] = {}

    def note(self, number: int, gold: int, other: int, predicted: int) -> None:
        """Record wrong leaves of one object that may be one moved value: their equality does not count as coincidence.

        Args:
            number: Number of the column of the gold leaf.
            gold: Position of the wrong gold leaf.
            other: Number of the column of the predicted leaf.
            predicted: Position of the wrong predicted leaf.
        """
        source, target = self._faults[number], self._faults[other]
        if source.usual is None:
            own = self._key(number, int(source.column.codes[source.gold.rows[gold]]))
            if own == self._key(other, int(target.column.codes[target.predicted.rows[predicted]])):
                self._alike[_object(source), int(source.gold.documents[gold])] += 1

    def chance(self, faults: LeafFaults, document: int) -> float:
        """Return the share for the object around a field; 0 if the values of a corpus are known."""
        if faults.usual is not None:
            return 0.0
        place = _object(faults), document
        if place not in self._known:
            members = [number for number, other in enumerate(self._faults) if _object(other) == place[0]]
            sides = [
                {number: self._counted(number, counts, document) for number, counts in side}
                for side in (
                    [(number, self._faults[number].counts) for number in members],
                    [(number, self._faults[number].predicted_counts) for number in members],
                )
            ]
            equal, pairs = -self._alike[place], 0
            for number, gold in sides[0].items():
                for other, predicted in sides[1].items():
                    if number != other:
                        equal += sum(count * predicted[key] for key, count in gold.items())
                        pairs += gold.total() * predicted.total()
            self._known[place] = equal / max(pairs, 1)
        return self._known[place]

    def _counted(self, number: int, counts: ValueCounts, document: int) -> Counter[Hashable]:
        return Counter({self._key(number, code): count for code, count in counts.within(document)})

    def _key(self, number: int, code: int) -> Hashable:
        if number not in self._keys:
            self._keys[number] = list(map(canonical, self._faults[number].column.values))
        return self._keys[number][code]


def _object(faults: LeafFaults) -> str:
    """Return the wildcard path of the object around a field."""
    return faults.path.rpartition("/")[0]


def _direct(leaves: WrongLeaves) -> Indices:
    """Return the leaves that are fields of their object, not items of a list in it."""
    direct: Indices = ((leaves.parents == leaves.owners) & (leaves.owners != NONE)).nonzero()[0]
    return direct


def _between(
    faults: Sequence[LeafFaults],
    number: int,
    places: Sequence[tuple[int, int, int, int]],
    close: float,
    fields: FieldCoincidence,
) -> Iterator[MoveCandidate]:
    """Yield the candidates among pairs of a gold leaf of one column and a predicted leaf of another.

    Args:
        faults: The wrong leaves of each column.
        number: Number of the column of the gold leaves.
        places: Position of the gold leaf, column and position of the predicted leaf, and number of wrong predicted
            leaves in their object.
        close: Minimum quality.
        fields: The share of equal values among fields.
    """
    source = faults[number]
    codes = source.column.codes[source.gold.rows].tolist()
    by_leaf: dict[int, list[int]] = {}
    for at, (gold, *_) in enumerate(places):
        by_leaf.setdefault(int(source.column.slots[codes[gold]]), []).append(at)
    for slot, members in by_leaf.items():
        gold_values = [source.column.values[codes[places[at][0]]] for at in members]
        raw = [faults[places[at][1]].column.raw[faults[places[at][1]].predicted.rows[places[at][2]]] for at in members]
        for at, value, quality in zip(
            members, gold_values, _qualities(source.column, slot, gold_values, raw), strict=True
        ):
            if quality < close:
                continue
            gold, other, predicted, rivals = places[at]
            target, document = faults[other], source.gold.documents[gold : gold + 1]
            own = source.counts.of(source.column.codes[source.gold.rows[[gold]]], document)
            theirs = target.counts.of(target.column.codes[target.predicted.rows[[predicted]]], document)
            chance = max(
                base_chance(value, near=quality < 1.0),
                float(source.counts.chance(own, document)[0]),
                float(theirs[0]) / max(1, int(target.counts.totals[document[0]])),
                float(source.corpus_chance(source.gold.where(np.array([gold])))[0]),
                float(target.corpus_chance(target.predicted.where(np.array([predicted])))[0]),
                fields.chance(source, int(document[0])),
            )
            owner = int(source.gold.owners[gold])
            nodes = int(source.gold.nodes[gold]), int(target.predicted.nodes[predicted])
            yield MoveCandidate(int(document[0]), owner, owner, *nodes, quality, min(1.0, chance * rivals), 1)


def _qualities(column: LeafColumn, slot: int, gold: Sequence[Json], raw: Sequence[Json]) -> list[float]:
    """Return the quality of each normalised gold value with each predicted value as it was read; 0 for other kinds."""
    site, distance, values = column.site, column.leaves[slot].distance, list(gold)
    normalizers = () if site is None else site.normalizers if site.leaf is None else site.leaf.normalizers
    pairs: list[tuple[int, int]] = []
    for at, value in enumerate(raw):
        try:
            normal = normalize(normalizers, value)
            comparable = kind_of(normal) == kind_of(gold[at]) and kind_of(normal) in distance.kinds
        except ArbitreError:
            comparable = False
        if comparable:
            pairs.append((at, len(values)))
            values.append(normal)
    qualities = [0.0] * len(raw)
    if pairs:
        left, right = np.array(pairs, dtype=np.intp).T
        distances = distance.pool(values).distances(left, right)
        for (at, _), quality in zip(pairs, (1.0 - distances).tolist(), strict=True):
            qualities[at] = quality
    return qualities
