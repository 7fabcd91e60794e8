"""Correctly rounded sums that do not depend on how the values are split into blocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

    from arbitre.arrays import Floats


class ExactSum:
    """Running sums of columns that arrive in blocks, equal to `math.fsum` over all rows.

    Stores a few non-overlapping numbers per column that have exactly the same sum (Shewchuk, 1997).
    """

    def __init__(self, width: int) -> None:
        self._parts: list[list[float]] = [[] for _ in range(width)]

    def add(self, rows: Floats) -> None:
        """Add rows, shape (n, width)."""
        self._parts = [_compressed([*part, *column.tolist()]) for part, column in zip(self._parts, rows.T, strict=True)]

    def __call__(self) -> list[float]:
        """Return the sums, one per column."""
        return [math.fsum(part) for part in self._parts]


def exact_sum(column: npt.NDArray[Any]) -> float:
    """Return the correctly rounded sum of a column, shape (n,), without copying its values to a list."""
    return math.fsum(column.data)


def _compressed(values: list[float]) -> list[float]:
    """Return a few non-overlapping numbers with exactly the same sum."""
    parts: list[float] = []
    while rest := math.fsum([*values, *(-part for part in parts)]):
        parts.append(rest)
        if not math.isfinite(rest):
            break
    return parts
