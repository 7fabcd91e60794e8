"""Sums over items by document, from which coefficients of many resamples are computed at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse

from arbitre.agreement.ratings import MISSING
from arbitre.arrays import weighted_sums
from arbitre.errors import DataError, OptionError, did_you_mean
from arbitre.statistics.intervals import CHUNK_CELLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.agreement.ratings import Ratings
    from arbitre.arrays import Floats, Indices
    from arbitre.values import Json


# Sums over items from which Krippendorff's alpha is computed, for many documents or resamples at once.


Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
"""Level of measurement of the values."""


@dataclass(frozen=True, eq=False, slots=True)
class AlphaSums:
    """Sums over the items that at least two annotators rated, per group of items, such as a document.

    Attributes:
        ratings: Number of ratings; shape (groups,).
        totals: Number of ratings of each category; sparse, of shape (groups, categories).
        exchanges: Weight of the pairs of different ratings of an item, for each pair of categories that occurs; sparse,
            of shape (groups, pairs).
        pairs: Codes of the categories of each of these pairs; shapes (pairs,).
        difference: Returns the difference of two categories, given the number of ratings of each.
    """

    ratings: Floats
    totals: sparse.csr_array
    exchanges: sparse.csr_array
    pairs: tuple[Indices, Indices]
    difference: Callable[[Floats], _Difference]

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        level: Level | Callable[[Json, Json], float],
        *,
        ordered: bool = False,
        group: Indices | None = None,
        groups: int = 1,
    ) -> AlphaSums:
        """Sum the ratings of each group.

        Args:
            ratings: Items that at least two annotators rated.
            level: See `krippendorff_alpha`.
            ordered: Whether the order of the categories was given.
            group: Group of each item; by default, all items are in one group.
            groups: Number of groups.
        """
        annotators, number = ratings.codes.shape
        size = len(ratings.categories)
        group = np.zeros(number, dtype=np.intp) if group is None else group
        rated = ratings.codes != MISSING
        raters = rated.sum(axis=0)
        owners = np.broadcast_to(group, (annotators, number))[rated]
        totals = _table(np.ones(len(owners)), owners, ratings.codes[rated], (groups, size))
        parts = [
            (items[apart], np.minimum(first, second)[apart] * size + np.maximum(first, second)[apart])
            for items, first, second in ratings.pairs()
            for apart in [first != second]
        ]
        items, cells = (np.concatenate([np.empty(0, dtype=np.intp), *each]) for each in zip(*parts, strict=True))
        kinds, at = np.unique(cells, return_inverse=True)
        exchanges = _table(2.0 / (raters[items] - 1.0), group[items], at, (groups, len(kinds)))
        by_group = np.bincount(group, raters, minlength=groups).astype(np.float64)
        make = _Difference.maker(ratings, level, ordered=ordered)
        return cls(by_group, totals, exchanges, (kinds // max(size, 1), kinds % max(size, 1)), make)

    @property
    def width(self) -> int:
        """Number of cells that a resample needs besides its weights."""
        return self.totals.shape[1] + len(self.pairs[0])

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the observed and the expected agreement if groups count several times; NaN without items.

        Args:
            weights: How often each group counts; shape (resamples, groups).
        """
        # Sums of sparse tables do not use BLAS: they are added in the order of the groups.
        return self._agreement(weighted_sums(weights, self.ratings), weights @ self.totals, weights @ self.exchanges)

    def each(self) -> tuple[Floats, Floats]:
        """Return the observed and the expected agreement in each group; shapes (groups,)."""
        rows = max(1, CHUNK_CELLS // max(1, self.width))
        parts = [
            self._agreement(self.ratings[at], self.totals[at].toarray(), self.exchanges[at].toarray())
            for at in (slice(start, start + rows) for start in range(0, len(self.ratings), rows))
        ]
        observed, expected = (np.concatenate(side) for side in zip(*parts, strict=True))
        return observed, expected

    def expected_in(self, ratings: Ratings, group: Indices) -> Floats:
        """Return the expected agreement in each group if the items were in other groups; shape (groups,).

        Args:
            ratings: The ratings from which the sums were computed, of few categories.
            group: Group of each item.
        """
        size, rated = len(ratings.categories), ratings.rated
        cells = np.broadcast_to(group, rated.shape)[rated] * size + ratings.codes[rated]
        totals = np.bincount(cells, minlength=len(self.ratings) * size).reshape(-1, size).astype(np.float64)
        return self._expected(totals.sum(axis=-1), totals)

    def _expected(self, number: Floats, totals: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            expected: Floats = 1.0 - self.difference(totals).expected(totals) / (number * (number - 1.0))
        return expected

    def _agreement(self, number: Floats, totals: Floats, exchanges: Floats) -> tuple[Floats, Floats]:
        disagreed = (exchanges * self.difference(totals).between(*self.pairs)).sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return 1.0 - disagreed / number, self._expected(number, totals)


def _table(values: Floats, rows: Indices, columns: Indices, shape: tuple[int, int]) -> sparse.csr_array:
    return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=shape))


@dataclass(frozen=True, eq=False, slots=True)
class _Difference:
    """Difference between two categories: squared difference of their positions, a table, or 1 if they differ.

    The positions have the shape (categories,), or (resamples, categories) if they depend on the ratings.
    """

    positions: Floats | None = None
    table: Floats | None = None

    @classmethod
    def maker(
        cls, ratings: Ratings, level: str | Callable[[Json, Json], float], *, ordered: bool
    ) -> Callable[[Floats], _Difference]:
        """Return a function of the number of ratings of each category; shape (resamples, categories)."""
        values = ratings.categories
        if level == "ordinal":
            if not (ordered or ratings.ordered):
                raise DataError.of("Ordinal agreement needs ordered values", hint="Pass `categories` in order.")
            return lambda totals: cls(positions=np.cumsum(totals, axis=-1) - totals / 2.0)
        made = cls._of(values, level)
        return lambda _: made

    @classmethod
    def _of(cls, values: tuple[Json, ...], level: str | Callable[[Json, Json], float]) -> _Difference:
        if callable(level):
            size = len(values)
            table = np.array([[float(level(a, b)) for b in values] for a in values]).reshape(size, size)
            if not (np.isfinite(table).all() and (table >= 0.0).all() and np.allclose(table, table.T)):
                raise DataError.of("The difference between values must be symmetric, finite and not negative")
            return cls(table=table)
        if level not in get_args(Level):
            raise OptionError.of(f"Unknown level {level!r}", hint=did_you_mean(level, get_args(Level)))
        if level == "nominal":
            return cls()
        if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            raise DataError.of(f'Expected numbers for the level "{level}"', hint='Use "nominal" or "ordinal".')
        numbers = np.array(values, dtype=np.float64)
        if level == "interval":
            return cls(positions=numbers)
        difference, sums = np.subtract.outer(numbers, numbers), np.add.outer(numbers, numbers)
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls(table=np.where(difference == 0.0, 0.0, (difference / sums) ** 2))

    def between(self, first: Indices, second: Indices) -> Floats:
        """Return the difference of each pair of different categories; shape (pairs,) or (resamples, pairs)."""
        if self.table is not None:
            cells: Floats = self.table[first, second]
            return cells
        if self.positions is not None:
            squares: Floats = (self.positions[..., first] - self.positions[..., second]) ** 2
            return squares
        return np.ones(len(first))

    def expected(self, totals: Floats) -> Floats:
        """Return the sum of the differences of all ordered pairs of ratings; shape (resamples,).

        Args:
            totals: Number of ratings of each category; shape (resamples, categories).
        """
        if self.table is not None:
            cells: Floats = (weighted_sums(totals, self.table) * totals).sum(axis=-1)
            return cells
        number = totals.sum(axis=-1)
        if self.positions is not None:
            with np.errstate(invalid="ignore"):
                mean = (totals * self.positions).sum(axis=-1, keepdims=True) / number[:, None]
            centred = self.positions - mean
            squares: Floats = 2.0 * number * (totals * centred * centred).sum(axis=-1)
            return squares
        pairs: Floats = number * number - (totals * totals).sum(axis=-1)
        return pairs


# Sums over pairs of values and over combinations of lists, for alpha with any distance and for gamma.


@dataclass(frozen=True, eq=False, slots=True)
class PairSums:
    """Alpha with any distance, from differences of pairs of values.

    Attributes:
        disagreed: Sum over the values of each document of their mean difference from the others of the same item;
            shape (documents,).
        values: Number of values of each document; shape (documents,).
        pairs: Number of pairs of values by their documents, estimated from a sample if there are many; sparse, of shape
            (documents, documents). See `pair_table`.
        differences: Sum of their differences; sparse, of the same shape.
        within: Position of the document of pairs of values of the same document; shape (pairs within,).
        differences_within: Their differences; shape (pairs within,).
    """

    disagreed: Floats
    values: Floats
    pairs: sparse.csr_array
    differences: sparse.csr_array
    within: Indices
    differences_within: Floats

    @property
    def width(self) -> int:
        """See `DocumentSums`."""
        return 2 * len(self.values)

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """See `DocumentSums`."""
        pairs, sums = ((np.asarray(weights @ table) * weights).sum(axis=-1) for table in (self.pairs, self.differences))
        number = weighted_sums(weights, self.values)
        different = number * number - weighted_sums(weights * weights, self.values)
        with np.errstate(invalid="ignore", divide="ignore"):
            # Copies of a document are equal, so pairs of a value with its copies have no difference.
            expected = sums / pairs * different / (number * (number - 1.0))
            return 1.0 - weighted_sums(weights, self.disagreed) / number, 1.0 - expected

    def each(self) -> tuple[Floats, Floats]:
        """See `DocumentSums`."""
        size = len(self.values)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = summed(self.within, self.differences_within, size) / np.bincount(self.within, minlength=size)
            return 1.0 - self.disagreed / self.values, 1.0 - mean


@dataclass(frozen=True, eq=False, slots=True)
class FixedChance:
    """A coefficient whose expected agreement does not depend on the documents that are drawn.

    Attributes:
        sums: Gives the observed agreement.
        expected: The expected agreement.
    """

    sums: AlphaSums | PairSums
    expected: float

    @property
    def width(self) -> int:
        """See `DocumentSums`."""
        return self.sums.width

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """See `DocumentSums`."""
        observed, _ = self.sums.weighted(weights)
        return observed, np.full_like(observed, self.expected)


@dataclass(frozen=True, eq=False, slots=True)
class ListSums:
    """Gamma of lists, from the disorders of their alignments and of those of lists of different documents.

    Attributes:
        disorders: Sum of the disorders of the lists of each document; shape (documents,).
        items: Number of their items; shape (documents,).
        drawn: Positions of the documents of each combination of lists of different documents; the number of documents
            for one without a list of two annotators. Shape (combinations, annotators).
        disorders_drawn: Disorder of each combination; shape (combinations,).
        items_drawn: Number of items of each combination; shape (combinations,).
    """

    disorders: Floats
    items: Floats
    drawn: Indices
    disorders_drawn: Floats
    items_drawn: Floats

    @property
    def width(self) -> int:
        """See `DocumentSums`."""
        return self.drawn.size

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """See `DocumentSums`."""
        padded = np.column_stack([weights, np.ones(len(weights))])
        drawn = padded[:, self.drawn].prod(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = 1.0 - weighted_sums(weights, self.disorders) / weighted_sums(weights, self.items)
            expected = weighted_sums(drawn, self.disorders_drawn) / weighted_sums(drawn, self.items_drawn)
            return observed, 1.0 - expected


def pair_table(first: Indices, second: Indices, values: Floats, documents: int) -> sparse.csr_array:
    """Return the sum of the values of pairs by the documents of both; sparse, of shape (documents, documents)."""
    return sparse.csr_array(sparse.coo_array((values, (first, second)), shape=(documents, documents)))


def summed(document: Indices, values: Floats | Indices, documents: int) -> Floats:
    """Return the sum of the values of each document; shape (documents,)."""
    return np.bincount(document, values, minlength=documents).astype(np.float64)


def pairs_within(document: Indices, most: int, seed: int) -> tuple[Indices, Indices]:
    """Return pairs of positions of values of the same document: all, or about `most` if there are more.

    Every document with two values has at least one pair; documents have the same number of sampled pairs.

    Args:
        document: Document of each value; shape (values,).
        most: Number of pairs above which a sample is drawn.
        seed: Random seed.
    """
    order = np.argsort(document, kind="stable")
    _, starts, counts = np.unique(document[order], return_index=True, return_counts=True)
    starts, counts = starts[counts > 1], counts[counts > 1]
    none = np.empty(0, dtype=np.intp)
    if int((counts * (counts - 1) // 2).sum()) <= most:
        pairs = [np.triu_indices(count, 1) for count in counts.tolist()]
        first, second = (np.concatenate([none, *(pair[side] for pair in pairs)]) for side in (0, 1))
        begin = starts.repeat(counts * (counts - 1) // 2)
        return order[first + begin], order[second + begin]
    random = np.random.default_rng(seed)
    each = max(1, most // len(counts))
    size, begin = counts.repeat(each), starts.repeat(each)
    first = random.integers(size)
    second = (first + random.integers(1, size)) % size
    return order[first + begin], order[second + begin]


# Sums over items from which the coefficients on categories are computed, for many documents or resamples at once.


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
