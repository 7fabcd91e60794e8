"""The settings of the `x-arbitre` keyword: in a schema, or in an overlay by wildcard path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from arbitre import bundled
from arbitre.errors import DataError, Problem, SchemaError, did_you_mean, shown
from arbitre.paths import Token, escape, order, parse, pointer
from arbitre.schema.loading.load_schema import KEYWORD
from arbitre.schema.loading.schema_store import read_file
from arbitre.values import Json, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arbitre.schema.loading.load_schema import Subschema


FIELD_KEYS: Final = frozenset({"weight", "ignore", "aliases", "null", "compare"})
"""Keys that apply to a field; the others apply to its value."""

_EXPECTED: Final = {
    "weight": "a positive number of at most 1e12",
    "entries": "true or false",
    "floor": "a number above 0 and at most 1",
    "alternatives": 'the JSON Pointer of a sibling field, such as "/variants", or true',
    "ignore": "true or false",
    "null": '"credit"',
    "absent": 'a list of null, texts such as "" or "n/a", [] and {}',
    "aliases": "a list of relative JSON Pointers",
    "undeclared": '"count" or "ignore"',
    "id": 'a scope such as "person", or {"scope": scope, "key": [fields]} on list items',
    "ref": 'a scope such as "person", or {"scope": scope} with "graded": true or "key": [fields]',
    "compare": "true or false",
    "scope": '"corpus" or "document" by scope, such as {"person": "corpus"}',
    "normalize": "a name, {name: {option: value}}, or a list of these",
}
_CHOICE: Final = "a name or {name: {option: value}}"
_CONDITIONS: Final = ("not", "if", "contains", "propertyNames")


FOREIGN: Final = {
    "stickler": ("x-aws-stickler-", "x-stickler-"),
    "extract-bench": ("evaluation_config",),
    "x-eval": ("x-eval-",),
}
"""Starts of the keywords of other tools, which `arbitre schema import` translates."""


class Annotation(NamedTuple):
    """The value of one setting, and where it was read."""

    value: Any
    pointer: str
    file: str | None

    def problem(self, message: str, hint: str | None = None) -> Problem:
        return Problem(message, self.file, None, self.pointer, hint)


Annotations = dict[str, Annotation]


@cache
def _vocabulary() -> dict[str, Any]:
    return bundled.schema("vocabulary.schema.json")


@cache
def _validator(key: str) -> Draft202012Validator:
    vocabulary = _vocabulary()
    return Draft202012Validator(vocabulary["properties"][key] | {"$defs": vocabulary["$defs"]})


@cache
def _misspelt(key: str) -> bool:
    return key != KEYWORD and bool(get_close_matches(key.lower(), [KEYWORD], cutoff=0.82))


def annotations_of(located: Subschema, problems: list[Problem]) -> Annotations:
    """Return the settings of a subschema. Errors and annotations without effect are added to `problems`."""
    schema = located.schema
    hint = f'Did you mean "{KEYWORD}"?'
    problems.extend(located.problem(f'Unknown keyword "{key}"', key, hint=hint) for key in schema if _misspelt(key))
    stray = [("properties",)] if "properties" in schema else []
    stray += [(key,) for key in _CONDITIONS if isinstance(schema.get(key), dict)]
    for tokens in stray:
        inner = schema[tokens[0]].get(KEYWORD)
        if isinstance(inner, dict) and (tokens != ("properties",) or inner.keys() & _vocabulary()["properties"].keys()):
            message = f"`{KEYWORD}` has no effect inside `{tokens[0]}`"
            problems.append(located.problem(message, *tokens, KEYWORD, hint="Put it next to the keywords of a value."))
    if KEYWORD not in schema:
        return {}
    return check_annotation(schema[KEYWORD], f"{located.pointer}/{KEYWORD}", located.file, problems)


def check_annotation(value: Json, place: str, file: str | None, problems: list[Problem]) -> Annotations:
    """Return the valid settings of one annotation; errors are added to `problems`."""
    if not isinstance(value, dict):
        message = f"Expected `{KEYWORD}` to be an object, got {shown(value)}"
        problems.append(Problem(message, file=file, pointer=place))
        return {}
    known = _vocabulary()["properties"]
    settings: Annotations = {}
    for key, choice in value.items():
        where = f"{place}/{escape(key)}"
        if key not in known:
            hint = did_you_mean(key, known)
            problems.append(Problem(f'Unknown key "{key}"', file=file, pointer=where, hint=hint))
            continue
        error = best_match(_validator(key).iter_errors(choice))
        if error is not None:
            message = f"Expected `{key}` to be {_EXPECTED.get(key, _CHOICE)}, got {shown(error.instance)}"
            problems.append(Problem(message, file=file, pointer=where + pointer(error.absolute_path)))
            continue
        settings[key] = Annotation(choice, where, file)
    return settings


def foreign_keywords(contents: Json) -> dict[str, list[str]]:
    """Return the keywords of other tools in a schema, by tool and in alphabetical order.

    >>> foreign_keywords({"properties": {"name": {"type": "string", "x-eval-skip": True}}})
    {'x-eval': ['x-eval-skip']}
    """
    found: dict[str, set[str]] = {}
    pending = [contents]
    for value in pending:  # grows during iteration
        if isinstance(value, dict):
            for tool, starts in FOREIGN.items():
                if keys := {key for key in value if key.startswith(starts) and _configures(value[key])}:
                    found.setdefault(tool, set()).update(keys)
        pending += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {tool: sorted(keys) for tool, keys in found.items()}


def _configures(value: Json) -> bool:
    """Return whether a value may be that of a foreign keyword, and is not the subschema of a field of this name."""
    return not isinstance(value, dict) or not value.keys() & {"type", "$ref", "anyOf", "properties"}


# Overlays: annotations by wildcard path, for schemas that you cannot edit.


def merged_overlay(*overlays: Mapping[str, Json]) -> dict[str, Json]:
    """Return one overlay with the settings of several; later settings replace earlier ones."""
    whole: dict[str, dict[str, Json]] = {}
    for path, settings in (item for overlay in overlays for item in overlay.items()):
        whole[path] = whole.get(path, {}) | settings
    return dict(sorted(whole.items(), key=lambda item: order(item[0])))


def _with_absolute_files(setting: Annotation) -> Json:
    """Return the value of a setting, in which normalisers name their authority files by absolute paths."""
    folder, several = Path(setting.file or "").parent.absolute(), isinstance(setting.value, list)
    if not setting.pointer.endswith("/normalize"):
        return setting.value
    steps = [
        {"authority": {**step["authority"], "file": str(folder / step["authority"]["file"])}}
        if isinstance(step, dict) and "file" in step.get("authority", {})
        else step
        for step in (setting.value if several else [setting.value])
    ]
    return steps if several else steps[0]


@dataclass(eq=False, slots=True)
class Overlay:
    """A tree of settings by path token; `used` states whether the schema has the path."""

    settings: Annotations = field(default_factory=dict)
    below: dict[Token, Overlay] = field(default_factory=dict)
    path: str = ""
    used: bool = False

    @classmethod
    def read(cls, source: Mapping[str, Json] | str | Path) -> Overlay:
        """Read an overlay from a dictionary or a JSON file. Raises SchemaError listing every problem."""
        file = str(source) if isinstance(source, (str, Path)) else None
        data: Any = source
        if isinstance(source, (str, Path)):
            try:
                data = read_file(Path(source), "overlay")
            except OSError as error:
                raise SchemaError.of(f"Cannot read the overlay: {error.strerror}", file=str(file)[:200]) from error
        if not isinstance(data, Mapping):
            raise SchemaError.of(
                f"Expected an overlay to be an object with paths as keys, got {type(data).__name__}",
                file=file,
                hint='For example {"/entries/*/name": {"distance": "exact"}}.',
            )
        return cls._of(dict(data), file)

    @classmethod
    def _of(cls, data: dict[str, Json], file: str | None) -> Overlay:
        try:
            canonical(data)
        except DataError as error:
            raise SchemaError(*error.located(file=file).problems) from error
        root, problems = cls(), list[Problem]()
        for path, value in data.items():
            place = f"/{escape(path)}"
            try:
                tokens = parse(path)
            except ValueError as error:
                problems.append(Problem(str(error), file=file, pointer=place))
                continue
            node = root
            for token in tokens:
                node = node.below.setdefault(token, cls(path=f"{node.path}/{escape(token)}"))
            node.settings = check_annotation(value, place, file, problems)
        if problems:
            raise SchemaError(*problems)
        return root

    def extended(self, settings: Mapping[str, Json]) -> Overlay:
        """Return the overlay with further settings by path, which replace its own. Raises SchemaError."""
        pending = [(self, self._of(dict(settings), None))]
        for own, other in pending:  # grows during iteration
            own.settings = own.settings | other.settings
            pending += (
                (own.below.setdefault(token, Overlay(path=below.path)), below) for token, below in other.below.items()
            )
        return self

    def to_dict(self) -> dict[str, Json]:
        """Return the settings by path. Authority files are named by absolute paths, for an overlay elsewhere."""
        nodes, whole = [self], dict[str, Json]()
        for node in nodes:  # grows during iteration
            nodes += node.below.values()
            if node.settings:
                whole[node.path] = {key: _with_absolute_files(setting) for key, setting in node.settings.items()}
        return merged_overlay(whole)

    def at(self, token: Token) -> Overlay | None:
        return self.below.get(token)

    def unused(self, known: Iterable[str]) -> Iterator[Problem]:
        """Yield a problem for each path of the overlay that is not in the schema; `known` are the schema's paths."""
        pending = [self]
        while pending:
            node = pending.pop()
            pending.extend(reversed(node.below.values()))
            if node.settings and not node.used:
                setting = next(iter(node.settings.values()))
                general = "`arbitre schema explain` lists the paths. Write * for list items and map keys."
                yield Problem(
                    f'The schema has no path "{node.path}"',
                    file=setting.file,
                    pointer=setting.pointer.rpartition("/")[0],
                    hint=did_you_mean(node.path, known, general),
                )
