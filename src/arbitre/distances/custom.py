"""Distances that users bring: a function of two values, called as seldom as can be, and its results checked."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from arbitre.distances.base import Distance
from arbitre.distances.pool_helpers import value_codes
from arbitre.errors import SolverError
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.base import Blocks, Facts
    from arbitre.values import Json

    DistanceFunction = Callable[[Any, Any], Any]

SLACK: Final = 1e-12
"""A bound may be above the distance by its rounding; so much is taken off."""

CHEAPER: Final = "Give it a `bound`, compare a field beside it that tells the items apart, or raise `max_calls`."
"""What to do where a function would be called too often."""

EQUAL_KEY: Final = -1
"""The key of all pairs of equal values, where these are at 0 by declaration."""


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function of users, and what is known of it."""

    name: str
    function: DistanceFunction
    facts: Facts
    bound: DistanceFunction | None
    batch: bool

    def distances(self, gold: list[Json], predicted: list[Json]) -> Floats:
        """d(gold[t], predicted[t]) for every t; shape (n,). Raises SolverError where they cannot be."""
        if self.batch:
            results = self.function(gold, predicted)
        else:
            results = [self.function(*pair) for pair in zip(gold, predicted, strict=True)]
        distances = _numbers(results, f"`{self.name}`", self.facts.range, gold, predicted)
        bounds = self.bounds(gold, predicted)
        above = np.flatnonzero(bounds > distances)
        if len(above):
            at = above[0]
            raise SolverError.of(
                f"Expected the bound of `{self.name}` to be at most its distance, {distances[at]}, "
                f"for {_shown(gold[at], predicted[at])}, got {bounds[at] + SLACK}",
                hint="A bound never exceeds the distance: else the best matching may be missed.",
            )
        return distances

    def bounds(self, gold: list[Json], predicted: list[Json]) -> Floats:
        """At most the distances, from the range and the bound."""
        least = np.full(len(gold), self.facts.range[0])
        if self.bound is None or not gold:
            return least
        results = [self.bound(*pair) for pair in zip(gold, predicted, strict=True)]
        numbers = _numbers(results, f"the bound of `{self.name}`", (0.0, 1.0), gold, predicted)
        bounds: Floats = np.maximum(numbers - SLACK, least)
        return bounds


def _numbers(
    results: Any,  # noqa: ANN401  (whatever a function of users returned)
    what: str,
    within: tuple[float, float],
    gold: list[Json],
    predicted: list[Json],
) -> Floats:
    """The results as float64, if they are one number within the range for each pair."""
    try:
        numbers: npt.NDArray[Any] = np.asarray(results)
    except (TypeError, ValueError) as error:
        raise SolverError.of(f"Expected {what} to return numbers, got {reprlib.repr(results)}") from error
    if numbers.shape != (len(gold),):
        message = f"Expected {what} to return {len(gold)} numbers, one for each pair, got the shape {numbers.shape}"
        raise SolverError.of(message)
    if numbers.dtype.kind not in "fiu":
        raise SolverError.of(f"Expected {what} to return numbers, got {reprlib.repr(results)}")
    wrong = np.flatnonzero(~((numbers >= within[0]) & (numbers <= within[1])))
    if len(wrong):
        at = wrong[0]
        raise SolverError.of(
            f"Expected {what} to return a number from {within[0]} to {within[1]} "
            f"for {_shown(gold[at], predicted[at])}, got {numbers[at]}",
            hint="0 is equal, 1 is wholly different; the range is declared in its Facts.",
        )
    return numbers.astype(np.float64, copy=False)


def _shown(gold: Json, predicted: Json) -> str:
    return f"{reprlib.repr(gold)} and {reprlib.repr(predicted)}"


@dataclass(slots=True)
class MemoPool:
    """A pool that asks the function once for each pair of distinct values, and only for pairs that are measured.

    Where the distance is symmetric, once for both orders; where d(x, x) = 0 is declared, not for equal values. Pairs
    have a key each; `keys` are those known, in increasing order, `answers` their distances; shapes (known,). More than
    `limit` calls are refused.
    """

    function: UserFunction
    values: list[Json]
    codes: Indices
    limit: int | None = None
    keys: Indices = field(init=False)
    answers: Floats = field(init=False)

    def __post_init__(self) -> None:
        known = int(self.function.facts.identity)
        self.keys, self.answers = np.full(known, EQUAL_KEY, dtype=np.intp), np.zeros(known)

    @property
    def exactly_bounded(self) -> Mask:
        return np.zeros(len(self.values), dtype=np.bool_)

    @property
    def has_no_bound(self) -> bool:
        """Whether nothing is known of a pair before it is asked for."""
        return self.function.bound is None

    @property
    def calls(self) -> int:
        """How many pairs the function was asked for."""
        return int((self.keys != EQUAL_KEY).sum())

    def distances(self, left: Indices, right: Indices) -> Floats:
        keys, place = np.unique(self._keys(left, right), return_inverse=True)
        new = np.setdiff1d(keys, self.keys, assume_unique=True)
        if len(new):
            if self.limit is not None and self.calls + len(new) > self.limit:
                raise SolverError.of(
                    f"Expected at most {self.limit} calls of `{self.function.name}`, got a need for more",
                    hint=CHEAPER,
                )
            known, answers = (
                np.append(self.keys, new),
                np.append(self.answers, self.function.distances(*self._pairs(new))),
            )
            order = np.argsort(known)
            self.keys, self.answers = known[order], answers[order]
        return self.answers[np.searchsorted(self.keys, keys)][place]

    def lower_bounds_pairwise(self, left: Indices, right: Indices) -> tuple[Floats, Mask]:
        """As `lower_bounds_blockwise`: nothing is asked, and only equal values are known to be at 0."""
        keys = self._keys(left, right)
        return self._bounds(keys), keys == EQUAL_KEY

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        """From the range and the bound alone, never from what is known by now: a bound depends on its two values."""
        return self._bounds(self._keys(left[blocks.rows], right[blocks.columns]))

    def _bounds(self, pairs: Indices) -> Floats:
        if self.function.bound is None:
            return np.where(pairs == EQUAL_KEY, 0.0, self.function.facts.range[0])
        keys, place = np.unique(pairs, return_inverse=True)
        bounds = np.zeros(len(keys))
        bounds[keys != EQUAL_KEY] = self.function.bounds(*self._pairs(keys[keys != EQUAL_KEY]))
        return bounds[place]

    def _keys(self, left: Indices, right: Indices) -> Indices:
        a, b = self.codes[left], self.codes[right]
        facts = self.function.facts
        first, second = (np.minimum(a, b), np.maximum(a, b)) if facts.symmetric else (a, b)
        keys = first * len(self.values) + second
        return np.where(a == b, EQUAL_KEY, keys) if facts.identity else keys

    def _pairs(self, keys: Indices) -> tuple[list[Json], list[Json]]:
        first, second = np.divmod(keys, len(self.values))
        return [self.values[at] for at in first.tolist()], [self.values[at] for at in second.tolist()]


def _pool(asked: UserFunction, values: Sequence[Json]) -> MemoPool:
    code = value_codes(values)
    first = np.unique(code, return_index=True)[1]
    return MemoPool(asked, [values[at] for at in first.tolist()], code)


def user_distance(
    name: str,
    function: DistanceFunction,
    facts: Facts,
    *,
    bound: DistanceFunction | None = None,
    batch: bool = False,
    kinds: Iterable[Kind] = Kind,
) -> Distance:
    """The distance that a function of users makes; see `DistanceCatalogue.with_distance`."""
    asked = UserFunction(name, function, facts, bound, batch)
    return Distance(name, frozenset(kinds), facts, partial(_pool, asked), expensive_above=1)
