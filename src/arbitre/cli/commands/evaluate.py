"""`arbitre evaluate`: compare a corpus of predictions with gold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import arbitre
from arbitre.cli.custom_distances import load_functions
from arbitre.cli.evaluation_run import EvaluationRun, engine, exports, repair_without_folder
from arbitre.cli.options import (
    Close,
    ClusterBy,
    Engine,
    EngineKind,
    FailOver,
    FailUnder,
    FormatAssertion,
    Functions,
    Gold,
    GoldKey,
    IdKey,
    IdPattern,
    Lenient,
    Manifest,
    MaxCalls,
    MaxDepth,
    NoColor,
    NoReport,
    Only,
    Output,
    OutputFormat,
    Overlay,
    Pairs,
    Predicted,
    PredictedKey,
    Project,
    Quiet,
    Resume,
    Scheduler,
    Schema,
    Validate,
    Workers,
    check_format_assertion,
    export_option,
)
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import Terminal
from arbitre.cli.thresholds import close as closed
from arbitre.comparator import MAX_CALLS
from arbitre.corpus.joining.join import join, paired
from arbitre.corpus.reading.manifest import Manifest as Table
from arbitre.corpus.reading.options import MAX_NAMES, STDIN, ReadOptions
from arbitre.corpus.reading.projection import Projection
from arbitre.corpus.reading.records import key
from arbitre.corpus.reading.strict_json import MAX_DEPTH
from arbitre.corpus.results.gates import gate
from arbitre.errors import DataError
from arbitre.report.tables import result_files, summaries
from arbitre.report.tables.exports import Export, write
from arbitre.report.tables.table import unknown
from arbitre.schema import CLOSE
from arbitre.schema.validation.validate import Violation
from arbitre.tally import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.corpus.joining.join import Join
    from arbitre.corpus.reading.records import Repair

Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for evaluation.json, tables and report.html.")]
Tables = Annotated[list[str] | None, export_option("paths.tex or documents.parquet")]
Scores = Annotated[
    list[str] | None,
    typer.Option("--score", metavar="SCORE", help="Score column of the Markdown and LaTeX tables. May be repeated."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Stop with exit code 2 if a document fails.")]


def evaluate(
    *,
    schema: Schema,
    gold: Gold = None,
    predicted: Predicted = None,
    pairs: Pairs = None,
    manifest: Manifest = None,
    out: Out = None,
    asked_for: Tables = None,
    scores: Scores = None,
    overlay: Overlay = None,
    id_key: IdKey = "id",
    id_pattern: IdPattern = None,
    gold_key: GoldKey = "gold",
    predicted_key: PredictedKey = "predicted",
    project: Project = None,
    lenient: Lenient = False,
    only: Only = None,
    fail_under: FailUnder = None,
    fail_over: FailOver = None,
    strict: Strict = False,
    validate: Validate = False,
    format_assertion: FormatAssertion = False,
    output: Output = OutputFormat.TEXT,
    max_depth: MaxDepth = MAX_DEPTH,
    close: Close = CLOSE,
    functions: Functions = None,
    max_calls: MaxCalls = MAX_CALLS,
    workers: Workers = None,
    resume: Resume = False,
    cluster_by: ClusterBy = None,
    kind: Engine = EngineKind.LOCAL,
    scheduler: Scheduler = None,
    no_report: NoReport = False,
    no_color: NoColor = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate a corpus: compare each prediction with the gold document of the same id."""
    if resume and out is None:
        raise typer.BadParameter("--resume requires --out: the folder of the interrupted evaluation.")
    check_format_assertion(format_assertion=format_assertion, validate=validate)
    asked = _requested_exports(asked_for or (), scores or (), out, cluster_by)
    sources = InputSources(gold or [], predicted or [], pairs or [], manifest)
    screen = Terminal.create(plain=no_color, quiet=quiet)
    comparator = arbitre.Comparator(
        schema,
        overlay=overlay,
        close=close,
        max_calls=max_calls,
        format_assertion=format_assertion,
        **load_functions(functions),
    )
    projection = None if project is None else Projection.load(project)
    reading = ReadOptions(id_key, id_pattern, max_depth, gold_key, predicted_key, lenient, projection)
    joined = sources.joined(reading, only or [])
    run = EvaluationRun(
        reading.signed(comparator.plan),
        joined,
        engine(kind, scheduler, workers),
        out,
        strict=strict,
        validate=validate,
        report=not no_report,
        resume=resume,
        cluster_by=cluster_by,
    )
    evaluation, files = run(screen)
    if out is not None:
        exported = write(out, asked, summaries.sheets(evaluation, scores or ()))
        files = tuple(dict.fromkeys((*files, *exported)))
    missed = gate(evaluation, fail_under=fail_under or (), fail_over=fail_over or ())
    if output is OutputFormat.JSON:
        plain = result_files.without_folders(evaluation)
        plain |= {"violations": run.violations} if validate else {}
        screen.json(plain | ({"repaired": [repair_without_folder(one) for one in joined.repaired]} if lenient else {}))
    else:
        violated = [_violation_rows(one) for one in run.violations] if validate else None
        screen.show(result_tables.evaluation(evaluation, screen.width, violated))
        if out is not None:
            screen.note(f"Wrote {', '.join(files)} to {out.as_posix()}")
    if joined.repaired:
        screen.note(_repair_note(joined.repaired))
    raise typer.Exit(closed(screen, missed))


def _requested_exports(
    names: Sequence[str], scores: Sequence[str], out: Path | None, clusters: str | None
) -> tuple[Export, ...]:
    """Parse `--table` and `--score`. Raises typer.BadParameter or DataError if a value is invalid."""
    found = exports(names, summaries.ROWS, out)
    if scores and not names:
        raise typer.BadParameter("--score requires --table: the scores are columns of the tables.")
    for score in scores:
        if score not in NAMES:
            raise unknown("column", score, NAMES)
    for one in found:
        if one.rows == "groups" and clusters is None:
            raise typer.BadParameter(f"--table {one.name} requires --cluster-by, which defines the groups.")
    return found


@dataclass(frozen=True, slots=True)
class InputSources:
    """Locations of the documents. Raises typer.BadParameter unless exactly one input method is used."""

    gold: Sequence[str]
    predicted: Sequence[str]
    pairs: Sequence[str]
    manifest: str | None

    def __post_init__(self) -> None:
        if bool(self.gold and self.predicted) + bool(self.pairs) + (self.manifest is not None) != 1 or (
            bool(self.gold) != bool(self.predicted)
        ):
            raise typer.BadParameter("Expected --gold and --predicted, or --pairs alone, or --manifest alone.")
        if [*self.gold, *self.predicted, *self.pairs].count(STDIN) > 1:
            raise typer.BadParameter("Expected at most one source to be standard input (-), got several.")

    def joined(self, reading: ReadOptions, only: Sequence[str]) -> Join:
        """Read the documents and return the joined pairs. Raises DataError if a source cannot be read."""
        if self.manifest is not None:
            table = Table(self.manifest, reading)
            return paired(table.rows(), factors=table.factors, only=only)
        if self.pairs:
            try:
                return paired(reading.rows(self.pairs), only=only)
            except DataError as error:
                raise error.located(file=", ".join(self.pairs)) from None
        return join(reading.records(self.gold, "gold"), reading.records(self.predicted, "predicted"), only=only)


def _violation_rows(row: Mapping[str, Any]) -> tuple[str, Violation]:
    return key(row["id"], row["run"]), Violation(row["pointer"], row["message"], row["keyword"])


def _repair_note(repairs: Sequence[Repair]) -> str:
    """Return the note on predictions that were not valid JSON."""
    shown = ", ".join(f"{key(one.id, one.run)} ({one.how})" for one in repairs[:MAX_NAMES])
    more = ", ..." * (len(repairs) > MAX_NAMES)
    return f"Invalid JSON, repaired ({len(repairs)}): {shown}{more}"
