"""What chance alone would score: predictions held against other documents' gold, and gold entries against each other.

Never subtracted from a score: printed beside it, so that it is seen where the scale begins.
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
"""So many documents are looked at, drawn where there are more."""

MAX_CELLS: Final = 1 << 20
"""So many pairs of entries are compared, about."""

BATCH: Final = 16
"""So many comparisons are made at once."""

MAX_ENTRIES: Final = 200
"""So many entries of a gold document are held against each other, drawn where there are more."""


@dataclass(frozen=True, slots=True)
class Chance:
    """What chance alone scores on a corpus.

    `chance_score` are the scores of the entries of predictions, each matched optimally with those of another document's
    gold (None where there is no other); `comparisons` so many were made, drawn with `seed` where `sampled`.
    `self_agreement` is the mean quality of two different entries of one gold document, over all such pairs of the
    documents; in [0, 1], None if no document has two entries.
    """

    chance_score: Scores | None
    comparisons: int
    self_agreement: float | None
    seed: int
    sampled: bool


class Reservoir:
    """Documents drawn as they go by, each as likely as any other (algorithm R; Vitter, 1985)."""

    def __init__(self, seed: int = 0) -> None:
        self._passed, self._kept = 0, list[Pair]()
        self._generator = np.random.default_rng(seed)

    def add(self, pair: Pair) -> None:
        """Let a document go by."""
        self._passed += 1
        if len(self._kept) < MAX_DOCUMENTS:
            self._kept.append(pair)
        elif (place := int(self._generator.integers(self._passed))) < MAX_DOCUMENTS:
            self._kept[place] = pair

    def __call__(self) -> list[Pair]:
        """Those that were drawn."""
        return self._kept


def sample_pairs(pairs: Sequence[Pair], seed: int = 0) -> list[Pair]:
    """Documents drawn from those that can be read again."""
    if len(pairs) <= MAX_DOCUMENTS:
        return list(pairs)
    places = np.random.default_rng(seed).choice(len(pairs), MAX_DOCUMENTS, replace=False)
    return [pairs[place] for place in sorted(places.tolist())]


def estimate_chance(plan: Plan, pairs: Sequence[Pair], documents: int, seed: int = 0) -> Chance:
    """What chance alone scores on these documents, drawn from so many."""
    ordered = sorted(pairs, key=lambda pair: pair.key)
    duels = [
        (one.predicted, other.gold)
        for one in ordered
        for other in ordered
        if one.id != other.id and one.predicted is not ABSENT
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
    """Return the sum of the qualities of all ordered pairs of different entries of a document, and their number."""
    try:
        distances = build_entry_pool(plan, [gold], [], sample=MAX_ENTRIES, seed=seed).distances
    except DataError:
        return 0.0, 0
    apart = distances[~np.eye(len(distances), dtype=np.bool_)]
    return len(apart) - math.fsum(apart.tolist()), len(apart)


def _tallies(plan: Plan, duels: Sequence[tuple[Json, Json]]) -> list[Tally]:
    """The tallies of the entries of predictions and gold documents; of none that is no JSON."""
    try:
        levels = compare_to_levels(plan, [gold for _, gold in duels], [predicted for predicted, _ in duels])
    except DataError:
        return [tally for duel in duels for tally in _tallies(plan, [duel])] if len(duels) > 1 else []
    return of_nodes(levels, wildcard(plan.entries), len(duels)).tallies()
