"""Rows of CSV text, with the delimiter detected."""

from __future__ import annotations

import csv
import re
import struct
from itertools import chain
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

DELIMITERS: Final = ",;\t"
"""Delimiters that are recognised, the most common first."""


_UNLIMITED: Final = 2 ** (8 * struct.calcsize("l") - 1) - 1
"""The largest limit that `csv` accepts: a C long."""


class CsvError(ValueError):
    """Text is not CSV in the row after `line`."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def csv_reader(lines: Iterable[str], delimiter: str, *, strict: bool = False) -> Any:  # noqa: ANN401  (no public type)
    """Return a `csv.reader` for cells of any length; by default it refuses more than 131,072 characters.

    The limit belongs to the process. It is only ever raised.
    """
    csv.field_size_limit(_UNLIMITED)
    return csv.reader(lines, delimiter=delimiter, strict=strict)


def csv_rows(
    lines: Iterable[str], delimiter: str | None = None, *, suffix: str = ""
) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the last line number and the cells of each row that is not blank; the first row holds the columns.

    A row is blank if all its cells are empty.

    Args:
        lines: The text in lines, with their line ends.
        delimiter: The delimiter; None to detect it. A delimiter is suitable if quotes occur only around whole cells of
            the first row. The suitable one of `DELIMITERS` that gives the most columns is used. If none is suitable,
            the one that splits the first line into the most columns is used.
        suffix: Suffix of the file. In a `.tsv` file, the delimiter is a tab if the first row contains a tab outside
            quotes and quotes occur only around whole cells.

    Raises:
        CsvError: A row is not CSV.

    >>> list(csv_rows(["name;place\n", '"Larcher, Gérard";Paris\n']))
    [(1, ['name', 'place']), (2, ['Larcher, Gérard', 'Paris'])]
    >>> list(csv_rows(['"name\n', '(full)";"x, in m, or cm"\n']))
    [(2, ['name\n(full)', 'x, in m, or cm'])]
    >>> list(csv_rows(["name (last, first, title)\tplace\n", "Ada\tParis\n"], suffix=".tsv"))
    [(1, ['name (last, first, title)', 'place']), (2, ['Ada', 'Paris'])]
    >>> list(csv_rows(["name;place\n", ";\n", '"";""\n', "Ada;\n"]))
    [(1, ['name', 'place']), (4, ['Ada', ''])]
    """
    rest = iter(lines)
    head: list[str] = []
    if delimiter is None and suffix == ".tsv" and _fit("\t", head, rest) > (True, 1):
        delimiter = "\t"
    elif delimiter is None:
        delimiter = max(DELIMITERS, key=lambda mark: _fit(mark, head, rest))
    rows = csv_reader(chain(head, rest), delimiter, strict=True)
    line = 1
    try:
        for cells in rows:
            line = rows.line_num
            if any(cells):
                yield line, cells
    except csv.Error as error:
        raise CsvError(str(error), line) from error


def _fit(mark: str, head: list[str], rest: Iterator[str]) -> tuple[bool, int]:
    """Return how well a delimiter fits the first row that is not blank; more is better.

    The first value is whether quotes occur only around whole cells of the row. The second is the number of columns of
    the row, or of the first line if the first value is false. Lines are read from `head`, then from `rest`; lines read
    from `rest` are appended to `head`.
    """

    def lines() -> Iterator[str]:
        yield from head
        for line in rest:
            head.append(line)
            yield line

    rows, start = csv_reader(lines(), mark, strict=True), 0
    cell = f'(?:"(?:[^"]|"")*+"|[^"{mark}\r\n]*+)'
    try:
        for cells in rows:
            if any(cells):
                if re.fullmatch(f"{cell}(?:{mark}{cell})*+[\r\n]*", "".join(head[start : rows.line_num])):
                    return True, len(cells)
                break
            start = rows.line_num
    except csv.Error:
        pass
    return False, len(next(csv_reader(head[:1], mark), ()))
