"""Index of a corpus: the gold and predicted documents and their pairs, in a temporary database."""

from __future__ import annotations

import os
import pickle
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from arbitre.inputs.records import ByteRange, Failure, Origin, Pair, Record, RepairedPrediction, Side
from arbitre.inputs.work_units import PairLocation, Spool, read_pairs
from arbitre.storage.columns import LazySequence, encoded
from arbitre.storage.temporary import Database

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy.typing as npt

_TABLES: Final = """
    CREATE TABLE gold (row INTEGER PRIMARY KEY, id BLOB, run BLOB, failed INTEGER, alone INTEGER, entry BLOB);
    CREATE TABLE predicted (row INTEGER PRIMARY KEY, id BLOB, run BLOB, failed INTEGER, alone INTEGER, entry BLOB);
    CREATE TABLE first (row INTEGER PRIMARY KEY, id BLOB);
    CREATE TABLE pair (position INTEGER PRIMARY KEY, gold INTEGER, predicted INTEGER, run BLOB)
"""
_INSERT: Final = {
    "gold": "INSERT INTO gold (id, run, failed, alone, entry) VALUES (?, ?, ?, ?, ?)",
    "predicted": "INSERT INTO predicted (id, run, failed, alone, entry) VALUES (?, ?, ?, ?, ?)",
}
_PAIRS: Final = """
    SELECT position, pair.run, gold.entry, predicted.entry
    FROM pair CROSS JOIN gold ON gold.row = pair.gold LEFT JOIN predicted ON predicted.row = pair.predicted
"""


class IndexedDocument(NamedTuple):
    """A document in the index: its id and run, its place (or the failure to read it) and its origin."""

    id: str | None
    run: str | None
    place: ByteRange | Failure
    origin: Origin


class DocumentIndex(Database):
    """Temporary database of the documents of both sides and their pairs.

    Tables:
        gold, predicted: Documents in the order in which they were added. Rows are numbered from 1; ids and runs are
            bytes (see `label_key`); `alone` marks documents whose id is only the name of their file.
        first: Rows and ids of the gold documents that are compared: the first one with each id.
        pair: Row of the gold document, row of the prediction (or null) and run of each pair, numbered from 1.

    Memory does not grow with the number of documents, except for `repairs`. Documents that are not in a plain file are
    written to a temporary file.
    """

    def __init__(self) -> None:
        super().__init__(_TABLES)
        self.repairs: list[RepairedPrediction] = []
        self._spool, self._folder = Spool(), str(Path.cwd())

    def extend(self, side: Side, items: Iterable[Record | Failure]) -> int:
        """Add documents of one side and return their number."""
        size = self.insert(_INSERT[side], map(self._row, items))
        self._spool.flush()
        return size

    def entries(self, query: str, *values: object) -> Iterator[IndexedDocument]:
        """Yield the documents whose `entry` column a query selects."""
        return (entry_of(data) for (data,) in self.rows(query, *values))

    def _row(self, item: Record | Failure) -> tuple[object, ...]:
        place: tuple[object, ...] | Failure = item if isinstance(item, Failure) else ()
        alone = False
        if isinstance(item, Record):
            file, *rest = item.place or self._spool.keep(item.value)
            place, alone = (_joined(self._folder, file), *rest), not item.named
            if item.repair is not None:
                self.repairs.append(RepairedPrediction(item.id, item.run, item.file, item.line, item.repair))
        entry = pickle.dumps((item.id, item.run, place, (item.file, item.line)))
        return label_key(item.id), label_key(item.run), isinstance(item, Failure), alone, entry


class Located(LazySequence[Pair]):
    """The pairs of an index. Documents are read on every access."""

    def __init__(self, index: DocumentIndex, failures: Mapping[int, Failure]) -> None:
        """Create the sequence.

        Args:
            index: The index of the pairs.
            failures: Reasons for absent predictions, by position of the pair.
        """
        self._index, self._failures = index, failures
        self._size = int(next(index.rows("SELECT count(*) FROM pair"))[0])

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Pair]:
        return read_pairs(self.locators())

    def at(self, rows: npt.ArrayLike) -> Iterator[Pair]:
        """Yield the pairs at these positions, shape (n,)."""
        return read_pairs(self.locators_at(rows))

    def locators_at(self, rows: npt.ArrayLike) -> Iterator[PairLocation]:
        """Yield the places of the documents of the pairs at these positions, shape (n,)."""
        for position in (np.asarray(rows, dtype=np.int64) + 1).tolist():
            yield from self._selected(f"{_PAIRS} WHERE position = ?", position)

    def locators(self) -> Iterator[PairLocation]:
        """Yield the places of the documents of each pair, in order."""
        return self._selected(f"{_PAIRS} ORDER BY position")

    def _selected(self, query: str, *values: object) -> Iterator[PairLocation]:
        for position, run, *sides in self._index.rows(query, *values):
            gold, predicted = (entry_of(data) if data else _NO_ENTRY for data in sides)
            place = self._failures.get(position - 1) or predicted.place
            origins = gold.origin, predicted.origin
            yield PairLocation(str(gold.id), label_text(run), cast("ByteRange", gold.place), place, origins)


_NO_ENTRY: Final = IndexedDocument(None, None, ByteRange(""), Origin())
_joined: Final = lru_cache(maxsize=64)(os.path.join)  # most documents are in few files


def label_key(text: str | None) -> bytes | None:
    """Encode an id or a run for the database. SQLite does not accept lone surrogates in text."""
    return None if text is None else encoded(text)


def label_text(key: bytes | None) -> str | None:
    """Decode an id or a run from the database."""
    return None if key is None else str(key, errors="surrogatepass")


def entry_of(data: bytes) -> IndexedDocument:
    """Decode a document from the database."""
    identity, run, place, (file, line) = pickle.loads(data)  # noqa: S301  (written by `_row`)
    if not isinstance(place, Failure):
        place = ByteRange(intern(place[0]), *place[1:])  # interned names make work units smaller to send
    return IndexedDocument(identity, run, place, Origin(file and intern(file), line))
