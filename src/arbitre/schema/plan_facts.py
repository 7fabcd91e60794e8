"""What the engine may take for granted at a site: it follows from the plan alone, never from the documents."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arbitre.schema.reach import Licence, with_declared_above

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.schema.nodes import Site
    from arbitre.schema.reach import Reach


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """Sets of sites.

    * `match_equal_first`: equal items here may be matched first. For any JSON values the distance is a pseudo-metric
      that is 0 for equal canonical values, so by the triangle inequality two equal items can always be partners in an
      optimal matching.
    * `is_multiset`: values of the declared kinds are equal or not, so an optimal matching is a count. The engine checks
      each value for it: others may occur.
    * `has_informative_lists`: there are declared lists in here whose items tell more than their number. Only speed
      depends on it.
    * `expensive_above`: there are declared values in here that are expensive to compare, from so many pairs on. Only
      speed depends on it.
    """

    match_equal_first: frozenset[int]
    is_multiset: frozenset[int]
    has_informative_lists: frozenset[int]
    expensive_above: Mapping[int, float]

    @classmethod
    def of(cls, sites: Sequence[Site], reached: Sequence[Reach]) -> PlanFacts:
        """The shortcuts that the compiled sites allow; `reached` says what the values at each of them reach."""
        both = list(zip(sites, reached, strict=True))
        countable = frozenset(index for index, (site, reach) in enumerate(both) if _countable(site, reach))
        telling = [
            index
            for index, (site, reach) in enumerate(both)
            if site.declared and reach.lists and site.list.items not in countable
        ]
        return cls(
            match_equal_first=Licence.of(sites, reached).pseudometric,
            is_multiset=countable,
            has_informative_lists=with_declared_above(sites, telling),
            expensive_above=_dear(sites, reached),
        )


def _dear(sites: Sequence[Site], reached: Sequence[Reach]) -> dict[int, float]:
    """From how many pairs on the values in each site are dear; nothing of the others."""
    own = [
        min((leaf.distance.expensive_above for leaf in reach.leaves), default=math.inf) if site.declared else math.inf
        for site, reach in zip(sites, reached, strict=True)
    ]
    found: dict[int, float] = {}
    for least in sorted(set(own) - {math.inf}, reverse=True):
        wanted = (index for index, dear in enumerate(own) if dear <= least)
        found |= dict.fromkeys(with_declared_above(sites, wanted), least)
    return found


def _countable(site: Site, reach: Reach) -> bool:
    if site.leaf is None and not all(kind.scalar for kind in site.declared):
        return False
    return bool(site.declared) and all(leaf.distance.name == "exact" for leaf in reach.leaves)
