"""Compares the confidences of the leaves of a corpus with their correctness."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arbitre.comparison.leaf_pairs import leaf_pairs
from arbitre.confidence.calibration import BINS, Calibration, calibrate
from arbitre.errors import DataError, OptionError
from arbitre.paths import order
from arbitre.tables.table import SCORE, Table, TableColumn, columns, count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.comparator import Comparator
    from arbitre.confidence.sources import ConfidentDocument
    from arbitre.signature import Signature
    from arbitre.values import Json


@dataclass(frozen=True, slots=True)
class ConfidenceReport:
    """How well the confidences of a model predict whether its values are correct.

    Attributes:
        documents: Number of documents.
        overall: Calibration over all leaves.
        by_path: Calibration by wildcard path, in document order.
        missing: Number of gold leaves without a prediction, which have no confidence.
        without_confidence: Number of predicted leaves without a confidence, which are left out.
        correct_at: Minimum quality of a correct leaf.
        signature: Signature of the comparison.
    """

    documents: int
    overall: Calibration
    by_path: Mapping[str, Calibration]
    missing: int
    without_confidence: int
    correct_at: float
    signature: Signature

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON."""
        counts = ("documents", "missing", "without_confidence", "correct_at")
        return {name: getattr(self, name) for name in counts} | {
            "overall": self.overall.to_dict(),
            "by_path": {path: calibration.to_dict() for path, calibration in self.by_path.items()},
            "signature": self.signature.to_dict(),
        }


def report(
    comparator: Comparator,
    answers: Iterable[tuple[Json, ConfidentDocument]],
    *,
    correct_at: float = 1.0,
    bins: int = BINS,
) -> ConfidenceReport:
    """Compare predictions with gold, and the confidence of each predicted leaf with its correctness.

    A spurious leaf is wrong. A missing leaf has no confidence and is only counted.

    Args:
        comparator: Compares the documents.
        answers: Gold documents with predictions from `from_logprobs` or `from_explicit`. For a prediction that could
            not be read, pass `ConfidentDocument(arbitre.ABSENT, {})`.
        correct_at: Minimum quality of a correct leaf, above 0 and at most 1.
        bins: Number of bins of the calibration curves.

    Returns:
        The calibration over all leaves and at each path.

    Raises:
        OptionError: `correct_at` or `bins` is invalid.
        DataError: No predicted leaf has a confidence, a document cannot be compared, or scikit-learn is not installed.
    """
    if not 0 < correct_at <= 1:
        raise OptionError.of(f"Expected `correct_at` to be above 0 and at most 1, got {correct_at}")
    leaves: dict[str, tuple[list[float], list[bool]]] = defaultdict(lambda: ([], []))
    documents = missing = without = 0
    for gold, answer in answers:
        documents += 1
        levels = comparator.compare(gold=gold, predicted=answer.document).levels
        for path, leaf in leaf_pairs(levels):
            if leaf.predicted_pointer is None:
                missing += 1
                continue
            confidence = answer.confidences.get(leaf.predicted_pointer)
            if confidence is None:
                without += 1
                continue
            leaves[path][0].append(confidence)
            leaves[path][1].append(leaf.quality >= correct_at)
    by_path = {path: calibrate(*leaves[path], bins) for path in sorted(leaves, key=order)}
    every = [[value for side in leaves.values() for value in side[at]] for at in (0, 1)]
    overall = calibrate(every[0], [bool(value) for value in every[1]], bins)
    if overall is None:
        hint = "Check that the confidences belong to values that the schema compares."
        raise DataError.of("Expected predicted values with a confidence, got none", hint=hint)
    present = {path: calibration for path, calibration in by_path.items() if calibration is not None}
    return ConfidenceReport(documents, overall, present, missing, without, correct_at, comparator.signature)


def by_path_table(found: ConfidenceReport) -> Table:
    """Return the calibration of each path, and over all leaves."""
    heads = (
        *(TableColumn("path", kind="path"), TableColumn("values", count)),
        *columns("correct", "confidence", written=SCORE),
        *(TableColumn("AUROC", SCORE, drop=1), TableColumn("ECE", SCORE), TableColumn("AURC", SCORE, drop=2)),
    )
    rows = [
        (path, row.leaves, row.correct, row.confidence, row.auroc, row.ece, row.aurc)
        for path, row in {"all": found.overall, **found.by_path}.items()
    ]
    return Table.of("", heads, rows)
