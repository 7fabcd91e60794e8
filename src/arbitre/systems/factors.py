"""Compares the levels of a factor, such as the OCR or the prompt, on the same documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.errors import DataError, did_you_mean
from arbitre.statistics.intervals import interval
from arbitre.statistics.sample import Sample, assign_clusters, side_by_side, weigh_for_beta
from arbitre.systems.ranking import PairwiseResult, StatisticsOptions, compared_size, pairwise_tests, underpowered_note

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from arbitre.arrays import Indices
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.statistics.intervals import Interval
    from arbitre.statistics.sample import Cluster


_DEFAULTS: Final = StatisticsOptions()


@dataclass(frozen=True, slots=True)
class Factor:
    """The comparison of the levels of one factor.

    Two predictions are of the same document if their id and the levels of all other factors are equal.

    Attributes:
        name: Name of the factor.
        score: Name of the score.
        aggregate: micro or macro.
        levels: Score of each factor level, with its interval.
        documents: Number of documents of each level.
        pairs: Paired tests of every two levels, on the documents that both have.
        shared: Number of documents that the two levels of each pair share and whose score is defined for one or
            both of them.
        balanced: Whether all levels have the same documents. If not, the difference of two means is not the mean of
            the paired differences; only the latter is tested.
        notes: Warnings.
        by_path: Pooled score of every level at every path.
    """

    name: str
    score: str
    aggregate: str
    levels: Mapping[str, Interval]
    documents: Mapping[str, int]
    pairs: tuple[PairwiseResult, ...]
    shared: tuple[int, ...]
    balanced: bool
    notes: tuple[str, ...]
    by_path: Mapping[str, Mapping[str, float | None]]

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        return asdict(self)


def factor(
    evaluation: Evaluation,
    name: str,
    values: Mapping[str, Sequence[str]],
    score: str = "f1q",
    options: StatisticsOptions = _DEFAULTS,
) -> Factor:
    """Compare the levels of a factor.

    p is adjusted for all pairs of levels of this factor. Documents with equal id and equal levels of all factors are
    paired in their order.

    Args:
        evaluation: The evaluation.
        name: Name of the factor.
        values: For every factor, its level for every document, in order.
        score: Name of the score.
        options: Statistical options.

    Raises:
        DataError: The factor is unknown, there are no documents, or a document has no level.
    """
    columns = evaluation.document_table
    aggregate, level, seed = options.aggregate, options.level, options.seed
    check_factor(name, values)
    if not len(columns):
        raise DataError.of("Expected documents to compare, got none", hint="Evaluate documents that have the factor.")
    for other, given in values.items():
        if len(given) != len(columns):
            raise DataError.of(
                f"Expected a level of {other!r} for each of {len(columns)} documents, got {len(given)}",
                hint="Leave out the levels of documents that were not evaluated.",
            )
    keys = list(_keys(columns.ids, values[name], [values[other] for other in sorted(values) if other != name]))
    by: Cluster = evaluation.clusters if options.cluster is None else options.cluster
    clusters, _ = assign_clusters(columns.ids, list(columns.ids) if by is None else by)
    row_labels = np.array(values[name])
    places = {label: np.flatnonzero(row_labels == label) for label in sorted(set(values[name]))}

    def sample(at: Indices) -> Sample:
        chosen = at.tolist()
        return Sample.of(
            [keys[row] for row in chosen],
            columns.entries.floats(rows=at),
            columns.failed[at],
            clusters and [clusters[row] for row in chosen],
            runs=by is None,
        )

    pairs: list[tuple[str, str, Sample | None, Sample | None]] = []
    shared: list[int] = []
    for a, b in combinations(places, 2):
        sides = [{keys[at]: at for at in places[label].tolist()} for label in (a, b)]
        common = sorted(sides[0].keys() & sides[1].keys())
        ours, theirs = (sample(np.array([side[key] for key in common], dtype=np.intp)) for side in sides)
        shared.append(compared_size([ours, theirs], score, aggregate).documents)
        pairs.append((a, b, ours, theirs) if common else (a, b, None, None))
    estimates = {
        label: interval(
            *weigh_for_beta(sample(at), score), average=aggregate, level=level, method=options.method, seed=seed
        )
        for label, at in places.items()
    }
    against = pairwise_tests(pairs, score, average=aggregate, level=level, seed=seed)
    return Factor(
        name,
        score,
        aggregate,
        estimates,
        {label: len(at) for label, at in places.items()},
        against,
        tuple(shared),
        len({frozenset(keys[at] for at in rows.tolist()) for rows in places.values()}) <= 1,
        tuple(
            dict.fromkeys(
                (
                    *(note for estimate in estimates.values() for note in estimate.notes),
                    *underpowered_note(against, level),
                )
            )
        ),
        side_by_side({label: columns.by_path(at) for label, at in places.items()}, score),
    )


def _keys(ids: Sequence[str], own: Sequence[str], others: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a key per document: its id, the levels of the other factors, and its number among equal documents."""
    seen: Counter[tuple[str, ...]] = Counter()
    for identity, level, *rest in zip(ids, own, *others, strict=True):
        cell = (identity, level, *rest)
        yield "\t".join((identity, *rest, str(seen[cell])))
        seen[cell] += 1


def check_factor(name: str, known: Collection[str]) -> None:
    """Raise DataError if a factor is unknown."""
    if name not in known:
        hint = did_you_mean(name, known, "The columns of a manifest are factors.")
        raise DataError.of(f"Expected a factor, got {name!r}", hint=hint)
