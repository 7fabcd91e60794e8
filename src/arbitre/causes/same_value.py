"""Finds the notations in which two values are the same: other forms of texts, numbers and dates."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.causes.forms import contains_in_order, folded
from arbitre.errors import ArbitreError
from arbitre.normalizers import catalogue, normalize
from arbitre.parsing.dates import LANGUAGES, iso_date, spelled_date
from arbitre.parsing.numerals import read_amount
from arbitre.values import canonical

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence

    from arbitre.normalizers import Normalizer
    from arbitre.values import Json

LONGEST: Final = 5_000
"""Maximum length of a text whose notation is examined."""

SHORT: Final = 40
"""Maximum length of a text that is read as a number or date."""


class Notation(NamedTuple):
    """A chain of normalisers, sometimes with a distance, that makes values equal.

    Attributes:
        complexity: The simplest sufficient notation is preferred.
        kinds: Kinds of the differences that it removes, the most specific first.
        specs: The normalisers in order, each as JSON text.
        distance: Name of the distance; None to keep that of the schema.
    """

    complexity: float
    kinds: tuple[str, ...]
    specs: tuple[str, ...]
    distance: str | None = None


def _notation(complexity: float, kind: str, *specs: Json) -> Notation:
    return Notation(complexity, (kind,), tuple(json.dumps(spec, ensure_ascii=False) for spec in specs))


@cache
def _built(spec: str) -> Normalizer:
    return catalogue.build(json.loads(spec))


# Texts: each step removes one kind of difference.

WORDS: Final = "token-sort"


class Step(NamedTuple):
    """A step that removes a kind of difference; `spec` is a normaliser, or the distance `WORDS`."""

    kind: str
    spec: Json
    complexity: float


STEPS: Final = {
    "markup": Step("markup", "strip-markup", 1.5),
    "invisible": Step("unicode", "strip-invisible", 1.0),
    "unicode": Step("unicode", "nfkc", 1.0),
    "hyphenation": Step("hyphenation", "dehyphenate", 2.0),
    "accents": Step("accents", "unaccent", 1.0),
    "letters": Step("unicode", "base-letters", 1.0),
    "case": Step("case", "casefold", 1.0),
    "punctuation": Step("punctuation", "strip-punctuation", 2.5),
    "separators": Step("punctuation", {"strip-punctuation": {"by": " "}}, 2.7),
    "spaces": Step("spaces", "squash-space", 1.0),
    "order": Step("name-order", WORDS, 3.0),
}
"""The steps in the order in which they apply."""

LEFT_OUT: Final = (
    "order",
    "punctuation",
    "separators",
    "hyphenation",
    "case",
    "letters",
    "accents",
    "unicode",
    "invisible",
    "spaces",
    "markup",
)
"""The steps in the order in which they are left out if two texts are equal without them."""

WHOLES: Final = tuple(
    tuple(step for step in STEPS if step not in omitted)
    for omitted in ({"hyphenation", "separators"}, {"hyphenation", "punctuation"}, {"separators"}, {"punctuation"})
)
"""Chains of steps, one of which makes two texts equal if they differ only in notation."""

IN_ORDER: Final = tuple(tuple(step for step in steps if step != "order") for steps in WHOLES)
"""The chains for texts without letters: the order of numbers, as in a date, has a meaning."""

SPECIFIC: Final = ("markup", "name-order", "hyphenation", "punctuation", "accents", "case", "unicode", "spaces")
"""Kinds of differences between texts, the most specific first."""

IN_COMMON: Final = ("markup", "invisible", "unicode", "accents", "letters", "case")
"""The steps after which texts that differ only in notation have the same letters and digits."""


def _sorted_words(text: str) -> str:
    return " ".join(sorted(text.split()))


FUNCTIONS: Final[Mapping[str, Any]] = {
    name: _sorted_words if step.spec == WORDS else catalogue.build(step.spec).apply for name, step in STEPS.items()
}


@cache
def _of_steps(steps: tuple[str, ...]) -> Notation:
    """Return the notation that consists of some steps."""
    kinds = {STEPS[step].kind for step in steps}
    specs = [STEPS[step].spec for step in steps if STEPS[step].spec != WORDS]
    made = _notation(sum(STEPS[step].complexity for step in steps), "", *specs)
    ranked = tuple(kind for kind in SPECIFIC if kind in kinds)
    return made._replace(kinds=ranked, distance=WORDS if "order" in steps else None)


# Numbers.

MIXED: Final[tuple[dict[str, Json], ...]] = tuple(
    {"mixed-units": {"units": {unit: parts for words, parts in system.items() for unit in words.split()}}}
    for system in (
        {"francs franc frs fr Fr f F": 1, "centimes centime cent ct c": 100},
        {
            "£ livres livre l L pounds pound": 1,
            "sols sous sol sou s shillings shilling": 20,
            "deniers denier d pence penny": 240,
        },
        {"marks mark Mark Mk M": 1, "Pfennige Pfennig pfennigs pfennig Pf pf": 100},
        {"dollars dollar $": 1, "cents cent ct c": 100},
    )
)
"""Normalisers for amounts in a main unit and its parts."""

NUMBERS: Final = (
    _notation(1.5, "number-format", "number"),
    _notation(1.6, "number-format", {"number": {"decimal": ".", "group": ", '"}}),
    _notation(1.6, "number-format", {"number": {"decimal": ",", "group": ". '"}}),
    _notation(1.7, "number-format", {"number": {"decimal": ".", "percent": True}}),
    _notation(1.7, "number-format", {"number": {"decimal": ",", "group": ". '", "percent": True}}),
    _notation(1.7, "number-format", "fraction"),
    _notation(1.8, "number-format", "fraction", "number"),
    _notation(1.7, "roman-numerals", "roman"),
    _notation(1.8, "roman-numerals", "roman", "number"),
    _notation(1.8, "amount", "amount"),
    _notation(1.9, "amount", {"amount": {"decimal": "."}}),
    _notation(1.9, "amount", {"amount": {"decimal": ","}}),
    *(_notation(2.5, "amount", spec) for spec in MIXED),
)
READ: Final = tuple(json.dumps(spec, ensure_ascii=False) for spec in ("fraction", *MIXED))
"""Further normalisers that convert texts to numbers, as JSON texts."""

DECIMALS: Final = (None, ".", ",")
NUMERAL: Final = re.compile(r"[-+−(]?\d(?:[\d.,'’ \u00a0\u202f]*\d)?\)?")

LONGEST_UNIT: Final = 14
"""Maximum number of characters of a unit."""

MIN_WORD: Final = 4
"""Minimum number of characters of a unit that is written as a word."""

SYMBOLS: Final = {
    short + symbol: tuple(prefix + name for name in names)
    for short, prefix in {"": "", "k": "kilo", "h": "hecto", "d": "deci", "c": "centi", "m": "milli"}.items()
    for symbol, names in {"g": ("gram",), "l": ("liter", "litre"), "m": ("meter", "metr")}.items()
} | {"h": ("heure", "hour"), "ha": ("hectar",), "min": ("minut",), "s": ("second", "sekund"), "t": ("ton",)}
"""Symbols of units, and how the names of these units begin in English, French and German, without accents."""

CURRENCIES: Final = frozenset(
    """f fr fr. frs francs franc fcfa euro euros dollar dollars pound pounds sterling livre livres dm mark marks kr lire
    peseta pesetas rouble roubles cent cents sou sous""".split()  # noqa: SIM905
)
"""Words for currencies without an ISO 4217 code."""


def unit_of(value: Json) -> str | None:
    """Return the only word beside the only number of a text; None if there is none."""
    if not isinstance(value, str) or len(value) > SHORT or len(numerals := NUMERAL.findall(value)) != 1:
        return None
    before, _, after = value.partition(numerals[0])
    words = [part for part in (before.strip(), after.strip()) if part]
    return words[0] if len(words) == 1 and len(words[0]) <= LONGEST_UNIT else None


def are_one_unit(units: Collection[str]) -> bool:
    """Return whether all units are the same in different spellings: the shorter ones abbreviate the longest one.

    If there are several, the longest must have at least `MIN_WORD` letters: "m" and "mm" are different units. The
    symbols in `SYMBOLS` abbreviate only their own units.

    >>> are_one_unit(["kg", "kilogrammes"]), are_one_unit(["fr.", "francs"])
    (True, True)
    >>> are_one_unit(["kg", "lb"]), are_one_unit(["m", "mm"]), are_one_unit(["m", "minutes"])
    (False, False, False)
    """
    spelt = sorted(set(map(folded, units)), key=len)
    return all(len(spelt[-1]) >= MIN_WORD and _abbreviates(short, spelt[-1]) for short in spelt[:-1])


def _abbreviates(short: str, full: str) -> bool:
    if short in SYMBOLS:
        return full.startswith(SYMBOLS[short])
    return short[:1] == full[0] and contains_in_order(full, short)


def of_units(units: Collection[str], decimal: str | None) -> Notation:
    """Return the notation of numbers with one of these units."""
    kind = "amount" if {unit.lower() for unit in units} <= CURRENCIES else "units"
    options: dict[str, Json] = {"units": sorted(units)}
    options |= {} if decimal is None else {"decimal": decimal}
    return _notation(2.0 + 0.1 * len(units) + (decimal is not None) / 20, kind, {"amount": options})


# Dates.

DATE: Final = 1.9
"""Complexity of the notation of a date, without formats."""

TRIED: Final = 6
"""Number of dates in words that are read in all languages, to find their language."""

FURTHER: Final = 0.1
"""Minimum share of dates for a further format."""

MAX_SPELLED: Final = 300
"""Maximum number of dates in words that are read at a path."""

ISO: Final = re.compile(r"\d{4}-\d{2}(?:-\d{2})?(?:[Tt ]\d{2}:.*)?")
NUMERIC: Final = re.compile(r"(\d{1,4})([-/.]|[-/.]? )(\d{1,2})\2(\d{4}|\d{1,2})")
ROMAN_MONTH: Final = re.compile(r"\d{1,2}([-/.]|[-/.]? )[IVXivx]{1,4}\1\d{4}")
MONTH: Final = re.compile(r"\d{1,2}([-/.])\d{4}")
COMPACT: Final = re.compile(r"\d{8}")
SPELLED: Final = re.compile(r"(?=.*[^\W\d_]{3})[^\W_][\w\s.,/'’-]*")
ENGLISH: Final = re.compile("jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)
ENGLISH_FORMATS: Final = (
    *("%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y", "%B %d %Y", "%b %d %Y", "%d-%b-%Y", "%d. %B %Y"),
    *("%A, %d %B %Y", "%A, %B %d, %Y", "%B %Y", "%b %Y"),
)
YEAR: Final = re.compile(r"(?<!\d)\d{4}(?!\d)")

ParsedDate = tuple[str, str]
"""What parses a date ("" for ISO 8601, a format, or "@" and a language), and the date in ISO 8601."""


def _parsed(text: str) -> Iterator[ParsedDate]:
    """Yield the ways to read a text as a date, without languages."""
    text = text.strip()
    if ISO.fullmatch(text):
        yield "", iso_date((), (), text)
    for form in _formats(text):
        day = iso_date((form,), (), text)
        if day != text:
            yield form, day


def _formats(text: str) -> Sequence[str]:
    """Return the formats of which a text can be, day first before month first."""
    if found := NUMERIC.fullmatch(text):
        first, mark, _, last = found.groups()
        year = "%Y" if len(last) == len("1918") else "%y"
        orders = [("%Y", "%m", "%d"), ("%Y", "%d", "%m")] if len(first) == len("1918") else []
        orders += [("%d", "%m", year), ("%m", "%d", year)] if len(first) <= len("31") else []
        return [mark.join(order) for order in orders]
    if found := ROMAN_MONTH.fullmatch(text):
        return [found[1].join(("%d", "%Om", "%Y"))]
    if found := MONTH.fullmatch(text):
        return [f"%m{found[1]}%Y"]
    if COMPACT.fullmatch(text):
        return ["%Y%m%d", "%d%m%Y", "%m%d%Y"]
    return ENGLISH_FORMATS if SPELLED.fullmatch(text) and YEAR.search(text) and ENGLISH.search(text) else ()


@cache
def _has_languages() -> bool:
    return find_spec("dateparser") is not None


class Observation(NamedTuple):
    """Keys of a gold value and of a predicted value that may be the same, and the faults that contain them."""

    gold: Hashable
    predicted: Hashable
    faults: tuple[int, ...]


@dataclass(eq=False, slots=True)
class Reader:
    """Reads every distinct value once; `values` contains the values by key."""

    values: dict[Hashable, Json] = field(default_factory=dict)
    _forms: dict[tuple[Hashable, ...], Hashable] = field(default_factory=dict)
    _signs: dict[Hashable, tuple[Hashable, ...]] = field(default_factory=dict)
    _reasons: dict[tuple[Hashable, Hashable], tuple[Notation, ...]] = field(default_factory=dict)
    _texts: dict[tuple[tuple[str, ...], str], str] = field(default_factory=dict)
    _dates: dict[str, tuple[ParsedDate, ...]] = field(default_factory=dict)

    def key(self, declared: Iterable[Normalizer], value: Json) -> Hashable:
        """Return the key of a value as it is after some normalisers."""
        with suppress(ArbitreError):  # a custom normaliser may refuse a value
            value = normalize(declared, value)
        key = canonical(value)
        self.values.setdefault(key, value)
        return key

    def form(self, specs: tuple[str, ...], distance: str | None, key: Hashable) -> Hashable:
        """Return the key of a value after normalisers, as the distance compares it."""
        place = specs, distance, key
        if place not in self._forms:
            value = self.values[key]
            with suppress(ArbitreError):
                value = normalize(map(_built, specs), value)
            self._forms[place] = canonical(_sorted_words(value) if distance and isinstance(value, str) else value)
        return self._forms[place]

    def signs(self, key: Hashable) -> tuple[Hashable, ...]:
        """Return what a value has in common with every value that differs only in notation, the closest first."""
        if key not in self._signs:
            self._signs[key] = tuple(self._new_signs(self.values[key]))
        return self._signs[key]

    def _new_signs(self, value: Json) -> Iterator[Hashable]:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield "number", value
        text = "".join(map(str, value)) if isinstance(value, list) else value
        if not isinstance(text, str) or len(text) > LONGEST:
            return
        for _, day in self.dates(text):
            yield "date", day
        yield "text", "".join(sorted(filter(str.isalnum, self.text(IN_COMMON, text))))
        if len(text) > SHORT:
            return
        numerals = NUMERAL.findall(text)
        if len(numerals) == 1:
            yield from (("number", read_amount(numerals[0], decimal)) for decimal in DECIMALS)
        if not numerals and not isinstance(number := _built('"roman"').apply(text), str):
            yield "number", number
        for spec in READ if any(map(str.isnumeric, text)) else ():
            if not isinstance(number := _built(spec).apply(text), str):
                yield "number", number
        yield from (("year", year) for year in YEAR.findall(text))

    def reasons(self, pair: Observation) -> tuple[Notation, ...]:
        """Return notations that make two values equal, except those of dates."""
        place = pair.gold, pair.predicted
        if place not in self._reasons:
            self._reasons[place] = tuple(self._new_reasons(*place))
        return self._reasons[place]

    def _new_reasons(self, *keys: Hashable) -> Iterator[Notation]:
        sides = [self.values[key] for key in keys]
        steps = None
        if all(isinstance(side, str) and len(side) <= LONGEST for side in sides):
            steps = self._steps(*map(str, sides))
        if steps is not None:
            yield _of_steps(steps)
        units = [unit_of(side) for side in sides]
        named = {unit for unit in units if unit is not None}
        with_unit = len(named) == (1 if None in units else 2) and are_one_unit(named)
        for notation in (*NUMBERS, *(of_units(named, decimal) for decimal in DECIMALS if with_unit)):
            if len({self.form(notation.specs, None, key) for key in keys}) == 1:
                yield notation

    def _steps(self, gold: str, predicted: str) -> tuple[str, ...] | None:
        """Return the fewest steps that make two texts equal; None if there are none."""
        wholes = WHOLES if any(map(str.isalpha, gold)) else IN_ORDER
        steps = next((one for one in wholes if self.text(one, gold) == self.text(one, predicted)), None)
        if steps is None:
            return None
        for step in LEFT_OUT:
            fewer = tuple(one for one in steps if one != step)
            if len(fewer) < len(steps) and self.text(fewer, gold) == self.text(fewer, predicted):
                steps = fewer
        return steps

    def text(self, steps: tuple[str, ...], text: str) -> str:
        """Return a text after some steps."""
        if not steps:
            return text
        place = steps, text
        if place not in self._texts:
            self._texts[place] = FUNCTIONS[steps[-1]](self.text(steps[:-1], text))
        return self._texts[place]

    def dates(self, text: Json) -> tuple[ParsedDate, ...]:
        """Return the ways to read a text as a date, without languages."""
        if not isinstance(text, str) or len(text) > SHORT:
            return ()
        if text not in self._dates:
            self._dates[text] = tuple(_parsed(text))
        return self._dates[text]


def units_of(notation: Notation) -> Iterator[str]:
    """Yield the units of a notation."""
    for spec in map(json.loads, notation.specs):
        if isinstance(spec, dict):
            yield from spec.get("amount", {}).get("units", ())


def date_notation(reader: Reader, observations: Sequence[Observation]) -> Notation | None:
    """Return the formats and languages that read most pairs as the same date; None if no pair is one."""
    pairs = [tuple(reader.values[key] for key in one[:2]) for one in observations]
    needed: list[set[frozenset[str]]] = []
    spelled: list[tuple[str, str]] = []
    for gold, predicted in pairs:
        sides = reader.dates(gold), reader.dates(predicted)
        if same := _same_day(*sides):
            needed.append(same)
        elif any(sides) and not all(sides):
            text = predicted if sides[0] else gold
            if isinstance(text, str) and len(text) <= SHORT and SPELLED.fullmatch(text) and YEAR.search(text):
                spelled.append((text, gold if sides[0] else predicted))
    needed += _in_words(reader, spelled)
    chosen: list[str] = []
    open_ = [one for one in needed if frozenset() not in one]
    while open_:
        counts = Counter(chain.from_iterable(open_))
        best = min(counts, key=lambda form: (-counts[form], len(form), min(form)[:2] != "%d", sorted(form)))
        if chosen and counts[best] < max(2, FURTHER * len(needed)):
            break
        chosen += sorted(best - set(chosen))
        open_ = [one for one in open_ if not any(form <= set(chosen) for form in one)]
    if not needed:
        return None
    languages = [form[1:] for form in chosen if form.startswith("@")]
    formats = [form for form in chosen if not form.startswith("@")]
    options: dict[str, Json] = {"formats": formats} if formats else {}
    options |= {"languages": languages} if languages else {}
    return _notation(DATE + 0.1 * len(chosen), "date-format", {"date": options} if options else "date")


def _same_day(gold: Iterable[ParsedDate], predicted: Iterable[ParsedDate]) -> set[frozenset[str]]:
    """Return the formats and languages with which two texts are the same date."""
    return {frozenset({left, right} - {""}) for left, day in gold for right, other in predicted if day == other}


def _in_words(reader: Reader, spelled: Sequence[tuple[str, str]]) -> Iterator[set[frozenset[str]]]:
    """Yield how dates in words are read, given with the date on the other side: in their most frequent language."""
    if not spelled or not _has_languages():
        return
    texts = dict(spelled)

    def reads(language: str, text: str) -> set[frozenset[str]]:
        day = spelled_date((language,), text)
        return set() if day is None else _same_day(((f"@{language}", day),), reader.dates(texts[text]))

    tried = list(texts)[:: max(1, len(texts) // TRIED)][:TRIED]
    found = {language: sum(bool(reads(language, text)) for text in tried) for language in LANGUAGES}
    language = max(LANGUAGES, key=lambda one: found[one])
    if found[language]:
        known = {text: reads(language, text) for text in list(texts)[:MAX_SPELLED]}
        yield from (known[text] for text, _ in spelled if known.get(text))
