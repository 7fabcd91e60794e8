"""Normalisers: functions applied to values before comparison, so that some differences are ignored.

A normaliser never changes its input, and returns equal JSON values for equal JSON values. Unless documented otherwise,
it applies to the items of a list, at any depth, and returns objects and values of other kinds unchanged. `catalogue`
contains the built-in normalisers, `with_normalizer` adds a custom one.

>>> catalogue.build("squash-space")(["  Gérard   Larcher ", 3])
['Gérard Larcher', 3]
>>> catalogue.build({"number": {"decimal": ","}})("1 234,5")
1234.5

>>> own = with_normalizer("initials", lambda text: "".join(word[:1] for word in text.split()))
>>> own.build("initials")(["Ada Lovelace", 3])
['AL', 3]
"""

from __future__ import annotations

import math
import re
import reprlib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import chain
from typing import Any, Final

from arbitre.authority import OPTIONS, Authority, AuthorityNames, read_authority
from arbitre.catalogue import Catalogue, Factory
from arbitre.errors import DataError, FunctionError, SchemaError, shown
from arbitre.parsing.dates import FORMAT, check_languages, iso_date
from arbitre.parsing.markup import without_markup
from arbitre.parsing.numerals import (
    SEPARATORS,
    NumberFormat,
    read_amount,
    read_decimal,
    read_fraction,
    read_mixed_units,
    read_number,
)
from arbitre.values import MAX_DIGITS, SCALARS, Json, Kind, check, kind_of, read_kinds

Apply = Callable[[Json], Json]


@dataclass(frozen=True, slots=True)
class Normalizer:
    """A normaliser with its options: a function of one value.

    A distance after normalisation is a pull-back: it keeps symmetry and the triangle inequality, but no longer
    separates the values that the normaliser makes equal.

    Attributes:
        name: Name in the catalogue.
        identifies: One-line description of the values that become equal.
        apply: The function.
        options: Options by name.
        of_text: Faster equivalent of `apply` for a text; returns a text.
        of_lists: Faster equivalent of `apply` for many lists.
        makes: Possible kinds of the result by kind of the input, for kinds that can change.
        authority: The names and variants that it maps, if it is `authority`.
        after: Returns the normaliser as it applies after others; None if it does not depend on them.
        implied: Whether it applies without being declared, and is not listed with the declared ones.
    """

    name: str
    identifies: str
    apply: Apply = field(compare=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    of_text: Callable[[str], str] | None = field(default=None, compare=False)
    of_lists: Callable[[Iterable[list[Json]]], list[Json]] | None = field(default=None, compare=False)
    makes: Mapping[Kind, frozenset[Kind]] = field(default_factory=dict)
    authority: Authority | None = field(default=None, compare=False)
    after: Callable[[Sequence[Normalizer]], Normalizer] | None = field(default=None, compare=False)
    implied: bool = False

    def kinds_of(self, kind: Kind) -> frozenset[Kind]:
        """Return the possible kinds of a value of this kind after normalisation."""
        return self.makes.get(kind, frozenset({kind}))

    def __call__(self, value: Json) -> Json:
        return self.apply(value)


def normalize(normalizers: Iterable[Normalizer], value: Json) -> Json:
    """Apply normalisers to one value, one after another."""
    for normalizer in normalizers:
        value = normalizer.apply(value)
    return value


def normalized(
    normalizers: Iterable[Normalizer], values: Iterable[Json], types: set[type]
) -> tuple[Iterable[Json], set[type]]:
    """Apply normalisers to many values, one after another.

    Args:
        normalizers: Normalisers, in order.
        values: Values to normalise.
        types: Types of the values.

    Returns:
        The normalised values, which can be iterated once, and their types.
    """
    for normalizer in normalizers:
        if normalizer.of_text is not None and types <= {str}:
            values = map(normalizer.of_text, values)
        else:
            of_all = normalizer.of_lists if types <= {list} else None
            values = list(map(normalizer.apply, values)) if of_all is None else of_all(values)
            types = set(map(type, values))
    return values, types


def _itemwise(change: Apply, value: Json) -> Json:
    if isinstance(value, list):
        return list(map(partial(_itemwise, change), value))  # one stack frame per level
    return value if isinstance(value, dict) else change(value)


def _textwise(change: Callable[[str], Json], value: Json) -> Json:
    return change(value) if isinstance(value, str) else value


def _is_number(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def nfc(value: Json) -> Json:
    """Return a value with all its texts in Unicode normal form NFC; the keys of objects are unchanged."""
    if isinstance(value, str):
        return value if value.isascii() else unicodedata.normalize("NFC", value)
    if isinstance(value, list):
        return list(map(nfc, value))
    return {key: nfc(item) for key, item in value.items()} if isinstance(value, dict) else value


def is_surely_nfc(values: Sequence[Json], types: set[type]) -> bool:
    """Return whether the values of a column are known to be in NFC, by a check that is cheaper than `nfc`."""
    if types <= {str}:
        return all(map(str.isascii, values))
    items = set(map(type, chain.from_iterable(values))) if types <= {list} else types
    return items <= {int, float, bool, type(None)}


def _unaccent(text: str) -> str:
    base_letters = "".join(sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))
    return unicodedata.normalize("NFC", base_letters)


_BASE_LETTERS: Final = {"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d"}
"""Replacements for common letters that no Unicode normal form decomposes."""

_WITHOUT_BASE: Final = re.compile("[œæøłđŒÆØŁĐ]")


def _base_letters(text: str) -> str:
    """Replace the letters of `_BASE_LETTERS`; Œ becomes OE before an upper-case letter, otherwise Oe."""

    def base(found: re.Match[str]) -> str:
        letters = _BASE_LETTERS[found[0].lower()]
        if found[0].islower():
            return letters
        return letters.upper() if text[found.end() : found.end() + 1].isupper() else letters.capitalize()

    return text if text.isascii() else _WITHOUT_BASE.sub(base, text)


def _squash_space(text: str) -> str:
    return " ".join(text.split())


_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters with the Unicode property Default_Ignorable_Code_Point (Unicode Standard, section 5.21)."""


def _strip_invisible(text: str) -> str:
    return text if text.isascii() else _INVISIBLE.sub("", text)


def _strip_punctuation(by: str, text: str) -> str:
    return "".join(by if unicodedata.category(sign)[0] in "PS" else sign for sign in text)


_BROKEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ac]\s+(?=[^\W\d_])")


def _dehyphenate(text: str) -> str:
    return _BROKEN.sub("", text.replace("\u00ad", ""))


_ROMAN = re.compile("(?=.)M{0,3}(?:CM|CD|D?C{0,4})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})")
_ROMAN_DIGITS: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def _roman(text: str) -> Json:
    numeral = unicodedata.normalize("NFKC", text).strip().upper()
    if not _ROMAN.fullmatch(numeral):
        return text
    digits = [_ROMAN_DIGITS[sign] for sign in numeral]
    return sum(-digit if digit < after else digit for digit, after in zip(digits, [*digits[1:], 0], strict=True))


def _decimal_text(number: float) -> str:
    """Return a number as text without exponent; 2 and 2.0 give the same text."""
    integer = math.trunc(number)
    return format(Decimal(integer) if integer == number else Decimal(repr(float(number))), "f")


def _text(value: Json) -> Json:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _decimal_text(value) if _is_number(value) else value


def _digits(value: Json) -> Json:
    text = _decimal_text(value) if _is_number(value) else value
    return re.sub("[^0-9]", "", text) if isinstance(text, str) else value


# A sign is part of a number only at the start of a word: "12-15" contains 12 and 15.
_NUMBERS = re.compile(r"(?:(?<![^\s(])[+−-])?[0-9]+(?:\.[0-9]+)?")


def _or_text(read: Callable[[str], float | None], text: str) -> Json:
    """Return the number that a text states, or the text if it states none."""
    number = read(text)
    return text if number is None else number


def _fraction(text: str) -> Json:
    number = read_fraction(text)
    return text if number is None else float(number)


def _numbers(value: Json) -> Json:
    return list(_numbers_in(value)) if isinstance(value, (str, list)) or _is_number(value) else value


def _numbers_in(value: Json) -> Iterator[float]:
    """Yield the numbers in a value, from left to right."""
    if isinstance(value, list):
        for item in value:
            yield from _numbers_in(item)
    elif isinstance(value, str):
        for numeral in _NUMBERS.findall(value):
            if len(numeral) > MAX_DIGITS:  # the text may contain other numbers, so it cannot stay a text
                raise DataError.of(
                    f"Expected numbers of at most {MAX_DIGITS} digits, got one of {len(numeral)} characters",
                    hint="Remove `numbers` for this field, or shorten the number.",
                )
            if (number := read_number(numeral.replace("−", "-"))) is not None:
                yield number
    elif _is_number(value):
        yield value


def _concat(separator: str, value: Json) -> Json:
    if not isinstance(value, list):
        return value
    kinds = set(map(type, value))
    if kinds <= {int}:  # fast path for the common cases
        return separator.join(map(int.__repr__, value))
    return separator.join(value if kinds <= {str} else _scalar_texts(value))


def _concat_all(separator: str, values: Iterable[list[Json]]) -> list[Json]:
    values = list(values)
    if set(map(type, chain.from_iterable(values))) <= {int}:
        return [separator.join(map(int.__repr__, value)) for value in values]
    return [_concat(separator, value) for value in values]


def _scalar_texts(value: Json) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _scalar_texts(item)
    elif isinstance(text := _text(value), str):
        yield text


_TEXT, _LIST = frozenset({Kind.STRING}), frozenset({Kind.ARRAY})
_NUMBER_OR_TEXT = frozenset({Kind.NUMBER, Kind.STRING})


def _fixed(
    name: str, apply: Apply, summary: str, identifies: str, makes: Mapping[Kind, frozenset[Kind]]
) -> tuple[str, Factory[Normalizer]]:
    """Return the catalogue entry of a normaliser without options."""
    normalizer = Normalizer(name, identifies, apply, makes=makes)
    return name, Factory(lambda _: normalizer, summary)


def _of_texts(
    name: str, change: Callable[[str], str], summary: str, identifies: str
) -> tuple[str, Factory[Normalizer]]:
    normalizer = Normalizer(name, identifies, partial(_itemwise, partial(_textwise, change)), of_text=change)
    return name, Factory(lambda _: normalizer, summary)


def _strip_punctuation_with(options: Mapping[str, Any]) -> Normalizer:
    """Return the normaliser `strip-punctuation` with these options."""
    change = partial(_strip_punctuation, options.get("by", ""))
    apply = partial(_itemwise, partial(_textwise, change))
    identifies = "texts that differ in punctuation and symbols"
    return Normalizer("strip-punctuation", identifies, apply, options, of_text=change)


def _number_with(options: Mapping[str, Any]) -> Normalizer:
    """Return the normaliser `number` with these options."""
    form = NumberFormat(**{"decimal": ".", **options})
    if "decimal" not in options and options:
        raise SchemaError.of(
            f"`number` requires `decimal` with {' and '.join(f'`{name}`' for name in options)}",
            pointer="/number",
            hint='Declare the decimal mark, "." or ",": "1.234" can be 1.234 or 1234.',
        )
    if form.decimal in form.group:
        raise SchemaError.of(
            f"Expected `group` to differ from `decimal`, got {shown(form.group)}",
            pointer="/number/group",
            hint='For "1.234,50", write {"decimal": ",", "group": "."}.',
        )
    signs = [words for name, words in _SIGNS.items() if options.get(name)]
    identifies = "a number and its representations as text" + ", whatever its " * bool(signs) + " or ".join(signs)
    change = partial(_textwise, partial(_or_text, form.parse))
    makes = {Kind.STRING: _NUMBER_OR_TEXT}
    return Normalizer("number", identifies, partial(_itemwise, change), {"decimal": ".", **options}, makes=makes)


def _amount_with(options: Mapping[str, Any]) -> Normalizer:
    """Return the normaliser `amount` with these options."""
    units = sorted(options.get("units", ()), key=len, reverse=True)
    read = partial(read_amount, decimal=options.get("decimal"), units=units)
    return Normalizer(
        "amount",
        "a number and its notations as an amount, in any currency" + " or unit" * bool(units),
        partial(_itemwise, partial(_textwise, partial(_or_text, read))),
        options,
        makes={Kind.STRING: _NUMBER_OR_TEXT},
    )


def _mixed_units_with(options: Mapping[str, Any]) -> Normalizer:
    """Return the normaliser `mixed-units` with these options."""
    for unit in options["units"]:
        if not _UNIT.fullmatch(unit):
            raise SchemaError.of(
                f"Expected the units of `mixed-units` to be words without digits or white space, got {shown(unit)}",
                pointer="/mixed-units/units",
                hint='For "£3 5s. 6d.", write {"£": 1, "s": 20, "d": 240}.',
            )
    return Normalizer(
        "mixed-units",
        "a number and its notations as an amount in several units",
        partial(_itemwise, partial(_textwise, partial(_or_text, partial(read_mixed_units, units=options["units"])))),
        options,
        makes={Kind.STRING: _NUMBER_OR_TEXT},
    )


_UNIT: Final = re.compile(r"[^\d\s]+")
_SIGNS: Final = {"currency": "currency", "percent": "percent sign"}


def _date_with(options: Mapping[str, Any]) -> Normalizer:
    languages = tuple(options.get("languages", ()))
    if languages:  # the version can change what is parsed
        options = {**options, "dateparser": check_languages(languages)}
    change = partial(_textwise, partial(iso_date, tuple(options["formats"]), languages))
    return Normalizer("date", "notations of the same day, with or without a time", partial(_itemwise, change), options)


def _concat_with(options: Mapping[str, Any]) -> Normalizer:
    identifies = "lists whose items concatenate to the same text, such as [1, 23] and [12, 3]"
    separator = options["separator"]
    of_lists = partial(_concat_all, separator)
    makes = {Kind.ARRAY: _TEXT}
    return Normalizer("concat", identifies, partial(_concat, separator), options, of_lists=of_lists, makes=makes)


def _authority(contents: AuthorityNames, before: Sequence[Normalizer] | None = None) -> Normalizer:
    """Return the normaliser that maps variants to names, as they are after the normalisers `before`, if known.

    Raises:
        SchemaError: A variant belongs to several names, and this is an error.
    """
    authority = contents.normalized(partial(normalize, before or ()))
    if contents.unique and before is not None:
        authority.check_unique()
    return Normalizer(
        "authority",
        "a name and its variants" if authority.file is None else f"a name and its variants in {authority.file}",
        partial(_itemwise, partial(_textwise, authority.name_of)),
        contents.options,
        of_text=authority.name_of,
        authority=authority,
        after=partial(_authority, contents),
    )


NFC: Final = Normalizer(
    "nfc",
    "texts that differ in how a letter and its marks are encoded",
    nfc,
    of_text=partial(unicodedata.normalize, "NFC"),
    implied=True,
)
"""Applies to every value before all others, unless `as-written` is declared."""

AS_WRITTEN: Final = "as-written"
"""Name of the normaliser that changes nothing, and takes the place of `NFC`."""


catalogue: Final = Catalogue(
    "normalize",
    dict(
        (
            _of_texts(
                "strip",
                str.strip,
                "the text without leading and trailing whitespace",
                "texts that differ in white space at the ends",
            ),
            _of_texts(
                "casefold",
                str.casefold,
                "the text after Unicode case folding, which also replaces ß with ss",
                "texts that differ in case (and ß and ss)",
            ),
            _of_texts("lower", str.lower, "the text in lower case", "texts that differ in case"),
            _of_texts("upper", str.upper, "the text in upper case", "texts that differ in case (and ß and ss)"),
            _of_texts(
                "nfc",
                partial(unicodedata.normalize, "NFC"),
                "the text in Unicode normal form C; applied by default, before all other normalisers",
                NFC.identifies,
            ),
            _fixed(
                AS_WRITTEN,
                lambda value: value,
                "the unchanged text; turns off the default `nfc`",
                "nothing",
                {},
            ),
            _of_texts(
                "nfkc",
                partial(unicodedata.normalize, "NFKC"),
                "the text in Unicode normal form KC; for example, ﬁ becomes fi, and ² becomes 2",
                "texts that differ in compatible forms of characters, such as ﬁ and fi, ² and 2",
            ),
            _of_texts(
                "unaccent",
                _unaccent,
                "the text without combining marks; for example, é becomes e",
                "texts that differ in accents, such as é and e",
            ),
            _of_texts(
                "base-letters",
                _base_letters,
                "the text with œ replaced by oe, æ by ae, ø by o, ł by l, and đ by d; `nfkc` and `unaccent` leave "
                "these letters unchanged",
                "texts that differ in letters such as œ and oe, ł and l",
            ),
            _of_texts(
                "squash-space",
                _squash_space,
                "the text without leading and trailing whitespace, with any other run of whitespace replaced by one "
                "space",
                "texts that differ in white space at the ends, or in its kind and length elsewhere",
            ),
            _of_texts(
                "strip-invisible",
                _strip_invisible,
                "the text without invisible characters, such as direction marks, joiners, soft hyphens and byte order "
                "marks (see [invisible characters](reference/normalisers.md#invisible-characters))",
                "texts that differ in invisible characters, such as direction marks and joiners",
            ),
            _of_texts(
                "dehyphenate",
                _dehyphenate,
                "the text with broken words rejoined: a hyphen followed by whitespace between two letters, as at the "
                "end of a line, is removed, and so are soft hyphens",
                "texts that differ in whether a word is broken at the end of a line",
            ),
            _of_texts(
                "strip-markup",
                without_markup,
                "the text without Markdown and without HTML and XML tags; character entities such as &amp; are decoded",
                "texts that differ in tags, character entities or Markdown",
            ),
            _fixed(
                "roman",
                partial(_itemwise, partial(_textwise, _roman)),
                "the number that a Roman numeral such as XIV or xiv represents, if it is below 4000; any other text is "
                "unchanged",
                "a number and its Roman numerals",
                {Kind.STRING: _NUMBER_OR_TEXT},
            ),
            _fixed(
                "fraction",
                partial(_itemwise, partial(_textwise, _fraction)),
                "the number that a text with a fraction, such as 3 1/2, 3½ or ½, represents; any other text is "
                "unchanged (see [fractions](reference/normalisers.md#fractions))",
                "a number and its notations with a fraction",
                {Kind.STRING: _NUMBER_OR_TEXT},
            ),
            _fixed(
                "digits",
                partial(_itemwise, _digits),
                "the digits 0 to 9 in a text, or in the decimal notation of a number",
                "texts and numbers with the same digits in the same order",
                {Kind.NUMBER: _TEXT},
            ),
            _fixed(
                "numbers",
                _numbers,
                "a list of the numbers in a text or a list",
                "texts and lists that contain the same numbers in the same order",
                {Kind.STRING: _LIST, Kind.NUMBER: _LIST},
            ),
            _fixed(
                "text",
                partial(_itemwise, _text),
                "a number (without an exponent) or a boolean as text",
                "a number or boolean and its JSON text",
                {Kind.BOOLEAN: _TEXT, Kind.NUMBER: _TEXT},
            ),
        )
    )
    | {
        "decimal": Factory(
            lambda _: Normalizer(
                "decimal",
                "a number and its decimal notations, to double precision",
                partial(_itemwise, partial(_textwise, partial(_or_text, read_decimal))),
                makes={Kind.STRING: _NUMBER_OR_TEXT},
            ),
            "the number that a text represents, if it is a finite number in the notation of Python's `Decimal`, such "
            "as 12.50 or 1E+3; any other text is unchanged",
        ),
        "amount": Factory(
            _amount_with,
            "the number in an amount that is written in any of several notations; any other text is unchanged (see "
            "[amounts](reference/normalisers.md#amounts))",
            {
                "decimal": {"enum": [".", ","]},
                "units": {"type": "array", "items": {"type": "string", "pattern": "\\S"}, "minItems": 1},
            },
            of_documents=("units",),
        ),
        "mixed-units": Factory(
            _mixed_units_with,
            "the number, in the main unit, of an amount that is written in several units; any other text is unchanged "
            "(see [mixed units](reference/normalisers.md#mixed-units))",
            {
                "units": {
                    "type": "object",
                    "additionalProperties": {"type": "integer", "minimum": 1},
                    "minProperties": 1,
                }
            },
            required=("units",),
            of_documents=("units",),
        ),
        "strip-punctuation": Factory(
            _strip_punctuation_with,
            "the text with punctuation and symbols removed, or with each of them replaced by the text `by`",
            {"by": {"type": "string"}},
        ),
        "number": Factory(
            _number_with,
            "the number that a text represents in the notation that the options define; any other text is unchanged "
            "(see [amounts](reference/normalisers.md#amounts))",
            {
                "decimal": {"enum": [".", ","]},
                "group": {"type": "string", "pattern": f"^[{SEPARATORS}]*$"},
                "currency": {"type": "boolean"},
                "percent": {"type": "boolean"},
                "accounting": {"type": "boolean"},
            },
        ),
        "date": Factory(
            _date_with,
            "the date as YYYY-MM-DD. The text can be a date in this notation, optionally followed by a time, a date in "
            "one of the `strptime` `formats`, in which `%Om` is the month as a Roman numeral, or a date [in "
            "words](reference/normalisers.md#dates-in-words); any other text is unchanged",
            {
                "formats": {"type": "array", "items": {"type": "string", "pattern": FORMAT}, "default": []},
                "languages": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            },
            of_documents=("formats",),
        ),
        "authority": Factory(
            lambda options: _authority(read_authority(options)),
            "the name that the text is a variant of, according to an authority file or the option `names`; any other "
            "text is unchanged (see [authority files](reference/normalisers.md#authority-files))",
            OPTIONS,
        ),
        "concat": Factory(
            _concat_with,
            "the texts, numbers and booleans in a list, joined in order into one text",
            {"separator": {"type": "string", "default": ""}},
        ),
    },
)
"""Catalogue of all built-in normalisers; `catalogue.with_factory` returns an extended copy."""


# Custom normalisers: functions of one value, with checked results.


@dataclass(frozen=True, slots=True)
class CustomFunction:
    """A custom function that is applied to single values of some kinds; `makes` are the kinds of its results."""

    name: str
    function: Callable[[Any], Any]
    makes: Mapping[Kind, frozenset[Kind]]

    def __call__(self, value: Json) -> Json:
        """Return the result for a value, or for each item of a list. Raises FunctionError if the function fails."""
        if isinstance(value, list):
            return list(map(self, value))
        kind = kind_of(value)
        if kind not in self.makes:
            return value
        try:
            result = self.function(value)
        except (Exception, SystemExit) as error:
            message = f"The normaliser `{self.name}` raised {type(error).__name__}: {error}, for {reprlib.repr(value)}"
            raise self._error(message, value) from error
        try:
            check(result)
            made = kind_of(result)
        except DataError as error:
            message = f"Expected the normaliser `{self.name}` to return JSON for {reprlib.repr(value)}, got"
            raise self._error(f"{message} {reprlib.repr(result)}", value) from error
        if made not in self.makes[kind]:
            kinds = " or ".join(sorted(made_kind.json_type for made_kind in self.makes[kind]))
            message = f"Expected the normaliser `{self.name}` to return a {kinds} for {reprlib.repr(value)}"
            raise self._error(f"{message}, got {reprlib.repr(result)}", value)
        return result

    @staticmethod
    def _error(message: str, value: Json) -> FunctionError:
        error = FunctionError.of(message, hint="It is called with single values of the kinds that it declares.")
        error.values = (value,)
        return error


def with_normalizer(
    name: str,
    function: Callable[[Any], Any],
    *,
    kinds: Iterable[Kind | str] = (Kind.STRING,),
    makes: Iterable[Kind | str] | None = None,
    identifies: str = "values for which it returns the same result",
    known: Catalogue[Normalizer] = catalogue,
) -> Catalogue[Normalizer]:
    """Return a catalogue that also contains a custom normaliser.

    Args:
        name: Name of the normaliser in schemas.
        function: `function(value)` returns a JSON value that depends on `value` alone. It is called with single
            values, also with the items of lists.
        kinds: Kinds of single values that it is called with, of "null", "boolean", "number" and "string"; other values
            are unchanged.
        makes: Kinds that it returns, also "array" and "object"; by default, the kind of its argument.
        identifies: Description of the values that become equal, for the certificate.
        known: The catalogue to extend.

    Raises:
        SchemaError: The name is already in use, or a kind is unknown or, in `kinds`, not that of a single value.
    """
    taken = read_kinds(kinds, f"`kinds` of the normaliser `{name}`", sorted(SCALARS))
    made = None if makes is None else read_kinds(makes, f"`makes` of the normaliser `{name}`")
    table = {kind: frozenset({kind}) if made is None else made for kind in taken}
    apply = CustomFunction(name, function, table)
    of_kinds = partial(Normalizer, name, identifies, apply, makes=table)
    return known.with_factory(name, Factory(lambda _: of_kinds(), "A custom normaliser."))
