"""What the engine may take for granted at a site: it follows from the plan alone, never from the documents."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arbitre.schema.certificate import leaves_of
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.schema.nodes import Site


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """Sets of sites.

    * `peelable`: equal items here may be matched first. The distance is a pseudo-metric that is 0 for equal canonical
      values, so by the triangle inequality two equal items can always be partners in an optimal matching.
    * `countable`: values here are equal or not, so an optimal matching is a count.
    * `deep`: there are lists in here whose items tell more than their number.
    * `dear`: there are values in here that are dear to compare, from so many pairs on.
    """

    peelable: frozenset[int]
    countable: frozenset[int]
    deep: frozenset[int]
    dear: Mapping[int, float]

    @classmethod
    def of(cls, sites: Sequence[Site]) -> Shortcuts:
        countable = frozenset(index for index, site in enumerate(sites) if _countable(site))
        telling = {index for index, site in enumerate(sites) if _is_list(site) and site.list.items not in countable}
        return cls(_peelable(sites), countable, _with_any(telling, sites), _dear(sites))


def _dear(sites: Sequence[Site]) -> dict[int, float]:
    """From how many pairs on the values in each site are dear; nothing of the others."""
    own = [min((leaf.distance.dear for leaf in leaves_of(site)), default=math.inf) for site in sites]
    found: dict[int, float] = {}
    for least in sorted(set(own) - {math.inf}, reverse=True):
        found |= dict.fromkeys(_with_any({index for index, dear in enumerate(own) if dear <= least}, sites), least)
    return found


def _countable(site: Site) -> bool:
    if site.leaf is None and not all(kind.scalar for kind in site.declared):
        return False
    return bool(site.declared) and all(leaf.distance.name == "exact" for leaf in leaves_of(site))


def _peelable(sites: Sequence[Site]) -> frozenset[int]:
    """The greatest set of sites that are good themselves and have good sites below only."""
    good = {index for index, site in enumerate(sites) if _pseudometric(site)}
    while True:
        lost = {index for index in good if not all(child in good for child in _children(sites[index]))}
        if not lost:
            return frozenset(good)
        good -= lost


def _pseudometric(site: Site) -> bool:
    """Whether nothing is lost at the site itself; keyed lists hold items that match nothing, not even their equal."""
    lists = site.list
    return all(leaf.distance.facts.pseudometric for leaf in leaves_of(site)) and lists.metric and not lists.matcher.key


def _with_any(wanted: set[int], sites: Sequence[Site]) -> frozenset[int]:
    """The least set: the sites that are wanted themselves, and those with such a site below."""
    found = set(wanted)
    while True:
        more = {
            index
            for index, site in enumerate(sites)
            if index not in found and site.declared and any(child in found for child in _children(site))
        }
        if not more:
            return frozenset(found)
        found |= more


def _is_list(site: Site) -> bool:
    return site.leaf is None and Kind.ARRAY in site.declared


def _children(site: Site) -> Iterator[int]:
    if site.leaf is None:
        yield from (child.site for child in site.object.fields)
        yield from (child for _, child in site.object.patterns)
        yield site.object.additional
        yield from (site.list.items, *site.list.prefix)
