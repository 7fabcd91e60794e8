"""Documents as columns: one column for each path of the schema, with one row for each value at this path.

A column contains the values of all documents: gold first, then predicted, each in document order. It does not know
which rows are compared. There are four kinds: `LeafColumn` for single values, `ObjectColumn`, `ListColumn`, and
`MixedColumn` for values of several kinds.

A column finds the rows of its children, the columns below it, in two ways:

* `links`: children of which each row holds at most one row: the fields of an object, the positions of `prefixItems`,
  the kinds of a mixed column;
* `slices`: children of which each row holds any number of rows: the entries of a map, the items of a list.

For example, the documents {"name": "Ada", "pages": [1, 2]} (gold) and {"name": "Bob", "pages": [3]} (predicted) are
four columns:

    path      rows              held by the rows of the parent       origin
    ()        both documents
    /name     "Ada", "Bob"      link: row r holds row r              0, 1
    /pages    [1, 2], [3]       link: row r holds row r              0, 1
    /pages/*  1, 2, 3           slices: starts = 0, 2, 3, so that    0, 0, 1
                                row 0 holds rows 0:2, row 1 row 2

`origin` leads back: it is the row of the parent that holds each row. A row of -1 stands for no row.

Functions that differ by kind, such as `link_children`, use `functools.singledispatch`.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from arbitre.engine.columns.ragged import counts_of, expand_slices, take_or
from arbitre.matching import Candidates
from arbitre.paths import STAR, Path, Token, pointer, wildcard
from arbitre.values import ABSENT, Json, Kind, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.comparison.references import ReferenceNote, ReferredItem
    from arbitre.distances.base import Pool
    from arbitre.engine.columns.alternatives import AcceptedForms
    from arbitre.errors import FunctionError
    from arbitre.matching import Matcher
    from arbitre.schema.nodes import Leaf, Site


Values = TypeVar("Values", bound=npt.NDArray[Any])


def own_tokens(tokens: Sequence[int | str] | Indices | None, token: Token | None, row: int) -> tuple[int | str, ...]:
    """Return the token that leads from the parent of a column to a row; () for a root or a kind of a mixed column.

    Args:
        tokens: Token of each row; None if it is the same for all.
        token: Token of the column.
        row: The row.
    """
    if tokens is not None:
        own = tokens[row]
        return (own if isinstance(own, str) else int(own),)
    return () if token is None or token is STAR else (token,)


@dataclass(eq=False, slots=True)
class Column:
    """The values at one path, with their positions in the documents and their child columns."""

    number: int
    """Position among all columns; parents come before children."""
    path: Path
    """Wildcard path of the values."""
    size: int
    """Number of rows."""
    parent: Column | None
    """The column whose rows hold the rows of this one; None for the documents."""
    origin: Indices
    """Row of `parent` that holds each row; shape (size,)."""
    token: Token | None = None
    """Key or position of all rows in their parents. `STAR` if `tokens` gives one for each row; None for the documents
    and for a kind of a mixed column, whose rows are the parent's own values."""
    tokens: Sequence[int | str] | Indices | None = None
    """Key or position of each row in its parent; shape (size,)."""
    key_ranks: Indices | None = None
    """Set if the rows are the values of many undeclared keys, which share this column to save columns: rank of the key
    of each row; shape (size,). The path of each row then ends with its own key. None if all rows have the path of the
    column."""
    item: bool = False
    """Whether the rows are items of lists, or the items of one kind."""
    raw: Sequence[Json] = ()
    """The values as they were read; shape (size,)."""
    present: Mask | None = None
    """Mask of the rows that are not absent; shape (size,), None for all."""
    sizes: Floats = field(default_factory=lambda: np.empty(0))
    """Mass of each row in a tally: the total weight of an object's fields, the number of a list's items, 1 in a mixed
    column. Shape (size,), empty for leaves."""
    links: list[Link] = field(default_factory=list)
    """Children of which each row holds at most one row."""
    site: Site = field(kw_only=True)
    """The position in the schema."""
    tags: Indices | None = None
    """The parent's branch of a union for each row, if the values depend on it; shape (size,)."""
    memo: Memo | None = None
    """Results that are kept for copies of the column; None if nothing is kept."""

    @property
    def slices(self) -> Sequence[Slices]:
        """Children of which each row holds any number of rows."""
        return ()

    def tokens_of(self, rows: Indices) -> list[int | str]:
        """Return the key or position of each row in its parent; "" at the root."""
        column: Column = self
        while column.token is None and column.parent is not None:  # a kind of a mixed column has its parent's tokens
            rows, column = column.origin[rows], column.parent
        if column.tokens is None:
            return [column.token if isinstance(column.token, (str, int)) else ""] * len(rows)
        if isinstance(column.tokens, np.ndarray):
            return column.tokens[rows].tolist()  # type: ignore[no-any-return]
        return [column.tokens[row] for row in rows.tolist()]

    def values_of(self, rows: Indices) -> list[Json]:
        """Return the value of each row, as it was read."""
        return [self.raw[row] for row in rows.tolist()]

    def normalized_values_of(self, rows: Indices) -> list[Json]:
        """Return the normalised value of each row, or a list if it has several accepted forms.

        Objects and lists that are compared item by item are returned as they were read.
        """
        return self.values_of(rows)

    def accepted_forms(self, left: Indices, right: Indices) -> list[Json]:  # noqa: ARG002
        """Return the accepted form that each pair of rows was compared with; ABSENT if gold has only one."""
        return [ABSENT] * len(left)

    def referred(self, rows: Indices) -> list[ReferredItem | None]:
        """Return the item that each row refers to; None for rows that are no references."""
        return [None] * len(rows)

    def reference_notes(self, left: Indices, right: Indices) -> list[ReferenceNote | None]:  # noqa: ARG002
        """Return a note on each pair of rows that are references and are not right; None for all others."""
        return [None] * len(left)

    def kinds_at(self, rows: Indices) -> npt.NDArray[np.int8]:
        """Return the `Kind` of each row; -1 for a negative row."""
        return np.where(rows >= 0, self._kinds(rows), np.int8(-1))

    def kinds_of(self, left: Indices, right: Indices) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Return the `Kind` of the gold and of the predicted row of each pair; -1 for a negative row.

        If a value has several accepted forms, a pair is a mismatch of kinds only if the prediction has a form of a kind
        that gold has no form of. The predicted kind is then that kind; otherwise both sides have the same kind.
        """
        return self.kinds_at(left), self.kinds_at(right)

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        """Return the `Kind` of each row; any value for a negative row."""
        raise NotImplementedError

    def address(self, row: int) -> tuple[int | str, ...]:
        """Return the tokens from the root of the document to a row."""
        tokens: list[int | str] = []
        column: Column | None = self
        while column is not None:
            tokens += own_tokens(column.tokens, column.token, row)
            row = int(column.origin[row])
            column = column.parent
        return tuple(reversed(tokens))

    def root_rows(self, rows: Indices) -> Indices:
        """Return the row of the root column that holds each row; shape (rows,)."""
        column: Column = self
        while column.parent is not None:
            rows, column = column.origin[rows], column.parent
        return rows

    def pointer(self, row: int) -> str:
        """Return the JSON Pointer of a row."""
        return pointer(self.address(row))


@dataclass(eq=False, slots=True)
class Link:
    """A child column of which each parent row holds at most one row.

    If the second of three objects has no name, the link to the column of names has the index [0, -1, 1, -1].
    """

    column: Column
    """The child."""
    weight: float
    """Weight of the field in the quality of the parent."""
    index: Indices | None = None
    """Row of `column` that each parent row holds, or -1; None if row r holds row r. Shape (parent rows + 1,): the last
    element is -1, so that row -1 (no row) holds none."""

    def rows(self, above: Indices) -> Indices:
        """Return the row held by each of these parent rows, or -1."""
        return above if self.index is None else self.index[above]


@dataclass(eq=False, slots=True)
class Slices:
    """A child column of which each parent row holds any number of rows.

    Parent row r holds the entries `starts[r]:starts[r + 1]`. Entry e is row `index[e]` of `column`, or row e if `index`
    is None. The entries of the lists [1, 2], [] and [3] are 0:2, 2:2 and 2:3, so `starts` is [0, 2, 2, 3].
    """

    column: Column
    """The child."""
    starts: Indices
    """First entry of each parent row, then the number of entries; shape (parent rows + 1,)."""
    index: Indices | None = None
    """Row of `column` of each entry that counts, such as those that are not absent; shape (entries,)."""
    in_order: bool = False
    """Whether the position of entries matters when parent rows are compared."""

    def rows(self, entries: Indices) -> Indices:
        """Return the row of each of these entries."""
        return entries if self.index is None else self.index[entries]

    def counts(self) -> Indices:
        """Return the number of entries of each parent row."""
        return counts_of(self.starts)

    def below(self, above: Indices) -> tuple[Indices, Indices]:
        """Return all rows that the parent rows `above` hold, in order, after the position in `above` of their parents.

        In the example of `Slices`, the parent rows [2, 0] hold the rows [2, 0, 1], with the positions [0, 1, 1].
        """
        owner, entries = expand_slices(self.starts, above)
        return owner, self.rows(entries)

    def keys(self) -> Indices | None:
        """Return a code for each entry that must agree for two entries to be equal; None if order does not matter.

        This is the position of the entry in its parent: [0, 1, 0] in the example of `Slices`.
        """
        if not self.in_order:
            return None
        return np.arange(self.starts[-1], dtype=np.intp) - self.starts[:-1].repeat(self.counts())


@dataclass(eq=False, slots=True)
class MapLink(Slices):
    """The entries of objects that are maps, or many undeclared keys with single values (see `Column.key_ranks`).

    The keys of the maps {"a": 1, "b": 2} and {"b": 3} have the codes a = 0 and b = 1, so `codes` is [0, 1, 1], `width`
    is 2 and `table` is [0, 1, 3]. Row r has the key with code c if r * 2 + c is in the table; its position there is the
    entry.
    """

    codes: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Code of the key of each entry; shape (entries,)."""
    width: int = 0
    """Number of different keys."""
    table: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Parent row * `width` + code of each entry, increasing; shape (entries,)."""

    def keys(self) -> Indices:
        """Return the code of the key of each entry."""
        return self.codes


class ReferenceNotes(Protocol):
    """States what references point to."""

    def notes(self, column: LeafColumn, left: Indices, right: Indices) -> list[ReferenceNote | None]:
        """Return a note on each pair of rows of a column that is not right; None for the others."""
        ...

    def referred(self, column: LeafColumn, rows: Indices) -> list[ReferredItem | None]:
        """Return the item that each row of a column refers to; None for absent values."""
        ...

    def scope_of(self, column: LeafColumn) -> str:
        """Return the scope that the rows of a column refer to."""
        ...

    def targets_of(self, column: LeafColumn) -> Indices:
        """Return the number of the item that each row of a column refers to; negative for absent values."""
        ...


@dataclass(eq=False, slots=True)
class LeafColumn(Column):
    """Normalised single values; equal values share a code.

    Each code belongs to a slot, which determines how its values are compared: by the distance of `leaves[slot]`, which
    `pools[slot]` has prepared for all values of the slot. The values of a slot have one kind. Most columns have one
    slot. Values in different slots have distance 1.
    """

    codes: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Code of each row; -1 if absent. Shape (size,)."""
    values: Sequence[Json] = ()
    """Normalised value of each code; shape (codes,)."""
    kinds: npt.NDArray[np.int8] = field(default_factory=lambda: np.empty(0, dtype=np.int8))
    """`Kind` of each code; shape (codes,)."""
    slots: npt.NDArray[np.int16] = field(default_factory=lambda: np.empty(0, dtype=np.int16))
    """Slot of each code: its index in `pools` and `leaves`; shape (codes,)."""
    local: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Index of the value of each code within the pool of its slot; shape (codes,)."""
    pools: tuple[Pool, ...] = ()
    """Pool of each slot."""
    leaves: tuple[Leaf, ...] = ()
    """Distance and normalisers of each slot."""
    forms: AcceptedForms | None = None
    """The accepted forms of the rows, if gold may have several. A code then stands for a list of forms."""
    references: ReferenceNotes | None = None
    """States what the rows point to, if they are references."""

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        return self.kinds[self.codes[rows]]

    def kinds_of(self, left: Indices, right: Indices) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        gold, predicted = super(LeafColumn, self).kinds_of(left, right)
        if self.forms is None:
            return gold, predicted
        masks = np.append(self.forms.pool.masks, 0)  # bit k: the value has a form of kind k; none for an absent value
        gold_kinds, predicted_kinds = (masks[self.codes[rows]] for rows in (left, right))
        pairs = (left >= 0) & (right >= 0)
        lacking = predicted_kinds & ~gold_kinds
        stated = np.where(lacking > 0, lacking, predicted_kinds)
        kinds = np.log2(np.maximum(stated & -stated, 1)).astype(np.int8)  # the kind of the lowest bit
        return np.where(pairs & (lacking == 0), kinds, gold), np.where(pairs, kinds, predicted)

    def normalized_values_of(self, rows: Indices) -> list[Json]:
        if self.forms is not None:
            return list(map(self.forms.normalized, rows.tolist()))
        return [ABSENT if code < 0 else self.values[code] for code in self.codes[rows].tolist()]

    def accepted_forms(self, left: Indices, right: Indices) -> list[Json]:
        if self.forms is None:
            return super(LeafColumn, self).accepted_forms(left, right)
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return [ABSENT if min(pair) < 0 else self.forms.used(*pair) for pair in pairs]

    def referred(self, rows: Indices) -> list[ReferredItem | None]:
        return (
            super(LeafColumn, self).referred(rows) if self.references is None else self.references.referred(self, rows)
        )

    def reference_notes(self, left: Indices, right: Indices) -> list[ReferenceNote | None]:
        if self.references is None:
            return super(LeafColumn, self).reference_notes(left, right)
        return self.references.notes(self, left, right)


@dataclass(eq=False, slots=True)
class _Container(Column):
    """Objects or lists."""

    kind: ClassVar[Kind]

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        return np.full(len(rows), int(self.kind), dtype=np.int8)


@dataclass(eq=False, slots=True)
class ObjectColumn(_Container):
    """Objects, with a link for each declared or undeclared key and slices for each map of further keys."""

    kind: ClassVar[Kind] = Kind.OBJECT
    maps: list[MapLink] = field(default_factory=list)

    @property
    def slices(self) -> Sequence[Slices]:
        return self.maps


@dataclass(frozen=True, eq=False, slots=True)
class MultisetKeys:
    """Keys by which equal items of two lists are paired: the t-th occurrence with the t-th occurrence.

    The items of the lists ["x", "y", "x"] and ["x"] have the keys 0, 1, 2 and 0: the second "x" of a list has a key of
    its own. With a width of 4, `table` is [0, 1, 2, 4]. List r has an item with key k if r * 4 + k is in the table.

    Items whose kind the schema does not declare are equal to no other item.
    """

    keys: Indices
    """Key of each item; shape (items,). Items of two different lists are partners if and only if their keys are
    equal."""
    width: int
    """A number above all keys."""
    table: Indices
    """Row * `width` + key of all items, increasing; shape (items,)."""
    order: Indices
    """Item of each element of `table`; shape (items,)."""
    has_uncountable: Mask
    """Mask of the lists with items of undeclared kinds; shape (size,). Two of these are not matched by counting."""


@dataclass(eq=False, slots=True)
class ListColumn(_Container):
    """Lists, with a link for each position of `prefixItems`; row r holds the items `starts[r]:starts[r + 1]`."""

    kind: ClassVar[Kind] = Kind.ARRAY
    matcher: Matcher = field(kw_only=True)
    """How the items of two lists are paired."""
    of_map: bool = False
    """Whether the rows are maps whose keys are ids or references; their values are compared like the items of lists."""
    items: Column | None = None
    """The column of the items; None if no list has items."""
    starts: Indices = field(default_factory=lambda: np.zeros(1, dtype=np.intp))
    """First item of each row, then the number of items; shape (size + 1,)."""
    index: Indices | None = None
    """Row of `items` of each item; shape (items,). None if item i is row i."""
    lengths: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Number of items of each row, without those of `prefixItems`; shape (size,)."""
    match_keys: Indices | None = None
    """Code of the key of each item in a keyed or set matching, which pairs equal keys only; -1 for no partner."""
    multiset_keys: MultisetKeys | None = None
    """Set if two items always have distance 0 or 1."""
    match_equal_first: bool = False
    """Whether equal items may be matched first without losing optimality."""
    is_multiset: bool = False
    """Whether two items always have distance 0 or 1."""
    has_informative_lists: bool = False
    """Whether items contain lists whose items can have distances between 0 and 1."""
    entries: Path | None = None
    """Path of the list of entries if it is in the items; ties between matchings are then broken by the entries."""
    expensive_above: float = math.inf
    """Number of pairs of items above which expensive comparisons are deferred."""
    known_bounds: KnownBounds | None = None
    """Upper bounds of the qualities of the items, from the last lazy matching of lists that were not inside another."""

    @property
    def slices(self) -> Sequence[Slices]:
        if self.items is None:
            return ()
        return (Slices(self.items, self.starts, self.index, self.matcher.in_order),)

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        return np.full(len(rows), int(Kind.OBJECT if self.of_map else Kind.ARRAY), dtype=np.int8)

    @property
    def can_be_lazy(self) -> bool:
        """Whether the matching may be computed with upper bounds of some qualities; a custom matching needs all."""
        return self.matcher.candidates is Candidates.ALL and not self.matcher.custom

    @property
    def matched_optimally(self) -> bool:
        """Whether the matching of two lists has the greatest sum of qualities, perhaps with a gate."""
        return self.matcher.full_matching or self.matcher.gate is not None

    def rows(self, slots: Indices) -> Indices:
        """Return the row of `items` of each of these items, given by their position in `starts`."""
        return slots if self.index is None else self.index[slots]


@dataclass(eq=False, slots=True)
class MixedColumn(Column):
    """Values of several kinds, with a link for each kind; each row holds one row of one kind.

    It is compared like an object with one field per kind: values of different kinds share no field, so their quality
    is 0.
    """

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        kinds = np.full(len(rows), -1, dtype=np.int8)
        for link in self.links:
            below = link.rows(rows)
            linked = (below >= 0).nonzero()[0]
            kinds[linked] = link.column.kinds_at(below[linked])
        return kinds


def by_kind(column: Column) -> Sequence[Link]:
    """Return a link for each kind of a mixed column; for any other column, one link to itself."""
    return column.links if isinstance(column, MixedColumn) else (Link(column, 1.0),)


def below_transport(column: Column) -> bool:
    """Return whether the rows lie in items of lists that are matched by transport."""
    while column.parent is not None:
        above = column.parent
        if isinstance(above, ListColumn) and above.items is column and above.matcher.transport is not None:
            return True
        column = above
    return False


def leaf_columns(columns: Iterable[Column]) -> Iterator[LeafColumn]:
    """Yield the leaf columns."""
    return (column for column in columns if isinstance(column, LeafColumn))


def descendants(column: Column) -> list[Column]:
    """Return a column and all columns below it, parents before children."""
    columns = [column]
    for parent in columns:  # grows during iteration
        columns.extend(link.column for link in parent.links)
        columns.extend(entries.column for entries in parent.slices)
    return columns


def copied(columns: Sequence[Column]) -> list[Column]:
    """Return copies of all columns of a tree, in the order of their numbers, connected as the originals are."""
    copies = [copy(column) for column in columns]
    for column in copies:
        column.parent = None if column.parent is None else copies[column.parent.number]
        column.links = [replace(link, column=copies[link.column.number]) for link in column.links]
        if isinstance(column, ObjectColumn):
            column.maps = [replace(entries, column=copies[entries.column.number]) for entries in column.maps]
        elif isinstance(column, ListColumn) and column.items is not None:
            column.items = copies[column.items.number]
    return copies


def folded(
    column: Column, leaf: Callable[[LeafColumn], Values], container: Callable[[Column, dict[int, Values]], Values]
) -> Values:
    """Compute an array of shape (size,) for a column from the arrays of its descendants, without recursion.

    Args:
        column: The column.
        leaf: Computes the array of a leaf column.
        container: Computes the array of any other column, given the arrays of its descendants by `Column.number`.
    """
    arrays: dict[int, Values] = {}
    for part in reversed(descendants(column)):
        arrays[part.number] = leaf(part) if isinstance(part, LeafColumn) else container(part, arrays)
    return arrays[column.number]


def held_sums(column: Column, below: Mapping[int, Floats]) -> Floats:
    """Return, for each row, the sum of the numbers of its children; `below` contains these, by `Column.number`."""
    rows, sums = np.arange(column.size, dtype=np.intp), np.zeros(column.size)
    for link in column.links:
        sums += take_or(below[link.column.number], link.rows(rows), 0)
    for entries in column.slices:
        owner, inner = entries.below(rows)
        sums += np.bincount(owner, weights=below[entries.column.number][inner], minlength=column.size)
    return sums


def locate_failure(error: FunctionError, column: LeafColumn, left: Indices, right: Indices) -> FunctionError:
    """Return an error with the path and the pointers of the values that it names.

    Args:
        error: The error of a pool of the column.
        column: The values that were compared.
        left: Gold rows of the compared pairs; shape (pairs,).
        right: Predicted rows of these pairs.
    """
    path = wildcard(column.path) or "the root"
    orders = (error.values, error.values[::-1]) if len(error.values) == 2 else ()  # noqa: PLR2004
    for gold, predicted in orders:  # a symmetric distance may have been called the other way round
        pairs = (_holding_value(column, left, gold) & _holding_value(column, right, predicted)).nonzero()[0]
        if len(pairs):
            row, other = int(left[pairs[0]]), int(right[pairs[0]])
            where = f" (path {path}; predicted: {column.pointer(other) or 'the root'})"
            placed = error.placed(where, pointer=column.pointer(row))
            placed.document = int(column.root_rows(left[pairs[:1]])[0])
            return placed
    return error.placed(f" (path {path})")


def _holding_value(column: LeafColumn, rows: Indices, value: Json) -> Mask:
    """Return a mask of the rows that hold a value, after normalisation."""
    key = canonical(value)
    codes = [code for code, known in enumerate(column.values) if canonical(known) == key]
    return np.isin(column.codes[rows], codes) & (rows >= 0)


# Results of earlier comparisons, kept for later ones.


KNOWN_PAIRS: Final = 64
"""Approximate number of pairs per row whose qualities are kept."""

MAX_KNOWN_BITS: Final = 21
"""Logarithm of the maximum number of pairs of a column whose qualities are kept: 32 MB."""


@dataclass(eq=False, slots=True)
class Memo:
    """Results about the rows of a column that are valid for all copies of the column with the same rows.

    Attributes:
        codes: Code of each row, the same for equal rows; shape (size,).
        qualities: Qualities of pairs of rows; None if they are not kept.
    """

    codes: Indices
    qualities: KnownQualities | None = None


class KnownQualities:
    """Qualities of pairs of rows in a table of fixed size.

    The number of a pair, left * rows + right, determines its cell by a hash. A new pair replaces the pair that was in
    its cell (a direct-mapped cache), so a known quality can be forgotten, but never be wrong.

    Args:
        rows: Number of rows of the column.
    """

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._bits = min(max(rows * KNOWN_PAIRS, 2).bit_length(), MAX_KNOWN_BITS)
        self._pairs = np.full(1 << self._bits, -1, dtype=np.int64)
        self._qualities = np.empty(1 << self._bits)

    def find(self, left: Indices, right: Indices) -> tuple[Floats, Mask]:
        """Return the quality of each pair, and a mask of those that are known."""
        pairs, cells = self._cells(left, right)
        return self._qualities[cells], self._pairs[cells] == pairs

    def add(self, left: Indices, right: Indices, qualities: Floats) -> None:
        """Keep the qualities of these pairs."""
        pairs, cells = self._cells(left, right)
        self._pairs[cells], self._qualities[cells] = pairs, qualities

    def _cells(self, left: Indices, right: Indices) -> tuple[Indices, npt.NDArray[np.uint64]]:
        """Return the number and the cell of each pair; shapes (pairs,)."""
        pairs = left * self._rows + right
        scattered = pairs.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing
        return pairs, scattered >> np.uint64(64 - self._bits)


@dataclass(frozen=True, eq=False, slots=True)
class KnownBounds:
    """Upper bounds of the quality of each gold item with each predicted item of some pairs of lists.

    They serve to match the same lists again after a few items have changed. The items and the bounds of all pairs of
    lists are concatenated: pair of lists p has the gold items `gold_starts[p]:gold_starts[p + 1]`, and a table of
    bounds, stored row by row, that begins at `starts[p]`.

    Attributes:
        site: The position of the items in the schema.
        gold: The gold items of all pairs of lists.
        predicted: The predicted items of all pairs of lists.
        gold_starts: First gold item of each pair of lists, then the number of gold items.
        predicted_starts: First predicted item of each pair of lists, then the number of predicted items.
        starts: First bound of each pair of lists, then the number of bounds.
        quality: The bounds, row by row.
    """

    site: Site
    gold: Sequence[Json]
    predicted: Sequence[Json]
    gold_starts: Indices
    predicted_starts: Indices
    starts: Indices
    quality: Floats

    def positions(self, values: Sequence[Json], *, gold: bool) -> Indices:
        """Return the position of each of these values among the items, or -1. Only identical objects are the same."""
        known = {id(value): at for at, value in enumerate(self.gold if gold else self.predicted)}
        return np.array([known.get(id(value), -1) for value in values], dtype=np.intp)

    def table(self, rows: Indices, columns: Indices) -> Floats:
        """Return the bound of each gold item with each predicted item; shape (rows, columns).

        Args:
            rows: Positions in `gold`, or -1; see `positions`.
            columns: Positions in `predicted`, or -1.

        Returns:
            The bounds; infinite for items of different pairs of lists and for the position -1.
        """
        gold_owner, predicted_owner = (  # the pair of lists of each item; -1 for the position -1
            starts.searchsorted(positions, side="right") - 1
            for starts, positions in ((self.gold_starts, rows), (self.predicted_starts, columns))
        )
        width = self.predicted_starts[gold_owner + 1] - self.predicted_starts[gold_owner]
        first_of_row = self.starts[gold_owner] + (rows - self.gold_starts[gold_owner]) * width
        cells = first_of_row[:, None] + (columns - self.predicted_starts[predicted_owner])
        known = (rows >= 0)[:, None] & (gold_owner[:, None] == predicted_owner)
        return np.where(known, self.quality[np.where(known, cells, 0)], np.inf)
