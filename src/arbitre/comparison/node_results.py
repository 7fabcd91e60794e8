"""Results for single nodes: the matching of a list, and tallies and verdicts of nodes and leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arbitre.comparison import html_repr as html
from arbitre.matching import Coupling
from arbitre.tally import Scores, Tally
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.arrays import Floats
    from arbitre.values import Json


class Match(NamedTuple):
    """A matched pair of items: their positions in the two lists, and the mass and quality (in [0, 1]) of the pair.

    The mass is 1 in an assignment. In a transport plan, an item may have several partners.
    """

    gold: int
    predicted: int
    mass: float
    quality: float


@dataclass(frozen=True, slots=True)
class Alignment:
    """The matching of one pair of lists. Items are identified by position.

    Attributes:
        pairs: The matched pairs.
        missing: Positions of gold items without a partner.
        spurious: Positions of predicted items without a partner.
        sizes: Number of items in the gold list and in the predicted list.
        unmatched: Unmatched mass by position, for the gold list and for the predicted list.
    """

    pairs: tuple[Match, ...]
    missing: tuple[int, ...]
    spurious: tuple[int, ...]
    sizes: tuple[int, int] = field(compare=False, repr=False)
    unmatched: tuple[Mapping[int, float], Mapping[int, float]] = field(compare=False, repr=False)

    @property
    def plan(self) -> Coupling:
        """The matching as a transport plan: shares, effective number of partners and unmatched mass of each item."""
        met = [pair.gold for pair in self.pairs], [pair.predicted for pair in self.pairs]
        mass = np.array([pair.mass for pair in self.pairs], dtype=np.float64)
        masses = np.zeros(self.sizes[0]), np.zeros(self.sizes[1])
        for totals, positions, unmatched in zip(masses, met, self.unmatched, strict=True):
            np.add.at(totals, positions, mass)
            np.add.at(totals, list(unmatched), list(unmatched.values()))
        return Coupling.of(*met, self.sizes, mass, masses)

    @property
    def coupling(self) -> Floats:
        """Matched mass of each gold item and predicted item; shape (n_gold, n_predicted)."""
        return self.plan.matrix

    def _repr_html_(self) -> str:
        counts = f"{len(self.pairs)} matched, {len(self.missing)} missing, {len(self.spurious)} spurious"
        rows = [(str(pair.gold), str(pair.predicted), pair.mass, pair.quality) for pair in self.pairs[: html.PATHS]]
        cut = f"The picture shows the first {html.ITEMS} items."
        return html.page(
            html.line(counts, strong=True),
            html.line("Gold on the left, predicted on the right. Darker lines: equal; orange: below 0.8."),
            html.matching(self.pairs, (self.missing, self.spurious), self.sizes),
            *([html.line(cut)] if max(self.sizes) > html.ITEMS else []),
            html.folded("Pairs", html.table(("gold", "predicted", "mass", "quality"), rows)),
        )


@dataclass(frozen=True, slots=True)
class Node:
    """One compared node. `gold` and `predicted` are its values (ABSENT if the side has none).

    `reading` is the accepted reading of gold that the prediction was judged by; ABSENT if gold has no choice.
    """

    path: str
    pointer: str | None
    predicted_pointer: str | None
    tally: Tally
    quality: float
    verdict: str
    gold: Json
    predicted: Json
    reading: Json = ABSENT

    @property
    def scores(self) -> Scores:
        return Scores(self.tally)


@dataclass(frozen=True, slots=True)
class LeafVerdict:
    """One leaf of an explanation. The sum of `share` x `quality` over all leaves is the quality of the root.

    `reading` is the accepted reading of gold that the prediction was judged by; ABSENT if gold has no choice.
    """

    path: str
    pointer: str | None
    predicted_pointer: str | None
    gold: Json
    predicted: Json
    quality: float
    verdict: str
    share: float
    reading: Json = ABSENT
