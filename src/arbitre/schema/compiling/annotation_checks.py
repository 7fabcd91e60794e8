"""What is said of a position as a whole, over all its alternatives, and whether it can act there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from arbitre.schema.loading.vocabulary import KEYWORD
from arbitre.values import Kind, canonical

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.errors import Problem
    from arbitre.schema.compiling.alternative import Alternative
    from arbitre.schema.loading.vocabulary import Annotation, Annotations

_CONTAINERS: Final = frozenset({Kind.ARRAY, Kind.OBJECT})


@dataclass(frozen=True, slots=True)
class Position:
    """The alternatives of one position.

    `common` are the settings that speak of the whole: those on which every alternative but null agrees. `declared`
    are the kinds that are named; `whole` says that every value here is one leaf, whatever its kind. `root` says that
    this is the root of the schema.
    """

    shapes: Sequence[Alternative]
    common: Annotations
    declared: frozenset[Kind]
    open: bool
    root: bool = False

    @classmethod
    def of(cls, shapes: Sequence[Alternative], *, root: bool = False) -> Self:
        valued = [shape for shape in shapes if shape.kinds != frozenset({Kind.NULL})] or shapes
        first = valued[0].settings
        common = {key: first[key] for key in first if all(_same(key, first[key], shape) for shape in valued)}
        declared = frozenset(kind for shape in shapes for kind in shape.kinds or ())
        return cls(shapes, common, declared, any(shape.kinds is None for shape in shapes), root)

    @property
    def whole(self) -> bool:
        return "distance" in self.common and (self.open or bool(self.declared & _CONTAINERS))

    def setting(self, key: str) -> Annotation | None:
        """The first setting under a key."""
        return next((shape.settings[key] for shape in self.shapes if key in shape.settings), None)

    def problems(self) -> Iterator[Problem]:
        """The settings that could never act, or that only a part of the alternatives has."""
        if self.whole:
            yield from self._inside(self.common["distance"])
        for key in ("distance", "normalize", "match", "entries", "absent"):
            settings = [shape.settings[key] for shape in self.shapes if key in shape.settings]
            for setting in {(one.pointer, one.file): one for one in settings}.values():
                carrying = [shape for shape in self.shapes if shape.settings.get(key) == setting]
                problem = self._problem(key, setting, carrying)
                if problem is not None:
                    yield problem

    def _inside(self, distance: Annotation) -> Iterator[Problem]:
        """The annotations written inside of what is one leaf; those of definitions it refers to may serve elsewhere."""
        place = distance.pointer.removesuffix(f"{KEYWORD}/distance")
        for located in (located for shape in self.shapes for located in shape.below()):
            written = located.file == distance.file and located.pointer.startswith(place)
            if written and isinstance(located.schema, dict) and KEYWORD in located.schema:
                hint = "Normalise the whole, or leave its `distance` out."
                yield located.problem(f"`{KEYWORD}` says nothing inside of what is one leaf", KEYWORD, hint=hint)

    def _problem(self, key: str, setting: Annotation, carrying: list[Alternative]) -> Problem | None:
        kinds = frozenset(kind for shape in carrying for kind in (shape.kinds if shape.kinds is not None else Kind))
        shared = key in self.common
        message: str | None = None
        hint: str | None = "Say it on the union."
        if key in ("match", "entries"):
            if Kind.ARRAY not in kinds and not (key == "entries" and self.root and setting.value):
                message, hint = f"`{key}` is for lists, and no list is declared here", None
                if key == "entries":
                    hint = 'The root may be marked too, with `"entries": true`.'
            elif self.whole and _together(setting, self.common["distance"]):
                message, hint = f"`{key}` says nothing of a list whose `distance` makes it one leaf", None
        elif key == "absent" and not shared:
            message = "`absent` differs between the branches of a union"
        elif key in ("distance", "normalize") and self.whole and not shared:
            message = f"`{key}` is given on a branch of what is one leaf"
        elif key == "normalize" and not self.whole and not any(kind.scalar for kind in kinds):
            message = "`normalize` is for single values, and none is declared here"
            hint = "Put it on the values inside, or give the list or object a `distance` that makes it one leaf."
        elif key == "distance" and not shared and kinds & _CONTAINERS:
            message = "`distance` makes a list or an object one leaf, and stands on one branch only"
        return None if message is None else setting.problem(message, hint)


def _same(key: str, setting: Annotation, shape: Alternative) -> bool:
    other = shape.settings.get(key)
    return other is not None and (other == setting or canonical(other.value) == canonical(setting.value))


def _together(setting: Annotation, other: Annotation) -> bool:
    """Whether two settings stand in one annotation."""
    return (setting.pointer.rpartition("/")[0], setting.file) == (other.pointer.rpartition("/")[0], other.file)
