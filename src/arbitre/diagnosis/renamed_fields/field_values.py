"""Reads the values of a document by field."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import regex

from arbitre.engine.columns.fields import apply_aliases
from arbitre.paths import STAR, escape
from arbitre.values import PATTERN_SECONDS, canonical

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from arbitre.paths import Path, Token
    from arbitre.schema.nodes import ObjectNode
    from arbitre.schema.plan import Plan
    from arbitre.values import Json


_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Field:
    """A location of values: the keys that lead to it from its owner.

    The owner is the innermost list item or map value around it, or the root.

    Attributes:
        owner: Wildcard path of the owner.
        keys: The keys from the owner to the value; the last value is a scalar or a list.
    """

    owner: Path
    keys: tuple[str, ...]

    @property
    def path(self) -> Path:
        """Wildcard path of the field."""
        return (*self.owner, *self.keys)

    @property
    def owners(self) -> list[Path]:
        """Wildcard paths of the owner and of the owners around it, from the root inwards."""
        ends = [depth for depth, token in enumerate(self.owner, 1) if not isinstance(token, str)]
        return [self.owner[:depth] for depth in (0, *ends)]


@dataclass(frozen=True, slots=True)
class FieldValues:
    """The values of a field in one owner.

    Attributes:
        field: The field.
        declared: Whether the schema declares it.
        owners: Pointers of the owner and of the owners around it, from the root ("") inwards.
        parts: The scalars of the value, with their number. A text of n words counts as 1/n for each of its words, so
            that similar texts are partly equal. Case, punctuation, null and empty texts are left out.
    """

    field: Field
    declared: bool
    owners: tuple[str, ...]
    parts: Mapping[Hashable, float]


@dataclass(frozen=True, slots=True)
class _Place:
    """A value to be read; `site` is None below an undeclared key."""

    value: Json
    site: int | None
    owner: Path
    keys: tuple[str, ...]
    owners: tuple[str, ...]
    pointer: str

    def field(self, key: str, value: Json, site: int | None) -> _Place:
        return _Place(value, site, self.owner, (*self.keys, key), self.owners, f"{self.pointer}/{escape(key)}")

    def owned(self, token: str | int, value: Json, site: int, step: Token = STAR) -> _Place:
        """Return the place of a list item or a map value, which is an owner; `step` is its token in wildcard paths."""
        pointer = f"{self.pointer}/{escape(token)}"
        return _Place(value, site, (*self.owner, *self.keys, step), (), (*self.owners, pointer), pointer)


def field_values(plan: Plan, document: Json, *, predicted: bool) -> Iterator[FieldValues]:
    """Yield the values of every field of a document, for each owner.

    Args:
        plan: The compiled schema.
        document: The document.
        predicted: Whether it is a prediction, in which the aliases of the schema are read.
    """
    pending = [_Place(document, 0, (), (), ("",), "")]
    while pending:
        place = pending.pop()
        value, site = place.value, None if place.site is None else plan.sites[place.site]
        if site is None and isinstance(value, dict):
            pending += [place.field(key, inner, None) for key, inner in value.items()]
        elif site is not None and isinstance(value, dict) and not site.atomic:
            node = site.object
            known = {field.name: field.site for field in node.fields}
            for key, inner in (apply_aliases(value, node.aliases) if predicted else value).items():
                if key in known:
                    pending.append(place.field(key, inner, known[key]))
                elif (child := _map_site(node, key)) is not None:
                    pending.append(place.owned(key, inner, child))
                elif key not in node.ignored:
                    pending.append(place.field(key, inner, None))
        else:
            if place.keys and (parts := _parts(value)):
                yield FieldValues(Field(place.owner, place.keys), site is not None, place.owners, parts)
            if site is not None and isinstance(value, list) and not site.atomic:
                prefix = site.list.prefix
                pending += [
                    place.owned(at, item, prefix[at], at)
                    if at < len(prefix)
                    else place.owned(at, item, site.list.items)
                    for at, item in enumerate(value)
                ]


def _map_site(node: ObjectNode, key: str) -> int | None:
    """Return the site of the value of a map under this key; None if the schema declares no such key."""
    for pattern, site in node.patterns:
        try:
            if regex.compile(pattern).search(key, timeout=PATTERN_SECONDS) is not None:
                return site
        except TimeoutError:
            continue
    return node.additional if node.declared_map else None


def _parts(value: Json) -> dict[Hashable, float]:
    """Return the scalars of a value, nested ones included, with their number; a text is divided into its words."""
    parts: dict[Hashable, float] = {}
    pending = [value]
    while pending:
        inner = pending.pop()
        if isinstance(inner, (list, dict)):
            pending += inner.values() if isinstance(inner, dict) else inner
        elif inner is not None:
            keys = _words(inner) if isinstance(inner, str) else [canonical(inner)]
            for key in keys:
                parts[key] = parts.get(key, 0.0) + 1.0 / len(keys)
    return parts


def _words(text: str) -> list[str]:
    folded = text.casefold()
    return _WORD.findall(folded) or folded.split()
