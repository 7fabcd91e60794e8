"""Compilation of leaves: resolves the distance and the normalisers of single values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.distances.base import with_floor
from arbitre.errors import Problem, SchemaError
from arbitre.normalizers import AS_WRITTEN, NFC, normalize
from arbitre.schema.loading.annotations import Annotation
from arbitre.schema.nodes import Leaf, ScalarBranch, kinds_after
from arbitre.values import SCALARS, Kind, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arbitre.catalogue import Catalogue
    from arbitre.distances.base import Distance
    from arbitre.normalizers import Normalizer
    from arbitre.schema.compiling.branches import Branch
    from arbitre.schema.loading.annotations import Annotations
    from arbitre.values import Json


Tags = frozenset[int] | None
"""The branches of the enclosing object under which a branch holds (None for any)."""

TaggedBranch = tuple[Tags, "Branch"]

_BY_FORMAT: Final = {
    "date": "date",
    "date-time": "date",
    "duration": "duration",
    "time": "time",
    "uuid": "uuid",
    "iban": "iban",
    "isbn": "isbn",
    "doi": "doi",
    "email": "email",
    "idn-email": "email",
    "uri": "uri",
    "iri": "uri",
}
"""Default distance of the strings of a format."""
_NO_TEXT: Final = frozenset({Kind.NULL, Kind.BOOLEAN, Kind.NUMBER})
_NAMES: Final = {
    Kind.NULL: "null",
    Kind.BOOLEAN: "booleans",
    Kind.NUMBER: "numbers",
    Kind.STRING: "strings",
    Kind.ARRAY: "lists",
    Kind.OBJECT: "objects",
}


def default_distance(branch: Branch, kind: Kind) -> str:
    """Return the name of the default distance of a kind, by type and format."""
    if branch.enum is not None:
        return "exact"
    if kind is Kind.STRING:
        return _BY_FORMAT.get(branch.format or "", "yujian-bo")
    if kind is Kind.NUMBER:
        return "exact" if branch.integer else "relative"
    return "exact"


@dataclass(frozen=True, slots=True)
class _BuiltBranch:
    """A branch for single values with its distance and normalisers built; `distance` is None for the default."""

    tags: Tags
    declared: Branch
    distance: Distance | None
    normalizers: tuple[Normalizer, ...]


@dataclass(frozen=True, slots=True)
class LeafBuilder:
    """Builds the leaves of a schema; adds errors to `problems`."""

    distances: Catalogue[Distance]
    normalizers: Catalogue[Normalizer]
    problems: list[Problem]
    built: dict[tuple[str, str | None], tuple[Normalizer, ...]] = field(default_factory=dict)
    """Normalisers by the place of their setting; an authority file is read once."""

    def normalizers_at(self, common: Annotations, branches: Iterable[Branch]) -> tuple[Normalizer, ...]:
        """Return the normalisers that apply to every value of a position: NFC first, unless it is turned off."""
        own = self.normalizers_of(common.get("normalize"))
        declared = (self.normalizers_of(branch.settings.get("normalize")) for branch in branches)
        off = any(normalizer.name == AS_WRITTEN for normalizer in (*own, *chain.from_iterable(declared)))
        return own if off else (NFC, *own)

    def normalizers_of(self, setting: Annotation | None) -> tuple[Normalizer, ...]:
        """Return the normalisers of a setting, in order."""
        if setting is None:
            return ()
        key = (setting.pointer, setting.file)
        if key not in self.built:
            self.built[key] = self._normalizers(setting)
        return self.built[key]

    def _normalizers(self, setting: Annotation) -> tuple[Normalizer, ...]:
        """Return the normalisers that a setting names, in order; errors are added to `problems`."""
        several = isinstance(setting.value, list)
        choices = setting.value if several else [setting.value]
        first = () if AS_WRITTEN in choices or {AS_WRITTEN: {}} in choices else (NFC,)
        normalizers: list[Normalizer] = []
        for index, choice in enumerate(choices):
            place = f"{setting.pointer}/{index}" if several else setting.pointer
            try:
                normalizer = self.normalizers.build(
                    _beside(choice, setting.file), pointer=place, normalize=partial(normalize, first)
                )
                normalizers.append(
                    normalizer
                    if normalizer.after is None
                    else _located(normalizer.after, (*first, *normalizers), place)
                )
            except SchemaError as error:
                self.problems.extend(error.located(file=setting.file).problems)
        return tuple(normalizers)

    @property
    def exact(self) -> Leaf:
        return Leaf(self.distances.build("exact"))

    def with_decimals(self, site_branches: list[TaggedBranch]) -> list[TaggedBranch]:
        """Return the branches of a position. Texts that are decimal numbers are normalised to numbers.

        They stay texts if `normalize` is set, if another branch accepts any text, a list or an object, or if the
        `distance` does not compare numbers.
        """
        branches = [branch for _, branch in site_branches]
        plain = all(branch.decimal or (branch.kinds is not None and branch.kinds <= _NO_TEXT) for branch in branches)
        settings = [branch.settings for branch in branches]
        choices = [here["distance"].value for here in settings if "distance" in here]
        if (
            not plain
            or not any(branch.decimal for branch in branches)
            or any("normalize" in here for here in settings)
            or not all(self._compares_numbers(choice) for choice in choices)
        ):
            return site_branches
        normalize = {"normalize": Annotation("decimal", "", None)}
        numbers = frozenset({Kind.NUMBER})
        return [
            (
                tags,
                replace(
                    branch,
                    kinds=branch.kinds | numbers if branch.decimal and branch.kinds else branch.kinds,
                    settings=branch.settings | normalize,
                ),
            )
            for tags, branch in site_branches
        ]

    def _compares_numbers(self, choice: Json) -> bool:
        try:
            return Kind.NUMBER in self.distances.build(choice).kinds
        except SchemaError:  # reported when the distance is built
            return False

    def leaf_of_any_kind(self, common: Annotations, branches: Sequence[Branch]) -> Leaf:
        """Return the leaf of a position where every value is compared as one leaf."""
        setting, normalizers = common["distance"], self.normalizers_at(common, branches)
        enum = next((branch.enum for branch in branches if branch.enum is not None), None)
        distance = self._distance(setting, enum, normalizers)
        kinds = frozenset[Kind]().union(*(_kinds(branch, normalizers, scalar=False) for branch in branches))
        if not kinds & distance.kinds:
            self._report_unsupported(setting, distance, kinds)
        return Leaf(_floored(distance, common), normalizers)

    def scalars(
        self, site_branches: Sequence[TaggedBranch], common: Annotations
    ) -> Mapping[Kind, tuple[ScalarBranch, ...]]:
        """Return the scalar branches by kind; a kind without a branch uses its default distance.

        The normalisers in `common` apply to all branches first, then a branch's own normalisers. A floor applies
        to the declared kinds and to the kinds that normalisers make of them.
        """
        first = self.normalizers_at(common, (branch for _, branch in site_branches))
        valued = [branch for _, branch in site_branches if branch.kinds != frozenset({Kind.NULL})]
        enum = valued[0].enum if len(valued) == 1 else None
        branches = [
            self._built(tags, branch, enum, first, own="normalize" not in common)
            for tags, branch in site_branches
            if branch.kinds is None or any(kind.scalar for kind in branch.kinds)
        ]
        self._check_branches(branches, first)
        made = frozenset[Kind]().union(*(_kinds(branch.declared, first) for branch in branches))
        return {kind: self._choices(kind, branches, first, common if kind in made else {}) for kind in sorted(SCALARS)}

    def _built(
        self, tags: Tags, branch: Branch, enum: tuple[Json, ...] | None, first: tuple[Normalizer, ...], *, own: bool
    ) -> _BuiltBranch:
        """Return a branch with its distance; `enum` is that of the only branch that is not null, which null shares."""
        setting, distance = branch.settings.get("distance"), None
        normalizers = self.normalizers_of(branch.settings.get("normalize")) if own else ()
        if setting is not None:
            distance = self._distance(setting, enum if branch.enum is None else branch.enum, first + normalizers)
        return _BuiltBranch(tags, branch, distance, normalizers)

    def _choices(
        self, kind: Kind, branches: list[_BuiltBranch], first: tuple[Normalizer, ...], default: Annotations
    ) -> tuple[ScalarBranch, ...]:
        """Return the leaves that compare values of a kind: one for each branch with this kind, else the default."""
        taking = [branch for branch in branches if branch.declared.takes(kind)]
        if not taking and first:  # normalisers may turn a value into a kind that is not declared
            taking = [branch for branch in branches if branch.distance is not None and kind in branch.distance.kinds]
        choices = []
        for branch in taking:
            distance = branch.distance
            if distance is None or kind not in distance.kinds:
                distance = self.distances.build(default_distance(branch.declared, kind))
            distance = _floored(distance, branch.declared.settings)
            values = None
            if len(taking) > 1 and branch.declared.enum is not None:
                values = frozenset(canonical(normalize(first, value)) for value in branch.declared.enum)
            metric_if = self._metric_if(distance, branch, first) if len(branches) == 1 else None
            choices.append(ScalarBranch(Leaf(distance, branch.normalizers, metric_if), values, branch.tags))
        return tuple(choices) or (ScalarBranch(Leaf(_floored(self.distances.build(_BY_KIND[kind]), default))),)

    def _metric_if(self, distance: Distance, branch: _BuiltBranch, first: tuple[Normalizer, ...]) -> str | None:
        """Return the condition under which the distance of a position's only branch is a metric."""
        normalizers = first + branch.normalizers
        values = None
        if branch.declared.enum is not None:
            values = [normalize(normalizers, value) for value in branch.declared.enum]
        return condition(distance, values, integer=branch.declared.integer and all(one.implied for one in normalizers))

    def _check_branches(self, branches: list[_BuiltBranch], first: tuple[Normalizer, ...]) -> None:
        """Report each distance that supports no value of the branches that use it.

        The normalisers in `first` apply before a branch is chosen by kind, a branch's own normalisers after.
        """
        for branch in branches:
            setting, distance = branch.declared.settings.get("distance"), branch.distance
            if setting is None or distance is None:
                continue
            sharing = [other for other in branches if other.declared.settings.get("distance") == setting]
            here = [(other.normalizers, _kinds(other.declared, first)) for other in sharing]
            single = distance.kinds & SCALARS  # branches are chosen for single values only
            if not any(kinds_after(own, kinds & single) & distance.kinds for own, kinds in here):
                self._report_unsupported(
                    setting, distance, {kind for own, kinds in here for kind in kinds_after(own, kinds)}
                )

    def _report_unsupported(self, setting: Annotation, distance: Distance, occurring: Iterable[Kind]) -> None:
        """Report a distance that supports none of the kinds found after normalisation."""
        kinds = set(occurring) - {Kind.NULL}
        if not kinds:
            return
        here = " and ".join(_NAMES[kind] for kind in sorted(kinds))
        supported = " and ".join(_NAMES[kind] for kind in sorted(distance.kinds))
        message = f"Expected a `distance` for {here}, got {distance.name}, which compares {supported}"
        hint = 'Choose another distance, or normalise the values first, for example with "normalize": ["number"].'
        if kinds & distance.kinds:
            message = f"`distance` {distance.name} cannot compare the {here} that normalisers return for single values"
            hint = 'To compare the value as one leaf, declare a list too, for example "type": ["string", "array"].'
        self.problems.append(setting.problem(message, hint))

    def _distance(
        self, setting: Annotation, enum: tuple[Json, ...] | None, normalizers: tuple[Normalizer, ...]
    ) -> Distance:
        """Return the distance that a setting names; an error is added to `problems`."""
        choice: Json = setting.value
        apply: Callable[[Json], Json] | None = partial(normalize, normalizers)
        if choice == "ordinal" and enum is not None:  # the enum defines the order of the ranks
            ranks = [normalize(normalizers, value) for value in enum if value is not None]
            choice, apply = {"ordinal": {"order": list({canonical(rank): rank for rank in ranks}.values())}}, None
        try:
            return self.distances.build(choice, pointer=setting.pointer, normalize=apply)
        except SchemaError as error:
            self.problems.extend(error.located(file=setting.file).problems)
            return self.distances.build("exact")


_BY_KIND: Final = {
    Kind.NULL: "exact",
    Kind.BOOLEAN: "exact",
    Kind.NUMBER: "relative",
    Kind.STRING: "yujian-bo",
}


def _floored(distance: Distance, settings: Annotations) -> Distance:
    """Return the distance with the floor of the settings, if there is one."""
    return with_floor(distance, settings["floor"].value) if "floor" in settings else distance


def _kinds(branch: Branch, normalizers: tuple[Normalizer, ...], *, scalar: bool = True) -> frozenset[Kind]:
    """Return the kinds that a branch's values can have after normalisation.

    Args:
        branch: The branch.
        normalizers: Applied in order.
        scalar: Whether to consider only single values.
    """
    if branch.enum is not None:
        values = (value for value in branch.enum if kind_of(value).scalar or not scalar)
        return frozenset(kind_of(normalize(normalizers, value)) for value in values)
    kinds = frozenset(Kind) if branch.kinds is None else branch.kinds
    return kinds_after(normalizers, (kind for kind in kinds if kind.scalar or not scalar))


def _beside(choice: Json, file: str | None) -> Json:
    """Return the choice of a normaliser, with the path of its file relative to the file of the annotation."""
    match choice:
        case {"authority": {"file": str(name), **options}} if len(choice) == 1 and file is not None and name:
            return {"authority": {**options, "file": str(Path(file).parent / name)}}
    return choice


def _located(
    after: Callable[[Sequence[Normalizer]], Normalizer], before: Sequence[Normalizer], place: str
) -> Normalizer:
    try:
        return after(tuple(before))
    except SchemaError as error:  # pointers are relative to the choice
        raise SchemaError(*(replace(one, pointer=place + (one.pointer or "")) for one in error.problems)) from error


# Conditions under which a distance is a metric on the values that a schema allows, but not in general.


MOST: Final = 32
"""Maximum number of enum values for checking the triangle inequality on all triples."""

ROUNDING: Final = 1e-12
"""Tolerance for rounding errors in the triangle inequality."""

LISTED: Final = "every value is in the enum"
ALL_INTEGERS: Final = "every number is an integer"


def condition(distance: Distance, values: Sequence[Json] | None, *, integer: bool) -> str | None:
    """Return the condition under which a distance is a metric on the values of a position; None if there is none.

    A custom distance is not called; its declared facts decide.

    Args:
        distance: The distance.
        values: All normalised values that the schema allows; None for any value.
        integer: Whether the schema allows only integers.
    """
    facts = distance.facts
    if facts.metric:
        return None
    if values is not None:
        own = list({canonical(value): value for value in values if kind_of(value) in distance.kinds}.values())
        if distance.custom:
            two = len(own) <= 2 and facts.identity and facts.symmetric and facts.separating  # noqa: PLR2004
            return LISTED if two else None
        return LISTED if len(own) <= MOST and _metric(distance, own) else None
    if integer and (distance.name, True) in (
        ("tolerance", distance.options.get("within", 1) < 1 and "relative" not in distance.options),
        ("rounded", distance.options.get("grid", 2) <= 1),
    ):
        return ALL_INTEGERS
    return None


def _metric(distance: Distance, values: Sequence[Json]) -> bool:
    """Return whether a distance is a metric on these distinct values."""
    count = len(values)
    table = distance.pool(values).distances(*np.divmod(np.arange(count * count), count)).reshape(count, count)
    apart = table[~np.eye(count, dtype=np.bool_)]
    return bool(
        (table == table.T).all()
        and (table.diagonal() == 0.0).all()
        and (apart > 0.0).all()
        and (table[:, None, :] <= table[:, :, None] + table[None, :, :] + ROUNDING).all()
    )
