"""The agreement of annotators on nested documents: on whole documents, on lists and on single values.

`agree` reads the documents from files and `structural` measures their agreement. `agree_spans` is the counterpart for
spans of a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Unpack

from arbitre.agreement.aligned_rows import AlignedRows, IndependentAlignments, align_documents, is_value, leaf_values
from arbitre.agreement.alpha_of_rows import (
    MAX_PAIRS,
    MAX_VALUE_PAIRS,
    Difference,
    Differences,
    alpha_of_rows,
    observed_agreement,
)
from arbitre.agreement.by_document import ByDocument, Resampling
from arbitre.agreement.leaf_ratings import CategoricalCoefficients, LeafRatings, side_by_side
from arbitre.agreement.list_gamma import gamma_of_lists
from arbitre.agreement.notes import level_notes, notes_of, token_notes
from arbitre.agreement.ratings import read_rating_table, schema_of_ratings
from arbitre.agreement.span_files import SPANS, annotators_in, has_spans, span_documents
from arbitre.comparator.comparator import ComparatorKeywords, take_comparator
from arbitre.engine import with_common_ids
from arbitre.engine.columns.column import ListColumn
from arbitre.errors import DataError, OptionError
from arbitre.inputs.annotation_files import AnnotationOptions
from arbitre.inputs.corpus_sources import listed, paths_in, taken_from_memory
from arbitre.inputs.open_files import expand_globs, split_name
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.reader import TABLE, Reader
from arbitre.inputs.records import Failure, Record
from arbitre.jobs.keywords import ReadingKeywords, option_sets
from arbitre.options import COMPARATOR, Reading, spelled_out
from arbitre.statistics.intervals import LEVEL, RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.agreement.aligned_rows import IndependentRows, ShuffledChance
    from arbitre.agreement.coefficient import Coefficient
    from arbitre.comparator import Comparator
    from arbitre.inputs.corpus_sources import Documents, InMemory, Paths
    from arbitre.options import AnnotationFormat
    from arbitre.schema import SchemaSource
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

    Annotators = Mapping[str, Paths | Documents] | str | Path
    """Sources of the documents of each annotator or the documents themselves, or a table of ratings."""


FORMAT: Final = "arbitre-agreement/1"


@dataclass(frozen=True, slots=True)
class StructuralAgreement:
    """Agreement among several annotators on nested documents.

    Attributes:
        alpha: Krippendorff's alpha of whole documents.
        by_path: Coefficient of each wildcard path: for single values the alpha that fits their kind, for lists and
            objects, alpha with the distance of the schema.
        coefficients: Other coefficients of each path whose values are categories; see `CategoricalCoefficients`.
        gamma: Gamma of the items of each list, by wildcard path. It compares the disorder of the alignments with that
            of lists from different documents.
        annotators: Names of the annotators, sorted.
        documents: Number of documents.
        exact: Whether every alignment of lists is known to be optimal.
        notes: Warnings about coefficients that are easily misread.
    """

    alpha: Coefficient
    by_path: Mapping[str, Coefficient]
    coefficients: Mapping[str, CategoricalCoefficients]
    gamma: Mapping[str, Coefficient]
    annotators: tuple[str, ...]
    documents: int
    exact: bool
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON, valid against `schemas/agreement.schema.json`."""
        return {
            "format": FORMAT,
            "annotators": list(self.annotators),
            "documents": self.documents,
            "exact": self.exact,
            "alpha": self.alpha.to_dict(),
            "by_path": {path: coefficient.to_dict() for path, coefficient in self.by_path.items()},
            "coefficients": {path: each.to_dict() for path, each in self.coefficients.items()},
            "gamma": {path: coefficient.to_dict() for path, coefficient in self.gamma.items()},
            "notes": list(self.notes),
        }


def structural(
    comparator: Comparator,
    annotations: Mapping[str, Mapping[str, Json]],
    *,
    difference: Difference = "d",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> StructuralAgreement:
    """Measure the agreement of annotators on nested documents.

    The documents are aligned at every level. Then each path gets the coefficient that fits its values: alpha for
    nominal values (distance `exact`), ordinal values (distance `ordinal`), numbers (interval), and otherwise alpha with
    the distance of the schema. A missing value is left out at its path; it counts in the alpha of the object, list and
    document that contain it, and in gamma.

    Args:
        comparator: The comparator.
        annotations: Documents of each annotator, by id.
        difference: Difference of two values in alpha: "d" is their distance, "d2" its square, as for interval data.
            Alpha depends on this choice; its name states it.
        level: Confidence level of the intervals.
        resamples: Number of bootstrap resamples of the documents.
        seed: Random seed of the samples for the expected disagreement, and of the resamples.

    Returns:
        The agreement. An undefined coefficient has the value None, and a reason.

    Raises:
        DataError: There are fewer than two annotators, or no document has two annotators.
        OptionError: `level` is not between 0 and 1.
    """
    annotations = with_common_ids(comparator.plan, annotations)
    parts = align_documents(comparator.plan, annotations, again=True)
    differences = Differences(difference, comparator.plan.certificate.symmetric)
    ids = sorted({name for documents in annotations.values() for name in documents})
    by_document = ByDocument(tuple(ids), Resampling(level, resamples, seed))
    by_path: dict[str, Coefficient] = {}
    coefficients: dict[str, CategoricalCoefficients] = {}
    gammas: dict[str, Coefficient] = {}
    alignments = IndependentAlignments(parts[0])
    for path, same in _by_path(parts).items():
        largest = max(same, key=lambda part: len(part.rows))
        independent = alignments.of(largest)
        rated = LeafRatings.of(independent.part)
        by_path[path] = _independent_alpha(differences, independent, rated, by_document, seed)
        if rated and independent.aligned_by not in {"all fields", "these values"}:
            compared = side_by_side(rated, by_path[path], comparator.plan, by_document)
            coefficients |= {} if compared is None else {path: compared}
        differences.forget(largest.column)
        if isinstance(largest.column, ListColumn) and largest.alignments:
            gammas[path] = gamma_of_lists(largest, largest.column, by_document, seed=seed)
    return StructuralAgreement(
        alpha=by_path[""],
        by_path=by_path,
        coefficients=coefficients,
        gamma=gammas,
        annotators=tuple(sorted(annotations)),
        documents=len(parts[0].rows),
        exact=all(alignment.exact for part in parts for alignment in part.alignments),
        notes=(*notes_of(by_path, coefficients), *level_notes(parts), *token_notes(leaf_values(parts))),
    )


def alpha_of_documents(plan: Plan, documents: AlignedRows) -> Coefficient:
    """Return alpha of whole documents, with the distance of the schema.

    Args:
        plan: The compiled schema.
        documents: The first element of the result of `align_documents`.
    """
    return _alpha(Differences("d", plan.certificate.symmetric), documents, LeafRatings.of(documents), None, seed=0)


def _independent_alpha(
    differences: Differences,
    independent: IndependentRows,
    rated: LeafRatings | None,
    by_document: ByDocument,
    seed: int,
) -> Coefficient:
    """Return the alpha that fits the kind of the values, and states what their items are aligned by.

    Args:
        differences: Compares values that are not rated.
        independent: The values, aligned without looking at them if possible.
        rated: The values as ratings; None if their distance fits no level of measurement.
        by_document: Adds the interval and the local expected agreement.
        seed: Random seed of the samples.
    """

    def observed(part: AlignedRows) -> float | None:
        ratings = LeafRatings.of(part)
        return observed_agreement(differences, part) if ratings is None else ratings.observed()

    chance = independent.chance(observed, seed)
    alpha = _alpha(differences, independent.part, rated, by_document, seed, chance)
    if independent.aligned_by == "these values":
        reason = "The items are aligned by these values, so the values always agree."
        alpha = replace(alpha, value=None, reason=reason, interval=None, local=None)
    return replace(alpha, aligned_by=independent.aligned_by)


def _alpha(  # noqa: PLR0917
    differences: Differences,
    part: AlignedRows,
    rated: LeafRatings | None,
    by_document: ByDocument | None,
    seed: int,
    chance: ShuffledChance | None = None,
) -> Coefficient:
    """Return the alpha that fits the kind of the values.

    Args:
        differences: Compares values that are not rated.
        part: The values.
        rated: The values as ratings; None if their distance fits no level of measurement.
        by_document: Adds the interval and the local expected agreement; None adds nothing.
        seed: Random seed of the samples.
        chance: The expected agreement, instead of that of pooled values.
    """
    if rated is not None:
        return rated.alpha(by_document, chance)
    most = MAX_VALUE_PAIRS if is_value(part.column) else MAX_PAIRS
    return alpha_of_rows(differences, part, by_document, seed=seed, most=most, chance=chance)


def _by_path(parts: tuple[AlignedRows, ...]) -> dict[str, list[AlignedRows]]:
    """Return the aligned values by wildcard path; a path may have values in several columns, one for each kind."""
    paths: dict[str, list[AlignedRows]] = {}
    for part in parts:
        paths.setdefault(part.path, []).append(part)
    return paths


class AgreeKeywords(ComparatorKeywords, ReadingKeywords, total=False):
    """Options of a comparator, and options for reading documents."""


@spelled_out(*COMPARATOR, Reading)
def agree(
    schema: SchemaSource | Comparator | None,
    annotators: Annotators,
    *,
    difference: Difference = "d",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    annotations: AnnotationFormat = "auto",
    layer: str | None = None,
    **options: Unpack[AgreeKeywords],
) -> StructuralAgreement:
    """Measure the agreement of annotators, as `arbitre agree` does.

    Args:
        schema: Schema of the documents, or a comparator. For a table of ratings, the schema of one rating; None for
            unordered categories, or for spans from annotation tools.
        annotators: Sources of the documents of each annotator: folders, files or globs, or the documents themselves, as
            for `arbitre.evaluate`. Documents are joined by id. Or a table of ratings: a .csv or .tsv file with a row
            for each item and a column for each annotator. Or a file of an annotation tool that names its annotators.
        difference: Difference of two values in alpha; see `structural`.
        level: Confidence level of the intervals.
        resamples: Number of bootstrap resamples of the documents.
        seed: Random seed; see `structural`.
        annotations: Format of files of annotation tools; see `arbitre.entities.read`.
        layer: Layer of WebAnno TSV and XMI files; see `arbitre.entities.read`.
        **options: Options of the comparator, and for reading documents.

    Returns:
        The agreement on whole documents and at each path.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A document cannot be read, an annotator has no documents or two documents with the same id, or no
            document has two annotators.
        OptionError: An option is unknown, its value is invalid, or `schema` is missing.
    """
    given: dict[str, Any] = dict(options)
    files = AnnotationOptions(annotations=annotations, layer=layer)
    comparator, sources, reading = prepare(schema, annotators, files, given)
    read = annotations_of(comparator, sources, reading, files)
    found = structural(comparator, read.documents, difference=difference, level=level, resamples=resamples, seed=seed)
    return replace(found, notes=(*read.notes, *found.notes))


def prepare(
    schema: SchemaSource | Comparator | None, annotators: Annotators, files: AnnotationOptions, options: dict[str, Any]
) -> tuple[Comparator, Annotators, ReadOptions]:
    """Return the comparator, the sources by annotator and the read options, given the arguments of `agree`.

    The options of the comparator are removed from `options`. Raises the same errors as `agree`.
    """
    sources = annotation_sources(annotators, files)
    comparator = take_comparator(schema_of(schema, sources, files), options)
    reading, _ = option_sets(options, ReadingKeywords)
    return comparator, sources, reading


class Annotations(NamedTuple):
    """The documents of each annotator by id, notes on what was left out, and (id, prediction) pairs of each system."""

    documents: dict[str, dict[str, Json]]
    notes: tuple[str, ...] = ()
    predictions: Mapping[str, Sequence[tuple[str, Json]]] = {}


def schema_of(schema: Any, annotators: Annotators, files: AnnotationOptions) -> Any:  # noqa: ANN401  (a schema)
    """Return the schema; by default, that of spans for files of annotation tools, or that of ratings.

    Raises:
        OptionError: No schema is given for documents.
    """
    if schema is None and isinstance(annotators, Mapping):
        paths = [path for sources in annotators.values() for path in expand_globs(paths_in(sources))]
        if paths and has_spans(paths[0], files):
            return dict(SPANS)
    return schema_of_ratings(schema, annotators)


def annotation_sources(annotators: Annotators, files: AnnotationOptions) -> Annotators:
    """Return the sources by annotator.

    If a file of an annotation tool names its annotators, they are read from the file.

    Raises:
        DataError: A file of an annotation tool cannot be read.
        OptionError: The annotators are neither a mapping nor a file, or the sources of one annotator are neither paths
            nor documents.
    """
    if isinstance(annotators, Mapping):
        return {name: listed(name, sources) for name, sources in annotators.items()}
    if not isinstance(annotators, (str, Path)):
        raise OptionError.of(
            f"Expected `annotators` to be a dictionary or a file, got {type(annotators).__name__}.",
            hint="Pass a dictionary with the name of each annotator as key and the documents as value.",
        )
    if not has_spans(str(annotators), files):
        return annotators
    return annotators_in(annotators, files)


def annotations_of(
    comparator: Comparator, annotators: Annotators, reading: ReadOptions, files: AnnotationOptions
) -> Annotations:
    """Read the documents of annotators, or a table of ratings; see `agree`."""
    options = reading.for_plan(comparator.plan)
    if isinstance(annotators, Mapping):
        return read_annotations(annotators, options, files)
    return Annotations(read_rating_table(annotators, options, comparator.plan))


def read_annotations(
    annotators: Mapping[str, Paths | Documents],
    options: ReadOptions,
    files: AnnotationOptions,
    systems: Mapping[str, Paths | Documents] | None = None,
) -> Annotations:
    """Read the documents of each annotator, by id, and the predictions of systems.

    The documents of annotation tools have a list `spans`. Predictions that cannot be read are left out.

    Raises:
        DataError: A document of an annotator or a whole source cannot be read, or an annotator has no documents or two
            documents with the same id.
    """
    sides = [*annotators.items(), *(systems or {}).items()]
    taken = [(*side, given) for side, given in zip(sides, taken_from_memory(sides, options.id_key), strict=True)]
    spans, number = span_documents(annotators, files), len(annotators)
    documents, notes = spans or (
        {name: _documents(name, each, given, _side(each, options)) for name, each, given in taken[:number]},
        [],
    )
    for name, own in documents.items():
        if not own:
            raise DataError.of(
                f"Expected documents from each annotator, got none from {name!r}",
                hint="Check that no files of this annotator are missing, or leave the annotator out.",
            )
    predictions = {
        name: [(item.id, item.value) for item in _records(name, each, given, options) if isinstance(item, Record)]
        for name, each, given in taken[number:]
    }
    return Annotations(documents, tuple(notes), predictions)


def _records(
    name: str, sources: Paths | Documents, taken: InMemory | None, options: ReadOptions
) -> Iterator[Record | Failure]:
    """Return the records of an annotator or a system from its sources, or from its documents in memory."""
    reader = Reader.of("predicted", options)
    return reader.records(paths_in(sources)) if taken is None else taken.records(reader, name)


def _side(sources: Paths | Documents, options: ReadOptions) -> ReadOptions:
    """Return the options that read the documents of an annotator.

    If `gold_key` or `predicted_key` is set, it is the column or key of the documents; the same holds for the sheets of
    workbooks. Otherwise, the documents of a table are in the column `predicted`, or else in the column `gold`.
    """
    options = replace(options, predicted_sheet=options.predicted_sheet or options.gold_sheet)
    defaults = ReadOptions.predicted_key, ReadOptions.gold_key
    given = [key for key in (options.gold_key, options.predicted_key) if key not in defaults]
    if given:
        return replace(options, predicted_key=given[0])
    from arbitre.inputs.data_frames import ParquetTable  # noqa: PLC0415  (an extra)

    tables = [Path(name) for name in expand_globs(paths_in(sources)) if split_name(Path(name))[1] == TABLE]
    columns = {name for table in tables for name in ParquetTable(table).columns}
    first, second = options.predicted_key, options.gold_key
    return replace(options, predicted_key=second if second in columns and first not in columns else first)


def _documents(name: str, sources: Paths | Documents, taken: InMemory | None, options: ReadOptions) -> dict[str, Json]:
    """Return the documents of the annotator `name`, by id; for errors, see `read_annotations`."""
    documents: dict[str, Json] = {}
    for record in _records(name, sources, taken, options):
        if isinstance(record, Failure):
            raise DataError.of(record.reason, pointer=record.pointer, file=record.file, line=record.line)
        value = record.value
        other = options.gold_key
        if isinstance(value, dict) and value.keys() == {other} and other not in options.field_kinds:
            value = value[other]
        if record.id in documents:
            raise DataError.of(
                f"{name!r} annotated the document {record.id!r} twice",
                file=record.file,
                hint="Give each annotator, or each run, its own name.",
            )
        documents[record.id] = value
    return documents
