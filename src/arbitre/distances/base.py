"""The base types of distances: a distance with its name, options and facts, and the pools that compute it.

Every distance is a function d(gold, predicted) with results in [0, 1]. All built-in distances have d(x, x) = 0; custom
ones may not. Distances are computed from *pools*: `Distance.pool` prepares the distinct values of a column once, then
the pool computes many pairs at once, by index.

>>> from arbitre.distances.edit import LEVENSHTEIN
>>> half = with_floor(LEVENSHTEIN, 0.5)
>>> half("abcd", "abxx"), half("abcd", "axxx")
(0.5, 1.0)
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from arbitre.errors import SchemaError, SolverError, did_you_mean, shown
from arbitre.values import canonical, canonical_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.judges import Judge
    from arbitre.values import Json, Kind


PROPERTIES: Final = ("identity", "symmetric", "separating", "triangle")
"""Names of the properties that a distance can claim."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Mathematical properties of a distance with given options. The law tests check them.

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
        """Return facts that claim these properties and no other. Raises SchemaError for an unknown name."""
        for name in names:
            if name not in PROPERTIES:
                hint = did_you_mean(str(name), PROPERTIES)
                raise SchemaError.of(f"Expected the name of a property, got {shown(name)}", hint=hint)
        return cls("identity" in names, "symmetric" in names, "separating" in names, "triangle" in names)

    @property
    def metric(self) -> bool:
        """Whether all four properties hold."""
        return self.pseudometric and self.separating

    @property
    def pseudometric(self) -> bool:
        """Whether all properties but `separating` hold."""
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


class Surroundings(NamedTuple):
    """Where a value is: the object or list that holds it, and its document. None if they are unknown."""

    parent: Json = None
    root: Json = None


class Placed(NamedTuple):
    """A value with its surroundings."""

    value: Json
    surroundings: Surroundings


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
        without_floor: The same distance without its floor; None if it has no floor (see `arbitre.distances.base`).
        context: Whether the pool takes values with their surroundings, as `Placed`, and compares each value separately.
        judge: Judge whose answers replace the distances of matched values; see `arbitre.distances.judge`.
    """

    name: str
    kinds: frozenset[Kind]
    facts: Facts
    pool: Callable[[Sequence[Json]], Pool] = field(compare=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    expensive_above: float = math.inf
    custom: bool = False
    without_floor: Distance | None = field(default=None, compare=False)
    judge: Judge | None = field(default=None, compare=False)
    context: bool = False

    def __call__(self, gold: Json, predicted: Json) -> float:
        """Return the distance of two values of the accepted kinds, in [0, 1]; 0 for equal values."""
        pool = self.pool([gold, predicted])
        return float(pool.distances(np.array([0], dtype=np.intp), np.array([1], dtype=np.intp))[0])


# Pools of numpy formulas, codes of equal values and checks of results, shared by several distances.


Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BroadcastPool(Pool):
    """A pool whose distance is a vectorised function of the indices of two values."""

    measure: Callable[[Indices, Indices], Floats]

    def distances(self, left: Indices, right: Indices) -> Floats:
        return self.measure(left, right)


@dataclass(frozen=True, slots=True)
class DeferredPool(Pool):
    """A pool of texts whose distances are slow, with another pool whose distances are lower bounds.

    Equal texts have distance 0, and texts with the bound 1 have distance 1. `margin` is subtracted from all other
    bounds; it is greater than their rounding errors.
    """

    texts: Sequence[str]
    bounds: Pool
    margin: float

    @property
    def exactly_bounded(self) -> Mask:
        return np.zeros(len(self.texts), dtype=np.bool_)

    def lower_bounds_pairwise(self, left: Indices, right: Indices) -> tuple[Floats, Mask]:
        bounds = self.bounds.distances(left, right)
        exact = bounds == 1.0
        alike = (bounds <= self.margin).nonzero()[0]
        pairs = zip(left[alike].tolist(), right[alike].tolist(), strict=True)
        exact[alike] = [self.texts[gold] == self.texts[predicted] for gold, predicted in pairs]
        return np.where(bounds == 1.0, 1.0, self._lowered(bounds)), exact

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        return self._lowered(self.bounds.lower_bounds_blockwise(blocks, left, right))

    def _lowered(self, bounds: Floats) -> Floats:
        lowered: Floats = np.maximum(bounds - self.margin, 0.0)
        return lowered


def value_codes(values: Iterable[Json], known: Iterable[Json] = ()) -> Integers:
    """Return one code for each value, equal if and only if the values are equal as JSON; shape (n,).

    Args:
        values: The values; n of them.
        known: Distinct values that get the codes 0, 1, ... in their order.

    >>> value_codes(["b", True, 1, 1.0], known=["a", "b"]).tolist()
    [1, 2, 3, 3]
    """
    table: dict[Hashable, int] = {canonical(value): number for number, value in enumerate(known)}
    return np.array([table.setdefault(key, len(table)) for key in canonical_keys(list(values))], dtype=np.int64)


def partial_pool(codes: Integers, inside: Mask, graded: Callable[[Indices, Indices], Floats]) -> BroadcastPool:
    """Return a pool for a distance that is defined for some values only.

    Any other value has distance 0 to an equal value and 1 to every other value.

    Args:
        codes: Code of each value, equal for equal values; shape (values,).
        inside: Mask of the values for which the distance is defined; shape (values,).
        graded: Returns the distances for the indices of two values; any numbers if one of them is not inside.
    """

    def measure(left: Indices, right: Indices) -> Floats:
        return np.where(inside[left] & inside[right], graded(left, right), codes[left] != codes[right])

    return BroadcastPool(measure)


def enumerated_pool(
    values: Iterable[Json], known: Sequence[Json], graded: Callable[[Integers, Integers], Floats]
) -> BroadcastPool:
    """Return a `partial_pool` for a distance that is defined on a list of distinct values.

    Args:
        values: The values of the pool.
        known: The list of distinct values.
        graded: Returns the distances for two arrays of positions in `known`; shapes (n,).
    """
    codes = value_codes(values, known=known)
    inside = codes < len(known)
    rank = np.where(inside, codes, 0)
    return partial_pool(codes, inside, lambda left, right: graded(rank[left], rank[right]))


def ratio_or_zero(part: Integers, whole: Integers) -> Floats:
    """Return part / whole, or 0 for 0 / 0: two empty values are equal."""
    quotient: Floats = part / np.maximum(whole, 1)
    return quotient


def check_distances(distances: npt.NDArray[Any], shape: tuple[int, ...], library: str) -> Floats:
    """Check that a library's distances have this shape and are finite and in [0, 1]; return them as float64.

    Raises:
        SolverError: They are not.
    """
    if distances.shape != shape:
        message = f"Expected `{library}` to return distances of shape {shape}, got {distances.shape}"
    elif not (distances.min(initial=0) >= 0 and distances.max(initial=1) <= 1):  # nan is neither
        message = f"Expected `{library}` to return finite distances within [0, 1], got values outside of it or NaN"
    else:
        return distances.astype(np.float64, copy=False)
    raise SolverError.of(message, hint=f"This version of {library} computes wrong results: install another version.")


def slot_bounds(
    pools: Sequence[Pool],
    slots: npt.NDArray[np.int16],
    local: Indices,
    blocks: Blocks,
    *,
    gold: Indices,
    predicted: Indices,
) -> Floats:
    """Return lower bounds of the distances of all pairs in blocks, for values in several pools.

    Args:
        pools: The pools. Values in different pools have distance 1.
        slots: Index into `pools` for each value.
        local: Index within its pool for each value.
        blocks: The pairs.
        gold: Gold values of the blocks.
        predicted: Predicted values of the blocks.

    Returns:
        A bound for every cell of the blocks; shape (cells,).
    """
    if len(pools) == 1:
        return pools[0].lower_bounds_blockwise(blocks, local[gold], local[predicted])
    bounds = np.ones(int(blocks.starts[-1]))
    for slot, pool in enumerate(pools):
        in_gold, in_predicted = slots[gold] == slot, slots[predicted] == slot
        if in_gold.any() and in_predicted.any():
            inner, cells = blocks.select(in_gold, in_predicted)
            bounds[cells] = pool.lower_bounds_blockwise(inner, local[gold[in_gold]], local[predicted[in_predicted]])
    return bounds


# Floors: a quality below the floor of a leaf counts as 0.


ROUNDING: Final = 1e-12
"""Amount by which a quality may fall short of the floor, so that 1 - 0.9 reaches a floor of 0.1."""

_TWO_VALUED: Final = frozenset({"exact", "rounded", "tolerance"})
"""Distances that are 0 or 1, which a floor does not change."""


@dataclass(frozen=True, slots=True)
class FlooredPool(Pool):
    """The pool of a distance with a floor: distances above 1 - `floor` become 1.

    A lower bound above 1 - `floor` is exact, as the distance is then 1.
    """

    base: Pool
    floor: float

    @property
    def exactly_bounded(self) -> Mask | None:
        return self.base.exactly_bounded

    def distances(self, left: Indices, right: Indices) -> Floats:
        return self.cut(self.base.distances(left, right))

    def lower_bounds_pairwise(self, left: Indices, right: Indices) -> tuple[Floats, Mask | None]:
        bounds, exact = self.base.lower_bounds_pairwise(left, right)
        return self.cut(bounds), None if exact is None else exact | self._below(bounds)

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        return self.cut(self.base.lower_bounds_blockwise(blocks, left, right))

    def _below(self, distances: Floats) -> Mask:
        below: Mask = distances > 0.0 if self.floor == 1.0 else 1.0 - distances < self.floor - ROUNDING
        return below

    def cut(self, distances: Floats) -> Floats:
        """Return distances with those above 1 - `floor` replaced by 1."""
        return np.where(self._below(distances), 1.0, distances)


def with_floor(distance: Distance, floor: float | None) -> Distance:
    """Return a distance that is 1 where the quality 1 - d is below `floor`, and d elsewhere.

    It keeps symmetry, but not the triangle inequality: d(x, y) and d(y, z) can be at most
    1 - `floor` while d(x, z) exceeds it. With the floor 1, only values at distance 0 count as equal. Source: ANLS, with
    the floor 0.5 (Biten et al., 2019).

    Args:
        distance: The distance.
        floor: Quality in (0, 1] from which values count; None for no floor.
    """
    if floor is None or distance.name == "exact":
        return distance
    options = {**distance.options, "floor": floor}
    if distance.name in _TWO_VALUED:
        return replace(distance, options=options)
    facts = distance.facts
    discrete = floor == 1.0 and facts.identity and (facts.separating or facts.pseudometric)
    kept = not facts.identity or (facts.symmetric and not facts.separating)
    facts = replace(
        facts,
        symmetric=facts.symmetric or discrete,
        triangle=discrete,
        range=(facts.range[0], 1.0),
        witness=facts.witness if kept else None,
    )
    return replace(
        distance,
        options=options,
        facts=facts,
        pool=partial(_pool, distance.pool, floor),
        without_floor=distance,
    )


def _pool(prepare: Callable[[Sequence[Json]], Pool], floor: float, values: Sequence[Json]) -> FlooredPool:
    return FlooredPool(prepare(values), floor)


def base_pool(pool: Pool) -> Pool:
    """Return the pool that computes the distances, without a floor."""
    return pool.base if isinstance(pool, FlooredPool) else pool
