"""The qualities of pairs of rows: down along the columns for what is to be compared, up again for what comes of it.

A `Batch` is a column and the pairs of its rows that are compared at once. Opening a batch asks for the pairs below
it; closing it turns their qualities into its own. Batches are opened parents first and closed children first, so
there is no recursion and a column is measured in one call. Only lists that are matched lazily evaluate batches of
their own, and those only a few lists deep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.engine import problems
from arbitre.engine.batches import Batch, Branch, Matched
from arbitre.engine.columns import Column, LeafColumn, Link, ListColumn, MapLink, MixedColumn, ObjectColumn
from arbitre.engine.lazy import solve_lazily
from arbitre.engine.multisets import count_equal
from arbitre.engine.runs import located, spread, starts_of
from arbitre.errors import SolverError
from arbitre.matching import Candidates
from arbitre.matching.many import assign_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.engine.columns import Floats, Indices

LAZY: Final = 100
"""Lists whose table has at least so many cells are matched lazily."""

NESTED: Final = 3
"""Lists are matched lazily inside so many lists that are; deeper ones evaluate every pair of items."""


@dataclass(eq=False, slots=True)
class Solver:
    """Evaluates batches; `exhaustive` computes every pair that a matching could make."""

    exhaustive: bool = False
    depth: int = 0

    def evaluate(self, column: Column, left: Indices, right: Indices) -> Batch:
        """The closed batch of these pairs of rows, with all batches below it."""
        root = Batch(column, left, right)
        batches = [root]
        pending: dict[int, Tables] = {}
        for batch in batches:  # grows while it is read: parents before children
            batches.extend(self._open(batch, pending))
        for batch in reversed(batches):
            _close(batch, pending.get(id(batch)))
        return root

    def _open(self, batch: Batch, pending: dict[int, Tables]) -> Iterator[Batch]:
        """Ask for what a batch needs: its branches."""
        column = batch.column
        if len(batch) == 0 or isinstance(column, LeafColumn):
            return
        if isinstance(column, ObjectColumn):
            for link in column.links:
                _fields(batch, link)
            for entries in column.maps:
                _keys(batch, entries)
        elif isinstance(column, ListColumn):
            for link in column.prefix:
                _fields(batch, link)
            if column.items is not None:
                self._items(batch, column, column.items, pending)
        elif isinstance(column, MixedColumn):
            for part, same, left, right in column.split(batch.left, batch.right):
                batch.branches.append(Branch(Batch(part, left, right), same))
        yield from (branch.batch for branch in batch.branches)

    def _items(self, batch: Batch, column: ListColumn, items: Column, pending: dict[int, Tables]) -> None:
        """Match the items of every pair of lists: by counting, lazily, or by a table that is filled in below."""
        lengths = column.lengths
        heights, widths = lengths[batch.left], lengths[batch.right]
        rest = np.arange(len(batch), dtype=np.intp)
        if column.marks is not None and not self.exhaustive:
            both_odd = column.marks.odd[batch.left] & column.marks.odd[batch.right]
            batch.counted, rest = np.flatnonzero(~both_odd), np.flatnonzero(both_odd)
        elif column.matcher.candidates is Candidates.ALL and not self.exhaustive and self.depth < NESTED:
            cells = heights * widths
            inner = Solver(depth=self.depth + 1)
            for problem in np.flatnonzero(cells >= problems.LARGE).tolist():
                self._lazily(batch, column, np.array([problem], dtype=np.intp), inner)
            self._lazily(batch, column, np.flatnonzero((cells >= LAZY) & (cells < problems.LARGE)), inner)
            rest = np.flatnonzero(cells < LAZY)
        if len(rest):
            tables = _tables(batch, column, rest, heights[rest], widths[rest])
            pending[id(batch)] = tables
            below = Batch(items, tables.left, tables.right)
            batch.branches.append(Branch(below, rest[tables.owner]))

    def _lazily(self, batch: Batch, column: ListColumn, which: Indices, inner: Solver) -> None:
        if len(which):
            for match in solve_lazily(column, batch.left[which], batch.right[which], inner.evaluate):
                match.owner = which[match.owner]
                batch.matches.append(match)


@dataclass(eq=False, slots=True)
class Tables:
    """The candidate pairs of the problems of a batch of lists, end to end.

    Problem p (number `problems[p]` of the batch) has a table of `heights[p]` x `widths[p]`; its candidates are
    `starts[p]:starts[p + 1]`, of which candidate c compares items `rows[c]` and `columns[c]`, which are rows `left[c]`
    and `right[c]` of the column of items. `complete` says that all cells are candidates, in order.
    """

    problems: Indices
    heights: Indices
    widths: Indices
    owner: Indices
    rows: Indices
    columns: Indices
    left: Indices
    right: Indices
    complete: bool

    @property
    def starts(self) -> Indices:
        return starts_of(np.bincount(self.owner, minlength=len(self.problems)))


def _tables(batch: Batch, column: ListColumn, which: Indices, heights: Indices, widths: Indices) -> Tables:
    candidates = column.matcher.candidates
    diagonal = candidates is Candidates.DIAGONAL
    counts = np.minimum(heights, widths) if diagonal else heights * widths
    ends = np.cumsum(counts)
    owner = np.repeat(np.arange(len(which), dtype=np.intp), counts)
    cell = np.arange(int(ends[-1]), dtype=np.intp) - np.repeat(ends - counts, counts)
    rows, columns = (cell, cell) if diagonal else np.divmod(cell, widths[owner])
    left = column.starts[batch.left[which]][owner] + rows
    right = column.starts[batch.right[which]][owner] + columns
    if column.groups is not None:
        same = (column.groups[left] == column.groups[right]) & (column.groups[left] >= 0)
        owner, rows, columns, left, right = owner[same], rows[same], columns[same], left[same], right[same]
    complete = candidates is Candidates.ALL
    return Tables(
        which, heights, widths, owner, rows, columns, column.rows(left), column.rows(right), complete=complete
    )


def _fields(batch: Batch, link: Link) -> None:
    left, right = link.rows(batch.left), link.rows(batch.right)
    owner = None
    if link.index is not None:
        both = (left >= 0) & (right >= 0)
        if not both.all():
            owner = np.flatnonzero(both)
            left, right = left[owner], right[owner]
    batch.branches.append(Branch(Batch(link.column, left, right), owner, link.weight))


def _keys(batch: Batch, link: MapLink) -> None:
    """The pairs of entries with the same key: those of the gold side are looked up on the predicted side."""
    owner, entries = spread(link.starts, batch.left)
    found = located(link.table, batch.right[owner] * link.width + link.keys[entries])
    hit = found >= 0
    below = Batch(link.column, link.rows[entries[hit]], link.rows[found[hit]])
    batch.branches.append(Branch(below, owner[hit]))


def _close(batch: Batch, tables: Tables | None) -> None:
    """Turn the qualities below into those of the batch."""
    column = batch.column
    if isinstance(column, LeafColumn):
        batch.quality = _measure(column, batch.left, batch.right)
    elif isinstance(column, MixedColumn):
        batch.quality = np.zeros(len(batch))
        for branch in batch.branches:
            batch.quality[branch.owner] = branch.batch.quality
    else:
        if isinstance(column, ListColumn) and tables is not None:
            batch.matches.append(_solve(batch, column, tables))
        _settle(batch)


def _settle(batch: Batch) -> None:
    """Add up what is matched, field by field and item by item, and divide by the union."""
    batch.gold, batch.predicted = batch.column.sizes[batch.left], batch.column.sizes[batch.right]
    size = len(batch)
    matched, mass = np.zeros(size), np.zeros(size)
    fields = batch.branches[: len(batch.column.prefix)] if isinstance(batch.column, ListColumn) else batch.branches
    for branch in fields:
        quality = branch.weight * branch.batch.quality
        if branch.owner is None:
            matched += branch.weight
            mass += quality
        else:
            weights = np.full(len(quality), branch.weight)
            matched += np.bincount(branch.owner, weights=weights, minlength=size)
            mass += np.bincount(branch.owner, weights=quality, minlength=size)
    if batch.counted is not None and isinstance(batch.column, ListColumn):
        left, right = batch.left[batch.counted], batch.right[batch.counted]
        matched[batch.counted] += np.minimum(batch.column.lengths[left], batch.column.lengths[right])
        mass[batch.counted] += count_equal(batch.column, left, right)
    for match in batch.matches:
        matched += np.bincount(match.owner, minlength=size)
        mass += np.bincount(match.owner, weights=match.batch.quality[match.at], minlength=size)
    union = batch.gold + batch.predicted - matched
    empty = union <= 0.0
    batch.matched, batch.mass = matched, mass
    batch.quality = np.minimum(np.where(empty, 1.0, mass / np.where(empty, 1.0, union)), 1.0)


def _measure(column: LeafColumn, left: Indices, right: Indices) -> Floats:
    """1 - distance of each pair; values that are not compared in the same way are at distance 1."""
    gold, predicted = column.codes[left], column.codes[right]
    if len(column.pools) == 1:
        return _pairs(column, gold, predicted, 0)
    quality = np.zeros(len(left))
    for slot in range(len(column.pools)):
        here = np.flatnonzero((column.slots[gold] == slot) & (column.slots[predicted] == slot))
        if len(here):
            quality[here] = _pairs(column, gold[here], predicted[here], slot)
    return quality


def _pairs(column: LeafColumn, gold: Indices, predicted: Indices, slot: int) -> Floats:
    """The qualities of pairs of codes of one slot: each distinct pair is measured once."""
    pool = column.pools[slot]
    a, b = column.local[gold], column.local[predicted]
    size = len(column.values)
    if len(a) <= size:  # few pairs: hardly any repeats
        return 1.0 - pool.paired(a, b)
    distinct, back = np.unique(a * size + b, return_inverse=True)
    return (1.0 - pool.paired(*np.divmod(distinct, size)))[back]


def _solve(batch: Batch, column: ListColumn, tables: Tables) -> Matched:
    """The matchings of the problems whose candidates are all evaluated. Raises SolverError, naming the list."""
    below = batch.branches[-1].batch
    quality, matcher = below.quality, column.matcher
    if not np.isfinite(quality).all():
        wrong = int(tables.owner[np.flatnonzero(~np.isfinite(quality))[0]])
        pointer = column.pointer(int(batch.left[tables.problems[wrong]]))
        raise SolverError.of("A quality between two items is not a finite number", pointer=pointer)
    if matcher.forced and tables.complete:
        at, owner = assign_all(quality, tables.heights, tables.widths)
        return Matched(below, at, tables.problems[owner])
    found, of = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    starts = tables.starts.tolist()
    for number in np.unique(tables.owner).tolist():
        cells = slice(starts[number], starts[number + 1])
        shape = int(tables.heights[number]), int(tables.widths[number])
        rows, columns = tables.rows[cells], tables.columns[cells]
        table, allowed = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
        place = np.zeros(shape, dtype=np.intp)
        table[rows, columns], allowed[rows, columns] = quality[cells], True
        place[rows, columns] = np.arange(cells.start, cells.stop, dtype=np.intp)
        coupling = matcher.couple(table, None if tables.complete else allowed)
        found.append(place[coupling.gold, coupling.predicted])
        of.append(np.full(len(found[-1]), tables.problems[number], dtype=np.intp))
    return Matched(below, np.concatenate(found), np.concatenate(of))
