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
from arbitre.engine.batches import Batch, Branch
from arbitre.engine.columns import Column, LeafColumn, Link, ListColumn, MapLink, MixedColumn, ObjectColumn
from arbitre.engine.lazy import solve_lazily
from arbitre.engine.measure import measure
from arbitre.engine.multisets import count_equal
from arbitre.engine.plain import plain
from arbitre.engine.runs import firsts, located, share, spread, starts_of
from arbitre.engine.tables import Tables
from arbitre.engine.transported import Mover
from arbitre.matching import Candidates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.engine.columns import Indices, Mask

LAZY: Final = 100
"""Lists whose table has at least so many cells are matched lazily."""

WHOLE: Final = 1 << 12
"""Where bounds would be exact and cost no less, only lists whose table has so many cells are matched lazily."""

CELLS: Final = 1 << 15
"""Tables are filled in for about so many cells at a time: more would leave the nearer memory."""

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
        pending: dict[int, list[Tables]] = {}
        for batch in batches:  # grows while it is read: parents before children
            batches.extend(self._open(batch, pending))
        for batch in reversed(batches):
            self._close(batch, pending.get(id(batch), ()))
        return root

    def _open(self, batch: Batch, pending: dict[int, list[Tables]]) -> Iterator[Batch]:
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
                batch.branches.append(Branch(Batch(part, left, right, batch.loose), same))
        yield from (branch.batch for branch in batch.branches)

    def _items(self, batch: Batch, column: ListColumn, items: Column, pending: dict[int, list[Tables]]) -> None:
        """Match the items of every pair of lists: by counting, lazily, or by a table that is filled in below."""
        how = column.matcher.transport
        if how is not None:
            batch.moves += Mover(batch, column, items, how, self.evaluate).moves()
            return
        lengths = column.lengths
        cells = lengths[batch.left] * lengths[batch.right]
        rest = np.arange(len(batch), dtype=np.intp)
        if column.marks is not None and not self.exhaustive:
            both_odd = column.marks.odd[batch.left] & column.marks.odd[batch.right]
            batch.counted, rest = (~both_odd).nonzero()[0], both_odd.nonzero()[0]
        elif column.matcher.candidates is Candidates.ALL and not self.exhaustive and self.depth < NESTED:
            lazily = cells >= LAZY
            if lazily.any():
                lazily &= ~_whole(batch, column, items, cells)
                inner = Solver(depth=self.depth + 1)
                for problem in (lazily & (cells >= problems.LARGE)).nonzero()[0].tolist():
                    self._lazily(batch, column, np.array([problem], dtype=np.intp), inner)
                self._lazily(batch, column, (lazily & (cells < problems.LARGE)).nonzero()[0], inner)
                rest = (~lazily).nonzero()[0]
        if len(rest):
            sizes = cells[rest]
            many = int(sizes.sum()) >= column.dear
            loose = many and column.matcher.forced and not column.deep and not self.exhaustive
            for some in _parcels(batch, rest, sizes):
                tables = Tables.of(batch, column, items, some, loose=loose)
                pending.setdefault(id(batch), []).append(tables)
                batch.branches.append(Branch(tables.below, some[tables.owner]))

    def _lazily(self, batch: Batch, column: ListColumn, which: Indices, inner: Solver) -> None:
        if len(which):
            for match in solve_lazily(column, batch.left[which], batch.right[which], inner.evaluate):
                match.owner = which[match.owner]
                batch.matches.append(match)

    def _close(self, batch: Batch, tables: Sequence[Tables]) -> None:
        """Turn the qualities below into those of the batch."""
        column = batch.column
        if isinstance(column, LeafColumn):
            batch.quality, batch.exact = measure(batch, column)
            return
        if isinstance(column, MixedColumn):
            batch.quality = np.zeros(len(batch))
            for branch in batch.branches:
                batch.quality[branch.owner] = branch.batch.quality
        else:
            if isinstance(column, ListColumn):
                for some in tables:
                    batch.matches += some.match(batch, column, self.evaluate)
            _settle(batch)
        if batch.loose:
            batch.exact = _exact(batch)


def _whole(batch: Batch, column: ListColumn, items: Column, cells: Indices) -> Mask:
    """The pairs of lists whose tables are so small and plain that lazy matching would save nothing."""
    small = cells < WHOLE
    known = plain(items) if small.any() else None
    if known is not None:
        slots = np.arange(column.starts[-1], dtype=np.intp)
        dear = starts_of((~known[column.rows(slots)]).astype(np.intp))
        for lists in (batch.left, batch.right):
            small &= dear[column.starts[lists]] == dear[column.starts[lists + 1]]
    return small


def _parcels(batch: Batch, problems: Indices, sizes: Indices) -> Sequence[Indices]:
    """The problems in groups that follow each other, of about `CELLS` cells each; those of a document stay together.

    Else the order of what lies below would tell where a document was cut, which depends on those before it.
    """
    group = sizes.cumsum() // CELLS
    if group[0] == group[-1]:
        return [problems]
    new = firsts(batch.column.root_rows(batch.left[problems]))
    group = group[new][new.cumsum() - 1]
    return np.split(problems, firsts(group).nonzero()[0][1:])


def _fields(batch: Batch, link: Link) -> None:
    left, right = link.rows(batch.left), link.rows(batch.right)
    owner = None
    if link.index is not None:
        both = (left >= 0) & (right >= 0)
        if not both.all():
            owner = both.nonzero()[0]
            left, right = left[owner], right[owner]
    grid = None if batch.grid is None else batch.grid.below(link, owner)
    batch.branches.append(Branch(Batch(link.column, left, right, batch.loose, grid), owner, link.weight))


def _keys(batch: Batch, link: MapLink) -> None:
    """The pairs of entries with the same key: those of the gold side are looked up on the predicted side."""
    owner, entries = spread(link.starts, batch.left)
    found = located(link.table, batch.right[owner] * link.width + link.keys[entries])
    hit = found >= 0
    below = Batch(link.column, link.rows[entries[hit]], link.rows[found[hit]], batch.loose)
    batch.branches.append(Branch(below, owner[hit]))


def _settle(batch: Batch) -> None:
    """Add up what is matched, field by field and item by item, and divide by the union."""
    batch.gold, batch.predicted = batch.column.sizes[batch.left], batch.column.sizes[batch.right]
    size = len(batch)
    matched, mass = np.zeros(size), np.zeros(size)
    for branch in _compared(batch):
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
    for move in batch.moves:
        batch.predicted[move.which] += move.shift
        matched[move.which] += move.matched
        mass[move.which] += move.total
    union = batch.gold + batch.predicted - matched
    batch.matched, batch.mass = matched, mass
    batch.quality = share(mass, union)


def _compared(batch: Batch) -> list[Branch]:
    """The branches that are fields; the items of lists count where they are matched."""
    return batch.branches[: len(batch.column.prefix)] if isinstance(batch.column, ListColumn) else batch.branches


def _exact(batch: Batch) -> Mask | None:
    """Which pairs hold no field that is not exact; None for all."""
    exact = None
    for branch in _compared(batch):
        if branch.batch.exact is not None:
            if exact is None:
                exact = np.ones(len(batch), dtype=np.bool_)
            lost = (~branch.batch.exact).nonzero()[0]
            exact[lost if branch.owner is None else branch.owner[lost]] = False
    return exact
