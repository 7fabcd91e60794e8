"""The documents of an evaluated corpus as columns: tallies, qualities, failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arbitre.corpus.reading.records import key
from arbitre.corpus.storage.exact_sum import exact_sum
from arbitre.corpus.storage.string_array import LazySequence
from arbitre.tally import Scores, Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from arbitre.arrays import Floats, Indices, Mask


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """What came of one document: the tally of its entries, the quality of its root (0 where it failed)."""

    id: str
    run: str | None
    key: str
    tally: Tally
    quality: float
    failed: bool

    @property
    def scores(self) -> Scores:
        return Scores(self.tally)


@dataclass(frozen=True, eq=False, slots=True)
class DocumentTable(LazySequence[DocumentResult]):
    """The documents of a corpus, in the order they came in: a row each, a Document when it is asked for.

    `tallies` (documents, 5) are those of their entries, `paths` (documents, 5) of every wildcard path, in document
    order; a tally is gold, predicted, matched, quality and quality_sq. `qualities` (documents,) are those of the roots.
    """

    ids: LazySequence[str]
    runs: Sequence[str | None]
    tallies: Floats
    qualities: Floats
    failed: Mask
    paths: Mapping[str, Floats]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def keys(self) -> Iterator[str]:
        """What names each document in results."""
        return map(key, self.ids, self.runs)

    @property
    def tally(self) -> Tally:
        """The sum of the tallies of the entries."""
        return sum_tallies(self.tallies)

    def by_path(self, rows: Indices | None = None) -> dict[str, Scores]:
        """The scores of every path with leaves and of the items of every list, over these documents (n,) or all."""
        chosen = slice(None) if rows is None else rows
        return {path: Scores(sum_tallies(held[chosen])) for path, held in self.paths.items()}

    def at(self, rows: npt.ArrayLike) -> Iterator[DocumentResult]:
        """The documents in these rows (n,)."""
        numbers = np.asarray(rows, dtype=np.intp)
        numeric = (self.tallies[numbers].tolist(), self.qualities[numbers].tolist(), self.failed[numbers].tolist())
        made = zip(self.ids.at(numbers), map(self.runs.__getitem__, numbers), *numeric, strict=True)
        for identity, run, tally, quality, failed in made:
            yield DocumentResult(identity, run, key(identity, run), Tally(*tally), quality, failed)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The wildcard paths of a schema that gold documents hold, and those that none of them does."""

    exercised: tuple[str, ...]
    never: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of the paths that gold holds, in [0, 1]; 1 where the schema names none."""
        whole = len(self.exercised) + len(self.never)
        return len(self.exercised) / whole if whole else 1.0


def sum_tallies(rows: Floats) -> Tally:
    """The sum of tallies (n, 5), every part of it correctly rounded (see `Tally.sum`)."""
    return Tally(*map(exact_sum, rows.T))
