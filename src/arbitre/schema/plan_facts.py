"""Properties of sites that allow a faster computation: derived from the plan alone, never from documents."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arbitre.schema.reach import ProvenProperties, with_declared_above

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.schema.nodes import Site
    from arbitre.schema.reach import Reach


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """Properties of sites that the engine relies on.

    Attributes:
        match_equal_first: Sites where equal items may be matched first. The distance is a pseudo-metric that is 0 for
            equal canonical values, so by the triangle inequality an optimal matching exists that pairs equal items.
        is_multiset: Sites whose declared values are either equal or not, so that matching them is counting. The engine
            still checks each value, as other kinds may occur.
        has_informative_lists: Sites with declared lists whose items carry more information than their count. Affects
            only speed.
        expensive_above: Pair count above which comparing the declared values of a site is expensive. Affects only
            speed.
    """

    match_equal_first: frozenset[int]
    is_multiset: frozenset[int]
    has_informative_lists: frozenset[int]
    expensive_above: Mapping[int, float]

    @classmethod
    def of(cls, sites: Sequence[Site], reached: Sequence[Reach]) -> PlanFacts:
        """Return the facts of compiled sites; `reached` holds the reach of each site."""
        both = list(zip(sites, reached, strict=True))
        countable = frozenset(index for index, (site, reach) in enumerate(both) if _countable(site, reach))
        informative = [
            index
            for index, (site, reach) in enumerate(both)
            if site.declared and reach.lists and site.list.items not in countable
        ]
        return cls(
            match_equal_first=ProvenProperties.of(sites, reached).pseudometric,
            is_multiset=countable,
            has_informative_lists=with_declared_above(sites, informative),
            expensive_above=_expensive_above(sites, reached),
        )


def _expensive_above(sites: Sequence[Site], reached: Sequence[Reach]) -> dict[int, float]:
    """Return, by site, the pair count above which comparing its values is expensive; other sites are left out."""
    own_thresholds = [
        min((leaf.distance.expensive_above for leaf in reach.leaves), default=math.inf) if site.declared else math.inf
        for site, reach in zip(sites, reached, strict=True)
    ]
    thresholds: dict[int, float] = {}
    for threshold in sorted(set(own_thresholds) - {math.inf}, reverse=True):
        cheaper = (index for index, pairs in enumerate(own_thresholds) if pairs <= threshold)
        thresholds |= dict.fromkeys(with_declared_above(sites, cheaper), threshold)
    return thresholds


def _countable(site: Site, reach: Reach) -> bool:
    if site.leaf is None and not all(kind.scalar for kind in site.declared):
        return False
    return bool(site.declared) and all(
        leaf.distance.name == "exact" and leaf.alternatives is None for leaf in reach.leaves
    )
