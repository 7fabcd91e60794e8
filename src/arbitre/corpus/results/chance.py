"""Chance scores: predictions compared with the gold of other documents, and gold entries compared with each other.

Chance scores are reported next to the scores and never subtracted from them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.comparison.levels import of_nodes
from arbitre.corpus.reading.records import Pair
from arbitre.diagnosis.entry_pool import build_entry_pool
from arbitre.engine import compare_to_levels
from arbitre.errors import DataError
from arbitre.paths import wildcard
from arbitre.tally import Scores, Tally
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.schema.plan import Plan
    from arbitre.values import Json

MAX_DOCUMENTS: Final = 32
"""Maximum number of documents used; larger corpora are sampled."""

MAX_CELLS: Final = 1 << 20
"""Approximate maximum number of entry pairs compared."""

BATCH: Final = 16
"""Number of comparisons made at once."""

MAX_ENTRIES: Final = 200
"""Maximum number of entries of a gold document compared with each other; longer lists are sampled."""


@dataclass(frozen=True, slots=True)
class Chance:
    """Chance scores of a corpus.

    Attributes:
        chance_score: Pooled scores of predictions whose entries are matched with those of another document's gold;
            None if there is only one document.
        comparisons: Number of comparisons of a prediction with another document's gold.
        self_agreement: Mean quality of two different entries of one gold document, over all such pairs, in [0, 1];
            None if no document has two entries.
        seed: Random seed.
        sampled: Whether only a sample of the documents or comparisons was used.
    """

    chance_score: Scores | None
    comparisons: int
    self_agreement: float | None
    seed: int
    sampled: bool


class Reservoir:
    """Uniform random sample of a stream of documents (algorithm R; Vitter, 1985)."""

    def __init__(self, seed: int = 0) -> None:
        self._passed, self._kept = 0, list[Pair]()
        self._generator = np.random.default_rng(seed)

    def add(self, pair: Pair) -> None:
        """Offer a document to the sample."""
        self._passed += 1
        if len(self._kept) < MAX_DOCUMENTS:
            self._kept.append(pair)
        elif (place := int(self._generator.integers(self._passed))) < MAX_DOCUMENTS:
            self._kept[place] = pair

    def __call__(self) -> list[Pair]:
        """Return the sampled documents."""
        return self._kept


def sample_pairs(pairs: Sequence[Pair], seed: int = 0) -> list[Pair]:
    """Draw at most `MAX_DOCUMENTS` documents at random."""
    if len(pairs) <= MAX_DOCUMENTS:
        return list(pairs)
    places = np.random.default_rng(seed).choice(len(pairs), MAX_DOCUMENTS, replace=False)
    return [pairs[place] for place in sorted(places.tolist())]


def estimate_chance(plan: Plan, pairs: Sequence[Pair], documents: int, seed: int = 0) -> Chance:
    """Compute the chance scores of a corpus from a sample of its documents.

    Args:
        plan: The compiled schema.
        pairs: The sampled documents.
        documents: Number of documents in the corpus.
        seed: Random seed.
    """
    ordered = sorted((pair.as_json() for pair in pairs), key=lambda pair: pair.key)
    duels = [
        (pair.predicted, other.gold)
        for pair in ordered
        for other in ordered
        if pair.id != other.id and pair.predicted is not ABSENT
    ]
    order = np.random.default_rng(seed).permutation(len(duels)).tolist()
    tallies: list[Tally] = []
    for begin in range(0, len(order), BATCH):
        tallies += _tallies(plan, [duels[at] for at in order[begin : begin + BATCH]])
        if sum(tally.gold * tally.predicted for tally in tallies) > MAX_CELLS:
            break
    golds = {pair.id: pair.gold for pair in ordered}
    alike, compared = (
        zip(*(_agreement(plan, gold, seed) for gold in golds.values()), strict=True) if golds else ((), ())
    )
    return Chance(
        Scores(Tally.sum(tallies)) if tallies else None,
        len(tallies),
        math.fsum(alike) / sum(compared) if sum(compared) else None,
        seed,
        documents > len(ordered) or len(tallies) < len(duels),
    )


def _agreement(plan: Plan, gold: Json, seed: int) -> tuple[float, int]:
    """Return the sum of the qualities of all ordered pairs of different entries of a document, and their number.

    The sum is estimated from a sample of the entries if there are more than `MAX_ENTRIES`.
    """
    try:
        pool = build_entry_pool(plan, [gold], [], sample=MAX_ENTRIES, seed=seed)
    except DataError:
        return 0.0, 0
    apart = pool.distances[~np.eye(len(pool), dtype=np.bool_)]
    pairs = pool.whole * (pool.whole - 1)
    return (len(apart) - math.fsum(apart.tolist())) * (pairs / max(1, len(apart))), pairs


def _tallies(plan: Plan, duels: Sequence[tuple[Json, Json]]) -> list[Tally]:
    """Return the tallies of the entries of (prediction, gold) pairs, without pairs that cannot be compared."""
    try:
        for predicted, gold in duels:
            plan.check_pair(gold, predicted)
        levels = compare_to_levels(plan, [gold for _, gold in duels], [predicted for predicted, _ in duels])
    except DataError:
        return [tally for duel in duels for tally in _tallies(plan, [duel])] if len(duels) > 1 else []
    return list(map(Tally.of, of_nodes(levels, wildcard(plan.entries), len(duels))))
