"""`arbitre metricity`: measure how far the distances between entries deviate from a metric."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
import typer
from rich.cells import cell_len
from rich.text import Text

import arbitre
from arbitre.cli.commands.compare import read
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import counted, titled
from arbitre.cli.output.path_labels import escape_hidden
from arbitre.cli.overrides import OverrideOptions
from arbitre.cli.shared_options import (
    ComparatorOptions,
    CsvDialectOption,
    Functions,
    IdKey,
    MaxDepth,
    OutputOptions,
    Overlay,
    Schema,
)
from arbitre.corpus.joining.sources import Sources
from arbitre.corpus.reading.options import STDIN, ReadOptions
from arbitre.corpus.reading.strict_json import MAX_DEPTH
from arbitre.diagnosis.metricity.entry_pool import MAX_ENTRIES, build_entry_pool
from arbitre.errors import shown
from arbitre.report.text_files import CsvDialect, atomic_text_file, cell, csv_writer, json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from rich.console import RenderableType

    from arbitre import Metricity, Scores
    from arbitre.comparator.configurations import Configuration
    from arbitre.diagnosis.metricity.claims import ClaimCheck
    from arbitre.diagnosis.metricity.entry_pool import EntryPool
    from arbitre.values import Json

REPORT: Final = "metricity.json"

DISPLAY_TOLERANCE: Final = 1e-12
"""Values up to this are printed as 0."""

_GAP: Final = 3
_EXAMPLE: Final = 20
"""Maximum length of a value in the table of claims."""
_LEGEND: Final = (
    "metricity = (1 - symmetry defect) (1 - identity defect) (1 - repair mass); 1 if the distances between these "
    "entries form a metric. The certificate covers all documents; it is derived from the schema alone."
)
_SOURCE: Final = "a JSON file, standard input (-), or a folder or .jsonl file of documents, joined by id."
Gold = Annotated[str, typer.Argument(metavar="GOLD", help=f"Gold documents: {_SOURCE}")]
Predicted = Annotated[str, typer.Argument(metavar="PREDICTED", help=f"Predictions: {_SOURCE}")]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder for the distance matrices (.npy, .csv) and metricity.json."),
]
Sample = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, max=MAX_ENTRIES, help="Maximum number of entries; more are sampled at random. Default: all."
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Random seed.")]


def metricity(
    gold: Gold,
    predicted: Predicted,
    *,
    schema: Schema,
    overlay: Overlay = None,
    functions: Functions = None,
    overrides: OverrideOptions,
    out: Out = None,
    sample: Sample = None,
    seed: Seed = 0,
    id_key: IdKey = "id",
    max_depth: MaxDepth = MAX_DEPTH,
    csv_dialect: CsvDialectOption = "standard",
    output: OutputOptions,
) -> None:
    """Measure how far the distances between entries deviate from a metric.

    Compares every gold and predicted entry with every other.
    """
    screen = output.terminal()
    chosen = overrides.configurations(schema, ComparatorOptions(overlay=overlay, functions=functions))
    reading = ReadOptions(id_key, max_depth=max_depth).for_plan(chosen[0].comparator.plan)
    documents = MetricityInput.of(gold, predicted, reading)
    measured = [MetricityRow.of(choice, documents, sample=sample, seed=seed) for choice in chosen]
    screen.result(partial(_plain, measured), partial(_blocks, measured))
    if out is not None:
        screen.wrote(_write(out, measured, documents, CsvDialect.named(csv_dialect)), out)


@dataclass(frozen=True, slots=True)
class MetricityInput:
    """Gold documents by name, and (name, gold, predicted) pairs; a failed prediction is ABSENT."""

    gold: dict[str, Json]
    pairs: Sequence[tuple[str, Json, Json]]

    @property
    def predicted(self) -> dict[str, Json]:
        return {name: one for name, _, one in self.pairs if one is not arbitre.ABSENT}

    @classmethod
    def of(cls, gold: str, predicted: str, reading: ReadOptions) -> MetricityInput:
        """Read one document per side, or the documents of two folders or files.

        Raises:
            DataError: A source cannot be read.
            typer.BadParameter: Both sources are standard input.
        """
        if gold == predicted == STDIN:
            raise typer.BadParameter("Expected one of GOLD and PREDICTED to be a file, got - for both.")
        if all(source == STDIN or Path(source).suffix.lower() == ".json" for source in (gold, predicted)):
            sides = [read(source, reading.max_depth) for source in (gold, predicted)]
            return cls({"": sides[0]}, [("", *sides)])
        joined = Sources(gold=gold, predicted=predicted).joined(reading)
        pairs = [(pair.id, (pair.key, pair.gold, pair.predicted)) for pair in joined]
        return cls({name: document for name, (_, document, _) in pairs}, [pair for _, pair in pairs])


@dataclass(frozen=True, slots=True)
class MetricityRow:
    """Results of one combination of matching and distance."""

    choice: Configuration
    pool: EntryPool
    found: Metricity
    scores: Scores
    claims: tuple[ClaimCheck, ...] = ()

    @classmethod
    def of(cls, choice: Configuration, documents: MetricityInput, *, sample: int | None, seed: int) -> MetricityRow:
        """Measure one combination. Raises DataError if a document cannot be compared."""
        sides = [list(side.values()) for side in (documents.gold, documents.predicted)]
        entries = build_entry_pool(choice.comparator.plan, *sides, sample=sample, seed=seed)
        found = arbitre.metricity(entries.distances, seed=seed)
        claims = choice.comparator.check_claims(gold=sides[0], predicted=sides[1], seed=seed)
        return cls(choice, entries, found, choice.comparator.evaluate(documents.pairs).micro, claims)

    @property
    def asymmetry(self) -> float:
        """The mean of |D - Dᵀ|, where D is the distance matrix."""
        return float(np.abs(self.pool.distances - self.pool.distances.T).mean())

    @property
    def slug(self) -> str:
        """The label as a file name without extension."""
        return re.sub(r"[^\w.=-]+", "_", self.choice.label).strip("_")

    def rows(self) -> dict[str, str]:
        """Return the cells of the table column by row label."""
        found = self.found
        rows = {
            "metricity": "–" if found.metricity is None else f"{found.metricity:.6f}",
            "symmetry defect": _number(found.symmetry_defect),
            "asymmetry, mean": _number(self.asymmetry),
            "asymmetry, max": _number(found.symmetry_max),
            "identity defect": _number(found.identity_defect),
            "triangle rate": _number(found.triangle_rate),
        }
        if found.triangle_interval is not None:
            rows |= {f"  {found.level:.0%} interval": " to ".join(map(_number, found.triangle_interval))}
        return rows | {
            "relaxed triangle": _number(found.relaxed_triangle),
            "repair mass": _number(found.repair_mass),
            "mean quality": result_tables.number(self.scores.amq),
            "f1q": result_tables.number(self.scores.f1q),
            "certificate": self.choice.comparator.certificate.verdict,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the choice, metricity, scores, certificate and signature as JSON."""
        comparator = self.choice.comparator
        return self.choice.to_dict() | {
            "metricity": self.found.to_dict(),
            "asymmetry": self.asymmetry,
            "mean_quality": self.scores.amq,
            "f1q": self.scores.f1q,
            "certificate": comparator.certificate.to_dict(),
            "signature": comparator.signature.short,
        }


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}" if value > DISPLAY_TOLERANCE else "0"


def _plain(measured: Sequence[MetricityRow]) -> dict[str, Any]:
    first = measured[0].pool
    return {
        "entries": measured[0].choice.comparator.entries,
        "gold": first.gold,
        "predicted": len(first) - first.gold,
        "drawn_from": first.whole,
        "choices": [one.to_dict() for one in measured],
        "claims": [check.to_dict() for check in _claims(measured)],
    }


def _blocks(measured: Sequence[MetricityRow], width: int) -> Iterator[RenderableType]:
    first, comparator = measured[0].pool, measured[0].choice.comparator
    sampled = f", sampled from {first.whole}" if first.whole > len(first) else ""
    sizes = f"{first.gold} gold, {len(first) - first.gold} predicted"
    yield Text.assemble(
        (f"All pairs of {counted(len(first), 'entry', 'entries')}{sampled}", "bold"),
        f"\nentries {comparator.entries or '(the whole)'}: {sizes}",
    )
    yield from _tables(measured, width)
    yield Text(_LEGEND, style="dim")
    if claims := _claims(measured):
        yield titled("Claims about custom distances", _claims_table(claims))


def _tables(measured: Sequence[MetricityRow], width: int) -> Iterator[RenderableType]:
    """Yield tables with one column per choice, split to fit the width."""
    names = measured[0].rows()
    room = width - max(map(len, names))
    columns = None
    for row in measured:
        heading = row.choice.label.replace("(", "\n(").replace(", ", "\n")
        cells = row.rows().values()
        needed = max(map(cell_len, (*heading.split("\n"), *cells))) + _GAP
        if columns is None or needed > room:
            if columns is not None:
                yield _columns_table(columns, names)
            columns, room = {}, width - max(map(len, names))
        columns[heading] = list(cells)
        room -= needed
    if columns is not None:
        yield _columns_table(columns, names)


def _claims(measured: Sequence[MetricityRow]) -> list[ClaimCheck]:
    """Return the checks of claims; a distance that several choices use is listed once."""
    return list({(check.path, check.distance, check.claim): check for row in measured for check in row.claims}.values())


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


def _write(folder: Path, measured: Sequence[MetricityRow], documents: MetricityInput, dialect: CsvDialect) -> list[str]:
    """Write each matrix as .npy and CSV, and metricity.json; return the file names."""
    plain, files = _plain(measured), list[str]()
    for one, found in zip(measured, plain["choices"], strict=True):
        stem = one.slug if f"{one.slug}.npy" not in files else f"{one.slug}-{len(files)}"
        with atomic_text_file(folder / f"{stem}.csv") as file:
            rows = csv_writer(file, dialect)
            labels = list(_labels(one.pool, documents))
            rows.writerow(["", *labels])
            matrix = zip(labels, one.pool.distances.tolist(), strict=True)
            rows.writerows([label, *(cell(value, dialect) for value in row)] for label, row in matrix)
        np.save(folder / f"{stem}.npy", one.pool.distances)
        found["matrix"] = f"{stem}.npy"
        files += [f"{stem}.npy", f"{stem}.csv"]
    with atomic_text_file(folder / REPORT) as file:
        file.write(json_text(plain))
    return [*files, REPORT]


def _labels(entries: EntryPool, documents: MetricityInput) -> Iterator[str]:
    """Yield the label of each entry: side, document and pointer."""
    gold, predicted = list(documents.gold), list(documents.predicted)
    for number, (document, pointer) in enumerate(zip(entries.documents.tolist(), entries.pointers, strict=True)):
        side, names = ("gold", gold) if number < entries.gold else ("predicted", predicted)
        yield " ".join(filter(None, (side, names[document], pointer)))
