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
    from arbitre.engine.solve.batches import Batch, FieldPairs, TransportMatches
    from arbitre.paths import Path


@dataclass(eq=False, slots=True)
class _PendingRows:
    """Nodes of one column to record: matched pairs, or rows of one side.

    All arrays have shape (nodes,).
    """

    parent: Indices
    """Record of each node's parent; NONE for roots."""
    left: Indices
    """Gold row of each node, or NONE."""
    right: Indices
    """Predicted row of each node, or NONE."""
    weight: float
    inner: bool = False
    batch: Batch | None = None
    """The batch that holds the pairs; None for rows of one side."""
    at: Indices | None = None
    """Position of each pair in `batch`."""
    share: Floats | None = None
    """Share of each node that is recorded; None for whole nodes."""


@dataclass(eq=False, slots=True)
class Tracer:
    """Walks the columns, parents before children, and records their nodes as levels."""

    columns: Sequence[Column]
    documents: Indices
    """Document of each row of the root column."""
    down_to: Path | None = None
    """Only levels along this path and directly below it are recorded; None for all levels."""
    roots: dict[int, Indices] = field(default_factory=dict)
    """Document of each row, by column number."""
    waiting: dict[int, list[_PendingRows]] = field(default_factory=dict)
    """Nodes to record, by column number."""
    parts: list[Level] = field(default_factory=list)
    """Levels of the current column, before concatenation."""
    levels: list[Level] = field(default_factory=list)
    n_nodes: int = 0
    """Number of nodes so far."""

    def trace(self, root: Batch, missing: Indices, spurious: Indices) -> tuple[Level, ...]:
        """Return the levels of a closed batch of documents and of the missing and spurious documents."""
        pairs = np.arange(len(root), dtype=np.intp)
        self._add(
            root.column, _PendingRows(np.full_like(pairs, NONE), root.left, root.right, 1.0, batch=root, at=pairs)
        )
        for rows, gold in ((missing, True), (spurious, False)):
            self._one_sided(root.column, np.full_like(rows, NONE), rows, gold=gold)
        for column in self.columns:
            for pending in self.waiting.pop(column.number, ()):
                self._level(column, pending)
            self.levels += (_by_key(level, column) for level in concatenated(self.parts))
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
        """Add rows without a partner: missing ones of gold, or spurious ones of the prediction."""
        if len(rows) == 0:
            return
        none = np.full(len(rows), NONE, dtype=np.intp)
        left, right = (rows, none) if gold else (none, rows)
        self._add(column, _PendingRows(parent, left, right, weight, inner, share=share))

    def _wanted(self, path: Path) -> bool:
        """Return whether to record a path (see `down_to`)."""
        if self.down_to is None:
            return True
        tokens = zip(path, self.down_to, strict=False)
        return len(path) <= len(self.down_to) + 1 and all(
            token is STAR or str(token) == str(target) for token, target in tokens
        )

    def _level(self, column: Column, rows: _PendingRows) -> None:
        """Record some nodes and add the nodes below them to `waiting`."""
        if isinstance(column, MixedColumn):
            self._mixed(column, rows)
            return
        numbers = self._add_level(column, rows)
        for position, link in enumerate(column.links):
            if self._wanted(link.column.path):
                self._field(link, rows, numbers, _field_pairs(rows, position))
        for entries in column.slices:
            if self._wanted(entries.column.path):
                self._entries(column, entries, rows, numbers)

    def _add_level(self, column: Column, rows: _PendingRows, *, kind_mismatch: bool = False) -> Indices:
        """Add a level with these nodes and return their ids; `kind_mismatch` marks pairs of different kinds."""
        size = len(rows.parent)
        zero = np.zeros(size)
        counts = [zero, zero, zero, zero]
        quality = zero
        if rows.batch is not None and rows.at is not None:
            quality = rows.batch.quality[rows.at]
            masses = (rows.batch.gold, rows.batch.predicted, rows.batch.matched, rows.batch.mass)
            counts = [zero if mass is None else mass[rows.at] for mass in masses]
        elif not kind_mismatch:
            counts = [take_or(column.sizes, rows.left, 0), take_or(column.sizes, rows.right, 0), zero, zero]
        self.parts.append(
            Level(
                path=column.path,
                leaf=isinstance(column, LeafColumn),
                item=column.item,
                kind_mismatch=kind_mismatch,
                inner=rows.inner,
                weight=rows.weight,
                first=self.n_nodes,
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
                named=column.key_ranks is not None,
            )
        )
        self.n_nodes += size
        return np.arange(self.n_nodes - size, self.n_nodes, dtype=np.intp)

    def _roots(self, column: Column) -> Indices:
        """Return the document of each row of a column."""
        if column.number not in self.roots:
            above = self.documents if column.parent is None else self._roots(column.parent)
            self.roots[column.number] = above[column.origin]
        return self.roots[column.number]

    def _mixed(self, column: MixedColumn, rows: _PendingRows) -> None:
        """Add pairs of one kind to the column of that kind; record pairs of two kinds and add both sides separately."""
        both = (rows.left >= 0) & (rows.right >= 0)
        same = np.zeros(len(both), dtype=np.bool_)
        for link in column.links:
            same |= (link.rows(rows.left) >= 0) & (link.rows(rows.right) >= 0)
        mismatched = (both & ~same).nonzero()[0]
        if len(mismatched):
            left, right = rows.left[mismatched], rows.right[mismatched]
            share = _take_share(rows.share, mismatched)
            mismatched_pairs = _PendingRows(rows.parent[mismatched], left, right, rows.weight, rows.inner, share=share)
            self._by_kind(
                column,
                _PendingRows(
                    self._add_level(column, mismatched_pairs, kind_mismatch=True), left, right, 1.0, inner=True
                ),
            )
        unpaired = (~both).nonzero()[0]
        left, right = rows.left[unpaired], rows.right[unpaired]
        share = _take_share(rows.share, unpaired)
        self._by_kind(column, _PendingRows(rows.parent[unpaired], left, right, rows.weight, rows.inner, share=share))
        for position, link in enumerate(column.links):
            field_pairs = _field_pairs(rows, position)
            if field_pairs is not None and rows.batch is not None:
                pair_of_batch = np.full(len(rows.batch), NONE, dtype=np.intp)
                pair_of_batch[slice(None) if field_pairs.owner is None else field_pairs.owner] = np.arange(
                    len(field_pairs.batch)
                )
                pairs = pair_of_batch[rows.at]
                of_kind = (pairs >= 0).nonzero()[0]
                pairs = pairs[of_kind]
                self._add(
                    link.column,
                    _PendingRows(
                        rows.parent[of_kind],
                        field_pairs.batch.left[pairs],
                        field_pairs.batch.right[pairs],
                        rows.weight,
                        rows.inner,
                        field_pairs.batch,
                        pairs,
                        _take_share(rows.share, of_kind),
                    ),
                )

    def _by_kind(self, column: MixedColumn, rows: _PendingRows) -> None:
        """Add the rows of both sides to the columns of their kinds, each as a row of one side."""
        for link in column.links:
            for side, gold in ((rows.left, True), (rows.right, False)):
                below = link.rows(side)
                of_kind = (below >= 0).nonzero()[0]
                self._one_sided(
                    link.column,
                    rows.parent[of_kind],
                    below[of_kind],
                    rows.weight,
                    gold=gold,
                    inner=rows.inner,
                    share=_take_share(rows.share, of_kind),
                )

    def _field(self, link: Link, rows: _PendingRows, numbers: Indices, field_pairs: FieldPairs | None) -> None:
        """Add the fields that both rows of a pair have, then those that only one of them has."""
        if field_pairs is not None:
            pairs = np.arange(len(field_pairs.batch), dtype=np.intp)
            owner = pairs if field_pairs.owner is None else field_pairs.owner
            match = MatchedPairs(field_pairs.batch, pairs, owner)
            self._add(link.column, _items(match, _above(rows, numbers), field_pairs.weight))
            if link.index is None:  # every row has the field
                return
        left, right = link.rows(rows.left), link.rows(rows.right)
        for only, gold in (((left >= 0) & (right < 0), True), ((right >= 0) & (left < 0), False)):
            self._one_sided(link.column, numbers[only], (left if gold else right)[only], link.weight, gold=gold)

    def _entries(self, column: Column, entries: Slices, rows: _PendingRows, numbers: Indices) -> None:
        """Add the entries of maps or the items of lists: those with a partner, then those without."""
        above = _above(rows, numbers)
        if rows.batch is not None and rows.batch.transports:
            self._transported(entries.column, rows.batch.transports, above)
            return
        matched = [_items(match, above) for match in _matches(column, entries, rows.batch, above)]
        for pairs in matched:
            self._add(entries.column, pairs)
        for side, gold in ((rows.left, True), (rows.right, False)):
            partners = [(pairs.parent, pairs.left if gold else pairs.right) for pairs in matched]
            self._one_sided(entries.column, *_unmatched(entries, side, numbers, partners), gold=gold)

    def _transported(self, items: Column, transports: Sequence[TransportMatches], above: Indices) -> None:
        """Add the items between which mass moves, then the items with unmatched mass."""
        for transport in transports:
            match = MatchedPairs(transport.batch, transport.at, transport.owner)
            self._add(items, _items(match, above, mass=transport.mass))
            for unmatched, gold in ((transport.gold, True), (transport.predicted, False)):
                recorded = above[unmatched.owner] >= 0
                parents, rows = above[unmatched.owner[recorded]], unmatched.rows[recorded]
                self._one_sided(items, parents, rows, gold=gold, share=unmatched.mass[recorded])


def _matches(column: Column, entries: Slices, batch: Batch | None, above: Indices) -> Iterator[MatchedPairs]:
    """Yield the matched entries of the pairs of a batch; `above` holds the node of each pair, or NONE."""
    if batch is None:
        return
    if batch.multiset_pairs is not None and isinstance(column, ListColumn):
        pairs = batch.multiset_pairs[above[batch.multiset_pairs] >= 0]
        equal = match_equal(column, batch.left[pairs], batch.right[pairs])
        if equal is not None:
            equal.owner = pairs[equal.owner]
            yield equal
    yield from (match for match in batch.matches if match.batch.column is entries.column)


def _unmatched(
    entries: Slices, side: Indices, numbers: Indices, partners: Sequence[tuple[Indices, Indices]]
) -> tuple[Indices, Indices]:
    """Find the entries of one side that have no partner.

    Args:
        entries: Items of lists, or values of maps, of the rows above.
        side: Row above of each node, or NONE; shape (nodes,).
        numbers: Numbers of these nodes, consecutive; shape (nodes,).
        partners: Parent nodes and rows of the entries with a partner; each row occurs once.

    Returns:
        The parent node and the row of each entry without a partner.
    """
    holders = (side >= 0).nonzero()[0]
    above = side[holders]
    counts = entries.starts[above + 1] - entries.starts[above]
    if int(counts.sum()) == sum(len(rows) for _, rows in partners):
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    owner, slots = expand_slices(entries.starts, above)
    free = np.ones(len(slots), dtype=np.bool_)
    begins = np.zeros(len(numbers), dtype=np.intp)
    begins[holders] = counts.cumsum() - counts - entries.starts[above]
    for node_ids, rows in partners:
        slot = rows if entries.index is None else entries.index.searchsorted(rows)
        free[begins[node_ids - numbers[0]] + slot] = False
    return numbers[holders[owner[free]]], entries.rows(slots[free])


def _by_key(level: Level, column: Column) -> Level:
    """Return the level; if its nodes have paths of their own, ordered by key, as if each path were a level."""
    if column.key_ranks is None:
        return level
    return level.ordered(column.key_ranks[np.where(level.left >= 0, level.left, level.right)].argsort(kind="stable"))


def _above(rows: _PendingRows, numbers: Indices) -> Indices:
    """Return the node of each pair of the batch, or NONE."""
    above = np.full(0 if rows.batch is None else len(rows.batch), NONE, dtype=np.intp)
    if rows.at is not None:
        above[rows.at] = numbers
    return above


def _items(match: MatchedPairs, above: Indices, weight: float = 1.0, *, mass: Floats | None = None) -> _PendingRows:
    """Return the matched pairs whose parent pair has a node."""
    parent = above[match.owner]
    recorded = (parent >= 0).nonzero()[0]
    pairs = match.at[recorded]
    left, right = match.batch.left[pairs], match.batch.right[pairs]
    share = _take_share(mass, recorded)
    return _PendingRows(parent[recorded], left, right, weight, batch=match.batch, at=pairs, share=share)


def _take_share(share: Floats | None, indices: Indices) -> Floats | None:
    return None if share is None else share[indices]


def _field_pairs(rows: _PendingRows, position: int) -> FieldPairs | None:
    return rows.batch.fields[position] if rows.batch is not None and rows.batch.fields else None
