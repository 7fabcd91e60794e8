"""What is resolved for single values: their distance and their normalisers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import Problem, SchemaError
from arbitre.schema.compiling.metric_domains import condition
from arbitre.schema.nodes import Leaf, ScalarBranch
from arbitre.schema.reach import kinds_after
from arbitre.values import Kind, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from arbitre.catalogue import Catalogue
    from arbitre.distances.base import Distance
    from arbitre.normalizers import Normalizer
    from arbitre.schema.compiling.alternative import Alternative
    from arbitre.schema.loading.vocabulary import Annotation, Annotations
    from arbitre.values import Json

Tags = frozenset[int] | None
"""The branches of the enclosing object under which an alternative holds (None for any)."""

Tagged = tuple[Tags, "Alternative"]

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


def default_distance(shape: Alternative, kind: Kind) -> str:
    """The name of the distance of a kind of value where none is chosen: by type and format."""
    if shape.enum is not None:
        return "exact"
    if kind is Kind.STRING:
        return "date" if shape.format in _DATES else "yujian-bo"
    if kind is Kind.NUMBER:
        return "exact" if shape.integer else "relative"
    return "exact"


@dataclass(frozen=True, slots=True)
class _Branch:
    """A scalar branch with its choices built: `distance` is None where the default holds."""

    tags: Tags
    shape: Alternative
    distance: Distance | None
    normalizers: tuple[Normalizer, ...]


@dataclass(frozen=True, slots=True)
class LeafBuilder:
    """Builds the leaves of a schema; what is wrong is added to `problems`."""

    distances: Catalogue[Distance]
    normalizers: Catalogue[Normalizer]
    problems: list[Problem]

    def normalizers_of(self, setting: Annotation | None) -> tuple[Normalizer, ...]:
        """The normalisers of a setting, in order."""
        if setting is None:
            return ()
        several = isinstance(setting.value, list)
        found = []
        for index, choice in enumerate(setting.value if several else [setting.value]):
            place = f"{setting.pointer}/{index}" if several else setting.pointer
            try:
                found.append(self.normalizers.build(choice, pointer=place))
            except SchemaError as error:
                self.problems.extend(error.located(file=setting.file).problems)
        return tuple(found)

    @property
    def exact(self) -> Leaf:
        return Leaf(self.distances.build("exact"))

    def whole(self, common: Annotations, shapes: Sequence[Alternative]) -> Leaf:
        """The leaf of a position that is one leaf whatever stands there."""
        setting, normalizers = common["distance"], self.normalizers_of(common.get("normalize"))
        enum = next((shape.enum for shape in shapes if shape.enum is not None), None)
        distance = self._distance(setting, enum, normalizers)
        found = frozenset[Kind]().union(*(_kinds(shape, normalizers, scalar=False) for shape in shapes))
        if not found & distance.kinds:
            self._refuse(setting, distance, found)
        return Leaf(distance, normalizers)

    def scalars(self, alternatives: Sequence[Tagged], common: Annotations) -> Mapping[Kind, tuple[ScalarBranch, ...]]:
        """The scalar branches by kind; a kind that no branch takes is compared by its own default.

        The normalisers in `common` come first, for all branches; a branch keeps those that are its own.
        """
        first = self.normalizers_of(common.get("normalize"))
        branches = [
            self._branch(tags, shape, first, own="normalize" not in common)
            for tags, shape in alternatives
            if shape.kinds is None or any(kind.scalar for kind in shape.kinds)
        ]
        self._check_branches(branches, first)
        return {kind: self._choices(kind, branches, first) for kind in SCALARS}

    def _branch(self, tags: Tags, shape: Alternative, first: tuple[Normalizer, ...], *, own: bool) -> _Branch:
        setting, distance = shape.settings.get("distance"), None
        normalizers = self.normalizers_of(shape.settings.get("normalize")) if own else ()
        if setting is not None:
            distance = self._distance(setting, shape.enum, first + normalizers)
        return _Branch(tags, shape, distance, normalizers)

    def _choices(self, kind: Kind, branches: list[_Branch], first: tuple[Normalizer, ...]) -> tuple[ScalarBranch, ...]:
        taking = [branch for branch in branches if branch.shape.takes(kind)]
        if not taking and first:  # what normalisers make of a value may be of a kind that is not declared
            taking = [branch for branch in branches if branch.distance is not None and kind in branch.distance.kinds]
        choices = []
        for branch in taking:
            distance = branch.distance
            if distance is None or kind not in distance.kinds:
                distance = self.distances.build(default_distance(branch.shape, kind))
            values = None
            if len(taking) > 1 and branch.shape.enum is not None:
                values = frozenset(canonical(_normalized(value, first)) for value in branch.shape.enum)
            metric_if = self._metric_if(distance, branch, first) if len(branches) == 1 else None
            choices.append(ScalarBranch(Leaf(distance, branch.normalizers, metric_if), values, branch.tags))
        return tuple(choices) or (ScalarBranch(Leaf(self.distances.build(_BY_KIND[kind]))),)

    def _metric_if(self, distance: Distance, branch: _Branch, first: tuple[Normalizer, ...]) -> str | None:
        """The condition under which the distance of the only branch of a position is a metric."""
        normalizers = first + branch.normalizers
        values = None
        if branch.shape.enum is not None:
            values = [_normalized(value, normalizers) for value in branch.shape.enum]
        return condition(distance, values, integer=branch.shape.integer and not normalizers)

    def _check_branches(self, branches: list[_Branch], first: tuple[Normalizer, ...]) -> None:
        """Refuse a distance that measures nothing on any of the branches that have it.

        The normalisers in `first` come before it is chosen by kind, a branch's own after that.
        """
        for branch in branches:
            setting, distance = branch.shape.settings.get("distance"), branch.distance
            if setting is None or distance is None:
                continue
            sharing = [other for other in branches if other.shape.settings.get("distance") == setting]
            here = [(other.normalizers, _kinds(other.shape, first)) for other in sharing]
            single = distance.kinds & frozenset(SCALARS)  # it is chosen for single values
            if not any(kinds_after(own, kinds & single) & distance.kinds for own, kinds in here):
                self._refuse(setting, distance, {kind for own, kinds in here for kind in kinds_after(own, kinds)})

    def _refuse(self, setting: Annotation, distance: Distance, found: Iterable[Kind]) -> None:
        """Report a distance that compares nothing here: normalisers leave only values of the kinds found."""
        kinds = set(found) - {Kind.NULL}
        if not kinds:
            return
        here = " and ".join(_NAMES[kind] for kind in sorted(kinds))
        wanted = " and ".join(_NAMES[kind] for kind in sorted(distance.kinds))
        message = f"Expected `distance` to be one for {here}, got {distance.name}, which compares {wanted}"
        hint = 'Choose another, or normalise the values first (for instance "normalize": ["number"]).'
        if kinds & distance.kinds:
            message = (
                f"`distance` cannot compare the {here} that normalisers make of single values, got {distance.name}"
            )
            hint = (
                'Declare a list here too, for instance "type": ["string", "array"], to compare the value as one leaf.'
            )
        self.problems.append(setting.problem(message, hint))

    def _distance(
        self, setting: Annotation, enum: tuple[Json, ...] | None, normalizers: tuple[Normalizer, ...]
    ) -> Distance:
        choice = setting.value
        if choice == "ordinal" and enum is not None:  # the order of the enum is the order of the ranks
            ranks = [_normalized(value, normalizers) for value in enum if value is not None]
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


def _kinds(shape: Alternative, normalizers: tuple[Normalizer, ...], *, scalar: bool = True) -> frozenset[Kind]:
    """The kinds that an alternative's values, or only its single values, can have once they are normalised."""
    if shape.enum is not None:
        values = (value for value in shape.enum if kind_of(value).scalar or not scalar)
        return frozenset(kind_of(_normalized(value, normalizers)) for value in values)
    kinds = frozenset(Kind) if shape.kinds is None else shape.kinds
    return kinds_after(normalizers, (kind for kind in kinds if kind.scalar or not scalar))


def _normalized(value: Any, normalizers: tuple[Normalizer, ...]) -> Any:  # noqa: ANN401  (any JSON value)
    for normalizer in normalizers:
        value = normalizer.apply(value)
    return value
