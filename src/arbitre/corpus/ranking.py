"""Several systems on the same documents: which is better, by how much, and which cannot be told apart."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.stats import rankdata

from arbitre.corpus.clusters import labels
from arbitre.corpus.statistics import Sample, groups, holm, interval, paired
from arbitre.corpus.statistics.resampling import LEVEL
from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.corpus.clusters import Cluster
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.corpus.statistics import Average, Interval, Method

SCORES: Final = ("f1q", "imq", "irq", "amq")
"""The scores of which the mean rank is taken, each ranked by itself: no hidden composite."""

SIGNIFICANT: Final = 0.05


@dataclass(frozen=True, slots=True)
class System:
    """One system: its score with an interval, its place among the others in each of `SCORES`, and their mean.

    `lacking` are the paths where it loses most: the share of the lost quality of all leaves that is lost there.
    """

    name: str
    score: Interval
    others: Mapping[str, float | None]
    ranks: Mapping[str, float]
    mean_rank: float
    lacking: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Versus:
    """Two systems: the score of `a` less that of `b`, its interval, p, and p adjusted for all pairs (Holm, 1979)."""

    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    smallest_p: float = 1.0


@dataclass(frozen=True, slots=True)
class Ranking:
    """Systems from the best to the worst, every two of them, and the sets in which no two can be told apart.

    `winners` names the systems with the best score on every path; `smallest_p` is the smallest p that so many
    documents, or clusters, can give.
    """

    score: str
    aggregate: str
    systems: tuple[System, ...]
    pairs: tuple[Versus, ...]
    groups: tuple[tuple[str, ...], ...]
    winners: Mapping[str, tuple[str, ...]]
    smallest_p: float
    documents: int
    clusters: int | None
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


def rank(
    systems: Mapping[str, Evaluation],
    score: str = "f1q",
    *,
    aggregate: Average = "macro",
    level: float = LEVEL,
    method: Method = "bca",
    cluster: Cluster = None,
    seed: int = 0,
) -> Ranking:
    """Rank systems that were evaluated on the same documents (see `arbitre.corpus.statistics.paired`).

    `cluster` is that of `Evaluation.interval`. Raises DataError where the systems have other documents, or there are
    none.
    """
    if not systems:
        raise DataError.of("Expected systems to rank, got none", hint="Name at least one evaluation.")
    samples = {name: _sample(evaluation, cluster) for name, evaluation in systems.items()}
    found = {
        name: interval(sample, score, average=aggregate, level=level, method=method, seed=seed)
        for name, sample in samples.items()
    }
    ordered = sorted(systems, key=lambda name: (_missing(found[name].estimate), -(found[name].estimate or 0.0), name))
    means = {name: systems[name].macro if aggregate == "macro" else systems[name].micro for name in ordered}
    ranks = {other: _ranks([getattr(means[name], other) for name in ordered]) for other in SCORES}
    duels = [(a, b, samples[a], samples[b]) for a, b in combinations(ordered, 2)]
    pairs = versus(duels, score, average=aggregate, level=level, method=method, seed=seed)
    matrix = np.full((len(ordered), len(ordered)), np.nan)
    for pair in pairs:
        matrix[ordered.index(pair.a), ordered.index(pair.b)] = np.nan if pair.p_holm is None else pair.p_holm
    first = samples[ordered[0]]
    return Ranking(
        score,
        aggregate,
        tuple(
            System(
                name,
                found[name],
                {other: getattr(means[name], other) for other in SCORES},
                own := {other: ranks[other][at] for other in SCORES},
                fmean(own.values()),
                _lacking(systems[name]),
            )
            for at, name in enumerate(ordered)
        ),
        pairs,
        tuple(tuple(ordered[at] for at in group) for group in groups(matrix, level=SIGNIFICANT)),
        _winners(systems, ordered, score),
        max((pair.smallest_p for pair in pairs), default=1.0),
        len(first.keys),
        first.clusters,
        tuple(dict.fromkeys(note for name in ordered for note in found[name].notes)),
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
        else paired(one, other, score, average=average, level=level, method=method, seed=seed)
        for _, _, one, other in duels
    ]
    adjusted = holm([None if result is None else result.p for result in results])
    return tuple(
        Versus(a, b, None, None, None, None, None)
        if result is None
        else Versus(a, b, result.estimate, result.low, result.high, result.p, p, result.smallest_p)
        for (a, b, _, _), result, p in zip(duels, results, adjusted, strict=True)
    )


def _sample(evaluation: Evaluation, cluster: Cluster) -> Sample:
    """The documents by id, where a system has one prediction of each; else by id and run."""
    columns = evaluation.columns
    names = columns.ids if len(set(columns.ids)) == len(columns.ids) else columns.keys
    return Sample.of(names, columns.tallies, columns.failed, labels(columns.ids, cluster))


def _missing(score: float | None) -> bool:
    return score is None


def _ranks(scores: Sequence[float | None]) -> list[float]:
    """1 is the best; equal ones share the mean of their places, those without a score the last."""
    ranks: list[float] = rankdata([np.inf if score is None else -score for score in scores]).tolist()
    return ranks


def _winners(systems: Mapping[str, Evaluation], ordered: Sequence[str], score: str) -> dict[str, tuple[str, ...]]:
    paths = dict.fromkeys(path for name in ordered for path in systems[name].by_path)
    found = {}
    for path in paths:
        scores = {
            name: getattr(systems[name].by_path[path], score) for name in ordered if path in systems[name].by_path
        }
        known = [value for value in scores.values() if value is not None]
        found[path] = tuple(name for name, value in scores.items() if known and value == max(known))
    return found


def _lacking(evaluation: Evaluation) -> dict[str, float]:
    """The share of the lost quality of leaves that every path loses, the greatest first."""
    lost = {
        path: scores.gold + scores.predicted - scores.matched - scores.quality_mass
        for path, scores in evaluation.by_path.items()
        if not any(other.startswith(f"{path}/") for other in evaluation.by_path)  # items are told by what they hold
    }
    total = sum(lost.values())
    return {
        path: share / total for path, share in sorted(lost.items(), key=lambda one: (-one[1], one[0])) if share > 0.0
    }
