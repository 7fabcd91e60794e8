"""`arbitre faults`: plant faults into the bundled corpus and show how each score reacts."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

import arbitre
from arbitre import bundled
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import titled
from arbitre.cli.overrides import parse_matching
from arbitre.cli.shared_options import OutputOptions
from arbitre.comparator.configurations import NamedChoice
from arbitre.diagnosis.perturbation.score_reactions import plant_each, score_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from arbitre.tally import Scores

    ScoreRow = tuple[NamedChoice, Mapping[str, Scores]]

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

    The faults are planted into the bundled corpus.
    """
    screen = output.terminal()
    lines = map(json.loads, (bundled.demo() / "gold.jsonl").read_text(encoding="utf-8").splitlines())
    gold = {line.pop("id"): line for line in lines}
    faulty = plant_each(gold, at=f"/{ENTRIES}", share=share, seed=seed)
    matchings = chosen or [parse_matching(text) for text in MATCHINGS]
    schema, site = bundled.schema(SCHEMA), f"/{ENTRIES}"  # nested lists are matched as the schema says
    plans = [arbitre.Comparator(schema, overlay={site: {"match": match.choice}}).plan for match in matchings]
    rows = [(match, score_faults(plan, gold, faulty)) for match, plan in zip(matchings, plans, strict=True)]
    screen.result(lambda: _plain(rows, share, seed), lambda _: _blocks(rows, score or list(ScoreName), len(gold)))


def _plain(rows: Sequence[ScoreRow], share: float, seed: int) -> dict[str, Any]:
    matchings = [
        {"match": match.choice, "faults": {name: scores.to_dict() for name, scores in row.items()}}
        for match, row in rows
    ]
    return {"share": share, "seed": seed, "matchings": matchings}


def _blocks(rows: Sequence[ScoreRow], scores: Sequence[ScoreName], pages: int) -> Iterator[RenderableType]:
    columns = rows[0][1]
    sizes = columns["none"]
    yield Text.assemble(
        ("Gold compared with copies that contain planted faults", "bold"),
        f"\n{pages} pages, {result_tables.count(sizes.gold)} speakers",
    )
    for score in scores:
        grid = result_tables.table("matching", *columns)
        for match, row in rows:
            grid.add_row(match.label, *(_number(getattr(found, score)) for found in row.values()))
        yield titled(f"{score}, pooled (micro)", grid)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.{DIGITS}f}"
