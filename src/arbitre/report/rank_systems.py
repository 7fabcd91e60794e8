"""Ranks systems that are given as evaluations or as paths, and writes the results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

from arbitre.corpus.results import evaluation as corpus
from arbitre.errors import OptionError
from arbitre.report.html.language import Language
from arbitre.report.keywords import SharedKeywords, option_sets
from arbitre.report.ranking_job import RankingJob, ranked, write_comparison
from arbitre.report.report_files import REPORT, write_ranking
from arbitre.report.text_files import CsvDialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.corpus.joining.sources import Paths
    from arbitre.corpus.systems.ranking import Ranking
    from arbitre.report.evaluation import Evaluation
    from arbitre.schema import Plan

EITHER: Final = "Expected evaluations alone, or paths with `schema` and `gold`."


def rank_evaluations(
    systems: Mapping[str, Evaluation | Paths],
    scores: Sequence[str],
    *,
    statistics: Mapping[str, Any],
    out: str | Path | None,
    **options: Unpack[SharedKeywords],
) -> Ranking:
    """Rank evaluations; see `arbitre.rank`."""
    evaluations = {name: system for name, system in systems.items() if isinstance(system, corpus.Evaluation)}
    lang = Language.named(options.pop("lang", "en"))
    if len(evaluations) < len(systems) or options:
        raise OptionError.of(EITHER)
    results = ranked(evaluations, scores, statistics)
    if out is not None:
        for name, evaluation in evaluations.items():
            evaluation.save(Path(out, name))
            evaluation.report(Path(out, name, REPORT), language=lang)
        write_ranking(Path(out), results.ranking, lang)
        write_comparison(Path(out), results, report=True)
    return results.ranking


def rank_paths(
    plan: Plan,
    gold: Paths,
    systems: Mapping[str, Evaluation | Paths],
    scores: Sequence[str],
    *,
    statistics: Mapping[str, Any],
    out: str | Path | None,
    **options: Unpack[SharedKeywords],
) -> Ranking:
    """Evaluate the predictions at the paths and rank the systems; see `arbitre.rank`."""
    paths = {name: system for name, system in systems.items() if not isinstance(system, corpus.Evaluation)}
    if len(paths) < len(systems):
        raise OptionError.of(EITHER)
    reading, evaluation = option_sets({"workers": 1, **options}, SharedKeywords)
    report = out is not None and not evaluation.no_report
    reading = reading.for_plan(plan)
    evaluation = replace(evaluation, out=Path(out) if out is not None and report else None)
    results = RankingJob(reading.signed(plan), reading, scores, statistics, evaluation).systems(gold, paths)
    if out is not None:
        write_comparison(Path(out), results, (), CsvDialect.named(evaluation.csv_dialect), report=report)
    return results.ranking
