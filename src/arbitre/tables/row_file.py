"""Files of tables with many rows, written part by part: CSV, or Parquet for large tables.

A table is one file, never two. Parquet files are about five times smaller than CSV, and can be read column by column.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from arbitre.errors import unreadable
from arbitre.parsing.csv_rows import csv_reader
from arbitre.storage.files import unwritable
from arbitre.tables import arrow
from arbitre.tables.csv_text import FORMULA, STANDARD, CsvDialect, cell, csv_writer, points, read_cells, unescaped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from arbitre.tables.arrow import Frame, Values

Form: TypeAlias = Literal["csv", "parquet"]

FORMS: Final[tuple[Form, ...]] = ("csv", "parquet")
"""Formats of the file of a table, which are also its suffixes."""

MAX_CSV_ROWS: Final = 100_000
"""Number of rows above which a table is written as Parquet if pyarrow is installed, unless CSV is requested."""

ROW_GROUP_BYTES: Final = 1 << 24
"""Approximate size in CSV of the rows that are written to Parquet together."""

_NUMBERS: Final = frozenset({"mass", "distance", "quality", "cost", "in_source"})
"""Last parts of the names of columns of numbers; all other columns are text."""

_FORMULA: Final = f"^'('*[{re.escape(''.join(FORMULA))}])"
"""Pattern of the texts that `cell` escapes, as `unescaped` recognises them."""


def is_number(name: str) -> bool:
    """Return whether a column contains numbers.

    >>> is_number("name.quality"), is_number("name.gold")
    (True, False)
    """
    return name.rpartition(".")[2] in _NUMBERS


class EncodedRows(NamedTuple):
    """Rows of a table as CSV, without a byte-order mark, and their number."""

    text: bytes
    number: int


class RowFile:
    """Writes a table part by part, given its rows as CSV. A context manager: the file is complete when it ends.

    The file is CSV up to `MAX_CSV_ROWS` rows. With more rows, it becomes Parquet, if pyarrow is installed.
    """

    def __init__(
        self, stem: Path, columns: Sequence[str], dialect: CsvDialect = STANDARD, form: Form | None = None
    ) -> None:
        """Open a temporary file beside the file of the table.

        Args:
            stem: The file without its suffix.
            columns: Names of the columns.
            dialect: Notation of CSV.
            form: The format; None to choose it by the number of rows.
        """
        self._stem, self._dialect = stem, dialect
        self._kinds: dict[str, type] = {name: float if is_number(name) else str for name in columns}
        self._form: Form | None = form if form is not None or arrow.is_installed() else "csv"
        self._rows = 0
        self._buffer = bytearray()
        self._csv = self._part("csv").open("wb")
        self._parquet: Any = None

    def __enter__(self) -> Self:
        if self._form == "parquet":
            self._to_parquet()
        else:
            self._csv.write(self._head())
        return self

    def write(self, rows: EncodedRows) -> None:
        """Append rows; they must have the CSV dialect of the file."""
        self._rows += rows.number
        if self._form is None and self._rows > MAX_CSV_ROWS:
            self._to_parquet()
        if self._parquet is None:
            self._csv.write(rows.text)
            return
        self._buffer += rows.text
        if len(self._buffer) > ROW_GROUP_BYTES:
            self._flush()

    @property
    def name(self) -> str:
        """Name of the file."""
        return f"{self._stem.name}.{'csv' if self._parquet is None else 'parquet'}"

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if error is None:
                if self._parquet is not None:
                    self._flush()
                self._close()
                path = self._stem.with_name(self.name)
                path.with_name(f"{path.name}.part").replace(path)
        except OSError as failed:
            raise unwritable(self._stem.with_name(self.name), failed) from failed
        finally:
            self._close()
            for form in FORMS:
                self._part(form).unlink(missing_ok=True)

    def _close(self) -> None:
        self._csv.close()
        if self._parquet is not None:
            self._parquet.close()

    def _part(self, form: Form) -> Path:
        return self._stem.with_name(f"{self._stem.name}.{form}.part")

    def _head(self) -> bytes:
        file = io.StringIO()
        csv_writer(file, self._dialect).writerow(map(cell, self._kinds))
        return file.getvalue().encode()

    def _to_parquet(self) -> None:
        """Switch to Parquet, and copy the rows of the CSV file."""
        self._form = "parquet"
        self._csv.close()
        part = self._part("csv")
        self._buffer += part.read_bytes()[len(self._head()) :]
        part.unlink()
        self._parquet = arrow.parquet_writer(self._part("parquet"), self._kinds)

    def _flush(self) -> None:
        """Write the buffered rows as a row group."""
        if self._buffer:
            dialect = self._dialect
            rows = self._buffer if dialect.decimal == "." else points(self._buffer.decode(), dialect).encode()
            table = arrow.read_csv_rows(rows, self._kinds, delimiter=dialect.delimiter, escaped=_FORMULA)
            self._parquet.write_table(table)
            del rows, table
            self._buffer = bytearray()
            arrow.release_memory()


def row_file(stem: Path) -> Path | None:
    """Return the file of a table, of any format; None if there is none."""
    return next((path for form in FORMS if (path := stem.with_name(f"{stem.name}.{form}")).exists()), None)


def read_rows(path: Path) -> Frame:
    """Read the file of a table as columns: numbers as floats (see `is_number`), all others as texts.

    Numbers in columns of texts are returned in JSON notation, whatever the dialect of the CSV file.

    Raises:
        DataError: The file cannot be read, or pyarrow is not installed and the file is Parquet.
    """
    if path.suffix == ".parquet":
        return arrow.read_parquet(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            dialect = CsvDialect.of(file.readline())
            file.seek(0)
            lines = file if dialect.decimal == "." else io.StringIO(points(file.read(), dialect), newline="")
            head, *rows = csv_reader(lines, dialect.delimiter)
        columns = zip(*rows, strict=True) if rows else ([] for _ in head)
        return {unescaped(name): read_column(name, cells) for name, cells in zip(head, columns, strict=True)}
    except (OSError, ValueError, csv.Error) as error:
        raise unreadable(path, error) from error


def read_column(name: str, cells: Sequence[str]) -> Values:
    """Return the cells of a column as numbers or texts, by its name."""
    if is_number(name):
        return np.array([cell or "nan" for cell in cells], dtype=np.float64)
    return read_cells(cells)
