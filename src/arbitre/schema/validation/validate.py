"""Schema violations of a document. They are computed on request and do not affect the scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from arbitre import threads
from arbitre.errors import SchemaError
from arbitre.paths import order, pointer
from arbitre.schema.validation.safe_validator import SafeValidator, TooManyStepsError

if TYPE_CHECKING:
    from referencing._core import Resolver

    from arbitre.schema.loading.references import Subschema
    from arbitre.values import Json

_LONG: Final = 300
"""Maximum length of a message in characters; longer messages are cut in the middle."""

_STEPS: Final = 1_000
"""Maximum number of followed references per value of a document, plus 100 times as many per document."""
CHECKS: Final = 1_000_000
"""Maximum number of references that one checker follows over all values."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One violation: the JSON Pointer of the value, the violated schema keyword, and the error message."""

    pointer: str
    keyword: str
    message: str


def find_violations(root: Subschema, document: Json, *, format_assertion: bool = False) -> tuple[Violation, ...]:
    """Return all schema violations of a document, in document order.

    References are never fetched over a network. A regular expression that takes longer than a second on one text is
    reported as violated and not tried again.

    Args:
        root: The root of the schema.
        document: The document.
        format_assertion: Whether a value that does not have its `format` violates the schema.

    Raises:
        SchemaError: A reference cannot be resolved, validation exceeds its limit because branches multiply or
            references form a cycle, or a format cannot be checked.
    """

    def validate_document() -> list[Violation]:
        validator = _bounded(root, _STEPS * (100 + _size(document)), format_assertion=format_assertion)
        try:
            return [
                Violation(pointer(error.absolute_path), str(error.validator or "false"), _shortened(error.message))
                for error in validator.iter_errors(document)
            ]
        except BaseException as error:  # rpds, in Rust, turns a RecursionError into a panic, which is no Exception
            if type(error).__name__ == "PanicException":
                raise RecursionError(str(error)) from error
            raise

    try:
        violated = threads.call_with_deep_stack(validate_document)
    except (TooManyStepsError, RecursionError) as error:
        message = "Schema validation of a document takes too many steps"
        hint = "Check the schema for references that form a cycle and for recursion under anyOf, oneOf or if."
        raise SchemaError(root.problem(message, hint=hint)) from error
    except SchemaError as error:
        raise error.located(file=root.file) from error
    return tuple(
        sorted(violated, key=lambda violation: (order(violation.pointer), violation.keyword, violation.message))
    )


def checker(located: Subschema) -> Any:  # noqa: ANN401  (jsonschema types no validator)
    """Return a validator of small values against a subschema, for repeated use; limited to `CHECKS` references."""
    return _bounded(located, CHECKS)


def _bounded(located: Subschema, steps: int, *, format_assertion: bool = False) -> Any:  # noqa: ANN401  (jsonschema types no validator)
    """Return a validator of a subschema that follows at most `steps` references."""

    def check(resolver: Resolver[Any], schema: Json, keyword: str) -> None:
        document, place = located.shelf.place(schema) or (located.document, "")
        replace(located, schema=schema, document=document, resolver=resolver, pointer=place).follow(keyword)

    bounded = SafeValidator(steps, check, format_assertion).validator(located.document.validator)
    return bounded(located.schema, _resolver=located.resolver)


def _size(document: Json) -> int:
    """Return the number of values in a document."""
    count, pending = 0, [document]
    while pending:
        value = pending.pop()
        count += 1
        pending.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    return count


def _shortened(message: str) -> str:
    return message if len(message) <= _LONG else f"{message[: _LONG // 2]} … {message[-_LONG // 2 :]}"
