"""The certificate: whether the distance that a schema defines between documents is a metric, and if not, why.

The certificate is derived from the schema alone, never from data. By induction, the distance is a metric if the leaf
distances are metrics, objects use the union mean and lists use a matching that preserves metrics.

The verdict is about canonical values: normalised, without absent values, and with list items in any order where the
order does not count. `Certificate.identifies` lists the values that become equal in this way.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from arbitre.matching import Candidates
from arbitre.normalizers import NFC
from arbitre.paths import order, wildcard
from arbitre.schema.describe import walk
from arbitre.schema.nodes import Identity, Reference, below
from arbitre.tables.table import Table, TableColumn, columns
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from arbitre.distances.base import Distance
    from arbitre.paths import Path
    from arbitre.schema.nodes import Alternatives, Leaf, ListNode, Reach, Site
    from arbitre.values import Absence, Json

METRIC: Final = "metric"
PSEUDOMETRIC: Final = "pseudo-metric"
NEITHER: Final = "not a metric"

_TWICE: Final = ", or with repeated items"
_UNDECLARED: Final = ", for values that the schema does not declare"

_PLACES: Final = 12
"""Maximum number of paths that are searched for a witness if undeclared values violate a property."""

MAX_EXAMPLE: Final = 60
"""Maximum length of the values of a witness in a table, in characters."""

Fact = Literal["identity", "symmetric", "separating", "triangle", "metric"]


@dataclass(frozen=True, slots=True)
class Witness:
    """One, two or three documents that violate a metric property, and the values in which they differ."""

    documents: tuple[Json, ...]
    values: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class MetricViolation:
    """A violation of a metric property at a node, with the reason and the closest alternative without the violation."""

    path: str
    """Wildcard path of the node."""
    reason: str
    """Why the property does not hold."""
    remedy: str
    """What to set instead."""
    fact: Fact
    """The violated property. `metric` stands for any of the others except `separating`."""
    places: tuple[Path, ...] = field(default=(), compare=False, repr=False)
    """Paths to search for a witness; several for values that the schema does not declare."""
    listed: bool = field(default=False, compare=False, repr=False)
    """Whether the matching of a list violates the property, rather than the distance of a leaf."""
    known: tuple[Json, ...] = field(default=(), compare=False, repr=False)
    """Values for which the leaf's distance is known to violate the property."""
    alternatives: Alternatives = field(default=None, compare=False, repr=False)
    """Where gold lists the accepted forms that cause the violation."""
    seek: Callable[[MetricViolation], Witness | None] | None = field(default=None, compare=False, repr=False)
    """Finds the witness on request."""

    @property
    def shown(self) -> Witness | None:
        """The witness with the differing values, or None if none was found."""
        return None if self.seek is None else self.seek(self)

    @property
    def witness(self) -> tuple[Json, ...] | None:
        """Valid documents that show the violation, or None if none were found.

        (x,) if d(x, x) is not 0, (x, y) if d is not symmetric or is 0 for different documents, and (x, y, z) if
        d(x, z) exceeds d(x, y) + d(y, z). Reading this property runs the search.
        """
        witness = self.shown
        return None if witness is None else witness.documents


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Different values at a path that count as equal, and the option that causes this."""

    path: str
    by: str
    values: str


@dataclass(frozen=True, slots=True)
class Assumption:
    """A condition that the values at a path must satisfy for the verdict of the certificate to hold."""

    path: str
    condition: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """States whether the distance between two documents (1 - quality) is a metric and, if not, why.

    Attributes:
        breaks: The violations of metric properties.
        identifies: Values that are treated as equal before comparison; the verdict ignores their differences.
        assumes: Conditions that documents must satisfy for the verdict to hold.
    """

    breaks: tuple[MetricViolation, ...] = ()
    identifies: tuple[Equivalence, ...] = ()
    assumes: tuple[Assumption, ...] = ()

    @property
    def verdict(self) -> str:
        """One of "metric", "pseudo-metric" (different documents may be at distance 0) and "not a metric"."""
        if any(violated.fact != "separating" for violated in self.breaks):
            return NEITHER
        return PSEUDOMETRIC if self.breaks else METRIC

    @property
    def symmetric(self) -> bool:
        """Whether the distance is known to be symmetric."""
        return self.verdict != NEITHER

    def with_witness_search(self, seek: Callable[[MetricViolation], Witness | None]) -> Certificate:
        """Return a copy of the certificate that uses this function to find witnesses."""
        return replace(self, breaks=tuple(replace(violation, seek=seek) for violation in self.breaks))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON with the verdict, the violations, the identified values and the assumptions."""
        return {
            "verdict": self.verdict,
            "breaks": [
                {
                    "path": one.path,
                    "reason": one.reason,
                    "remedy": one.remedy,
                    "witness": None if (witness := one.shown) is None else list(witness.documents),
                    "values": None if witness is None else list(witness.values),
                }
                for one in self.breaks
            ],
            "identifies": [{"path": one.path, "by": one.by, "values": one.values} for one in self.identifies],
            "assumes": [{"path": one.path, "condition": one.condition} for one in self.assumes],
        }


class State(NamedTuple):
    """A site, and whether it lies inside a list that compares only equal items."""

    site: int
    equal: bool = False


def certify(sites: Sequence[Site], reached: Sequence[Reach]) -> Certificate:
    """Return the certificate of compiled sites; `reached` holds the reach of each site."""
    breaks, identified, assumed = dict[MetricViolation, None](), dict[Equivalence, None](), dict[Assumption, None]()
    if any(normalizer.implied for site in sites for normalizer in site.normalizers):
        identified[Equivalence("", NFC.name, NFC.identifies)] = None
    policies: dict[Path, Absence] = {}
    declared: set[State] = set()
    for path, index, _, repeats, equal in walk(sites):
        site, text = sites[index], wildcard(path)
        policies[path] = site.absent
        declared.add(State(index, equal))
        if repeats is not None:
            continue
        here = reached[index]
        breaks |= dict.fromkeys(_broken(here.leaves, site.list if here.lists else None, path, equal))
        breaks |= dict.fromkeys(_broken_by_grades(site, path))
        if not path or site.absent != policies[path[:-1]]:
            identified[Equivalence(text, "absent", _absent_values(site.absent))] = None
        forms = frozenset(sites[child.site].alternatives for child in site.object.fields)
        identified |= dict.fromkeys(_identified(site, reached[index], path, forms))
        assumed |= dict.fromkeys(_assumed(site, here, text, equal=equal))
    known = {violation.reason for violation in breaks}
    further: dict[str, list[MetricViolation]] = {}
    conditions = {violation.condition for violation in assumed}
    for violation in _undeclared(sites, reached, declared):
        if isinstance(violation, Assumption):
            if violation.condition not in conditions:
                conditions.add(violation.condition)
                assumed[replace(violation, condition=violation.condition + _UNDECLARED)] = None
        elif violation.reason not in known:
            further.setdefault(violation.reason, []).append(violation)
    for reason, several in further.items():
        places = tuple(place for violation in several for place in violation.places)
        breaks[replace(several[0], reason=reason + _UNDECLARED, places=places[:_PLACES])] = None
    return Certificate(tuple(breaks), tuple(identified), tuple(assumed))


def _undeclared(
    sites: Sequence[Site], reached: Sequence[Reach], declared: set[State]
) -> Iterator[MetricViolation | Assumption]:
    """Yield violations and assumptions at sites that only undeclared keys and kinds reach, in breadth-first order."""
    paths: dict[State, Path] = {State(0): ()}
    pending = deque(paths)
    while pending:
        here = pending.popleft()
        site, reach, path = sites[here.site], reached[here.site], paths[here]
        known = here in declared or State(here.site) in declared
        leaves = reach.others if known else reach.every
        listed = reach.other_lists or (reach.lists and not known)
        yield from _broken(leaves, site.list if listed else None, path, here.equal)
        for leaf in leaves:
            yield from _stated(leaf, wildcard(path))
        if listed:
            yield from _with_keys(site.list, wildcard(path))
        for child in below(site):
            there = State(child.site, child.equal or here.equal)
            if there not in paths:
                paths[there] = (*path, child.token)
                pending.append(there)


def _absent_values(absence: Absence) -> str:
    """Return in words which values count as absent."""
    values = [json.dumps(value) for value in absence.values]
    return f"{', '.join(values)} and a missing value" if values else "nothing: null counts as a value"


def _identified(site: Site, reach: Reach, path: Path, forms: frozenset[Alternatives]) -> Iterator[Equivalence]:
    """Yield the values that are treated as equal; `forms` are the keys that contain accepted forms."""
    text, leaves = wildcard(path), reach.leaves
    for normalizer in (*site.normalizers, *chain.from_iterable(leaf.normalizers for leaf in leaves)):
        if not normalizer.implied:
            yield Equivalence(text, normalizer.name, normalizer.identifies)
    if any(leaf.distance.name == "date" for leaf in leaves):
        yield Equivalence(text, "date", "different notations of the same date")
    if _is_list(site) and not site.list.matcher.in_order:
        twice = site.list.matcher.candidates is Candidates.SAME_VALUE
        yield Equivalence(
            text, site.list.matcher.name, "lists with the same items in a different order" + _TWICE * twice
        )
    for alias in site.object.aliases:
        sources = " or ".join(wildcard(source) for source in alias.sources)
        yield Equivalence(wildcard((*path, *alias.target)), "aliases", f"the field under {sources} in a prediction")
    for child in site.object.fields:
        if child.null_credit:
            yield Equivalence(wildcard((*path, child.name)), "null", "null and a missing field")
    yield from _ignored(site, path, forms)
    if site.object.closed:
        yield Equivalence(text, "undeclared", "objects that differ only in keys that the schema does not declare")


def _ignored(site: Site, path: Path, forms: frozenset[Alternatives]) -> Iterator[Equivalence]:
    """Yield the fields that are not compared, and the ids."""
    identity = site.identity if site.identity is not None else site.object.keys
    ids = identity.key if isinstance(identity, Identity) else ()
    if isinstance(identity, Identity):
        what = f"documents whose items of the scope {identity.scope} have other ids"
        yield Equivalence(wildcard(path), "id", what)
    for name in sorted(site.object.ignored - forms - set(ids)):
        yield Equivalence(wildcard((*path, name)), "ignore", "all values, and a missing field")


def _assumed(site: Site, reach: Reach, path: str, *, equal: bool) -> Iterator[Assumption]:
    for leaf in reach.leaves:
        yield from _stated(leaf, path)
        if leaf.metric_if is not None and not (equal and leaf.facts.identity):
            yield Assumption(path, leaf.metric_if)
    if reach.lists:
        yield from _with_keys(site.list, path)
    if site.reference is not None or isinstance(site.object.keys, Reference):
        yield Assumption(path, "the best correspondence of the ids is found (`proven` in `references`)")
    for alias in site.object.aliases:
        sources = " or ".join(wildcard(source) for source in alias.sources)
        yield Assumption(path + wildcard(alias.target), f"gold has no value under the alias {sources}")


def _stated(leaf: Leaf, path: str) -> Iterator[Assumption]:
    """Yield the claims about a custom distance. The certificate trusts them."""
    distance = leaf.distance.without_floor or leaf.distance
    claims = [words for fact, words in _CLAIMS.items() if getattr(distance.facts, fact)]
    if distance.custom and claims:
        yield Assumption(path, f"{distance.name} is {', '.join(claims)} (claimed by its author)")


_CLAIMS: Final[dict[Fact, str]] = {
    "identity": "0 for equal values",
    "symmetric": "symmetric",
    "separating": "above 0 for different values",
    "triangle": "within the triangle inequality",
}


_MATCHING_CLAIMS: Final = {
    "identity": "gives equal lists the distance 0",
    "metric": "preserves metrics",
    "separating": "gives different lists a distance above 0",
}


def _with_keys(node: ListNode, path: str) -> Iterator[Assumption]:
    claims = [words for claim, words in _MATCHING_CLAIMS.items() if getattr(node.matcher, claim)]
    if node.matcher.custom and claims:
        yield Assumption(path, f"{node.matcher.name} {', '.join(claims)} (claimed by its author)")
    if node.matcher.key:
        key = " and ".join(wildcard(tokens) for tokens in node.matcher.key)
        yield Assumption(path, f"every item has its key {key} (an item without it has distance 1 to itself)")


def _is_list(site: Site) -> bool:
    return not site.atomic and Kind.ARRAY in site.declared


def _broken(leaves: Iterable[Leaf], node: ListNode | None, path: Path, equal: bool) -> Iterator[MetricViolation]:  # noqa: FBT001
    """Yield the violations of a site's leaves and list; `equal` checks identity only, for items compared if equal."""
    for leaf in leaves:
        facts, name = leaf.distance.facts, _named(leaf.distance)
        fact: Fact
        if leaf.alternatives is not None and facts.identity and not equal:
            yield from _broken_by_alternatives(leaf.alternatives, path)
            continue
        if leaf.metric_if is not None:  # listed under `assumes`
            continue
        if not facts.identity:
            fact, reason = "identity", f"{name} is not 0 for some equal values"
        elif equal or facts.metric:
            continue
        elif not facts.symmetric:
            fact, reason = "symmetric", f"{name} is not symmetric"
        elif not facts.triangle:
            fact, reason = "triangle", f"{name} violates the triangle inequality"
        elif leaf.distance.name == "date":  # different notations of one date are already listed under `identifies`
            continue
        else:
            fact, reason = "separating", f"{name} is 0 for some different values"
        violation = MetricViolation(
            wildcard(path), reason, _closest_remedy(leaf), fact, (path,), known=facts.witness or ()
        )
        yield _as_stated(violation, leaf.distance)
    if node is not None and not (equal and node.matcher.identity):
        yield from _broken_list(node, path)


def _as_stated(violation: MetricViolation, distance: Distance) -> MetricViolation:
    """Report that the author of a custom distance does not claim a property, if there is no witness."""
    if not distance.custom or distance.without_floor is not None or violation.known:
        return violation
    reason = f"{distance.name} is not claimed to be {_CLAIMS[violation.fact]}"
    return replace(violation, reason=reason, remedy=f"claim it in its Facts if it is true, or {violation.remedy}")


def _broken_by_alternatives(alternatives: Alternatives, path: Path) -> Iterator[MetricViolation]:
    """Yield the properties that the minimum over the accepted forms of gold does not have."""
    remedy = "the normaliser authority, which maps variants to one name"
    best = "the best of several accepted forms of gold"
    asymmetric = MetricViolation(wildcard(path), f"{best} is not symmetric", remedy, "symmetric", (path,))
    yield replace(asymmetric, alternatives=alternatives)
    if alternatives is not True:  # lists on both sides have a directed Hausdorff distance
        reason = f"{best} violates the triangle inequality: the forms of a document count only when it is gold"
        yield replace(asymmetric, reason=reason, fact="triangle", alternatives=alternatives)


def _broken_list(node: ListNode, path: Path) -> Iterator[MetricViolation]:
    matcher = node.matcher
    name, remedy = matcher.name, "hungarian without a gate"
    if matcher.options.get("gate"):
        name += f" with gate {matcher.options['gate']}"
    if matcher.transport is not None:
        name += f" with the solver {matcher.options['solver']}"
    fact: Fact
    if not matcher.metric:
        fact, reason = "metric", f"{name} does not preserve metrics"
        remedy = "the exact solver (a pseudo-metric), or hungarian" if matcher.transport is not None else remedy
    elif not node.metric:
        fact, reason = "symmetric", f"{name} is not symmetric in combination with `prefixItems`"
    elif not matcher.separating:
        fact, reason = "separating", f"{name} is 0 for some different lists, such as [a] and [a, a]"
    else:
        return
    if matcher.custom:
        reason = f"{name} is not claimed to {'preserve metrics' if fact == 'metric' else 'separate different lists'}"
        remedy = f"claim it in its CustomMatching if it is true, or {remedy}"
    yield MetricViolation(wildcard(path), reason, remedy, fact, (path,), listed=True)


def _broken_by_grades(site: Site, path: Path) -> Iterator[MetricViolation]:
    """Yield a violation for graded references, because the correspondence is chosen without grades."""
    if site.reference is not None and site.reference.graded:
        reason = "the correspondence of the ids is chosen without grades, before graded references are scored"
        yield MetricViolation(wildcard(path), reason, "`ref` without `graded`", "metric", (path,))


def _named(distance: Distance) -> str:
    return (
        distance.name if distance.without_floor is None else f"{distance.name} with floor {distance.options['floor']}"
    )


def _closest_remedy(leaf: Leaf) -> str:
    """Return the name of a pseudo-metric that compares nearly as the distance of a leaf does."""
    if (base := leaf.distance.without_floor) is not None:
        closest = base.name if base.facts.pseudometric else _closest_remedy(replace(leaf, distance=base))
        return f"{closest} without a floor"
    if leaf.distance.name in _CLOSEST:
        return _CLOSEST[leaf.distance.name]
    return {Kind.STRING: "yujian-bo", Kind.NUMBER: "relative"}.get(min(leaf.distance.kinds), "exact")


_CLOSEST: Final = {
    "osa": "yujian-bo",
    "indel": "indel-yujian-bo",
    "dice": "jaccard",
    "tolerance": "rounded, or absolute",
    "rounded": "absolute",
    "cycle": "exact",
    "jaccard-ngrams": "yujian-bo",
    "uuid": "exact",
    **dict.fromkeys(("window-diff", "pk", "generalized-hamming"), "exact"),
    "table": "costs that obey the triangle inequality and are above 0 between different values",
    "jaccard": "exact, or `match`: set",
}
"""The closest distance that satisfies the property, by name; other distances use the default of their kind."""


def tables(found: Certificate) -> Iterator[Table]:
    """Yield tables of the violations of the metric axioms, of the assumptions and of the values treated as equal."""
    breaks = [(one.path, one.reason + _example(one.shown), one.remedy) for one in found.breaks]
    assumed = [(one.path, one.condition) for one in found.assumes]
    identified = [(one.path, one.by, one.values) for one in found.identifies]
    for title, names, rows in (
        ("Where it is not a metric", ("reason", "remedy"), breaks),
        ("Assumptions", ("condition",), assumed),
        ("Treated as equal before comparison", ("by", "values"), identified),
    ):
        if rows:
            heads = (TableColumn("path", kind="tree"), *columns(*names))
            yield Table.of(title, heads, sorted(rows, key=lambda row: order(row[0])))


def _example(witness: Witness | None) -> str:
    """Return the values that prove a break, if they are short enough to print, or state that none were found."""
    if witness is None:
        return " (no example found)"
    text = ", ".join(json.dumps(value, ensure_ascii=False) for value in witness.values)
    return f", for example {text}" if 0 < len(text) <= MAX_EXAMPLE else ""
