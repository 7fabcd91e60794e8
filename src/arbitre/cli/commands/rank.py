"""`arbitre rank`: compare systems on the same gold, or the levels of the factors in a manifest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from arbitre.cli.output.progress import shown_progress
from arbitre.cli.output.rank_output import FactorsOutput, RankingOutput, write_results
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
from arbitre.cli.thresholds import GateOptions, close
from arbitre.corpus.joining.sources import Sources
from arbitre.corpus.reading.manifest import Manifest
from arbitre.corpus.reading.options import STDIN
from arbitre.corpus.results.gates import gate
from arbitre.corpus.systems.factors import check_factor, factor
from arbitre.corpus.systems.ranking import SCORES
from arbitre.corpus.systems.ranking import rank as ranked
from arbitre.corpus.systems.run_stability import run_stability
from arbitre.errors import DataError
from arbitre.report.evaluation_job import EvaluationJob
from arbitre.report.html.build_view import build_factors
from arbitre.report.report_files import REPORT, read_view, write_page, write_ranking
from arbitre.report.tables.exports import parse_exports
from arbitre.report.tables.result_files import EVALUATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.cli.output.console import Terminal
    from arbitre.corpus.joining.join import Join
    from arbitre.corpus.reading.options import ReadOptions
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.results.gates import Gate, Missed
    from arbitre.corpus.systems.run_stability import RunStability
    from arbitre.report.evaluation_job import EvaluationOptions
    from arbitre.schema.plan import Plan

WHOLE_CORPUS: Final = "evaluation"
"""Folder name for the evaluation of the whole corpus when factors are compared."""

Systems = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME=PATH...", help="Predictions of each system. Repeat a name for several files or runs."),
]
Factors = Annotated[
    list[str] | None,
    typer.Option("--factor", metavar="COLUMN", help="Manifest column whose values are compared. May be repeated."),
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
    factors: Factors = None,
    reading: ReadingOptions,
    ranking: RankingOptions,
    evaluation_options: CorpusOptions,
    out: Out = None,
    tables: Tables = None,
    gates: GateOptions,
    output: OutputOptions,
) -> None:
    """Rank systems on the same gold documents, with confidence intervals and paired tests.

    With --manifest and --factor, compare the levels of each factor instead.

    --fail-under and --fail-over apply to every system.
    """
    named = _named_sources(systems or [])
    if bool(gold and named) + bool(manifest and factors) != 1 or bool(gold or named) == bool(manifest or factors):
        raise typer.BadParameter("Expected --gold and systems as NAME=PATH, or --manifest and --factor.")
    if STDIN in [*(gold or ()), *(path for paths in named.values() for path in paths)]:
        raise typer.BadParameter(
            "Expected files and folders, got standard input (-): gold is read once for each system."
        )
    requested = parse_exports(tables, (FactorsOutput if manifest else RankingOutput).rows, out)
    screen = output.terminal()
    plan, report = options.comparator(schema).plan, out is not None and not evaluation_options.no_report
    reading = reading.for_plan(plan)
    evaluation_options = replace(evaluation_options, out=out if report else None)
    corpus = RankingJob(reading.signed(plan), reading, screen, ranking, evaluation_options, gates.gates)
    found = corpus.factors(manifest, factors or []) if manifest else corpus.systems(gold or [], named)
    screen.result(found.to_dict, found.blocks)
    if out is not None:
        if not report:
            (out / REPORT).unlink(missing_ok=True)  # of an earlier ranking
        screen.wrote((*write_results(out, found, requested), *([REPORT] if report else [])), out)
    raise typer.Exit(close(screen, corpus.missed))


def _named_sources(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return the paths of each system by name. Raises typer.BadParameter for anything but NAME=PATH."""
    found: dict[str, list[str]] = {}
    for text in texts:
        name, _, path = text.partition("=")
        if not path or Path(name).name != name or name in {"", ".", ".."}:
            raise typer.BadParameter(f"Expected NAME=PATH, such as careful=careful.jsonl, got {text!r}.")
        found.setdefault(name, []).append(path)
    return found


@dataclass(frozen=True, slots=True)
class RankingJob:
    """Evaluates the systems or the manifest and prints notes on failed or skipped documents to standard error."""

    plan: Plan
    reading: ReadOptions
    screen: Terminal
    options: RankingOptions
    evaluation: EvaluationOptions
    """`out` is the folder for the report, with one subfolder per evaluation."""
    gates: tuple[Gate, ...] = ()
    missed: list[Missed] = field(default_factory=list)
    """Gates that were not met."""

    def systems(self, gold: Sequence[str], systems: Mapping[str, Sequence[str]]) -> RankingOutput:
        """Evaluate every system on the same gold and rank them. Raises DataError if a source cannot be read."""
        found = {
            name: self._evaluate(Sources(gold=gold, predicted=sources), name, name)[0]
            for name, sources in systems.items()
        }
        how = self.options
        ranking = ranked(found, how.score, beside=(how.scores or SCORES)[1:], **how.statistics)
        if self.evaluation.out is not None:
            write_ranking(self.evaluation.out, ranking)
        return RankingOutput(ranking, dict(self._stability(found)))

    def _stability(self, systems: Mapping[str, Evaluation]) -> Iterator[tuple[str, RunStability]]:
        """Yield the run-to-run stability of each system with several runs."""
        for name, evaluation in systems.items():
            if len(set(evaluation.document_table.ids)) < len(evaluation.document_table):
                try:
                    yield name, run_stability(evaluation, self.options.score, aggregate=self.options.aggregate)
                except DataError as error:
                    self.screen.note(f"{name}: stability over runs not computed. {error.message}")

    def factors(self, manifest: str, names: Sequence[str]) -> FactorsOutput:
        """Compare the levels of each factor, holding the other named factors fixed.

        Raises:
            DataError: The manifest cannot be read, or a factor is not one of its columns.
        """
        columns = Manifest(manifest, self.reading).factors
        for name in names:
            check_factor(name, columns)
        evaluation, joined = self._evaluate(Sources(manifest=manifest), Path(manifest).name, WHOLE_CORPUS)
        design: dict[str, list[str]] = {}
        for name in names:
            known = dict(zip(joined.keys, joined.factors[name], strict=True))
            design[name] = [known[one] for one in evaluation.document_table.keys]
        how = self.options
        comparisons = (factor(evaluation, name, design, how.score, **how.statistics) for name in design)
        results = FactorsOutput(tuple(comparisons), evaluation.signature)
        if self.evaluation.out is not None:
            view = read_view([self.evaluation.out / WHOLE_CORPUS / EVALUATION])
            write_page(self.evaluation.out / REPORT, replace(view, factors=build_factors(results.to_dict())))
        return results

    def _evaluate(self, sources: Sources, name: str, folder: str) -> tuple[Evaluation, Join]:
        options = replace(self.evaluation, out=self.evaluation.out and self.evaluation.out / folder)
        with shown_progress(self.screen) as on_progress:
            joined = sources.joined(self.reading, lambda done: on_progress("reading", done, None))
            evaluation, _ = EvaluationJob(self.plan, joined, options)(on_progress=on_progress)
        for count, what in (
            (evaluation.macro.failed, "failed, counted as empty predictions"),
            (evaluation.unscored, "gold documents failed or duplicated, not scored"),
            (len(joined.repaired), "invalid JSON, repaired"),
            (len(joined.without_gold), "predictions without gold, not scored"),
        ):
            if count:
                self.screen.note(f"{name}: {what} ({count})")
        self.missed.extend(gate({name: evaluation}, fail_under=self.gates))
        return evaluation, joined
