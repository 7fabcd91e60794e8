"""Sums over documents that are correctly rounded, however many there are and in whatever portions they come."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


class Sums:
    """The sums of columns that come portion by portion: those of `math.fsum` over all of them.

    Of a column are kept few numbers that do not overlap, with the very same sum (Shewchuk, 1997).
    """

    def __init__(self, width: int) -> None:
        self._parts: list[list[float]] = [[] for _ in range(width)]

    def add(self, rows: Floats) -> None:
        """Take in rows (n, width)."""
        self._parts = [_few([*part, *column.tolist()]) for part, column in zip(self._parts, rows.T, strict=True)]

    def __call__(self) -> list[float]:
        """The sums (width,)."""
        return [math.fsum(part) for part in self._parts]


def total(column: npt.NDArray[Any]) -> float:
    """The sum of a column (n,), correctly rounded; no list is made of it."""
    return math.fsum(column.data)


def _few(values: list[float]) -> list[float]:
    found: list[float] = []
    while rest := math.fsum([*values, *(-one for one in found)]):
        found.append(rest)
        if not math.isfinite(rest):
            break
    return found
