"""Temporary SQLite databases."""

from __future__ import annotations

import sqlite3
import weakref
from typing import TYPE_CHECKING, Any, Final

from arbitre.corpus.storage.temporary import temporary_space

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

CACHE: Final = 2048
"""Page cache of a database, in KiB. All other pages are on disk."""

_SETTINGS: Final = f"PRAGMA journal_mode = OFF; PRAGMA cache_size = -{CACHE};"


class Database:
    """A temporary SQLite database that is deleted with this object. Any thread may use it, but only one at a time.

    Methods raise DataError if the disk is full.
    """

    def __init__(self, tables: str) -> None:
        """Create the database.

        Args:
            tables: The SQL statements that create its tables.
        """
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._connection.close)
        self._connection.executescript(f"{_SETTINGS} {tables}; BEGIN;")  # never committed: no other connection reads it

    def execute(self, statement: str, *values: object) -> int:
        """Execute a statement and return the number of rows it changed."""
        with temporary_space(sqlite3.OperationalError):
            return self._connection.execute(statement, values).rowcount

    def insert(self, statement: str, rows: Iterable[Sequence[object]]) -> int:
        """Execute a statement once per row and return the number of rows it changed."""
        with temporary_space(sqlite3.OperationalError):
            return self._connection.executemany(statement, rows).rowcount

    def rows(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows that a query selects."""
        with temporary_space(sqlite3.OperationalError):
            for row in self._connection.execute(query, values):  # noqa: UP028  (`yield from` closes the cursor too late)
                yield row
