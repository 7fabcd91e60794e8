"""Converts dates in ISO 8601, in `strptime` formats and in words to YYYY-MM-DD."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

from arbitre.parsing.spelled_dates import spelled_date

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
