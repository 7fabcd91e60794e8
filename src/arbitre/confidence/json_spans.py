"""Locates each value of a JSON document in its source text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.corpus.reading import strict_json
from arbitre.errors import DataError
from arbitre.paths import escape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.values import Json

_LEXEME: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s"{}\[\]:,]+')
_OPENING: Final = re.compile(rb"[{\[]")
_CLOSING: Final = re.compile(rb"[}\]]")


class ByteSpan(NamedTuple):
    """A half-open range of bytes."""

    start: int
    stop: int


class LocatedDocument(NamedTuple):
    """A document with the location of each of its values in a text.

    Attributes:
        document: The parsed document.
        spans: Byte range of each value in the text, by JSON Pointer; that of a text excludes its quotes.
    """

    document: Json
    spans: dict[str, ByteSpan]


def locate(text: bytes) -> LocatedDocument:
    """Parse the JSON document in an answer, which may be surrounded by other text such as a Markdown fence.

    Returns:
        The document, with the byte range of each value.

    Raises:
        DataError: The text does not contain exactly one JSON document.

    >>> located = locate(b'The answer is: {"name": "Ada", "age": 36}')
    >>> located.document, located.spans["/name"], located.spans["/age"]
    ({'name': 'Ada', 'age': 36}, ByteSpan(start=25, stop=28), ByteSpan(start=38, stop=40))
    """
    start, stop = 0, len(text)
    try:
        document = strict_json.parse(text)
    except DataError:
        opening = _OPENING.search(text)
        closings = [match.end() for match in _CLOSING.finditer(text)]
        if opening is None or not closings:
            raise
        start, stop = opening.start(), closings[-1]
        document = strict_json.parse(text[start:stop])
    return LocatedDocument(document, dict(_spans(text, start, stop)))


def _spans(text: bytes, start: int, stop: int) -> Iterator[tuple[str, ByteSpan]]:
    """Yield the pointer and the range of each value of a valid JSON text."""
    pointer, key = "", False
    above: list[tuple[str, int, int | None]] = []  # pointer, start and next position of each open list or object
    for match in _LEXEME.finditer(text, start, stop):
        lexeme = match[0]
        if lexeme in (b"{", b"["):
            above.append((pointer, match.start(), 0 if lexeme == b"[" else None))
            key = lexeme == b"{"
            pointer = f"{pointer}/0" if lexeme == b"[" else pointer
        elif lexeme in (b"}", b"]"):
            (pointer, opened, _), key = above.pop(), False
            yield pointer, ByteSpan(opened, match.end())
        elif lexeme == b",":
            parent, opened, position = above[-1]
            if position is None:
                key = True
            else:
                above[-1] = parent, opened, position + 1
                pointer = f"{parent}/{position + 1}"
        elif lexeme == b":":
            key = False
        elif key:
            pointer = f"{above[-1][0]}/{escape(str(strict_json.parse(lexeme)))}"
        else:
            quoted = lexeme.startswith(b'"') and len(lexeme) > 2  # noqa: PLR2004  (an empty text has its quotes)
            yield pointer, ByteSpan(match.start() + quoted, match.end() - quoted)
