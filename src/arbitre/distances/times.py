"""Distances between durations and between times of day, in the notations of ISO 8601.

>>> DURATION("PT90M", "PT1H"), DURATION("PT60S", "PT1M")
(0.3333333333333333, 0.0)
>>> time()("23:30", "00:30:00") == 1 / 12
True
"""

from __future__ import annotations

import re
from datetime import UTC
from datetime import time as Time  # noqa: N812  (`time` is the name of the distance)
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.distances.base import Distance, Facts
from arbitre.distances.numbers import RELATIVE
from arbitre.distances.pool_helpers import BroadcastPool, partial_pool, value_codes
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices

_NUMBER: Final = r"(\d{1,15}(?:[.,]\d{1,15})?)"
_PERIOD: Final = re.compile(
    rf"([+-]?)P(?=[\dT])(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:T(?=\d)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?",
    re.ASCII | re.IGNORECASE,
)
_DAY: Final = 86_400
_YEAR: Final = 31_556_952
"""Seconds of a mean Gregorian year of 365.2425 days."""
_UNITS: Final = (_YEAR, _YEAR // 12, 7 * _DAY, _DAY, 3_600, 60, 1)
_CLOCK: Final = re.compile(r"(?!24)\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?", re.ASCII)


def seconds(text: str) -> Fraction | None:
    """Return the length of an ISO 8601 duration in seconds; None for other texts.

    A year has 365.2425 days, and a month is a twelfth of a year.

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

A text that is not an ISO 8601 duration has distance 0 to an equal text and 1 to every other text.
"""


def time(scale: float = 12) -> Distance:
    """Return the distance min(1, hours / scale) of times of day, for the hours on the shorter way around the clock.

    Times are in the notation of ISO 8601 (hh:mm, hh:mm:ss, with or without a UTC offset). Times without an offset are
    in UTC. A text that is not a time has distance 0 to an equal text and 1 to every other text. A pseudo-metric:
    different texts can mean the same time.

    Args:
        scale: Number of hours from which the distance is 1.
    """
    facts = Facts(separating=False, witness=("12:00", "12:00:00"))
    return Distance("time", frozenset({Kind.STRING}), facts, partial(_times, scale), {"scale": scale})


_TICKS: Final = _DAY * 10**6


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
    moments = [ticks(text) for text in values]
    is_time = np.array([moment is not None for moment in moments], dtype=np.bool_)
    moment = np.array([since or 0 for since in moments], dtype=np.int64)

    def graded(left: Indices, right: Indices) -> Floats:
        gap = np.abs(moment[left] - moment[right])
        with np.errstate(over="ignore"):  # a quotient that overflows exceeds 1
            distances: Floats = np.minimum(np.minimum(gap, _TICKS - gap) / (3_600 * 10**6) / scale, 1)
        return distances

    return partial_pool(value_codes(values), is_time, graded)
