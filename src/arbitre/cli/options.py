"""Options shared by several commands."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from arbitre.cli.thresholds import over, under
from arbitre.corpus.results.gates import Gate
from arbitre.values import MAX_DEPTH

if TYPE_CHECKING:
    from typer.models import OptionInfo


class EngineKind(StrEnum):
    """Where documents are compared: on this machine or on a Dask cluster."""

    LOCAL = "local"
    DASK = "dask"


class OutputFormat(StrEnum):
    """Output format: text tables or one JSON document."""

    TEXT = "text"
    JSON = "json"


Schema = Annotated[str, typer.Option(metavar="FILE", help="JSON Schema of the documents, with x-arbitre annotations.")]
MaybeSchema = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="JSON Schema of the documents. Default: inferred from gold."),
]
SchemaArgument = Annotated[str, typer.Argument(metavar="SCHEMA", help="JSON Schema with x-arbitre annotations.")]
Overlay = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Extra annotations by path, for a schema that you cannot edit."),
]
Output = Annotated[OutputFormat, typer.Option("--format", help="Print text tables or one JSON document.")]
Validate = Annotated[bool, typer.Option("--validate", help="List the schema violations of the predictions.")]
FormatAssertion = Annotated[
    bool, typer.Option("--format-assertion", help="Report values that do not have the `format` of the schema, too.")
]
FailUnder = Annotated[
    list[Gate] | None,
    typer.Option(
        "--fail-under",
        metavar="SCORE=VALUE",
        parser=under,
        help="Exit with code 1 if a score is below a value: f1q=0.9, macro.f1q=0.9, leaves.f1q=0.9, "
        "document_quality=0.9, fq(2)=0.8, /entries/*/name:irq=0.8. May be repeated.",
    ),
]
FailOver = Annotated[
    list[Gate] | None,
    typer.Option(
        "--fail-over",
        metavar="SCORE=VALUE",
        parser=over,
        help="Exit with code 1 if a value is exceeded: failed=0, variance=0.1. May be repeated.",
    ),
]
MaxDepth = Annotated[
    int,
    typer.Option(metavar="N", min=1, max=MAX_DEPTH, help="Maximum nesting depth of lists and objects in a document."),
]
Close = Annotated[float, typer.Option(metavar="QUALITY", help='Minimum quality for the verdict "close".')]
NoColor = Annotated[bool, typer.Option("--no-color", help="Disable colours and other escape codes, as NO_COLOR does.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only JSON output and errors.")]
IdKey = Annotated[str, typer.Option(metavar="KEY", help="Key of a record's id.")]
IdPattern = Annotated[
    str | None,
    typer.Option(
        metavar="REGEX",
        help="Extract the id from the file name: the group named id, else the first group, else the whole match.",
    ),
]
_SOURCE = "a folder, a .json, .jsonl or .parquet file, a glob, or - for standard input. May be repeated."
Gold = Annotated[list[str] | None, typer.Option(metavar="PATH", help=f"Gold documents: {_SOURCE}")]
Predicted = Annotated[list[str] | None, typer.Option(metavar="PATH", help=f"Predictions: {_SOURCE}")]
Pairs = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH", help="Records with id, gold and predicted, instead of --gold and --predicted. May be repeated."
    ),
]
Manifest = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="CSV table with the columns id, gold and predicted (file paths), instead of separate sources.",
    ),
]
GoldKey = Annotated[
    str, typer.Option(metavar="KEY", help="Key or column of the gold document in records that hold both.")
]
PredictedKey = Annotated[str, typer.Option(metavar="KEY", help="Key or column of the prediction.")]
Project = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="JMESPath expressions that transform gold and predicted documents before comparison."
    ),
]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Repair predictions that are not valid JSON, and list the repairs.")
]
Only = Annotated[list[str] | None, typer.Option(metavar="ID", help="Evaluate only this document. May be repeated.")]
Functions = Annotated[
    list[str] | None,
    typer.Option(
        "--functions",
        metavar="MODULE:NAME",
        help="Custom distance, normaliser or catalogue in a Python module. May be repeated.",
    ),
]
MaxCalls = Annotated[
    int, typer.Option(metavar="N", min=0, help="Maximum number of calls to a custom distance per document.")
]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Number of worker processes. Default: the number of processors."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Resume an interrupted evaluation in the same --out folder.")]
ClusterBy = Annotated[
    str | None,
    typer.Option(
        metavar="WHAT",
        help="How to group documents that belong together: a manifest column, a JSON Pointer into gold, or a regular "
        "expression on ids.",
    ),
]
Engine = Annotated[EngineKind, typer.Option("--engine", help="Compare on this machine or on a Dask cluster.")]
Scheduler = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Address of the Dask scheduler.")]
NoReport = Annotated[bool, typer.Option("--no-report", help="Do not write report.html and its data files.")]


def check_format_assertion(*, format_assertion: bool, validate: bool) -> None:
    """Raise typer.BadParameter if `--format-assertion` is given without `--validate`."""
    if format_assertion and not validate:
        raise typer.BadParameter("--format-assertion requires --validate: formats are checked while validating.")


def export_option(examples: str) -> OptionInfo:
    """Return the `--table` option; `examples` are table names that the command supports."""
    option: OptionInfo = typer.Option(
        "--table",
        metavar="NAME",
        help=f"Extra table to write to --out, such as {examples}: a table name plus .md, .tex, .csv or .parquet. "
        "May be repeated.",
    )
    return option
