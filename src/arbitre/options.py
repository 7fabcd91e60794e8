"""Declarations of all options: name, type, default, help and group.

A class is a group of options, and a command is a class that inherits its groups (see `arbitre.cli.commands`). The
options of the commands, the keyword arguments of the Python functions (in the blocks marked `from arbitre.options`) and
the tables of options in the reference are derived from these declarations; `docs/make_reference.py` writes the last
two.
This module imports no numerical library, so that `--help` starts fast.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from functools import cache, wraps
from inspect import Parameter
from pathlib import Path  # noqa: TC003  (the types are read at run time)
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast, get_args, get_type_hints

from arbitre.errors import OptionError
from arbitre.values import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Callable

_Function = TypeVar("_Function", bound="Callable[..., Any]")

AnnotationFormat: TypeAlias = Literal[
    "auto", "label-studio", "prodigy", "langextract", "webanno", "xmi", "conll", "documents"
]
"""Format of a file with the spans of annotators; auto recognises it, documents is JSON of another form."""
Average: TypeAlias = Literal["micro", "macro"]
"""micro: scores of all entries together; macro: mean of the scores of the documents."""
CsvDialectName: TypeAlias = Literal["standard", "excel-fr"]
"""Notation of CSV files; see `CsvDialect`."""
Denominator: TypeAlias = Literal["all", "entities"]
"""Sentences included in the exact-match rate: all, or those with gold entities."""
DialectName: TypeAlias = Literal["stickler", "extract-bench", "x-eval"]
"""Tool whose keywords a schema has."""
Engine: TypeAlias = Literal["local", "dask"]
"""Where documents are compared: on this machine or on a Dask cluster."""
FigureWidth: TypeAlias = Literal["column", "page", "both"]
"""Width of a printed figure: that of a column (85 mm), of a page (178 mm), or a file for each."""
LanguageName: TypeAlias = Literal["en", "fr"]
"""Language of the output for people."""
Notation: TypeAlias = Literal["auto", "bio", "iob1", "bioes"]
"""Notation of the tags of entities; auto infers it."""
Scheme: TypeAlias = Literal["strict", "exact", "partial", "type"]
"""When a predicted entity is correct.

* strict: same boundaries and same label.
* exact: same boundaries.
* partial: same boundaries; entities that overlap are partially correct.
* type: same label, and the entities overlap.
"""
Strategy: TypeAlias = Literal["minimum-risk", "majority", "unanimity", "collegial", "dawid-skene"]
"""How the values of the annotators are combined."""
AutomaticStrategy: TypeAlias = Literal["minimum-risk", "majority", "unanimity", "dawid-skene"]
"""A `Strategy` that needs no decisions by people."""
Tokenizer: TypeAlias = Literal["words", "rouge-score"]
"""Words of any script, or the ASCII words of rouge-score."""

REQUIRED: Final = ...
"""Default of an option that must be given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option of a command, or one of its arguments, and the keyword argument of the same name in Python.

    Attributes:
        default: Default; `REQUIRED` if there is none.
        help: What the option does, for `--help`, the reference and Python.
        metavar: Placeholder of the value in `--help`.
        positional: Whether it is an argument of the command.
        fills: The options that take the values of the argument, one each.
        flags: Names on the command line, if they are not derived from the name.
        former: Names on the command line of earlier versions, which work but are not shown.
        least: Minimum of a number.
        most: Maximum of a number.
        parser: Function that parses the value, as MODULE:NAME. It is imported when the option is given.
        keyword: Type of the keyword argument in Python, if it differs from the type on the command line.
        field: Type and default of the attribute in Python, if they differ from those of the keyword argument.
        more: Continuation of the help in the reference, as Markdown.
        rare: Whether only `--help-all` shows it.
        name: Name in Python; on the command line, its underscores are hyphens.
        type: Type on the command line.
        group: Title of its panel in `--help`, if it is not that of its class.
    """

    default: Any
    help: str
    metavar: str | None = None
    positional: bool = False
    fills: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    former: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    parser: str | None = None
    keyword: str | None = None
    field: str | None = None
    more: str = ""
    rare: bool = False
    name: str = ""
    type: Any = None
    group: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names on the command line, such as `--id-key`; none for an argument."""
        return () if self.positional else self.flags or (f"--{self.name.replace('_', '-')}",)

    @property
    def spellings(self) -> tuple[str, ...]:
        """Names in a config file: the long names on the command line, with underscores, then the name in Python."""
        long = [name.removeprefix("--").replace("-", "_") for name in self.names if name.startswith("--")]
        return tuple(dict.fromkeys((*long, self.name)))

    @property
    def annotation(self) -> str:
        """Type of the keyword argument in Python."""
        if self.keyword is not None:
            return self.keyword
        return self.type.__name__ if isinstance(self.type, type) and not get_args(self.type) else str(self.type)


def option(default: Any, help: str, metavar: str | None = None, **more: Any) -> Any:  # noqa: A002, ANN401
    """Declare an option. As with `dataclasses.field`, the result takes the place of the value in a class."""
    return Option(default=default, help=help, metavar=metavar, **more)


def switch(help: str, **more: Any) -> Any:  # noqa: A002, ANN401
    """Declare an option without a value, which is off by default."""
    return Option(default=False, help=help, **more)


def argument(metavar: str, help: str, default: Any = REQUIRED, fills: tuple[str, ...] = ()) -> Any:  # noqa: A002, ANN401,
    """Declare an argument of a command."""
    return Option(default=default, help=help, metavar=metavar, positional=True, fills=fills)


@cache
def options_of(*declared: type) -> tuple[Option, ...]:
    """Return the options of groups or of a command: its own first, then those of its groups in their order."""
    found: dict[str, Option] = {}
    for each in declared:
        hints = get_type_hints(each)
        for group in each.__mro__:
            is_command = group is each and group.__base__ is not object
            title = "Options" if is_command else (group.__doc__ or "").removesuffix(".")
            for name, one in vars(group).items():
                if isinstance(one, Option):
                    found.setdefault(name, replace(one, name=name, type=hints[name], group=one.group or title))
    return tuple(found.values())


def spelled_out(*groups: type, **further: Any) -> Callable[[_Function], _Function]:  # noqa: ANN401
    """Decorate a function so that `inspect.signature` lists its options instead of `**options`.

    Args:
        *groups: The groups that the options belong to.
        **further: Defaults that differ from those of the groups, and defaults of options that belong to no group.
    """

    def decorate(function: _Function) -> _Function:
        shown = inspect.signature(function)
        own = [one for one in shown.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        annotations = {one.name: one.annotation for one in options_of(*groups)}
        defaults = {one.name: one.default for one in options_of(*groups)} | further
        more = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotations.get(name, Parameter.empty))
            for name, default in defaults.items()
            if name not in shown.parameters
        ]
        function.__signature__ = shown.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        return function

    return decorate


def formerly(**names: str) -> Callable[[_Function], _Function]:
    """Decorate a function, or a class, so that it also takes arguments by their names in earlier versions.

    Its signature shows only the present names.

    Args:
        **names: The present name of each former name.

    Raises:
        OptionError: By the function, if an argument is given by both names.
    """

    def decorate(function: _Function) -> _Function:
        if isinstance(function, type):
            function.__init__ = decorate(function.__init__)  # type: ignore[misc]
            return function

        @wraps(function)
        def call(*args: Any, **given: Any) -> Any:  # noqa: ANN401  (those of the function)
            for old, new in names.items():
                if old in given:
                    if new in given:
                        raise OptionError.of(f"Expected one of `{new}` and `{old}`, its former name, got both.")
                    given[new] = given.pop(old)
            return function(*args, **given)

        return cast("_Function", call)

    return decorate


SCHEMA: Final = option(
    REQUIRED,
    "JSON Schema of the documents, with x-arbitre settings, as JSON or YAML. FILE#/pointer names a part of a file, and "
    "MODULE:NAME names a Python type, such as a Pydantic model.",
    "FILE",
    group="Input",
)
VALIDATE: Final = switch("List schema violations in the predictions.", group="Comparison")
FLAT: Final = switch(
    "Match the values at each path across entries. On the command line, the tables show only the resulting scores.",
    more="See [flat comparison](diagnosis.md#solidarity).",
    rare=True,
    group="Comparison",
)
GOLD: Final = option(
    (),
    "Gold documents: a folder, a .json, .jsonl, .csv or .parquet file, a glob, or - for standard input. May be "
    "repeated.",
    "PATH",
    keyword="Paths | Documents",
    field="Paths | Documents | None = None",
    more="Quote globs. See [input](reference/files.md#input).",
    group="Input",
)
MANIFEST: Final = option(
    None,
    "CSV table with the id, the gold file and the predicted file of each document (columns id, gold and predicted), "
    "instead of separate sources.",
    "FILE",
    keyword="str | Path | None",
    more="See [data](data.md#a-manifest).",
    group="Input",
)
ID_KEY: Final = option("id", "Key that contains the id of a record.", "KEY", group="Input")
DEPTH: Final = option(
    MAX_DEPTH,
    "Maximum nesting depth of lists and objects in a document.",
    "N",
    least=1,
    most=MAX_DEPTH,
    rare=True,
    group="Input",
)
LANG: Final = option(
    "en",
    "Language of the report, the figures, and the tables in the terminal, in Markdown and in LaTeX.",
    keyword="str",
    field="Language = Language.EN",
    group="Output",
)
SHOWN_LANG: Final = option("en", "Language of text and Markdown output.", group="Output")
NO_DIAGNOSE: Final = switch(
    "Do not search for causes.", more="See [causes](diagnosis.md#causes).", rare=True, group="Analysis"
)
NO_REPORT: Final = switch("Do not write report.html and its data files.", rare=True, group="Output")
KEEP: Final = option(
    None,
    "Number of documents that the report shows entry by entry: first those that it links to, then the worst ones. "
    "Default: as many as fit in 1.6 MB.",
    "N",
    least=1,
    rare=True,
    group="Output",
)
CSV_DIALECT: Final = option(
    "standard",
    "CSV dialect: standard, for programs, or excel-fr (semicolons, decimal commas), for spreadsheet programs in "
    "French.",
    keyword="CsvDialectName",
    more="See [output](reference/files.md#output).",
    rare=True,
    group="Output",
)
FORCE: Final = switch(
    "Write even if the destination contains files that arbitre did not write. These files are never replaced.",
    more="See [output folders](reference/files.md#output-folders).",
    rare=True,
    group="Output",
)


ALLOW_REFS: Final = option(
    (),
    "Additional folders whose files the schema may reference with $ref. May be repeated.",
    "DIR",
    keyword="str | Path | Iterable[str | Path]",
    more="See [the schema](reference/keyword.md).",
    rare=True,
    group="Input",
)


class Annotations:
    """Input."""

    overlay: str | None = option(
        None,
        "x-arbitre settings by path, for a schema that you cannot edit.",
        "FILE",
        keyword="Mapping[str, Json] | str | Path | None",
    )
    functions: list[str] = option(
        (),
        "Custom distances, normalisers and matchings in Python, or catalogues of them. May be repeated.",
        "MODULE:NAME",
        keyword="str | Iterable[str]",
        more="Each module must be installed or be in the current folder; see [custom functions](custom.md).",
    )
    allow_refs: list[str] = ALLOW_REFS


class Comparison:
    """Comparison."""

    fields: list[str] = option(
        (),
        "Compare only the values at and below these wildcard paths, such as /people/*/name. May be repeated.",
        "POINTER",
        keyword="str | Iterable[str]",
        more="The keys of `keyed` lists above these paths are also compared.",
    )
    close: float = option(0.8, 'Minimum quality for the verdict "close".', "QUALITY", rare=True)
    max_calls: int = option(
        100_000,
        "Maximum number of calls to a custom distance per document.",
        "N",
        least=0,
        keyword="int | None",
        more="Documents that could require more calls are rejected.",
        rare=True,
    )


class Formats:
    """Comparison."""

    format_assertion: bool = switch(
        "Also report values that do not match the `format` in the schema.",
        more="Requires `--validate` in `compare` and `evaluate`. Formats other than `date`, `email`, `idn-email`, "
        "`ipv4`, `ipv6`, `regex` and `uuid` require the extra `formats`; `iri` and `iri-reference` require the package "
        "rfc3987-syntax. A format that cannot be checked is an error.",
        rare=True,
    )


class Functions:
    """Custom functions, which can only be passed as values in Python."""

    distances: Any = option(..., "Distances by name. Default: the built-in distances.", keyword="Distances")
    normalizers: Any = option(..., "Normalisers by name. Default: the built-in normalisers.", keyword="Normalizers")
    matchings: Any = option(..., "Matchings by name. Default: the built-in matchings.", keyword="Matchings")


class Overrides:
    """Comparison."""

    match: list[str] | None = option(
        None,
        "Use this matching for all arrays: a name, or JSON as in a schema. Repeat the option to compare several "
        "matchings side by side.",
        "NAME",
        keyword="Json",
    )
    distance: list[str] | None = option(
        None,
        "Use this distance for all leaves that are not compared by `exact`: a name, or JSON as in a schema. Repeat the "
        "option to compare several distances side by side.",
        "NAME",
        keyword="Json",
        more="Leaves that the distance cannot compare keep their own distance.",
    )


class Sources:
    """Input."""

    gold: list[str] = GOLD
    predicted: list[str] = option(
        (),
        "Predictions: a folder, a .json, .jsonl, .csv or .parquet file, a glob, or - for standard input. May be "
        "repeated.",
        "PATH",
        keyword="Paths | Documents",
        field="Paths | Documents | None = None",
    )
    pairs: list[str] = option(
        (),
        "Records with the keys id, gold and predicted, instead of --gold and --predicted. May be repeated.",
        "PATH",
        keyword="Paths | DataFrame",
    )
    manifest: str | None = MANIFEST
    only: list[str] = option(
        (),
        "Evaluate only the documents with these ids. May be repeated.",
        "ID",
        keyword="str | int | Collection[str | int]",
    )


class AnnotationFiles:
    """Input."""

    annotations: AnnotationFormat = option(
        "auto",
        "Annotation tool that wrote the files: inferred (auto), a named tool, or none (documents).",
        more="See [annotation tools](agreement.md#annotation-tools).",
    )
    layer: str | None = option(
        None,
        "Layer of WebAnno TSV and XMI files that contains the spans, as LAYER or LAYER:FEATURE. Default: NamedEntity, "
        "or the only layer.",
        "LAYER",
        rare=True,
    )


class Reading:
    """Input."""

    id_key: str = ID_KEY
    id_pattern: str | None = option(
        None,
        "Regular expression that extracts the id from a file name. The id is the group named id if there is one, else "
        "the first group, else the whole match.",
        "REGEX",
        more="A group named `run` extracts the run.",
        rare=True,
    )
    normalize_ids: bool = switch(
        "Treat ids that differ only in case, Unicode form or file extension as equal.",
        more="The results then contain case-folded ids without extensions.",
        rare=True,
    )
    gold_key: str = option(
        "gold",
        "Key or column that contains the gold document of a record.",
        "KEY",
        more="See [formats](data.md#formats).",
        rare=True,
    )
    predicted_key: str = option(
        "predicted", "Key or column that contains the prediction of a record.", "KEY", rare=True
    )
    gold_sheet: str | None = option(
        None,
        "Sheet of an Excel workbook that contains gold. Default: the first sheet.",
        "NAME",
        rare=True,
    )
    predicted_sheet: str | None = option(
        None, "Sheet of an Excel workbook that contains predictions. Default: the first sheet.", "NAME", rare=True
    )
    project: str | None = option(
        None,
        "JMESPath expressions that transform gold documents and predictions before comparison.",
        "FILE",
        parser="arbitre.inputs.projection:Projection.load",
        keyword="str | Path | Mapping[str, Json] | Projection | None",
        field="Projection | None = None",
        more="See [projections](data.md#projections).",
        rare=True,
    )
    lenient: bool = switch(
        "Repair predictions that are not valid JSON, and list the repairs.",
        more="See [raw answers](data.md#raw-answers).",
    )
    repair_structure: bool = switch("With --lenient, also accept repairs that move or drop keys.", rare=True)
    max_depth: int = DEPTH


class Corpus:
    """Analysis."""

    cluster_by: str | None = option(
        None,
        "How to group dependent documents for intervals and tests: by a manifest column, a JSON Pointer into gold, or "
        "a regular expression applied to ids.",
        "WHAT",
        rare=True,
    )
    strict: bool = switch(
        "Stop with an error if a document fails, if gold or the predictions contain none of the keys that the schema "
        "declares, or if no prediction matches any part of its gold. On the command line, the exit code is then 2.",
        rare=True,
    )
    diagnose: bool = switch(
        "List the faults of the predictions with their costs (faults.csv), and search up to 400 documents for causes. "
        "By default, a sixteenth of the documents is searched (less if they are large), but at least 32 and at most "
        "400. Each run counts as a document.",
        more="Also computes the [solidarity](diagnosis.md#solidarity). See [faults](diagnosis.md#faults-of-a-corpus).",
    )
    no_diagnose: bool = NO_DIAGNOSE
    no_chance: bool = switch("Do not compute chance scores.", more="See [chance](corpora.md#chance).", rare=True)
    provenance: Path | None = option(
        None,
        "Provenance of the gold, instead of its sidecar (GOLD.provenance.json).",
        "FILE",
        keyword="Provenance | str | Path | None",
        more="See [provenance](corpora.md#provenance-of-gold).",
        rare=True,
    )
    source: Path | None = option(
        None,
        "Folder of the sources that were given to the model: for each document, a text (<id>.txt), an image or a PDF "
        "(.png, .jpg, .pdf and others). The report shows the sources, and --diagnose searches the texts for missing "
        "and spurious values.",
        "DIR",
        keyword="str | Path | None",
        more="See [the text or the model](diagnosis.md#the-text-or-the-model).",
    )


class Processes:
    """Execution."""

    workers: int | None = option(None, "Number of worker processes. Default: the number of processors.", "N", least=1)
    engine: Engine = option(
        "local",
        "Where to compare the documents: on this machine or on a Dask cluster.",
        keyword="Engine",
        more="See [corpora](corpora.md).",
        rare=True,
    )
    scheduler: str | None = option(None, "Address of the Dask scheduler.", "ADDRESS", rare=True)
    wait_workers: int = option(
        1, "Number of cluster workers to wait for before the comparison begins.", "N", least=1, rare=True
    )


class ReportFiles:
    """Output."""

    keep: int | None = KEEP
    lang: LanguageName = LANG
    no_report: bool = NO_REPORT
    no_matches: bool = switch(
        "Do not write the table of entries (matches.csv or matches.parquet).",
        more="See [large corpora](corpora.md#large-corpora).",
        rare=True,
    )
    csv_dialect: CsvDialectName = CSV_DIALECT
    force: bool = FORCE


class Evaluation:
    """Output."""

    validate: bool = VALIDATE
    flat: bool = FLAT
    out: Path | None = option(
        None,
        "Folder for evaluation.json, tables and report.html.",
        "DIR",
        keyword="str | Path | None",
        field="Path | None = None",
        more="See [output](reference/files.md#output).",
    )
    resume: bool = switch("Resume an interrupted evaluation in the same --out folder.", rare=True)
    keep_checkpoints: bool = switch(
        "Keep the results of each part of the corpus in the subfolder documents/ after the evaluation, so that "
        "--resume can use them.",
        rare=True,
    )
    table: list[str] = option(
        (),
        "Additional tables to write to the --out folder, such as paths.tex: each is a table name followed by .md, "
        ".tex, .csv or .parquet. For matches and faults, .csv or .parquet sets the format of the table that is written "
        "by default. May be repeated.",
        "NAME",
        keyword="str | Sequence[str]",
        field="Sequence[str] = ()",
        more="See [tables for papers](corpora.md#tables-for-papers).",
    )
    table_score: list[str] = option(
        (),
        "Scores to show in the Markdown and LaTeX tables. May be repeated.",
        "SCORE",
        keyword="str | Sequence[str]",
        field="Sequence[str] = ()",
        more="Default: `f1q`, `imq`, `irq` and `amq`.",
        former=("--score",),
        rare=True,
    )


class Statistics:
    """Statistics."""

    aggregate: Average = option(
        "macro", "How to average scores: per document (macro) or pooled over entries (micro).", keyword="Average"
    )
    level: float = option(0.95, "Confidence level; a difference is significant if p <= 1 - level.", "SHARE", rare=True)
    seed: int = option(0, "Random seed of the bootstrap and the permutation tests.", "N", least=0, rare=True)


class Thresholds:
    """Statistics."""

    min_examples: int = option(15, "Minimum number of training examples of a class.", "N")
    imbalance: float = option(
        10.0,
        "Report a class as rare if the largest class is larger by more than this factor.",
        "RATIO",
        rare=True,
    )
    significance: float = option(
        0.05,
        "Report that training and test data differ if p is below this significance level.",
        "P",
        former=("--alpha",),
        rare=True,
    )
    confused: float = option(
        0.1,
        "Report two classes as confused if at least this share of their gold values is predicted as the other class.",
        "SHARE",
        rare=True,
    )
    min_confused: int = option(
        2,
        "Report two classes as confused only if at least this many of their gold values are predicted as the other "
        "class.",
        "N",
        rare=True,
    )


class Bounds:
    """Quality bounds."""

    fail_under: list[str] = option(
        (),
        "Fail if a score is below a value, as in f1q=0.9 or /entries/*/name:irq=0.8. On the command line, the exit "
        "code is then 1. May be repeated.",
        "SCORE=VALUE",
        parser="arbitre.cli.option_values:under",
        keyword="Bounds",
        more="See [quality bounds](reference/commands.md#quality-bounds).",
    )
    fail_over: list[str] = option(
        (),
        "Fail if a score or count is above a value, as in failed=0. On the command line, the exit code is then 1. May "
        "be repeated.",
        "SCORE=VALUE",
        parser="arbitre.cli.option_values:over",
        keyword="Bounds",
        rare=True,
    )


class Terminal:
    """Output."""

    no_color: bool = switch(
        "Disable colours and other escape codes, as the environment variable NO_COLOR does.", rare=True
    )
    quiet: bool = switch("Print only JSON output and errors.", flags=("--quiet", "-q"))


class Output(Terminal):
    """Output."""

    output: Literal["text", "json", "csv", "markdown"] = option(
        "text",
        "Output format: text tables, one JSON document, or all tables with all rows in CSV or Markdown.",
        flags=("--format",),
    )


COMPARATOR: Final = (Annotations, Comparison, Formats, Functions, Overrides)
"""Groups of the options of a comparator in Python."""
CORPUS: Final = (Corpus, Processes, ReportFiles, Bounds)
"""Groups of the options that evaluations and rankings have in common."""
