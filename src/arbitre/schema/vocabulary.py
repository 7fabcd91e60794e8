"""The `x-arbitre` keyword: read, checked, and overlaid by wildcard path."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from arbitre import bundled
from arbitre.errors import Problem, SchemaError, did_you_mean
from arbitre.paths import Token, escape, parse, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from arbitre.schema.load import Located
    from arbitre.values import Json

KEYWORD: Final = "x-arbitre"
FIELD_KEYS: Final = frozenset({"weight", "ignore", "aliases"})
"""Keys that speak of the field; the others speak of the value."""


class Setting(NamedTuple):
    """What was chosen, and where."""

    value: Any
    pointer: str
    file: str | None


Settings = dict[str, Setting]


@cache
def _vocabulary() -> Draft202012Validator:
    return Draft202012Validator(bundled.schema("vocabulary.schema.json"))


def settings_of(located: Located, problems: list[Problem]) -> Settings:
    """The settings of a subschema; what is wrong with them is added to `problems`."""
    schema = located.schema
    for key in schema:
        if key != KEYWORD and key.lower().replace("_", "-").startswith("x-arbit"):
            problems.append(located.problem(f'Unknown keyword "{key}"', key, hint=f'Did you mean "{KEYWORD}"?'))
    if KEYWORD not in schema:
        return {}
    place = f"{located.pointer}/{KEYWORD}"
    return _checked(schema[KEYWORD], place, located.file, problems)


def _checked(value: Json, place: str, file: str | None, problems: list[Problem]) -> Settings:
    """The settings of one annotation without those that are wrong."""
    if not isinstance(value, dict):
        problems.append(Problem(f"Expected `{KEYWORD}` to be an object, got {value!r}", file=file, pointer=place))
        return {}
    schema = _vocabulary()
    known = schema.schema["properties"]
    bad = {key for key in value if key not in known}
    for key in sorted(bad):
        hint = did_you_mean(key, known) or f"The keys are {', '.join(known)}."
        problems.append(Problem(f'Unknown key "{key}"', file=file, pointer=f"{place}/{escape(key)}", hint=hint))
    for key in sorted(value.keys() - bad):
        error = best_match(schema.evolve(schema=known[key] | {"$defs": schema.schema["$defs"]}).iter_errors(value[key]))
        if error is not None:
            bad.add(key)
            where = f"{place}/{key}" + pointer(error.absolute_path)
            message = f"Expected `{key}` to be {_expected(key)}, got {error.instance!r}"
            problems.append(Problem(message, file=file, pointer=where))
    return {key: Setting(value[key], f"{place}/{key}", file) for key in value if key not in bad}


def _expected(key: str) -> str:
    return {
        "weight": "a positive number",
        "entries": "true or false",
        "ignore": "true or false",
        "absent": 'a list of any of null, "", [] and {}',
        "aliases": "a list of relative JSON Pointers",
        "normalize": "a name, {name: {option: value}}, or a list of these",
    }.get(key, "a name or {name: {option: value}}")


@dataclass(slots=True)
class Overlay:
    """Settings by wildcard path, for schemas that are not yours to edit: a tree of tokens."""

    settings: Settings = field(default_factory=dict)
    below: dict[Token, Overlay] = field(default_factory=dict)
    used: bool = False

    @classmethod
    def of(cls, data: Mapping[str, Json], file: str | None = None) -> Overlay:
        """Read `{"/entries/*/name": {"distance": "exact"}}`. Raises SchemaError listing all that is wrong."""
        root, problems = cls(), list[Problem]()
        for path, value in data.items():
            try:
                tokens = parse(path)
            except ValueError as error:
                problems.append(Problem(str(error), file=file, pointer=f"/{escape(path)}"))
                continue
            node = root
            for token in tokens:
                node = node.below.setdefault(token, cls())
            node.settings = _checked(value, f"/{escape(path)}", file, problems)
        if problems:
            raise SchemaError(*problems)
        return root

    def at(self, token: Token) -> Overlay | None:
        return self.below.get(token)

    def unused(self) -> Iterator[Problem]:
        """A problem for every path that the schema does not have."""
        if self.settings and not self.used:
            setting = next(iter(self.settings.values()))
            yield Problem(
                "The schema has no such path",
                file=setting.file,
                pointer=setting.pointer.rpartition("/")[0],
                hint="`arbitre schema explain` lists the paths; list items and map keys are written *.",
            )
        for child in self.below.values():
            yield from child.unused()
