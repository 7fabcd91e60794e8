"""Converts days with a time, dates in `strptime` formats and dates in words to YYYY-MM-DD.

Dates in words are read with dateparser (extra `dates`) in declared languages, if they state their month and a year of
four digits. No part is guessed: a day that the text does not state is omitted, and the result does not depend on the
current date. `find_date_notation` finds the notation of many texts.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from importlib import metadata, util
from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import SchemaError, did_you_mean, optional_library

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


_PARTIAL_DATE: Final = re.compile("[0-9]{4}(?:-[0-9]{2})?")
_DATE: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAY: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ](?!24).*)?")

FORMAT: Final = "^(?=.*%[Yy])(?:[^%]|%Om|%[aAbBdfHIjmMpSyYzZ])+$"
"""Pattern of the `strptime` formats that state a year; %Om is the month as a Roman numeral."""

_MONTHS: Final = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_ROMAN_MONTH: Final = re.compile(rf"(?<!\w)(?:{'|'.join(reversed(_MONTHS))})(?!\w)", re.IGNORECASE)


def iso_date(formats: Sequence[str], languages: tuple[str, ...], text: str) -> str:
    """Return a date as YYYY-MM-DD, or as YYYY-MM or YYYY if its notation states no more.

    Args:
        formats: Formats of `strptime`, which may also contain %Om for the month as a Roman numeral.
        languages: Languages of dates in words, see `spelled_date`; none if empty.
        text: The text.

    Returns:
        The date, or the text unchanged if it is not a date.

    >>> iso_date(["%m/%Y"], (), "03/1931"), iso_date([], (), "1931-03-01T10:00"), iso_date([], (), "3/1931")
    ('1931-03', '1931-03-01', '3/1931')
    >>> iso_date(["%d.%Om.%Y"], (), "3.VII.1851"), iso_date(["%d.%Om.%Y"], (), "3.7.1851")
    ('1851-07-03', '3.7.1851')
    """
    stripped = text.strip()
    if _PARTIAL_DATE.fullmatch(stripped):
        return text
    if _DAY.fullmatch(stripped):
        with suppress(ValueError):
            return datetime.fromisoformat(stripped.upper()).date().isoformat()
    for form in formats:
        with suppress(ValueError):
            day = datetime.strptime(*_without_roman_month(stripped, form)).replace(tzinfo=UTC).date()
            return day.isoformat()[: _precision(form)]
    return (spelled_date(languages, stripped) if languages else None) or text


def _without_roman_month(text: str, form: str) -> tuple[str, str]:
    """Return a text and a format, with %Om and the Roman month replaced by %m and a number.

    Raises ValueError if the format contains %Om, and the text does not contain exactly one Roman month.
    """
    if "%Om" not in form:
        return text, form
    text, found = _ROMAN_MONTH.subn(lambda month: str(_MONTHS.index(month[0].upper()) + 1), text)
    if found != 1:
        raise ValueError
    return text, form.replace("%Om", "%m")


def is_date(text: str) -> bool:
    """Return whether a text is a day in the notation YYYY-MM-DD.

    >>> is_date("1931-03-01"), is_date("1931-02-29"), is_date("1931-03")
    (True, False, False)
    """
    try:
        return bool(_DATE.fullmatch(text)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _precision(form: str) -> int:
    """Return the number of characters of YYYY-MM-DD that a format specifies: 10 with a day, 7 with a month, else 4."""
    stated = set(re.findall("%O?(.)", form))
    month = not stated.isdisjoint("mbB")
    if "j" in stated or (month and "d" in stated):
        return 10
    return 7 if month else 4


# Dates in words.


LONGEST: Final = 80
"""Maximum length of a date in words; dateparser is slow on long texts."""

_NUMERAL: Final = re.compile("[0-9]+")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_PLAIN: Final = re.compile(r"\w(?:[\w\s.,/'’-]*\w)?[.,]?")
"""A text without signs of doubt, such as "?" and brackets, and without the "-" or "/" of an open range."""
_ORDINAL: Final = re.compile(r"(?<![0-9])([0-9]{1,2})-?[^\W\d_]{1,2}(?![^\W\d_])")
"""A day with the ending of an ordinal number, such as "3rd" and "1er"."""
_FUNCTION_WORDS: Final = frozenset(
    ("the", "le", "den", "of", "de", "del", "on", "in", "im", "en", "em", "w", "v", "r", "г")
)
"""Words of dates beside months and weekdays: articles, "of", "on", "in" and "year", in the languages of dateparser."""
_YEAR: Final = re.compile("[0-9]{4}")
_DAY_WORDS: Final = re.compile("[0-9]{1,2}")


def check_languages(languages: Sequence[str]) -> str:
    """Return the version of dateparser. Raises SchemaError if it is not installed or does not know a language."""
    with optional_library("dateparser", "dates", "`languages`", SchemaError):
        from dateparser.data.languages_info import language_order  # noqa: PLC0415  (an extra)
    for number, language in enumerate(languages):
        if language not in language_order:
            raise SchemaError.of(
                f'Expected `languages` to be codes of languages such as "fr", got "{language}"',
                pointer=f"/date/languages/{number}",
                hint=did_you_mean(language, language_order),
            )
    return metadata.version("dateparser")


def spelled_date(languages: tuple[str, ...], text: str) -> str | None:
    """Return a date with the name of the month as YYYY-MM-DD, or as YYYY-MM if it states no day.

    Args:
        languages: Codes of the languages, tried in this order.
        text: The text.

    Returns:
        The date; None if the text is anything else: relative ("yesterday"), approximate ("about May 1918", "May
        1918?"), a range, without a year of four digits, impossible ("31 February 1918"), with further numbers, or with
        words that are neither months, weekdays nor function words such as "the" and "of".

    >>> spelled_date(("fr",), "1er mai 1920"), spelled_date(("en",), "November 1918")
    ('1920-05-01', '1918-11')
    >>> spelled_date(("fr",), "hier")
    """
    if len(text) > LONGEST:
        return None
    numerals = _NUMERAL.findall(text)
    years, days = ([one for one in numerals if form.fullmatch(one)] for form in (_YEAR, _DAY_WORDS))
    if _PLAIN.fullmatch(text) is None or len(years) != 1 or len(days) > 1 or len(years + days) != len(numerals):
        return None
    parsed = _parser(languages).get_date_data(text)
    if parsed.date_obj is None or parsed.period != ("day" if days else "month"):
        return None
    date = parsed.date_obj.date()
    if date.year != int(years[0]) or [date.day] != ([int(days[0])] if days else [1]):
        return None
    words = _WORD.findall(_ORDINAL.sub(r"\1", text))
    if not all(word.lower() in _FUNCTION_WORDS or _names_a_date(parsed.locale, word) for word in words):
        return None
    return str(date.isoformat()[: 10 if days else 7])


@lru_cache(maxsize=1024)
def _names_a_date(language: str, word: str) -> bool:
    """Return whether a word names a month or a weekday, unlike words that dateparser skips, such as "about"."""
    return _parser((language,), ()).get_date_data(word).date_obj is not None


@lru_cache(maxsize=16)
def _parser(languages: tuple[str, ...], stated: tuple[str, ...] = ("month", "year")) -> Any:  # noqa: ANN401
    from dateparser.date import DateDataParser  # noqa: PLC0415  (an extra)

    settings = {
        "PARSERS": ["absolute-time"],
        "REQUIRE_PARTS": list(stated),
        "PREFER_DAY_OF_MONTH": "first",
        "RELATIVE_BASE": datetime(2000, 1, 1),  # noqa: DTZ001  (dateparser compares it with naive dates)
    }
    return DateDataParser(
        languages=list(languages), settings=settings, try_previous_locales=False, use_given_order=True
    )


# The notation of the dates of a field.


LANGUAGES: Final = ("en", "fr", "de", "es", "it", "pt", "nl")
"""Languages in which dates in words are looked for."""

MIN_DATES: Final = 3
"""Minimum number of different days or months."""

MIN_SHARE: Final = 0.9
"""Minimum share of the texts that are in a notation."""

_MAX_WORDS: Final = 50
"""Maximum number of dates in words that are parsed in each language; dateparser takes about a millisecond for one."""

_NUMERIC: Final = re.compile(
    r"(?P<first>[0-9]{1,2})(?P<mark>[/.-]|\. )(?P<second>[0-9]{1,2})(?P=mark)(?P<year>[0-9]{4}|[0-9]{2})"
    r"|(?P<month>[0-9]{1,2}(?=[/-])|[01][0-9])(?P<slash>[/.-])[0-9]{4}"  # 3.1416 is a number
    r"|(?P<whole>[0-9]{4})(?:(?P<sign>[/.])[0-9]{1,2}(?P=sign)[0-9]{1,2}|[0-9]{4})"
)
_LAST_MONTH: Final = 12


@dataclass(frozen=True, slots=True)
class DateNotation:
    """The notation of many texts that are dates.

    Attributes:
        name: Name of the notation, such as "DD/MM/YYYY"; "ISO 8601" if all dates are in it.
        dates: The texts that are dates.
        formats: Formats of `strptime` for the dates that are neither in ISO 8601 nor in words.
        languages: Languages of the dates in words.
        doubt: What the texts do not tell, so that the formats are not known; None if there is no doubt.
    """

    name: str
    dates: tuple[str, ...]
    formats: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    doubt: str | None = None


def find_date_notation(texts: Collection[str]) -> DateNotation | None:
    """Return the notation of texts of which nearly all are dates, or None.

    The texts decide whether the day or the month comes first: 13 to 31 can only be a day.

    Args:
        texts: Different texts.

    >>> find_date_notation(["3/11/1918", "16/3/1924", "1/1/1920"]).formats
    ('%d/%m/%Y',)
    >>> find_date_notation(["3/11/1918", "6/3/1924", "1/1/1920"]).doubt
    'no value shows whether the day or the month comes first'
    """
    years = {text for text in texts if _YEAR.fullmatch(text.strip())}
    iso = {text for text in texts if text not in years and _is_iso(text.strip())}
    numeric = {text: form for text in texts if text not in iso and (form := _numeric(text.strip()))}
    order, doubt = _order(list(numeric.values()))
    forms = {text: _format(form, order) for text, form in numeric.items()}
    read = {text for text, form in forms.items() if _reads(form, text) or (doubt and _reads(_swapped(form), text))}
    words = [text for text in texts if text not in years | iso | numeric.keys() and _is_wordy(text.strip())]
    enough = MIN_SHARE * len(texts)
    languages = _languages(words) if len(years) + len(iso) + len(read) + len(words) >= enough else ()
    spelled = {text for text in words if languages and spelled_date(languages, text.strip())}
    exact = iso | read | spelled
    if len(exact) < MIN_DATES or len(exact | years) < enough or len(exact) < len(years):
        return None
    formats = tuple(dict.fromkeys(forms[text] for text in forms if text in read))
    named = [*(format_name(form) for form in formats), *(["words"] if spelled else [])] or ["ISO 8601"]
    dates = tuple(text for text in texts if text in exact | years)
    return DateNotation(" or ".join(named), dates, () if doubt else formats, languages if spelled else (), doubt)


def _is_iso(text: str) -> bool:
    """Return whether a text is a day, with or without a time, or a month in ISO 8601."""
    if _PARTIAL_DATE.fullmatch(text):
        return len(text) > len("YYYY") and 1 <= int(text[-2:]) <= _LAST_MONTH
    return is_date(text) or (bool(_DAY.fullmatch(text)) and iso_date((), (), text) != text)


def _numeric(text: str) -> re.Match[str] | None:
    """Return the parts of a numeric date. "1.2.10" can also be a version: a short year needs "/" or two-digit parts."""
    form = _NUMERIC.fullmatch(text)
    short = form is not None and form["year"] is not None and len(form["year"]) < len("YYYY")
    return None if form is None or (short and form["mark"] != "/" and len(text) < len("DD.MM.YY")) else form


def _order(found: Sequence[re.Match[str]]) -> tuple[str, str | None]:
    """Return the order of day and month in numeric dates, and what is in doubt."""
    pairs = [(int(form["first"]), int(form["second"])) for form in found if form["first"]]
    firsts, seconds = (sum(pair[at] > _LAST_MONTH for pair in pairs) for at in (0, 1))
    if any(form["year"] and len(form["year"]) < len("YYYY") for form in found):
        return "dm", "the years have two digits"
    if firsts and seconds:
        return "dm", f"the day comes first in {firsts} and the month in {seconds}"
    if pairs and not firsts and not seconds:
        return "dm", "no value shows whether the day or the month comes first"
    return "md" if seconds else "dm", None


def _format(form: re.Match[str], order: str) -> str:
    """Return the `strptime` format of a numeric date."""
    if form["month"]:
        return f"%m{form['slash']}%Y"
    if form["whole"]:
        return (form["sign"] or "").join(("%Y", "%m", "%d"))
    year = "%Y" if len(form["year"]) == len("YYYY") else "%y"
    return form["mark"].join([*(f"%{part}" for part in order), year])


def _swapped(form: str) -> str:
    return form.translate(str.maketrans("dm", "md"))


def _reads(form: str, text: str) -> bool:
    with suppress(ValueError):
        return bool(datetime.strptime(text.strip(), form).replace(tzinfo=UTC))
    return False


_PART_NAMES: Final = {
    "%Om": "I–XII",
    "%d": "DD",
    "%m": "MM",
    "%Y": "YYYY",
    "%y": "YY",
    "%B": "month",
    "%b": "month",
    "%A": "weekday",
}


def format_name(form: str) -> str:
    """Return the name of a format, such as "DD/MM/YYYY" for "%d/%m/%Y"."""
    return re.sub("%(?:Om|.)", lambda part: _PART_NAMES.get(part[0], part[0]), form)


def _is_wordy(text: str) -> bool:
    """Return whether a text can be a date in words; see `spelled_date`."""
    numerals = _NUMERAL.findall(text)
    years = sum(map(bool, map(_YEAR.fullmatch, numerals)))
    days = sum(map(bool, map(_DAY_WORDS.fullmatch, numerals)))
    return (
        len(text) <= LONGEST
        and years == 1
        and days <= 1
        and bool(_PLAIN.fullmatch(text) and re.search("[^\\W\\d]", text))
    )


def _languages(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the languages that read most dates in words, as few as possible; none if dateparser is not installed."""
    sample = texts[:: -(-len(texts) // _MAX_WORDS) or 1]
    if not sample or util.find_spec("dateparser") is None:
        return ()
    unread, chosen = set(sample), list[str]()
    while unread and len(chosen) < len(LANGUAGES):
        counts = Counter(
            {name: sum(bool(spelled_date((name,), text.strip())) for text in unread) for name in LANGUAGES}
        )
        language, number = counts.most_common(1)[0]
        if not number:
            break
        chosen.append(language)
        unread = {text for text in unread if not spelled_date((language,), text.strip())}
    return tuple(chosen)
