"""The branches of a subschema, and the intersection of two that apply together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from arbitre.normalizers import nfc
from arbitre.values import Kind, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from arbitre.schema.loading.references import Subschema
    from arbitre.schema.loading.vocabulary import Annotations
    from arbitre.values import Json

_DECIMAL: Final = "^(?!^[-+.]*$)[+-]?0*"
"""Start of the patterns that Pydantic 2 writes for `Decimal`."""

Subschemas = tuple[tuple["Subschema", ...], ...]
"""The subschemas of one value. Each member tuple is a union: every union applies, and within a union any subschema."""

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
class Branch:
    """One way for a value to satisfy a subschema, with references and unions resolved.

    It holds the kinds that it accepts (None for any), and its declarations for each kind.
    """

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
        """Canonical keys, in NFC, of the values that `const` or `enum` allows; None if it has neither."""
        return None if self.enum is None else frozenset(canonical(nfc(value)) for value in self.enum)

    @property
    def expected(self) -> frozenset[Kind] | None:
        """The kinds of values that it is written for; None for any.

        Without `type`, `properties` is written for objects and `items` for lists.
        """
        fields, items = self.properties or self.patterns or self.additional, self.items or self.prefix
        implied = {kind for kind, keywords in ((Kind.OBJECT, fields), (Kind.ARRAY, items)) if keywords}
        return self.kinds if self.kinds is not None else frozenset(implied) or None

    @property
    def decimal(self) -> bool:
        """Whether it accepts only texts that are decimal numbers: those of Python's `Decimal`."""
        return self.kinds == frozenset({Kind.STRING}) and self.format == "decimal"

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
            for members in subschemas:
                yield from members


NOTHING: Final = Branch(kinds=frozenset())
"""The branch of `false`, which accepts no value."""


def own_branch(subschema: Subschema, settings: Annotations) -> Branch:
    """Return the branch that a subschema's own keywords declare, without references and combinations."""
    schema = subschema.schema
    if "$ref" in schema and subschema.legacy:
        return Branch(settings=settings)
    enum = [schema["const"]] if "const" in schema else schema.get("enum")
    types = schema.get("type", ())
    types = [types] if isinstance(types, str) else list(types)
    known = all(isinstance(name, str) and name in _TYPES for name in types)  # draft 3 also has "any" and subschemas
    kinds = (frozenset(_TYPES[name] for name in types) or None) if known else None
    if enum is not None:
        of_values = frozenset(map(kind_of, enum))
        kinds = of_values if kinds is None else kinds & of_values
    tuple_items = isinstance(schema.get("items"), list)
    prefix, items = ("items", "additionalItems") if tuple_items else ("prefixItems", "items")
    declared = Branch(
        properties={name: ((subschema.below("properties", name),),) for name in schema.get("properties", ())},
        patterns={
            name: ((subschema.below("patternProperties", name),),) for name in schema.get("patternProperties", ())
        },
        additional=_subschema(subschema, "additionalProperties") or _subschema(subschema, "unevaluatedProperties"),
        prefix=tuple(((subschema.below(prefix, index),),) for index in range(len(schema.get(prefix, ())))),
        items=_subschema(subschema, items) or _subschema(subschema, "unevaluatedItems"),
        settings=settings,
    )
    if subschema.conditional:
        return declared
    integer = "integer" in types and "number" not in types
    form = schema.get("format")
    if form is None and str(schema.get("pattern", "")).startswith(_DECIMAL):
        form = "decimal"
    return replace(declared, kinds=kinds, integer=integer, format=form, enum=None if enum is None else tuple(enum))


def _subschema(subschema: Subschema, key: str) -> Subschemas:
    """Return the subschema of a keyword; () for a boolean, which declares nothing."""
    return ((subschema.below(key),),) if isinstance(subschema.schema.get(key), dict) else ()


def intersect(near: Branch, far: Branch) -> Branch:
    """Combine two branches that apply together; the settings of `near` take precedence."""
    kinds = far.kinds if near.kinds is None else near.kinds if far.kinds is None else near.kinds & far.kinds
    enum = near.enum if near.enum is not None else far.enum
    if near.enum is not None and (values := far.values) is not None:
        enum = tuple(value for value in near.enum if canonical(value) in values)
        kinds = (kinds or frozenset()) & frozenset(map(kind_of, enum))
    return Branch(
        kinds=kinds,
        integer=near.integer or far.integer,
        format=near.format or far.format,
        enum=enum,
        properties=_merge_by_key(near.properties, far.properties),
        patterns=_merge_by_key(near.patterns, far.patterns),
        additional=merge_subschemas(near.additional, far.additional),
        prefix=tuple(merge_subschemas(*pair) for pair in zip_longest(near.prefix, far.prefix, fillvalue=())),
        items=merge_subschemas(near.items, far.items),
        settings=far.settings | near.settings,
    )


def merge_subschemas(near: Subschemas, far: Subschemas) -> Subschemas:
    """Return all unions of both without duplicates, so that recursive schemas have finitely many positions."""
    return tuple(dict.fromkeys(near + far))


def _merge_by_key(near: dict[str, Subschemas], far: dict[str, Subschemas]) -> dict[str, Subschemas]:
    return {name: merge_subschemas(near.get(name, ()), far.get(name, ())) for name in near | far}


def merge_scalars(branches: Sequence[Branch]) -> list[Branch]:
    """Return the branches of a union, with pure enums of scalar values merged into one."""
    enums = [branch for branch in branches if _is_enum(branch)]
    if len(enums) < 2:  # noqa: PLR2004  (there is nothing to merge)
        return list(branches)
    merged = replace(
        enums[0],
        kinds=frozenset(kind for branch in enums for kind in branch.kinds or ()),
        enum=tuple(value for branch in enums for value in branch.enum or ()),
    )
    return [
        merged if branch is enums[0] else branch for branch in branches if branch is enums[0] or not _is_enum(branch)
    ]


def _is_enum(branch: Branch) -> bool:
    return branch.enum is not None and not branch.settings and all(kind.scalar for kind in branch.kinds or ())


def with_conditionals(branch: Branch, extras: list[Branch]) -> Branch:
    """Add the declarations of conditional subschemas; the branch's own declarations take precedence."""
    settings, items, additional, prefix = dict(branch.settings), branch.items, branch.additional, branch.prefix
    for extra in extras:
        settings = extra.settings | settings
        items, additional, prefix = items or extra.items, additional or extra.additional, prefix or extra.prefix
    return replace(
        branch,
        properties=_with_extras(branch.properties, [extra.properties for extra in extras]),
        patterns=_with_extras(branch.patterns, [extra.patterns for extra in extras]),
        settings=settings,
        items=items,
        additional=additional,
        prefix=prefix,
    )


def declare_conditionals(branch: Branch) -> Branch:
    """Turn subschemas that occur only in conditions into declarations."""
    return replace(
        branch,
        properties={name: _without_condition(subschemas) for name, subschemas in branch.properties.items()},
        patterns={name: _without_condition(subschemas) for name, subschemas in branch.patterns.items()},
        additional=_without_condition(branch.additional),
        prefix=tuple(map(_without_condition, branch.prefix)),
        items=_without_condition(branch.items),
    )


def _without_condition(subschemas: Subschemas) -> Subschemas:
    if not all(subschema.conditional for members in subschemas for subschema in members):
        return subschemas
    return tuple(tuple(replace(subschema, conditional=False) for subschema in members) for members in subschemas)


def _with_extras(known: dict[str, Subschemas], extras: list[dict[str, Subschemas]]) -> dict[str, Subschemas]:
    """Add the subschemas of each name from all extras as one union."""
    combined = dict(known)
    for name in dict.fromkeys(name for extra in extras for name in extra):
        every_member = [subschema for extra in extras for members in extra.get(name, ()) for subschema in members]
        members = tuple(dict.fromkeys(replace(subschema, conditional=name in known) for subschema in every_member))
        combined[name] = merge_subschemas(combined.get(name, ()), (members,))
    return combined
