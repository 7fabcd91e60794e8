"""What a comparison says of one node: matches of a list, tallies and verdicts of nodes and leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arbitre.matching import Coupling
from arbitre.tally import Scores, Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.arrays import Floats
    from arbitre.values import Json


class Match(NamedTuple):
    """A matched pair of items: their positions in the two lists, its mass, and its quality in [0, 1].

    The mass is 1 where lists are matched one to one; where mass is moved between them, an item has several partners.
    """

    gold: int
    predicted: int
    mass: float
    quality: float


@dataclass(frozen=True, slots=True)
class Alignment:
    """Who is matched to whom in one pair of lists, by position in the documents.

    `missing` and `spurious` are the items that have no partner at all, `sizes` how many items the two lists hold, and
    `unmatched` the mass of every item, by position in gold and in the prediction, that is left over.
    """

    pairs: tuple[Match, ...]
    missing: tuple[int, ...]
    spurious: tuple[int, ...]
    sizes: tuple[int, int] = field(compare=False, repr=False)
    unmatched: tuple[Mapping[int, float], Mapping[int, float]] = field(compare=False, repr=False)

    @property
    def plan(self) -> Coupling:
        """The same as masses: the shares of every item, its effective number of partners, what is left over of it."""
        met = [pair.gold for pair in self.pairs], [pair.predicted for pair in self.pairs]
        mass = np.array([pair.mass for pair in self.pairs], dtype=np.float64)
        masses = np.zeros(self.sizes[0]), np.zeros(self.sizes[1])
        for own, positions, spare in zip(masses, met, self.unmatched, strict=True):
            np.add.at(own, positions, mass)
            np.add.at(own, list(spare), list(spare.values()))
        return Coupling.of(*met, self.sizes, mass, masses)

    @property
    def coupling(self) -> Floats:
        """The masses, shape (n_gold, n_predicted): how much of a gold item goes to a predicted one."""
        return self.plan.matrix


@dataclass(frozen=True, slots=True)
class Node:
    """One compared node. `gold` and `predicted` are its values (ABSENT on the side where it is missing)."""

    path: str
    pointer: str | None
    predicted_pointer: str | None
    tally: Tally
    quality: float
    verdict: str
    gold: Json
    predicted: Json

    @property
    def scores(self) -> Scores:
        return Scores(self.tally)


@dataclass(frozen=True, slots=True)
class LeafVerdict:
    """One leaf of the explanation: the sum of `share` x `quality` over all leaves is the quality of the root."""

    path: str
    pointer: str | None
    predicted_pointer: str | None
    gold: Json
    predicted: Json
    quality: float
    verdict: str
    share: float
