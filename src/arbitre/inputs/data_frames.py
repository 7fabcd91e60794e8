"""Reads documents from Parquet files, and from data frames of pandas, Polars and Arrow."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol, runtime_checkable

from arbitre.errors import DataError, did_you_mean
from arbitre.inputs.document_ids import RUN
from arbitre.parsing.json_form import json_form
from arbitre.parsing.strict_json import check_value
from arbitre.tables.arrow import import_pyarrow
from arbitre.values import MAX_EXACT_FLOAT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arbitre.values import Json


class ParquetRow(NamedTuple):
    """One row of a table: its number (from 1), id, run, and the JSON texts of the other columns.

    In place of a text, there may be the reason why a value cannot be a document.
    """

    number: int
    id: Json
    run: Json
    texts: tuple[str | DataError | None, ...]


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """A Parquet file that is decoded in batches and never held in memory as a whole."""

    path: Path
    drop_nulls: bool = False
    """Whether to leave out the null fields of structs. If one struct in a column has a field, the others
    have it too, as null if absent."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns. Raises DataError if pyarrow is not installed or the file cannot be read."""
        pa = import_pyarrow(self.path)
        try:
            names: list[str] = pa.parquet.read_schema(self.path).names
        except (OSError, pa.ArrowException) as error:
            raise self._unreadable(error) from error
        return names

    def blocks(self, id_key: str, columns: Sequence[str], size: int) -> Iterator[tuple[range, int]]:
        """Yield blocks of consecutive row groups, each with the number of its first row, counted from 1.

        Every block except the last has at least `size` bytes: opening the file takes time proportional to the number of
        row groups, so small ones are read together. The other arguments and the errors are those of `rows`.
        """
        pa = import_pyarrow(self.path)
        try:
            with pa.parquet.ParquetFile(self.path) as file:
                self._check(pa.types, file.schema_arrow, (id_key, *columns))
                groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        except (OSError, pa.ArrowException) as error:
            raise self._unreadable(error) from error
        begin, row, length = 0, 1, 0
        rows = accumulate(group.num_rows for group in groups)
        for end, (group, read) in enumerate(zip(groups, rows, strict=True), 1):
            length += group.total_byte_size
            if length >= size or end == len(groups):
                yield range(begin, end), row
                begin, row, length = end, read + 1, 0

    def rows(
        self, id_key: str, columns: Sequence[str], groups: Sequence[int] | None = None, first: int = 1
    ) -> Iterator[ParquetRow]:
        """Yield all rows, or those of some row groups.

        Args:
            id_key: Column of the ids.
            columns: Columns of documents. String columns contain JSON texts; other columns contain values, which are
                converted to JSON texts. Null becomes None.
            groups: Numbers of the row groups; None for all.
            first: Number of the first row.

        Raises:
            DataError: pyarrow is not installed, the file cannot be read, a column is missing, or a column has a type
                without JSON equivalent.
        """
        pa = import_pyarrow(self.path)
        try:
            with pa.parquet.ParquetFile(self.path) as file:
                schema = file.schema_arrow
                self._check(pa.types, schema, (id_key, *columns))
                labels = [id_key, *[RUN] * (RUN in schema.names)]
                number = first - 1
                for batch in file.iter_batches(BATCH_ROWS, row_groups=groups, columns=[*labels, *columns]):
                    ids = _labels(batch.column(id_key).to_pylist())
                    runs = _labels(batch.column(RUN).to_pylist()) if RUN in labels else [None] * len(ids)
                    texts = [_texts(pa.types, batch.column(name), self.drop_nulls) for name in columns]
                    for cells in zip(ids, runs, zip(*texts, strict=True), strict=True):
                        number += 1
                        yield ParquetRow(number, *cells)
        except (OSError, pa.ArrowException) as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> DataError:
        return DataError.of(
            f"Cannot read the Parquet file: {error}",
            file=str(self.path),
            hint="Check the name, and whether the file is complete.",
        )

    def _check(self, types: Any, schema: Any, columns: Iterable[str]) -> None:  # noqa: ANN401  (pyarrow has no types)
        for name in columns:
            if schema.names.count(name) != 1:
                raise DataError.of(
                    f"Expected one column {name!r}, got {schema.names.count(name) or 'none'}",
                    file=str(self.path),
                    hint=did_you_mean(
                        name, schema.names, "Set the columns with --id-key, --gold-key and --predicted-key."
                    ),
                )
            kind = schema.field(name).type
            if not _plain(types, _storage(kind)):
                raise DataError.of(
                    f"Expected the column {name!r} to contain JSON texts or values, got the type {kind}",
                    file=str(self.path),
                    hint="Convert dates and decimals to text, and maps to lists of objects.",
                )


BATCH_ROWS: Final = 1024
"""Number of rows decoded at once."""


def _labels(values: Iterable[Json]) -> list[Json]:
    """Return ids or runs with floats such as 1.0 as integers: pandas stores integers as floats if one is missing."""
    return [
        int(value) if isinstance(value, float) and value.is_integer() and abs(value) < MAX_EXACT_FLOAT else value
        for value in values
    ]


def _storage(kind: Any) -> Any:  # noqa: ANN401
    """Return the type with which an extension type is stored: string for arrow.json."""
    return getattr(kind, "storage_type", kind)


def _texts(types: Any, column: Any, drop_nulls: bool) -> list[str | None]:  # noqa: ANN401, FBT001
    kind = _storage(column.type.value_type if types.is_dictionary(column.type) else column.type)
    cells: list[Any] = column.to_pylist()
    if _column_text(types, kind):
        return cells
    return [None if cell is None else json.dumps(_without_nulls(cell) if drop_nulls else cell) for cell in cells]


def _without_nulls(value: Json) -> Json:
    """Return a value without the null fields of its objects."""
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _column_text(types: Any, kind: Any) -> bool:  # noqa: ANN401
    return any(test(kind) for test in (types.is_string, types.is_large_string, types.is_string_view))


def _plain(types: Any, kind: Any) -> bool:  # noqa: ANN401
    """Return whether all values of an Arrow type can be represented in JSON."""
    if types.is_struct(kind):
        return all(_plain(types, field.type) for field in kind)
    if any(test(kind) for test in (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_dictionary)):
        return _plain(types, kind.value_type)
    scalars = (types.is_null, types.is_boolean, types.is_integer, types.is_floating)
    return _column_text(types, kind) or any(test(kind) for test in scalars)


CONVERT_FRAME: Final = "Write it to a .parquet or .csv file, or convert its rows to dictionaries."
"""Hint if documents are expected, but a data frame is given."""


@runtime_checkable
class DataFrame(Protocol):
    """A data frame: a pandas or Polars data frame, or an Arrow table."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as a stream of Arrow batches."""

    def __getitem__(self, name: str, /) -> Any:  # noqa: ANN401  (a column)
        """Return a column."""


@dataclass(frozen=True, slots=True)
class FrameTable:
    """A data frame that is read like a Parquet file."""

    frame: DataFrame
    path: ClassVar = Path("DataFrame")
    """Name of the data frame in failures, in place of a file name."""

    def rows(self, id_key: str, columns: Sequence[str]) -> Iterator[ParquetRow]:
        """Yield all rows.

        Args:
            id_key: Column of the ids.
            columns: Columns of documents. Texts are JSON texts; other values are converted to them. Missing values
                become None.

        Raises:
            DataError: A column is missing, or a value has no JSON equivalent.
        """
        names = list(getattr(self.frame, "column_names", getattr(self.frame, "columns", ())))
        hint = "Set the columns with `id_key`, `gold_key` and `predicted_key`."
        if not names:
            raise DataError.of(f"Expected a data frame with columns, got {type(self.frame).__name__}", hint=hint)
        other = [name for name in names if not isinstance(name, str)]
        for name in (id_key, *columns):
            if names.count(name) != 1:
                raise DataError.of(
                    f"Expected one column {name!r}, got {names.count(name) or 'none'}",
                    hint=f"Column names must be texts, got {other[0]!r}. Rename the columns."
                    if other
                    else did_you_mean(name, names, hint),
                )
        ids = _labels(self._values(id_key))
        runs = _labels(self._values(RUN)) if RUN in names else [None] * len(ids)
        texts = zip(*([_text(name, cell) for cell in self._values(name)] for name in columns), strict=True)
        for number, row in enumerate(zip(ids, runs, texts, strict=True), 1):
            yield ParquetRow(number, *row)

    def _values(self, name: str) -> list[Any]:
        """Return the values of a column as Python objects, with None for missing values."""
        column = self.frame[name]
        if hasattr(column, "isna"):  # pandas marks missing values in several ways
            missing = column.isna().tolist()
            return [None if gone else value for value, gone in zip(column.tolist(), missing, strict=True)]
        values: list[Any] = column.to_list() if hasattr(column, "to_list") else column.to_pylist()
        return values


def _text(name: str, cell: Json) -> str | DataError | None:
    if cell is None or isinstance(cell, str):
        return cell
    try:
        value = json_form(cell)
        check_value(value)
        return json.dumps(value)
    except DataError as error:
        return error
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError.of(
            f"Expected the column {name!r} to contain JSON texts or values: {error}",
            hint="Convert the values to JSON types first.",
        ) from None
