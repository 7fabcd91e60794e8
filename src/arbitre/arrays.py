"""Array types, and sums that are correctly rounded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


def exact_sum(column: npt.NDArray[Any]) -> float:
    """Return the correctly rounded sum of a column, shape (n,), without copying its values to a list."""
    return math.fsum(column.data)


def exact_parts(values: list[float]) -> list[float]:
    """Return a few non-overlapping numbers with exactly the same sum (Shewchuk, 1997)."""
    parts: list[float] = []
    while rest := math.fsum([*values, *(-part for part in parts)]):
        parts.append(rest)
        if not math.isfinite(rest):
            break
    return parts
