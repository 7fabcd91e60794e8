"""Whether the distance that a schema defines between documents is a metric, and where it is not, why.

Follows from the declared facts of the leaf distances and the kinds of the nodes, never from data: leaves that are
metrics, objects under the union mean and lists under a matching that preserves metrics make a metric, by induction.
It speaks of canonical values: normalised, and without what counts as absent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from arbitre.paths import wildcard
from arbitre.schema.describe import walk
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.matching import Matcher
    from arbitre.schema.nodes import Leaf, Site

METRIC: Final = "metric"
PSEUDOMETRIC: Final = "pseudo-metric"
NEITHER: Final = "not a metric"


@dataclass(frozen=True, slots=True)
class Break:
    """A node that costs the property, why it does, and the nearest choice that keeps it."""

    path: str
    reason: str
    remedy: str
    triangle: bool
    """Whether symmetry or the triangle inequality is lost; else only that different values are apart."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is known of the distance between two documents, 1 - quality, for all documents."""

    breaks: tuple[Break, ...] = ()

    @property
    def verdict(self) -> str:
        """One of "metric", "pseudo-metric" (different documents may be at distance 0) and "not a metric"."""
        if any(found.triangle for found in self.breaks):
            return NEITHER
        return PSEUDOMETRIC if self.breaks else METRIC


def certify(sites: Sequence[Site]) -> Certificate:
    """The certificate of a plan."""
    found: dict[Break, None] = {}
    for path, index, _, note in walk(sites):
        if not note:
            found |= dict.fromkeys(_breaks(sites[index], wildcard(path)))
    return Certificate(tuple(found))


def _breaks(site: Site, path: str) -> Iterator[Break]:
    for leaf in leaves_of(site):
        facts, name = leaf.distance.facts, leaf.distance.name
        if not facts.identity:
            yield Break(path, f"{name} is not 0 for some equal values", _nearest(leaf), triangle=True)
        elif not facts.symmetric:
            yield Break(path, f"{name} is not symmetric", _nearest(leaf), triangle=True)
        elif not facts.triangle:
            yield Break(path, f"{name} breaks the triangle inequality", _nearest(leaf), triangle=True)
        elif not facts.separating and name != "date":  # days and instants are apart, however they are written
            yield Break(path, f"{name} is 0 for some different values", _nearest(leaf), triangle=False)
    if site.leaf is None and Kind.ARRAY in site.declared:
        yield from _broken_list(site.list.matcher, path)


def _broken_list(matcher: Matcher, path: str) -> Iterator[Break]:
    name, remedy = matcher.name, "hungarian without a gate"
    if matcher.options.get("gate") is not None:
        name += f" with gate {matcher.options['gate']}"
    if matcher.transport is not None:
        name += f" with the solver {matcher.options['solver']}"
    if not matcher.metric:
        nearest = "the exact solver (a pseudo-metric), or hungarian" if matcher.transport is not None else remedy
        yield Break(path, f"{name} does not preserve metrics", nearest, triangle=True)
    elif not matcher.separating:
        yield Break(path, f"{name} is 0 for some different lists, such as [a] and [a, a]", remedy, triangle=False)


def leaves_of(site: Site) -> list[Leaf]:
    """The distinct leaves of the kinds that a site declares; those of undeclared kinds are metrics."""
    if site.leaf is not None:
        return [site.leaf]
    found: list[Leaf] = []
    for kind in sorted(site.declared):
        for choice in site.scalars.get(kind, ()):
            if choice.leaf not in found:
                found.append(choice.leaf)
    return found


def _nearest(leaf: Leaf) -> str:
    if leaf.distance.name in _NEAREST:
        return _NEAREST[leaf.distance.name]
    return {Kind.STRING: "yujian-bo", Kind.NUMBER: "relative"}.get(min(leaf.distance.kinds), "exact")


_NEAREST: Final = {
    "osa": "yujian-bo",
    "indel": "indel-yujian-bo",
    "dice": "jaccard",
    "tolerance": "rounded, or absolute",
    "rounded": "absolute",
    "cycle": "exact",
    "jaccard-ngrams": "yujian-bo",
    "table": "costs that obey the triangle inequality and are above 0 between different values",
    "jaccard": "exact, or the items matched by set",
}
"""The nearest distance that keeps the property, where it is not that of the kind."""
