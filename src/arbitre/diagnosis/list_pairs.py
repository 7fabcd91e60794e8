"""The pairs of lists of a comparison, with the matching of their items, for all documents of a batch at once."""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from arbitre.comparison.levels import NONE
from arbitre.engine.columns.column import Column, ListColumn, MixedColumn
from arbitre.engine.columns.row_keys import row_hashes
from arbitre.engine.solve.solver import QualitySolver
from arbitre.matching import catalogue
from arbitre.paths import wildcard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.comparison.levels import Level
    from arbitre.engine.columns.row_keys import Digests
    from arbitre.paths import Path


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
        lists = self.level.rows(gold=gold)[self.lists[number]]
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
    column = _list_column(level)
    if column is None or column.items is None:
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


def _list_column(level: Level) -> ListColumn | None:
    """Return the column of a level of lists; None for other levels, such as maps whose keys are ids."""
    column = level.source
    return column if isinstance(column, ListColumn) and not column.of_map else None


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


# Kendall's tau of the matched items of lists: whether the prediction keeps the order of gold.
#
# The matchings `ordered` and `sequence` only make pairs that keep the order. For lists that use them, the items are
# therefore matched again regardless of their order.


def orders(levels: Sequence[Level], entries: Path, documents: int) -> list[dict[str, float | None]]:
    """Return Kendall's tau of the matched items by JSON Pointer of the gold list, for each document.

    These are the lists with the matching `ordered` or `sequence`, and the lists of entries. Pairs of quality 0 do not
    count. The tau of a list with fewer than two pairs is None.

    Args:
        levels: The levels of the documents, compared together.
        entries: Wildcard path of the list of entries.
        documents: Number of documents.
    """
    result: list[dict[str, float | None]] = [{} for _ in range(documents)]
    for level in levels:
        column = _list_column(level)
        if column is None or not (column.matcher.in_order or level.text == wildcard(entries)):
            continue
        if column.items is None:  # all lists are empty
            for node in level.paired.nonzero()[0].tolist():
                result[int(level.document[node])][column.pointer(int(level.left[node]))] = None
        pairs = list_pairs(levels, level, np.ones(len(level), dtype=np.bool_))
        if pairs is None:
            continue
        hashes = row_hashes(pairs.items)
        partners = np.where(pairs.quality > 0.0, pairs.partner, -1)
        if column.matcher.in_order:
            partners = _unordered_partners(pairs)
        for number, node in enumerate(pairs.lists.tolist()):
            gold = pairs.rows_of(number, gold=True)
            gold = gold[partners[gold] >= 0]
            predicted = _sorted_among_equal(partners[gold], hashes[gold])
            predicted = _sorted_among_equal(predicted, hashes[predicted])
            result[int(level.document[node])][column.pointer(int(level.left[node]))] = kendall_tau(predicted.tolist())
    return result


def kendall_tau(positions: Sequence[int]) -> float | None:
    """Return Kendall's tau between these distinct numbers and their order in the sequence; None for fewer than two.

    Without ties, this is `scipy.stats.kendalltau`, which takes 0.4 s to import.

    >>> kendall_tau([1, 2, 4, 3])
    0.6666666666666667
    """
    size = len(positions)
    if size < 2:  # noqa: PLR2004
        return None
    before: list[int] = []
    discordant = 0
    for position in positions:
        discordant += len(before) - bisect_right(before, position)
        insort(before, position)
    return 1.0 - 4.0 * discordant / (size * (size - 1))


def _unordered_partners(pairs: ListPairs) -> Indices:
    """Return the partner of each item, or -1, if the items are matched regardless of their order.

    Equal items are matched first, so that long lists that are mostly correct do not need a table of all pairs.
    """
    column = replace(pairs.column, matcher=catalogue.build("hungarian"), match_equal_first=True)
    left, right = pairs.level.left[pairs.lists], pairs.level.right[pairs.lists]
    partners = np.full(pairs.items.size, -1, dtype=np.intp)
    for match in QualitySolver().evaluate(column, left, right).matches:
        alike = match.at[match.batch.quality[match.at] > 0.0]
        partners[match.batch.left[alike]] = match.batch.right[alike]
    return partners


def _sorted_among_equal(rows: Indices, keys: Digests) -> Indices:
    """Return the rows, those with equal keys in increasing order: equal items may be exchanged."""
    result = np.empty_like(rows)
    result[keys.argsort(kind="stable")] = rows[np.lexsort((rows, keys))]
    return result
