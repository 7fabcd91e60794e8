"""Corpus observers that collect data for the report during an evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.comparison.levels import pair_qualities, single_paths
from arbitre.comparison.node_tree import NodeTree
from arbitre.paths import order, pointer, wildcard
from arbitre.published_scores import quadrature
from arbitre.report.documents.document_tree import shown
from arbitre.report.documents.entry_rows import EntryLayout, values_of
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.comparison.levels import Level
    from arbitre.corpus.joining.join import Pair
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

PAIRS_PER_PATH: Final = 3
"""Number of worst pairs kept per path."""


@dataclass(frozen=True, slots=True)
class WorstPairObserver:
    """Observer that records the worst pairs of every path, by cost: mass * (1 - quality).

    A note is JSON: the number of documents (`size`) and the worst pairs by path (`worst`).
    """

    plan: Plan

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        """Return a single note for all pairs."""
        return [{"size": len(pairs), "worst": dict(_blamed(self.plan, pairs, levels))}]


@dataclass(frozen=True, slots=True)
class CurveAreaObserver:
    """Observer that records the area under the quality curve of every document, as the published script computes it."""

    plan: Plan

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        """Return the area for each document."""
        qualities, weights, documents = pair_qualities(levels, wildcard(self.plan.entries))
        areas: list[Json] = np.bincount(documents, weights * quadrature(qualities), minlength=len(pairs)).tolist()
        return areas


def _blamed(plan: Plan, pairs: Sequence[Pair], levels: Sequence[Level]) -> Iterator[tuple[str, list[Json]]]:
    """Yield the worst matched pairs of every path, without equal ones."""
    node_tree = NodeTree.of(levels)
    entries = EntryLayout.of(plan)
    found: dict[str, list[dict[str, Any]]] = {}
    for level in single_paths(levels):
        if level.inner or not (level.leaf or level.item):
            continue
        at = _dearest(level)
        costs = _costs(level, at).tolist()
        gold, predicted = values_of(level, at)
        readings = level.source.readings_of(level.left[at], level.right[at])
        for number, place in enumerate(at.tolist()):
            tokens = node_tree.tokens(level.first + place, gold=True) or ()
            document = int(level.document[place])
            one = {
                "at": document,
                "pointer": pointer(tokens),
                "document": pairs[document].key,
                "entry": entries.index(level.path, tokens),
                "gold": shown(gold[number] if readings[number] is ABSENT else readings[number]),
                "predicted": shown(predicted[number]),
                "quality": float(level.quality[place]),
                "cost": costs[number],
            }
            found.setdefault(level.text, []).append(one)
    for path, held in found.items():
        held.sort(key=rank)
        yield path, held[:PAIRS_PER_PATH]


def rank(one: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the sort key of a recorded pair: worst first, then by document."""
    return -one["cost"], one["at"], order(one["pointer"])


def _costs(level: Level, at: Indices) -> Floats:
    """Return the costs of pairs, as an array of floats."""
    lost: Floats = 1.0 - level.quality[at]
    return lost if level.scale is None else lost * level.scale[at]


def _dearest(level: Level) -> Indices:
    """Return the rows of the worst pairs of a level, by cost, then by document, including ties."""
    at: Indices = np.flatnonzero(level.paired & (level.quality < 1.0))
    if len(at) <= PAIRS_PER_PATH:
        return at
    costs, document = _costs(level, at), level.document[at]
    ranked = np.lexsort((document, -costs))
    third = ranked[PAIRS_PER_PATH - 1]
    taken: Indices = at[(costs > costs[third]) | ((costs == costs[third]) & (document <= document[third]))]
    return taken
