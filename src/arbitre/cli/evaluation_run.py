"""Run an evaluation from the command line: executor, progress bar and output files."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from arbitre.cli.options import EngineKind
from arbitre.corpus.running import evaluate as corpus
from arbitre.corpus.running.checkpoints import Checkpoints
from arbitre.corpus.running.dask_cluster import DaskCluster
from arbitre.corpus.running.evaluate import RunOptions
from arbitre.corpus.running.executors import ProcessPool, run_in_process
from arbitre.corpus.statistics.clusters import cluster_labels
from arbitre.errors import DataError
from arbitre.paths import parse
from arbitre.report import report_files as reports
from arbitre.report.documents.worst_documents import WorstDocuments
from arbitre.report.tables import result_files
from arbitre.report.tables.exports import parse_exports
from arbitre.report.text_files import atomic_text_file, cell, compact, csv_writer

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from arbitre.cli.output.console import Terminal
    from arbitre.comparison.levels import Level
    from arbitre.corpus.joining.join import Join
    from arbitre.corpus.reading.records import Failure, Pair, Repair
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.running.document_results import DocumentResults, Observers
    from arbitre.corpus.running.executors import Executor
    from arbitre.report.tables.exports import Export
    from arbitre.schema import Plan
    from arbitre.values import Json

REPAIRED: Final = "repaired.csv"
CLUSTERS: Final = "clusters"
_REPAIR_COLUMNS: Final = ("id", "run", "file", "line", "how")


def engine(kind: EngineKind, scheduler: str | None, workers: int | None) -> Executor:
    """Return the executor. Raises typer.BadParameter if the options contradict each other."""
    if (kind is EngineKind.DASK) != (scheduler is not None):
        raise typer.BadParameter("Expected --engine dask and --scheduler together.")
    if scheduler is not None:
        return DaskCluster(scheduler)
    count = workers or os.cpu_count() or 1
    return ProcessPool(count) if count > 1 else run_in_process


def exports(names: Sequence[str] | None, rows: Collection[str], out: Path | None) -> tuple[Export, ...]:
    """Parse the values of `--table`.

    Raises:
        typer.BadParameter: There is no output folder.
        DataError: A name is not a table.
    """
    if names and out is None:
        raise typer.BadParameter("--table requires --out: the folder for the tables.")
    return parse_exports(names or (), rows)


class RateColumn(ProgressColumn):
    """Progress column with the number of documents compared per second."""

    def render(self, task: Task) -> Text:
        """Return the rate, or an empty text before it is known."""
        return Text("" if task.speed is None else f"{task.speed:,.0f}/s")


@dataclass(frozen=True, slots=True)
class PointerLabels:
    """Observer that returns the value at a pointer in each gold document, as its cluster label."""

    pointer: str

    def __call__(self, pairs: Sequence[Pair], _levels: Sequence[Level]) -> list[Json]:
        """Return a label per document. Raises DataError if a document has no value at the pointer."""
        return [self._label(pair) for pair in pairs]

    def _label(self, pair: Pair) -> str:
        value = pair.gold
        try:
            for token in parse(self.pointer):
                value = value[int(str(token))] if isinstance(value, list) else value[token]
        except (KeyError, IndexError, TypeError, ValueError):
            raise DataError.of(
                f"Gold document {pair.key!r} has no value to cluster by",
                pointer=self.pointer,
                hint="Choose a --cluster-by pointer that exists in all gold documents.",
            ) from None
        return value if isinstance(value, str) else compact(value)


@dataclass(slots=True)
class EvaluationRun:
    """One evaluation of a corpus; `strict` stops at the first failure, `out` is the results folder."""

    plan: Plan
    joined: Join
    engine: Executor = run_in_process
    out: Path | None = None
    strict: bool = False
    validate: bool = False
    report: bool = True
    resume: bool = False
    cluster_by: str | None = None
    violations: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, screen: Terminal) -> tuple[Evaluation, tuple[str, ...]]:
        """Run the evaluation, with a progress bar on terminals; return it and the names of the files written."""
        self.check(self.joined.failures)
        kept, clusters = WorstDocuments(self.plan), list[str]()
        columns = (TextColumn("comparing"), BarColumn(), MofNCompleteColumn(), RateColumn(), TimeRemainingColumn())
        hidden = screen.quiet or not screen.err.is_terminal
        with Progress(*columns, console=screen.err, transient=True, disable=hidden) as progress:
            task = progress.add_task("", total=len(self.joined))

            def on_results(outcomes: DocumentResults) -> None:
                self.check(outcomes.failures)
                kept.take(outcomes)
                self.violations += outcomes.seen.get(result_files.VIOLATIONS, ())
                clusters.extend(map(str, outcomes.seen.get(CLUSTERS, ())))
                progress.advance(task, len(outcomes))

            evaluation, files = self._evaluate(RunOptions(self._observers(kept), on_results, self.engine), clusters)
        if self.out is not None:
            files = (*files, *self._write_files(self.out, evaluation, kept))
        return evaluation, files

    def check(self, failures: Sequence[Failure]) -> None:
        """Raise DataError with the first failure if `strict` is set."""
        if self.strict and failures:
            first = failures[0]
            raise DataError.of(
                f"{first.side} document {first.id or '?'} failed: {first.reason}",
                file=first.file,
                line=first.line,
                pointer=first.pointer,
                hint="Correct it, or omit --strict: a failed document then counts as an empty prediction.",
            )

    def _observers(self, kept: WorstDocuments) -> Observers:
        observers: dict[str, Any] = {}
        if self.validate:
            observers[result_files.VIOLATIONS] = result_files.ViolationObserver(
                self.plan.root, self.plan.format_assertion
            )
        if self.report and self.out is not None:
            observers |= kept.observers
        if self.cluster_by is not None and self.cluster_by.startswith("/"):
            observers[CLUSTERS] = PointerLabels(self.cluster_by)
        return observers

    def _evaluate(self, how: RunOptions, clusters: list[str]) -> tuple[Evaluation, tuple[str, ...]]:
        if self.out is None:
            return self._with_clusters(corpus.evaluate(self.plan, self.joined, how), clusters), ()
        noted = sorted((*how.observers, result_files.MATCHES, str(self.cluster_by)))
        how = replace(how, checkpoints=Checkpoints(self.out, self.plan.signature, noted, resume=self.resume))
        return result_files.evaluate_into(
            self.out, self.plan, self.joined, how=how, then=lambda found: self._with_clusters(found, clusters)
        )

    def _with_clusters(self, evaluation: Evaluation, clusters: list[str]) -> Evaluation:
        """Return the evaluation with cluster labels. Raises DataError if a document has no label."""
        if self.cluster_by is None:
            return evaluation
        given = self.joined.factors.get(self.cluster_by)
        if self.cluster_by.startswith("/"):
            given = tuple(clusters)
        labels = cluster_labels(evaluation.document_table.ids, self.cluster_by if given is None else given)
        return replace(evaluation, clusters=tuple(labels or ()))

    def _write_files(self, out: Path, evaluation: Evaluation, kept: WorstDocuments) -> tuple[str, ...]:
        """Write the report, repairs and violations; return the names of the files."""
        files: tuple[str, ...] = ()
        if self.report:
            kept.fill(evaluation, self.joined)
            files = reports.write_report(out, evaluation, kept)[1]
        else:
            reports.remove_report(out)
        if self.joined.repaired:
            with atomic_text_file(out / REPAIRED) as file:
                rows = csv_writer(file)
                rows.writerow(_REPAIR_COLUMNS)
                for repair in map(repair_without_folder, self.joined.repaired):
                    rows.writerow([cell(repair[name]) for name in _REPAIR_COLUMNS])
            files = (*files, REPAIRED)
        else:
            (out / REPAIRED).unlink(missing_ok=True)  # from an earlier evaluation
        if self.validate:
            with atomic_text_file(out / result_files.VIOLATIONS) as file:
                result_files.write_violations(file, self.violations)
            files = (*files, result_files.VIOLATIONS)
        return files


def repair_without_folder(repair: Repair) -> dict[str, Any]:
    """Return a repair with the bare name of its file: results do not contain local folders."""
    return asdict(repair) | {"file": Path(repair.file).name}
