"""Sites with accepted alternatives, and the matchings that cannot use them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from arbitre.errors import Problem
from arbitre.matching import Candidates
from arbitre.paths import wildcard
from arbitre.schema.describe import walk
from arbitre.schema.reach import below

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.schema.loading.references import Subschema
    from arbitre.schema.nodes import Alternatives, Leaf, Site


def with_alternatives(site: Site, alternatives: Alternatives) -> Site:
    """Return a site whose leaves take the best of several accepted readings."""

    def accepting(leaf: Leaf) -> Leaf:
        return replace(leaf, alternatives=alternatives, metric_if=None)

    return replace(
        site,
        scalars={
            kind: tuple(replace(branch, leaf=accepting(branch.leaf)) for branch in branches)
            for kind, branches in site.scalars.items()
        },
        other=accepting(site.other),
        leaf=None if site.leaf is None else accepting(site.leaf),
        alternatives=alternatives,
    )


def matching_problems(sites: Sequence[Site], root: Subschema) -> Iterator[Problem]:
    """Yield a problem for each list that is matched by equality of values with alternatives.

    Equality with one of several readings is not transitive, so it does not divide the items into groups.
    """
    if all(site.alternatives is None for site in sites):
        return
    for step in walk(sites):
        site = sites[step.site]
        matcher, items = site.list.matcher, site.list.items
        if step.repeats is not None or site.atomic:
            continue
        path = wildcard(step.path) or "the root"
        if matcher.candidates is Candidates.SAME_VALUE and _has_alternatives(sites, items):
            message = f"`set` cannot match the items of {path}: they have `alternatives`"
            hint = 'Use {"hungarian": {"gate": 1}}, or map variants to one name with the normaliser `authority`.'
            yield Problem(message, root.file, hint=hint)
        for key in matcher.key if matcher.candidates is Candidates.SAME_KEY else ():
            if sites[_at(sites, items, key)].alternatives is not None:
                message = f"`keyed` cannot use the key {wildcard(key)} of {path}: it has `alternatives`"
                hint = "Map variants to one name with the normaliser `authority` instead."
                yield Problem(message, root.file, hint=hint)


def _has_alternatives(sites: Sequence[Site], index: int) -> bool:
    pending, seen = [index], {index}
    for number in pending:  # grows during iteration
        if sites[number].alternatives is not None:
            return True
        new = [child.site for child in below(sites[number]) if child.site not in seen]
        seen.update(new)
        pending += new
    return False


def _at(sites: Sequence[Site], index: int, key: tuple[str, ...]) -> int:
    """Return the site at these tokens below a site; undeclared keys have the site of further keys."""
    for token in key:
        node = sites[index].object
        index = next((child.site for child in node.fields if child.name == token), node.additional)
    return index
