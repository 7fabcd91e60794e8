"""Renames the ids of predictions to those of their partners in gold, so that the two can be compared value by value.

Patches and causes copy values of gold into predictions. A copied reference would be meaningless if the prediction used
other ids. Renaming does not change the scores of a document.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arbitre.comparison.patch import END
from arbitre.engine.columns.references import key_of, reference_normalizers
from arbitre.schema.nodes import Identity
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.comparison.references import Id
    from arbitre.engine.references.matching import Correspondence
    from arbitre.normalizers import Normalizer
    from arbitre.schema.nodes import Site
    from arbitre.schema.plan import Plan
    from arbitre.values import Json


@dataclass(frozen=True, eq=False, slots=True)
class NewIds:
    """New ids for the items of documents, by scope and id.

    Attributes:
        plan: The compiled schema.
        names: The new id of each id that changes.
        known: All ids of gold and of the prediction, by scope.
    """

    plan: Plan
    names: dict[tuple[str, Id], Id] = field(default_factory=dict)
    known: frozenset[tuple[str, Id]] = frozenset()

    @classmethod
    def of_gold(cls, plan: Plan, found: Correspondence, number: int) -> NewIds:
        """Return the ids of gold for the prediction of a pair of documents.

        Ids without a partner in gold stay as they are, unless gold has the same id.

        Args:
            plan: The compiled schema.
            found: The correspondence of several pairs of documents.
            number: Position of the pair.
        """
        index, root = found.index, int(found.right[number])
        gold = (index.roots == int(found.left[number])).nonzero()[0].tolist()
        partners = {int(found.codes[item]): index.keys[item] for item in gold}
        used = {(index.scopes[item], key) for item in gold if (key := index.keys[item]) is not None}
        own = [(index.scopes[item], index.keys[item], int(found.codes[item])) for item in index.items_of(root)]
        names = {}
        lone = [(scope, key) for document, scope, key in index.dangling if document == root]
        for scope, key, code in own:
            partner = partners.get(code)
            if key is not None and partner is not None:
                names[scope, key] = partner
            elif key is not None:
                lone.append((scope, key))
        for scope, key in lone:
            free = next(like for like in _like(key) if (scope, like) not in used)
            used.add((scope, free))
            names[scope, key] = free
        return cls(plan, {place: new for place, new in names.items() if place[1] != new}, frozenset({*used, *names}))

    def back(self) -> NewIds:
        """Return the inverse renaming. A gold id that the prediction already uses for another item gets a fresh id."""
        old_ids = {(scope, new): old for (scope, old), new in self.names.items()}
        used = {*self.known, *old_ids}
        for scope, key in sorted(self.names.keys() - old_ids.keys(), key=repr):
            old_ids[scope, key] = next(like for like in _like(key) if (scope, like) not in used)
            used.add((scope, old_ids[scope, key]))
        return NewIds(self.plan, old_ids, self.known)

    def renamed(self, value: Json, site: Site | None = None) -> Json:
        """Return a copy of a value with the new ids; `site` is its position in the schema, by default the root."""
        if not self.names:
            return value
        whole = [deepcopy(value)]
        pending: list[tuple[Any, Any, Site]] = [(whole, 0, self.plan.sites[0] if site is None else site)]
        while pending:
            holder, token, here = pending.pop()
            holder[token] = self._renamed(holder[token], here)
            pending += ((holder[token], below, child) for below, child in self._below(holder[token], here))
        return whole[0]

    def pointed(self, tokens: Sequence[str]) -> tuple[list[str], Site | None]:
        """Return the tokens of a JSON Pointer with new keys of maps, and its position in the schema."""
        site: Site | None = self.plan.sites[0]
        renamed: list[str] = []
        for token in tokens:
            keys = None if site is None or site.atomic else site.object.keys
            renamed.append(token if keys is None else str(self.names.get((keys.scope, token), token)))
            if site is not None and Kind.ARRAY in site.declared and token.isdecimal():
                site = self._site_below(site, int(token))
            elif site is not None:
                end = Kind.ARRAY in site.declared and token == END
                site = self.plan.sites[site.list.items] if end else self._site_below(site, token)
        return renamed, site

    def _renamed(self, value: Json, site: Site) -> Json:
        """Return a value whose own ids and references are renamed; what it contains is renamed later."""
        if site.reference is not None:
            return self._new(value, site.reference.scope, site.reference.key, reference_normalizers(site))
        if site.atomic or not isinstance(value, dict):
            return value
        if site.identity is not None:
            value = self._new(value, site.identity.scope, site.identity.key, site.identity.normalizers)
        keys = site.object.keys
        if keys is not None:
            value = {str(self.names.get((keys.scope, key), key)): held for key, held in value.items()}
        return value

    def _new(
        self, value: Json, scope: str, fields: tuple[str, ...], normalizers: tuple[tuple[Normalizer, ...], ...]
    ) -> Json:
        """Return a reference, or an object with its id in these fields, with the new id."""
        if not fields:
            return self.names.get((scope, key_of(value, normalizers)), value)  # type: ignore[arg-type]
        if not isinstance(value, dict):
            return value
        held = [value.get(name) for name in fields]
        key = key_of(held[0] if len(fields) == 1 else tuple(held), normalizers)
        new = None if key is None else self.names.get((scope, key))
        if new is not None:
            value.update(zip(fields, new if isinstance(new, tuple) else (new,), strict=True))
        return value

    def _below(self, value: Json, site: Site) -> Iterator[tuple[str | int, Site]]:
        """Yield the tokens of the values in an object or a list, with their positions in the schema."""
        tokens = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        for token in tokens:
            below = self._site_below(site, token)
            if below is not None and isinstance(value[token], dict | list | str | int | float):
                yield token, below

    def _site_below(self, site: Site, token: str | int) -> Site | None:
        """Return the position of the value at a token; None inside a single value."""
        if site.atomic:
            return None
        return self.plan.sites[site.child(token)]


def ids_in(plan: Plan, document: Json) -> dict[str, set[Id]]:
    """Return the ids of the items of a document, by scope."""
    found: dict[str, set[Id]] = {}
    pending: list[tuple[Json, Site]] = [(document, plan.sites[0])]
    while pending:
        value, site = pending.pop()
        keys = None if site.atomic else site.object.keys
        if isinstance(value, dict) and isinstance(keys, Identity):
            found.setdefault(keys.scope, set()).update(value)
        if isinstance(value, dict) and site.identity is not None:
            held = [value.get(name) for name in site.identity.key]
            key = key_of(held[0] if len(held) == 1 else tuple(held), site.identity.normalizers)
            found.setdefault(site.identity.scope, set()).update(() if key is None else (key,))
        pending += ((value[token], below) for token, below in NewIds(plan)._below(value, site))  # noqa: SLF001
    return found


def _like(key: Id) -> Iterator[Id]:
    """Yield an id, then ids like it."""
    yield key
    number = 1
    while True:
        last = key[-1] if isinstance(key, tuple) else key
        changed = last + number if isinstance(last, int) else f"{last}-{number}"
        yield (*key[:-1], changed) if isinstance(key, tuple) else changed
        number += 1


def compares_ids(plan: Plan) -> bool:
    """Return whether the values of an id are compared, so that they must not be renamed."""
    return any(
        isinstance(site.identity, Identity) and not site.object.ignored.issuperset(site.identity.key)
        for site in plan.sites
    )
