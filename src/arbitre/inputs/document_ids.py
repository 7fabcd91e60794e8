"""Finds ids and runs of documents in records, file names and damaged JSON."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

import regex

from arbitre.errors import DataError, OptionError
from arbitre.parsing import strict_json
from arbitre.paths import pointer
from arbitre.values import PATTERN_SECONDS, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from arbitre.paths import Path as Tokens
    from arbitre.values import Json

RUN: Final = "run"
MAX_NAMES: Final = 4
"""Maximum number of names in a message."""


def quote_names(names: Iterable[str]) -> str:
    """Format the first few names for a message.

    >>> quote_names("abcdef"), quote_names([])
    ("'a', 'b', 'c', 'd', ...", 'none')
    """
    shown = [repr(name) for name in islice(names, MAX_NAMES + 1)]
    return ", ".join([*shown[:MAX_NAMES], *["..."] * (len(shown) > MAX_NAMES)]) or "none"


def label(value: Json, at: Tokens) -> str:
    """Return an id or a run as text. Raises DataError if it is neither a string nor an integer.

    >>> label(7, ("id",))
    '7'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise DataError.of(
        f"Expected {str(at[-1])!r} to be text or an integer, got {kind_of(value).json_type}",
        pointer=pointer(at),
        hint="Write it as text.",
    )


_EXTENSIONS: Final = re.compile(r"(?<=.)(?:\.[A-Za-z][A-Za-z0-9]{0,4})+$", re.DOTALL)
ID_FORMS: Final[Mapping[str, Callable[[str], str]]] = {
    "Unicode form": partial(unicodedata.normalize, "NFC"),
    "case": str.casefold,
    "file extension": partial(_EXTENSIONS.sub, ""),
}
"""Differences that the normalisation of ids ignores, with the functions that remove them."""


def normalized_id(identity: str) -> str:
    """Return an id in Unicode normal form NFC, case-folded and without file extensions.

    >>> normalized_id("Page_01.JPG"), normalized_id("vol. 2.1")
    ('page_01', 'vol. 2.1')
    """
    for form in ID_FORMS.values():
        identity = form(identity)
    return unicodedata.normalize("NFC", identity)  # case folding can undo it


@dataclass(frozen=True, slots=True)
class FileNamePattern:
    """Finds the id and the run in file names. Without a `pattern`, the whole name is the id."""

    pattern: regex.Pattern[str] | None = None

    @classmethod
    def of(cls, pattern: str | None) -> FileNamePattern:
        """Compile a pattern. Raises DataError if it is not a valid regular expression."""
        if pattern is None:
            return cls()
        try:
            return cls(regex.compile(pattern))
        except regex.error as error:
            raise OptionError.of(
                f"Expected the id pattern to be a regular expression, got {pattern!r}: {error}",
                hint=r"Example: --id-pattern 'page_\d+'.",
            ) from None

    def labels(self, stem: str) -> tuple[str, str | None]:
        """Return the id and the run in a file name. Raises DataError if the pattern does not match."""
        if self.pattern is None:
            return stem, None
        try:
            match = self.pattern.search(stem, timeout=PATTERN_SECONDS)
        except TimeoutError:
            raise DataError.of(
                f"The id pattern took more than {PATTERN_SECONDS:g} s on {stem!r}",
                hint="Avoid nested repetitions, such as (a+)+.",
            ) from None
        groups = self.pattern.groupindex
        others = (group for group in range(1, self.pattern.groups + 1) if group != groups.get(RUN))
        identity = match and match[groups.get("id") or next(others, 0)]
        if match is None or not identity:
            raise DataError.of(
                f"Expected the file name to match the id pattern {self.pattern.pattern!r}, got {stem!r}",
                hint="Correct --id-pattern, or move the file to another folder.",
            )
        return identity, match[RUN] if RUN in groups else None


_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.?)*+"?|[\[{]|[\]}]')  # the last string may be cut off
_LABEL: Final = re.compile(r'\s*+:\s*+("(?:[^"\\]++|\\.)*+"|-?\d++)(?=\s*+[,}])')


def recover_label(text: str, key: str) -> str | None:
    """Return the id or run under a top-level key of a damaged record; None if it cannot be recovered.

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
