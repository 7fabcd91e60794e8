"""Pairs of rows to be compared, column by column, and what comes of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.engine.columns import Column, Floats, Indices

    Evaluate = Callable[[Column, Indices, Indices], "Batch"]


@dataclass(eq=False, slots=True)
class Branch:
    """The pairs that a batch asks for in one column below it: pair s of `batch` belongs to pair `owner[s]` above.

    `owner` is None where every pair above has exactly one pair here, in the same order.
    """

    batch: Batch
    owner: Indices | None
    weight: float = 1.0


@dataclass(eq=False, slots=True)
class Matched:
    """Pairs of items that were matched: pair `at[t]` of `batch` belongs to the pair of lists `owner[t]`."""

    batch: Batch
    at: Indices
    owner: Indices


@dataclass(eq=False, slots=True)
class Batch:
    """Pairs of rows of one column: pair t compares row `left[t]` (gold) with row `right[t]` (predicted).

    Closed, `quality` holds the quality of each pair, in [0, 1], 1 is equal; shape (pairs,). `gold`, `predicted`,
    `matched` and `mass` are the tallies of objects and lists. `matches` are the matched items of lists; those of the
    pairs of lists that were only `counted` are worked out when they are asked for.
    """

    column: Column
    left: Indices
    right: Indices
    branches: list[Branch] = field(default_factory=list)
    matches: list[Matched] = field(default_factory=list)
    counted: Indices | None = None
    quality: Floats = field(default_factory=lambda: np.empty(0))
    gold: Floats | None = None
    predicted: Floats | None = None
    matched: Floats | None = None
    mass: Floats | None = None

    def __len__(self) -> int:
        return len(self.left)
