"""Build the levels of the result from the optimum: which nodes are matched, missing or spurious."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from arbitre.comparison.levels import NONE, Level, concatenated, with_scales
from arbitre.engine.columns.column import Column, LeafColumn, ListColumn, MixedColumn
from arbitre.engine.columns.ragged import expand_slices, take_or
from arbitre.engine.solve.batches import MatchedPairs
from arbitre.engine.solve.multiset_matching import match_equal
from arbitre.paths import STAR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.engine.columns.column import Link, Slices
    from arbitre.engine.solve.batches import Batch, Branch, TransportMatches
    from arbitre.paths import Path


@dataclass(eq=False, slots=True)
class _PendingRows:
    """Nodes of one column to record: matched pairs, or rows of one side.

    All arrays have shape (nodes,).
    """

    parent: Indices
    """Record above each node; NONE for roots."""
    left: Indices
    """Gold row; NONE where there is none."""
    right: Indices
    """Predicted row, likewise."""
    weight: float
    inner: bool = False
    batch: Batch | None = None
    """The batch that holds the pairs; None for rows of one side."""
    at: Indices | None = None
    """Position of each pair in `batch`."""
    share: Floats | None = None
    """Share of each node that is recorded; None for all of it."""


@dataclass(eq=False, slots=True)
class Tracer:
    """Walks the columns, parents before children, and records what the columns above say of each."""

    columns: Sequence[Column]
    documents: Indices
    """Document of each row of the root column."""
    down_to: Path | None = None
    """Path to record; only the levels around it and directly below it are recorded. None for all."""
    roots: dict[int, Indices] = field(default_factory=dict)
    waiting: dict[int, list[_PendingRows]] = field(default_factory=dict)
    parts: list[Level] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    records: int = 0

    def trace(self, root: Batch, missing: Indices, spurious: Indices) -> tuple[Level, ...]:
        """Return the levels of a closed batch of documents, and of root rows without a partner."""
        every = np.arange(len(root), dtype=np.intp)
        self._add(
            root.column, _PendingRows(np.full_like(every, NONE), root.left, root.right, 1.0, batch=root, at=every)
        )
        for lone, gold in ((missing, True), (spurious, False)):
            self._one_sided(root.column, np.full_like(lone, NONE), lone, gold=gold)
        for column in self.columns:
            for rows in self.waiting.pop(column.number, ()):
                self._level(column, rows)
            self.levels += concatenated(self.parts)
            self.parts.clear()
        return with_scales(self.levels)

    def _add(self, column: Column, rows: _PendingRows) -> None:
        if len(rows.parent):
            self.waiting.setdefault(column.number, []).append(rows)

    def _one_sided(
        self,
        column: Column,
        parent: Indices,
        rows: Indices,
        weight: float = 1.0,
        *,
        gold: bool,
        inner: bool = False,
        share: Floats | None = None,
    ) -> None:
        if len(rows) == 0:
            return
        none = np.full(len(rows), NONE, dtype=np.intp)
        left, right = (rows, none) if gold else (none, rows)
        self._add(column, _PendingRows(parent, left, right, weight, inner, share=share))

    def _wanted(self, path: Path) -> bool:
        """Return whether a path is to be recorded (see `down_to`)."""
        way = self.down_to
        if way is None:
            return True
        along = zip(path, way, strict=False)
        return len(path) <= len(way) + 1 and all(ours is STAR or str(ours) == str(theirs) for ours, theirs in along)

    def _level(self, column: Column, rows: _PendingRows) -> None:
        """Record some nodes, and hand on the nodes below them."""
        if isinstance(column, MixedColumn):
            self._mixed(column, rows)
            return
        numbers = self._record(column, rows)
        for position, link in enumerate(column.links):
            if self._wanted(link.column.path):
                self._field(link, rows, numbers, _branch(rows, position))
        for entries in column.slices:
            if self._wanted(entries.column.path):
                self._entries(column, entries, rows, numbers)

    def _record(self, column: Column, rows: _PendingRows, *, clash: bool = False) -> Indices:
        """Add nodes to the level, and return the numbers of their records. `clash`: their kinds differ."""
        size = len(rows.parent)
        zero = np.zeros(size)
        counts = [zero, zero, zero, zero]
        quality = zero
        if rows.batch is not None and rows.at is not None:
            quality = rows.batch.quality[rows.at]
            masses = (rows.batch.gold, rows.batch.predicted, rows.batch.matched, rows.batch.mass)
            counts = [zero if mass is None else mass[rows.at] for mass in masses]
        elif not clash:
            counts = [take_or(column.sizes, rows.left, 0), take_or(column.sizes, rows.right, 0), zero, zero]
        self.parts.append(
            Level(
                path=column.path,
                leaf=isinstance(column, LeafColumn),
                item=column.item,
                kind_mismatch=clash,
                inner=rows.inner,
                weight=rows.weight,
                first=self.records,
                parent=rows.parent,
                document=self._roots(column)[np.where(rows.left >= 0, rows.left, rows.right)],
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

    def _roots(self, column: Column) -> Indices:
        """Return the document of each row of a column; that of the column above must be known."""
        if column.number not in self.roots:
            above = self.documents if column.parent is None else self._roots(column.parent)
            self.roots[column.number] = above[column.origin]
        return self.roots[column.number]

    def _mixed(self, column: MixedColumn, rows: _PendingRows) -> None:
        """Hand pairs of one kind on to that kind; record pairs of two kinds, with a record below for either side."""
        both = (rows.left >= 0) & (rows.right >= 0)
        same = np.zeros(len(both), dtype=np.bool_)
        for link in column.links:
            same |= (link.rows(rows.left) >= 0) & (link.rows(rows.right) >= 0)
        here = (both & ~same).nonzero()[0]
        if len(here):
            left, right = rows.left[here], rows.right[here]
            clash = _PendingRows(rows.parent[here], left, right, rows.weight, rows.inner, share=_some(rows.share, here))
            self._by_kind(column, _PendingRows(self._record(column, clash, clash=True), left, right, 1.0, inner=True))
        lone = (~both).nonzero()[0]
        left, right = rows.left[lone], rows.right[lone]
        share = _some(rows.share, lone)
        self._by_kind(column, _PendingRows(rows.parent[lone], left, right, rows.weight, rows.inner, share=share))
        for position, link in enumerate(column.links):
            branch = _branch(rows, position)
            if branch is not None and rows.batch is not None:
                place = np.full(len(rows.batch), NONE, dtype=np.intp)
                place[slice(None) if branch.owner is None else branch.owner] = np.arange(len(branch.batch))
                at = place[rows.at]
                here = (at >= 0).nonzero()[0]
                left, right = branch.batch.left[at[here]], branch.batch.right[at[here]]
                self._add(
                    link.column,
                    _PendingRows(
                        rows.parent[here],
                        left,
                        right,
                        rows.weight,
                        rows.inner,
                        branch.batch,
                        at[here],
                        _some(rows.share, here),
                    ),
                )

    def _by_kind(self, column: MixedColumn, rows: _PendingRows) -> None:
        """Hand the rows of both sides on to their kinds, each as a row of one side."""
        for link in column.links:
            for side, gold in ((rows.left, True), (rows.right, False)):
                below = link.rows(side)
                here = (below >= 0).nonzero()[0]
                self._one_sided(
                    link.column,
                    rows.parent[here],
                    below[here],
                    rows.weight,
                    gold=gold,
                    inner=rows.inner,
                    share=_some(rows.share, here),
                )

    def _field(self, link: Link, rows: _PendingRows, numbers: Indices, branch: Branch | None) -> None:
        """Hand on the fields that both rows of a pair hold, then those that one holds."""
        if branch is not None:
            every = np.arange(len(branch.batch), dtype=np.intp)
            owner = every if branch.owner is None else branch.owner
            match = MatchedPairs(branch.batch, every, owner)
            self._add(link.column, _items(match, _above(rows, numbers), branch.weight))
            if link.index is None:  # no row lacks the field
                return
        left, right = link.rows(rows.left), link.rows(rows.right)
        for here, gold in (((left >= 0) & (right < 0), True), ((right >= 0) & (left < 0), False)):
            self._one_sided(link.column, numbers[here], (left if gold else right)[here], link.weight, gold=gold)

    def _entries(self, column: Column, entries: Slices, rows: _PendingRows, numbers: Indices) -> None:
        """Hand on the entries of maps or items of lists: those with a partner, then those without."""
        above = _above(rows, numbers)
        if rows.batch is not None and rows.batch.transports:
            self._moved(entries.column, rows.batch.transports, above)
            return
        met = [_items(match, above) for match in _matches(column, entries, rows.batch, above)]
        for pairs in met:
            self._add(entries.column, pairs)
        for side, gold in ((rows.left, True), (rows.right, False)):
            partners = [(pairs.parent, pairs.left if gold else pairs.right) for pairs in met]
            self._one_sided(entries.column, *_lone(entries, side, numbers, partners), gold=gold)

    def _moved(self, items: Column, moves: Sequence[TransportMatches], above: Indices) -> None:
        """Hand on the items between which mass is moved, then those whose mass is left over."""
        for move in moves:
            match = MatchedPairs(move.batch, move.at, move.owner)
            self._add(items, _items(match, above, mass=move.mass))
            for spare, gold in ((move.gold, True), (move.predicted, False)):
                here = above[spare.owner] >= 0
                parents, lone = above[spare.owner[here]], spare.rows[here]
                self._one_sided(items, parents, lone, gold=gold, share=spare.mass[here])


def _matches(column: Column, entries: Slices, batch: Batch | None, above: Indices) -> Iterator[MatchedPairs]:
    """Yield the matched entries of the pairs of a batch; `above` are the records of these pairs, or NONE."""
    if batch is None:
        return
    if batch.multiset_pairs is not None and isinstance(column, ListColumn):
        at = batch.multiset_pairs[above[batch.multiset_pairs] >= 0]
        equal = match_equal(column, batch.left[at], batch.right[at])
        if equal is not None:
            equal.owner = at[equal.owner]
            yield equal
    yield from (match for match in batch.matches if match.batch.column is entries.column)


def _lone(
    entries: Slices, side: Indices, numbers: Indices, partners: Sequence[tuple[Indices, Indices]]
) -> tuple[Indices, Indices]:
    """Find the entries of one side that have no partner.

    Args:
        entries: The slices below.
        side: The row above of each record, or NONE; shape (records,).
        numbers: The numbers of the records, consecutive.
        partners: The entries that have a partner: their records, and their rows; each row occurs once.

    Returns:
        The record above each entry, and the row of the entry.
    """
    here = (side >= 0).nonzero()[0]
    above = side[here]
    counts = entries.starts[above + 1] - entries.starts[above]
    if int(counts.sum()) == sum(len(rows) for _, rows in partners):
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    owner, slots = expand_slices(entries.starts, above)
    free = np.ones(len(slots), dtype=np.bool_)
    begins = np.zeros(len(numbers), dtype=np.intp)
    begins[here] = counts.cumsum() - counts - entries.starts[above]
    for records, rows in partners:
        slot = rows if entries.index is None else entries.index.searchsorted(rows)
        free[begins[records - numbers[0]] + slot] = False
    return numbers[here[owner[free]]], entries.rows(slots[free])


def _above(rows: _PendingRows, numbers: Indices) -> Indices:
    """Return the record of each pair of the batch; NONE where it has none."""
    above = np.full(0 if rows.batch is None else len(rows.batch), NONE, dtype=np.intp)
    if rows.at is not None:
        above[rows.at] = numbers
    return above


def _items(match: MatchedPairs, above: Indices, weight: float = 1.0, *, mass: Floats | None = None) -> _PendingRows:
    """Return the matched pairs whose pair above has a record."""
    parent = above[match.owner]
    here = (parent >= 0).nonzero()[0]
    at = match.at[here]
    left, right = match.batch.left[at], match.batch.right[at]
    return _PendingRows(parent[here], left, right, weight, batch=match.batch, at=at, share=_some(mass, here))


def _some(share: Floats | None, here: Indices) -> Floats | None:
    return None if share is None else share[here]


def _branch(rows: _PendingRows, position: int) -> Branch | None:
    return rows.batch.branches[position] if rows.batch is not None and rows.batch.branches else None
