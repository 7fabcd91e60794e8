"""What a document violates of a schema: asked for, never on the path of the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from arbitre import deep
from arbitre.errors import SchemaError
from arbitre.paths import order, pointer
from arbitre.schema.bounded import Bounded, TooManyStepsError

if TYPE_CHECKING:
    from arbitre.schema.load import Located
    from arbitre.values import Json

_LONG: Final = 300
"""A message that quotes a long value is cut after so many characters."""

_STEPS: Final = 1_000
"""So many subschemas may be applied to a document for each of its values, and a hundred times as many to any."""


CHECKS: Final = 1_000_000
"""Number of subschemas that one checker may apply, over all values."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that a document violates: where in it, what, and which keyword of the schema says so."""

    pointer: str
    message: str
    keyword: str


def violations(root: Located, document: Json) -> tuple[Violation, ...]:
    """Everything that a document violates, in document order.

    References resolve as they do for the plan: never over a network. A regular expression that takes longer than a
    second on one text is reported as violated, and not tried again. Raises SchemaError where that does not
    come to an end: alternatives that multiply, or a circle of references in a part that is not compared.
    """
    bounded = _bounded(root, _STEPS * (100 + _size(document)))

    def found() -> list[Violation]:
        return [
            Violation(pointer(error.absolute_path), _cut(error.message), str(error.validator or "false"))
            for error in bounded.iter_errors(document)
        ]

    try:
        violated = deep.call(found)
    except TooManyStepsError as error:
        message = "The violations of a document cannot be found in bounded time"
        hint = "Look for references that run in a circle, and for recursion under anyOf, oneOf or if."
        raise SchemaError(root.problem(message, hint=hint)) from error
    return tuple(sorted(violated, key=lambda one: (order(one.pointer), one.keyword, one.message)))


def checker(located: Located) -> Any:  # noqa: ANN401  (jsonschema types no validator)
    """A validator of small values against a subschema, to be used many times; it gives up after `CHECKS` steps."""
    return _bounded(located, CHECKS)


def _bounded(located: Located, steps: int) -> Any:  # noqa: ANN401
    return Bounded(steps).validator(located.document.validator)(located.schema, _resolver=located.resolver)


def _size(document: Json) -> int:
    """The number of values in a document."""
    count, pending = 0, [document]
    while pending:
        value = pending.pop()
        count += 1
        pending.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    return count


def _cut(message: str) -> str:
    return message if len(message) <= _LONG else f"{message[: _LONG // 2]} … {message[-_LONG // 2 :]}"
