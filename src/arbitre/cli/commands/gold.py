"""`arbitre gold`: correct gold by decisions made in a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from arbitre.cli.output.console import OutputOptions
from arbitre.errors import Problem
from arbitre.gold.corrections import apply_decisions
from arbitre.language import counted
from arbitre.tables.terminal import escape_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.gold.corrections import AppliedDecisions

_DONE = {"replace": "replaced", "add": "added", "remove": "removed"}


def apply(
    *,
    decisions: str,
    gold: str,
    out: Path,
    schema: str | None,
    allow_refs: list[str],
    id_key: str,
    id_pattern: str | None,
    normalize_ids: bool,
    gold_key: str,
    force: bool,
    output: OutputOptions,
) -> None:
    """Correct gold according to the decisions that people made in a report."""
    screen = output.terminal()
    if not Path(gold).is_dir():
        out = screen.destination(out, inputs=[gold, decisions], force=force) or out
    applied = apply_decisions(
        decisions,
        gold,
        out=out,
        schema=schema,
        allow_refs=allow_refs,
        id_key=id_key,
        id_pattern=id_pattern,
        normalize_ids=normalize_ids,
        gold_key=gold_key,
        force=force,
    )
    screen.result(applied.to_dict, lambda _: _blocks(applied))
    sidecar = ", with its sidecar" if applied.values else ""
    screen.note(f"Wrote the corrected gold to {applied.out.as_posix()}{sidecar}")
    if applied.refused:
        for each in applied.refused:
            screen.error(str(Problem(each.reason, decisions, each.line)))
        number = counted(len(applied.refused), "decision")
        place = "" if applied.refused_file is None else applied.refused_file.as_posix()
        where = f"{'It is' if len(applied.refused) == 1 else 'They are'} in {place}"
        screen.error(f"{number} refused; all others were applied. {where}", "note")
        raise typer.Exit(1)


def _blocks(applied: AppliedDecisions) -> Iterator[RenderableType]:
    done = ", ".join(f"{number} {_DONE[op]}" for op, number in applied.operations.items())
    people = ", ".join(f"{escape_hidden(name)} {number}" for name, number in applied.by.items())
    corrected = f"{counted(applied.values, 'value')} corrected in {counted(applied.documents, 'document')}"
    yield Text.assemble(
        (corrected, "bold"),
        f": {done}\nDecided by {people}" if applied.values else "",
        f"\nDecisions that do not change gold: {applied.predictions_wrong} (prediction is wrong), "
        f"{applied.unsure} (unsure)",
    )
