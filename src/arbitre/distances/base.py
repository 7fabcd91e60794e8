"""What a distance is: a frozen record of a name, its options, its declared facts, and a way to measure many pairs.

Every distance is a function d(gold, predicted) into [0, 1]; all but some that users bring have d(x, x) = 0. It measures
*pools*: the distinct values of a column are prepared once (`Distance.pool`), then any pairs of them are measured at
once, by index.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from arbitre.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.values import Json, Kind


@dataclass(frozen=True, slots=True)
class Facts:
    """What is true of a distance, as a function of its options; the law tests assert exactly this.

    * `identity`: d(x, x) = 0
    * `symmetric`: d(x, y) = d(y, x)
    * `separating`: d(x, y) = 0 only where x and y are equal (strictly, as JSON)
    * `triangle`: d(x, z) <= d(x, y) + d(y, z)
    * `range`: the least and the greatest distance, within [0, 1]
    * `witness`: values that break the first fact denied, in the order identity (x,), symmetric (x, y),
      separating (x, y), triangle (x, y, z)

    Raises SchemaError for a range that cannot be.

    >>> Facts(separating=False).metric, Facts(separating=False).pseudometric
    (False, True)
    """

    identity: bool = True
    symmetric: bool = True
    separating: bool = True
    triangle: bool = True
    range: tuple[float, float] = (0.0, 1.0)
    witness: tuple[Json, ...] | None = None

    def __post_init__(self) -> None:
        least, greatest = self.range
        if not 0 <= least <= greatest <= 1:
            message = f"Expected `range` to be two numbers within [0, 1], the smaller first, got {self.range}"
            raise SchemaError.of(message, hint="Rescale the distance: 0 is equal, 1 is wholly different.")
        if self.identity and least > 0:
            message = f"Expected `range` to start at 0 where `identity` holds, got {self.range}"
            raise SchemaError.of(message, hint="Say identity=False where equal values are not at distance 0.")

    @property
    def metric(self) -> bool:
        return self.pseudometric and self.separating

    @property
    def pseudometric(self) -> bool:
        return self.identity and self.symmetric and self.triangle


class Blocks:
    """Tables laid end to end: block b crosses a slice of a left array with a slice of a right array.

    Attributes:
        left_starts: Where the slice of each block starts in the left array, and where the last one ends;
            shape (blocks + 1,).
        right_starts: The same for the right array.
        heights: Number of rows of each block; shape (blocks,).
        widths: Number of columns of each block.
        starts: First cell of each block, and the number of cells, counted through all blocks row by row;
            shape (blocks + 1,).
        rows: Index in the left array of each cell; shape (cells,).
        columns: Index in the right array of each cell.
    """

    __slots__ = ("columns", "heights", "left_starts", "right_starts", "rows", "starts", "widths")

    def __init__(self, left_starts: Indices, right_starts: Indices) -> None:
        self.left_starts, self.right_starts = left_starts, right_starts
        self.heights, self.widths = (left_starts[1:] - left_starts[:-1]), (right_starts[1:] - right_starts[:-1])
        self.starts = np.zeros(len(self.heights) + 1, dtype=np.intp)
        np.cumsum(self.heights * self.widths, out=self.starts[1:])
        line = self.widths.repeat(self.heights)  # the cells of each left row
        ends = line.cumsum()
        self.rows = (np.arange(len(line), dtype=np.intp) + left_starts[0]).repeat(line)
        first = right_starts[:-1].repeat(self.heights) - (ends - line)
        self.columns = np.arange(self.starts[-1], dtype=np.intp) + first.repeat(line)

    def __len__(self) -> int:
        return len(self.heights)

    def __iter__(self) -> Iterator[tuple[slice, slice, slice]]:
        """Yield the slices of the left array, of the right array and of the cells that belong to each block."""
        lefts, rights, cells = self.left_starts.tolist(), self.right_starts.tolist(), self.starts.tolist()
        for block in range(len(self.heights)):
            yield (
                slice(lefts[block], lefts[block + 1]),
                slice(rights[block], rights[block + 1]),
                slice(cells[block], cells[block + 1]),
            )


class Pool(Protocol):
    """The distinct values of a column, prepared for a distance. Arguments are indices of values."""

    @property
    def exactly_bounded(self) -> Mask | None:
        """Values among which `lower_bounds_blockwise` is exact; shape (values,), None for all."""
        ...

    def distances(self, left: Indices, right: Indices) -> Floats:
        """Return d(left[t], right[t]) for every t; shapes (n,)."""
        ...

    def lower_bounds_pairwise(self, left: Indices, right: Indices) -> tuple[Floats, Mask | None]:
        """Return distances, or lower bounds where they are cheaper, and a mask of the exact ones (None: all).

        Shapes (n,). The result for a pair depends on that pair only.
        """
        ...

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        """Return cheap lower bounds of d(left[i], right[j]) for every cell of the blocks; shape (cells,).

        They are never above the distances of `distances`, not even in the last bit, and equal to them where that is
        cheap.
        """
        ...


@dataclass(frozen=True, slots=True)
class Distance:
    """A leaf distance with its options settled.

    `kinds` are the kinds of (normalised) values it is made for; `options` holds every option with its value,
    defaults included, so that two distances that can differ in a number differ in their options. From `expensive_above`
    candidate pairs on it pays to find out first which of them matter, though that takes more rounds.
    """

    name: str
    kinds: frozenset[Kind]
    facts: Facts
    pool: Callable[[Sequence[Json]], Pool] = field(compare=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    expensive_above: float = math.inf

    def __call__(self, gold: Json, predicted: Json) -> float:
        """The distance of one pair of values of the distance's kinds, in [0, 1], 0 is equal."""
        pool = self.pool([gold, predicted])
        return float(pool.distances(np.array([0], dtype=np.intp), np.array([1], dtype=np.intp))[0])
