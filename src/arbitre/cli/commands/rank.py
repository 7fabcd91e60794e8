"""`arbitre rank`: compare systems on the same gold, or the levels of the factors in a manifest."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer
from rich.text import Text

from arbitre.cli.option_values import BoundOptions, close, named_sources
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions
from arbitre.cli.output.progress import compare_with_progress
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.corpus.quality_bounds import check_bounds
from arbitre.corpus.tables import AVERAGES
from arbitre.inputs.open_files import STDIN
from arbitre.inputs.options import ReadOptions
from arbitre.jobs.evaluation_options import EvaluationOptions
from arbitre.jobs.ranking_job import FactorsResults, RankingJob, RankingResults, check_system_names
from arbitre.language import ENGLISH, counted
from arbitre.report.build_view import ranked
from arbitre.report.statistics_text import detectable, lead, sampled
from arbitre.signature import Signature
from arbitre.statistics.paired_tests import threshold
from arbitre.systems.ranking import SCORES, StatisticsOptions
from arbitre.systems.tables import OWN_INTERVAL
from arbitre.tables.terminal import MAX_SHOWN, escape_hidden, render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.cli.output.console import Terminal
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.corpus.quality_bounds import MissedBound
    from arbitre.jobs.evaluation_job import EvaluationJob
    from arbitre.language import Translator
    from arbitre.statistics.intervals import Interval


_DIFFERENCE: Final = (
    "The interval of a difference comes from the test: it excludes 0 if the difference is significant. "
    "detectable: smallest true difference that would be found with a probability of 80%."
)

_CHANCE: Final = (
    "chance: pooled score of predictions compared with the gold of other documents; not subtracted from any score."
)


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
    bounds: BoundOptions,
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
    screen = output.terminal(evaluation_options.lang)
    plan = Comparator(schema, **options).plan
    missed: list[MissedBound] = []

    def compare(job: EvaluationJob, name: str) -> Evaluation:
        evaluation, _ = compare_with_progress(job, screen)
        _note_failures(screen, name, evaluation)
        missed.extend(check_bounds({name: evaluation}, fail_under=bounds.bounds))
        return evaluation

    evaluation = replace(evaluation_options, out=out)
    job = RankingJob(plan, reading, score or SCORES, statistics, evaluation, table, compare)
    if manifest:
        compared, files = job.factors(manifest, factor)
        screen.result(compared.to_dict, partial(factors_blocks, compared))
    else:
        ranking, files = job.systems(gold, named)
        found = RankingResults(ranking)
        screen.result(found.to_dict, partial(ranking_blocks, found, say=screen.say))
    if out is not None:
        screen.wrote(files, out)
    raise typer.Exit(close(screen, missed))


def _note_failures(screen: Terminal, name: str, evaluation: Evaluation) -> None:
    """Print notes on failed, repaired and skipped documents."""
    for count, what in (
        (evaluation.macro.failed, "failed, counted as empty predictions"),
        (sum(not repair.in_text for repair in evaluation.repaired), "invalid JSON, repaired"),
    ):
        if count:
            screen.note(f"{name}: {what} ({count})")
    if unscored := result_tables.not_scored(evaluation.not_scored):
        screen.note(f"{name}, {unscored}")


def ranking_blocks(results: RankingResults, width: int, say: Translator = ENGLISH) -> Iterator[RenderableType]:
    """Yield the blocks of a ranking."""
    ranking, tables = results.ranking, results.tables
    systems = asdict(ranked(ranking.to_dict()))
    yield Text.assemble(
        (f"{counted(len(ranking.systems), 'system')} on the same {sampled(systems['sampled'], ENGLISH)}", "bold"),
        f"\n{AVERAGES[ranking.aggregate]} {ranking.score}; {ENGLISH.level(ranking.level)} intervals of the "
        "differences to the best system",
        f"\n{escape_hidden(ranking.provenance.headline())}",
    )
    absent = OWN_INTERVAL if ranking.pairs else ("to best", "low", "high")
    yield render(tables.pop("systems").without(*absent), width)
    for found in (lead(systems, say), detectable(systems, say)):
        if found:
            yield Text(found)
    legend = [_CHANCE]
    if ranking.pairs:
        letters = (
            "Systems that share a letter do not differ significantly "
            f"(p > {threshold(ranking.level):g}, adjusted by {ranking.pairs[0].correction})."
        )
        legend = [letters, *legend, _DIFFERENCE]
    yield Text("\n".join((*legend, *ranking.notes)), style="dim")
    for name in ("scores", "pairs", "causes", "winners"):
        table = tables.pop(name)
        if len(ranking.systems) > 1 and table.defined and (name != "scores" or len(table.columns) > 3):  # noqa: PLR2004
            yield render(table, width)
    yield from (render(table, width, most=MAX_SHOWN) for table in tables.values() if table.defined)
    yield result_tables.signature(Signature.from_dict(ranking.signature))


def factors_blocks(results: FactorsResults, width: int) -> Iterator[RenderableType]:
    """Yield the blocks of the comparisons of factor levels."""
    first, tables = results.factors[0], results.tables
    yield Text.assemble(
        (
            f"{counted(len(results.factors), 'factor')} of {counted(sum(first.documents.values()), 'prediction')}",
            "bold",
        ),
        f"\n{AVERAGES[first.aggregate]} {first.score}, {_interval(next(iter(first.levels.values())))}",
        f"\n{escape_hidden(results.provenance.headline())}",
    )
    yield from (render(table, width) for table in tables.values() if table.defined)
    if not tables["pairs"].defined and tables["pairs"].size:
        yield Text(ENGLISH("shared.none"))
    unbalanced = [
        f"{one.name} is unbalanced: its levels cover different documents. Only shared documents are compared."
        for one in results.factors
        if not one.balanced
    ]
    notes = dict.fromkeys(note for one in results.factors for note in one.notes)
    yield Text("\n".join((*unbalanced, *notes)), style="dim")
    yield result_tables.signature(results.signature)


def _interval(found: Interval) -> str:
    return f"{ENGLISH.level(found.level)} confidence intervals ({found.method}), seed {found.seed}"
