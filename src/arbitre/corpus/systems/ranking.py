"""Several systems on the same documents: which is better, by how much, and which cannot be told apart."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import scipy

from arbitre.corpus.statistics import Sample, contrasts, groups, interval, threshold
from arbitre.corpus.statistics.bootstrap import LEVEL, METHOD
from arbitre.corpus.statistics.clusters import grouped
from arbitre.corpus.statistics.score_selection import estimate, side_by_side, value, weigh_for_beta
from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.statistics import Average, Difference, Interval, Method
    from arbitre.corpus.statistics.clusters import Cluster

SCORES: Final = ("f1q", "imq", "irq", "amq")
"""The scores that are shown side by side, each ranked by itself: no hidden composite."""


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """One system: its score with an interval, and beside it what chance alone scores (see `Evaluation.chance_floor`).

    `scores` are those side by side, `ranks` its places among the systems in each of them (1 is the best), `mean_rank`
    the mean of these. `lacking` says where it loses: of the quality lost in all leaves, the share lost on a path.
    """

    name: str
    score: Interval
    floor: float | None
    failed: int
    document_quality: float | None
    """The mean quality of whole documents."""
    scores: Mapping[str, float | None]
    ranks: Mapping[str, float]
    mean_rank: float
    lacking: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PairwiseResult:
    """Two systems: the score of `a` less that of `b`, its interval, p, and p adjusted for all pairs (Holm, 1979).

    `level` is the confidence level of the interval at the pair's step of Holm's correction: `significant` says that the
    adjusted p is at most 1 less the level of the ranking, which is where the interval excludes 0. `differing` is the
    number of documents (or clusters) on which the systems differ, `smallest_p` the smallest p that these can give.
    What is not known is None.
    """

    a: str
    b: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    p: float | None = None
    p_holm: float | None = None
    significant: bool = False
    smallest_p: float | None = None
    differing: int | None = None
    clusters: int | None = None
    exact: bool | None = None
    swaps: int | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Systems by descending score, every two of them, and the sets in which no difference is shown.

    A difference is shown where p, adjusted for all pairs, is at most 1 - `level`. `by_path` holds the score of every
    system on every path (micro), `winners` the systems that have the highest one. `smallest_p` is the smallest p that
    any pair can have; `clusters` is None where each document is a unit, `runs` says that the clusters are the runs of
    one document; `signature` is the measurement of the first system.
    """

    score: str
    aggregate: str
    level: float
    systems: tuple[RankedSystem, ...]
    pairs: tuple[PairwiseResult, ...]
    groups: tuple[tuple[str, ...], ...]
    by_path: Mapping[str, Mapping[str, float | None]]
    winners: Mapping[str, tuple[str, ...]]
    smallest_p: float
    documents: int
    clusters: int | None
    runs: bool
    signature: Mapping[str, Any]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


def rank(
    systems: Mapping[str, Evaluation],
    score: str = "f1q",
    *,
    beside: Sequence[str] = SCORES,
    aggregate: Average = "macro",
    level: float = LEVEL,
    method: Method = METHOD,
    cluster: Cluster = None,
    seed: int = 0,
) -> Ranking:
    """Rank systems that were evaluated on the same documents, by a score of `statistics.score_selection`.

    Every two are compared by paired approximate randomisation (see `arbitre.corpus.statistics.contrasts`). `cluster` is
    that of `Evaluation.interval`; by default the runs of one document are one cluster. The scores `beside` it are
    ranked too, each by itself.

    Raises DataError where there is no system, the systems have other documents, or a score is none of these.

    >>> import arbitre
    >>> comparator = arbitre.Comparator({"type": "array", "items": {"type": "string"}})
    >>> gold = [(page, ["Ada", "Bo"]) for page in "abcde"]
    >>> ranking = rank({
    ...     "hasty": comparator.evaluate((page, names, names[:1]) for page, names in gold),
    ...     "careful": comparator.evaluate((page, names, names) for page, names in gold),
    ... })
    >>> [system.name for system in ranking.systems], ranking.pairs[0].p, ranking.groups
    (['careful', 'hasty'], 0.0625, (('careful', 'hasty'),))
    """
    if not systems:
        raise DataError.of("Expected systems to rank, got none", hint="Name at least one evaluation.")
    names = tuple(dict.fromkeys((score, *beside)))
    samples = {name: sample_documents(evaluation, cluster) for name, evaluation in systems.items()}
    scores = {name: {one: estimate(sample, one, aggregate) for one in names} for name, sample in samples.items()}
    ordered = sorted(systems, key=lambda name: (scores[name][score] is None, -(scores[name][score] or 0.0), name))
    found = {
        name: interval(*weigh_for_beta(samples[name], score), average=aggregate, level=level, method=method, seed=seed)
        for name in ordered
    }
    measurable = [weigh_for_beta(samples[name], score) for name in ordered]
    places_of = list(combinations(range(len(ordered)), 2))
    tests = contrasts(
        [[sample for sample, _ in measurable]], [places_of], measurable[0][1], average=aggregate, level=level, seed=seed
    )
    pairs = tuple(_versus(ordered[a], ordered[b], one) for (a, b), one in zip(places_of, tests, strict=True))
    places = {one: dict(zip(ordered, _ranks([scores[name][one] for name in ordered]), strict=True)) for one in names}
    by_path = side_by_side({name: systems[name].by_path for name in ordered}, score)
    first = systems[ordered[0]]
    return Ranking(
        score,
        aggregate,
        level,
        tuple(
            RankedSystem(
                name,
                found[name],
                None if (floor := systems[name].chance_floor) is None else value(floor, score),
                int(systems[name].document_table.failed.sum()),
                systems[name].document_quality.mean,
                scores[name],
                {one: places[one][name] for one in names},
                fmean(places[one][name] for one in names),
                _loss_shares(systems[name]),
            )
            for name in ordered
        ),
        pairs,
        _indistinguishable_groups(ordered, pairs, level),
        by_path,
        {path: _best(known) for path, known in by_path.items()},
        min((pair.smallest_p for pair in pairs if pair.smallest_p is not None), default=1.0),
        len(samples[ordered[0]].keys),
        samples[ordered[0]].clusters,
        samples[ordered[0]].runs,
        first.signature.to_dict(),
        tuple(
            dict.fromkeys(
                (
                    *_measures(systems),
                    *(note for name in ordered for note in found[name].notes),
                    *underpowered_note(pairs, level),
                )
            )
        ),
    )


def pairwise_tests(
    duels: Sequence[tuple[str, str, Sample | None, Sample | None]],
    score: str,
    *,
    average: Average,
    level: float,
    seed: int,
) -> tuple[PairwiseResult, ...]:
    """Every two systems, p adjusted for all of them; None for the samples of two that share no document."""
    known = [
        ([weigh_for_beta(one, score)[0], weigh_for_beta(other, score)[0]], weigh_for_beta(one, score)[1])
        for _, _, one, other in duels
        if one is not None and other is not None
    ]
    if not known:
        return tuple(PairwiseResult(a, b) for a, b, _, _ in duels)
    made = iter(
        contrasts(
            [samples for samples, _ in known],
            [[(0, 1)]] * len(known),
            known[0][1],
            average=average,
            level=level,
            seed=seed,
        )
    )
    return tuple(
        PairwiseResult(a, b) if one is None or other is None else _versus(a, b, next(made))
        for a, b, one, other in duels
    )


def _versus(a: str, b: str, one: Difference) -> PairwiseResult:
    return PairwiseResult(
        a,
        b,
        one.estimate,
        one.low,
        one.high,
        one.level,
        one.p,
        one.p_holm,
        one.significant,
        one.smallest_p,
        one.differing,
        one.clusters,
        one.exact,
        one.swaps,
    )


def underpowered_note(pairs: Sequence[PairwiseResult], level: float) -> tuple[str, ...]:
    """A warning where no pair could have a significant difference, however clear it is."""
    known = [pair.smallest_p for pair in pairs if pair.smallest_p is not None]
    smallest = min(1.0, len(known) * min(known, default=0.0))
    if smallest <= threshold(level):
        return ()
    adjusted = f", adjusted for {len(known)} pairs" * (len(known) > 1)
    return (f"No p can be below {smallest:.4g} here{adjusted}: more documents are needed to show a difference.",)


def sample_documents(evaluation: Evaluation, cluster: Cluster) -> Sample:
    """The documents by id, where each has one prediction; else by id and run, the runs of one id being a cluster."""
    columns = evaluation.document_table
    clusters, runs = grouped(columns.ids, evaluation.clusters if cluster is None else cluster)
    keys = columns.ids if len(set(columns.ids)) == len(columns.ids) else columns.keys
    return Sample.of(keys, columns.tallies, columns.failed, clusters, runs=runs)


def _ranks(scores: Sequence[float | None]) -> list[float]:
    """1 is the highest; equal scores share the mean of their places, those without a score the last."""
    places: list[float] = scipy.stats.rankdata([np.inf if score is None else -score for score in scores]).tolist()
    return places


def _indistinguishable_groups(
    ordered: Sequence[str], pairs: Sequence[PairwiseResult], level: float
) -> tuple[tuple[str, ...], ...]:
    adjusted = np.full((len(ordered), len(ordered)), np.nan)
    for (a, b), pair in zip(combinations(range(len(ordered)), 2), pairs, strict=True):
        adjusted[a, b] = np.nan if pair.p_holm is None else pair.p_holm
    return tuple(tuple(ordered[at] for at in group) for group in groups(adjusted, level=threshold(level)))


def _best(scores: Mapping[str, float | None]) -> tuple[str, ...]:
    best = max((score for score in scores.values() if score is not None), default=None)
    return tuple(name for name, score in scores.items() if score is not None and score == best)


def _loss_shares(evaluation: Evaluation) -> dict[str, float]:
    """The share of the lost quality of leaves that every path loses, the greatest first."""
    lost = {
        path: scores.gold + scores.predicted - scores.matched - scores.quality_mass
        for path, scores in evaluation.by_path.items()
        if not any(other.startswith(f"{path}/") for other in evaluation.by_path)  # items are told by what they hold
    }
    total = math.fsum(lost.values())
    ordered = sorted(lost.items(), key=lambda one: (-one[1], one[0]))
    return {path: share / total for path, share in ordered if share > 0.0}


def _measures(systems: Mapping[str, Evaluation]) -> tuple[str, ...]:
    """What to say where the systems were not measured alike."""
    entries = [dict(one.signature.entries) | {"version": one.signature.version} for one in systems.values()]
    names = dict.fromkeys(name for one in entries for name in one)
    apart = [name for name in names if len({one.get(name) for one in entries}) > 1]
    return (f"The systems were not measured alike: their signatures differ in {', '.join(apart)}.",) if apart else ()
