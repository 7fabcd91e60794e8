"""Several runs of one model on the same documents: how far its results depend on the run."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.corpus.reading.document_ids import quote_names
from arbitre.corpus.results.documents import sum_tallies
from arbitre.corpus.statistics import Sample
from arbitre.corpus.statistics.score_selection import estimate, value
from arbitre.errors import DataError
from arbitre.tally import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.arrays import Indices, Mask
    from arbitre.corpus.results.documents import DocumentTable
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.statistics import Average

UNNAMED_RUN: Final = "1"
"""The run of a prediction that has none of its own."""

MASS_TOLERANCE: Final = 1e-9
"""Masses this near are equal."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A score over the runs: its mean, and its standard deviation from one run to another (n - 1 in the denominator).

    Both are None where a run has no score; 0 is the same score in every run.
    """

    mean: float | None
    sd: float | None

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread:
        """That of at least two values.

        >>> Spread.of([0.5, 0.75, 1.0]), Spread.of([0.5, None])
        (Spread(mean=0.75, sd=0.25), Spread(mean=None, sd=None))
        """
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return cls(None, None)
        return cls(float(np.mean(known)), float(np.std(known, ddof=1)))


@dataclass(frozen=True, slots=True)
class RunStability:
    """What the runs of one model have in common, over the `documents` that every run has.

    `runs` are the scores of each run, `overall` their spread, `paths` that of the score of every path (micro).
    `changed` documents are not judged alike in all runs: the tally of their entries or of a path differs.
    Two answers that are wrong to the same extent are judged alike. `left_out` documents lack a run.
    """

    score: str
    aggregate: str
    runs: Mapping[str, float | None]
    overall: Spread
    paths: Mapping[str, Spread]
    documents: int
    changed: int
    left_out: int

    @property
    def share_changed(self) -> float:
        """The share of the documents that changed, in [0, 1]; 0 is the same in every run."""
        return self.changed / self.documents

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self) | {"share_changed": self.share_changed}


def run_stability(evaluation: Evaluation, score: str = "f1q", *, aggregate: Average = "macro") -> RunStability:
    """How far the results of a model depend on the run, from an evaluation of several predictions of each document.

    Raises DataError where there are fewer than two runs, or no document that all of them have.

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
            hint="Give several predictions of each document, under one id.",
        )
    ids, rows = _rows(columns, names)
    samples = [Sample.of(ids, columns.tallies[at], columns.failed[at]) for at in rows]
    runs = {name: estimate(sample, score, aggregate) for name, sample in zip(names, samples, strict=True)}
    return RunStability(
        score,
        aggregate,
        runs,
        Spread.of(list(runs.values())),
        {
            path: Spread.of([value(Scores(sum_tallies(table[at])), score) for at in rows])
            for path, table in columns.paths.items()
        },
        len(ids),
        int(np.count_nonzero(_changed(columns, rows))),
        len(set(columns.ids)) - len(ids),
    )


def _rows(columns: DocumentTable, names: Sequence[str]) -> tuple[list[str], Indices]:
    """The ids that have every run, and their places (runs, documents)."""
    places = {
        (run or UNNAMED_RUN, one): at for at, (one, run) in enumerate(zip(columns.ids, columns.runs, strict=True))
    }
    times = Counter(one for _, one in places)
    ids = [one for one, count in times.items() if count == len(names)]
    if not ids:
        raise DataError.of(
            f"Expected documents that have all of the {len(names)} runs {quote_names(names)}, got none",
            hint="Give the runs of a model the same names for every document.",
        )
    return ids, np.array([[places[name, one] for one in ids] for name in names], dtype=np.intp)


def _changed(columns: DocumentTable, rows: Indices) -> Mask:
    """Which documents (documents,) are not judged alike in all runs."""
    tables = (columns.tallies, *columns.paths.values())
    changed: Mask = np.ptp(columns.failed[rows].astype(np.int8), axis=0) > 0
    for table in tables:
        changed |= (np.ptp(table[rows], axis=0) > MASS_TOLERANCE).any(axis=1)
    return changed
