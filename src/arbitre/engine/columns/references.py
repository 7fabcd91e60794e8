"""Items with ids and the references to them, in the columns of documents, and copies of the columns with other codes.

Every item of a scope has a number, and every reference the number of the item that it refers to. What counts as equal
is decided later: each item gets a code, and a reference has the code of its item. Columns are built once and copied
with the codes of each correspondence, which takes a few percent of the time of building them.

For example, gold has the persons Ada and Bob (items 0 and 1), a prediction has Bob (item 2). If Bob is the partner
of Bob, the codes are [0, 1, 1].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.comparison.references import ReferenceNote, ReferredItem
from arbitre.distances.base import BroadcastPool
from arbitre.engine.columns.column import Column, LeafColumn, ListColumn, copied
from arbitre.errors import Problem
from arbitre.matching import Candidates, Matcher
from arbitre.matching.assignment import keyed
from arbitre.normalizers import normalize
from arbitre.parsing.fast_json import compact
from arbitre.schema.nodes import Identity, Reference
from arbitre.values import ABSENT, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.comparison.references import Id
    from arbitre.normalizers import Normalizer
    from arbitre.schema.nodes import Site
    from arbitre.values import Json

NO_ITEM: Final = -1
"""Number of the item that a value refers to if the value is absent."""

BY_CORRESPONDENCE: Final = Matcher("correspondence", keyed, Candidates.SAME_KEY)
"""Matches the items of two lists that are partners."""

_TITLES: Final = ("name", "label", "title")
"""Fields that name an item, if it has one of them."""

EQUAL_CODES: Final = BroadcastPool(lambda left, right: np.not_equal(left, right).astype(np.float64))
"""Pool of references: two of them have distance 0 if their codes are equal, otherwise 1."""


def identity_of(column: ListColumn, items: Column) -> Identity | None:
    """Return what identifies the items of lists, or the values of maps; None if they have no ids."""
    keys = column.site.object.keys
    return (keys if isinstance(keys, Identity) else None) if column.of_map else items.site.identity


@dataclass(frozen=True, eq=False, slots=True)
class IdentifiedItems:
    """A column of lists, or of maps, whose items have ids of a scope.

    Attributes:
        column: The column of the lists, as it was built.
        items: The column of the items.
        identity: What identifies the items.
        first: Number of the first item; the others follow in the order of the rows of `items`.
    """

    column: ListColumn
    items: Column
    identity: Identity
    first: int


@dataclass(eq=False, slots=True)
class ReferenceIndex:
    """The items and the references of the columns of documents.

    Attributes:
        columns: The columns as they were built, before they were linked.
        gold: Number of gold documents, which are the first rows of the root.
        link: Links copies of the columns, children first.
        shared: Scopes whose ids all documents of a corpus share.
        fixed: Whether equal ids of these scopes already denote the same item: predicted ids were mapped to gold.
        lists: The lists of items.
        scopes: Scope of each item.
        roots: Row of the root column that contains each item; shape (items,).
        keys: Id of each item; None if it has none, or if an earlier item of its document has the same.
        repeated: Items of predictions with the id of an earlier item of their document.
        targets: By column number, the item that each row refers to, a number from `len(roots)` on for each distinct id
            that no item has, or `NO_ITEM`.
        dangling: Document, scope and id of each of these numbers.
        problems: Errors of gold: repeated ids, references that have no item, and values that cannot be ids.
    """

    columns: Sequence[Column]
    gold: int
    link: Callable[[Sequence[Column]], None]
    shared: frozenset[str] = frozenset()
    fixed: bool = False
    lists: list[IdentifiedItems] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    roots: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    keys: list[Id | None] = field(default_factory=list)
    repeated: list[int] = field(default_factory=list)
    targets: dict[int, Indices] = field(default_factory=dict)
    dangling: list[tuple[int, str, Id]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        gold: int,
        link: Callable[[Sequence[Column]], None],
        shared: frozenset[str] = frozenset(),
        *,
        fixed: bool = False,
    ) -> ReferenceIndex:
        """Index the items and the references of columns that are not linked yet. The arguments are attributes."""
        index = cls(columns, gold, link, shared, fixed)
        known: dict[tuple[int, str, Id], int] = {}
        roots = [np.empty(0, dtype=np.intp)]
        for column in columns:
            if isinstance(column, ListColumn) and column.items is not None:
                identity = identity_of(column, column.items)
                if identity is not None:
                    roots.append(index._add_items(column, column.items, identity, known))
        index.roots = np.concatenate(roots)
        for column in columns:
            reference, values = _references_of(column)
            if reference is not None:
                index._add_references(column, reference, values, known)
        return index

    def _add_items(
        self, column: ListColumn, items: Column, identity: Identity, known: dict[tuple[int, str, Id], int]
    ) -> Indices:
        """Number the items of a list column; return their documents."""
        roots = items.root_rows(np.arange(items.size, dtype=np.intp))
        self.lists.append(IdentifiedItems(column, items, identity, len(self.keys)))
        values = _key_values(items, identity, of_map=column.of_map)
        for row, (root, key) in enumerate(zip(roots.tolist(), _keys(values, identity.normalizers), strict=True)):
            number = len(self.keys)
            place = (root, identity.scope, key) if key is not None else None
            repeated = place is not None and known.setdefault(place, number) != number
            if place is not None and repeated:
                self.repeated.append(number)
                if root < self.gold:
                    self.problems.append(self._repeated(known[place], items, row, identity, values[row]))
            elif root < self.gold and key is None and (wrong := _unusable(values[row])) is not ABSENT:
                self.problems.append(_not_an_id(f"an id of the scope `{identity.scope}`", items, row, wrong))
            self.keys.append(None if repeated else key)
            self.scopes.append(identity.scope)
        return roots

    def _add_references(
        self, column: Column, reference: Reference, values: Sequence[Json], known: dict[tuple[int, str, Id], int]
    ) -> None:
        """Find the items that the rows of a column refer to."""
        holders = column.items if isinstance(column, ListColumn) and column.items is not None else column
        roots = holders.root_rows(np.arange(len(values), dtype=np.intp)).tolist()
        parts = [_several(value, reference.key) for value in values] if reference.key else values
        targets = []
        keys = _keys(parts, reference_normalizers(column.site))
        for row, (root, key) in enumerate(zip(roots, keys, strict=True)):
            if key is None:
                targets.append(NO_ITEM)
                if root < self.gold and (wrong := _unusable(parts[row])) is not ABSENT:
                    self.problems.append(_not_an_id(f"a reference to `{reference.scope}`", holders, row, wrong))
                continue
            place = root, reference.scope, key
            number = known.get(place)
            if number is None:
                number = known[place] = len(self.keys) + len(self.dangling)
                self.dangling.append(place)
            if root < self.gold and number >= len(self.keys) and reference.scope not in self.shared:
                self.problems.append(_dangling(holders, row, reference, values[row]))
            targets.append(number)
        self.targets[column.number] = np.array(targets, dtype=np.intp)

    def _repeated(self, first: int, items: Column, row: int, identity: Identity, value: Json) -> Problem:
        """Return the problem of two gold items with the same id."""
        listed = self._list_of(first)
        other = listed.items.pointer(first - listed.first)
        message = f"Two items in gold have the id {value!r} of the scope `{identity.scope}`; the other one is {other}"
        return Problem(message, pointer=items.pointer(row), hint="Give each item in gold an id of its own.")

    @property
    def size(self) -> int:
        """Number of items, and of ids without an item."""
        return len(self.keys) + len(self.dangling)

    def items_of(self, root: int) -> list[int]:
        """Return the numbers of the items of a document, in order."""
        return [int(number) for number in (self.roots == root).nonzero()[0]]

    def documents_of(self, numbers: Indices) -> Indices:
        """Return the row of the root column that contains each item, or each id without an item; shape (numbers,)."""
        own = np.array([root for root, _, _ in self.dangling], dtype=np.intp)
        return np.concatenate([self.roots, own])[numbers]

    def place_of(self, number: int) -> tuple[str, Id] | None:
        """Return the scope and the id of an item, or of an id without an item; None for an item without an id."""
        if number < 0:
            return None
        if number >= len(self.keys):
            return self.dangling[number - len(self.keys)][1:]
        key = self.keys[number]
        return None if key is None else (self.scopes[number], key)

    def with_fixed(self, codes: Indices) -> Indices:
        """Return codes in which the same ids of shared scopes are equal, if they stand for the same items."""
        if not self.fixed:
            return codes
        scopes = [*self.scopes, *(scope for _, scope, _ in self.dangling)]
        shared = np.fromiter((scope in self.shared for scope in scopes), dtype=np.bool_, count=len(scopes))
        return np.where(shared, self.codes_of_ids(), codes)

    def codes_of_ids(self) -> Indices:
        """Return codes by which the same ids are equal in all documents, on both sides; shape (size,)."""
        known: dict[tuple[str, Id], int] = {}
        own = [*zip(self.scopes, self.keys, strict=True), *((scope, key) for _, scope, key in self.dangling)]
        codes = (at if key is None else known.setdefault((scope, key), at) for at, (scope, key) in enumerate(own))
        return np.fromiter(codes, dtype=np.intp, count=len(own))

    def recoded(self, codes: Indices, *, paired: bool) -> list[Column]:
        """Return linked copies of the columns in which items and references have codes.

        Args:
            codes: Code of each item and of each id without an item; shape (size,). References to items of the same
                code are equal.
            paired: Whether only items of the same code are matched; otherwise items are matched by what they
                contain.
        """
        copies, codes = copied(self.columns), self.with_fixed(codes)
        for number, targets in self.targets.items():
            column, own = copies[number], np.where(targets >= 0, codes[targets], -1)
            if isinstance(column, LeafColumn):
                self._set_codes(column, own)
            elif isinstance(column, ListColumn) and paired:
                _match_by_code(column, own)
        for listed in self.lists:
            if paired or (self.fixed and listed.identity.scope in self.shared):
                column = copies[listed.column.number]
                if isinstance(column, ListColumn):
                    _match_by_code(column, codes[listed.first : listed.first + listed.items.size])
        self.link(copies)
        return copies

    def _set_codes(self, column: LeafColumn, codes: Indices) -> None:
        """Give a column of references its codes, a value for each, and a pool that compares them."""
        present = codes >= 0
        distinct, own = np.unique(codes[present], return_inverse=True)
        column.codes = np.full(len(codes), -1, dtype=np.intp)
        column.codes[present] = own
        column.values = [self.name_of(code) for code in distinct.tolist()]
        column.kinds = np.full(len(distinct), int(Kind.STRING), dtype=np.int8)
        column.slots = np.zeros(len(distinct), dtype=np.int16)
        column.local = np.arange(len(distinct), dtype=np.intp)
        column.pools, column.leaves = (EQUAL_CODES,), column.leaves[:1]
        column.present = None if present.all() else present
        column.references = self

    def key_at(self, number: int) -> Id:
        """Return the id of an item, also if an earlier item has the same, or an id without an item."""
        if number >= len(self.keys):
            return self.dangling[number - len(self.keys)][2]
        listed = self._list_of(number)
        values = _key_values(listed.items, listed.identity, of_map=listed.column.of_map)
        return _keys([values[number - listed.first]], listed.identity.normalizers)[0]  # type: ignore[return-value]

    def notes(self, column: LeafColumn, left: Indices, right: Indices) -> list[ReferenceNote | None]:
        """Return a note on each pair of references that is not right; None for the others, and for rows of no value."""
        targets = self.targets[column.number]
        notes: list[ReferenceNote | None] = []
        for gold, predicted in zip(left.tolist(), right.tolist(), strict=True):
            codes = [int(column.codes[row]) if row >= 0 else -1 for row in (gold, predicted)]
            if codes[0] == codes[1] or max(codes) < 0:
                notes.append(None)
                continue
            numbers = [int(targets[row]) if row >= 0 else NO_ITEM for row in (gold, predicted)]
            names = [None if number < 0 else self.title_of(number) for number in numbers]
            if names[0] == names[1]:
                names = [f"{name} ({self.key_at(number)})" for name, number in zip(names, numbers, strict=True)]
            notes.append(ReferenceNote(names[1], numbers[1] >= len(self.keys), names[0]))
        return notes

    def referred(self, column: LeafColumn, rows: Indices) -> list[ReferredItem | None]:
        """Return the item that each row of a column of references points to; None for absent values."""
        found: list[ReferredItem | None] = []
        for number in self.targets[column.number][rows].tolist():
            if number < 0:
                found.append(None)
            elif number >= len(self.keys):
                found.append(ReferredItem(self.title_of(number), None, ()))
            else:
                items = self._list_of(number)
                address = items.items.address(number - items.first)
                found.append(ReferredItem(self.title_of(number), items.items.path, address))
        return found

    def scope_of(self, column: LeafColumn) -> str:
        """Return the scope that the rows of a column refer to."""
        reference = column.site.reference
        return "" if reference is None else reference.scope

    def targets_of(self, column: LeafColumn) -> Indices:
        """Return the number of the item that each row of a column refers to; `NO_ITEM` for absent values."""
        return self.targets[column.number]

    def _list_of(self, number: int) -> IdentifiedItems:
        """Return the list of an item."""
        return next(each for each in reversed(self.lists) if each.first <= number)

    def title_of(self, number: int) -> str:
        """Return a title for an item: its name, label or title, its first text, or its id."""
        if number >= len(self.keys):
            return str(self.key_at(number))
        listed = self._list_of(number)
        value = listed.items.raw[number - listed.first]
        own = value if isinstance(value, dict) else {}
        texts = {key: text for key, text in own.items() if isinstance(text, str) and key not in listed.identity.key}
        title = next((texts[key] for key in _TITLES if key in texts), next(iter(texts.values()), None))
        return str(self.key_at(number)) if title is None else title

    def name_of(self, number: int) -> str:
        """Return a name for an item, or for an id without an item; partners have the name of the gold item.

        Items of gold have other names than those of predictions.
        """
        if number < len(self.keys):
            key, root = self.keys[number], int(self.roots[number])
        else:
            root, _, key = self.dangling[number - len(self.keys)]
        return f"{key}" if root < self.gold else f"{key} (predicted)"


def _match_by_code(column: ListColumn, codes: Indices) -> None:
    """Match the items of lists by their codes only."""
    column.matcher, column.match_keys = BY_CORRESPONDENCE, codes
    column.match_equal_first = column.is_multiset = False


def _references_of(column: Column) -> tuple[Reference | None, Sequence[Json]]:
    """Return what the rows of a column refer to, and the values that refer; None if they are no references."""
    if isinstance(column, LeafColumn) and column.site.reference is not None:
        return column.site.reference, [
            value if code >= 0 else None for value, code in zip(column.raw, column.codes.tolist(), strict=True)
        ]
    if isinstance(column, ListColumn) and column.of_map and isinstance(column.site.object.keys, Reference):
        names = () if column.items is None else column.items.tokens_of(np.arange(column.items.size, dtype=np.intp))
        return column.site.object.keys, names
    return None, ()


def _key_values(items: Column, identity: Identity, *, of_map: bool) -> list[Json]:
    """Return the value that identifies each item, or a tuple of several; None for an item without it."""
    if of_map:
        return items.tokens_of(np.arange(items.size, dtype=np.intp))
    if len(identity.key) == 1:
        (name,) = identity.key
        return [value.get(name) if isinstance(value, dict) else None for value in items.raw]
    return [_several(value, identity.key) for value in items.raw]


def _several(value: Json, names: Sequence[str]) -> Json:
    """Return the values of several keys of an object as a tuple; None if it is no object."""
    return tuple(map(value.get, names)) if isinstance(value, dict) else None


def _keys(values: Sequence[Json], normalizers: tuple[tuple[Normalizer, ...], ...]) -> list[Id | None]:
    """Return the normalised id of each value, or of each tuple of values; None if it is no id (see `key_of`)."""
    known: dict[Any, Id | None] = {}
    keys: list[Id | None] = []
    for value in values:
        if isinstance(value, tuple):
            keys.append(key_of(value, normalizers))
            continue
        identical = (type(value), value) if isinstance(value, str | int | float) else None
        if identical not in known:
            known[identical] = None if identical is None else key_of(value, normalizers)
        keys.append(known[identical])
    return keys


def key_of(value: Json, normalizers: tuple[tuple[Normalizer, ...], ...]) -> Id | None:
    """Return the normalised id; None unless all of its parts are texts or integers. 1.0 is the integer 1."""
    parts = value if isinstance(value, tuple) else (value,)
    normal = [_whole(normalize(own, part)) for own, part in zip(normalizers, parts, strict=True)]
    if not all(_is_text_or_integer(part) for part in normal):
        return None
    return tuple(normal) if isinstance(value, tuple) else normal[0]


def reference_normalizers(site: Site) -> tuple[tuple[Normalizer, ...], ...]:
    """Return the normalisers of each part of the references at a position."""
    key = () if site.reference is None else site.reference.key
    return (site.normalizers if site.leaf is None else site.leaf.normalizers,) * (len(key) or 1)


def referred_id(site: Site, value: Json) -> Id | None:
    """Return the normalised id that a reference at a position contains; None if it contains none."""
    key = () if site.reference is None else site.reference.key
    return key_of(_several(value, key) if key else value, reference_normalizers(site))


def _dangling(column: Column, row: int, reference: Reference, value: Json) -> Problem:
    """Return the problem of a gold reference without an item."""
    message = f"The reference {value!r} in gold is dangling: no item of the scope `{reference.scope}` has this id"
    return Problem(message, pointer=column.pointer(row), hint="Add the item to gold, or remove the reference.")


def _not_an_id(role: str, column: Column, row: int, value: Json) -> Problem:
    """Return the problem of a gold value that cannot be an id."""
    message = f"Expected {role} in gold to be a text or an integer, got {compact(value)}"
    return Problem(message, pointer=column.pointer(row), hint="Correct the value in gold.")


def _unusable(value: Json) -> Json:
    """Return the part of an id that is neither absent, nor a text, nor an integer; ABSENT if there is none."""
    parts = value if isinstance(value, tuple) else (value,)
    usable = (part is None or part is ABSENT or _is_text_or_integer(_whole(part)) for part in parts)
    return next((part for part, good in zip(parts, usable, strict=True) if not good), ABSENT)


def _whole(value: Json) -> Json:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_text_or_integer(value: Json) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def shares(columns: Sequence[Column]) -> dict[int, Floats]:
    """Return each row's weight as a fraction of its document, by column number: the product of the weights above it.

    Args:
        columns: Linked columns, parents before children.
    """
    found: dict[int, Floats] = {}
    for column in columns:
        parent = column.parent
        if parent is None:
            found[column.number] = np.ones(column.size)
            continue
        weight = next((link.weight for link in parent.links if link.column is column), 1.0)
        sizes = np.maximum(parent.sizes, weight)[column.origin]
        found[column.number] = found[parent.number][column.origin] * weight / sizes
    return found
