"""Krippendorff's alpha of ratings: several annotators, missing ratings, any difference between values.

Alpha is 1 minus the ratio of the observed to the expected disagreement (Krippendorff, 2018). Both are computed from
sums over the items of each document (`AlphaSums`), so that many resamples of the documents are computed at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from arbitre.agreement.by_document import cell_sums
from arbitre.agreement.coefficient import Coefficient, if_several_items
from arbitre.agreement.ratings import MISSING, Ratings, facts
from arbitre.arrays import weighted_sums
from arbitre.errors import DataError, OptionError, did_you_mean
from arbitre.statistics.intervals import CHUNK_CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scipy import sparse

    from arbitre.arrays import Floats, Indices
    from arbitre.values import Json


Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
"""Level of measurement of the values."""


def krippendorff_alpha(
    data: Sequence[Sequence[Json]],
    level: Level | Callable[[Json, Json], float] = "nominal",
    *,
    categories: Sequence[Json] | None = None,
) -> Coefficient:
    """Compute Krippendorff's alpha: 1 minus the ratio of the observed to the expected disagreement.

    The chance model draws two different ratings from the pooled ratings, without replacement. Alpha therefore differs
    from Scott's pi if there are few items. Items with fewer than two ratings are left out.

    Args:
        data: One sequence of values per annotator; None if missing.
        level: "nominal", "ordinal", "interval" (squared difference), "ratio" (squared difference relative to the sum),
            or a function of two values that returns their difference: symmetric, not negative, 0 for equal values.
        categories: The values in order, for "ordinal"; by default those that occur, sorted.

    Returns:
        The coefficient. `observed` and `expected` are 1 minus the disagreement. Unless `level` is a function, the
        disagreement is divided by the largest difference between two values that occur. The value is None if all values
        are equal.

    Raises:
        DataError: The sequences differ in length, there are fewer than two, or `level` requires ordered values or
            numbers and the values are not.
        OptionError: `level` is unknown.

    >>> round(krippendorff_alpha(["AAAAAB", "ABBBBB"]).value, 4)
    -0.2222
    """
    ratings, ordered = Ratings.of(data, categories), categories is not None
    return alpha_of(ratings, level, ordered=ordered).scaled(largest_difference(ratings, level, ordered=ordered))


def alpha_of(
    ratings: Ratings, level: Level | Callable[[Json, Json], float] = "nominal", *, ordered: bool = False
) -> Coefficient:
    """Compute Krippendorff's alpha of encoded ratings.

    Args:
        ratings: The ratings.
        level: See `krippendorff_alpha`.
        ordered: Whether the order of the categories was given.

    Returns:
        The coefficient; see `krippendorff_alpha`. `observed` and `expected` are 1 minus the unscaled disagreement.
    """
    ratings = ratings.with_at_least(2)
    observed, expected = (
        None if np.isnan(each[0]) else float(each[0])
        for each in AlphaSums.of(ratings, level, ordered=ordered).weighted(np.ones((1, 1)))
    )
    name = f"alpha_{level if isinstance(level, str) else getattr(level, '__name__', 'function')}"
    model = "pooled ratings, without replacement"
    alpha = Coefficient.corrected(observed, expected, name=name, chance_model=model, **facts(ratings))
    return if_several_items(alpha)


def largest_difference(
    ratings: Ratings, level: Level | Callable[[Json, Json], float], *, ordered: bool = False
) -> float:
    """Return the largest difference between two values of items that at least two annotators rated.

    Args:
        ratings: The ratings.
        level: See `krippendorff_alpha`.
        ordered: Whether the order of the categories was given.

    Returns:
        A positive number. It is 1 for "nominal" and for a function, or if no two values differ.
    """
    if level == "nominal" or callable(level):
        return 1.0
    totals = ratings.with_at_least(2).totals()
    occurring = totals.nonzero()[0]
    first, second = np.triu_indices(len(occurring), 1)
    difference = _Difference.maker(ratings, level, ordered=ordered)(totals[None])
    largest = float(difference.between(occurring[first], occurring[second]).max(initial=0.0))
    return largest if 0.0 < largest < np.inf else 1.0


@dataclass(frozen=True, eq=False, slots=True)
class AlphaSums:
    """Sums over the items that at least two annotators rated, per group of items, such as a document.

    Attributes:
        ratings: Number of ratings; shape (groups,).
        totals: Number of ratings of each category; sparse, of shape (groups, categories).
        exchanges: How often two annotators gave a pair of different categories to an item; sparse, of shape (groups,
            pairs). Only pairs that occur have a column. A pair of ratings of an item with m ratings counts 2 / (m - 1).
        pairs: Codes of the first and of the second category of each column of `exchanges`; shapes (pairs,).
        difference: Returns the differences of the categories, given the number of ratings of each category; shape
            (resamples, categories). Ordinal differences depend on these numbers.
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
        raters = rated.sum(axis=0)  # of each item
        owners = np.broadcast_to(group, (annotators, number))[rated]  # group of each rating
        totals = cell_sums(owners, ratings.codes[rated], np.ones(len(owners)), (groups, size))
        # A pair of categories is one number: code of the smaller * size + code of the larger.
        parts = [
            (items[apart], np.minimum(first, second)[apart] * size + np.maximum(first, second)[apart])
            for items, first, second in ratings.pairs()
            for apart in [first != second]
        ]
        items, cells = (np.concatenate([np.empty(0, dtype=np.intp), *each]) for each in zip(*parts, strict=True))
        kinds, at = np.unique(cells, return_inverse=True)
        exchanges = cell_sums(group[items], at, 2.0 / (raters[items] - 1.0), (groups, len(kinds)))
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
        """Return the observed and the expected agreement in each group; shapes (groups,).

        Dense tables of some groups at a time limit memory: of at most about `CHUNK_CELLS` cells.
        """
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
            group: Group of each item; shape (items,).
        """
        size, rated = len(ratings.categories), ratings.rated
        # Number of ratings of each category in each group. A cell of this table is one number: group * size + category.
        cells = np.broadcast_to(group, rated.shape)[rated] * size + ratings.codes[rated]
        totals = np.bincount(cells, minlength=len(self.ratings) * size).reshape(-1, size).astype(np.float64)
        return self._expected(totals.sum(axis=-1), totals)

    def _expected(self, number: Floats, totals: Floats) -> Floats:
        """Return the expected agreement, from the number of ratings and that of each category; shape (resamples,)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            expected: Floats = 1.0 - self.difference(totals).expected(totals) / (number * (number - 1.0))
        return expected

    def _agreement(self, number: Floats, totals: Floats, exchanges: Floats) -> tuple[Floats, Floats]:
        """Return the observed and the expected agreement of each resample, or group.

        Args:
            number: Number of ratings; shape (resamples,).
            totals: Number of ratings of each category; shape (resamples, categories).
            exchanges: Weight of each pair of different categories; shape (resamples, pairs).
        """
        disagreed = (exchanges * self.difference(totals).between(*self.pairs)).sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return 1.0 - disagreed / number, self._expected(number, totals)


@dataclass(frozen=True, eq=False, slots=True)
class _Difference:
    """Difference between two categories: from a table, the squared difference of their positions, or 1 if they differ.

    Attributes:
        positions: Position of each category on a scale; shape (categories,), or (resamples, categories) if it depends
            on the ratings. None for another difference.
        table: Difference of each pair of categories; shape (categories, categories). None for another difference.
    """

    positions: Floats | None = None
    table: Floats | None = None

    @classmethod
    def maker(
        cls, ratings: Ratings, level: str | Callable[[Json, Json], float], *, ordered: bool
    ) -> Callable[[Floats], _Difference]:
        """Return a function that returns the difference.

        It takes the number of ratings of each category, of shape (resamples, categories). Only the level "ordinal"
        depends on it: the position of a category is the share of ratings below it, plus half of its own. As a share,
        it does not depend on the number of ratings, so that agreement in samples can be compared.
        """
        values = ratings.categories
        if level == "ordinal":
            if not (ordered or ratings.ordered):
                raise DataError.of("Ordinal agreement needs ordered values", hint="Pass `categories` in order.")
            return lambda totals: cls(positions=_middle_ranks(totals))
        made = cls._of(values, level)
        return lambda _: made

    @classmethod
    def _of(cls, values: tuple[Json, ...], level: str | Callable[[Json, Json], float]) -> _Difference:
        """Return the difference of categories for a level that does not depend on the ratings."""
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


def _middle_ranks(totals: Floats) -> Floats:
    """Return the share of ratings below each category, plus half of its own; NaN without ratings.

    Args:
        totals: Number of ratings of each category; shape (resamples, categories).
    """
    with np.errstate(invalid="ignore"):
        shares: Floats = (np.cumsum(totals, axis=-1) - totals / 2.0) / totals.sum(axis=-1, keepdims=True)
    return shares
