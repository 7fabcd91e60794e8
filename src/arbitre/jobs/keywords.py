"""The options of an evaluation as keyword arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack, cast

from arbitre.corpus.evaluation import Evaluation, extend
from arbitre.corpus.quality_bounds import check_bounds, parse_bounds, require
from arbitre.errors import OptionError, did_you_mean
from arbitre.inputs.corpus_sources import Sources
from arbitre.inputs.data_frames import DataFrame
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.projection import Projection
from arbitre.inputs.records import Pair
from arbitre.jobs.evaluation_job import EvaluationJob
from arbitre.jobs.evaluation_options import EvaluationOptions
from arbitre.options import formerly
from arbitre.refused_coefficients import check_not_agreement
from arbitre.values import as_tuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from arbitre.corpus.evaluate import Triple
    from arbitre.corpus.quality_bounds import Bounds
    from arbitre.corpus.worker import DocumentResults
    from arbitre.inputs.corpus_sources import Documents, Paths
    from arbitre.inputs.join import JoinedCorpus
    from arbitre.inputs.provenance import Provenance
    from arbitre.options import CsvDialectName, Engine
    from arbitre.schema import Plan
    from arbitre.values import Json

    Pairs = Iterable[Triple] | DataFrame | Paths
    """(id, gold, predicted) triples, a data frame, or paths of records with both documents."""
    Progress = Callable[[int, int | None], None]
    """Called with the number of documents compared, and their total number if it is known."""


class ReadingKeywords(TypedDict, total=False):
    """Options for reading documents, as described at `ReadOptions`, under the names that they have on the command line.

    `project` is the path of a file of JMESPath expressions, or the expressions.
    """

    # from arbitre.options: Reading
    id_key: str
    """Key that contains the id of a record."""
    id_pattern: str | None
    """Regular expression that extracts the id from a file name. The id is the group named id if there is one, else
    the first group, else the whole match."""
    normalize_ids: bool
    """Treat ids that differ only in case, Unicode form or file extension as equal."""
    gold_key: str
    """Key or column that contains the gold document of a record."""
    predicted_key: str
    """Key or column that contains the prediction of a record."""
    gold_sheet: str | None
    """Sheet of an Excel workbook that contains gold. None means the first sheet."""
    predicted_sheet: str | None
    """Sheet of an Excel workbook that contains predictions. None means the first sheet."""
    project: str | Path | Mapping[str, Json] | Projection | None
    """JMESPath expressions that transform gold documents and predictions before comparison."""
    lenient: bool
    """Repair predictions that are not valid JSON, and list the repairs."""
    repair_structure: bool
    """With `lenient`, also accept repairs that move or drop keys."""
    max_depth: int
    """Maximum nesting depth of lists and objects in a document."""
    # end of the options


class SharedKeywords(ReadingKeywords, total=False):
    """Options of evaluations and rankings, as described at `EvaluationOptions`, and `ReadingKeywords`."""

    # from arbitre.options: Corpus, Processes, ReportFiles
    cluster_by: str | None
    """How to group dependent documents for intervals and tests: by a manifest column, a JSON Pointer into gold, or a
    regular expression applied to ids."""
    strict: bool
    """Stop with an error if a document fails, if gold or the predictions contain none of the keys that the schema
    declares, or if no prediction matches any part of its gold. On the command line, the exit code is then 2."""
    diagnose: bool
    """List the faults of the predictions with their costs (faults.csv), and search up to 400 documents for causes.
    By default, a sixteenth of the documents is searched (less if they are large), but at least 32 and at most 400.
    Each run counts as a document."""
    no_diagnose: bool
    """Do not search for causes."""
    no_chance: bool
    """Do not compute chance scores."""
    provenance: Provenance | str | Path | None
    """Provenance of the gold, instead of its sidecar (GOLD.provenance.json)."""
    source: str | Path | None
    """Folder of the sources that were given to the model: for each document, a text (<id>.txt), an image or a PDF
    (.png, .jpg, .pdf and others). The report shows the sources, and `diagnose` searches the texts for missing and
    spurious values."""
    workers: int | None
    """Number of worker processes. None means the number of processors."""
    engine: Engine
    """Where to compare the documents: on this machine or on a Dask cluster."""
    scheduler: str | None
    """Address of the Dask scheduler."""
    wait_workers: int
    """Number of cluster workers to wait for before the comparison begins."""
    keep: int | None
    """Number of documents that the report shows entry by entry: first those that it links to, then the worst ones.
    None means as many as fit in 1.6 MB."""
    lang: str
    """Language of the report, the figures, and the tables in the terminal, in Markdown and in LaTeX."""
    no_report: bool
    """Do not write report.html and its data files."""
    no_matches: bool
    """Do not write the table of entries (matches.csv or matches.parquet)."""
    csv_dialect: CsvDialectName
    """CSV dialect: standard, for programs, or excel-fr (semicolons, decimal commas), for spreadsheet programs in
    French."""
    force: bool
    """Write even if the destination contains files that arbitre did not write. These files are never replaced."""
    # end of the options


class CorpusKeywords(SharedKeywords, total=False):
    """Options of an evaluation: `Sources`, `EvaluationOptions` and `SharedKeywords`.

    `fail_under` and `fail_over` are bounds on scores, as for `arbitre.check_bounds`.
    `cluster` is another name of `cluster_by`, as in `Evaluation.interval`.
    """

    cluster: str | None
    # from arbitre.options: Sources, Evaluation, Bounds without pairs
    gold: Paths | Documents
    """Gold documents: a folder, a .json, .jsonl, .csv or .parquet file, a glob, or - for standard input."""
    predicted: Paths | Documents
    """Predictions: a folder, a .json, .jsonl, .csv or .parquet file, a glob, or - for standard input."""
    manifest: str | Path | None
    """CSV table with the id, the gold file and the predicted file of each document (columns id, gold and predicted),
    instead of separate sources."""
    only: str | int | Collection[str | int]
    """Evaluate only the documents with these ids."""
    validate: bool
    """List schema violations in the predictions."""
    flat: bool
    """Match the values at each path across entries. On the command line, the tables show only the resulting scores."""
    out: str | Path | None
    """Folder for evaluation.json, tables and report.html."""
    resume: bool
    """Resume an interrupted evaluation in the same `out` folder."""
    keep_checkpoints: bool
    """Keep the results of each part of the corpus in the subfolder documents/ after the evaluation, so that `resume`
    can use them."""
    table: str | Sequence[str]
    """Additional tables to write to the `out` folder, such as paths.tex: each is a table name followed by .md, .tex,
    .csv or .parquet. For matches and faults, .csv or .parquet sets the format of the table that is written by
    default."""
    table_score: str | Sequence[str]
    """Scores to show in the Markdown and LaTeX tables."""
    fail_under: Bounds
    """Fail if a score is below a value, as in f1q=0.9 or /entries/*/name:irq=0.8. On the command line, the exit code
    is then 1."""
    fail_over: Bounds
    """Fail if a score or count is above a value, as in failed=0. On the command line, the exit code is then 1."""
    # end of the options


@formerly(score="table_score")
def evaluate_corpus(
    plan: Plan, pairs: Pairs | None, progress: Progress | None = None, **options: Unpack[CorpusKeywords]
) -> Evaluation:
    """Evaluate a corpus; see `Comparator.evaluate` for the arguments and errors."""
    given: dict[str, Any] = {"workers": 1, **options}
    if "cluster" in given:
        if given.get("cluster_by") is not None:
            raise OptionError.of("Expected one of `cluster` and `cluster_by`, got both.")
        given["cluster_by"] = given.pop("cluster")
    bounds = parse_bounds(given.pop("fail_under", ()), given.pop("fail_over", ()))
    reading, evaluation_options = option_sets(given, CorpusKeywords)
    if pairs is None or _is_source(pairs):
        sources: Sources = _taken(Sources, given | ({} if pairs is None else {"pairs": pairs}))
        job = EvaluationJob.of_sources(plan, sources, reading, evaluation_options)
    else:
        names = {field.name for kind in (Sources, ReadOptions) for field in fields(kind)} | {"project"}
        if refused := sorted(given.keys() & names):
            raise OptionError.of(f"`{refused[0]}` requires paths or a data frame, not triples.")
        job = EvaluationJob(plan, pairs, evaluation_options)  # type: ignore[arg-type]
    compared = 0

    def on_results(results: DocumentResults) -> None:
        nonlocal compared
        compared += len(results)
        if progress is not None:
            progress(compared, job.size)

    evaluation, files = job(on_results)
    require(check_bounds(evaluation, fail_under=bounds))
    return extend(Evaluation, evaluation, files=files)


class SourceKeywords(ReadingKeywords, total=False):
    """Options for naming and reading documents: `Sources` and `ReadingKeywords`."""

    # from arbitre.options: Sources without pairs
    gold: Paths | Documents
    """Gold documents: a folder, a .json, .jsonl, .csv or .parquet file, a glob, or - for standard input."""
    predicted: Paths | Documents
    """Predictions: a folder, a .json, .jsonl, .csv or .parquet file, a glob, or - for standard input."""
    manifest: str | Path | None
    """CSV table with the id, the gold file and the predicted file of each document (columns id, gold and predicted),
    instead of separate sources."""
    only: str | int | Collection[str | int]
    """Evaluate only the documents with these ids."""
    # end of the options


def document_pairs(plan: Plan, pairs: Pairs | None, **options: Unpack[SourceKeywords]) -> JoinedCorpus | list[Pair]:
    """Return the pairs of documents of a corpus; see `Comparator.evaluate` for the arguments and errors."""
    given: dict[str, Any] = dict(options)
    if pairs is None or _is_source(pairs):
        reading, _ = option_sets(given, SourceKeywords)
        sources: Sources = _taken(Sources, given | ({} if pairs is None else {"pairs": pairs}))
        return sources.joined(reading.for_plan(plan))
    if given:
        raise OptionError.of(f"`{min(given)}` requires paths or a data frame, not triples.")
    triples = cast("Iterable[Triple]", pairs)
    return [Pair(str(identity), None, gold, predicted).as_json() for identity, gold, predicted in triples]


def option_sets(given: Mapping[str, Any], kind: type[ReadingKeywords]) -> tuple[ReadOptions, EvaluationOptions]:
    """Return the options for reading and for evaluating documents among keyword arguments.

    Args:
        given: The keyword arguments.
        kind: The arguments that are allowed.

    Raises:
        OptionError: An option is unknown, or options contradict each other.
        DataError: The expressions of `project` are invalid.
    """
    known = kind.__annotations__
    for name in sorted(given.keys() - known.keys()):
        check_not_agreement(name, OptionError)
    if unknown := given.keys() - known.keys():
        name = min(unknown)
        raise OptionError.of(f"Unknown option `{name}`.", hint=did_you_mean(name, known))
    project = given.get("project")
    if isinstance(project, Mapping):
        project = Projection.from_expressions(project)
    elif isinstance(project, (str, Path)):
        project = Projection.load(str(project))
    out, lists = given.get("out"), {name: as_tuple(given[name]) for name in ("table", "table_score") if name in given}
    evaluation = _taken(EvaluationOptions, {**given} | lists | {"out": None if out is None else Path(out)})
    return _taken(ReadOptions, {**given, "project": project}), evaluation


def _is_source(pairs: Pairs) -> bool:
    """Return whether documents are in files or in a data frame. Raises OptionError if they cannot be documents."""
    first = pairs[0] if isinstance(pairs, Sequence) and not isinstance(pairs, str) and pairs else pairs
    if isinstance(first, _PATHS) or isinstance(pairs, DataFrame):
        return True
    if not isinstance(pairs, Iterable):
        raise OptionError.of(
            f"Expected (id, gold, predicted) triples, a data frame or paths, got {type(pairs).__name__}",
            hint="For a lazy data frame, call `collect()` first. Pass documents as `gold=` and `predicted=`.",
        )
    return False


_PATHS: Final = (str, Path)


def _taken(kind: Any, given: Mapping[str, Any]) -> Any:  # noqa: ANN401  (a class of options)
    """Return an instance of a class of options with the given values of its fields."""
    return kind(**{field.name: given[field.name] for field in fields(kind) if field.name in given})
