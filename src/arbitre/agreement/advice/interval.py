"""Confidence intervals of coefficients on items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.agreement.advice.by_document import Resampling
from arbitre.corpus.statistics.bootstrap import LEVEL, RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.agreement.coefficient import Coefficient, CoefficientInterval
    from arbitre.arrays import Floats
    from arbitre.values import Json


def interval(
    coefficient: Callable[[list[list[Json]]], Coefficient],
    data: Sequence[Sequence[Json]],
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> CoefficientInterval:
    """Compute the confidence interval of a coefficient by the bootstrap (Efron, 1987): items are resampled.

    A coefficient that depends on the number of categories, such as `bennett_s`, needs its `categories`: a resample may
    not contain all of them.

    Args:
        coefficient: Function of the data that returns the coefficient, such as `krippendorff_alpha`.
        data: One sequence of categories or values per annotator; None if missing.
        level: Confidence level.
        resamples: Number of resamples.
        seed: Random seed.

    Returns:
        The interval. Its ends are None if there are fewer than ten items, or if the coefficient is undefined.

    Raises:
        DataError: The sequences differ in length, or `level` is not between 0 and 1.

    >>> from arbitre.agreement import cohen_kappa
    >>> computed = interval(lambda data: cohen_kappa(*data), ["AAAAAABBBB", "AAAAABBBBA"], resamples=200)
    >>> computed.low < cohen_kappa("AAAAAABBBB", "AAAAABBBBA").value < computed.high
    True
    """
    rows = [list(sequence) for sequence in data]
    coefficient(rows)  # raises an error if the data are not valid

    def values(weights: Floats) -> Floats:
        drawn = (np.arange(len(row)).repeat(row.astype(np.intp)).tolist() for row in weights)
        return np.array([float(coefficient([[row[at] for at in items] for row in rows])) for items in drawn])

    return Resampling(level, resamples, seed).interval(values, len(rows[0]), what="items")
