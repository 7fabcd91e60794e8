"""Compilation of a schema to a table of sites: resolves references, keywords, names and weights."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from math import log
from typing import TYPE_CHECKING, Final

import regex

from arbitre.errors import SchemaError
from arbitre.paths import STAR
from arbitre.schema.compiling.alternative import Alternative, Subschemas
from arbitre.schema.compiling.alternatives import MAX_ALTERNATIVES as ALTERNATIVES
from arbitre.schema.compiling.alternatives import Expander
from arbitre.schema.compiling.annotation_checks import Position
from arbitre.schema.compiling.leaves import LeafBuilder, Tags
from arbitre.schema.loading.vocabulary import FIELD_KEYS, Annotation, Annotations
from arbitre.schema.nodes import FieldNode, ListNode, ObjectBranch, ObjectNode, Site
from arbitre.values import Absence, Kind, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arbitre.catalogue import Catalogue
    from arbitre.distances.base import Distance
    from arbitre.errors import Problem
    from arbitre.matching import Matcher
    from arbitre.normalizers import Normalizer
    from arbitre.schema.compiling.leaves import Tagged
    from arbitre.schema.loading.overlay import Overlay
    from arbitre.schema.loading.references import Subschema

Group = tuple[Tags, Subschemas]
"""Subschemas of a value, and the branches of the enclosing object under which they apply."""

Branch = tuple[frozenset[int], Alternative]
"""An alternative of an object schema, and a set that contains only its index."""

MAX_POSITIONS: Final = 20_000
"""Maximum number of positions in a schema."""

MAX_COMBINED: Final = 2_000
"""Maximum number of subschemas that are combined at the positions of a schema, plus 20 for each of its subschemas.

Every set of definitions that apply to one value is a position of its own; n definitions have 2^n sets.
"""

EXTREME: Final = 1e12
"""Maximum ratio of two weights in an object. Smaller shares of the object would be lost to rounding."""

_ANYTHING: Final[list[Group]] = [(None, ())]


@dataclass(slots=True)
class _Request:
    index: int
    groups: tuple[Group, ...]
    absent: Absence
    overlay: Overlay | None


@dataclass(slots=True)
class Compiler:
    """Builds the table of sites, one for each distinct position. The first site is the root.

    Attributes:
        distances: The distances that a schema may name.
        matchers: The matchers that a schema may name.
        normalizers: The normalisers that a schema may name.
        problems: The errors in the schema.
        marked: The value of `entries`, by site index.
        aliases: The `aliases` annotation, by site index of the object and name of the field.
    """

    distances: Catalogue[Distance]
    matchers: Catalogue[Matcher]
    normalizers: Catalogue[Normalizer]
    problems: list[Problem] = field(default_factory=list)
    marked: dict[int, bool] = field(default_factory=dict)
    aliases: dict[tuple[int, str], Annotation] = field(default_factory=dict)
    _expander: Expander = field(init=False)
    _leaves: LeafBuilder = field(init=False)
    _known: dict[object, int] = field(default_factory=dict)
    _queue: deque[_Request] = field(default_factory=deque)
    _combined: int = 0
    """Number of subschemas combined so far, see `MAX_COMBINED`."""
    _root_mark: Annotation | None = None
    """The `entries` of a root that is not a list; ignored where a recursive schema refers back to the root."""

    def __post_init__(self) -> None:
        self._expander = Expander(self.problems)
        self._leaves = LeafBuilder(self.distances, self.normalizers, self.problems)

    def compile(self, root: Subschema, overlay: Overlay | None) -> list[Site]:
        """Build the table of sites and add errors to `problems`.

        Raises:
            SchemaError: The schema has too many positions, or its definitions apply together in too many combinations.
        """
        sites: list[Site] = []
        self.problems += self._stray_field_keys([(None, ((root,),))], "the root of the schema", overlay)
        self._request(self._grouped([(None, ((root,),))]), Absence(), overlay)
        while self._queue:
            if len(sites) == MAX_POSITIONS:
                raise SchemaError(root.problem(f"Expected a schema of at most {MAX_POSITIONS} positions, got more"))
            sites.append(self._site(self._queue.popleft()))
        return sites

    def _request(self, groups: Sequence[Group], absent: Absence, overlay: Overlay | None) -> int:
        """Return the index of a position's site; queue the site to be built if it is new."""
        key = (tuple(groups), absent, None if overlay is None else id(overlay))
        if key not in self._known:
            self._known[key] = len(self._known)
            self._queue.append(_Request(self._known[key], key[0], absent, overlay))
        return self._known[key]

    def _site(self, request: _Request) -> Site:
        overlay = request.overlay
        alternatives = [
            (tag, shape) for tag, subschemas in request.groups for shape in self._expander.alternatives(subschemas)
        ]
        if overlay is not None:
            overlay.used = True
            laid = overlay.settings
            alternatives = [(tag, replace(shape, settings=shape.settings | laid)) for tag, shape in alternatives]
        if len(alternatives) > ALTERNATIVES:
            located = next(located for _, subschemas in request.groups for group in subschemas for located in group)
            self.problems.append(
                located.problem(f"Expected at most {ALTERNATIVES} alternatives for one value, got more")
            )
            alternatives = alternatives[:1]
        root = request.index == 0
        if not root:
            alternatives = [(tag, self._without_root_mark(shape)) for tag, shape in alternatives]
        position = Position.of([shape for _, shape in alternatives], root=root)
        self.problems.extend(position.problems())
        common, absent = position.common, request.absent
        if "absent" in common:
            absent = Absence.of(common["absent"].value)
        entries = position.setting("entries")
        if entries is not None:
            self.marked[request.index] = entries.value
            self._root_mark = entries if root and Kind.ARRAY not in position.declared else self._root_mark
        leaf = self._leaves.whole(common, position.shapes) if position.whole else None
        if leaf is not None:
            alternatives, common, overlay = [(None, Alternative())], {}, None
        return Site(
            absent=absent,
            scalars=self._leaves.scalars(alternatives, common),
            object=self._object(request.index, alternatives, absent, overlay),
            list=self._list(alternatives, absent, overlay),
            other=self._leaves.exact,
            leaf=leaf,
            normalizers=self._leaves.normalizers_of(common.get("normalize")),
            declared=position.declared,
        )

    def _without_root_mark(self, shape: Alternative) -> Alternative:
        if self._root_mark is None or shape.settings.get("entries") != self._root_mark:
            return shape
        return replace(shape, settings={key: value for key, value in shape.settings.items() if key != "entries"})

    def _object(
        self, index: int, alternatives: Sequence[Tagged], absent: Absence, overlay: Overlay | None
    ) -> ObjectNode:
        variants = _distinct_object_shapes((tag, shape) for tag, shape in alternatives if shape.takes(Kind.OBJECT))
        branches = [(frozenset({number}), shape) for number, (_, shape) in enumerate(variants)]
        fields, ignored = self._fields(index, branches, absent, overlay)
        star = overlay.at(STAR) if overlay else None
        patterns, by_pattern = self._patterns(branches, absent, star)
        additional, by_branch = self._additional_site(branches, absent, star)
        return ObjectNode(
            fields=fields,
            variants=tuple(self._variant(tags, shape, absent) for tags, shape in variants) if len(variants) > 1 else (),
            patterns=patterns,
            additional=additional,
            declared_map=any(shape.additional for _, shape in branches),
            tagged=by_pattern or by_branch,
            ignored=ignored,
        )

    def _fields(
        self, index: int, branches: Sequence[Branch], absent: Absence, overlay: Overlay | None
    ) -> tuple[tuple[FieldNode, ...], frozenset[str]]:
        """Return the compared fields of all branches, and the names of the ignored fields."""
        fields, ignored, weights = list[FieldNode](), set[str](), list[Annotation]()
        for name in dict.fromkeys(name for _, shape in branches for name in shape.properties):
            groups = self._grouped((branch, shape.subschemas_for(name)) for branch, shape in branches)
            here = overlay.at(name) if overlay else None
            settings = self._field_settings([subschemas for _, subschemas in groups], here)
            if "ignore" in settings and settings["ignore"].value:
                ignored.add(name)
                if here is not None:
                    here.used = True
                continue
            weight = float(settings["weight"].value) if "weight" in settings else 1.0
            fields.append(FieldNode(name, self._request(groups, absent, here), weight, len(groups) > 1))
            weights += [settings["weight"]] if "weight" in settings else []
            if "aliases" in settings:
                self.aliases[index, name] = settings["aliases"]
        self.problems += _weight_problems(weights)
        return tuple(fields), frozenset(ignored)

    def _patterns(
        self, branches: Sequence[Branch], absent: Absence, overlay: Overlay | None
    ) -> tuple[tuple[tuple[str, int], ...], bool]:
        """Return (regular expression for keys, site) pairs, and whether any of the sites depends on the branch."""
        patterns, tagged = [], False
        for pattern in dict.fromkeys(pattern for _, shape in branches for pattern in shape.patterns):
            groups = self._grouped((branch, shape.patterns.get(pattern, ())) for branch, shape in branches)
            self.problems += self._stray_field_keys(groups, "the values of a map", overlay)
            self.problems += _pattern_problems(pattern, groups[0][1][0][0])
            patterns.append((pattern, self._request(groups, absent, overlay)))
            tagged |= len(groups) > 1
        return tuple(patterns), tagged

    def _additional_site(
        self, branches: Sequence[Branch], absent: Absence, overlay: Overlay | None
    ) -> tuple[int, bool]:
        """Return the site of keys that no property and no pattern covers, and whether it depends on the branch."""
        groups = self._grouped((branch, shape.additional) for branch, shape in branches)
        here = overlay if groups else None
        self.problems += self._stray_field_keys(groups, "the values of a map", here)
        return self._request(groups or _ANYTHING, absent, here), len(groups) > 1

    def _variant(self, tags: Tags, shape: Alternative, absent: Absence) -> ObjectBranch:
        tests = []
        for name, subschemas in shape.properties.items():
            values = [alternative.values for alternative in self._expander.alternatives(subschemas)]
            if all(value is not None for value in values):
                tests.append((name, frozenset(key for value in values for key in value or ())))
        return ObjectBranch(frozenset(shape.properties), tuple(tests), tags, absent)

    def _list(self, alternatives: Sequence[Tagged], absent: Absence, overlay: Overlay | None) -> ListNode:
        shapes = [(tag, shape) for tag, shape in alternatives if shape.takes(Kind.ARRAY)]
        prefix, tagged = [], False
        for position in range(max((len(shape.prefix) for _, shape in shapes), default=0)):
            here = overlay.at(str(position)) if overlay else None
            held = ((tags, (*shape.prefix, shape.items)[: position + 1][-1]) for tags, shape in shapes)
            groups = self._grouped(held, open_too=True)
            self.problems += self._stray_field_keys(groups, "an item of a list", here)
            prefix.append(self._request(groups, absent, here))
            tagged |= len(groups) > 1
        items = self._grouped(((tags, shape.items) for tags, shape in shapes), open_too=True) or _ANYTHING
        star = overlay.at(STAR) if overlay and shapes else None
        self.problems += self._stray_field_keys(items, "an item of a list", star)
        site = self._request(items, absent, star)
        return ListNode(site, self._matcher(shapes), tuple(prefix), tagged or len(items) > 1)

    def _matcher(self, shapes: Sequence[Tagged]) -> Matcher:
        chosen = [shape.settings["match"] for _, shape in shapes if "match" in shape.settings]
        if chosen and (len(chosen) < len(shapes) or len({canonical(setting.value) for setting in chosen}) > 1):
            message = "`match` differs between the branches of a union"
            self.problems.append(chosen[-1].problem(message, "Set the same `match` on all branches that are lists."))
        if chosen:
            try:
                return self.matchers.build(chosen[0].value, pointer=chosen[0].pointer)
            except SchemaError as error:
                self.problems.extend(error.located(file=chosen[0].file).problems)
        return self.matchers.build("hungarian")

    def _field_settings(self, subschemas: Iterable[Subschemas], overlay: Overlay | None) -> Annotations:
        """Return the settings of a field itself. Its branches must agree unless an overlay sets them."""
        laid = {} if overlay is None else {key: overlay.settings[key] for key in FIELD_KEYS & overlay.settings.keys()}
        found: Annotations = {}
        for shape in (shape for group in subschemas for shape in self._expander.alternatives(group)):
            for key in FIELD_KEYS & shape.settings.keys():
                setting = shape.settings[key]
                first = found.setdefault(key, setting)
                if key not in laid and canonical(first.value) != canonical(setting.value):
                    hint = "Set it to the same value on all branches."
                    message = f"`{key}` differs between the branches ({first.pointer})"
                    self.problems.append(setting.problem(message, hint))
        return found | laid

    def _stray_field_keys(self, groups: Iterable[Group], place: str, overlay: Overlay | None) -> list[Problem]:
        """Return a problem for each field setting at a position that is not a field."""
        settings = [shape.settings for _, group in groups for shape in self._expander.alternatives(group)]
        settings += [overlay.settings] if overlay else []
        return [
            here[key].problem(f"`{key}` applies to the fields of an object, but this is {place}")
            for here in settings
            for key in sorted(FIELD_KEYS & here.keys())
        ]

    def _grouped(self, held: Iterable[Group], *, open_too: bool = False) -> list[Group]:
        """Merge groups with equal subschemas. If only one group is left, it applies to every branch.

        Branches without subschemas are left out, unless `open_too` is set.
        """
        found: dict[Subschemas, Tags] = {}
        for tags, subschemas in held:
            if not subschemas and not open_too:
                continue
            self._count(subschemas)
            direct = tuple(tuple(located.direct() for located in group) for group in subschemas)
            known = found.get(direct, tags)
            found[direct] = None if known is None or tags is None else known | tags
        if len(found) == 1:
            return [(None, subschemas) for subschemas in found]
        return [(tags, subschemas) for subschemas, tags in found.items()]

    def _count(self, subschemas: Subschemas) -> None:
        """Count subschemas that apply to one value. Raises SchemaError if there are too many."""
        self._combined += sum(map(len, subschemas))
        if subschemas and self._combined - 20 * subschemas[0][0].shelf.size > MAX_COMBINED:
            message = "The definitions of the schema apply together in too many different combinations"
            hint = "Let fewer definitions apply to one value: check allOf, anyOf and oneOf in recursive definitions."
            raise SchemaError(subschemas[0][0].problem(message, hint=hint))


def _weight_problems(settings: Sequence[Annotation]) -> list[Problem]:
    """Return a problem if the weights in an object differ too much; a key without a weight has weight 1."""
    weights = sorted([1.0, *(float(setting.value) for setting in settings)])
    if weights[-1] / EXTREME <= weights[0]:
        return []
    farthest = max(settings, key=lambda setting: abs(log(setting.value)))
    message = f"Expected the weights in an object to differ by a factor of at most {EXTREME:g}"
    hint = (
        "Smaller shares are lost to rounding. The default weight is 1; use `ignore` for fields that should not count."
    )
    return [farthest.problem(f"{message}, got {weights[0]:g} and {weights[-1]:g}", hint)]


def _pattern_problems(pattern: str, located: Subschema) -> list[Problem]:
    try:
        regex.compile(pattern)
    except regex.error as error:
        return [located.problem(f'Expected a regular expression, got "{pattern}": {error}')]
    return []


def _distinct_object_shapes(alternatives: Iterable[Tagged]) -> list[Tagged]:
    """Drop alternatives with the same tag and the same object declaration as an earlier one."""
    found: dict[object, Tagged] = {}
    for tag, shape in alternatives:
        key = (tag, tuple(shape.properties.items()), tuple(shape.patterns.items()), shape.additional)
        found.setdefault(key, (tag, shape))
    return list(found.values())
