"""Agreement of annotators on nested documents: on whole documents, on lists and on single values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.agreement.aligned_rows import AlignedRows, align_documents, is_symmetric, is_value
from arbitre.agreement.alignment import NONE
from arbitre.agreement.krippendorff import alpha_of
from arbitre.agreement.notes import notes_of
from arbitre.agreement.ratings import Ratings
from arbitre.agreement.structures.alpha import MAX_VALUE_PAIRS, alpha_of_rows
from arbitre.agreement.structures.differences import Difference, Differences
from arbitre.agreement.structures.list_gamma import gamma_of_lists
from arbitre.engine.columns.column import LeafColumn, ListColumn
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.agreement.coefficient import Coefficient
    from arbitre.comparator import Comparator
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

INTERVAL_DISTANCES: Final = frozenset({"absolute", "relative", "log", "rounded", "tolerance"})
"""Distances of numbers whose agreement is measured with the squared difference."""


@dataclass(frozen=True, slots=True)
class StructuralAgreement:
    """Agreement of several annotators on nested documents.

    Attributes:
        alpha: Krippendorff's alpha of whole documents.
        by_path: Coefficient of each wildcard path: for single values the alpha that fits their kind, for lists and
            objects, alpha with the distance of the schema.
        gamma: Gamma of the items of each list, by wildcard path. It compares the disorder of the alignments with that
            of lists from different documents.
        annotators: Names of the annotators, sorted.
        documents: Number of documents.
        exact: Whether every alignment of lists is the best one.
        notes: Warnings about coefficients that are easily misread.
    """

    alpha: Coefficient
    by_path: Mapping[str, Coefficient]
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
            "gamma": {path: coefficient.to_dict() for path, coefficient in self.gamma.items()},
            "notes": list(self.notes),
        }


def structural(
    comparator: Comparator,
    annotations: Mapping[str, Mapping[str, Json]],
    *,
    difference: Difference = "d",
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
        seed: Random seed of the samples for the expected disagreement.

    Returns:
        The agreement. An undefined coefficient has the value None, and a reason.

    Raises:
        DataError: There are fewer than two annotators, or no document has two annotators.
    """
    parts = align_documents(comparator.plan, annotations)
    measure = _Measure(Differences(difference, is_symmetric(comparator.plan)), seed)
    by_path, gammas = {}, {}
    for path, same in _by_path(parts).items():
        largest = max(same, key=lambda part: len(part.rows))
        by_path[path] = measure.alpha(largest)
        measure.differences.forget(largest.column)
        if isinstance(largest.column, ListColumn) and largest.alignments:
            gammas[path] = gamma_of_lists(largest, largest.column, seed=seed)
    return StructuralAgreement(
        alpha=by_path[""],
        by_path=by_path,
        gamma=gammas,
        annotators=tuple(sorted(annotations)),
        documents=len(parts[0].rows),
        exact=all(alignment.exact for part in parts for alignment in part.alignments),
        notes=tuple(notes_of(by_path)),
    )


def alpha_of_documents(plan: Plan, documents: AlignedRows) -> Coefficient:
    """Return alpha of whole documents, with the distance of the schema.

    Args:
        plan: The compiled schema.
        documents: The first element of the result of `align_documents`.
    """
    return _Measure(Differences("d", is_symmetric(plan)), seed=0).alpha(documents)


def _by_path(parts: tuple[AlignedRows, ...]) -> dict[str, list[AlignedRows]]:
    paths: dict[str, list[AlignedRows]] = {}
    for part in parts:
        paths.setdefault(part.path, []).append(part)
    return paths


@dataclass(frozen=True, slots=True)
class _Measure:
    """Coefficients of aligned rows."""

    differences: Differences
    seed: int

    def alpha(self, part: AlignedRows) -> Coefficient:
        """Return alpha of single values, lists or objects."""
        return self.values(part) if is_value(part.column) else alpha_of_rows(self.differences, part, seed=self.seed)

    def values(self, part: AlignedRows) -> Coefficient:
        """Return the coefficient that fits the kind of the values."""
        column = part.column
        if isinstance(column, LeafColumn) and column.readings is None and column.leaves:
            distances = {leaf.distance.name: leaf.distance for leaf in column.leaves}
            codes = np.where(part.rows == NONE, NONE, column.codes[part.rows]).T
            ratings = Ratings(codes, tuple(column.values))
            if distances.keys() == {"exact"}:
                return alpha_of(ratings, "nominal")
            if distances.keys() == {"ordinal"} and len(distances) == 1:
                order = Ratings.of(
                    [[None if code == NONE else column.values[code] for code in row] for row in codes.tolist()],
                    distances["ordinal"].options["order"],
                )
                return alpha_of(order, "ordinal", ordered=True)
            if distances.keys() <= INTERVAL_DISTANCES and all(kind == Kind.NUMBER for kind in column.kinds.tolist()):
                return alpha_of(ratings, "interval")
        return alpha_of_rows(self.differences, part, seed=self.seed, most=MAX_VALUE_PAIRS)
