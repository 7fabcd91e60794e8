"""Sums that are correctly rounded, however the values are divided into portions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

    from arbitre.arrays import Floats


class ExactSum:
    """The sums of columns that arrive in portions: `math.fsum` over all rows.

    Keeps a few numbers per column that do not overlap and have exactly the same sum (Shewchuk, 1997).
    """

    def __init__(self, width: int) -> None:
        self._parts: list[list[float]] = [[] for _ in range(width)]

    def add(self, rows: Floats) -> None:
        """Add rows (n, width)."""
        self._parts = [_few([*part, *column.tolist()]) for part, column in zip(self._parts, rows.T, strict=True)]

    def __call__(self) -> list[float]:
        """The sums (width,)."""
        return [math.fsum(part) for part in self._parts]


def exact_sum(column: npt.NDArray[Any]) -> float:
    """The correctly rounded sum of a column (n,), without a list of its values."""
    return math.fsum(column.data)


def _few(values: list[float]) -> list[float]:
    found: list[float] = []
    while rest := math.fsum([*values, *(-one for one in found)]):
        found.append(rest)
        if not math.isfinite(rest):
            break
    return found
