"""Splits and merges: one gold item that was predicted as several items, or several that were predicted as one.

The items of every pair of lists are searched in four steps:

1. Parts are the items without a partner, and those whose partner has a quality below `WEAK`. The wholes of a part are
   the items on the other side that contain most of its values (see `SharedValues`).
2. Each part is joined with the partner of a whole, or with the best part of a whole that has no such partner. The gain
   is the quality of the joined item with the whole, minus the best quality of one of its parts with the whole. Each
   part goes to the whole where it gains most. Parts without a gain, such as duplicates, are left out.
3. If a whole has several parts, they are added one after the other; parts without a gain are left out.
4. Joins are accepted from the greatest gain to the smallest, if the gain is above the margin, `f1q` of the list
   increases, and no item is used twice.

Lists are searched from the outside in. Lists inside an item of an accepted join are not searched. `JoinResults` holds
the joins of a batch of documents, and the score of the entries after joining.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.comparison.diagnosis import Join
from arbitre.comparison.levels import at_path, of_nodes
from arbitre.diagnosis.join_values import joined_variants, with_lists_changed
from arbitre.diagnosis.list_pairs import inherited, list_pairs
from arbitre.diagnosis.shared_values import SharedValues, TextWords, ValueSearch
from arbitre.engine import compare_batch, qualities_at
from arbitre.engine.columns.column import LeafColumn, ListColumn
from arbitre.engine.solve.solver import QualitySolver
from arbitre.paths import pointer, wildcard
from arbitre.tally import Scores, Tally
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arbitre.comparison.levels import Level, NodeSource
    from arbitre.diagnosis.list_pairs import ListPairs
    from arbitre.schema.plan import Plan
    from arbitre.values import Json


if TYPE_CHECKING:
    _Job = tuple[int, bool, list[int]]
    """A whole, whether its parts are gold items, and the parts, as rows."""
    _Trial = tuple[int, bool, int, int, float]
    """A whole, whether its parts are gold items, two parts, and the greater quality of a part with the whole."""

WEAK: Final = 0.45
"""Quality below which a matched item may be a part of another item."""

SHARE: Final = 0.4
"""Minimum share of the values of a part that the whole contains."""

WHOLE_SHARE: Final = 0.55
"""Minimum share of the values of every part of a split that the whole contains."""

NEAREST: Final = 2
"""Number of wholes that are tried for each part."""

MARGIN: Final = 0.02
"""Minimum gain in quality of an accepted join."""

ROUNDING: Final = 1e-9
"""Qualities that differ by less than this are equal."""

PAIR: Final = 2
"""Minimum number of parts."""

TRIED: Final = 32
"""Maximum number of steps in which further parts are added to a whole; many parts are added several at a time."""


@dataclass(eq=False, slots=True)
class _Group:
    """A whole and its parts.

    Attributes:
        whole: Row of the whole.
        merge: Whether the parts are gold items.
        parts: Rows of the parts; the first is the one that the others were joined with.
        single: Greatest quality of a part with the whole.
        quality: Quality of the joined parts with the whole.
        value: The joined parts.
    """

    whole: int
    merge: bool
    parts: list[int]
    single: float
    quality: float = 0.0
    value: Json = None

    @property
    def gain(self) -> float:
        return self.quality - self.single

    @property
    def rows(self) -> list[int]:
        return [*self.parts, self.whole]


@dataclass(frozen=True, eq=False, slots=True)
class JoinSearch:
    """Searches the pairs of lists of one level for joins.

    Attributes:
        plan: The compiled schema.
        pairs: The pairs of lists.
        margin: Minimum gain of an accepted join.
        words: The words of the documents.
    """

    plan: Plan
    pairs: ListPairs
    margin: float
    words: TextWords

    def search(self) -> list[_Group]:
        """Return the accepted groups, list by list."""
        by_list: defaultdict[int, list[_Group]] = defaultdict(list)
        for group in self._extended(self._groups()):
            if group.gain > self.margin:
                by_list[int(self.pairs.owner[group.whole])].append(group)
        return [group for number in sorted(by_list) for group in self._accepted(number, by_list[number])]

    def _groups(self) -> list[_Group]:
        """Return the wholes with the parts that gain when each of them is joined with the first one."""
        trials = self._trials()
        results = self._evaluate([(whole, merge, [first, part]) for whole, merge, first, part, _ in trials])
        best: dict[int, tuple[float, int]] = {}
        for number, ((*_, part, single), (quality, _)) in enumerate(zip(trials, results, strict=True)):
            gain = quality - single
            if gain > max(ROUNDING, best.get(part, (0.0, 0))[0]):
                best[part] = gain, number
        groups: dict[tuple[int, bool], _Group] = {}
        for part, (_, number) in sorted(best.items(), key=lambda item: (-item[1][0], item[0])):
            whole, merge, first, _, single = trials[number]
            group = groups.setdefault((whole, merge), _Group(whole, merge, [first], single, *results[number]))
            group.parts.append(part)
            group.single = max(group.single, single)
        return list(groups.values())

    def _trials(self) -> list[_Trial]:
        """Return the pairs of parts to join."""
        pairs = self.pairs
        is_part = (pairs.owner >= 0) & ((pairs.partner < 0) | (pairs.quality < WEAK - ROUNDING))
        searched = (np.isin(pairs.owner, np.unique(pairs.owner[is_part])) & (pairs.owner >= 0)).nonzero()[0]
        if len(searched) == 0:
            return []
        values = SharedValues.of(pairs.items, searched, pairs.owner[searched], self.words)
        searches = [values.within(pairs.gold[searched] == side) for side in (True, False)]  # in gold, in the prediction
        parts = is_part.nonzero()[0]
        candidates = [
            search.containing(parts[pairs.gold[parts] != gold], SHARE, NEAREST)
            for search, gold in zip(searches, (True, False), strict=True)
        ]
        part, whole, share = (np.concatenate(arrays) for arrays in zip(*candidates, strict=True))
        merges = pairs.gold[part]
        left, right = np.where(merges, part, whole), np.where(merges, whole, part)
        quality = QualitySolver().evaluate(pairs.items, left, right).quality if len(part) else np.empty(0)
        first: dict[int, tuple[float, int]] = {}
        for row, other, single in zip(whole.tolist(), part.tolist(), quality.tolist(), strict=True):
            partner = int(pairs.partner[row])
            if partner >= 0 and not is_part[partner]:
                first[row] = float(pairs.quality[row]), partner
            elif row not in first or single > first[row][0]:
                first[row] = single, other
        enough = merges | (share >= WHOLE_SHARE)  # a split keeps most values of its parts
        trials = [
            (row, merge, first[row][1], other, max(single, first[row][0]))
            for row, merge, other, single, tried in zip(
                whole.tolist(), merges.tolist(), part.tolist(), quality.tolist(), enough.tolist(), strict=True
            )
            if tried and other != first[row][1]
        ]
        return [trial for merge in (True, False) for trial in self._plausible(trials, searches, merge=merge)]

    def _plausible(self, trials: Sequence[_Trial], searches: Sequence[ValueSearch], *, merge: bool) -> list[_Trial]:
        """Return the merges, or the splits in which the whole also contains most values of the first part.

        A model that merges items may lose values of all but one of them. If the other part loses its partner, the first
        part must not contain values of this partner: otherwise, the model exchanged values between two items.
        """
        chosen = [trial for trial in trials if trial[1] == merge]
        if not chosen:
            return []
        whole, first, part = (np.array([trial[place] for trial in chosen], dtype=np.intp) for place in (0, 2, 3))
        plausible = np.ones(len(chosen), dtype=np.bool_) if merge else searches[0].shares(first, whole) >= WHOLE_SHARE
        partner = self.pairs.partner[part]
        lost = ((partner >= 0) & (partner != whole)).nonzero()[0]
        plausible[lost] &= searches[not merge].shares(partner[lost], first[lost]) < SHARE
        return [trial for trial, passed in zip(chosen, plausible.tolist(), strict=True) if passed]

    def _extended(self, groups: list[_Group]) -> list[_Group]:
        """Return the groups with their other parts, added one after the other if they bring a gain."""
        blocks: list[tuple[_Group, deque[list[int]]]] = []
        for group in groups:
            if len(others := group.parts[PAIR:]) > 0:
                del group.parts[PAIR:]
                several = np.array_split(others, min(len(others), TRIED))
                blocks.append((group, deque(block.tolist() for block in several)))
        while blocks:
            results = self._evaluate([(group.whole, group.merge, group.parts + more[0]) for group, more in blocks])
            for (group, more), (quality, value) in zip(blocks, results, strict=True):
                added = more.popleft()
                if quality > group.quality + ROUNDING:
                    group.parts += added
                    group.quality, group.value = quality, value
            blocks = [(group, more) for group, more in blocks if more]
        return groups

    def _evaluate(self, jobs: Sequence[_Job]) -> list[tuple[float, Json]]:
        """Return the best quality of the joined parts of each job with its whole, and the joined parts."""
        items = self.pairs.items
        sides: tuple[list[Json], list[Json]] = [], []
        tags: tuple[list[int], list[int]] = [], []
        wholes: dict[int, int] = {}
        cells: tuple[list[int], list[int]] = [], []
        job_of: list[int] = []
        for number, (whole, merge, parts) in enumerate(jobs):
            joined, other = (0, 1) if merge else (1, 0)
            if whole not in wholes:
                wholes[whole] = len(sides[other])
                sides[other].append(items.raw[whole])
                tags[other].append(whole)
            rows = sorted(parts)
            values = [items.raw[row] for row in rows]
            for variant in joined_variants(self.plan, items.site, values, rows.index(parts[0])):
                cells[joined].append(len(sides[joined]))
                cells[other].append(wholes[whole])
                sides[joined].append(variant)
                tags[joined].append(parts[0])
                job_of.append(number)
        if not jobs:
            return []
        branch = None if items.tags is None else items.tags[np.array([*tags[0], *tags[1]], dtype=np.intp)]
        left, right = (np.array(side, dtype=np.intp) for side in cells)
        qualities = qualities_at(self.plan, items, *sides, pairs=(left, right), tags=branch).tolist()
        best: list[tuple[float, Json]] = [(-1.0, None)] * len(jobs)
        for number, quality, at in zip(job_of, qualities, range(len(job_of)), strict=True):
            if quality > best[number][0] + ROUNDING:
                joined = 0 if jobs[number][1] else 1
                best[number] = quality, sides[joined][cells[joined][at]]
        return best

    def _accepted(self, number: int, groups: list[_Group]) -> list[_Group]:
        """Return the groups of a pair of lists that increase its f1q, from the greatest gain to the smallest."""
        pairs = self.pairs
        gold, partners = pairs.pairs_of(number)
        mass = dict(zip(gold.tolist(), pairs.quality[gold].tolist(), strict=True))
        partner_of = dict(zip(partners.tolist(), gold.tolist(), strict=True))
        size = sum(len(pairs.rows_of(number, gold=side)) for side in (True, False))
        used: set[int] = set()
        accepted = []
        for group in sorted(groups, key=lambda group: (-group.gain, group.whole)):
            total = math.fsum(mass.values())
            broken = {partner_of.get(row, row) for row in group.rows}
            after = total - math.fsum(mass.get(row, 0.0) for row in broken) + group.quality
            smaller = size - len(group.parts) + 1
            if used.isdisjoint(group.rows) and after / smaller > total / size + ROUNDING:
                used.update(group.rows)
                size = smaller
                for row in broken:
                    mass.pop(row, None)
                mass[group.whole] = group.quality
                accepted.append(group)
        return accepted


if TYPE_CHECKING:
    Tokens = tuple[int | str, ...]

_JOINABLE: Final = frozenset({Kind.STRING, Kind.ARRAY, Kind.OBJECT})
"""Kinds of items that can be joined."""


@dataclass(frozen=True, slots=True)
class JoinedItems:
    """An accepted join of items of one pair of lists.

    Attributes:
        document: Index of the document in the batch.
        node: Node of the gold list; under transport, the first of several.
        gold_list: Tokens of the gold list.
        predicted_list: Tokens of the predicted list.
        gold: Positions of the gold items, increasing.
        predicted: Positions of the predicted items, increasing.
        gain: Quality of the joined item, minus the quality of its best part.
        value: The joined item.
    """

    document: int
    node: int
    gold_list: Tokens
    predicted_list: Tokens
    gold: tuple[int, ...]
    predicted: tuple[int, ...]
    gain: float
    value: Json = field(compare=False)

    @property
    def merge(self) -> bool:
        """Whether several gold items were predicted as one; otherwise, one gold item was predicted as several."""
        return len(self.gold) > 1

    @property
    def replaced(self) -> dict[int, list[Json]]:
        """Replacement of each joined item, by position: the joined item at the first one, nothing at the others."""
        first, *others = self.gold if self.merge else self.predicted
        return {first: [self.value]} | {other: [] for other in others}


@dataclass(frozen=True, eq=False)
class JoinResults:
    """The joins of a batch of documents.

    Attributes:
        joins: The joins of each document, in the order of gold.
        compare_again: Returns the values of `f1q`.
    """

    joins: Sequence[Sequence[JoinedItems]]
    compare_again: Callable[[], Sequence[float | None]]

    @cached_property
    def f1q(self) -> Sequence[float | None]:
        """`f1q` of the entries of each document after its items are joined, computed on request; None if undefined."""
        return self.compare_again()

    @classmethod
    def of(
        cls,
        plan: Plan,
        gold: Sequence[Json],
        predicted: Sequence[Json],
        levels: Sequence[Level],
        margin: float = MARGIN,
    ) -> JoinResults:
        """Search the documents for splits and merges.

        Args:
            plan: The compiled schema.
            gold: The gold documents; ABSENT for a missing document.
            predicted: The predicted documents, as many as `gold`; ABSENT for a missing document.
            levels: The levels of the documents, compared together.
            margin: Minimum gain in quality of an accepted join.
        """
        joins: list[list[JoinedItems]] = [[] for _ in gold]
        for join in find_joins(plan, levels, margin):
            joins[join.document].append(join)
        joins = [sorted(several, key=_order) for several in joins]
        return cls(joins, partial(_f1q_after_joins, plan, gold, predicted, levels, joins))

    def parts_of(self, document: int) -> dict[str, Any]:
        """Return the fields of `Diagnosis` that joins decide, for one document."""
        joins = [
            (join.merge, Join(pointer(join.gold_list), join.gold, join.predicted, join.gain))
            for join in self.joins[document]
        ]
        return {
            "merges": tuple(join for merge, join in joins if merge),
            "splits": tuple(join for merge, join in joins if not merge),
            "f1q_after_joins": self.f1q[document],
        }


def find_joins(plan: Plan, levels: Sequence[Level], margin: float = MARGIN) -> list[JoinedItems]:
    """Return the splits and merges in all lists of a batch of documents.

    Args:
        plan: The compiled schema.
        levels: The levels of the documents, compared together.
        margin: Minimum gain in quality of an accepted join.
    """
    closed = np.zeros(sum(map(len, levels)), dtype=np.bool_)  # nodes in items of accepted joins
    joins, words = [], TextWords()
    for level in levels:
        nodes = level.nodes
        closed[nodes] |= inherited(level, closed)
        pairs = list_pairs(levels, level, ~closed[nodes]) if _may_join(level.source) else None
        if pairs is None:
            continue
        for group in JoinSearch(plan, pairs, margin, words).search():
            nodes_of_group = pairs.node[group.rows]
            closed[nodes_of_group[nodes_of_group >= 0]] = True
            number = pairs.lists[pairs.owner[group.whole]]
            parts = tuple(sorted(map(int, pairs.items.tokens_of(np.array(group.parts, dtype=np.intp)))))
            whole = tuple(map(int, pairs.items.tokens_of(np.array([group.whole], dtype=np.intp))))
            joins.append(
                JoinedItems(
                    document=int(level.document[number]),
                    node=level.first + int((level.left == level.left[number]).argmax()),
                    gold_list=pairs.column.address(int(level.left[number])),
                    predicted_list=pairs.column.address(int(level.right[number])),
                    gold=parts if group.merge else whole,
                    predicted=whole if group.merge else parts,
                    gain=group.gain,
                    value=group.value,
                )
            )
    return joins


def _f1q_after_joins(
    plan: Plan,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    levels: Sequence[Level],
    joins: Sequence[Sequence[JoinedItems]],
) -> list[float | None]:
    """Return `f1q` of the entries of each document, comparing documents with joins again after joining their items.

    The bounds of the first comparison exclude most pairs of entries, which nearly halves the time on 100 nested
    entries.
    """
    scores = _entry_f1q(plan, levels, len(gold))
    changed = [document for document, several in enumerate(joins) if several]
    pairs = [joined_documents(plan, gold[at], predicted[at], joins[at]) for at in changed]
    lists = (level.source for level in at_path(levels, wildcard(plan.entries)))
    known = next((source.known_bounds for source in lists if isinstance(source, ListColumn)), None)
    joined = compare_batch(plan, [pair[0] for pair in pairs], [pair[1] for pair in pairs], known=known)
    again = joined.levels(plan.entries)
    for at, score in zip(changed, _entry_f1q(plan, again, len(changed)), strict=True):
        scores[at] = score
    return scores


def joined_documents(plan: Plan, gold: Json, predicted: Json, joins: Iterable[JoinedItems]) -> tuple[Json, Json]:
    """Return copies of both documents in which the joined items are one item."""
    changes: tuple[defaultdict[Tokens, dict[int, list[Json]]], ...] = defaultdict(dict), defaultdict(dict)
    for join in joins:
        changes[0 if join.merge else 1][join.gold_list if join.merge else join.predicted_list].update(join.replaced)
    sides = zip((gold, predicted), changes, (False, True), strict=True)
    joined = [
        with_lists_changed(
            plan, value, {tokens: _replacing(items) for tokens, items in lists.items()}, predicted=is_predicted
        )
        for value, lists, is_predicted in sides
    ]
    return joined[0], joined[1]


def _replacing(items: Mapping[int, list[Json]]) -> Callable[[list[Json]], list[Json]]:
    """Return a function that replaces the items of a list at some positions by other items."""
    return lambda values: [new for position, value in enumerate(values) for new in items.get(position, [value])]


def _may_join(source: NodeSource) -> bool:
    """Return whether nodes are lists of items that can be joined."""
    if not isinstance(source, ListColumn) or source.items is None or source.is_multiset:
        return False
    items = source.items
    return not isinstance(items, LeafColumn) or not _JOINABLE.isdisjoint(items.kinds.tolist())


def _entry_f1q(plan: Plan, levels: Sequence[Level], documents: int) -> list[float | None]:
    """Return `f1q` of the entries of each document."""
    return [Scores(Tally.of(row)).f1q for row in of_nodes(levels, wildcard(plan.entries), documents)]


def _order(join: JoinedItems) -> tuple[object, ...]:
    tokens = tuple((isinstance(token, str), token) for token in join.gold_list)
    return len(tokens), tokens, join.gold, join.predicted
