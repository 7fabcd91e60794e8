"""Distance between dates in days; a year or month is an interval of days.

>>> date()("1931-03-01", "1931-03-08") == 7 / 365
True
>>> date(scale=30)("1931-03", "1931-03-31")
1.0
>>> date()("about 1931", "1931")
1.0
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from arbitre.distances.base import Distance, Facts
from arbitre.distances.pool_helpers import partial_pool, value_codes
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.distances.pool_helpers import BroadcastPool

_ISO = re.compile(
    r"(\d{4})(?:-(\d{2}))?"
    r"|\d{4}-\d{2}-\d{2}(?:[Tt ](?!24)\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?)?",
    re.ASCII,
)
_EPOCH = datetime(1, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_DAY = timedelta(days=1) // _TICK


def interval(text: str) -> tuple[int, int] | None:
    """Return the first and last instant of an ISO 8601 date, in microseconds since the year 1 (UTC).

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
    """Return the distance min(1, days / scale) of ISO 8601 dates and times, for days = max(|a1 - b1|, |a2 - b2|).

    [a1, a2] and [b1, b2] are the intervals of the two texts (see `interval`). A text that is not a date has distance 0
    to an equal text and 1 to every other text. A pseudo-metric: different texts can mean the same instant.
    Source: Hausdorff, 1914.

    Args:
        scale: Number of days from which the distance is 1.
    """
    facts = Facts(separating=False, witness=("1931-03-01", "1931-03-01T00:00:00"))
    return Distance("date", frozenset({Kind.STRING}), facts, partial(_pool, scale), {"scale": scale})


def _pool(scale: float, values: Sequence[str]) -> BroadcastPool:
    intervals = [interval(text) for text in values]
    is_date = np.array([span is not None for span in intervals], dtype=np.bool_)
    bounds = np.array([span or (0, 0) for span in intervals], dtype=np.int64).reshape(-1, 2)

    def graded(left: Indices, right: Indices) -> Floats:
        days = np.abs(bounds[left] - bounds[right]).max(axis=-1) / _DAY
        with np.errstate(over="ignore"):  # a quotient that overflows exceeds 1
            distances: Floats = np.minimum(days / scale, 1)
        return distances

    return partial_pool(value_codes(values), is_date, graded)
