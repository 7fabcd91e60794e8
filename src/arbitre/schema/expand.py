"""What a subschema says of a value, with references, combinations and conditions resolved: its alternatives."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from arbitre.errors import Problem, SchemaError
from arbitre.schema.vocabulary import Settings, settings_of
from arbitre.values import Kind, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from arbitre.schema.load import Located
    from arbitre.values import Json

LIMIT: Final = 256
"""More alternatives than this in one place are refused: combinations multiply."""

_TYPES: Final = {
    "null": Kind.NULL,
    "boolean": Kind.BOOLEAN,
    "integer": Kind.NUMBER,
    "number": Kind.NUMBER,
    "string": Kind.STRING,
    "array": Kind.ARRAY,
    "object": Kind.OBJECT,
}

Subschemas = tuple[tuple["Located", ...], ...]
"""What holds of one value: every group, and of each group any member."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One alternative: the kinds it takes (None for any), and what it says of each."""

    kinds: frozenset[Kind] | None = None
    integer: bool = False
    format: str | None = None
    enum: tuple[Json, ...] | None = None
    properties: dict[str, Subschemas] = field(default_factory=dict)
    patterns: dict[str, Subschemas] = field(default_factory=dict)
    additional: Subschemas = ()
    prefix: tuple[Subschemas, ...] = ()
    items: Subschemas = ()
    settings: Settings = field(default_factory=dict)

    @property
    def values(self) -> frozenset[Hashable] | None:
        """The canonical keys of the values that const or enum allows."""
        return None if self.enum is None else frozenset(map(canonical, self.enum))

    def takes(self, kind: Kind) -> bool:
        return self.kinds is None or kind in self.kinds


def expand(located: Located, problems: list[Problem], trail: tuple[int, ...] = ()) -> list[Shape]:
    """The alternatives of a subschema, in order; what is wrong on the way is added to `problems`.

    `$ref`, `$dynamicRef` and `allOf` must hold together; `anyOf` and `oneOf` are alternatives; `then` and `else` both
    add what they declare. A setting nearer to the field overrides the same setting of what it refers to.
    """
    schema = located.schema
    if not isinstance(schema, dict):
        return [Shape()]
    if id(schema) in trail:
        problems.append(located.problem("The references run in a circle without ever reaching a value"))
        return [Shape()]
    trail = (*trail, id(schema))
    alternatives = [_own(located, problems)]
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if keyword in schema:
            try:
                target = located.follow(schema[keyword])
            except SchemaError as error:
                problems.extend(error.problems)
                continue
            alternatives = _all(alternatives, expand(target, problems, trail))
    if "$ref" in schema and located.legacy:
        return alternatives  # before 2019-09 everything beside $ref is void; our annotation is kept
    for index in range(len(schema.get("allOf", ()))):
        alternatives = _all(alternatives, expand(located.below("allOf", index), problems, trail))
    for keyword in ("anyOf", "oneOf"):
        branches = [
            shape
            for index in range(len(schema.get(keyword, ())))
            for shape in expand(located.below(keyword, index), problems, trail)
        ]
        if branches:
            _check_branches(alternatives, branches, problems)
            alternatives = _all(alternatives, branches)
    if len(alternatives) > LIMIT:
        message = f"Expected at most {LIMIT} alternatives in one place, got {len(alternatives)}"
        problems.append(located.problem(message, hint="Flatten the combinations of anyOf, oneOf and allOf."))
        alternatives = alternatives[:1]
    extra = _conditional(located, problems, trail)
    return [_enrich(shape, extra) for shape in alternatives] if extra else alternatives


def expand_all(subschemas: Subschemas, problems: list[Problem]) -> list[Shape]:
    """The alternatives of a value of which all these groups hold."""
    alternatives = [Shape()]
    for group in subschemas:
        alternatives = _all(alternatives, [shape for located in group for shape in expand(located, problems)])
    return alternatives


def _own(located: Located, problems: list[Problem]) -> Shape:
    """What the keywords of one subschema say themselves."""
    schema = located.schema
    settings = settings_of(located, problems)
    if "$ref" in schema and located.legacy:
        return Shape(settings=settings)
    enum = [schema["const"]] if "const" in schema else schema.get("enum")
    types = schema.get("type", ())
    types = [types] if isinstance(types, str) else list(types)
    kinds = frozenset(_TYPES[name] for name in types) or None
    if enum is not None:
        of_values = frozenset(kind_of(value) for value in enum)
        kinds = of_values if kinds is None else kinds & of_values
    tuple_items = isinstance(schema.get("items"), list)
    prefix_key = "items" if tuple_items else "prefixItems"
    items_key = "additionalItems" if tuple_items else "items"
    return Shape(
        kinds=None if located.soft else kinds,
        integer="integer" in types and "number" not in types and not located.soft,
        format=None if located.soft else schema.get("format"),
        enum=None if enum is None or located.soft else tuple(enum),
        properties={name: ((located.below("properties", name),),) for name in schema.get("properties", ())},
        patterns={name: ((located.below("patternProperties", name),),) for name in schema.get("patternProperties", ())},
        additional=_subschema(located, "additionalProperties") or _subschema(located, "unevaluatedProperties"),
        prefix=tuple(((located.below(prefix_key, index),),) for index in range(len(schema.get(prefix_key, ())))),
        items=_subschema(located, items_key) or _subschema(located, "unevaluatedItems"),
        settings=settings,
    )


def _subschema(located: Located, key: str) -> Subschemas:
    """The subschema under a key that may also hold true or false, which say nothing of the values."""
    return ((located.below(key),),) if isinstance(located.schema.get(key), dict) else ()


def _all(left: list[Shape], right: list[Shape]) -> list[Shape]:
    """Every combination of one alternative of either side that can hold together; the left one is nearer."""
    if len(left) * len(right) > LIMIT * LIMIT:
        return left * LIMIT
    combined = [_both(near, far) for near in left for far in right]
    return [shape for shape in combined if shape.kinds is None or shape.kinds] or combined[:1]


def _both(near: Shape, far: Shape) -> Shape:
    kinds = far.kinds if near.kinds is None else near.kinds if far.kinds is None else near.kinds & far.kinds
    enum = near.enum if near.enum is not None else far.enum
    if near.enum is not None and far.values is not None:
        enum = tuple(value for value in near.enum if canonical(value) in far.values)
    longer, shorter = (near.prefix, far.prefix) if len(near.prefix) >= len(far.prefix) else (far.prefix, near.prefix)
    return Shape(
        kinds=kinds,
        integer=near.integer or far.integer,
        format=near.format or far.format,
        enum=enum,
        properties=_joined(near.properties, far.properties),
        patterns=_joined(near.patterns, far.patterns),
        additional=near.additional + far.additional,
        prefix=tuple(
            subschemas + (shorter[index] if index < len(shorter) else ()) for index, subschemas in enumerate(longer)
        ),
        items=near.items + far.items,
        settings=far.settings | near.settings,
    )


def _joined(near: dict[str, Subschemas], far: dict[str, Subschemas]) -> dict[str, Subschemas]:
    return {name: near.get(name, ()) + far.get(name, ()) for name in near | far}


def _check_branches(outer: list[Shape], branches: list[Shape], problems: list[Problem]) -> None:
    """A setting may stand on the union or on its branch, not differently on both: neither is nearer to the field."""
    for key in sorted({key for shape in outer for key in shape.settings}):
        setting = next(shape.settings[key] for shape in outer if key in shape.settings)
        for branch in branches:
            other = branch.settings.get(key)
            if other is not None and canonical(other.value) != canonical(setting.value):
                message = f"`{key}` is given on the union and, differently, on its branch ({other.pointer})"
                problems.append(Problem(message, setting.file, None, setting.pointer, "Keep one of the two."))


def _conditional(located: Located, problems: list[Problem], trail: tuple[int, ...]) -> list[Shape]:
    """What conditions add when they hold: both sides of if/then/else, and dependent schemas."""
    schema = located.schema
    found: list[Shape] = []
    for keyword in ("then", "else"):
        if "if" in schema and isinstance(schema.get(keyword), dict):
            found += expand(located.below(keyword), problems, trail)
    for keyword in ("dependentSchemas", "dependencies"):
        for name, value in schema.get(keyword, {}).items():
            if isinstance(value, dict):
                found += expand(located.below(keyword, name), problems, trail)
    return found


def _enrich(shape: Shape, extra: list[Shape]) -> Shape:
    """A shape with the properties, items and settings that conditions add; what it declares itself stands."""
    properties, settings, items = dict(shape.properties), dict(shape.settings), shape.items
    for name in dict.fromkeys(name for other in extra for name in other.properties):
        known = name in properties
        group = tuple(
            replace(located, soft=known)
            for other in extra
            for members in other.properties.get(name, ())
            for located in members
        )
        properties[name] = (*properties.get(name, ()), group)
    for other in extra:
        settings = other.settings | settings
        items = items or other.items
    return replace(shape, properties=properties, settings=settings, items=items)
