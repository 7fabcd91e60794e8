"""Finds documents in which exchanging partners is unlikely to help; their correspondence is kept.

If an item gets another partner, the quality of its contents changes, and references that are wrong can become right:
those in the item, and those that point to it. If no item can gain more by wrong references than it loses by its
contents, the correspondence is the best, unless other matchings of list items without ids would be better.
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


def no_exchange_gains(
    graphs: DocumentGraphs, unlike: Sequence[Column], codes: Indices, left: Indices, right: Indices
) -> Mask:
    """Return a mask of the pairs of documents in which no item could gain from another partner; shape (pairs,).

    Args:
        graphs: The documents, compared with the correspondence.
        unlike: Columns of the documents in which no reference agrees.
        codes: Code of each item: partners have the same.
        left: Row of each gold document.
        right: Row of each predicted document.
    """
    gains, scopes = _gains(graphs), np.unique(np.array(graphs.index.scopes, dtype=np.str_), return_inverse=True)[1]
    golds, predictions = graphs.items_of(left), graphs.items_of(right)
    worths = graphs.worths(unlike, golds, predictions)
    kept = np.ones(len(left), dtype=np.bool_)
    for number, (gold, predicted, worth) in enumerate(zip(golds, predictions, worths, strict=True)):
        table = worth * np.minimum.outer(graphs.item_weight[gold], graphs.item_weight[predicted])
        partner = np.equal.outer(codes[gold], codes[predicted])
        for scope in np.unique(scopes[gold]):
            rows, columns = (scopes[side] == scope for side in (gold, predicted))
            own = np.ix_(rows, columns)
            kept[number] &= _is_best(table[own], partner[own], gains[gold[rows]], gains[predicted[columns]])
    return kept


def _is_best(table: Floats, partner: Mask, gold: Floats, predicted: Floats) -> bool:
    """Return whether every item of the smaller side loses at least what it can gain with another partner.

    Args:
        table: Quality of the contents of each pair of items.
        partner: Mask of the pairs of partners.
        gold: What each gold item can gain.
        predicted: What each predicted item can gain.
    """
    if min(table.shape) == 0:
        return True
    gain = gold
    if table.shape[0] > table.shape[1]:
        table, partner, gain = table.T, partner.T, predicted
    own = (table * partner).sum(axis=1)
    second = np.where(partner, -np.inf, table).max(axis=1)
    return bool((own - second >= gain).all())


def _gains(graphs: DocumentGraphs) -> Floats:
    """Return the weight of the wrong references in each item and to it; shape (`index.size`,)."""
    references, gains = graphs.references, np.zeros(graphs.index.size)
    wrong = ~_right_values(graphs)[references.place]
    for ends in (references.item, references.around, references.target):
        own = wrong & (ends >= 0)
        np.add.at(gains, ends[own], references.weight[own])
    return gains


def _right_values(graphs: DocumentGraphs) -> Mask:
    """Return a mask of the references that agree with their partners, and of matched values of maps."""
    first = starts_of(np.array([column.size for column in graphs.columns], dtype=np.intp))
    right = np.zeros(int(first[-1]), dtype=np.bool_)
    for batch, at in reached_pairs(graphs.matched):
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
            right[first[column.number] + gold[same]] = right[first[column.number] + predicted[same]] = True
    return right
