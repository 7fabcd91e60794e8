"""Build columns from documents according to the plan.

There is no recursion: nested values need more columns, but no deeper call stack.
"""

from __future__ import annotations

import math
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import singledispatch
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import regex

from arbitre.distances.base import Surroundings
from arbitre.engine.columns.column import (
    Column,
    LeafColumn,
    Link,
    ListColumn,
    MapLink,
    MixedColumn,
    ObjectColumn,
    own_tokens,
)
from arbitre.engine.columns.fields import apply_aliases, missing_value, read_field
from arbitre.engine.columns.interning import Interned, intern, intern_forms, with_surroundings
from arbitre.engine.columns.ragged import add_one_by_one, counts_of, starts_of
from arbitre.engine.columns.references import ReferenceIndex
from arbitre.engine.columns.row_keys import key_codes, multiset_keys, row_codes
from arbitre.errors import ArbitreError, DataError, FunctionError, clipped
from arbitre.matching import Candidates
from arbitre.normalizers import nfc
from arbitre.paths import STAR, Path, Token, pointer
from arbitre.values import (
    KINDS,
    MAX_DEPTH,
    PATTERN_SECONDS,
    Json,
    Kind,
    canonical,
    check,
    check_depth,
    check_keys,
    kind_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.arrays import Indices, Mask
    from arbitre.schema.nodes import ObjectBranch, ObjectNode, Site
    from arbitre.schema.plan import Plan


MANY_VALUES: Final = 1 << 20
"""Number of values in the columns of a batch from which the depth of all its documents is checked."""

COLUMN_VALUES: Final = 256
"""Cost of one column in values, added to the count that is compared with `MANY_VALUES`."""


def build_columns(
    plan: Plan,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    *,
    site: Site | None = None,
    tags: Indices | None = None,
    same_ids: bool = False,
) -> list[Column]:
    """Build the columns of documents, parents before children; the first column is the root.

    The rows of the root are the gold documents, then the predicted documents. With `site`, the values are
    not documents but belong to this position of the schema; `tags` are their branches if the position depends on them.
    With `same_ids`, the same ids stand for the same items in all documents; otherwise, all references are equal.

    Raises:
        DataError: A value is not JSON, with its JSON Pointer; or a document is nested too deep or contains itself.
    """
    columns, index = build_with_references(plan, gold, predicted, site=site, tags=tags, lenient=True)
    return columns if index is None or not same_ids else index.recoded(index.codes_of_ids(), paired=True)


def build_with_references(
    plan: Plan,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    *,
    many_keys: float = math.inf,
    site: Site | None = None,
    tags: Indices | None = None,
    lenient: bool = False,
) -> tuple[list[Column], ReferenceIndex | None]:
    """Build the columns of documents as `build_columns` does, and find their items with ids and their references.

    In the columns, all references are equal, and items with ids are matched by what they contain. The index is None
    if the schema has no ids. From `many_keys` consecutive undeclared keys with single values, these share one column
    (see `CellLimits.keys`).

    Raises:
        DataError: As for `build_columns`. Or a gold document has two items with the same id, or a reference without
            an item; with `lenient`, these are `problems` of the index.
    """
    builder = _ColumnBuilder(plan, gold, predicted, many_keys)
    documents = [*gold, *predicted]
    place = ColumnOrigin(None, np.arange(len(documents), dtype=np.intp), len(gold), tags=tags)
    builder.open(site or plan.sites[0], documents, place)
    while builder.pending:
        builder.pending.popleft()()
    if plan.facts.has_ids:
        fixed = plan.corpus_ids is not None
        index = ReferenceIndex.of(builder.columns, len(gold), link_all, plan.corpus_scopes, fixed=fixed)
        if index.problems and site is None and not lenient:
            raise DataError(*index.problems)
        return index.recoded(np.zeros(index.size, dtype=np.intp), paired=False), index
    link_all(builder.columns)
    return builder.columns, None


def link_all(columns: Sequence[Column]) -> None:
    """Link columns to each other, children first."""
    for column in reversed(columns):
        link_children(column, column.site)


@dataclass(slots=True)
class _ColumnBuilder:
    plan: Plan
    gold: Sequence[Json]
    predicted: Sequence[Json]
    many_keys: float
    columns: list[Column] = field(default_factory=list)
    pending: deque[Callable[[], None]] = field(default_factory=deque)
    """Functions that build the child columns of finished columns."""
    built: int = 0
    """Number of values built so far, see `COLUMN_VALUES`."""
    depth_checked: bool = False
    """Whether the depth of the documents was checked."""

    def check_depth(self) -> None:
        """Raise DataError if a document is nested too deep or contains itself. Documents are checked once."""
        if self.depth_checked:
            return
        self.depth_checked = True
        for documents, side in ((self.gold, "gold document"), (self.predicted, "predicted document")):
            for document in documents:
                check_depth(document, side)

    def count(self, values: int) -> None:
        """Count values that are about to be built.

        A document that contains itself twice would double with every level: the depth of the documents is checked
        before there are many values. (Checking every document first takes 6% of the time of small ones.)
        """
        before, self.built = self.built, self.built + values
        if before < MANY_VALUES <= self.built:
            self.check_depth()

    def open(self, site: Site, values: Sequence[Json], place: ColumnOrigin, types: set[type] | None = None) -> Column:
        """Build the column of these values and leave its child columns pending. `types` are the types of the values."""
        types = set(map(type, values)) if types is None else types
        if site.atomic:
            if not types.isdisjoint((list, dict)):  # normalisers may recurse
                self.check_depth()
            return self._leaf(site, values, types, place)
        kinds = self._kinds(values, types, place)
        if isinstance(kinds, Kind):
            return self._single(kinds, site, values, types, place)
        family = np.maximum(kinds, Kind.STRING)  # scalars are compared in one column
        families = np.unique(family).tolist()
        if len(families) == 1:
            return self._single(Kind(families[0]), site, values, types, place)
        mixed = MixedColumn(**self._common(site, values, place))
        self._register(mixed)
        for kind in families:
            rows = (family == kind).nonzero()[0]
            part = [values[row] for row in rows.tolist()]
            inner = place.below(mixed, rows, tags=place.tags, item=place.item)
            mixed.links.append(Link(self._single(Kind(kind), site, part, set(map(type, part)), inner), 1.0))
        return mixed

    def _kinds(self, values: Sequence[Json], types: set[type], place: ColumnOrigin) -> Kind | npt.NDArray[np.int8]:
        """Return the common kind of all values, or else the kind of each value."""
        if types <= KINDS.keys():
            kinds = {KINDS[value_type] for value_type in types}
            if len(kinds) == 1:
                return kinds.pop()
            return np.fromiter((KINDS[type(value)] for value in values), dtype=np.int8, count=len(values))
        value_kinds = np.empty(len(values), dtype=np.int8)
        for row, value in enumerate(values):
            try:
                value_kinds[row] = kind_of(value)
            except DataError as error:
                raise place.located(error, row) from error
        return value_kinds

    def _single(self, kind: Kind, site: Site, values: Sequence[Json], types: set[type], place: ColumnOrigin) -> Column:
        """Build a column that is not mixed; for scalars, `kind` is any scalar kind."""
        if kind.scalar:
            return self._leaf(site, values, types, place)
        if kind is Kind.ARRAY:
            lists = ListColumn(**self._common(site, values, place), matcher=site.list.matcher)
            self._register(lists)
            self.pending.append(lambda: self._items(lists, site, values, place))
            return lists
        if site.object.keys is not None:
            return self._keyed_map(site, values, place)
        objects = ObjectColumn(**self._common(site, values, place))
        self._register(objects)
        self.pending.append(lambda: self._fields(objects, site.object, values, place))
        return objects

    def _keyed_map(self, site: Site, values: Sequence[dict[str, Json]], place: ColumnOrigin) -> Column:
        """Build the column of maps whose keys are ids or references: lists of their values."""
        for row, value in enumerate(values):
            try:
                check_keys(value)
            except DataError as error:
                raise place.located(error, row) from error
        maps = ListColumn(**self._common(site, values, place), matcher=site.list.matcher, of_map=True)
        self._register(maps)
        entries = [list(value.values()) for value in values]
        self.pending.append(lambda: self._items(maps, site, entries, place, keys=list(chain.from_iterable(values))))
        return maps

    def _common(self, site: Site, values: Sequence[Json], place: ColumnOrigin) -> dict[str, Any]:
        """Return the arguments that columns of all kinds have."""
        parent = place.parent
        path: Path = ()
        if parent is not None:
            path = parent.path if place.token is None else (*parent.path, place.token)
        self.count(len(values) + COLUMN_VALUES)
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
            "site": site,
            "tags": place.tags,
        }

    def _register(self, column: Column) -> None:
        if len(column.path) >= MAX_DEPTH and not isinstance(column, LeafColumn):
            self.check_depth()
        self.columns.append(column)

    @staticmethod
    def _interned(site: Site, values: Sequence[Json], types: set[type], place: ColumnOrigin) -> Interned:
        if site.alternatives is None:
            return intern(site, values, types, place.tags)
        return intern_forms(site, values, place.siblings, place.tags)

    def _leaf(self, site: Site, values: Sequence[Json], types: set[type], place: ColumnOrigin) -> Column:
        """Build a leaf column; an error names the place of the first invalid value."""
        try:
            parts = self._interned(site, values, types, place)
        except (DataError, FunctionError):
            for row, value in enumerate(values):  # find the invalid value
                try:
                    check(value)
                    if site.alternatives is None:
                        tags = None if place.tags is None else place.tags[[row]]
                        intern(site, [value], {type(value)}, tags)
                except (DataError, FunctionError) as error:
                    raise place.located(error, row) from error.__cause__
            for row, value in enumerate(place.siblings):
                try:
                    check(value)
                except DataError as error:
                    raise replace(place, token=site.alternatives).located(error, row) from error
            raise
        if any(leaf.distance.context for leaf in parts.leaves):
            parts = with_surroundings(parts, place.surroundings(values))
        column = LeafColumn(**self._common(site, values, place), **parts._asdict())
        self._register(column)
        return column

    def _fields(
        self, column: ObjectColumn, node: ObjectNode, values: Sequence[dict[str, Json]], place: ColumnOrigin
    ) -> None:
        """Build the columns of the keys of objects."""
        if node.aliases:
            values = [*values[: place.gold], *(apply_aliases(value, node.aliases) for value in values[place.gold :])]
        branches = choose_branch(node.branches, values, place.tags) if node.branches else None
        total = 0
        for child in node.fields:
            site = self.plan.sites[child.site]
            read, missing = read_field(child.name, site, values), missing_value(site)
            if child.null_credit:
                total -= read.count(missing)
                read = [None if value is missing else value for value in read]
            rows, present, types = np.arange(len(read), dtype=np.intp), read, set(map(type, read))
            if type(missing) in types:
                types.remove(type(missing))
                rows = np.array([row for row, value in enumerate(read) if value is not missing], dtype=np.intp)
                present = [read[row] for row in rows.tolist()]
            total += len(present)
            if present:
                below = place.below(column, rows, child.name, tags=branches if child.tagged else None)
                if isinstance(site.alternatives, str):
                    below.siblings = [values[row].get(site.alternatives) for row in rows[: below.gold].tolist()]
                column.links.append(Link(self.open(site, present, below, types), child.weight))
        if total != sum(map(len, values)):
            self._other_keys(column, node, values, place, branches if node.tagged else None)

    def _other_keys(
        self,
        column: ObjectColumn,
        node: ObjectNode,
        values: Sequence[dict[str, Json]],
        place: ColumnOrigin,
        branches: Indices | None,
    ) -> None:
        """Build the columns of keys that are not in `properties`: by pattern, by `additionalProperties`, or by name."""
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
                raise place.located(error, row) from error
            for key in value:
                if key in known:
                    continue
                index = next((site for pattern, site in patterns if self._matches(pattern, key, column, row)), None)
                if index is not None or node.declared_map:
                    maps.setdefault(node.additional if index is None else index, []).append((row, key, value[key]))
                else:
                    named.setdefault(key, []).append((row, value[key]))
        if not node.closed:
            self._by_name(column, self.plan.sites[node.additional], named, place)
        for index in sorted(maps):
            link = self._map(column, self.plan.sites[index], maps[index], place, branches)
            if link is not None:
                column.maps.append(link)

    def _by_name(
        self, column: ObjectColumn, site: Site, named: dict[str, list[tuple[int, Json]]], place: ColumnOrigin
    ) -> None:
        """Build a column for each key, in the order of the keys; many consecutive keys with single values share one."""
        custom = any(branch.leaf.distance.custom for branches in site.scalars.values() for branch in branches)
        shared = not (site.atomic or custom)  # calls of custom distances are counted by key

        def single(key: str) -> bool:
            return shared and not any(isinstance(value, list | dict) for _, value in named[key])

        for together, run in groupby(sorted(named), key=single):
            keys = list(run)
            if together and len(keys) >= self.many_keys:
                link = self._map(column, site, [(row, key, value) for key in keys for row, value in named[key]], place)
                if link is not None:
                    link.column.key_ranks = link.codes
                    column.maps.append(link)
                continue
            for key in keys:
                entries = [(row, value) for row, value in named[key] if value is not None or not site.absent.null]
                if entries:
                    rows = np.array([row for row, _ in entries], dtype=np.intp)
                    child = self.open(site, [value for _, value in entries], place.below(column, rows, key))
                    column.links.append(Link(child, 1.0))

    def _map(
        self,
        column: ObjectColumn,
        site: Site,
        entries: list[tuple[int, str, Json]],
        place: ColumnOrigin,
        branches: Indices | None = None,
    ) -> MapLink | None:
        """Build the column of (row, key, value) entries of a map; None if all values are absent."""
        entries = [entry for entry in entries if entry[2] is not None or not site.absent.null]
        if not entries:
            return None
        entries.sort(key=lambda entry: entry[:2])
        rows = np.array([row for row, _, _ in entries], dtype=np.intp)
        keys = [key for _, key, _ in entries]
        child = self.open(
            site, [value for _, _, value in entries], place.below(column, rows, STAR, tokens=keys, tags=branches)
        )
        names = {name: code for code, name in enumerate(sorted(set(keys)))}
        codes = np.array([names[key] for key in keys], dtype=np.intp)
        return MapLink(child, starts_of(np.bincount(rows, minlength=column.size)), codes=codes)

    def _matches(self, pattern: regex.Pattern[str], key: str, column: Column, row: int) -> bool:
        """Return whether a key matches a pattern; an error names the object that contains the key."""
        try:
            return pattern.search(key, timeout=PATTERN_SECONDS) is not None
        except TimeoutError as error:
            raise DataError.of(
                f'The pattern "{pattern.pattern}" takes more than {PATTERN_SECONDS:g} s '
                f"on the key {clipped(key, 60)!r}",
                pointer=column.pointer(row),
                hint="Write it without nested repetitions, or name the keys under `properties`.",
            ) from error

    def _items(
        self,
        column: ListColumn,
        site: Site,
        values: Sequence[list[Json]],
        place: ColumnOrigin,
        keys: Sequence[str] = (),
    ) -> None:
        """Build the columns of the positions of `prefixItems` and of the items after them; `keys` are those of maps."""
        node = site.list
        facts = self.plan.facts
        if self.plan.entries[: len(column.path) + 1] == (*column.path, STAR):
            column.entries = self.plan.entries
        column.match_equal_first = (
            node.matcher.full_matching and column.entries is None and node.items in facts.match_equal_first
        )
        column.is_multiset = node.matcher.full_matching and node.items in facts.is_multiset
        column.has_informative_lists = node.items in facts.has_informative_lists
        column.expensive_above = facts.expensive_above.get(node.items, math.inf)
        tags = place.tags if node.tagged else None
        for position, index in enumerate(node.prefix):
            child = self.plan.sites[index]
            rows = [
                row
                for row, value in enumerate(values)
                if len(value) > position and (value[position] is not None or not child.absent.null)
            ]
            if rows:
                below = place.below(column, np.array(rows, dtype=np.intp), position, tags=tags)
                column.links.append(Link(self.open(child, [values[row][position] for row in rows], below), 1.0))
        skipped = len(node.prefix)
        if skipped:
            values = [value[skipped:] for value in values]
        lengths = np.fromiter(map(len, values), dtype=np.intp, count=len(values))
        self.count(int(lengths.sum()))
        items = list(chain.from_iterable(values))
        starts = starts_of(lengths)
        origin = np.arange(len(values), dtype=np.intp).repeat(lengths)
        positions = np.arange(skipped, len(items) + skipped, dtype=np.intp) - starts[:-1].repeat(lengths)
        child = self.plan.sites[node.items]
        types = set(map(type, items))
        if child.absent.null and type(None) in types:
            types.remove(type(None))
            present = np.array([row for row, item in enumerate(items) if item is not None], dtype=np.intp)
            origin, positions = origin[present], positions[present]
            keys = [keys[row] for row in present.tolist()] if keys else keys
            items = [items[row] for row in present.tolist()]
            starts = starts_of(np.bincount(origin, minlength=len(values)))
        column.starts = starts
        if items:
            below = place.below(column, origin, STAR, tokens=keys or positions, tags=tags, item=not column.of_map)
            column.items = self.open(child, items, below, types)


@dataclass(slots=True)
class ColumnOrigin:
    """The position of the values of a new column: fields of `Column`, and data for building its child columns."""

    parent: Column | None
    origin: Indices
    gold: int
    """Number of gold values, which come first."""
    token: Token | None = None
    tokens: Sequence[int | str] | Indices | None = None
    tags: Indices | None = None
    """The parent's branch of a union for each value, if the values depend on it."""
    item: bool = False
    siblings: Sequence[Json] = ()
    """The value of the sibling field that holds further forms, for each gold value."""

    def located(self, error: ArbitreError, row: int) -> ArbitreError:
        """Return the error with the JSON Pointer and the side of its row."""
        above = self.parent.address(int(self.origin[row])) if self.parent is not None else ()
        side = "gold" if row < self.gold else "predicted"
        here, where = pointer((*above, *own_tokens(self.tokens, self.token, row))), f" in the {side} document"
        problems = (
            replace(each, message=each.message + where, pointer=here + (each.pointer or "")) for each in error.problems
        )
        placed = type(error)(*problems)
        if isinstance(placed, FunctionError) and isinstance(error, FunctionError):
            placed.values = error.values
            placed.document = row if self.parent is None else int(self.parent.root_rows(self.origin[[row]])[0])
        return placed

    def surroundings(self, values: Sequence[Json]) -> list[Surroundings]:
        """Return the parent and the document of each value; the value itself is the document if it has no parent."""
        parent, rows = self.parent, self.origin
        while isinstance(parent, MixedColumn) and parent.parent is not None:  # holds the value itself
            parent, rows = parent.parent, parent.origin[rows]
        if parent is None or isinstance(parent, MixedColumn):
            return [Surroundings(None, value) for value in values]
        root: Column = parent
        while root.parent is not None:
            root = root.parent
        documents = root.values_of(parent.root_rows(rows))
        return [Surroundings(*both) for both in zip(parent.values_of(rows), documents, strict=True)]

    def below(
        self,
        column: Column,
        rows: Indices,
        token: Token | None = None,
        *,
        tokens: Sequence[int | str] | Indices | None = None,
        tags: Indices | None = None,
        item: bool = False,
    ) -> ColumnOrigin:
        """Return the origin of the values in these rows (increasing) of the column that was built here.

        `tags` are the branches of all rows of the column.
        """
        gold = int(rows.searchsorted(self.gold))
        return ColumnOrigin(column, rows, gold, token, tokens, None if tags is None else tags[rows], item)


# Branches of unions of objects.


def choose_branch(
    branches: tuple[ObjectBranch, ...], values: Sequence[dict[str, Json]], tags: Indices | None
) -> Indices:
    """Return the index of the branch of each object; shape (values,).

    This is the first branch whose `const` and `enum` fields all match, otherwise the branch with the most keys in
    common; ties go to the first. Keys with absent values are ignored, so that equal values take the same branch.

    Args:
        branches: The branches.
        values: The objects.
        tags: The parent's branch for each object, if branches depend on it.
    """
    chosen = np.zeros(len(values), dtype=np.intp)
    for row, value in enumerate(values):
        numbers: Sequence[int] = range(len(branches))
        if tags is not None:
            tag = int(tags[row])
            numbers = [n for n in numbers if (own_tags := branches[n].tags) is None or tag in own_tags] or numbers
        holding = next((n for n in numbers if branches[n].tests and _all_tests_hold(branches[n], value)), None)
        chosen[row] = max(numbers, key=lambda n: _shared_key_count(branches[n], value)) if holding is None else holding
    return chosen


def _all_tests_hold(branch: ObjectBranch, value: dict[str, Json]) -> bool:
    with suppress(DataError):  # a value that is not JSON is reported when its own column is built
        return all(name in value and canonical(nfc(value[name])) in allowed for name, allowed in branch.tests)
    return False


def _shared_key_count(branch: ObjectBranch, value: dict[str, Json]) -> int:
    return sum(not branch.absent.covers(value[name]) for name in value.keys() & branch.names)


# The second pass over the columns, children first: find absent rows, link parents to the rows that are present.


@singledispatch
def link_children(column: Column, site: Site) -> None:
    """Link a column to the present rows of its child columns, then find which of its own rows are absent.

    The child columns must be linked already.
    """


@link_children.register(ObjectColumn)
def _object(column: ObjectColumn, site: Site) -> None:
    """Link maps and fields of objects to present rows; objects without any are absent if `{}` counts as absent."""
    for entries in column.maps:
        child = entries.column
        rows = np.arange(child.size, dtype=np.intp)
        if child.present is not None:
            rows = entries.index = child.present.nonzero()[0]
            entries.codes = entries.codes[rows]
        counts = np.bincount(child.origin[rows], minlength=column.size)
        entries.starts = starts_of(counts)
        entries.width = int(entries.codes.max(initial=-1)) + 1
        entries.table = child.origin[rows] * entries.width + entries.codes
    link_fields(column)
    if site.absent.object:
        column.present = _nonempty(column)


@link_children.register(MixedColumn)
def _mixed(column: MixedColumn, site: Site) -> None:  # noqa: ARG001  (its child columns know what is absent)
    link_fields(column)
    column.present = _nonempty(column)


@link_children.register(ListColumn)
def _list(column: ListColumn, site: Site) -> None:
    """Link lists to the items that are matched, and compute the keys by which the matching finds partners."""
    items = column.items
    if items is None:
        column.starts = np.zeros(column.size + 1, dtype=np.intp)
    else:
        matched_rows = _rows_to_match(column, items)
        if matched_rows is not None:
            column.index = matched_rows
            column.starts = starts_of(np.bincount(items.origin[matched_rows], minlength=column.size))
            if column.match_keys is not None:
                column.match_keys = column.match_keys[matched_rows]
    column.lengths = counts_of(column.starts)
    link_fields(column)
    column.sizes += column.lengths
    column.multiset_keys = multiset_keys(column)
    if site.absent.array:
        column.present = _nonempty(column)


def link_fields(column: Column) -> None:
    """Index the links and set `sizes` to the total weight of each row's fields, added in the order of the columns."""
    column.sizes = np.zeros(column.size)
    maps = column.maps if isinstance(column, ObjectColumn) else ()
    for link in sorted([*column.links, *maps], key=lambda link: link.column.number):
        if isinstance(link, Link):
            _index(link, column.size)
            column.sizes += link.weight if link.index is None else np.where(link.index[:-1] >= 0, link.weight, 0.0)
        elif link.column.key_ranks is None:
            column.sizes += link.counts()
        else:
            owner = link.column.origin[link.rows(np.arange(link.starts[-1], dtype=np.intp))]
            column.sizes = add_one_by_one(column.sizes, owner, np.ones(len(owner)))


def _index(link: Link, size: int) -> None:
    """Set the index of a link to the present rows of its column; it stays None if row r of the parent holds row r."""
    child = link.column
    if child.size == size and child.present is None:
        return
    link.index = np.full(size + 1, -1, dtype=np.intp)
    rows = np.arange(child.size, dtype=np.intp) if child.present is None else child.present.nonzero()[0]
    link.index[child.origin[rows]] = rows


def _nonempty(column: Column) -> Mask | None:
    mask = column.sizes > 0.0
    return None if mask.all() else mask


def _rows_to_match(column: ListColumn, items: Column) -> Indices | None:
    """Return the rows of `items` to match (None: all), and set the keys of keyed and set matchings."""
    matched_rows = None if items.present is None else items.present.nonzero()[0]
    matcher = column.matcher
    if matcher.candidates is Candidates.SAME_KEY and column.match_keys is None:
        column.match_keys = key_codes(items, matcher.key)
    elif matcher.candidates is Candidates.SAME_VALUE:
        column.match_keys = row_codes(items)
        rows = np.arange(items.size, dtype=np.intp) if matched_rows is None else matched_rows
        _, first = np.unique(np.stack([items.origin[rows], column.match_keys[rows]]), axis=1, return_index=True)
        matched_rows = rows[np.sort(first)]
    return matched_rows
