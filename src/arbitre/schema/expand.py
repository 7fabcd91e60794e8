"""The alternatives of a subschema, with references, combinations and conditions resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from arbitre.errors import Problem, SchemaError
from arbitre.schema.shape import NOTHING, Shape, Subschemas, both, declared, enriched, merged, shape_of
from arbitre.schema.vocabulary import settings_of
from arbitre.values import canonical

if TYPE_CHECKING:
    from arbitre.schema.load import Located

LIMIT: Final = 256
"""More alternatives than this in one place are refused: combinations multiply."""

_CIRCLE: Final = "The references run in a circle without ever reaching a value"
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(slots=True)
class Expander:
    """Expands subschemas, each once; what is wrong on the way is added to `problems`."""

    problems: list[Problem]
    _known: dict[Subschemas, list[Shape]] = field(default_factory=dict)

    def alternatives(self, subschemas: Subschemas) -> list[Shape]:
        """The alternatives of a value of which all these groups hold, in order."""
        if subschemas not in self._known:
            found = [Shape()]
            for group in subschemas:
                shapes = [shape for located in group for shape in self._expand(located, frozenset())]
                found = self._all(found, shapes, group[0])
            if any(located.soft for group in subschemas for located in group):
                found = [declared(shape) for shape in found]
            self._known[subschemas] = found
        return self._known[subschemas]

    def _expand(self, located: Located, trail: frozenset[Located]) -> list[Shape]:
        """The alternatives of one subschema.

        References and `allOf` must hold together; `anyOf` and `oneOf` are alternatives; `then` and `else` both add
        what they declare. A setting nearer to the field overrides the same setting of what it refers to.
        """
        schema = located.schema
        if not isinstance(schema, dict):
            return [Shape() if schema else NOTHING]
        if located in trail:
            self.problems.append(located.problem(_CIRCLE))
            return [Shape()]
        trail |= {located}
        found = [shape_of(located, settings_of(located, self.problems))]
        for keyword in _REFERENCES:
            if keyword in schema:
                try:
                    target = located.follow(keyword)
                except SchemaError as error:
                    self.problems.extend(error.problems)
                    continue
                found = self._all(found, self._expand(target, trail), located)
        if "$ref" in schema and located.legacy:
            return found  # before 2019-09 everything beside $ref is void; our annotation is kept
        for index in range(len(schema.get("allOf", ()))):
            found = self._all(found, self._expand(located.below("allOf", index), trail), located)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                indices = range(len(schema[keyword]))
                inner = (self._expand(located.below(keyword, index), trail) for index in indices)
                branches = merged([shape for shapes in inner for shape in shapes])
                self._check_branches(found, branches)
                found = self._all(found, branches, located)
        extras = self._conditional(located, trail)
        self._check_circles(located, trail)
        return [enriched(shape, extras) for shape in found] if extras else found

    def _all(self, left: list[Shape], right: list[Shape], located: Located) -> list[Shape]:
        """Every combination of one alternative of either side that can hold together; the left one is nearer."""
        found: list[Shape] = []
        for near in left:
            for far in right:
                shape = both(near, far)
                if shape.possible:
                    found.append(shape)
            if len(found) > LIMIT:
                message = f"Expected at most {LIMIT} alternatives in one place, got more"
                hint = "Flatten the combinations of anyOf, oneOf and allOf."
                self.problems.append(located.problem(message, hint=hint))
                return found[:1]
        return found or [both(left[0], right[0])]

    def _check_branches(self, outer: list[Shape], branches: list[Shape]) -> None:
        """A setting may stand on the union or on its branch, not differently on both: neither is nearer to the use."""
        for key in sorted({key for shape in outer for key in shape.settings}):
            setting = next(shape.settings[key] for shape in outer if key in shape.settings)
            for branch in branches:
                other = branch.settings.get(key)
                if other is not None and canonical(other.value) != canonical(setting.value):
                    message = f"`{key}` is given on the union and, differently, on its branch ({other.pointer})"
                    self.problems.append(setting.problem(message, "Keep one of the two."))

    def _check_circles(self, located: Located, trail: frozenset[Located]) -> None:
        """Refuse circles through what is no alternative, but holds of the same value: nothing could be validated."""
        aside = Expander([])
        for keyword in ("if", "not"):
            if keyword in located.schema:
                aside._expand(located.below(keyword), trail)
        self.problems.extend(problem for problem in aside.problems if problem.message == _CIRCLE)

    def _conditional(self, located: Located, trail: frozenset[Located]) -> list[Shape]:
        """What conditions add when they hold: both sides of if/then/else, and dependent schemas."""
        schema = located.schema
        places: list[tuple[str, ...]] = [(key,) for key in ("then", "else") if "if" in schema and key in schema]
        for keyword in ("dependentSchemas", "dependencies"):
            inner = schema.get(keyword, {})
            places += [(keyword, name) for name, value in inner.items() if isinstance(value, dict)]
        return [shape for place in places for shape in self._expand(located.below(*place), trail)]
