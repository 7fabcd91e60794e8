"""Aliases on the objects where they start from."""

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
"""The pointers under which a field may be held, by the site of its object and its name."""


def with_aliases(
    sites: Sequence[Site], aliases: Mapping[tuple[int, str], Annotation]
) -> tuple[list[Site], list[Problem]]:
    """The table with every alias put on the object it starts from, a list item, a map value or the root; and problems.

    A pointer is tried from the object that holds the field, then from the list item around it. It may not name a
    declared field, whose value would be taken from it.
    """
    found, problems = list(sites), list[Problem]()
    if not aliases:
        return found, problems
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
                        setting.problem(message, "Where that field is to be read as this one, `ignore` it.")
                    )
        found[owner] = replace(sites[owner], object=replace(sites[owner].object, aliases=tuple(owned)))
    return found, problems


def _holding(sites: Sequence[Site], found: set[int]) -> set[int]:
    """The sites of objects that hold one of these, as a field or a field of a field, or are one."""
    above: dict[int, list[int]] = {}
    for index, site in enumerate(sites):
        for child in site.object.fields:
            above.setdefault(child.site, []).append(index)
    pending, holding = list(found), set(found)
    while pending:
        new = [index for index in above.get(pending.pop(), ()) if index not in holding]
        holding.update(new)
        pending += new
    return holding


def _below(
    sites: Sequence[Site], aliases: Mapping[tuple[int, str], Annotation], owner: int, holding: set[int]
) -> Iterator[tuple[Alias, Annotation]]:
    """The aliases of the fields of an object and of the objects in it, once around where they recur."""
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
            if child.site in holding and child.site not in above and sites[child.site].leaf is None:
                pending.append((child.site, target, above | {child.site}))


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in text.removeprefix("/").split("/"))


def _declared(sites: Sequence[Site], owner: int, tokens: tuple[str, ...]) -> bool:
    index = owner
    for token in tokens:
        found = next((child.site for child in sites[index].object.fields if child.name == token), None)
        if found is None:
            return False
        index = found
    return True
