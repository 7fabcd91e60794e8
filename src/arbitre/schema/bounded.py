"""JSON Schema validators whose regular expressions cannot run for ever."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import attrs
import regex
from jsonschema import ValidationError
from jsonschema.validators import extend, validator_for
from referencing.jsonschema import lookup_recursive_ref

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from arbitre.values import Json

SECONDS: Final = 1.0
"""A regular expression may take this long on one text; it is not tried again when it takes longer."""

DEPTH: Final = 10_000
"""So many subschemas may be applied one inside the other: far from where the interpreter gives up."""

_LONG: Final = 60


class TooManyStepsError(Exception):
    """The subschemas applied to a document have become too many."""


class _UnknownError(Exception):
    """Whether a pattern matches cannot be told; the text says why."""


@dataclass(slots=True)
class Bounded:
    """Makes validator classes in which a pattern that takes too long is reported as violated.

    After `steps` subschemas applied and errors handed on, TooManyStepsError is raised: in recursion they multiply.
    The keywords are those of jsonschema, rewritten where it searches by regular expression.
    """

    steps: int
    slow: set[str] = field(default_factory=set)
    _depth: int = 0
    _kinds: dict[Any, Any] = field(default_factory=dict)

    def validator(self, base: Any) -> Any:  # noqa: ANN401  (jsonschema types no validator class)
        """The bounded version of a validator class; what it refers to in another draft is bounded too."""
        if base not in self._kinds:
            self._kinds[base] = self._bounded(base)
        return self._kinds[base]

    def _bounded(self, base: Any) -> Any:  # noqa: ANN401
        keywords: dict[str, Callable[..., Iterator[ValidationError]]] = {
            "pattern": self._pattern,
            "patternProperties": self._pattern_properties,
            "additionalProperties": self._additional_properties,
            "unevaluatedProperties": self._unevaluated_properties,
        }
        extended: Any = extend
        kind = extended(base, {key: check for key, check in keywords.items() if key in base.VALIDATORS})
        descended, iterated = kind.descend, kind.iter_errors
        fields = [one for one in attrs.fields(kind) if one.init]

        def evolve(validator: Any, **changes: Any) -> Any:  # noqa: ANN401
            wanted = self.validator(validator_for(changes.get("schema", validator.schema), default=base))
            return wanted(**{one.alias: getattr(validator, one.name) for one in fields} | changes)

        def descend(validator: Any, instance: Json, schema: Json, path: Any = None, **more: Any) -> Any:  # noqa: ANN401
            for error in self._counted(descended(validator, instance, schema, path, **more)):
                if schema is False and path is not None:  # the one place where jsonschema leaves the path out
                    error.path.appendleft(path)
                yield error

        def iter_errors(validator: Any, instance: Json) -> Any:  # noqa: ANN401
            return self._counted(iterated(validator, instance))

        kind.evolve, kind.descend, kind.iter_errors = evolve, descend, iter_errors
        return kind

    def _counted(self, errors: Iterator[ValidationError]) -> Iterator[ValidationError]:
        """The errors of one subschema. Raises TooManyStepsError."""
        self._depth += 1
        try:
            self._step()
            for error in errors:
                self._step()
                yield error
        finally:
            self._depth -= 1

    def _step(self) -> None:
        self.steps -= 1
        if self.steps < 0 or self._depth > DEPTH:
            raise TooManyStepsError

    def _search(self, pattern: str, text: str) -> bool:
        """Whether a pattern occurs in a text. Raises _UnknownError."""
        if pattern in self.slow:
            raise _UnknownError(f"the pattern {pattern!r} takes too long, and was not tried here")
        try:
            return regex.search(pattern, text, timeout=SECONDS) is not None
        except TimeoutError as error:
            self.slow.add(pattern)
            shown = text if len(text) <= _LONG else f"{text[:_LONG]}…"
            raise _UnknownError(f"the pattern {pattern!r} takes more than {SECONDS:g} s on {shown!r}") from error
        except regex.error as error:
            raise _UnknownError(f"{pattern!r} is not a regular expression: {error}") from error

    def _matched(self, patterns: Iterable[str], key: str) -> bool:
        return any(self._search(pattern, key) for pattern in patterns)

    def _pattern(self, validator: Any, pattern: str, instance: Json, _: Json) -> Iterator[ValidationError]:  # noqa: ANN401
        if not validator.is_type(instance, "string"):
            return
        try:
            if not self._search(pattern, instance):
                yield ValidationError(f"{instance!r} does not match {pattern!r}")
        except _UnknownError as error:
            yield ValidationError(str(error))

    def _pattern_properties(
        self,
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
                    found = self._search(pattern, key)
                except _UnknownError as error:
                    yield ValidationError(str(error))
                    break
                if found:
                    yield from validator.descend(value, subschema, path=key, schema_path=pattern)

    def _additional_properties(
        self,
        validator: Any,  # noqa: ANN401
        additional: Json,
        instance: Json,
        schema: Mapping[str, Json],
    ) -> Iterator[ValidationError]:
        if not validator.is_type(instance, "object"):
            return
        try:
            extra = [
                key
                for key in instance
                if key not in schema.get("properties", {})
                and not self._matched(schema.get("patternProperties", {}), key)
            ]
        except _UnknownError:
            return  # `patternProperties` says so
        for key in extra:
            if additional is False:
                yield ValidationError(f"the key {key!r} is not allowed here")
            else:
                yield from validator.descend(instance[key], additional, path=key)

    def _unevaluated_properties(
        self,
        validator: Any,  # noqa: ANN401
        unevaluated: Json,
        instance: Json,
        schema: Mapping[str, Json],
    ) -> Iterator[ValidationError]:
        if not validator.is_type(instance, "object"):
            return
        try:
            known = self._evaluated(validator, instance, schema, own=True)
        except _UnknownError:
            return  # `patternProperties` says so
        for key in instance:
            if key in known:
                continue
            if unevaluated is False:
                yield ValidationError(f"the key {key!r} is not allowed here")
            else:
                yield from validator.descend(instance[key], unevaluated, path=key)

    def _evaluated(
        self,
        validator: Any,  # noqa: ANN401
        instance: dict[str, Json],
        schema: Json,
        *,
        own: bool = False,
    ) -> set[str]:
        """The keys of which a schema, and all that holds beside it, speaks; `own` leaves its last word out."""
        if isinstance(schema, bool):
            return set()
        found = set(schema.get("properties", {})) & set(instance)
        found |= {key for key in instance if self._matched(schema.get("patternProperties", {}), key)}
        if "additionalProperties" in schema or ("unevaluatedProperties" in schema and not own):
            return set(instance)
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if keyword in schema:
                resolver = validator._resolver  # noqa: SLF001  (what the keywords of jsonschema use)
                lookup = (
                    lookup_recursive_ref(resolver) if keyword == "$recursiveRef" else resolver.lookup(schema[keyword])
                )
                target = validator.evolve(schema=lookup.contents, _resolver=lookup.resolver)
                found |= self._evaluated(target, instance, lookup.contents)
        beside = [inner for name, inner in schema.get("dependentSchemas", {}).items() if name in instance]
        for keyword in ("allOf", "anyOf", "oneOf"):
            beside += [inner for inner in schema.get(keyword, ()) if _valid(validator, instance, inner)]
        if "if" in schema:
            holds = _valid(validator, instance, schema["if"])
            beside += [schema["if"]] if holds else []
            branch = "then" if holds else "else"
            beside += [schema[branch]] if branch in schema else []
        for inner in beside:
            found |= self._evaluated(validator, instance, inner)
        return found


def _valid(validator: Any, instance: Json, schema: Json) -> bool:  # noqa: ANN401
    return next(iter(validator.descend(instance, schema)), None) is None
