"""Temporary folders, which a later process deletes if their process was killed, and temporary databases."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import sys
import tempfile
import weakref
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


if sys.platform != "win32":
    import fcntl

PREFIX: Final = "arbitre-"
"""Beginning of the names of temporary folders."""

OWNER: Final = "owner"
"""File in each temporary folder that its process keeps locked."""


class TemporaryFolder:
    """A temporary folder, deleted by `close`, with this object or at the end of the process.

    If the process is killed, `remove_stale_folders` of a later process deletes it. Raises DataError if it cannot be
    created.

    Attributes:
        path: The folder.
    """

    def __init__(self) -> None:
        remove_stale_folders()
        with temporary_space():
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.close = weakref.finalize(self, _remove, self.path, _lock(self.path), os.getpid())
        """Deletes the folder. Does nothing if it is already deleted."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@cache
def remove_stale_folders() -> None:
    """Delete the temporary folders of killed processes; once per process.

    Deletes only folders of the same user that were created by this module on the same machine, and whose process has
    ended: the operating system has released its lock. Does nothing on Windows, which has no such locks.
    """
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):  # in use, owned by another user, or already deleted
                    _remove_stale(Path(entry.path))


def _remove_stale(folder: Path) -> None:
    """Delete a folder if its process has ended. Raises OSError if the process is running, or there is no `OWNER`."""
    if sys.platform == "win32" or folder.stat(follow_symlinks=False).st_uid != os.getuid():
        return
    lock = os.open(folder / OWNER, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.read(lock, 1 << 10) == _mark():
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _lock(folder: Path) -> int | None:
    """Create the file `OWNER` and lock it until this process ends. Return its descriptor; None without locks."""
    if sys.platform == "win32":
        return None
    part = folder / f"{OWNER}.part"  # renamed once it is locked
    lock = None
    try:
        lock = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(lock, _mark())
        part.rename(folder / OWNER)
    except OSError:  # the file system has no locks, or no space: the folder is not deleted if the process is killed
        if lock is not None:
            os.close(lock)
        return None
    return lock


def _mark() -> bytes:
    """Return the content of `OWNER`. Locks may not be visible on other machines."""
    return f"Temporary folder of arbitre on {socket.gethostname()}\n".encode()


def _remove(folder: Path, lock: int | None, process: int) -> None:
    if os.getpid() == process:  # a forked process does not own the folder
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


@contextmanager
def temporary_space(failure: type[Exception] = OSError) -> Iterator[None]:
    """Convert `failure` exceptions of temporary files or databases to DataError."""
    try:
        yield
    except failure as error:
        raise DataError.of(
            f"Not enough space for temporary files: {getattr(error, 'strerror', None) or error}",
            file=tempfile.gettempdir(),
            hint="Free some space there, or set TMPDIR to a folder on a larger disk.",
        ) from error


# Temporary SQLite databases.


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
