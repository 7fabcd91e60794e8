"""Sites with accepted alternatives, and the matchings that cannot use them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from arbitre.errors import Problem
from arbitre.matching import Candidates
from arbitre.paths import wildcard
from arbitre.schema.compiling.annotation_checks import sibling_of
from arbitre.schema.describe import walk
from arbitre.schema.reach import below

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.schema.compiling.branch import Subschemas
    from arbitre.schema.compiling.branch_expansion import Expander
    from arbitre.schema.loading.overlay import Overlay
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


def sibling_keys(
    fields: Mapping[str, Sequence[Subschemas]], expander: Expander, overlay: Overlay | None, problems: list[Problem]
) -> set[str]:
    """Return the keys of an object that contain the readings of other fields; errors are added to `problems`.

    These keys are compared only if they are annotated with `"ignore": false`.

    Args:
        fields: The subschemas of each declared field, one for each branch of the object.
        expander: Resolves the subschemas.
        overlay: The overlay of the object.
        problems: Receives the errors.
    """
    keys = set()
    for name, subschemas in fields.items():
        here = overlay.at(name) if overlay else None
        settings = [branch.settings.get("alternatives") for each in subschemas for branch in expander.branches(each)]
        if here is not None and "alternatives" in here.settings:
            settings = [here.settings["alternatives"]]
        for setting in settings:
            if setting is None or not isinstance(setting.value, str):
                continue
            keys.add(sibling_of(setting))
            if sibling_of(setting) == name:
                message = f'Expected `alternatives` to name another field, got "{setting.value}"'
                hint = "Write true if gold contains a list of readings in place of the value."
                problems.append(setting.problem(message, hint))
    return keys


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
