"""Read the fields of objects, and move predicted fields from their aliases to their place in the schema."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from arbitre.schema.nodes import below, with_ancestors
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from arbitre.schema.nodes import Alias, Site
    from arbitre.schema.plan import Plan

    AliasMove = tuple[tuple[str, ...], tuple[str, ...]]
    """Tokens of a field in the schema, and of the alias that held its value; both from the object that owns them."""


def missing_value(site: Site) -> Json:
    """Return the value of an absent field: null if it counts as absent, else ABSENT."""
    return None if site.absent.null else ABSENT


def read_field(name: str, site: Site, values: Sequence[dict[str, Json]]) -> list[Json]:
    """Return the value of each object under a declared key."""
    try:
        return list(map(itemgetter(name), values))
    except KeyError:
        absent = missing_value(site)
        return [value.get(name, absent) for value in values]


def apply_aliases(value: dict[str, Json], aliases: Iterable[Alias]) -> dict[str, Json]:
    """Return a copy of a predicted object with each aliased field moved to its place in the schema.

    If the field is already present in its place, the value at the alias is not moved and counts as spurious. Null is
    not present if the schema treats it as absent.
    """
    return move_aliased(value, aliases)[0]


def move_aliased(value: dict[str, Json], aliases: Iterable[Alias]) -> tuple[dict[str, Json], list[AliasMove]]:
    """Return the result of `apply_aliases` and what was moved, in this order."""
    result = value
    moves: list[AliasMove] = []
    for alias in aliases:
        missing = (ABSENT, None) if alias.null else (ABSENT,)
        if get_field(result, alias.target) not in missing:
            continue
        source = next((source for source in alias.sources if get_field(result, source) not in missing), None)
        if source is None:
            continue
        moved = get_field(result, source)
        placed = put_field(without(result, source, prune=True), alias.target, moved)
        if placed is not None:
            result = placed
            moves.append((alias.target, source))
    return result, moves


def in_schema_places(plan: Plan, document: Json) -> Json:
    """Return a prediction in which every aliased field is in its place in the schema; itself if nothing moves."""
    able = {number for number, site in enumerate(plan.sites) if site.object.aliases}
    if not able:
        return document
    children = [[child.site for child in below(site)] for site in plan.sites]
    return _in_places(plan, document, 0, with_ancestors(able, children))


def _in_places(plan: Plan, value: Json, number: int, able: Container[int]) -> Json:
    """Move the aliased fields below a site; `able` are the sites with aliases at or below them."""
    site = plan.sites[number]
    if number not in able or site.atomic or not isinstance(value, (dict, list)):
        return value
    if isinstance(value, list):
        items = [_in_places(plan, item, site.list.child(at), able) for at, item in enumerate(value)]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    moved = apply_aliases(value, site.object.aliases)
    changed = {}
    for key, inner in moved.items():
        new = _in_places(plan, inner, site.child(key), able)
        if new is not inner:
            changed[key] = new
    return {**moved, **changed} if changed else moved


def aliased(value: dict[str, Json], aliases: Iterable[Alias]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Find the aliases of an object that hold a value, whether or not the field itself is present.

    Yields:
        The tokens of the field and the tokens of the alias, from this object. Null is not a value if the schema treats
        it as absent.
    """
    for alias in aliases:
        missing = (ABSENT, None) if alias.null else (ABSENT,)
        for source in alias.sources:
            if get_field(value, source) not in missing:
                yield alias.target, source


def get_field(value: Json, tokens: Iterable[str]) -> Json:
    """Return the value at these tokens below a value; ABSENT if there is none."""
    for token in tokens:
        if not isinstance(value, dict) or token not in value:
            return ABSENT
        value = value[token]
    return value


def without(value: Any, tokens: Sequence[str | int], *, prune: bool = False) -> Any:  # noqa: ANN401  (indexed)
    """Return a copy without the value at these tokens; `prune` also leaves out objects that become empty."""
    head, *rest = tokens
    copy = value.copy()
    if rest and ((inner := without(copy[head], rest, prune=prune)) or not prune):
        copy[head] = inner
    else:
        del copy[head]
    return copy


def put_field(value: dict[str, Json], tokens: Sequence[str], new: Json) -> dict[str, Json] | None:
    """Return a copy with a field and its parent objects added; None if a parent exists and is not an object."""
    head, *rest = tokens
    if not rest:
        return value | {head: new}
    inner = value.get(head)
    if not isinstance(inner, (dict, type(None))):
        return None
    placed = put_field(inner or {}, rest, new)
    return None if placed is None else value | {head: placed}
