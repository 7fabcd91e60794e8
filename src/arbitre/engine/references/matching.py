"""Compares documents whose items have ids: finds the correspondence of the ids, then compares the references.

First, every reference counts as right, and items are matched by what else they contain. This gives an upper bound of
the quality of each document. If all references agree with this matching, the bound is reached. Otherwise other
correspondences are compared, unless what the items contain outweighs the references that disagree: all, if there are
few, or those of `proposed_correspondences`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import perm, prod
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.engine.columns.build import build_with_references
from arbitre.engine.columns.column import LeafColumn, ListColumn
from arbitre.engine.columns.ragged import starts_of
from arbitre.engine.references.correspondence import all_correspondences, proposed_correspondences
from arbitre.engine.references.graph import DocumentGraphs
from arbitre.engine.solve.multiset_matching import match_equal
from arbitre.engine.solve.reached import reached_matches, reached_pairs, settle_reached
from arbitre.engine.solve.solver import QualitySolver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.engine.columns.column import Column
    from arbitre.engine.columns.references import ReferenceIndex
    from arbitre.engine.solve.batches import Batch
    from arbitre.schema.plan import Plan

    Reached = Sequence[tuple[Batch, Indices]]
    """Closed batches with the pairs that are part of the matching."""

MAX_COMPARED: Final = 120
"""Number of correspondences up to which all are compared."""

MAX_FORCED: Final = 24
"""Number of correspondences up to which all are compared even if no item could gain from another partner."""

MAX_PROPOSALS: Final = 4
"""Maximum number of proposed correspondences that are compared."""

MAX_PAIRS: Final = 1 << 22
"""Number of pairs of items of two documents above which the matching by contents is kept. It limits memory."""

TOLERANCE: Final = 1e-12
"""Difference below which two qualities are equal."""


@dataclass(eq=False, slots=True)
class Correspondence:
    """Which items of pairs of documents are partners.

    Attributes:
        index: The items and references of the documents.
        left: Row of each gold document; shape (pairs,).
        right: Row of each predicted document.
        codes: Code of each item: partners have the same. Shape (`index.size`,).
        objective: Quality of each pair of documents with this correspondence.
        bound: Upper bound of the quality over all correspondences.
        proven: Mask of the pairs whose correspondence is proven to be the best.
    """

    index: ReferenceIndex
    left: Indices
    right: Indices
    codes: Indices
    objective: Floats
    bound: Floats
    proven: Mask = field(default_factory=lambda: np.empty(0, dtype=np.bool_))


def match_items(  # noqa: PLR0917  (the parts of a comparison)
    plan: Plan, index: ReferenceIndex, columns: Sequence[Column], left: Indices, right: Indices, solver: QualitySolver
) -> tuple[Sequence[Column], Batch, Correspondence]:
    """Compare pairs of documents whose items have ids.

    Args:
        plan: The compiled schema.
        index: The items and references of the documents.
        columns: The columns of `build_with_references`.
        left: Rows of the gold documents; shape (pairs,).
        right: Rows of the predicted documents.
        solver: Compares the documents.

    Returns:
        The columns that belong to the correspondence, their closed batch, and the correspondence.
    """
    first = solver.evaluate(columns[0], left, right)
    bound = first.quality.copy()
    codes = np.arange(index.size, dtype=np.intp)
    gold, predicted = _matched_items(index, first)
    codes[predicted] = codes[gold]
    codes[:] = index.with_fixed(codes)
    found = Correspondence(index, left, right, codes, bound, bound, np.ones(len(left), dtype=np.bool_))
    if not plan.facts.has_references:
        return columns, first, found
    recoded = index.recoded(codes, paired=True)
    batch = solver.evaluate(recoded[0], left, right)
    found.objective = batch.quality.copy()
    found.proven = found.objective >= bound - TOLERANCE
    counts = np.bincount(index.roots, minlength=columns[0].size)
    undecided = (~found.proven & (counts[left] * counts[right] <= MAX_PAIRS)).nonzero()[0]
    if len(undecided):
        graphs = DocumentGraphs(index, recoded, batch)
        unlike = index.recoded(np.arange(index.size, dtype=np.intp), paired=False)
        chosen = left[undecided], right[undecided]
        pairs = zip(*(rows.tolist() for rows in chosen), strict=True)
        few = np.array([count_pairings(index, *rows) <= MAX_FORCED for rows in pairs])
        undecided = undecided[few | ~no_exchange_gains(graphs, unlike, codes, *chosen, first=first)]
    if len(undecided) and _improve(plan, found, columns, undecided):
        recoded = index.recoded(codes, paired=True)
        batch = solver.evaluate(recoded[0], left, right)
        found.objective = batch.quality.copy()
        codes[:] = index.with_fixed(codes)
    grade_references(index, batch)
    return recoded, batch, found


def count_pairings(index: ReferenceIndex, gold: int, predicted: int) -> int:
    """Return the number of correspondences of the items of two documents, with as many pairs as possible."""
    fixed = index.shared if index.fixed else frozenset[str]()
    counts = [
        Counter(index.scopes[item] for item in index.items_of(row) if index.scopes[item] not in fixed)
        for row in (gold, predicted)
    ]
    sizes = (sorted((counts[0][scope], counts[1][scope])) for scope in counts[0].keys() | counts[1].keys())
    return prod(perm(many, few) for few, many in sizes)


def _matched_items(index: ReferenceIndex, batch: Batch) -> tuple[Indices, Indices]:
    """Return the numbers of the gold and of the predicted items that a closed batch matches."""
    first = {listed.column.number: listed.first for listed in index.lists}
    pairs = [(np.empty(0, dtype=np.intp),) * 2]
    for column, below, at in reached_matches(batch):
        if column.number in first:
            pairs.append((below.left[at] + first[column.number], below.right[at] + first[column.number]))
    gold, predicted = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return gold, predicted


def _improve(plan: Plan, found: Correspondence, columns: Sequence[Column], pairs: Indices) -> bool:
    """Look for better correspondences of some pairs of documents; return whether any was found."""
    root = columns[0]
    golds, predictions = (root.values_of(rows[pairs]) for rows in (found.left, found.right))
    own, index = build_with_references(plan, golds, predictions, lenient=True)
    if index is None:  # the schema has ids
        return False
    left = np.arange(len(pairs), dtype=np.intp)
    right = left + len(pairs)
    first = QualitySolver().evaluate(own[0], left, right)
    matched = np.full(index.size, -1, dtype=np.intp)
    gold, predicted = _matched_items(index, first)
    matched[gold] = predicted
    graphs = [*DocumentGraphs(index, own, first).graphs(left, right)]
    proposals, complete = [], np.zeros(len(pairs), dtype=np.bool_)
    for number, graph in enumerate(graphs):
        position = {item: at for at, item in enumerate(graph.predicted.tolist())}
        start = np.array([position.get(item, -1) for item in matched[graph.gold].tolist()], dtype=np.intp)
        every = all_correspondences(graph, MAX_COMPARED)
        complete[number] = every is not None
        several = proposed_correspondences(graph, start)[:MAX_PROPOSALS] if every is None else every
        proposals.append([one for one in several if (one != start).any()])  # the first is compared already
    changed = False
    best = found.objective[pairs].copy()
    chosen: list[Indices | None] = [None] * len(pairs)
    for turn in range(max(map(len, proposals), default=0)):
        codes = np.arange(index.size, dtype=np.intp)
        for graph, several in zip(graphs, proposals, strict=True):
            if turn < len(several):
                rows = (several[turn] >= 0).nonzero()[0]
                codes[graph.predicted[several[turn][rows]]] = graph.gold[rows]
        tried = np.array([turn < len(several) for several in proposals]).nonzero()[0]
        quality = QualitySolver().evaluate(index.recoded(codes, paired=True)[0], left[tried], right[tried]).quality
        for number, value in zip(tried.tolist(), quality.tolist(), strict=True):
            if value > best[number] + TOLERANCE:
                best[number], chosen[number], changed = value, proposals[number][turn], True
    for number, partners in enumerate(chosen):
        if partners is not None:
            rows_of_pair = int(found.left[pairs[number]]), int(found.right[pairs[number]])
            sides = [np.array(found.index.items_of(row), dtype=np.intp) for row in rows_of_pair]
            found.codes[sides[1]] = sides[1]
            rows = (partners >= 0).nonzero()[0]
            found.codes[sides[1][partners[rows]]] = sides[0][rows]
    found.bound[pairs] = np.where(complete, best, np.maximum(found.bound[pairs], best))
    found.proven[pairs] = best >= found.bound[pairs] - TOLERANCE
    return changed


# Graded references.


def grade_references(index: ReferenceIndex, root: Batch) -> None:
    """Set the quality of right references that are graded to that of the pair of items that they refer to."""
    reached = reached_pairs(root)
    graded = [part for part in reached if _is_graded(part[0])]
    if not graded:
        return
    quality = np.zeros(index.size)
    lists = {listed.items.number: listed for listed in index.lists}
    for batch, at in reached:
        listed = lists.get(batch.column.number)
        if listed is not None:
            quality[batch.left[at] + listed.first] = batch.quality[at]
    for batch, at in graded:
        targets = index.targets[batch.column.number][batch.left[at]]
        batch.quality = batch.quality.copy()
        batch.quality[at] *= quality[targets]
    settle_reached(reached)


def _is_graded(batch: Batch) -> bool:
    reference = batch.column.site.reference
    return isinstance(batch.column, LeafColumn) and reference is not None and reference.graded


# Finds documents in which exchanging partners is unlikely to help; their correspondence is kept.
#
# If an item gets another partner, the quality of its contents changes, and references that are wrong can become right:
# those in the item, and those that point to it. Holders of references can also be matched with others. If no item can
# gain more in this way than it loses by its contents, the correspondence is kept. This is no proof, because holders
# that lose nothing can also be matched with others.


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
