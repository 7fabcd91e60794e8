"""Documents as columns: one column per path of the schema, with one row per value found there.

A column holds the values of all documents: gold first, then predicted, each in document order. It does not know which
rows are compared with which.

There are four kinds of columns. What lies below any of them is described in one way, so that most code walks columns
without asking for their kind:

* `links` lead to columns of which a row holds at most one row: the fields of an object, the positions of
  `prefixItems`, the kinds of a mixed column;
* `slices` lead to columns of which a row holds any number of rows: the entries of a map, the items of a list.

What differs by kind (`bounds`, `plain`, `finish`) is a `functools.singledispatch` function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from arbitre.engine.columns.ragged import counts_of, expand_slices
from arbitre.paths import STAR, Path, Token, pointer
from arbitre.values import Json, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.base import Pool
    from arbitre.matching import Matcher
    from arbitre.schema.nodes import Leaf

Values = TypeVar("Values", bound=npt.NDArray[Any])


@dataclass(eq=False, slots=True)
class Column:
    """Values at one path: where they are in the documents, and what lies below them."""

    number: int
    """Position among all columns; parents come before children."""
    path: Path
    size: int
    parent: Column | None
    origin: Indices
    """Row of `parent` that holds each row; shape (size,)."""
    token: Token | None = None
    """Key or position of all rows in what holds them; None where `tokens` gives one each, or the row is the parent's
    own value (a kind of a mixed column)."""
    tokens: Sequence[int | str] | Indices | None = None
    """Key or position of each row in what holds it; shape (size,)."""
    item: bool = False
    """Whether the rows are items of lists."""
    raw: Sequence[Json] = ()
    """The values as they were read; shape (size,)."""
    present: Mask | None = None
    """Which rows do not count as absent; shape (size,), None for all."""
    sizes: Floats = field(default_factory=lambda: np.empty(0))
    """What each row counts for in a tally: the weight of an object's fields, the number of a list's items; 1 for a row
    of a mixed column. Shape (size,), empty for leaves."""
    links: list[Link] = field(default_factory=list)

    @property
    def slices(self) -> Sequence[Slices]:
        return ()

    def tokens_of(self, rows: Indices) -> list[int | str]:
        """Return the key or position of each row in what holds it; empty texts at the root."""
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

    def kinds_at(self, rows: Indices) -> npt.NDArray[np.int8]:
        """Return the `Kind` of each row; -1 for a negative row."""
        return np.where(rows >= 0, self._kinds(rows), np.int8(-1))

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
    """A column below of which each row above holds at most one row."""

    column: Column
    weight: float
    index: Indices | None = None
    """Row of `column` held by each row above, or -1; None where row r holds row r. Shape (rows above + 1,): the last
    element is -1, so that row -1 (no row) holds none."""

    def rows(self, above: Indices) -> Indices:
        """Return the row held by each of these rows, -1 where there is none."""
        return above if self.index is None else self.index[above]


@dataclass(eq=False, slots=True)
class Slices:
    """A column below of which each row above holds any number of rows.

    Row r above holds entries `starts[r]:starts[r + 1]`. Entry e is row `index[e]` of `column`, or row e where `index`
    is None.
    """

    column: Column
    starts: Indices
    index: Indices | None = None
    in_order: bool = False
    """Whether the position of entries counts when rows above are compared."""

    def rows(self, entries: Indices) -> Indices:
        """Return the row of each of these entries."""
        return entries if self.index is None else self.index[entries]

    def counts(self) -> Indices:
        """Return the number of entries of each row above."""
        return counts_of(self.starts)

    def below(self, above: Indices) -> tuple[Indices, Indices]:
        """Return the rows held by the rows `above`, in order, after the position in `above` of what holds each."""
        owner, entries = expand_slices(self.starts, above)
        return owner, self.rows(entries)

    def keys(self) -> Indices | None:
        """Return a code per entry that must agree for two entries to be equal; None where there is none."""
        if not self.in_order:
            return None
        return np.arange(self.starts[-1], dtype=np.intp) - self.starts[:-1].repeat(self.counts())


@dataclass(eq=False, slots=True)
class MapLink(Slices):
    """The keys of objects that are maps."""

    codes: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Code of the key of each entry; shape (entries,)."""
    width: int = 0
    """Number of codes."""
    table: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Row above x `width` + code, for each entry; increasing."""

    def keys(self) -> Indices:
        """Return the code of the key of each entry."""
        return self.codes


@dataclass(eq=False, slots=True)
class LeafColumn(Column):
    """Normalised single values; equal values share a code.

    Each code belongs to a slot, which says how its values are compared. Values in different slots are at distance 1.
    """

    codes: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Code of each row; -1 where it counts as absent. Shape (size,)."""
    values: Sequence[Json] = ()
    """Normalised value of each code."""
    kinds: npt.NDArray[np.int8] = field(default_factory=lambda: np.empty(0, dtype=np.int8))
    """`Kind` of each code."""
    slots: npt.NDArray[np.int16] = field(default_factory=lambda: np.empty(0, dtype=np.int16))
    """Index in `pools` and `leaves` of each code."""
    local: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Index in its pool of each code."""
    pools: tuple[Pool, ...] = ()
    leaves: tuple[Leaf, ...] = ()

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        return self.kinds[self.codes[rows]]


@dataclass(eq=False, slots=True)
class _Container(Column):
    """Values of one kind that hold others."""

    kind: ClassVar[Kind]

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        return np.full(len(rows), int(self.kind), dtype=np.int8)


@dataclass(eq=False, slots=True)
class ObjectColumn(_Container):
    """Objects: a link per declared key and per stray key, slices per map of further keys."""

    kind: ClassVar[Kind] = Kind.OBJECT
    maps: list[MapLink] = field(default_factory=list)

    @property
    def slices(self) -> Sequence[Slices]:
        return self.maps


@dataclass(frozen=True, eq=False, slots=True)
class MultisetKeys:
    """Codes of the items of lists by which equal items of two lists are paired: the t-th equal one with the t-th.

    Items whose kind the schema does not declare equal no other.
    """

    keys: Indices
    """Mark of each item. Two items of different lists are partners exactly where their marks are equal."""
    width: int
    """Number of marks."""
    table: Indices
    """Row x `width` + mark of all items; increasing."""
    order: Indices
    """Item of each element of `table`."""
    has_uncountable: Mask
    """Lists that hold items of undeclared kinds; shape (size,). Two of these are not matched by counting."""


@dataclass(eq=False, slots=True)
class ListColumn(_Container):
    """Lists: a link per position of `prefixItems`; row r holds items `starts[r]:starts[r + 1]` of `items`."""

    kind: ClassVar[Kind] = Kind.ARRAY
    matcher: Matcher = field(kw_only=True)
    items: Column | None = None
    starts: Indices = field(default_factory=lambda: np.zeros(1, dtype=np.intp))
    index: Indices | None = None
    """Row of `items` of each item; None where item i is row i."""
    lengths: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Number of items of each row, without those of `prefixItems`; shape (size,)."""
    groups: Indices | None = None
    """Group of each item for a keyed or set matching, which pairs items of one group only; -1: with none."""
    multiset_keys: MultisetKeys | None = None
    """Present where items are either equal or at distance 1."""
    match_equal_first: bool = False
    """Whether equal items may be matched first without losing optimality."""
    is_multiset: bool = False
    """Whether items are either equal or at distance 1."""
    has_informative_lists: bool = False
    """Whether items hold lists whose items are not either equal or at distance 1."""
    expensive_above: float = math.inf
    """Number of pairs of items above which expensive comparisons are deferred."""

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
    """Values of several kinds: a link per kind, each row holding one row of one of them.

    It is compared like an object with one field per kind: values of different kinds share no field, so their quality
    is 0.
    """

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        kinds = np.full(len(rows), -1, dtype=np.int8)
        for link in self.links:
            below = link.rows(rows)
            here = (below >= 0).nonzero()[0]
            kinds[here] = link.column.kinds_at(below[here])
        return kinds


def by_kind(column: Column) -> Sequence[Link]:
    """Return the links from a column to those that hold its values by kind: one to itself, unless it is mixed."""
    return column.links if isinstance(column, MixedColumn) else (Link(column, 1.0),)


def leaf_columns(columns: Iterable[Column]) -> Iterator[LeafColumn]:
    """Yield those of the columns that hold single values."""
    return (column for column in columns if isinstance(column, LeafColumn))


def descendants(column: Column) -> list[Column]:
    """Return a column and all columns below it, parents before children."""
    columns = [column]
    for one in columns:  # grows while it is read
        columns.extend(link.column for link in one.links)
        columns.extend(entries.column for entries in one.slices)
    return columns


def folded(
    column: Column, leaf: Callable[[LeafColumn], Values], container: Callable[[Column, dict[int, Values]], Values]
) -> Values:
    """Compute an array of shape (size,) for a column from those of the columns below it, without recursion.

    Args:
        column: The column to compute it for.
        leaf: Computes it for a column of single values.
        container: Computes it for any other column, given the arrays of the columns below by `Column.number`.
    """
    arrays: dict[int, Values] = {}
    for one in reversed(descendants(column)):
        arrays[one.number] = leaf(one) if isinstance(one, LeafColumn) else container(one, arrays)
    return arrays[column.number]
