"""Tables of results: columns by name, converted to Arrow, pandas and Polars on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arbitre.corpus.storage import arrow
from arbitre.errors import DataError

if TYPE_CHECKING:
    from arbitre.corpus.storage.arrow import Column, Frame


@dataclass(frozen=True, eq=False, slots=True)
class DataTable(Mapping[str, "Column"]):
    """A table of results: a mapping from column names to columns of equal length.

    Columns of numbers are arrays, in which NaN is a missing value; other columns are sequences, in which None is.

    Attributes:
        columns: Columns by name.
    """

    columns: Frame

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        rows = len(next(iter(self.columns.values()), ()))
        return f"DataTable({rows} rows, {len(self)} columns)"

    def to_arrow(self) -> Any:  # noqa: ANN401  (pyarrow is optional)
        """Return a `pyarrow.Table`; missing values are null. Raises DataError if pyarrow is not installed."""
        return arrow.to_arrow_table(self.columns)

    def to_pandas(self) -> Any:  # noqa: ANN401  (pandas is optional)
        """Return a `pandas.DataFrame`. Raises DataError if pandas is not installed."""
        try:
            import pandas as pd  # noqa: PLC0415  (optional)
        except ImportError:
            raise _not_installed("pandas") from None
        return pd.DataFrame({name: _plain(column) for name, column in self.columns.items()})

    def to_polars(self) -> Any:  # noqa: ANN401  (polars is optional)
        """Return a `polars.DataFrame`; missing values are null. Raises DataError if Polars is not installed."""
        try:
            import polars as pl  # noqa: PLC0415  (optional)
        except ImportError:
            raise _not_installed("polars") from None
        columns = {name: _plain(column) for name, column in self.columns.items()}
        texts = {name: pl.String for name, column in columns.items() if isinstance(column, list)}
        return pl.DataFrame(columns, schema_overrides=texts, nan_to_null=True)


def _plain(column: Column) -> Any:  # noqa: ANN401  (an array or a list)
    return column if isinstance(column, np.ndarray) else list(column)


def _not_installed(name: str) -> DataError:
    return DataError.of(f"{name} is not installed", hint="pip install 'arbitre[frames]'")
