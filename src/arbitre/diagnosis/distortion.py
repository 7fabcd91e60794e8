"""How far a matching is from the perfect one, seen in the whole matrix of costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arbitre.diagnosis.matrix_checks import check_matrix
from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from arbitre.arrays import Indices


@dataclass(frozen=True, slots=True)
class Distortion:
    """Largest and mean |C[i, p(j)] - D[i, j]|, at least 0 (the perfect matrix); None where nothing is matched."""

    max: float | None
    mean: float | None


def distortion(
    matrix: npt.ArrayLike, gold_matrix: npt.ArrayLike, pairs: Sequence[tuple[int, int]] | Indices
) -> Distortion:
    """How far a matrix of costs is from the perfect one, that of gold against itself.

    `matrix`, shape (n, m), has the costs C of gold against predicted, `gold_matrix`, shape (n, n), the distances D
    within gold, `pairs`, shape (k, 2), the matched positions (j, p(j)). All gold rows i are set against each matched
    j. Where the distance is a metric, `max` is the largest matched cost: then it adds nothing to the qualities, and
    where it is above that, the distance is none.

    Raises DataError for matrices that `metricity` would refuse or that do not fit, and for pairs outside of them.

    >>> distortion([[0.25, 1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]], [(0, 0), (1, 1)])
    Distortion(max=0.25, mean=0.0625)
    """
    costs, within = check_matrix("matrix", matrix), check_matrix("gold_matrix", gold_matrix)
    rows = len(costs)
    if within.shape != (rows, rows):
        raise DataError.of(
            f"Expected `gold_matrix` to have shape {(rows, rows)}, got {within.shape}",
            hint="It has the rows of `matrix`, in the same order, on both sides.",
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
            hint="As in [(0, 1), (1, 0)].",
        )
    gold, predicted = matched.T
    apart = np.abs(costs[:, predicted] - within[:, gold])
    return Distortion(float(apart.max()), float(apart.mean()))
