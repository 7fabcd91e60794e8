"""Custom distances: functions of two values, called as rarely as possible, with checked results."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from arbitre.distances.base import Distance, Facts, Placed, Pool, Surroundings, value_codes
from arbitre.errors import FunctionError, SolverError
from arbitre.values import Kind, read_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.base import Blocks
    from arbitre.values import Json

    DistanceFunction = Callable[[Any, Any], Any]

SLACK: Final = 1e-12
"""Amount subtracted from a custom bound, so that rounding cannot bring it above the distance."""

ROUNDING: Final = 1e-9
"""Amount by which rounding may move a distance out of its range."""

CHEAPER: Final = "Give it a `bound`, compare another field that distinguishes the items, or raise `max_calls`."
"""Hint of the error for too many calls to a custom distance."""

EQUAL_KEY: Final = -1
"""Key of all pairs of equal values if the facts declare d(x, x) = 0."""


UNKNOWN: Final = Surroundings()
"""Surroundings of a value that is compared by itself."""


@dataclass(frozen=True, slots=True)
class Context:
    """Where the values of a pair are.

    Attributes:
        gold: Surroundings of the gold value: its `parent`, the object or list that holds it, and its `root`, the
            document. They are as in the document, not normalised. None if they are unknown: where a value is compared
            by itself.
        predicted: Surroundings of the predicted value.
    """

    gold: Surroundings = UNKNOWN
    predicted: Surroundings = UNKNOWN


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A custom distance function with its facts and its bound."""

    name: str
    function: DistanceFunction
    facts: Facts
    bound: DistanceFunction | None
    batch: bool
    context: bool = False
    """Whether the function also gets the `Context` of each pair."""
    prepare: Callable[[list[Json]], None] | None = None
    """Gets all distinct values before the first call. It costs as much as there are values, not pairs, and its calls
    are not limited."""

    def prepared(self, values: list[Json]) -> None:
        """Pass all values to `prepare`, if there is one. Raises FunctionError from any exception."""
        if self.prepare is not None:
            try:
                self.prepare(values)
            except FunctionError:
                raise
            except (Exception, SystemExit) as error:
                raise FunctionError.of(f"`{self.name}` raised {type(error).__name__}: {error}") from error

    def distances(self, gold: list[Json], predicted: list[Json], contexts: Sequence[Context] | None = None) -> Floats:
        """Return d(gold[t], predicted[t]) for every t; shape (n,). Raises SolverError for invalid results."""
        function: Callable[..., Any] = self.function
        if self.context:
            around = [Context()] * len(gold) if contexts is None else list(contexts)
            results = (
                _called(partial(function, context=around), f"`{self.name}`", gold, predicted, (gold[:1], predicted[:1]))
                if self.batch
                else [
                    _called(partial(function, context=here), f"`{self.name}`", *pair, pair)
                    for here, pair in zip(around, zip(gold, predicted, strict=True), strict=True)
                ]
            )
        elif self.batch:
            results = _called(function, f"`{self.name}`", gold, predicted, (gold[:1], predicted[:1]))
        else:
            results = self._each(function, f"`{self.name}`", gold, predicted)
        distances = _numbers(results, f"`{self.name}`", self.facts.range, gold, predicted)
        bounds = self.bounds(gold, predicted)
        above = np.flatnonzero(bounds > distances)
        if len(above):
            pair = above[0]
            raise _error(
                f"Expected the bound of `{self.name}` to be at most its distance, {distances[pair]}, "
                f"for {_shown(gold[pair], predicted[pair])}, got {bounds[pair] + SLACK}",
                (gold[pair], predicted[pair]),
                "A bound must not exceed the distance: otherwise the best matching may be missed.",
            )
        return distances

    @staticmethod
    def _each(function: DistanceFunction, what: str, gold: list[Json], predicted: list[Json]) -> list[Any]:
        return [_called(function, what, *pair, pair) for pair in zip(gold, predicted, strict=True)]

    def bounds(self, gold: list[Json], predicted: list[Json]) -> Floats:
        """Return lower bounds of the distances from the range and the custom bound; shape (n,)."""
        least = np.full(len(gold), self.facts.range[0], dtype=np.float64)
        if self.bound is None or not gold:
            return least
        results = self._each(self.bound, f"the bound of `{self.name}`", gold, predicted)
        numbers = _numbers(results, f"the bound of `{self.name}`", (0.0, 1.0), gold, predicted)
        bounds: Floats = np.maximum(numbers - SLACK, least)
        return bounds


def _called(function: DistanceFunction, what: str, gold: Any, predicted: Any, pair: tuple[Any, Any]) -> Any:  # noqa: ANN401
    """Call a custom function. Raises FunctionError from any exception of the function."""
    try:
        return function(gold, predicted)
    except (Exception, SystemExit) as error:
        message = f"{what[0].upper()}{what[1:]} raised {type(error).__name__}: {error}, for {_shown(*pair)}"
        raise _error(message, pair) from error


def _error(message: str, values: tuple[Json, Json], hint: str | None = None) -> FunctionError:
    error = FunctionError.of(message, hint=hint)
    error.values = values
    return error


def _numbers(
    results: Any,  # noqa: ANN401  (the return value of a custom function)
    what: str,
    within: tuple[float, float],
    gold: list[Json],
    predicted: list[Json],
) -> Floats:
    """Return the results as float64; check that there is one number within the range for each pair.

    A number that rounding may have moved out of the range becomes the nearest number in it.
    """
    numbers = _plain(results)
    if numbers is None or numbers.shape != (len(gold),):
        several = list(results) if isinstance(results, (list, tuple)) or np.ndim(results) else None
        if several is None or len(several) != len(gold):
            raise _error(
                f"Expected {what} to return {len(gold)} numbers, one for each pair, got "
                f"{reprlib.repr(results) if several is None else len(several)}; "
                f"the first pair is {_shown(gold[0], predicted[0])}",
                (gold[0], predicted[0]),
            )
        single = [_plain(one) for one in several]
        for at, number in enumerate(single):
            if number is None or number.ndim:
                raise _invalid(what, within, (gold[at], predicted[at]), reprlib.repr(several[at]))
        numbers = np.array(single, dtype=np.float64)
    wrong = np.flatnonzero(~((numbers >= within[0] - ROUNDING) & (numbers <= within[1] + ROUNDING)))
    if len(wrong):
        at = wrong[0]
        raise _invalid(what, within, (gold[at], predicted[at]), str(numbers[at]))
    return np.clip(numbers.astype(np.float64, copy=False), *within)


def _plain(results: Any) -> npt.NDArray[Any] | None:  # noqa: ANN401  (as above)
    """Return results as an array of numbers; None if they are not numbers."""
    try:
        numbers: npt.NDArray[Any] = np.asarray(results)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.dtype.kind in "fiu" else None


def _invalid(what: str, within: tuple[float, float], pair: tuple[Json, Json], got: str) -> FunctionError:
    """Return the error for a result that is not a number within the range."""
    return _error(
        f"Expected {what} to return a number from {within[0]} to {within[1]} for {_shown(*pair)}, got {got}",
        pair,
        "0 means equal, 1 means completely different; the range is declared in its Facts.",
    )


def _shown(gold: Json, predicted: Json) -> str:
    return f"{reprlib.repr(gold)} and {reprlib.repr(predicted)}"


@dataclass(slots=True)
class MemoPool(Pool):
    """A pool that calls a custom function at most once for each pair of distinct values and stores the results.

    A symmetric distance is called once for both orders. If the facts declare d(x, x) = 0, it is not called for equal
    values.

    Attributes:
        function: The custom function.
        values: The distinct values.
        codes: Index into `values` for each value of the column.
        limit: Maximum number of calls.
        surroundings: Surroundings of each of `values`, if the function gets them.
        keys: Keys of the pairs with a known distance, increasing; shape (known,).
        answers: Distances of these pairs; shape (known,).
    """

    function: UserFunction
    values: list[Json]
    codes: Indices
    limit: int | None = None
    surroundings: Sequence[Surroundings] | None = None
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
        """Whether the function has no custom bound."""
        return self.function.bound is None

    @property
    def calls(self) -> int:
        """Number of pairs for which the function was called."""
        return int((self.keys != EQUAL_KEY).sum())

    def distances(self, left: Indices, right: Indices) -> Floats:
        """Return the distance of each pair; call the function once for each new pair, `limit` times at most."""
        keys, place = np.unique(self._keys(left, right), return_inverse=True)
        new = np.setdiff1d(keys, self.keys, assume_unique=True)
        if len(new):
            if self.function.prepare is not None:
                if not self.calls:
                    self.function.prepared(self.values)
            elif self.limit is not None and self.calls + len(new) > self.limit:
                raise SolverError.of(
                    f"Comparing needs more than {self.limit} calls to the distance `{self.function.name}`",
                    hint=CHEAPER,
                )
            found = self.function.distances(*self._pairs(new), self._contexts(new))
            known, answers = np.append(self.keys, new), np.append(self.answers, found)
            order = np.argsort(known)
            self.keys, self.answers = known[order], answers[order]
        return self.answers[np.searchsorted(self.keys, keys)][place]

    def lower_bounds_pairwise(self, left: Indices, right: Indices) -> tuple[Floats, Mask]:
        """Return lower bounds without calling the function; only those of equal values are exact."""
        keys = self._keys(left, right)
        return self._bounds(keys), keys == EQUAL_KEY

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        """Return lower bounds from the range and the custom bound.

        Known distances are not used: a bound must depend on its two values only.
        """
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
        swapped = facts.symmetric and not self.function.context  # the context names the sides
        first, second = (np.minimum(a, b), np.maximum(a, b)) if swapped else (a, b)
        keys = first * len(self.values) + second
        return np.where(a == b, EQUAL_KEY, keys) if facts.identity else keys

    def _contexts(self, keys: Indices) -> list[Context] | None:
        """Return the context of each pair, numbered as in `_pairs`; None if the function takes none."""
        around = self.surroundings
        if around is None:
            return None
        sides = zip(*(side.tolist() for side in np.divmod(keys, len(self.values))), strict=True)
        return [Context(around[first], around[second]) for first, second in sides]

    def _pairs(self, keys: Indices) -> tuple[list[Json], list[Json]]:
        """Return the gold and the predicted values of pairs, numbered first * number of values + second."""
        first, second = np.divmod(keys, len(self.values))
        return [self.values[index] for index in first.tolist()], [self.values[index] for index in second.tolist()]


def _context_pool(function: UserFunction, values: Sequence[Json | Placed]) -> MemoPool:
    """Return the pool of a function that gets the context: no two values are the same."""
    placed = [value if isinstance(value, Placed) else Placed(value, Surroundings()) for value in values]
    codes = np.arange(len(placed), dtype=np.intp)
    return MemoPool(function, [one.value for one in placed], codes, surroundings=[one.surroundings for one in placed])


def _pool(function: UserFunction, values: Sequence[Json]) -> MemoPool:
    code = value_codes(values)
    first = np.unique(code, return_index=True)[1]
    return MemoPool(function, [values[index] for index in first.tolist()], code)


def user_distance(
    name: str,
    function: DistanceFunction,
    facts: Facts | None = None,
    *,
    bound: DistanceFunction | None = None,
    batch: bool = False,
    kinds: Iterable[Kind | str] | None = None,
    context: bool = False,
) -> Distance:
    """Return the distance of a custom function; see `DistanceCatalogue.with_distance`.

    A function may state its properties itself, as attributes: `facts`, `batch`, `kinds` and `prepare`.
    """
    facts = getattr(function, "facts", Facts.only()) if facts is None else facts
    stated = getattr(function, "kinds", Kind) if kinds is None else kinds
    accepted = read_kinds(stated, f"`kinds` of the distance `{name}`")
    batch, prepare = batch or getattr(function, "batch", False), getattr(function, "prepare", None)
    prepared = UserFunction(name, function, facts, bound, batch, context, prepare)
    pool = partial(_context_pool if context else _pool, prepared)
    return Distance(name, accepted, facts, pool, expensive_above=1, custom=True, context=context)
