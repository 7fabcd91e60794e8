"""Reads CSV files and Excel workbooks: manifests, and tables with a document in each row."""

from __future__ import annotations

import codecs
import io
import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, time
from typing import TYPE_CHECKING, Any, Final, Self
from zipfile import BadZipFile

from arbitre.errors import DataError, did_you_mean, optional_library
from arbitre.inputs.document_ids import quote_names
from arbitre.inputs.open_files import is_compressed, open_source, split_name
from arbitre.parsing import strict_json
from arbitre.parsing.csv_rows import CsvError, csv_rows
from arbitre.parsing.dates import is_date
from arbitre.parsing.fast_json import compact
from arbitre.parsing.json_form import json_form
from arbitre.tables.csv_text import FORMULA
from arbitre.values import ABSENT, Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from arbitre.values import Json


WORKBOOK: Final = ".xlsx"
TEXT_TABLES: Final = frozenset({".csv", ".tsv"})


class CsvTable:
    """A CSV file in UTF-8, with or without a byte-order mark, whose first line contains the names of the columns.

    The delimiter is detected (see `csv_rows`). The file may be compressed. A sheet of an Excel workbook is read like a
    CSV file.

    Attributes:
        path: Path of the file.
        sheet: Name of the sheet of a workbook; None for the first.
        columns: Names of the columns.

    Raises:
        DataError: The file cannot be read, a column occurs twice, or a required column is missing.
    """

    def __init__(self, path: Path, required: Collection[str], hint: str, sheet: str | None = None) -> None:
        self.path, self.sheet = path, sheet
        with self._table() as (columns, _):
            self.columns = columns
        for name in required:
            if columns.count(name) != 1:
                raise self._refused(
                    f"Expected one column {name!r}, got {columns.count(name) or 'none'}",
                    did_you_mean(name, columns, hint),
                )
        if columns.count("") > 1:
            places = [str(place) for place, name in enumerate(columns, 1) if not name]
            message = f"Expected a name for each column, got none for the columns {', '.join(places)}"
            raise self._refused(message, "Name these columns in the first line, or remove them.")
        if repeated := [name for name, times in Counter(columns).items() if times > 1]:
            raise self._refused(
                f"Expected each column once, got several with the name {quote_names(repeated)}", "Rename one of them."
            )

    def rows(self) -> Iterator[tuple[int, dict[str, str] | str]]:
        """Yield the line and the cells by column of each row, or why it cannot be used. Raises DataError."""
        for line, cells in self.lines():
            yield line, self.by_column(cells)

    def lines(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line and the cells of each row. Raises DataError."""
        with self._table() as (_, lines):
            yield from lines

    def by_column(self, cells: list[str]) -> dict[str, str] | str:
        """Return the cells of a row by column, or why it cannot be used."""
        if len(cells) != len(self.columns):
            return f"Expected {len(self.columns)} cells, got {len(cells)}"
        return dict(zip(self.columns, cells, strict=True))

    @contextmanager
    def _table(self) -> Iterator[tuple[list[str], Iterator[tuple[int, list[str]]]]]:
        """Open the file. Yields its first row, and the line and the cells of all others that are not blank.

        Columns at the end that have no name are left out, unless a row has a value there.
        """
        if self.path.suffix.lower() == WORKBOOK:
            rows = workbook_rows(self.path, self.sheet)
            yield next(rows, (1, []))[1], rows
            return
        try:
            with open_source(self.path) as data, io.TextIOWrapper(data, encoding="utf-8-sig", newline="") as file:
                rows = csv_rows(file, suffix=split_name(self.path)[1])
                columns = next(rows, (1, []))[1]
                full = len(columns)
                while columns and not columns[-1]:
                    columns.pop()
                yield columns, ((line, _without_unnamed(cells, len(columns), full)) for line, cells in rows)
        except CsvError as error:
            raise DataError.of(
                f"Cannot read the file as CSV: {error}",
                file=str(self.path),
                hint=f"Correct the row after line {error.line}.",
            ) from error
        except UnicodeDecodeError as error:
            raise self._undecodable(error) from error

    def _undecodable(self, error: UnicodeDecodeError) -> DataError:
        """Return the error for a file that is not UTF-8; spreadsheets write Windows-1252 or UTF-16."""
        wide = error.start == 0 and error.object.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        name, code = ("UTF-16", "UTF-16") if wide else ("Windows-1252", "CP1252")
        command = (
            "" if is_compressed(self.path) else f", or convert it: iconv -f {code} -t UTF-8 {self.path} > utf8.csv"
        )
        return DataError.of(
            f"Expected CSV in UTF-8, got another encoding, probably {name}",
            file=str(self.path),
            hint=f"Save the table as CSV UTF-8{command}",
        )

    def _refused(self, message: str, hint: str | None) -> DataError:
        return DataError.of(message, file=str(self.path), line=1, hint=hint)


def _without_unnamed(cells: list[str], named: int, full: int) -> list[str]:
    """Return the first `named` cells of a row if it has `full` cells and the others are empty; otherwise all."""
    return cells if len(cells) != full or any(cells[named:]) else cells[:named]


def workbook_rows(path: Path, sheet: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each row of a sheet that is not blank, as texts.

    Formulas have the value that was saved with them. Dates are written as in ISO 8601, booleans as TRUE and FALSE.

    Args:
        path: Path of the workbook.
        sheet: Name of the sheet; None for the first.

    Raises:
        DataError: openpyxl is not installed, the file cannot be read, or it has no such sheet.
    """
    with _workbook(path) as sheets:
        if sheet is not None and sheet not in sheets:
            hint = did_you_mean(sheet, sheets)
            raise DataError.of(f"Expected the name of a sheet, got {sheet!r}", file=str(path), hint=hint)
        width = None
        chosen = next(iter(sheets.values())) if sheet is None else sheets[sheet]
        chosen.reset_dimensions()  # the stated range may be too small
        for number, row in enumerate(chosen.iter_rows(values_only=True), 1):
            cells = [_cell_text(value) for value in row]
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                width = len(cells) if width is None else width
                yield number, cells + [""] * (width - len(cells))


def sheet_note(path: Path, remedy: str) -> str | None:
    """Return a note if a workbook has several sheets, of which only the first is read. Raises DataError."""
    with _workbook(path) as sheets:
        first, *others = sheets
    if not others:
        return None
    return f"{path} has {len(sheets)} sheets; only the first, {first!r}, is read. {remedy}"


@contextmanager
def _workbook(path: Path) -> Iterator[dict[str, Any]]:
    """Open a workbook. Yields its sheets by name, in order; those without cells, such as charts, are left out."""
    with optional_library("openpyxl", "excel", "An Excel workbook"):
        import openpyxl  # noqa: PLC0415  (an extra)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            sheets = {sheet.title: sheet for sheet in book.worksheets}
            if not sheets:
                raise DataError.of("Expected a workbook with a sheet, got none", file=str(path))
            yield sheets
        finally:
            book.close()
    except (OSError, LookupError, ValueError, TypeError, AttributeError, EOFError, BadZipFile, SyntaxError) as error:
        raise DataError.of(
            f"Cannot read the file as an Excel workbook: {getattr(error, 'strerror', None) or error}",
            file=str(path),
            hint="Check the name, or save the sheet as CSV UTF-8.",
        ) from error


def _cell_text(value: Any) -> str:  # noqa: ANN401  (a value of openpyxl)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime) and value.time() == time.min:
        value = value.date()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, str) else str(json_form(value))


BOOLEANS: Final = {
    **dict.fromkeys(("TRUE", "VRAI", "WAHR", "WAAR", "VERO", "VERDADERO", "VERDADEIRO"), True),
    **dict.fromkeys(("FALSE", "FAUX", "FALSCH", "ONWAAR", "FALSO"), False),
}
"""Booleans as spreadsheet programs save them in English, French, German, Dutch, Italian, Spanish and Portuguese."""


def cell_text(value: Json) -> str:
    r"""Return the text of a value for a cell: JSON, without quotes if it reads back as the same text; "" for ABSENT.

    >>> [cell_text(value) for value in ("Ada", 403, "403", "TRUE", "", None, "=1+1", ABSENT)]
    ['Ada', '403', '"403"', '"TRUE"', '""', 'null', '"=1+1"', '']
    """
    if value is ABSENT:
        return ""
    if isinstance(value, str) and value == value.strip() and not value.startswith(FORMULA):
        try:
            if cell_value(value) == value:
                return value
        except DataError:
            pass
    return compact(value)


def cell_value(text: str) -> Json:
    """Return the value of a cell: ABSENT if it is empty, the value of its JSON, or else the text without outer spaces.

    TRUE, FALSE and the other words in `BOOLEANS` are read as booleans, because spreadsheet programs save booleans in
    this form.

    Raises:
        DataError: The text begins like a list, an object or a quoted text, and is not valid JSON.

    >>> [cell_value(text) for text in ("Ada", "403", '"403"', "TRUE", "[1, 2]", "")]
    ['Ada', 403, '403', True, [1, 2], ABSENT]
    """
    plain = text.strip()
    if not plain:
        return ABSENT
    if plain in BOOLEANS:
        return BOOLEANS[plain]
    try:
        return strict_json.parse(text)
    except DataError as error:
        if text.lstrip().startswith(('"', "[", "{")):
            hint = "Put a text that begins with a quotation mark or a bracket in double quotes, as in JSON."
            raise DataError.of(error.message, pointer=error.pointer, hint=hint) from None
        return plain


@dataclass(frozen=True, slots=True)
class ColumnTypes:
    """Types that the cells of the columns of a CSV file have in common, to infer a schema.

    Attributes:
        integers: Columns in which all cells are integers, without leading zeros.
        dates: Columns in which all cells are ISO 8601 dates such as 1931-03-01.
    """

    integers: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: CsvTable, labels: Collection[str]) -> Self:
        """Read a table. Empty cells are ignored, and the columns of `labels` are left out. Raises DataError."""
        kinds: dict[str, set[str]] = {name: set() for name in table.columns if name not in labels}
        for _, row in table.rows():
            if not isinstance(row, str):
                for name, found in kinds.items():
                    if row[name] and "text" not in found:
                        found.add(_cell_type(row[name]))
        return cls(*(tuple(name for name, found in kinds.items() if found == {kind}) for kind in ("integer", "date")))


def _cell_type(text: str) -> str:
    if _INTEGER.fullmatch(text):
        return "integer"
    return "date" if is_date(text) else "text"


_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")


def typed_value(text: str, kinds: Collection[Kind], max_depth: int) -> Json:
    """Return the value of a cell whose field may have these kinds.

    If the field has no kinds, or may be a text, the cell is a text. Any other cell is read as JSON, or as a boolean if
    it contains a word in `BOOLEANS`, in upper or lower case. A cell that is not JSON of one of the kinds stays a text.

    >>> [typed_value(text, {Kind.NUMBER, Kind.BOOLEAN}, 8) for text in ("12", "1.5", "TRUE", "faux", "12,5", "[1]")]
    [12, 1.5, True, False, '12,5', '[1]']
    """
    if not kinds or Kind.STRING in kinds:
        return text
    value: Json = BOOLEANS.get(text.upper())
    if value is None:
        try:
            value = strict_json.parse(text, max_depth=max_depth)
        except DataError:
            return text
    return value if kind_of(value) in kinds else text
