"""`arbitre metricity`: measure how far the distances between entries deviate from a metric."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.cells import cell_len
from rich.text import Text

import arbitre
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions, counted, titled
from arbitre.cli.overrides import OverrideOptions
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.errors import shown
from arbitre.options import CsvDialectName
from arbitre.tables.terminal import escape_hidden

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from arbitre.comparator.entry_metricity import EntryMetricity, MetricityRow
    from arbitre.diagnosis.metricity.claims import ClaimCheck

DISPLAY_TOLERANCE: Final = 1e-12
"""Values up to this are printed as 0."""

_GAP: Final = 3
_EXAMPLE: Final = 20
"""Maximum length of a value in the table of claims."""
_LEGEND: Final = (
    "metricity = (1 - symmetry defect) (1 - identity defect) (1 - repair mass); 1 if the distances between these "
    "entries form a metric. The certificate covers all documents; it is derived from the schema alone."
)


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
    result = arbitre.entry_metricity(
        schema,
        gold=gold,
        predicted=predicted,
        match=[choice.choice for choice in overrides.match or ()],
        distance=overrides.distances(options.get("functions", ())),
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


def _cells(row: MetricityRow) -> dict[str, str]:
    """Return the cells of the table column by row label."""
    metricity = row.metricity
    cells = {
        "metricity": "–" if metricity.metricity is None else f"{metricity.metricity:.6f}",
        "symmetry defect": _number(metricity.symmetry_defect),
        "asymmetry, mean": _number(row.asymmetry),
        "asymmetry, max": _number(metricity.symmetry_max),
        "identity defect": _number(metricity.identity_defect),
        "triangle rate": _number(metricity.triangle_rate),
    }
    if metricity.triangle_interval is not None:
        cells |= {f"  {metricity.level:.0%} interval": " to ".join(map(_number, metricity.triangle_interval))}
    return cells | {
        "relaxed triangle": _number(metricity.relaxed_triangle),
        "repair mass": _number(metricity.repair_mass),
        "mean quality": result_tables.number(row.scores.amq),
        "f1q": result_tables.number(row.scores.f1q),
        "certificate": row.choice.comparator.certificate.verdict,
    }


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}" if value > DISPLAY_TOLERANCE else "0"


def _blocks(result: EntryMetricity, width: int) -> Iterator[RenderableType]:
    first, comparator = result.rows[0].pool, result.rows[0].choice.comparator
    sampled = f", sampled from {first.whole}" if first.whole > len(first) else ""
    sizes = f"{first.gold} gold, {len(first) - first.gold} predicted"
    yield Text.assemble(
        (f"All pairs of {counted(len(first), 'entry', 'entries')}{sampled}", "bold"),
        f"\nentries {comparator.entries or '(the whole)'}: {sizes}",
    )
    yield from _tables(result.rows, width)
    yield Text(_LEGEND, style="dim")
    if claims := result.claims:
        yield titled("Claims about custom distances", _claims_table(claims))


def _tables(measured: Sequence[MetricityRow], width: int) -> Iterator[RenderableType]:
    """Yield tables with one column per choice, split to fit the width."""
    names = _cells(measured[0])
    room = width - max(map(len, names))
    columns = None
    for row in measured:
        heading = row.choice.label.replace("(", "\n(").replace(", ", "\n")
        cells = _cells(row).values()
        needed = max(map(cell_len, (*heading.split("\n"), *cells))) + _GAP
        if columns is None or needed > room:
            if columns is not None:
                yield _columns_table(columns, names)
            columns, room = {}, width - max(map(len, names))
        columns[heading] = list(cells)
        room -= needed
    if columns is not None:
        yield _columns_table(columns, names)


def _claims_table(claims: Iterable[ClaimCheck]) -> RenderableType:
    grid = result_tables.table("path", "distance", "claim", "checked", "violated", "largest", left=3)
    grid.columns[2].no_wrap = True
    grid.add_column("example", overflow="fold")
    for check in claims:
        example = "" if check.witness is None else ", ".join(shown(value, _EXAMPLE) for value in check.witness)
        cells = (str(check.checked), str(check.violations), _number(check.largest), escape_hidden(example))
        grid.add_row(escape_hidden(check.path or "(the whole)"), check.distance, check.claim, *cells)
    return grid


def _columns_table(columns: dict[str, list[str]], names: Iterable[str]) -> RenderableType:
    grid = result_tables.table("", *columns)
    for name, *cells in zip(names, *columns.values(), strict=True):
        grid.add_row(name, *cells, style="bold" if name == "metricity" else "")
    return grid
