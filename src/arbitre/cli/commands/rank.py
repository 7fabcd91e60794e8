"""`arbitre rank`: compare systems on the same gold, or the levels of the factors in a manifest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

import arbitre
from arbitre.cli.custom_distances import load_functions
from arbitre.cli.evaluation_run import EvaluationRun, engine, exports
from arbitre.cli.options import (
    ClusterBy,
    Engine,
    EngineKind,
    FailOver,
    FailUnder,
    Functions,
    Gold,
    GoldKey,
    IdKey,
    IdPattern,
    Lenient,
    Manifest,
    NoColor,
    NoReport,
    Output,
    OutputFormat,
    Overlay,
    PredictedKey,
    Project,
    Quiet,
    Scheduler,
    Schema,
    Workers,
    export_option,
)
from arbitre.cli.output.console import Terminal
from arbitre.cli.output.rank_output import FactorsOutput, RankingOutput, write_results
from arbitre.cli.thresholds import close
from arbitre.corpus.joining.join import join, paired
from arbitre.corpus.reading.manifest import Manifest as Listing
from arbitre.corpus.reading.options import STDIN, ReadOptions
from arbitre.corpus.reading.projection import Projection
from arbitre.corpus.results.gates import gate
from arbitre.corpus.statistics import Average
from arbitre.corpus.statistics.bootstrap import LEVEL
from arbitre.corpus.systems.factors import check_factor, factor
from arbitre.corpus.systems.ranking import SCORES
from arbitre.corpus.systems.ranking import rank as ranked
from arbitre.corpus.systems.run_stability import run_stability
from arbitre.errors import DataError
from arbitre.report.html.build_view import build_factors
from arbitre.report.report_files import REPORT, read_view, write_page, write_ranking
from arbitre.report.tables.result_files import EVALUATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.corpus.joining.join import Join
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.results.gates import Gate, Missed
    from arbitre.corpus.running import executors
    from arbitre.corpus.systems.run_stability import RunStability
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
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--score", metavar="SCORE", help="Score to rank by, such as f1q or fq(2). Repeat it to show further scores."
    ),
]
Mean = Annotated[
    Average, typer.Option(help="How to average scores: per document (macro) or pooled over entries (micro).")
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Random seed of the bootstrap and the permutation tests.")]
Level = Annotated[
    float, typer.Option(metavar="SHARE", help="Confidence level; a difference is significant if p <= 1 - level.")
]
Tables = Annotated[list[str] | None, export_option("pairs.tex or pairs.parquet")]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder for JSON, report.html, and CSV, Markdown and LaTeX tables.")
]


def rank(
    systems: Systems = None,
    *,
    schema: Schema,
    gold: Gold = None,
    manifest: Manifest = None,
    factors: Factors = None,
    scores: Measures = None,
    aggregate: Mean = "macro",
    cluster_by: ClusterBy = None,
    seed: Seed = 0,
    level: Level = LEVEL,
    fail_under: FailUnder = None,
    fail_over: FailOver = None,
    out: Out = None,
    tables: Tables = None,
    overlay: Overlay = None,
    functions: Functions = None,
    id_key: IdKey = "id",
    id_pattern: IdPattern = None,
    gold_key: GoldKey = "gold",
    predicted_key: PredictedKey = "predicted",
    project: Project = None,
    lenient: Lenient = False,
    workers: Workers = None,
    kind: Engine = EngineKind.LOCAL,
    scheduler: Scheduler = None,
    no_report: NoReport = False,
    output: Output = OutputFormat.TEXT,
    no_color: NoColor = False,
    quiet: Quiet = False,
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
    asked = exports(tables, (FactorsOutput if manifest else RankingOutput).rows, out)
    screen = Terminal.create(plain=no_color, quiet=quiet)
    comparator = arbitre.Comparator(schema, overlay=overlay, **load_functions(functions))
    projection = None if project is None else Projection.load(project)
    reading = ReadOptions(
        id_key,
        id_pattern,
        gold_key=gold_key,
        predicted_key=predicted_key,
        lenient=lenient,
        projection=projection,
    )
    first, *beside = scores or SCORES
    how = RankingOptions(first, tuple(beside), aggregate, cluster_by, seed, level)
    plan, report = reading.signed(comparator.plan), out is not None and not no_report
    gates = (*(fail_under or ()), *(fail_over or ()))
    corpus = RankingRun(plan, reading, screen, how, engine(kind, scheduler, workers), out if report else None, gates)
    found = corpus.factors(manifest, factors or []) if manifest else corpus.systems(gold or [], named)
    if output is OutputFormat.JSON:
        screen.json(found.to_dict())
    else:
        screen.show(found.blocks(screen.width))
    if out is not None:
        if not report:
            (out / REPORT).unlink(missing_ok=True)  # of an earlier ranking
        files = (*write_results(out, found, asked), *([REPORT] if report else []))
        screen.note(f"Wrote {', '.join(files)} to {out.as_posix()}")
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
class RankingOptions:
    """Statistical options for comparing systems or factor levels."""

    score: str
    beside: tuple[str, ...]
    aggregate: Average
    cluster: str | None
    seed: int
    level: float


@dataclass(frozen=True, slots=True)
class RankingRun:
    """Evaluates the systems or the manifest and prints notes on failed or skipped documents to standard error."""

    plan: Plan
    reading: ReadOptions
    screen: Terminal
    options: RankingOptions
    engine: executors.Executor
    out: Path | None = None
    """Folder for the report, with one subfolder per evaluation."""
    gates: tuple[Gate, ...] = ()
    missed: list[Missed] = field(default_factory=list)
    """Gates that were not met."""

    def systems(self, gold: Sequence[str], systems: Mapping[str, Sequence[str]]) -> RankingOutput:
        """Evaluate every system on the same gold and rank them. Raises DataError if a source cannot be read."""
        found = {
            name: self._evaluate(
                join(self.reading.records(gold, "gold"), self.reading.records(sources, "predicted")), name, name
            )
            for name, sources in systems.items()
        }
        how = self.options
        ranking = ranked(found, how.score, beside=how.beside, aggregate=how.aggregate, level=how.level, seed=how.seed)
        if self.out is not None:
            write_ranking(self.out, ranking)
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
        listing = Listing(manifest, self.reading)
        for name in names:
            check_factor(name, listing.factors)
        joined = paired(listing.rows(), factors=listing.factors)
        evaluation = self._evaluate(joined, Path(manifest).name, WHOLE_CORPUS)
        design: dict[str, list[str]] = {}
        for name in names:
            known = dict(zip(joined.keys, joined.factors[name], strict=True))
            design[name] = [known[one] for one in evaluation.document_table.keys]
        how = self.options
        comparisons = (
            factor(evaluation, name, design, how.score, aggregate=how.aggregate, level=how.level, seed=how.seed)
            for name in design
        )
        results = FactorsOutput(tuple(comparisons), evaluation.signature)
        if self.out is not None:
            view = read_view([self.out / WHOLE_CORPUS / EVALUATION])
            write_page(self.out / REPORT, replace(view, factors=build_factors(results.to_dict())))
        return results

    def _evaluate(self, joined: Join, name: str, folder: str) -> Evaluation:
        out = self.out and self.out / folder
        evaluation, _ = EvaluationRun(self.plan, joined, self.engine, out, cluster_by=self.options.cluster)(self.screen)
        for count, what in (
            (evaluation.macro.failed, "failed, counted as empty predictions"),
            (evaluation.unscored, "gold documents failed or duplicated, not scored"),
            (len(joined.repaired), "invalid JSON, repaired"),
            (len(joined.without_gold), "predictions without gold, not scored"),
        ):
            if count:
                self.screen.note(f"{name}: {what} ({count})")
        self.missed.extend(gate({name: evaluation}, fail_under=self.gates))
        return evaluation
