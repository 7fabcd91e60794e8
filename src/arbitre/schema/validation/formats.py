"""The `format` keyword as an assertion: every format is checked or refused, never skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator, ValidationError

from arbitre.errors import SchemaError, did_you_mean, shown
from arbitre.parsing.numerals import read_decimal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.values import Json

DECIMAL: Final = "decimal"
"""Format of the texts of `Decimal` fields. JSON Schema does not define it; msgspec writes it."""

IN_EXTRA: Final = frozenset(
    {
        *("date-time", "duration", "hostname", "idn-hostname", "json-pointer", "relative-json-pointer", "time"),
        *("uri", "uri-reference", "uri-template"),
    }
)
"""Formats that `jsonschema` checks only with the packages of the extra `formats`."""

_PACKAGES: Final = dict.fromkeys(IN_EXTRA, "'arbitre[formats]'") | dict.fromkeys(
    ("iri", "iri-reference"), "rfc3987-syntax"
)
"""What to install to check a format. rfc3987-syntax is not in the extra: `jsonschema` imports it on start (2 s)."""


def assert_format(validator: Any, name: Json, instance: Json, _: Json) -> Iterator[ValidationError]:  # noqa: ANN401  (jsonschema has no type for its validators)
    """Check the `format` keyword; a keyword function of `jsonschema`.

    A format that the draft does not define is checked as in draft 2020-12.

    Raises:
        SchemaError: The format is unknown, or the package that checks it is not installed.
    """
    if name == DECIMAL:
        if isinstance(instance, str) and read_decimal(instance) is None:
            yield ValidationError(f"{instance!r} is not a {name!r}")
        return
    checkers = validator.FORMAT_CHECKER, Draft202012Validator.FORMAT_CHECKER
    checker = next((checker for checker in checkers if name in checker.checkers), None)
    if checker is not None:
        if not checker.conforms(instance, name):
            yield ValidationError(f"{instance!r} is not a {name!r}")
    elif name in _PACKAGES:
        raise SchemaError.of(
            f"The format {shown(name)} cannot be checked: its package is not installed",
            hint=f"Install it with `pip install {_PACKAGES[name]}`, or omit --format-assertion.",
        )
    else:
        known = sorted({DECIMAL, *_PACKAGES, *Draft202012Validator.FORMAT_CHECKER.checkers})
        raise SchemaError.of(
            f"The format {shown(name)} cannot be checked: JSON Schema does not define it",
            hint=did_you_mean(name, known),
        )
