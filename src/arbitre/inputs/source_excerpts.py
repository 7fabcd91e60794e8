r"""The part of a source text in which the values of an entry occur.

>>> page = SearchableText("BARTHOU (Louis). Discuss. de l'ex-\nploitation des lignes, p. 1 211.")
>>> found = page.excerpt(gold=1211, predicted=1212)
>>> [(found.text[start:end], kind) for start, end, kind in found.marks]
[('1 211', 'gold')]
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from arbitre.distances.edit import find_nearly
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from arbitre.values import Json

LENGTH: Final = 600
"""Number of characters of an excerpt, without the rest of the first and the last word."""

SIMILARITY: Final = 0.9
"""Minimum Indel similarity of a long text and a part of the source."""

LONG: Final = 10
"""Minimum number of characters of a text that may differ from the source."""

MAX_WEIGHT: Final = 40
"""Number of characters from which on the length of a value does not make its occurrence more telling."""

MAX_WORD: Final = 30
"""Maximum number of characters by which an excerpt is cut to begin and end with a whole word."""

MAX_OCCURRENCES: Final = 1000
"""Maximum number of occurrences of one value that are looked at."""

Kind = Literal["gold", "predicted", "entry"]

SHARES: Final[dict[Kind, float]] = {"gold": 1.0, "predicted": 0.9, "entry": 0.5}
"""How much the occurrence of a value counts in the choice of the excerpt, relative to a gold value."""

_PARTS: Final = re.compile(
    r"(?P<broken>(?<=\w)[-\u00ad\u2010\u2011]\s*\n\s*(?=\w)|\u00ad)|(?P<space>\s+)|(?P<plain>[!-,.-~]+)|.", re.DOTALL
)
_HYPHEN: Final = re.compile(r"(?<=\w)-(?=\w)")
_ALIKE: Final = str.maketrans("\u2018\u2019\u02bc\u2010\u2011\u2012\u2013\u2014", "'''-----")
"""Apostrophes and hyphens that count as equal."""


class _Mark(NamedTuple):
    start: int
    end: int
    kind: Kind


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
    kind: Kind
    value: int
    weight: float


class SearchableText:
    """A text in which values are found whatever their case, white space, Unicode form and hyphens at line ends.

    Apostrophes and hyphens count as equal to their typographic forms. A text of 10 characters or more is also found
    with an Indel similarity of at least 0.9, to allow for OCR errors. A number is found if it is not part of a longer
    number or word, also with separators of thousands.
    """

    def __init__(self, text: str) -> None:
        """Normalise a text for the search."""
        self.text = text
        self._folded, self._starts, self._ends = _fold(text)

    def find(self, value: Json, *, nearly: bool = False) -> list[tuple[int, int]]:
        """Return where a single value occurs: the first character, and the one after the last.

        Args:
            value: A text or a number; other values are not searched.
            nearly: Whether a long text that does not occur may differ in some characters.
        """
        if isinstance(value, str):
            folded = _fold(value)[0].strip()
            found = [*self._places(folded)] if any(map(str.isalnum, folded)) else []
            if not found:  # a hyphen of the value may be at the end of a line
                broken = (folded[: hyphen.start()] + folded[hyphen.end() :] for hyphen in _HYPHEN.finditer(folded))
                found = [place for part in broken for place in self._places(part)]
            if not found and nearly and len(folded) >= LONG:
                near = find_nearly(folded, self._folded, SIMILARITY)
                found = [] if near is None else [_trimmed(self._folded, *near)]
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found = [place for written in _notations(value) for place in self._places(written)]
        else:
            found = []
        return [(self._starts[start], self._ends[end - 1]) for start, end in found]

    def _places(self, part: str) -> Iterator[tuple[int, int]]:
        """Yield where a part occurs that is neither the beginning nor the end of a longer word or number."""
        text, start = self._folded, self._folded.find(part)
        while start >= 0:  # ten times as fast as a regular expression that begins with a look-behind
            end = start + len(part)
            before, after = text[max(0, start - 1) : start], text[end : end + 1]
            begins = not (part[0].isalnum() and before.isalnum())
            stops = not (part[-1].isalnum() and (after.isalnum() or unicodedata.combining(after or " ")))
            if begins and stops:
                yield start, end
            start = text.find(part, end if begins and stops else start + 1)

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

    def _occurrences(self, sides: Mapping[Kind, list[Json]]) -> Iterator[_Occurrence]:
        """Yield the occurrences of all values; other values of the entry that are on another side too are left out.

        A value that occurs only approximately is left out where another value occurs exactly.
        """
        known: dict[tuple[Kind, bool, str], int] = {}
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


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a part without the white space at its ends."""
    part = text[start:end]
    return end - len(part.lstrip()), start + len(part.rstrip())


def _notations(value: float) -> list[str]:
    """Return how a number may be written: thousands may be separated, and the decimal mark may be a comma.

    >>> _notations(1211), _notations(2.5)
    (['1211', '1 211', '1.211', '1,211', "1'211"], ['2.5', '2.50', '2,5', '2,50'])
    """
    whole, _, decimals = (f"{abs(value):f}".rstrip("0") if isinstance(value, float) else str(abs(value))).partition(".")
    groups = [whole[max(0, end - 3) : end] for end in range(len(whole), 0, -3)][::-1]
    wholes = dict.fromkeys(separator.join(groups) for separator in ("", *" .,'"))
    parts = [f"{mark}{decimals}{zero}" for mark in ".," for zero in ("", "0")] if decimals else [""]
    return [one + part for one in wholes for part in parts]


def _fold(text: str) -> tuple[str, list[int], list[int]]:
    """Return a text in the form in which it is searched, and where each of its characters begins and ends in `text`."""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _PARTS.finditer(text):
        start, end = match.span()
        if match.lastgroup == "broken":
            continue
        if match.lastgroup == "plain":
            parts.append(match[0].lower())
            starts += range(start, end)
            ends += range(start + 1, end + 1)
            continue
        folded = " " if match.lastgroup == "space" else _folded(match[0])
        parts.append(folded)
        starts += [start] * len(folded)
        ends += [end] * len(folded)
    return "".join(parts), starts, ends


def _folded(character: str) -> str:
    """Return the folded form of a character. Decomposed, it does not depend on the characters around it."""
    decomposed = unicodedata.normalize("NFKD", character.translate(_ALIKE))
    return unicodedata.normalize("NFKD", decomposed.casefold()).translate(_ALIKE)


class _Utf16:
    """Offsets in UTF-16 code units of the characters of a text."""

    def __init__(self, text: str) -> None:
        self._large = [at for at, character in enumerate(text) if character > "\uffff"]

    def at(self, offset: int) -> int:
        """Return the offset in code units of an offset in characters."""
        return offset + bisect_right(self._large, offset - 1)
