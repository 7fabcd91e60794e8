"""Distances between dates, between durations, and between times of day.

Dates are compared in days; a year or a month is an interval of days.

>>> date()("1931-03-01", "1931-03-08") == 7 / 365
True
>>> date(scale=30)("1931-03", "1931-03-31")
1.0
>>> date()("about 1931", "1931")
1.0

>>> DURATION("PT90M", "PT1H"), DURATION("PT60S", "PT1M")
(0.3333333333333333, 0.0)
>>> time()("23:30", "00:30:00") == 1 / 12
True
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from datetime import time as Time  # noqa: N812  (`time` is the name of the distance)
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.distances.base import BroadcastPool, Distance, Facts, partial_pool, value_codes
from arbitre.distances.numbers import RELATIVE
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices


_ISO = re.compile(
    r"(\d{4})(?:-(\d{2}))?"
    r"|\d{4}-\d{2}-\d{2}(?:[Tt ](?!24)\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?)?",
    re.ASCII,
)
_EPOCH = datetime(1, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_DAY = timedelta(days=1) // _TICK


def interval(text: str) -> tuple[int, int] | None:
    """Return the first and last instant of a date, in microseconds since the year 1 (UTC).

    Dates are in the extended calendar notation of ISO 8601: YYYY, YYYY-MM, or YYYY-MM-DD with or without a time.
    A year or month lasts from the midnight of its first day to that of its last day; a day is the instant of its
    midnight. Times without a UTC offset are in UTC. Returns None for other texts.

    >>> interval("0001"), interval("0001-01-01T00:00:01+00:00"), interval("0001-13")
    ((0, 31449600000000), (1000000, 1000000), None)
    """
    form = _ISO.fullmatch(text)
    if form is None:
        return None
    try:
        if form[1] is None:
            moment = _ticks(datetime.fromisoformat(text.upper()))
            return moment, moment
        year = int(form[1])
        first, last = (int(form[2]),) * 2 if form[2] else (1, 12)
        return _ticks(datetime(year, first, 1)), _ticks(datetime(year, last, monthrange(year, last)[1]))  # noqa: DTZ001
    except ValueError:
        return None


def _ticks(moment: datetime) -> int:
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _TICK


def date(scale: float = 365) -> Distance:
    """Return the distance min(1, days / scale) of dates and times, for days = max(|a1 - b1|, |a2 - b2|).

    [a1, a2] and [b1, b2] are the intervals of the two texts (see `interval`). A text that is not a date has distance 0
    to an equal text and 1 to every other text. A pseudo-metric: different texts can mean the same instant.
    Source: Hausdorff, 1914.

    Args:
        scale: Number of days from which the distance is 1.
    """
    facts = Facts(separating=False, witness=("1931-03-01", "1931-03-01T00:00:00"))
    return Distance("date", frozenset({Kind.STRING}), facts, partial(_pool, scale), {"scale": scale})


def _pool(scale: float, values: Sequence[str]) -> BroadcastPool:
    """Prepare texts: dates as intervals of days, compared by the larger difference of their ends in days / `scale`."""
    intervals = [interval(text) for text in values]
    is_date = np.array([span is not None for span in intervals], dtype=np.bool_)
    bounds = np.array([span or (0, 0) for span in intervals], dtype=np.int64).reshape(-1, 2)

    def graded(left: Indices, right: Indices) -> Floats:
        days = np.abs(bounds[left] - bounds[right]).max(axis=-1) / _DAY
        with np.errstate(over="ignore"):  # a quotient that overflows exceeds 1
            distances: Floats = np.minimum(days / scale, 1)
        return distances

    return partial_pool(value_codes(values), is_date, graded)


# Distances between durations and between times of day, in the notations of ISO 8601.


_NUMBER: Final = r"(\d{1,15}(?:[.,]\d{1,15})?)"
_PERIOD: Final = re.compile(
    rf"([+-]?)P(?=[\dT])(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:T(?=\d)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?",
    re.ASCII | re.IGNORECASE,
)
_SECONDS_OF_DAY: Final = 86_400
_YEAR: Final = 31_556_952
"""Seconds of a mean Gregorian year of 365.2425 days."""
_UNITS: Final = (_YEAR, _YEAR // 12, 7 * _SECONDS_OF_DAY, _SECONDS_OF_DAY, 3_600, 60, 1)
_CLOCK: Final = re.compile(r"(?!24)\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?", re.ASCII)


def seconds(text: str) -> Fraction | None:
    """Return the length of a duration in seconds; None for other texts.

    Durations are in the notation of ISO 8601 with designators, such as P1DT12H. A year has 365.2425 days, and a month
    is a twelfth of a year.

    >>> seconds("P1DT0.5S"), seconds("-P1W"), seconds("P"), seconds("two days")
    (Fraction(172801, 2), Fraction(-604800, 1), None, None)
    """
    parts = _PERIOD.fullmatch(text.strip())
    if parts is None:
        return None
    sign, *numbers = parts.groups(default="0")
    length = sum(
        (Fraction(number.replace(",", ".")) * unit for number, unit in zip(numbers, _UNITS, strict=True)), Fraction()
    )
    return -length if sign == "-" else length


def _durations(values: Sequence[str]) -> BroadcastPool:
    lengths = [seconds(text) for text in values]
    is_duration = np.array([length is not None for length in lengths], dtype=np.bool_)
    known = [Fraction() if length is None else length for length in lengths]
    relative = RELATIVE.pool(known)
    return partial_pool(value_codes(values), is_duration, relative.distances)


DURATION: Final = Distance(
    "duration", frozenset({Kind.STRING}), Facts(separating=False, witness=("PT60S", "PT1M")), _durations
)
"""|a - b| / max(|a|, |b|) of the lengths, at most 1: a pseudo-metric, as different texts can mean the same length.

A text that is not a duration (see `seconds`) has distance 0 to an equal text and 1 to every other text.
"""


def time(scale: float = 12) -> Distance:
    """Return the distance min(1, hours / scale) of times of day, for the hours on the shorter way around the clock.

    Times are in the notation of ISO 8601 (hh:mm, hh:mm:ss, with or without a offset ±hh:mm). Times without an offset
    are in UTC. A text that is not a time has distance 0 to an equal text and 1 to every other text. A pseudo-metric:
    different texts can mean the same time.

    Args:
        scale: Number of hours from which the distance is 1.
    """
    facts = Facts(separating=False, witness=("12:00", "12:00:00"))
    return Distance("time", frozenset({Kind.STRING}), facts, partial(_times, scale), {"scale": scale})


_TICKS: Final = _SECONDS_OF_DAY * 10**6


def ticks(text: str) -> int | None:
    """Return a time of day in microseconds since midnight (UTC); None for other texts.

    >>> ticks("00:00:01"), ticks("01:00+02:00") == 23 * 3600 * 10**6, ticks("25:00"), ticks("noon")
    (1000000, True, None, None)
    """
    if not _CLOCK.fullmatch(text.strip()):
        return None
    try:
        moment = Time.fromisoformat(text.strip().upper())
    except ValueError:
        return None
    offset = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).utcoffset()
    shift = 0 if offset is None else round(offset.total_seconds())
    since = (moment.hour * 60 + moment.minute) * 60 + moment.second - shift
    return (since * 10**6 + moment.microsecond) % _TICKS


def _times(scale: float, values: Sequence[str]) -> BroadcastPool:
    """Prepare texts: times of day, compared by their difference on the 24-hour clock in hours / `scale`."""
    moments = [ticks(text) for text in values]
    is_time = np.array([moment is not None for moment in moments], dtype=np.bool_)
    moment = np.array([since or 0 for since in moments], dtype=np.int64)

    def graded(left: Indices, right: Indices) -> Floats:
        gap = np.abs(moment[left] - moment[right])
        with np.errstate(over="ignore"):  # a quotient that overflows exceeds 1
            distances: Floats = np.minimum(np.minimum(gap, _TICKS - gap) / (3_600 * 10**6) / scale, 1)
        return distances

    return partial_pool(value_codes(values), is_time, graded)
