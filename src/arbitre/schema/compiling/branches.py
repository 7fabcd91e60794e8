"""The branches of a subschema: their expansion, and the intersection of two that apply together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import Problem, SchemaError
from arbitre.normalizers import nfc
from arbitre.paths import STAR
from arbitre.schema.loading.annotations import annotations_of
from arbitre.schema.loading.load_schema import REFERENCES
from arbitre.values import Kind, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from arbitre.paths import Token
    from arbitre.schema.loading.annotations import Annotations
    from arbitre.schema.loading.load_schema import Subschema
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
    prefix, items = subschema.list_keywords
    declared = Branch(
        properties={name: ((subschema.below("properties", name),),) for name in schema.get("properties", ())},
        patterns={
            name: ((subschema.below("patternProperties", name),),) for name in schema.get("patternProperties", ())
        },
        additional=_subschema(subschema, "additionalProperties") or _subschema(subschema, "unevaluatedProperties"),
        prefix=tuple(((member,),) for member in subschema.members(prefix)),
        items=_subschema(subschema, items) or _subschema(subschema, "unevaluatedItems"),
        settings=settings,
    )
    if subschema.conditional:
        return declared
    integer = "integer" in types and "number" not in types
    enum = None if enum is None else tuple(enum)
    return replace(declared, kinds=kinds, integer=integer, format=declared_format(schema), enum=enum)


def declared_format(schema: Mapping[str, Any]) -> str | None:
    """Return the format that a subschema declares; "decimal" for the pattern that Pydantic writes for `Decimal`."""
    decimal = str(schema.get("pattern", "")).startswith(_DECIMAL)
    return schema.get("format") or ("decimal" if decimal else None)


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


# Expansion of a subschema into branches: resolves references, combinations and conditions.


MAX_BRANCHES: Final = 256
"""Maximum number of branches of one value. Combinations of unions multiply."""

_SAME_VALUE: Final = frozenset(
    (*REFERENCES, "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
)
"""Keywords with subschemas that apply to the same value."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The subschemas that apply to the same value as their parent subschema.

    Attributes:
        required: Targets of references and members of `allOf`; all apply.
        unions: Branches of `anyOf` and of `oneOf`; one of each applies.
        conditional: `then`, `else` and dependent schemas; each may apply.
        tests: `if` and `not`, which validate the value but declare nothing to compare.
        problems: One problem for each reference that cannot be resolved.
    """

    required: tuple[Subschema, ...]
    unions: tuple[tuple[Subschema, ...], ...]
    conditional: tuple[Subschema, ...]
    tests: tuple[Subschema, ...]
    problems: tuple[Problem, ...]

    @property
    def described(self) -> Iterator[Subschema]:
        """Every part except the tests."""
        return chain(self.required, *self.unions, self.conditional)

    @classmethod
    def of(cls, subschema: Subschema) -> Parts:
        """Return the parts of a subschema; a boolean subschema has none."""
        schema = subschema.schema
        if not isinstance(schema, dict) or _SAME_VALUE.isdisjoint(schema):
            return _NO_PARTS
        required, problems = [], list[Problem]()
        for keyword in REFERENCES:
            if keyword in schema:
                try:
                    required.append(subschema.follow(keyword))
                except SchemaError as error:
                    problems.extend(error.problems)
        if "$ref" in schema and subschema.legacy:  # up to draft 7, keywords next to `$ref` are ignored
            return cls(tuple(required), (), (), (), tuple(problems))
        required += subschema.members("allOf")
        unions = tuple(subschema.members(keyword) for keyword in ("anyOf", "oneOf") if keyword in schema)
        conditional = [subschema.below(key) for key in ("then", "else") if "if" in schema and key in schema]
        for keyword in ("dependentSchemas", "dependencies"):
            inner = schema.get(keyword, {})
            conditional += [subschema.below(keyword, name) for name, value in inner.items() if isinstance(value, dict)]
        tests = tuple(subschema.below(keyword) for keyword in ("if", "not") if keyword in schema)
        return cls(tuple(required), unions, tuple(conditional), tests, tuple(problems))


_NO_PARTS: Final = Parts((), (), (), (), ())


@dataclass(slots=True)
class Expander:
    """Expands subschemas into branches and caches the results; adds errors to `problems`."""

    problems: list[Problem]
    _known: dict[Subschemas, list[Branch]] = field(default_factory=dict)
    _expanded: dict[Subschema, list[Branch]] = field(default_factory=dict)
    _parts: dict[Subschema, Parts] = field(default_factory=dict)
    _without_cycle: set[Subschema] = field(default_factory=set)

    def branches(self, subschemas: Subschemas) -> list[Branch]:
        """Return the branches of a value to which all these subschemas apply, in order."""
        if subschemas not in self._known:
            branches = [Branch()]
            for members in subschemas:
                member_branches = [branch for subschema in members for branch in self._expand(subschema)]
                branches = self._all(branches, member_branches, members[0])
            if any(subschema.conditional for members in subschemas for subschema in members):
                branches = [declare_conditionals(branch) for branch in branches]
            self._known[subschemas] = branches
        return self._known[subschemas]

    def _expand(self, root: Subschema) -> list[Branch]:
        """Return the branches of one subschema."""
        if root in self._expanded:
            return self._expanded[root]
        if self._parts_of(root) is _NO_PARTS:
            self._expanded[root] = self._combined(root)
        else:
            self._check_cycles(root)
            for subschema, _ in _bottom_up(root, lambda member: self._parts_of(member).described, self._expanded):
                self._expanded[subschema] = self._combined(subschema)
        return self._expanded[root]

    def _combined(self, subschema: Subschema) -> list[Branch]:
        """Return the branches of a subschema whose parts are already expanded.

        References and `allOf` apply together, `anyOf` and `oneOf` give one branch for each member, and both `then` and
        `else` add their declarations. A setting of a subschema overrides the same setting of the subschemas that it
        refers to.
        """
        if not isinstance(subschema.schema, dict):
            return [Branch() if subschema.schema else NOTHING]
        parts = self._parts_of(subschema)
        combined = [own_branch(subschema, annotations_of(subschema, self.problems))]
        self.problems.extend(parts.problems)
        for part in parts.required:
            combined = self._all(combined, self._branches_of([part]), subschema)
        for union in parts.unions:
            union_branches = merge_scalars(self._branches_of(union))
            self._check_branches(combined, union_branches)
            combined = self._all(combined, union_branches, subschema)
        extras = self._branches_of(parts.conditional)
        return [with_conditionals(branch, extras) for branch in combined] if extras else combined

    def _branches_of(self, parts: Iterable[Subschema]) -> list[Branch]:
        anything = [Branch()]  # a reference that closes a cycle is reported and not expanded
        return [branch for part in parts for branch in self._expanded.get(part, anything)]

    def _parts_of(self, subschema: Subschema) -> Parts:
        if subschema not in self._parts:
            self._parts[subschema] = Parts.of(subschema)
        return self._parts[subschema]

    def _check_cycles(self, root: Subschema) -> None:
        """Report reference cycles that never reach a nested value; they make validation impossible."""

        def parts(subschema: Subschema) -> Iterator[Subschema]:
            same_value = self._parts_of(subschema)
            return chain(same_value.described, same_value.tests)

        for subschema, cycle in _bottom_up(root, parts, self._without_cycle):
            self._without_cycle.add(subschema)
            message = "The references form a cycle that never reaches a value"
            self.problems.extend(member.problem(message) for member in cycle)

    def _all(self, left: list[Branch], right: list[Branch], subschema: Subschema) -> list[Branch]:
        """Return all satisfiable intersections of a left and a right branch; left settings take precedence."""
        intersections: list[Branch] = []
        for near in left:
            for far in right:
                branch = intersect(near, far)
                if branch.possible:
                    intersections.append(branch)
            if len(intersections) > MAX_BRANCHES:
                message = f"Expected at most {MAX_BRANCHES} branches for one value, got more"
                hint = "Simplify the combinations of anyOf, oneOf and allOf."
                self.problems.append(subschema.problem(message, hint=hint))
                return intersections[:1]
        return intersections or [intersect(left[0], right[0])]

    def _check_branches(self, outer: list[Branch], branches: list[Branch]) -> None:
        """Report settings that differ between a union and its branch; neither takes precedence."""
        for key in sorted({key for branch in outer for key in branch.settings}):
            setting = next(branch.settings[key] for branch in outer if key in branch.settings)
            for branch in branches:
                other = branch.settings.get(key)
                if other is not None and canonical(other.value) != canonical(setting.value):
                    message = f"`{key}` has different values on the union and on its branch ({other.pointer})"
                    self.problems.append(setting.problem(message, "Keep one of the two."))


def _bottom_up(
    root: Subschema, parts: Callable[[Subschema], Iterable[Subschema]], done: Iterable[Subschema]
) -> Iterator[tuple[Subschema, list[Subschema]]]:
    """Yield a subschema's descendants and then the subschema itself, each once, without recursion.

    Args:
        root: The subschema to start from.
        parts: Returns the direct children of a subschema.
        done: Subschemas to skip. The caller must add each subschema that is yielded.

    Yields:
        A subschema, and its children that lead back to it.
    """
    stack = [root]
    cycles: dict[Subschema, list[Subschema]] = {}  # keys: the subschemas between the root and the top of the stack
    while stack:
        subschema = stack[-1]
        if subschema in done:
            stack.pop()
        elif subschema in cycles:
            yield stack.pop(), cycles.pop(subschema)
        else:
            cycles[subschema] = []
            for part in parts(subschema):
                if part in cycles:
                    cycles[subschema].append(part)
                elif part not in done:
                    stack.append(part)


def declared_children(branch: Branch) -> Iterator[tuple[Token, Subschemas]]:
    """Yield the token and the subschemas of every child that a branch declares."""
    yield from branch.properties.items()
    yield from ((STAR, below) for below in (*branch.patterns.values(), branch.additional, branch.items) if below)
    yield from enumerate(branch.prefix)
