"""`arbitre schema`: infer, check and explain schemas."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from arbitre.cli.commands.schema_suggestions import suggest_aliases, suggest_gate
from arbitre.cli.option_sets import with_option_sets
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import counted, titled
from arbitre.cli.output.path_labels import escape_hidden, nested_labels
from arbitre.cli.shared_options import (
    ComparatorOptions,
    FormatAssertion,
    Functions,
    IdKey,
    OutputOptions,
    Overlay,
    SchemaArgument,
    TerminalOptions,
)
from arbitre.corpus.reading.reader import DOCUMENT
from arbitre.corpus.reading.records import Record
from arbitre.corpus.reading.sources import split_name
from arbitre.corpus.running.check_gold import documents as documents_of
from arbitre.diagnosis.gold_coverage import FEW
from arbitre.errors import DataError, Problem
from arbitre.paths import order
from arbitre.report.text_files import atomic_text_file, json_text
from arbitre.schema.loading.infer import infer as infer_schema
from arbitre.schema.loading.schema_root import is_schema_like
from arbitre.schema.validation.validate import find_violations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from arbitre.comparator import Comparator
    from arbitre.diagnosis.gold_checks import GoldFinding
    from arbitre.schema import Plan
    from arbitre.schema.certificate import Certificate, Witness
    from arbitre.schema.validation.validate import Violation
    from arbitre.values import Json

app = typer.Typer(no_args_is_help=True, help="Infer, check or explain a schema; suggest aliases or a gate.")
for _command in (suggest_aliases, suggest_gate):
    app.command()(with_option_sets(_command))

_SHORT: Final = 60
"""Maximum length of a witness in the output, in characters."""

MAX_AMBIGUOUS: Final = 20
"""Maximum number of ambiguous variants in the output, for each authority file."""

Sources = Annotated[
    list[str], typer.Argument(metavar="GOLD...", help="Folders, .json or .jsonl files, or - for standard input.")
]
Documents = Annotated[
    list[str] | None,
    typer.Argument(metavar="[DOCUMENT]...", help="Folders, .json or .jsonl files, or - for standard input."),
]
Certified = Annotated[
    bool,
    typer.Option("--certificate", help="Show whether the distance between documents is a metric, and if not, why."),
]
Gold = Annotated[
    list[str] | None,
    typer.Option(
        "--gold",
        metavar="PATH",
        help="Check these gold documents (exit code 2 if a check fails): a folder, a .json, .jsonl or .parquet file, "
        "a glob, or -. May be repeated.",
    ),
]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="File for the schema. Default: standard output.")]


@app.command()
@with_option_sets
def infer(gold: Sources, *, out: Out = None, id_key: IdKey = "id", output: TerminalOptions) -> None:
    """Infer a schema that all the given documents satisfy. Files of a folder that are not documents are listed."""
    screen, skipped = output.terminal(), list[str]()
    documents = [record.value for source in gold for record in _inferable(source, id_key, skipped)]
    if skipped:
        screen.note("\n".join([f"Skipped {counted(len(skipped), 'file')}:", *skipped]))
    schema = infer_schema(documents)
    if out is None:
        screen.json(schema)
    else:
        with atomic_text_file(out) as file:
            file.write(json_text(schema))


@app.command()
@with_option_sets
def check(
    schema: SchemaArgument,
    documents: Documents = None,
    *,
    gold: Gold = None,
    overlay: Overlay = None,
    functions: Functions = None,
    format_assertion: FormatAssertion = False,
    certificate: Certified = False,
    id_key: IdKey = "id",
    output: OutputOptions,
) -> None:
    """Check a schema, and optionally documents against it.

    Exit code 1 if a document violates the schema, 2 if the schema or a gold document has a problem.
    """
    screen = output.terminal()
    options = ComparatorOptions(overlay=overlay, functions=functions)
    comparator = options.comparator(schema, format_assertion=format_assertion)
    read = [record for source in documents or () for record in read_documents(source, id_key, comparator.plan)]
    found = [
        (record, one)
        for record in read
        for one in find_violations(comparator.plan.root, record.value, format_assertion=format_assertion)
    ]
    checked = None if gold is None else comparator.check_gold(gold, id_key=id_key)
    if screen.as_json:
        plain = {"schema": schema, "paths": len(comparator.explain()), "entries": comparator.entries}
        if comparator.authorities:
            plain["authorities"] = [used.to_dict() for used in comparator.authorities]
        plain |= {"certificate": comparator.certificate.to_dict()} if certificate else {}
        plain |= {"documents": len(read), "violations": [_plain(*one) for one in found]}
        screen.json(plain if checked is None else plain | {"gold": checked.to_dict()})
    else:
        entries = comparator.entries or "(the whole)"
        paths = counted(len(comparator.explain()), "path")
        screen.verbatim(f"{schema}: no problems; {paths}, entries {entries}", *_authority_lines(comparator))
        if certificate:
            screen.verbatim("")
            screen.show(_certificate_blocks(comparator.certificate, screen.width))
        screen.verbatim(*(str(_problem(*one)) for one in found))
        if read:
            screen.verbatim(f"{counted(len(read), 'document')}, {counted(len(found), 'violation')}")
        if checked is not None:
            screen.verbatim(*map(str, checked.findings), *_warning_lines(checked.warnings))
            screen.verbatim(
                f"{counted(checked.documents, 'gold document')}, {counted(len(checked.findings), 'problem')}, "
                f"{counted(len(checked.warnings), 'warning')}"
            )
    raise typer.Exit(2 if checked is not None and not checked.ok else int(bool(found)))


def _warning_lines(warnings: Sequence[GoldFinding]) -> Iterator[str]:
    """Yield the warnings about gold; the paths with few values are on one line."""
    yield from (f"warning: {warning}" for warning in warnings if warning.check != "few")
    if few := [warning.pointer or "" for warning in warnings if warning.check == "few"]:
        yield f"warning: Fewer than {FEW} gold values at {', '.join(few)}"


def _authority_lines(comparator: Comparator) -> Iterator[str]:
    """Yield the authority files, with their variants of several names."""
    for used in comparator.authorities:
        authority = used.authority
        counts = f"{counted(authority.names, 'name')}, {counted(authority.variants, 'variant')}"
        yield f"{used.path or '(the whole)'}: authority file {escape_hidden(authority.file)}, {counts}"
        if authority.ambiguous:
            yield f"  {counted(len(authority.ambiguous), 'variant')} of several names, not replaced:"
        for text, names in list(authority.ambiguous.items())[:MAX_AMBIGUOUS]:
            yield escape_hidden(f"    {text}: {'; '.join(names)}")
        if len(authority.ambiguous) > MAX_AMBIGUOUS:
            yield f"    and {len(authority.ambiguous) - MAX_AMBIGUOUS} more; --format json lists all"


def _problem(record: Record, one: Violation) -> Problem:
    return Problem(f"{one.message} ({one.keyword})", record.file, record.line, one.pointer)


def _plain(record: Record, one: Violation) -> dict[str, Json]:
    return {"id": record.id, "file": record.file, "line": record.line, **asdict(one)}


def _certificate_blocks(found: Certificate, width: int) -> Iterator[RenderableType]:
    """Yield the verdict, the violations of the metric axioms, the assumptions and the values treated as equal."""
    yield Text.assemble("certificate of the distance 1 - quality between documents: ", (found.verdict, "bold"))
    breaks = [(one.path, one.reason + _witness_text(one.shown), one.remedy) for one in found.breaks]
    assumed = [(one.path, one.condition) for one in found.assumes]
    identified = [(one.path, one.by, one.values) for one in found.identifies]
    for title, columns, rows in (
        ("Where it is not a metric", ("path", "reason", "remedy"), breaks),
        ("Assumptions", ("path", "condition"), assumed),
        ("Treated as equal before comparison", ("path", "by", "values"), identified),
    ):
        if rows:
            yield titled(title, _table_by_path(columns, rows, width * 2 // 5))


def _witness_text(witness: Witness | None) -> str:
    """Return the values that prove a break, if they are short enough to print, or state that none were found."""
    if witness is None:
        return " (no example found)"
    text = ", ".join(json.dumps(value, ensure_ascii=False) for value in witness.values)
    return f", for example {escape_hidden(text)}" if 0 < len(text) <= _SHORT else ""


def _table_by_path(columns: Sequence[str], rows: Sequence[tuple[str, ...]], room: int) -> RenderableType:
    """Build a table in document order; each path appears once, indented under its parent."""
    grid = result_tables.table(*columns, left=len(columns))
    rows = sorted(rows, key=lambda row: order(row[0]))
    paths = list(dict.fromkeys(path for path, *_ in rows))
    labels = dict(zip(paths, nested_labels(paths, room), strict=True))
    for path, *cells in rows:
        grid.add_row(labels.pop(path, ""), *cells)
    return grid


@app.command()
@with_option_sets
def explain(
    schema: SchemaArgument, *, overlay: Overlay = None, functions: Functions = None, output: OutputOptions
) -> None:
    """Show how each path is compared: kind, weight, distance, matching, normalisation."""
    screen = output.terminal()
    comparator = ComparatorOptions(overlay=overlay, functions=functions).comparator(schema)
    signature, rows = comparator.signature, [row.to_dict() for row in comparator.explain()]
    screen.result(
        lambda: {"entries": comparator.entries, "signature": signature.to_dict(), "paths": rows},
        lambda width: [result_tables.explained(comparator.plan, width), result_tables.signature(signature)],
    )


def _inferable(source: str, id_key: str, skipped: list[str]) -> Iterator[Record]:
    """Yield the documents of a source. Files of a folder that are not documents are added to `skipped`."""
    if not Path(source).is_dir():
        yield from read_documents(source, id_key)
        return
    files = (path for path in sorted(Path(source).iterdir()) if path.is_file() and not path.name.startswith("."))
    skipped += [f"{path}: not a .json file" for path in files if split_name(path)[1] != DOCUMENT]
    for item in documents_of(source, id_key):
        if not isinstance(item, Record):
            skipped.append(str(Problem(item.reason, item.file, item.line, item.pointer)))
        elif isinstance(item.value, dict) and "$schema" in item.value and is_schema_like(item.value):
            skipped.append(f"{item.file}: a JSON Schema")
        else:
            yield item


def read_documents(source: str, id_key: str, plan: Plan | None = None) -> Iterator[Record]:
    """Yield the documents of a source. A .json file is one document, unless it contains an array of records.

    Raises:
        DataError: A document cannot be read.
    """
    for item in documents_of(source, id_key, plan):
        if not isinstance(item, Record):
            raise DataError.of(item.reason, file=item.file, line=item.line, pointer=item.pointer)
        yield item
