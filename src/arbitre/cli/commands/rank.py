"""`arbitre rank`: compare systems on the same gold, or the levels of the factors in a manifest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from arbitre.cli.option_values import GateOptions, close, named_sources
from arbitre.cli.output.console import OutputOptions
from arbitre.cli.output.progress import compare_with_progress
from arbitre.cli.output.rank_output import FactorsOutput, RankingOutput
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.corpus.gates import gate
from arbitre.inputs.open_files import STDIN
from arbitre.inputs.options import ReadOptions
from arbitre.report.evaluation_options import EvaluationOptions
from arbitre.report.ranking_files import check_system_names
from arbitre.report.ranking_job import RankingJob
from arbitre.systems.ranking import SCORES, StatisticsOptions

if TYPE_CHECKING:
    from arbitre.cli.output.console import Terminal
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.corpus.gates import Missed
    from arbitre.report.evaluation_job import EvaluationJob


def rank(
    *,
    systems: list[str],
    schema: str,
    options: ComparatorKeywords,
    gold: list[str],
    manifest: str | None,
    factor: list[str],
    reading: ReadOptions,
    score: list[str],
    statistics: StatisticsOptions,
    evaluation_options: EvaluationOptions,
    out: Path | None,
    table: list[str],
    gates: GateOptions,
    output: OutputOptions,
) -> None:
    """Rank systems on the same gold documents, or compare the levels of factors."""
    named = named_sources(systems)
    if bool(gold and named) + bool(manifest and factor) != 1 or bool(gold or named) == bool(manifest or factor):
        raise typer.BadParameter("Expected --gold and systems as NAME=PATH, or --manifest and --factor.")
    if STDIN in [*gold, *(path for paths in named.values() for path in paths)]:
        raise typer.BadParameter(
            "Expected files and folders, got standard input (-): gold is read once for each system."
        )
    if out is not None:
        check_system_names(named)
    screen = output.terminal()
    plan = Comparator(schema, **options).plan
    missed: list[Missed] = []

    def compare(job: EvaluationJob, name: str) -> Evaluation:
        evaluation, _ = compare_with_progress(job, screen)
        _note_failures(screen, name, evaluation)
        missed.extend(gate({name: evaluation}, fail_under=gates.gates))
        return evaluation

    evaluation = replace(evaluation_options, out=out)
    job = RankingJob(plan, reading, score or SCORES, statistics, evaluation, table, compare)
    shown: RankingOutput | FactorsOutput
    if manifest:
        compared, files = job.factors(manifest, factor)
        shown = FactorsOutput(compared.factors, compared.signature, compared.provenance)
    else:
        ranked, files = job.systems(gold, named)
        shown = RankingOutput(ranked)
    screen.result(shown.to_dict, shown.blocks)
    if out is not None:
        screen.wrote(files, out)
    raise typer.Exit(close(screen, missed))


def _note_failures(screen: Terminal, name: str, evaluation: Evaluation) -> None:
    """Print notes on failed, repaired and skipped documents."""
    for count, what in (
        (evaluation.macro.failed, "failed, counted as empty predictions"),
        (evaluation.unscored, "gold documents failed or duplicated, not scored"),
        (sum(not repair.in_text for repair in evaluation.repaired), "invalid JSON, repaired"),
        (len(evaluation.without_gold), "predictions without gold, not scored"),
    ):
        if count:
            screen.note(f"{name}: {what} ({count})")
