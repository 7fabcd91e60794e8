"""Distances by a judge, such as a language model, that is asked about matched texts only."""

from __future__ import annotations

import math
import sqlite3
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.errors import FunctionError, OptionError, SchemaError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

APPLICATION: Final = 0x61726269
"""Number in the header of the SQLite files of answers, by which they are recognised."""

TextPair = tuple[str, str]
"""A gold text and a predicted text."""


@dataclass(eq=False)
class Judge:
    """A function that judges pairs of texts, with its answers so far; see `judge`.

    A distance function of two texts. `Comparator` asks it about matched texts only.

    Attributes:
        calls: Number of calls so far, without those of other processes.
    """

    ask: Callable[[str, str], Any]
    cache: Path
    match_by: str
    version: str
    limit: int
    retries: int
    wait: float
    threads: int
    announce: Callable[[str], object] | None
    calls: int = 0
    name: str = "judge"
    known: dict[TextPair, float] = field(default_factory=dict, repr=False)
    lock: Any = field(default_factory=Lock, repr=False)

    def __call__(self, gold: str, predicted: str) -> float:
        """Return the distance of two texts, in [0, 1]; asks if there is no answer yet."""
        return 1.0 - self.answers([(gold, predicted)])[gold, predicted]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the judge without its answers, which are in the file."""
        how = (self.ask, self.cache, self.match_by, self.version, self.limit, self.retries, self.wait, self.threads)
        return Judge, (*how, self.announce, 0, self.name)

    def known_answers(self, pairs: Iterable[TextPair]) -> dict[TextPair, float]:
        """Return the qualities of those pairs that are equal or have been judged before. Asks nothing.

        Raises:
            FunctionError: The file of answers cannot be read.
        """
        found: dict[TextPair, float] = {}
        unknown: list[TextPair] = []
        for pair in dict.fromkeys(pairs):
            quality = 1.0 if pair[0] == pair[1] else self.known.get(pair)
            if quality is None:
                unknown.append(pair)
            else:
                found[pair] = quality
        if unknown and self.cache.exists():
            with self._database() as database:
                for pair in unknown:
                    row = database.execute(_READ, (self.version, *pair)).fetchone()
                    if row is not None:
                        found[pair] = self.known[pair] = row[0]
        return found

    def answers(self, pairs: Iterable[TextPair]) -> dict[TextPair, float]:
        """Return the qualities of pairs, in [0, 1]. Asks once for each pair without an answer.

        Raises:
            FunctionError: There would be more calls than the limit (nothing is asked then), the judge fails or gives no
                valid answer after all retries, or the file of answers cannot be written.
        """
        with self.lock:
            wanted = list(dict.fromkeys(pairs))
            found = self.known_answers(wanted)
            new = [pair for pair in wanted if pair not in found]
            if not new:
                return found
            price = self._price(len(new), len(wanted))
            if self.announce is not None:
                self.announce(f"{price}; {len(wanted) - len(new)} of {len(wanted)} answers are known\n")
            with self._database() as database:
                for pair, quality in self._asked(new):
                    found[pair] = self.known[pair] = quality
                    database.execute(_WRITE, (self.version, *pair, quality))
                    database.commit()  # an answer that was paid for must not be lost
            return found

    def check_limit(self, pairs: Iterable[TextPair]) -> None:
        """Check that the limit allows asking about pairs. Asks nothing.

        Raises:
            FunctionError: There would be more calls than the limit, or the file of answers cannot be read.
        """
        with self.lock:
            wanted = set(pairs)
            self._price(len(wanted) - len(self.known_answers(wanted)), len(wanted))

    def _price(self, new: int, wanted: int) -> str:
        """Return the number of calls as a text. Raises FunctionError if there would be more than the limit."""
        price = f"{new} call{'s' * (new > 1)} to `{self.name}`"
        if new and self.calls + new > self.limit:
            raise FunctionError.of(
                f"Expected at most {self.limit} calls to `{self.name}`, got {price} for {wanted} pairs of texts"
                + (f", after {self.calls}" if self.calls else ""),
                hint="No further calls were made. Raise its `limit`, or evaluate fewer documents.",
            )
        return price

    def _asked(self, pairs: list[TextPair]) -> Iterator[tuple[TextPair, float]]:
        """Yield the pairs with their qualities as they are answered. Raises the first error after all other answers."""
        if self.threads == 1:
            yield from ((pair, self._ask(pair)) for pair in pairs)
            return
        failure: BaseException | None = None
        with ThreadPoolExecutor(self.threads) as pool:
            futures = {pool.submit(self._ask, pair): pair for pair in pairs}
            pending = set(futures)
            while pending:
                done, pending = wait_for(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    if (error := future.exception()) is None:
                        yield futures[future], future.result()
                    else:
                        failure = failure or error
                if failure is not None:
                    pending = {future for future in pending if not future.cancel()}  # running calls end first
        if failure is not None:
            raise failure

    def _ask(self, pair: TextPair) -> float:
        """Ask about one pair until the answer is valid. Raises FunctionError after the last attempt."""
        problem = ""
        cause: Exception | None = None
        for attempt in range(self.retries + 1):
            if attempt:
                time.sleep(self.wait * 2 ** (attempt - 1))
            self.calls += 1
            try:
                answer = self.ask(*pair)
            except Exception as error:  # noqa: BLE001  (networks fail in many ways)
                problem, cause = f"raised {type(error).__name__}: {error}", error
                continue
            cause = None
            answer = answer.item() if isinstance(answer, np.generic) else answer
            if isinstance(answer, (bool, int, float)) and 0.0 <= float(answer) <= 1.0:  # NaN is not
                return float(answer)
            problem = f"returned {shown(repr(answer))}, not True, False or a number from 0 to 1"
        raise _failed(self.name, problem, pair, self.retries + 1, self.cache) from cause

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """Open the file of answers, and create it if there is none. Raises FunctionError."""
        try:
            new = not self.cache.exists() or self.cache.stat().st_size == 0
            with closing(sqlite3.connect(self.cache, timeout=60.0)) as database:
                if new:
                    database.execute(f"PRAGMA application_id = {APPLICATION}")
                elif database.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
                    raise sqlite3.DatabaseError("it contains something else")
                database.execute(_CREATE)
                yield database
        except (sqlite3.Error, OSError) as error:
            raise FunctionError.of(
                f"Cannot use the file of answers of `{self.name}`: {error}",
                file=str(self.cache),
                hint="`cache` must be a new file, or one that a judge wrote.",
            ) from error


_CREATE: Final = (
    "CREATE TABLE IF NOT EXISTS answers (version TEXT, gold TEXT, predicted TEXT, quality REAL, "
    "PRIMARY KEY (version, gold, predicted)) WITHOUT ROWID"
)
_READ: Final = "SELECT quality FROM answers WHERE version = ? AND gold = ? AND predicted = ?"
_WRITE: Final = "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)"


def judge(
    ask: Callable[[str, str], Any],
    cache: str | Path,
    *,
    match_by: str = "yujian-bo",
    version: str = "",
    limit: int = 1000,
    retries: int = 2,
    wait: float = 1.0,
    threads: int = 1,
    announce: Callable[[str], object] | None = sys.stderr.write,
) -> Judge:
    """Return a distance by a judge, such as a language model: 1 - the quality that it answers.

    Items of lists are matched by an inexpensive distance; then the judge is asked once for each distinct pair of texts
    that were matched, and its answers replace the qualities of these pairs. The judge is not asked about equal texts:
    their quality is 1. Everything that compares documents in other ways (causes, repair gains, chance, flat comparison)
    uses the answers so far, and the inexpensive distance for other pairs. A judge makes no claims, so the distance
    between documents is not certified.

    Args:
        ask: Function of a gold text and a predicted text that returns True (same meaning), False, or a quality from 0
            to 1. With several processes, it must be picklable, or defined in a module that `functions` names.
        cache: SQLite file for the answers. It is created, and extended by every run. Answers are written one by one, so
            that none is lost. Two judges in one schema need different files or versions, unless they have the same
            `ask`.
        match_by: Built-in distance of texts that decides the matching.
        version: Text that is part of the signature and is stored with each answer. Change it when you change the prompt
            or the model: old answers are then not used.
        limit: Maximum number of calls. An evaluation that needs more calls fails before making any; the number of calls
            is announced first. Retries count towards the limit, but do not interrupt calls in progress.
        retries: Number of further attempts if the judge raises an exception or gives an invalid answer.
        wait: Seconds before the first retry; doubled before each further one.
        threads: Number of calls at the same time.
        announce: Gets the number of calls before they start, as a text; by default, it is written to standard error.

    Returns:
        A distance for the option `distances` of `Comparator`, or for `--functions MODULE:NAME`.

    Raises:
        OptionError: `limit`, `retries`, `wait` or `threads` is out of range.
        FunctionError: While comparing; see `Judge.answers`.
    """
    least = {"limit": 0, "retries": 0, "wait": 0, "threads": 1}
    for option, value in (("limit", limit), ("retries", retries), ("wait", wait), ("threads", threads)):
        if not (isinstance(value, (int, float)) and math.isfinite(value) and value >= least[option]):
            raise OptionError.of(f"Expected `{option}` to be a number of at least {least[option]}, got {value!r}")
    return Judge(ask, Path(cache), match_by, version, limit, retries, wait, threads, announce)


def ask_judges(pairs: Mapping[Judge, Iterable[TextPair]]) -> dict[Judge, dict[TextPair, float]]:
    """Return the answers of several judges to their pairs; see `Judge.answers`.

    Raises:
        FunctionError: As by `Judge.answers`. If the limit of one judge does not suffice, no judge is asked.
    """
    for one, texts in pairs.items():
        one.check_limit(texts)
    return {one: one.answers(texts) for one, texts in pairs.items()}


def check_answers(judges: Iterable[Judge]) -> None:
    """Raise SchemaError if two judges with different functions would use each other's answers."""
    known: dict[tuple[Path, str], Judge] = {}
    for one in sorted(judges, key=lambda judge: judge.name):
        other = known.setdefault((one.cache.resolve(), one.version), one)
        if other.ask != one.ask:
            raise SchemaError.of(
                f"The judges `{other.name}` and `{one.name}` have different functions but the same `cache` and "
                "`version`, so each would use the answers of the other",
                hint="Pass another `cache` or `version` to one of them.",
            )


def _failed(name: str, problem: str, pair: TextPair, attempts: int, cache: Path) -> FunctionError:
    error = FunctionError.of(
        f"`{name}` {problem}, for {shown(repr(pair[0]))} and {shown(repr(pair[1]))}, in {attempts} attempts",
        hint=f"The answers so far are in {cache}: run again to go on.",
    )
    error.values = pair
    return error
