"""Another matching or another distance than the schema says, for all of it: to see what the choice costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.distances import Distance
    from arbitre.matching import Matcher
    from arbitre.schema.nodes import Leaf, Site


@dataclass(frozen=True, slots=True)
class Overrides:
    """What is put in place of what the schema says.

    `matcher` matches every array that is compared item by item. `distance` measures every leaf whose own distance is
    made for values of the same kinds, except those that are equal or not (`exact`: enumerations, constants, booleans,
    integers). Normalisers, weights and all else stay.
    """

    matcher: Matcher | None = None
    distance: Distance | None = None

    def apply(self, sites: Sequence[Site]) -> list[Site]:
        """The sites with these choices."""
        return [self._site(site) for site in sites]

    def _site(self, site: Site) -> Site:
        if self.matcher is not None:
            site = replace(site, list=replace(site.list, matcher=self.matcher))
        if self.distance is None:
            return site
        scalars = {
            kind: tuple(replace(choice, leaf=self._leaf(choice.leaf)) for choice in choices)
            for kind, choices in site.scalars.items()
        }
        return replace(site, scalars=scalars, leaf=None if site.leaf is None else self._leaf(site.leaf))

    def _leaf(self, leaf: Leaf) -> Leaf:
        distance = self.distance
        if distance is None or leaf.distance.name == "exact" or not leaf.distance.kinds <= distance.kinds:
            return leaf
        return replace(leaf, distance=distance, metric_if=None)
