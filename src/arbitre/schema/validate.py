"""Schema violations of a document. They are computed on request and do not affect the scores."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

import regex
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend
from referencing.exceptions import Unresolvable
from referencing.jsonschema import lookup_recursive_ref

from arbitre import bundled, interpreter
from arbitre.errors import DataError, Problem, SchemaError, clipped, did_you_mean, shown
from arbitre.parsing import strict_json
from arbitre.parsing.numerals import read_decimal
from arbitre.paths import order, pointer
from arbitre.schema.loading.load_schema import REFERENCES, load
from arbitre.values import ABSENT, PATTERN_SECONDS, number_of_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from referencing._core import Resolver

    from arbitre.schema.loading.load_schema import Subschema
    from arbitre.values import Json


_LONG: Final = 300
"""Maximum length of a message in characters; longer messages are cut in the middle."""

_STEPS: Final = 1_000
"""Maximum number of followed references per value of a document, plus 100 times as many per document."""
CHECKS: Final = 1_000_000
"""Maximum number of references that one checker follows over all values."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation of the schema.

    Attributes:
        pointer: JSON Pointer of the value.
        keyword: Keyword of the schema that is violated, such as "type".
        message: What is wrong.
    """

    pointer: str
    keyword: str
    message: str

    @property
    def place(self) -> tuple[str, str]:
        """The wildcard form of the pointer, and the keyword."""
        tokens = self.pointer.split("/")
        return "/".join("*" if token.isdecimal() else token for token in tokens), self.keyword


FormatAssertion = bool | Literal["checkable"]
"""Whether formats are checked; "checkable" skips those that cannot be checked."""


def find_violations(
    root: Subschema, document: Json, *, format_assertion: FormatAssertion = False
) -> tuple[Violation, ...]:
    """Return all schema violations of a document, in document order.

    References are never fetched over a network. A regular expression that takes longer than a second on one text is
    reported as violated and not tried again.

    Args:
        root: The root of the schema.
        document: The document.
        format_assertion: Whether a value that does not match its `format` violates the schema.

    Raises:
        SchemaError: A reference cannot be resolved, validation exceeds its limit because branches multiply or
            references form a cycle, or a format cannot be checked.
    """

    def validate_document() -> list[Violation]:
        try:
            with _reused(root, _STEPS * (100 + number_of_values(document)), format_assertion) as validator:
                return [
                    Violation(pointer(error.absolute_path), str(error.validator or "false"), _shortened(error.message))
                    for error in validator.iter_errors(document)
                ]
        except BaseException as error:  # rpds, in Rust, turns a RecursionError into a panic, which is no Exception
            if type(error).__name__ == "PanicException":
                raise RecursionError(str(error)) from error
            raise

    try:
        violated = interpreter.call_with_deep_stack(validate_document)
    except (TooManyStepsError, RecursionError) as error:
        message = "Schema validation of a document takes too many steps"
        hint = "Check the schema for references that form a cycle and for recursion under anyOf, oneOf or if."
        raise SchemaError(root.problem(message, hint=hint)) from error
    except SchemaError as error:
        raise error.located(file=root.file) from error
    return tuple(sorted(violated, key=_in_order))


_HINTS: Final = {
    "confidence": "Pass the output of `arbitre confidence --format json`.",
    "decisions": "Correct the file; schemas/decisions.schema.json describes its format.",
    "evaluation": "Pass the evaluation.json that `arbitre evaluate --out` writes, or evaluate again.",
    "factors": "Pass the factors.json that `arbitre rank --factor` writes, or rank again.",
    "provenance": "Correct the file; schemas/provenance.schema.json describes its format.",
    "ranking": "Pass the ranking.json that `arbitre rank --out` writes, or rank again.",
}
"""Hints for invalid files, by kind."""


def read_valid(path: Path, kind: str) -> Any:  # noqa: ANN401  (JSON)
    """Read and check a JSON file of arbitre. Raises DataError if it cannot be read or is invalid; see `check_valid`."""
    plain = strict_json.load(path)
    check_valid(plain, kind, path)
    return plain


def check_valid(plain: Json, kind: str, path: Path) -> None:
    """Check the contents of a JSON file of arbitre.

    Args:
        plain: The contents.
        kind: Kind of the file, such as "evaluation": the name of the bundled schema without `.schema.json`.
        path: The file, for errors.

    Raises:
        DataError: The contents violate the schema. Lists all violations.
    """
    if violations := find_violations(_schema(kind), plain):
        raise DataError(
            *(
                Problem(
                    f"Invalid {kind}: {each.message}",
                    str(path),
                    pointer=each.pointer,
                    hint=None if number else _HINTS[kind],
                )
                for number, each in enumerate(violations)
            )
        )


@cache
def _schema(kind: str) -> Subschema:
    return load(bundled.schema(f"{kind}.schema.json"))


_INDIRECT: Final = frozenset((
    "$dynamicRef", "$recursiveRef", "additionalItems", "anyOf", "const", "contains", "dependencies",
    "dependentSchemas", "disallow", "enum", "extends", "if", "not", "oneOf", "patternProperties", "prefixItems",
    "unevaluatedItems", "unevaluatedProperties", "uniqueItems",
))  # fmt: skip
"""Keywords of lists and objects that can depend on several of their values, or that `find_certain_violations` does not
follow."""
_OF_KEYS: Final = frozenset(("dependentRequired", "maxProperties", "minProperties", "propertyNames"))
"""Further keywords of objects that adding or removing a key can violate."""


def find_certain_violations(
    root: Subschema, document: Json, path: Sequence[str], value: Json, *, format_assertion: FormatAssertion = False
) -> tuple[Violation, ...]:
    """Return violations that a change of one value causes, whatever else changes in the document.

    Only the value is validated, so the time does not depend on the size of the document. Violations of other values and
    of combinations of values are not found.

    Args:
        root: The root of the schema.
        document: The document before the change.
        path: Tokens of the path of the value. The document contains all lists and objects along this path.
        value: The new value; ABSENT if a key is removed.
        format_assertion: Whether a value that does not match its `format` violates the schema.

    Raises:
        SchemaError: As for `find_violations`.
    """
    tokens: list[str | int] = []
    parts, holders, holder, above = [root], list[Any](), document, document
    for key in path:
        if (found := _applied_together(parts)) is None:
            return ()
        tokens.append(int(key) if isinstance(above, list) else key)
        holders, parts = found, [inner for part in found for inner in _inside(part, tokens[-1])]
        holder, above = above, above.get(key) if isinstance(above, dict) else above[int(key)]
    added = bool(tokens) and isinstance(holder, dict) and tokens[-1] not in holder
    if (added or value is ABSENT) and any(part.schema.keys() & _OF_KEYS for part in holders):
        return ()
    if value is ABSENT:
        required = [names for part in holders if isinstance(names := part.schema.get("required"), list)]
        message = _shortened(f"{tokens[-1]!r} is a required property")
        return tuple(Violation(pointer(tokens[:-1]), "required", message) for names in required if tokens[-1] in names)
    if any(part.schema is False for part in parts):  # a key that is not allowed is reported at its object
        return ()
    violated = [each for part in parts for each in find_violations(part, value, format_assertion=format_assertion)]
    return tuple(replace(each, pointer=pointer(tokens) + each.pointer) for each in sorted(violated, key=_in_order))


def _applied_together(parts: Sequence[Subschema]) -> list[Subschema] | None:
    """Return subschemas and those that they apply by `$ref` and `allOf`.

    None if one is false, or has a keyword of `_INDIRECT` or a list of `items`.
    """
    found: list[Subschema] = []
    pending = [*parts]
    for part in pending:  # it grows in the loop
        schema = part.schema
        if schema is True:
            continue
        if schema is False or schema.keys() & _INDIRECT or isinstance(schema.get("items"), list):
            return None
        beside = [part.follow("$ref")] if "$ref" in schema else []
        if not (beside and part.legacy):  # up to draft 7, keywords next to `$ref` are ignored
            beside += part.members("allOf")
            found.append(part)
        pending += (each for each in beside if each not in pending)
    return found


def _inside(part: Subschema, token: str | int) -> list[Subschema]:
    """Return the subschema of an item or a key, if there is one."""
    if isinstance(token, int):
        return [part.below("items")] if "items" in part.schema else []
    if token in part.schema.get("properties", ()):
        return [part.below("properties", token)]
    return [part.below("additionalProperties")] if "additionalProperties" in part.schema else []


def _in_order(violation: Violation) -> tuple[tuple[tuple[int, int, str], ...], str, str]:
    return order(violation.pointer), violation.keyword, violation.message


def checker(located: Subschema) -> Any:  # noqa: ANN401  (jsonschema types no validator)
    """Return a validator of small values against a subschema, for repeated use; limited to `CHECKS` references."""
    return _with_limits(SafeValidator(), located, CHECKS)


_IDLE: Final[dict[FormatAssertion, list[SafeValidator]]] = {False: [], True: [], "checkable": []}
"""Validators to use again, because creating their classes takes longer than validating a small document."""


@contextmanager
def _reused(located: Subschema, steps: int, format_assertion: FormatAssertion) -> Iterator[Any]:
    """Create a validator of a subschema from classes that no other thread or outer call uses now.

    After an exception, these classes are not reused: the traceback can keep suspended generators of keywords alive,
    which change the count of references when they are closed.
    """
    idle = _IDLE[format_assertion]
    try:
        safe = idle.pop()
    except IndexError:
        safe = SafeValidator(format_assertion)
    yield _with_limits(safe, located, steps)
    safe.start(0, _accept)
    idle.append(safe)


def _with_limits(safe: SafeValidator, located: Subschema, steps: int) -> Any:  # noqa: ANN401  (jsonschema types no validator)
    """Return a validator of a subschema that follows at most `steps` references."""

    def check(resolver: Resolver[Any], schema: Json, keyword: str) -> None:
        document, place = located.shelf.place(schema) or (located.document, "")
        replace(located, schema=schema, document=document, resolver=resolver, pointer=place).follow(keyword)

    safe.start(steps, check)
    return safe.validator(located.document.validator)(located.schema, _resolver=located.resolver)


def _accept(*_: object) -> None:
    """Accept every reference."""


def _shortened(message: str) -> str:
    return message if len(message) <= _LONG else f"{message[: _LONG // 2]} … {message[-_LONG // 2 :]}"


# Validators with bounded running time.
#
# They adapt `jsonschema` in two ways. Regular expressions have a time limit, as `jsonschema` uses `re`, which has none.
# The number of followed references is limited, as references can multiply or form a cycle.


if TYPE_CHECKING:
    Validator = Any
    Errors = Iterator[ValidationError]
    Keyword = Callable[[Validator, Any, Json, Any], Errors | None]
    """A keyword function of `jsonschema`: (validator, value of the keyword, instance, schema) -> errors."""

MAX_DEPTH: Final = 10_000
"""Maximum nesting depth of followed references."""

_LONG_PATTERN: Final = 60


class TooManyStepsError(Exception):
    """A document needs more references or errors than `SafeValidator.steps` allows."""


class _UndecidedError(Exception):
    """It cannot be decided whether a pattern matches; the message gives the reason."""


@dataclass(slots=True)
class SafeValidator:
    """Creates validator classes with bounded running time.

    A pattern that takes too long or is not a regular expression counts as violated. Slow patterns are not tried again.

    Its classes share its state, so only one thread may use them at a time. Call `start` before each document.

    Attributes:
        format_assertion: Whether `format` is checked.
        steps: Remaining number of references to follow and of their errors to report.
        check: Called as `check(resolver, schema, keyword)` before a reference is followed for the first time; raises
            SchemaError if the reference cannot be resolved.
        slow: Patterns that took too long.
    """

    format_assertion: FormatAssertion = False
    steps: int = 0
    check: Callable[[Resolver[Any], Json, str], object] = _accept
    slow: set[str] = field(default_factory=set)
    _depth: int = 0
    _checked: set[tuple[int, str]] = field(default_factory=set)
    _classes: dict[Validator, Validator] = field(default_factory=dict)

    def start(self, steps: int, check: Callable[[Resolver[Any], Json, str], object]) -> None:
        """Set the limits for a document and forget the previous one, but keep the classes."""
        self.steps, self.check, self._depth = steps, check, 0
        self.slow.clear()
        self._checked.clear()

    def validator(self, base: Validator) -> Validator:
        """Return the bounded version of a `jsonschema` validator class."""
        if base not in self._classes:
            self._classes[base] = self._bounded(base)
        return self._classes[base]

    def _bounded(self, base: Validator) -> Validator:
        """Return a validator whose patterns, references and subschemas have limits."""
        keywords: dict[str, Keyword] = {
            "pattern": self._pattern,
            "patternProperties": self._pattern_properties,
            "additionalProperties": self._additional_properties,
            "unevaluatedProperties": self._unevaluated_properties,
        }
        if "unevaluatedItems" in base.VALIDATORS:
            keywords["unevaluatedItems"] = _typed(base.VALIDATORS["unevaluatedItems"])
        if self.format_assertion:
            keywords["format"] = assert_format if self.format_assertion is True else _assert_checkable
        for key in set(REFERENCES) & base.VALIDATORS.keys():
            keywords[key] = self._reference(key, base.VALIDATORS[key])
        create: Validator = extend  # its types are incomplete
        bounded = create(base, {key: check for key, check in keywords.items() if key in base.VALIDATORS})
        evolve, descend = bounded.evolve, bounded.descend

        def evolve_bounded(validator: Validator, **changes: Json) -> Validator:
            evolved = evolve(validator, **changes)  # has another class if the subschema declares another draft
            if isinstance(evolved, bounded):
                return evolved
            validator_class = self.validator(type(evolved))
            return validator_class(evolved.schema, format_checker=evolved.format_checker, _resolver=evolved._resolver)  # noqa: SLF001

        def descend_with_path(validator: Validator, instance: Json, schema: Json, **more: Json) -> Errors:
            path = more.get("path")
            for error in descend(validator, instance, schema, **more):
                if schema is False and path is not None:  # jsonschema omits the path here
                    error.path.appendleft(path)
                yield error

        bounded.evolve, bounded.descend = evolve_bounded, descend_with_path
        return bounded

    def _reference(self, keyword: str, check: Keyword) -> Keyword:
        """Limit a keyword that follows references. The work between two references is bounded by one subschema."""

        def limited(validator: Validator, value: Json, instance: Json, schema: Json) -> Errors:
            self._depth += 1
            try:
                self._count_reference(keyword, schema, validator)
                for error in check(validator, value, instance, schema) or ():
                    self._step()
                    yield error
            finally:
                self._depth -= 1

        return limited

    def _count_reference(self, keyword: str, schema: Json, validator: Validator) -> None:
        """Count and check a reference before it is followed. Raises SchemaError, TooManyStepsError."""
        self._step()
        if (id(schema), keyword) not in self._checked:
            self.check(validator._resolver, schema, keyword)  # noqa: SLF001  (used by the keywords of jsonschema)
            self._checked.add((id(schema), keyword))

    def _step(self) -> None:
        """Count a step; raise TooManyStepsError after the last one."""
        self.steps -= 1
        if self.steps < 0 or self._depth > MAX_DEPTH:
            raise TooManyStepsError

    def _matches(self, pattern: str, text: str) -> bool:
        """Return whether a pattern matches anywhere in a text. Raises _UndecidedError."""
        if pattern in self.slow:
            raise _UndecidedError(f"the pattern {pattern!r} takes too long and was not tried here")
        try:
            return regex.search(pattern, text, timeout=PATTERN_SECONDS) is not None
        except TimeoutError as error:
            self.slow.add(pattern)
            shown = clipped(text, _LONG_PATTERN)
            raise _UndecidedError(
                f"the pattern {pattern!r} takes more than {PATTERN_SECONDS:g} s on {shown!r}"
            ) from error
        except regex.error as error:
            raise _UndecidedError(f"{pattern!r} is not a regular expression: {error}") from error

    def _pattern(self, validator: Validator, pattern: str, instance: Json, _: Json) -> Errors:
        if validator.is_type(instance, "string"):
            try:
                if not self._matches(pattern, instance):
                    yield ValidationError(f"{instance!r} does not match {pattern!r}")
            except _UndecidedError as error:
                yield ValidationError(str(error))

    def _pattern_properties(
        self, validator: Validator, patterns: Mapping[str, Json], instance: Json, _: Json
    ) -> Errors:
        """Validate the keys that match each pattern, with a time limit for each match."""
        for pattern, subschema in patterns.items() if validator.is_type(instance, "object") else ():
            try:
                matched = [key for key in instance if self._matches(pattern, key)]
            except _UndecidedError as error:
                yield ValidationError(str(error))
                continue
            for key in matched:
                yield from validator.descend(instance[key], subschema, path=key, schema_path=pattern)

    def _additional_properties(
        self, validator: Validator, additional: Json, instance: Json, schema: Mapping[str, Json]
    ) -> Errors:
        return self._others(validator, additional, instance, lambda: self._covered_keys(schema, instance))

    def _unevaluated_properties(
        self, validator: Validator, unevaluated: Json, instance: Json, schema: Mapping[str, Json]
    ) -> Errors:
        own = {key: value for key, value in schema.items() if key != "unevaluatedProperties"}
        return self._others(validator, unevaluated, instance, lambda: self._evaluated(validator, instance, own))

    def _others(self, validator: Validator, subschema: Json, instance: Json, known: Callable[[], set[str]]) -> Errors:
        """Apply a subschema to the values of all keys that are not in `known()`."""
        if not validator.is_type(instance, "object"):
            return
        try:
            keys = known()
        except _UndecidedError:
            return  # `patternProperties` reports it
        for key in instance:
            if key not in keys and subschema is False:
                yield ValidationError(f"the key {key!r} is not allowed here")
            elif key not in keys:
                yield from validator.descend(instance[key], subschema, path=key)

    def _covered_keys(self, schema: Mapping[str, Json], instance: dict[str, Json]) -> set[str]:
        """Return the keys covered by `properties` and `patternProperties`. Raises _UndecidedError."""
        properties, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        return {
            key for key in instance if key in properties or any(self._matches(pattern, key) for pattern in patterns)
        }

    def _evaluated(self, validator: Validator, instance: dict[str, Json], schema: Json) -> set[str]:
        """Return the keys evaluated by a schema and its in-place applicators. Raises _UndecidedError."""
        if isinstance(schema, bool):
            return set()
        if "additionalProperties" in schema or "unevaluatedProperties" in schema:
            return set(instance)
        keys = self._covered_keys(schema, instance)
        for keyword in sorted(set(REFERENCES) & schema.keys()):
            self._count_reference(keyword, schema, validator)
            resolver = validator._resolver  # noqa: SLF001
            lookup = lookup_recursive_ref(resolver) if keyword == "$recursiveRef" else resolver.lookup(schema[keyword])
            target = validator.evolve(schema=lookup.contents, _resolver=lookup.resolver)
            keys |= self._evaluated(target, instance, lookup.contents)
        beside = [inner for name, inner in schema.get("dependentSchemas", {}).items() if name in instance]
        for keyword in ("allOf", "anyOf", "oneOf"):
            beside += [inner for inner in schema.get(keyword, ()) if _valid(validator, instance, inner)]
        if "if" in schema:
            holds = _valid(validator, instance, schema["if"])
            beside += [schema["if"]] if holds else []
            branch = "then" if holds else "else"
            beside += [schema[branch]] if branch in schema else []
        for inner in beside:
            keys |= self._evaluated(validator, instance, inner)
        return keys


def _typed(check: Keyword) -> Keyword:
    """Return a keyword that follows references of its own, with SchemaError for a broken one."""

    def checked(validator: Validator, value: Json, instance: Json, schema: Json) -> Errors:
        try:
            yield from check(validator, value, instance, schema) or ()
        except Unresolvable as error:
            raise SchemaError.of(
                f'Expected every reference to name a subschema, got "{error.ref}"',
                hint="It is followed by `unevaluatedItems`. Correct the reference.",
            ) from error

    return checked


def _valid(validator: Validator, instance: Json, schema: Json) -> bool:
    return next(iter(validator.descend(instance, schema)), None) is None


# The `format` keyword as an assertion: every format is checked or refused, never skipped.


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


def _assert_checkable(validator: Any, name: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:  # noqa: ANN401  (jsonschema has no type for its validators)
    """Check the `format` keyword like `assert_format`, except for formats that cannot be checked."""
    with suppress(SchemaError):
        yield from assert_format(validator, name, instance, schema)


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
