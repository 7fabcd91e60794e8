"""Results of the documents of a corpus, stored as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arbitre.arrays import exact_sum
from arbitre.corpus.reading.records import key
from arbitre.corpus.storage.string_array import LazySequence
from arbitre.tally import PathScores, Scores, ScoresByPath, Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.corpus.storage.compact_table import CompactTable


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """Result of one document: the tally of its entries and the quality of its root (0 if it failed)."""

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
        tallies: Tallies of the entries, shape (documents, 5).
        qualities: Qualities of the roots, shape (documents,), in [0, 1].
        failed: Which documents failed, shape (documents,).
        paths: Tallies and outcomes of every wildcard path, each with `documents` rows and 12 columns.
    """

    ids: LazySequence[str]
    runs: Sequence[str | None]
    tallies: Floats
    qualities: Floats
    failed: Mask
    paths: Mapping[str, CompactTable]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def keys(self) -> Iterator[str]:
        """Names of the documents in results."""
        return map(key, self.ids, self.runs)

    @property
    def tally(self) -> Tally:
        """Sum of the tallies of the entries."""
        return sum_tallies(self.tallies)

    @property
    def worst_first(self) -> Indices:
        """Row indices by increasing quality, with failed documents last; ties stay in order."""
        ranked: Indices = np.lexsort((self.qualities, self.failed))
        return ranked

    def path_tallies(self, path: str) -> Floats:
        """Return the tallies of a path, shape (documents, 5)."""
        return self.paths[path].floats(self.tallies.shape[1])

    def by_path(self, rows: Indices | None = None) -> ScoresByPath:
        """Return the pooled scores and outcomes of every path with leaves and of the items of every list.

        Args:
            rows: Indices of the documents, shape (n,); None for all documents.
        """
        chosen = slice(None) if rows is None else rows
        return ScoresByPath(
            (path, PathScores.of([exact_sum(column[chosen]) for column in table.columns()]))
            for path, table in self.paths.items()
        )

    def at(self, rows: npt.ArrayLike) -> Iterator[DocumentResult]:
        """Yield the results of the documents at these row indices, shape (n,)."""
        numbers = np.asarray(rows, dtype=np.intp)
        numeric = (self.tallies[numbers].tolist(), self.qualities[numbers].tolist(), self.failed[numbers].tolist())
        cells = zip(self.ids.at(numbers), map(self.runs.__getitem__, numbers), *numeric, strict=True)
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


def sum_tallies(rows: Floats) -> Tally:
    """Return the sum of tallies, shape (n, 5). Each component is correctly rounded (see `Tally.sum`)."""
    return Tally(*map(exact_sum, rows.T))
