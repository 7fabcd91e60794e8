"""Documents as columns: one column for each path of the schema, with one row for each value at this path.

A column contains the values of all documents: gold first, then predicted, each in document order. It does not know
which rows are compared.

There are four kinds of columns. All of them describe their child columns in the same way, so that most code can walk
columns of any kind:

* `links`: columns of which each row holds at most one row: the fields of an object, the positions of `prefixItems`, the
  kinds of a mixed column;
* `slices`: columns of which each row holds any number of rows: the entries of a map, the items of a list.

Functions that differ by kind, such as `link_children`, use `functools.singledispatch`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

import numpy as np
import numpy.typing as npt

from arbitre.engine.columns.ragged import counts_of, expand_slices
from arbitre.paths import STAR, Path, Token, pointer, wildcard
from arbitre.values import ABSENT, Json, Kind, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.base import Pool
    from arbitre.engine.columns.alternatives import AcceptedForms
    from arbitre.errors import FunctionError
    from arbitre.matching import Matcher
    from arbitre.schema.nodes import Leaf, Site


Values = TypeVar("Values", bound=npt.NDArray[Any])


@dataclass(eq=False, slots=True)
class Memo:
    """What was computed about the rows of a column. It holds for copies of the column with the same rows.

    Attributes:
        codes: Code of each row; see `row_codes`.
        qualities: Qualities of pairs of rows; None if they are not kept.
    """

    codes: Indices
    qualities: KnownQualities | None = None


class KnownQualities:
    """Qualities of pairs of rows in a table of fixed size: a pair replaces the one in its cell (a direct-mapped cache).

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
        pairs = left * self._rows + right
        scattered = pairs.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing
        return pairs, scattered >> np.uint64(64 - self._bits)


KNOWN_PAIRS: Final = 64
"""Approximate number of pairs per row whose qualities are kept."""

MAX_KNOWN_BITS: Final = 21
"""Logarithm of the maximum number of pairs of a column whose qualities are kept: 32 MB."""


@dataclass(eq=False, slots=True)
class Column:
    """The values at one path, with their positions in the documents and their child columns."""

    number: int
    """Position among all columns; parents come before children."""
    path: Path
    size: int
    parent: Column | None
    origin: Indices
    """Row of `parent` that holds each row; shape (size,)."""
    token: Token | None = None
    """Key or position of all rows in their parents; None if `tokens` gives one for each row, or if the rows are the
    parents' own values (a kind of a mixed column)."""
    tokens: Sequence[int | str] | Indices | None = None
    """Key or position of each row in its parent; shape (size,)."""
    key_ranks: Indices | None = None
    """Rank of the key of each row if the path of each row ends with its own key; shape (size,). None if all rows have
    the same path."""
    item: bool = False
    """Whether the rows are items of lists."""
    raw: Sequence[Json] = ()
    """The values as they were read; shape (size,)."""
    present: Mask | None = None
    """Mask of the rows that are not absent; shape (size,), None for all."""
    sizes: Floats = field(default_factory=lambda: np.empty(0))
    """Mass of each row in a tally: the total weight of an object's fields, the number of a list's items, 1 in a mixed
    column. Shape (size,), empty for leaves."""
    links: list[Link] = field(default_factory=list)
    site: Site = field(kw_only=True)
    """The position in the schema."""
    tags: Indices | None = None
    """The parent's branch of a union for each row, if the values depend on it; shape (size,)."""
    memo: Memo | None = None
    """What is known about the rows; None if nothing is kept."""

    @property
    def slices(self) -> Sequence[Slices]:
        return ()

    def tokens_of(self, rows: Indices) -> list[int | str]:
        """Return the key or position of each row in its parent; "" at the root."""
        column: Column = self
        while column.token is None and column.parent is not None:
            rows, column = column.origin[rows], column.parent
        if column.tokens is None:
            return [column.token if isinstance(column.token, (str, int)) else ""] * len(rows)
        if isinstance(column.tokens, np.ndarray):
            return column.tokens[rows].tolist()  # type: ignore[no-any-return]
        return [column.tokens[row] for row in rows.tolist()]

    def values_of(self, rows: Indices) -> list[Json]:
        """Return the value of each row, as it was read."""
        return [self.raw[row] for row in rows.tolist()]

    def accepted_forms(self, left: Indices, right: Indices) -> list[Json]:  # noqa: ARG002
        """Return the accepted form that each pair of rows was compared with; ABSENT if gold has only one."""
        return [ABSENT] * len(left)

    def kinds_at(self, rows: Indices) -> npt.NDArray[np.int8]:
        """Return the `Kind` of each row; -1 for a negative row."""
        return np.where(rows >= 0, self._kinds(rows), np.int8(-1))

    def kinds_of(self, left: Indices, right: Indices) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Return the `Kind` of the gold and of the predicted row of each pair; -1 for a negative row.

        Of several forms, the kind is that of the predicted form that gold has no form of the same kind for; if
        there is none, both sides have the same kind.
        """
        return self.kinds_at(left), self.kinds_at(right)

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        raise NotImplementedError

    def address(self, row: int) -> tuple[int | str, ...]:
        """Return the tokens from the root of the document to a row."""
        tokens: list[int | str] = []
        column: Column | None = self
        while column is not None:
            if column.tokens is not None:
                token = column.tokens[row]
                tokens.append(token if isinstance(token, str) else int(token))
            elif column.token is not None and column.token is not STAR:
                tokens.append(column.token)
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
    """A child column of which each parent row holds at most one row."""

    column: Column
    weight: float
    index: Indices | None = None
    """Row of `column` in each parent row, or -1; None if row r holds row r. Shape (parent rows + 1,): the last element
    is -1, so that row -1 (no row) holds none."""

    def rows(self, above: Indices) -> Indices:
        """Return the row held by each of these parent rows, or -1."""
        return above if self.index is None else self.index[above]


@dataclass(eq=False, slots=True)
class Slices:
    """A child column of which each parent row holds any number of rows.

    Parent row r holds the entries `starts[r]:starts[r + 1]`. Entry e is row `index[e]` of `column`, or row e if `index`
    is None.
    """

    column: Column
    starts: Indices
    index: Indices | None = None
    in_order: bool = False
    """Whether the position of entries matters when parent rows are compared."""

    def rows(self, entries: Indices) -> Indices:
        """Return the row of each of these entries."""
        return entries if self.index is None else self.index[entries]

    def counts(self) -> Indices:
        """Return the number of entries of each parent row."""
        return counts_of(self.starts)

    def below(self, above: Indices) -> tuple[Indices, Indices]:
        """Return the position in `above` of each held row's parent, and the held rows, in order."""
        owner, entries = expand_slices(self.starts, above)
        return owner, self.rows(entries)

    def keys(self) -> Indices | None:
        """Return a code for each entry that must agree for two entries to be equal; None if order does not matter."""
        if not self.in_order:
            return None
        return np.arange(self.starts[-1], dtype=np.intp) - self.starts[:-1].repeat(self.counts())


@dataclass(eq=False, slots=True)
class MapLink(Slices):
    """The entries of objects that are maps, or many undeclared keys with single values (see `Column.key_ranks`)."""

    codes: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Code of the key of each entry; shape (entries,)."""
    width: int = 0
    """Number of codes."""
    table: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Parent row * `width` + code of each entry, increasing."""

    def keys(self) -> Indices:
        """Return the code of the key of each entry."""
        return self.codes


@dataclass(eq=False, slots=True)
class LeafColumn(Column):
    """Normalised single values; equal values share a code.

    Each code belongs to a slot, which says how its values are compared. Values in different slots have distance 1.
    """

    codes: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Code of each row; -1 if absent. Shape (size,)."""
    values: Sequence[Json] = ()
    """Normalised value of each code."""
    kinds: npt.NDArray[np.int8] = field(default_factory=lambda: np.empty(0, dtype=np.int8))
    """`Kind` of each code."""
    slots: npt.NDArray[np.int16] = field(default_factory=lambda: np.empty(0, dtype=np.int16))
    """Slot of each code: its index in `pools` and `leaves`."""
    local: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Index of each code within its pool."""
    pools: tuple[Pool, ...] = ()
    leaves: tuple[Leaf, ...] = ()
    forms: AcceptedForms | None = None
    """The forms of the rows, if gold may accept several."""

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        return self.kinds[self.codes[rows]]

    def kinds_of(self, left: Indices, right: Indices) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        gold, predicted = super(LeafColumn, self).kinds_of(left, right)
        if self.forms is None:
            return gold, predicted
        masks = np.append(self.forms.pool.masks, 0)
        own, others = (masks[self.codes[rows]] for rows in (left, right))
        pairs, lacking = (left >= 0) & (right >= 0), others & ~own
        kind_bits = np.where(lacking > 0, lacking, others)
        kinds = np.log2(np.maximum(kind_bits & -kind_bits, 1)).astype(np.int8)
        return np.where(pairs & (lacking == 0), kinds, gold), np.where(pairs, kinds, predicted)

    def accepted_forms(self, left: Indices, right: Indices) -> list[Json]:
        if self.forms is None:
            return super(LeafColumn, self).accepted_forms(left, right)
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return [ABSENT if min(pair) < 0 else self.forms.used(*pair) for pair in pairs]


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

    Items whose kind the schema does not declare are equal to no other item.
    """

    keys: Indices
    """Key of each item. Two items of different lists are partners if and only if their keys are equal."""
    width: int
    """Number of keys."""
    table: Indices
    """Row * `width` + key of all items, increasing."""
    order: Indices
    """Item of each element of `table`."""
    has_uncountable: Mask
    """Mask of the lists with items of undeclared kinds; shape (size,). Two of these are not matched by counting."""


@dataclass(eq=False, slots=True)
class ListColumn(_Container):
    """Lists, with a link for each position of `prefixItems`; row r holds the items `starts[r]:starts[r + 1]`."""

    kind: ClassVar[Kind] = Kind.ARRAY
    matcher: Matcher = field(kw_only=True)
    items: Column | None = None
    starts: Indices = field(default_factory=lambda: np.zeros(1, dtype=np.intp))
    index: Indices | None = None
    """Row of `items` of each item; None if item i is row i."""
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

    def rows(self, slots: Indices) -> Indices:
        """Return the row of `items` of each of these items."""
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


# Upper bounds of the qualities of items, kept to match the same lists again after a few items have changed.


@dataclass(frozen=True, eq=False, slots=True)
class KnownBounds:
    """Upper bounds of the quality of each gold item with each predicted item of some pairs of lists.

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
        """Return the bound of each gold item with each predicted item, given by position; infinite where unknown."""
        above, beside = (
            starts.searchsorted(positions, side="right") - 1
            for starts, positions in ((self.gold_starts, rows), (self.predicted_starts, columns))
        )
        width = self.predicted_starts[above + 1] - self.predicted_starts[above]
        lines = self.starts[above] + (rows - self.gold_starts[above]) * width
        cells = lines[:, None] + (columns - self.predicted_starts[beside])
        known = (rows >= 0)[:, None] & (above[:, None] == beside)
        return np.where(known, self.quality[np.where(known, cells, 0)], np.inf)
