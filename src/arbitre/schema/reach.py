"""The leaves and lists that compare the values at a site, and the sites whose distance is a pseudo-metric.

The certificate and the plan facts both use this module, so they cannot disagree. It describes the actual computation:
after overrides, after normalisers that change the kind of a value, and for any JSON value, declared or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

from arbitre.matching import Candidates
from arbitre.paths import STAR
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arbitre.normalizers import Normalizer
    from arbitre.paths import Token
    from arbitre.schema.nodes import Leaf, Site


@dataclass(frozen=True, slots=True)
class Reach:
    """The leaves and lists that compare the values at one site.

    Attributes:
        leaves: Leaves that compare values of the declared kinds; of all kinds if none is declared.
        others: Further leaves that compare only values of undeclared kinds.
        lists: Whether arrays are declared here and matched item by item.
        other_lists: Whether arrays are undeclared here and matched item by item.
    """

    leaves: tuple[Leaf, ...]
    others: tuple[Leaf, ...]
    lists: bool
    other_lists: bool

    @classmethod
    def of(cls, site: Site) -> Self:
        """Return the leaves and lists that values at a site can reach."""
        kinds = site.declared or frozenset(Kind)
        leaves: list[Leaf] = []
        others: list[Leaf] = []
        for leaf in leaves_of(site, kinds):
            if leaf not in leaves:  # leaves are compared by content and cannot be hashed
                leaves.append(leaf)
        for leaf in leaves_of(site, frozenset(Kind) - kinds):
            if leaf not in leaves and leaf not in others:
                others.append(leaf)
        listed = not site.atomic
        return cls(tuple(leaves), tuple(others), listed and Kind.ARRAY in kinds, listed and Kind.ARRAY not in kinds)

    @property
    def every(self) -> tuple[Leaf, ...]:
        """All leaves that a value of any kind can reach."""
        return self.leaves + self.others


def kinds_after(normalizers: Iterable[Normalizer], kinds: Iterable[Kind]) -> frozenset[Kind]:
    """Return the kinds that values of these kinds can have after normalisation."""
    possible = frozenset(kinds)
    for normalizer in normalizers:
        possible = frozenset(after for kind in possible for after in normalizer.kinds_of(kind))
    return possible


def leaves_of(site: Site, kinds: Iterable[Kind]) -> Iterator[Leaf]:
    """Yield the leaves that compare values of these kinds, ordered by kind; mirrors `engine.interning`."""
    if site.leaf is not None:
        for kind in sorted(kinds_after(site.leaf.normalizers, kinds)):
            yield site.leaf if kind in site.leaf.distance.kinds else _default(site, kind)
        return
    for kind in sorted(kinds_after(site.normalizers, (kind for kind in kinds if kind.scalar or site.atomic))):
        if not kind.scalar:
            yield site.other
            continue
        for choice in site.scalars[kind]:
            for normal_kind in sorted(kinds_after(choice.leaf.normalizers, [kind])):
                yield choice.leaf if normal_kind in choice.leaf.distance.kinds else _default(site, normal_kind)


def _default(site: Site, kind: Kind) -> Leaf:
    """Return the leaf for a kind that the chosen distances do not support."""
    if not kind.scalar:
        return site.other
    choices = site.scalars[kind]
    return next((choice for choice in choices if choice.values is None), choices[0]).leaf


class Below(NamedTuple):
    """A child site and its token; `equal` states whether only equal values are compared there."""

    site: int
    token: Token
    equal: bool = False


def below(site: Site) -> Iterator[Below]:
    """Yield the sites of the values inside the objects and lists of a site."""
    if site.atomic:
        return
    yield from (Below(child.site, child.name) for child in site.object.fields)
    yield from (Below(child, STAR) for _, child in site.object.patterns)
    if not site.object.closed:
        yield Below(site.object.additional, STAR)
    yield from (Below(child, position) for position, child in enumerate(site.list.prefix))
    yield Below(site.list.items, STAR, site.list.matcher.candidates is Candidates.SAME_VALUE)


@dataclass(frozen=True, slots=True)
class ProvenProperties:
    """Properties of the distance at each site for any JSON values, as sets of sites.

    Attributes:
        identical: Sites where equal canonical values have distance 0.
        pseudometric: Sites where the distance is also symmetric and satisfies the triangle inequality.
    """

    identical: frozenset[int]
    pseudometric: frozenset[int]

    @classmethod
    def of(cls, sites: Sequence[Site], reached: Sequence[Reach]) -> Self:
        """Return the largest sets of sites that have the properties and contain only such sites."""
        every = [list(below(site)) for site in sites]
        not_identical = _with_ancestors(
            (index for index, site in enumerate(sites) if not _identical(site, reached[index])),
            [[child.site for child in children] for children in every],
        )
        broken = {index for index, site in enumerate(sites) if not _pseudometric(site, reached[index])}
        for index, children in enumerate(every):
            if any(child.equal and child.site in not_identical for child in children):
                broken.add(index)
        broken = _with_ancestors(broken, [[child.site for child in children if not child.equal] for children in every])
        every_site = frozenset(range(len(sites)))
        return cls(every_site - not_identical, every_site - broken)


def _identical(site: Site, reach: Reach) -> bool:
    """Return whether equal values have distance 0 if this holds for all children.

    An item without its key matches nothing, not even itself.
    """
    if not all(leaf.facts.identity for leaf in reach.every):
        return False
    return site.atomic or (site.list.matcher.identity and not site.list.matcher.key)


def _pseudometric(site: Site, reach: Reach) -> bool:
    """Return whether the site's own leaves and list preserve pseudo-metrics."""
    if not all(leaf.facts.pseudometric for leaf in reach.every):
        return False
    return site.atomic or (site.list.metric and not site.list.matcher.key)


def _with_ancestors(starts: Iterable[int], children: Sequence[Sequence[int]]) -> set[int]:
    """Return these sites and all their ancestors."""
    parents: list[list[int]] = [[] for _ in children]
    for index, several in enumerate(children):
        for child in several:
            parents[child].append(index)
    known = set(starts)
    pending = list(known)
    while pending:
        new = [index for index in parents[pending.pop()] if index not in known]
        known.update(new)
        pending += new
    return known


def with_declared_above(sites: Sequence[Site], starts: Iterable[int]) -> frozenset[int]:
    """Return these sites and all their declared ancestors."""
    return frozenset(
        _with_ancestors(starts, [[child.site for child in below(site)] if site.declared else [] for site in sites])
    )
