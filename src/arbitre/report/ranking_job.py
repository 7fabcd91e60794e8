"""Evaluates and compares several systems, or the levels of factors, and writes the results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arbitre.corpus.joining.sources import Sources
from arbitre.corpus.reading.manifest import Manifest
from arbitre.corpus.systems.factors import check_factor, factor
from arbitre.corpus.systems.ranking import rank
from arbitre.corpus.systems.run_stability import run_stability
from arbitre.errors import DataError
from arbitre.report.evaluation_job import EvaluationJob
from arbitre.report.html.build_view import build_factors
from arbitre.report.html.language import Language
from arbitre.report.report_files import REPORT, WHOLE_CORPUS, most_differing, read_view, write_page, write_ranking
from arbitre.report.tables.ranking_files import FactorsResults, RankingResults, write_results
from arbitre.report.tables.result_files import EVALUATION
from arbitre.report.text_files import STANDARD, CsvDialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arbitre.corpus.joining.sources import Paths
    from arbitre.corpus.reading.options import ReadOptions
    from arbitre.corpus.results import evaluation as corpus
    from arbitre.corpus.systems.run_stability import RunStability
    from arbitre.report.evaluation import Evaluation
    from arbitre.report.evaluation_job import EvaluationOptions
    from arbitre.report.tables.exports import Export
    from arbitre.schema import Plan


def compare(job: EvaluationJob, _name: str) -> Evaluation:
    """Evaluate a system without its report."""
    return job.compare()[0]


@dataclass(frozen=True, slots=True)
class RankingJob:
    """Evaluates systems or the rows of a manifest, and compares them.

    Attributes:
        plan: Compiled schema.
        reading: How documents are read.
        scores: Score to rank by, then those to show beside it.
        statistics: Further arguments of `rank` and `factor`.
        evaluation: How documents are evaluated; `out` is the folder for the report, with a folder for each evaluation.
        compare: Evaluates a job, given the name of the system.
    """

    plan: Plan
    reading: ReadOptions
    scores: Sequence[str]
    statistics: Mapping[str, Any]
    evaluation: EvaluationOptions
    compare: Callable[[EvaluationJob, str], Evaluation] = compare

    def systems(self, gold: Paths, systems: Mapping[str, Paths]) -> RankingResults:
        """Evaluate every system on the same gold and rank them. Raises DataError if a source cannot be read."""
        jobs = {name: self._job(Sources(gold=gold, predicted=paths), name) for name, paths in systems.items()}
        evaluations = {name: self.compare(job, name) for name, job in jobs.items()}
        results = ranked(evaluations, self.scores, self.statistics)
        if self.evaluation.out is not None:
            first = most_differing(evaluations, self.scores[0])
            for name, job in jobs.items():
                job.write_report(evaluations[name], first)
            write_ranking(self.evaluation.out, results.ranking, Language.named(self.evaluation.lang))
        return results

    def factors(self, manifest: str, names: Sequence[str]) -> FactorsResults:
        """Compare the levels of each factor, holding the other named factors fixed.

        Raises:
            DataError: The manifest cannot be read, or a factor is not one of its columns.
        """
        columns = Manifest(manifest, self.reading).factors
        for name in names:
            check_factor(name, columns)
        job = self._job(Sources(manifest=manifest), WHOLE_CORPUS)
        evaluation = self.compare(job, Path(manifest).name)
        job.write_report(evaluation)
        joined, design = job.documents, dict[str, list[str]]()
        for name in names:
            known = dict(zip(joined.keys, joined.factors[name], strict=True))
            design[name] = [known[key] for key in evaluation.document_table.keys]
        comparisons = (factor(evaluation, name, design, self.scores[0], **self.statistics) for name in design)
        results = FactorsResults(tuple(comparisons), evaluation.signature)
        if self.evaluation.out is not None:
            view = read_view([self.evaluation.out / WHOLE_CORPUS / EVALUATION])
            view = replace(view, factors=build_factors(results.to_dict()))
            write_page(self.evaluation.out / REPORT, view, Language.named(self.evaluation.lang))
        return results

    def _job(self, sources: Sources, folder: str) -> EvaluationJob:
        options = replace(self.evaluation, out=self.evaluation.out and self.evaluation.out / folder)
        return EvaluationJob(self.plan, sources.joined(self.reading), options)


def ranked(
    evaluations: Mapping[str, corpus.Evaluation], scores: Sequence[str], statistics: Mapping[str, Any]
) -> RankingResults:
    """Rank systems and measure the run-to-run stability of each system with several runs."""
    ranking = rank(evaluations, scores[0], beside=scores[1:], **statistics)
    stability: dict[str, RunStability] = {}
    notes = []
    for name, evaluation in evaluations.items():
        if len(set(evaluation.document_table.ids)) < len(evaluation.document_table):
            try:
                stability[name] = run_stability(evaluation, scores[0], aggregate=statistics["aggregate"])
            except DataError as error:
                notes.append(f"{name}: stability over runs not computed. {error.message}.")
    return RankingResults(replace(ranking, notes=(*ranking.notes, *notes)), stability)


def write_comparison(
    out: Path,
    results: RankingResults | FactorsResults,
    exports: Iterable[Export] = (),
    dialect: CsvDialect = STANDARD,
    *,
    report: bool,
) -> tuple[str, ...]:
    """Write the results of a comparison, whose report was written if `report`; return the names of the files."""
    if not report:
        (out / REPORT).unlink(missing_ok=True)  # of an earlier ranking
    return (*write_results(out, results, exports, dialect), *([REPORT] if report else []))
