"""The pairs of lists of a comparison, with the matching of their items, for all documents of a batch at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arbitre.comparison.levels import NONE
from arbitre.engine.columns.column import Column, ListColumn, MixedColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.comparison.levels import Level


@dataclass(frozen=True, eq=False, slots=True)
class ListPairs:
    """The pairs of lists of one level. Arrays of items have one element for each row of `items`, gold and predicted.

    With transport, two lists or two items count as a pair if each of them exchanges most mass with the other.

    Attributes:
        level: The lists.
        column: The column of the lists.
        items: The column of the items.
        lists: Positions of the pairs of lists in `level`.
        owner: The pair of lists that each item belongs to, as an index into `lists`, or -1.
        gold: Whether each item is a gold item.
        partner: Row of the partner of each item, or -1.
        quality: Quality of each item with its partner; 0 without a partner.
        node: Node of each item with a partner; NONE without.
    """

    level: Level
    column: ListColumn
    items: Column
    lists: Indices
    owner: Indices
    gold: Mask
    partner: Indices
    quality: Floats
    node: Indices

    def rows_of(self, number: int, *, gold: bool) -> Indices:
        """Return the rows of the items of one side of a pair of lists."""
        lists = (self.level.left if gold else self.level.right)[self.lists[number]]
        slots = np.arange(self.column.starts[lists], self.column.starts[lists + 1], dtype=np.intp)
        return self.column.rows(slots)

    def pairs_of(self, number: int) -> tuple[Indices, Indices]:
        """Return the rows of the matched gold and predicted items of a pair of lists, in the order of gold."""
        gold = self.rows_of(number, gold=True)
        gold = gold[self.partner[gold] >= 0]
        return gold, self.partner[gold]


def list_pairs(levels: Sequence[Level], level: Level, usable: Mask) -> ListPairs | None:
    """Return the pairs of lists of a level; None if there are none.

    Args:
        levels: All levels.
        level: One of them.
        usable: Mask of the nodes of `level` to include; shape (nodes,).
    """
    column = level.source
    if not isinstance(column, ListColumn) or column.items is None:
        return None
    lists = (level.paired & usable).nonzero()[0]
    if level.scale is not None:
        lists = lists[_mutual(level.left[lists], level.right[lists], level.scale[lists])]
    if len(lists) == 0:
        return None
    items = column.items
    number = np.full(len(level), -1, dtype=np.intp)
    number[lists] = np.arange(len(lists))
    owner, partner, node = (np.full(items.size, -1, dtype=np.intp) for _ in range(3))
    quality, gold = np.zeros(items.size), np.zeros(items.size, dtype=np.bool_)
    for side, is_gold in ((level.left, True), (level.right, False)):
        above, rows = column.slices[0].below(side[lists])
        owner[rows], gold[rows] = above, is_gold
    for below in levels:
        if below.inner or not below.item or below.source not in {items, *_kinds(items)}:
            continue
        at = (below.paired & (below.parent >= level.first) & (below.parent < level.first + len(level))).nonzero()[0]
        at = at[number[below.parent[at] - level.first] >= 0]
        left, right = below.left[at], below.right[at]
        if below.source is not items:
            left, right = below.source.origin[left], below.source.origin[right]
        if below.share is not None:
            mutual = _mutual(left, right, below.share[at])
            at, left, right = at[mutual], left[mutual], right[mutual]
        partner[left], partner[right] = right, left
        quality[left] = quality[right] = below.quality[at]
        node[left] = node[right] = below.first + at
    return ListPairs(level, column, items, lists, owner, gold, partner, quality, node)


def inherited(level: Level, marked: Mask) -> Mask:
    """Return which nodes of a level lie below a marked node; `marked` has one element for each node of all levels."""
    below: Mask = marked[level.parent] & (level.parent != NONE)
    return below


def _kinds(column: Column) -> list[Column]:
    return [link.column for link in column.links] if isinstance(column, MixedColumn) else []


def _mutual(left: Indices, right: Indices, mass: Floats) -> Mask:
    """Return the pairs in which each row has its greatest mass; of equal masses, the first."""
    order = np.lexsort((np.arange(len(mass)), -mass))
    best = np.ones(len(mass), dtype=np.bool_)
    for side in (left, right):
        _, first = np.unique(side[order], return_index=True)
        greatest = np.zeros(len(mass), dtype=np.bool_)
        greatest[order[first]] = True
        best &= greatest
    return best
