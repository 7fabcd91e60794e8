"""`arbitre faults`: plant faults in the bundled corpus and show how each score reacts."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

import arbitre
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import titled
from arbitre.cli.overrides import parse_matching
from arbitre.cli.shared_options import OutputOptions
from arbitre.comparator.configurations import NamedChoice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from arbitre.comparator.fault_scores import FaultScores

DIGITS: Final = 3


class ScoreName(StrEnum):
    """Scores that have a table."""

    F1Q = "f1q"
    IMQ = "imq"
    IRQ = "irq"
    AMQ = "amq"


Matches = Annotated[
    list[NamedChoice] | None,
    typer.Option(
        "--match",
        metavar="NAME",
        parser=parse_matching,
        help="Use only this matching for the speakers: a name, or JSON as in a schema. May be repeated.",
    ),
]
Only = Annotated[
    list[ScoreName] | None,
    typer.Option("--score", help="Score to print a table for. May be repeated. Default: all four."),
]
Share = Annotated[float, typer.Option(metavar="SHARE", help="Share of the entries that receive a fault, at most 0.5.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Random seed for the choice of entries.")]


def faults(
    *,
    chosen: Matches = None,
    score: Only = None,
    share: Share = 0.2,
    seed: Seed = 0,
    output: OutputOptions,
) -> None:
    """Show how each score reacts to each kind of fault, for every matching.

    The faults are planted in the bundled corpus.
    """
    screen = output.terminal()
    rows = arbitre.faults([match.choice for match in chosen or ()], share=share, seed=seed)
    screen.result(rows.to_dict, lambda _: _blocks(rows, score or list(ScoreName)))


def _blocks(rows: FaultScores, scores: Sequence[ScoreName]) -> Iterator[RenderableType]:
    columns = rows.matchings[0].faults
    sizes = columns["none"]
    yield Text.assemble(
        ("Gold compared with copies that contain planted faults", "bold"),
        f"\n{rows.documents} pages, {result_tables.count(sizes.gold)} speakers",
    )
    for score in scores:
        grid = result_tables.table("matching", *columns)
        for row in rows.matchings:
            grid.add_row(row.label, *(_number(getattr(fault_scores, score)) for fault_scores in row.faults.values()))
        yield titled(f"{score}, pooled (micro)", grid)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.{DIGITS}f}"
