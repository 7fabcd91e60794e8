"""`arbitre evaluate`: a corpus of predictions against its gold."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

import arbitre
from arbitre.cli import render
from arbitre.cli.options import (
    Close,
    FailUnder,
    Format,
    IdKey,
    MaxDepth,
    Output,
    Overlay,
    Plain,
    Quiet,
    Schema,
    Validate,
)
from arbitre.cli.screen import Screen
from arbitre.cli.thresholds import shortfalls
from arbitre.corpus import evaluate as corpus
from arbitre.corpus import strict as reading
from arbitre.corpus.join import Join, Pair, combined, join
from arbitre.corpus.read import STDIN, Failure, Record, Side, listed, records
from arbitre.errors import DataError, did_you_mean
from arbitre.report import tables
from arbitre.schema import CLOSE
from arbitre.schema.validate import violations
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from arbitre.comparison.levels import Level
    from arbitre.corpus.evaluate import Evaluation
    from arbitre.schema import Plan
    from arbitre.schema.validate import Violation

Gold = Annotated[
    str | None, typer.Option(metavar="PATH", help="Gold documents: a folder, a .json or .jsonl file, or -.")
]
Predicted = Annotated[
    str | None, typer.Option(metavar="PATH", help="Predictions: a folder, a .json or .jsonl file, or -.")
]
Pairs = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Instead of --gold and --predicted: records with id, gold and predicted."),
]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Write evaluation.json and the tables into this folder.")]
IdPattern = Annotated[
    str | None,
    typer.Option(metavar="REGEX", help="What in a file name is the id: the group id, the first group, or all of it."),
]
Only = Annotated[list[str] | None, typer.Option(metavar="ID", help="Evaluate this document. May be repeated.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop with exit code 2 where a document failed.")]


def evaluate(
    *,
    schema: Schema,
    gold: Gold = None,
    predicted: Predicted = None,
    pairs: Pairs = None,
    out: Out = None,
    overlay: Overlay = None,
    id_key: IdKey = "id",
    id_pattern: IdPattern = None,
    only: Only = None,
    fail_under: FailUnder = None,
    strict: Strict = False,
    validate: Validate = False,
    output: Output = Format.TEXT,
    max_depth: MaxDepth = reading.MAX_DEPTH,
    close: Close = CLOSE,
    no_color: Plain = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate a corpus: every prediction against the gold document of the same id."""
    given = gold is not None and predicted is not None and pairs is None
    if not given and (pairs is None or gold is not None or predicted is not None):
        raise typer.BadParameter("Expected --gold and --predicted, or --pairs alone.")
    if gold == predicted == STDIN:
        raise typer.BadParameter("Expected one of --gold and --predicted to be a file or a folder, got - for both.")
    screen = Screen.of(plain=no_color, quiet=quiet)
    comparator = arbitre.Comparator(schema, overlay=overlay, close=close)
    reader = Reader(id_key, id_pattern, max_depth, tuple(only or ()))
    joined = reader.pairs(pairs) if pairs is not None else reader.joined(str(gold), str(predicted))
    watch = Watch(comparator.plan, strict=strict, validate=validate)
    watch.check(joined.failures)
    evaluation, files = run(comparator.plan, joined, out, watch, screen)
    missed = list(shortfalls(fail_under or (), evaluation, {row.path for row in comparator.explain()}))
    if output is Format.JSON:
        plain = tables.portable(evaluation).to_dict()
        screen.json(plain | {"violations": tables.plain_violations(watch.found)} if validate else plain)
    else:
        violated = [(pair.key, one) for pair, one in watch.found] if validate else None
        screen.show(render.evaluation(evaluation, screen.width, violated))
        if out is not None:
            screen.note(f"wrote {', '.join(files)} into {out.as_posix()}")
    for text in missed:
        screen.error(text, "not met")
    raise typer.Exit(int(bool(missed)))


@dataclass(frozen=True, slots=True)
class Reader:
    """How the documents are read."""

    id_key: str = "id"
    id_pattern: str | None = None
    max_depth: int = reading.MAX_DEPTH
    only: tuple[str, ...] = ()

    def joined(self, gold: str, predicted: str) -> Join:
        """Two sources joined by id. Raises DataError."""
        sides = (self._records(gold, "gold"), self._records(predicted, "predicted"))
        return join(*sides, only=self.only)

    def _records(self, source: str, side: Side) -> Iterator[Record | Failure]:
        return records(source, side, id_key=self.id_key, id_pattern=self.id_pattern, max_depth=self.max_depth)

    def pairs(self, source: str) -> Join:
        """One source that holds both sides. Raises DataError where `only` names a document that it does not hold."""
        found = list(combined(source, id_key=self.id_key, id_pattern=self.id_pattern, max_depth=self.max_depth))
        known = {one.id for one in found if one.id is not None}
        unknown = [name for name in self.only if name not in known]
        if unknown:
            raise DataError.of(
                f"Expected --only to name documents, got {listed(unknown)}",
                file=source,
                hint=did_you_mean(unknown[0], known),
            )
        wanted = [one for one in found if not self.only or one.id is None or one.id in self.only]
        pairs = tuple(one for one in wanted if isinstance(one, Pair))
        failures = [one if isinstance(one, Failure) else one.failure for one in wanted]
        return Join(pairs, tuple(failure for failure in failures if failure is not None))


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


def run(plan: Plan, joined: Join, out: Path | None, watch: Watch, screen: Screen) -> tuple[Evaluation, tuple[str, ...]]:
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
        evaluation, files = tables.evaluate_into(out, plan, joined, watch)
    if watch.validate:
        with tables.fresh(out / tables.VIOLATIONS) as file:
            tables.write_violations(file, watch.found)
        files = (*files, tables.VIOLATIONS)
    return evaluation, files
