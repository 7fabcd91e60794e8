"""The nodes of a compiled plan, stored in one table and linked by index, so that schemas may be recursive.

A `Site` is one position of the schema. It defines how each kind of JSON value is compared there. Kinds that the schema
does not declare use a default for their kind, so a plan can compare any document.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, Self, TypeVar

import regex

from arbitre.distances.judges import check_answers
from arbitre.matching import Candidates
from arbitre.paths import STAR
from arbitre.values import PATTERN_SECONDS, Absence, Kind

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from arbitre.distances.base import Distance, Facts
    from arbitre.matching import Matcher
    from arbitre.normalizers import Normalizer
    from arbitre.paths import Token

T = TypeVar("T")

_NULL: Final = Absence()

Alternatives = str | bool | None
"""Where gold lists accepted forms: the key of a sibling field, True for a list in place of the value, or None."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """How single values are compared: `normalizers` in order, then `distance`.

    `metric_if` is a condition, imposed by the schema, under which a distance that is not a metric in general is one for
    these values; None if there is none. It does not affect scores. `alternatives` is the option of the site.
    """

    distance: Distance
    normalizers: tuple[Normalizer, ...] = ()
    metric_if: str | None = field(default=None, compare=False)
    alternatives: Alternatives = None

    @property
    def facts(self) -> Facts:
        """The properties of the distance; the best of several forms is neither symmetric nor separating.

        The triangle inequality holds for lists of forms, a directed Hausdorff distance, but not for forms in a
        sibling field, which only gold has.
        """
        facts = self.distance.facts
        if self.alternatives is None:
            return facts
        triangle = facts.triangle and self.alternatives is True
        return replace(facts, symmetric=False, separating=False, triangle=triangle, witness=None)


@dataclass(frozen=True, slots=True)
class Identity:
    """What identifies the items of a list, or the entries of a map, among all entries of a scope.

    Attributes:
        scope: Name of the scope.
        key: The fields of an item whose values identify it; () for the keys of a map.
        kinds: The declared kinds of each of these values.
        normalizers: Applied to each of these values, in order.
    """

    scope: str
    key: tuple[str, ...] = ()
    kinds: tuple[frozenset[Kind], ...] = field(default=(frozenset({Kind.STRING}),), compare=False)
    normalizers: tuple[tuple[Normalizer, ...], ...] = ((),)


@dataclass(frozen=True, slots=True)
class Reference:
    """What a value refers to, or what the keys of a map refer to.

    Attributes:
        scope: Name of the scope.
        key: The fields of an object that refer together; () for a single value.
        graded: Whether a right reference counts as much as the quality of the pair of entries that it refers to.
    """

    scope: str
    key: tuple[str, ...] = ()
    graded: bool = False


@dataclass(frozen=True, slots=True)
class ScalarBranch:
    """A branch for single values.

    Attributes:
        leaf: How the values are compared.
        values: Canonical keys of the values that take this branch; None for any value.
        tags: Branches of the enclosing object under which it applies; None for any.
    """

    leaf: Leaf
    values: frozenset[Hashable] | None = None
    tags: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class ObjectBranch:
    """A branch for objects.

    Attributes:
        names: The declared keys.
        tests: The canonical values that `const` or `enum` allows, by key.
        tags: Branches of the enclosing object under which it applies; None for any.
        absent: Which values count as absent; their keys are not used to choose the branch.
    """

    names: frozenset[str]
    tests: tuple[tuple[str, frozenset[Hashable]], ...] = ()
    tags: frozenset[int] | None = None
    absent: Absence = _NULL


@dataclass(frozen=True, slots=True)
class FieldNode:
    """A declared key: the site of its value, its weight, and whether that site depends on the object's branch.

    With `null_credit`, a missing key counts as null, which is a value.
    """

    name: str
    site: int
    weight: float = 1.0
    tagged: bool = False
    null_credit: bool = False


@dataclass(frozen=True, slots=True)
class Alias:
    """Other places where a prediction may store a field. All token paths start at the object that owns the alias.

    `null` states whether null counts as absent there.
    """

    target: tuple[str, ...]
    sources: tuple[tuple[str, ...], ...]
    null: bool = True


@dataclass(frozen=True)
class ObjectNode:
    """How objects are compared: field by field; a missing field costs its full weight.

    Attributes:
        fields: The declared keys.
        branches: The branches of a union of objects.
        patterns: Pairs of a regular expression for keys and a site.
        additional: Site of every other key.
        declared_map: Whether the schema declares other keys. They are counted together under `*`, otherwise each under
            its own name.
        tagged: Whether a site of `patterns` or `additional` depends on the branch of this object.
        ignored: Keys that are not compared.
        closed: Whether keys that the schema does not declare are not compared.
        aliases: Other places where a prediction may store a field.
        keys: What the keys of a map are, if they are ids or references. Its entries are then compared like the items of
            a list.
    """

    fields: tuple[FieldNode, ...] = ()
    branches: tuple[ObjectBranch, ...] = ()
    patterns: tuple[tuple[str, int], ...] = ()
    additional: int = 0
    declared_map: bool = False
    tagged: bool = False
    ignored: frozenset[str] = frozenset()
    closed: bool = False
    aliases: tuple[Alias, ...] = ()
    keys: Identity | Reference | None = None

    @cached_property
    def field_sites(self) -> dict[str, int]:
        """The site of each field, by name."""
        return {child.name: child.site for child in self.fields}

    def declared(self, key: str) -> int | None:
        """Return the site of a key; None if the schema does not declare it."""
        if key in self.field_sites:
            return self.field_sites[key]
        site = first_of_pattern(self.patterns, key)
        return self.additional if site is None and self.declared_map else site


def pattern_error(pattern: str) -> str | None:
    """Return an error message for a pattern that is not a valid regular expression; None if the pattern is valid."""
    try:
        regex.compile(pattern)
    except regex.error as error:
        return f'Expected a valid regular expression, got "{pattern}": {error}'
    return None


def first_of_pattern(patterns: Iterable[tuple[str, T]], key: str) -> T | None:
    """Return the value of the first pattern that matches a key, or None. A search that times out does not match."""
    for pattern, found in patterns:
        try:
            if regex.compile(pattern).search(key, timeout=PATTERN_SECONDS) is not None:
                return found
        except TimeoutError:
            continue  # a comparison reports this key as an error
    return None


@dataclass(frozen=True, slots=True)
class ListNode:
    """How lists are compared: the first items by position (`prefix`), the remaining items matched by `matcher`."""

    items: int
    matcher: Matcher
    prefix: tuple[int, ...] = ()
    tagged: bool = False

    @property
    def metric(self) -> bool:
        """Whether the distance of lists is a (pseudo-)metric if the distance of the items is one.

        Balanced transport scales the matched items to the number of gold items, so with `prefix` sites the distance is
        not symmetric.
        """
        return self.matcher.metric and not (self.matcher.transport is not None and self.prefix)

    def child(self, position: int) -> int:
        """Return the site of an item."""
        return self.prefix[position] if position < len(self.prefix) else self.items


@dataclass(frozen=True, slots=True)
class Site:
    """One position of the schema.

    If `leaf` is set, every value is compared as one leaf, whatever its kind. Otherwise values are normalised and then
    compared by kind: scalars with the first `ScalarBranch` that fits, objects with `object`, lists with `list`.

    Attributes:
        absent: Which values count as absent.
        scalars: The branches for single values, by kind.
        object: How objects are compared.
        list: How lists are compared.
        other: Fallback for a list or object that is one leaf if the chosen distance does not support its kind.
        leaf: How every value is compared as one leaf; None if values are compared by kind.
        normalizers: Applied to every value, in order.
        declared: The kinds that the schema declares.
        alternatives: Where gold lists the accepted forms of a value; every value is then compared as one leaf.
        identity: What identifies the objects here, if they are the entries of a scope.
        reference: What the values here refer to; None if they are no references.
    """

    absent: Absence
    scalars: Mapping[Kind, tuple[ScalarBranch, ...]]
    object: ObjectNode
    list: ListNode
    other: Leaf
    leaf: Leaf | None = None
    normalizers: tuple[Normalizer, ...] = ()
    declared: frozenset[Kind] = frozenset()
    alternatives: Alternatives = None
    identity: Identity | None = None
    reference: Reference | None = None

    @property
    def atomic(self) -> bool:
        """Whether every value is compared as one leaf, whatever its kind."""
        return self.leaf is not None or self.alternatives is not None

    def child(self, token: str | int) -> int:
        """Return the site of a field or an item."""
        if isinstance(token, int):
            return self.list.child(token)
        site = self.object.declared(token)
        return self.object.additional if site is None else site


# What compares the values at a site, and which sites have a pseudo-metric as their distance.
#
# The certificate and the choice of a faster computation both use these functions, so they cannot disagree. They
# describe the actual computation: after overrides, after normalisers that change the kind of a value, and for any
# JSON value, declared or not.


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
        not_identical = with_ancestors(
            (index for index, site in enumerate(sites) if not _identical(site, reached[index])),
            [[child.site for child in children] for children in every],
        )
        broken = {index for index, site in enumerate(sites) if not _pseudometric(site, reached[index])}
        for index, children in enumerate(every):
            if any(child.equal and child.site in not_identical for child in children):
                broken.add(index)
        broken = with_ancestors(broken, [[child.site for child in children if not child.equal] for children in every])
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


def with_ancestors(starts: Iterable[int], children: Sequence[Sequence[int]]) -> set[int]:
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
        with_ancestors(starts, [[child.site for child in below(site)] if site.declared else [] for site in sites])
    )


# Properties of sites that allow a faster computation: derived from the plan alone, never from documents.


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
        judged: Whether a value may be compared by a judge.
        has_ids: Whether entries have ids that may differ between gold and a prediction.
        has_references: Whether values, or keys of maps, refer to entries with ids.
    """

    match_equal_first: frozenset[int]
    is_multiset: frozenset[int]
    has_informative_lists: frozenset[int]
    expensive_above: Mapping[int, float]
    judged: bool
    has_ids: bool
    has_references: bool

    @classmethod
    def of(cls, sites: Sequence[Site], reached: Sequence[Reach]) -> PlanFacts:
        """Return the facts of compiled sites; `reached` holds the reach of each site.

        Raises:
            SchemaError: Two judges would use each other's answers.
        """
        both = list(zip(sites, reached, strict=True))
        distances = (leaf.distance for reach in reached for leaf in reach.leaves)
        judges = dict.fromkeys(one.judge for one in distances if one.judge is not None)
        check_answers(judges)
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
            judged=bool(judges),
            has_ids=any(site.identity is not None or isinstance(site.object.keys, Identity) for site in sites),
            has_references=any(site.reference is not None or isinstance(site.object.keys, Reference) for site in sites),
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
