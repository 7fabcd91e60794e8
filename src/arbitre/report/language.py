"""Translated texts of a report."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from arbitre.errors import OptionError, did_you_mean


class Language(StrEnum):
    """Language of a report."""

    EN = "en"
    FR = "fr"

    @classmethod
    def named(cls, name: str) -> Language:
        """Return the language of a name. Raises OptionError if there is none."""
        if name not in [one.value for one in cls]:
            raise OptionError.of(f"Expected a known language, got {name!r}", hint=did_you_mean(str(name), cls))
        return cls(name)

    def number(self, value: float | None, digits: int = 4) -> str:
        """Format a number, with a decimal comma in French; None becomes a dash.

        With `digits=0`, whole numbers have no decimals and others have two (counts and masses).

        >>> Language.FR.number(0.87654), Language.EN.number(12.0, 0), Language.EN.number(None)
        ('0,8765', '12', '–')
        """
        if value is None:
            return "–"
        places = digits or (0 if float(value).is_integer() else 2)
        text = f"{value:.{places}f}"
        return text.replace(".", ",") if self is Language.FR else text


@cache
def catalogue() -> dict[str, dict[str, str]]:
    """Return all texts of the page by name, then by language."""
    text = files("arbitre.report").joinpath("page", "strings.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = json.loads(text)
    return found


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
        return self.template(name, values.get("n")).format(**values)

    def sentence(self, text: str) -> str:
        """Translate an English note of the results; return it unchanged if it is not in the catalogue.

        >>> Translator(Language.FR).sentence("A single document: the uncertainty of the score cannot be estimated.")
        'Un seul document : la fiabilité du score ne peut pas être estimée.'
        """
        for template, texts in _notes():
            if found := template.fullmatch(text):
                french, given = self.language is Language.FR, found.groupdict()
                for name, value in given.items():
                    if french and f"{{{name}}}" in texts["en"]:  # a number
                        given[name] = value.replace(".", ",")
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
