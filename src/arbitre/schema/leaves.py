"""What is resolved for single values: their distance and their normalisers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import Problem, SchemaError
from arbitre.schema.nodes import Choice, Leaf
from arbitre.values import Kind, canonical

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.catalogue import Catalogue
    from arbitre.distances.base import Distance
    from arbitre.normalizers import Normalizer
    from arbitre.schema.expand import Shape
    from arbitre.schema.vocabulary import Setting, Settings

SCALARS: Final = (Kind.NULL, Kind.BOOLEAN, Kind.NUMBER, Kind.STRING)
_DATES: Final = frozenset({"date", "date-time"})
_NAMES: Final = {
    Kind.NULL: "null",
    Kind.BOOLEAN: "booleans",
    Kind.NUMBER: "numbers",
    Kind.STRING: "texts",
    Kind.ARRAY: "lists",
    Kind.OBJECT: "objects",
}


def default_distance(shape: Shape, kind: Kind) -> str:
    """The name of the distance of a kind of value where none is chosen: by type and format."""
    if shape.enum is not None:
        return "exact"
    if kind is Kind.STRING:
        return "date" if shape.format in _DATES else "yujian-bo"
    if kind is Kind.NUMBER:
        return "exact" if shape.integer else "relative"
    return "exact"


@dataclass(frozen=True, slots=True)
class Leaves:
    """Builds the leaves of a schema; what is wrong is added to `problems`."""

    distances: Catalogue[Distance]
    normalizers: Catalogue[Normalizer]
    problems: list[Problem]

    def normalizers_of(self, setting: Setting | None) -> tuple[Normalizer, ...]:
        if setting is None:
            return ()
        several = isinstance(setting.value, list)
        found = []
        for index, choice in enumerate(setting.value if several else [setting.value]):
            try:
                found.append(
                    self.normalizers.build(choice, pointer=f"{setting.pointer}/{index}" if several else setting.pointer)
                )
            except SchemaError as error:
                self.problems.extend(error.located(file=setting.file).problems)
        return tuple(found)

    @property
    def exact(self) -> Leaf:
        return Leaf(self.distances.build("exact"))

    def whole(self, setting: Setting, common: Settings, shapes: list[Shape]) -> Leaf:
        """The leaf of a position that is one leaf whatever stands there."""
        normalizers = self.normalizers_of(common.get("normalize"))
        order = next((shape.enum for shape in shapes if shape.enum is not None), None)
        return Leaf(self._distance(setting, order, normalizers), normalizers)

    def scalars(
        self, alternatives: list[tuple[int | None, Shape]], common: Settings
    ) -> Mapping[Kind, tuple[Choice, ...]]:
        """The scalar branches by kind; a kind that no branch takes is compared by its own default."""
        return {kind: self._choices(kind, alternatives, common) for kind in SCALARS}

    def _choices(
        self, kind: Kind, alternatives: list[tuple[int | None, Shape]], common: Settings
    ) -> tuple[Choice, ...]:
        taking = [(tag, shape) for tag, shape in alternatives if shape.takes(kind)]
        choices: list[Choice] = []
        for tag, shape in taking:
            own = {key: setting for key, setting in shape.settings.items() if common.get(key) != setting}
            normalizers = self.normalizers_of(own.get("normalize"))
            normal = self.normalizers_of(common.get("normalize")) + normalizers
            setting = shape.settings.get("distance")
            leaf = Leaf(self.distances.build(default_distance(shape, kind)), normalizers)
            if setting is not None:
                distance = self._distance(setting, shape.enum, normal)
                if kind in distance.kinds:
                    leaf = Leaf(distance, normalizers)
                elif not normal and shape.kinds is not None and not shape.kinds & (distance.kinds | {Kind.NULL}):
                    self._misplaced(setting, distance, shape.kinds)
            values = None
            if len(taking) > 1 and shape.enum is not None:
                values = frozenset(canonical(_normalized(value, normal)) for value in shape.enum)
            choices.append(Choice(leaf, values, None if tag is None else frozenset({tag})))
        return tuple(choices) or (Choice(Leaf(self.distances.build(_BY_KIND[kind]))),)

    def _misplaced(self, setting: Setting, distance: Distance, kinds: frozenset[Kind]) -> None:
        here = " and ".join(_NAMES[kind] for kind in sorted(kinds))
        wanted = " and ".join(_NAMES[kind] for kind in sorted(distance.kinds))
        problem = Problem(
            f"Expected `distance` to be one for {here}, got {distance.name}, which compares {wanted}",
            setting.file,
            None,
            setting.pointer,
            'Choose another, or normalise the values first (for instance "normalize": ["number"]).',
        )
        if problem not in self.problems:
            self.problems.append(problem)

    def _distance(
        self, setting: Setting, order: tuple[Any, ...] | None, normalizers: tuple[Normalizer, ...]
    ) -> Distance:
        choice = setting.value
        if choice == "ordinal" and order is not None:  # the order of the enum is the order of the ranks
            ranks = [_normalized(value, normalizers) for value in order]
            choice = {"ordinal": {"order": list({canonical(rank): rank for rank in ranks}.values())}}
        try:
            return self.distances.build(choice, pointer=setting.pointer)
        except SchemaError as error:
            self.problems.extend(error.located(file=setting.file).problems)
            return self.distances.build("exact")


_BY_KIND: Final = {
    Kind.NULL: "exact",
    Kind.BOOLEAN: "exact",
    Kind.NUMBER: "relative",
    Kind.STRING: "yujian-bo",
}


def _normalized(value: Any, normalizers: tuple[Normalizer, ...]) -> Any:  # noqa: ANN401  (any JSON value)
    for normalizer in normalizers:
        value = normalizer.apply(value)
    return value
