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
import numpy.typing as npt

from arbitre.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from arbitre.values import Json, Kind

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


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
    """Many small tables laid end to end.

    Block b crosses the rows `left_starts[b]:left_starts[b + 1]` of a left array with the rows
    `right_starts[b]:right_starts[b + 1]` of a right one.

    Cells are numbered through all blocks, row by row; `starts` (blocks + 1,) says where each block begins, `rows` and
    `columns` (cells,) which left and right row each cell is of.
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
        """The left rows, the right rows and the cells of each block."""
        lefts, rights, cells = self.left_starts.tolist(), self.right_starts.tolist(), self.starts.tolist()
        for block in range(len(self.heights)):
            yield (
                slice(lefts[block], lefts[block + 1]),
                slice(rights[block], rights[block + 1]),
                slice(cells[block], cells[block + 1]),
            )


class Pool(Protocol):
    """The distinct values of one column, prepared for one distance. Values are named by their index in the pool."""

    @property
    def plain(self) -> Mask | None:
        """Values that `bounded` has exactly where blocks cross no others; shape (values,), None for all."""
        ...

    def paired(self, left: Indices, right: Indices) -> Floats:
        """d(left[t], right[t]) for every t: both of shape (n,), the result too."""
        ...

    def glimpsed(self, left: Indices, right: Indices) -> tuple[Floats, Mask | None]:
        """As `paired`, but where that is cheaper at most the distance: and which are exact, shape (n,), None for all.

        What is said of a pair depends on that pair alone.
        """
        ...

    def bounded(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        """At most d(left[i], right[j]) for every cell of the blocks, and cheap; shape (cells,).

        Never above the distance itself as `paired` has it, to the last bit; equal to it where that is cheap too.
        """
        ...


@dataclass(frozen=True, slots=True)
class Distance:
    """A leaf distance with its options settled.

    `kinds` are the kinds of (normalised) values it is made for; `options` holds every option with its value,
    defaults included, so that two distances that can differ in a number differ in their options. From `dear`
    candidate pairs on it pays to find out first which of them matter, though that takes more rounds.
    """

    name: str
    kinds: frozenset[Kind]
    facts: Facts
    pool: Callable[[Sequence[Json]], Pool] = field(compare=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    dear: float = math.inf

    def __call__(self, gold: Json, predicted: Json) -> float:
        """The distance of one pair of values of the distance's kinds, in [0, 1], 0 is equal."""
        pool = self.pool([gold, predicted])
        return float(pool.paired(np.array([0], dtype=np.intp), np.array([1], dtype=np.intp))[0])
