"""Deduplication of sites, and a digest of everything in them that can change a score."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.schema.nodes import Leaf, ObjectNode, Site


def canonical_sites(sites: Sequence[Site], marked: Mapping[int, bool]) -> tuple[list[Site], dict[int, bool], str]:
    """Merge equivalent sites.

    Two tables have the same digest exactly if they compare documents in the same way. The digest does not depend on
    references versus inline subschemas, or on the order of properties. Uses partition refinement (Moore, 1956): sites
    are split by their own options, then repeatedly by the classes of their children, until nothing changes.

    Returns:
        The merged sites, the marks by their new indices, and the digest (16 hexadecimal digits).
    """
    options = [json.dumps(_own_options(site), sort_keys=True) for site in sites]
    below = [_below(site) for site in sites]
    order, numbers = _ordered([(text, marked.get(index)) for index, text in enumerate(options)], below)
    text = json.dumps([[options[index], [numbers[child] for child in below[index]]] for index in order])
    conditions = list(map(_metric_conditions, sites))
    if any(conditions):  # the certificate's assumptions keep sites apart, but do not affect scores
        keys = [(text, marked.get(index), conditions[index]) for index, text in enumerate(options)]
        order, numbers = _ordered(keys, below)
    return (
        [_renumbered(sites[index], numbers) for index in order],
        {numbers[index]: mark for index, mark in marked.items()},
        hashlib.sha256(text.encode()).hexdigest()[:16],
    )


def _ordered(keys: Sequence[Any], below: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return one site per equivalence class, and for every site the position of its class.

    Sites are equivalent if they have equal keys and equivalent children.
    """
    classes, count = _numbers_of(keys)
    while True:
        classes, finer = _numbers_of(
            [(classes[index], *(classes[child] for child in below[index])) for index in range(len(keys))]
        )
        if finer == count:
            break
        count = finer
    order = _reached(classes, below)
    number = {classes[index]: position for position, index in enumerate(order)}
    return order, [number[group] for group in classes]


def _metric_conditions(site: Site) -> tuple[str, ...]:
    """Return the conditions under which the distances of a site are metrics."""
    leaves = (choice.leaf for choices in site.scalars.values() for choice in choices)
    return tuple(leaf.metric_if for leaf in leaves if leaf.metric_if is not None)


def _numbers_of(keys: Sequence[Any]) -> tuple[list[int], int]:
    """Return a number for each key, the same for equal keys, and the number of distinct keys."""
    known: dict[Any, int] = {}
    return [known.setdefault(key, len(known)) for key in keys], len(known)


def _reached(classes: Sequence[int], below: Sequence[Sequence[int]]) -> list[int]:
    """Return one site per class in breadth-first order from the root, which depends on the options only."""
    site_of_class = {classes[0]: 0}
    pending = [0]
    for index in pending:  # grows during iteration
        for child in below[index]:
            if classes[child] not in site_of_class:
                site_of_class[classes[child]] = child
                pending.append(child)
    return list(site_of_class.values())


def _below(site: Site) -> list[int]:
    node = site.object
    fields = (child.site for child in sorted(node.fields, key=lambda child: child.name))
    return [*fields, *(child for _, child in node.patterns), node.additional, *site.list.prefix, site.list.items]


def _renumbered(site: Site, numbers: Sequence[int]) -> Site:
    node, listed = site.object, site.list
    return replace(
        site,
        object=replace(
            node,
            fields=tuple(replace(child, site=numbers[child.site]) for child in node.fields),
            patterns=tuple((pattern, numbers[child]) for pattern, child in node.patterns),
            additional=numbers[node.additional],
        ),
        list=replace(listed, items=numbers[listed.items], prefix=tuple(numbers[child] for child in listed.prefix)),
    )


def _own_options(site: Site) -> dict[str, Any]:
    """Return a site's own options as plain JSON."""
    return {
        "absent": site.absent.values,
        "declared": sorted(site.declared),
        "leaf": None if site.leaf is None else _leaf(site.leaf),
        "normalize": list(map(_name_and_options, site.normalizers)),
        "scalars": {
            kind.name: [[_leaf(branch.leaf), _sorted(branch.values), _sorted(branch.tags)] for branch in choices]
            for kind, choices in site.scalars.items()
        },
        "object": _object(site.object),
        "list": [len(site.list.prefix), _name_and_options(site.list.matcher), site.list.tagged],
    } | ({} if site.alternatives is None else {"alternatives": site.alternatives})


def _object(node: ObjectNode) -> dict[str, Any]:
    return {
        "fields": sorted([child.name, child.weight, child.tagged] for child in node.fields),
        "variants": [
            [
                sorted(branch.names),
                sorted([name, _sorted(values)] for name, values in branch.tests),
                _sorted(branch.tags),
                branch.absent.values,
            ]
            for branch in node.branches
        ],
        "patterns": [pattern for pattern, _ in node.patterns],
        "map": [node.declared_map, node.tagged],
        "ignored": sorted(node.ignored),
        "aliases": [[alias.target, alias.sources, alias.null] for alias in node.aliases],
    } | ({"undeclared": "ignore"} if node.closed else {})


def _name_and_options(component: Any) -> list[Any]:  # noqa: ANN401  (a distance, a matcher or a normaliser)
    return [component.name, dict(component.options)]


def _leaf(leaf: Leaf) -> list[Any]:
    return [_name_and_options(leaf.distance), list(map(_name_and_options, leaf.normalizers))]


def _sorted(values: frozenset[Any] | None) -> list[str] | None:
    return None if values is None else sorted(map(repr, values))
