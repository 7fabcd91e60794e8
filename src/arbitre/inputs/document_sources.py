"""Reads documents of one side, for example to check gold or infer a schema, and single documents."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arbitre.errors import DataError
from arbitre.inputs.csv_table import ColumnTypes, CsvTable
from arbitre.inputs.data_frames import CONVERT_FRAME, DataFrame
from arbitre.inputs.document_ids import RUN, label
from arbitre.inputs.open_files import STDIN, expand_globs, split_name
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.reader import CELLS, LINES, TABLE, Reader
from arbitre.inputs.records import Failure, Record, Side
from arbitre.parsing import strict_json
from arbitre.parsing.json_form import json_form
from arbitre.values import ABSENT, MAX_BYTES, Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.schema import Plan
    from arbitre.values import Json


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
    yield from Reader.of(side, reading if plan is None else reading.for_plan(plan)).records(source)


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
