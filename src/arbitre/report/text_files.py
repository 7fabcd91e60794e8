"""Write result files: atomic text files, JSON and CSV."""

from __future__ import annotations

import csv
import json
import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TextIO

import msgspec
import numpy as np

from arbitre.corpus.storage.files import atomic_file
from arbitre.tally import COUNTS
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from arbitre.corpus.storage.arrow import Frame


@contextmanager
def atomic_text_file(path: Path) -> Iterator[TextIO]:
    """Open a text file that replaces `path` when the block ends, or is discarded if the block raises.

    Raises DataError if it cannot be written.
    """
    with atomic_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file


class _Lines(NamedTuple):
    r"""File wrapper that writes "\n" for the "\r\n" of `csv.writer`.

    The terminator of the writer stays "\r\n": some Python versions quote only line breaks that occur in it.
    """

    file: TextIO

    def write(self, line: str) -> int:
        return self.file.write(line.removesuffix("\r\n") + "\n")


def csv_writer(file: TextIO) -> Any:  # noqa: ANN401  (`csv` has no public type for it)
    r"""Return a CSV writer that preserves line breaks in cells.

    >>> import io
    >>> file = io.StringIO()
    >>> _ = csv_writer(file).writerow(["a\rb", "c"])
    >>> file.getvalue()
    '"a\rb",c\n'
    """
    return csv.writer(_Lines(file))


def json_text(value: Json) -> str:
    r"""Serialise a JSON document, indented, with a final line break.

    >>> json_text({"page": "XII, é"})
    '{\n  "page": "XII, é"\n}\n'
    """
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Prefixes of text that spreadsheets may run as a formula; the last four are full-width characters."""


def cell(value: Json) -> str:
    """Format a value as a CSV cell: strings unchanged, "" for None and ABSENT, other values as compact JSON.

    Text that a spreadsheet would run as a formula gets a leading apostrophe.

    >>> [cell(value) for value in ("Ada", None, True, 0.5, {"pages": [1, 2]}, "=1+1")]
    ['Ada', '', 'true', '0.5', '{"pages":[1,2]}', "'=1+1"]
    """
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return "" if value is None or value is ABSENT else compact(value)


_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def compact(value: Json) -> str:
    """Serialise a value as JSON without whitespace."""
    if type(value) is int or (type(value) is float and math.isfinite(value)):  # fast path for most cells
        return repr(value)
    if type(value) is list and _ALIKE.issuperset(map(type, value)):
        try:
            return _FAST(value).decode()
        except (ValueError, OverflowError):  # lone surrogates, long integers
            pass
    return _COMPACT.encode(value)


_FAST: Final = msgspec.json.Encoder().encode
"""Takes a quarter of the time of `json` for lists of page numbers."""

_ALIKE: Final = frozenset({int, str})
"""Types that msgspec formats as `json` does; it writes another exponent for floats, and null for NaN."""


CHUNK_ROWS: Final = 4096
"""Number of rows of a frame that are formatted at once."""


def write_frame(file: TextIO, frame: Frame) -> None:
    """Write columns as CSV: numbers in shortest exact form, empty cells for missing values."""
    rows = csv_writer(file)
    rows.writerow(map(cell, frame))
    length = len(next(iter(frame.values())))
    for begin in range(0, length, CHUNK_ROWS):
        rows.writerows(
            zip(*(_cells(name, part[begin : begin + CHUNK_ROWS]) for name, part in frame.items()), strict=True)
        )


def _cells(name: str, values: Sequence[Json] | npt.NDArray[Any]) -> Iterator[str]:
    """Yield the formatted cells of a part of a column; whole masses are written as integers."""
    for value in values.tolist() if isinstance(values, np.ndarray) else values:
        if not isinstance(value, float):
            yield cell(value)
        elif math.isnan(value):
            yield ""
        else:
            yield cell(int(value) if name in COUNTS and value.is_integer() else value)
