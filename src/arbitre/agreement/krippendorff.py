"""Krippendorff's alpha (Krippendorff, 2018): several annotators, missing ratings, any difference between values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from arbitre.agreement.categorical import facts
from arbitre.agreement.coefficient import Coefficient
from arbitre.agreement.ratings import Ratings
from arbitre.errors import DataError, OptionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
        The coefficient. `observed` and `expected` are 1 minus the disagreement. The value is None if all values are
        equal.

    Raises:
        DataError: The sequences differ in length, there are fewer than two, or `level` requires ordered values or
            numbers and the values are not.
        OptionError: `level` is unknown.

    >>> round(krippendorff_alpha(["AAAAAB", "ABBBBB"]).value, 4)
    -0.2222
    """
    return alpha_of(Ratings.of(data, categories), level, ordered=categories is not None)


def alpha_of(
    ratings: Ratings, level: Level | Callable[[Json, Json], float] = "nominal", *, ordered: bool = False
) -> Coefficient:
    """Compute Krippendorff's alpha of encoded ratings.

    Args:
        ratings: The ratings.
        level: See `krippendorff_alpha`.
        ordered: Whether the order of the categories was given.

    Returns:
        The coefficient; see `krippendorff_alpha`.
    """
    ratings = ratings.with_at_least(2)
    raters, totals = ratings.rated.sum(axis=0), ratings.totals()
    difference = _Difference.of(ratings, level, totals, ordered=ordered)
    observed = expected = None
    if len(raters) > 0:
        sums = np.zeros(len(raters))
        for items, first, second in ratings.pairs():
            sums[items] += difference.between(first, second)
        number = float(raters.sum())
        observed = 1.0 - float((2.0 * sums / (raters - 1.0)).sum()) / number
        expected = 1.0 - difference.expected(totals) / (number * (number - 1.0))
    name = f"alpha_{level if isinstance(level, str) else getattr(level, '__name__', 'function')}"
    model = "pooled ratings, without replacement"
    return Coefficient.corrected(observed, expected, name=name, chance_model=model, **facts(ratings))


@dataclass(frozen=True, eq=False, slots=True)
class _Difference:
    """Difference between two categories: squared difference of their positions, a table, or 1 if they differ."""

    positions: Floats | None = None
    table: Floats | None = None

    @classmethod
    def of(
        cls, ratings: Ratings, level: str | Callable[[Json, Json], float], totals: Floats, *, ordered: bool
    ) -> _Difference:
        values = ratings.categories
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
        if level == "ordinal":
            if not (ordered or ratings.ordered):
                raise DataError.of("Ordinal agreement needs ordered values", hint="Pass `categories` in order.")
            return cls(positions=np.cumsum(totals) - totals / 2.0)
        if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            raise DataError.of(f'Expected numbers for the level "{level}"', hint='Use "nominal" or "ordinal".')
        numbers = np.array(values, dtype=np.float64)
        if level == "interval":
            return cls(positions=numbers)
        difference, sums = np.subtract.outer(numbers, numbers), np.add.outer(numbers, numbers)
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls(table=np.where(difference == 0.0, 0.0, (difference / sums) ** 2))

    def between(self, first: Indices, second: Indices) -> Floats:
        """Return the difference of each pair of categories; shape (pairs,)."""
        if self.table is not None:
            cells: Floats = self.table[first, second]
            return cells
        if self.positions is not None:
            squares: Floats = (self.positions[first] - self.positions[second]) ** 2
            return squares
        return np.array(first != second, dtype=np.float64)

    def expected(self, totals: Floats) -> float:
        """Return the sum of the differences of all ordered pairs of ratings; `totals` are the ratings per category."""
        if self.table is not None:
            return float(totals @ self.table @ totals)
        number = float(totals.sum())
        if self.positions is not None:
            centred = self.positions - (totals @ self.positions) / number
            return 2.0 * number * float(totals @ (centred * centred))
        return number * number - float(totals @ totals)
