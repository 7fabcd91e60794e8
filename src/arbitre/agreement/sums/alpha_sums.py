"""Sums over items from which Krippendorff's alpha is computed, for many documents or resamples at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse

from arbitre.agreement.ratings import MISSING
from arbitre.arrays import weighted_sums
from arbitre.corpus.statistics.bootstrap import CHUNK_CELLS
from arbitre.errors import DataError, OptionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.agreement.ratings import Ratings
    from arbitre.arrays import Floats, Indices
    from arbitre.values import Json

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
