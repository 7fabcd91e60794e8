"""Manifests: CSV files that list the gold file, the predicted file and the factors of every pair."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from arbitre.corpus.reading.csv_table import CsvTable
from arbitre.corpus.reading.document_ids import RUN
from arbitre.corpus.reading.options import NO_PREDICTION, RecordPair
from arbitre.corpus.reading.records import Failure
from arbitre.corpus.reading.sources import split_name

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
        self._known = (reading.id_key, reading.gold_key, reading.predicted_key)
        self._table = CsvTable(self.path, self._known, "Set the columns with --id-key, --gold-key and --predicted-key.")
        self.factors = tuple(name for name in self._table.columns if name not in {*self._known, RUN})

    def rows(self) -> Iterator[RecordPair]:
        """Yield the pairs in the order of the lines. An invalid document is a Failure. Raises DataError."""
        readers = [self._reading.reader("gold"), self._reading.reader("predicted")]
        for line, row in self._table.rows():
            if isinstance(row, str):
                yield self._broken(line, row)
                continue
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

    def files(self) -> Iterator[Path]:
        """Yield the manifest and the files that it names."""
        yield self.path
        for _, row in self._table.rows():
            if not isinstance(row, str):
                yield from (self.path.parent / row[name] for name in self._known[1:] if row[name])

    def _missing(self, side: Side, labels: tuple[str, str | None], line: int) -> Record | Failure:
        reason = NO_PREDICTION if side == "predicted" else "Expected a file in the gold column, got an empty cell"
        return Failure(side, *labels, str(self.path), line, reason=reason)

    def _broken(self, line: int, reason: str) -> RecordPair:
        return RecordPair(
            Failure("gold", file=str(self.path), line=line, reason=reason), None, ("",) * len(self.factors)
        )
