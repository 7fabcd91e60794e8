"""The four schemes of SemEval-2013, as schemas of lists of spans."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, get_args

from arbitre.comparator import Comparator
from arbitre.errors import OptionError, did_you_mean
from arbitre.options import Scheme

if TYPE_CHECKING:
    from arbitre.values import Json


SCHEMES: Final = get_args(Scheme)

_DISTANCES: Final[dict[str, Json]] = {
    "strict": "exact",
    "exact": {"span": {"overlap": "equal"}},
    "partial": {"span": {"overlap": "half"}},
    "type": {"span": {"overlap": "any", "label": "label"}},
    "partial in class": {"span": {"overlap": "half", "label": "label"}},
}
IN_CLASS: Final = {"strict": "strict", "exact": "strict", "partial": "partial in class", "type": "type"}
"""For each scheme, the scheme that applies it to entities of the same class only."""

_GATE: Final = 1e-9
"""Minimum quality of a match; entities without overlap stay unmatched."""


def check_scheme(scheme: str) -> None:
    """Raise OptionError if there is no such scheme."""
    if scheme not in SCHEMES:
        raise OptionError.of(
            f"Expected a scheme, got {scheme!r}",
            hint=did_you_mean(scheme, SCHEMES),
        )


@lru_cache
def comparator(scheme: str) -> Comparator:
    """Return the comparator of the entities of a sentence."""
    integer = {"type": "integer", "minimum": 0}
    span = {
        "type": "object",
        "properties": {"start": integer, "end": integer, "label": {"type": "string"}},
        "required": ["start", "end", "label"],
        "x-arbitre": {"distance": _DISTANCES[scheme]},
    }
    return Comparator({"type": "array", "items": span, "x-arbitre": {"match": {"hungarian": {"gate": _GATE}}}})
