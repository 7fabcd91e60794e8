"""Manifests: CSV files that list the gold file, the predicted file and the factors of every pair."""

from __future__ import annotations

import csv
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from arbitre.corpus.reading.document_ids import RUN, quote_names
from arbitre.corpus.reading.options import NO_PREDICTION, RecordPair
from arbitre.corpus.reading.records import Failure
from arbitre.corpus.reading.sources import split_name
from arbitre.corpus.storage.files import unreadable
from arbitre.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.corpus.reading.options import ReadOptions
    from arbitre.corpus.reading.records import Record, Side


class Manifest:
    """A CSV file with the columns id, gold and predicted, and optionally run. All other columns are factors.

    The column names are set by the read options. The gold and predicted columns contain paths relative to the folder
    of the manifest. Each path is a JSON file with one document; the file may be compressed and have any suffix. An
    empty `predicted` cell means that there is no prediction.

    Raises:
        DataError: The file cannot be read or lacks a column.
    """

    def __init__(self, path: str | Path, reading: ReadOptions) -> None:
        self.path = Path(path)
        self._reading = reading
        with self._table() as (header, _):
            self._columns = header
        self._known = (reading.id_key, reading.gold_key, reading.predicted_key)
        for name in self._known:
            if header.count(name) != 1:
                raise self._refused(
                    f"Expected one column {name!r}, got the columns {quote_names(header)}",
                    1,
                    did_you_mean(name, header) or "Set the columns with --id-key, --gold-key and --predicted-key.",
                )
        if len(set(header)) != len(header):
            raise self._refused(f"Expected each column once, got {quote_names(header)}", 1, "Rename one of them.")
        self.factors = tuple(name for name in header if name not in {*self._known, RUN})

    def rows(self) -> Iterator[RecordPair]:
        """Yield the pairs in the order of the lines. An invalid document is a Failure. Raises DataError."""
        readers = [self._reading.reader("gold"), self._reading.reader("predicted")]
        with self._table() as (_, lines):
            for line, cells in lines:
                if len(cells) != len(self._columns):
                    yield self._broken(line, f"Expected {len(self._columns)} cells, got {len(cells)}")
                    continue
                row = dict(zip(self._columns, cells, strict=True))
                identity, *files = (row[name] for name in self._known)
                if not identity:
                    yield self._broken(line, "Expected an id, got an empty cell")
                    continue
                labels = identity, row.get(RUN) or None
                gold, predicted = (
                    self._missing(reader.side, labels, line)
                    if not file
                    else reader.file(self.path.parent / file, split_name(Path(file))[0], labels)
                    for reader, file in zip(readers, files, strict=True)
                )
                yield RecordPair(gold, predicted, tuple(row[name] for name in self.factors))

    @contextmanager
    def _table(self) -> Iterator[tuple[list[str], Iterator[tuple[int, list[str]]]]]:
        try:
            with self.path.open(encoding="utf-8-sig", newline="") as file:
                reader = csv.reader(file, strict=True)
                header = next(reader, [])
                yield header, ((reader.line_num, cells) for cells in reader if cells)
        except OSError as error:
            raise unreadable(self.path, error) from error
        except (csv.Error, UnicodeDecodeError) as error:
            raise self._refused(
                f"Cannot read the manifest as CSV: {error}", None, "Save the table as CSV in UTF-8."
            ) from error

    def _missing(self, side: Side, labels: tuple[str, str | None], line: int) -> Record | Failure:
        reason = NO_PREDICTION if side == "predicted" else "Expected a file in the gold column, got an empty cell"
        return Failure(side, *labels, str(self.path), line, reason=reason)

    def _broken(self, line: int, reason: str) -> RecordPair:
        return RecordPair(
            Failure("gold", file=str(self.path), line=line, reason=reason), None, ("",) * len(self.factors)
        )

    def _refused(self, message: str, line: int | None, hint: str) -> DataError:
        return DataError.of(message, file=str(self.path), line=line, hint=hint)
