"""Runs an evaluation and writes its results: executor, clusters, strictness and output files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sized
from contextlib import ExitStack
from dataclasses import InitVar, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import numpy as np

from arbitre.comparison.flat import FlatTotals
from arbitre.comparison.leaf_pairs import LeafPair, leaf_pairs
from arbitre.corpus import tables
from arbitre.corpus.archive import without_file_folders
from arbitre.corpus.chance import sample_by_id
from arbitre.corpus.checkpoints import Checkpoints, digest_of_functions, digest_of_plan
from arbitre.corpus.evaluate import ExecutionOptions, evaluate, ignore_progress, pair_up, with_corpus_ids
from arbitre.corpus.evaluation import Evaluation, extend, known
from arbitre.corpus.executors import processes_of, running, workers_of
from arbitre.diagnosis.corpus_diagnosis import DiagnosisTotals
from arbitre.diagnosis.evidence import search_halvings
from arbitre.errors import DataError
from arbitre.inputs.join import UNIT_SIZE, JoinedCorpus, KeyCheck
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.provenance import UNKNOWN_GOLD, GoldProvenance
from arbitre.inputs.source_texts import SourceTexts
from arbitre.jobs import result_files
from arbitre.jobs.evaluation_details import FILES, SavedDetails, is_saved
from arbitre.jobs.evaluation_options import EvaluationOptions
from arbitre.jobs.result_files import FaultTableObserver, MatchTableObserver, write_exports
from arbitre.paths import wildcard
from arbitre.report.entry_links import example_links
from arbitre.report.entry_rows import EntryLayout
from arbitre.report.example_sources import ExampleSources
from arbitre.report.worst_documents import ALIGNMENTS, WorstDocuments
from arbitre.schema.describe import walk
from arbitre.statistics.sample import cluster_labels
from arbitre.storage.files import FREE_SPACE, atomic_text_file
from arbitre.storage.output_folder import CHECKPOINT, check_output_folder, output_folder, paths_among
from arbitre.tables.csv_text import STANDARD, CsvDialect, write_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from arbitre.comparison.cause import CauseAnalysis, CauseExample
    from arbitre.comparison.coreference import CoreferenceCounts
    from arbitre.comparison.flat import FlatComparison
    from arbitre.comparison.leaf_pairs import Row
    from arbitre.comparison.levels import Level
    from arbitre.corpus.evaluate import OnProgress, Triple
    from arbitre.corpus.executors import Executor
    from arbitre.corpus.worker import DocumentResults, Observers
    from arbitre.diagnosis.moved_chance import ValueFrequencies
    from arbitre.engine.independent_matching import IndependentLevels
    from arbitre.inputs.corpus_sources import Sources
    from arbitre.inputs.records import Failure, Pair
    from arbitre.report.entry_links import EntryLink
    from arbitre.report.view import Subject
    from arbitre.schema import Plan
    from arbitre.tables.arrow import Frame
    from arbitre.values import Json

MAX_COUNTED: Final = 256
"""Maximum number of gold documents whose values are counted for the chance of moved values."""
CLUSTERS: Final = "clusters"
FLAT: Final = "flat"
COREFERENCE: Final = "coreference"
_NOTHING_MATCHES: Final = (
    "No prediction matches any part of its gold document. Check that both have the same structure (otherwise, set "
    "--predicted-key or use --project), and that equal ids refer to the same document."
)
_FREE_SPACE: Final = "Free some space there and continue with --resume, or choose a folder on another disk."
_CORRECT: Final = "Correct the options, or omit --strict."
_REPAIR_COLUMNS: Final = ("id", "run", "file", "line", "how")


@dataclass(slots=True)
class EvaluationJob:
    """One evaluation of a corpus.

    Attributes:
        plan: Compiled schema.
        joined: Pairs to compare, or (id, gold, predicted) triples.
        options: Executor, output folder and other options.
        reading: How ids are found in the names of source texts.
        given: The evaluation of the pairs, if it is known and only its files are to be written.
        inputs: Files and folders that are read, which the output folder must not contain.
        on_progress: Called when documents have been compared, and when the next phase begins.
        observers: Collect further values about documents.
        violations: Schema violations of the predictions, after the evaluation, if `validate` is set.

    The init-only argument `executor` is the executor to use; None creates one from `options`.
    """

    plan: Plan
    joined: JoinedCorpus | Iterable[Triple]
    options: EvaluationOptions = field(default_factory=EvaluationOptions)
    reading: ReadOptions = field(default_factory=ReadOptions)
    given: Evaluation | None = None
    inputs: Sequence[str | Path] = ()
    on_progress: OnProgress = ignore_progress
    observers: Observers = field(default_factory=dict)
    violations: list[dict[str, Any]] = field(default_factory=list)
    executor: InitVar[Executor | None] = None
    _executor: Executor = field(init=False)
    _keys: KeyCheck = field(init=False)
    _given: GoldProvenance | None = field(init=False)
    _kept: WorstDocuments | None = field(init=False)
    """Documents for the report; None if none is written."""
    _faults: DiagnosisTotals | None = field(init=False)
    _flat: FlatTotals | None = field(init=False)
    _texts: SourceTexts | None = field(init=False, default=None)
    _checkpointed: bool = field(init=False, default=False)
    """Whether the results of each work unit are stored, so that the evaluation can be resumed."""

    def __post_init__(self, executor: Executor | None) -> None:
        self._executor = executor or self.options.executor
        options = self.options
        self._given = None if options.provenance is None else GoldProvenance.of(options.provenance)
        reported = options.out is not None and not options.no_report
        self._kept = WorstDocuments(self.plan, options.keep) if reported else None
        self._faults = DiagnosisTotals() if options.diagnose else None
        self._flat = FlatTotals() if options.flat or options.diagnose else None
        again = options.out is not None or options.diagnose or options.flat or options.source is not None
        again |= bool(self.plan.corpus_scopes)
        if again and isinstance(self.joined, Iterator):
            self.joined = list(self.joined)  # the report and the diagnosis read documents again
        if self.plan.corpus_scopes and self.plan.corpus_ids is None:
            joined = self.joined if isinstance(self.joined, JoinedCorpus) else pair_up(self.joined)
            self.plan = with_corpus_ids(self.plan, joined)
        self._keys = KeyCheck(self.plan.document_keys)
        if isinstance(self.joined, Iterator):
            self.joined = self._keys.watched(self.joined)
        elif not isinstance(self.joined, JoinedCorpus) and self.given is None:
            self._keys.read(self.joined)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the options, for evaluations that compare documents again; without observers and progress."""
        return EvaluationJob, (self.plan, self.joined, self.options, self.reading)

    @classmethod
    def of_sources(
        cls,
        plan: Plan,
        sources: Sources,
        reading: ReadOptions,
        options: EvaluationOptions,
        on_progress: OnProgress = ignore_progress,
        *,
        executor: Executor | None = None,
    ) -> Self:
        """Read the documents of a corpus.

        Raises DataError if a source cannot be read, or if the results must not be written to the output folder.
        """
        reading, executor = reading.for_plan(plan), executor or options.executor
        inputs: list[str | Path] = []
        if options.out is not None:
            inputs = input_files(plan, sources, reading, options)
            check_output_folder(options.out, "evaluation", inputs=inputs, force=options.force)
        with ExitStack() as stack:
            stack.enter_context(running(executor))
            joined = sources.joined(reading, lambda done: on_progress("reading", done, None), workers_of(executor))
            found = KeyCheck(plan.document_keys).read(joined).notes
            for side, note in found.items() if options.strict else ():
                file = ", ".join(map(str, paths_among(getattr(sources, side)))) or None
                raise DataError.of(note, file=file, hint=_CORRECT)
            joined = replace(joined, notes=(*found.values(), *joined.notes))
            stack.pop_all()
        return cls(
            reading.signed(plan), joined, options, reading, inputs=inputs, on_progress=on_progress, executor=executor
        )

    @property
    def size(self) -> int | None:
        """Number of pairs; None if it is not known in advance."""
        return len(self.joined) if isinstance(self.joined, Sized) else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the schema, and on how the documents were joined."""
        return (*self.plan.notes, *(self.joined.notes if isinstance(self.joined, JoinedCorpus) else ()))

    @property
    def provenance(self) -> GoldProvenance:
        """Provenance of the gold."""
        return self._given or (self.joined.provenance if isinstance(self.joined, JoinedCorpus) else UNKNOWN_GOLD)

    @property
    def documents(self) -> JoinedCorpus:
        """The pairs, each of which can be read again."""
        return self.joined if isinstance(self.joined, JoinedCorpus) else pair_up(self.joined)

    def __call__(
        self, on_results: Callable[[DocumentResults], None] = lambda _: None
    ) -> tuple[Evaluation, tuple[str, ...]]:
        """Evaluate the corpus and write all files: all or none.

        Args:
            on_results: Called with the results of each work unit.

        Returns:
            The evaluation and the names of the files written.

        Raises:
            DataError: A document failed and `strict` is set, a file cannot be written, or the output folder contains
                files that arbitre did not write.
        """
        options = self.options
        if options.out is None:
            return self.run(on_results)
        inputs = [*self.plan.inputs, *self.inputs]
        with output_folder(
            options.out,
            result_names(options),
            "evaluation",
            inputs=inputs,
            resume=options.resume,
            keep_checkpoints=options.keep_checkpoints,
            force=options.force,
        ) as staging:
            self.options, self._checkpointed = replace(options, out=staging), self.given is None
            try:
                evaluation, files = self.run(on_results)
            except DataError as error:
                if self._checkpointed and error.hint == FREE_SPACE:
                    raise DataError(*(replace(one, hint=_FREE_SPACE) for one in error.problems)) from error
                raise
            finally:
                self.options, self._checkpointed = options, False
        return extend(Evaluation, evaluation, folder=options.out), files

    def run(self, on_results: Callable[[DocumentResults], None] = lambda _: None) -> tuple[Evaluation, tuple[str, ...]]:
        """Evaluate the corpus and write all files directly to `options.out`; arguments and errors as for the call."""
        with running(self._executor):
            evaluation, files = self.compare(on_results)
            files = (*files, *self.write_report(evaluation), *self._export(evaluation))
        return evaluation, tuple(dict.fromkeys(files))

    def compare(
        self, on_results: Callable[[DocumentResults], None] = lambda _: None
    ) -> tuple[Evaluation, tuple[str, ...]]:
        """Evaluate the corpus and write its results, without the report; arguments and errors as for the call."""
        if isinstance(self.joined, JoinedCorpus):
            self.check(self.joined.failures)
        self.source_texts()  # an error is raised before the documents are compared
        options, clusters, done = self.options, list[str](), 0
        self.on_progress("comparing", done, self.size)

        def collect(outcomes: DocumentResults) -> None:
            nonlocal done
            done += len(outcomes)
            self.on_progress("comparing", done, self.size)
            self.check(outcomes.failures)
            if self._kept is not None:
                self._kept.take(outcomes)
            if self._faults is not None:
                notes: Sequence[Any] = outcomes.seen.get(result_files.FAULTS, ())
                for note in notes:
                    self._faults.add(note)
            if self._flat is not None:
                self._flat.add(outcomes.seen.get(FLAT, ()))
            self.violations += outcomes.seen.get(result_files.VIOLATIONS, ())
            clusters.extend(map(str, outcomes.seen.get(CLUSTERS, ())))
            on_results(outcomes)

        how = ExecutionOptions(self._observers(), collect, self._executor, chance=not options.no_chance)
        return self._evaluate(how, clusters)

    def _export(self, evaluation: Evaluation) -> tuple[str, ...]:
        """Write the further tables and return their names."""
        options = self.options
        if options.out is None or not options.table:
            return ()
        sheets = tables.export_tables(evaluation, options.table_score)
        return write_exports(options.out, options.exports, sheets, CsvDialect.named(options.csv_dialect), options.lang)

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

    def _observers(self) -> Observers:
        observers: dict[str, Any] = {**self.observers}
        if self.options.validate:
            observers[result_files.VIOLATIONS] = result_files.ViolationObserver(
                self.plan.root, self.plan.format_assertion
            )
        if self.options.diagnose:
            observers[result_files.FAULTS] = self.fault_table(CsvDialect.named(self.options.csv_dialect))
        if self._flat is not None:
            from arbitre.diagnosis.solidarity import FlatObserver  # noqa: PLC0415  (only `--flat` and `--diagnose` need it)

            observers[FLAT] = FlatObserver(self.plan)
        if self._kept is not None:
            observers |= self._kept.observers
        pointer = self.options.cluster_by
        if pointer is not None and pointer.startswith("/"):
            observers[CLUSTERS] = result_files.PointerLabels(pointer)
        return observers

    def fault_table(self, dialect: CsvDialect = STANDARD) -> FaultTableObserver:
        """Return the observer of the faults. Raises DataError if the source texts cannot be listed."""
        texts = self.source_texts()
        table, halvings = self.options.out is not None, search_halvings(len(self.documents))
        return FaultTableObserver(self.plan, dialect, table, texts, self._usual_values(), halvings)

    def source_texts(self) -> SourceTexts | None:
        """Return the texts that were given to the model, if any. Raises DataError if they cannot be listed."""
        source = self.options.source
        if self._texts is None and source is not None:
            self._texts = SourceTexts.of(source, self.reading, self.documents.labels, pictures=True)
        return self._texts

    def _flat_comparison(self, totals: FlatTotals) -> FlatComparison:
        """Return the flat comparison, with the solidarity by chance from a sample of the documents."""
        from arbitre.corpus.worker import compare_pairs  # noqa: PLC0415  (as above)
        from arbitre.diagnosis.solidarity import COMPARISONS, solidarity_by_chance  # noqa: PLC0415  (as above)

        flat = totals.comparison()
        if flat.solidarity is None:
            return flat
        pairs = [pair.as_json() for pair in sample_by_id(self.documents, COMPARISONS) if pair.failure is None]
        compared = [members for members, _, _ in compare_pairs(self.plan, pairs)] if pairs else []
        pairs = [pair for members in compared for pair in members if pair.failure is None]
        if not pairs:
            return flat
        gold, predicted = [pair.gold for pair in pairs], [pair.predicted for pair in pairs]
        return replace(flat, **solidarity_by_chance(self.plan, gold, predicted))

    def _usual_values(self) -> ValueFrequencies:
        """Return how often the gold of the corpus has each value, from a sample of the documents."""
        from arbitre.diagnosis.moved_chance import ValueFrequencies  # noqa: PLC0415  (only `--diagnose` needs it)

        gold = {pair.id: pair.as_json().gold for pair in sample_by_id(self.documents, MAX_COUNTED)}
        return ValueFrequencies.of(self.plan, gold)

    def _evaluate(self, how: ExecutionOptions, clusters: list[str]) -> tuple[Evaluation, tuple[str, ...]]:
        out = self.options.out
        if out is None:
            return self._completed(evaluate(self.plan, self.joined, how), clusters), ()
        chosen = self.options.cluster_by, self.options.csv_dialect, self.options.source
        usual = [
            f"{one.usual.digest()} {one.halvings}"
            for one in how.observers.values()
            if isinstance(one, FaultTableObserver) and one.usual is not None
        ]
        matches = not self.options.no_matches
        noted = sorted((*how.observers, *[result_files.MATCHES] * matches, *map(str, chosen), *usual))
        if self._checkpointed:
            functions = digest_of_functions(self.plan)
            resume = self.options.resume and functions is not None
            asked = (*noted, digest_of_plan(self.plan), functions)
            texts = self.source_texts() if self.options.diagnose else None
            how = replace(how, checkpoints=Checkpoints(out, self.plan.signature, asked, texts=texts, resume=resume))

        def with_intervals(found: Evaluation) -> Evaluation:
            self.on_progress("computing intervals", 0, None)
            evaluation = self._completed(found, clusters)
            evaluation.trust  # noqa: B018  (computed once, before the files)
            return evaluation

        def completed(found: Evaluation) -> Evaluation:
            find = workers_of if self.source_texts() is None else processes_of  # a cluster may lack the texts
            workers = find(self._executor, len(found.document_table) / UNIT_SIZE)
            movable = self.plan.compiles_anywhere and not self.plan.has_judges  # judges count their calls
            if workers is None or self.given is not None or not (self._wants_causes and movable):
                evaluation = with_intervals(found)
                if evaluation.cause_factory is not None:
                    evaluation.cause_analysis  # noqa: B018  (also computed once)
            else:
                search = DocumentDetails(self).cause_search()
                causes, evaluation = workers.run_both(search, partial(with_intervals, found))
                evaluation = extend(Evaluation, evaluation, cause_factory=partial(known, causes))
            self.on_progress("writing", 0, None)
            return evaluation

        return result_files.evaluate_into(
            out,
            self.plan,
            self.joined,
            how=how,
            then=completed,
            dialect=CsvDialect.named(self.options.csv_dialect),
            forms=self.options.row_forms,
            matches=matches,
        )

    @property
    def _wants_causes(self) -> bool:
        """Whether to search for causes, which needs the documents and tries changes to the schema."""
        possible = not isinstance(self.joined, Iterator) and self.plan.compile_with is not None
        return possible and not (self.options.no_diagnose or self.options.flat)

    def _completed(self, found: Evaluation, clusters: list[str]) -> Evaluation:
        """Return the evaluation with its clusters and violations. Raises DataError if a document has no cluster."""
        if self.given is not None:
            return _unchanged(found, self.given)
        self.check(found.failures)
        labels, cluster_by = found.clusters, self.options.cluster_by
        if cluster_by is not None:
            factors = self.joined.factors if isinstance(self.joined, JoinedCorpus) else {}
            given = clusters if cluster_by.startswith("/") else factors.get(cluster_by, cluster_by)
            labels = tuple(cluster_labels(found.document_table.ids, given) or ())
        undeclared = tuple(self._keys.notes.values())
        gone, whole, notes = isinstance(self.joined, Iterator), found.micro, self.notes
        details = SavedDetails(streamed=True) if gone else DocumentDetails(self)
        if undeclared and self.options.strict:
            raise DataError.of(undeclared[0], hint=_CORRECT)
        if whole.quality_mass == 0 < min(whole.gold, whole.predicted):
            notes = (_NOTHING_MATCHES, *notes)
            if self.options.strict:
                raise DataError.of(_NOTHING_MATCHES, hint=_CORRECT)
        notes = (*undeclared, *notes)
        diagnosis = None
        if self._faults is not None:
            diagnosis = self._faults.diagnosis(self.documents, sourced=self.options.source is not None)
            notes = (*diagnosis.notes, *notes)
        return extend(
            Evaluation,
            found,
            clusters=labels,
            repaired=self.joined.repaired if isinstance(self.joined, JoinedCorpus) else (),
            violations=tuple(self.violations) if self.options.validate else None,
            flat_comparison=None if self._flat is None else self._flat_comparison(self._flat),
            diagnosis=diagnosis,
            notes=notes,
            provenance=self.provenance,
            cause_factory=details.causes if self._wants_causes else None,
            folder=self.options.out,
            lang=self.options.lang,
            reader=details,
        )

    def write_report(
        self,
        evaluation: Evaluation,
        links: Iterable[EntryLink] | None = None,
        examples: Iterable[CauseExample] = (),
    ) -> tuple[str, ...]:
        """Write the report, repairs and violations, if there is a folder.

        Args:
            evaluation: The evaluation.
            links: The entries and documents that the report links to; by default, the examples of its causes.
            examples: Examples that need their source, besides those of its causes.

        Returns:
            The names of the files written.
        """
        out, files = self.options.out, tuple[str, ...]()
        if out is None:
            return files
        dialect = CsvDialect.named(self.options.csv_dialect)
        if self._kept is not None:
            from arbitre.report import report_files as reports  # noqa: PLC0415  (loads the HTML report)

            self.keep_documents(self._kept, evaluation, self._executor, links, examples)
            lang, noted = self.options.lang, noted_in(evaluation)
            files = reports.write_report(out, evaluation, self._kept, noted=noted, notes=evaluation.notes, lang=lang)[1]
        if evaluation.repaired:
            with atomic_text_file(out / result_files.REPAIRED) as file:
                repairs = without_file_folders(evaluation.repaired)
                write_frame(file, result_files.columns_of(repairs, _REPAIR_COLUMNS), dialect)
            files = (*files, result_files.REPAIRED)
        if self.options.validate:
            with atomic_text_file(out / result_files.VIOLATIONS) as file:
                violations = result_files.columns_of(self.violations, result_files.VIOLATION_COLUMNS)
                write_frame(file, violations, dialect)
            files = (*files, result_files.VIOLATIONS)
        return files

    def keep_documents(
        self,
        kept: WorstDocuments,
        evaluation: Evaluation,
        executor: Executor,
        links: Iterable[EntryLink] | None = None,
        examples: Iterable[CauseExample] = (),
    ) -> None:
        """Read the documents of the report, those that it links to and the worst, and keep them."""
        documents = self.documents
        find = processes_of if documents.has_temporary else workers_of  # a cluster may lack temporary files
        workers = find(executor, len(documents) / UNIT_SIZE)
        chosen = example_links([evaluation], evaluation) if links is None else links
        kept.fill(evaluation, documents, chosen, workers, self.reading)
        texts = self.source_texts()
        if texts is not None and evaluation.cause_factory is not None:
            by_key = {one.plain["key"]: one for one in kept.documents.values()}
            own = (example for cause in evaluation.causes for example in cause.examples)
            kept.sources = ExampleSources(texts, self.options.out).of((*own, *examples), by_key)


@dataclass(frozen=True, slots=True)
class DocumentDetails(SavedDetails):
    """Reads the details of an evaluation from its folder, or compares the documents again."""

    job: EvaluationJob

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle documents in memory, not those in files."""
        joined = self.job.joined
        in_memory = isinstance(joined.pairs if isinstance(joined, JoinedCorpus) else joined, (list, tuple))
        return (DocumentDetails, (self.job,)) if in_memory else (SavedDetails, ())

    def matches(self, evaluation: Evaluation) -> Frame:
        """Return the table of entries."""
        if self.row_file(evaluation, result_files.MATCHES) is not None:
            return SavedDetails.matches(self, evaluation)
        plan = self.job.plan
        table = MatchTableObserver(EntryLayout.of(plan), plan.signature.short)
        seen = self._seen(evaluation, {result_files.MATCHES: table.frames})
        return result_files.joined_frames(seen[result_files.MATCHES], table.columns)

    def faults(self, evaluation: Evaluation) -> Frame:
        """Return the table of faults."""
        if self.row_file(evaluation, result_files.FAULTS) is not None:
            return SavedDetails.faults(self, evaluation)
        table = self.job.fault_table()
        seen = self._seen(evaluation, {result_files.FAULTS: table.frames})
        return result_files.joined_frames(seen[result_files.FAULTS], result_files.COLUMNS)

    def row_file(self, evaluation: Evaluation, name: str) -> Path | None:
        """Return the file of the table of entries or of faults; None if there is none."""
        return SavedDetails.row_file(self, evaluation, name) if is_saved(evaluation) else None

    def flat(self, evaluation: Evaluation) -> FlatComparison:
        """Return the best flat matching of the leaves."""
        from arbitre.diagnosis.solidarity import FlatObserver  # noqa: PLC0415  (as above)

        totals = FlatTotals()
        totals.add(self._seen(evaluation, {FLAT: FlatObserver(self.job.plan)})[FLAT])
        return totals.comparison()

    def coreference(self, evaluation: Evaluation) -> dict[str, CoreferenceCounts]:
        """Return the coreference counts of all documents, by scope."""
        from arbitre.comparison.coreference import CoreferenceCounts  # noqa: PLC0415  (few schemas have references)
        from arbitre.engine.references.results import CoreferenceObserver  # noqa: PLC0415  (as above)

        if not self.job.plan.facts.has_references:
            return {}
        found: defaultdict[str, list[CoreferenceCounts]] = defaultdict(list)
        for document in self._seen(evaluation, {COREFERENCE: CoreferenceObserver()})[COREFERENCE]:
            for scope, counts in document.items():
                found[scope].append(CoreferenceCounts.from_list(counts))
        return {scope: CoreferenceCounts.sum(several) for scope, several in sorted(found.items())}

    def causes(self) -> CauseAnalysis:
        """Return the causes of the faults, from a sample of the documents."""
        return self.cause_search()()

    def cause_search(self) -> Callable[[], CauseAnalysis]:
        """Read a sample of the documents in this process, and return a function that searches it for causes."""
        from arbitre.causes.sample import documents_to_search  # noqa: PLC0415  (as below)
        from arbitre.causes.search import find_causes  # noqa: PLC0415  (not all evaluations need it)

        documents = self.job.documents
        self.job.on_progress("diagnosing", 0, None)
        searched = documents_to_search(documents, quick=not self.job.options.diagnose)
        return partial(find_causes, self.job.plan, searched, len(documents), self.job.source_texts())

    def values(self, path: str) -> tuple[list[Row], str | None]:
        """Return the single values at a path with their partners, and what list items are matched by.

        Items of lists are matched without looking at the values of the path; see `Comparison.classification`. Whether
        other fields identify the items depends on all documents.
        """
        from arbitre.comparison.leaf_pairs import value_rows  # noqa: PLC0415  (only used here)
        from arbitre.engine.independent_matching import Identification, independent_levels  # noqa: PLC0415

        def read(_: Sequence[Pair], levels: Sequence[Level]) -> list[tuple[IndependentLevels, list[Row], list[Row]]]:
            independent = independent_levels(tuple(levels), path)
            rows = value_rows(levels, path)
            return [(independent, rows, value_rows(independent.levels, path) if independent.again else rows)]

        parts = self._collected(read)
        found = [independent.identification for independent, _, _ in parts if independent.identification.in_list]
        if not found:
            return [row for _, rows, _ in parts for row in rows], None
        how = Identification.over(found).matched_by
        return [row for _, rows, again in parts for row in (again if how == "other fields" else rows)], how

    def leaf_pairs(self, path: str, *, normalized: bool = False) -> list[LeafPair]:
        """Return the pairs of leaves at a wildcard path, document by document; `normalized` as in `leaf_pairs`.

        The gold value of a leaf with accepted forms in a sibling field is the list of all forms.
        """
        steps = [step for step in walk(self.job.plan.sites) if wildcard(step.path) == path]
        keys = [self.job.plan.sites[step.site].alternatives for step in steps]
        key = None if normalized else next((key for key in keys if isinstance(key, str)), None)

        def read(pairs: Sequence[Pair], levels: Sequence[Level]) -> list[LeafPair]:
            found = (leaf for _, leaf in leaf_pairs(levels, path, normalized=normalized))
            leaves = sorted(found, key=lambda leaf: leaf.document)
            return [leaf if key is None else leaf.with_forms(pairs[leaf.document].gold, key) for leaf in leaves]

        return self._collected(read)

    def _collected(self, read: Callable[[Sequence[Pair], Sequence[Level]], list[_Value]]) -> list[_Value]:
        """Compare the documents again, in this process, and return what is read from each batch."""
        found: list[_Value] = []

        def collect(pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
            found.extend(read(pairs, levels))
            return []

        evaluate(self.job.plan, self.job.joined, ExecutionOptions({"values": collect}, chance=False))
        return found

    def _seen(self, evaluation: Evaluation, observers: Observers) -> dict[str, list[Any]]:
        """Compare the documents again and return what the observers record."""
        seen: dict[str, list[Any]] = {name: [] for name in observers}

        def take(outcomes: DocumentResults) -> None:
            for name, values in outcomes.seen.items():
                seen[name] += values

        with running(self.job.options.executor) as executor:
            self._compare(evaluation, ExecutionOptions(observers, take, executor, chance=False))
        return seen

    def _compare(self, evaluation: Evaluation, how: ExecutionOptions) -> None:
        """Compare the documents again. Raises DataError if they have changed."""
        _unchanged(evaluate(self.job.plan, self.job.joined, how), evaluation)

    def subject(self, evaluation: Evaluation) -> Subject:
        """Return the evaluation as the subject of a report."""
        from arbitre.report.report_files import subject_of  # noqa: PLC0415  (loads the HTML report)

        if self.complete(evaluation):
            return SavedDetails.subject(self, evaluation)
        job = self.job
        kept = WorstDocuments(job.plan, job.options.keep)
        with running(job.options.executor) as executor:
            self._compare(evaluation, ExecutionOptions(kept.observers, kept.take, executor, chance=False))
            job.keep_documents(kept, evaluation, executor)
        return subject_of(evaluation, kept, noted=noted_in(evaluation), notes=evaluation.notes)[0]

    def complete(self, evaluation: Evaluation) -> bool:
        """Return whether the folder of the evaluation has all files."""
        return is_saved(evaluation, ALIGNMENTS)

    def write(self, evaluation: Evaluation, folder: Path) -> tuple[str, ...]:
        """Write all files to a folder that is being written and return their names."""
        if self.complete(evaluation):
            return SavedDetails.write(self, evaluation, folder)
        job, diagnose = self.job, evaluation.diagnosis is not None
        options = replace(
            job.options,
            out=folder,
            resume=False,
            strict=False,
            no_report=False,
            diagnose=diagnose,
            table=(),
            table_score=(),
        )
        return EvaluationJob(job.plan, job.joined, options, job.reading, evaluation).run()[1]


_Value = TypeVar("_Value")


def _unchanged(found: Evaluation, given: Evaluation) -> Evaluation:
    """Return the given evaluation. Raises DataError if the documents now give a different one."""
    tables = found.document_table, given.document_table
    same = np.array_equal(tables[0].tallies, tables[1].tallies, equal_nan=True)
    if not same or tables[0].ids != tables[1].ids:
        raise DataError.of("The documents changed after the evaluation", hint="Evaluate again.")
    return given


def noted_in(evaluation: Evaluation) -> dict[str, int]:
    """Return the numbers of repaired predictions, of those that are JSON in a text, and of violations."""
    in_text = sum(repair.in_text for repair in evaluation.repaired)
    repaired = len(evaluation.repaired) - in_text
    return {"repaired": repaired, "in_text": in_text, "violations": len(evaluation.violations or ())}


def result_names(options: EvaluationOptions) -> tuple[str, ...]:
    """Return the names of all files that an evaluation may write."""
    return *FILES, *(export.name for export in options.exports), CHECKPOINT


def input_files(plan: Plan, sources: Sources, reading: ReadOptions, options: EvaluationOptions) -> list[str | Path]:
    """Return the files and folders that an evaluation reads."""
    return [*plan.inputs, *sources.files(reading), *paths_among([options.source, options.provenance])]
