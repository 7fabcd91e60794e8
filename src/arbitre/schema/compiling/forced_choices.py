"""Overrides of the matching and the distance of a whole schema, to measure the effect of these choices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arbitre.distances.floor import with_floor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.distances import Distance
    from arbitre.matching import Matcher
    from arbitre.schema.nodes import Leaf, Site


@dataclass(frozen=True, slots=True)
class Overrides:
    """A matching and a distance that replace those of the schema.

    Attributes:
        matcher: Matching for every list that is compared item by item.
        distance: Distance for every leaf whose own distance supports the same kinds of values. Leaves with `exact`
            (enums, constants, booleans, integers) keep it.

    Normalisers, floors, weights and all other options are unchanged.
    """

    matcher: Matcher | None = None
    distance: Distance | None = None

    def apply(self, sites: Sequence[Site]) -> list[Site]:
        """Return the sites with the overrides applied."""
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
        return replace(leaf, distance=with_floor(distance, leaf.distance.options.get("floor")), metric_if=None)
