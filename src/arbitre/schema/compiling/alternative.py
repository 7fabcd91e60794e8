"""Alternatives of a subschema, and the intersection of two that apply together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from arbitre.values import Kind, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from arbitre.schema.loading.references import Subschema
    from arbitre.schema.loading.vocabulary import Annotations
    from arbitre.values import Json

Subschemas = tuple[tuple["Subschema", ...], ...]
"""The subschemas of one value. Every group applies; within a group, any member may apply."""

_TYPES: Final = {
    "null": Kind.NULL,
    "boolean": Kind.BOOLEAN,
    "integer": Kind.NUMBER,
    "number": Kind.NUMBER,
    "string": Kind.STRING,
    "array": Kind.ARRAY,
    "object": Kind.OBJECT,
}


@dataclass(frozen=True, slots=True)
class Alternative:
    """One alternative: the kinds that it accepts (None for any), and its declarations for each kind."""

    kinds: frozenset[Kind] | None = None
    integer: bool = False
    format: str | None = None
    enum: tuple[Json, ...] | None = None
    properties: dict[str, Subschemas] = field(default_factory=dict)
    patterns: dict[str, Subschemas] = field(default_factory=dict)
    additional: Subschemas = ()
    prefix: tuple[Subschemas, ...] = ()
    items: Subschemas = ()
    settings: Annotations = field(default_factory=dict)

    @property
    def values(self) -> frozenset[Hashable] | None:
        """Canonical keys of the values that `const` or `enum` allows; None if it has neither."""
        return None if self.enum is None else frozenset(map(canonical, self.enum))

    @property
    def possible(self) -> bool:
        return self.kinds is None or bool(self.kinds)

    def takes(self, kind: Kind) -> bool:
        return self.kinds is None or kind in self.kinds

    def subschemas_for(self, name: str) -> Subschemas:
        """Return the subschemas for the value of a key that matches no pattern."""
        return self.properties.get(name) or self.additional

    def below(self) -> Iterator[Subschema]:
        """Yield the subschemas of all nested values."""
        for subschemas in (
            *self.properties.values(),
            *self.patterns.values(),
            self.additional,
            *self.prefix,
            self.items,
        ):
            for group in subschemas:
                yield from group


NOTHING: Final = Alternative(kinds=frozenset())
"""The alternative of `false`, which accepts no value."""


def alternative_of(located: Subschema, settings: Annotations) -> Alternative:
    """Return the alternative that a subschema's own keywords declare, without references and combinations."""
    schema = located.schema
    if "$ref" in schema and located.legacy:
        return Alternative(settings=settings)
    enum = [schema["const"]] if "const" in schema else schema.get("enum")
    types = schema.get("type", ())
    types = [types] if isinstance(types, str) else list(types)
    plain = types and all(isinstance(name, str) and name in _TYPES for name in types)  # draft 3: "any", or schemas
    kinds = frozenset(_TYPES[name] for name in types) if plain else None
    if enum is not None:
        of_values = frozenset(map(kind_of, enum))
        kinds = of_values if kinds is None else kinds & of_values
    tuple_items = isinstance(schema.get("items"), list)
    prefix, items = ("items", "additionalItems") if tuple_items else ("prefixItems", "items")
    said = Alternative(
        properties={name: ((located.below("properties", name),),) for name in schema.get("properties", ())},
        patterns={name: ((located.below("patternProperties", name),),) for name in schema.get("patternProperties", ())},
        additional=_subschema(located, "additionalProperties") or _subschema(located, "unevaluatedProperties"),
        prefix=tuple(((located.below(prefix, index),),) for index in range(len(schema.get(prefix, ())))),
        items=_subschema(located, items) or _subschema(located, "unevaluatedItems"),
        settings=settings,
    )
    if located.soft:
        return said
    integer = "integer" in types and "number" not in types
    return replace(
        said, kinds=kinds, integer=integer, format=schema.get("format"), enum=None if enum is None else tuple(enum)
    )


def _subschema(located: Subschema, key: str) -> Subschemas:
    """Return the subschema of a keyword; () for a boolean, which declares nothing."""
    return ((located.below(key),),) if isinstance(located.schema.get(key), dict) else ()


def intersect(near: Alternative, far: Alternative) -> Alternative:
    """Combine two alternatives that apply together; the settings of `near` take precedence."""
    kinds = far.kinds if near.kinds is None else near.kinds if far.kinds is None else near.kinds & far.kinds
    enum = near.enum if near.enum is not None else far.enum
    if near.enum is not None and (values := far.values) is not None:
        enum = tuple(value for value in near.enum if canonical(value) in values)
        kinds = (kinds or frozenset()) & frozenset(map(kind_of, enum))
    return Alternative(
        kinds=kinds,
        integer=near.integer or far.integer,
        format=near.format or far.format,
        enum=enum,
        properties=_joined(near.properties, far.properties),
        patterns=_joined(near.patterns, far.patterns),
        additional=combine_groups(near.additional, far.additional),
        prefix=tuple(combine_groups(*pair) for pair in zip_longest(near.prefix, far.prefix, fillvalue=())),
        items=combine_groups(near.items, far.items),
        settings=far.settings | near.settings,
    )


def combine_groups(near: Subschemas, far: Subschemas) -> Subschemas:
    """Return all groups of both without duplicates, so that recursive schemas have finitely many positions."""
    return tuple(dict.fromkeys(near + far))


def _joined(near: dict[str, Subschemas], far: dict[str, Subschemas]) -> dict[str, Subschemas]:
    return {name: combine_groups(near.get(name, ()), far.get(name, ())) for name in near | far}


def merge_scalars(branches: Sequence[Alternative]) -> list[Alternative]:
    """Return the branches of a union, with pure enums of scalar values merged into one."""
    listing = [shape for shape in branches if _is_enum(shape)]
    if len(listing) < 2:  # noqa: PLR2004  (there is nothing to merge)
        return list(branches)
    one = replace(
        listing[0],
        kinds=frozenset(kind for shape in listing for kind in shape.kinds or ()),
        enum=tuple(value for shape in listing for value in shape.enum or ()),
    )
    return [one if shape is listing[0] else shape for shape in branches if shape is listing[0] or not _is_enum(shape)]


def _is_enum(shape: Alternative) -> bool:
    return shape.enum is not None and not shape.settings and all(kind.scalar for kind in shape.kinds or ())


def with_conditionals(shape: Alternative, extras: list[Alternative]) -> Alternative:
    """Add the declarations of conditional subschemas; the shape's own declarations take precedence."""
    settings, items, additional, prefix = dict(shape.settings), shape.items, shape.additional, shape.prefix
    for extra in extras:
        settings = extra.settings | settings
        items, additional, prefix = items or extra.items, additional or extra.additional, prefix or extra.prefix
    return replace(
        shape,
        properties=_with_extras(shape.properties, [extra.properties for extra in extras]),
        patterns=_with_extras(shape.patterns, [extra.patterns for extra in extras]),
        settings=settings,
        items=items,
        additional=additional,
        prefix=prefix,
    )


def declare_conditionals(shape: Alternative) -> Alternative:
    """Turn subschemas that occur only in conditions into declarations."""
    return replace(
        shape,
        properties={name: _declared(subschemas) for name, subschemas in shape.properties.items()},
        patterns={name: _declared(subschemas) for name, subschemas in shape.patterns.items()},
        additional=_declared(shape.additional),
        prefix=tuple(map(_declared, shape.prefix)),
        items=_declared(shape.items),
    )


def _declared(subschemas: Subschemas) -> Subschemas:
    if not all(located.soft for group in subschemas for located in group):
        return subschemas
    return tuple(tuple(replace(located, soft=False) for located in group) for group in subschemas)


def _with_extras(known: dict[str, Subschemas], extras: list[dict[str, Subschemas]]) -> dict[str, Subschemas]:
    """Add the subschemas of each name from all extras as one group."""
    found = dict(known)
    for name in dict.fromkeys(name for extra in extras for name in extra):
        members = [located for extra in extras for group in extra.get(name, ()) for located in group]
        group = tuple(dict.fromkeys(replace(located, soft=name in known) for located in members))
        found[name] = combine_groups(found.get(name, ()), (group,))
    return found
