"""Ranks systems that are given as evaluations, as paths or in a manifest, and writes the results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arbitre.corpus.results.evaluation import Evaluation
from arbitre.corpus.results.gates import gate, parse_gates, require
from arbitre.corpus.storage.output_folder import output_folder
from arbitre.errors import OptionError
from arbitre.refused_coefficients import check_not_agreement
from arbitre.report.evaluation_details import FILES, details_of
from arbitre.report.evaluation_options import EvaluationOptions
from arbitre.report.file_names import REPORT
from arbitre.report.html.language import Language
from arbitre.report.keywords import SharedKeywords, option_sets
from arbitre.report.ranking_job import RankingJob, comparison_names, ranked, write_comparison
from arbitre.report.report_files import read_view, write_page, write_ranking
from arbitre.report.tables.ranking_files import RankingResults
from arbitre.report.tables.result_files import EVALUATION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.corpus.joining.sources import Paths
    from arbitre.corpus.systems.options import StatisticsOptions
    from arbitre.corpus.systems.ranking import Ranking
    from arbitre.report.evaluation_job import EvaluationJob
    from arbitre.report.tables.ranking_files import FactorsResults
    from arbitre.schema import Plan

EITHER: Final = (
    "Expected evaluations alone, or paths with `schema` and `gold`, or `manifest` and `factor` with `schema`."
)


def rank_evaluations(
    systems: Mapping[str, Evaluation | Paths],
    scores: Sequence[str],
    statistics: StatisticsOptions,
    options: Mapping[str, Any],
) -> Ranking:
    """Rank evaluations; see `arbitre.rank`, whose options except those for paths `options` may set."""
    given = dict(options)
    gates = parse_gates(given.pop("fail_under", ()), given.pop("fail_over", ()))
    lang, out, table = Language.named(given.pop("lang", "en")), given.pop("out", None), given.pop("table", ())
    force = given.pop("force", False)
    evaluations = {name: system for name, system in systems.items() if isinstance(system, Evaluation)}
    for name in given:
        check_not_agreement(name, OptionError)
    if len(evaluations) < len(systems) or given:
        raise OptionError.of(EITHER)
    names = comparison_names(RankingResults, table, None if out is None else Path(out))
    ranking = ranked(evaluations, scores, statistics)
    if out is not None:
        inputs = [evaluation.folder for evaluation in evaluations.values() if evaluation.folder is not None]
        parts = dict.fromkeys(evaluations, FILES)
        with output_folder(Path(out), names, inputs=inputs, parts=parts, force=force) as folder:
            for name, evaluation in evaluations.items():
                details_of(evaluation).write(evaluation, folder / name)
                write_page(folder / name / REPORT, read_view([folder / name / EVALUATION]), lang)
            write_ranking(folder, ranking, lang)
            write_comparison(EvaluationOptions(out=folder), RankingResults(ranking), table)
    require(gate(evaluations, fail_under=gates))
    return ranking


def rank_paths(
    plan: Plan,
    scores: Sequence[str],
    statistics: StatisticsOptions,
    *,
    gold: Paths | None,
    systems: Mapping[str, Evaluation | Paths],
    manifest: str | Path | None,
    factors: Sequence[str],
    options: Mapping[str, Any],
) -> Ranking | FactorsResults:
    """Evaluate predictions and rank the systems, or compare the levels of the factors; see `arbitre.rank`."""
    paths = {name: system for name, system in systems.items() if not isinstance(system, Evaluation)}
    by_name, by_factor = bool(gold and paths), bool(manifest and factors)
    if len(paths) < len(systems) or by_name == by_factor or bool(gold or paths) == bool(manifest or factors):
        raise OptionError.of(EITHER)
    given: dict[str, Any] = {"workers": 1, **options}
    evaluations: dict[str, Evaluation] = {}
    gates = parse_gates(given.pop("fail_under", ()), given.pop("fail_over", ()))
    table = given.pop("table", ())
    reading, evaluation = option_sets(given, RankingKeywords)

    def compare(job: EvaluationJob, name: str) -> Evaluation:
        evaluations[name] = job.compare()[0]
        return evaluations[name]

    job = RankingJob(plan, reading, scores, statistics, evaluation, table, compare)
    result, _ = job.factors(manifest, factors) if manifest else job.systems(gold or (), paths)
    require(gate(evaluations, fail_under=gates))
    return result


class RankingKeywords(SharedKeywords, total=False):
    """Options of a ranking that become evaluation options: `SharedKeywords` and `out`."""

    out: str | Path | None
