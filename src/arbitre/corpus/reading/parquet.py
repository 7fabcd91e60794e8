"""Reads Parquet tables in batches."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.corpus.reading.document_ids import RUN
from arbitre.errors import DataError, did_you_mean
from arbitre.tables.arrow import import_pyarrow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

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

    @property
    def columns(self) -> list[str]:
        """Names of the columns. Raises DataError if pyarrow is not installed or the file cannot be read."""
        pa = import_pyarrow(self.path)
        try:
            names: list[str] = pa.parquet.read_schema(self.path).names
        except (OSError, pa.ArrowException) as error:
            raise self._unreadable(error) from error
        return names

    def rows(self, id_key: str, columns: Sequence[str]) -> Iterator[ParquetRow]:
        """Yield all rows.

        Args:
            id_key: Column of the ids.
            columns: Columns of documents. String columns contain JSON texts; other columns contain values, which are
                converted to JSON texts. Null becomes None.

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
                number = 0
                for batch in file.iter_batches(BATCH_ROWS, columns=[*labels, *columns]):
                    ids = batch.column(id_key).to_pylist()
                    runs = batch.column(RUN).to_pylist() if RUN in labels else [None] * len(ids)
                    texts = [_texts(pa.types, batch.column(name)) for name in columns]
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
            if not _plain(types, kind):
                raise DataError.of(
                    f"Expected the column {name!r} to contain JSON texts or values, got the type {kind}",
                    file=str(self.path),
                    hint="Convert dates and decimals to text, and maps to lists of objects.",
                )


BATCH_ROWS: Final = 1024
"""Number of rows decoded at once."""


def _texts(types: Any, column: Any) -> list[str | None]:  # noqa: ANN401
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    cells: list[Any] = column.to_pylist()
    return cells if _text(types, kind) else [None if cell is None else json.dumps(cell) for cell in cells]


def _text(types: Any, kind: Any) -> bool:  # noqa: ANN401
    return any(test(kind) for test in (types.is_string, types.is_large_string, types.is_string_view))


def _plain(types: Any, kind: Any) -> bool:  # noqa: ANN401
    """Return whether all values of an Arrow type can be represented in JSON."""
    if types.is_struct(kind):
        return all(_plain(types, field.type) for field in kind)
    if any(test(kind) for test in (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_dictionary)):
        return _plain(types, kind.value_type)
    scalars = (types.is_null, types.is_boolean, types.is_integer, types.is_floating)
    return _text(types, kind) or any(test(kind) for test in scalars)
