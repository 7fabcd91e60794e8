"""The labels of a document: its id and its run, as records, file names and damaged texts show them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import regex

from arbitre.corpus.reading import strict_json
from arbitre.errors import DataError
from arbitre.paths import pointer
from arbitre.values import PATTERN_SECONDS, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arbitre.paths import Path as Tokens
    from arbitre.values import Json

RUN: Final = "run"
MAX_NAMES: Final = 4
"""How many of several things a message names."""


def quote_names(names: Iterable[str]) -> str:
    """The first few of the names, for a message.

    >>> quote_names("abcdef"), quote_names([])
    ("'a', 'b', 'c', 'd', ...", 'none')
    """
    shown = [repr(name) for name in islice(names, MAX_NAMES + 1)]
    return ", ".join([*shown[:MAX_NAMES], *["..."] * (len(shown) > MAX_NAMES)]) or "none"


def label(value: Json, at: Tokens) -> str:
    """The text of an id or a run. Raises DataError where it is neither text nor an integer.

    >>> label(7, ("id",))
    '7'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise DataError.of(
        f"Expected {str(at[-1])!r} to be text or an integer, got {kind_of(value).name.lower()}",
        pointer=pointer(at),
        hint="Write it as text.",
    )


@dataclass(frozen=True, slots=True)
class FileNamePattern:
    """How a file name is read: `pattern` finds the id in it; without one, the name is the id."""

    pattern: regex.Pattern[str] | None = None

    @classmethod
    def of(cls, pattern: str | None) -> FileNamePattern:
        """Raises DataError where the pattern is no regular expression."""
        if pattern is None:
            return cls()
        try:
            return cls(regex.compile(pattern))
        except regex.error as error:
            raise DataError.of(
                f"Expected the id pattern to be a regular expression, got {pattern!r}: {error}",
                hint=r"As in --id-pattern 'page_\d+'.",
            ) from None

    def labels(self, stem: str) -> tuple[str, str | None]:
        """The id and the run that a file name holds. Raises DataError where the pattern finds no id in it."""
        if self.pattern is None:
            return stem, None
        try:
            match = self.pattern.search(stem, timeout=PATTERN_SECONDS)
        except TimeoutError:
            raise DataError.of(
                f"Expected the id pattern to be done in {PATTERN_SECONDS:g} s with {stem!r}, got no answer",
                hint="Avoid repetitions inside repetitions.",
            ) from None
        groups = self.pattern.groupindex
        others = (group for group in range(1, self.pattern.groups + 1) if group != groups.get(RUN))
        identity = match and match[groups.get("id") or next(others, 0)]
        if match is None or not identity:
            raise DataError.of(
                f"Expected the file name to match the id pattern {self.pattern.pattern!r}, got {stem!r}",
                hint="Correct --id-pattern, or move the file elsewhere.",
            )
        if RUN in groups:
            return identity, match[RUN]
        return identity, stem if stem != identity else None


_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.?)*+"?|[\[{]|[\]}]')  # a string may break off: the text is damaged
_LABEL: Final = re.compile(r'\s*+:\s*+("(?:[^"\\]++|\\.)*+"|-?\d++)(?=\s*+[,}])')


def recover_label(text: str, key: str) -> str | None:
    """What a damaged record still shows under one of its own keys (not under a key of a value in it).

    >>> recover_label('{"x": {"id": "inner"}, "id": "a", "y": [1, 2', "id")
    'a'
    """
    quoted = json.dumps(key, ensure_ascii=False)
    level = 0
    for token in _TOKEN.finditer(text):
        if token[0] in "[{":
            level += 1
        elif token[0] in "]}":
            level -= 1
        elif level == 1 and token[0] == quoted:
            found = _LABEL.match(text, token.end())
            if found:
                try:
                    return label(strict_json.parse(found[1]), (key,))
                except DataError:
                    return None
    return None
