"""`arbitre faults`: which score reacts to which fault, under every matching; planted into the bundled corpus."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

import arbitre
from arbitre import bundled
from arbitre.cli import render
from arbitre.cli.choices import Named, matching_named
from arbitre.cli.options import Format, Output, Plain, Quiet
from arbitre.cli.screen import Screen, titled
from arbitre.diagnosis.faults import planted, reactions
from arbitre.matching import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from arbitre.tally import Scores

    Row = tuple[Named, Mapping[str, Scores]]

SCHEMA: Final = "examples/speakers.schema.json"
ENTRIES: Final = "speakers"
DIGITS: Final = 3

MATCHINGS: Final = (
    "hungarian",
    '{"hungarian": {"gate": 0.7}}',
    "greedy",
    "ordered",
    "sequence",
    '{"keyed": {"key": "name"}}',
    "set",
    '{"transport": {"solver": "exact"}}',
    '{"transport": {"solver": "exact", "masses": "size"}}',
    '{"transport": {"solver": "sinkhorn"}}',
    '{"transport": {"solver": "partial", "mass": 0.8}}',
    '{"transport": {"solver": "unbalanced"}}',
    '{"transport": {"solver": "dummy"}}',
)


class Score(StrEnum):
    """The scores that have a table."""

    F1Q = "f1q"
    IMQ = "imq"
    IRQ = "irq"
    AMQ = "amq"


Matches = Annotated[
    list[Named] | None,
    typer.Option(
        "--match",
        metavar="NAME",
        parser=matching_named,
        help="Only this matching of the speakers: a name, or JSON as in a schema. May be repeated.",
    ),
]
Only = Annotated[
    list[Score] | None, typer.Option("--score", help="A table for this score. May be repeated; else for all four.")
]
Share = Annotated[float, typer.Option(metavar="SHARE", help="So many of the entries are struck, at most 0.5.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Which entries are struck is drawn with this.")]


def faults(
    *,
    match: Matches = None,
    score: Only = None,
    share: Share = 0.2,
    seed: Seed = 0,
    output: Output = Format.TEXT,
    no_color: Plain = False,
    quiet: Quiet = False,
) -> None:
    """Show which score reacts to which fault, under every matching.

    The faults are planted into the bundled corpus.
    """
    screen = Screen.of(plain=no_color, quiet=quiet)
    lines = (bundled.demo() / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    gold = [{key: value for key, value in json.loads(line).items() if key != "id"} for line in lines]
    lists = planted([document[ENTRIES] for document in gold], share=share, seed=seed)
    faulty = {
        name: [document | {ENTRIES: entries} for document, entries in zip(gold, found, strict=True)]
        for name, found in lists.items()
    }
    matchings = match or [Named.of(text, catalogue) for text in MATCHINGS]
    rows = [(one, reactions(_comparator(one).plan, gold, faulty)) for one in matchings]
    if output is Format.JSON:
        screen.json(_plain(rows, share, seed))
    else:
        screen.show(_blocks(rows, score or list(Score), len(lines)))


def _comparator(match: Named) -> arbitre.Comparator:
    """The speakers matched so, and the lists in them as their schema says."""
    return arbitre.Comparator(bundled.schema(SCHEMA), overlay={f"/{ENTRIES}": {"match": match.choice}})


def _plain(rows: Sequence[Row], share: float, seed: int) -> dict[str, Any]:
    found = [
        {"match": match.choice, "faults": {name: scores.to_dict() for name, scores in row.items()}}
        for match, row in rows
    ]
    return {"share": share, "seed": seed, "matchings": found}


def _blocks(rows: Sequence[Row], scores: Sequence[Score], pages: int) -> Iterator[RenderableType]:
    columns = rows[0][1]
    sizes = columns["none"]
    yield Text.assemble(("Faults planted into gold", "bold"), f"\n{pages} pages, {render.count(sizes.gold)} speakers")
    for score in scores:
        made = render.table("matching", *columns)
        for match, row in rows:
            made.add_row(match.label, *(_figure(getattr(found, score)) for found in row.values()))
        yield titled(f"{score}, pooled (micro)", made)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.{DIGITS}f}"
