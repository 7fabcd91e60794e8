"""Sizes at which the engine changes its method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class CellLimits:
    """Sizes at which the engine changes its method, in cells (pairs of items) except `keys`.

    They do not change the results. Lists beyond `most` or `stored` cannot be matched.

    Attributes:
        lazy: Minimum for lazy matching of two lists.
        plain_lazy: Minimum for lazy matching of plain items (see `exactly_bounded_rows`).
        table: Mean number from which tables are compared as tables, not as single pairs.
        large: Number from which a problem is solved alone, with bounds that count the common items of nested lists.
            Counting them halves the time on lists of 300 objects that contain lists of integers.
        chunk: Number for which bounds are computed at a time; limits memory.
        sparse: Number above which the bounds of two lists are not kept (see `LongLists`); limits memory to 1 GB.
        tile: Number for which bounds are computed at a time if they are not kept.
        most: Maximum number of bounds of two lists that are computed if they are not kept.
        stored: Maximum number for methods that need the qualities of all pairs of two lists at once.
        deep_chunk: Number for which tighter bounds, from all pairs of nested items, are computed at a time.
        keys: Number of consecutive undeclared keys with single values from which they share one column. 100,000 such
            keys take 3 s instead of 19 s. Fewer keys are compared faster as columns of their own if the objects are
            items of lists.
    """

    lazy: int = 100
    plain_lazy: int = 1 << 12
    table: int = 64
    large: int = 1 << 14
    chunk: int = 1 << 18
    sparse: int = 1 << 24
    tile: int = 1 << 17
    most: int = 1 << 31
    stored: int = 1 << 24
    deep_chunk: int = 1 << 14
    keys: int = 256


DEFAULT_LIMITS: Final = CellLimits()
