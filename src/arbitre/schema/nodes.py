"""The nodes of a compiled plan, stored in one table and linked by index, so that schemas may be recursive.

A `Site` is one position of the schema. It defines how each kind of JSON value is compared there. Kinds that the schema
does not declare use a default for their kind, so a plan can compare any document.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from arbitre.values import Absence

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from arbitre.distances.base import Distance, Facts
    from arbitre.matching import Matcher
    from arbitre.normalizers import Normalizer
    from arbitre.values import Kind

_NULL: Final = Absence()

Alternatives = str | bool | None
"""Where gold lists accepted readings: the key of a sibling field, True for a list in place of the value, or None."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """How single values are compared: `normalizers` in order, then `distance`.

    `metric_if` is a condition, imposed by the schema, under which a distance that is not a metric in general is one for
    these values; None if there is none. It does not affect scores. `alternatives` is the option of the site.
    """

    distance: Distance
    normalizers: tuple[Normalizer, ...] = ()
    metric_if: str | None = field(default=None, compare=False)
    alternatives: Alternatives = None

    @property
    def facts(self) -> Facts:
        """The properties of the distance; the best of several readings is neither symmetric nor separating.

        The triangle inequality holds for lists of readings, a directed Hausdorff distance, but not for readings in a
        sibling field, which only gold has.
        """
        facts = self.distance.facts
        if self.alternatives is None:
            return facts
        triangle = facts.triangle and self.alternatives is True
        return replace(facts, symmetric=False, separating=False, triangle=triangle, witness=None)


@dataclass(frozen=True, slots=True)
class ScalarBranch:
    """A branch for single values.

    Attributes:
        leaf: How the values are compared.
        values: Canonical keys of the values that take this branch; None for any value.
        tags: Branches of the enclosing object under which it applies; None for any.
    """

    leaf: Leaf
    values: frozenset[Hashable] | None = None
    tags: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class ObjectBranch:
    """A branch for objects.

    Attributes:
        names: The declared keys.
        tests: The canonical values that `const` or `enum` allows, by key.
        tags: Branches of the enclosing object under which it applies; None for any.
        absent: Which values count as absent; their keys are not used to choose the branch.
    """

    names: frozenset[str]
    tests: tuple[tuple[str, frozenset[Hashable]], ...] = ()
    tags: frozenset[int] | None = None
    absent: Absence = _NULL


@dataclass(frozen=True, slots=True)
class FieldNode:
    """A declared key: the site of its value, its weight, and whether that site depends on the object's branch."""

    name: str
    site: int
    weight: float = 1.0
    tagged: bool = False


@dataclass(frozen=True, slots=True)
class Alias:
    """Other places where a prediction may store a field. All token paths start at the object that owns the alias.

    `null` states whether null counts as absent there.
    """

    target: tuple[str, ...]
    sources: tuple[tuple[str, ...], ...]
    null: bool = True


@dataclass(frozen=True, slots=True)
class ObjectNode:
    """How objects are compared: field by field; a missing field costs its full weight.

    Attributes:
        fields: The declared keys.
        branches: The branches of a union of objects.
        patterns: Pairs of a regular expression for keys and a site.
        additional: Site of every other key.
        declared_map: Whether the schema declares other keys. They are counted together under `*`, otherwise each under
            its own name.
        tagged: Whether a site of `patterns` or `additional` depends on the branch of this object.
        ignored: Keys that are not compared.
        closed: Whether keys that the schema does not declare are not compared.
        aliases: Other places where a prediction may store a field.
    """

    fields: tuple[FieldNode, ...] = ()
    branches: tuple[ObjectBranch, ...] = ()
    patterns: tuple[tuple[str, int], ...] = ()
    additional: int = 0
    declared_map: bool = False
    tagged: bool = False
    ignored: frozenset[str] = frozenset()
    closed: bool = False
    aliases: tuple[Alias, ...] = ()


@dataclass(frozen=True, slots=True)
class ListNode:
    """How lists are compared: the first items by position (`prefix`), the remaining items matched by `matcher`."""

    items: int
    matcher: Matcher
    prefix: tuple[int, ...] = ()
    tagged: bool = False

    @property
    def metric(self) -> bool:
        """Whether the distance of lists is a (pseudo-)metric if the distance of the items is one.

        Balanced transport scales the matched items to the number of gold items, so with `prefix` sites the distance is
        not symmetric.
        """
        return self.matcher.metric and not (self.matcher.transport is not None and self.prefix)


@dataclass(frozen=True, slots=True)
class Site:
    """One position of the schema.

    If `leaf` is set, every value is compared as one leaf, whatever its kind. Otherwise values are normalised and then
    compared by kind: scalars with the first `ScalarBranch` that fits, objects with `object`, lists with `list`.

    Attributes:
        absent: Which values count as absent.
        scalars: The branches for single values, by kind.
        object: How objects are compared.
        list: How lists are compared.
        other: Fallback for a list or object that is one leaf if the chosen distance does not support its kind.
        leaf: How every value is compared as one leaf; None if values are compared by kind.
        normalizers: Applied to every value, in order.
        declared: The kinds that the schema declares.
        alternatives: Where gold lists the accepted readings of a value; every value is then compared as one leaf.
    """

    absent: Absence
    scalars: Mapping[Kind, tuple[ScalarBranch, ...]]
    object: ObjectNode
    list: ListNode
    other: Leaf
    leaf: Leaf | None = None
    normalizers: tuple[Normalizer, ...] = ()
    declared: frozenset[Kind] = frozenset()
    alternatives: Alternatives = None

    @property
    def atomic(self) -> bool:
        """Whether every value is compared as one leaf, whatever its kind."""
        return self.leaf is not None or self.alternatives is not None
