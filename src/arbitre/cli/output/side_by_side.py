"""Compare one pair of documents with several matchings or distances, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from rich.table import Table
from rich.text import Text

from arbitre.cli.output import result_tables
from arbitre.cli.output.console import titled
from arbitre.comparison.node_tree import NodeTree
from arbitre.diagnosis.entry_pool import cardinality
from arbitre.paths import order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from rich.console import RenderableType

    from arbitre.cli.overrides import Configuration
    from arbitre.comparison import Comparison
    from arbitre.values import Json

Pair = tuple[str, str]

MAX_SHOWN: Final = 5
"""Maximum number of differing pairs to show per choice."""

NUMBERS: Final = ("S", "f1q", "quality", "W1", "OSPA-W1")
_NARROW: Final = ("f1q", "W1", "OSPA-W1")
"""Columns on narrow terminals."""
_STYLES: Final = {"f1q": "bold"}
_LEGEND: Final = (
    "S: sum of the pair qualities. W1: minimum transport cost between the entries, all of equal mass. OSPA-W1: cost of "
    "the difference in number of entries. Both use the entry distances of the choice. differ: pairs made only by "
    "this choice or only by the first."
)


@dataclass(frozen=True, slots=True)
class SideBySideRow:
    """Results of one choice; `more` are the pairs that only it makes, `fewer` those only of the first choice."""

    choice: Configuration
    comparison: Comparison
    numbers: dict[str, float | None]
    more: tuple[Pair, ...]
    fewer: tuple[Pair, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the choice, the table columns and the pairs, as JSON Pointers into gold and prediction."""
        pairs = {
            name: [{"gold": gold, "predicted": predicted} for gold, predicted in pairs]
            for name, pairs in (("more", self.more), ("fewer", self.fewer))
        }
        counts = {"differ": len(self.more) + len(self.fewer)}
        return self.choice.to_dict() | self.numbers | counts | pairs | {"signature": self.comparison.signature.short}


def rows(choices: Sequence[Configuration], gold: Json, predicted: Json) -> list[SideBySideRow]:
    """Compare the documents with each choice; differing pairs are relative to the first choice.

    Raises:
        DataError: The documents cannot be compared.
    """
    found: list[SideBySideRow] = []
    first: dict[Pair, None] = {}
    for choice in choices:
        comparison = choice.comparator.compare(gold=gold, predicted=predicted)
        scores, apart = comparison.scores, cardinality(choice.comparator.plan, gold, predicted)
        values = (
            scores.quality_mass,
            scores.f1q,
            scores.quality,
            None if apart is None else apart.w1,
            None if apart is None else apart.share,
        )
        pairs = dict.fromkeys(_pairs(comparison))
        first = first if found else pairs
        more, fewer = (
            tuple(pair for pair in ours if pair not in theirs) for ours, theirs in ((pairs, first), (first, pairs))
        )
        found.append(SideBySideRow(choice, comparison, dict(zip(NUMBERS, values, strict=True)), more, fewer))
    return found


def _pairs(comparison: Comparison) -> Iterator[Pair]:
    """Yield the pairs of entries as pointers into gold and prediction."""
    node_tree = NodeTree.of(comparison.entry_levels)
    for level in comparison.entry_levels:
        if level.text == f"{comparison.entries}/*" and level.item and not level.inner:
            for node_id in (np.flatnonzero(level.paired) + level.first).tolist():
                yield node_tree.pointer(node_id, gold=True) or "", node_tree.pointer(node_id, gold=False) or ""


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
    shown = NUMBERS if width >= result_tables.WIDE_TERMINAL else _NARROW
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
