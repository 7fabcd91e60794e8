r"""The part of a source text in which the values of an entry occur.

>>> page = SearchableText("BARTHOU (Louis). Discuss. de l'ex-\nploitation des lignes, p. 1 211.")
>>> found = page.excerpt(gold=1211, predicted=1212)
>>> [(found.text[start:end], kind) for start, end, kind in found.marks]
[('1 211', 'gold')]
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from arbitre.inputs.source_search import PlacedText
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from arbitre.values import Json

LENGTH: Final = 600
"""Number of characters of an excerpt, without the rest of the first and the last word."""

MAX_WEIGHT: Final = 40
"""Number of characters from which on the length of a value does not make its occurrence more telling."""

MAX_WORD: Final = 30
"""Maximum number of characters by which an excerpt is cut to begin and end with a whole word."""

MAX_OCCURRENCES: Final = 1000
"""Maximum number of occurrences of one value that are looked at."""

MarkKind = Literal["gold", "predicted", "entry"]

SHARES: Final[dict[MarkKind, float]] = {"gold": 1.0, "predicted": 0.9, "entry": 0.5}
"""How much the occurrence of a value counts in the choice of the excerpt, relative to a gold value."""


class _Mark(NamedTuple):
    start: int
    end: int
    kind: MarkKind


class Mark(_Mark):
    """A marked part of an excerpt.

    Attributes:
        start: Offset of its first character in the excerpt.
        end: Offset after its last character.
        kind: "gold" or "predicted" for one of these values, "entry" for another value of the entry.
    """


class Excerpt(NamedTuple):
    """A part of a text. All offsets are in UTF-16 code units, as in JavaScript.

    Attributes:
        text: The part.
        start: Offset in the whole text.
        marks: Where the values occur; parts do not overlap.
    """

    text: str
    start: int
    marks: tuple[Mark, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        return {"text": self.text, "start": self.start, "marks": [list(mark) for mark in self.marks]}


class _Occurrence(NamedTuple):
    """An occurrence of a value: its place, the side of the value, its number among the values, and what it counts."""

    start: int
    end: int
    kind: MarkKind
    value: int
    weight: float


class SearchableText(PlacedText):
    """A source text that returns excerpts containing given values. Values are found as in `SourceText`."""

    def excerpt(
        self, gold: Json = ABSENT, predicted: Json = ABSENT, entry: Iterable[Json] = (), length: int = LENGTH
    ) -> Excerpt:
        """Return the part of the text in which the values occur.

        Several occurrences of gold and predicted values in one place are better than one, and those of long values are
        better than those of short ones; other values of the entry break ties. If neither value occurs, the part has the
        other values of the entry, and if these do not occur either, it is the beginning of the text, without marks.

        Args:
            gold: Gold value; all values in a list or an object are searched. ABSENT for none.
            predicted: Predicted value, or ABSENT.
            entry: Other values of the entry, or the gold and the predicted entry.
            length: Approximate number of characters.
        """
        found = sorted(self._occurrences({"gold": [gold], "predicted": [predicted], "entry": list(entry)}))
        start, end = _best(found, length)
        start = max(0, min(start - max(0, length - (end - start)) // 2, len(self.text) - length))
        start, end = self._whole_words(start, min(len(self.text), start + length))
        marked = [one for one in found if one.kind != "entry"] or found
        offsets = _Utf16(self.text)
        first = offsets.at(start)
        marks = (
            Mark(offsets.at(left) - first, offsets.at(right) - first, kind)
            for left, right, kind in _disjoint(marked, start, end)
        )
        return Excerpt(self.text[start:end], first, tuple(marks))

    def _occurrences(self, sides: Mapping[MarkKind, list[Json]]) -> Iterator[_Occurrence]:
        """Yield the occurrences of all values; other values of the entry that are on another side too are left out.

        A value that occurs only approximately is left out where another value occurs exactly.
        """
        known: dict[tuple[MarkKind, bool, str], int] = {}
        exact, near = list[_Occurrence](), list[_Occurrence]()
        for kind, values in sides.items():
            for value in _leaves(values):
                key = isinstance(value, str), str(value)
                if (kind, *key) in known or (kind == "entry" and {("gold", *key), ("predicted", *key)} & known.keys()):
                    continue
                known[kind, *key] = len(known)
                found = self.find(value)
                places = found or self.find(value, nearly=kind != "entry")
                (exact if found else near).extend(
                    _Occurrence(start, end, kind, known[kind, *key], SHARES[kind] * min(end - start, MAX_WEIGHT))
                    for start, end in places[:MAX_OCCURRENCES]
                )
        yield from exact
        own = [one for one in exact if one.kind != "entry"]
        yield from (one for one in near if all(other.end <= one.start or one.end <= other.start for other in own))

    def _whole_words(self, start: int, end: int) -> tuple[int, int]:
        """Return a part that begins and ends with whole words, if they are not too long."""
        if start:
            found = re.compile(r"\s+").search(self.text, start - 1, start + MAX_WORD)
            start = start if found is None else found.end()
        if end < len(self.text):
            tail = self.text[max(start, end - MAX_WORD) : end + 1]
            space = max((at for at, character in enumerate(tail) if character.isspace()), default=-1)
            end = end if space < 0 else end + 1 - len(tail) + space
        return start, end


def _best(found: list[_Occurrence], length: int) -> tuple[int, int]:
    """Return the part from one occurrence to another in which the values count most; an empty part without any.

    Each value counts once. Gold and predicted values decide before other values of the entry.
    """
    best, part = (0.0, 0.0), (0, 0)
    inside: Counter[int] = Counter()
    scores = {"own": 0.0, "entry": 0.0}
    last = 0
    for first, begin in enumerate(found):
        while last < len(found) and (last <= first or found[last].end <= begin.start + length):
            one = found[last]
            scores["entry" if one.kind == "entry" else "own"] += one.weight * (not inside[one.value])
            inside[one.value] += 1
            last += 1
        score = round(scores["own"], 6), round(scores["entry"], 6)
        if score > best:
            best, part = score, (begin.start, max(one.end for one in found[first:last]))
        inside[begin.value] -= 1
        scores["entry" if begin.kind == "entry" else "own"] -= begin.weight * (not inside[begin.value])
    return part


def _disjoint(found: list[_Occurrence], start: int, end: int) -> list[_Mark]:
    """Return the occurrences within a part, cut where those of an earlier kind are."""
    taken: list[_Mark] = []
    for kind in SHARES:
        own: list[_Mark] = []
        for one in found:
            if one.kind == kind:
                pieces = [(max(start, one.start), min(end, one.end))]
                for other in (*taken, *own):
                    pieces = [piece for left, right in pieces for piece in _without(left, right, other)]
                own += [_Mark(left, right, kind) for left, right in pieces if left < right]
        taken += own
    return sorted(taken)


def _without(left: int, right: int, other: _Mark) -> Iterator[tuple[int, int]]:
    """Yield what remains of a part without another one."""
    if other.end <= left or right <= other.start:
        yield left, right
    else:
        yield left, other.start
        yield other.end, right


def _leaves(values: list[Json]) -> Iterator[Json]:
    """Yield the single values in some values, in order."""
    pending = values[::-1]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += reversed(value.values())
        elif isinstance(value, list):
            pending += reversed(value)
        elif value is not ABSENT:
            yield value


class _Utf16:
    """Offsets in UTF-16 code units of the characters of a text."""

    def __init__(self, text: str) -> None:
        self._large = [at for at, character in enumerate(text) if character > "\uffff"]

    def at(self, offset: int) -> int:
        """Return the offset in code units of an offset in characters."""
        return offset + bisect_right(self._large, offset - 1)
