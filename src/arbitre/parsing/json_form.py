"""Converts Python objects to JSON values: model instances, decimals, dates, enum members, NumPy arrays and tuples."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import numpy as np

from arbitre.errors import DataError, clipped
from arbitre.parsing.pydantic_form import keys_of_data_class, pydantic_form
from arbitre.values import ABSENT, MAX_DEPTH

if TYPE_CHECKING:
    from arbitre.values import Json

_Known = dict[int, tuple[Any, "Json"]]
"""Containers and their conversions by id, so that a shared part is converted once."""

_SCALARS: Final = frozenset({type(None), bool, int, float, str})


def json_form(value: Any) -> Json:  # noqa: ANN401  (any object)
    """Return the JSON value of a Python object; other objects, and values below the maximum depth, are unchanged.

    Models of Pydantic, structs of msgspec and classes of attrs are written as these libraries write them; models have
    the keys of the JSON Schema for validation, see `pydantic_form`. A `Decimal` is a number; dates, times, durations
    and UUIDs are texts in the notation of ISO 8601 or RFC 9562; an enum member is its value; a tuple, a named tuple and
    a NumPy array are lists; a data class is an object.

    Raises:
        DataError: A library cannot write a value as JSON.

    >>> json_form({"total": Decimal("1.50"), "on": date(1931, 3, 1), "pages": np.arange(3)})
    {'total': 1.5, 'on': '1931-03-01', 'pages': [0, 1, 2]}
    """
    return _converted(value, 0, {})


def _converted(value: Any, depth: int, known: _Known) -> Json:  # noqa: ANN401, C901, PLR0911, PLR0912  (one case for each type)
    """Return a value as JSON; see `json_form`. Testing for containers first is four times as fast."""
    kind = type(value)
    if kind in _SCALARS or value is ABSENT:
        return value
    if depth > MAX_DEPTH:
        return value  # left to the check of the whole document, which can name it
    if kind is dict or kind is list or (isinstance(value, (Mapping, list, tuple)) and not isinstance(value, Enum)):
        if id(value) in known:
            return known[id(value)][1]
        made: Any = [] if isinstance(value, (list, tuple)) else {}
        if type(made) is list:
            for item in value:
                made.append(item if type(item) in _SCALARS else _converted(item, depth + 1, known))
        else:
            for key, item in value.items():
                place = key if type(key) is str else _key(key)
                made[place] = item if type(item) in _SCALARS else _converted(item, depth + 1, known)
        known[id(value)] = value, made
        return made
    match value:
        case Enum():
            return _converted(value.value, depth, known)
        case np.ndarray():
            return _converted(list(value) if value.ndim else value[()], depth, known)
        case datetime() | np.datetime64() if value != value:  # noqa: PLR0124  (NaT is refused like NaN)
            return math.nan
        case np.datetime64():
            return str(value)
        case np.floating():
            return float(str(value))  # the shortest text: a float32 of 0.1 is 0.1
        case np.generic():
            return _converted(value.item(), depth, known)
        case Decimal():
            whole = value.is_finite() and value == value.to_integral_value()
            return int(value) if whole and abs(value.adjusted()) <= _DIGITS else float(value)
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return duration_text(value)
        case UUID() | PurePath():
            return str(value)
    return _of_library(value, depth, known)


_DIGITS: Final = 400
"""Maximum number of digits of a decimal that becomes an integer; the largest float has 309."""


def _key(key: Any) -> Any:  # noqa: ANN401
    if isinstance(key, str):
        return str.__str__(key)
    return _converted(key, 0, {}) if isinstance(key, (Enum, date, UUID)) else key


def duration_text(duration: timedelta) -> str:
    """Return a duration in the notation of ISO 8601.

    >>> duration_text(timedelta(days=1, seconds=0.5)), duration_text(-timedelta(hours=2))
    ('P1DT0.5S', '-PT7200S')
    """
    size = abs(duration)
    fraction = f".{size.microseconds:06}".rstrip("0").rstrip(".")
    days = f"{size.days}D" if size.days else ""
    rest = f"T{size.seconds}{fraction}S" if size.seconds or size.microseconds or not days else ""
    return f"{'-' * (duration < timedelta())}P{days}{rest}"


def _of_library(value: Any, depth: int, known: _Known) -> Json:  # noqa: ANN401
    """Return the JSON value of a model instance; any other object unchanged."""
    kind = type(value)
    try:
        if hasattr(kind, "__pydantic_serializer__"):
            return _converted(pydantic_form(value, json_form), depth, known)
        if hasattr(kind, "__struct_config__"):
            plain = sys.modules["msgspec"].to_builtins(value, enc_hook=json_form)
            return _converted(plain, depth, known)
    except (ValueError, TypeError) as error:
        raise DataError.of(
            f"Cannot write a {kind.__name__} as JSON: {clipped(str(error))}",
            hint="Pass JSON values instead, for example those of model_dump(mode='json').",
        ) from error
    if hasattr(kind, "__attrs_attrs__"):
        keys = {field.name: field.name for field in kind.__attrs_attrs__}
    elif dataclasses.is_dataclass(kind):
        keys = {field.name: field.name for field in dataclasses.fields(kind)} | keys_of_data_class(kind)
    else:
        return value
    return {key: _converted(getattr(value, name), depth + 1, known) for name, key in keys.items()}
