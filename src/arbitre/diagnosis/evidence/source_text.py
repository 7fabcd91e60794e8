"""Search for values in the text that was given to the model."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from arbitre.distances.text.edit import contains_nearly
from arbitre.paths import STAR, escape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.values import Json

SIMILARITY: Final = 0.9
"""Minimum Indel similarity of a long text and a part of the source."""
LONG: Final = 10
"""Minimum number of characters of a text that may differ from the source."""

_BROKEN_WORD: Final = re.compile(r"(?<=\w)[-\u00ad\u2010\u2011]\s*(?=\w)")
_NOT_WORD: Final = re.compile(r"[\W_]+")
_NUMBER: Final = re.compile(r"(?<![^\W_])\d+(?![^\W_])")
_DECIMAL: Final = re.compile(r"(?<![^\W_]|[.,])\d+[.,]\d+(?![^\W_]|[.,]\d)")
_GROUPED: Final = re.compile(r"(?<![^\W_]|[.,])\d{1,3}(?:[.,'’ \u00a0\u202f]\d{3})+(?![^\W_]|[.,]\d)")


class SourceText:
    r"""The text that was given to the model.

    Texts are compared as words, without regard to case, punctuation, white space and hyphens; a word that is divided
    between two lines is one word. Of a text of 10 characters or more, a part of the source with an Indel similarity of
    at least 0.9 is enough, so that it may contain errors of the OCR. A number has to occur as a number of its own,
    without tolerance: 39 is not in "394".

    >>> page = SourceText("BARTHOU (Louis). - Discuss. de l'ex-\nploitation des lignes de l'aéropostale, p. 1 211.")
    >>> "Barthou, Louis" in page, "exploitation des lignes de l'aeropostale" in page, 1211 in page, 39 in page
    (True, True, True, False)
    """

    def __init__(self, text: str) -> None:
        """Normalise a text for the search."""
        self._words = f" {_normalized(text)} "
        text = unicodedata.normalize("NFKC", text)
        numbers = {Decimal(number) for number in _NUMBER.findall(text)}
        numbers |= {Decimal(number.replace(",", ".")) for number in _DECIMAL.findall(text)}
        numbers |= {Decimal(re.sub(r"\D", "", number)) for number in _GROUPED.findall(text)}
        self._numbers = numbers
        self._known: dict[str, bool] = {}

    def __contains__(self, value: str | float) -> bool:
        """Return whether a text or a number stands in the source."""
        if not isinstance(value, str):
            return Decimal(str(value)).copy_abs() in self._numbers
        text = _normalized(value)
        if text not in self._known:
            self._known[text] = self._has(text)
        return self._known[text]

    def _has(self, text: str) -> bool:
        if f" {text} " in self._words:
            return True
        return LONG <= len(text) <= len(self._words) and contains_nearly(text, self._words, SIMILARITY)


def _normalized(text: str) -> str:
    text = _BROKEN_WORD.sub("", unicodedata.normalize("NFKC", text).casefold())
    return _NOT_WORD.sub(" ", text).strip()


def search_key(value: str | float) -> str:
    """Return a text that is equal for values that the search does not distinguish.

    >>> search_key("Barthou  (Louis)") == search_key("barthou, louis"), search_key(2), search_key(2.0)
    (True, '#2', '#2')
    """
    return _normalized(value) if isinstance(value, str) else f"#{int(value) if value == int(value) else value}"


def searchable_values(path: str, value: Json) -> Iterator[tuple[str, str | float]]:
    """Yield the texts and numbers in a value with their wildcard paths.

    Truth values, null, texts without letters and digits, and empty objects and lists cannot be searched.

    Args:
        path: Wildcard path of the value.
        value: The value.

    >>> list(searchable_values("/people/*", {"name": "Barthe", "pages": [2, None]}))
    [('/people/*/name', 'Barthe'), ('/people/*/pages/*', 2)]
    """
    stack: list[tuple[str, Json]] = [(path, value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict):
            stack += [(f"{path}/{escape(key)}", child) for key, child in reversed(value.items())]
        elif isinstance(value, list):
            stack += [(f"{path}/{escape(STAR)}", child) for child in reversed(value)]
        elif _normalized(value) if isinstance(value, str) else type(value) in {int, float}:
            yield path, value
