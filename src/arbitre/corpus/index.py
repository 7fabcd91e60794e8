"""The documents of both sides of a corpus and the pairs they form, in a temporary database."""

from __future__ import annotations

import os
import pickle
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from arbitre.corpus.database import Database
from arbitre.corpus.parts import Locator, read
from arbitre.corpus.records import Failure, Origin, Pair, Place, Record, Repair, Side
from arbitre.corpus.spool import Spool
from arbitre.corpus.texts import Lazy, encoded

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
_ANSWERS: Final = """
    SELECT first.row, first.id, predicted.row, predicted.run, CASE WHEN predicted.failed THEN predicted.entry END
    FROM first LEFT JOIN predicted ON predicted.{column} = first.{column} ORDER BY first.row, predicted.row
"""
_PAIRS: Final = """
    SELECT position, pair.run, gold.entry, predicted.entry
    FROM pair CROSS JOIN gold ON gold.row = pair.gold LEFT JOIN predicted ON predicted.row = pair.predicted
"""


class Entry(NamedTuple):
    """A document: its labels, its place or why it cannot be read, and the file it is from."""

    id: str | None
    run: str | None
    place: Place | Failure
    origin: Origin


_Pair: TypeAlias = tuple[int, str | None, Entry, Entry | None]


class Answer(NamedTuple):
    """A prediction of the gold document in row `gold`; `row` is None if there is none.

    `failure` says why the prediction cannot be read.
    """

    gold: int
    id: str
    row: int | None
    run: str | None
    failure: Failure | None


class Index:
    """The documents of both sides, in the order in which they are added; rows are numbered from 1.

    Memory does not grow with the number of documents, except for `repairs`. Documents that are not in a plain file are
    written to a temporary file.
    """

    def __init__(self) -> None:
        self.repairs: list[Repair] = []
        self._database, self._spool, self._folder = Database(_TABLES), Spool(), str(Path.cwd())

    def extend(self, side: Side, items: Iterable[Record | Failure]) -> int:
        """Add documents of one side and return how many there were."""
        return self._database.insert(_INSERT[side], map(self._row, items))

    def _row(self, item: Record | Failure) -> tuple[object, ...]:
        place: tuple[object, ...] | Failure = item if isinstance(item, Failure) else ()
        alone = False
        if isinstance(item, Record):
            file, *rest = item.place or self._spool.keep(item.value)
            place, alone = (_joined(self._folder, file), *rest), not item.named
            if item.repair is not None:
                self.repairs.append(Repair(item.id, item.run, item.file, item.line, item.repair))
        entry = pickle.dumps((item.id, item.run, place, (item.file, item.line)))
        return _key(item.id), _key(item.run), isinstance(item, Failure), alone, entry

    def complete(self, unique: Literal["id", "id and run"]) -> None:
        """Prepare for reading, after all documents are added: find the first gold document with each id (and run)."""
        self._spool.flush()
        by = "id" if unique == "id" else "id, run"
        self._database.execute(
            f"INSERT INTO first SELECT min(row), id FROM gold WHERE NOT failed GROUP BY {by} ORDER BY 1"  # noqa: S608
        )
        self._database.execute("CREATE INDEX first_id ON first (id)")
        self._database.execute("CREATE INDEX predicted_id ON predicted (id)")

    def join_alone(self) -> None:
        """Give the only prediction the id of the only gold document if both ids are just file names."""
        self._database.execute(
            """
            UPDATE predicted SET id = (SELECT id FROM first)
            WHERE alone AND (SELECT count(*) FROM predicted) = 1 AND (SELECT count(*) FROM first) = 1
            AND (SELECT alone FROM gold JOIN first USING (row))
            """
        )

    def ids(self) -> Iterator[str]:
        """The ids of the gold documents that can be compared."""
        return (str(_text(key)) for (key,) in self._database.rows("SELECT id FROM first ORDER BY row"))

    def not_first(self) -> Iterator[tuple[int, Entry]]:
        """Rows and entries of the other gold documents."""
        query = "SELECT row, entry FROM gold WHERE row NOT IN (SELECT row FROM first) ORDER BY row"
        return ((row, _entry(entry)) for row, entry in self._database.rows(query))

    def without_gold(self) -> Iterator[Entry]:
        """The predictions without a gold document."""
        query = "SELECT entry FROM predicted WHERE id IS NULL OR id NOT IN (SELECT id FROM first) ORDER BY row"
        return (_entry(entry) for (entry,) in self._database.rows(query))

    def prediction(self, row: int | None) -> Entry:
        """The prediction in a row."""
        return next(_entry(entry) for (entry,) in self._database.rows("SELECT entry FROM predicted WHERE row = ?", row))

    def answers(self, by: Literal["id", "row"]) -> Iterator[Answer]:
        """The predictions of each gold document, those with the same id or those in the same row, in gold order."""
        for gold, key, row, run, failed in self._database.rows(_ANSWERS.format(column=by)):
            failure = None if failed is None else cast("Failure", _entry(failed).place)
            yield Answer(gold, str(_text(key)), row, _text(run), failure)

    def pair(self, pairs: Iterable[tuple[Answer, str | None]]) -> None:
        """Set the pairs: predictions (or None) of gold documents, and their runs."""
        rows = ((answer.gold, answer.row, _key(run)) for answer, run in pairs)
        self._database.insert("INSERT INTO pair (gold, predicted, run) VALUES (?, ?, ?)", rows)

    def gold_rows(self) -> Iterator[int]:
        """The row of the gold document of each pair, in order."""
        return (row for (row,) in self._database.rows("SELECT gold FROM pair ORDER BY position"))

    def pairs(self) -> Iterator[_Pair]:
        """Position, run, gold document and prediction of each pair, in order."""
        return (_pair(*row) for row in self._database.rows(f"{_PAIRS} ORDER BY position"))

    def pair_at(self, position: int) -> _Pair:
        """The pair at a position."""
        return next(_pair(*row) for row in self._database.rows(f"{_PAIRS} WHERE position = ?", position + 1))

    def __len__(self) -> int:
        """The number of pairs."""
        (size,) = next(self._database.rows("SELECT count(*) FROM pair"))
        return int(size)


class Located(Lazy[Pair]):
    """The pairs of an index. Their documents are read each time they are asked for."""

    def __init__(self, index: Index, failures: Mapping[int, Failure]) -> None:
        """Take the pairs of `index`; `failures` says why there is no prediction, by position."""
        self._index, self._failures, self._size = index, failures, len(index)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Pair]:
        return read(self.locators())

    def at(self, rows: npt.ArrayLike) -> Iterator[Pair]:
        """The pairs at these positions (n,)."""
        return read(self._locator(*self._index.pair_at(at)) for at in np.asarray(rows, dtype=np.intp).tolist())

    def locators(self) -> Iterator[Locator]:
        """Where the documents of each pair are, in order."""
        return (self._locator(*row) for row in self._index.pairs())

    def _locator(self, position: int, run: str | None, gold: Entry, predicted: Entry | None) -> Locator:
        place = self._failures.get(position) or cast("Entry", predicted).place
        origins = gold.origin, predicted.origin if predicted else Origin()
        return Locator(str(gold.id), run, cast("Place", gold.place), place, origins)


_joined: Final = lru_cache(maxsize=64)(os.path.join)  # most documents are in few files


def _key(text: str | None) -> bytes | None:
    return None if text is None else encoded(text)


def _text(key: bytes | None) -> str | None:
    return None if key is None else str(key, errors="surrogatepass")


def _entry(data: bytes) -> Entry:
    identity, run, place, (file, line) = pickle.loads(data)  # noqa: S301  (written by `_row`)
    if not isinstance(place, Failure):
        place = Place(intern(place[0]), *place[1:])  # equal names are one object: parts are smaller to send
    return Entry(identity, run, place, Origin(file and intern(file), line))


def _pair(position: int, run: bytes | None, gold: bytes, predicted: bytes | None) -> _Pair:
    return position - 1, _text(run), _entry(gold), None if predicted is None else _entry(predicted)
