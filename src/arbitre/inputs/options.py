"""Options for reading documents, and the functions that read them from any source."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from arbitre.errors import DataError, OptionError
from arbitre.inputs.csv_table import ColumnTypes, CsvTable
from arbitre.inputs.data_frames import CONVERT_FRAME, DataFrame, FrameTable
from arbitre.inputs.document_ids import RUN, FileNamePattern, label, normalized_id
from arbitre.inputs.open_files import STDIN, expand_globs, source_names, split_name
from arbitre.inputs.reader import CELLS, LINES, TABLE, Reader
from arbitre.inputs.records import Failure, Record, Side
from arbitre.parsing import damaged_json, strict_json
from arbitre.parsing.json_form import json_form
from arbitre.signature import Signature
from arbitre.values import ABSENT, MAX_BYTES, Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.inputs.data_frames import ParquetTable
    from arbitre.inputs.projection import Projection
    from arbitre.schema import Plan
    from arbitre.values import Json


NO_PREDICTION: Final = "no prediction"
"""Reason of the failure if a gold document has no prediction."""


def no_gold(gold_key: str, predicted_key: str) -> str:
    """Return the reason of the failure if a record contains no gold document."""
    return f"Expected a record to contain {gold_key!r} and {predicted_key!r}, got no {gold_key!r}"


class RecordPair(NamedTuple):
    """Gold and prediction that come from one record of a source.

    Attributes:
        gold: The gold document, or the failure of the record.
        predicted: The prediction; None if the record failed.
        factors: Values of the other columns of a manifest.
    """

    gold: Record | Failure
    predicted: Record | Failure | None
    factors: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options for reading documents."""

    # from arbitre.options: Reading
    id_key: str = "id"
    """Key that contains the id of a record."""
    id_pattern: str | None = None
    """Regular expression that extracts the id from a file name. The id is the group named id if there is one, else
    the first group, else the whole match."""
    normalize_ids: bool = False
    """Treat ids that differ only in case, Unicode form or file extension as equal."""
    gold_key: str = "gold"
    """Key or column that contains the gold document of a record."""
    predicted_key: str = "predicted"
    """Key or column that contains the prediction of a record."""
    gold_sheet: str | None = None
    """Sheet of an Excel workbook that contains gold. None means the first sheet."""
    predicted_sheet: str | None = None
    """Sheet of an Excel workbook that contains predictions. None means the first sheet."""
    project: Projection | None = None
    """JMESPath expressions that transform gold documents and predictions before comparison."""
    lenient: bool = False
    """Repair predictions that are not valid JSON, and list the repairs."""
    repair_structure: bool = False
    """With `lenient`, also accept repairs that move or drop keys."""
    max_depth: int = 512
    """Maximum nesting depth of lists and objects in a document."""
    # end of the options
    texts: bool = False
    """Whether the schema allows a text as the document; see `for_plan`. If not, lenient reading replaces a prediction
    that is a text by the JSON in it."""
    untyped: bool = False
    """Whether the schema allows any document; see `for_plan`. If so, lenient reading keeps a prediction that is a text
    if gold is a text as well."""
    field_kinds: Mapping[str, frozenset[Kind]] = field(default_factory=dict)
    """Kinds of the fields of a document by name, to read the cells of CSV files; see `for_plan`. Cells of other fields
    are texts."""
    drop_nulls: bool = False
    """Whether to leave out the null fields of structs in Parquet files."""

    def records(
        self, sources: str | Path | Iterable[str | Path], side: Side, *, wrapped: bool = True
    ) -> Iterator[Record | Failure]:
        """Yield the documents of one side, source by source: files by name, lines and items in their order.

        A source is one of:

        * a folder: each `<id>.json` file directly in it is one document. `id_pattern` is searched in the file name
          without `.json`. The id is its group `id`, else its first group, else the whole match. The run is its group
          `run`, if any;
        * `.jsonl`, `.ndjson`: one record per line;
        * `.json` with an array: one record per item;
        * `.json` with any other value: one document. Its id is the value of `id_key`, else the file name;
        * `.parquet`: one record per row, with the document in the column named after the side;
        * `.csv`, `.tsv`: one record per row, with a column for each field;
        * `-`: standard input, as JSON or JSON lines;
        * a glob: all files that match.

        A record has its id (a string or an integer) under `id_key` and optionally its run under `run`; neither is part
        of the value. `.gz` and `.zst` files are decompressed. Lines and rows are read one by one; an array is read into
        memory. An invalid document is yielded as a Failure.

        Args:
            sources: The sources: paths, globs or "-".
            side: Side of the documents.
            wrapped: Whether a record may contain the document under the key of its side. If not, each record is
                itself a document.

        Raises:
            DataError: A whole source cannot be read.
        """
        reader = replace(self.reader(side), wrapped=wrapped)
        given = source_names(sources)
        for name, matched in given:
            yield from reader.source(name, alone=len(given) == 1, matched=matched)

    def rows(self, sources: str | Path | Iterable[str | Path] | DataFrame) -> Iterator[RecordPair]:
        """Yield records that contain both sides: `{"id": ..., "gold": ..., "predicted": ...}`.

        A data frame has a column for each side.

        Raises:
            DataError: A whole source cannot be read.
        """
        whole = replace(self, lenient=False, repair_structure=False, project=None).reader("gold")
        whole = replace(whole, wrapped=False)
        gold, predicted = self.reader("gold"), self.reader("predicted")
        if isinstance(sources, DataFrame):
            yield from _table_rows(FrameTable(sources), gold, predicted)
            return
        names = list(expand_globs(sources))
        for name in names:
            if split_name(Path(name))[1] in CELLS:
                raise DataError.of(
                    "Expected records that contain both documents, got a CSV file",
                    file=name,
                    hint="For a table of file names, use --manifest. For tables of documents, use --gold and "
                    "--predicted.",
                )
            if split_name(Path(name))[1] == TABLE:
                from arbitre.inputs.data_frames import ParquetTable  # noqa: PLC0415  (an extra)

                yield from _table_rows(ParquetTable(Path(name)), gold, predicted)
            else:
                items = whole.source(name, alone=len(names) == 1)
                yield from (_row(item, gold, predicted) for item in items)

    def ids(self, given: Iterable[str | int]) -> frozenset[str]:
        """Return ids as texts, in the form in which they are compared."""
        return frozenset(normalized_id(str(one)) if self.normalize_ids else str(one) for one in given)

    def reader(self, side: Side) -> Reader:
        """Return the reader of one side.

        Raises:
            DataError: An extra is not installed.
            OptionError: `id_pattern` is invalid, or `repair_structure` is set without `lenient`.
        """
        if self.repair_structure and not self.lenient:
            raise OptionError.of("`repair_structure` requires `lenient`", hint="Set `lenient`, or leave it out.")
        if self.lenient:
            damaged_json.version()
        return Reader(
            side,
            self.id_key,
            column=self.gold_key if side == "gold" else self.predicted_key,
            names=FileNamePattern.of(self.id_pattern),
            max_depth=self.max_depth,
            expression=getattr(self.project, side, None),
            lenient=self.lenient and side == "predicted",
            repair_structure=self.repair_structure,
            texts=self.texts,
            field_kinds=self.field_kinds,
            drop_nulls=self.drop_nulls,
            normalize_ids=self.normalize_ids,
            sheet=self.gold_sheet if side == "gold" else self.predicted_sheet,
        )

    def for_plan(self, plan: Plan) -> Self:
        """Return the options for documents of a schema.

        Lenient reading keeps texts if the schema allows them, and the cells of CSV files are read as the kinds that the
        schema declares.
        """
        return replace(self, texts=plan.allows_text, untyped=plan.expected is None, field_kinds=plan.field_kinds)

    def signed(self, plan: Plan) -> Plan:
        """Return the plan with the reading options that can change scores added to its signature."""
        entries = dict(plan.signature.entries)
        if self.lenient:
            entries["lenient"] = f"json-repair {damaged_json.version()}" + ", structure" * self.repair_structure
        if self.project is not None:
            entries |= self.project.signature
        return replace(plan, signature=Signature.of(entries, plan.signature.version))


def _row(item: Record | Failure, gold: Reader, predicted: Reader) -> RecordPair:
    """Split a record that contains both sides."""
    if isinstance(item, Failure):
        return RecordPair(item, None)
    sides: list[Record | Failure | None] = []
    for reader in (gold, predicted):
        if isinstance(item.value, dict) and reader.column in item.value:
            place = item.place and item.place._replace(member=reader.column)
            sides.append(reader.finished(replace(item, value=item.value[reader.column], place=place)))
        else:
            sides.append(None)
    return RecordPair(sides[0] or _no_gold(item, gold, predicted), sides[1] or _no_prediction(item))


def _table_rows(table: ParquetTable | FrameTable, gold: Reader, predicted: Reader) -> Iterator[RecordPair]:
    """Yield the rows of a table that has a column for each side."""
    path = table.path
    for row in table.rows(gold.id_key, [gold.column, predicted.column]):
        labels = gold.labels(row.id, row.run, str(path), row.number)
        if isinstance(labels, Failure):
            yield RecordPair(labels, None)
            continue
        item = Record(*labels, None, str(path), row.number)
        sides = [
            reader.cell(text, labels, path, row.number)
            for reader, text in zip((gold, predicted), row.texts, strict=True)
        ]
        yield RecordPair(sides[0] or _no_gold(item, gold, predicted), sides[1] or _no_prediction(item))


def _no_gold(item: Record, gold: Reader, predicted: Reader) -> Failure:
    reason = no_gold(gold.column, predicted.column)
    return Failure("gold", item.id, item.run, item.file, item.line, reason=reason)


def _no_prediction(item: Record) -> Failure:
    return Failure("predicted", item.id, item.run, item.file, item.line, reason=NO_PREDICTION)


# Gold on its own, such as documents to check or to infer a schema from; and single documents.


Gold = str | Path | Mapping[str, Any] | Iterable[Any]
"""A source, documents by id, or an iterable of sources, documents or (id, document) pairs."""


def gold_records(
    gold: Gold, id_key: str, plan: Plan | None = None, side: Side = "gold", *, drop_nulls: bool = False
) -> Iterator[Record | Failure]:
    """Yield documents as records; see `arbitre.Comparator.check_gold`. Raises DataError if a source cannot be read.

    With `drop_nulls`, the null fields of structs in Parquet files are left out.
    """
    for number, item in enumerate(gold_items(gold)):
        if isinstance(item, (str, Path)):
            for source in expand_globs(item):
                yield from source_records(source, id_key, plan, side, drop_nulls=drop_nulls)
        else:
            identity, value = split_pair(item)
            yield Record(str(number) if identity is ABSENT else label(identity, (id_key,)), None, json_form(value), "")


def gold_items(gold: Gold) -> list[Any]:
    """Return paths, documents and (id, document) pairs as a list.

    Raises:
        DataError: Gold is a data frame, or a single document.

    >>> gold_items("gold.jsonl"), gold_items({"a": {"name": "Ada"}})
    (['gold.jsonl'], [('a', {'name': 'Ada'})])
    """
    if isinstance(gold, (str, Path)):
        return [gold]
    if isinstance(gold, Mapping) and not any(kind_of(json_form(one)).scalar for one in gold.values()):
        return list(gold.items())
    if isinstance(gold, DataFrame):
        raise DataError.of(
            "Expected documents or paths, got a data frame",
            hint=CONVERT_FRAME,
        )
    if isinstance(gold, Mapping) or hasattr(type(gold), "__pydantic_serializer__") or not isinstance(gold, Iterable):
        raise DataError.of(
            "Expected several documents, got a single one",
            hint="Put it in a list. In a dictionary of documents by id, each document is an object or a list.",
        )
    return list(gold)


def split_pair(item: Any) -> tuple[Any, Any]:  # noqa: ANN401  (any document)
    """Return the id and the document of an item of a list; the id is ABSENT if the item is a document.

    A tuple is an (id, document) pair; a named tuple is a document.

    Raises:
        DataError: A tuple does not consist of two values.

    >>> split_pair(("a", {"name": "Ada"})), split_pair(["Ada", "Bo"])
    (('a', {'name': 'Ada'}), (ABSENT, ['Ada', 'Bo']))
    """
    if type(item) is not tuple:
        return ABSENT, item
    if len(item) != 2:  # noqa: PLR2004  (an id and a document)
        raise DataError.of(
            f"Expected (id, document) pairs, got a tuple of length {len(item)}",
            hint="If the document is an array, pass it as a Python list, not as a tuple.",
        )
    return json_form(item[0]), item[1]


def readable_records(source: str, id_key: str) -> Iterator[Record]:
    """Yield the records of a source. Raises DataError at the first one that cannot be read."""
    for record in source_records(source, id_key):
        if not isinstance(record, Record):
            raise DataError.of(record.reason, file=record.file, line=record.line, pointer=record.pointer)
        yield record


def source_records(
    source: str | Path, id_key: str, plan: Plan | None = None, side: Side = "gold", *, drop_nulls: bool = False
) -> Iterator[Record | Failure]:
    """Read the documents of a source. An array in a `.json` file is one document, unless all its items have ids.

    Args:
        source: Path, glob or "-".
        id_key: Key of the id of a record.
        plan: Schema of the documents, to read the cells of CSV files; without it, columns of integers are numbers and
            all other cells are texts.
        side: Side of the documents, "gold" or "predicted".
        drop_nulls: Whether to leave out the null fields of structs in Parquet files.

    Raises:
        DataError: The whole source cannot be read.
    """
    path = Path(source)
    if path.suffix.lower() == ".json" and path.is_file():
        value = strict_json.load(path)
        labelled = isinstance(value, list) and all(isinstance(item, dict) and id_key in item for item in value)
        if not labelled and not isinstance(value, dict):
            yield Record(path.stem, None, value, str(source))
            return
    reading = ReadOptions(id_key=id_key, drop_nulls=drop_nulls)
    if plan is None:
        for _, types in column_types([source], id_key):
            reading = replace(reading, field_kinds={name: frozenset({Kind.NUMBER}) for name in types.integers})
    yield from (reading if plan is None else reading.for_plan(plan)).records(source, side)


def column_types(gold: Iterable[Any], id_key: str) -> Iterator[tuple[str, ColumnTypes]]:
    """Yield the CSV files among sources, and what the cells of their columns have in common. Raises DataError."""
    for item in gold:
        for source in expand_globs(item) if isinstance(item, (str, Path)) else ():
            if split_name(Path(source))[1] in CELLS:
                yield source, ColumnTypes.of(CsvTable(Path(source), (), ""), (id_key, RUN))


def is_corpus(source: str | Path) -> bool:
    """Return whether a source is a folder, or a file that contains one record per line or row."""
    path = Path(source)
    return str(source) != STDIN and (path.is_dir() or split_name(path)[1] in {*LINES, *CELLS, TABLE})


def read_document(source: str | Path, max_depth: int = strict_json.MAX_DEPTH) -> Json:
    """Read a document from a file or from standard input (`-`). Raises DataError if it cannot be read."""
    if str(source) != STDIN:
        return strict_json.load(Path(source), max_depth=max_depth, max_bytes=MAX_BYTES)
    text = sys.stdin.buffer.read(MAX_BYTES + 1)
    strict_json.check_size(text, file="<stdin>")
    return strict_json.parse(text, file="<stdin>", max_depth=max_depth)
