"""How well the confidences of a model predict whether its values are correct, over a corpus and as tables.

`calibrate` computes the measures with scikit-learn (extra `calibration`), `report` those of each path of a corpus.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arbitre.arrays import exact_dot
from arbitre.comparison.leaf_pairs import leaf_pairs
from arbitre.diagnosis.repair import written_pointers
from arbitre.errors import DataError, OptionError, check_integer, optional_library
from arbitre.language import Translator
from arbitre.paths import order
from arbitre.tables.table import SCORE, Table, TableColumn, columns, count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from arbitre.arrays import Floats
    from arbitre.comparator import Comparator
    from arbitre.confidence.confidences import ConfidentDocument
    from arbitre.signature import Signature
    from arbitre.values import Json


BINS: Final = 10
"""Default number of bins of a calibration curve."""

COVERAGES: Final = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Minimum coverages of the points of the risk-coverage curve in a table."""


FORMAT: Final = "arbitre-confidence/1"


class CalibrationBin(NamedTuple):
    """The leaves whose confidence is in one bin.

    Attributes:
        lower: Lower end of the bin.
        upper: Upper end of the bin. A confidence on the border of two bins belongs to the lower one.
        leaves: Number of leaves.
        confidence: Mean confidence of these leaves.
        correct: Share of these leaves that are correct.
    """

    lower: float
    upper: float
    leaves: int
    confidence: float
    correct: float


class RiskCoverage(NamedTuple):
    """A point on the risk-coverage curve: the leaves with at least a given confidence.

    Attributes:
        threshold: Minimum confidence.
        coverage: Share of all leaves that have at least this confidence.
        risk: Share of these leaves that are wrong.
    """

    threshold: float
    coverage: float
    risk: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """How well the confidence of a leaf predicts whether the leaf is correct.

    Attributes:
        leaves: Number of predicted leaves with a confidence.
        correct: Share of them that are correct.
        confidence: Their mean confidence.
        auroc: Probability that a correct leaf has a higher confidence than a wrong one, ties counted half; None if all
            leaves are correct or all are wrong.
        ece: Expected calibration error: the mean difference between the confidence and the share of correct leaves of
            a bin, weighted by the number of leaves.
        brier: Mean squared difference between confidence and correctness.
        aurc: Area under the risk-coverage curve: the mean, over all leaves, of the risk at the leaf's confidence.
        bins: Calibration curve: the bins that are not empty.
        curve: Risk-coverage curve: one point for each confidence, highest first.
    """

    leaves: int
    correct: float
    confidence: float
    auroc: float | None
    ece: float
    brier: float
    aurc: float
    bins: tuple[CalibrationBin, ...]
    curve: tuple[RiskCoverage, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the results as JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return plain | {name: [point._asdict() for point in plain[name]] for name in ("bins", "curve")}


def _library() -> tuple[Any, Any]:
    """Return `sklearn.metrics` and its function for calibration curves. Raises DataError if it is not installed."""
    with optional_library("scikit-learn", "calibration", "Calibration"):
        from sklearn import metrics  # noqa: PLC0415  (optional, loads slowly)
        from sklearn.calibration import calibration_curve  # noqa: PLC0415  (optional, loads slowly)
    return metrics, calibration_curve


def calibrate(confidences: Sequence[float], correct: Sequence[bool], bins: int = BINS) -> Calibration | None:
    """Return how well confidences predict correctness; None without leaves.

    Args:
        confidences: Confidence of each leaf, in [0, 1].
        correct: Whether each leaf is correct.
        bins: Number of bins of equal width.

    Raises:
        OptionError: `bins` is less than 1.
        DataError: scikit-learn is not installed.
    """
    check_integer("bins", bins, least=1)
    if not confidences:
        return None
    metrics, calibration_curve = _library()
    scores, right = np.array(confidences, dtype=np.float64), np.array(correct, dtype=np.int64)
    shares, means = calibration_curve(right, scores, n_bins=bins, pos_label=1)
    edges = np.linspace(0.0, 1.0, bins + 1)
    counts = np.bincount(np.searchsorted(edges[1:-1], scores), minlength=bins)
    filled = counts.nonzero()[0]
    rows = tuple(
        CalibrationBin(float(edges[at]), float(edges[at + 1]), int(counts[at]), float(mean), float(share))
        for at, mean, share in zip(filled.tolist(), means, shares, strict=True)
    )
    curve = _risk_coverage(scores, right)
    steps = np.diff([0.0, *(point.coverage for point in curve)])
    return Calibration(
        leaves=len(scores),
        correct=float(right.mean()),
        confidence=float(scores.mean()),
        auroc=float(metrics.roc_auc_score(right, scores)) if 0 < right.sum() < len(right) else None,
        ece=math.fsum(row.leaves * abs(row.confidence - row.correct) for row in rows) / len(scores),
        brier=float(np.mean((scores - right) ** 2)),
        aurc=exact_dot(steps, [point.risk for point in curve]),
        bins=rows,
        curve=curve,
    )


def _risk_coverage(scores: Floats, right: Any) -> tuple[RiskCoverage, ...]:  # noqa: ANN401  (an array)
    """Return the risk-coverage curve.

    Args:
        scores: Confidence of each leaf; shape (leaves,).
        right: 1 for a correct leaf, 0 for a wrong one; shape (leaves,).
    """
    order = np.argsort(-scores, kind="stable")
    ranked, wrong = scores[order], np.cumsum(1 - right[order])
    last = np.append(ranked[1:] != ranked[:-1], True).nonzero()[0]  # the last leaf of each confidence
    covered = last + 1
    points = zip(ranked[last].tolist(), (covered / len(scores)).tolist(), (wrong[last] / covered).tolist(), strict=True)
    return tuple(RiskCoverage(*point) for point in points)


@dataclass(frozen=True, slots=True)
class ConfidenceReport:
    """How well the confidence that a model assigns to its values predicts whether they are correct.

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
        """Return JSON that is valid against `schemas/confidence.schema.json`."""
        counts = ("documents", "missing", "without_confidence", "correct_at")
        return {"format": FORMAT, **{name: getattr(self, name) for name in counts}} | {
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
    """Compare the confidence of each predicted leaf with its correctness, as `arbitre confidence` does.

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
    aliased = any(site.object.aliases for site in comparator.plan.sites)
    for gold, answer in answers:
        documents += 1
        levels = comparator.compare(gold=gold, predicted=answer.document).levels
        written = written_pointers(levels) if aliased else {}
        for path, leaf in leaf_pairs(levels):
            if leaf.predicted_pointer is None:
                missing += 1
                continue
            confidence = answer.confidences.get(written.get(leaf.predicted_pointer, leaf.predicted_pointer))
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
        *(TableColumn("path", kind="path", said=Translator.word), TableColumn("values", count)),
        *columns("correct", "confidence", written=SCORE),
        *(TableColumn("AUROC", SCORE, drop=1), TableColumn("ECE", SCORE), TableColumn("AURC", SCORE, drop=2)),
    )
    rows = [
        (path, row.leaves, row.correct, row.confidence, row.auroc, row.ece, row.aurc)
        for path, row in {"all": found.overall, **found.by_path}.items()
    ]
    return Table.of("", heads, rows)


def bins_table(calibration: Calibration) -> Table:
    """Return the calibration curve: the bins that are not empty."""
    heads = (
        *(TableColumn("confidence", said=Translator.text), TableColumn("values", count)),
        *columns("mean", "correct", written=SCORE),
    )
    rows = [
        (f"{row.lower:.2f} to {row.upper:.2f}", row.leaves, row.confidence, row.correct) for row in calibration.bins
    ]
    return Table.of("Calibration", heads, rows)


def curve_table(calibration: Calibration) -> Table:
    """Return the risk-coverage curve: its first point at or above each of `COVERAGES`."""
    points = [next(point for point in calibration.curve if point.coverage >= least) for least in COVERAGES]
    rows = [(point.coverage, point.threshold, point.risk) for point in dict.fromkeys(points)]
    return Table.of("Risk and coverage", columns("coverage", "confidence at least", "risk", written=SCORE), rows)
