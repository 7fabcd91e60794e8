"""The declarations of the commands of `arbitre schema`, and of `arbitre metricity`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from arbitre.options import (
    ALLOW_REFS,
    CSV_DIALECT,
    DEPTH,
    FORCE,
    ID_KEY,
    REQUIRED,
    SCHEMA,
    SHOWN_LANG,
    Annotations,
    CsvDialectName,
    DialectName,
    Formats,
    LanguageName,
    Output,
    Overrides,
    Reading,
    Sources,
    Terminal,
    argument,
    option,
    switch,
)

SCHEMA_ARGUMENT: Final = argument("SCHEMA", "JSON Schema with x-arbitre settings.")


class SchemaInfer(Terminal):
    """Infer a schema that all documents satisfy, and give advice on it.

    Files of a folder that are not documents are skipped and listed. Advice goes to standard error.
    """

    gold: list[str] = argument("GOLD...", "Folders, .json or .jsonl files, or - for standard input.")
    out: Path | None = option(None, "File for the schema. Default: standard output.", "FILE")
    apply: bool = switch("Write the suggested settings into the schema.")
    id_key: str = ID_KEY
    force: bool = FORCE


class SchemaCheck(Annotations, Formats, Output):
    """Check a schema, and optionally documents against it.

    With --gold, also prints advice on the schema. The exit code is 1 if a document violates the schema, and 2 if the
    schema or a gold document has a problem. Advice does not change the exit code.
    """

    schema: str = SCHEMA_ARGUMENT
    documents: list[str] = argument(
        "[DOCUMENT]...", "Folders, .json or .jsonl files, or - for standard input.", default=()
    )
    gold: list[str] | None = option(
        None,
        "Check these gold documents: a folder, a .json, .jsonl or .parquet file, a glob, or - for standard input. The "
        "exit code is 2 if a check fails. May be repeated.",
        "PATH",
        more="Also prints [advice on the schema](reference/causes.md#advice-on-a-schema).",
    )
    predicted: list[str] | None = option(
        None,
        "Predictions, used for advice on keys and placeholders that only predictions contain. May be repeated. "
        "Requires --gold.",
        "PATH",
    )
    apply: bool = switch(
        "Write the suggested settings, together with those of --overlay, as an overlay. Requires --gold."
    )
    out: Path | None = option(
        None,
        "File for the overlay of --apply. Default: standard output; everything else then goes to standard error.",
        "FILE",
    )
    force: bool = FORCE
    certificate: bool = switch(
        "Show whether the distance between documents is a metric, and if not, why.",
        more="See [the certificate](metricity.md#the-certificate).",
    )
    id_key: str = ID_KEY


class SchemaExplain(Annotations, Output):
    """Show how each path is compared: kind, weight, distance, matching, normalisation."""

    schema: str = SCHEMA_ARGUMENT


class SchemaImport(Output):
    """Translate a schema that is annotated for another tool into an overlay.

    The overlay contains the settings that have an equivalent in arbitre. All others are listed on standard error, with
    the nearest settings.
    """

    schema: str = argument("SCHEMA", "JSON Schema with the keywords of another tool.")
    dialect: DialectName = option(
        REQUIRED,
        "Tool whose keywords the schema uses.",
        flags=("--from",),
        more="See [schemas of other tools](dialects.md).",
    )
    nearest: bool = switch("For keywords without an equivalent, also write the nearest settings.")
    out: Path | None = option(None, "File for the overlay. Default: standard output.", "FILE", flags=("--out", "-o"))
    allow_refs: list[str] = ALLOW_REFS
    force: bool = FORCE


class SchemaSuggestAliases(Annotations, Sources, Reading, Output):
    """Suggest aliases for fields that predictions store under keys that the schema does not declare.

    Compares values, not names. Prints an overlay with the aliases, and their evidence on standard error.
    """

    schema: str = SCHEMA_ARGUMENT
    out: Path | None = option(None, "File for the overlay. Default: standard output.", "FILE")
    force: bool = FORCE


class SchemaSuggestGate(Annotations, Sources, Reading, Output):
    """Suggest a gate for the matching of the entries.

    Prints an overlay with the quality below which 95% of the pairs of entries lie if predictions are matched with the
    gold of other documents.
    """

    schema: str = SCHEMA_ARGUMENT
    seed: int = option(0, "Random seed of the sample of chance pairs.", "N", least=0)
    out: Path | None = option(None, "File for the overlay. Default: standard output.", "FILE")
    force: bool = FORCE


class Metricity(Annotations, Overrides, Output):
    """Measure how far the distances between entries deviate from a metric.

    Compares every gold and predicted entry with every other.
    """

    gold: str = argument(
        "GOLD",
        "Gold documents: a JSON file, standard input (-), or a folder or .jsonl file of documents, joined by id.",
    )
    predicted: str = argument(
        "PREDICTED",
        "Predictions: a JSON file, standard input (-), or a folder or .jsonl file of documents, joined by id.",
    )
    schema: str = SCHEMA
    out: Path | None = option(None, "Folder for the distance matrices (.npy, .csv) and metricity.json.", "DIR")
    force: bool = FORCE
    sample: int | None = option(
        None,
        "Maximum number of entries; if there are more, a random sample is used. Default: all entries.",
        "N",
        least=1,
        most=4000,
    )
    seed: int = option(0, "Random seed.", "N", least=0, rare=True)
    id_key: str = ID_KEY
    max_depth: int = DEPTH
    csv_dialect: CsvDialectName = CSV_DIALECT
    lang: LanguageName = SHOWN_LANG
