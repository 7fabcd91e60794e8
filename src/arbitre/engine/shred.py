"""Documents into columns, along the plan: no recursion, so depth costs one column for every path, never a stack."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import regex

from arbitre.engine.aliases import bridged
from arbitre.engine.columns import Column, Indices, LeafColumn, Link, ListColumn, MapLink, MixedColumn, ObjectColumn
from arbitre.engine.finish import finish
from arbitre.engine.interning import intern
from arbitre.engine.runs import starts_of
from arbitre.engine.variants import choose
from arbitre.errors import DataError, Problem
from arbitre.paths import STAR, Path, Token, pointer
from arbitre.values import ABSENT, KINDS, Json, Kind, check, check_keys, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.schema.nodes import Object, Plan, Site

PATTERN_SECONDS = 1.0
"""A regular expression of the schema may take this long on one key."""

BLOCK: Final = 256
"""So many objects are read at a time: their fields are read while they are in the nearer memory."""


@dataclass(slots=True)
class Place:
    """Where the values of a new column stand."""

    parent: Column | None
    origin: Indices
    gold: int
    token: Token | None = None
    tokens: Sequence[int | str] | Indices | None = None
    tags: Indices | None = None
    item: bool = False


@dataclass(slots=True)
class _Shredder:
    plan: Plan
    columns: list[Column] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    pending: deque[Callable[[], None]] = field(default_factory=deque)

    def open(self, site: Site, values: Sequence[Json], types: set[type], place: Place) -> Column:
        """The column of these values, which are of these types; what lies below is left to do."""
        if site.leaf is not None:
            return self._leaf(site, values, types, place)
        kinds = self._kinds(values, types, place)
        if isinstance(kinds, Kind):
            return self._single(kinds, site, values, types, place)
        family = np.where(kinds < Kind.ARRAY, 0, kinds - Kind.ARRAY + 1)  # scalars, arrays, objects
        present = np.unique(family)
        if len(present) == 1:
            return self._single(Kind(int(kinds[0])), site, values, types, place)
        mixed = MixedColumn(**self._common(values, place))
        self._keep(mixed, site)
        mixed.part = np.zeros(len(values), dtype=np.int8)
        mixed.rows = np.zeros(len(values), dtype=np.intp)
        for number, member in enumerate(present.tolist()):
            rows = (family == member).nonzero()[0]
            mixed.part[rows], mixed.rows[rows] = number, np.arange(len(rows))
            inner = Place(
                mixed,
                rows,
                int(rows.searchsorted(place.gold)),
                tags=None if place.tags is None else place.tags[rows],
                item=place.item,
            )
            part = [values[row] for row in rows.tolist()]
            mixed.parts.append(self._single(Kind(int(kinds[rows[0]])), site, part, set(map(type, part)), inner))
        return mixed

    def _kinds(
        self, values: Sequence[Json], types: set[type], place: Place
    ) -> Kind | np.ndarray[Any, np.dtype[np.int8]]:
        """The kind of all the values where it is one, else of each."""
        if types <= KINDS.keys():
            kinds = {KINDS[one] for one in types}
            if len(kinds) == 1:
                return kinds.pop()
            return np.fromiter((KINDS[type(value)] for value in values), dtype=np.int8, count=len(values))
        found = np.empty(len(values), dtype=np.int8)
        for row, value in enumerate(values):
            try:
                found[row] = kind_of(value)
            except DataError as error:
                raise _at(error, place, row) from error
        return found

    def _single(self, kind: Kind, site: Site, values: Sequence[Json], types: set[type], place: Place) -> Column:
        if kind.scalar:
            return self._leaf(site, values, types, place)
        if kind is Kind.ARRAY:
            lists = ListColumn(**self._common(values, place), matcher=site.list.matcher)
            self._keep(lists, site)
            self.pending.append(lambda: self._items(lists, site, values, place))
            return lists
        objects = ObjectColumn(**self._common(values, place))
        self._keep(objects, site)
        self.pending.append(lambda: self._fields(objects, site.object, values, place))
        return objects

    def _common(self, values: Sequence[Json], place: Place) -> dict[str, Any]:
        parent = place.parent
        path: Path = ()
        if parent is not None:
            path = parent.path if place.token is None else (*parent.path, place.token)
        return {
            "number": len(self.columns),
            "path": path,
            "size": len(values),
            "raw": values,
            "parent": parent,
            "origin": place.origin,
            "token": place.token,
            "tokens": place.tokens,
            "item": place.item,
        }

    def _keep(self, column: Column, site: Site) -> None:
        self.columns.append(column)
        self.sites.append(site)

    def _leaf(self, site: Site, values: Sequence[Json], types: set[type], place: Place) -> Column:
        try:
            parts = intern(site, values, types, place.tags)
        except DataError:
            for row, value in enumerate(values):  # find the one that is refused
                try:
                    check(value)
                except DataError as error:
                    raise _at(error, place, row) from error
            raise
        column = LeafColumn(**self._common(values, place), **parts._asdict())
        self._keep(column, site)
        return column

    def _fields(self, column: ObjectColumn, node: Object, values: Sequence[dict[str, Json]], place: Place) -> None:
        if node.aliases:
            values = [*values[: place.gold], *(bridged(value, node.aliases) for value in values[place.gold :])]
        taken = choose(node.variants, values, place.tags) if node.variants else None
        sites = [self.plan.sites[child.site] for child in node.fields]
        total = 0
        for child, site, every in zip(node.fields, sites, _read(node, sites, values), strict=True):
            missing = _missing(site)
            rows, found, types = np.arange(len(every), dtype=np.intp), every, set(map(type, every))
            if type(missing) in types:
                types.remove(type(missing))
                rows = np.array([row for row, value in enumerate(every) if value is not missing], dtype=np.intp)
                found = [every[row] for row in rows.tolist()]
            total += len(found)
            if found:
                tags = taken[rows] if child.tagged and taken is not None else None
                below = Place(column, rows, int(rows.searchsorted(place.gold)), child.name, tags=tags)
                column.links.append(Link(self.open(site, found, types, below), child.weight))
        if total != sum(map(len, values)):
            self._other_keys(column, node, values, place, taken if node.tagged else None)

    def _other_keys(
        self,
        column: ObjectColumn,
        node: Object,
        values: Sequence[dict[str, Json]],
        place: Place,
        taken: Indices | None,
    ) -> None:
        """The keys that `properties` does not name: by pattern, by `additionalProperties`, or each by its name."""
        known = {child.name for child in node.fields} | node.ignored
        patterns = [(regex.compile(pattern), site) for pattern, site in node.patterns]
        maps: dict[int, list[tuple[int, str, Json]]] = {}
        named: dict[str, list[tuple[int, Json]]] = {}
        for row, value in enumerate(values):
            if value.keys() <= known:
                continue
            try:
                check_keys(value)
            except DataError as error:
                raise _at(error, place, row) from error
            for key in value:
                if key in known:
                    continue
                index = next((site for pattern, site in patterns if self._fits(pattern, key, column, row)), None)
                if index is None and not node.declared_map:
                    named.setdefault(key, []).append((row, value[key]))
                else:
                    maps.setdefault(node.additional if index is None else index, []).append((row, key, value[key]))
        for key in sorted(named):
            site = self.plan.sites[node.additional]
            entries = [(row, value) for row, value in named[key] if value is not None or not site.absent.null]
            if entries:
                rows = np.array([row for row, _ in entries], dtype=np.intp)
                below = Place(column, rows, int(rows.searchsorted(place.gold)), key)
                found = [value for _, value in entries]
                column.links.append(Link(self.open(site, found, set(map(type, found)), below), 1.0))
        for index in sorted(maps):
            self._map(column, self.plan.sites[index], maps[index], place, taken)

    def _map(
        self,
        column: ObjectColumn,
        site: Site,
        entries: list[tuple[int, str, Json]],
        place: Place,
        taken: Indices | None,
    ) -> None:
        entries = [entry for entry in entries if entry[2] is not None or not site.absent.null]
        if not entries:
            return
        names = {name: code for code, name in enumerate(sorted({key for _, key, _ in entries}))}
        entries.sort(key=lambda entry: (entry[0], names[entry[1]]))
        rows = np.array([row for row, _, _ in entries], dtype=np.intp)
        keys = [key for _, key, _ in entries]
        tags = None if taken is None else taken[rows]
        below = Place(column, rows, int(rows.searchsorted(place.gold)), STAR, tokens=keys, tags=tags)
        found = [value for _, _, value in entries]
        child = self.open(site, found, set(map(type, found)), below)
        codes = np.array([names[key] for key in keys], dtype=np.intp)
        column.maps.append(MapLink(child, np.arange(len(rows), dtype=np.intp), codes))

    def _fits(self, pattern: regex.Pattern[str], key: str, column: Column, row: int) -> bool:
        try:
            return pattern.search(key, timeout=PATTERN_SECONDS) is not None
        except TimeoutError as error:
            raise DataError.of(
                f'The pattern "{pattern.pattern}" takes more than {PATTERN_SECONDS:g} s on the key {key[:60]!r}',
                pointer=column.pointer(row),
                hint="Write it without nested repetitions, or name the keys under `properties`.",
            ) from error

    def _items(self, column: ListColumn, site: Site, values: Sequence[list[Json]], place: Place) -> None:
        node = site.list
        known = self.plan.shortcuts
        column.peels = node.matcher.forced and node.items in known.peelable
        column.counts = node.matcher.forced and node.items in known.countable
        column.deep, column.dear = node.items in known.deep, known.dear.get(node.items, math.inf)
        for position, index in enumerate(node.prefix):
            child = self.plan.sites[index]
            rows = [
                row
                for row, value in enumerate(values)
                if len(value) > position and (value[position] is not None or not child.absent.null)
            ]
            if rows:
                origin = np.array(rows, dtype=np.intp)
                tags = place.tags[origin] if node.tagged and place.tags is not None else None
                below = Place(column, origin, int(origin.searchsorted(place.gold)), position, tags=tags)
                found = [values[row][position] for row in rows]
                column.prefix.append(Link(self.open(child, found, set(map(type, found)), below), 1.0))
        skipped = len(node.prefix)
        if skipped:
            values = [value[skipped:] for value in values]
        lengths = np.fromiter(map(len, values), dtype=np.intp, count=len(values))
        items = list(chain.from_iterable(values))
        starts = starts_of(lengths)
        origin = np.arange(len(values), dtype=np.intp).repeat(lengths)
        positions = np.arange(skipped, len(items) + skipped, dtype=np.intp) - starts[:-1].repeat(lengths)
        child = self.plan.sites[node.items]
        types = set(map(type, items))
        if child.absent.null and type(None) in types:
            types.remove(type(None))
            kept = np.array([row for row, item in enumerate(items) if item is not None], dtype=np.intp)
            origin, positions = origin[kept], positions[kept]
            items = [items[row] for row in kept.tolist()]
            starts = starts_of(np.bincount(origin, minlength=len(values)))
        column.starts = starts
        if items:
            tags = place.tags[origin] if node.tagged and place.tags is not None else None
            gold = int(origin.searchsorted(place.gold))
            column.items = self.open(
                child, items, types, Place(column, origin, gold, STAR, tokens=positions, tags=tags, item=True)
            )


def _missing(site: Site) -> Json:
    """What counts as no value at all."""
    return None if site.absent.null else ABSENT


def _read(node: Object, sites: Sequence[Site], values: Sequence[dict[str, Json]]) -> list[list[Json]]:
    """What the objects hold in each declared field, whose site is given; all fields of some objects at a time."""
    found: list[list[Json]] = [[] for _ in node.fields]
    for begin in range(0, len(values), BLOCK):
        block = values[begin : begin + BLOCK]
        for child, site, into in zip(node.fields, sites, found, strict=True):
            try:
                into += list(map(itemgetter(child.name), block))
            except KeyError:
                absent = _missing(site)
                into += [value.get(child.name, absent) for value in block]
    return found


def _at(error: DataError, place: Place, row: int) -> DataError:
    """The error with the pointer of the row it speaks of."""
    tokens: list[int | str] = []
    if place.tokens is not None:
        token = place.tokens[row]
        tokens.append(token if isinstance(token, str) else int(token))
    elif place.token is not None and place.token is not STAR:
        tokens.append(place.token)
    above = place.parent.address(int(place.origin[row])) if place.parent is not None else ()
    side = "gold" if row < place.gold else "predicted"
    return DataError(
        *(
            Problem(
                f"{problem.message} in the {side} document",
                problem.file,
                problem.line,
                pointer((*above, *tokens)) + (problem.pointer or ""),
                problem.hint,
            )
            for problem in error.problems
        )
    )


def shred(plan: Plan, gold: Sequence[Json], predicted: Sequence[Json]) -> list[Column]:
    """The columns of these documents, parents before children; the first is the root's.

    The rows of the root are the gold documents, then the predictions. Raises DataError, with the
    JSON Pointer, for a value that is not JSON.
    """
    shredder = _Shredder(plan)
    documents = [*gold, *predicted]
    place = Place(None, np.arange(len(documents), dtype=np.intp), len(gold))
    shredder.open(plan.sites[0], documents, set(map(type, documents)), place)
    while shredder.pending:
        shredder.pending.popleft()()
    for column, site in zip(reversed(shredder.columns), reversed(shredder.sites), strict=True):
        finish(column, site)
    return shredder.columns
