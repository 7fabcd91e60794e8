"""What made the difference: the levels of a factor (the OCR, the prompt) compared on the same documents."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from arbitre.corpus.clusters import labels
from arbitre.corpus.ranking import Versus, versus
from arbitre.corpus.statistics import Sample, interval
from arbitre.corpus.statistics.resampling import LEVEL
from arbitre.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.comparison.levels import Indices
    from arbitre.corpus.clusters import Cluster
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.corpus.statistics import Average, Interval, Method


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor: the score at each of its levels, and every two levels on the documents that both have.

    A document is one id with the same levels of all other factors; `shared` says how many of them each two levels
    share. `balanced` says that every level has every such document: else a difference of two means is not the mean of
    the differences.
    """

    name: str
    levels: Mapping[str, Interval]
    documents: Mapping[str, int]
    pairs: tuple[Versus, ...]
    shared: tuple[int, ...]
    balanced: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


def factor(
    evaluation: Evaluation,
    name: str,
    values: Mapping[str, Sequence[str]],
    score: str = "f1q",
    *,
    aggregate: Average = "macro",
    level: float = LEVEL,
    method: Method = "bca",
    cluster: Cluster = None,
    seed: int = 0,
) -> Factor:
    """The levels of the factor `name`; `values` gives the level of every factor for every document, in order.

    `cluster` is that of `Evaluation.interval`; without one, documents of one id are drawn together. Raises DataError
    where there is no such factor, or where two documents are the same in all factors.
    """
    if name not in values:
        raise DataError.of(f"Expected a factor, got {name!r}", hint=did_you_mean(name, values) or _known(values))
    columns = evaluation.columns
    others = [values[other] for other in sorted(values) if other != name]
    keys = ["\t".join((identity, *rest)) for identity, *rest in zip(columns.ids, *others, strict=True)]
    clusters = labels(columns.ids, cluster) or list(columns.ids)
    own = np.array(values[name])
    places = {one: np.flatnonzero(own == one) for one in sorted(set(values[name]))}

    def sample(at: Indices) -> Sample:
        chosen = at.tolist()
        return Sample.of(
            [keys[one] for one in chosen],
            columns.tallies[at],
            columns.failed[at],
            [clusters[one] for one in chosen],
        )

    pairs: list[tuple[str, str, Sample | None, Sample | None]] = []
    shared: list[int] = []
    for a, b in combinations(places, 2):
        sides = {one: {keys[at]: at for at in places[one].tolist()} for one in (a, b)}
        common = sorted(sides[a].keys() & sides[b].keys())
        shared.append(len(common))
        ours, theirs = (np.array([sides[one][key] for key in common], dtype=np.intp) for one in (a, b))
        pairs.append((a, b, sample(ours), sample(theirs)) if common else (a, b, None, None))
    return Factor(
        name,
        {
            one: interval(sample(at), score, average=aggregate, level=level, method=method, seed=seed)
            for one, at in places.items()
        },
        {one: len(at) for one, at in places.items()},
        versus(pairs, score, average=aggregate, level=level, method=method, seed=seed),
        tuple(shared),
        len({frozenset(keys[at] for at in one.tolist()) for one in places.values()}) <= 1,
    )


def _known(values: Mapping[str, Sequence[str]]) -> str:
    return f"The factors are {', '.join(values)}." if values else "The columns of a manifest are factors."
