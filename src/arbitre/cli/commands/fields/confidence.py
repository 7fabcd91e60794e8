"""`arbitre confidence`: compare the confidence of predicted values with their correctness."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from rich.text import Text

from arbitre import confidence as measures
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions, counted, titled
from arbitre.cli.records import logprobs_at, read_records
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.errors import DataError
from arbitre.tables.terminal import escape_hidden
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.confidence import Calibration, ConfidenceReport, ConfidentDocument
    from arbitre.values import Json

COVERAGES: Final = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Minimum coverages of the printed points of the risk-coverage curve."""


def confidence(
    *,
    gold: str,
    predicted: str,
    schema: str,
    source: Literal["logprobs", "explicit"],
    logprobs: str,
    suffix: str,
    correct_at: float,
    bins: int,
    options: ComparatorKeywords,
    id_key: str,
    output: OutputOptions,
) -> None:
    """Compare the confidence of predicted values with their correctness."""
    screen = output.terminal()
    comparator = Comparator(schema, **options)
    expected: dict[str, Json] = {}
    for record in read_records(gold, id_key):
        if record.id in expected:
            raise DataError.of(f"Gold contains document {record.id!r} twice", file=record.file, line=record.line)
        expected[record.id] = record.value
    answers: list[tuple[Json, ConfidentDocument]] = []
    unknown: list[str] = []
    failures: list[dict[str, Json]] = []
    for record in read_records(predicted, id_key):
        if record.id not in expected:
            unknown.append(record.id)
            continue
        try:
            if source == "explicit":
                answer = measures.from_explicit(record.value, suffix)
            else:
                answer = measures.from_logprobs(logprobs_at(record.value, logprobs))
            comparator.plan.check_predicted(answer.document)
        except DataError as error:
            failures.append({"id": record.id, "line": record.line, "pointer": error.pointer, "reason": error.message})
            answer = measures.ConfidentDocument(ABSENT, {})
        answers.append((expected[record.id], answer))
    if unknown:
        screen.note(f"{counted(len(unknown), 'prediction')} without gold, not counted: {', '.join(unknown[:5])}")
    for failure in failures:
        screen.note(f"Prediction {failure['id']} failed; its values count as missing: {failure['reason']}")
    report = measures.report(comparator, answers, correct_at=correct_at, bins=bins)
    screen.result(lambda: report.to_dict() | {"failures": failures}, partial(_blocks, report))


def _blocks(report: ConfidenceReport, _width: int) -> Iterator[RenderableType]:
    overall = report.overall
    left_out = f"{report.missing} missing, {report.without_confidence} without confidence"
    title = f"{counted(overall.leaves, 'predicted value')} in {counted(report.documents, 'document')}"
    yield Text.assemble((title, "bold"), f"; left out: {left_out}")
    grid = result_tables.table("path", "values", "correct", "confidence", "AUROC", "ECE", "AURC")
    for path, row in {"all": overall, **report.by_path}.items():
        numbers = (row.correct, row.confidence, row.auroc, row.ece, row.aurc)
        grid.add_row(escape_hidden(path or "(the whole)"), str(row.leaves), *map(result_tables.number, numbers))
    yield grid
    yield titled("Calibration", _bins(overall))
    yield titled("Risk and coverage", _curve(overall))
    yield result_tables.signature(report.signature)


def _bins(calibration: Calibration) -> RenderableType:
    grid = result_tables.table("confidence", "values", "mean", "correct")
    for row in calibration.bins:
        mean = map(result_tables.number, (row.confidence, row.correct))
        grid.add_row(f"{row.lower:.2f} to {row.upper:.2f}", str(row.leaves), *mean)
    return grid


def _curve(calibration: Calibration) -> RenderableType:
    """Return a table of the risk-coverage curve: its first point at or above each of `COVERAGES`."""
    grid = result_tables.table("coverage", "confidence at least", "risk", left=0)
    points = [next(point for point in calibration.curve if point.coverage >= least) for least in COVERAGES]
    for point in dict.fromkeys(points):
        grid.add_row(*map(result_tables.number, (point.coverage, point.threshold, point.risk)))
    return grid
