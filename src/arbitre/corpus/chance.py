"""Chance scores: predictions compared with the gold of other documents, and gold entries compared with each other.

Chance scores are reported next to the scores and never subtracted from them.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.comparison.levels import of_nodes
from arbitre.engine import compare_batch, pair_qualities
from arbitre.errors import DataError, FunctionError, SolverError
from arbitre.inputs.records import Pair
from arbitre.metricity.entry_pool import EntryColumn
from arbitre.paths import wildcard
from arbitre.storage.columns import digest
from arbitre.tally import Scores, Tally
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Indices
    from arbitre.inputs.join import JoinedCorpus
    from arbitre.schema.plan import Plan
    from arbitre.values import Json


MAX_DOCUMENTS: Final = 32
"""Maximum number of documents used; larger corpora are sampled."""

SHARE: Final = 150
"""Divisor of the work: at most a 150th of the pairs of entries of the corpus, and of its documents, is compared here.

A pair of entries of different documents takes 7 times as long to compare as one of a prediction and its own gold, and a
pair of entries of one gold document 9 times (measured on nested documents of 20 entries), so that both values together
take less than 10% of the time of the comparison.
"""

AGREEMENT_SHARE: Final = 4
"""Divisor of these pairs of entries: at most a quarter serves the agreement of gold with itself."""

MIN_COMPARISONS: Final = 32
"""Number of comparisons that is always allowed, and from which their standard error counts as reliable."""

MIN_CELLS: Final = 3 << 10
"""Number of pairs of entries that is always allowed; takes about 0.1 s for nested documents."""

BATCH: Final = 16
"""Number of comparisons per batch."""

STANDARD_ERROR: Final = 0.005
"""Standard error of f1q at which the comparisons stop."""

MAX_ENTRIES: Final = 200
"""Maximum number of entries of a gold document compared with each other; longer lists are sampled."""


@dataclass(frozen=True, slots=True)
class Chance:
    """Chance scores of a corpus.

    Attributes:
        chance_score: Pooled scores of predictions whose entries are matched with those of another document's gold;
            None if there is only one document.
        comparisons: Number of comparisons of a prediction with another document's gold.
        standard_error: Standard error of the f1q of `chance_score` as an estimate for all pairs of different documents
            of the corpus: 0 if all were compared; None if it is unknown.
        self_agreement: Mean quality of two different entries of one gold document, over all such pairs, in [0, 1];
            None if no document has two entries.
        seed: Random seed.
        sampled: Whether only a sample of the documents or comparisons was used.
    """

    chance_score: Scores | None
    comparisons: int
    standard_error: float | None
    self_agreement: float | None
    seed: int
    sampled: bool

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary."""
        return {
            "floor": None if self.chance_score is None else self.chance_score.to_dict(),
            "comparisons": self.comparisons,
            "standard_error": self.standard_error,
            "self_agreement": self.self_agreement,
            "seed": self.seed,
            "sampled": self.sampled,
        }


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


def estimate_chance(plan: Plan, pairs: Sequence[Pair], documents: int, cells: float, seed: int = 0) -> Chance:
    """Compute the chance scores of a corpus from a sample of its documents.

    Comparisons stop when the standard error of f1q is at most `STANDARD_ERROR`, and at the latest after a `SHARE`-th of
    the work of the evaluation, including the agreement of gold with itself. When they stop depends only on the
    documents, not on elapsed time.

    Args:
        plan: The compiled schema.
        pairs: The sampled documents.
        documents: Number of documents in the corpus.
        cells: Number of pairs of a gold entry and a predicted entry, summed over the documents of the corpus.
        seed: Random seed.
    """
    ordered = sorted((pair.as_json() for pair in pairs), key=lambda pair: pair.key)
    most, room = max(MIN_COMPARISONS, documents // SHARE), max(MIN_CELLS, cells / SHARE)
    golds = list({pair.id: pair.gold for pair in ordered}.values())
    agreement, used = _agreement(plan, golds, room / AGREEMENT_SHARE, seed)
    comparisons = chance_comparisons(ordered, seed)
    made, error = _compared(plan, comparisons[:most], room - used)
    sampled = documents > len(ordered) or len(made) < len(comparisons)
    return Chance(
        Scores(Tally.sum(tally for _, tally in made)) if made else None,
        len(made),
        error if sampled else 0.0 if made else None,
        agreement,
        seed,
        sampled,
    )


def sample_by_id(documents: JoinedCorpus, most: int) -> list[Pair]:
    """Return one pair for each of at most `most` ids: those with the smallest digests, in this order.

    The sample depends on the ids only, not on the order of the documents.
    """
    return list(documents.at([runs[0][1] for runs in _runs_by_digest(documents, most).values()]))


def sample_with_runs(documents: JoinedCorpus, most: int, *, least: int, limit: int) -> list[Pair]:
    """Return all runs of the ids with the smallest digests, up to `most` pairs, but at least `least` ids if possible.

    If these ids have more than `limit` pairs, each has the same maximum number of runs, those with the smallest
    digests. `limit` is at least `most` and `least`.
    """
    chosen: dict[str, list[tuple[str, int]]] = {}
    total = 0
    for identity, runs in _runs_by_digest(documents, max(most, least)).items():
        if len(chosen) >= least and total + len(runs) > most:
            break
        chosen[identity] = runs
        total += len(runs)
    if total > limit:
        sizes = [len(runs) for runs in chosen.values()]
        each = max(number for number in range(1, limit + 1) if sum(min(size, number) for size in sizes) <= limit)
        for identity, runs in chosen.items():
            chosen[identity] = sorted(sorted(runs, key=lambda run: digest(f"{identity}\0{run[0]}"))[:each])
    return list(documents.at([place for runs in chosen.values() for _, place in runs]))


def _runs_by_digest(documents: JoinedCorpus, most: int) -> dict[str, list[tuple[str, int]]]:
    """Return all runs, with their positions, of each of the at most `most` ids with the smallest digests.

    The ids are in the order of their digests, the runs in that of their names.
    """
    kept: dict[str, list[tuple[str, int]]] = {}
    largest: list[tuple[int, str]] = []
    for place, (identity, run) in enumerate(documents.labels):
        if identity not in kept:
            entry = -digest(identity), identity
            if len(kept) < most:
                heapq.heappush(largest, entry)
            elif entry > largest[0]:
                del kept[heapq.heapreplace(largest, entry)[1]]
            else:
                continue
            kept[identity] = []
        kept[identity].append((run or "", place))
    return {identity: sorted(kept[identity]) for _, identity in sorted(largest, reverse=True)}


class ChanceComparison(NamedTuple):
    """A prediction and the gold of another document, with the ids of both documents."""

    ids: tuple[str, str]
    predicted: Json
    gold: Json


def chance_comparisons(pairs: Sequence[Pair], seed: int) -> list[ChanceComparison]:
    """Return all pairs of a prediction and another document's gold, in random order.

    All documents take part once before any of them takes part again, so that few comparisons cover many documents.
    """
    shuffled = [pairs[at] for at in np.random.default_rng(seed).permutation(len(pairs)).tolist()]
    return [
        ChanceComparison((pair.id, other.id), pair.predicted, other.gold)
        for shift in range(1, len(shuffled))
        for pair, other in zip(shuffled, shuffled[shift:] + shuffled[:shift], strict=True)
        if pair.id != other.id and pair.predicted is not ABSENT
    ]


def _standard_error(made: Sequence[tuple[ChanceComparison, Tally]]) -> float | None:
    """Return the standard error of the pooled f1q, or None if it is unknown.

    Comparisons that share a document are dependent: dyadic cluster-robust variance of a ratio (Aronow, Samii and
    Assenova, 2015, https://doi.org/10.1093/pan/mpv018), at least that of independent comparisons.
    """
    size = math.fsum(tally.gold + tally.predicted for _, tally in made)
    if len(made) < 2 or size == 0.0:  # noqa: PLR2004
        return None
    f1q = 2.0 * math.fsum(tally.quality for _, tally in made) / size
    dyads, documents = defaultdict[frozenset[str], float](float), defaultdict[str, float](float)
    for one, tally in made:
        residual = 2.0 * tally.quality - f1q * (tally.gold + tally.predicted)
        dyads[frozenset(one.ids)] += residual
        for identity in one.ids:
            documents[identity] += residual
    alone = math.fsum(residual * residual for residual in dyads.values())
    together = math.fsum(residual * residual for residual in documents.values()) - alone
    return math.sqrt(max(alone, together) * len(documents) / (len(documents) - 1)) / size


def _compared(
    plan: Plan, comparisons: Sequence[ChanceComparison], room: float
) -> tuple[list[tuple[ChanceComparison, Tally]], float | None]:
    """Compare at least once, until the standard error is small enough or the allowed pairs of entries are used up.

    Args:
        plan: The compiled schema.
        comparisons: The comparisons allowed.
        room: Number of pairs of entries allowed.

    Returns:
        The tallies of the comparisons, and the standard error of their f1q.
    """
    made: list[tuple[ChanceComparison, Tally]] = []
    done, size, error = 0, 1, None  # the first comparison shows how many more are allowed
    while batch := comparisons[done : done + size]:
        made += _tallies(plan, batch)
        done += len(batch)
        used = math.fsum(tally.gold * tally.predicted for _, tally in made)
        error = _standard_error(made)
        if done >= MIN_COMPARISONS and error is not None and error <= STANDARD_ERROR:
            break
        size = max(0, min(BATCH, int((room - used) / used * done))) if used else BATCH
    return made, error


def _agreement(plan: Plan, golds: Sequence[Json], room: float, seed: int) -> tuple[float | None, int]:
    """Return the mean quality of all ordered pairs of different entries of a document, and the number used.

    A symmetric distance is computed once for two entries, which halves the time; both orders count as used.

    Entries are sampled if a document has more than `MAX_ENTRIES`, or if not all pairs are allowed. Each document counts
    with all of its pairs nevertheless.
    """
    columns = _entries(plan, [gold for gold in golds if plan.entries or isinstance(gold, list)])
    lists = [[rows for rows in _by_document(entries) if len(rows) > 1] for entries in columns]
    whole = sum(len(rows) * (len(rows) - 1) for each in lists for rows in each)
    if not whole:
        return None, 0
    most = max(2, min(MAX_ENTRIES, math.isqrt(int(room / sum(map(len, lists))))))
    generator, sums, compared = np.random.default_rng(seed), list[float](), 0
    symmetric = plan.certificate.symmetric
    for entries, each in zip(columns, lists, strict=True):
        chosen = [generator.choice(rows, most, replace=False) if len(rows) > most else rows for rows in each]
        if chosen:
            grids = [_pairs(rows, symmetric=symmetric) for rows in chosen]
            qualities = pair_qualities(entries.column, *np.concatenate(grids, axis=1))
            ends = np.cumsum([grid.shape[1] for grid in grids])
            compared += sum(len(rows) * (len(rows) - 1) for rows in chosen)
            for rows, values in zip(each, np.split(qualities, ends[:-1]), strict=True):
                sums.append(math.fsum(values.tolist()) * (len(rows) * (len(rows) - 1) / len(values)))
    return math.fsum(sums) / whole, compared


def _entries(plan: Plan, golds: Sequence[Json]) -> list[EntryColumn]:
    """Return the entries of the documents in one column, or one by one if that is impossible."""
    try:
        return [EntryColumn.of(plan, golds, [])] if golds else []
    except DataError:
        return [entries for gold in golds for entries in _entries(plan, [gold])] if len(golds) > 1 else []


def _by_document(entries: EntryColumn) -> list[Indices]:
    """Return the rows of the entries of each document."""
    documents = entries.column.root_rows(entries.rows)
    return [entries.rows[documents == document] for document in np.unique(documents)]


def _pairs(rows: Indices, *, symmetric: bool) -> Indices:
    """Return all ordered pairs of different rows; shape (2, pairs). If `symmetric`, one order of each."""
    first, second = np.triu_indices(len(rows), 1)
    pairs = np.stack([rows[first], rows[second]])
    return pairs if symmetric else np.concatenate([pairs, pairs[::-1]], axis=1)


def _tallies(plan: Plan, batch: Sequence[ChanceComparison]) -> list[tuple[ChanceComparison, Tally]]:
    """Return the tallies of the entries, without comparisons that cannot be made. Only the entries are recorded."""
    try:
        for one in batch:
            plan.check_pair(one.gold, one.predicted)
        compared = compare_batch(plan, [one.gold for one in batch], [one.predicted for one in batch])
    except (DataError, SolverError) as error:
        if isinstance(error, FunctionError) or (isinstance(error, SolverError) and error.pointer is None):
            raise
        return [made for one in batch for made in _tallies(plan, [one])] if len(batch) > 1 else []
    rows = of_nodes(compared.levels(plan.entries), wildcard(plan.entries), len(batch))
    return list(zip(batch, map(Tally.of, rows), strict=True))
