"""Languages of the output: the catalogue of texts, and the notation of numbers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from arbitre.errors import OptionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

GROUPED: Final = 5
"""Minimum number of digits of an integer part that is written in groups of three."""

_ROUNDING: Final = 1e-9
"""Maximum distance of a count from a whole number, due to rounding errors in sums of masses."""


class Language(StrEnum):
    """Language of the output."""

    EN = "en"
    FR = "fr"

    @classmethod
    def named(cls, name: str) -> Language:
        """Return the language with this name. Raises OptionError if there is none."""
        if name not in [one.value for one in cls]:
            raise OptionError.of(f"Expected a known language, got {name!r}", hint=did_you_mean(str(name), cls))
        return cls(name)

    def number(self, value: float | None, digits: int = 4) -> str:
        """Format a number by the rules of the language, for the report; None becomes a dash, and minus is U+2212.

        With `digits=0`, whole numbers have no decimals and others have two (counts and masses). `number` in `page.js`
        returns the same.

        >>> Language.FR.number(0.87654), Language.EN.number(-12345, 0), Language.EN.number(None)
        ('0,8765', '\N{MINUS SIGN}12,345', '–')
        """
        if value is None:
            return "–"
        places = digits or (0 if abs(value - round(value)) < _ROUNDING else 2)
        return self.written(f"{value:z.{places}f}").replace("-", "\N{MINUS SIGN}")

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

    def localized(self, text: str) -> str:
        r"""Return a formatted number, such as a percentage or `<0.0001`, in the notation of the language.

        >>> Language.FR.localized("+0.0123"), Language.FR.localized("12.5%"), Language.EN.localized("12.5%")
        ('+0,0123', '12,5\xa0%', '12.5%')
        """
        written = self.written(text)
        return written if self is Language.EN else re.sub(r"(?<=\d)%$", "\xa0%", written)


def percentage(share: float, digits: int = 0) -> str:
    """Format a share as a percentage in English; shares strictly between 0 and 1 never become 0% or 100%.

    >>> percentage(0.666), percentage(0.9997), percentage(0.00001, 1), percentage(1.0)
    ('67%', '99.9%', '0.1%', '100%')
    """
    text = f"{share:.{digits}%}"
    if 0.0 < share < 1.0 and text in {f"{0.0:.{digits}%}", f"{1.0:.{digits}%}"}:
        return f"{min(max(share, 0.001), 0.999):.1%}"
    return text


@cache
def catalogue() -> dict[str, dict[str, str]]:
    """Return all texts by name, then by language; French texts with no-break spaces."""
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


_PLACEHOLDER: Final = re.compile(r"\\{(\w+)(?:!([sarcvwlp]))?\\}")
_KINDS: Final = {"": r"[-+<]?\d[\d.e-]*%?|–", "w": r"\S+", **dict.fromkeys("sarcvlp", ".+")}
_NAMED: Final = re.compile(r"[a-z][a-z -]*(?= [-+]?\d)")
"""A name before a number."""
_GIVEN: Final = re.compile(r"\{(\w+)(?:!([sarcvwlp]))?\}")
_SENTENCES: Final = {Language.EN: ("note.",), Language.FR: ("note.", "table.")}
"""Prefixes of the catalogue names of recognised texts: notes in results, of which English ones get their numbers
grouped, and texts of tables and terminals."""
_WORDS: Final = ("word.", "advice.")
"""Prefixes of the catalogue names of headings and words in cells."""
_PLURAL: Final = "(s)"
"""Optional plural ending.

It becomes "s" if the number before it takes the plural: 2 or more in French, any number except 1 in English.
"""
_QUOTED: Final = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|`[^`]*`)")
_PART: Final = re.compile(r"(, )(?![^()]*\))")
"""What separates the parts of a text, except in parentheses."""
_GROUP: Final = re.compile(r"; (?![^()]*\))")
"""What separates the groups of parts."""
_NEXT_SENTENCE: Final = re.compile(r"(?<=[\w)%`'…]\.) (?=\w)")
_FIGURE: Final = re.compile(r"(?<![^\s(,])[-+]?\d+\.\d+%?(?![\w.])(, (?=\S))?|(?<![^\s(,])\d+%")
"""A number among other texts, with the comma after it."""


@cache
def _sentences(language: Language) -> list[tuple[re.Pattern[str], dict[str, str]]]:
    """Return the sentences that are recognised: the pattern of the English text, and all texts.

    A placeholder stands for a number, or for another text: one that stays as it is (`{name!s}`, or `{name!w}` without
    spaces), one that is translated itself (`{name!r}`) or part by part (`{name!p}`), an enumeration of quoted names
    (`{name!l}`), or names with numbers: any names (`{name!a}`), causes (`{name!c}`) or verdicts (`{name!v}`).
    """

    def pattern(text: str) -> re.Pattern[str]:
        escaped = re.escape(text).replace(re.escape(_PLURAL), "s?")
        return re.compile(_PLACEHOLDER.sub(lambda one: f"(?P<{one[1]}>{_KINDS[one[2] or '']})", escaped))

    return [
        (pattern(texts["en"]), texts) for name, texts in catalogue().items() if name.startswith(_SENTENCES[language])
    ]


def _in_number(text: str, values: Mapping[str, object], language: Language) -> str:
    """Replace each "(s)" with "s" if the number before it takes the plural in the language, and remove it otherwise.

    >>> _in_number("{n} document(s), {m} retenu(s)", {"n": "3", "m": "1,5"}, Language.FR)
    '{n} documents, {m} retenu'
    >>> _in_number("{n} document(s), {m} value(s)", {"n": 0, "m": 1}, Language.EN)
    '{n} documents, {m} value'
    """
    begin, *others = text.split(_PLURAL)
    for part in others:
        written = str(values[_GIVEN.findall(begin)[-1][0]]).replace("\u202f", "")
        number = float(written.replace(",", "" if language is Language.EN else "."))
        begin += "s" * (number != 1 if language is Language.EN else number >= 2) + part  # noqa: PLR2004
    return begin


@cache
def _words() -> dict[str, dict[str, str]]:
    """Return all texts of each heading and word of tables, by its English text."""
    return {texts["en"]: texts for name, texts in catalogue().items() if name.startswith(_WORDS)}


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun in the singular or plural.

    >>> counted(1, "system"), counted(2, "system"), counted(2, "entry", "entries")
    ('1 system', '2 systems', '2 entries')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


@dataclass(frozen=True, slots=True)
class Translator:
    """Lookup of texts in one language.

    Attributes:
        language: The language.
        plain: Whether translated texts have spaces instead of no-break spaces, for terminals.

    >>> Translator(Language.FR)("document"), Translator(Language.EN)("failures", n=2)
    ('Document', 'Failures (2)')
    """

    language: Language
    plain: bool = False

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

    def form(self, name: str, values: Mapping[str, object]) -> str:
        """Return a text with its placeholders, with its optional plural endings set for the values."""
        return _in_number(self.template(name, values.get("n")), values, self.language)

    def __call__(self, name: str, /, **values: object) -> str:
        said = self.form(name, values).format(**{key: self.value(one) for key, one in values.items()})
        return self._spaced(said)

    def value(self, value: object) -> str:
        """Return a value of a sentence: a number as a count, anything else as its text."""
        return self.language.number(value, 0) if isinstance(value, (int, float)) else str(value)

    def sentence(self, text: str) -> str:
        """Translate an English note of the results; return it unchanged if it is not in the catalogue.

        A note of several sentences is translated as a whole if the catalogue has it, or else sentence by sentence. If a
        placeholder at the end of a sentence would also match the next sentence, and the catalogue has both sentences,
        they are translated separately.

        >>> Translator(Language.FR).sentence("Every resample has the same score.")
        'Tous les rééchantillonnages ont le même score.'
        """
        if text in _words():
            return self.word(text)
        parts = [text] if self.language is Language.EN else _NEXT_SENTENCE.split(text)
        for template, texts in _sentences(self.language):
            if found := template.fullmatch(text):
                if len(parts) > 1 and not _NEXT_SENTENCE.search(texts["en"]):
                    said = list(map(self.sentence, parts))
                    if all(one != part for one, part in zip(said, parts, strict=True)):
                        return " ".join(said)
                kinds, values = dict(_GIVEN.findall(texts["en"])), found.groupdict()
                given = {name: self._given(value, kinds[name]) for name, value in values.items()}
                form = _GIVEN.sub(r"{\1}", _in_number(texts[self.language], values, self.language))
                return self._spaced(form).format(**given)
        return text if len(parts) == 1 else " ".join(map(self.sentence, parts))

    def _given(self, value: str, kind: str) -> str:
        """Return the text to substitute for a placeholder of this kind."""
        if kind in {"s", "w"}:
            return value
        if kind == "p" and len(groups := _GROUP.split(value)) > 1:
            return self._spaced(self("list.groups")).join(self._given(group, kind) for group in groups)
        if kind in {"r", "l", "p"}:
            said = self.sentence(value)
            if said != value or kind == "r":
                return said
            kept, translate = (_QUOTED, self._between) if kind == "l" else (_PART, self.sentence)
            return "".join(part if at % 2 else translate(part) for at, part in enumerate(kept.split(value)))
        if kind in {"a", "c", "v"}:
            name = {"c": self.cause, "v": self.verdict}.get(kind, str)
            whole = catalogue()["word.whole_document"]["en"]
            return self.figures(_NAMED.sub(lambda one: name(one[0]), value.replace(whole, self.word(whole))))
        return self.localized(value)

    def _between(self, text: str) -> str:
        """Translate the words between the quoted names of an enumeration."""
        for name, texts in catalogue().items():
            if name.startswith("between."):
                text = text.replace(texts["en"], self._spaced(texts[self.language]))
        return text

    def _spaced(self, text: str) -> str:
        return text.replace("\xa0", " ").replace("\u202f", " ") if self.plain else text

    def localized(self, number: str) -> str:
        """Return a formatted number in the notation of the language."""
        return self._spaced(self.language.localized(number))

    def text(self, text: str) -> str:
        """Translate a text of a table or a terminal, which is written in English; unknown ones stay as they are.

        >>> Translator(Language.FR).text("... and 3 more causes"), Translator(Language.EN).text("12345 documents")
        ('… et 3 autres causes', '12345 documents')
        """
        return text if self.language is Language.EN else self.sentence(text)

    def word(self, text: str) -> str:
        """Translate a heading or a word of a table; return it unchanged if it is not in the catalogue.

        >>> Translator(Language.FR).word("predicted")
        'prédit'
        """
        return self._spaced(_words()[text][self.language]) if text in _words() else text

    def cause(self, code: str) -> str:
        """Return the name of a cause; in English, its code.

        >>> Translator(Language.FR).cause("no-prediction"), Translator(Language.EN).cause("no-prediction")
        ('aucune prédiction', 'no-prediction')
        """
        return self._coded("cause", code)

    def score(self, label: str) -> str:
        """Return the name of a score; in English, its code. Other labels are translated as sentences."""
        name = self._coded("score", label)
        return self.text(label) if name == label else name

    def verdict(self, code: str) -> str:
        """Return the name of a verdict or of a class of faults."""
        return self._coded("verdict", code)

    def side(self, code: str) -> str:
        """Return the name of a side: gold or the prediction."""
        return self._coded("side", code)

    def _coded(self, kind: str, code: str) -> str:
        name = f"{kind}.{code}"
        known = self.language is not Language.EN and name in catalogue()
        return self._spaced(catalogue()[name][self.language]) if known else code

    def figures(self, text: str) -> str:
        r"""Write the numbers among names in the notation of the language; semicolons separate them.

        >>> Translator(Language.FR).figures("/people/*/name 0.25, /date 0.5")
        '/people/*/name 0,25\u202f; /date 0,5'
        """
        if self.language is Language.EN:
            return text
        mark = self._spaced("\u202f; ")
        return _FIGURE.sub(lambda one: self.localized(one[0].removesuffix(", ")) + mark * bool(one[1]), text)

    def percent(self, share: float | None, digits: int = 1) -> str:
        r"""Format a share as a percentage (see `percentage`); None becomes a dash.

        >>> Translator(Language.EN).percent(0.99999), Translator(Language.FR).percent(0.5, 0)
        ('99.9%', '50\xa0%')
        """
        return "–" if share is None else self.language.localized(percentage(share, digits))

    def level(self, level: float) -> str:
        r"""Format a confidence or significance level as a percentage with all its digits.

        >>> Translator(Language.EN).level(0.95), Translator(Language.FR).level(0.999)
        ('95%', '99,9\xa0%')
        """
        return self.language.localized(f"{100.0 * level:g}%")


ENGLISH: Final = Translator(Language.EN)
