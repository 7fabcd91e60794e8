"""The matchings by name, and what each needs to know of a list."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from arbitre.catalogue import Catalogue, Entry
from arbitre.matching.assignment import greedy, hungarian, keyed, ordered
from arbitre.matching.sequence import sequence
from arbitre.paths import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.matching.coupling import Coupling, Floats, Mask


class Candidates(enum.Enum):
    """Which pairs of items a matching may make at all: only their qualities are computed."""

    ALL = "all"
    DIAGONAL = "same position"
    SAME_KEY = "same key"
    SAME_VALUE = "same value"


class Couple(Protocol):
    """How the pairs are made."""

    def __call__(self, quality: Floats, allowed: Mask | None = None) -> Coupling:
        """The coupling for qualities of shape (n, m); pairs outside `allowed` (same shape) are never made."""
        ...


@dataclass(frozen=True, slots=True)
class Matcher:
    """A way to match two lists, with its options settled.

    `key` are the tokens of the key fields below an item, each named or given as a pointer such as "/person/id";
    `forced` says that with every pair allowed the matching is the optimal one with min(n, m) pairs (closed forms then
    hold); `metric` that the list distance is a metric when the distance of the items is one; `in_order` that the order
    of the items counts.
    """

    name: str
    couple: Couple = field(compare=False)
    candidates: Candidates = Candidates.ALL
    key: tuple[tuple[str, ...], ...] = ()
    forced: bool = False
    metric: bool = True
    in_order: bool = False
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
    gate = options.get("gate")
    return Matcher(
        "hungarian",
        partial(hungarian, gate=gate) if gate is not None else hungarian,
        forced=gate is None,
        metric=gate is None,
        options=options,
    )


def _greedy(options: Mapping[str, Any]) -> Matcher:
    return Matcher("greedy", partial(greedy, gate=options.get("gate")), metric=False, options=options)


def _keyed(options: Mapping[str, Any]) -> Matcher:
    names = [options["key"]] if isinstance(options["key"], str) else options["key"]
    key = tuple(tuple(map(str, parse(name))) if name.startswith("/") else (name,) for name in names)
    return Matcher("keyed", keyed, Candidates.SAME_KEY, key=key, options={"key": list(names)})


catalogue: Final[Catalogue[Matcher]] = Catalogue(
    "match",
    {
        "hungarian": Entry(
            _hungarian, "One to one, the greatest sum of qualities (the default).", _GATE, source="Kuhn, 1955"
        ),
        "greedy": Entry(_greedy, "In gold order, the nearest prediction still free.", _GATE),
        "ordered": Entry(
            lambda options: Matcher("ordered", ordered, Candidates.DIAGONAL, in_order=True, options=options),
            "By position.",
        ),
        "sequence": Entry(
            lambda options: Matcher("sequence", sequence, metric=False, in_order=True, options=options),
            "Keeps the order of both lists, the greatest sum of qualities.",
            source="Needleman and Wunsch, 1970",
        ),
        "keyed": Entry(_keyed, "By a key field, or several.", _KEY, required=("key",)),
        "set": Entry(
            lambda options: Matcher("set", keyed, Candidates.SAME_VALUE, options=options),
            "Equal items, each counted once: intersection over union.",
        ),
    },
)
"""Every matching that a schema may name."""
