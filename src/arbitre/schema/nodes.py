"""The compiled plan: frozen nodes in one table, so that recursive schemas are plain indices.

A `Site` is one position of the schema. It says for every kind of JSON value how it is compared there; kinds the schema
does not declare are compared by kind, so a plan has an answer for any document.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from arbitre.values import Absence

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from arbitre.distances.base import Distance
    from arbitre.matching import Matcher
    from arbitre.normalizers import Normalizer
    from arbitre.values import Kind

_NULL: Final = Absence()


@dataclass(frozen=True, slots=True)
class Leaf:
    """How single values are compared: `normalizers` in order, then `distance`.

    `metric_if` is what values have to keep to for a distance that is no metric to be one between them, as the schema
    asks of them; None where there is no such condition. It moves no number.
    """

    distance: Distance
    normalizers: tuple[Normalizer, ...] = ()
    metric_if: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ScalarBranch:
    """One scalar branch: taken by values in `values` (canonical keys; None takes any), under a branch in `tags`."""

    leaf: Leaf
    values: frozenset[Hashable] | None = None
    tags: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class ObjectBranch:
    """One object branch: the keys it declares and, per key, the canonical values its const or enum allows.

    It belongs to the branches `tags` of the enclosing object (None for any); keys with values that `absent` covers do
    not count for it.
    """

    names: frozenset[str]
    tests: tuple[tuple[str, frozenset[Hashable]], ...] = ()
    tags: frozenset[int] | None = None
    absent: Absence = _NULL


@dataclass(frozen=True, slots=True)
class FieldNode:
    """A declared key: the site of its value, its weight, and whether that site looks at the branch taken here."""

    name: str
    site: int
    weight: float = 1.0
    tagged: bool = False


@dataclass(frozen=True, slots=True)
class Alias:
    """Where a prediction may hold a field instead: all token paths start at the object that owns the alias.

    `null` says that null counts as absent there.
    """

    target: tuple[str, ...]
    sources: tuple[tuple[str, ...], ...]
    null: bool = True


@dataclass(frozen=True, slots=True)
class ObjectNode:
    """How objects are compared: field by field, a missing one costing its whole weight.

    `patterns` are (regular expression, site) pairs; `additional` is the site of every other key, counted together
    under `*` where the schema declares them (`declared_map`), else each under its own name. `tagged` says that some of
    these sites look at the branch taken here.
    """

    fields: tuple[FieldNode, ...] = ()
    variants: tuple[ObjectBranch, ...] = ()
    patterns: tuple[tuple[str, int], ...] = ()
    additional: int = 0
    declared_map: bool = False
    tagged: bool = False
    ignored: frozenset[str] = frozenset()
    aliases: tuple[Alias, ...] = ()


@dataclass(frozen=True, slots=True)
class ListNode:
    """How lists are compared: `prefix` sites by position, then the items of the rest matched by `matcher`."""

    items: int
    matcher: Matcher
    prefix: tuple[int, ...] = ()
    tagged: bool = False

    @property
    def metric(self) -> bool:
        """Whether the distance of lists is a (pseudo-)metric where that of the items is.

        A transport that moves all mass counts the items as often as gold has them, beside the positions: with `prefix`
        sites it is not symmetric.
        """
        return self.matcher.metric and not (self.matcher.transport is not None and self.prefix)


@dataclass(frozen=True, slots=True)
class Site:
    """One position of the schema.

    Where `leaf` is given every value here is one leaf, whatever its kind. Else values are normalised, then compared by
    kind: scalars by the first fitting `ScalarBranch` of their kind, objects by `object`, lists by `list`. `other`
    compares a list or an object that stands as one leaf where its distance is not for such; `declared` are the kinds
    that the schema names.
    """

    absent: Absence
    scalars: Mapping[Kind, tuple[ScalarBranch, ...]]
    object: ObjectNode
    list: ListNode
    other: Leaf
    leaf: Leaf | None = None
    normalizers: tuple[Normalizer, ...] = ()
    declared: frozenset[Kind] = frozenset()
