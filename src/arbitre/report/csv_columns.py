"""Write CSV from columns instead of rows.

The cells are those of `text_files.cell`, formatted for a whole column at once. This halves the time of the table of
entries (flat and nested lists of 20 entries).
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final, TextIO

import numpy as np

from arbitre.report.text_files import FORMULA, STANDARD, CsvDialect, cell, compact, csv_writer
from arbitre.tally import COUNTS, OUTCOMES
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from arbitre.arrays import Floats
    from arbitre.corpus.storage.arrow import Frame

_MASSES: Final = frozenset({*COUNTS, *OUTCOMES})
"""Columns of numbers of values, or of masses."""

CHUNK_ROWS: Final = 4096
"""Number of rows of a frame that are formatted at once."""

_ESCAPED: Final = frozenset((*FORMULA, "'"))
"""First characters of texts that `cell` may change."""
_STRUCTURED: Final = frozenset({bool, int, list, dict})


def format_cells(values: Sequence[Json], dialect: CsvDialect = STANDARD) -> list[str]:
    """Format a column of values, each as `cell` does.

    >>> format_cells(["Ada", None, "=1+1", [1, "é"]])
    ['Ada', '', "'=1+1", '[1,"é"]']
    """
    present = [value for value in values if value is not None and value is not ABSENT]
    if len(present) < len(values):
        texts = iter(format_cells(present, dialect))
        return ["" if value is None or value is ABSENT else next(texts) for value in values]
    kinds = set(map(type, values))
    if kinds == {str} and _ESCAPED.isdisjoint([text[:1] for text in values]):
        return list(values)
    if kinds <= _STRUCTURED:
        return list(map(compact, values))
    return [cell(value, dialect) for value in values]


def format_numbers(numbers: Floats, dialect: CsvDialect = STANDARD, *, masses: bool = False) -> list[str]:
    """Format a column of numbers, with whole `masses` as integers; the cell of a missing number (NaN) is empty.

    Equal numbers are formatted once.
    """
    bits, places = np.unique(np.ascontiguousarray(numbers).view(np.int64), return_inverse=True)  # tells -0.0 from 0.0
    values: list[float] = bits.view(np.float64).tolist()
    if masses:
        values = list(map(_whole, values))
    texts = [_number(value, dialect) for value in values]
    return [texts[place] for place in places.tolist()]


def _whole(mass: float) -> float:
    """Return a whole mass as an integer."""
    return int(mass) if mass.is_integer() else mass


def _number(value: float, dialect: CsvDialect) -> str:
    return "" if math.isnan(value) else cell(value, dialect)


def csv_text(columns: Sequence[Sequence[str]], dialect: CsvDialect = STANDARD) -> str:
    r"""Return the rows of at least two columns of cells as CSV, as `csv_writer` writes them.

    Takes a quarter of the time of `csv_writer`, which examines every character.

    >>> csv_text([["Ada", "a, b"], ["1", ""]])
    'Ada,1\n"a, b",\n'
    """
    quoted = (_quoted(column, dialect.delimiter) for column in columns)
    return "".join([f"{row}\n" for row in map(dialect.delimiter.join, zip(*quoted, strict=True))])


def _quoted(column: Sequence[str], delimiter: str) -> Sequence[str]:
    """Return the cells of a column, in quotes where needed."""
    joined = "".join(column)
    special = "".join(character for character in f'{delimiter}"\r\n' if character in joined)
    if not special:
        return column
    if len(special) == 1:
        needed: list[object] = [special in text for text in column]
    else:
        needed = list(map(re.compile(f"[{special}]").search, column))
    if '"' in special:
        column = [text.replace('"', '""') for text in column]
    return [f'"{text}"' if need else text for text, need in zip(column, needed, strict=True)]


def write_frame(file: TextIO, frame: Frame, dialect: CsvDialect = STANDARD) -> None:
    """Write columns as CSV: numbers in shortest exact form, empty cells for missing values."""
    csv_writer(file, dialect).writerow(map(cell, frame))
    length = len(next(iter(frame.values())))
    for begin in range(0, length, CHUNK_ROWS):
        columns = [_cells(name, part[begin : begin + CHUNK_ROWS], dialect) for name, part in frame.items()]
        file.write(csv_text(columns, dialect))


def _cells(name: str, values: Sequence[Json] | npt.NDArray[Any], dialect: CsvDialect) -> list[str]:
    """Format a part of a column of a frame."""
    masses = name in _MASSES
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return format_numbers(values, dialect, masses=masses)
    plain = values.tolist() if isinstance(values, np.ndarray) else values
    if not any(isinstance(value, float) for value in plain):
        return format_cells(plain, dialect)
    if masses:
        plain = [_whole(value) if isinstance(value, float) else value for value in plain]
    return [_number(value, dialect) if isinstance(value, float) else cell(value) for value in plain]
