"""Reads documents from data frames of pandas, Polars and Arrow."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from arbitre.corpus.reading.document_ids import RUN
from arbitre.corpus.reading.parquet import ParquetRow
from arbitre.corpus.reading.strict_json import check_value
from arbitre.errors import DataError, did_you_mean
from arbitre.parsing.json_form import json_form

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.values import Json


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
        names = list(getattr(self.frame, "column_names", None) or self.frame.columns)  # type: ignore[attr-defined]
        for name in (id_key, *columns):
            if names.count(name) != 1:
                raise DataError.of(
                    f"Expected one column {name!r}, got {names.count(name) or 'none'}",
                    hint=did_you_mean(name, names, "Set the columns with `id_key`, `gold_key` and `predicted_key`."),
                )
        ids = self._values(id_key)
        runs = self._values(RUN) if RUN in names else [None] * len(ids)
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
