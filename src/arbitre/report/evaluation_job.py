"""Runs an evaluation and writes its results: executor, clusters, strictness and output files."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from arbitre.corpus.running import evaluate as corpus
from arbitre.corpus.running.checkpoints import Checkpoints
from arbitre.corpus.running.evaluate import ExecutionOptions
from arbitre.corpus.running.executors import choose_executor
from arbitre.corpus.running.phases import ignore_progress
from arbitre.corpus.statistics.clusters import cluster_labels
from arbitre.errors import DataError, OptionError
from arbitre.paths import parse
from arbitre.report import report_files as reports
from arbitre.report.documents.worst_documents import WorstDocuments
from arbitre.report.tables import result_files
from arbitre.report.text_files import atomic_text_file, compact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from arbitre.comparison.levels import Level
    from arbitre.corpus.joining.join import Join
    from arbitre.corpus.reading.records import Failure, Pair
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.running.document_results import DocumentResults, Observers
    from arbitre.corpus.running.executors import Engine
    from arbitre.corpus.running.phases import OnProgress
    from arbitre.schema import Plan
    from arbitre.values import Json

REPAIRED: Final = "repaired.csv"
CLUSTERS: Final = "clusters"
_REPAIR_COLUMNS: Final = ("id", "run", "file", "line", "how")


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions:
    """Options for evaluating a corpus and writing the results.

    Attributes:
        out: Folder of the results; None writes no files.
        resume: Whether to continue an interrupted evaluation in the same folder.
        strict: Whether to stop at the first failed document.
        validate: Whether to list the schema violations of predictions.
        cluster_by: How to group documents that belong together: a manifest column, a JSON Pointer into gold, or a
            regular expression on ids.
        workers: Number of worker processes; None for the number of processors.
        engine: Where documents are compared: "local", or "dask" for a Dask cluster.
        scheduler: Address of the Dask scheduler.
        no_report: Whether to write no report.
        no_chance: Whether to compute no chance scores.

    Raises:
        OptionError: Options contradict each other.
    """

    out: Path | None = None
    resume: bool = False
    strict: bool = False
    validate: bool = False
    cluster_by: str | None = None
    workers: int | None = None
    engine: Engine = "local"
    scheduler: str | None = None
    no_report: bool = False
    no_chance: bool = False

    def __post_init__(self) -> None:
        choose_executor(self.engine, self.scheduler, self.workers)
        if self.resume and self.out is None:
            raise OptionError.of("`resume` requires `out`: the folder of the interrupted evaluation.")


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
class EvaluationJob:
    """One evaluation of a corpus.

    Attributes:
        plan: Compiled schema.
        joined: Pairs to compare.
        options: Executor, output folder and other options.
        violations: Schema violations of the predictions, after the evaluation, if `validate` is set.
    """

    plan: Plan
    joined: Join
    options: EvaluationOptions = EvaluationOptions()
    violations: list[dict[str, Any]] = field(default_factory=list)

    def __call__(
        self,
        on_results: Callable[[DocumentResults], None] = lambda _: None,
        on_progress: OnProgress = ignore_progress,
    ) -> tuple[Evaluation, tuple[str, ...]]:
        """Evaluate the corpus.

        Args:
            on_results: Called with the results of each work unit.
            on_progress: Called when documents have been compared, and when the next phase begins.

        Returns:
            The evaluation and the names of the files written.

        Raises:
            DataError: A document failed and `strict` is set, or a file cannot be written.
        """
        self.check(self.joined.failures)
        options, kept, clusters = self.options, WorstDocuments(self.plan), list[str]()
        done, total = 0, len(self.joined)
        on_progress("comparing", done, total)

        def collect(outcomes: DocumentResults) -> None:
            nonlocal done
            done += len(outcomes)
            on_progress("comparing", done, total)
            self.check(outcomes.failures)
            kept.take(outcomes)
            self.violations += outcomes.seen.get(result_files.VIOLATIONS, ())
            clusters.extend(map(str, outcomes.seen.get(CLUSTERS, ())))
            on_results(outcomes)

        executor = choose_executor(options.engine, options.scheduler, options.workers)
        how = ExecutionOptions(self._observers(kept), collect, executor, chance=not options.no_chance)
        evaluation, files = self._evaluate(how, clusters, on_progress)
        if options.out is not None:
            files = (*files, *self._write_files(options.out, evaluation, kept))
        return evaluation, files

    def check(self, failures: Sequence[Failure]) -> None:
        """Raise DataError with the first failure if `strict` is set."""
        if self.options.strict and failures:
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
        if self.options.validate:
            observers[result_files.VIOLATIONS] = result_files.ViolationObserver(self.plan.root)
        if self.options.out is not None and not self.options.no_report:
            observers |= kept.observers
        pointer = self.options.cluster_by
        if pointer is not None and pointer.startswith("/"):
            observers[CLUSTERS] = PointerLabels(pointer)
        return observers

    def _evaluate(
        self, how: ExecutionOptions, clusters: list[str], on_progress: OnProgress
    ) -> tuple[Evaluation, tuple[str, ...]]:
        out = self.options.out
        if out is None:
            return self._with_clusters(corpus.evaluate(self.plan, self.joined, how), clusters), ()
        noted = sorted((*how.observers, result_files.MATCHES, str(self.options.cluster_by)))
        how = replace(how, checkpoints=Checkpoints(out, self.plan.signature, noted, resume=self.options.resume))

        def completed(evaluation: Evaluation) -> Evaluation:
            on_progress("resampling", 0, None)
            evaluation = self._with_clusters(evaluation, clusters)
            evaluation.trust  # noqa: B018  (computed once, before the files)
            on_progress("writing", 0, None)
            return evaluation

        return result_files.evaluate_into(out, self.plan, self.joined, how=how, then=completed)

    def _with_clusters(self, evaluation: Evaluation, clusters: list[str]) -> Evaluation:
        """Return the evaluation with cluster labels. Raises DataError if a document has no label."""
        cluster_by = self.options.cluster_by
        if cluster_by is None:
            return evaluation
        given = clusters if cluster_by.startswith("/") else self.joined.factors.get(cluster_by, cluster_by)
        labels = cluster_labels(evaluation.document_table.ids, given)
        return replace(evaluation, clusters=tuple(labels or ()))

    def _write_files(self, out: Path, evaluation: Evaluation, kept: WorstDocuments) -> tuple[str, ...]:
        """Write the report, repairs and violations; return the names of the files."""
        files: tuple[str, ...] = ()
        if not self.options.no_report:
            kept.fill(evaluation, self.joined)
            files = reports.write_report(out, evaluation, kept)[1]
        else:
            reports.remove_report(out)
        if self.joined.repaired:
            with atomic_text_file(out / REPAIRED) as file:
                repairs = result_files.without_file_folders(self.joined.repaired)
                result_files.write_rows(file, _REPAIR_COLUMNS, repairs)
            files = (*files, REPAIRED)
        else:
            (out / REPAIRED).unlink(missing_ok=True)  # from an earlier evaluation
        if self.options.validate:
            with atomic_text_file(out / result_files.VIOLATIONS) as file:
                result_files.write_rows(file, result_files.VIOLATION_COLUMNS, self.violations)
            files = (*files, result_files.VIOLATIONS)
        return files
