"""From the optimum down: which nodes are matched, which are missing or spurious, as the levels of the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from arbitre.comparison.levels import NONE, Level, joined, with_scales
from arbitre.engine.columns import Column, LeafColumn, Link, ListColumn, MixedColumn, ObjectColumn
from arbitre.engine.multisets import match_equal
from arbitre.engine.runs import gathered, spread
from arbitre.paths import STAR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.engine.batches import Batch, Branch, Matched, Moved
    from arbitre.engine.columns import Floats, Indices
    from arbitre.paths import Path


@dataclass(eq=False, slots=True)
class _Rows:
    """Rows of a column that the result speaks of, on one side or on both, under records already known.

    `at` says where in `batch` the pairs are; -1 stands for no row, in `left` or `right`. `share` is how much of each is
    spoken of, None where that is all.
    """

    parent: Indices
    left: Indices
    right: Indices
    weight: float
    inner: bool = False
    batch: Batch | None = None
    at: Indices | None = None
    share: Floats | None = None


@dataclass(eq=False, slots=True)
class Tracer:
    """Walks the columns, parents before children, and keeps for each what the levels above say of it."""

    columns: Sequence[Column]
    documents: Indices
    down_to: Path | None = None
    roots: dict[int, Indices] = field(default_factory=dict)
    waiting: dict[int, list[_Rows]] = field(default_factory=dict)
    parts: list[Level] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    records: int = 0

    def trace(self, root: Batch, missing: Indices, spurious: Indices) -> tuple[Level, ...]:
        """The levels of a closed batch of documents; `missing` and `spurious` are the roots without a partner."""
        none = np.full(len(root), NONE, dtype=np.intp)
        pairs = _Rows(none, root.left, root.right, 1.0, batch=root, at=np.arange(len(root), dtype=np.intp))
        self._add(root.column, pairs)
        for lone, gold in ((missing, True), (spurious, False)):
            self._one_sided(root.column, np.full(len(lone), NONE, dtype=np.intp), lone, 1.0, gold=gold)
        for column in self.columns:
            for rows in self.waiting.pop(column.number, ()):
                self._level(column, rows)
            self.levels += joined(self.parts)
            self.parts.clear()
        return with_scales(self.levels)

    def _add(self, column: Column, rows: _Rows) -> None:
        if len(rows.parent):
            self.waiting.setdefault(column.number, []).append(rows)

    def _wanted(self, path: Path) -> bool:
        """Whether a path is on the way that is asked for, or directly below it."""
        way = self.down_to
        if way is None:
            return True
        along = zip(path, way, strict=False)
        return len(path) <= len(way) + 1 and all(ours is STAR or str(ours) == str(theirs) for ours, theirs in along)

    def _one_sided(
        self,
        column: Column,
        parent: Indices,
        rows: Indices,
        weight: float,
        *,
        gold: bool,
        inner: bool = False,
        share: Floats | None = None,
    ) -> None:
        if len(rows) == 0:
            return
        none = np.full(len(rows), NONE, dtype=np.intp)
        left, right = (rows, none) if gold else (none, rows)
        self._add(column, _Rows(parent, left, right, weight, inner, share=share))

    def _level(self, column: Column, rows: _Rows) -> None:
        if isinstance(column, MixedColumn):
            self._mixed(column, rows)
            return
        numbers = self._record(column, rows)
        if isinstance(column, ObjectColumn):
            self._object(column, rows, numbers)
        elif isinstance(column, ListColumn):
            self._list(column, rows, numbers)

    def _record(self, column: Column, rows: _Rows) -> Indices:
        """Write these rows down as part of a level; the numbers of its records."""
        size = len(rows.parent)
        zero = np.zeros(size)
        counts = [zero, zero, zero, zero]
        quality = zero
        if rows.batch is not None and rows.at is not None:
            quality = rows.batch.quality[rows.at]
            masses = (rows.batch.gold, rows.batch.predicted, rows.batch.matched, rows.batch.mass)
            counts = [zero if mass is None else mass[rows.at] for mass in masses]
        elif not isinstance(column, (LeafColumn, MixedColumn)):
            counts = [gathered(column.sizes, rows.left, 0), gathered(column.sizes, rows.right, 0), zero, zero]
        self.parts.append(
            Level(
                path=column.path,
                leaf=isinstance(column, LeafColumn),
                item=column.item,
                clash=isinstance(column, MixedColumn),
                inner=rows.inner,
                weight=rows.weight,
                first=self.records,
                parent=rows.parent,
                document=self._documents(column, rows),
                source=column,
                left=rows.left,
                right=rows.right,
                quality=quality,
                gold=counts[0],
                predicted=counts[1],
                matched=counts[2],
                mass=counts[3],
                share=rows.share,
            )
        )
        self.records += size
        return np.arange(self.records - size, self.records, dtype=np.intp)

    def _documents(self, column: Column, rows: _Rows) -> Indices:
        return self._roots(column)[np.where(rows.left >= 0, rows.left, rows.right)]

    def _roots(self, column: Column) -> Indices:
        """The document of each row of a column; that of its parent is settled first."""
        if column.number not in self.roots:
            above = self.documents if column.parent is None else self._roots(column.parent)
            self.roots[column.number] = above[column.origin]
        return self.roots[column.number]

    def _mixed(self, column: MixedColumn, rows: _Rows) -> None:
        """Pairs of one part go down to it as they are; pairs of two are records of their own, both sides below."""
        both = (rows.left >= 0) & (rows.right >= 0)
        clash = both & (column.part[rows.left] != column.part[rows.right])
        if clash.any():
            here = clash.nonzero()[0]
            share = _some(rows.share, here)
            numbers = self._record(
                column,
                _Rows(rows.parent[here], rows.left[here], rows.right[here], rows.weight, rows.inner, share=share),
            )
            for side, gold in ((rows.left[here], True), (rows.right[here], False)):
                for number, part in enumerate(column.parts):
                    inside = column.part[side] == number
                    self._one_sided(part, numbers[inside], column.rows[side[inside]], 1.0, gold=gold, inner=True)
        for number, part in enumerate(column.parts):
            for side, gold in ((rows.left, True), (rows.right, False)):
                lone = ((side >= 0) & ~both).nonzero()[0]
                lone = lone[column.part[side[lone]] == number]
                self._one_sided(
                    part,
                    rows.parent[lone],
                    column.rows[side[lone]],
                    rows.weight,
                    gold=gold,
                    inner=rows.inner,
                    share=_some(rows.share, lone),
                )
            if rows.batch is not None and rows.at is not None:
                same = (both & ~clash).nonzero()[0]
                same = same[column.part[rows.left[same]] == number]
                branch = rows.batch.branches[number]
                place = np.full(len(rows.batch), NONE, dtype=np.intp)
                place[branch.owner] = np.arange(len(branch.batch), dtype=np.intp)
                at = place[rows.at[same]]
                left, right = branch.batch.left[at], branch.batch.right[at]
                share = _some(rows.share, same)
                self._add(part, _Rows(rows.parent[same], left, right, rows.weight, rows.inner, branch.batch, at, share))

    def _object(self, column: ObjectColumn, rows: _Rows, numbers: Indices) -> None:
        for position, link in enumerate(column.links):
            self._field(link, rows, numbers, _branch(rows, position))
        for position, map_link in enumerate(column.maps, start=len(column.links)):
            if not self._wanted(map_link.column.path):
                continue
            branch = _branch(rows, position)
            met = [] if branch is None else [self._pairs(map_link.column, rows, numbers, branch)]
            self._lone(_Runs(map_link.starts, map_link.rows), map_link.column, rows, numbers, met)

    def _field(self, link: Link, rows: _Rows, numbers: Indices, branch: Branch | None) -> None:
        if not self._wanted(link.column.path):
            return
        if branch is not None:
            self._pairs(link.column, rows, numbers, branch)
            if link.index is None:  # every object holds the field
                return
        left = np.where(rows.left >= 0, link.rows(rows.left), NONE)
        right = np.where(rows.right >= 0, link.rows(rows.right), NONE)
        for here, gold in (((left >= 0) & (right < 0), True), ((right >= 0) & (left < 0), False)):
            self._one_sided(link.column, numbers[here], (left if gold else right)[here], link.weight, gold=gold)

    def _pairs(self, child: Column, rows: _Rows, numbers: Indices, branch: Branch) -> _Rows:
        """The pairs of a branch that belong to these records."""
        above = _above(rows, numbers)
        owner = above if branch.owner is None else above[branch.owner]
        at = (owner >= 0).nonzero()[0]
        found = _Rows(
            owner[at], branch.batch.left[at], branch.batch.right[at], branch.weight, batch=branch.batch, at=at
        )
        self._add(child, found)
        return found

    def _list(self, column: ListColumn, rows: _Rows, numbers: Indices) -> None:
        for position, link in enumerate(column.prefix):
            self._field(link, rows, numbers, _branch(rows, position))
        items = column.items
        if items is None or not self._wanted(items.path):
            return
        if rows.batch is not None and rows.batch.moves:
            self._moved(items, rows.batch.moves, _above(rows, numbers))
            return
        met = list(_matched(column, rows, _above(rows, numbers)))
        for pairs in met:
            self._add(items, pairs)
        self._lone(_Runs(column.starts, column.index), items, rows, numbers, met)

    def _moved(self, items: Column, moves: Sequence[Moved], above: Indices) -> None:
        """What mass moves between, and what is left over."""
        for move in moves:
            self._add(items, _items(move, above, move.mass))
            for spare, gold in ((move.gold, True), (move.predicted, False)):
                here = above[spare.owner] >= 0
                parents, lone = above[spare.owner[here]], spare.rows[here]
                self._one_sided(items, parents, lone, 1.0, gold=gold, share=spare.mass[here])

    def _lone(self, runs: _Runs, child: Column, rows: _Rows, numbers: Indices, met: Sequence[_Rows]) -> None:
        """The rows below that have no partner among those met."""
        for side, gold in ((rows.left, True), (rows.right, False)):
            parents, lone = runs.lone(side, numbers, [(one.parent, one.left if gold else one.right) for one in met])
            self._one_sided(child, parents, lone, 1.0, gold=gold)


def _matched(column: ListColumn, rows: _Rows, above: Indices) -> Iterator[_Rows]:
    """The pairs of items of these lists."""
    if rows.batch is None:
        return
    if rows.batch.counted is not None:
        at = rows.batch.counted[above[rows.batch.counted] >= 0]
        equal = match_equal(column, rows.batch.left[at], rows.batch.right[at])
        if equal is not None:
            equal.owner = at[equal.owner]
            yield _items(equal, above)
    for match in rows.batch.matches:
        yield _items(match, above)


@dataclass(frozen=True, eq=False, slots=True)
class _Runs:
    """What the rows of a column hold: row r the entries `starts[r]:starts[r + 1]`, entry e being row `rows[e]` below.

    `rows` increase; None where entry e is row e.
    """

    starts: Indices
    rows: Indices | None

    def lone(self, side: Indices, numbers: Indices, met: Sequence[tuple[Indices, Indices]]) -> tuple[Indices, Indices]:
        """The rows below that no pair has met: the record above each, and the row itself.

        `side` are the rows above (or -1) of the records `numbers`, which follow each other; `met` says which rows below
        have a partner, under which records; each is named once.
        """
        here = (side >= 0).nonzero()[0]
        above = side[here]
        counts = self.starts[above + 1] - self.starts[above]
        if int(counts.sum()) == sum(len(rows) for _, rows in met):
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
        owner, entries = spread(self.starts, above)
        free = np.ones(len(entries), dtype=np.bool_)
        begins = np.zeros(len(numbers), dtype=np.intp)
        begins[here] = counts.cumsum() - counts - self.starts[above]
        for records, rows in met:
            if len(records):
                entry = rows if self.rows is None else self.rows.searchsorted(rows)
                free[begins[records - numbers[0]] + entry] = False
        entries = entries[free]
        return numbers[here[owner[free]]], entries if self.rows is None else self.rows[entries]


def _above(rows: _Rows, numbers: Indices) -> Indices:
    """The record of every pair of the batch, -1 where it has none."""
    above = np.full(0 if rows.batch is None else len(rows.batch), NONE, dtype=np.intp)
    if rows.at is not None:
        above[rows.at] = numbers
    return above


def _items(match: Matched | Moved, above: Indices, mass: Floats | None = None) -> _Rows:
    """The pairs of items that belong to records."""
    parent = above[match.owner]
    here = (parent >= 0).nonzero()[0]
    at = match.at[here]
    left, right = match.batch.left[at], match.batch.right[at]
    return _Rows(parent[here], left, right, 1.0, batch=match.batch, at=at, share=_some(mass, here))


def _some(share: Floats | None, here: Indices) -> Floats | None:
    return None if share is None else share[here]


def _branch(rows: _Rows, position: int) -> Branch | None:
    return rows.batch.branches[position] if rows.batch is not None and rows.batch.branches else None
