"""Pairs of rows to be compared, column by column, and what comes of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.runs import gathered

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.distances.base import Blocks
    from arbitre.engine.columns import Column, Floats, Indices, Link, Mask

    Evaluate = Callable[[Column, Indices, Indices], "Batch"]


@dataclass(eq=False, slots=True)
class Grid:
    """The pairs of a batch as cells of blocks, which cross the rows `left` with the rows `right` (-1: there is none).

    Pair t is cell `cells[t]`, or cell t where that is None: every cell is a pair.
    """

    blocks: Blocks
    left: Indices
    right: Indices
    cells: Indices | None = None

    def below(self, link: Link, pairs: Indices | None) -> Grid:
        """The same for a field: `pairs` are those of these pairs that have it on both sides, None for all."""
        if link.index is None:
            return self
        left, right = (gathered(link.index, rows, -1) for rows in (self.left, self.right))
        cells = pairs if self.cells is None or pairs is None else self.cells[pairs]
        return Grid(self.blocks, left, right, self.cells if pairs is None else cells)


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
class Spare:
    """What is left over of items: `mass[t]` of row `rows[t]`, in the pair of lists `owner[t]`."""

    rows: Indices
    mass: Floats
    owner: Indices


@dataclass(eq=False, slots=True)
class Moved:
    """Pairs of items that are coupled: `mass[t]` at pair `at[t]` of `batch`, in the pair of lists `owner[t]`.

    The pairs of lists `which` have the quality mass `total` on `matched` mass; `shift` is what the number of their
    predicted items lacks to that of their gold items, where all mass moves. `gold` and `predicted` are left over.
    """

    batch: Batch
    at: Indices
    owner: Indices
    mass: Floats
    which: Indices
    matched: Floats
    total: Floats
    shift: Floats
    gold: Spare
    predicted: Spare


@dataclass(eq=False, slots=True)
class Batch:
    """Pairs of rows of one column: pair t compares row `left[t]` (gold) with row `right[t]` (predicted).

    Closed, `quality` holds the quality of each pair, in [0, 1], 1 is equal; shape (pairs,). `gold`, `predicted`,
    `matched` and `mass` are the tallies of objects and lists. `matches` are the matched items of lists; those of the
    pairs of lists that were only `counted` are worked out when they are asked for. `moves` are those between which
    mass was moved.

    In a `loose` batch qualities may be upper bounds where that is cheaper: all but those that are `exact` (None: all).
    Pairs that are cells of tables have a `grid`.
    """

    column: Column
    left: Indices
    right: Indices
    loose: bool = False
    grid: Grid | None = None
    branches: list[Branch] = field(default_factory=list)
    matches: list[Matched] = field(default_factory=list)
    moves: list[Moved] = field(default_factory=list)
    counted: Indices | None = None
    quality: Floats = field(default_factory=lambda: np.empty(0))
    gold: Floats | None = None
    predicted: Floats | None = None
    matched: Floats | None = None
    mass: Floats | None = None
    exact: Mask | None = None

    def __len__(self) -> int:
        return len(self.left)
