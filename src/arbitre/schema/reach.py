"""Which leaves and lists the values at a site reach, and which sites have a pseudo-metric distance.

The certificate and the shortcuts of the engine both rest on this module, so that they cannot disagree. It describes
what is computed: after overrides, after normalisers that change the kind of a value, and for any JSON value, whether
the schema declares its kind or not.
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
    """What compares the values at one site.

    `leaves` compare the values of the declared kinds (of all kinds where none is declared), `others` only those of
    further kinds. `lists` and `other_lists` say the same of the site's list: whether arrays are matched item by item.
    """

    leaves: tuple[Leaf, ...]
    others: tuple[Leaf, ...]
    lists: bool
    other_lists: bool

    @classmethod
    def of(cls, site: Site) -> Self:
        """The leaves and lists that values at a site can reach."""
        kinds = site.declared or frozenset(Kind)
        leaves: list[Leaf] = []
        others: list[Leaf] = []
        for leaf in _leaves(site, kinds):
            if leaf not in leaves:  # leaves are equal by what they say, and cannot be hashed
                leaves.append(leaf)
        for leaf in _leaves(site, frozenset(Kind) - kinds):
            if leaf not in leaves and leaf not in others:
                others.append(leaf)
        listed = site.leaf is None
        return cls(tuple(leaves), tuple(others), listed and Kind.ARRAY in kinds, listed and Kind.ARRAY not in kinds)

    @property
    def every(self) -> tuple[Leaf, ...]:
        """All leaves that any value here can reach."""
        return self.leaves + self.others


def kinds_after(normalizers: Iterable[Normalizer], kinds: Iterable[Kind]) -> frozenset[Kind]:
    """The kinds that values of these kinds can have once they are normalised."""
    found = frozenset(kinds)
    for one in normalizers:
        found = frozenset(made for kind in found for made in one.kinds_of(kind))
    return found


def _leaves(site: Site, kinds: Iterable[Kind]) -> Iterator[Leaf]:
    """The leaves that compare values of these kinds, in the order of the kinds; mirrors `engine.interning`."""
    if site.leaf is not None:
        for kind in sorted(kinds_after(site.leaf.normalizers, kinds)):
            yield site.leaf if kind in site.leaf.distance.kinds else _default(site, kind)
        return
    for kind in sorted(kinds_after(site.normalizers, (kind for kind in kinds if kind.scalar))):
        if not kind.scalar:
            yield site.other
            continue
        for choice in site.scalars[kind]:
            for made in sorted(kinds_after(choice.leaf.normalizers, [kind])):
                yield choice.leaf if made in choice.leaf.distance.kinds else _default(site, made)


def _default(site: Site, kind: Kind) -> Leaf:
    """The leaf of a kind that no distance chosen here is made for."""
    if not kind.scalar:
        return site.other
    choices = site.scalars[kind]
    return next((choice for choice in choices if choice.values is None), choices[0]).leaf


class Below(NamedTuple):
    """A site below another, and its token; `equal` says that only equal values are compared there."""

    site: int
    token: Token
    equal: bool = False


def below(site: Site) -> Iterator[Below]:
    """The sites of the values inside the objects and lists of a site, of any kind and under any key."""
    if site.leaf is not None:
        return
    yield from (Below(child.site, child.name) for child in site.object.fields)
    yield from (Below(child, STAR) for _, child in site.object.patterns)
    yield Below(site.object.additional, STAR)
    yield from (Below(child, position) for position, child in enumerate(site.list.prefix))
    yield Below(site.list.items, STAR, site.list.matcher.candidates is Candidates.SAME_VALUE)


@dataclass(frozen=True, slots=True)
class Licence:
    """What holds of the distance at each site, for any JSON values: sets of sites.

    * `identical`: equal canonical values are at distance 0.
    * `pseudometric`: so they are, and the distance is symmetric and obeys the triangle inequality.
    """

    identical: frozenset[int]
    pseudometric: frozenset[int]

    @classmethod
    def of(cls, sites: Sequence[Site], reached: Sequence[Reach]) -> Self:
        """The greatest sets that hold what their sites say of themselves, above such sites only."""
        every = [list(below(site)) for site in sites]
        not_identical = _and_above(
            (index for index, site in enumerate(sites) if not _identical(site, reached[index])),
            [[child.site for child in children] for children in every],
        )
        broken = {index for index, site in enumerate(sites) if not _pseudometric(site, reached[index])}
        for index, children in enumerate(every):
            if any(child.equal and child.site in not_identical for child in children):
                broken.add(index)
        broken = _and_above(broken, [[child.site for child in children if not child.equal] for children in every])
        whole = frozenset(range(len(sites)))
        return cls(whole - not_identical, whole - broken)


def _identical(site: Site, reach: Reach) -> bool:
    """Whether equal values are at 0 where those below are; an item without its key matches nothing, not even itself."""
    if not all(leaf.distance.facts.identity for leaf in reach.every):
        return False
    return site.leaf is not None or (site.list.matcher.identity and not site.list.matcher.key)


def _pseudometric(site: Site, reach: Reach) -> bool:
    """Whether nothing is lost at the site itself."""
    if not all(leaf.distance.facts.pseudometric for leaf in reach.every):
        return False
    return site.leaf is not None or (site.list.metric and not site.list.matcher.key)


def _and_above(found: Iterable[int], children: Sequence[Sequence[int]]) -> set[int]:
    """These sites, and all those with one of them below."""
    parents: list[list[int]] = [[] for _ in children]
    for index, several in enumerate(children):
        for child in several:
            parents[child].append(index)
    known = set(found)
    pending = list(known)
    while pending:
        new = [index for index in parents[pending.pop()] if index not in known]
        known.update(new)
        pending += new
    return known


def with_declared_above(sites: Sequence[Site], found: Iterable[int]) -> frozenset[int]:
    """These sites, and the declared ones with one of them below."""
    return frozenset(
        _and_above(found, [[child.site for child in below(site)] if site.declared else [] for site in sites])
    )
