"""Several systems on the same documents: which is better, by how much, and which cannot be told apart."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import scipy

from arbitre.corpus.clusters import labels
from arbitre.corpus.scoring import estimate, measured, side_by_side, value
from arbitre.corpus.statistics import Sample, groups, holm, interval, paired
from arbitre.corpus.statistics.resampling import LEVEL
from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.corpus.clusters import Cluster
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.corpus.statistics import Average, Interval, Method

SCORES: Final = ("f1q", "imq", "irq", "amq")
"""The scores that are shown side by side, each ranked by itself: no hidden composite."""


@dataclass(frozen=True, slots=True)
class System:
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
class Versus:
    """Two systems: the score of `a` less that of `b`, its interval, p, and p adjusted for all pairs (Holm, 1979).

    `smallest_p` is the smallest p that so many documents, or clusters, can give; what is not known is None.
    """

    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    smallest_p: float | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Systems from the best to the worst, every two of them, and the sets in which no two can be told apart.

    Two are told apart where p, adjusted for all pairs, is at most 1 - `level`. `by_path` holds the score of every
    system on every path (micro), `winners` the systems that have the best one. `smallest_p` is the smallest p that so
    many documents, or clusters, can give; `signature` the measurement of the first system.
    """

    score: str
    aggregate: str
    level: float
    systems: tuple[System, ...]
    pairs: tuple[Versus, ...]
    groups: tuple[tuple[str, ...], ...]
    by_path: Mapping[str, Mapping[str, float | None]]
    winners: Mapping[str, tuple[str, ...]]
    smallest_p: float
    documents: int
    clusters: int | None
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
    method: Method = "bca",
    cluster: Cluster = None,
    seed: int = 0,
) -> Ranking:
    """Rank systems that were evaluated on the same documents, by a score of `arbitre.corpus.scoring`.

    Every two are compared on the documents drawn together and by approximate randomisation (see
    `arbitre.corpus.statistics.paired`). `cluster` is that of `Evaluation.interval`; without one, several runs of a
    document are drawn together. The scores `beside` it are ranked too, each by itself.

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
    samples = {name: drawn(evaluation, cluster) for name, evaluation in systems.items()}
    scores = {name: {one: estimate(sample, one, aggregate) for one in names} for name, sample in samples.items()}
    ordered = sorted(systems, key=lambda name: (scores[name][score] is None, -(scores[name][score] or 0.0), name))
    found = {
        name: interval(*measured(samples[name], score), average=aggregate, level=level, method=method, seed=seed)
        for name in ordered
    }
    pairs = versus(
        [(a, b, samples[a], samples[b]) for a, b in combinations(ordered, 2)],
        score,
        average=aggregate,
        level=level,
        method=method,
        seed=seed,
    )
    places = {one: dict(zip(ordered, _places([scores[name][one] for name in ordered]), strict=True)) for one in names}
    by_path = side_by_side({name: systems[name].by_path for name in ordered}, score)
    first = systems[ordered[0]]
    return Ranking(
        score,
        aggregate,
        level,
        tuple(
            System(
                name,
                found[name],
                None if (floor := systems[name].chance_floor) is None else value(floor, score),
                int(systems[name].columns.failed.sum()),
                systems[name].document_quality.mean,
                scores[name],
                {one: places[one][name] for one in names},
                fmean(places[one][name] for one in names),
                _lacking(systems[name]),
            )
            for name in ordered
        ),
        pairs,
        _alike(ordered, pairs, level),
        by_path,
        {path: _best(known) for path, known in by_path.items()},
        max((pair.smallest_p for pair in pairs if pair.smallest_p is not None), default=1.0),
        len(samples[ordered[0]].keys),
        samples[ordered[0]].clusters,
        first.signature.to_dict(),
        tuple(
            dict.fromkeys(
                (
                    *_measures(systems),
                    *(note for name in ordered for note in found[name].notes),
                    *hopeless(pairs, level),
                )
            )
        ),
    )


def versus(
    duels: Sequence[tuple[str, str, Sample | None, Sample | None]],
    score: str,
    *,
    average: Average,
    level: float,
    method: Method,
    seed: int,
) -> tuple[Versus, ...]:
    """Every two systems, p adjusted for all of them; None for the sample of two that share no document."""
    results = [
        None
        if one is None or other is None
        else paired(
            measured(one, score)[0],
            *measured(other, score),
            average=average,
            level=level,
            method=method,
            seed=seed,
        )
        for _, _, one, other in duels
    ]
    adjusted = holm([None if result is None else result.p for result in results])
    return tuple(
        Versus(a, b, None, None, None, None, None, None)
        if result is None
        else Versus(a, b, result.estimate, result.low, result.high, result.p, p, result.smallest_p)
        for (a, b, _, _), result, p in zip(duels, results, adjusted, strict=True)
    )


def hopeless(pairs: Sequence[Versus], level: float) -> tuple[str, ...]:
    """What to say where even the clearest difference could not be told from chance; nothing where it could."""
    known = [pair.smallest_p for pair in pairs if pair.smallest_p is not None]
    smallest = min(1.0, len(known) * min(known, default=0.0))
    if smallest <= threshold(level):
        return ()
    adjusted = f", adjusted for {len(known)} pairs" * (len(known) > 1)
    return (f"No p can be below {smallest:.4g} here{adjusted}: more documents are needed to tell them apart.",)


def threshold(level: float) -> float:
    """The p up to which two systems differ.

    >>> threshold(0.95)
    0.05
    """
    return round(1.0 - level, 12)


def drawn(evaluation: Evaluation, cluster: Cluster) -> Sample:
    """The documents by id, where each has one prediction; else by id and run, those of one id drawn together."""
    columns = evaluation.columns
    clusters = labels(columns.ids, evaluation.clusters if cluster is None else cluster)
    if len(set(columns.ids)) == len(columns.ids):
        return Sample.of(columns.ids, columns.tallies, columns.failed, clusters)
    return Sample.of(columns.keys, columns.tallies, columns.failed, clusters or columns.ids)


def _places(scores: Sequence[float | None]) -> list[float]:
    """1 is the best; equal ones share the mean of their places, those without a score the last."""
    places: list[float] = scipy.stats.rankdata([np.inf if score is None else -score for score in scores]).tolist()
    return places


def _alike(ordered: Sequence[str], pairs: Sequence[Versus], level: float) -> tuple[tuple[str, ...], ...]:
    adjusted = np.full((len(ordered), len(ordered)), np.nan)
    for (a, b), pair in zip(combinations(range(len(ordered)), 2), pairs, strict=True):
        adjusted[a, b] = np.nan if pair.p_holm is None else pair.p_holm
    return tuple(tuple(ordered[at] for at in group) for group in groups(adjusted, level=threshold(level)))


def _best(scores: Mapping[str, float | None]) -> tuple[str, ...]:
    best = max((score for score in scores.values() if score is not None), default=None)
    return tuple(name for name, score in scores.items() if score is not None and score == best)


def _lacking(evaluation: Evaluation) -> dict[str, float]:
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
