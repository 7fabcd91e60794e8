"""From the optimum down: which nodes are matched, which are missing or spurious, as the levels of the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from arbitre.comparison.levels import NONE, Level
from arbitre.engine.columns import Column, LeafColumn, Link, ListColumn, MixedColumn, ObjectColumn
from arbitre.engine.multisets import match_equal
from arbitre.engine.runs import gathered, spread
from arbitre.paths import STAR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.engine.batches import Batch, Branch
    from arbitre.engine.columns import Indices, Mask
    from arbitre.paths import Path


@dataclass(eq=False, slots=True)
class _Rows:
    """Rows of a column that the result speaks of, on one side or on both, under records already known.

    `at` says where in `batch` the pairs are; -1 stands for no row, in `left` or `right`.
    """

    parent: Indices
    left: Indices
    right: Indices
    weight: float
    inner: bool = False
    batch: Batch | None = None
    at: Indices | None = None


@dataclass(eq=False, slots=True)
class Tracer:
    """Walks the columns, parents before children, and keeps for each what the levels above say of it."""

    columns: Sequence[Column]
    documents: Indices
    down_to: Path | None = None
    roots: dict[int, Indices] = field(default_factory=dict)
    waiting: dict[int, list[_Rows]] = field(default_factory=dict)
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
        return tuple(self.levels)

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
        self, column: Column, parent: Indices, rows: Indices, weight: float, *, gold: bool, inner: bool = False
    ) -> None:
        if len(rows) == 0:
            return
        none = np.full(len(rows), NONE, dtype=np.intp)
        left, right = (rows, none) if gold else (none, rows)
        self._add(column, _Rows(parent, left, right, weight, inner))

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
        """Write the level of these rows; the numbers of its records."""
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
        self.levels.append(
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
            here = np.flatnonzero(clash)
            numbers = self._record(
                column, _Rows(rows.parent[here], rows.left[here], rows.right[here], rows.weight, rows.inner)
            )
            for side, gold in ((rows.left[here], True), (rows.right[here], False)):
                for number, part in enumerate(column.parts):
                    inside = column.part[side] == number
                    self._one_sided(part, numbers[inside], column.rows[side[inside]], 1.0, gold=gold, inner=True)
        for number, part in enumerate(column.parts):
            for side, gold in ((rows.left, True), (rows.right, False)):
                lone = np.flatnonzero((side >= 0) & ~both)
                lone = lone[column.part[side[lone]] == number]
                self._one_sided(
                    part, rows.parent[lone], column.rows[side[lone]], rows.weight, gold=gold, inner=rows.inner
                )
            if rows.batch is not None and rows.at is not None:
                same = np.flatnonzero(both & ~clash)
                same = same[column.part[rows.left[same]] == number]
                branch = rows.batch.branches[number]
                place = np.full(len(rows.batch), NONE, dtype=np.intp)
                place[branch.owner] = np.arange(len(branch.batch), dtype=np.intp)
                at = place[rows.at[same]]
                left, right = branch.batch.left[at], branch.batch.right[at]
                self._add(part, _Rows(rows.parent[same], left, right, rows.weight, rows.inner, branch.batch, at))

    def _object(self, column: ObjectColumn, rows: _Rows, numbers: Indices) -> None:
        for position, link in enumerate(column.links):
            self._field(link, rows, numbers, _branch(rows, position))
        for position, map_link in enumerate(column.maps, start=len(column.links)):
            if not self._wanted(map_link.column.path):
                continue
            taken = np.zeros(map_link.column.size, dtype=np.bool_)
            branch = _branch(rows, position)
            if branch is not None:
                self._pairs(map_link.column, rows, numbers, branch, taken)
            for side, gold in ((rows.left, True), (rows.right, False)):
                here = np.flatnonzero(side >= 0)
                owner, entries = spread(map_link.starts, side[here])
                self._unmatched(map_link.column, numbers[here[owner]], map_link.rows[entries], taken, gold=gold)

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

    def _pairs(self, child: Column, rows: _Rows, numbers: Indices, branch: Branch, taken: Mask | None = None) -> None:
        """The pairs of a branch that belong to these records."""
        if rows.batch is None or rows.at is None:
            return
        above = np.full(len(rows.batch), NONE, dtype=np.intp)
        above[rows.at] = numbers
        owner = above if branch.owner is None else above[branch.owner]
        at = np.flatnonzero(owner >= 0)
        left, right = branch.batch.left[at], branch.batch.right[at]
        if taken is not None:
            taken[left] = taken[right] = True
        self._add(child, _Rows(owner[at], left, right, branch.weight, batch=branch.batch, at=at))

    def _unmatched(self, child: Column, parents: Indices, found: Indices, taken: Mask, *, gold: bool) -> None:
        free = ~taken[found]
        self._one_sided(child, parents[free], found[free], 1.0, gold=gold)

    def _list(self, column: ListColumn, rows: _Rows, numbers: Indices) -> None:
        for position, link in enumerate(column.prefix):
            self._field(link, rows, numbers, _branch(rows, position))
        items = column.items
        if items is None or not self._wanted(items.path):
            return
        taken = np.zeros(items.size, dtype=np.bool_)
        if rows.batch is not None and rows.at is not None:
            above = np.full(len(rows.batch), NONE, dtype=np.intp)
            above[rows.at] = numbers
            matches = rows.batch.matches
            if rows.batch.counted is not None:
                at = rows.batch.counted[above[rows.batch.counted] >= 0]
                equal = match_equal(column, rows.batch.left[at], rows.batch.right[at])
                if equal is not None:
                    equal.owner = at[equal.owner]
                    matches = [equal, *matches]
            for match in matches:
                parent = above[match.owner]
                here = np.flatnonzero(parent >= 0)
                at = match.at[here]
                left, right = match.batch.left[at], match.batch.right[at]
                taken[left] = taken[right] = True
                self._add(items, _Rows(parent[here], left, right, 1.0, batch=match.batch, at=at))
        for side, gold in ((rows.left, True), (rows.right, False)):
            here = np.flatnonzero(side >= 0)
            owner, slots = spread(column.starts, side[here])
            self._unmatched(items, numbers[here[owner]], column.rows(slots), taken, gold=gold)


def _branch(rows: _Rows, position: int) -> Branch | None:
    return rows.batch.branches[position] if rows.batch is not None and rows.batch.branches else None
