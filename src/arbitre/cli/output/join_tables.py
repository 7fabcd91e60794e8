"""The splits, the merges and the order of a comparison as tables for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from arbitre.cli.output.console import titled
from arbitre.cli.output.path_labels import escape_hidden
from arbitre.cli.output.result_tables import MAX_SHOWN, number, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from arbitre.comparison.comparison import Comparison


def joins(comparison: Comparison) -> Iterator[RenderableType]:
    """Yield a table of the splits and merges with f1q before and after joining them, if there are any."""
    diagnosis = comparison.diagnosis
    every = [("merge", join) for join in diagnosis.merges] + [("split", join) for join in diagnosis.splits]
    if not every:
        return
    grid = table("list", "kind", "gold", "predicted", "gain", left=2)
    for kind, join in every[:MAX_SHOWN]:
        gold, predicted = map(_positions, (join.gold, join.predicted))
        grid.add_row(escape_hidden(join.list or "(the whole)"), kind, gold, predicted, number(join.gain))
    lines = [f"... and {len(every) - MAX_SHOWN} more in --format json"] * (len(every) > MAX_SHOWN)
    lines.append(
        f"f1q of the entries: {number(comparison.scores.f1q)}; "
        f"{number(diagnosis.f1q_after_joins)} if these items are joined."
    )
    yield titled("Splits and merges", Group(grid, Text("\n".join(lines), style="dim")))


def _positions(positions: Sequence[int]) -> str:
    """Return positions as text; more than two consecutive ones as a range."""
    first, last = positions[0], positions[-1]
    if last - first > 1 and len(positions) == last - first + 1:
        return f"{first}-{last}"
    return ", ".join(map(str, positions[:MAX_SHOWN])) + ", ..." * (len(positions) > MAX_SHOWN)


def order(comparison: Comparison) -> Iterator[RenderableType]:
    """Yield Kendall's tau of the lists whose items are not in the order of gold, if there are any."""
    changed = {path: tau for path, tau in comparison.diagnosis.order.items() if tau is not None and tau < 1.0}
    if not changed:
        return
    grid = table("list", "Kendall's tau")
    for path, tau in list(changed.items())[:MAX_SHOWN]:
        grid.add_row(escape_hidden(path or "(the whole)"), number(tau))
    more = len(changed) - MAX_SHOWN
    note = Text(f"... and {more} more in --format json" if more > 0 else "", style="dim")
    yield titled("Items in another order than in gold", Group(grid, note) if more > 0 else grid)
