"""Measures how much the results of a system vary between runs on the same documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from arbitre.corpus.documents import sum_tallies
from arbitre.errors import DataError
from arbitre.inputs.document_ids import quote_names
from arbitre.statistics.sample import Sample, estimate, value
from arbitre.tally import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.arrays import Indices, Mask
    from arbitre.corpus.documents import DocumentTable
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.options import Average

UNNAMED_RUN: Final = "1"
"""Run of predictions without a run."""

MASS_TOLERANCE: Final = 1e-9
"""Maximum difference of masses that count as equal."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation of a score over several runs.

    The standard deviation has n - 1 in the denominator. Both are None if the score of a run is undefined.
    """

    mean: float | None
    sd: float | None

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread:
        """Compute the spread of at least two values.

        >>> Spread.of([0.5, 0.75, 1.0]), Spread.of([0.5, None])
        (Spread(mean=0.75, sd=0.25), Spread(mean=None, sd=None))
        """
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return cls(None, None)
        return cls(float(np.mean(known)), float(np.std(known, ddof=1)))


@dataclass(frozen=True, slots=True)
class RunStability:
    """How much the results of a system vary between runs, over the documents that all runs include.

    Attributes:
        score: Name of the score.
        aggregate: micro or macro.
        runs: Score of each run.
        overall: Spread of the scores of the runs.
        paths: Spread of the pooled score of every path.
        documents: Number of documents that every run has.
        changed: Number of documents whose results differ between runs: the tally of the entries or of a path differs.
            Different predictions with equal tallies do not count.
        left_out: Number of documents that lack a run.
    """

    score: str
    aggregate: str
    runs: Mapping[str, float | None]
    overall: Spread
    paths: Mapping[str, Spread]
    documents: int
    changed: int
    left_out: int

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Create the stability from the result of `to_dict`. Raises KeyError or TypeError if it is not one."""
        values = {item.name: plain[item.name] for item in fields(cls)}
        values["overall"] = Spread(**plain["overall"])
        values["paths"] = {path: Spread(**spread) for path, spread in plain["paths"].items()}
        return cls(**values)

    @property
    def share_changed(self) -> float:
        """Share of the documents whose results differ between runs, in [0, 1]."""
        return self.changed / self.documents

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        return asdict(self) | {"share_changed": self.share_changed}


def run_stability(evaluation: Evaluation, score: str = "f1q", *, aggregate: Average = "macro") -> RunStability:
    """Measure the variation between runs in an evaluation with several predictions of each document.

    Args:
        evaluation: The evaluation.
        score: Name of the score.
        aggregate: micro or macro.

    Raises:
        DataError: There are fewer than two runs, or no document has all runs.

    >>> import arbitre
    >>> comparator = arbitre.Comparator({"type": "array", "items": {"type": "string"}})
    >>> found = run_stability(comparator.evaluate([
    ...     ("a", ["Ada", "Bo"], ["Ada", "Bo"]), ("a", ["Ada", "Bo"], ["Ada"]),
    ...     ("b", ["Cy"], ["Cy"]), ("b", ["Cy"], ["Cy"]),
    ... ]))
    >>> found.overall.mean, round(found.overall.sd, 4), found.share_changed
    (0.9166666666666666, 0.1179, 0.5)
    """
    columns = evaluation.document_table
    names = list(dict.fromkeys(run or UNNAMED_RUN for run in columns.runs))
    if len(names) < 2:  # noqa: PLR2004
        raise DataError.of(
            f"Expected several runs of the same documents, got {len(names)}",
            hint="Provide several predictions of each document with the same id.",
        )
    ids, rows = _rows(columns, names)
    samples = [Sample.of(ids, columns.entries.floats(rows=at), columns.failed[at]) for at in rows]
    runs = {name: estimate(sample, score, aggregate) for name, sample in zip(names, samples, strict=True)}
    return RunStability(
        score,
        aggregate,
        runs,
        Spread.of(list(runs.values())),
        {
            path: Spread.of([value(Scores(sum_tallies(columns.path_tallies(path)[at])), score) for at in rows])
            for path in columns.paths
        },
        len(ids),
        int(np.count_nonzero(_changed(columns, rows))),
        len(set(columns.ids)) - len(ids),
    )


def _rows(columns: DocumentTable, names: Sequence[str]) -> tuple[list[str], Indices]:
    """Return the ids that have every run, and their row indices, shape (runs, documents)."""
    places = {
        (run or UNNAMED_RUN, identity): at
        for at, (identity, run) in enumerate(zip(columns.ids, columns.runs, strict=True))
    }
    times = Counter(identity for _, identity in places)
    ids = [identity for identity, count in times.items() if count == len(names)]
    if not ids:
        raise DataError.of(
            f"Expected documents that have all of the {len(names)} runs {quote_names(names)}, got none",
            hint="Use the same run names for every document.",
        )
    return ids, np.array([[places[name, identity] for identity in ids] for name in names], dtype=np.intp)


def _changed(columns: DocumentTable, rows: Indices) -> Mask:
    """Return which documents have different results between runs, shape (documents,)."""
    tables = (columns.tallies, *map(columns.path_tallies, columns.paths))
    changed: Mask = np.ptp(columns.failed[rows].astype(np.int8), axis=0) > 0
    for table in tables:
        changed |= (np.ptp(table[rows], axis=0) > MASS_TOLERANCE).any(axis=1)
    return changed
