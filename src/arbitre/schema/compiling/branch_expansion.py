"""Expansion of a subschema into branches: resolves references, combinations and conditions."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final

from arbitre.errors import Problem, SchemaError
from arbitre.schema.compiling.branch import (
    NOTHING,
    Branch,
    Subschemas,
    declare_conditionals,
    intersect,
    merge_scalars,
    own_branch,
    with_conditionals,
)
from arbitre.schema.loading.vocabulary import annotations_of
from arbitre.values import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from arbitre.schema.loading.references import Subschema

MAX_BRANCHES: Final = 256
"""Maximum number of branches of one value. Combinations of unions multiply."""

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
    def of(cls, subschema: Subschema) -> Parts:
        """Return the parts of a subschema; a boolean subschema has none."""
        schema = subschema.schema
        if not isinstance(schema, dict) or _SAME_VALUE.isdisjoint(schema):
            return _NO_PARTS
        required, problems = [], list[Problem]()
        for keyword in _REFERENCES:
            if keyword in schema:
                try:
                    required.append(subschema.follow(keyword))
                except SchemaError as error:
                    problems.extend(error.problems)
        if "$ref" in schema and subschema.legacy:  # up to draft 7, keywords next to `$ref` are ignored
            return cls(tuple(required), (), (), (), tuple(problems))
        required += _members(subschema, "allOf")
        unions = tuple(_members(subschema, keyword) for keyword in ("anyOf", "oneOf") if keyword in schema)
        conditional = [subschema.below(key) for key in ("then", "else") if "if" in schema and key in schema]
        for keyword in ("dependentSchemas", "dependencies"):
            inner = schema.get(keyword, {})
            conditional += [subschema.below(keyword, name) for name, value in inner.items() if isinstance(value, dict)]
        tests = tuple(subschema.below(keyword) for keyword in ("if", "not") if keyword in schema)
        return cls(tuple(required), unions, tuple(conditional), tests, tuple(problems))


_NO_PARTS: Final = Parts((), (), (), (), ())


def _members(subschema: Subschema, keyword: str) -> tuple[Subschema, ...]:
    return tuple(subschema.below(keyword, index) for index in range(len(subschema.schema.get(keyword, ()))))


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
