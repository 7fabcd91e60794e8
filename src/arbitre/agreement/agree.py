"""Measures the agreement of annotators from files of documents or ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from arbitre.agreement.ratings import read_rating_table, schema_of
from arbitre.agreement.structural import StructuralAgreement, structural
from arbitre.comparator.comparator import ComparatorKeywords, take_comparator
from arbitre.errors import DataError
from arbitre.inputs.open_files import expand_globs, split_name
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.reader import TABLE
from arbitre.inputs.records import Failure
from arbitre.options import COMPARATOR, Reading, spelled_out
from arbitre.report.keywords import ReadingKeywords, option_sets
from arbitre.statistics.intervals import LEVEL, RESAMPLES

if TYPE_CHECKING:
    from arbitre.agreement.alpha import Difference
    from arbitre.comparator import Comparator
    from arbitre.inputs.corpus_sources import Paths
    from arbitre.schema import SchemaSource
    from arbitre.values import Json

    Annotators = Mapping[str, Paths] | str | Path
    """Sources of the documents of each annotator, or a table of ratings."""


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
    **options: Unpack[AgreeKeywords],
) -> StructuralAgreement:
    """Measure the agreement of annotators, as `arbitre agree` does.

    Args:
        schema: Schema of the documents, or a comparator. For a table of ratings, the schema of one rating; None for
            unordered categories.
        annotators: Sources of the documents of each annotator: folders, files or globs. Documents are joined by id. Or
            a table of ratings: a .csv or .tsv file with a row for each item and a column for each annotator.
        difference: Difference of two values in alpha; see `structural`.
        level: Confidence level of the intervals.
        resamples: Number of bootstrap resamples of the documents.
        seed: Random seed; see `structural`.
        **options: Options of the comparator, and for reading documents.

    Returns:
        The agreement on whole documents and at each path.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A document cannot be read, an annotator has two documents with the same id, or no
            document has two annotators.
        OptionError: An option is unknown, or `schema` is missing.
    """
    given: dict[str, Any] = dict(options)
    comparator = take_comparator(schema_of(schema, annotators), given)
    reading, _ = option_sets(given, ReadingKeywords)
    annotations = annotations_of(comparator, annotators, reading)
    return structural(comparator, annotations, difference=difference, level=level, resamples=resamples, seed=seed)


def annotations_of(comparator: Comparator, annotators: Annotators, reading: ReadOptions) -> dict[str, dict[str, Json]]:
    """Read the documents of annotators, or a table of ratings; see `agree`."""
    options = reading.for_plan(comparator.plan)
    if isinstance(annotators, Mapping):
        return {name: _documents(name, sources, _side(sources, options)) for name, sources in annotators.items()}
    return read_rating_table(annotators, options, comparator.plan)


def read_annotations(annotators: Mapping[str, Paths], options: ReadOptions) -> dict[str, dict[str, Json]]:
    """Read the documents of each annotator, by id.

    Raises:
        DataError: A document cannot be read, or an annotator has two documents with the same id.
    """
    return {name: _documents(name, sources, _side(sources, options)) for name, sources in annotators.items()}


def _side(sources: Paths, options: ReadOptions) -> ReadOptions:
    """Return the options that read the documents of an annotator.

    If `gold_key` or `predicted_key` is set, it is the column or key of the documents; the same holds for the sheets of
    workbooks. Otherwise those of a table are in
    the column `predicted`, or else in the column `gold`.
    """
    options = replace(options, predicted_sheet=options.predicted_sheet or options.gold_sheet)
    defaults = ReadOptions.predicted_key, ReadOptions.gold_key
    given = [key for key in (options.gold_key, options.predicted_key) if key not in defaults]
    if given:
        return replace(options, predicted_key=given[0])
    from arbitre.inputs.data_frames import ParquetTable  # noqa: PLC0415  (an extra)

    tables = [Path(name) for name in expand_globs(sources) if split_name(Path(name))[1] == TABLE]
    columns = {name for table in tables for name in ParquetTable(table).columns}
    first, second = options.predicted_key, options.gold_key
    return replace(options, predicted_key=second if second in columns and first not in columns else first)


def _documents(name: str, sources: Paths, options: ReadOptions) -> dict[str, Json]:
    documents: dict[str, Json] = {}
    for record in options.records(sources, "predicted"):
        if isinstance(record, Failure):
            raise DataError.of(record.reason, pointer=record.pointer, file=record.file, line=record.line)
        value = record.value
        other = options.gold_key
        if isinstance(value, dict) and value.keys() == {other} and other not in options.fields:
            value = value[other]
        if record.id in documents:
            raise DataError.of(
                f"{name!r} annotated the document {record.id!r} twice",
                file=record.file,
                hint="Give each annotator, or each run, its own name.",
            )
        documents[record.id] = value
    return documents
