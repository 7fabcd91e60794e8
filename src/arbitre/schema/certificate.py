"""Whether the distance that a schema defines between documents is a metric, and where it is not, why.

Follows from the declared facts of the leaf distances and the kinds of the nodes, never from data: leaves that are
metrics, objects under the union mean and lists under a matching that preserves metrics make a metric, by induction.
It speaks of canonical values: normalised, without what counts as absent, and with the items of a list in any order
where that does not count. What is lost on the way is listed too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from arbitre.matching import Candidates
from arbitre.paths import wildcard
from arbitre.schema.describe import walk
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.paths import Path
    from arbitre.schema.nodes import Leaf, List, Site
    from arbitre.values import Absence, Json

METRIC: Final = "metric"
PSEUDOMETRIC: Final = "pseudo-metric"
NEITHER: Final = "not a metric"

_TWICE: Final = ", or more than once"


@dataclass(frozen=True, slots=True)
class Break:
    """A node that costs the property, why it does, and the nearest choice that keeps it."""

    path: str
    reason: str
    remedy: str
    triangle: bool
    """Whether symmetry or the triangle inequality is lost; else only that different values are apart."""
    witness: tuple[Json, ...] | None = field(default=None, compare=False)
    """Values that show it, where some are known: (x,) or (x, y), or (x, y, z) with d(x, z) > d(x, y) + d(y, z)."""


@dataclass(frozen=True, slots=True)
class Identified:
    """Values at a path that differ as they are read and are the same once they are compared, and what makes them so."""

    path: str
    by: str
    values: str


@dataclass(frozen=True, slots=True)
class Assumed:
    """What documents have to keep to at a path, for the verdict to hold of them."""

    path: str
    condition: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is known of the distance between two documents, 1 - quality, for all documents that keep to `assumes`.

    `identifies` lists what is not told apart before anything is measured; the verdict is on what is left.
    """

    breaks: tuple[Break, ...] = ()
    identifies: tuple[Identified, ...] = ()
    assumes: tuple[Assumed, ...] = ()

    @property
    def verdict(self) -> str:
        """One of "metric", "pseudo-metric" (different documents may be at distance 0) and "not a metric"."""
        if any(found.triangle for found in self.breaks):
            return NEITHER
        return PSEUDOMETRIC if self.breaks else METRIC

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON: the verdict, and with its path every break, every identification and every assumption."""
        return {
            "verdict": self.verdict,
            "breaks": [
                {
                    "path": one.path,
                    "reason": one.reason,
                    "remedy": one.remedy,
                    "witness": None if one.witness is None else list(one.witness),
                }
                for one in self.breaks
            ],
            "identifies": [{"path": one.path, "by": one.by, "values": one.values} for one in self.identifies],
            "assumes": [{"path": one.path, "condition": one.condition} for one in self.assumes],
        }


def certify(sites: Sequence[Site]) -> Certificate:
    """The certificate of a plan."""
    breaks, identified, assumed = dict[Break, None](), dict[Identified, None](), dict[Assumed, None]()
    policies: dict[Path, Absence] = {}
    for path, index, _, repeats in walk(sites):
        site, text = sites[index], wildcard(path)
        policies[path] = site.absent
        if repeats is not None:
            continue
        breaks |= dict.fromkeys(_breaks(site, text))
        if not path or site.absent != policies[path[:-1]]:
            identified[Identified(text, "absent", _nothing(site.absent))] = None
        identified |= dict.fromkeys(_identified(site, path))
        assumed |= dict.fromkeys(_assumed(site, text))
    return Certificate(tuple(breaks), tuple(identified), tuple(assumed))


def _nothing(absence: Absence) -> str:
    """What a policy takes for nothing, in words."""
    values = [json.dumps(value) for value in absence.values]
    return f"{', '.join(values)} and what is not there" if values else "nothing: null is a value"


def _identified(site: Site, path: Path) -> Iterator[Identified]:
    text, leaves = wildcard(path), leaves_of(site)
    for normalizer in (*site.normalizers, *chain.from_iterable(leaf.normalizers for leaf in leaves)):
        yield Identified(text, normalizer.name, normalizer.identifies)
    if any(leaf.distance.name == "date" for leaf in leaves):
        yield Identified(text, "date", "the ways to write one instant")
    if _is_list(site) and not site.list.matcher.in_order:
        twice = site.list.matcher.candidates is Candidates.SAME_VALUE
        yield Identified(text, site.list.matcher.name, "lists of the same items in another order" + _TWICE * twice)
    for alias in site.object.aliases:
        sources = " or ".join(wildcard(source) for source in alias.sources)
        yield Identified(wildcard((*path, *alias.target)), "aliases", f"a prediction that holds it under {sources}")
    for name in sorted(site.object.ignored):
        yield Identified(wildcard((*path, name)), "ignore", "all values, and none")


def _assumed(site: Site, path: str) -> Iterator[Assumed]:
    if _is_list(site) and site.list.matcher.key:
        key = " and ".join(wildcard(tokens) for tokens in site.list.matcher.key)
        yield Assumed(path, f"every item has its key, {key}: one without it is at 1 from itself")
    for alias in site.object.aliases:
        sources = " or ".join(wildcard(source) for source in alias.sources)
        yield Assumed(path + wildcard(alias.target), f"gold holds nothing under an alias, {sources}")


def _is_list(site: Site) -> bool:
    return site.leaf is None and Kind.ARRAY in site.declared


def _breaks(site: Site, path: str) -> Iterator[Break]:
    for leaf in leaves_of(site):
        facts, name = leaf.distance.facts, leaf.distance.name
        if not facts.identity:
            yield Break(
                path, f"{name} is not 0 for some equal values", _nearest(leaf), triangle=True, witness=facts.witness
            )
        elif not facts.symmetric:
            yield Break(path, f"{name} is not symmetric", _nearest(leaf), triangle=True, witness=facts.witness)
        elif not facts.triangle:
            witness = facts.witness if facts.separating else None  # a witness shows the first fact that is denied
            yield Break(path, f"{name} breaks the triangle inequality", _nearest(leaf), triangle=True, witness=witness)
        elif not facts.separating and name != "date":  # days and instants are apart, however they are written
            yield Break(
                path, f"{name} is 0 for some different values", _nearest(leaf), triangle=False, witness=facts.witness
            )
    if _is_list(site):
        yield from _broken_list(site.list, path)


def _broken_list(node: List, path: str) -> Iterator[Break]:
    matcher = node.matcher
    name, remedy = matcher.name, "hungarian without a gate"
    if matcher.options.get("gate") is not None:
        name += f" with gate {matcher.options['gate']}"
    if matcher.transport is not None:
        name += f" with the solver {matcher.options['solver']}"
    if not matcher.metric:
        nearest = "the exact solver (a pseudo-metric), or hungarian" if matcher.transport is not None else remedy
        yield Break(path, f"{name} does not preserve metrics", nearest, triangle=True)
    elif not node.metric:
        yield Break(path, f"{name} is not symmetric beside items by position", remedy, triangle=True)
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
