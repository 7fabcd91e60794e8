"""Results of the documents of a corpus, stored as columns; their quality, and the tables of documents and of paths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.arrays import exact_sum
from arbitre.comparison.levels import scores_by_path
from arbitre.errors import OptionError
from arbitre.inputs.records import key
from arbitre.statistics.sample import scored
from arbitre.storage.columns import LazySequence
from arbitre.tally import ABSENCES, COUNTS, NAMES, OUTCOMES, RATES, PathScores, Scores, ScoresByPath, Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.signature import Signature
    from arbitre.storage.columns import CompactTable, RepeatedTexts
    from arbitre.tables.arrow import Frame


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """The result for one document.

    Attributes:
        id: Id of the document.
        run: Run of the prediction; None if there is only one.
        key: Name of the document: its id, followed by the run if there is one.
        tally: Tally of the entries.
        quality: Quality of the root, in [0, 1]; 0 if the document failed.
        failed: Whether the prediction could not be used.
    """

    id: str
    run: str | None
    key: str
    tally: Tally
    quality: float
    failed: bool

    @property
    def scores(self) -> Scores:
        """Scores of the entries."""
        return Scores(self.tally)


@dataclass(frozen=True, eq=False, slots=True)
class DocumentTable(LazySequence[DocumentResult]):
    """Results of all documents of a corpus as columns, in input order. Items are created on access.

    A tally has the columns gold, predicted, matched, quality and quality_sq.

    Attributes:
        ids: Ids of the documents.
        runs: Runs of the documents.
        entries: Tallies of the entries, with `documents` rows and 5 columns.
        qualities: Qualities of the roots, shape (documents,), in [0, 1].
        failed: Which documents failed, shape (documents,).
        paths: Tallies and outcomes of every wildcard path, each with `documents` rows and 12 columns.
        fields: How often objects and their fields are present, see `arbitre.comparison.levels.field_counts`.
    """

    ids: LazySequence[str]
    runs: RepeatedTexts
    entries: CompactTable
    qualities: Floats
    failed: Mask
    paths: Mapping[str, CompactTable]
    fields: Mapping[str, CompactTable]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def keys(self) -> Iterator[str]:
        """Names of the documents in results."""
        return map(key, self.ids, self.runs)

    @property
    def tallies(self) -> Floats:
        """Tallies of the entries, shape (documents, 5). Created on each access; 40 bytes per document."""
        return self.entries.floats()

    def tally_parts(self) -> Iterator[Floats]:
        """Yield the tallies of the entries in parts of shape (n, 5), which avoids storing 40 bytes per document."""
        for begin in range(0, len(self), FRAME_ROWS):
            yield self.entries.floats(rows=slice(begin, begin + FRAME_ROWS))

    @property
    def tally(self) -> Tally:
        """Sum of the tallies of the entries."""
        return Tally(*map(exact_sum, self.entries.columns()))

    @property
    def worst_first(self) -> Indices:
        """Row indices by increasing quality, with failed documents last; ties stay in order."""
        ranked: Indices = np.lexsort((self.qualities, self.failed))
        return ranked

    def path_tallies(self, path: str) -> Floats:
        """Return the tallies of a path, shape (documents, 5)."""
        return self.paths[path].floats(len(self.entries.columns()))

    def by_path(self, rows: Indices | None = None) -> ScoresByPath:
        """Return the pooled scores and outcomes of every path with leaves and of the items of every list.

        Args:
            rows: Indices of the documents, shape (n,); None for all documents.
        """
        chosen = slice(None) if rows is None else rows
        sums, fields = (
            {path: [exact_sum(column[chosen]) for column in table.columns()] for path, table in tables.items()}
            for tables in (self.paths, self.fields)
        )
        return scores_by_path(sums, fields)

    def at(self, rows: npt.ArrayLike) -> Iterator[DocumentResult]:
        """Yield the results of the documents at these row indices, shape (n,)."""
        numbers = np.asarray(rows, dtype=np.intp)
        tallies = self.entries.floats(rows=numbers).tolist()
        numeric = (tallies, self.qualities[numbers].tolist(), self.failed[numbers].tolist())
        cells = zip(self.ids.at(numbers), self.runs.at(numbers), *numeric, strict=True)
        for identity, run, tally, quality, failed in cells:
            yield DocumentResult(identity, run, key(identity, run), Tally(*tally), quality, failed)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Wildcard paths of a schema that occur in gold documents (`exercised`) and those that do not (`never`)."""

    exercised: tuple[str, ...]
    never: tuple[str, ...]

    @property
    def share(self) -> float:
        """Share of the paths that occur in gold, in [0, 1]; 1 if the schema declares no paths."""
        total = len(self.exercised) + len(self.never)
        return len(self.exercised) / total if total else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        return {"share": self.share, "never": list(self.never)}


def sum_tallies(rows: Floats) -> Tally:
    """Return the sum of tallies, shape (n, 5). Each component is correctly rounded (see `Tally.sum`)."""
    return Tally(*map(exact_sum, rows.T))


LEAST: Final = (0.5, 0.7, 0.9, 1.0)
"""Qualities for which results state the share of documents that reach them."""


@dataclass(frozen=True, eq=False, slots=True)
class DocumentQuality:
    """The qualities of whole documents, with summary statistics.

    Every field counts by its weight, inside and outside the entries. A failed document counts as 0. A document that is
    empty on both sides counts as 1, whereas macro scores exclude it.

    Attributes:
        qualities: Shape (documents,), in [0, 1].

    >>> found = DocumentQuality(np.array([1.0, 0.5, 0.0]))
    >>> found.mean, found.median, found.at_least(0.5)
    (0.5, 0.5, 0.6666666666666666)
    """

    qualities: Floats

    @property
    def documents(self) -> int:
        """Number of documents."""
        return len(self.qualities)

    @property
    def mean(self) -> float | None:
        """Mean quality; None without documents."""
        return exact_sum(np.ascontiguousarray(self.qualities)) / self.documents if self.documents else None

    @property
    def median(self) -> float | None:
        """Median quality; None without documents."""
        return float(np.median(self.qualities)) if self.documents else None

    def at_least(self, quality: float) -> float | None:
        """Return the share of documents with at least this quality, in [0, 1]; None without documents.

        Raises:
            OptionError: `quality` is NaN.
        """
        if math.isnan(quality):
            raise OptionError.of("Expected `quality` to be a number, got nan")
        return int(np.count_nonzero(self.qualities >= quality)) / self.documents if self.documents else None

    @property
    def exact_match_rate(self) -> float | None:
        """Share of documents with quality 1; None without documents."""
        return self.at_least(1.0)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary: mean, median, exact-match rate, and shares of documents by quality."""
        shares = [{"quality": least, "share": self.at_least(least)} for least in LEAST]
        return {
            "documents": self.documents,
            "mean": self.mean,
            "median": self.median,
            "exact_match_rate": self.exact_match_rate,
            "at_least": shares,
        }


# Results as columns of equal length, for CSV, Parquet and data frames.

SIGNATURE: Final = "signature"
"""Column of the signature, which is the same in every row."""

FRAME_ROWS: Final = 4096
"""Number of documents in a part of their frame."""


def document_frame(columns: DocumentTable, signature: Signature, rows: slice = slice(None)) -> Frame:
    """Return the documents of a corpus as columns, with one row per document.

    The columns are `id`, `run`, `failed`, `document_quality`, the masses and scores of the entries (`COUNTS` and
    `NAMES` of `arbitre.tally`), and `signature`. `rows` selects the documents.
    """
    tallies, failed = columns.entries.floats(rows=rows), columns.failed[rows]
    return {
        "id": columns.ids if rows == slice(None) else columns.ids[rows],
        "run": columns.runs[rows],
        "failed": failed,
        "document_quality": columns.qualities[rows],
        **dict(zip(COUNTS, tallies.T, strict=False)),  # without the sum of squares
        **dict(zip(NAMES, scored(tallies).T, strict=True)),
        SIGNATURE: [signature.short] * len(failed),
    }


def document_frames(columns: DocumentTable, signature: Signature) -> Iterator[Frame]:
    """Yield the frame of documents in parts, at least one. A single frame would take 88 bytes per document."""
    for begin in range(0, max(1, len(columns)), FRAME_ROWS):
        yield document_frame(columns, signature, slice(begin, begin + FRAME_ROWS))


def path_frame(by_path: Mapping[str, PathScores], signature: Signature) -> Frame:
    """Return the wildcard paths of a corpus as columns, with one row per path.

    The columns are `path`, the masses, scores and outcomes over all documents, the exact-match rate, and `signature`.
    """
    rows = [scores.to_dict() for scores in by_path.values()]
    names = (*COUNTS, *NAMES, *OUTCOMES, *ABSENCES, *RATES)
    figures = {name: np.array([row[name] for row in rows], dtype=np.float64) for name in names}
    return {"path": list(by_path), **figures, SIGNATURE: [signature.short] * len(rows)}
