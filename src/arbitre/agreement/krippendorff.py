"""Krippendorff's alpha (Krippendorff, 2018): several annotators, missing ratings, any difference between values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.agreement.categorical import facts
from arbitre.agreement.coefficient import Coefficient
from arbitre.agreement.ratings import Ratings
from arbitre.agreement.sums.alpha_sums import AlphaSums, Level

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.values import Json


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
    observed, expected = (
        None if np.isnan(each[0]) else float(each[0])
        for each in AlphaSums.of(ratings, level, ordered=ordered).weighted(np.ones((1, 1)))
    )
    name = f"alpha_{level if isinstance(level, str) else getattr(level, '__name__', 'function')}"
    model = "pooled ratings, without replacement"
    return Coefficient.corrected(observed, expected, name=name, chance_model=model, **facts(ratings))
