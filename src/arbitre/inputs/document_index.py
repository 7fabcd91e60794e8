"""Temporary database of the documents of a corpus and their pairs, with access to the pairs one by one.

Memory does not grow with the number of documents. Worker processes encode the documents that they read as rows of the
database, and decode the pairs that they compare, so the main process only moves bytes.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast, overload

import numpy as np

from arbitre.errors import DataError
from arbitre.inputs.records import ByteRange, Failure, Origin, Pair, Record, RepairedPrediction, Side, key
from arbitre.inputs.work_units import SPOOL, PairLocation, Spool, read_pairs
from arbitre.storage.columns import LazySequence, encoded
from arbitre.storage.temporary import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import numpy.typing as npt

    from arbitre.storage.temporary import TemporaryFolder

IndexRow: TypeAlias = "tuple[bytes | None, bytes | None, bool, bool, bool, bytes]"
"""A document as a row of the database: its id and run, whether it failed, whether its id comes from its file name,
whether it is a text, and its encoded place and origin."""

_TABLES: Final = """
    CREATE TABLE gold (
        row INTEGER PRIMARY KEY, id BLOB, run BLOB, failed INTEGER, alone INTEGER, text INTEGER, entry BLOB
    );
    CREATE TABLE predicted (
        row INTEGER PRIMARY KEY, id BLOB, run BLOB, failed INTEGER, alone INTEGER, text INTEGER, entry BLOB
    );
    CREATE TABLE opened (row INTEGER PRIMARY KEY, failed INTEGER, entry BLOB);
    CREATE TABLE first (row INTEGER PRIMARY KEY, id BLOB);
    CREATE TABLE selected (id BLOB PRIMARY KEY);
    CREATE TABLE pair (position INTEGER PRIMARY KEY, gold INTEGER, predicted INTEGER, run BLOB, refused INTEGER)
"""
_INSERT: Final = {
    "gold": "INSERT INTO gold (id, run, failed, alone, text, entry) VALUES (?, ?, ?, ?, ?, ?)",
    "predicted": "INSERT INTO predicted (id, run, failed, alone, text, entry) VALUES (?, ?, ?, ?, ?, ?)",
}
_PAIRS: Final = """
    SELECT position, pair.run, gold.entry, predicted.entry
    FROM pair CROSS JOIN gold ON gold.row = pair.gold LEFT JOIN predicted ON predicted.row = pair.predicted
"""

_TEXTS: Final = """
    SELECT predicted.row, predicted.run, gold.entry, predicted.entry
    FROM first CROSS JOIN gold ON gold.row = first.row JOIN predicted ON predicted.{column} = first.{column}
    WHERE predicted.text AND NOT gold.text ORDER BY predicted.row
"""
_REPLACE: Final = """
    UPDATE predicted SET (failed, entry) = (SELECT failed, entry FROM opened WHERE opened.row = predicted.row)
    WHERE row IN (SELECT row FROM opened)
"""

_SAME_KEY: Final = """
    SELECT gold.id, pair.run, count(*) FROM pair JOIN gold ON gold.row = pair.gold
    GROUP BY CAST(CAST(gold.id AS TEXT) || coalesce('/' || CAST(pair.run AS TEXT), '') AS BLOB) HAVING count(*) > 1
"""
_WITH_SLASH: Final = "SELECT 1 FROM first WHERE instr(id, X'2F') LIMIT 1"  # without one, `id/run` is unique
_LABELS: Final = "SELECT gold.id, pair.run FROM pair CROSS JOIN gold ON gold.row = pair.gold ORDER BY position"


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
            bytes (see `label_key`); `alone` marks documents whose id is only the name of their file, `text` those
            that are texts.
        opened: Predictions that `open_texts` replaces.
        first: Rows and ids of the gold documents that are compared: the first one with each id.
        selected: Ids of the documents to compare, if only some are.
        pair: Pairs, numbered from 1: row of the gold document, row of the prediction (or null), and run; `refused` is
            true if the prediction is missing or could not be read.

    Memory does not grow with the number of documents, except for `repairs`. Documents that are not in a plain file are
    written to a temporary file.
    """

    def __init__(self, spool: TemporaryFolder | None = None) -> None:
        """Create an empty index. `spool` is the folder of the temporary files of workers, which it keeps."""
        super().__init__(_TABLES)
        self._spool_of_workers = spool
        self.repairs: list[RepairedPrediction] = []
        self._spool, self._folder = Spool(), str(Path.cwd())

    def extend(self, side: Side, items: Iterable[Record | Failure | IndexRow]) -> int:
        """Add documents of one side and return their number."""
        size = self.insert(_INSERT[side], map(self._row, items))
        self._spool.flush()
        return size

    @property
    def has_temporary(self) -> bool:
        """Whether documents are in a temporary file."""
        folder = self._spool_of_workers
        return not self._spool.is_empty or (folder is not None and any(folder.path.glob(f"*{SPOOL}")))

    def entries(self, query: str, *values: object) -> Iterator[IndexedDocument]:
        """Yield the documents whose `entry` column a query selects."""
        return (entry_of(data) for (data,) in self.rows(query, *values))

    def open_texts(self, by: Literal["id", "row"], open_text: Callable[[Record], Record | Failure]) -> None:
        """Replace the predictions that are texts, but whose gold document is not a text, by the JSON in them.

        The gold documents to compare must be known.

        Args:
            by: Column by which a prediction belongs to a gold document.
            open_text: Returns the record with the JSON in its text, or why this cannot be read.
        """
        repairs = {(one.id, one.run, one.file, one.line): one for one in self.repairs}
        self.repairs = []

        def rows() -> Iterator[tuple[int, bool, bytes]]:
            for row, *stored in self.rows(_TEXTS.format(column=by)):
                (pair,) = read_pairs([pair_location((*stored, None))])
                found = entry_of(stored[-1])
                origin = str(found.id), found.run, found.origin.file or "", found.origin.line
                before = repairs.pop(origin, None)
                text = Record(*origin[:2], pair.predicted, *origin[2:], repair=before.how if before else None)
                *_, failed, _, _, entry = self._row(open_text(text))
                yield row, failed, entry

        self.insert("INSERT INTO opened (row, failed, entry) VALUES (?, ?, ?)", rows())
        self._spool.flush()
        self.execute(_REPLACE)
        self.repairs = [*repairs.values(), *self.repairs]

    def check_keys(self) -> None:
        """Raise DataError if two pairs have the same key, such as run 1 of the document `a` and the document `a/1`."""
        if any(self.rows(_WITH_SLASH)):
            for identity, run, number in self.rows(_SAME_KEY):
                name = key(str(label_text(identity)), label_text(run))
                raise DataError.of(
                    f"{number} documents would have the same name in the results: {name!r}",
                    hint="The name of a document is its id or, if it has a run, `id/run`. Rename an id or a run.",
                )

    def _row(self, item: Record | Failure | IndexRow) -> IndexRow:
        if isinstance(item, tuple):
            return item
        if isinstance(item, Record):
            if item.repair is not None:
                self.repairs.append(RepairedPrediction(item.id, item.run, item.file, item.line, item.repair))
            return index_row(item, item.place or self._spool.keep(item.value), self._folder)
        return index_row(item, None, self._folder)


def index_row(item: Record | Failure, place: ByteRange | None, folder: str) -> IndexRow:
    """Encode a document as a row of the database.

    Args:
        item: The document, or the failure to read it.
        place: Place of the document; None for a failure.
        folder: The current folder of the main process, to which relative paths are relative.
    """
    stored: tuple[object, ...] | Failure = ()
    if isinstance(item, Failure):
        stored = item
    elif place is not None:
        stored = _join_paths(folder, place[0]), *place[1:]
    alone = isinstance(item, Record) and not item.named
    entry = pickle.dumps((item.id, item.run, stored, (item.file, item.line)))
    text = isinstance(item, Record) and isinstance(item.value, str)
    return label_key(item.id), label_key(item.run), isinstance(item, Failure), alone, text, entry


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

    @property
    def has_temporary(self) -> bool:
        """Whether documents are in a temporary file."""
        return self._index.has_temporary

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
            yield from map(pair_location, self._selected(f"{_PAIRS} WHERE position = ?", position))

    def locators(self) -> Iterator[PairLocation]:
        """Yield the places of the documents of each pair, in order."""
        return map(pair_location, self.stored())

    def stored(self) -> Iterator[StoredPair]:
        """Yield the pairs as they are in the database, in order."""
        return self._selected(f"{_PAIRS} ORDER BY position")

    def labels(self) -> Iterator[tuple[str, str | None]]:
        """Yield the ids and runs of the pairs, in order."""
        return ((str(label_text(identity)), label_text(run)) for identity, run in self._index.rows(_LABELS))

    def _selected(self, query: str, *values: object) -> Iterator[StoredPair]:
        failures = self._failures
        for position, run, gold, predicted in self._index.rows(query, *values):
            yield run, gold, predicted, failures.get(position - 1)


_NO_ENTRY: Final = IndexedDocument(None, None, ByteRange(""), Origin())
_join_paths: Final = lru_cache(maxsize=64)(os.path.join)  # most documents are in few files


def label_key(text: str | None) -> bytes | None:
    """Encode an id or a run for the database. SQLite does not accept lone surrogates in text."""
    return None if text is None else encoded(text)


def label_text(data: bytes | None) -> str | None:
    """Decode an id or a run from the database."""
    return None if data is None else str(data, errors="surrogatepass")


def entry_of(data: bytes) -> IndexedDocument:
    """Decode a document from the database."""
    identity, run, place, (file, line) = pickle.loads(data)  # noqa: S301  (written by `index_row`)
    if not isinstance(place, Failure):
        place = ByteRange(intern(place[0]), *place[1:])  # the same text for all documents of a file
    return IndexedDocument(identity, run, place, Origin(file and intern(file), line))


StoredPair: TypeAlias = "tuple[bytes | None, bytes, bytes | None, Failure | None]"
"""A pair: its run, the encoded gold document, the encoded prediction, and why there is no prediction."""


def pair_location(stored: StoredPair) -> PairLocation:
    """Decode the places of the documents of a pair."""
    run, gold_entry, predicted_entry, failure = stored
    gold = entry_of(gold_entry)
    predicted = entry_of(predicted_entry) if predicted_entry else _NO_ENTRY
    place, origins = failure or predicted.place, (gold.origin, predicted.origin)
    return PairLocation(str(gold.id), label_text(run), cast("ByteRange", gold.place), place, origins)


class StoredPairs(Sequence[PairLocation]):
    """Places of the documents of pairs, decoded on access. Sent to another process as bytes."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: tuple[StoredPair, ...]) -> None:
        self._pairs = pairs

    def __reduce__(self) -> tuple[type[StoredPairs], tuple[object]]:
        return StoredPairs, (self._pairs,)

    def __len__(self) -> int:
        return len(self._pairs)

    def __iter__(self) -> Iterator[PairLocation]:
        return map(pair_location, self._pairs)

    @overload
    def __getitem__(self, at: int) -> PairLocation: ...
    @overload
    def __getitem__(self, at: slice) -> StoredPairs: ...
    def __getitem__(self, at: int | slice) -> PairLocation | StoredPairs:
        if isinstance(at, slice):
            return StoredPairs(self._pairs[at])
        return pair_location(self._pairs[at])
