"""A text with the spans that an annotator marked, and the offsets of UTF-16 in it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Span = dict[str, Any]
    """An object with `start`, `end` and `label`."""


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A document with the spans of one annotator.

    Attributes:
        id: Id of the document.
        annotator: Name of the annotator; None if the file does not name one.
        spans: The spans, in the order of the file. They count characters (code points) and may overlap.
        text: The text; None if the file does not contain it.
        line: Line of the document in the file, from 1, if it has one.
        pointer: JSON Pointer of the document in the file, if it has one.
        predicted: Whether a model made the annotations.
    """

    id: str
    annotator: str | None
    spans: Sequence[Span]
    text: str | None = None
    line: int | None = None
    pointer: str | None = None
    predicted: bool = False


@dataclass(slots=True)
class Found:
    """What has been read from a file so far.

    Attributes:
        documents: The documents.
        left_out: What was not read as a span, or not as it is written, with its number.
    """

    documents: list[AnnotatedText] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


class Utf16Offsets:
    """Converts offsets in UTF-16 code units to characters.

    >>> Utf16Offsets([(0, "a😀b")]).character(3), Utf16Offsets.of("a😀b").character(4)
    (2, 3)
    """

    def __init__(self, parts: Iterable[tuple[int, str]]) -> None:
        """Take parts of a text with their offsets in UTF-16 code units. What is between them has no surrogate pairs."""
        self.pairs = [offset for start, part in parts for offset in _pairs(start, part)]
        """Offsets of the characters that take two code units, in increasing order."""

    @classmethod
    def of(cls, text: str) -> Utf16Offsets:
        """Return the offsets of a whole text."""
        return cls([(0, text)])

    def character(self, offset: int) -> int:
        """Return the position of the character at an offset. Raises DataError within a surrogate pair."""
        before = bisect_left(self.pairs, offset)
        if before and self.pairs[before - 1] == offset - 1:
            raise DataError.of(f"Expected an offset in UTF-16 code units, got {offset}, which divides a surrogate pair")
        return offset - before


def _pairs(start: int, text: str) -> Iterable[int]:
    """Yield the offsets in UTF-16 code units of the characters that take two of them."""
    if text.isascii():
        return []
    wide = [character > "\uffff" for character in text]
    offsets = accumulate((1 + each for each in wide), initial=start)
    return [offset for offset, each in zip(offsets, wide, strict=False) if each]
