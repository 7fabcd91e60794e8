"""Reads a table of ratings: a row for each item, a column for each annotator."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from arbitre.corpus.reading.csv_table import CsvTable, cell_value
from arbitre.corpus.reading.reader import CELLS
from arbitre.corpus.reading.sources import split_name
from arbitre.errors import DataError, OptionError

if TYPE_CHECKING:
    from arbitre.corpus.reading.options import ReadOptions
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

_Schema = TypeVar("_Schema")

RATINGS: Final[Mapping[str, Json]] = {"x-arbitre": {"distance": "exact"}}
"""Schema of a table of ratings if none is given: unordered categories."""


def schema_of(schema: _Schema | None, annotators: Mapping[str, object] | str | Path) -> _Schema | dict[str, Json]:
    """Return the schema; by default, the schema of categories for a table of ratings.

    Raises:
        OptionError: No schema is given for documents.
    """
    if schema is not None:
        return schema
    if isinstance(annotators, Mapping):
        raise OptionError.of("`schema` is required, except for a table of ratings.")
    return dict(RATINGS)


def is_rating_table(path: str | Path) -> bool:
    """Return whether a file name is that of a table."""
    return split_name(Path(path))[1] in CELLS


def read_rating_table(path: str | Path, options: ReadOptions, plan: Plan) -> dict[str, dict[str, Json]]:
    """Read a table of ratings. An empty cell is a missing rating.

    Args:
        path: A .csv or .tsv file. The column of the id, if there is one, is not an annotator; without it, the id of
            an item is its line number.
        options: Options for reading documents; only `id_key` and `max_depth` matter.
        plan: The compiled schema of a rating.

    Returns:
        The ratings of each annotator, by item.

    Raises:
        DataError: The file is not a table, or an item occurs twice.
    """
    if not is_rating_table(path):
        raise DataError.of(
            f"Expected NAME=PATH, or a .csv or .tsv table with a column for each annotator, got {str(path)!r}"
        )
    table, key = CsvTable(Path(path), (), ""), options.id_key
    kinds = plan.sites[0].declared
    ratings: dict[str, dict[str, Json]] = {name: {} for name in table.columns if name != key}
    items = set()
    for line, row in table.rows():
        if isinstance(row, str):
            raise DataError.of(row, file=str(path), line=line)
        item = row.get(key, str(line))
        if item in items:
            raise DataError.of(f"The item {item!r} occurs twice", file=str(path), line=line)
        items.add(item)
        for name, rated in ratings.items():
            if row[name]:
                rated[item] = cell_value(row[name], kinds, options.max_depth)
    return ratings
