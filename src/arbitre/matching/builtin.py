"""The matchings by name, and what each needs to know of a list."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from arbitre.catalogue import Catalogue, Factory
from arbitre.errors import Problem, SchemaError
from arbitre.matching.assignment import greedy, hungarian, keyed, ordered
from arbitre.matching.sequence import sequence
from arbitre.matching.transport_options import SOLVERS, MarginalPenalty, MassScheme, SolverOptions, TransportOptions
from arbitre.paths import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.arrays import Floats, Mask
    from arbitre.matching.coupling import Coupling


class Candidates(enum.Enum):
    """Which pairs of items a matching may make at all: only their qualities are computed."""

    ALL = "all"
    DIAGONAL = "same position"
    SAME_KEY = "same key"
    SAME_VALUE = "same value"


class CouplingFunction(Protocol):
    """How the pairs are made."""

    def __call__(self, quality: Floats, allowed: Mask | None = None) -> Coupling:
        """The coupling for qualities of shape (n, m); pairs outside `allowed` (same shape) are never made."""
        ...


@dataclass(frozen=True, slots=True)
class Matcher:
    """A way to match two lists, with its options settled.

    * `key`: the tokens of the key fields below an item, each named or given as a pointer such as "/person/id".
    * `full_matching`: with every pair allowed the matching is the optimal one with min(n, m) pairs (closed forms then
      hold).
    * `metric`: the list distance is a metric when the distance of the items is one, though a pseudo-metric only unless
      it is `separating`, which is that different lists are never at 0.
    * `identity`: equal lists are at 0 when equal items are, whatever else holds of the items.
    * `in_order`: the order of the items counts.
    * `transport`: how mass moves where that is the matching.
    """

    name: str
    couple: CouplingFunction = field(compare=False)
    candidates: Candidates = Candidates.ALL
    key: tuple[tuple[str, ...], ...] = ()
    full_matching: bool = False
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
    gate = options.get("gate")  # a gate of 0 forbids nothing
    return Matcher(
        "hungarian",
        partial(hungarian, gate=gate) if gate else hungarian,
        full_matching=not gate,
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
    """The tokens of a field below an item, which is named or given as a pointer."""
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
"""The options that have no default here take that of the solver, if it has them."""


def _transport(options: Mapping[str, Any]) -> Matcher:
    name, masses = options["solver"], options["masses"]
    known = _settings(SOLVERS[name])
    given = {option: value for option, value in options.items() if option not in {"solver", "masses"}}
    if foreign := sorted(given.keys() - known.keys()):
        raise SchemaError(*(_foreign(option, name, given[option]) for option in foreign))
    settled = known | given
    settled["max_iterations"] = int(settled["max_iterations"])  # JSON Schema counts 1e6 among the integers
    values = {"lambda_" if option == "lambda" else option: value for option, value in settled.items()}
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
        options={"solver": name, "masses": masses} | settled,
    )


def _settings(solver: type[SolverOptions]) -> dict[str, Any]:
    """The options of a solver by the names that a schema gives them, with their defaults."""
    defaults = {one.name.rstrip("_"): one.default for one in fields(solver)}
    return {option: str(value) if isinstance(value, MarginalPenalty) else value for option, value in defaults.items()}


def _foreign(option: str, solver: str, value: Any) -> Problem:  # noqa: ANN401  (any JSON value)
    takers = [name for name, other in SOLVERS.items() if option in _settings(other)]
    return Problem(
        f"Expected `{option}` to be absent with the solver {solver}, got {value}",
        pointer=f"/transport/{option}",
        hint=f"It is an option of the solver {' or '.join(takers)}.",
    )


def _transported(quality: Floats, allowed: Mask | None = None, *, how: TransportOptions) -> Coupling:
    from arbitre.matching.transport import transport  # noqa: PLC0415  (it needs the settings above)

    return transport(quality, allowed, how=how)


catalogue: Final[Catalogue[Matcher]] = Catalogue(
    "match",
    {
        "hungarian": Factory(
            _hungarian, "One to one, the greatest sum of qualities (the default).", _GATE, source="Kuhn, 1955"
        ),
        "greedy": Factory(_greedy, "In gold order, the nearest prediction still free.", _GATE),
        "ordered": Factory(
            lambda options: Matcher("ordered", ordered, Candidates.DIAGONAL, in_order=True, options=options),
            "By position.",
        ),
        "sequence": Factory(
            lambda options: Matcher("sequence", sequence, metric=False, in_order=True, options=options),
            "Keeps the order of both lists, the greatest sum of qualities.",
            source="Needleman and Wunsch, 1970",
        ),
        "keyed": Factory(_keyed, "By a key field, or several.", _KEY, required=("key",)),
        "set": Factory(
            lambda options: Matcher("set", keyed, Candidates.SAME_VALUE, options=options),
            "Equal items, each counted once: intersection over union.",
        ),
        "transport": Factory(
            _transport,
            "By moving mass at the least cost: items may be split, merged, or left out, as the solver has it.",
            _TRANSPORT,
            source="Kantorovich, 1942",
        ),
    },
)
"""Every matching that a schema may name."""
