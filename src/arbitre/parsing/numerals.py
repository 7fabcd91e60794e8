"""Parses a text that is one number, in a declared notation, and finds the notation of many texts.

>>> NumberFormat(decimal=",", group=". ", currency=True).parse("1.234,50 €")
1234.5
>>> NumberFormat(decimal=",", group=". ", currency=True).parse("1,23,4 €")
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import regex

from arbitre.values import MAX_DIGITS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

SEPARATORS: Final = " '.,"
"""Characters that may separate groups of three digits."""

_LONGEST: Final = 2 * MAX_DIGITS
"""Maximum length of a number, with separators and signs. The pattern takes quadratic time for some longer texts."""

_PLAIN: Final = {mark: re.compile(rf"[+-]?[0-9]+(?:{re.escape(mark)}[0-9]+)?") for mark in ".,"}
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_VARIANTS: Final = str.maketrans("\u00a0\u202f’−", "  '-")

CURRENCIES: Final = frozenset(
    """
    AED AFN ALL AMD ANG AOA ARS ATS AUD AWG AZN BAM BBD BDT BEF BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF
    CHF CLP CNY COP CRC CSK CUP CVE CYP CZK DDM DEM DJF DKK DOP DZD EEK EGP ERN ESP ETB EUR FIM FJD FKP FRF GBP GEL GHS
    GIP GMD GNF GRD GTQ GYD HKD HNL HRK HTG HUF IDR IEP ILS INR IQD IRR ISK ITL JMD JOD JPY KES KGS KHR KMF KPW KRW KWD
    KYD KZT LAK LBP LKR LRD LSL LTL LUF LVL LYD MAD MDL MGA MKD MMK MNT MOP MRU MTL MUR MVR MWK MXN MYR MZN NAD NGN NIO
    NLG NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PTE PYG QAR ROL RON RSD RUB RUR RWF SAR SBD SCR SDG SEK SGD SHP SIT SKK
    SLE SOS SRD SSP STN SUR SVC SYP SZL THB TJS TMT TND TOP TRL TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST
    XAF XCD XOF XPF YER YUM ZAR ZMW ZWG ZWL
    """.split()  # noqa: SIM905  (a list literal takes four times the room)
)
"""ISO 4217 codes of currencies in use, and of those that the euro and the successors of the Soviet Union, Yugoslavia,
Czechoslovakia and the two German states replaced."""


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """Notation of numbers.

    Attributes:
        decimal: Decimal mark.
        group: Characters that may separate groups of three digits, one kind per number. A space matches every kind
            of space, and an apostrophe for both kinds.
        currency: Whether a currency sign and an ISO 4217 code may precede or follow the number.
        percent: Whether a percent sign may precede or follow the number.
        accounting: Whether a number in parentheses is negative.
    """

    decimal: str = "."
    group: str = " '"
    currency: bool = False
    percent: bool = False
    accounting: bool = False

    def parse(self, text: str) -> float | None:
        """Return the number; None if the text is not one number in this notation, or see `read_number`."""
        stripped = text.strip()
        if len(stripped) > _LONGEST:
            return None
        if _PLAIN[self.decimal].fullmatch(stripped):  # three times faster than the full pattern
            return read_number(stripped.replace(self.decimal, "."))
        parts = _pattern(self.decimal, self.group).fullmatch(stripped.translate(_VARIANTS))
        if parts is None:
            return None
        signs, currency, codes, percent, opened = (
            parts.captures(name) for name in ("sign", "currency", "code", "percent", "open")
        )
        unexpected = (
            (not self.currency and currency + codes)
            or (not self.percent and percent)
            or (not self.accounting and opened)
            or (percent and currency + codes)
            or not CURRENCIES.issuperset(codes)
        )
        if unexpected or max(len(signs + opened), len(currency), len(codes), len(percent)) > 1:
            return None
        digits = parts["digits"].replace(parts["group"] or " ", "").replace(self.decimal, ".")
        return read_number(f"{'-' if opened else ''.join(signs)}{digits}")


@lru_cache(maxsize=64)
def _pattern(decimal: str, group: str) -> regex.Pattern[str]:
    """Return the pattern of a number, with any signs; the caller decides which signs are allowed."""
    signs = r"(?:(?:(?P<currency>\p{Sc})|(?P<code>[A-Z]{3})|(?P<percent>%)) ?){0,2}"
    separator = f"[{regex.escape(group)}]" if group else "(?!)"
    groups = rf"[1-9][0-9]{{0,2}}(?P<group>{separator})[0-9]{{3}}(?:(?P=group)[0-9]{{3}})*"
    digits = rf"(?P<digits>(?:{groups}|[0-9]+)(?:{regex.escape(decimal)}[0-9]+)?)"
    minus = "(?P<sign>[+-])?"
    return regex.compile(rf"{minus}{signs}(?P<open>\()?{minus}{signs}{minus}{digits} ?{signs}(?(open)\) ?{signs})")


_AMOUNT_DIGITS: Final = regex.compile(r"[0-9]+(?:[ '.,][0-9]+)*")
_GROUP: Final = 3
"""Number of digits in a group."""


def read_amount(text: str, decimal: str | None = None, units: Sequence[str] = ()) -> float | None:
    """Return the number of an amount, in whatever notation; None if the text is not one amount.

    A currency sign or an ISO 4217 code may precede or follow the number; parentheses make it negative. The last of two
    different marks is the decimal mark, and a mark that occurs more than once separates groups. A single mark between
    one to three digits, the first of which is not 0, and exactly three digits is ambiguous: it is the decimal mark if
    it is `decimal`, otherwise it separates groups. Without `decimal`, a point is then the decimal mark, as in JSON, and
    a comma makes the text unreadable. Any other single mark is the decimal mark.

    Args:
        text: The text.
        decimal: The decimal mark of ambiguous numbers, "." or ",".
        units: Words for units or currencies, one of which may precede or follow the number, the longest first.

    >>> [read_amount(text) for text in ("1.234,50 €", "(1,234.50)", "1\u202f234,50", "EUR 12", "1E+3", "12 or 13")]
    [1234.5, -1234.5, 1234.5, 12, 1000.0, None]
    >>> read_amount("1,234"), read_amount("1,234", ","), read_amount("1,234", "."), read_amount("1.234")
    (None, 1.234, 1234, 1.234)
    >>> read_amount("12,5 kg", units=("kg",)), read_amount("p. 12", units=("p.",)), read_amount("12 kg")
    (12.5, 12, None)
    """
    text = _without_unit(text.strip(), units)
    digits = _AMOUNT_DIGITS.search(text.translate(_VARIANTS))
    if digits is None:
        return read_decimal(text)
    marks = [sign for sign in digits[0] if sign in ".,"]
    last = marks[-1] if marks else "."
    if len(set(marks)) > 1 or not marks:
        mark = last
    elif len(marks) > 1:
        mark = "." if last == "," else ","
    elif len(digits[0].rpartition(last)[2]) != _GROUP or not _is_group(digits[0].rpartition(last)[0]):
        mark = last
    elif decimal is None and last == ",":
        return None
    else:
        mark = decimal or last
    group = SEPARATORS.replace(mark, "")
    number = NumberFormat(decimal=mark, group=group, currency=True, accounting=True).parse(text)
    return read_decimal(text) if number is None else number


def _without_unit(text: str, units: Sequence[str]) -> str:
    """Return a text without the first of these units that is at its start or end."""
    for unit in units:
        for bare in (text.removesuffix(unit), text.removeprefix(unit)):
            if bare != text:
                return bare
    return text


def _is_group(digits: str) -> bool:
    """Return whether digits can be the first group of a number: up to three digits that do not start with 0."""
    return len(digits) <= _GROUP and not digits.startswith("0")


def read_decimal(text: str) -> float | None:
    """Return the number of a text in the notation of Python's `Decimal`; None for another text, or see `read_number`.

    Integers without an exponent are exact; other numbers are the nearest float.

    >>> read_decimal(" 12.50"), read_decimal("1E+3"), read_decimal("NaN"), read_decimal("1 234")
    (12.5, 1000.0, None, None)
    """
    stripped = text.strip()
    if _INTEGER.fullmatch(stripped):
        return read_number(stripped)
    if not _DECIMAL.fullmatch(stripped):
        return None
    if len(stripped) > MAX_DIGITS:
        return None
    number = float(stripped)
    return number if math.isfinite(number) else None


def read_number(digits: str) -> float | None:
    """Return the number of a text such as "-12" or "0.5"; None if it exceeds a float or has too many digits.

    Integers are exact. More than 4,300 digits, with the decimal point, are not converted: that takes quadratic time.
    """
    if len(digits.lstrip("+-")) > MAX_DIGITS:
        return None
    if "." not in digits:
        return int(Decimal(digits))  # whatever limit Python is set to
    number = float(digits)
    return number if math.isfinite(number) else None


# Fractions, and amounts in a unit and its parts.


_VULGAR: Final = "¼-¾⅐-⅞"
"""Fractions of one character, as a range in a pattern."""

_FRACTION: Final = re.compile(r"([-+−]?)(?:([0-9]{1,15})\s+)?([1-9][0-9]?)[/⁄]([1-9][0-9]?)")
_LONGEST_MIXED: Final = 80
"""Maximum length of an amount in several units."""


def read_fraction(text: str) -> Fraction | None:
    """Return the number of a text that is a proper fraction, or an integer with one; None for any other text.

    The fraction is one character, or two integers of at most two digits with "/" between them. After an integer, two
    integers must be preceded by white space. Improper fractions are not read, as "31/2" can be 3 1/2 without its space.

    >>> [str(read_fraction(text)) for text in ("3 1/2", "3½", "-1 3⁄4", "1/3", "31/2", "3")]
    ['7/2', '7/2', '-7/4', '1/3', 'None', 'None']
    """
    spaced = re.sub(f"[{_VULGAR}]", lambda one: f" {unicodedata.normalize('NFKC', one[0])}", text)
    parts = _FRACTION.fullmatch(re.sub(r"^\s*([-+−]?)\s*", r"\1", spaced).rstrip())
    if parts is None or int(parts[3]) >= int(parts[4]):
        return None
    number = int(parts[2] or 0) + Fraction(int(parts[3]), int(parts[4]))
    return -number if parts[1] in {"-", "−"} else number


def read_mixed_units(text: str, units: Mapping[str, int]) -> float | None:
    """Return an amount that is written in several units as a number of its main unit; None for any other text.

    The units follow their numbers, the largest first; the first unit can also precede its number. Each smaller amount
    is less than one of the unit before it. The numbers are integers; the last one may be or contain a fraction. An
    amount in one unit is read only if this is the main unit, and only if its number has no comma.

    Args:
        text: The text.
        units: How many of each unit equal one main unit, by the word for the unit. A point may follow the word.

    >>> pounds = {"£": 1, "l": 1, "s": 20, "d": 240}
    >>> [read_mixed_units(text, pounds) for text in ("£3 5s. 6d.", "£1,234 10s", "3 l.", "5 s.", "3 l. 20 s.")]
    [3.275, 1234.5, 3, None, None]
    """
    stripped = text.strip()
    parts = None if len(stripped) > _LONGEST_MIXED else _mixed(tuple(units)).fullmatch(stripped.translate(_VARIANTS))
    if parts is None:
        return None
    factors = [units[unit] for unit in parts.captures("unit")]
    written = parts.captures("number")
    if len(written) == 1 and (factors != [1] or "," in written[0]):
        return None
    numbers = [re.sub("[ ',](?=[0-9]{3})", "", number) for number in written]
    if not all(map(str.isdecimal, numbers[:-1])):
        return None
    last = Fraction(numbers[-1]) if numbers[-1].isdecimal() else read_fraction(numbers[-1])
    if last is None:
        return None
    sizes = [*map(Fraction, numbers[:-1]), last]
    amounts = [size / factor for size, factor in zip(sizes, factors, strict=True)]
    for above, factor, amount in zip(factors, factors[1:], amounts[1:], strict=False):
        if factor <= above or amount * above >= 1:
            return None
    total = sum(amounts, Fraction(0)) * (-1 if parts["sign"] else 1)
    return int(total) if total.denominator == 1 else float(total)


@lru_cache(maxsize=64)
def _mixed(units: tuple[str, ...]) -> regex.Pattern[str]:
    """Return the pattern of an amount in these units."""
    unit = rf"(?P<unit>{'|'.join(map(regex.escape, sorted(units, key=len, reverse=True)))})(?!\p{{L}})\.?"
    whole = "(?:[1-9][0-9]{0,2}(?:[ ',][0-9]{3})+|[0-9]{1,15})(?![0-9])"
    fraction = rf"(?:[{_VULGAR}]|[0-9]{{1,2}}[/⁄][0-9]{{1,2}})"
    number = rf"(?P<number>{whole}(?: ?{fraction})?|{fraction})"
    return regex.compile(rf"(?P<sign>-)?(?:{unit} ?{number}[.,]?|{number} ?{unit})(?:,? ?{number} ?{unit})*")


# The notation of the numbers of a field.


MIN_NUMBERS: Final = 3
"""Minimum number of different numbers."""

MIN_SHARE: Final = 0.9
"""Minimum share of the texts that are numbers."""

_MAX_AMBIGUOUS: Final = 3
"""Number of digits of a whole number up to which texts of one length are numbers; longer ones can be years or codes."""

_NOTATIONS: Final = tuple(
    NumberFormat(decimal=mark, group=SEPARATORS.replace(mark, ""), currency=True, percent=True, accounting=True)
    for mark in ".,"
)
_ZERO_FIRST: Final = re.compile(r"[+-]?0[0-9]+")
_CURRENCY: Final = regex.compile(r"\p{Sc}|[A-Z]{3}")


@dataclass(frozen=True, slots=True)
class NumberNotation:
    """The notation of many texts that are numbers.

    Attributes:
        numbers: The texts that are numbers.
        currency: Whether most of them state a currency.
        whole: Whether all are integers.
        options: Options of the normaliser `number`, or of `amount` if there are currencies.
        doubt: What the texts do not tell, so that the options are not known; None if there is no doubt.
    """

    numbers: tuple[str, ...]
    currency: bool
    whole: bool
    options: dict[str, Any]
    doubt: str | None = None


def find_number_notation(texts: Collection[str]) -> NumberNotation | None:
    """Return the notation of texts of which nearly all are numbers, or None.

    Codes are not numbers: neither texts with leading zeros, nor whole numbers of more than three digits that nearly all
    have the same length, such as years, postcodes and telephone numbers.

    Args:
        texts: Different texts.

    >>> find_number_notation(["1.234,50", "12,00", "3,5"]).options
    {'decimal': ',', 'group': '.'}
    >>> find_number_notation(["1,234", "5,678", "9,012"]).doubt
    'a comma before three digits can be a decimal mark or separate thousands'
    >>> find_number_notation(["1931", "1932", "1933"])
    """
    read = [{text: number for text in texts if (number := form.parse(text)) is not None} for form in _NOTATIONS]
    notation, numbers = max(zip(_NOTATIONS, read, strict=True), key=lambda one: len(one[1]))
    if len(numbers) < MIN_NUMBERS or len(numbers) < MIN_SHARE * len(texts):
        return None
    marks = {sign for text in numbers for sign in text.translate(_VARIANTS).strip() if sign in SEPARATORS}
    whole = all(isinstance(number, int) for number in numbers.values())
    money = sum(bool(_CURRENCY.search(text)) for text in numbers)
    lengths = Counter(sum(sign.isdigit() for sign in text) for text in numbers)
    length, same = lengths.most_common(1)[0]
    if any(_ZERO_FIRST.fullmatch(text.strip()) for text in numbers):
        return None
    codes = length > _MAX_AMBIGUOUS and same >= MIN_SHARE * len(numbers)
    if codes and whole and not money and not marks & set(".,"):
        return None
    doubt = None
    if len(read[0]) == len(read[1]) and read[0] != read[1]:
        sign = "comma" if "," in marks else "point"
        doubt = f"a {sign} before three digits can be a decimal mark or separate thousands"
    currency = 2 * money >= len(numbers)
    if len({sign for text in numbers for sign in _CURRENCY.findall(text)}) > 1:
        doubt = "the currencies differ, and numbers do not state them"
    return NumberNotation(tuple(numbers), currency, whole, _options(notation, numbers, marks, currency=currency), doubt)


def _options(notation: NumberFormat, numbers: Collection[str], marks: set[str], *, currency: bool) -> dict[str, Any]:
    """Return the options of the normaliser that reads these numbers, as few as possible."""
    if currency:
        return {"decimal": notation.decimal} if marks & set(".,") else {}
    signs = "".join(numbers)
    options: dict[str, Any] = {"decimal": notation.decimal}
    if group := marks & set(".,") - {notation.decimal}:
        options["group"] = "".join(sorted(group | (marks & set(" '"))))
    options |= {name: True for name, sign in (("percent", "%"), ("accounting", "(")) if sign in signs}
    if _CURRENCY.search(signs):
        options["currency"] = True
    return {} if options == {"decimal": "."} else options
