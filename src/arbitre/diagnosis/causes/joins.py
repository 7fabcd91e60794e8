"""The splits and merges of a batch of documents, and the score of the entries if they are joined."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.comparison.diagnosis import Join
from arbitre.comparison.levels import at_path, of_nodes
from arbitre.diagnosis.causes.join_search import MARGIN, JoinSearch
from arbitre.diagnosis.causes.join_values import with_lists_changed
from arbitre.diagnosis.causes.list_pairs import inherited, list_pairs
from arbitre.diagnosis.causes.shared_values import TextWords
from arbitre.engine import compare_batch
from arbitre.engine.columns.column import LeafColumn, ListColumn
from arbitre.paths import pointer, wildcard
from arbitre.tally import Scores, Tally
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arbitre.comparison.levels import Level, NodeSource
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

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
        """What replaces each joined item, by position: the joined item at the first, nothing at the others."""
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
        nodes = slice(level.first, level.first + len(level))
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
