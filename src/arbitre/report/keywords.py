"""The options of an evaluation as keyword arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack, cast

from arbitre.corpus.joining.sources import Sources
from arbitre.corpus.reading.data_frames import DataFrame
from arbitre.corpus.reading.options import ReadOptions
from arbitre.corpus.reading.projection import Projection
from arbitre.corpus.reading.records import Pair
from arbitre.corpus.results.evaluation import Evaluation, extend
from arbitre.corpus.results.gates import gate, parse_gates, require
from arbitre.errors import OptionError, did_you_mean
from arbitre.refused_coefficients import check_not_agreement
from arbitre.report.evaluation_job import EvaluationJob
from arbitre.report.evaluation_options import EvaluationOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from arbitre.corpus.joining.join import Join
    from arbitre.corpus.joining.provenance import Provenance
    from arbitre.corpus.joining.sources import Documents, Paths
    from arbitre.corpus.results.gates import Bounds
    from arbitre.corpus.running.document_results import DocumentResults
    from arbitre.corpus.running.evaluate import Triple
    from arbitre.corpus.running.executors import Engine
    from arbitre.schema import Plan
    from arbitre.tables.csv_text import CsvDialectName
    from arbitre.values import Json

    Pairs = Iterable[Triple] | DataFrame | Paths
    """(id, gold, predicted) triples, a data frame, or paths of records with both documents."""
    Progress = Callable[[int, int | None], None]
    """Called with the number of documents compared, and their total number if it is known."""


class ReadingKeywords(TypedDict, total=False):
    """Options for reading documents, as described at `ReadOptions`, under the names that they have on the command line.

    `project` is the path of a file of JMESPath expressions, or the expressions.
    """

    id_key: str
    id_pattern: str | None
    normalize_ids: bool
    gold_key: str
    predicted_key: str
    gold_sheet: str | None
    predicted_sheet: str | None
    project: str | Path | Mapping[str, Json] | Projection | None
    lenient: bool
    repair_structure: bool
    max_depth: int


class SharedKeywords(ReadingKeywords, total=False):
    """Options of evaluations and rankings, as described at `EvaluationOptions`, and `ReadingKeywords`."""

    cluster_by: str | None
    workers: int | None
    engine: Engine
    scheduler: str | None
    no_report: bool
    no_chance: bool
    keep: int | None
    lang: str
    provenance: Provenance | str | Path | None
    csv_dialect: CsvDialectName
    force: bool


class CorpusKeywords(SharedKeywords, total=False):
    """Options of an evaluation: `Sources`, `EvaluationOptions` and `SharedKeywords`.

    `fail_under` and `fail_over` are bounds on scores, as for `arbitre.gate`.
    `cluster` is another name of `cluster_by`, as in `Evaluation.interval`.
    """

    gold: Paths | Documents
    predicted: Paths | Documents
    manifest: str | Path
    only: Collection[str]
    out: str | Path | None
    resume: bool
    strict: bool
    validate: bool
    diagnose: bool
    source: str | Path | None
    flat: bool
    table: str | Sequence[str]
    score: str | Sequence[str]
    cluster: str | None
    fail_under: Bounds
    fail_over: Bounds


def evaluate_corpus(
    plan: Plan, pairs: Pairs | None, progress: Progress | None = None, **options: Unpack[CorpusKeywords]
) -> Evaluation:
    """Evaluate a corpus; see `Comparator.evaluate` for the arguments and errors."""
    given: dict[str, Any] = {"workers": 1, **options}
    if "cluster" in given:
        if given.get("cluster_by") is not None:
            raise OptionError.of("Expected one of `cluster` and `cluster_by`, got both.")
        given["cluster_by"] = given.pop("cluster")
    gates = parse_gates(given.pop("fail_under", ()), given.pop("fail_over", ()))
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
    require(gate(evaluation, fail_under=gates))
    return extend(Evaluation, evaluation, files=files)


class SourceKeywords(ReadingKeywords, total=False):
    """Options for naming and reading documents: `Sources` and `ReadingKeywords`."""

    gold: Paths | Documents
    predicted: Paths | Documents
    manifest: str | Path
    only: Collection[str]


def document_pairs(plan: Plan, pairs: Pairs | None, **options: Unpack[SourceKeywords]) -> Join | list[Pair]:
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
    out, lists = given.get("out"), {name: as_names(given[name]) for name in ("table", "score") if name in given}
    evaluation = _taken(EvaluationOptions, {**given} | lists | {"out": None if out is None else Path(out)})
    return _taken(ReadOptions, {**given, "project": project}), evaluation


def as_names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return one or several names as a tuple."""
    return (given,) if isinstance(given, str) else tuple(given or ())


def _is_source(pairs: Pairs) -> bool:
    """Return whether documents are in files or in a data frame."""
    first = pairs[0] if isinstance(pairs, Sequence) and not isinstance(pairs, str) and pairs else pairs
    return isinstance(first, _PATHS) or isinstance(pairs, DataFrame)


_PATHS: Final = (str, Path)


def _taken(kind: Any, given: Mapping[str, Any]) -> Any:  # noqa: ANN401  (an option set)
    """Return the option set with the given values of its fields."""
    return kind(**{field.name: given[field.name] for field in fields(kind) if field.name in given})
