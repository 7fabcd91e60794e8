"""Matching of lists whose items always have distance 0 or 1.

The optimal matching pairs equal items, so its quality is a count. Both are computed from `MultisetKeys`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from arbitre.engine.columns.column import ListColumn, MixedColumn, MultisetKeys
from arbitre.engine.columns.ragged import counts_of, expand_slices, find_sorted, rank_among_equal, starts_of
from arbitre.engine.solve.batches import Batch, FieldPairs, MatchedPairs

if TYPE_CHECKING:
    from arbitre.arrays import Floats, Indices
    from arbitre.distances.base import Blocks


def _partners(
    column: ListColumn, known: MultisetKeys, left: Indices, right: Indices
) -> tuple[Indices, Indices, Indices]:
    """Look up the items of the lists `left` in the lists `right`.

    Returns:
        The items, the pair of lists of each, and the position of its partner in `known.table`, or -1.
    """
    owner, slots = expand_slices(column.starts, left)
    return slots, owner, find_sorted(known.table, right[owner] * known.width + known.keys[slots])


def count_equal(column: ListColumn, known: MultisetKeys, left: Indices, right: Indices) -> Floats:
    """Return the number of items that each pair of lists shares, the quality mass of their matching; shape (pairs,)."""
    _, owner, place = _partners(column, known, left, right)
    shared = np.zeros(len(left))
    shared += np.bincount(owner, weights=place >= 0, minlength=len(left))
    return shared


def match_equal(column: ListColumn, left: Indices, right: Indices) -> MatchedPairs | None:
    """Return the optimal matching of each pair of lists: equal items, then all others in order, with quality 0."""
    items, known = column.items, column.multiset_keys
    if items is None or known is None:
        return None
    slots, owner, place = _partners(column, known, left, right)
    hit = place >= 0
    gold, predicted, pair_owner = slots[hit], known.order[place[hit]], owner[hit]
    if not hit.all():
        rest = _match_rest(column, right, (pair_owner, predicted), (owner[~hit], slots[~hit]))
        gold, predicted, pair_owner = (
            np.concatenate(parts) for parts in zip((gold, predicted, pair_owner), rest, strict=True)
        )
    quality = (np.arange(len(gold)) < int(hit.sum())).astype(np.float64)
    batch = Batch(items, column.rows(gold), column.rows(predicted), quality=quality)
    for link in items.links if isinstance(items, MixedColumn) else ():
        left_rows, right_rows = link.rows(batch.left), link.rows(batch.right)
        same = ((left_rows >= 0) & (right_rows >= 0)).nonzero()[0]
        batch.fields.append(
            FieldPairs(Batch(link.column, left_rows[same], right_rows[same], quality=quality[same]), same)
        )
    return MatchedPairs(batch, np.arange(len(batch), dtype=np.intp), pair_owner)


def _match_rest(
    column: ListColumn, right: Indices, matched: tuple[Indices, Indices], unmatched: tuple[Indices, Indices]
) -> tuple[Indices, Indices, Indices]:
    """Pair the gold items without an equal item with the remaining predicted items, in order.

    Args:
        column: The column of the lists.
        right: The predicted list of each pair of lists.
        matched: The pair of lists of each matched predicted item, and the item.
        unmatched: The pair of lists of each unmatched gold item, and the item.

    Returns:
        Gold items, predicted items, and the pair of lists of each pair.
    """
    owner, used = matched
    free_owner, slots = expand_slices(column.starts, right)
    begins = starts_of(column.lengths[right])
    free = np.ones(len(slots), dtype=np.bool_)
    free[begins[owner] + used - column.starts[right[owner]]] = False
    free_owner, slots = free_owner[free], slots[free]
    gold_owner, gold = unmatched
    nth = rank_among_equal(gold_owner)
    counts = np.bincount(free_owner, minlength=len(right))
    paired = nth < counts[gold_owner]
    owner = gold_owner[paired]
    return gold[paired], slots[starts_of(counts)[owner] + nth[paired]], owner


def common_counts(column: ListColumn, blocks: Blocks, left: Indices, right: Indices) -> Floats:
    """Return the number of items that two lists share, for every cell of the blocks; shape (cells,).

    `left` and `right` are the rows of the blocks.
    """
    known = column.multiset_keys
    counts = np.zeros(int(blocks.starts[-1]))
    if known is None or len(counts) == 0:
        return counts
    sides = [
        _incidence(column, known, rows, starts)
        for rows, starts in ((left, blocks.left_starts), (right, blocks.right_starts))
    ]
    product = (sides[0] @ sides[1].T).tocoo()
    block = np.arange(len(blocks), dtype=np.intp).repeat(blocks.heights)[product.row]
    row = product.row - blocks.left_starts[:-1][block]
    column_at = product.col - blocks.right_starts[:-1][block]
    counts[blocks.starts[:-1][block] + row * blocks.widths[block] + column_at] = product.data
    return counts


def _incidence(column: ListColumn, known: MultisetKeys, rows: Indices, starts: Indices) -> scipy.sparse.csr_array:
    """Return the incidence matrix of the lists of one side and their item keys; each block has its own columns."""
    owner, slots = expand_slices(column.starts, rows)
    block = np.arange(len(starts) - 1, dtype=np.intp).repeat(counts_of(starts))[owner]
    key_column = block * known.width + known.keys[slots]
    shape = len(rows), known.width * (len(starts) - 1)
    return scipy.sparse.csr_array((np.ones(len(owner), dtype=np.float32), (owner, key_column)), shape=shape)
