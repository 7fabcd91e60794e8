"""`arbitre metricity`: measure how far the distances between entries deviate from a metric."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

import arbitre
from arbitre.cli.option_values import OverrideOptions
from arbitre.cli.output.console import OutputOptions
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.comparator.entry_metricity import claims_table, table
from arbitre.language import counted
from arbitre.options import CsvDialectName
from arbitre.tables.table import WHOLE
from arbitre.tables.terminal import render, split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.comparator.entry_metricity import EntryMetricity

_LEGEND: Final = (
    "metricity = (1 - symmetry defect) (1 - identity defect) (1 - repair mass); 1 if the distances between these "
    "entries form a pseudo-metric. The certificate covers all documents; it is derived from the schema alone."
)

_SAMPLE: Final = "Only a sample of the triples of entries was checked, so the relaxed triangle is a lower bound."


def metricity(
    *,
    gold: str,
    predicted: str,
    schema: str,
    overrides: OverrideOptions,
    options: ComparatorKeywords,
    out: Path | None,
    force: bool,
    sample: int | None,
    seed: int,
    id_key: str,
    max_depth: int,
    csv_dialect: CsvDialectName,
    output: OutputOptions,
) -> None:
    """Measure how far the distances between entries deviate from a metric."""
    screen = output.terminal()
    settings: dict[str, Any] = {**options}
    match, distance = overrides.choices(options.get("functions", ()))
    result = arbitre.entry_metricity(
        schema,
        gold=gold,
        predicted=predicted,
        match=match,
        distance=distance,
        out=out,
        force=force,
        sample=sample,
        seed=seed,
        id_key=id_key,
        max_depth=max_depth,
        csv_dialect=csv_dialect,
        **settings,
    )
    screen.result(result.to_dict, partial(_blocks, result))
    if out is not None:
        screen.wrote(result.files, out)


def _blocks(result: EntryMetricity, width: int) -> Iterator[RenderableType]:
    first, comparator = result.rows[0].pool, result.rows[0].choice.comparator
    sampled = f", sampled from {first.whole}" if first.whole > len(first) else ""
    sizes = f"{first.gold} gold, {len(first) - first.gold} predicted"
    yield Text.assemble(
        (f"All pairs of {counted(len(first), 'entry', 'entries')}{sampled}", "bold"),
        f"\nentries {comparator.entries or WHOLE}: {sizes}",
    )
    for part in split(table(result), width):
        yield render(part, width)
    yield Text(_LEGEND, style="dim")
    if sampled or not result.rows[0].metricity.exact:
        yield Text(_SAMPLE, style="dim")
    if result.claims:
        yield render(claims_table(result), width)
