"""Custom matchings: functions of a cost matrix or of two lists, with checked results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from arbitre.catalogue import Catalogue, Factory
from arbitre.errors import FunctionError, SchemaError, shown
from arbitre.matching.builtin_matchers import Matcher
from arbitre.matching.coupling import Coupling

if TYPE_CHECKING:
    import numpy.typing as npt

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.values import Json

MatchingFunction = Callable[..., Any]
"""A function that returns pairs of positions; see `CustomMatching`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomMatching:
    """A function that matches two lists, with what its author claims about it.

    The function returns the matched pairs in one of these forms; each position may occur once on its side:

    * a list of pairs (gold position, predicted position);
    * a tuple of two arrays of positions, as `scipy.optimize.linear_sum_assignment` returns;
    * a `Coupling` with masses of 1, as `arbitre.match` returns.

    It must be deterministic. The certificate lists the claims among its assumptions; it trusts them.

    Attributes:
        function: The function. It gets one matrix of costs 1 - quality of the items, shape (n, m), or, with
            `of="lists"`, the gold items and the predicted items as two lists of JSON values.
        of: What the function gets.
        identity: Claim that equal lists have distance 0, if equal items have.
        metric: Claim that the distance between lists is a pseudo-metric if the distance between items is a metric.
        separating: Claim that different lists have a distance above 0.
        in_order: Whether the result may depend on the order of the items; if not, lists with the same items in a
            different order are treated as equal.

    >>> import arbitre
    >>> from scipy.optimize import linear_sum_assignment
    >>> optimal = CustomMatching(function=linear_sum_assignment, identity=True, metric=True, separating=True,
    ...                          in_order=False)
    >>> comparator = arbitre.Comparator(
    ...     {"type": "array", "items": {"type": "string"}, "x-arbitre": {"match": "optimal"}},
    ...     matchings={"optimal": optimal})
    >>> comparator.compare(gold=["a", "b"], predicted=["b", "a"]).quality, comparator.certificate.verdict
    (1.0, 'metric')
    """

    function: MatchingFunction
    of: Literal["costs", "lists"] = "costs"
    identity: bool = False
    metric: bool = False
    separating: bool = False
    in_order: bool = True

    def matcher(self, name: str) -> Matcher:
        """Return the matching with its name in schemas."""
        return Matcher(
            name,
            partial(_coupled, self, name),
            metric=self.metric,
            separating=self.separating,
            identity=self.identity,
            in_order=self.in_order,
            custom=True,
            of_values=self.of == "lists",
        )


def with_matching(
    name: str, matching: CustomMatching | MatchingFunction, known: Catalogue[Matcher]
) -> Catalogue[Matcher]:
    """Return a catalogue that also contains a custom matching.

    Args:
        name: Name of the matching in schemas.
        matching: The matching; a function is one of a cost matrix, without claims.
        known: The catalogue.

    Raises:
        SchemaError: The name is already taken, or the matching cannot be called.
    """
    chosen = matching if isinstance(matching, CustomMatching) else CustomMatching(function=matching)
    if not callable(chosen.function):
        raise SchemaError.of(f"Expected the matching {shown(name)} to be a function, got {type(matching).__name__}")
    return known.with_factory(name, Factory(lambda _: chosen.matcher(name), "A custom matching."))


def _coupled(
    matching: CustomMatching,
    name: str,
    quality: Floats,
    allowed: Mask | None = None,  # noqa: ARG001  (all pairs are allowed)
    *,
    values: tuple[Sequence[Json], Sequence[Json]] | None = None,
) -> Coupling:
    """Call a custom matching and check its result. Raises FunctionError."""
    shape = int(quality.shape[0]), int(quality.shape[1])
    if matching.of == "lists" and values is None:
        raise FunctionError.of(
            f"The matching `{name}` needs the items of both lists, but only their costs are known here",
            hint="`arbitre agree` and `arbitre.match` need a matching of costs.",
        )
    given = (1.0 - quality,) if values is None else tuple(map(list, values))
    try:
        result = matching.function(*given)
    except (Exception, SystemExit) as error:
        message = f"The matching `{name}` raised {type(error).__name__}: {error}"
        raise FunctionError.of(f"{message}, for lists of {shape[0]} and {shape[1]} items") from error
    rows, columns = _positions(name, result)
    for side, positions, size in (("gold", rows, shape[0]), ("predicted", columns, shape[1])):
        wrong = positions[(positions < 0) | (positions >= size)]
        if len(wrong):
            raise _wrong(name, f"positions of {side} items from 0 to {size - 1}", str(wrong[0]))
        if len(np.unique(positions)) < len(positions):
            raise _wrong(name, f"each {side} position at most once", str(positions.tolist()))
    return Coupling.of(rows, columns, shape)


def _positions(name: str, result: Any) -> tuple[Indices, Indices]:  # noqa: ANN401  (the result of a custom function)
    """Return the gold and the predicted positions of the pairs. Raises FunctionError."""
    expected = "pairs of positions, two arrays of positions, or a Coupling"
    if isinstance(result, Coupling):
        if not (result.mass == 1.0).all():
            raise _wrong(name, "a Coupling with masses of 1", "other masses")
        return result.gold, result.predicted
    two_arrays = isinstance(result, tuple) and len(result) == 2  # noqa: PLR2004  (gold and predicted)
    try:
        table: npt.NDArray[Any] = np.asarray(result)
    except (TypeError, ValueError) as error:
        raise _wrong(name, expected, shown(repr(result))) from error
    fits = table.ndim == 2 and table.shape[0 if two_arrays else 1] == 2  # noqa: PLR2004
    if table.size and not (fits and table.dtype.kind in "iu"):
        raise _wrong(name, expected, shown(repr(result)))
    table = table.astype(np.intp)
    rows, columns = table.reshape(2, -1) if two_arrays else table.reshape(-1, 2).T
    return rows, columns


def _wrong(name: str, expected: str, got: str) -> FunctionError:
    return FunctionError.of(f"Expected the matching `{name}` to return {expected}, got {got}")
