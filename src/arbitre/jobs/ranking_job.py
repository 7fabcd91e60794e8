"""Evaluates and compares several systems, or the levels of factors, and writes the results.

`RankingJob` is the command `arbitre rank`; `rank_evaluations` and `rank_paths` are the function `arbitre.rank`.
"""

from __future__ import annotations

import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from arbitre.corpus.evaluation import EVALUATION, Evaluation
from arbitre.corpus.executors import running
from arbitre.corpus.quality_bounds import check_bounds, parse_bounds, require
from arbitre.corpus.tables import ExportTable
from arbitre.errors import DataError, OptionError
from arbitre.inputs.corpus_sources import Manifest, Sources, listed
from arbitre.inputs.join import JoinedCorpus
from arbitre.inputs.provenance import UNKNOWN_GOLD, GoldProvenance
from arbitre.jobs.evaluation_details import FILES, details_of
from arbitre.jobs.evaluation_job import EvaluationJob, input_files, result_names
from arbitre.jobs.evaluation_options import EvaluationOptions
from arbitre.jobs.keywords import SharedKeywords, option_sets
from arbitre.jobs.result_files import CSV, EXPORT_FORMS, Export, parse_exports, write_exports
from arbitre.language import Language, Translator
from arbitre.parsing.fast_json import json_text
from arbitre.refused_coefficients import check_not_agreement
from arbitre.report.build_view import build_factors
from arbitre.report.entry_links import EntryLink, example_links
from arbitre.report.report_files import WHOLE_CORPUS, most_differing, read_view, write_page, write_ranking
from arbitre.report.worst_documents import REPORT
from arbitre.signature import Signature
from arbitre.storage.files import atomic_text_file, is_file_name
from arbitre.storage.output_folder import output_folder
from arbitre.systems import tables
from arbitre.systems.cause_costs import CauseCosts
from arbitre.systems.factors import check_factor, factor
from arbitre.systems.ranking import check_runs, rank
from arbitre.systems.run_stability import run_stability
from arbitre.tables.csv_text import STANDARD, CsvDialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from arbitre.corpus.executors import Executor
    from arbitre.inputs.corpus_sources import Documents, Paths
    from arbitre.inputs.options import ReadOptions
    from arbitre.schema import Plan
    from arbitre.systems.factors import Factor
    from arbitre.systems.ranking import Ranking, StatisticsOptions
    from arbitre.systems.run_stability import RunStability
    from arbitre.tables.table import Table


FORMAT: Final = "arbitre-factors/1"
RANKING_FORMAT: Final = "arbitre-ranking/1"


@dataclass(frozen=True, slots=True)
class RankingResults:
    """A ranking, as JSON and as tables."""

    name: ClassVar = "ranking"
    rows: ClassVar = ("systems", "scores", "pairs", "causes", "winners", "lacking", "runs")

    ranking: Ranking

    def to_dict(self) -> dict[str, Any]:
        """Return JSON that is valid against `schemas/ranking.schema.json`."""
        return {"format": RANKING_FORMAT, **self.ranking.to_dict()}

    @property
    def tables(self) -> dict[str, Table]:
        """Tables by file name."""
        found = {
            "systems": tables.leaderboard(self.ranking),
            "scores": tables.side_by_side(self.ranking),
            "pairs": tables.pairs(self.ranking.pairs),
            "causes": (self.ranking.causes or CauseCosts({}, (), ())).table(),
            "winners": tables.winners(self.ranking),
            "lacking": tables.lacking(self.ranking),
            "runs": tables.runs(self.ranking.stability),
        }
        signature = Signature.from_dict(self.ranking.signature).short
        return {name: replace(table, signature=signature) for name, table in found.items()}


@dataclass(frozen=True, slots=True)
class FactorsResults:
    """The comparison of the levels of each factor."""

    name: ClassVar = "factors"
    rows: ClassVar = ("levels", "pairs")

    factors: tuple[Factor, ...]
    signature: Signature
    provenance: GoldProvenance = UNKNOWN_GOLD

    def to_dict(self) -> dict[str, Any]:
        """Return JSON that is valid against `schemas/factors.schema.json`."""
        return {
            "format": FORMAT,
            "factors": [one.to_dict() for one in self.factors],
            "signature": self.signature.to_dict(),
            "provenance": self.provenance.to_dict(),
        }

    @property
    def tables(self) -> dict[str, Table]:
        """Tables by file name."""
        found = {"levels": tables.levels(self.factors), "pairs": tables.contrasts(self.factors)}
        return {name: replace(table, signature=self.signature.short) for name, table in found.items()}


def check_system_names(names: Iterable[str]) -> None:
    """Check that the results of each system can have a folder of its own beside the files of the ranking.

    File systems may ignore case and the Unicode form of a name.

    Raises:
        OptionError: A name cannot be that of a folder, or is that of a file of the ranking or of another folder.

    >>> check_system_names(["careful", "Careful"])
    Traceback (most recent call last):
    arbitre.errors.OptionError: Expected names of systems that differ in more than case, got 'careful' and 'Careful'.
    """
    files = {f"{rows}.{form}" for rows in RankingResults.rows for form in EXPORT_FORMS}
    files |= {REPORT, *(f"{RankingResults.name}.{form}" for form in ("json", "md", "tex"))}
    known: dict[str, str] = {}
    for name in names:
        if not is_file_name(name):
            raise OptionError.of(f"Expected names of systems that can be used as folder names, got {name!r}.")
        folder = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
        if folder in files:
            raise OptionError.of(f"The system {name!r} has the name of a file in `out`. Choose another name.")
        if folder in known:
            raise OptionError.of(
                f"Expected names of systems that differ in more than case, got {known[folder]!r} and {name!r}."
            )
        known[folder] = name


def write_results(
    folder: Path,
    found: RankingResults | FactorsResults,
    asked: Iterable[Export],
    dialect: CsvDialect = STANDARD,
    lang: Language = Language.EN,
) -> tuple[str, ...]:
    """Write the results as JSON, all tables as Markdown and LaTeX, each table as CSV, and the requested exports.

    `lang` is the language of Markdown and LaTeX.

    Returns:
        The names of the files.
    """
    made, say = found.tables, Translator(lang)
    shown = [(say.text(table.title), table) for table in made.values() if table.size]
    texts = {
        f"{found.name}.json": json_text(found.to_dict()),
        f"{found.name}.md": "\n".join(f"## {title}\n\n{table.markdown(lang=lang)}" for title, table in shown),
        f"{found.name}.tex": "\n".join(f"% {title}\n{table.latex(lang=lang)}" for title, table in shown),
    }
    for name, text in texts.items():
        with atomic_text_file(folder / name) as file:
            file.write(text)
    exported = dict.fromkeys((*(Export(name, CSV) for name in made), *asked))
    sheets = {name: ExportTable.of(table) for name, table in made.items()}
    return (*texts, *write_exports(folder, exported, sheets, dialect, lang))


def compare(job: EvaluationJob, _name: str) -> Evaluation:
    """Evaluate a system without its report."""
    return job.compare()[0]


@dataclass(frozen=True, slots=True)
class RankingJob:
    """Evaluates systems or the rows of a manifest, compares them, and writes the results.

    Attributes:
        plan: Compiled schema.
        reading: How documents are read.
        scores: Score to rank by, then those to show beside it.
        statistics: Statistical options.
        evaluation: How documents are evaluated; `out` is the folder of the results, with a folder for each evaluation
            unless `no_report` is set.
        table: Names of further tables to write to `out`, such as "pairs.tex".
        compare: Evaluates a job, given the name of the system.
    """

    plan: Plan
    reading: ReadOptions
    scores: Sequence[str]
    statistics: StatisticsOptions
    evaluation: EvaluationOptions
    table: Sequence[str] = ()
    compare: Callable[[EvaluationJob, str], Evaluation] = compare

    def systems(
        self, gold: Paths | Documents, systems: Mapping[str, Paths | Documents]
    ) -> tuple[Ranking, tuple[str, ...]]:
        """Evaluate every system on the same gold and rank them.

        Returns:
            The ranking and the names of the files written.

        Raises:
            DataError: A source cannot be read, the folder contains files that arbitre did not write, or systems have
                different runs of the documents.
            OptionError: A table is unknown, or there are tables, but no folder.
        """
        names = comparison_names(RankingResults, self.table, self.evaluation.out)
        gold = listed("gold", gold)  # once for all systems
        sources = {name: Sources(gold=gold, predicted=paths) for name, paths in systems.items()}
        with self._staged(sources, names) as job:
            return job._systems(sources)  # noqa: SLF001  (the same class)

    def _systems(self, sources: Mapping[str, Sources]) -> tuple[Ranking, tuple[str, ...]]:
        with running(self.evaluation.executor) as executor:
            jobs = {name: self._job(one, name, executor) for name, one in sources.items()}
            check_runs({name: job.joined.labels for name, job in jobs.items() if isinstance(job.joined, JoinedCorpus)})
            evaluations = {name: self.compare(job, name) for name, job in jobs.items()}
            ranking = ranked(evaluations, self.scores, self.statistics)
            if self._folder is not None:
                differing = [EntryLink(key) for key in most_differing(evaluations, self.scores[0])]
                agreed = ranking.causes.agreed if ranking.causes is not None else None
                shared = agreed.examples if agreed is not None else ()
                for name, job in jobs.items():
                    own = agreed is not None and name == agreed.systems[0]
                    links = [EntryLink.to(one) if own else EntryLink.to(one).elsewhere for one in shared]
                    links += example_links(evaluations.values(), evaluations[name])
                    job.write_report(evaluations[name], [*links, *differing], shared if own else ())
        ranking = replace(ranking, lang=self.evaluation.lang)
        if (folder := self._folder) is not None:
            write_ranking(folder, ranking, self.evaluation.lang)
        return ranking, write_comparison(self.evaluation, RankingResults(ranking), self.table)

    def factors(self, manifest: str | Path, names: Sequence[str]) -> tuple[FactorsResults, tuple[str, ...]]:
        """Compare the levels of each factor, holding the other named factors fixed.

        Returns:
            The comparisons and the names of the files written.

        Raises:
            DataError: The manifest cannot be read, a factor is not one of its columns, or the folder contains files
                that arbitre did not write.
            OptionError: A table is unknown, or there are tables, but no folder.
        """
        files = comparison_names(FactorsResults, self.table, self.evaluation.out)
        columns = Manifest(manifest, self.reading).factors
        for name in names:
            check_factor(name, columns)
        with self._staged({WHOLE_CORPUS: Sources(manifest=manifest)}, files) as job:
            return job._factors(manifest, names)  # noqa: SLF001  (the same class)

    def _factors(self, manifest: str | Path, names: Sequence[str]) -> tuple[FactorsResults, tuple[str, ...]]:
        with running(self.evaluation.executor) as executor:
            job = self._job(Sources(manifest=manifest), WHOLE_CORPUS, executor)
            evaluation = self.compare(job, Path(manifest).name)
            job.write_report(evaluation)
        joined, design = job.documents, dict[str, list[str]]()
        for name in names:
            known = dict(zip(joined.keys, joined.factors[name], strict=True))
            design[name] = [known[key] for key in evaluation.document_table.keys]
        comparisons = (factor(evaluation, name, design, self.scores[0], self.statistics) for name in design)
        results = FactorsResults(tuple(comparisons), evaluation.signature, evaluation.provenance)
        if (folder := self._folder) is not None:
            view = read_view([folder / WHOLE_CORPUS / EVALUATION], folder=folder)
            view = replace(view, factors=build_factors(results.to_dict()))
            write_page(folder / REPORT, view, self.evaluation.lang)
        return results, write_comparison(self.evaluation, results, self.table)

    @contextmanager
    def _staged(self, sources: Mapping[str, Sources], names: Sequence[str]) -> Iterator[RankingJob]:
        """Yield a job that writes to a folder for new results, which are moved to `out` when the block ends."""
        chosen, plan = self.evaluation, self.plan
        if chosen.out is None:
            yield self
            return
        inputs = [path for one in sources.values() for path in input_files(plan, one, self.reading, chosen)]
        parts = {} if chosen.no_report else dict.fromkeys(sources, result_names(chosen))
        with output_folder(chosen.out, names, "ranking", inputs=inputs, parts=parts, force=chosen.force) as staging:
            yield replace(self, evaluation=replace(chosen, out=staging))

    @property
    def _folder(self) -> Path | None:
        """Folder of the report; None if none is written."""
        return None if self.evaluation.no_report else self.evaluation.out

    def _job(self, sources: Sources, folder: str, executor: Executor) -> EvaluationJob:
        options = replace(self.evaluation, out=self._folder and self._folder / folder)
        return EvaluationJob.of_sources(self.plan, sources, self.reading, options, executor=executor)


def ranked(evaluations: Mapping[str, Evaluation], scores: Sequence[str], statistics: StatisticsOptions) -> Ranking:
    """Rank systems and measure the run-to-run stability of each system with several runs."""
    ranking = rank(evaluations, scores[0], beside=scores[1:], options=statistics)
    stability: dict[str, RunStability] = {}
    notes = []
    for name, evaluation in evaluations.items():
        if len(set(evaluation.document_table.ids)) < len(evaluation.document_table):
            try:
                stability[name] = run_stability(evaluation, scores[0], aggregate=statistics.aggregate)
            except DataError as error:
                notes.append(f"{name}: stability over runs not computed. {error.message}.")
    causes = None
    if all(evaluation.cause_factory is not None for evaluation in evaluations.values()):
        causes = CauseCosts.of({one.name: evaluations[one.name].cause_analysis for one in ranking.systems})
    return replace(ranking, notes=(*_notes(evaluations), *ranking.notes, *notes), stability=stability, causes=causes)


def _notes(evaluations: Mapping[str, Evaluation]) -> Iterator[str]:
    """Yield the notes of several evaluations: once if all have them, otherwise with the names of the systems."""
    names: dict[str, list[str]] = {}
    for name, evaluation in evaluations.items():
        for note in evaluation.notes:
            names.setdefault(note, []).append(name)
    for note, having in names.items():
        yield note if len(having) == len(evaluations) > 1 else f"{', '.join(having)}: {note}"


def comparison_names(
    results: type[RankingResults | FactorsResults], table: Sequence[str], out: Path | None
) -> tuple[str, ...]:
    """Return the names of all files that `write_comparison` and the report may write.

    Raises:
        OptionError: A table is unknown, or there are tables, but no folder.
    """
    exports = parse_exports(table, results.rows, out)
    texts = (f"{results.name}{end}" for end in (".json", ".md", ".tex"))
    return *texts, *(f"{rows}.csv" for rows in results.rows), *(export.name for export in exports), REPORT


def write_comparison(
    options: EvaluationOptions, results: RankingResults | FactorsResults, table: Sequence[str] = ()
) -> tuple[str, ...]:
    """Write the tables of a comparison whose report is written, if there is a folder; return the names of all files."""
    out = options.out
    if out is None:
        return ()
    exports, dialect = parse_exports(table, results.rows, out), CsvDialect.named(options.csv_dialect)
    return (
        *write_results(out, results, exports, dialect, options.lang),
        *([] if options.no_report else [REPORT]),
    )


EITHER: Final = (
    "Expected evaluations alone, or paths with `schema` and `gold`, or `manifest` and `factor` with `schema`."
)


def rank_evaluations(
    systems: Mapping[str, Evaluation | Paths | Documents],
    scores: Sequence[str],
    statistics: StatisticsOptions,
    options: Mapping[str, Any],
) -> Ranking:
    """Rank evaluations; see `arbitre.rank`, whose options except those for paths `options` may set."""
    given = dict(options)
    bounds = parse_bounds(given.pop("fail_under", ()), given.pop("fail_over", ()))
    lang, out, table = Language.named(given.pop("lang", "en")), given.pop("out", None), given.pop("table", ())
    force = given.pop("force", False)
    evaluations = {name: system for name, system in systems.items() if isinstance(system, Evaluation)}
    for name in given:
        check_not_agreement(name, OptionError)
    if len(evaluations) < len(systems) or given:
        raise OptionError.of(EITHER)
    names = comparison_names(RankingResults, table, None if out is None else Path(out))
    ranking = replace(ranked(evaluations, scores, statistics), lang=lang)
    if out is not None:
        inputs = [evaluation.folder for evaluation in evaluations.values() if evaluation.folder is not None]
        parts = dict.fromkeys(evaluations, FILES)
        with output_folder(Path(out), names, "ranking", inputs=inputs, parts=parts, force=force) as folder:
            for name, evaluation in evaluations.items():
                details_of(evaluation).write(evaluation, folder / name)
                write_page(folder / name / REPORT, read_view([folder / name / EVALUATION]), lang)
            write_ranking(folder, ranking, lang)
            write_comparison(EvaluationOptions(out=folder, lang=lang), RankingResults(ranking), table)
    require(check_bounds(evaluations, fail_under=bounds))
    return ranking


def rank_paths(
    plan: Plan,
    scores: Sequence[str],
    statistics: StatisticsOptions,
    *,
    gold: Paths | Documents | None,
    systems: Mapping[str, Evaluation | Paths | Documents],
    manifest: str | Path | None,
    factors: Sequence[str],
    options: Mapping[str, Any],
) -> Ranking | FactorsResults:
    """Evaluate predictions and rank the systems, or compare the levels of the factors; see `arbitre.rank`."""
    paths = {name: system for name, system in systems.items() if not isinstance(system, Evaluation)}
    by_name, by_factor = gold is not None and bool(paths), bool(manifest and factors)
    named = gold is not None or bool(paths)
    if len(paths) < len(systems) or by_name == by_factor or named == bool(manifest or factors):
        raise OptionError.of(EITHER)
    given: dict[str, Any] = {"workers": 1, **options}
    evaluations: dict[str, Evaluation] = {}
    bounds = parse_bounds(given.pop("fail_under", ()), given.pop("fail_over", ()))
    table = given.pop("table", ())
    reading, evaluation = option_sets(given, RankingKeywords)

    def compare(job: EvaluationJob, name: str) -> Evaluation:
        evaluations[name] = job.compare()[0]
        return evaluations[name]

    job = RankingJob(plan, reading, scores, statistics, evaluation, table, compare)
    result, _ = job.factors(manifest, factors) if manifest else job.systems(() if gold is None else gold, paths)
    require(check_bounds(evaluations, fail_under=bounds))
    return result


class RankingKeywords(SharedKeywords, total=False):
    """Options of a ranking that become evaluation options: `SharedKeywords` and `out`."""

    out: str | Path | None
