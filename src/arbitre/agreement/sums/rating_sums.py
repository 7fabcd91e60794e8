"""Sums over items from which the coefficients on categories are computed, for many documents or resamples at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from arbitre.agreement.ratings import MISSING
from arbitre.arrays import weighted_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.agreement.ratings import Ratings
    from arbitre.arrays import Floats, Indices


@dataclass(frozen=True, eq=False, slots=True)
class RatingSums:
    """Sums over rated items, per group of items: a document or a resample.

    The observed agreement depends on the items that at least two annotators rated, the shares of the categories on all
    rated items (Gwet, 2014).

    Attributes:
        items: Number of items that at least two annotators rated; shape (groups,).
        rated: Number of rated items; shape (groups,).
        agreed: Sum over the items of at least two annotators of the mean agreement of two; shape (groups,).
        shares: Sum over rated items of the share of each category; shape (groups, categories).
        counts: Number of ratings of each annotator and category; shape (groups, annotators, categories).
        agreement: Agreement of two categories, in [0, 1]; shape (categories, categories). None for exact agreement.
    """

    items: Floats
    rated: Floats
    agreed: Floats
    shares: Floats
    counts: Floats
    agreement: Floats | None

    @classmethod
    def of(
        cls, ratings: Ratings, agreement: Floats | None = None, *, group: Indices | None = None, groups: int = 1
    ) -> RatingSums:
        """Sum the ratings of each group.

        Args:
            ratings: Items that at least one annotator rated.
            agreement: See `RatingSums`.
            group: Group of each item; by default, all items are in one group.
            groups: Number of groups.
        """
        annotators, number = ratings.codes.shape
        size = len(ratings.categories)
        group = np.zeros(number, dtype=np.intp) if group is None else group
        raters = ratings.rated.sum(axis=0)
        sums = np.zeros(number)
        for items, first, second in ratings.pairs():
            sums[items] += first == second if agreement is None else agreement[first, second]
        several = raters > 1
        agreed = np.zeros(number)
        agreed[several] = 2.0 * sums[several] / (raters[several] * (raters[several] - 1.0))
        counts, shares = np.zeros((groups, annotators, size)), np.zeros((groups, size))
        for annotator, codes in enumerate(ratings.codes):
            rated = codes != MISSING
            cells = group[rated] * size + codes[rated]
            counts[:, annotator] = np.bincount(cells, minlength=groups * size).reshape(groups, size)
            shares += np.bincount(cells, 1.0 / raters[rated], minlength=groups * size).reshape(groups, size)
        by_group = [
            np.bincount(group, each, minlength=groups).astype(np.float64) for each in (several, raters > 0, agreed)
        ]
        return cls(by_group[0], by_group[1], by_group[2], shares, counts, agreement)

    def weighted(self, weights: Floats) -> RatingSums:
        """Return the sums over groups that count several times; `weights` has the shape (resamples, groups)."""
        groups, *shape = self.counts.shape
        counts = weighted_sums(weights, self.counts.reshape(groups, -1)).reshape(-1, *shape)
        items, rated, agreed = (weighted_sums(weights, each) for each in (self.items, self.rated, self.agreed))
        return RatingSums(items, rated, agreed, weighted_sums(weights, self.shares), counts, self.agreement)

    @property
    def observed(self) -> Floats:
        """Mean agreement of two annotators of an item; NaN without items. Shape (groups,)."""
        with np.errstate(invalid="ignore"):
            mean: Floats = self.agreed / self.items
        return mean

    def by_pooled_ratings(self) -> Floats:
        """Return the agreement of two ratings drawn from the ratings of all annotators (pi); shape (groups,)."""
        shares = self._mean_shares()
        return self._agreement(shares, shares)

    def by_own_ratings(self) -> Floats:
        """Return the mean agreement of ratings drawn from those of two different annotators (kappa); shape (groups,).

        Pairs with an annotator who rated nothing are left out.
        """
        with np.errstate(invalid="ignore"):
            margins = self.counts / self.counts.sum(axis=-1, keepdims=True)
        pairs = combinations(range(margins.shape[1]), 2)
        expected = np.array([self._agreement(margins[:, i], margins[:, j]) for i, j in pairs])
        known = ~np.isnan(expected)
        with np.errstate(invalid="ignore"):
            mean: Floats = np.where(known, expected, 0.0).sum(axis=0) / known.sum(axis=0)
        return mean

    def by_equal_probabilities(self, categories: int | None = None) -> Floats:
        """Return the agreement of ratings that draw all categories with the same probability (S); shape (groups,)."""
        size = self.shares.shape[-1] if categories is None else categories
        expected = 1.0 / size if self.agreement is None else float(self.agreement.mean())
        return np.full(self.items.shape, expected)

    def by_hard_items(self) -> Floats:
        """Return the agreement of random ratings of items that are hard to rate (AC1); shape (groups,)."""
        shares = self._mean_shares()
        size = shares.shape[-1]
        if size == 1:
            return np.ones(self.items.shape)
        weight = size if self.agreement is None else float(self.agreement.sum())
        expected: Floats = weight / (size * (size - 1)) * (shares * (1.0 - shares)).sum(axis=-1)
        return expected

    def _mean_shares(self) -> Floats:
        with np.errstate(invalid="ignore"):
            shares: Floats = self.shares / self.rated[:, None]
        return shares

    def _agreement(self, first: Floats, second: Floats) -> Floats:
        """Return the agreement of ratings with these shares of the categories; shape (groups,)."""
        shares = first if self.agreement is None else (first[..., None] * self.agreement).sum(axis=-2)
        expected: Floats = (shares * second).sum(axis=-1)
        return expected


@dataclass(frozen=True, eq=False, slots=True)
class ChanceSums:
    """A coefficient by document: `RatingSums` with a chance model.

    The last group of the sums contains the items of documents without an item of two annotators. They count once in
    every resample.
    """

    sums: RatingSums
    chance: Callable[[RatingSums], Floats]

    @property
    def width(self) -> int:
        """Number of cells that a resample needs besides its weights."""
        return int(self.sums.counts[0].size + self.sums.shares.shape[1])

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the observed and the expected agreement if documents count several times; shapes (resamples,)."""
        sums = self.sums.weighted(np.column_stack([weights, np.ones(len(weights))]))
        return sums.observed, self.chance(sums)

    def each(self) -> tuple[Floats, Floats]:
        """Return the observed and the expected agreement in each document; shapes (groups,)."""
        return self.sums.observed[:-1], self.chance(self.sums)[:-1]
