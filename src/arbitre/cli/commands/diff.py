"""`arbitre diff`: compare two evaluations of one system, before and after a change."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from arbitre.cli.output import result_tables
from arbitre.cli.output.console import titled
from arbitre.cli.output.path_labels import escape_hidden
from arbitre.cli.shared_options import OutputOptions
from arbitre.cli.thresholds import GateOptions, close
from arbitre.corpus.systems.evaluation_diff import EvaluationDiff, ScoreChange, check_file
from arbitre.corpus.systems.evaluation_diff import diff as diff_evaluations
from arbitre.report.tables.summaries import AVERAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

MAX_SHOWN: Final = 10
"""Maximum number of paths, and of documents, to show."""

Before = Annotated[Path, typer.Argument(metavar="A.json", help="The evaluation.json before the change.")]
After = Annotated[Path, typer.Argument(metavar="B.json", help="The evaluation.json after the change.")]
Measure = Annotated[str, typer.Option(metavar="SCORE", help="Score to compare.")]
FailIfWorse = Annotated[
    bool,
    typer.Option(
        "--fail-if-worse",
        help="Exit with code 1 if the micro score, the macro score or document quality fell, or more documents failed.",
    ),
]


def diff(
    before: Before,
    after: After,
    *,
    score: Measure = "f1q",
    fail_if_worse: FailIfWorse = False,
    gates: GateOptions,
    output: OutputOptions,
) -> None:
    """Show what changed between two evaluations: overall, by path and by document.

    --fail-under and --fail-over apply to the evaluation after the change.
    """
    screen = output.terminal()
    found = diff_evaluations(before, after, score)
    missed = check_file(after, gates.gates)
    screen.result(found.to_dict, partial(_blocks, found))
    if found.settings:
        screen.note(f"The evaluations differ in {', '.join(found.settings)}: their scores may not be comparable.")
    code = close(screen, missed)
    if fail_if_worse and found.worse:
        screen.error(f"{score} or document quality fell, or more documents failed", "worse")
        code = 1
    raise typer.Exit(code)


def _blocks(found: EvaluationDiff, width: int) -> Iterator[RenderableType]:
    verdict = "worse" if found.worse else "not worse"
    yield Text.assemble((f"{found.score}: {verdict}", "bold"), f"\nfailed documents: {_before_after(*found.failed)}")
    averages = (replace(one, name=AVERAGES[one.name]) for one in (found.micro, found.macro))
    whole = replace(found.document_quality, name="Document quality (mean)")
    yield _table("score", [*averages, replace(found.leaves, name="Leaves, pooled (micro)"), whole], width)
    yield _changes_block("path", "Paths, pooled (micro)", found.paths, width)
    if found.documents:
        yield _changes_block("document", "Documents", found.documents, width)
    for names, where in ((found.only_before, "before"), (found.only_after, "after")):
        if names:
            yield titled(
                f"Documents only {where} ({len(names)})",
                result_tables.shortened([(name,) for name in names], "documents"),
            )


def _changes_block(kind: str, title: str, found: Sequence[ScoreChange], width: int) -> RenderableType:
    if not found:
        return Text(f"{title}: no change")
    worse = sum(one.difference < 0.0 for one in found)
    shown = f" (first {MAX_SHOWN})" * (len(found) > MAX_SHOWN)
    return titled(f"{title}: {worse} worse, {len(found) - worse} better{shown}", _table(kind, found[:MAX_SHOWN], width))


def _table(kind: str, found: Sequence[ScoreChange], width: int) -> RenderableType:
    grid = result_tables.table(kind, "before", "after", "change")
    grid.columns[0].max_width = max(20, width - 33)
    for one in found:
        grid.add_row(
            escape_hidden(one.name or "(the whole)"),
            result_tables.number(one.before),
            result_tables.number(one.after),
            Text(f"{one.difference:+.4f}", style="bold"),
        )
    return grid


def _before_after(before: int, after: int) -> str:
    return str(before) if before == after else f"{before} -> {after}"
