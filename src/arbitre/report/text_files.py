"""Text files as results are written: each whole or not at all, JSON and CSV as they read back."""

from __future__ import annotations

import csv
import json
import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TextIO

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
    """A text file that takes the place of `path` once it is whole; nothing of it stays where the block raises.

    Raises DataError where it cannot be written.
    """
    with atomic_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file


class _Lines(NamedTuple):
    r"""A file whose lines end with "\n", for a writer that ends them with "\r\n": some quote no other line breaks."""

    file: TextIO

    def write(self, line: str) -> int:
        return self.file.write(line.removesuffix("\r\n") + "\n")


def csv_writer(file: TextIO) -> Any:  # noqa: ANN401  (`csv` has no public type for it)
    r"""What writes rows of CSV; every cell is read back as it was, with any line break in it.

    >>> import io
    >>> file = io.StringIO()
    >>> _ = csv_writer(file).writerow(["a\rb", "c"])
    >>> file.getvalue()
    '"a\rb",c\n'
    """
    return csv.writer(_Lines(file))


def json_text(value: Json) -> str:
    r"""A JSON document as it is written and printed, ending in a line break.

    >>> json_text({"page": "XII, é"})
    '{\n  "page": "XII, é"\n}\n'
    """
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Spreadsheets may take text that begins so for a formula; the last four are full-width signs."""


def cell(value: Json) -> str:
    """A value in one cell: text as it is, nothing where there is none, all else as compact JSON.

    Text that a spreadsheet would run as a formula is preceded by an apostrophe.

    >>> [cell(value) for value in ("Ada", None, True, 0.5, {"pages": [1, 2]}, "=1+1")]
    ['Ada', '', 'true', '0.5', '{"pages":[1,2]}', "'=1+1"]
    """
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return "" if value is None or value is ABSENT else compact(value)


_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def compact(value: Json) -> str:
    """A value as JSON without blanks."""
    if type(value) is int or (type(value) is float and math.isfinite(value)):  # most cells: encoders take their time
        return repr(value)
    return _COMPACT.encode(value)


CHUNK_ROWS: Final = 4096
"""So many rows of a frame are in memory as texts."""


def write_frame(file: TextIO, frame: Frame) -> None:
    """Columns as CSV: numbers as short as they read back exactly, nothing where there is none."""
    rows = csv_writer(file)
    rows.writerow(map(cell, frame))
    length = len(next(iter(frame.values())))
    for begin in range(0, length, CHUNK_ROWS):
        rows.writerows(
            zip(*(_cells(name, part[begin : begin + CHUNK_ROWS]) for name, part in frame.items()), strict=True)
        )


def _cells(name: str, values: Sequence[Json] | npt.NDArray[Any]) -> Iterator[str]:
    """A part of a column; masses that are whole are written as counts."""
    for value in values.tolist() if isinstance(values, np.ndarray) else values:
        if not isinstance(value, float):
            yield cell(value)
        elif math.isnan(value):
            yield ""
        else:
            yield cell(int(value) if name in COUNTS and value.is_integer() else value)
