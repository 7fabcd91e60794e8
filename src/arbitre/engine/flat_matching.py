"""Match the single values of a path over whole documents, whatever objects and lists they belong to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.engine.columns.column import LeafColumn, ListColumn
from arbitre.engine.columns.ragged import counts_of, rank_among_equal, starts_of
from arbitre.engine.solve.solver import QualitySolver
from arbitre.matching import catalogue

if TYPE_CHECKING:
    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.base import Distance

MAX_CELLS: Final = 1 << 14
"""Maximum number of pairs of different values of one document and path for an optimal matching."""


@dataclass(frozen=True, eq=False, slots=True)
class FlatMatching:
    """The best flat matching of each document. All arrays have shape (documents,)."""

    gold: Floats
    """Number of gold values."""
    predicted: Floats
    """Number of predicted values."""
    matched: Floats
    """Number of pairs."""
    quality: Floats
    """Sum of the qualities of the pairs."""
    exact: Mask
    """Whether the sum is the largest possible one, up to rounding; otherwise, it is a lower bound."""

    @classmethod
    def of_equal(cls, gold: Indices, predicted: Indices) -> FlatMatching:
        """Return the matching of values that are all equal, given their numbers in each document."""
        pairs = np.minimum(gold, predicted).astype(np.float64)
        exact = np.ones(len(gold), dtype=np.bool_)
        return cls(gold.astype(np.float64), predicted.astype(np.float64), pairs, pairs, exact)


@dataclass(frozen=True, eq=False, slots=True)
class Values:
    """Some values of one side: their rows in a column, and the document of each. Shapes (values,)."""

    rows: Indices
    documents: Indices

    def where(self, selected: Mask | Indices) -> Values:
        """Return the selected values, in this order."""
        return Values(self.rows[selected], self.documents[selected])


@dataclass(frozen=True, eq=False, slots=True)
class KnownPairs:
    """Pairs of values of which the quality is known. Shapes (pairs,); a value occurs at most once."""

    gold: Indices
    predicted: Indices
    documents: Indices
    quality: Floats


def match_flat(column: LeafColumn, gold: Values, predicted: Values, documents: int, known: KnownPairs) -> FlatMatching:
    """Return the matching of greatest quality of the gold and the predicted values of each document.

    Values of different kinds are not matched. Equal values are matched first where the distance is a pseudo-metric,
    which keeps the matching optimal. If a document has more than `MAX_CELLS` pairs, equal values are matched first in
    any case. If more pairs remain, the known pairs are kept and the other values are assigned; if there are still more,
    these are sorted and assigned in blocks. A custom distance is not called: the known pairs are kept, and equal values
    are matched among the others.

    Args:
        column: The column of the values.
        gold: The gold values.
        predicted: The predicted values.
        documents: Number of documents.
        known: Good pairs, such as those in the same entry.
    """
    counts = [np.bincount(side.documents, minlength=documents).astype(np.float64) for side in (gold, predicted)]
    matched, quality, exact = np.zeros(documents), np.zeros(documents), np.ones(documents, dtype=np.bool_)
    for members in _comparable(column):
        problems = _Problems.of(column, members, (gold, predicted), documents)
        matched += np.minimum(*problems.counts)
        mass, optimal = (problems.solve_without_calls if problems.distance.custom else problems.solve)(known)
        quality += mass
        exact &= optimal
    return FlatMatching(counts[0], counts[1], matched, quality, exact)


def _comparable(column: LeafColumn) -> list[Mask]:
    """Return masks of the codes that are compared with each other: those of one slot."""
    if column.forms is not None:
        return [np.ones(len(column.values), dtype=np.bool_)]
    return [column.slots == slot for slot in np.unique(column.slots)]


@dataclass(frozen=True, eq=False, slots=True)
class _Problems:
    """One matching problem for each document; the values are sorted by document, then by code."""

    column: LeafColumn
    distance: Distance
    gold: Values
    predicted: Values
    documents: int

    @classmethod
    def of(cls, column: LeafColumn, members: Mask, sides: tuple[Values, Values], documents: int) -> _Problems:
        """Return the problems of the values with these codes."""
        distance = column.leaves[column.slots[members.argmax()]].distance
        ordered = []
        for side in sides:
            own = side.where(members[column.codes[side.rows]])
            ordered.append(own.where(np.lexsort((column.codes[own.rows], own.documents))))
        return cls(column, distance, ordered[0], ordered[1], documents)

    @property
    def counts(self) -> tuple[Indices, Indices]:
        """Number of gold and of predicted values of each document; shapes (documents,)."""
        gold, predicted = (
            np.bincount(side.documents, minlength=self.documents) for side in (self.gold, self.predicted)
        )
        return gold, predicted

    @property
    def large(self) -> Mask:
        """Mask of the documents with more than `MAX_CELLS` pairs."""
        gold, predicted = self.counts
        return gold * predicted > MAX_CELLS

    def solve(self, known: KnownPairs) -> tuple[Floats, Mask]:
        """Return the greatest sum of qualities of each document, and a mask of the exact ones."""
        optimal_first = self.distance.facts.pseudometric and self.column.forms is None
        equal_first = np.ones(self.documents, dtype=np.bool_) if optimal_first else self.large
        quality, rest = self.match_equal(equal_first)
        exact = np.full(self.documents, optimal_first) | ~equal_first
        if self.distance.name == "exact" and optimal_first:
            return quality, exact
        large = rest.large
        if large.any():
            kept, rest = rest.keep(known, large)
            quality += kept
        return quality + rest.assign(), exact & ~large

    def solve_without_calls(self, known: KnownPairs) -> tuple[Floats, Mask]:
        """Return the sum of the qualities of known pairs and equal values, and a mask of the sums that are optimal."""
        every = np.ones(self.documents, dtype=np.bool_)
        quality, rest = self.keep(known, every)
        quality += rest.match_equal(every)[0]
        return quality, quality == np.minimum(*self.counts)

    def keep(self, known: KnownPairs, selected: Mask) -> tuple[Floats, _Problems]:
        """Match the known pairs of the selected documents; return their quality and the problems that remain."""
        own = np.isin(known.gold, self.gold.rows) & np.isin(known.predicted, self.predicted.rows)
        own &= selected[known.documents]
        gold = self.gold.where(~np.isin(self.gold.rows, known.gold[own]))
        predicted = self.predicted.where(~np.isin(self.predicted.rows, known.predicted[own]))
        quality = np.bincount(known.documents[own], weights=known.quality[own], minlength=self.documents)
        return quality.astype(np.float64, copy=False), replace(self, gold=gold, predicted=predicted)

    def match_equal(self, selected: Mask) -> tuple[Floats, _Problems]:
        """Match equal values of the selected documents; return their number and the problems that remain."""
        sides = self.gold, self.predicted
        free = [~selected[side.documents] for side in sides]
        keys = [side.documents * len(self.column.values) + self.column.codes[side.rows] for side in sides]
        ranks = [rank_among_equal(key) for key in keys]  # the keys are increasing
        codes = np.unique(np.concatenate(keys), return_inverse=True)[1]
        width = 1 + max(int(rank.max(initial=0)) for rank in ranks)
        gold, predicted = np.split(codes * width + np.concatenate(ranks), [len(keys[0])])
        free[0] |= ~np.isin(gold, predicted, assume_unique=True)
        free[1] |= ~np.isin(predicted, gold, assume_unique=True)
        quality = np.bincount(self.gold.documents[~free[0]], minlength=self.documents).astype(np.float64)
        return quality, replace(self, gold=self.gold.where(free[0]), predicted=self.predicted.where(free[1]))

    def assign(self) -> Floats:
        """Return the sum of the qualities of the best assignment of each document, or of its blocks."""
        blocks = np.maximum(1, -(-self.counts[0] * self.counts[1] // MAX_CELLS))
        first = starts_of(blocks)
        size = int(first[-1])
        rows, counts = [], []
        for side, totals in zip((self.gold, self.predicted), self.counts, strict=True):
            position = np.arange(len(side.rows), dtype=np.intp) - starts_of(totals)[side.documents]
            block = first[side.documents] + position * blocks[side.documents] // totals[side.documents]
            rows.append(side.rows)
            counts.append(np.bincount(block, minlength=size))
        lists = _lists(self.column, np.concatenate(rows), starts_of(np.concatenate(counts)))
        both = ((counts[0] > 0) & (counts[1] > 0)).nonzero()[0]
        batch = QualitySolver().evaluate(lists, both, both + size)
        documents = np.arange(self.documents, dtype=np.intp).repeat(blocks)[both]
        masses = np.bincount(documents, weights=batch.mass, minlength=self.documents)
        return masses.astype(np.float64, copy=False)


def _lists(items: LeafColumn, rows: Indices, starts: Indices) -> ListColumn:
    """Return lists that are matched by assignment; list r holds the rows `rows[starts[r]:starts[r + 1]]` of `items`."""
    lengths = counts_of(starts)
    lists = ListColumn(
        number=-1,
        path=items.path,
        size=len(lengths),
        parent=None,
        origin=np.arange(len(lengths), dtype=np.intp),
        site=items.site,
        matcher=catalogue.build("hungarian"),
        items=items,
        starts=starts,
        index=rows,
        lengths=lengths,
    )
    lists.sizes = lengths.astype(np.float64)
    lists.expensive_above = min(leaf.distance.expensive_above for leaf in items.leaves)
    return lists
