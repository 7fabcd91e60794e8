"""The base types of distances: a distance with its name, options and facts, and the pools that compute it.

Every distance is a function d(gold, predicted) with results in [0, 1]. All built-in distances have d(x, x) = 0; custom
ones may not. Distances are computed from *pools*: `Distance.pool` prepares the distinct values of a column once, then
the pool computes many pairs at once, by index.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from arbitre.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.values import Json, Kind


@dataclass(frozen=True, slots=True)
class Facts:
    """Mathematical properties of a distance with its options. The law tests check them.

    * `identity`: d(x, x) = 0
    * `symmetric`: d(x, y) = d(y, x)
    * `separating`: d(x, y) = 0 only if x and y are equal as JSON
    * `triangle`: d(x, z) <= d(x, y) + d(y, z)
    * `range`: the smallest and the largest distance, within [0, 1]
    * `witness`: values that violate the first property that does not hold, in the order identity (x,),
      symmetric (x, y), separating (x, y), triangle (x, y, z); values that violate later properties may follow

    Raises SchemaError if the range is invalid.

    >>> Facts(separating=False).metric, Facts(separating=False).pseudometric
    (False, True)
    >>> Facts.only("symmetric")
    Facts(identity=False, symmetric=True, separating=False, triangle=False, range=(0.0, 1.0), witness=None)
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
            raise SchemaError.of(message, hint="Rescale the distance: 0 means equal, 1 means completely different.")
        if self.identity and least > 0:
            message = f"Expected `range` to start at 0 if `identity` holds, got {self.range}"
            raise SchemaError.of(message, hint="Set identity=False if equal values may have a distance above 0.")

    @classmethod
    def only(cls, *names: Literal["identity", "symmetric", "separating", "triangle"]) -> Facts:
        """Return facts that claim these properties and no other."""
        return cls("identity" in names, "symmetric" in names, "separating" in names, "triangle" in names)

    @property
    def metric(self) -> bool:
        return self.pseudometric and self.separating

    @property
    def pseudometric(self) -> bool:
        return self.identity and self.symmetric and self.triangle


class Blocks:
    """Concatenated tables: block b is the product of a slice of a left array and a slice of a right array.

    Cells are numbered through all blocks, row by row.

    Attributes:
        left_starts: Start of each block's slice of the left array, then the end of the last; shape (blocks + 1,).
        right_starts: The same for the right array.
        heights: Number of rows of each block; shape (blocks,).
        widths: Number of columns of each block; shape (blocks,).
        starts: First cell of each block, then the number of cells; shape (blocks + 1,).
        rows: Index into the left array for each cell; shape (cells,).
        columns: Index into the right array for each cell; shape (cells,).
    """

    __slots__ = ("columns", "heights", "left_starts", "right_starts", "rows", "starts", "widths")

    def __init__(self, left_starts: Indices, right_starts: Indices) -> None:
        self.left_starts, self.right_starts = left_starts, right_starts
        self.heights, self.widths = (left_starts[1:] - left_starts[:-1]), (right_starts[1:] - right_starts[:-1])
        self.starts = np.zeros(len(self.heights) + 1, dtype=np.intp)
        np.cumsum(self.heights * self.widths, out=self.starts[1:])
        line = self.widths.repeat(self.heights)  # number of cells in each row
        ends = line.cumsum()
        self.rows = (np.arange(len(line), dtype=np.intp) + left_starts[0]).repeat(line)
        first = right_starts[:-1].repeat(self.heights) - (ends - line)
        self.columns = np.arange(self.starts[-1], dtype=np.intp) + first.repeat(line)

    def __len__(self) -> int:
        return len(self.heights)

    def select(self, left: Mask, right: Mask) -> tuple[Blocks, Mask]:
        """Return the blocks of the selected elements of both arrays, and a mask of their cells, in the same order."""
        sides = (left, self.left_starts), (right, self.right_starts)
        starts = [np.concatenate([[0], mask.cumsum()])[begins] for mask, begins in sides]
        return Blocks(*starts), left[self.rows] & right[self.columns]

    def __iter__(self) -> Iterator[tuple[slice, slice, slice]]:
        """Yield each block's slices of the left array, the right array and the cells."""
        lefts, rights, cells = self.left_starts.tolist(), self.right_starts.tolist(), self.starts.tolist()
        for block in range(len(self.heights)):
            yield (
                slice(lefts[block], lefts[block + 1]),
                slice(rights[block], rights[block + 1]),
                slice(cells[block], cells[block + 1]),
            )


class Pool(ABC):
    """The distinct values of a column, prepared for one distance. `left` and `right` are indices of values.

    Bounds are the distances themselves, unless a pool has cheaper ones.
    """

    __slots__ = ()

    @property
    def exactly_bounded(self) -> Mask | None:
        """Mask of the values between which `lower_bounds_blockwise` is exact; shape (values,); None for all."""
        return None

    @abstractmethod
    def distances(self, left: Indices, right: Indices) -> Floats:
        """Return d(left[t], right[t]) for every t; shapes (n,)."""

    def lower_bounds_pairwise(self, left: Indices, right: Indices) -> tuple[Floats, Mask | None]:
        """Return distances or cheaper lower bounds, and a mask of the exact ones (None: all exact); shapes (n,).

        The result for a pair depends on that pair only.
        """
        return self.distances(left, right), None

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        """Return cheap lower bounds of d(left[i], right[j]) for every cell of the blocks; shape (cells,).

        No bound exceeds the result of `distances`, even by rounding.
        """
        return self.distances(left[blocks.rows], right[blocks.columns])


@dataclass(frozen=True, slots=True)
class Distance:
    """A leaf distance with fixed options.

    Attributes:
        name: Name in schemas.
        kinds: Kinds of normalised values that it accepts.
        facts: Its mathematical properties.
        pool: Prepares a sequence of values.
        options: Every option with its value, including defaults: equal options give equal results.
        expensive_above: Number of candidate pairs from which it is deferred until bounds show which pairs matter.
        custom: Whether it is a custom distance, whose facts are claims of its author.
        without_floor: The same distance without its floor; None if it has no floor (see `arbitre.distances.floor`).
    """

    name: str
    kinds: frozenset[Kind]
    facts: Facts
    pool: Callable[[Sequence[Json]], Pool] = field(compare=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    expensive_above: float = math.inf
    custom: bool = False
    without_floor: Distance | None = field(default=None, compare=False)

    def __call__(self, gold: Json, predicted: Json) -> float:
        """Return the distance of two values of the accepted kinds, in [0, 1]; 0 for equal values."""
        pool = self.pool([gold, predicted])
        return float(pool.distances(np.array([0], dtype=np.intp), np.array([1], dtype=np.intp))[0])
