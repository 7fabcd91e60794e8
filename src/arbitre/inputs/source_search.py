r"""The search for values in a source text: which notations of a text or of a number count as equal.

`SourceText` states whether a value occurs; `PlacedText` states where. Both follow the same rules.

>>> page = "BARTHOU (Louis). - Discuss. de l'ex-\nploitation des lignes Paris-Lyon, p. 1 211."
>>> "Barthou, Louis" in SourceText(page), 1211 in SourceText(page), 39 in SourceText("p. 394")
(True, True, False)
>>> [page[start:end] for value in ("Lyon", 1211) for start, end in PlacedText(page).find(value)]
['Lyon', '1 211']
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.distances.edit import contains_nearly, find_nearly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from arbitre.arrays import Indices
    from arbitre.values import Json

SIMILARITY: Final = 0.9
"""Minimum Indel similarity of a long text and a part of the source."""
LONG: Final = 10
"""Minimum number of characters of a text that may differ from the source."""
CACHED_TEXTS: Final = 1 << 14
"""Maximum number of values whose normalised texts are cached."""
CACHED_LENGTH: Final = 256
"""Maximum number of characters of these values; bounds the memory of the cache to about 10 MB."""

_SIGNS: Final = r"\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e"
"""Accents, and vowel signs of Hebrew, Arabic, Thai and the scripts of India; `re` does not regard them as letters."""
_ATTACHED: Final = re.compile(r"[\u00b2\u00b3\u00b9\u2070\u2074-\u2079]+|[\u00bc-\u00be\u2150-\u215f\u2189]")
"""Superscript digits, such as note marks, and fractions."""
_APART: Final = r"-\g<0>-"
"""Replacement for these characters that separates them from the word or number beside them."""
_COMPOSED: Final = re.compile(rf".[{_SIGNS}]+|[^\x00-\x7f]", re.DOTALL)
"""The parts of a text whose NFKC form may differ."""
_CASED: Final = re.compile(r"[A-Z]|[^\x00-\x7f]")
_HYPHEN: Final = re.compile(r"[-\u00ad\u2010\u2011]\s*")
_MARK: Final = re.compile("-")
"""The hyphens of a `spelling`."""
_HYPHENS: Final = frozenset("-\u00ad\u2010\u2011")
"""The hyphens of `_HYPHEN`."""
_NOT_WORD: Final = re.compile(rf"(?:[^\w{_SIGNS}-]|_)+")
_SPACES: Final = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) != "-"}
"""Translates the ASCII characters that are no part of a word to spaces, except hyphens."""

# Patterns that begin with a digit instead of a look-behind take a fraction of the time.
_DIGITS: Final = re.compile(r"\d(?<![^\W_]\d)\d*(?![^\W_])")
_DECIMAL: Final = re.compile(r"\d(?<![^\W_]\d)(?<![.,]\d)\d*[.,]\d+(?![^\W_]|[.,]\d)")
_GROUPED: Final = re.compile(r"\d(?<![^\W_]\d)(?<![.,]\d)\d{0,2}(?:[.,'’ ]\d{3})+(?![^\W_]|[.,]\d)")
_GROUPED_DECIMAL: Final = re.compile(
    r"\d(?<![^\W_]\d)(?<![.,]\d)\d{0,2}(?P<group>[.,'’ ])\d{3}(?:(?P=group)\d{3})*"
    r"(?!(?P=group))[.,]\d+(?![^\W_]|[.,]\d)"
)
_NOT_DIGIT: Final = re.compile(r"\D")
_LAST_MARK: Final = re.compile(r"[.,](?=\d+\Z)")


def spelling(text: str) -> str:
    r"""Return the words of a text in lower case, separated by single spaces, or by hyphens.

    A hyphen separates two words that may also be one word. A word that is divided between two lines is one word, except
    if a capital letter follows a small letter. Digits are never joined.

    Texts in ASCII, and those without hyphens, take a shorter way. Together with the cache of `words`, this halves the
    time of the evidence of a corpus.

    >>> spelling("Loi de cré-\ndits (1914-1918), Paris-Lyon"), spelling("Barthou¹ parla en 1871²")
    ('loi de crédits 1914 1918 paris-lyon', 'barthou-1-parla en 1871 2')
    """
    return _spelling(compatible(text))


def _spelling(text: str) -> str:
    """Return the `spelling` of a `compatible` text."""
    if text.isascii():
        if "-" in text:
            text = _HYPHEN.sub(_without_hyphen, text)
        return " ".join(text.lower().translate(_SPACES).split())
    if not _HYPHENS.isdisjoint(text):
        text = _HYPHEN.sub(_without_hyphen, text)
    return _NOT_WORD.sub(" ", text.casefold()).strip()


def compatible(text: str) -> str:
    """Return the NFKC form of a text, in which hyphens are around superscript digits and fractions.

    >>> compatible("en 1871², Barthou¹, 3½")
    'en 1871-2-, Barthou-1-, 3-1⁄2-'
    """
    return text if text.isascii() else unicodedata.normalize("NFKC", _ATTACHED.sub(_APART, text))


def _without_hyphen(found: re.Match[str]) -> str:
    """Return what replaces a hyphen and the white space after it: nothing, a hyphen (see `spelling`) or a space."""
    before, after = found.string[max(0, found.start() - 1) : found.start()], found.string[found.end() : found.end() + 1]
    if not (before.isalnum() and after.isalnum()) or (before.isdigit() and after.isdigit()):
        return " "
    if found[0][0] == "\u00ad":
        return ""
    at_line_end = "\n" in found[0] or "\r" in found[0]
    if at_line_end and before.isalpha() and after.isalpha() and not (before.islower() and after.isupper()):
        return ""
    return "-"


_cached = lru_cache(maxsize=CACHED_TEXTS)(spelling)


def _value_spelling(value: str) -> str:
    """Return the spelling of a value, from the cache if the value is short."""
    return _cached(value) if len(value) <= CACHED_LENGTH else spelling(value)


def words(value: str) -> str:
    """Return the words of a value in lower case, separated by single spaces; the parts of "Jean-Paul" are two words."""
    return _value_spelling(value).replace("-", " ")


_NOTATIONS: Final[tuple[tuple[re.Pattern[str], Callable[[str], str]], ...]] = (
    (_DIGITS, str),
    (_DECIMAL, lambda written: written.replace(",", ".")),
    (_GROUPED, lambda written: _NOT_DIGIT.sub("", written)),
    (_GROUPED_DECIMAL, lambda written: ".".join(_NOT_DIGIT.sub("", part) for part in _LAST_MARK.split(written))),
)
"""Patterns of numbers, and functions that return these in plain notation.

"402,403" may be one integer, two integers or a decimal number, so three patterns find it.
"""


def _number(value: float) -> Decimal:
    """Return the number that is searched for: the sign does not count, since it may be a dash."""
    return Decimal(str(value)).copy_abs()


class SourceText:
    r"""The text that was given to the model.

    Texts are compared as words, without regard to case, punctuation, white space and hyphens; a word that is divided
    between two lines is one word. A text of 10 characters or more also matches a part of the source with an Indel
    similarity of at least 0.9, to allow for OCR errors. A number must occur as a separate number, without tolerance: 39
    is not in "394".

    >>> page = SourceText("BARTHOU (Louis). - Discuss. de l'ex-\nploitation des lignes de l'aéropostale, p. 1 211.")
    >>> "Barthou, Louis" in page, "exploitation des lignes de l'aeropostale" in page, 1211 in page, 39 in page
    (True, True, True, False)
    """

    def __init__(self, text: str) -> None:
        """Normalise a text for the search."""
        self._plain = compatible(text)
        self._readings = readings(f" {_spelling(self._plain)} ")
        self._known: dict[str, bool] = {}

    @cached_property
    def _present(self) -> set[Decimal]:
        return {
            Decimal(plain(written))
            for pattern, plain in _NOTATIONS
            for written in {found[0] for found in pattern.finditer(self._plain)}
        }

    def __contains__(self, value: str | float) -> bool:
        """Return whether a text or a number occurs in the source."""
        if not isinstance(value, str):
            return _number(value) in self._present
        text = _value_spelling(value)
        if text not in self._known:
            self._known[text] = self._has(text)
        return self._known[text]

    def _has(self, text: str) -> bool:
        if not text:
            return False
        several = readings(text)
        for one in several:
            part = f" {one} "
            for whole in self._readings:
                if part in whole:
                    return True
        part, whole = several[0], self._readings[0]
        return LONG <= len(part) <= len(whole) and contains_nearly(part, whole, SIMILARITY)


def readings(text: str) -> tuple[str, ...]:
    """Return the readings of a `spelling`: with hyphenated words split into their parts, and joined into one word.

    >>> readings("paris-lyon"), readings("paris lyon")
    (('paris lyon', 'parislyon'), ('paris lyon',))
    """
    return (text.replace("-", " "), text.replace("-", "")) if "-" in text else (text,)


class PlacedText:
    """A text in which the places of values are found, by the rules of `SourceText`."""

    def __init__(self, text: str) -> None:
        """Normalise a text for the search."""
        self.text = text
        self._plain = _Placed.of(text).sub(_ATTACHED, _APART).sub(_COMPOSED, _compatible)
        marked = self._plain.sub(_HYPHEN, _without_hyphen).sub(_CASED, _casefolded).sub(_NOT_WORD, " ")
        self._readings = [marked.sub(_MARK, " ")]
        if "-" in marked.text:
            self._readings.append(marked.sub(_MARK, ""))

    @cached_property
    def _places(self) -> dict[Decimal, list[tuple[int, int]]]:
        found = defaultdict[Decimal, list[tuple[int, int]]](list)
        for pattern, plain in _NOTATIONS:
            for number in pattern.finditer(self._plain.text):
                found[Decimal(plain(number[0]))].append(self._plain.place(*number.span()))
        return dict(found)

    def find(self, value: Json, *, nearly: bool = False) -> list[tuple[int, int]]:
        """Return where a single value occurs: the first character, and the one after the last.

        Args:
            value: A text or a number; other values are not searched.
            nearly: Whether a long text that does not occur may differ in some characters.
        """
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self._places.get(_number(value), [])
        text = _value_spelling(value) if isinstance(value, str) else ""
        if not text:
            return []
        several = readings(text)
        found = sorted(
            {whole.place(*span) for one in several for whole in self._readings for span in _spans(one, whole.text)}
        )
        part, whole = several[0], self._readings[0]
        if not found and nearly and len(part) >= LONG and (near := find_nearly(part, whole.text, SIMILARITY)):
            return [whole.place(*_trimmed(whole.text, *near))]
        return found


def _compatible(found: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", found[0])


def _casefolded(found: re.Match[str]) -> str:
    return found[0].casefold()


def _spans(part: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each occurrence of a sequence of words in a text."""
    text = f" {text} "
    start = text.find(f" {part} ")
    while start >= 0:
        yield start, start + len(part)
        start = text.find(f" {part} ", start + len(part))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a part without the white space at its ends."""
    part = text[start:end]
    return end - len(part.lstrip()), start + len(part.rstrip())


class _Placed(NamedTuple):
    """A text derived from another, and where each of its characters begins and ends in the other."""

    text: str
    starts: Indices
    ends: Indices

    @classmethod
    def of(cls, text: str) -> _Placed:
        """Return a text that is its own origin."""
        starts = np.arange(len(text))
        return cls(text, starts, starts + 1)

    def sub(self, pattern: re.Pattern[str], replacement: str | Callable[[re.Match[str]], str]) -> _Placed:
        """Return the text as `re.sub` does; each character of a replacement has the place of what it replaces."""
        parts, bounds = list[str](), [0]
        for found in pattern.finditer(self.text):
            start, end = found.span()
            new = found.expand(replacement) if isinstance(replacement, str) else replacement(found)
            parts += self.text[bounds[-1] : start], new
            bounds += start, end
        if not parts:
            return self
        parts.append(self.text[bounds[-1] :])
        lengths = np.fromiter(map(len, parts), dtype=np.intp, count=len(parts))
        firsts = np.array(bounds, dtype=np.intp)
        lasts = np.append(firsts[1:], len(self.text)) - 1
        within = np.arange(lengths.sum()) - (lengths.cumsum() - lengths).repeat(lengths)
        first = firsts.repeat(lengths)
        replaced = (np.arange(len(parts)) % 2 == 1).repeat(lengths)
        starts = self.starts[np.where(replaced, first, first + within)]
        ends = self.ends[np.where(replaced, lasts.repeat(lengths), first + within)]
        return _Placed("".join(parts), starts, ends)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the text begins and ends in the other text."""
        return int(self.starts[start]), int(self.ends[end - 1])
