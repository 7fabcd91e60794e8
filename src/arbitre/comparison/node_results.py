"""Results for single nodes: the matching of a list, and tallies and verdicts of nodes and leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arbitre.arrays import exact_dot
from arbitre.comparison import html_repr as html
from arbitre.errors import DataError
from arbitre.matching import Coupling
from arbitre.matching.assignment import hungarian
from arbitre.tally import Scores, Tally
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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


@dataclass(frozen=True)
class Alignment:
    """The matching of one pair of lists of n gold and m predicted items. Items are identified by position.

    Attributes:
        pairs: The matched pairs.
        missing: Positions of gold items without a partner.
        spurious: Positions of predicted items without a partner.
        sizes: Number of items in the gold list and in the predicted list, (n, m).
        unmatched: Unmatched mass by position, for the gold list and for the predicted list.
        compute_costs: Computes `costs`; None if the comparison was read from JSON.
    """

    pairs: tuple[Match, ...]
    missing: tuple[int, ...]
    spurious: tuple[int, ...]
    sizes: tuple[int, int] = field(compare=False, repr=False)
    unmatched: tuple[Mapping[int, float], Mapping[int, float]] = field(compare=False, repr=False)
    compute_costs: Callable[[], Floats] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def costs(self) -> Floats:
        """Distance of each gold item from each predicted item, in [0, 1]; shape (n, m).

        All distances are computed on first access, whether or not the matching needed them. The distance is NaN if two
        items cannot be compared: null items that count as absent, and items at different positions of `prefixItems`.

        Raises:
            DataError: The comparison was read from JSON.
        """
        if self.compute_costs is None:
            raise DataError.of(
                "The distances between items are not available",
                hint="A comparison that was read from JSON cannot compute distances. Compare the documents again.",
            )
        return self.compute_costs()

    @property
    def plan(self) -> Floats:
        """Mass moved from each gold item to each predicted item; shape (n, m).

        In an assignment, a matched pair has mass 1. In a transport plan, the masses of the gold items sum to n; those
        of the predicted items sum to n if the plan is balanced, else to m.
        """
        return self.coupling.matrix

    @cached_property
    def coupling(self) -> Coupling:
        """The plan with the shares, the effective number of partners and the unmatched mass of each item."""
        met = [pair.gold for pair in self.pairs], [pair.predicted for pair in self.pairs]
        mass = np.array([pair.mass for pair in self.pairs], dtype=np.float64)
        masses = np.zeros(self.sizes[0]), np.zeros(self.sizes[1])
        for totals, positions, unmatched in zip(masses, met, self.unmatched, strict=True):
            np.add.at(totals, positions, mass)
            np.add.at(totals, list(unmatched), list(unmatched.values()))
        return Coupling.of(*met, self.sizes, mass, masses)

    @cached_property
    def w1(self) -> float | None:
        """Wasserstein distance of order 1 between the lists, in [0, 1], whatever the matching.

        All items of a list have the same mass, and each list has mass 1. None if a list is empty or a distance is
        undefined.
        """
        from arbitre.matching.transport import transport  # noqa: PLC0415  (loads POT, which only this needs)
        from arbitre.matching.transport_options import TransportOptions  # noqa: PLC0415

        quality = self._qualities
        if quality is None or 0 in quality.shape:
            return None
        plan = transport(quality, how=TransportOptions())
        return 1.0 - exact_dot(plan.mass, quality[plan.gold, plan.predicted]) / len(quality)

    @cached_property
    def ospa(self) -> float | None:
        """OSPA distance of order 1 with cut-off 1 between the lists, in [0, 1], whatever the matching.

        It is the cost of the optimal assignment, in which an item without partner costs 1, divided by the size of the
        longer list (Schuhmacher et al., 2008). None if a distance is undefined. Where both exist, w1 <= ospa; the
        difference is the cost of the different lengths.
        """
        quality = self._qualities
        if quality is None:
            return None
        matched = hungarian(quality)
        longer = max(quality.shape)
        return 1.0 - exact_dot(matched.mass, quality[matched.gold, matched.predicted]) / longer if longer else 0.0

    @property
    def _qualities(self) -> Floats | None:
        """The qualities of the pairs of present items; None if one is undefined."""
        sides = [{pair[side] for pair in self.pairs} | set(self.unmatched[side]) for side in (0, 1)]
        quality = 1.0 - self.costs[np.ix_(*(sorted(side) for side in sides))]
        return None if np.isnan(quality).any() else quality

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

    `reading` is the accepted reading of gold that the prediction was compared with; ABSENT if gold has only one.
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

    `reading` is the accepted reading of gold that the prediction was compared with; ABSENT if gold has only one.
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
