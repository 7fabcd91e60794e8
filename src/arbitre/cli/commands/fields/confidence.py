"""`arbitre confidence`: compare the confidence of predicted values with their correctness."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer
from rich.text import Text

from arbitre import confidence as measures
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import counted, titled
from arbitre.cli.records import logprobs_at, read_records
from arbitre.cli.shared_options import IdKey, OutputOptions, Schema, SchemaOptions
from arbitre.confidence.calibration import BINS
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

_SOURCE = "a .json or .jsonl file, a folder, or a glob."
Gold = Annotated[str, typer.Argument(metavar="GOLD", help=f"Gold documents: {_SOURCE}")]
Predicted = Annotated[str, typer.Argument(metavar="PREDICTED", help=f"Predictions with confidences: {_SOURCE}")]


def confidence(
    gold: Gold,
    predicted: Predicted,
    *,
    schema: Schema,
    source: Annotated[
        Literal["logprobs", "explicit"],
        typer.Option(
            help="Where confidences come from: the log-probabilities of the tokens of the answer, or the prediction, "
            'which states them as {"value": ..., "confidence": ...} or in fields such as name_confidence.'
        ),
    ] = "logprobs",
    logprobs: Annotated[
        str, typer.Option(metavar="POINTER", help="JSON Pointer of the log-probabilities in a record.")
    ] = "/logprobs",
    suffix: Annotated[
        str, typer.Option(metavar="TEXT", help="Suffix of the keys of confidences, with --source explicit.")
    ] = "_confidence",
    correct_at: Annotated[
        float, typer.Option(metavar="QUALITY", help="Minimum quality of a value that counts as correct.")
    ] = 1.0,
    bins: Annotated[int, typer.Option(metavar="N", min=1, help="Number of bins of the calibration curve.")] = BINS,
    options: SchemaOptions,
    id_key: IdKey = "id",
    output: OutputOptions,
) -> None:
    """Compare the confidence of predicted values with their correctness."""
    screen = output.terminal()
    comparator = options.comparator(schema)
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
