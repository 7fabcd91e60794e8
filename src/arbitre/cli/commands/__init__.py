"""The commands: help, arguments and options.

The function of a command is in a module of its own, which is imported when the command runs. `--help` needs only this
module.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from arbitre.cli.commands.schema_declarations import (
    SCHEMA_ARGUMENT,
    SchemaCheck,
    SchemaExplain,
    SchemaImport,
    SchemaInfer,
    SchemaSuggestAliases,
    SchemaSuggestGate,
)
from arbitre.cli.commands.text_declarations import TextBleu, TextCorpus, TextPerplexity, TextRouge
from arbitre.options import (
    CSV_DIALECT,
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
    AutomaticStrategy,
    Bounds,
    Comparison,
    Corpus,
    CsvDialectName,
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
    Strategy,
    Terminal,
    Thresholds,
    argument,
    option,
    switch,
)

ANNOTATORS: Final = argument("NAME=PATH...", "Documents of each annotator. Repeat a name for several files.")
ANNOTATED_SCHEMA: Final = option(
    None,
    "JSON Schema of the documents, with x-arbitre settings, as JSON or YAML, or a Python type as MODULE:NAME. "
    "Required, except for files of annotation tools.",
    "FILE",
    group="Input",
)
WEAK_MARGIN: Final = option(
    0.25,
    "Flag a majority as weak if its lead over the next value is less than this share of the votes.",
    "SHARE",
    least=0.0,
    most=1.0,
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
        more="Default: `f1q`.",
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


class Agree(Annotations, Comparison, Reading, AnnotationFiles, Output):
    """Measure how well annotators agree beyond chance, on whole documents and by path.

    The annotators are people, or several runs of models. Their documents are joined by id and aligned at every level.
    """

    annotators: list[str] = argument(
        "NAME=PATH...",
        "Documents of each annotator. Repeat a name for several files. Or one table of ratings: a .csv or .tsv file "
        "with a row for each item and a column for each annotator. Or a file of an annotation tool with all "
        "annotators.",
    )
    schema: str | None = option(
        None,
        "JSON Schema of the documents, with x-arbitre settings, as JSON or YAML, or a Python type as MODULE:NAME. "
        "For a table of ratings, the schema of one rating; by default, ratings are unordered categories. "
        "Not required for files of annotation tools.",
        "FILE",
    )
    difference: Literal["d", "d2"] = option(
        "d",
        "Difference between two values in Krippendorff's alpha: their distance (d), or its square (d2), which is "
        "common for interval data.",
        rare=True,
    )
    level: float = option(0.95, "Confidence level of the intervals.", "SHARE", rare=True)
    seed: int = option(
        0,
        "Random seed of the bootstrap, and of the samples that estimate the expected disagreement.",
        "N",
        least=0,
        rare=True,
    )
    suggest_category_distances: bool = switch(
        "Print an overlay that sets distances between categories that annotators exchange more often than expected by "
        "chance.",
        more="The evidence goes to standard error; see [distances between "
        "categories](agreement.md#distances-between-categories).",
        rare=True,
    )
    lang: LanguageName = SHOWN_LANG


class Gamma(AnnotationFiles, Output):
    """Measure how well annotators agree beyond chance on spans of text that they located themselves.

    Records with an id are documents, and are joined by id. Without ids, sentences are joined by position, and the
    sentences of a CoNLL file form one document.
    """

    annotators: list[str] = argument(
        "NAME=PATH...",
        "Spans of each annotator: a CoNLL, .json or .jsonl file, or one of an annotation tool. Repeat a name for "
        "several files. Or a file of an annotation tool with all annotators.",
    )
    alpha: float = option(1.0, "Weight of the difference in position.", "WEIGHT", rare=True)
    beta: float = option(1.0, "Weight of the difference in label.", "WEIGHT", rare=True)
    unmatched: float = option(
        1.0,
        "Dissimilarity of a missing span (delta empty). It scales all disorders and does not change gamma.",
        "DELTA",
        rare=True,
    )
    precision: float = option(
        0.02, "Maximum relative error of the expected disorder, at 95% confidence.", "SHARE", rare=True
    )
    samples: int = option(30, "Minimum number of random annotations of each document.", "N", rare=True)
    seed: int = option(0, "Random seed of the random annotations.", "N", least=0, rare=True)
    tags: Notation = option("auto", "Notation of the tags; auto infers it from each file.")
    lenient_tags: bool = switch(
        "Like conlleval, accept tags that do not follow the notation.",
        former=("--lenient",),
        rare=True,
    )
    column: list[str] = option(
        (),
        "Column that contains the tags in CoNLL files, counted from 0; -1 is the last column. NAME=N sets the column "
        "for one annotator. May be repeated.",
        "[NAME=]N",
        more="Default: `-1`.",
        rare=True,
    )
    lang: LanguageName = SHOWN_LANG


class Consensus(Annotations, Comparison, Reading, AnnotationFiles, Output):
    """Build gold documents from the documents of several annotators.

    The documents are joined by id and aligned at every level. Ties and weak majorities are flagged.
    """

    annotators: list[str] = ANNOTATORS
    schema: str | None = ANNOTATED_SCHEMA
    strategy: Strategy = option(
        "minimum-risk",
        "Which values to keep: those with the best expected score (minimum-risk), those of most (majority) or "
        "all annotators (unanimity), those that people choose (collegial), or categories estimated from the error "
        "rates of annotators (dawid-skene).",
    )
    weak_margin: float = WEAK_MARGIN
    min_annotators: int = option(
        2, "Minimum number of annotators per document; documents with fewer are left out.", "N", least=1, rare=True
    )
    queue: Path | None = option(
        None,
        "File for the disagreements (.jsonl, .csv, or .html for a page on which people decide on them), or a folder "
        "for all three.",
        "PATH",
    )
    source: Path | None = option(
        None,
        "Folder of the sources that the page of disagreements shows: one text (<id>.txt) or image (<id>.png) per "
        "document. Requires --queue.",
        "DIR",
    )
    decisions: Path | None = option(
        None,
        "Decisions exported from the page of disagreements, or queue.csv with the decisions filled in. Requires "
        "--strategy collegial.",
        "FILE",
        rare=True,
    )
    lang: LanguageName = option("en", "Language of the page of disagreements, and of text and Markdown output.")
    systems: list[str] = option(
        (),
        "Predictions of a system, which is scored separately on unanimous and on contested values. May be repeated.",
        "NAME=PATH",
        flags=("--system",),
    )
    out: Path | None = option(
        None,
        "File (.jsonl) or folder for the gold documents. The sidecar is written next to this file or folder.",
        "PATH",
    )
    force: bool = FORCE


class LeaveOneOut(Annotations, Comparison, Reading, AnnotationFiles, Output):
    """Compare each annotator, and systems, with the consensus of the other annotators.

    The results are agreement with an unvalidated consensus, not performance.
    """

    annotators: list[str] = ANNOTATORS
    schema: str | None = ANNOTATED_SCHEMA
    systems: list[str] = option(
        (),
        "Predictions of a system, which are compared with each of the consensuses. May be repeated.",
        "NAME=PATH",
        flags=("--system",),
    )
    strategy: AutomaticStrategy = option(
        "minimum-risk", "How to combine the annotations of the other annotators, as in `arbitre consensus`."
    )
    weak_margin: float = WEAK_MARGIN
    lang: LanguageName = SHOWN_LANG


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
        "repeated. Default: all changes, except those that do not raise the chance-corrected f1q, and those that gain "
        "nothing on held-out documents.",
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


class Perturb(Terminal):
    """Plant faults in copies of gold documents, to see how the scores react.

    Writes one record per line for `arbitre evaluate --pairs`: the id, the gold document, the copy as the prediction,
    and the planted faults.
    """

    gold: list[str] = argument("GOLD...", "Gold documents: folders, .json or .jsonl files, globs, or - for stdin.")
    rates: list[str] = option(
        (),
        "Share of the entries that receive a fault of the given kind, as KIND=RATE. The kinds are split, merge, move, "
        "swap, duplicate, drop, invent, noise and rename. For rename, RATE is the share of the fields that are "
        "renamed. May be repeated. Default: 0.05 for every kind except rename.",
        "KIND=RATE",
        flags=("--rate",),
        parser="arbitre.cli.commands.perturb:parse_rate",
    )
    at: str | None = option(None, "Plant faults only in the list at this wildcard path.", "PATH")
    seed: int = option(0, "Random seed.", "N", least=0)
    out: Path | None = option(None, "File for the pairs (.jsonl). Default: standard output.", "FILE")
    id_key: str = ID_KEY
    force: bool = FORCE


class GoldApply(Output):
    """Correct gold according to the decisions that people made in a report.

    Writes a copy in which only the corrected values differ, and its sidecar, which states who corrected how many
    values. Decisions that cannot be applied are written to a table beside it, with the reason; the exit code is then 1.
    """

    decisions: str = argument("DECISIONS", "Decisions exported from the report (.csv or .json).")
    gold: str = option(
        REQUIRED, "The gold that was evaluated: a folder of .json files, or a .json or .jsonl file.", "PATH"
    )
    out: Path = option(REQUIRED, "New folder or file for the corrected gold, in the same format as --gold.", "PATH")
    schema: str | None = option(
        None,
        "JSON Schema of the documents, as JSON or YAML, or a Python type as MODULE:NAME. Decisions whose values "
        "violate the schema are refused.",
        "FILE",
        keyword="SchemaSource | None",
    )
    allow_refs: list[str] = Annotations.allow_refs
    id_key: str = ID_KEY
    id_pattern: str | None = Reading.id_pattern
    normalize_ids: bool = Reading.normalize_ids
    gold_key: str = Reading.gold_key
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


class Advise(Annotations, Thresholds, Output):
    """Check the classes of training and test data: what to add, balance or merge."""

    train: list[str] = option(
        REQUIRED,
        "Training documents: a folder, a file or a glob; without --path, a file of entities. May be repeated.",
        "PATH",
    )
    path: str | None = option(
        None,
        "Wildcard path of the labels, such as /places/*/type. Without this option, the files contain entities (CoNLL, "
        ".json or .jsonl), as for `arbitre entities`.",
        "PATH",
    )
    test: list[str] | None = option(
        None,
        "Gold documents of the test data, in the same form as --train. May be repeated.",
        "PATH",
    )
    predicted: list[str] | None = option(
        None,
        "Predictions for the test documents, used to find classes that are often confused.",
        "PATH",
        more="Requires `--test` and, with `--path`, `--schema`. May be repeated.",
    )
    schema: str | None = option(
        None, "JSON Schema of the documents, used to compare the predictions given with --predicted.", "FILE"
    )
    seed: int = option(0, "Random seed of the permutation test.", "N", least=0)
    id_key: str = ID_KEY
    lang: LanguageName = SHOWN_LANG


class Init(Terminal):
    """Write arbitre.toml for the gold, the predictions and the schema in a folder.

    Gold is the file or folder whose name contains gold, truth, reference, expected or annotated; other documents with
    the same ids are systems. Without a schema, one is inferred from gold.
    """

    folder: Path = argument("FOLDER", "The folder.", default=Path())
    force: bool = FORCE


class ConfigShow(Output):
    """Print the config file that commands use in this folder, or the options that it sets for one command."""

    file: str | None = argument(
        "FILE", "The config file. Default: arbitre.toml or pyproject.toml in this folder or above it.", default=None
    )
    command: str | None = option(None, "Print only the options that the config file sets for this command.", "COMMAND")


DECLARATIONS: Final[dict[str, type]] = {
    "init": Init,
    "compare": Compare,
    "evaluate": Evaluate,
    "rank": Rank,
    "agree": Agree,
    "gamma": Gamma,
    "consensus": Consensus,
    "leave-one-out": LeaveOneOut,
    "entities": Entities,
    "diff": Diff,
    "fix": Fix,
    "schema infer": SchemaInfer,
    "schema check": SchemaCheck,
    "schema explain": SchemaExplain,
    "schema import": SchemaImport,
    "schema suggest-aliases": SchemaSuggestAliases,
    "schema suggest-gate": SchemaSuggestGate,
    "demo": Demo,
    "report": Report,
    "figures": Figures,
    "metricity": Metricity,
    "perturb": Perturb,
    "gold apply": GoldApply,
    "text rouge": TextRouge,
    "text bleu": TextBleu,
    "text perplexity": TextPerplexity,
    "text corpus": TextCorpus,
    "confidence": Confidence,
    "advise": Advise,
    "config show": ConfigShow,
}
"""The commands by name. The module is named after the first word, and its function after the last one."""

REPLACED: Final = frozenset({"schema suggest-aliases", "schema suggest-gate"})
"""Commands that `arbitre fix` replaces. They work, but are not listed."""

GROUPS: Final = {
    "config": "Print the config file of a project.",
    "gold": "Correct gold according to decisions made in a report.",
    "schema": "Infer, check, explain or import a schema.",
    "text": "Measure generated text: ROUGE, BLEU and perplexity.",
}
"""Summaries of the groups of commands."""
