"""`arbitre confidence`: compare the confidence of predicted values with their correctness."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.text import Text

from arbitre import confidence as measures
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.confidence.calibration import bins_table, by_path_table, curve_table
from arbitre.confidence.confidences import CONFIDENCE, unread_confidences
from arbitre.errors import DataError
from arbitre.inputs.csv_table import CsvTable
from arbitre.inputs.open_files import expand_globs, split_name
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.reader import CELLS, Reader
from arbitre.inputs.records import readable
from arbitre.language import counted
from arbitre.tables.terminal import MAX_SHOWN, render
from arbitre.text.token_perplexity import logprobs_at
from arbitre.values import ABSENT, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from arbitre.confidence import ConfidenceReport, ConfidentDocument
    from arbitre.inputs.records import Record
    from arbitre.values import Json


def confidence(
    *,
    gold: str,
    predicted: str,
    schema: str,
    confidence_from: Literal["logprobs", "explicit"],
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
    reading = ReadOptions(id_key=id_key).for_plan(comparator.plan)
    expected = _by_id(map(readable, Reader.of("gold", reading).records(gold)))
    answers: list[tuple[Json, ConfidentDocument]] = []
    unknown: list[str] = []
    declared = any(field.name == CONFIDENCE for site in comparator.plan.sites for field in site.object.fields)
    unread = ""
    failures: list[dict[str, Json]] = []
    if confidence_from == "explicit":
        reading = replace(reading, field_kinds={**reading.field_kinds, **_confidence_kinds(predicted, suffix)})
    reader = Reader.of("predicted", reading, wrapped=confidence_from == "explicit")
    for record in map(readable, reader.records(predicted)):
        if record.id not in expected:
            unknown.append(record.id)
            continue
        try:
            if confidence_from == "explicit":
                answer = measures.from_explicit(record.value, suffix)
                unread = unread or ("" if declared else _unread(record))
            else:
                answer = measures.from_logprobs(logprobs_at(record.value, logprobs))
            comparator.plan.check_predicted(answer.document)
        except DataError as error:
            failures.append({"id": record.id, "line": record.line, "pointer": error.pointer, "reason": error.message})
            answer = measures.ConfidentDocument(ABSENT, {})
        answers.append((expected[record.id], answer))
    if unknown:
        more = f" and {len(unknown) - MAX_SHOWN} more" * (len(unknown) > MAX_SHOWN)
        shown = ", ".join(unknown[:MAX_SHOWN]) + more
        screen.note(f"{counted(len(unknown), 'prediction')} without gold, not counted: {shown}")
    if unread:
        screen.note(
            'Confidences are not read from objects that have other keys in addition to "value" and "confidence"; '
            f"the first is at {unread}"
        )
    for failure in failures[:MAX_SHOWN]:
        place = f" at {failure['pointer']}" if failure["pointer"] else ""
        screen.note(f"Prediction {failure['id']} failed; its values count as missing: {failure['reason']}{place}")
    if len(failures) > MAX_SHOWN:
        screen.note(f"... and {len(failures) - MAX_SHOWN} more with --format json")
    report = measures.report(comparator, answers, correct_at=correct_at, bins=bins)
    screen.result(lambda: report.to_dict() | {"failures": failures}, partial(_blocks, report))


def _by_id(records: Iterable[Record]) -> dict[str, Json]:
    """Return gold documents by id. Raises DataError if an id occurs twice."""
    found: dict[str, Json] = {}
    for record in records:
        if record.id in found:
            raise DataError.of(f"Gold contains document {record.id!r} twice", file=record.file, line=record.line)
        found[record.id] = record.value
    return found


def _unread(record: Record) -> str:
    """Return the place of the first confidence that is not read; "" if there is none."""
    first = next(unread_confidences(record.value), None)
    return "" if first is None else f"{first} in prediction {record.id}"


def _confidence_kinds(source: str, suffix: str) -> dict[str, frozenset[Kind]]:
    """Return the kinds of the columns of CSV files that contain confidences."""
    tables = (CsvTable(Path(name), (), "") for name in expand_globs(source) if split_name(Path(name))[1] in CELLS)
    names = (name for table in tables for name in table.columns if name.removesuffix(suffix) != name)
    return dict.fromkeys(names, frozenset({Kind.NUMBER}))


def _blocks(report: ConfidenceReport, width: int) -> Iterator[RenderableType]:
    overall = report.overall
    left_out = f"{report.missing} missing, {report.without_confidence} without confidence"
    title = f"{counted(overall.leaves, 'predicted value')} in {counted(report.documents, 'document')}"
    yield Text.assemble((title, "bold"), f"; left out: {left_out}")
    for table in (by_path_table(report), bins_table(overall), curve_table(overall)):
        yield render(table, width)
    yield result_tables.signature(report.signature)
