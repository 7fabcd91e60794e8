"""Distortion: the deviation of a cost matrix under a matching from the distances within gold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arbitre.diagnosis.metricity.matrix_checks import check_matrix
from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from arbitre.arrays import Indices


@dataclass(frozen=True, slots=True)
class Distortion:
    """Maximum and mean of |C[i, p(j)] - D[i, j]|; 0 for a perfect prediction, None if there are no pairs."""

    max: float | None
    mean: float | None


def distortion(
    matrix: npt.ArrayLike, gold_matrix: npt.ArrayLike, pairs: Sequence[tuple[int, int]] | Indices
) -> Distortion:
    """Compute the deviation of a cost matrix from the distances within gold.

    Each matched pair (j, p(j)) is compared in all gold rows i. If the distance is a metric, `max` equals the largest
    matched cost; a larger value shows that the distance is not a metric.

    Args:
        matrix: Costs C of gold against predicted, at least 0; shape (n, m).
        gold_matrix: Distances D within gold, at least 0; shape (n, n).
        pairs: Positions (j, p(j)) of the matched pairs; shape (k, 2), dtype integer.

    Returns:
        The maximum and the mean deviation over all rows and pairs.

    Raises:
        DataError: A matrix is not valid, the shapes do not fit, or a pair is out of range.

    >>> distortion([[0.25, 1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]], [(0, 0), (1, 1)])
    Distortion(max=0.25, mean=0.0625)
    """
    costs, within = check_matrix("matrix", matrix), check_matrix("gold_matrix", gold_matrix)
    rows = len(costs)
    if within.shape != (rows, rows):
        raise DataError.of(
            f"Expected `gold_matrix` to have shape {(rows, rows)}, got {within.shape}",
            hint="Its rows and columns are the rows of `matrix`, in the same order.",
        )
    if not len(pairs):
        return Distortion(None, None)
    try:
        matched = np.asarray(pairs)
    except ValueError:  # pairs of different lengths
        matched = np.empty(0)
    if matched.shape[1:] != (2,) or matched.dtype.kind not in "ui" or ((matched < 0) | (matched >= costs.shape)).any():
        raise DataError.of(
            f"Expected `pairs` to be positions (gold, predicted) in a matrix of shape {costs.shape}, got others",
            hint="For example [(0, 1), (1, 0)].",
        )
    gold, predicted = matched.T
    apart = np.abs(costs[:, predicted] - within[:, gold])
    return Distortion(float(apart.max()), float(apart.mean()))
