"""The options that commands share."""

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
    """Who compares."""

    LOCAL = "local"
    DASK = "dask"


class OutputFormat(StrEnum):
    """What is printed: tables for people, or one JSON document."""

    TEXT = "text"
    JSON = "json"


Schema = Annotated[
    str, typer.Option(metavar="FILE", help="JSON Schema of the documents, with its x-arbitre annotations.")
]
MaybeSchema = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="JSON Schema of the documents; without it, one is inferred from gold."),
]
SchemaArgument = Annotated[str, typer.Argument(metavar="SCHEMA", help="JSON Schema, with its x-arbitre annotations.")]
Overlay = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Further annotations by wildcard path, for a schema that is not yours to edit."),
]
Output = Annotated[OutputFormat, typer.Option("--format", help="Tables, or one JSON document.")]
Validate = Annotated[bool, typer.Option("--validate", help="List what the predictions violate of the schema.")]
FailUnder = Annotated[
    list[Gate] | None,
    typer.Option(
        "--fail-under",
        metavar="SCORE=VALUE",
        parser=under,
        help="Exit with 1 where a score is below a value: f1q=0.9, macro.f1q=0.9, leaves.f1q=0.9, "
        "document_quality=0.9, fq(2)=0.8, /entries/*/name:irq=0.8. May be repeated.",
    ),
]
FailOver = Annotated[
    list[Gate] | None,
    typer.Option(
        "--fail-over",
        metavar="SCORE=VALUE",
        parser=over,
        help="Exit with 1 where a value is exceeded: failed=0, variance=0.1. May be repeated.",
    ),
]
MaxDepth = Annotated[
    int,
    typer.Option(
        metavar="N", min=1, max=MAX_DEPTH, help="Refuse documents with more lists and objects nested in each other."
    ),
]
Close = Annotated[float, typer.Option(metavar="QUALITY", help="From this quality on, what is not equal is close.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colours, nor any other escape code. NO_COLOR works too.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results asked for as JSON, and errors; no more.")]
IdKey = Annotated[str, typer.Option(metavar="KEY", help="The key that holds the id of a record.")]
IdPattern = Annotated[
    str | None,
    typer.Option(metavar="REGEX", help="What in a file name is the id: the group id, the first group, or all of it."),
]
_SOURCE = "a folder, a .json, .jsonl or .parquet file, a glob, or -. May be repeated."
Gold = Annotated[list[str] | None, typer.Option(metavar="PATH", help=f"Gold documents: {_SOURCE}")]
Predicted = Annotated[list[str] | None, typer.Option(metavar="PATH", help=f"Predictions: {_SOURCE}")]
Pairs = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH", help="Instead of --gold and --predicted: records with id, gold and predicted. May be repeated."
    ),
]
Manifest = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Instead: a CSV table with the columns id, gold and predicted (files)."),
]
GoldKey = Annotated[str, typer.Option(metavar="KEY", help="The key or column of gold, where a record holds both.")]
PredictedKey = Annotated[str, typer.Option(metavar="KEY", help="The key or column of the prediction.")]
Project = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="JMESPath expressions that build what is compared, for gold and predicted."),
]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Read predictions that are not quite JSON, and list those that were repaired.")
]
Only = Annotated[list[str] | None, typer.Option(metavar="ID", help="Evaluate this document. May be repeated.")]
Functions = Annotated[
    str | None,
    typer.Option(
        "--functions", metavar="MODULE:NAME", help="A catalogue with distances of your own, that a Python module holds."
    ),
]
MaxCalls = Annotated[
    int, typer.Option(metavar="N", min=0, help="Refuse what may call a function of yours more often for a document.")
]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="Compare in so many processes; as many as there are processors if not given."
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where an evaluation into the same --out was stopped.")]
ClusterBy = Annotated[
    str | None,
    typer.Option(
        metavar="WHAT",
        help="What documents share that belong together: a column of the manifest, a JSON Pointer into gold, or a "
        "regular expression on ids.",
    ),
]
Engine = Annotated[EngineKind, typer.Option("--engine", help="Who compares: this machine, or a Dask cluster.")]
Scheduler = Annotated[str | None, typer.Option(metavar="ADDRESS", help="The scheduler of the Dask cluster.")]
NoReport = Annotated[bool, typer.Option("--no-report", help="Leave out report.html, and what it is made from.")]


def export_option(examples: str) -> OptionInfo:
    """The option of tables in files of their own; `examples` are names that the command knows."""
    option: OptionInfo = typer.Option(
        "--table",
        metavar="NAME",
        help=f"A table for --out too, as {examples}: its rows, and .md, .tex, .csv or .parquet. May be repeated.",
    )
    return option
