"""Running an evaluation from the command line: who compares, what is noted, what is written."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from arbitre.cli.options import Kind
from arbitre.corpus import evaluate as corpus
from arbitre.corpus.clusters import labels
from arbitre.corpus.dask import Cluster
from arbitre.corpus.engines import Processes, here
from arbitre.corpus.evaluate import Running
from arbitre.corpus.shards import Shards
from arbitre.errors import DataError
from arbitre.paths import parse
from arbitre.report import files as reports
from arbitre.report import tables
from arbitre.report.exports import asked
from arbitre.report.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from arbitre.cli.screen import Screen
    from arbitre.comparison.levels import Level
    from arbitre.corpus.engines import Engine
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.corpus.join import Join
    from arbitre.corpus.outcomes import Observers, Outcomes
    from arbitre.corpus.records import Failure, Pair, Repair
    from arbitre.report.exports import Export
    from arbitre.schema import Plan
    from arbitre.values import Json

REPAIRED: Final = "repaired.csv"
CLUSTERS: Final = "clusters"
_REPAIR: Final = ("id", "run", "file", "line", "how")


def engine(kind: Kind, scheduler: str | None, workers: int | None) -> Engine:
    """Who compares. Raises typer.BadParameter where the options do not fit."""
    if (kind is Kind.DASK) != (scheduler is not None):
        raise typer.BadParameter("Expected --engine dask and --scheduler together.")
    if scheduler is not None:
        return Cluster(scheduler)
    count = workers or os.cpu_count() or 1
    return Processes(count) if count > 1 else here


def exports(names: Sequence[str] | None, rows: Collection[str], out: Path | None) -> tuple[Export, ...]:
    """The tables that are asked for. Raises typer.BadParameter without a folder, DataError for names of none."""
    if names and out is None:
        raise typer.BadParameter("Expected --out with --table: the folder for the tables.")
    return asked(names or (), rows)


class Rate(ProgressColumn):
    """How many documents are compared in a second."""

    def render(self, task: Task) -> Text:
        """The rate, once there is one."""
        return Text("" if task.speed is None else f"{task.speed:,.0f}/s")


@dataclass(frozen=True, slots=True)
class At:
    """Notes what stands under a pointer in gold documents: an observer of `arbitre.corpus`."""

    pointer: str

    def __call__(self, pairs: Sequence[Pair], _levels: Sequence[Level]) -> list[Json]:
        """A label for every document. Raises DataError where nothing stands there."""
        return [self._label(pair) for pair in pairs]

    def _label(self, pair: Pair) -> str:
        value = pair.gold
        try:
            for token in parse(self.pointer):
                value = value[int(str(token))] if isinstance(value, list) else value[token]
        except (KeyError, IndexError, TypeError, ValueError):
            raise DataError.of(
                f"Expected every gold document to have what clusters go by, got none in {pair.key!r}",
                pointer=self.pointer,
                hint="Cluster by something that all documents have.",
            ) from None
        return value if isinstance(value, str) else tables.compact(value)


@dataclass(slots=True)
class Run:
    """One evaluation of a corpus: `strict` stops at the first failure, `out` is where its results go."""

    plan: Plan
    joined: Join
    engine: Engine = here
    out: Path | None = None
    strict: bool = False
    validate: bool = False
    report: bool = True
    resume: bool = False
    cluster_by: str | None = None
    violations: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, screen: Screen) -> tuple[Evaluation, tuple[str, ...]]:
        """Evaluate, with a progress bar where somebody is looking; the evaluation, and the files that were written."""
        self.check(self.joined.failures)
        kept, clusters = Kept(self.plan), list[str]()
        columns = (TextColumn("comparing"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
        hidden = screen.quiet or not screen.err.is_terminal
        with Progress(*columns, console=screen.err, transient=True, disable=hidden) as progress:
            task = progress.add_task("", total=len(self.joined))

            def taken(outcomes: Outcomes) -> None:
                self.check(outcomes.failures)
                kept.take(outcomes)
                self.violations += outcomes.seen.get(tables.VIOLATIONS, ())
                clusters.extend(map(str, outcomes.seen.get(CLUSTERS, ())))
                progress.advance(task, len(outcomes))

            evaluation, files = self._evaluated(Running(self._observers(kept), taken, self.engine), clusters)
        if self.out is not None:
            files = (*files, *self._written(self.out, evaluation, kept))
        return evaluation, files

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

    def _observers(self, kept: Kept) -> Observers:
        found: dict[str, Any] = {}
        if self.validate:
            found[tables.VIOLATIONS] = tables.Violating(self.plan.root)
        if self.report and self.out is not None:
            found |= kept.observers
        if self.cluster_by is not None and self.cluster_by.startswith("/"):
            found[CLUSTERS] = At(self.cluster_by)
        return found

    def _evaluated(self, how: Running, clusters: list[str]) -> tuple[Evaluation, tuple[str, ...]]:
        if self.out is None:
            return self._clustered(corpus.evaluate(self.plan, self.joined, how), clusters), ()
        noted = sorted((*how.observers, tables.MATCHES, str(self.cluster_by)))
        how = replace(how, shards=Shards(self.out, self.plan.signature, noted, resume=self.resume))
        return tables.evaluate_into(
            self.out, self.plan, self.joined, how=how, then=lambda found: self._clustered(found, clusters)
        )

    def _clustered(self, found: Evaluation, clusters: list[str]) -> Evaluation:
        """The evaluation with the clusters that were asked for. Raises DataError where a document has none."""
        if self.cluster_by is None:
            return found
        given = self.joined.factors.get(self.cluster_by)
        if self.cluster_by.startswith("/"):
            given = tuple(clusters)
        made = labels(found.columns.ids, self.cluster_by if given is None else given)
        return replace(found, clusters=tuple(made or ()))

    def _written(self, out: Path, evaluation: Evaluation, kept: Kept) -> tuple[str, ...]:
        """The files beside the tables: the report, what was repaired, what is violated."""
        files: tuple[str, ...] = ()
        if self.report:
            kept.fill(evaluation, self.joined)
            files = reports.write_report(out, evaluation, kept)[1]
        else:
            reports.remove_report(out)
        if self.joined.repaired:
            with tables.fresh(out / REPAIRED) as file:
                rows = tables.csv_writer(file)
                rows.writerow(_REPAIR)
                for one in map(plain_repair, self.joined.repaired):
                    rows.writerow([tables.cell(one[name]) for name in _REPAIR])
            files = (*files, REPAIRED)
        else:
            (out / REPAIRED).unlink(missing_ok=True)  # of an earlier evaluation
        if self.validate:
            with tables.fresh(out / tables.VIOLATIONS) as file:
                tables.write_violations(file, self.violations)
            files = (*files, tables.VIOLATIONS)
        return files


def plain_repair(repair: Repair) -> dict[str, Any]:
    """A repair without the folder of its file: results do not tell where they were made."""
    return asdict(repair) | {"file": Path(repair.file).name}
