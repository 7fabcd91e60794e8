"""`arbitre schema`: infer, check and explain schemas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from arbitre.cli.commands.schema_suggestions import suggest_aliases, suggest_gate
from arbitre.cli.option_sets import with_option_sets
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import counted
from arbitre.cli.shared_options import (
    Force,
    FormatAssertion,
    IdKey,
    OutputOptions,
    SchemaArgument,
    SchemaOptions,
    TerminalOptions,
)
from arbitre.comparator.schemas import check_schema, infer_schema
from arbitre.diagnosis.gold_coverage import FEW
from arbitre.schema.certificate import tables as certificate_tables
from arbitre.schema.describe import settings
from arbitre.tables.terminal import escape_hidden, render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from arbitre.comparator import Comparator
    from arbitre.diagnosis.gold_checks import GoldFinding
    from arbitre.schema.certificate import Certificate

app = typer.Typer(no_args_is_help=True, help="Infer, check or explain a schema; suggest aliases or a gate.")
for _command in (suggest_aliases, suggest_gate):
    app.command()(_command)

WIDE: Final = 100
"""Width of a terminal from which kinds have a column of their own."""

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
def infer(
    gold: Sources, *, out: Out = None, id_key: IdKey = "id", force: Force = False, output: TerminalOptions
) -> None:
    """Infer a schema that all the given documents satisfy. Files of a folder that are not documents are listed."""
    screen = output.terminal()
    out = screen.destination(out, force=force)
    inferred = infer_schema(gold, out=out, id_key=id_key)
    if inferred.skipped:
        screen.note("\n".join([f"Skipped {counted(len(inferred.skipped), 'file')}:", *inferred.skipped]))
    if inferred.notes:
        screen.note("\n".join([*inferred.notes, "Declare another type for columns of codes, such as postcodes."]))
    if out is None:
        screen.json(inferred.schema)


@app.command()
@with_option_sets
def check(
    schema: SchemaArgument,
    documents: Documents = None,
    *,
    gold: Gold = None,
    options: SchemaOptions,
    format_assertion: FormatAssertion = False,
    certificate: Certified = False,
    id_key: IdKey = "id",
    output: OutputOptions,
) -> None:
    """Check a schema, and optionally documents against it.

    Exit code 1 if a document violates the schema, 2 if the schema or a gold document has a problem.
    """
    screen = output.terminal()
    comparator = options.comparator(schema, format_assertion=format_assertion)
    checked = check_schema(comparator, documents or (), gold=gold, id_key=id_key)
    if screen.as_json:
        screen.json({"schema": schema} | checked.to_dict(certificate=certificate))
    else:
        entries = comparator.entries or "(the whole)"
        paths = counted(len(comparator.explain()), "path")
        screen.verbatim(f"{schema}: no problems; {paths}, entries {entries}", *_authority_lines(comparator))
        if certificate:
            screen.verbatim("")
            screen.show(_certificate_blocks(comparator.certificate, screen.width))
        screen.verbatim(*map(str, checked.violations))
        if checked.documents:
            counts = counted(checked.documents, "document"), counted(len(checked.violations), "violation")
            screen.verbatim(", ".join(counts))
        if checked.gold is not None:
            findings, warnings = checked.gold.findings, checked.gold.warnings
            screen.verbatim(*map(str, findings), *_warning_lines(warnings))
            screen.verbatim(
                f"{counted(checked.gold.documents, 'gold document')}, {counted(len(findings), 'problem')}, "
                f"{counted(len(warnings), 'warning')}"
            )
    raise typer.Exit(2 if checked.gold is not None and not checked.gold.ok else int(bool(checked.violations)))


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


def _certificate_blocks(found: Certificate, width: int) -> Iterator[RenderableType]:
    """Yield the verdict, the violations of the metric axioms, the assumptions and the values treated as equal."""
    yield Text.assemble("certificate of the distance 1 - quality between documents: ", (found.verdict, "bold"))
    for table in certificate_tables(found):
        yield render(table, width)


@app.command()
@with_option_sets
def explain(schema: SchemaArgument, *, options: SchemaOptions, output: OutputOptions) -> None:
    """Show how each path is compared: kind, weight, distance, matching, normalisation."""
    screen = output.terminal()
    comparator = options.comparator(schema)
    signature, rows = comparator.signature, [row.to_dict() for row in comparator.explain()]
    screen.result(
        lambda: {"entries": comparator.entries, "signature": signature.to_dict(), "paths": rows},
        lambda width: [
            render(settings(comparator.explain(), comparator.entries, wide=width >= WIDE), width),
            result_tables.signature(signature),
        ],
    )
