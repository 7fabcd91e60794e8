"""What a document violates of a schema: asked for, never on the path of the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from arbitre import deep
from arbitre.errors import SchemaError
from arbitre.paths import order, pointer
from arbitre.schema.bounded import Bounded

if TYPE_CHECKING:
    from arbitre.schema.load import Located
    from arbitre.values import Json

_LONG: Final = 300
"""A message that quotes a long value is cut after so many characters."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that a document violates: where in it, what, and which keyword of the schema says so."""

    pointer: str
    message: str
    keyword: str


def violations(root: Located, document: Json) -> tuple[Violation, ...]:
    """Everything that a document violates, in document order.

    References resolve as they do for the plan: never over a network. A regular expression that takes longer than a
    second on one text is reported as violated, and not tried again. Raises SchemaError where references run in a
    circle, in a part of the schema that is not compared.
    """
    validator = Bounded().validator(root.document.validator)
    checker = validator(root.schema, _resolver=root.resolver)

    def found() -> list[Violation]:
        return [
            Violation(pointer(error.absolute_path), _cut(error.message), str(error.validator or "false"))
            for error in checker.iter_errors(document)
        ]

    try:
        violated = deep.call(found)
    except RecursionError as error:
        message = "The references run in a circle without ever reaching a value, in a part that is not compared"
        raise SchemaError(root.problem(message)) from error
    return tuple(sorted(violated, key=lambda one: (order(one.pointer), one.keyword, one.message)))


def _cut(message: str) -> str:
    return message if len(message) <= _LONG else f"{message[: _LONG // 2]} … {message[-_LONG // 2 :]}"
