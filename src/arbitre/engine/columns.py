"""Documents as columns: one column for every path of the schema that occurs in them.

The rows of a column are the values found there, in all documents at once: first those of gold, then those of the
predictions, each side in document order. A column knows nothing of pairs; anything can be compared with anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from arbitre.paths import STAR, Path, Token, pointer
from arbitre.values import Json, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.distances.base import Pool
    from arbitre.matching import Matcher
    from arbitre.schema.nodes import Leaf

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


@dataclass(eq=False, slots=True)
class Column:
    """What all columns have: where the values stand, and which of them are left after the absence policy.

    Row r stands in row `origin[r]` of `parent`, under `tokens[r]` (or `token` for all; None where it is the same
    node as the parent's row). `alive` is None where no row counts as absent.
    """

    number: int
    path: Path
    size: int
    parent: Column | None
    origin: Indices
    token: Token | None = None
    tokens: Sequence[int | str] | Indices | None = None
    item: bool = False
    raw: Sequence[Json] = ()
    alive: Mask | None = None
    sizes: Floats = field(default_factory=lambda: np.empty(0))
    """What each row asserts: the weight of an object's fields, the number of a list's items; shape (size,)."""

    def tokens_of(self, rows: Indices) -> list[int | str]:
        """The key or position of each row in what holds it. Empty texts at the root."""
        column: Column = self
        while column.token is None and column.parent is not None:  # a part of a mixed column stands where that does
            rows, column = column.origin[rows], column.parent
        if column.tokens is None:
            return [column.token if isinstance(column.token, (str, int)) else ""] * len(rows)
        if isinstance(column.tokens, np.ndarray):
            return column.tokens[rows].tolist()  # type: ignore[no-any-return]
        return [column.tokens[row] for row in rows.tolist()]

    def values_of(self, rows: Indices) -> list[Json]:
        """The value of each row, as it was read."""
        return [self.raw[row] for row in rows.tolist()]

    def kinds_at(self, rows: Indices) -> npt.NDArray[np.int8]:
        """The kind of each row; -1 for a negative row."""
        return np.where(rows >= 0, self._kinds(rows), np.int8(-1))

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        raise NotImplementedError

    def address(self, row: int) -> tuple[int | str, ...]:
        """The tokens from the root of the document to a row."""
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
        """The row of the root column that holds each row; shape (rows,)."""
        column: Column = self
        while column.parent is not None:
            rows, column = column.origin[rows], column.parent
        return rows

    def pointer(self, row: int) -> str:
        return pointer(self.address(row))


@dataclass(eq=False, slots=True)
class LeafColumn(Column):
    """Single values, normalised; equal ones share a code.

    `codes` has shape (size,). For each code, `slots` says how it is compared (an index of `pools`) and `local` which
    value of that pool it is; `kinds` is the kind of each code. Values in different slots are at distance 1.
    """

    codes: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    values: Sequence[Json] = ()
    kinds: npt.NDArray[np.int8] = field(default_factory=lambda: np.empty(0, dtype=np.int8))
    slots: npt.NDArray[np.int16] = field(default_factory=lambda: np.empty(0, dtype=np.int16))
    local: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    pools: tuple[Pool, ...] = ()
    leaves: tuple[Leaf, ...] = ()

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        return self.kinds[self.codes[rows]]


@dataclass(eq=False, slots=True)
class Link:
    """A field of an object: `index[r]` is the row of `column` that object r holds, or -1; None where row r holds r."""

    column: Column
    weight: float
    index: Indices | None = None

    def rows(self, parents: Indices) -> Indices:
        return parents if self.index is None else self.index[parents]


@dataclass(eq=False, slots=True)
class MapLink:
    """The keys of objects that are maps: entries `starts[r]:starts[r + 1]` are those of object r.

    Entry e is row `rows[e]` of `column`, under the key of code `keys[e]`. `table` are object x `width` + key of all
    entries, in increasing order.
    """

    column: Column
    rows: Indices
    keys: Indices
    starts: Indices = field(default_factory=lambda: np.zeros(1, dtype=np.intp))
    width: int = 0
    table: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))


@dataclass(eq=False, slots=True)
class ObjectColumn(Column):
    """Objects: their declared and undeclared keys as `links`, those of maps as `maps`."""

    links: list[Link] = field(default_factory=list)
    maps: list[MapLink] = field(default_factory=list)

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        return np.full(len(rows), int(Kind.OBJECT), dtype=np.int8)


@dataclass(frozen=True, eq=False, slots=True)
class Marks:
    """What tells equal items of lists: those of two lists with equal numbers in `mark` are partners.

    The t-th of equal items of one list is marked as the t-th of the other. `table` are row x `width` + mark of all
    items in increasing order, and `order` says which item each is. `signs` has a bit of 64 for each mark that a list
    holds: lists without a common bit have no common mark. Items of a kind that the schema does not declare have no
    equal; `odd` says which lists hold such (two of these are not told by a count).
    """

    mark: Indices
    width: int
    table: Indices
    order: Indices
    signs: npt.NDArray[np.uint64]
    odd: Mask


@dataclass(eq=False, slots=True)
class ListColumn(Column):
    """Lists: row r holds the items `starts[r]:starts[r + 1]`, which are rows `index[i]` of `items` (or row i itself).

    `groups` are codes by which a keyed or set matching may pair items (-1: with none); `prefix` are the positions that
    are compared as fields are (`sizes` counts those too, `lengths` does not); `peels` says that equal items may be
    matched first, `counts` that they are equal or not (there are `marks` then), `deep` that there are lists in them
    whose items tell more than their number, `dear` from how many pairs on there is what is dear to compare.
    """

    items: Column | None = None
    starts: Indices = field(default_factory=lambda: np.zeros(1, dtype=np.intp))
    index: Indices | None = None
    groups: Indices | None = None
    matcher: Matcher = field(kw_only=True)
    prefix: list[Link] = field(default_factory=list)
    lengths: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    marks: Marks | None = None
    peels: bool = False
    counts: bool = False
    deep: bool = False
    dear: float = math.inf

    def rows(self, slots: Indices) -> Indices:
        """The rows of `items` that these items are."""
        return slots if self.index is None else self.index[slots]

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        return np.full(len(rows), int(Kind.ARRAY), dtype=np.int8)


@dataclass(eq=False, slots=True)
class MixedColumn(Column):
    """Values of several kinds: row r is row `rows[r]` of `parts[part[r]]`. Different parts are at distance 1."""

    parts: list[Column] = field(default_factory=list)
    part: npt.NDArray[np.int8] = field(default_factory=lambda: np.empty(0, dtype=np.int8))
    rows: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def split(self, left: Indices, right: Indices) -> Iterator[tuple[Column, Indices, Indices, Indices]]:
        """For each part: the part, which of the pairs (left[t], right[t]) lie in it, and their rows there."""
        for number, part in enumerate(self.parts):
            same = ((self.part[left] == number) & (self.part[right] == number)).nonzero()[0]
            yield part, same, self.rows[left[same]], self.rows[right[same]]

    def _kinds(self, rows: Indices) -> npt.NDArray[np.int8]:
        kinds = np.empty(len(rows), dtype=np.int8)
        for number, part in enumerate(self.parts):
            here = self.part[rows] == number
            kinds[here] = part.kinds_at(self.rows[rows[here]])
        return kinds


def children(column: Column) -> Iterator[Column]:
    """The columns directly below."""
    if isinstance(column, ObjectColumn):
        yield from (link.column for link in column.links)
        yield from (link.column for link in column.maps)
    elif isinstance(column, ListColumn):
        yield from (link.column for link in column.prefix)
        if column.items is not None:
            yield column.items
    elif isinstance(column, MixedColumn):
        yield from column.parts


def descendants(column: Column) -> list[Column]:
    """A column and all the columns below it, parents before children."""
    found = [column]
    for one in found:  # grows while it is read
        found.extend(children(one))
    return found
