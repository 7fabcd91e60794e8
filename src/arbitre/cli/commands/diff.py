"""`arbitre diff`: compare two evaluations of one system, before and after a change."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from arbitre.cli.option_values import BoundOptions, close
from arbitre.cli.output.console import OutputOptions
from arbitre.corpus.tables import names
from arbitre.errors import QualityBoundError
from arbitre.systems.diff import (
    EvaluationDiff,
    TestedChange,
    check_file,
    check_regressions,
    check_tolerance,
    compare_evaluations,
)
from arbitre.tables.terminal import MAX_SHOWN, escape_hidden, render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType


def diff(
    *,
    before: Path,
    after: Path,
    score: str,
    fail_if_worse: bool,
    tolerance: float | None,
    bounds: BoundOptions,
    output: OutputOptions,
) -> None:
    """Show what changed between two evaluations: overall, by path and by document."""
    check_tolerance(tolerance, fail_if_worse=fail_if_worse)
    screen = output.terminal()
    found = compare_evaluations(before, after, score, tolerance)
    missed = check_file(after, bounds.bounds)
    if output.output in {"markdown", "junit"}:
        screen.raw(found.to_markdown(lang=output.lang) if output.output == "markdown" else found.to_junit())
    else:
        screen.result(found.to_dict, partial(_blocks, found))
    for note in found.notes:
        screen.note(f"{note}.")
    if found.settings:
        screen.note(f"The evaluations differ in {', '.join(found.settings)}: their scores may not be comparable.")
    code = close(screen, missed)
    try:
        check_regressions(found, fail_if_worse=fail_if_worse)
    except QualityBoundError as error:
        for problem in error.problems:
            screen.error(problem.message, "worse")
        code = 1
    raise typer.Exit(code)


def _blocks(found: EvaluationDiff, width: int) -> Iterator[RenderableType]:
    failed = f"\nfailed documents: {_before_after(*found.failed)}"
    failed += f" (only after: {_some(found.newly_failed)})" * bool(found.newly_failed)
    yield Text.assemble((f"{found.score}: {found.verdict}", "bold"), failed)
    scores, paths = found.tables()
    yield render(replace(scores, title=""), width)
    if found.paths:
        yield render(replace(paths, title=f"{paths.title}: {_verdicts(found.paths)}"), width, most=MAX_SHOWN)
    else:
        yield Text(f"{paths.title}: no change")
    if found.documents:
        yield render(found.documents_table(), width, most=MAX_SHOWN)
    for keys, where in ((found.only_before, "before"), (found.only_after, "after")):
        if keys:
            yield render(names(keys, f"Documents only {where} ({{}})"), width, most=MAX_SHOWN, rest="more document(s)")


def _some(keys: Sequence[str]) -> str:
    more = len(keys) - MAX_SHOWN
    return ", ".join(map(escape_hidden, keys[:MAX_SHOWN])) + f" and {more} more" * (more > 0)


def _verdicts(found: Sequence[TestedChange]) -> str:
    """Return the number of paths by verdict."""
    untested = sum(one.verdict is None for one in found)
    if untested == len(found):
        return f"{untested} changed, not tested"
    names = ("worse", "improved", "no evidence")
    counts = [f"{sum(one.verdict == name for one in found)} {name}" for name in names]
    return ", ".join([*counts, *[f"{untested} not tested"] * bool(untested)])


def _before_after(before: int, after: int) -> str:
    return str(before) if before == after else f"{before} -> {after}"
