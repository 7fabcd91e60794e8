"""The texts of predictions that could not be used, as they are in the files."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.errors import DataError
from arbitre.inputs.csv_table import CsvTable
from arbitre.inputs.open_files import open_source, read_lines, split_name
from arbitre.inputs.reader import CELLS, DOCUMENT, LINES, RAW, TABLE
from arbitre.parsing.fast_json import compact
from arbitre.values import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from arbitre.inputs.options import ReadOptions
    from arbitre.inputs.records import Failure

MAX_CHARACTERS: Final = 3000
"""Maximum number of characters of a raw answer that are kept."""


class RawAnswer(NamedTuple):
    """The beginning of a text, and the number of characters of the whole text."""

    text: str
    characters: int

    @classmethod
    def of(cls, text: str | bytes) -> RawAnswer:
        """Cut a text; bytes that are not UTF-8 are replaced."""
        whole = text if isinstance(text, str) else text.decode("utf-8-sig", errors="replace")
        return cls(whole[:MAX_CHARACTERS], len(whole))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        return self._asdict()


def raw_answers(failures: Iterable[Failure], reading: ReadOptions) -> dict[Failure, RawAnswer]:
    """Return the texts of predictions that failed: the file, or the line or cell of the file, that each was read from.

    Predictions whose text cannot be read again are left out, such as those from standard input.

    Args:
        failures: The failures of predictions.
        reading: How the documents were read.
    """
    by_file: defaultdict[str, list[Failure]] = defaultdict(list)
    for failure in failures:
        if failure.file is not None:
            by_file[failure.file].append(failure)
    found: dict[Failure, RawAnswer] = {}
    for file, several in by_file.items():
        path, lines = Path(file), {failure.line for failure in several if failure.line is not None}
        try:
            if split_name(path)[1] not in {DOCUMENT, *RAW}:
                texts = dict(_lines(path, lines, reading)) if lines else {}
                found |= {one: RawAnswer.of(texts[one.line]) for one in several if one.line in texts}
            elif len(several) == 1:  # not a list of records
                with open_source(path) as content:
                    found[several[0]] = RawAnswer.of(content.read(MAX_BYTES + 1))
        except DataError:  # the file is gone, or damaged
            continue
    return found


def _lines(path: Path, wanted: Collection[int], reading: ReadOptions) -> Iterator[tuple[int | None, str | bytes]]:
    """Yield some lines or rows of a file with their texts."""
    suffix = split_name(path)[1]
    if suffix in LINES:
        with open_source(path) as file:
            lines = enumerate(read_lines(file), 1)
            yield from ((at, line.rstrip(b"\r\n")) for at, (line, _) in islice(lines, max(wanted)) if at in wanted)
    elif suffix in CELLS:
        table = CsvTable(path, [], "", reading.predicted_sheet)
        for at, cells in table.lines():
            if at in wanted:
                row = table.by_column(cells)
                yield at, compact(cells) if isinstance(row, str) else row.get(reading.predicted_key, compact(row))
    elif suffix == TABLE:
        from arbitre.inputs.data_frames import ParquetTable  # noqa: PLC0415  (an extra)

        for found in ParquetTable(path).rows(reading.id_key, [reading.predicted_key]):
            if found.number in wanted and isinstance(found.texts[0], str):
                yield found.number, found.texts[0]
