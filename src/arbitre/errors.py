"""Errors are data: what is wrong, where (file, line, JSON Pointer), and what to do about it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from difflib import SequenceMatcher, get_close_matches
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    `file`, `line` (from 1) and `pointer` (a JSON Pointer, RFC 6901; "" is the whole document) say where,
    as far as it is known; `hint` says what to do.
    """

    message: str
    file: str | None = None
    line: int | None = None
    pointer: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
        text = self.message if self.pointer is None else f"{self.message} at {self.pointer or 'the root'}"
        text = f"{place}: {text}" if place else text
        return f"{text}\n  {self.hint}" if self.hint else text


class ArbitreError(Exception):
    """Base of every error raised on purpose; `problems` holds all that was found, never only the first.

    The attributes `message`, `file`, `line`, `pointer` and `hint` are those of the first problem.
    """

    def __init__(self, *problems: Problem) -> None:
        super().__init__(*problems)
        self.problems = problems

    @classmethod
    def of(
        cls,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        pointer: str | None = None,
        hint: str | None = None,
    ) -> Self:
        """The error of a single problem."""
        return cls(Problem(message, file, line, pointer, hint))

    def located(self, *, file: str | None = None, line: int | None = None) -> Self:
        """The same error with the place filled in where it was not known."""
        return type(self)(
            *(
                replace(
                    problem,
                    file=problem.file if problem.file is not None else file,
                    line=problem.line if problem.line is not None else line,
                )
                for problem in self.problems
            )
        )

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))

    @property
    def message(self) -> str:
        return self.problems[0].message

    @property
    def file(self) -> str | None:
        return self.problems[0].file

    @property
    def line(self) -> int | None:
        return self.problems[0].line

    @property
    def pointer(self) -> str | None:
        return self.problems[0].pointer

    @property
    def hint(self) -> str | None:
        return self.problems[0].hint


class SchemaError(ArbitreError):
    """The schema, its annotations or an overlay cannot be used; every problem found is listed."""


class DataError(ArbitreError):
    """A document cannot be read or compared."""


class SolverError(ArbitreError):
    """A numerical solver failed, or returned something that cannot be trusted."""


MARGIN: Final = 0.25
"""A second name is meant where it is less like the word than the first by no more than this."""


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint naming the known words nearest to `word`, or None where nothing is near.

    >>> did_you_mean("hungarain", ["hungarian", "greedy"])
    'Did you mean "hungarian"?'
    """
    close = get_close_matches(word, list(known), n=2, cutoff=0.6)
    likeness = [SequenceMatcher(None, name, word).ratio() for name in close]
    close = [name for name, ratio in zip(close, likeness, strict=True) if ratio >= likeness[0] - MARGIN]
    quoted = " or ".join(f'"{name}"' for name in close)
    return f"Did you mean {quoted}?" if close else None


ROOM: Final = 80
"""Maximum length of a value in a message, in characters."""


def shown(value: object, room: int = ROOM) -> str:
    """The JSON text of a value, clipped.

    >>> shown({"name": "Ada"}, 10)
    '{"name": …'
    """
    return clipped(json.dumps(value, ensure_ascii=False), room)


def clipped(text: str, room: int = 300) -> str:
    """The text, or the beginning of it and an ellipsis if it is longer than `room` characters.

    >>> clipped("quill", 4)
    'qui…'
    """
    return text if len(text) <= room else text[: room - 1] + "…"
