"""The words of a report, in its languages."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files


class Language(StrEnum):
    """The languages of a report."""

    EN = "en"
    FR = "fr"

    def number(self, value: float | None, digits: int = 4) -> str:
        """A number as it is read: with a decimal comma in French, a dash where there is none.

        Without `digits` a count: whole, or a mass that need not be.

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
    """Every text of the page by its name, then by language."""
    text = files("arbitre.report").joinpath("page", "strings.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = json.loads(text)
    return found


@cache
def _notes() -> list[tuple[re.Pattern[str], dict[str, str]]]:
    """The notes that results may hold: a pattern of each in English, and its texts."""
    return [
        (re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[\\d.e-]+)", re.escape(texts["en"]))), texts)
        for name, texts in catalogue().items()
        if name.startswith("note.")
    ]


@dataclass(frozen=True, slots=True)
class Translator:
    """The texts of one language.

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
        """A text with its fields; of two forms, the one for a single thing where `n` is 1."""
        known = catalogue()
        single = f"{name}.one"
        return known[single if str(n) == "1" and single in known else name][self.language]

    def __call__(self, name: str, /, **values: object) -> str:
        return self.template(name, values.get("n")).format(**values)

    def sentence(self, text: str) -> str:
        """A note of the results, which are in English, in this language; as it stands where the catalogue lacks it.

        >>> Translator(Language.FR).sentence("A single document: nothing says how far the score can be trusted.")
        'Un seul document : rien ne dit jusqu’où se fier au score.'
        """
        for template, texts in _notes():
            if found := template.fullmatch(text):
                french = self.language is Language.FR
                given = {name: one.replace(".", ",") if french else one for name, one in found.groupdict().items()}
                return texts[self.language].format(**given)
        return text

    def percent(self, share: float | None, digits: int = 1) -> str:
        r"""A share in per cent; never 0 or 100 where it is neither.

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
