"""`arbitre fix`: the changes that repair the causes of faults, with their gains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from arbitre.causes.fixes import find_fixes
from arbitre.causes.sample import documents_to_search
from arbitre.cli.output.console import OutputOptions
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.inputs.corpus_sources import Sources
from arbitre.inputs.options import ReadOptions
from arbitre.language import counted
from arbitre.storage.output_folder import write_json
from arbitre.tables.table import SCORE
from arbitre.tables.terminal import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.causes.fixes import Fixes


def fix(
    *,
    schema: str,
    options: ComparatorKeywords,
    sources: Sources,
    reading: ReadOptions,
    accept: list[str],
    out: Path | None,
    force: bool,
    output: OutputOptions,
) -> None:
    """List the changes that repair the causes of faults, and write an overlay with the accepted ones."""
    screen = output.terminal()
    plan = Comparator(schema, **options).plan
    out = screen.destination(out, inputs=[*plan.inputs, *sources.files(reading)], force=force)
    joined = sources.joined(reading.for_plan(plan))
    for note in joined.notes:
        screen.note(note)
    found = find_fixes(plan, documents_to_search(joined), accept)
    write_json(found.overlay, out)
    screen.result(found.to_dict, lambda width: _blocks(found, len(joined), width))
    if out is None and found.overlay != plan.overlay and not screen.as_json:
        screen.note("Write the accepted changes to a file with --out FILE, and pass the file to --overlay.")


def _blocks(found: Fixes, total: int, width: int) -> Iterator[RenderableType]:
    """Yield the changes and what they gain together."""
    accepted = sum(one.accepted for one in found.fixes)
    documents = counted(found.documents, "document") + (f" of {total}" if found.documents < total else "")
    if not found.fixes:
        yield Text(f"No change repairs a cause in {documents}: f1q {SCORE(found.f1q)}")
    else:
        yield Text.assemble(
            (f"f1q {SCORE(found.f1q)}, {SCORE(found.f1q_after)} with the overlay", "bold"),
            f" of {counted(accepted, 'change')}, in {documents}",
        )
        yield render(found.table(), width)
    if found.gate is not None:
        below, pairs = found.gate.below, counted(found.gate.pairs, "matched pair")
        yield Text(
            f"Gate {found.gate.gate:g} for the entries: 95% of unrelated entries are below it. {below} of {pairs} "
            f"would not be matched; f1q would be {SCORE(found.f1q_with_gate or 0.0)}. Add it with --accept gate.",
            style="dim",
        )
