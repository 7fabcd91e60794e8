"""A possible cause, as a detector proposes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

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
