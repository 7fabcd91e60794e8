"""Catalogues of the named distances, matchings and normalisers that a schema can use.

A schema writes a choice as `"name"` or `{"name": {"option": value}}`. Each family (distances, matchings, normalisers)
has one frozen catalogue, which parses choices and reports all their problems at once.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from jsonschema import Draft202012Validator

from arbitre.errors import DataError, Problem, SchemaError, did_you_mean, nearest, shown
from arbitre.paths import pointer as pointer_to
from arbitre.values import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from jsonschema import ValidationError

    from arbitre.values import Json

T = TypeVar("T")

_PHRASES = {
    "enum": "one of {}",
    "exclusiveMinimum": "greater than {}",
    "maximum": "at most {}",
    "maxItems": "a list of at most {} items",
    "minimum": "at least {}",
    "minItems": "a list of at least {} items",
    "pattern": "a text that matches {}",
    "type": "of type {}",
    "uniqueItems": "a list without duplicates",
}


@dataclass(frozen=True, slots=True)
class Factory(Generic[T]):
    """One entry of a catalogue.

    Attributes:
        build: Function that creates the value from its options.
        summary: One-line description.
        options: JSON Schema of each option by name; its `default` is used if the option is omitted.
        required: Names of the options without a default.
        source: Reference to the publication.
        of_documents: Names of the options whose texts and other scalars, including the keys of objects, are compared
            with values of documents, and so are normalised like these values.
    """

    build: Callable[[Mapping[str, Any]], T]
    summary: str
    options: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    source: str = ""
    of_documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalogue(Generic[T]):
    """An immutable collection of factories by name; `term` is the word for one of them in messages.

    >>> shout = Factory(build=lambda options: "!" * options["times"], summary="Loud.",
    ...               options={"times": {"type": "integer", "minimum": 1, "default": 1}})
    >>> tones = Catalogue("tone", {"shout": shout})
    >>> tones.build("shout"), tones.build({"shout": {"times": 3}})
    ('!', '!!!')
    >>> tones.build("shuot", pointer="/tone")
    Traceback (most recent call last):
    arbitre.errors.SchemaError: Expected `tone` to be a known name, got "shuot" at /tone
      Did you mean "shout"?
    """

    term: str
    entries: Mapping[str, Factory[T]]

    extension: ClassVar[str | None] = None
    """How to add an entry, as a hint for an unknown name."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", MappingProxyType(dict(self.entries)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.term, dict(self.entries))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.entries)} choices of `{self.term}`>"

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted(self.entries))

    def with_factory(self, name: str, entry: Factory[T]) -> Self:
        """Return a catalogue with one more entry.

        Raises:
            SchemaError: The name is already taken.
        """
        if name in self.entries:
            raise SchemaError.of(
                f"The name {shown(name)} is already taken by a {self.term}", hint="Choose another name."
            )
        return replace(self, entries={**self.entries, name: entry})

    def build(self, choice: Json, *, pointer: str = "", normalize: Callable[[Json], Json] | None = None) -> T:
        """Create the value for a choice.

        Args:
            choice: `"name"` or `{"name": {"option": value}}`.
            pointer: Place of the choice in the schema, for error messages.
            normalize: Normalises the values in options that are compared with values of documents.

        Raises:
            SchemaError: Lists every problem: an unknown name or option, a missing required option, or an option
                value that does not satisfy its schema, as it is written or after it is normalised.
        """
        try:
            canonical(choice)
        except DataError as error:
            raise SchemaError(*(replace(problem, pointer=pointer) for problem in error.problems)) from error
        given: Json
        match choice:
            case str(name):
                given, place = {}, pointer
            case dict() if len(choice) == 1:
                ((name, given),) = choice.items()
                place = pointer + pointer_to([name])
            case _:
                raise SchemaError.of(
                    f"Expected `{self.term}` to be a name or {{name: {{option: value}}}}, got {shown(choice)}",
                    pointer=pointer,
                    hint=f"The names are {', '.join(self.names)}.",
                )
        entry = self.entries.get(name)
        if entry is None:
            raise SchemaError.of(
                f"Expected `{self.term}` to be a known name, got {shown(name)}",
                pointer=place,
                hint=did_you_mean(name, self.names, self.extension),
            )
        problems = tuple(_problems(name, entry, given, place))
        if not problems and normalize is not None:
            given, problems = _normalized(name, entry, given, place, normalize)
        if problems:
            raise SchemaError(*problems)
        defaults = {option: schema["default"] for option, schema in entry.options.items() if "default" in schema}
        try:
            return entry.build(deepcopy(defaults | given))
        except SchemaError as error:  # invalid combination of options; pointers are relative to the choice
            placed = (replace(problem, pointer=pointer + (problem.pointer or "")) for problem in error.problems)
            raise SchemaError(*placed) from error


def _problems(name: str, entry: Factory[Any], given: Json, pointer: str) -> Iterator[Problem]:
    """Yield every problem with the options given to an entry."""
    if not isinstance(given, dict):
        yield Problem(f"Expected `{name}` to be an object of options, got {shown(given)}", pointer=pointer)
        return
    for option in entry.required:
        if option not in given:
            yield Problem(
                f"The required option `{option}` of `{name}` is missing",
                pointer=pointer,
                hint=f'Write {{"{name}": {{"{option}": ...}}}}.',
            )
    for option, value in given.items():
        place = pointer + pointer_to([option])
        if option not in entry.options:
            expected = f"an option of `{name}`" if entry.options else f"no options, as `{name}` has none"
            yield Problem(
                f"Expected {expected}, got {shown(option)}",
                pointer=place,
                hint=did_you_mean(option, sorted(entry.options)),
            )
            continue
        for error in Draft202012Validator(entry.options[option]).iter_errors(value):
            yield Problem(
                f"Expected `{option}` to be {_expectation(error)}, got {shown(error.instance)}",
                pointer=place + pointer_to(error.absolute_path),
                hint=_nearest_value(error),
            )


def _normalized(
    name: str, entry: Factory[Any], given: Mapping[str, Json], pointer: str, normalize: Callable[[Json], Json]
) -> tuple[Mapping[str, Json], tuple[Problem, ...]]:
    """Return valid options after the values of documents in them are normalised, and every problem with the result."""
    options, problems = dict(given), []
    for option in entry.of_documents:
        value = given.get(option)
        if isinstance(value, list):
            options[option] = list(map(normalize, value))
        elif isinstance(value, dict):
            keys = list(map(normalize, value))
            options[option] = dict(zip(map(str, keys), map(normalize, value.values()), strict=True))
            texts = all(isinstance(key, str) for key in keys)
            if not texts or len(options[option]) < len(keys):
                expected = "different" if texts else "texts"
                message = f"Expected the keys of `{option}` to be {expected}, got {shown(keys)}"
                problems.append(Problem(message, pointer=pointer + pointer_to([option])))
    problems += _problems(name, entry, options, pointer)
    hint = "The values are shown as the normalisers of this field return them."
    return options, tuple(replace(problem, hint=hint) for problem in problems)


def _nearest_value(error: ValidationError) -> str | None:
    """Return the known values most similar to an unknown one."""
    values, wrong = error.validator_value, error.instance
    if error.validator != "enum" or not isinstance(values, list) or not isinstance(wrong, str):
        return None
    return nearest(wrong, [value for value in values if isinstance(value, str)])


def _expectation(error: ValidationError) -> str:
    """Return the expected value, to follow "Expected `x` to be"."""
    phrase = _PHRASES.get(str(error.validator))
    if phrase is None:
        return f"valid ({error.message})"
    expected = error.validator_value
    words = expected if isinstance(expected, list) else [expected]
    return phrase.format(" or ".join(word if isinstance(word, str) else shown(word) for word in words))
