"""Checks of the ids and references of a compiled schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arbitre.errors import Problem, did_you_mean
from arbitre.language import counted
from arbitre.paths import STAR, wildcard
from arbitre.schema.describe import walk
from arbitre.schema.nodes import Identity, Reference
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arbitre.schema.loading.load_schema import Subschema
    from arbitre.schema.nodes import Site


_OF_IDS: Final = frozenset({Kind.STRING, Kind.NUMBER})
"""JSON types that ids may have. A number with a fraction is a data error in gold, and no id in a prediction."""


def reference_problems(sites: Sequence[Site], root: Subschema, shared: frozenset[str]) -> Iterator[Problem]:
    """Yield a problem for each id and each reference of a schema that cannot be compared.

    Ids belong to the items of lists that are matched by the default matching, or to the keys of maps; references need
    a scope of the same kind of ids. `shared` are the scopes whose ids all documents of a corpus share.
    """
    steps = [step for step in walk(sites) if step.repeats is None]
    identities: dict[str, list[Identity]] = {}
    for step in steps:
        site = sites[step.site]
        for identity in (site.identity, site.object.keys):
            if isinstance(identity, Identity):
                identities.setdefault(identity.scope, []).append(identity)
    for scope in sorted(shared - identities.keys()):
        hint = did_you_mean(scope, identities, 'Mark the ids of its items with `"id"`.')
        yield Problem(f'`scope` names an unknown scope, "{scope}": no field has this `id`', root.file, hint=hint)
    if not identities and all(_reference_of(site) is None for site in sites):
        return
    listed = {sites[step.site].list.items for step in steps if Kind.ARRAY in sites[step.site].declared}
    for scope, several in identities.items():
        if len({len(identity.key) or 1 for identity in several}) > 1:
            yield Problem(f'The ids of the scope "{scope}" have different numbers of fields', root.file)
    for step in steps:
        site, path = sites[step.site], wildcard(step.path) or "the root"
        problems = [*_of_identity(site, path, listed=step.site in listed and step.path[-1:] == (STAR,))]
        problems += _of_list(site, sites[site.list.items], path)
        reference = _reference_of(site)
        if reference is not None:
            kinds = site.declared if site.reference is not None else frozenset({Kind.STRING})
            problems += _of_reference(reference, kinds, path, identities)
        yield from (Problem(message, root.file, hint=hint) for message, hint in problems)


def _reference_of(site: Site) -> Reference | None:
    """Return what the values of a site, or the keys of its maps, refer to."""
    return site.object.keys if isinstance(site.object.keys, Reference) else site.reference


def _of_list(site: Site, items: Site, path: str) -> Iterator[tuple[str, str | None]]:
    """Yield what is wrong with the lists and maps of items at a path, and what to do."""
    if site.object.keys is not None and (site.object.fields or len(site.object.patterns) > 1):
        message = f"The keys of {path} are {_role(site.object.keys)}, so all of its values need one subschema"
        yield message, "Use `additionalProperties`, or a single pattern, instead of `properties`."
    if items.identity is not None and not site.list.matcher.full_matching:
        message = f"`match` is not allowed on {path}: its items have ids and are matched by their correspondence"
        yield message, "Remove `match`, or remove `id` from the items."


def _role(keys: Identity | Reference) -> str:
    return "ids" if isinstance(keys, Identity) else "references"


def _of_identity(site: Site, path: str, *, listed: bool) -> Iterator[tuple[str, str | None]]:
    """Yield what is wrong with the ids of a path, and what to do; `listed` states whether they are those of items."""
    identity = site.identity
    if identity is None:
        return
    if not listed:
        message = f"The `id` at {path} is not in an item of a list"
        yield message, "Put `id` on a field of list items, or on a map."
    for name, kinds in zip(identity.key, identity.kinds, strict=False):
        if not kinds or not kinds <= _OF_IDS:
            message = f"Expected the ids {path}/{name} to be strings or integers, got {_named(kinds)}"
            yield message, "Declare their type."


def _of_reference(
    reference: Reference, kinds: frozenset[Kind], path: str, identities: dict[str, list[Identity]]
) -> Iterator[tuple[str, str | None]]:
    """Yield what is wrong with the references at a path, and what to do."""
    several = identities.get(reference.scope)
    if several is None:
        hint = did_you_mean(reference.scope, identities, 'Mark the ids of its items with `"id"`.')
        yield f'The references at {path} refer to an unknown scope, "{reference.scope}": no field has this `id`', hint
        return
    parts = len(reference.key) or 1
    if all((len(identity.key) or 1) != parts for identity in several):
        names = f": {' and '.join(several[0].key)}" * bool(several[0].key)
        given, fields = counted(parts, "field"), counted(len(several[0].key) or 1, "field")
        yield f'A reference at {path} has {given}, but an id of "{reference.scope}" has {fields}{names}', None
    elif not reference.key:
        of_ids = frozenset(kind for identity in several for own in identity.kinds for kind in own)
        kinds -= {Kind.NULL}
        if not kinds or not kinds <= of_ids:
            message = f'The references at {path} are declared as {_named(kinds)}, but the ids of "{reference.scope}" as'
            yield f"{message} {_named(of_ids)}", "Declare the same type for both."


def _named(kinds: Iterable[Kind]) -> str:
    return " or ".join(kind.json_type for kind in sorted(kinds)) or "any value"
