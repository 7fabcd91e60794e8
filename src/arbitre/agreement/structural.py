"""Agreement of annotators on nested documents: on whole documents, on lists and on single values."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from arbitre.agreement.advice.by_document import ByDocument, Resampling
from arbitre.agreement.advice.side_by_side import CategoricalCoefficients, side_by_side
from arbitre.agreement.aligned_rows import AlignedRows, align_documents, align_lists, is_value, leaf_values
from arbitre.agreement.alignment import NONE
from arbitre.agreement.coefficient import Coefficient
from arbitre.agreement.leaf_ratings import LeafRatings
from arbitre.agreement.notes import notes_of, token_notes
from arbitre.agreement.sums.pair_sums import ListSums, PairSums, pairs_within, summed
from arbitre.corpus.statistics.bootstrap import LEVEL, RESAMPLES
from arbitre.engine.columns.column import ListColumn
from arbitre.engine.solve.solver import QualitySolver
from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from arbitre.arrays import Floats, Indices
    from arbitre.comparator import Comparator
    from arbitre.engine.columns.column import Column
    from arbitre.values import Json

Difference: TypeAlias = Literal["d", "d2"]
"""Difference of two values in alpha: their distance, or its square as for interval data."""

MAX_PAIRS: Final = 2_000
"""Number of pairs of objects or lists above which the expected disagreement is estimated from a sample."""

MAX_VALUE_PAIRS: Final = 200_000
"""Number of pairs of single values above which the expected disagreement is estimated from a sample."""

MAX_LISTS: Final = 100
"""Maximum number of alignments of unrelated lists for the expected disorder; of more, a sample is drawn."""


@dataclass(frozen=True, slots=True)
class StructuralAgreement:
    """Agreement of several annotators on nested documents.

    Attributes:
        alpha: Krippendorff's alpha of whole documents.
        by_path: Coefficient of each wildcard path: for single values the alpha that fits their kind, for lists and
            objects, alpha with the distance of the schema.
        coefficients: Other coefficients of each path whose values are categories; see `CategoricalCoefficients`.
        gamma: Gamma of the items of each list, by wildcard path. It compares the disorder of the alignments with that
            of lists from different documents.
        annotators: Names of the annotators, sorted.
        documents: Number of documents.
        exact: Whether every alignment of lists is the best one.
        notes: Warnings about coefficients that are easily misread.
    """

    alpha: Coefficient
    by_path: Mapping[str, Coefficient]
    coefficients: Mapping[str, CategoricalCoefficients]
    gamma: Mapping[str, Coefficient]
    annotators: tuple[str, ...]
    documents: int
    exact: bool
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        return {
            "annotators": list(self.annotators),
            "documents": self.documents,
            "exact": self.exact,
            "alpha": self.alpha.to_dict(),
            "by_path": {path: coefficient.to_dict() for path, coefficient in self.by_path.items()},
            "coefficients": {path: each.to_dict() for path, each in self.coefficients.items()},
            "gamma": {path: coefficient.to_dict() for path, coefficient in self.gamma.items()},
            "notes": list(self.notes),
        }


def structural(
    comparator: Comparator,
    annotations: Mapping[str, Mapping[str, Json]],
    *,
    difference: Difference = "d",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> StructuralAgreement:
    """Measure the agreement of annotators on nested documents.

    The documents are aligned at every level. Then each path gets the coefficient that fits its values: alpha for
    nominal values (distance `exact`), ordinal values (distance `ordinal`), numbers (interval), and otherwise alpha with
    the distance of the schema. A missing value is left out at its path; it counts in the alpha of the object, list and
    document that contain it, and in gamma.

    Args:
        comparator: The comparator.
        annotations: Documents of each annotator, by id.
        difference: Difference of two values in alpha: "d" is their distance, "d2" its square, as for interval data.
            Alpha depends on this choice; its name states it.
        level: Confidence level of the intervals.
        resamples: Number of bootstrap resamples of the documents.
        seed: Random seed of the samples for the expected disagreement, and of the resamples.

    Returns:
        The agreement. An undefined coefficient has the value None, and a reason.

    Raises:
        DataError: There are fewer than two annotators, no document has two annotators, or `level` is not between 0
            and 1.
    """
    if len(annotations) < 2:  # noqa: PLR2004
        raise DataError.of(f"Expected at least two annotators, got {len(annotations)}")
    parts = align_documents(comparator.plan, annotations)
    symmetric = comparator.plan.certificate.verdict != "not a metric"
    ids = sorted({name for documents in annotations.values() for name in documents})
    by_document = ByDocument(tuple(ids), Resampling(level, resamples, seed))
    measure = _Measure(difference, seed, symmetric, by_document)
    if not ((parts[0].rows != NONE).sum(axis=1) > 1).any():
        raise DataError.of("No document was annotated by two annotators", hint="Documents are joined by their ids.")
    by_path, coefficients, gammas = {}, {}, {}
    for path, same in _by_path(parts).items():
        largest = max(same, key=lambda part: len(part.rows))
        by_path[path] = measure.values(largest) if is_value(largest.column) else measure.distances(largest)
        rated = LeafRatings.of(largest)
        if (
            rated is not None
            and (compared := side_by_side(rated, by_path[path], comparator.plan, by_document)) is not None
        ):
            coefficients[path] = compared
        if isinstance(largest.column, ListColumn) and largest.alignments:
            gammas[path] = measure.lists(largest)
    return StructuralAgreement(
        alpha=by_path[""],
        by_path=by_path,
        coefficients=coefficients,
        gamma=gammas,
        annotators=tuple(sorted(annotations)),
        documents=len(parts[0].rows),
        exact=all(alignment.exact for part in parts for alignment in part.alignments),
        notes=(*notes_of(by_path, coefficients), *token_notes(leaf_values(parts))),
    )


def _by_path(parts: tuple[AlignedRows, ...]) -> dict[str, list[AlignedRows]]:
    paths: dict[str, list[AlignedRows]] = {}
    for part in parts:
        paths.setdefault(part.path, []).append(part)
    return paths


@dataclass(frozen=True, slots=True)
class _Measure:
    """Coefficients of aligned rows."""

    difference: Difference
    seed: int
    symmetric: bool
    by_document: ByDocument

    def values(self, part: AlignedRows) -> Coefficient:
        """Return the coefficient that fits the kind of the values."""
        rated = LeafRatings.of(part)
        return self.distances(part, most=MAX_VALUE_PAIRS) if rated is None else rated.alpha(self.by_document)

    def distances(self, part: AlignedRows, most: int = MAX_PAIRS) -> Coefficient:
        """Return alpha with the distance of the schema."""
        raters = (part.rows != NONE).sum(axis=1)
        rows, document, raters = part.rows[raters > 1], part.document[raters > 1], raters[raters > 1]
        facts = {
            "name": f"alpha_{self.difference}",
            "chance_model": "pooled values, without replacement",
            "items": len(rows),
            "annotators": part.rows.shape[1],
        }
        if len(rows) == 0:
            return Coefficient.corrected(None, None, **facts)
        totals = np.zeros(len(rows))
        for i, j in combinations(range(rows.shape[1]), 2):
            both = ((rows[:, i] != NONE) & (rows[:, j] != NONE)).nonzero()[0]
            differences = self._between(part.column, rows[both, i], rows[both, j])
            totals[both] += 2.0 * differences / (raters[both] - 1.0)
        total = float(totals.sum())
        number = int(raters.sum())
        pooled = rows[rows != NONE]
        pairs = number * (number - 1) // 2
        if pairs <= most:
            first, second = np.triu_indices(number, 1)
            differences = self._between(part.column, pooled[first], pooled[second])
            error = None
        else:
            random = np.random.default_rng(self.seed)
            first = random.integers(number, size=most)
            second = (first + random.integers(1, number, size=most)) % number
            differences = self._between(part.column, pooled[first], pooled[second])
            error = float(differences.std(ddof=1)) / most**0.5
        expected = 1.0 - float(differences.mean())
        coefficient = Coefficient.corrected(1.0 - total / number, expected, standard_error=error, **facts)
        at = np.unique(document, return_inverse=True)[1]
        owner = at.repeat(raters)
        inside = pairs_within(owner, most, self.seed)
        sums = PairSums(
            summed(at, totals, at.max() + 1),
            summed(at, raters, at.max() + 1),
            (owner[first], owner[second]),
            differences,
            owner[inside[0]],
            self._between(part.column, *(pooled[side] for side in inside)),
        )
        return self.by_document.added(coefficient, sums, document, raters)

    def _between(self, column: Column, first: Indices, second: Indices) -> Floats:
        """Return the difference of each pair of rows; the mean of both directions if they may differ."""
        distances = 1.0 - QualitySolver().evaluate(column, first, second).quality
        if not self.symmetric:
            distances = (distances + 1.0 - QualitySolver().evaluate(column, second, first).quality) / 2.0
        squares: Floats = distances if self.difference == "d" else distances * distances
        return squares

    def lists(self, part: AlignedRows) -> Coefficient:
        """Return gamma of lists: the disorder of their alignments against that of lists of different documents."""
        (items,) = part.column.slices
        held = part.rows != NONE
        annotators = part.rows.shape[1]
        counts = np.where(held, items.counts()[part.rows], 0).sum(axis=1)
        shared = (held.sum(axis=1) > 1) & (counts > 0)
        facts = {
            "name": "gamma",
            "chance_model": "lists of different documents",
            "items": int(counts[shared].sum()),
            "annotators": annotators,
        }
        if not shared.any():
            return Coefficient.corrected(None, None, **facts)
        each = np.array([alignment.disorder for alignment in part.alignments])[shared]
        total = each.sum()
        observed = 1.0 - float(total) * annotators / float(counts[shared].sum())
        pool = part.rows[held]
        documents = np.broadcast_to(part.document[:, None], held.shape)[held]
        if len(np.unique(documents)) < annotators:
            reason = f"Lists of at least {annotators} documents are needed to measure the disorder expected by chance."
            return Coefficient(value=None, observed=observed, expected=None, reason=reason, **facts)
        disorders, sizes = [], []
        unrelated = np.array(list(self._unrelated(pool, documents, annotators)), dtype=np.intp)
        for below, alignment in align_lists(items, unrelated, search=False):
            disorders.append(alignment.disorder * annotators)
            sizes.append(sum(map(len, below)))
        if not any(sizes):
            return Coefficient.corrected(None, None, **facts)
        ratio = sum(disorders) / sum(sizes)
        error = None
        if comb(len(pool), annotators) > MAX_LISTS:
            residuals = np.array(disorders) - ratio * np.array(sizes)
            error = float(residuals.std(ddof=1)) / len(sizes) ** 0.5 / float(np.mean(sizes))
        coefficient = Coefficient.corrected(observed, 1.0 - ratio, standard_error=error, **facts)
        used, at = np.unique(part.document[shared], return_inverse=True)
        document_of = dict(zip(pool.tolist(), documents.tolist(), strict=True))
        drawn = np.array([[document_of[row] for row in rows] for rows in unrelated.tolist()])
        positions = np.full(len(self.by_document.ids), len(used))
        positions[used] = np.arange(len(used))
        sums = ListSums(
            summed(at, each * annotators, len(used)),
            summed(at, counts[shared], len(used)),
            positions[drawn],
            np.array(disorders),
            np.array(sizes, dtype=np.float64),
        )
        return self.by_document.with_interval(coefficient, sums, len(used))

    def _unrelated(self, pool: Indices, documents: Indices, annotators: int) -> Iterator[tuple[int, ...]]:
        """Yield lists of different documents: all combinations, or a sample of `MAX_LISTS` of them."""
        if comb(len(pool), annotators) <= MAX_LISTS:
            for chosen in combinations(range(len(pool)), annotators):
                if len({int(documents[at]) for at in chosen}) == annotators:
                    yield tuple(int(pool[at]) for at in chosen)
            return
        random, every = np.random.default_rng(self.seed), np.unique(documents)
        for _ in range(MAX_LISTS):
            chosen_documents = random.choice(every, annotators, replace=False)
            yield tuple(int(random.choice(pool[documents == document])) for document in chosen_documents)
