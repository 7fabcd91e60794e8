"""Finds documents in which exchanging partners is unlikely to help; their correspondence is kept.

If an item gets another partner, the quality of its contents changes, and references that are wrong can become right:
those in the item, and those that point to it. Holders of references can also be matched with others. If no item can
gain more in this way than it loses by its contents, the correspondence is kept. This is no proof, because holders that
lose nothing can also be matched with others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.columns.column import LeafColumn, ListColumn
from arbitre.engine.columns.ragged import starts_of
from arbitre.engine.solve.multiset_matching import match_equal
from arbitre.engine.solve.reached import reached_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.engine.columns.column import Column
    from arbitre.engine.references.graph import DocumentGraphs
    from arbitre.engine.solve.batches import Batch

    Reached = Sequence[tuple[Batch, Indices]]
    """Closed batches with the pairs that are part of the matching."""


def no_exchange_gains(
    graphs: DocumentGraphs, unlike: Sequence[Column], codes: Indices, left: Indices, right: Indices, *, first: Batch
) -> Mask:
    """Return a mask of the pairs of documents in which no item could gain from another partner; shape (pairs,).

    Args:
        graphs: The documents, compared with the correspondence.
        unlike: Columns of the documents in which no reference agrees.
        codes: Code of each item: partners have the same.
        left: Row of each gold document.
        right: Row of each predicted document.
        first: The closed batch of the same documents in which all references agree.
    """
    gains = _gains(graphs, reached_pairs(graphs.matched), reached_pairs(first))
    scopes = np.unique(np.array(graphs.index.scopes, dtype=np.str_), return_inverse=True)[1]
    golds, predictions = graphs.items_of(left), graphs.items_of(right)
    worths = graphs.worths(unlike, golds, predictions)
    kept = np.zeros(len(left), dtype=np.bool_)
    for number, (gold, predicted, worth) in enumerate(zip(golds, predictions, worths, strict=True)):
        table = worth * np.minimum.outer(graphs.item_weight[gold], graphs.item_weight[predicted])
        partner = np.equal.outer(codes[gold], codes[predicted])
        other = np.equal.outer(scopes[gold], scopes[predicted]) & ~partner
        gain = np.minimum.outer(gains[gold], gains[predicted])
        kept[number] = _is_best(table, partner, np.where(other, gain, -np.inf))
    return kept


def _is_best(table: Floats, partner: Mask, gain: Floats) -> bool:
    """Return whether every item of the smaller side loses at least what it can gain with another partner.

    Args:
        table: Quality of the contents of each pair of items.
        partner: Mask of the pairs of partners.
        gain: What the references of each pair of items could gain; -inf for partners and for items of other scopes.
    """
    if table.shape[0] > table.shape[1]:
        table, partner, gain = table.T, partner.T, gain.T
    own = (table * partner).sum(axis=1, keepdims=True)
    return bool((own - table >= gain).all())


def _gains(graphs: DocumentGraphs, reached: Reached, first: Reached) -> Floats:
    """Return how much each item could gain by the references in it and to it; shape (`index.size`,).

    This is the weight of wrong references, and what else their holders lost since all references agreed.

    Args:
        graphs: The documents.
        reached: The pairs that are matched in the correspondence.
        first: The pairs that were matched when all references agreed.
    """
    references, gains = graphs.references, np.zeros(graphs.index.size)
    start = starts_of(np.array([column.size for column in graphs.columns], dtype=np.intp))
    wrong = np.where(_right_values(reached, start)[references.place], 0.0, references.weight)
    lost = (_qualities(first, start) - _qualities(reached, start))[references.holder] * references.holder_weight
    explained = np.bincount(references.holder + 1, weights=wrong)[references.holder + 1]
    gain = wrong + np.maximum(lost - explained, 0.0)
    for ends in (references.item, references.around, references.target):
        own = ends >= 0
        np.add.at(gains, ends[own], gain[own])
    return gains


def _qualities(reached: Reached, start: Indices) -> Floats:
    """Return the quality of the pair of each row, or 0 without a partner; `start` numbers the rows of all columns."""
    quality = np.zeros(int(start[-1]) + 1)  # the last element is for references in no holder
    for batch, at in reached:
        for side in (batch.left, batch.right):
            quality[start[batch.column.number] + side[at]] = batch.quality[at]
    return quality


def _right_values(reached: Reached, start: Indices) -> Mask:
    """Return a mask of the references that agree with their partners, and of matched values of maps."""
    right = np.zeros(int(start[-1]), dtype=np.bool_)
    for batch, at in reached:
        pairs = [(batch.column, batch.left[at], batch.right[at])]
        if batch.multiset_pairs is not None and isinstance(batch.column, ListColumn) and batch.column.items is not None:
            lists = np.intersect1d(batch.multiset_pairs, at)
            equal = match_equal(batch.column, batch.left[lists], batch.right[lists])
            if equal is not None:
                pairs.append((batch.column.items, equal.batch.left[equal.at], equal.batch.right[equal.at]))
        for column, gold, predicted in pairs:
            same = np.ones(len(gold), dtype=np.bool_)
            if isinstance(column, LeafColumn) and column.references is not None:
                same = column.codes[gold] == column.codes[predicted]
            right[start[column.number] + gold[same]] = right[start[column.number] + predicted[same]] = True
    return right
