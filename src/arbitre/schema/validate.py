"""What a document violates of a schema: asked for, never on the path of the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import regex
from jsonschema import ValidationError
from jsonschema.validators import extend

from arbitre import deep
from arbitre.paths import pointer
from arbitre.schema.load import validator_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from arbitre.schema.load import Located
    from arbitre.values import Json

SECONDS: Final = 1.0
"""A regular expression of the schema may take this long on one text."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that a document violates: where in it, what, and which keyword of the schema says so."""

    pointer: str
    message: str
    keyword: str


def violations(root: Located, document: Json) -> tuple[Violation, ...]:
    """Everything that a document violates, in document order.

    References resolve as they do for the plan: never over a network. A regular expression that takes longer than a
    second on one text is reported as violated.
    """
    base = validator_class(root.schema)
    bounded = extend(base, {key: check for key, check in _BOUNDED.items() if key in base.VALIDATORS})
    schema = root.schema
    if root.base and isinstance(schema, dict) and "$id" not in schema:
        schema = {"$id": root.base, **schema}  # so that relative references start from the file
    checker = bounded(schema, registry=root.registry)
    errors = deep.call(lambda: [(list(error.absolute_path), error) for error in checker.iter_errors(document)])
    found = [Violation(pointer(path), error.message, str(error.validator)) for path, error in errors]
    return tuple(sorted(found, key=lambda violation: (violation.pointer, violation.keyword, violation.message)))


def _search(pattern: str, text: str) -> bool:
    """Whether a pattern occurs in a text. Raises ValidationError where that takes too long to tell."""
    try:
        return regex.search(pattern, text, timeout=SECONDS) is not None
    except TimeoutError as error:
        message = f"the pattern {pattern!r} takes more than {SECONDS:g} s on {text[:60]!r}"
        raise ValidationError(message, validator="pattern") from error


def _pattern(validator: Any, pattern: str, instance: Json, _: Json) -> Iterator[ValidationError]:  # noqa: ANN401
    if validator.is_type(instance, "string"):
        try:
            if not _search(pattern, instance):
                yield ValidationError(f"{instance!r} does not match {pattern!r}")
        except ValidationError as error:
            yield error


def _pattern_properties(
    validator: Any,  # noqa: ANN401
    patterns: Mapping[str, Json],
    instance: Json,
    _: Json,
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, subschema in patterns.items():
        for key, value in instance.items():
            try:
                if _search(pattern, key):
                    yield from validator.descend(value, subschema, path=key, schema_path=pattern)
            except ValidationError as error:
                yield error


def _additional_properties(
    validator: Any,  # noqa: ANN401
    additional: Json,
    instance: Json,
    schema: Mapping[str, Json],
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for key in instance:
        try:
            if key in schema.get("properties", {}) or any(_search(p, key) for p in schema.get("patternProperties", {})):
                continue
        except ValidationError as error:
            yield error
            continue
        if isinstance(additional, dict):
            yield from validator.descend(instance[key], additional, path=key)
        elif additional is False:
            yield ValidationError(f"the key {key!r} is not allowed here")


_BOUNDED: Final[dict[str, Any]] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
}
