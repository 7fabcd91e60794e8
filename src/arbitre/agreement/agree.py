"""Agreement of annotators whose documents are in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbitre.agreement.structural import Difference, StructuralAgreement, structural
from arbitre.comparator import Comparator
from arbitre.corpus.reading.options import ReadOptions
from arbitre.corpus.reading.records import Failure
from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.corpus.joining.sources import Paths
    from arbitre.schema import SchemaSource
    from arbitre.values import Json


def agree(
    schema: SchemaSource | Comparator,
    annotators: Mapping[str, Paths],
    *,
    reading: ReadOptions | None = None,
    difference: Difference = "d",
    seed: int = 0,
) -> StructuralAgreement:
    """Measure the agreement of annotators, as `arbitre agree` does.

    Args:
        schema: Schema of the documents, or a comparator.
        annotators: Sources of the documents of each annotator: folders, files or globs. Documents are joined by id.
        reading: Options for reading.
        difference: See `structural`.
        seed: See `structural`.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A document cannot be read, an annotator has an id twice, or no document has two annotators.
    """
    comparator = schema if isinstance(schema, Comparator) else Comparator(schema)
    options = (reading or ReadOptions()).for_plan(comparator.plan)
    annotations = {name: _documents(name, sources, options) for name, sources in annotators.items()}
    return structural(comparator, annotations, difference=difference, seed=seed)


def _documents(name: str, sources: Paths, options: ReadOptions) -> dict[str, Json]:
    documents: dict[str, Json] = {}
    for record in options.records(sources, "predicted"):
        if isinstance(record, Failure):
            raise DataError.of(record.reason, pointer=record.pointer, file=record.file, line=record.line)
        if record.id in documents:
            raise DataError.of(
                f"{name!r} annotated the document {record.id!r} twice",
                file=record.file,
                hint="Give each annotator, or each run, a name of its own.",
            )
        documents[record.id] = record.value
    return documents
