"""A possible cause, as a detector proposes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from arbitre.causes.sample import Sample

if TYPE_CHECKING:
    from arbitre.causes.changes import Change
    from arbitre.comparison.cause import Side
    from arbitre.values import Json


@dataclass(frozen=True, eq=False, slots=True)
class Proposal:
    """An explanation of some faults, and the change that would repair them.

    Attributes:
        kind: Kind of the cause.
        side: Where the fault probably lies.
        paths: Wildcard paths of the faults.
        faults: Numbers of the faults that it explains, the best examples first.
        change: How to make the change, to find its gain.
        p: Probability of as many such faults by chance, corrected for the number of explanations that the detector
            tried.
        overlay: The change as an overlay for users; None if there is none, or if `change` is an overlay.
        advice: What to do, as one sentence.
        detail: Further figures for users.
    """

    kind: str
    side: Side
    paths: tuple[str, ...]
    faults: tuple[int, ...]
    change: Change
    p: float
    overlay: Mapping[str, Json] | None = None
    advice: str = ""
    detail: Mapping[str, Json] = field(default_factory=dict)


Detector: TypeAlias = Callable[[Sample], Iterator[Proposal]]
"""Yields the possible causes of a kind in a sample."""


MAX_NAMED: Final = 3
"""Maximum number of values in a sentence."""


def enumerated(words: Iterable[str]) -> str:
    """Return words as in a sentence.

    >>> enumerated(["a"]), enumerated(["a", "b"]), enumerated("abcde")
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    several = list(words)
    if len(several) > MAX_NAMED:
        several[MAX_NAMED:] = [f"{len(several) - MAX_NAMED} more"]
    return " and ".join(filter(None, (", ".join(several[:-1]), several[-1])))
