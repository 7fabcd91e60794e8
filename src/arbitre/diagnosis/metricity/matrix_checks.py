"""Validation of matrices of distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from arbitre.errors import DataError

if TYPE_CHECKING:
    from arbitre.arrays import Floats


def check_matrix(name: str, matrix: npt.ArrayLike) -> Floats:
    """Return the matrix as float64.

    Raises:
        DataError: The value is not a matrix, or has entries that are negative or not finite.
    """
    try:
        array = np.asarray(matrix)
    except ValueError as error:
        raise DataError.of(
            f"Expected `{name}` to have rows of equal length, got rows of different lengths", hint=str(error)
        ) from error
    if array.ndim != 2 or array.dtype.kind not in "buif" or not array.size:  # noqa: PLR2004
        raise DataError.of(
            f"Expected `{name}` to be a table of numbers, got {array.dtype} of shape {array.shape}",
            hint="Pass one row per gold value and one column per predicted value, at least one of each.",
        )
    values = array.astype(np.float64)
    wrong = np.argwhere(~(np.isfinite(values) & (values >= 0.0)))
    if len(wrong):
        row, column = wrong[0]
        raise DataError.of(
            f"Expected every entry of `{name}` to be a finite number, at least 0, got {values[row, column]:g}",
            pointer=f"/{row}/{column}",
            hint="Pass distances, with 0 for equal values. Convert a similarity s in [0, 1] to 1 - s.",
        )
    return values
