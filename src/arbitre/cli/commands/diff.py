"""`arbitre diff`: compare two evaluations of one system, before and after a change."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer
from rich.text import Text

from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions, titled
from arbitre.cli.thresholds import GateOptions, close
from arbitre.errors import QualityGateError
from arbitre.report.evaluation_diff import (
    EvaluationDiff,
    ScoreChange,
    TestedChange,
    check_file,
    check_regressions,
    check_tolerance,
    compare_evaluations,
)
from arbitre.tables.table import probability
from arbitre.tables.terminal import escape_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

MAX_SHOWN: Final = 10
"""Maximum number of paths, and of documents, to show."""


def diff(
    *,
    before: Path,
    after: Path,
    score: str,
    fail_if_worse: bool,
    tolerance: float | None,
    gates: GateOptions,
    output: OutputOptions,
) -> None:
    """Show what changed between two evaluations: overall, by path and by document."""
    check_tolerance(tolerance, fail_if_worse=fail_if_worse)
    screen = output.terminal()
    found = compare_evaluations(before, after, score, tolerance)
    missed = check_file(after, gates.gates)
    if output.output in {"markdown", "junit"}:
        screen.raw(found.to_markdown() if output.output == "markdown" else found.to_junit())
    else:
        screen.result(found.to_dict, partial(_blocks, found))
    for note in found.notes:
        screen.note(f"{note}.")
    if found.settings:
        screen.note(f"The evaluations differ in {', '.join(found.settings)}: their scores may not be comparable.")
    code = close(screen, missed)
    try:
        check_regressions(found, fail_if_worse=fail_if_worse)
    except QualityGateError as error:
        for problem in error.problems:
            screen.error(problem.message, "worse")
        code = 1
    raise typer.Exit(code)


def _blocks(found: EvaluationDiff, width: int) -> Iterator[RenderableType]:
    failed = f"\nfailed documents: {_before_after(*found.failed)}"
    failed += f" (only after: {_some(found.newly_failed)})" * bool(found.newly_failed)
    yield Text.assemble((f"{found.score}: {found.verdict}", "bold"), failed)
    yield _tested("score", {**found.headlines, "Leaves, pooled (micro)": found.leaves}, width)
    yield _paths(found.paths, width)
    if found.documents:
        yield _documents(found.documents, width)
    for names, where in ((found.only_before, "before"), (found.only_after, "after")):
        if names:
            yield titled(
                f"Documents only {where} ({len(names)})",
                result_tables.shortened([(name,) for name in names], "documents"),
            )


def _some(names: Sequence[str]) -> str:
    more = len(names) - MAX_SHOWN
    return ", ".join(map(escape_hidden, names[:MAX_SHOWN])) + f" and {more} more" * (more > 0)


def _paths(found: Sequence[TestedChange], width: int) -> RenderableType:
    title = "Paths, pooled (micro)"
    if not found:
        return Text(f"{title}: no change")
    counts = [f"{sum(one.verdict == name for one in found)} {name}" for name in ("worse", "improved", "no evidence")]
    shown = {one.name or "(the whole)": one for one in found[:MAX_SHOWN]}
    head = ", ".join(counts) if found[0].verdict is not None else f"{len(found)} changed, not tested"
    return titled(f"{title}: {head}{_first(found)}", _tested("path", shown, width))


def _documents(found: Sequence[ScoreChange], width: int) -> RenderableType:
    lower = sum(one.difference < 0.0 for one in found)
    grid = result_tables.table("document", "before", "after", "change")
    grid.columns[0].max_width = max(20, width - 33)
    for one in found[:MAX_SHOWN]:
        grid.add_row(escape_hidden(one.name), *_cells(one))
    return titled(f"Documents: {lower} lower, {len(found) - lower} higher{_first(found)}", grid)


def _first(found: Sequence[object]) -> str:
    return f" (first {MAX_SHOWN})" * (len(found) > MAX_SHOWN)


def _tested(kind: str, found: Mapping[str, TestedChange], width: int) -> RenderableType:
    grid = result_tables.table(kind, "before", "after", "change", "p", "")
    grid.columns[0].max_width = max(20, width - 55)
    grid.columns[-1].justify = "left"
    for name, one in found.items():
        p = "" if one.p is None else probability(one.p)
        grid.add_row(escape_hidden(name), *_cells(one), p, one.verdict or "not tested")
    return grid


def _cells(one: ScoreChange) -> tuple[RenderableType, ...]:
    return (
        result_tables.number(one.before),
        result_tables.number(one.after),
        Text(f"{one.difference:+.4f}", style="bold"),
    )


def _before_after(before: int, after: int) -> str:
    return str(before) if before == after else f"{before} -> {after}"
