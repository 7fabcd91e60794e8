"""Options of the command line; option sets hold those that several commands share.

An option set for an operation of the package extends the dataclass of that operation: it adds the help texts, and
the defaults are those of the dataclass. Annotations are not postponed here, because Typer reads them.
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.models import OptionInfo

import arbitre
from arbitre.cli.output.console import Terminal
from arbitre.comparator import MAX_CALLS
from arbitre.corpus.joining.sources import Sources
from arbitre.corpus.reading.options import ReadOptions
from arbitre.corpus.reading.projection import Projection
from arbitre.corpus.running.executors import Engine
from arbitre.corpus.statistics import Average
from arbitre.corpus.systems.options import StatisticsOptions
from arbitre.report.evaluation_options import EvaluationOptions
from arbitre.report.html.language import Language
from arbitre.schema import CLOSE, SchemaSource
from arbitre.tables.csv_text import CsvDialectName
from arbitre.values import MAX_DEPTH

Schema = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="JSON Schema of the documents, with x-arbitre annotations, as JSON or YAML. FILE#/pointer is a part of a "
        "file; MODULE:NAME is a Python type, such as a Pydantic model.",
    ),
]
SchemaArgument = Annotated[str, typer.Argument(metavar="SCHEMA", help="JSON Schema with x-arbitre annotations.")]
Overlay = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Extra x-arbitre annotations by path, for a schema that you cannot edit."),
]
IdKey = Annotated[str, typer.Option(metavar="KEY", help="Key of a record's id.")]
MaxDepth = Annotated[
    int,
    typer.Option(metavar="N", min=1, max=MAX_DEPTH, help="Maximum nesting depth of lists and objects in a document."),
]
Validate = Annotated[bool, typer.Option("--validate", help="List the schema violations of the predictions.")]
CsvDialectOption = Annotated[
    CsvDialectName,
    typer.Option(
        help="CSV for programs (standard) or for spreadsheets in French (excel-fr: semicolon, decimal comma)."
    ),
]
FormatAssertion = Annotated[
    bool, typer.Option("--format-assertion", help="Also report values that do not have the `format` of the schema.")
]
Functions = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODULE:NAME",
        help="Custom distance, normaliser or catalogue in a Python module. May be repeated.",
    ),
]
AllowRefs = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DIR",
        help="Folder with files that the schema may reference with $ref, besides its own folder. May be repeated.",
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Write beside files that arbitre did not write, without replacing any of them."),
]
NoReport = Annotated[bool, typer.Option("--no-report", help="Do not write report.html and its data files.")]
Keep = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Number of documents that the report shows entry by entry, linked and worst ones first. Default: as many "
        "as fit in 3 MB.",
    ),
]
_SOURCE = "a folder, a .json, .jsonl, .csv or .parquet file, a glob, or - for standard input. May be repeated."
Lang = Annotated[Language, typer.Option("--lang", help="Language of the report.")]
GOLD: OptionInfo = typer.Option(metavar="PATH", help=f"Gold documents: {_SOURCE}")
ManifestFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="CSV table with the columns id, gold and predicted (file paths), instead of separate sources.",
    ),
]


def export_option(examples: str) -> OptionInfo:
    """Return the `--table` option; `examples` are table names that the command supports."""
    option: OptionInfo = typer.Option(
        "--table",
        metavar="NAME",
        help=f"Extra table to write to --out, such as {examples}: a table name plus .md, .tex, .csv or .parquet. "
        "May be repeated.",
    )
    return option


@dataclass(frozen=True, kw_only=True)
class SchemaOptions:
    """Options that describe the schema."""

    overlay: Overlay = None
    functions: Functions = None
    allow_refs: AllowRefs = None

    def keywords(self) -> dict[str, Any]:
        """Return the options as arguments of `Comparator`."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {"functions": self.functions or (), "allow_refs": self.allow_refs or ()}

    def comparator(self, schema: SchemaSource, **overrides: Any) -> arbitre.Comparator:  # noqa: ANN401
        """Compile a schema; `overrides` are further arguments of `Comparator`. Raises SchemaError."""
        return arbitre.Comparator(schema, **self.keywords(), **overrides)


@dataclass(frozen=True, kw_only=True)
class ComparatorOptions(SchemaOptions):
    """Options of a comparator, besides the schema."""

    close: Annotated[float, typer.Option(metavar="QUALITY", help='Minimum quality for the verdict "close".')] = CLOSE
    max_calls: Annotated[
        int, typer.Option(metavar="N", min=0, help="Maximum number of calls to a custom distance per document.")
    ] = MAX_CALLS


@dataclass(frozen=True, kw_only=True)
class SourceOptions(Sources):
    """Sources of the documents."""

    gold: Annotated[list[str], GOLD]
    predicted: Annotated[list[str], typer.Option(metavar="PATH", help=f"Predictions: {_SOURCE}")]
    pairs: Annotated[
        list[str],
        typer.Option(
            metavar="PATH",
            help="Records with id, gold and predicted, instead of --gold and --predicted. May be repeated.",
        ),
    ]
    manifest: ManifestFile
    only: Annotated[list[str], typer.Option(metavar="ID", help="Evaluate only this document. May be repeated.")]


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(ReadOptions):
    """Options for reading documents."""

    id_key: IdKey
    id_pattern: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help="Extract the id from the file name: the group named id, else the first group, else the whole match.",
        ),
    ]
    gold_key: Annotated[
        str, typer.Option(metavar="KEY", help="Key or column of the gold document in records that contain both.")
    ]
    predicted_key: Annotated[str, typer.Option(metavar="KEY", help="Key or column of the prediction.")]
    projection: Annotated[
        Projection | None,
        typer.Option(
            "--project",
            metavar="FILE",
            parser=Projection.load,
            help="JMESPath expressions that transform gold and predicted documents before comparison.",
        ),
    ]
    normalize_ids: Annotated[
        bool,
        typer.Option("--normalize-ids", help="Join ids that differ only in case, Unicode form or file extension."),
    ]
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Repair predictions that are not valid JSON, and list the repairs.")
    ]
    repair_structure: Annotated[
        bool,
        typer.Option("--repair-structure", help="With --lenient: also accept repairs that move or drop keys."),
    ]
    max_depth: MaxDepth


@dataclass(frozen=True, kw_only=True)
class CorpusOptions(EvaluationOptions):
    """Options for evaluating documents."""

    cluster_by: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="How to group documents that belong together: a manifest column, a JSON Pointer into gold, or a "
            "regular expression on ids.",
        ),
    ]
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Number of worker processes. Default: the number of processors."),
    ]
    engine: Annotated[Engine, typer.Option(help="Compare on this machine or on a Dask cluster.")]
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Address of the Dask scheduler.")]
    keep: Keep
    lang: Lang
    no_report: NoReport
    no_chance: Annotated[bool, typer.Option("--no-chance", help="Do not compute chance scores.")]
    provenance: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Provenance of the gold, instead of its sidecar (GOLD.provenance.json)."),
    ]
    csv_dialect: CsvDialectOption
    force: Force


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(CorpusOptions):
    """Options for evaluating documents and writing the results to a folder."""

    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for evaluation.json, tables and report.html.")]
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted evaluation in the same --out folder.")]
    strict: Annotated[bool, typer.Option("--strict", help="Stop with exit code 2 if a document fails.")]
    validate: Validate
    flat: Annotated[
        bool,
        typer.Option("--flat", help="Match the values of each path regardless of entries, and show only this result."),
    ]
    diagnose: Annotated[
        bool, typer.Option("--diagnose", help="List the faults of the predictions and what they cost (faults.csv).")
    ]
    source: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Texts that were given to the model, one <id>.txt for each document: search them for missing and "
            "spurious values. Requires --diagnose.",
        ),
    ]
    table: Annotated[list[str], export_option("paths.tex or documents.parquet")]
    score: Annotated[
        list[str],
        typer.Option(metavar="SCORE", help="Score column of the Markdown and LaTeX tables. May be repeated."),
    ]


@dataclass(frozen=True, kw_only=True)
class RankingOptions(StatisticsOptions):
    """Statistical options for comparing systems or factor levels."""

    score: Annotated[
        list[str] | None,
        typer.Option(metavar="SCORE", help="Score to rank by, such as f1q or fq(2). Repeat it to show further scores."),
    ] = None
    aggregate: Annotated[
        Average, typer.Option(help="How to average scores: per document (macro) or pooled over entries (micro).")
    ]
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Random seed of the bootstrap and the permutation tests.")
    ]
    level: Annotated[
        float, typer.Option(metavar="SHARE", help="Confidence level; a difference is significant if p <= 1 - level.")
    ]


@dataclass(frozen=True, kw_only=True)
class TerminalOptions:
    """Options for the output."""

    output: Literal["text", "json", "markdown", "junit"] = "text"
    no_color: Annotated[
        bool, typer.Option("--no-color", help="Disable colours and other escape codes, as NO_COLOR does.")
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only JSON output and errors.")] = False

    def terminal(self) -> Terminal:
        """Return standard output and standard error."""
        return Terminal.create(plain=self.no_color, quiet=self.quiet, as_json=self.output == "json")


@dataclass(frozen=True, kw_only=True)
class OutputOptions(TerminalOptions):
    """Options for the output and its format."""

    output: Annotated[Literal["text", "json"], typer.Option("--format", help="Print text tables or one JSON document.")]


@dataclass(frozen=True, kw_only=True)
class FolderOptions:
    """Folder for the distance matrices."""

    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the distance matrices (.npy, .csv) and metricity.json."),
    ] = None
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class ReportOutputOptions(TerminalOptions):
    """Options for the output and its format, with formats for pull requests and CI servers."""

    output: Annotated[
        Literal["text", "json", "markdown", "junit"],
        typer.Option("--format", help="Print text tables, one JSON document, Markdown or JUnit XML."),
    ]


def check_format_assertion(*, format_assertion: bool, validate: bool) -> None:
    """Raise typer.BadParameter if `--format-assertion` is given without `--validate`."""
    if format_assertion and not validate:
        raise typer.BadParameter("--format-assertion requires --validate: formats are checked while validating.")
