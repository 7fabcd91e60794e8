"""The declarations of the commands that compare predictions with gold, and show the results."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from arbitre.cli.declarations.schema import SCHEMA_ARGUMENT
from arbitre.options import (
    DEPTH,
    FLAT,
    FORCE,
    GOLD,
    ID_KEY,
    KEEP,
    LANG,
    MANIFEST,
    NO_DIAGNOSE,
    NO_REPORT,
    REQUIRED,
    SCHEMA,
    SHOWN_LANG,
    VALIDATE,
    AnnotationFiles,
    Annotations,
    Bounds,
    Comparison,
    Corpus,
    Denominator,
    Evaluation,
    FigureWidth,
    Formats,
    LanguageName,
    Notation,
    Output,
    Overrides,
    Processes,
    Reading,
    ReportFiles,
    Scheme,
    Sources,
    Statistics,
    Terminal,
    argument,
    option,
    switch,
)

EVALUATIONS: Final = argument(
    "RESULTS",
    "A folder written by `arbitre rank --out` or `arbitre evaluate --out`, or the ranking.json, factors.json or "
    "evaluation.json in it. Several evaluations are compared with each other under the names of their folders. "
    "To draw the calibration curve, also pass the output of `arbitre confidence --format json`.",
)
GOLD_AND_PREDICTED: Final = argument(
    "GOLD PREDICTED",
    "Gold documents and predictions, instead of --gold and --predicted.",
    default=(),
    fills=("gold", "predicted"),
)


class Init(Terminal):
    """Write arbitre.toml for the gold, the predictions and the schema in a folder.

    Gold is the file or folder whose name contains gold, truth, reference, expected or annotated; other documents with
    the same ids are systems. Without a schema, one is inferred from gold.
    """

    folder: Path = argument("FOLDER", "The folder.", default=Path())
    force: bool = FORCE


class Compare(Annotations, Comparison, Formats, Overrides, Bounds, Output):
    """Compare one prediction with its gold document: show the scores and every value that differs.

    With several --match or --distance, print one table with the results of every combination.
    """

    gold: str = argument("GOLD", "A JSON file, or - for standard input.")
    predicted: str = argument("PREDICTED", "A JSON file, or - for standard input.")
    schema: str | None = option(
        None, "JSON Schema of the documents. Default: a schema inferred from gold.", "FILE", group="Input"
    )
    validate: bool = VALIDATE
    published: bool = switch(
        "Also show the figures of the published study (IMQ, F1Q and others), computed with its formulas.",
        more="See [published figures](measures.md#the-scores).",
        rare=True,
    )
    rematch: bool = switch(
        "Compute the gain of repairs by comparing the repaired documents again, instead of keeping the original "
        "matching.",
        more="See [repair gain](diagnosis.md#repair-gain).",
        rare=True,
    )
    flat: bool = FLAT
    patch: bool = switch(
        "Print only a JSON Patch (RFC 6902) that turns PREDICTED into GOLD, with the gain of each operation.",
        more="See [repair as a JSON Patch](diagnosis.md#repair-as-a-json-patch).",
    )
    no_gains: bool = switch("With --patch, do not compute the gains of the operations.", rare=True)
    strict: bool = switch(
        "Stop with exit code 2 if gold or the prediction contains none of the keys that the schema declares.",
        rare=True,
    )
    max_depth: int = DEPTH
    lang: LanguageName = SHOWN_LANG


class Evaluate(
    Annotations, Comparison, Formats, Sources, Reading, Evaluation, Corpus, Processes, ReportFiles, Bounds, Output
):
    """Evaluate a corpus: compare each prediction with the gold document of the same id."""

    paths: list[str] = GOLD_AND_PREDICTED
    schema: str = SCHEMA
    classified: list[str] = option(
        (),
        "Also print the confusion matrix and the scores of each class for the values at a wildcard path, such as "
        "/people/*/role. May be repeated.",
        "PATH",
        flags=("--classification",),
        more="See [classification](classification.md).",
        rare=True,
    )


class Rank(Annotations, Comparison, Reading, Statistics, Corpus, Processes, ReportFiles, Bounds, Output):
    """Rank systems on the same gold documents, with confidence intervals and paired tests.

    With --manifest and --factor, compare the levels of each factor instead.

    --fail-under and --fail-over apply to every system.
    """

    systems: list[str] = argument(
        "NAME=PATH...", "Predictions of each system. Repeat a name for several files or runs.", default=()
    )
    schema: str = SCHEMA
    gold: list[str] = GOLD
    manifest: str | None = MANIFEST
    factor: list[str] = option(
        (),
        "Manifest column that contains a factor. The levels of the factor are compared. May be repeated.",
        "COLUMN",
        rare=True,
        group="Input",
    )
    score: list[str] = option(
        (),
        "Score to rank by, such as f1q or fq(2). Repeat the option to show further scores.",
        "SCORE",
        more="Default: `f1q`, `imq`, `irq` and `amq`.",
        group="Statistics",
    )
    out: Path | None = option(
        None,
        "Folder for the results in JSON, report.html, and tables in CSV, Markdown and LaTeX.",
        "DIR",
        more="The folder also contains the results of `evaluate`, in a subfolder for each system or, with factors, in "
        "the subfolder `evaluation`.",
        group="Output",
    )
    table: list[str] = option(
        (),
        "Additional tables to write to the --out folder, such as pairs.tex: each is a table name followed by .md, "
        ".tex, .csv or .parquet. May be repeated.",
        "NAME",
        more="See [tables for papers](corpora.md#tables-for-papers).",
        group="Output",
    )


class Entities(Bounds, AnnotationFiles, Output):
    """Compare predicted entities with gold entities, sentence by sentence."""

    gold: Path = argument("GOLD", "Gold entities: a CoNLL, .json or .jsonl file, or one of an annotation tool.")
    predicted: Path = argument("PREDICTED", "Predicted entities of the same sentences.")
    scheme: Scheme = option(
        "strict",
        "When a predicted entity is correct: same boundaries and label (strict); same boundaries (exact); same "
        "boundaries, with half credit for an overlap (partial); same label and an overlap (type).",
        more="See [schemes](entities.md#schemes).",
    )
    detail: Literal["entity", "model"] = option(
        "entity", "Show the scores of each label (entity) or of all entities together (model).", former=("--level",)
    )
    aggregate: Literal["micro", "macro", "weighted"] | None = option(
        None, "Show only this average over the labels. Default: all three averages.", former=("--average",)
    )
    exact_match: Denominator = option(
        "all", "Sentences included in the exact-match rate: all sentences, or only those with gold entities.", rare=True
    )
    tags: Notation = option(
        "auto", "Notation of the tags; auto infers it from gold.", more="See [input](entities.md#input)."
    )
    lenient_tags: bool = switch(
        "Like conlleval, accept gold tags that do not follow the notation. Predicted tags of this kind are always "
        "accepted.",
        former=("--lenient",),
        rare=True,
    )
    no_overlap: bool = switch("Treat overlapping gold spans as an error.", former=("--flat",), rare=True)
    gold_column: int = option(
        -1,
        "Column that contains the tags in a CoNLL file of gold, counted from 0; -1 is the last column.",
        "N",
        rare=True,
    )
    predicted_column: int = option(-1, "Column that contains the tags in a CoNLL file of predictions.", "N", rare=True)
    gold_annotator: str | None = option(
        None, "Annotator or model whose entities are the gold, in a file with several annotators.", "NAME"
    )
    predicted_annotator: str | None = option(
        None, "Annotator or model whose entities are the predictions, in a file with several annotators.", "NAME"
    )
    out: Path | None = option(None, "Folder for the results, with the same files as `arbitre evaluate --out`.", "DIR")
    lang: LanguageName = LANG
    force: bool = FORCE


class Diff(Bounds, Terminal):
    """Show what changed between two evaluations: overall, by path and by document.

    Scores of the documents that both evaluations have are compared with the paired test of `arbitre rank`.

    --fail-under and --fail-over apply to the evaluation after the change.
    """

    before: Path = argument("A.json", "The evaluation.json before the change, or its folder.")
    after: Path = argument("B.json", "The evaluation.json after the change, or its folder.")
    score: str = option("f1q", "Score to compare, such as f1q or fq(2).", "SCORE")
    fail_if_worse: bool = switch(
        "Exit with code 1 if the micro score, the macro score or the document quality decreased significantly.",
    )
    tolerance: float | None = option(
        None,
        "With --fail-if-worse, exit with code 1 only if the micro score, the macro score or the document quality "
        "decreased by more than this value, whether the decrease is significant or not.",
        "VALUE",
    )
    output: Literal["text", "json", "markdown", "junit"] = option(
        "text",
        "Output format: text tables, one JSON document, Markdown or JUnit XML.",
        flags=("--format",),
    )
    lang: LanguageName = SHOWN_LANG


class Fix(Annotations, Sources, Reading, Output):
    """List the changes that repair the causes of faults, each with its gain, and write them as an overlay.

    To measure a gain, the change is made after those above it, and the documents are compared again.
    """

    schema: str = SCHEMA_ARGUMENT
    paths: list[str] = GOLD_AND_PREDICTED
    accept: list[str] = option(
        (),
        "Write only the changes for this kind of cause, such as date-format, or the suggested gate (gate). May be "
        "repeated. Default: all changes, except those that do not raise the chance-corrected f1q, those that gain "
        "nothing on held-out documents, and value-mappings whose held-out gain is less than half of their gain or that "
        "may contain misread values.",
        "KIND",
        keyword="Collection[str]",
    )
    out: Path | None = option(
        None, "File for the overlay, which contains the accepted changes and the settings of --overlay.", "FILE"
    )
    lang: LanguageName = SHOWN_LANG
    force: bool = FORCE


class Demo(Terminal):
    """Evaluate two systems on a small bundled corpus: the speakers on six pages of an index."""

    out: Path = option(Path("arbitre-demo"), "Folder for the corpus and the results.", "DIR")
    lang: LanguageName = LANG
    no_diagnose: bool = NO_DIAGNOSE
    no_report: bool = NO_REPORT
    force: bool = FORCE


class Report(Terminal):
    """Regenerate the HTML report of an evaluation or a ranking, in English or French.

    The report is one self-contained HTML page.
    """

    evaluations: list[Path] = EVALUATIONS
    out: Path | None = option(
        None, "File for the report. Default: report.html beside the results. Required for several RESULTS.", "FILE"
    )
    lang: LanguageName = LANG
    keep: int | None = KEEP
    force: bool = FORCE


class Figures(Terminal):
    """Draw the figures of an evaluation or a ranking as SVG, PDF and PNG.

    The data, title and caption of each figure are written as JSON.
    """

    evaluations: list[Path] = EVALUATIONS
    out: Path = option(REQUIRED, "Folder for the figures.", "DIR")
    lang: LanguageName = LANG
    width: FigureWidth = option("both", "Width of the figures: a column (85 mm), a page (178 mm) or both.")
    force: bool = FORCE


class Confidence(Annotations, Output):
    """Compare the confidence of predicted values with their correctness."""

    gold: str = argument("GOLD", "Gold documents: a .json or .jsonl file, a folder, or a glob.")
    predicted: str = argument("PREDICTED", "Predictions with confidences: a .json or .jsonl file, a folder, or a glob.")
    schema: str = SCHEMA
    confidence_from: Literal["logprobs", "explicit"] = option(
        "logprobs",
        "Source of the confidences: token log-probabilities (logprobs), or the prediction itself (explicit), as "
        '{"value": ..., "confidence": ...} or in fields such as name_confidence.',
        former=("--source",),
    )
    logprobs: str = option("/logprobs", "JSON Pointer of the log-probabilities in a record.", "POINTER")
    suffix: str = option(
        "_confidence", "Suffix of the keys that contain confidences, with --confidence-from explicit.", "TEXT"
    )
    correct_at: float = option(1.0, "Minimum quality at which a value counts as correct.", "QUALITY")
    bins: int = option(10, "Number of bins of the calibration curve.", "N", least=1)
    id_key: str = ID_KEY
    lang: LanguageName = SHOWN_LANG


class ConfigShow(Output):
    """Print the config file that commands use in this folder, or the options that it sets for one command."""

    file: str | None = argument(
        "FILE", "The config file. Default: arbitre.toml or pyproject.toml in this folder or above it.", default=None
    )
    command: str | None = option(None, "Print only the options that the config file sets for this command.", "COMMAND")
