"""The flat comparison and the moved values as tables for terminals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.console import Group
from rich.text import Text

from arbitre.cli.output.console import titled
from arbitre.cli.output.path_labels import escape_hidden
from arbitre.cli.output.result_tables import MAX_SHOWN, WIDE_TERMINAL, count, number, path_table, table
from arbitre.errors import shown
from arbitre.tally import Scores

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from arbitre.comparison.diagnosis import Moved
    from arbitre.comparison.flat import FlatComparison

MAX_TEXT: Final = 40
"""Maximum length of a value, in characters."""


@dataclass(frozen=True, slots=True)
class _Row(Scores):
    """The scores of a path, with its solidarity."""

    solidarity: float | None = None


def flat(comparison: FlatComparison, width: int) -> Iterator[RenderableType]:
    """Yield a table of the flat scores and the solidarity of each path."""
    total = comparison.flat
    counts = f"{count(total.gold)} gold, {count(total.predicted)} predicted, {count(total.matched)} matched"
    scores = ", ".join(f"{name} {number(getattr(total, name))}" for name in ("f1q", "imq", "irq"))
    rows = {
        path: _Row(scores.tally, comparison.solidarity_by_path[path])
        for path, scores in comparison.flat_by_path.items()
    }
    lines = ["Each gold value may be matched with any predicted value of the same path; entries are ignored."]
    lines += ["Solidarity: share of this quality that is reached by values in their own entries."]
    if not comparison.flat_exact:
        lines += ["Some matchings were too large for an optimal solution: their quality is a lower bound."]
    yield Text.assemble(
        (f"Flat f1q {number(total.f1q)}, solidarity {number(comparison.solidarity)}", "bold"),
        f"\nleaves: {counts}; {scores}",
    )
    table_of_paths = path_table(rows, width, _COLUMNS, 1 + (width >= WIDE_TERMINAL))
    yield titled("Flat comparison by path", Group(table_of_paths, Text("\n".join(lines), style="dim")))


_COLUMNS: Final = (
    ("gold", "f1q", "solidarity"),
    ("gold", "predicted", "matched", "imq", "irq", "f1q", "solidarity"),
)
"""Columns on narrow and wide terminals."""


def moved(values: Sequence[Moved]) -> Iterator[RenderableType]:
    """Yield a table of the moved values, if there are any."""
    if not values:
        return
    grid = table("value", "in gold", "in the prediction", left=3)
    for value in values[:MAX_SHOWN]:
        grid.add_row(
            escape_hidden(shown(value.value, MAX_TEXT)), escape_hidden(value.source), escape_hidden(value.target)
        )
    more = len(values) - MAX_SHOWN
    note = [Text(f"... and {more} more in --format json", style="dim")] * (more > 0)
    yield titled(f"Moved values ({len(values)})", Group(grid, *note))
