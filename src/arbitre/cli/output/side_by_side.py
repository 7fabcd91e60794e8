"""Print the results of several matchings or distances side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from arbitre.cli.output import result_tables
from arbitre.cli.output.console import titled
from arbitre.comparator.configurations import NUMBERS
from arbitre.paths import order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from rich.console import RenderableType

    from arbitre.comparator.configurations import SideBySideRow

MAX_SHOWN: Final = 5
"""Maximum number of differing pairs to show per choice."""

WIDE: Final = 80
"""Width of a terminal from which all columns are shown."""

_NARROW: Final = ("f1q", "W1", "OSPA-W1")
"""Columns on narrow terminals."""
_STYLES: Final = {"f1q": "bold"}
_LEGEND: Final = (
    "S: sum of the pair qualities. W1: minimum transport cost between the entries, all of equal mass. OSPA-W1: cost of "
    "the difference in number of entries. Both use the entry distances of the choice. differ: pairs made only by "
    "this choice or only by the first."
)


def to_json(found: Sequence[SideBySideRow]) -> dict[str, Any]:
    """Return the table as JSON."""
    return {"entries": found[0].comparison.entries, "choices": [row.to_dict() for row in found]}


def blocks(found: Sequence[SideBySideRow], width: int) -> Iterator[RenderableType]:
    """Yield the table, then the differing pairs of each choice."""
    first = found[0].comparison
    tally = first.scores
    sizes = f"{result_tables.count(tally.gold)} gold, {result_tables.count(tally.predicted)} predicted"
    yield Text.assemble(
        (f"{len(found)} choices side by side", "bold"), f"\nentries {first.entries or '(the whole)'}: {sizes}"
    )
    shown = NUMBERS if width >= WIDE else _NARROW
    grid = result_tables.table("choice", *shown, "differ")
    for row in found:
        cells = (Text(result_tables.number(row.numbers[name]), style=_STYLES.get(name, "")) for name in shown)
        grid.add_row(row.choice.label, *cells, str(len(row.more) + len(row.fewer)))
    yield grid
    yield Text(_LEGEND, style="dim")
    for row in found:
        if row.more or row.fewer:
            yield titled(
                f"{row.choice.label}: pairs made only here (+) or only by the first choice (-)", _differing(row)
            )


def _differing(row: SideBySideRow) -> RenderableType:
    signed = [("+", *pair) for pair in row.more] + [("-", *pair) for pair in row.fewer]
    signed.sort(key=lambda one: (order(one[1]), order(one[2])))
    grid = Table.grid(padding=(0, 1))
    for sign, gold, predicted in signed[:MAX_SHOWN]:
        grid.add_row(sign, f"{gold or '(the whole)'} = {predicted or '(the whole)'}")
    if len(signed) > MAX_SHOWN:
        grid.add_row("", Text(f"... and {len(signed) - MAX_SHOWN} more pairs", style="dim"))
    return grid
