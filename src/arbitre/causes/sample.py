"""Compared documents that are searched for causes, and trials of changes on them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.causes.changes import Correction, OverlayChange, replacement
from arbitre.comparison.leaf_pairs import LeafPair, leaf_pairs
from arbitre.comparison.levels import NONE, at_path, of_nodes
from arbitre.comparison.node_tree import NodeTree
from arbitre.corpus.chance import chance_comparisons, sample_pairs, sample_with_runs
from arbitre.corpus.worker import compare_pairs
from arbitre.diagnosis.faults import Pointers, find_faults
from arbitre.diagnosis.joins import WEAK
from arbitre.diagnosis.moved_chance import ValueFrequencies, base_chance
from arbitre.diagnosis.repair_gain import f1q_gain, group_changes
from arbitre.distances import catalogue
from arbitre.engine.columns.fields import in_schema_places
from arbitre.errors import ArbitreError
from arbitre.inputs.join import JoinedCorpus
from arbitre.inputs.records import Pair
from arbitre.paths import escape, wildcard
from arbitre.schema.describe import schema_path
from arbitre.values import ABSENT, Kind, canonical, number_of_values

if TYPE_CHECKING:
    from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.causes.changes import Change, Places
    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.faults import FaultResults
    from arbitre.diagnosis.taxonomy import Taxonomy
    from arbitre.paths import Path
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

CHANCE_COMPARISONS: Final = 24
"""Number of predictions that are compared with the gold of another document."""

NO_PARTNER: Final = (-1, "")
"""Document and JSON Pointer of the partner of a value without one."""

BATCH: Final = 32
"""Number of documents compared at once."""


MIN_FAULTS: Final = 5
"""Minimum number of faults of a cause."""

MIN_DOCUMENTS: Final = 3
"""Minimum number of documents of a cause; corpora with fewer documents need neither this nor `MIN_FAULTS`."""


FEW_DOCUMENTS: Final = 32
"""Minimum number of documents that are searched for causes, with different ids if there are as many."""

MAX_DOCUMENTS: Final = 400
"""Maximum number of documents that are searched for causes; each run counts."""

DOCUMENTS_PER_SEARCHED: Final = 16
"""Number of documents in the corpus per document that is searched for causes without `diagnose`. With 16, the search
adds 25% (flat) to 50% (nested) to the CPU time of `arbitre evaluate` for 2,000 documents."""

MAX_SEARCHED_VALUES: Final = 1 << 17
"""Approximate maximum number of gold and predicted values that are searched for causes. `FEW_DOCUMENTS` documents are
searched even if they contain more. A higher limit finds more causes but takes longer."""


def documents_to_search(documents: JoinedCorpus | Sequence[Pair], *, quick: bool = False) -> list[Pair]:
    """Return the documents to search for causes, selected by a digest of the ids.

    Each run counts as a document. Up to `MAX_DOCUMENTS` are selected; with `quick`, one of `DOCUMENTS_PER_SEARCHED`,
    but at least `FEW_DOCUMENTS`. At least `FEW_DOCUMENTS` different ids are selected, or all if there are fewer, with
    all runs or, beyond `MAX_DOCUMENTS`, equally many runs of each. If the documents have more than
    `MAX_SEARCHED_VALUES` values, proportionally fewer are selected.
    """
    joined = documents if isinstance(documents, JoinedCorpus) else JoinedCorpus(tuple(documents))
    few = max(FEW_DOCUMENTS, len(joined) // DOCUMENTS_PER_SEARCHED)
    most = min(few, MAX_DOCUMENTS) if quick else MAX_DOCUMENTS
    chosen = joined if len(joined) <= most else sample_with_runs(joined, most, least=FEW_DOCUMENTS, limit=MAX_DOCUMENTS)
    pairs = [pair.as_json() for pair in chosen]
    values = sum(number_of_values(side, MAX_SEARCHED_VALUES) for pair in pairs for side in (pair.gold, pair.predicted))
    if values > MAX_SEARCHED_VALUES and len(pairs) > FEW_DOCUMENTS:
        fewer = max(FEW_DOCUMENTS, len(pairs) * MAX_SEARCHED_VALUES // values)
        pairs = sample_with_runs(JoinedCorpus(tuple(pairs)), fewer, least=FEW_DOCUMENTS, limit=fewer)
    return pairs


class SampleFault(NamedTuple):
    """A fault of a document of the sample; see `arbitre.comparison.diagnosis.Fault`.

    Attributes:
        number: Position in `Sample.faults`.
        document: Position of the document in `Sample.pairs`.
        entry: JSON Pointer of the entry; None outside the entries.
        gold_pointer: JSON Pointer in gold, or None.
        predicted_pointer: JSON Pointer in the prediction, or None.
        path: Wildcard path.
        fault: Class of the fault.
        gold: Value in gold, or ABSENT.
        predicted: Predicted value, or ABSENT.
        lost: Contribution to the denominator of f1q minus twice the quality mass.
    """

    number: int
    document: int
    entry: str | None
    gold_pointer: str | None
    predicted_pointer: str | None
    path: str
    fault: str
    gold: Json
    predicted: Json
    lost: float


def correction_of(corrected: Iterable[tuple[SampleFault, Json]]) -> Correction:
    """Return the correction that replaces the predicted values of faults with other values."""
    places: Places = defaultdict(dict)
    for fault, value in corrected:
        places[fault.document][fault.predicted_pointer or ""] = fault.predicted, value
    return replacement(places)


class Trial(NamedTuple):
    """The documents of a sample after a change.

    Attributes:
        plan: The compiled schema with the change.
        pairs: The documents with the change.
        tallies: Tallies of the entries; shape (documents, 5).
    """

    plan: Plan
    pairs: tuple[Pair, ...]
    tallies: Floats

    @property
    def f1q(self) -> float:
        """Pooled f1q; 1 without entries."""
        return pooled_f1q(self.tallies)


@dataclass(frozen=True, eq=False)
class Sample:
    """Documents that were compared, with their faults.

    Attributes:
        plan: The compiled schema.
        pairs: The documents. Those whose gold cannot be compared are left out. In predictions, aliased fields are in
            their place in the schema, so that JSON Pointers of faults lead to them.
        tallies: Tallies of the entries; shape (documents, 5).
        compared: The documents that were compared together, with their levels; None to compare them when needed.
        before: The sample without any change; None if it is this one.
    """

    plan: Plan
    pairs: tuple[Pair, ...]
    tallies: Floats
    compared: Sequence[tuple[Sequence[Pair], Sequence[Level]]] | None = None
    before: Sample | None = None

    @classmethod
    def of(cls, plan: Plan, pairs: Sequence[Pair]) -> Sample:
        """Compare documents."""
        pairs = [_in_places(plan, pair) for pair in pairs]
        compared, entries = list(_compared(plan, pairs)), wildcard(plan.entries)
        tallies = [of_nodes(levels, entries, len(members)) for members, levels in compared]
        kept = tuple(pair for members, _ in compared for pair in members)
        return cls(plan, kept, np.concatenate([np.empty((0, 5)), *tallies]), compared)

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def _schema_paths(self) -> dict[str, Path]:
        return {}

    def schema_path(self, text: str) -> Path:
        """Return the tokens of a wildcard path; see `arbitre.schema.describe.schema_path`."""
        if text not in self._schema_paths:
            self._schema_paths[text] = schema_path(self.plan.sites, text)
        return self._schema_paths[text]

    @cached_property
    def size(self) -> int:
        """Number of gold documents: several runs of one document count once."""
        return len({pair.id for pair in self.pairs})

    def ids_of(self, faults: Iterable[SampleFault]) -> int:
        """Return the number of gold documents with some faults: several runs of one document count once."""
        return len({self.pairs[fault.document].id for fault in faults})

    @property
    def f1q(self) -> float:
        """Pooled f1q; 1 without entries."""
        return pooled_f1q(self.tallies)

    @property
    def mass(self) -> float:
        """Number of gold and predicted entries: the denominator of f1q."""
        return float(self.tallies[:, 0].sum() + self.tallies[:, 1].sum())

    @cached_property
    def _parts(self) -> list[tuple[int, Sequence[Pair], Sequence[Level]]]:
        """The documents that were compared together: the position of the first, the documents and their levels."""
        parts, first = [], 0
        for members, levels in self.compared or _compared(self.plan, self.pairs):
            parts.append((first, members, levels))
            first += len(members)
        return parts

    @cached_property
    def _results(self) -> list[tuple[int, FaultResults]]:
        gold = {pair.id: pair.gold for pair in self.pairs}
        usual = ValueFrequencies.of(self.plan, gold) if len(gold) > 1 else None
        found = []
        for first, members, levels in self._parts:
            own = None if usual is None else usual.for_documents([pair.id for pair in members])
            sides = [pair.gold for pair in members], [pair.predicted for pair in members]
            found.append((first, find_faults(self.plan, *sides, levels, own)))
        return found

    @cached_property
    def faults(self) -> tuple[SampleFault, ...]:
        """All faults, by document."""
        rows = (
            (first + document, *rest)
            for first, results in self._results
            for document, *rest in zip(
                results.rows.documents,
                results.rows.entries,
                results.rows.gold_pointers,
                results.rows.predicted_pointers,
                results.rows.paths,
                results.rows.faults,
                results.rows.gold,
                results.rows.predicted,
                results.rows.lost,
                strict=True,
            )
        )
        return tuple(SampleFault(number, *row) for number, row in enumerate(rows))

    @cached_property
    def faults_by_path(self) -> Mapping[str, Sequence[SampleFault]]:
        """The faults of each wildcard path."""
        groups: defaultdict[str, list[SampleFault]] = defaultdict(list)
        for fault in self.faults:
            groups[fault.path].append(fault)
        return dict(groups)

    def predicted_path(self, fault: SampleFault) -> str | None:
        """Return the wildcard path of the predicted value of a fault; None if there is none."""
        taxonomy, (_, node) = self._nodes(fault)
        return None if node == NONE else taxonomy.paths[taxonomy.path[node]]

    def place(self, fault: SampleFault) -> list[tuple[int | str, str | None]]:
        """Return the path from the root to the gold value of a fault.

        Each token comes with the JSON Pointer, in the prediction, of the partner of the gold value up to this token;
        None if it has no partner. The token of the root is "".
        """
        taxonomy, (node, _) = self._nodes(fault)
        tree, steps = NodeTree.of(taxonomy.levels), []
        while node != NONE:
            level, at = tree.place(node)
            if not level.inner:
                steps.append((level.source.tokens_of(level.left[at : at + 1])[0], tree.pointer(node, gold=False)))
            node = int(level.parent[at])
        return steps[::-1]

    def addition(self, fault: SampleFault) -> tuple[str, tuple[str, ...]] | None:
        """Return where gold would get the predicted value of a fault, as in a JSON Patch.

        None if gold lacks the item, or the list with fixed positions, that contains the value.

        Returns:
            The JSON Pointer, which ends in "-" for an item of a list, and the types ("object" or "array") of the
            containers around the value that gold lacks, outermost first.
        """
        taxonomy, (_, node) = self._nodes(fault)
        tree, path, creates = NodeTree.of(taxonomy.levels), "", list[str]()
        while node != NONE:
            level, at = tree.place(node)
            if path and level.item:
                return None
            token = level.source.tokens_of(level.right[at : at + 1])[0]
            path = f"/{'-' if level.item else escape(str(token))}{path}"
            above = int(level.parent[at])
            while above != NONE and tree.place(above)[0].inner:
                inner, place = tree.place(above)
                above = int(inner.parent[place])
            around = None if above == NONE else tree.pointer(above, gold=True)
            if around is not None:
                return f"{around}{path}", tuple(reversed(creates))
            if not level.item and isinstance(token, int):
                return None
            creates.append("array" if level.item else "object")
            node = above
        return None

    @cached_property
    def entry_pointers(self) -> Mapping[tuple[int, bool, str], tuple[str | None, str | None]]:
        """The JSON Pointers of each entry in gold and in the prediction.

        Entries are found by document, side (true for gold) and their pointer on this side. The first partner counts if
        an entry has several. If the root is the only entry, its fields count as entries, except those that are absent.
        """
        root = self.plan.sites[0]
        listed = bool(self.plan.entries) or (Kind.ARRAY in root.declared and not root.atomic)
        found: dict[tuple[int, bool, str], tuple[str | None, str | None]] = {}
        for first, results in self._results:
            taxonomy = results.taxonomy
            nodes = np.unique(taxonomy.entry[taxonomy.entry != NONE])
            if not listed:
                fields = [level.first + np.arange(len(level)) for level in taxonomy.levels if len(level.path) == 1]
                nodes = np.concatenate(fields or [nodes[:0]])
            sides = [Pointers(taxonomy.levels, nodes, gold=gold).of(nodes) for gold in (True, False)]
            for document, *ends in zip((first + taxonomy.document[nodes]).tolist(), *sides, strict=True):
                for end, gold in zip(ends, (True, False), strict=True):
                    if end is not None:
                        found.setdefault((document, gold, end), (ends[0], ends[1]))
        return found

    def weak_pairs(self, path: str, below: float = WEAK) -> Sequence[tuple[int, str, str]]:
        """Return the matched items of a path that are not close; of objects, those of a quality below `below`.

        Each is the document, and the JSON Pointers of the items in gold and in the prediction.
        """
        if (path, below) not in self._weak:
            pairs = self._weak[path, below] = []
            for first, _, levels in self._parts:
                tree = NodeTree.of(levels)
                for level in at_path(levels, path):
                    weak = (
                        level.paired & (level.quality < (self.plan.close if level.leaf else below)) & (not level.inner)
                    )
                    for at in weak.nonzero()[0].tolist():
                        gold, predicted = (tree.pointer(level.first + at, gold=side) or "" for side in (True, False))
                        pairs.append((first + int(level.document[at]), gold, predicted))
        return self._weak[path, below]

    @cached_property
    def _weak(self) -> dict[tuple[str, float], list[tuple[int, str, str]]]:
        return {}

    def item_masses(self, path: str) -> tuple[float, float, float]:
        """Return the numbers of gold and predicted items of a path, and the sum of the qualities of their pairs."""
        gold = predicted = quality = 0.0
        for _, _, levels in self._parts:
            for level in at_path(levels, path):
                if not level.inner:
                    masks = level.node_masks()
                    gold, predicted = gold + float(masks[0].sum()), predicted + float(masks[1].sum())
                    quality += float(level.quality[masks[2]].sum())
        return gold, predicted, quality

    def _nodes(self, fault: SampleFault) -> tuple[Taxonomy, tuple[int, int]]:
        """Return the compared nodes around a fault, and its gold node and predicted node, or NONE."""
        number = fault.number
        for _, results in self._results:
            if number < len(results.rows):
                gold, predicted = results.rows.nodes[number].tolist()
                return results.taxonomy, (gold, predicted)
            number -= len(results.rows)
        raise IndexError(fault.number)

    @cached_property
    def fault_ends(self) -> Mapping[tuple[int, bool, str], Sequence[int]]:
        """The numbers of the faults by document, side (true for gold) and JSON Pointer."""
        ends: defaultdict[tuple[int, bool, str], list[int]] = defaultdict(list)
        for fault in self.faults:
            for end, gold in ((fault.gold_pointer, True), (fault.predicted_pointer, False)):
                if end is not None:
                    ends[fault.document, gold, end].append(fault.number)
        return dict(ends)

    def faults_inside(self, places: Container[tuple[int, bool, str]]) -> Iterator[tuple[int, tuple[int, bool, str]]]:
        """Yield the number of each fault at some places or inside them, with the innermost place.

        A place is a document, a side (true for gold) and a JSON Pointer other than that of the root. If the fault is at
        or inside places on both sides, it is yielded for both.
        """
        for fault in self.faults:
            for end, gold in ((fault.gold_pointer, True), (fault.predicted_pointer, False)):
                around = end
                while around and (fault.document, gold, around) not in places:
                    around = around.rpartition("/")[0]
                if around:
                    yield fault.number, (fault.document, gold, around)

    @cached_property
    def leaves(self) -> Mapping[str, Sequence[LeafPair]]:
        """All pairs of leaves by wildcard path; `document` is the position in `pairs`."""
        groups: defaultdict[str, list[LeafPair]] = defaultdict(list)
        for first, _, levels in self._parts:
            for path, leaf in leaf_pairs(levels, first=first):
                groups[path].append(leaf)
        return dict(groups)

    @cached_property
    def unrelated(self) -> Sample:
        """Predictions with the gold of another document, to find what a change gains by chance."""
        ordered = sorted(self.pairs, key=lambda pair: pair.key)
        drawn = chance_comparisons(sample_pairs(ordered), 0)[:CHANCE_COMPARISONS]
        pairs = [Pair(str(number), None, one.gold, one.predicted) for number, one in enumerate(drawn)]
        return Sample.of(self.plan, pairs)

    @cached_property
    def matched(self) -> Mapping[tuple[int, str], tuple[int, str]]:
        """The matched objects and lists: document and pointer in the prediction, and document and pointer in gold."""
        matched: dict[tuple[int, str], tuple[int, str]] = {}
        for first, _, levels in self._parts:
            nodes = np.concatenate(
                [
                    np.empty(0, dtype=np.intp),
                    *(
                        level.first + level.paired.nonzero()[0]
                        for level in levels
                        if not level.leaf and not level.inner
                    ),
                ]
            )
            documents = np.concatenate([np.empty(0, dtype=np.intp), *(level.document for level in levels)])[nodes]
            sides = [Pointers(levels, nodes, gold=gold).of(nodes) for gold in (False, True)]
            for document, predicted, gold in zip((first + documents).tolist(), *sides, strict=True):
                matched[document, predicted or ""] = document, gold or ""
        return matched

    def group_gains(self, groups: Mapping[int, int], number: int) -> list[float]:
        """Return the increase in pooled f1q if all faults of a group are corrected, for each group.

        Args:
            groups: Group of each fault, by its number.
            number: Number of groups.
        """
        total, start = np.zeros((number, 2)), 0
        for _, results in self._results:
            labels: Indices = np.zeros(len(results.taxonomy.fault), dtype=np.intp)
            for row, nodes in enumerate(results.rows.nodes.tolist()):
                for node in nodes:
                    if node >= 0:
                        labels[node] = groups[start + row]
            total += group_changes(results.taxonomy, labels, number).sum(axis=0)
            start += len(results.rows)
        gains: list[float] = f1q_gain(self.tallies.sum(axis=0), total).tolist()
        return gains

    def suffices(self, faults: Sequence[SampleFault], min_faults: int = MIN_FAULTS) -> bool:
        """Return whether there are at least `min_faults` faults, in enough documents, for a cause."""
        if self.size < MIN_DOCUMENTS:
            return bool(faults)
        return len(faults) >= min_faults and self.ids_of(faults) >= MIN_DOCUMENTS

    def trial(self, change: Change, *, everywhere: bool = False) -> Trial | None:
        """Make a change, and compare the documents that it concerns, or all; None if it cannot be made.

        An overlay concerns the documents with a fault at or below its paths, or above them. In the others, all values
        at these paths are correct, and remain so.
        """
        if isinstance(change, OverlayChange):
            try:
                plan = self.plan.with_overlay(change.overlay)
            except ArbitreError:
                return None
            everywhere |= plan.entries != self.plan.entries
            touched = range(len(self)) if everywhere else sorted(self._concerned(change.overlay))
            return self._again(plan, dict.fromkeys(touched))
        return self._again(self.plan, self._corrected(change))

    def after(self, trial: Trial) -> Sample:
        """Return the sample with the change of a trial."""
        pairs = tuple(_in_places(trial.plan, pair) for pair in trial.pairs)
        return Sample(trial.plan, pairs, trial.tallies, before=self.before or self)

    def _concerned(self, paths: Mapping[str, Json]) -> set[int]:
        """Return the documents with a fault at one of the paths, or below or above it."""
        return {
            fault.document
            for own, faults in self.faults_by_path.items()
            if any(f"{own}/".startswith(f"{path}/") or f"{path}/".startswith(f"{own}/") for path in paths)
            for fault in faults
        }

    def _corrected(self, change: Correction) -> dict[int, Pair | None]:
        """Return the documents that a correction changes."""
        changed: dict[int, Pair | None] = {}
        for at in range(len(self)) if change.documents is None else sorted(change.documents):
            predicted = change.correct(at, self.pairs[at].predicted)
            if predicted is not self.pairs[at].predicted:
                changed[at] = replace(self.pairs[at], predicted=predicted, failure=None)
        return changed

    def _again(self, plan: Plan, changed: Mapping[int, Pair | None]) -> Trial | None:
        """Compare some documents again; None means an unchanged document."""
        pairs, tallies = list(self.pairs), self.tallies.copy()
        for at, pair in changed.items():
            pairs[at] = self.pairs[at] if pair is None else pair
        places = list(changed)
        done = 0
        try:
            for members, levels in _compared(plan, [pairs[at] for at in places]):
                here = places[done : done + len(members)]
                tallies[here] = of_nodes(levels, wildcard(plan.entries), len(members))
                done += len(members)
        except ArbitreError:
            return None
        return Trial(plan, tuple(pairs), tallies) if done == len(places) else None


def _in_places(plan: Plan, pair: Pair) -> Pair:
    """Return a pair with the aliased fields of its prediction in their place in the schema."""
    placed = in_schema_places(plan, pair.predicted)
    return pair if placed is pair.predicted else replace(pair, predicted=placed)


def _compared(plan: Plan, pairs: Sequence[Pair]) -> Iterator[tuple[Sequence[Pair], Sequence[Level]]]:
    for start in range(0, len(pairs), BATCH):
        for members, levels, _ in compare_pairs(plan, pairs[start : start + BATCH]):
            if members:
                yield members, levels


def pooled_f1q(tallies: Floats) -> float:
    """Return the pooled f1q of some tallies; 1 without entries."""
    size = float(tallies[:, 0].sum() + tallies[:, 1].sum())
    return 2.0 * float(tallies[:, 3].sum()) / size if size else 1.0


# How probable it is that unrelated values agree.


ODDS: Final = 2.0
"""How many times more often one value may be confused with another than with a third one without a systematic cause."""


def value_chance(counts: Counter[Hashable], key: Hashable, value: Json) -> float:
    """Return the probability that an unrelated value agrees with a value.

    Args:
        counts: The values that it could agree with, with their number, in the form in which they are compared.
        key: The value in this form.
        value: The value itself. The longer it is, the less probable is an agreement by chance.

    Returns:
        The share of the value in `counts`, or what its length suggests, whichever is larger; in (0, 1].
    """
    total = counts.total()
    return max(counts[key] / total if total else 0.0, base_chance(value))


def repeat_chance(values: Counter[Hashable], value: Json) -> float:
    """Return the probability that an unrelated value equals a value, given all values at its place.

    Args:
        values: The canonical values at its place, this one included.
        value: The value.

    Returns:
        The share of the value among the others, or what its length suggests, whichever is larger; in (0, 1].
    """
    others = values.total() - 1
    return max((values[canonical(value)] - 1) / others if others > 0 else 0.0, base_chance(value))


def with_odds(share: float) -> float:
    """Return the probability of a value that is preferred with odds of `ODDS` to its share."""
    return ODDS * share / (1.0 + (ODDS - 1.0) * share)


def excess_p(observed: int, chances: Sequence[float]) -> float:
    """Return the probability of at least so many agreements by chance (Poisson approximation).

    Args:
        observed: Number of agreements.
        chances: Probability of each possible agreement by chance, including those that did not occur.
    """
    from scipy.special import gammainc  # noqa: PLC0415  (loads slowly; `scipy.stats.poisson` three times as slowly)

    return float(gammainc(observed, math.fsum(chances))) if observed > 0 else 1.0


def share_p(observed: int, chances: Sequence[float]) -> float:
    """Return the probability of at least so many agreements by chance if agreements are frequent.

    It is that of as many agreements with their mean probability, which is not smaller (Hoeffding, 1956), and smaller
    than that of `excess_p`.

    Args:
        observed: Number of agreements.
        chances: Probability of each possible agreement by chance, including those that did not occur.
    """
    from scipy.special import bdtrc  # noqa: PLC0415  (loads slowly)

    mean = math.fsum(chances) / max(1, len(chances))
    return float(bdtrc(observed - 1, len(chances), min(1.0, mean))) if observed > mean * len(chances) + 1.0 else 1.0


# Which values are the same.


NEAR: Final = 0.8
"""Minimum similarity of two texts that are the same with few wrong characters: 1 - edits / length of the longer one."""

_LEVENSHTEIN: Final = catalogue.build("levenshtein")


def single_value(value: Json) -> Json:
    """Return a single value; ABSENT for null, a list and an object."""
    return ABSENT if value is None or isinstance(value, (dict, list)) else value


def nearly_equal(first: Json, second: Json) -> bool:
    """Return whether two single values are equal, or texts with few different characters. ABSENT equals nothing."""
    if first is ABSENT or second is ABSENT:
        return False
    if isinstance(first, str) and isinstance(second, str):
        sizes = sorted((len(first), len(second)))
        return first == second or (sizes[0] >= NEAR * sizes[1] and 1.0 - _LEVENSHTEIN(first, second) >= NEAR)
    return canonical(first) == canonical(second)
