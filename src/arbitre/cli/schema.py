"""`arbitre schema`: schemas inferred, checked and explained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import arbitre
from arbitre.cli import render
from arbitre.cli.options import Format, IdKey, Output, Overlay, Plain, SchemaArgument
from arbitre.cli.screen import Screen
from arbitre.corpus import strict
from arbitre.corpus.read import Record, records
from arbitre.errors import DataError, Problem
from arbitre.report.tables import fresh, json_text
from arbitre.schema.infer import infer as infer_schema
from arbitre.schema.validate import violations

if TYPE_CHECKING:
    from collections.abc import Iterator

app = typer.Typer(no_args_is_help=True, help="Infer a schema, check one, or see what it comes to.")

Sources = Annotated[list[str], typer.Argument(metavar="GOLD...", help="Folders, .json and .jsonl files, or -.")]
Documents = Annotated[
    list[str] | None, typer.Argument(metavar="[DOCUMENT]...", help="Folders, .json and .jsonl files, or -.")
]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the schema here, not to standard output.")]


@app.command()
def infer(gold: Sources, *, out: Out = None, id_key: IdKey = "id", no_color: Plain = False) -> None:
    """Infer a schema that all these documents fit."""
    schema = infer_schema(record.value for source in gold for record in _documents(source, id_key))
    if out is None:
        Screen.of(plain=no_color).json(schema)
    else:
        with fresh(out) as file:
            file.write(json_text(schema))


@app.command()
def check(
    schema: SchemaArgument,
    documents: Documents = None,
    *,
    overlay: Overlay = None,
    id_key: IdKey = "id",
    no_color: Plain = False,
) -> None:
    """List every problem of a schema (exit code 2), then what documents violate of it (exit code 1)."""
    screen = Screen.of(plain=no_color)
    comparator = arbitre.Comparator(schema, overlay=overlay)
    entries = comparator.entries or "(the whole)"
    screen.verbatim(f"{schema}: no problem; {len(comparator.explain())} paths, entries {entries}")
    found = []
    read = [record for source in documents or () for record in _documents(source, id_key)]
    for record in read:
        found += [
            Problem(f"{one.message} ({one.keyword})", record.file, record.line, one.pointer)
            for one in violations(comparator.plan.root, record.value)
        ]
    screen.verbatim(*map(str, found))
    if read:
        screen.verbatim(f"{len(read)} documents, {len(found)} violations")
    raise typer.Exit(int(bool(found)))


@app.command()
def explain(
    schema: SchemaArgument, *, overlay: Overlay = None, output: Output = Format.TEXT, no_color: Plain = False
) -> None:
    """Show for every path how it is compared: kind, weight, distance, matching, normalisation."""
    screen = Screen.of(plain=no_color)
    comparator = arbitre.Comparator(schema, overlay=overlay)
    if output is Format.JSON:
        rows = [row.to_dict() for row in comparator.explain()]
        screen.json({"entries": comparator.entries, "signature": comparator.signature.to_dict(), "paths": rows})
    else:
        screen.show([render.explained(comparator.plan, screen.width), render.signature(comparator.signature)])


def _documents(source: str, id_key: str) -> Iterator[Record]:
    """The documents of a source; a .json file is one, unless it is an array of records. Raises DataError."""
    path = Path(source)
    if path.suffix.lower() == ".json" and path.is_file():
        value = strict.load(path)
        labelled = isinstance(value, list) and all(isinstance(item, dict) and id_key in item for item in value)
        if not labelled:
            yield Record(path.stem, None, value, source)
            return
    for item in records(source, "gold", id_key=id_key):
        if not isinstance(item, Record):
            raise DataError.of(item.reason, file=item.file, line=item.line, pointer=item.pointer)
        yield item
