"""Expansion of a subschema into alternatives: resolves references, combinations and conditions."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final

from arbitre.errors import Problem, SchemaError
from arbitre.schema.compiling.alternative import (
    NOTHING,
    Alternative,
    Subschemas,
    alternative_of,
    declare_conditionals,
    intersect,
    merge_scalars,
    with_conditionals,
)
from arbitre.schema.loading.vocabulary import annotations_of
from arbitre.values import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from arbitre.schema.loading.references import Subschema

MAX_ALTERNATIVES: Final = 256
"""Maximum number of alternatives of one value. Combinations of unions multiply."""

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_SAME_VALUE: Final = frozenset(
    (*_REFERENCES, "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
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
    def of(cls, located: Subschema) -> Parts:
        """Return the parts of a subschema; a boolean subschema has none."""
        schema = located.schema
        if not isinstance(schema, dict) or _SAME_VALUE.isdisjoint(schema):
            return _NO_PARTS
        required, problems = [], list[Problem]()
        for keyword in _REFERENCES:
            if keyword in schema:
                try:
                    required.append(located.follow(keyword))
                except SchemaError as error:
                    problems.extend(error.problems)
        if "$ref" in schema and located.legacy:  # up to draft 7, keywords next to `$ref` are ignored
            return cls(tuple(required), (), (), (), tuple(problems))
        required += _members(located, "allOf")
        unions = tuple(_members(located, keyword) for keyword in ("anyOf", "oneOf") if keyword in schema)
        conditional = [located.below(key) for key in ("then", "else") if "if" in schema and key in schema]
        for keyword in ("dependentSchemas", "dependencies"):
            inner = schema.get(keyword, {})
            conditional += [located.below(keyword, name) for name, value in inner.items() if isinstance(value, dict)]
        tests = tuple(located.below(keyword) for keyword in ("if", "not") if keyword in schema)
        return cls(tuple(required), unions, tuple(conditional), tests, tuple(problems))


_NO_PARTS: Final = Parts((), (), (), (), ())


def _members(located: Subschema, keyword: str) -> tuple[Subschema, ...]:
    return tuple(located.below(keyword, index) for index in range(len(located.schema.get(keyword, ()))))


@dataclass(slots=True)
class Expander:
    """Expands subschemas into alternatives and caches the results; adds errors to `problems`."""

    problems: list[Problem]
    _known: dict[Subschemas, list[Alternative]] = field(default_factory=dict)
    _expanded: dict[Subschema, list[Alternative]] = field(default_factory=dict)
    _parts: dict[Subschema, Parts] = field(default_factory=dict)
    _without_cycle: set[Subschema] = field(default_factory=set)

    def alternatives(self, subschemas: Subschemas) -> list[Alternative]:
        """Return the alternatives of a value to which all these groups apply, in order."""
        if subschemas not in self._known:
            found = [Alternative()]
            for group in subschemas:
                shapes = [shape for located in group for shape in self._expand(located)]
                found = self._all(found, shapes, group[0])
            if any(located.soft for group in subschemas for located in group):
                found = [declare_conditionals(shape) for shape in found]
            self._known[subschemas] = found
        return self._known[subschemas]

    def _expand(self, root: Subschema) -> list[Alternative]:
        """Return the alternatives of one subschema."""
        if root in self._expanded:
            return self._expanded[root]
        if self._parts_of(root) is _NO_PARTS:
            self._expanded[root] = self._combined(root)
        else:
            self._check_cycles(root)
            for located, _ in _bottom_up(root, lambda one: self._parts_of(one).described, self._expanded):
                self._expanded[located] = self._combined(located)
        return self._expanded[root]

    def _combined(self, located: Subschema) -> list[Alternative]:
        """Return the alternatives of a subschema whose parts are already expanded.

        References and `allOf` apply together, `anyOf` and `oneOf` are alternatives, and both `then` and `else` add
        their declarations. A setting of a subschema overrides the same setting of the subschemas that it refers to.
        """
        if not isinstance(located.schema, dict):
            return [Alternative() if located.schema else NOTHING]
        parts = self._parts_of(located)
        found = [alternative_of(located, annotations_of(located, self.problems))]
        self.problems.extend(parts.problems)
        for part in parts.required:
            found = self._all(found, self._shapes([part]), located)
        for union in parts.unions:
            branches = merge_scalars(self._shapes(union))
            self._check_branches(found, branches)
            found = self._all(found, branches, located)
        extras = self._shapes(parts.conditional)
        return [with_conditionals(shape, extras) for shape in found] if extras else found

    def _shapes(self, parts: Iterable[Subschema]) -> list[Alternative]:
        anything = [Alternative()]  # a reference that closes a cycle is reported and not expanded
        return [shape for part in parts for shape in self._expanded.get(part, anything)]

    def _parts_of(self, located: Subschema) -> Parts:
        if located not in self._parts:
            self._parts[located] = Parts.of(located)
        return self._parts[located]

    def _check_cycles(self, root: Subschema) -> None:
        """Report reference cycles that never reach a nested value; they make validation impossible."""

        def parts(located: Subschema) -> Iterator[Subschema]:
            found = self._parts_of(located)
            return chain(found.described, found.tests)

        for located, cycle in _bottom_up(root, parts, self._without_cycle):
            self._without_cycle.add(located)
            message = "The references form a cycle that never reaches a value"
            self.problems.extend(member.problem(message) for member in cycle)

    def _all(self, left: list[Alternative], right: list[Alternative], located: Subschema) -> list[Alternative]:
        """Return all satisfiable intersections of a left and a right alternative; left settings take precedence."""
        found: list[Alternative] = []
        for near in left:
            for far in right:
                shape = intersect(near, far)
                if shape.possible:
                    found.append(shape)
            if len(found) > MAX_ALTERNATIVES:
                message = f"Expected at most {MAX_ALTERNATIVES} alternatives for one value, got more"
                hint = "Simplify the combinations of anyOf, oneOf and allOf."
                self.problems.append(located.problem(message, hint=hint))
                return found[:1]
        return found or [intersect(left[0], right[0])]

    def _check_branches(self, outer: list[Alternative], branches: list[Alternative]) -> None:
        """Report settings that differ between a union and its branch; neither takes precedence."""
        for key in sorted({key for shape in outer for key in shape.settings}):
            setting = next(shape.settings[key] for shape in outer if key in shape.settings)
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
        located = stack[-1]
        if located in done:
            stack.pop()
        elif located in cycles:
            yield stack.pop(), cycles.pop(located)
        else:
            cycles[located] = []
            for part in parts(located):
                if part in cycles:
                    cycles[located].append(part)
                elif part not in done:
                    stack.append(part)
