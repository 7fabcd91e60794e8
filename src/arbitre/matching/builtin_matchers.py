"""The built-in matchings by name, with their options, and `arbitre.match`, which applies one to a cost matrix."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from arbitre.catalogue import Catalogue, Factory
from arbitre.errors import OptionError, Problem, SchemaError
from arbitre.matching.assignment import greedy, hungarian, keyed, ordered, sequence
from arbitre.matching.coupling import QUALITY_TOLERANCE, finite_array
from arbitre.matching.transport_options import SOLVERS, MarginalPenalty, MassScheme, SolverOptions, TransportOptions
from arbitre.paths import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from arbitre.arrays import Floats, Mask
    from arbitre.matching.coupling import Coupling


class Candidates(enum.Enum):
    """Pairs of items that a matching may select. Only their qualities are computed."""

    ALL = "all"
    DIAGONAL = "same position"
    SAME_KEY = "same key"
    SAME_VALUE = "same value"


class CouplingFunction(Protocol):
    """A function that matches two lists."""

    def __call__(self, quality: Floats, allowed: Mask | None = None) -> Coupling:
        """Return the matching for qualities of shape (n, m); only pairs in the mask `allowed` may be matched."""
        ...


@dataclass(frozen=True, slots=True)
class Matcher:
    """A matching method with fixed options.

    Attributes:
        name: Name in schemas.
        couple: The function that matches two lists.
        candidates: Pairs of items that may be matched.
        key: Tokens of each key field below an item.
        full_matching: Whether the matching is optimal and has min(n, m) pairs if all pairs are allowed.
        gate: Minimum quality of a pair of the optimal matching; None for other matchings, and without a minimum.
        metric: Whether the list distance is a pseudo-metric if the item distance is a metric; with `separating`, it is
            a metric.
        separating: Whether different lists always have a distance above 0.
        identity: Whether equal lists have distance 0 for every item distance with d(x, x) = 0.
        in_order: Whether the order of the items matters.
        transport: Options of optimal transport; None for other methods.
        options: Every option with its value.
        custom: Whether it is a custom matching, whose properties are claims of its author.
        of_values: Whether `couple` also takes the items of both lists, as `values`.
    """

    name: str
    couple: CouplingFunction = field(compare=False)
    candidates: Candidates = Candidates.ALL
    key: tuple[tuple[str, ...], ...] = ()
    full_matching: bool = False
    gate: float | None = None
    metric: bool = True
    separating: bool = True
    identity: bool = True
    in_order: bool = False
    transport: TransportOptions | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    custom: bool = False
    of_values: bool = False


_GATE = {"gate": {"type": "number", "minimum": 0, "maximum": 1}}
_KEY = {
    "key": {
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
        ]
    }
}


def _hungarian(options: Mapping[str, Any]) -> Matcher:
    """Return the optimal matching, which may have a gate."""
    gate = options.get("gate")  # a gate of 0 excludes no pair
    return Matcher(
        "hungarian",
        partial(hungarian, gate=gate) if gate else hungarian,
        full_matching=not gate,
        gate=gate or None,
        metric=not gate,
        options=options,
    )


def _greedy(options: Mapping[str, Any]) -> Matcher:
    return Matcher("greedy", partial(greedy, gate=options.get("gate")), metric=False, identity=False, options=options)


def _keyed(options: Mapping[str, Any]) -> Matcher:
    names = [options["key"]] if isinstance(options["key"], str) else options["key"]
    key = tuple(map(_tokens, names))
    return Matcher("keyed", keyed, Candidates.SAME_KEY, key=key, options={"key": list(names)})


def _tokens(field: str) -> tuple[str, ...]:
    """Return the tokens of a field below an item, given by name or as a pointer such as "/person/id"."""
    return tuple(map(str, parse(field))) if field.startswith("/") else (field,)


_POSITIVE = {"type": "number", "exclusiveMinimum": 0}
_TRANSPORT = {
    "solver": {"enum": list(SOLVERS), "default": "exact"},
    "masses": {"type": "string", "minLength": 1, "default": "uniform"},
    "epsilon": _POSITIVE,
    "debiased": {"type": "boolean"},
    "mass": _POSITIVE | {"maximum": 1},
    "penalty": {"enum": list(map(str, MarginalPenalty))},
    "reg_m": _POSITIVE,
    "lambda": _POSITIVE,
    "max_iterations": {"type": "integer", "minimum": 1},
    "tolerance": _POSITIVE,
}
"""JSON Schema of the options; options without a default here have the default of their solver."""


def _transport(options: Mapping[str, Any]) -> Matcher:
    name, masses = options["solver"], options["masses"]
    defaults = _defaults(SOLVERS[name])
    given = {option: value for option, value in options.items() if option not in {"solver", "masses"}}
    if unknown := sorted(given.keys() - defaults.keys()):
        raise SchemaError(*(_unknown_option(option, name, given[option]) for option in unknown))
    settings = defaults | {
        option: float(value) if isinstance(defaults[option], float) else value for option, value in given.items()
    }
    settings["max_iterations"] = int(settings["max_iterations"])  # 1e6 is an integer in JSON Schema
    values = {"lambda_" if option == "lambda" else option: value for option, value in settings.items()}
    if "penalty" in values:
        values["penalty"] = MarginalPenalty(values["penalty"])
    how = TransportOptions(SOLVERS[name](**values), MassScheme(masses) if masses in {*MassScheme} else _tokens(masses))
    return Matcher(
        "transport",
        partial(_transported, how=how),
        metric=name == "exact",
        separating=False,
        identity=name == "exact",
        transport=how,
        options={"solver": name, "masses": masses} | settings,
    )


def _defaults(solver: type[SolverOptions]) -> dict[str, Any]:
    """Return the options of a solver, by their names in schemas, with their default values."""
    defaults = {option.name.rstrip("_"): option.default for option in fields(solver)}
    return {option: str(value) if isinstance(value, MarginalPenalty) else value for option, value in defaults.items()}


def _unknown_option(option: str, solver: str, value: Any) -> Problem:  # noqa: ANN401  (any JSON value)
    solvers = [name for name, other in SOLVERS.items() if option in _defaults(other)]
    return Problem(
        f"Expected `{option}` to be absent with the solver {solver}, got {value}",
        pointer=f"/transport/{option}",
        hint=f"It is an option of the solver {' or '.join(solvers)}.",
    )


def _transported(quality: Floats, allowed: Mask | None = None, *, how: TransportOptions) -> Coupling:
    from arbitre.matching.transport import transport  # noqa: PLC0415  (only this matching needs it)

    return transport(quality, allowed, how=how)


catalogue: Final[Catalogue[Matcher]] = Catalogue(
    "match",
    {
        "hungarian": Factory(
            _hungarian,
            "the one-to-one pairs with the largest sum of qualities (the default); excludes pairs with a quality below "
            "`gate`",
            _GATE,
            source="Kuhn, 1955",
        ),
        "greedy": Factory(
            _greedy,
            "each gold item, in order, with the nearest unmatched predicted item, if the quality of the pair is at "
            "least `gate`; for use as a baseline",
            _GATE,
        ),
        "ordered": Factory(
            lambda options: Matcher("ordered", ordered, Candidates.DIAGONAL, in_order=True, options=options),
            "items at the same position",
        ),
        "sequence": Factory(
            lambda options: Matcher("sequence", sequence, metric=False, in_order=True, options=options),
            "among the pairs that keep the order of both lists, those with the largest sum of qualities",
            source="Needleman and Wunsch, 1970",
        ),
        "keyed": Factory(
            _keyed,
            "items with equal keys. `key` is a field, a pointer such as `/person/id`, or a list of these. Several "
            "items with the same key are matched as with `hungarian`; items without a key remain unmatched",
            _KEY,
            required=("key",),
        ),
        "set": Factory(
            lambda options: Matcher("set", keyed, Candidates.SAME_VALUE, options=options),
            "equal items, each counted once; the quality of the lists is the intersection over union of their items",
        ),
        "transport": Factory(
            _transport,
            "items between which mass is moved at the lowest total cost. An item can have several partners or, "
            "depending on the `solver`, none; see [transport](transport.md)",
            _TRANSPORT,
            source="Kantorovich, 1942",
        ),
    },
)
"""The built-in matchings."""


def match(
    cost: npt.ArrayLike,
    method: str | dict[str, Any] = "hungarian",
    *,
    allowed: npt.ArrayLike | None = None,
    masses: str | tuple[npt.ArrayLike, npt.ArrayLike] = "uniform",
    **options: Any,  # noqa: ANN401  (of the method)
) -> Coupling:
    """Match the rows of a cost matrix with its columns, as arbitre does for the items of two lists.

    Args:
        cost: Costs of all pairs, in [0, 1]; shape (n, m). The quality of a pair is 1 - cost.
        method: Name of the matching: hungarian, greedy, ordered, sequence, keyed, set or transport. To pass its
            options as in a schema, write `{name: {option: value}}`; there are then no keyword options.
        allowed: Mask of the pairs that may be matched; shape (n, m). By default, all. Required for `keyed` and `set`,
            where it marks the pairs with the same key or value. Transport cannot exclude pairs.
        masses: Masses of the rows and of the columns, for transport: "uniform", or arrays of shapes (n,) and (m,), in
            any unit.
        **options: Options of the method as in a schema, such as `gate`, or `solver` and `epsilon`. Write `lambda_` for
            `lambda`.

    Returns:
        The pairs with their masses; missing and unmatched rows and columns.

    Raises:
        OptionError: The costs, the mask or the masses have an unexpected shape or are out of range, or `allowed` is
            required or not possible, or there are options both in `method` and as keywords.
        SchemaError: The method or an option is unknown or invalid.
        SolverError: The transport problem cannot be solved.

    >>> coupling = match([[0.1, 0.9], [0.2, 0.8], [1.0, 0.4]])
    >>> coupling.gold.tolist(), coupling.predicted.tolist(), coupling.missing.tolist()
    ([0, 2], [0, 1], [1])
    >>> match([[0.0], [0.5]], "transport", masses=([3, 1], [1])).matrix.tolist()
    [[1.5], [0.5]]
    """
    table = finite_array(cost, "cost")
    if table.ndim != 2 or not ((table >= -QUALITY_TOLERANCE) & (table <= 1.0 + QUALITY_TOLERANCE)).all():  # noqa: PLR2004
        raise OptionError.of(
            f"Expected `cost` to be a matrix of numbers in [0, 1], got shape {table.shape}"
            + (f" and values from {table.min():g} to {table.max():g}" if table.size else ""),
            hint="Divide the costs by their maximum.",
        )
    method, chosen = _named(method, {name.rstrip("_"): value for name, value in options.items()})
    if method == "keyed":
        chosen.setdefault("key", "key")
    by_name = isinstance(masses, str)
    if not by_name or masses != "uniform":
        if method != "transport":
            raise OptionError.of(f"`masses` is an option of transport, not of {method}")
        chosen["masses"] = masses if by_name else "uniform"
    matcher = catalogue.build({method: chosen} if chosen else method)
    mask = None if allowed is None else finite_array(allowed, "allowed") != 0.0
    if mask is not None and mask.shape != table.shape:
        raise OptionError.of(f"Expected `allowed` to have the shape {table.shape} of `cost`, got {mask.shape}")
    if mask is None and matcher.candidates in {Candidates.SAME_KEY, Candidates.SAME_VALUE}:
        raise OptionError.of(f"{method} requires `allowed`, the pairs with the {matcher.candidates.value}")
    quality = np.clip(1.0 - table, 0.0, 1.0)
    if matcher.transport is None or by_name:
        return matcher.couple(quality, mask)
    from arbitre.matching.transport import transport  # noqa: PLC0415  (only this matching needs it)

    weights = tuple(finite_array(side, "masses") for side in masses)
    shapes = [side.shape for side in weights]
    if shapes != [(size,) for size in table.shape]:
        raise OptionError.of(f"Expected `masses` of shapes {[(size,) for size in table.shape]}, got {shapes}")
    return transport(quality, mask, how=matcher.transport, masses=(weights[0], weights[1]))


def _named(method: str | dict[str, Any], keywords: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of a matching. Raises OptionError if options are given in two ways."""
    if isinstance(method, str):
        return method, keywords
    name = catalogue.build(method).name
    if keywords:
        raise OptionError.of(
            f"Expected the options of {name} in `method` or as keywords, got both",
            hint=f'Write "{name}" as `method`, and all its options as keywords.',
        )
    return name, dict(method[name])
