"""Converts dates in ISO 8601, in `strptime` formats and in words to YYYY-MM-DD.

Dates in words are read with dateparser (extra `dates`) in declared languages, if they state their month and a year of
four digits. No part is guessed: a day that the text does not state is omitted, and the result does not depend on the
current date.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import lru_cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import SchemaError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence


_PARTIAL_DATE: Final = re.compile("[0-9]{4}(?:-[0-9]{2})?")
_DATE: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAY: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ](?!24).*)?")

FORMAT: Final = "^(?=.*%[Yy])(?:[^%]|%[aAbBdfHIjmMpSyYzZ])+$"
"""Pattern of the `strptime` formats that state a year."""


def iso_date(formats: Sequence[str], languages: tuple[str, ...], text: str) -> str:
    """Return a date as YYYY-MM-DD, or as YYYY-MM or YYYY if its notation states no more.

    Args:
        formats: Formats of `strptime`.
        languages: Languages of dates in words, see `spelled_date`; none if empty.
        text: The text.

    Returns:
        The date, or the text unchanged if it is not a date.

    >>> iso_date(["%m/%Y"], (), "03/1931"), iso_date([], (), "1931-03-01T10:00"), iso_date([], (), "3/1931")
    ('1931-03', '1931-03-01', '3/1931')
    """
    stripped = text.strip()
    if _PARTIAL_DATE.fullmatch(stripped):
        return text
    if _DAY.fullmatch(stripped):
        with suppress(ValueError):
            return datetime.fromisoformat(stripped.upper()).date().isoformat()
    for form in formats:
        with suppress(ValueError):
            day = datetime.strptime(stripped, form).replace(tzinfo=UTC).date()
            return day.isoformat()[: _precision(form)]
    return (spelled_date(languages, stripped) if languages else None) or text


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
    stated = set(re.findall("%(.)", form))
    month = not stated.isdisjoint("mbB")
    if "j" in stated or (month and "d" in stated):
        return 10
    return 7 if month else 4


# Dates in words.


LONGEST: Final = 80
"""Maximum length of a date in words; dateparser is slow on long texts."""

_NUMERAL: Final = re.compile("[0-9]+")
_LONG_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_PLAIN: Final = re.compile(r"\w[\w\s.,/'’-]*")
"""A text without signs of doubt, such as "?" and brackets."""
_YEAR: Final = re.compile("[0-9]{4}")
_DAY_WORDS: Final = re.compile("[0-9]{1,2}")


def check_languages(languages: Sequence[str]) -> str:
    """Return the version of dateparser. Raises SchemaError if it is not installed or does not know a language."""
    try:
        from dateparser.data.languages_info import language_order  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise SchemaError.of(
            f"`languages` needs dateparser, which cannot be imported: {error}",
            hint="Install it: pip install 'arbitre[dates]'",
        ) from error
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
        1918?"), a range, without a year of four digits, impossible ("31 February 1918"), or with further numbers.

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
    if not all(_names_a_date(languages, word) for word in _LONG_WORD.findall(text)):
        return None
    return str(date.isoformat()[: 10 if days else 7])


@lru_cache(maxsize=1024)
def _names_a_date(languages: tuple[str, ...], word: str) -> bool:
    """Return whether a word names a month or a weekday, unlike words that dateparser skips, such as "about"."""
    return _parser(languages, ()).get_date_data(word).date_obj is not None


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
