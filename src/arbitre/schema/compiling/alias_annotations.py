"""Assignment of aliases to the objects from which they are resolved."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from arbitre.errors import Problem
from arbitre.schema.nodes import Alias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.schema.loading.vocabulary import Annotation
    from arbitre.schema.nodes import Site

Aliases = dict[tuple[int, str], "Annotation"]
"""The `aliases` annotation of each field, by the site of its object and the field's name."""


def with_aliases(
    sites: Sequence[Site], aliases: Mapping[tuple[int, str], Annotation]
) -> tuple[list[Site], list[Problem]]:
    """Assign each alias to the object that owns it: a list item, a map value or the root.

    A pointer is resolved from the object that holds the field first, then from the owner. It must not name a declared
    field, which would lose its value.

    Returns:
        The sites with their aliases, and the problems found.
    """
    linked, problems = list(sites), list[Problem]()
    if not aliases:
        return linked, problems
    holding = _holding(sites, {index for index, _ in aliases})
    owners = {0}
    for site in sites:
        owners |= {site.object.additional, *(index for _, index in site.object.patterns)}
        owners |= {site.list.items, *site.list.prefix}
    for owner in sorted(owners & holding):
        owned = []
        for alias, setting in _below(sites, aliases, owner, holding):
            owned.append(alias)
            for source in alias.sources:
                if _declared(sites, owner, source):
                    message = f'Expected `aliases` to name no declared field, got "{"/".join(source)}"'
                    problems.append(
                        setting.problem(message, "To read that field's value as this field, set `ignore` on it.")
                    )
        linked[owner] = replace(sites[owner], object=replace(sites[owner].object, aliases=tuple(owned)))
    return linked, problems


def _holding(sites: Sequence[Site], targets: set[int]) -> set[int]:
    """Return these sites and all sites of objects that hold one of them as a field, at any depth."""
    above: dict[int, list[int]] = {}
    for index, site in enumerate(sites):
        for child in site.object.fields:
            above.setdefault(child.site, []).append(index)
    pending, holding = list(targets), set(targets)
    while pending:
        new = [index for index in above.get(pending.pop(), ()) if index not in holding]
        holding.update(new)
        pending += new
    return holding


def _below(
    sites: Sequence[Site], aliases: Mapping[tuple[int, str], Annotation], owner: int, holding: set[int]
) -> Iterator[tuple[Alias, Annotation]]:
    """Yield the aliases of all fields of an object, nested ones included; recursive parts are visited once."""
    pending: deque[tuple[int, tuple[str, ...], frozenset[int]]] = deque([(owner, (), frozenset({owner}))])
    while pending:
        index, path, above = pending.popleft()
        for child in sorted(sites[index].object.fields, key=lambda field: field.name):
            target = (*path, child.name)
            setting = aliases.get((index, child.name))
            if setting is not None:
                pointers = [_tokens(text) for text in setting.value]
                sources = dict.fromkeys([(*path, *tokens) for tokens in pointers] + pointers)
                sources.pop(target, None)
                yield Alias(target, tuple(sources), null=sites[child.site].absent.null), setting
            if child.site in holding and child.site not in above and not sites[child.site].atomic:
                pending.append((child.site, target, above | {child.site}))


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in text.removeprefix("/").split("/"))


def _declared(sites: Sequence[Site], owner: int, tokens: tuple[str, ...]) -> bool:
    index = owner
    for token in tokens:
        child_index = next((child.site for child in sites[index].object.fields if child.name == token), None)
        if child_index is None:
            return False
        index = child_index
    return True
