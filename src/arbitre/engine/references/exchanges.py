"""Finds documents in which exchanging partners is unlikely to help; their correspondence is kept.

The loss of a change of partner is the difference in the quality of contents and in agreeing references between the
current partner and the best alternative, with the partners of all other items fixed. A disagreeing reference may agree
if both of its ends change partners, so half of its weight counts as a potential gain for each end. This is no proof,
because many items may change partners together and keep their references.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.engine.columns.column import Column
    from arbitre.engine.references.graph import DocumentGraphs, Edges


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
    gain, agreement = _disagreeing(graphs, codes), _agreement(graphs, codes)
    golds, predictions = graphs.items_of(left), graphs.items_of(right)
    worths = graphs.worths(unlike, golds, predictions)
    kept = np.zeros(len(left), dtype=np.bool_)
    for number, (gold, predicted, worth) in enumerate(zip(golds, predictions, worths, strict=True)):
        weight = np.minimum.outer(graphs.item_weight[gold], graphs.item_weight[predicted])
        table = worth * weight + agreement[gold][:, predicted].toarray()
        kept[number] = _is_best(table, gain[gold], np.equal.outer(codes[gold], codes[predicted]))
    return kept


def _is_best(table: Floats, gain: Floats, partner: Mask) -> bool:
    """Return whether every item of the smaller side loses at least what it can gain with another partner."""
    if min(table.shape) == 0:
        return True
    free = float(gain[~partner.any(axis=1)].max(initial=0.0))
    if table.shape[0] > table.shape[1]:
        table, partner, gain = table.T, partner.T, partner.T @ gain
    own = (table * partner).sum(axis=1)
    second = np.where(partner, -np.inf, table).max(axis=1)
    return bool((own - second >= gain / 2.0 + free).all())


def _agreement(graphs: DocumentGraphs, codes: Indices) -> csr_array:
    """Return the share of the references that agree for each pair of items, given the partners of all others."""
    index, edges = graphs.index, graphs.edges
    size, gold = len(index.roots), graphs.edge_roots < index.gold
    rows = np.arange(size)
    matching = csr_array((np.ones(size), (rows, codes[:size])), shape=(size, index.size))
    total = csr_array((size, size))
    for label in np.intersect1d(edges.label[gold], edges.label[~gold]):
        forth, back = (_matrix(edges, (edges.label == label) & side, size) for side in (gold, ~gold))
        partners = matching @ matching.T
        total = total + forth @ partners @ back.T + forth.T @ partners @ back
    return csr_array(total)


def _matrix(edges: Edges, chosen: Mask, size: int) -> csr_array:
    """Return a matrix of some edges; a weight is split evenly between gold and the prediction."""
    own = (chosen & (edges.source < size) & (edges.target < size)).nonzero()[0]
    return csr_array((np.sqrt(edges.weight[own]), (edges.source[own], edges.target[own])), shape=(size, size))


def _disagreeing(graphs: DocumentGraphs, codes: Indices) -> Floats:
    """Return the share of the document of the edges of each gold item that no predicted edge agrees with."""
    edges, gold = graphs.edges, graphs.edge_roots < graphs.index.gold
    labels = np.unique(edges.label, return_inverse=True)[1]
    keys = (labels * len(codes) + codes[edges.source]) * len(codes) + codes[edges.target]
    wrong = gold.nonzero()[0][~np.isin(keys[gold], keys[~gold])]
    gains = np.zeros(len(codes))
    np.add.at(gains, edges.source[wrong], edges.weight[wrong])
    np.add.at(gains, edges.target[wrong], edges.weight[wrong])
    return gains
