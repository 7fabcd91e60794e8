"""From a schema to a plan: every reference, keyword, name and weight resolved, every problem reported at once."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import regex

from arbitre.errors import Problem, SchemaError
from arbitre.paths import STAR
from arbitre.schema.expand import Shape, Subschemas, expand_all
from arbitre.schema.leaves import Leaves
from arbitre.schema.nodes import Alias, Field, List, Object, Site, Variant
from arbitre.schema.vocabulary import FIELD_KEYS, Overlay, Setting, Settings
from arbitre.values import Absence, Kind, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.catalogue import Catalogue
    from arbitre.distances.base import Distance
    from arbitre.matching import Matcher
    from arbitre.normalizers import Normalizer
    from arbitre.schema.load import Located

Group = tuple[int | None, Subschemas]
"""Alternatives of a position: the branch of the parent under which they hold (None for any), and the subschemas."""

_CONTAINERS: Final = frozenset({Kind.ARRAY, Kind.OBJECT})


@dataclass(slots=True)
class _Request:
    index: int
    groups: tuple[Group, ...]
    absent: Absence
    overlay: Overlay | None


@dataclass(slots=True)
class Compiler:
    """Builds the table of sites, one for each distinct position; positions that recur are built once.

    `sites[0]` is the root; `aliases` and `marked` are what the passes over the finished table need.
    """

    distances: Catalogue[Distance]
    matchers: Catalogue[Matcher]
    normalizers: Catalogue[Normalizer]
    sites: list[Site | None] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    marked: dict[int, bool] = field(default_factory=dict)
    aliases: dict[tuple[int, str], tuple[str, ...]] = field(default_factory=dict)
    _known: dict[object, int] = field(default_factory=dict)
    _queue: deque[_Request] = field(default_factory=deque)
    _kept: list[object] = field(default_factory=list)

    def compile(self, root: Located, overlay: Overlay | None) -> tuple[Site, ...]:
        """The table of sites. Raises SchemaError with every problem found."""
        leaves = Leaves(self.distances, self.normalizers, self.problems)
        self._no_field_keys([(None, ((root,),))], "the root of the schema", overlay)
        self._request([(None, ((root,),))], Absence(), overlay)
        while self._queue:
            request = self._queue.popleft()
            self.sites[request.index] = self._site(request, leaves)
        if overlay is not None:
            self.problems.extend(overlay.unused())
        if self.problems:
            raise SchemaError(*dict.fromkeys(self.problems))
        return tuple(site for site in self.sites if site is not None)

    def _request(self, groups: Iterable[Group], absent: Absence, overlay: Overlay | None) -> int:
        """The index of a position's site, which is built later if it is new."""
        distinct = {(tag, _identity(subschemas)): (tag, subschemas) for tag, subschemas in groups}
        groups = tuple(distinct.values())
        key = (tuple(distinct), absent, None if overlay is None else id(overlay))
        if key not in self._known:
            self._known[key] = len(self.sites)
            self._kept.append(groups)  # identities are those of living objects
            self._queue.append(_Request(len(self.sites), groups, absent, overlay))
            self.sites.append(None)
        return self._known[key]

    def _site(self, request: _Request, leaves: Leaves) -> Site:
        alternatives = [
            (tag, shape) for tag, subschemas in request.groups for shape in expand_all(subschemas, self.problems)
        ]
        if request.overlay is not None:
            request.overlay.used = True
            alternatives = [(tag, _overlaid(shape, request.overlay)) for tag, shape in alternatives]
        common = _common(alternatives)
        absent = Absence.of(common["absent"].value) if "absent" in common else request.absent
        open_kinds = any(shape.kinds is None for _, shape in alternatives)
        declared = frozenset(kind for _, shape in alternatives for kind in shape.kinds or ())
        containers = open_kinds or bool(declared & _CONTAINERS)
        leaf = None
        if "distance" in common and containers:
            leaf = leaves.whole(common["distance"], common, [shape for _, shape in alternatives])
            alternatives = [(None, Shape())]
        else:
            self._applicable(alternatives, common, declared, open_kinds=open_kinds)
        if "entries" in common:
            self.marked[request.index] = common["entries"].value
        return Site(
            absent=absent,
            scalars=leaves.scalars(alternatives, common if leaf is None else {}),
            object=self._object(request.index, alternatives, absent, request.overlay),
            list=self._list(alternatives, absent, request.overlay),
            other=leaves.exact,
            leaf=leaf,
            normalizers=() if leaf is not None else leaves.normalizers_of(common.get("normalize")),
            declared=declared,
        )

    def _applicable(
        self,
        alternatives: list[tuple[int | None, Shape]],
        common: Settings,
        declared: frozenset[Kind],
        *,
        open_kinds: bool,
    ) -> None:
        """Refuse settings that could never act."""
        if open_kinds:
            return
        settings = dict(common)
        for _, shape in alternatives:
            settings |= shape.settings
        for key in ("match", "entries"):
            if key in settings and Kind.ARRAY not in declared:
                self._problem(settings[key], f"`{key}` is for lists, and no list is declared here")
        if "normalize" in settings and not any(kind.scalar for kind in declared):
            hint = "Put it on the values inside, or give the list or object a `distance` that makes it one leaf."
            self._problem(settings["normalize"], "`normalize` is for single values, and none is declared here", hint)

    def _problem(self, setting: Setting, message: str, hint: str | None = None) -> None:
        self.problems.append(Problem(message, setting.file, None, setting.pointer, hint))

    def _object(
        self, index: int, alternatives: list[tuple[int | None, Shape]], absent: Absence, overlay: Overlay | None
    ) -> Object:
        shapes = [(tag, shape) for tag, shape in alternatives if shape.takes(Kind.OBJECT)]
        variants = _distinct(shapes)
        names = dict.fromkeys(name for _, shape in variants for name in shape.properties)
        fields: list[Field] = []
        ignored: set[str] = set()
        for name in names:
            groups = [(n, shape.properties[name]) for n, (_, shape) in enumerate(variants) if name in shape.properties]
            here = overlay.at(name) if overlay else None
            settings = self._field_settings([subschemas for _, subschemas in groups], here)
            if settings.get("ignore"):
                ignored.add(name)
                if here is not None:
                    here.used = True
                continue
            tagged = len({_identity(subschemas) for _, subschemas in groups}) > 1
            site = self._request([(n if tagged else None, subs) for n, subs in groups], absent, here)
            fields.append(Field(name, site, float(settings.get("weight", 1.0)), tagged))
            if "aliases" in settings:
                self.aliases[index, name] = tuple(settings["aliases"])
        star = overlay.at(STAR) if overlay else None
        patterns = []
        for pattern in dict.fromkeys(pattern for _, shape in variants for pattern in shape.patterns):
            subschemas = [(None, shape.patterns[pattern]) for _, shape in variants if pattern in shape.patterns]
            self._no_field_keys(subschemas, "the values of a map", star)
            self._check_pattern(pattern, subschemas[0][1])
            patterns.append((pattern, self._request(subschemas, absent, star)))
        additional: list[Group] = [(None, shape.additional) for _, shape in variants if shape.additional]
        self._no_field_keys(additional, "the values of a map", star)
        return Object(
            fields=tuple(fields),
            variants=tuple(_variant(tag, shape) for tag, shape in variants) if len(variants) > 1 else (),
            patterns=tuple(patterns),
            additional=self._request(additional or [(None, ())], absent, star if additional else None),
            declared_map=bool(additional),
            ignored=frozenset(ignored),
        )

    def _list(self, alternatives: list[tuple[int | None, Shape]], absent: Absence, overlay: Overlay | None) -> List:
        shapes = [(tag, shape) for tag, shape in alternatives if shape.takes(Kind.ARRAY)]
        matches = {
            shape.settings["match"].pointer: shape.settings["match"] for _, shape in shapes if "match" in shape.settings
        }
        chosen = list(matches.values())
        if len({canonical(setting.value) for setting in chosen}) > 1:
            self._problem(chosen[1], f"`match` differs between the branches of a union ({chosen[0].pointer})")
        try:
            matcher = self.matchers.build(
                chosen[0].value if chosen else "hungarian", pointer=chosen[0].pointer if chosen else ""
            )
        except SchemaError as error:
            self.problems.extend(error.located(file=chosen[0].file).problems)
            matcher = self.matchers.build("hungarian")
        length = max((len(shape.prefix) for _, shape in shapes), default=0)
        prefix = []
        for position in range(length):
            groups = [(tag, shape.prefix[position]) for tag, shape in shapes if position < len(shape.prefix)]
            self._no_field_keys(groups, "an item of a list", overlay.at(str(position)) if overlay else None)
            prefix.append(self._request(groups, absent, overlay.at(str(position)) if overlay else None))
        items = [(tag, shape.items) for tag, shape in shapes] or [(None, ())]
        star = overlay.at(STAR) if overlay else None
        self._no_field_keys(items, "an item of a list", star)
        tagged = any(tag is not None for tag, _ in items)
        return List(self._request(items, absent, star), matcher, tuple(prefix), tagged)

    def _field_settings(self, subschemas: list[Subschemas], overlay: Overlay | None) -> Mapping[str, object]:
        """What is said of a field as a field; its branches must agree."""
        found: dict[str, Setting] = {}
        for group in subschemas:
            for shape in expand_all(group, []):
                for key in FIELD_KEYS & shape.settings.keys():
                    setting = shape.settings[key]
                    first = found.setdefault(key, setting)
                    if canonical(first.value) != canonical(setting.value):
                        hint = "It may depend on the path only, never on the value."
                        self._problem(setting, f"`{key}` differs between the branches ({first.pointer})", hint)
        if overlay is not None:
            found |= {key: setting for key, setting in overlay.settings.items() if key in FIELD_KEYS}
        return {key: setting.value for key, setting in found.items()}

    def _no_field_keys(self, groups: Iterable[Group], place: str, overlay: Overlay | None) -> None:
        settings = [shape.settings for _, subschemas in groups for shape in expand_all(subschemas, [])]
        settings += [overlay.settings] if overlay else []
        for here in settings:
            for key in sorted(FIELD_KEYS & here.keys()):
                self._problem(here[key], f"`{key}` is for the fields of an object, and this is {place}")

    def _check_pattern(self, pattern: str, subschemas: Subschemas) -> None:
        try:
            regex.compile(pattern)
        except regex.error as error:
            located = subschemas[0][0]
            self.problems.append(located.problem(f'Expected a regular expression, got "{pattern}": {error}'))


def with_aliases(sites: tuple[Site, ...], aliases: Mapping[tuple[int, str], tuple[str, ...]]) -> tuple[Site, ...]:
    """The table with every alias put on the object it starts from: a list item, a map value or the root.

    A pointer is tried from the object that holds the field, then from the list item around it.
    """
    if not aliases:
        return sites
    owners = {0}
    for site in sites:
        owners |= {site.object.additional, *(index for _, index in site.object.patterns)}
        owners |= {site.list.items, *site.list.prefix}
    found = list(sites)
    for owner in owners:
        owned = tuple(_aliases_below(sites, aliases, owner))
        if owned:
            found[owner] = replace(sites[owner], object=replace(sites[owner].object, aliases=owned))
    return tuple(found)


def _aliases_below(
    sites: tuple[Site, ...], aliases: Mapping[tuple[int, str], tuple[str, ...]], owner: int
) -> Iterable[Alias]:
    pending: deque[tuple[int, tuple[str, ...], frozenset[int]]] = deque([(owner, (), frozenset({owner}))])
    while pending:
        index, path, above = pending.popleft()
        for child in sites[index].object.fields:
            target = (*path, child.name)
            pointers = [
                tuple(part.replace("~1", "/").replace("~0", "~") for part in text.removeprefix("/").split("/"))
                for text in aliases.get((index, child.name), ())
            ]
            if pointers:
                sources = [(*path, *tokens) for tokens in pointers] + pointers
                yield Alias(target, tuple(dict.fromkeys(source for source in sources if source != target)))
            if child.site not in above and sites[child.site].leaf is None:
                pending.append((child.site, target, above | {child.site}))


def _identity(subschemas: Subschemas) -> tuple[tuple[tuple[int, bool], ...], ...]:
    return tuple(tuple((id(located.schema), located.soft) for located in group) for group in subschemas)


def _overlaid(shape: Shape, overlay: Overlay) -> Shape:
    return replace(shape, settings=shape.settings | overlay.settings)


def _common(alternatives: list[tuple[int | None, Shape]]) -> Settings:
    """The settings that speak of the whole position: those on which every alternative but null agrees."""
    shapes = [shape for _, shape in alternatives if shape.kinds != {Kind.NULL}] or [shape for _, shape in alternatives]
    first = shapes[0].settings
    return {key: first[key] for key in first if all(shape.settings.get(key) == first[key] for shape in shapes)}


def _distinct(shapes: list[tuple[int | None, Shape]]) -> list[tuple[int | None, Shape]]:
    """The alternatives that differ in what they say of objects."""
    found: dict[object, tuple[int | None, Shape]] = {}
    for tag, shape in shapes:
        parts = [(name, _identity(subs)) for name, subs in (*shape.properties.items(), *shape.patterns.items())]
        found.setdefault((tag, tuple(parts), _identity(shape.additional)), (tag, shape))
    return list(found.values())


def _variant(tag: int | None, shape: Shape) -> Variant:
    tests = []
    for name, subschemas in shape.properties.items():
        alternatives = expand_all(subschemas, [])
        values = [alternative.values for alternative in alternatives]
        if all(value is not None for value in values):
            tests.append((name, frozenset(key for value in values if value is not None for key in value)))
    return Variant(frozenset(shape.properties), tuple(tests), None if tag is None else frozenset({tag}))
