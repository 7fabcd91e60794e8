"""Languages of the output: the catalogue of texts, and the notation of numbers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Final

from arbitre.errors import OptionError, did_you_mean

GROUPED: Final = 5
"""Minimum number of digits of an integer part that is written in groups of three."""

_WHOLE: Final = 1e-9
"""Maximum distance of a count from a whole number, due to rounding errors in sums of masses."""


class Language(StrEnum):
    """Language of the output."""

    EN = "en"
    FR = "fr"

    @classmethod
    def named(cls, name: str) -> Language:
        """Return the language of a name. Raises OptionError if there is none."""
        if name not in [one.value for one in cls]:
            raise OptionError.of(f"Expected a known language, got {name!r}", hint=did_you_mean(str(name), cls))
        return cls(name)

    def number(self, value: float | None, digits: int = 4) -> str:
        """Format a number by the rules of the language; None becomes a dash. `number` in `page.js` returns the same.

        With `digits=0`, whole numbers have no decimals and others have two (counts and masses).

        >>> Language.FR.number(0.87654), Language.EN.number(12345, 0), Language.EN.number(None)
        ('0,8765', '12,345', '–')
        """
        if value is None:
            return "–"
        places = digits or (0 if abs(value - round(value)) < _WHOLE else 2)
        return self.written(f"{value:z.{places}f}")

    def written(self, number: str) -> str:
        r"""Return a number written as in Python with the decimal mark and the groups of digits of the language.

        Digits are grouped if the integer part has at least five, as recommended by the BIPM.

        >>> Language.FR.written("1234567.5"), Language.EN.written("-1234.5"), Language.FR.written("1e-05")
        ('1\u202f234\u202f567,5', '-1234.5', '1e-05')
        """
        whole, point, decimals = number.partition(".")
        group, mark = (",", ".") if self is Language.EN else ("\u202f", ",")
        if len(whole.lstrip("-")) >= GROUPED and whole.lstrip("-").isdecimal():
            whole = f"{int(whole):,}".replace(",", group)
        return f"{whole}{point and mark}{decimals}"


@cache
def catalogue() -> dict[str, dict[str, str]]:
    """Return all texts by name, then by language; French ones with no-break spaces."""
    text = files("arbitre").joinpath("strings.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = json.loads(text)
    for texts in found.values():
        texts["fr"] = _unbroken(texts["fr"])
    return found


def _unbroken(text: str) -> str:
    r"""Replace the spaces around the punctuation of a French text by no-break spaces: narrow ones before ; ! and ?

    >>> _unbroken("Voir « Échecs » : 3 % ; rien")
    'Voir «\xa0Échecs\xa0»\xa0: 3\xa0%\u202f; rien'
    """
    return re.sub(r" (?=[;!?])", "\u202f", re.sub(r" (?=[:»%])|(?<=«) ", "\xa0", text))


_NUMBER, _TEXT = re.compile(r"\\{(\w+)\\}"), re.compile(r"\\{(\w+)!s\\}")


@cache
def _notes() -> list[tuple[re.Pattern[str], dict[str, str]]]:
    """Return the notes that results can contain: the pattern of the English text, and all texts.

    A placeholder stands for a number, or for any text if it is written `{name!s}`.
    """
    return [
        (re.compile(_TEXT.sub(r"(?P<\1>.+)", _NUMBER.sub(r"(?P<\1>[\\d.e-]+)", re.escape(texts["en"])))), texts)
        for name, texts in catalogue().items()
        if name.startswith("note.")
    ]


@dataclass(frozen=True, slots=True)
class Translator:
    """Lookup of texts in one language.

    >>> Translator(Language.FR)("document"), Translator(Language.EN)("failures", n=2)
    ('Document', 'Failures (2)')
    """

    language: Language

    @property
    def catalogue(self) -> dict[str, str]:
        return {name: texts[self.language] for name, texts in catalogue().items()}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(catalogue())

    def template(self, name: str, n: object = None) -> str:
        """Return a text with its placeholders, in the singular form (`.one`) if there is one and `n` is 1."""
        known = catalogue()
        single = f"{name}.one"
        return known[single if str(n) == "1" and single in known else name][self.language]

    def __call__(self, name: str, /, **values: object) -> str:
        return self.template(name, values.get("n")).format(**{key: self.value(one) for key, one in values.items()})

    def value(self, value: object) -> str:
        """Return a value of a sentence: a number as a count, anything else as its text."""
        return self.language.number(value, 0) if isinstance(value, (int, float)) else str(value)

    def sentence(self, text: str) -> str:
        """Translate an English note of the results; return it unchanged if it is not in the catalogue.

        >>> Translator(Language.FR).sentence("Every resample has the same score.")
        'Tous les rééchantillonnages ont le même score.'
        """
        for template, texts in _notes():
            if found := template.fullmatch(text):
                given = found.groupdict()
                for name, value in given.items():
                    if f"{{{name}}}" in texts["en"]:  # a number
                        given[name] = self.language.written(value)
                return texts[self.language].format(**given)
        return text

    def percent(self, share: float | None, digits: int = 1) -> str:
        r"""Format a share as a percentage; shares strictly between 0 and 1 never become 0% or 100%.

        >>> Translator(Language.EN).percent(0.99999), Translator(Language.FR).percent(0.5, 0)
        ('99.9%', '50\xa0%')
        """
        if share is None:
            return "–"
        shown = share * 100.0
        if 0.0 < share < 1.0:
            shown = min(max(shown, 0.1), 99.9)
        sign = "%" if self.language is Language.EN else "\u00a0%"
        return self.language.number(shown, digits) + sign
