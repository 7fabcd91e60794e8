"""Write result files: atomic text files, JSON and CSV."""

from __future__ import annotations

import csv
import json
import math
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TextIO, TypeAlias

from arbitre.corpus.storage.files import atomic_file
from arbitre.corpus.storage.output_folder import output_file
from arbitre.errors import DataError, OptionError
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_NEAR: Final = 20
"""Number of characters that a message shows on either side of an error."""


@contextmanager
def atomic_text_file(path: Path) -> Iterator[TextIO]:
    """Open a text file that replaces `path` when the block ends, or is discarded if the block raises.

    For the files of an `output_folder`.

    Raises DataError if it cannot be written, or if a text for it has a lone surrogate, such as a file name that is not
    Unicode.
    """
    with _unicode_only(path), atomic_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file


@contextmanager
def output_text_file(path: Path) -> Iterator[TextIO]:
    """Open a single text file like `atomic_text_file`. It replaces only a file that arbitre wrote (`output_file`)."""
    with _unicode_only(path), output_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file


@contextmanager
def _unicode_only(path: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeEncodeError as error:
        near = error.object[max(error.start - _NEAR, 0) : error.end + _NEAR]
        raise DataError.of(
            f"Expected Unicode text, got the lone surrogate {error.object[error.start]!r} in {near!r}",
            file=str(path),
            hint="Rename the file, or correct the id or the text.",
        ) from error


class _Lines(NamedTuple):
    r"""File wrapper that writes "\n" for the "\r\n" of `csv.writer`.

    The terminator of the writer stays "\r\n": some Python versions quote only line breaks that occur in it.
    """

    file: TextIO

    def write(self, line: str) -> int:
        return self.file.write(line.removesuffix("\r\n") + "\n")


CsvDialectName: TypeAlias = Literal["standard", "excel-fr"]


class CsvDialect(NamedTuple):
    """Notation of CSV files: the delimiter, the decimal mark, and whether a byte-order mark precedes the text."""

    delimiter: str = ","
    decimal: str = "."
    mark: bool = False

    @classmethod
    def named(cls, name: CsvDialectName) -> CsvDialect:
        """Return the dialect of this name. Raises OptionError if there is none.

        >>> CsvDialect.named("excel-fr")
        CsvDialect(delimiter=';', decimal=',', mark=True)
        """
        if name not in _DIALECTS:
            raise OptionError.of(f"Expected `csv_dialect` to be one of {', '.join(_DIALECTS)}, got {name!r}.")
        return _DIALECTS[name]

    @classmethod
    def of(cls, head: str) -> CsvDialect:
        """Return the dialect of a file of several columns by its first line, which names the column `id` first."""
        known = (dialect for dialect in _DIALECTS.values() if head.startswith(f"id{dialect.delimiter}"))
        return next(known, STANDARD)


STANDARD: Final = CsvDialect()
_DIALECTS: Final[Mapping[str, CsvDialect]] = {
    "standard": STANDARD,
    "excel-fr": CsvDialect(delimiter=";", decimal=",", mark=True),
}


def csv_writer(file: TextIO, dialect: CsvDialect = STANDARD) -> Any:  # noqa: ANN401  (`csv` has no public type for it)
    r"""Return a CSV writer that preserves line breaks in cells, after writing the byte-order mark of the dialect.

    >>> import io
    >>> file = io.StringIO()
    >>> _ = csv_writer(file).writerow(["a\rb", "c"])
    >>> file.getvalue()
    '"a\rb",c\n'
    """
    if dialect.mark:
        file.write("\ufeff")
    return csv.writer(_Lines(file), delimiter=dialect.delimiter)


def json_text(value: Json) -> str:
    r"""Serialise a JSON document, indented, with a final line break.

    >>> json_text({"page": "XII, é"})
    '{\n  "page": "XII, é"\n}\n'
    """
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Prefixes of text that spreadsheets may run as a formula; the last four are full-width characters."""

_ESCAPED: Final = re.compile(f"'*[{re.escape(''.join(FORMULA))}]")
"""Matches texts that get an apostrophe: formulas, and texts that would otherwise read like an escaped formula."""


def cell(value: Json, dialect: CsvDialect = STANDARD) -> str:
    """Format a value as a CSV cell: strings unchanged, "" for None and ABSENT, other values as compact JSON.

    Only numbers have the decimal mark of the dialect, not the numbers in texts, lists and objects.

    Text that a spreadsheet would run as a formula gets a leading apostrophe, which `unescaped` removes.

    >>> [cell(value) for value in ("Ada", None, True, 0.5, {"pages": [1, 2]}, "=1+1")]
    ['Ada', '', 'true', '0.5', '{"pages":[1,2]}', "'=1+1"]
    """
    if isinstance(value, str):
        return f"'{value}" if _ESCAPED.match(value) else value
    if value is None or value is ABSENT:
        return ""
    return compact(value).replace(".", dialect.decimal) if type(value) is float else compact(value)


def unescaped(text: str) -> str:
    """Return the text of a cell without the apostrophe that `cell` puts before a formula.

    >>> [unescaped(cell(text)) for text in ("Ada", "=1+1", "'=1", "'tis")]
    ['Ada', '=1+1', "'=1", "'tis"]
    """
    return text[1:] if text.startswith("'") and _ESCAPED.match(text) else text


_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def compact(value: Json) -> str:
    """Serialise a value as JSON without whitespace."""
    if type(value) is int or (type(value) is float and math.isfinite(value)):  # fast path for most cells
        return repr(value)
    return _COMPACT.encode(value)
