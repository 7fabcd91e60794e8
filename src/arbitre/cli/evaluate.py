"""`arbitre evaluate`: a corpus of predictions against its gold."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

import arbitre
from arbitre.cli import render
from arbitre.cli.options import (
    Close,
    FailUnder,
    Format,
    Gold,
    GoldKey,
    IdKey,
    IdPattern,
    Lenient,
    Manifest,
    MaxDepth,
    NoReport,
    Only,
    Output,
    Overlay,
    Pairs,
    Plain,
    Predicted,
    PredictedKey,
    Project,
    Quiet,
    Schema,
    Validate,
)
from arbitre.cli.screen import Screen
from arbitre.cli.thresholds import shortfalls
from arbitre.corpus import evaluate as corpus
from arbitre.corpus.join import join, paired
from arbitre.corpus.manifest import Manifest as Table
from arbitre.corpus.project import Projection
from arbitre.corpus.read import SHOWN, STDIN, Reading
from arbitre.corpus.records import key
from arbitre.corpus.strict import MAX_DEPTH
from arbitre.errors import DataError
from arbitre.report import files as reports
from arbitre.report import tables
from arbitre.report.kept import Kept
from arbitre.schema import CLOSE
from arbitre.schema.validate import violations
from arbitre.signature import Signature
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.comparison.levels import Level
    from arbitre.corpus.evaluate import Evaluation
    from arbitre.corpus.join import Join
    from arbitre.corpus.records import Failure, Pair, Repair
    from arbitre.schema import Plan
    from arbitre.schema.validate import Violation

REPAIRED: Final = "repaired.csv"

Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Write evaluation.json, tables and report.html here.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop with exit code 2 where a document failed.")]


def evaluate(
    *,
    schema: Schema,
    gold: Gold = None,
    predicted: Predicted = None,
    pairs: Pairs = None,
    manifest: Manifest = None,
    out: Out = None,
    overlay: Overlay = None,
    id_key: IdKey = "id",
    id_pattern: IdPattern = None,
    gold_key: GoldKey = "gold",
    predicted_key: PredictedKey = "predicted",
    project: Project = None,
    lenient: Lenient = False,
    only: Only = None,
    fail_under: FailUnder = None,
    strict: Strict = False,
    validate: Validate = False,
    output: Output = Format.TEXT,
    max_depth: MaxDepth = MAX_DEPTH,
    close: Close = CLOSE,
    no_report: NoReport = False,
    no_color: Plain = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate a corpus: every prediction against the gold document of the same id."""
    sources = Sources(gold or [], predicted or [], pairs or [], manifest)
    screen = Screen.of(plain=no_color, quiet=quiet)
    comparator = arbitre.Comparator(schema, overlay=overlay, close=close)
    projection = None if project is None else Projection.load(project)
    reading = Reading(id_key, id_pattern, max_depth, gold_key, predicted_key, lenient, projection)
    signed = Signature.of({**dict(comparator.signature.entries), **reading.signature}, comparator.signature.version)
    plan = replace(comparator.plan, signature=signed)
    joined = sources.joined(reading, only or [])
    watch = Watch(plan, strict=strict, validate=validate)
    watch.check(joined.failures)
    evaluation, files = run(plan, joined, out, watch, screen, report=not no_report)
    missed = list(shortfalls(fail_under or (), evaluation, {row.path for row in comparator.explain()}))
    if output is Format.JSON:
        plain = tables.portable(evaluation).to_dict()
        plain |= {"violations": tables.plain_violations(watch.found)} if validate else {}
        screen.json(plain | ({"repaired": [_plain(one) for one in joined.repaired]} if lenient else {}))
    else:
        violated = [(pair.key, one) for pair, one in watch.found] if validate else None
        screen.show(render.evaluation(evaluation, screen.width, violated))
        if out is not None:
            screen.note(f"wrote {', '.join(files)} into {out.as_posix()}")
    if joined.repaired:
        screen.note(_repaired(joined.repaired))
    for text in missed:
        screen.error(text, "not met")
    raise typer.Exit(int(bool(missed)))


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the documents are. Raises typer.BadParameter unless they are given in exactly one way."""

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
            raise typer.BadParameter("Expected standard input (-) to be one source, got it more than once.")

    def joined(self, reading: Reading, only: Sequence[str]) -> Join:
        """The pairs. Raises DataError."""
        if self.manifest is not None:
            table = Table(self.manifest, reading)
            return paired(table.rows(), factors=table.factors, only=only)
        if self.pairs:
            try:
                return paired(reading.rows(self.pairs), only=only)
            except DataError as error:
                raise error.located(file=", ".join(self.pairs)) from None
        return join(reading.records(self.gold, "gold"), reading.records(self.predicted, "predicted"), only=only)


@dataclass(slots=True)
class Watch:
    """Looks at the documents as they go by: counts them, stops at a failure where that is asked, validates."""

    plan: Plan
    strict: bool = False
    validate: bool = False
    done: Callable[[int], None] = lambda _: None
    found: list[tuple[Pair, Violation]] = field(default_factory=list)

    def __call__(self, pairs: Sequence[Pair], _levels: Sequence[Level]) -> None:
        self.check([pair.failure for pair in pairs if pair.failure is not None])
        if self.validate:
            known = (pair for pair in pairs if pair.predicted is not ABSENT)
            self.found += [(pair, one) for pair in known for one in violations(self.plan.root, pair.predicted)]
        self.done(len(pairs))

    def check(self, failures: Sequence[Failure]) -> None:
        """Raises DataError naming the first failure, where no document may fail."""
        if self.strict and failures:
            first = failures[0]
            raise DataError.of(
                f"{first.side} document {first.id or '?'} failed: {first.reason}",
                file=first.file,
                line=first.line,
                pointer=first.pointer,
                hint="Correct it, or leave --strict out: a failed document then counts as an empty prediction.",
            )


def run(
    plan: Plan, joined: Join, out: Path | None, watch: Watch, screen: Screen, *, report: bool = True
) -> tuple[Evaluation, tuple[str, ...]]:
    """Evaluate, with a progress bar where somebody is looking; the evaluation, and the files written into `out`."""
    columns = (TextColumn("comparing"), BarColumn(), MofNCompleteColumn())
    hidden = screen.quiet or not screen.err.is_terminal
    with Progress(*columns, console=screen.err, transient=True, disable=hidden) as progress:
        task = progress.add_task("", total=len(joined))
        watch.done = lambda size: progress.advance(task, size)
        if out is None:
            evaluation = corpus.evaluate(plan, joined, observe=watch)
            watch.check(evaluation.failures)
            return evaluation, ()
        kept = Kept(plan)

        def observe(pairs: Sequence[Pair], levels: Sequence[Level]) -> None:
            watch(pairs, levels)
            if report:
                kept(pairs, levels)

        evaluation, files = tables.evaluate_into(out, plan, joined, observe)
    if report:
        files = (*files, *reports.write_report(out, evaluation, kept)[1])
    else:
        reports.remove_report(out)
    if joined.repaired:
        with tables.fresh(out / REPAIRED) as file:
            rows = csv.DictWriter(file, ["id", "run", "file", "line", "how"], lineterminator="\n")
            rows.writeheader()
            rows.writerows(_plain(one) for one in joined.repaired)
        files = (*files, REPAIRED)
    else:
        (out / REPAIRED).unlink(missing_ok=True)  # of an earlier evaluation
    if watch.validate:
        with tables.fresh(out / tables.VIOLATIONS) as file:
            tables.write_violations(file, watch.found)
        files = (*files, tables.VIOLATIONS)
    return evaluation, files


def _plain(repair: Repair) -> dict[str, Any]:
    """A repair without the folder of its file: results do not tell where they were made."""
    return asdict(repair) | {"file": Path(repair.file).name}


def _repaired(repairs: Sequence[Repair]) -> str:
    """What to say of predictions that were no JSON."""
    shown = ", ".join(f"{key(one.id, one.run)} ({one.how})" for one in repairs[:SHOWN])
    more = ", ..." * (len(repairs) > SHOWN)
    return f"No JSON, but read leniently ({len(repairs)}): {shown}{more}"
