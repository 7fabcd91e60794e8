"""`arbitre rank`: compare systems on the same gold, or the levels of the factors in a manifest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arbitre.cli.output.progress import compare_with_progress
from arbitre.cli.output.rank_output import FactorsOutput, RankingOutput
from arbitre.cli.shared_options import (
    GOLD,
    ComparatorOptions,
    CorpusOptions,
    ManifestFile,
    OutputOptions,
    RankingOptions,
    ReadingOptions,
    Schema,
    export_option,
)
from arbitre.cli.sources import named_sources
from arbitre.cli.thresholds import GateOptions, close
from arbitre.corpus.reading.options import STDIN
from arbitre.corpus.results.gates import gate
from arbitre.corpus.systems.ranking import SCORES
from arbitre.report.ranking_job import RankingJob
from arbitre.report.tables.ranking_files import check_system_names

if TYPE_CHECKING:
    from arbitre.cli.output.console import Terminal
    from arbitre.corpus.results.gates import Missed
    from arbitre.report.evaluation import Evaluation
    from arbitre.report.evaluation_job import EvaluationJob

Systems = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME=PATH...", help="Predictions of each system. Repeat a name for several files or runs."),
]
Factors = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Manifest column whose values are compared. May be repeated."),
]
Tables = Annotated[list[str] | None, export_option("pairs.tex or pairs.parquet")]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder for JSON, report.html, and CSV, Markdown and LaTeX tables.")
]


def rank(
    systems: Systems = None,
    *,
    schema: Schema,
    options: ComparatorOptions,
    gold: Annotated[list[str] | None, GOLD] = None,
    manifest: ManifestFile = None,
    factor: Factors = None,
    reading: ReadingOptions,
    ranking: RankingOptions,
    evaluation_options: CorpusOptions,
    out: Out = None,
    table: Tables = None,
    gates: GateOptions,
    output: OutputOptions,
) -> None:
    """Rank systems on the same gold documents, with confidence intervals and paired tests.

    With --manifest and --factor, compare the levels of each factor instead.

    --fail-under and --fail-over apply to every system.
    """
    named = named_sources(systems or [])
    if bool(gold and named) + bool(manifest and factor) != 1 or bool(gold or named) == bool(manifest or factor):
        raise typer.BadParameter("Expected --gold and systems as NAME=PATH, or --manifest and --factor.")
    if STDIN in [*(gold or ()), *(path for paths in named.values() for path in paths)]:
        raise typer.BadParameter(
            "Expected files and folders, got standard input (-): gold is read once for each system."
        )
    if out is not None:
        check_system_names(named)
    screen = output.terminal()
    plan = options.comparator(schema).plan
    missed: list[Missed] = []

    def compare(job: EvaluationJob, name: str) -> Evaluation:
        evaluation, _ = compare_with_progress(job, screen)
        _note_failures(screen, name, evaluation)
        missed.extend(gate({name: evaluation}, fail_under=gates.gates))
        return evaluation

    evaluation = replace(evaluation_options, out=out)
    job = RankingJob(plan, reading, ranking.score or SCORES, ranking, evaluation, table or (), compare)
    shown: RankingOutput | FactorsOutput
    if manifest:
        compared, files = job.factors(manifest, factor or [])
        shown = FactorsOutput(compared.factors, compared.signature, compared.provenance)
    else:
        ranked, files = job.systems(gold or [], named)
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
