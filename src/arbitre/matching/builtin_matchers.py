"""The built-in matchings by name, with their options."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from arbitre.catalogue import Catalogue, Factory
from arbitre.errors import Problem, SchemaError
from arbitre.matching.assignment import greedy, hungarian, keyed, ordered, sequence
from arbitre.matching.transport_options import SOLVERS, MarginalPenalty, MassScheme, SolverOptions, TransportOptions
from arbitre.paths import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    settings = defaults | given
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
            "One-to-one matching with the greatest sum of qualities (the default).",
            _GATE,
            source="Kuhn, 1955",
        ),
        "greedy": Factory(
            _greedy, "Matches each gold item, in order, to the best predicted item that is still free.", _GATE
        ),
        "ordered": Factory(
            lambda options: Matcher("ordered", ordered, Candidates.DIAGONAL, in_order=True, options=options),
            "Matches items at the same position.",
        ),
        "sequence": Factory(
            lambda options: Matcher("sequence", sequence, metric=False, in_order=True, options=options),
            "Order-preserving alignment with the greatest sum of qualities.",
            source="Needleman and Wunsch, 1970",
        ),
        "keyed": Factory(
            _keyed, "Matches items with the same value in one or more key fields.", _KEY, required=("key",)
        ),
        "set": Factory(
            lambda options: Matcher("set", keyed, Candidates.SAME_VALUE, options=options),
            "Matches equal items and ignores duplicates: intersection / union.",
        ),
        "transport": Factory(
            _transport,
            "Optimal transport: items can be split, merged or left out, depending on the solver.",
            _TRANSPORT,
            source="Kantorovich, 1942",
        ),
    },
)
"""The built-in matchings."""
