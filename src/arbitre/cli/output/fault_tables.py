"""The faults of a corpus as tables for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from arbitre.cli.output.console import titled
from arbitre.cli.output.path_labels import escape_hidden
from arbitre.cli.output.result_tables import MAX_SHOWN, number, table
from arbitre.report.tables.table import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from arbitre.corpus.results.diagnosis import CorpusDiagnosis


def faults(found: CorpusDiagnosis) -> Iterator[RenderableType]:
    """Yield a table of the most costly faults by path and class, and what their repair would gain."""
    if not found.faults:
        yield Text("No faults")
        return
    grid = table("path", "fault", "number", "cost", "share", left=2)
    for group in found.faults[:MAX_SHOWN]:
        share = NONE if group.share is None else f"{group.share:.1%}"
        grid.add_row(
            escape_hidden(group.path or "(the whole)"), group.fault, str(group.count), number(group.cost), share
        )
    more = len(found.faults) - MAX_SHOWN
    lines = [f"... and {more} more in evaluation.json"] * (more > 0)
    lines.append("Cost: decrease in pooled f1q; all costs add up to 1 - f1q.")
    gains = (("of one class", found.repair_gain), ("at one path", found.repair_gain_by_path))
    lines += [line for which, gain in gains if (line := _gains(which, gain))]
    yield titled("Faults by path and class", Group(grid, Text("\n".join(lines), style="dim")))


def _gains(which: str, gains: Mapping[str, float]) -> str:
    """Return a line with the greatest gains; empty if nothing would be gained."""
    ranked = sorted(((gain, key) for key, gain in gains.items() if gain > 0.0), key=lambda one: (-one[0], one[1]))
    shown = [f"{escape_hidden(key or '(the whole)')} {number(gain)}" for gain, key in ranked[:MAX_SHOWN]]
    return f"Gain in f1q if all faults {which} were repaired: {', '.join(shown)}." if shown else ""
