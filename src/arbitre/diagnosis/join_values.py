"""Join the values of several items into one, as their schema describes them, and put joined items into documents.

* Lists are concatenated.
* Objects are joined key by key; a key that only one of them has is kept.
* Different texts are joined with a space if their distance compares texts by their characters or words. Enumerations,
  dates and other texts that are compared as a unit are not joined.
* Of all other values that differ, the first is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from arbitre.engine.columns.fields import apply_aliases
from arbitre.values import Kind, equal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arbitre.schema.nodes import Site
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

SEPARATOR: Final = " "
"""Text between two joined texts."""

_UNITS: Final = frozenset(
    {"exact", "date", "duration", "time", "uuid", "iban", "isbn", "doi", "email", "uri", "taxonomy", "ordinal", "table"}
)
"""Distances of texts that are one value each: a concatenation of two of them has no meaning."""


@dataclass(slots=True)
class Joiner:
    """Joins values.

    Attributes:
        plan: The compiled schema.
        extend_first: Whether to extend only the lists of the first value, and to keep everything else in it.
        depends_on_order: Whether the result depends on the order of the values.
    """

    plan: Plan
    extend_first: bool = False
    depends_on_order: bool = False

    def join(self, site: Site, values: Sequence[Json]) -> Json:
        """Return the joined value. The values belong to the same position of the schema."""
        present = [value for value in values if value is not None] or list(values[:1])
        first = present[0]
        if len(present) == 1:
            return first
        if all(isinstance(value, list) for value in present):
            self.depends_on_order |= site.atomic or site.list.matcher.in_order or bool(site.list.prefix)
            return [item for value in present for item in value]
        if all(isinstance(value, dict) for value in present):
            keys = dict.fromkeys(
                key
                for value in present
                for key, inner in value.items()
                if value is first or isinstance(inner, (list, dict)) or not self.extend_first
            )
            return {key: self._field(site, key, present) for key in keys}
        if all(isinstance(value, str) for value in present):
            distinct = list(dict.fromkeys(present))
            self.depends_on_order |= len(distinct) > 1
            return SEPARATOR.join(distinct) if _is_joinable(site) and not self.extend_first else first
        self.depends_on_order |= not all(equal(first, value) for value in present[1:])
        return first

    def _field(self, site: Site, key: str, objects: Sequence[dict[str, Json]]) -> Json:
        return self.join(self.plan.sites[site.child(key)], [value[key] for value in objects if key in value])


def joined_variants(plan: Plan, site: Site, values: Sequence[Json], best: int) -> list[Json]:
    """Return the results of joining the values in four ways, without duplicates.

    The values are joined in their order and in reverse order. They are also added to the first and to the best of them,
    of which only the lists are extended: a model that merges two items may keep the name of one of them.

    Args:
        plan: The compiled schema.
        site: The position of the values in the schema.
        values: The values, in document order.
        best: Position of the best value.
    """
    joiner = Joiner(plan)
    variants = [joiner.join(site, values)]
    if joiner.depends_on_order:
        variants.append(Joiner(plan).join(site, values[::-1]))
    for position in dict.fromkeys((best, 0)):
        others = [*values[:position], *values[position + 1 :]]
        extended = Joiner(plan, extend_first=True).join(site, [values[position], *others])
        if extended != variants[0]:
            variants.append(extended)
    return variants


def with_lists_changed(
    plan: Plan,
    document: Json,
    changes: Mapping[tuple[str | int, ...], Callable[[list[Json]], list[Json]]],
    *,
    predicted: bool,
) -> Json:
    """Return a copy of a document with some lists replaced; parts that do not change are shared.

    Args:
        plan: The compiled schema.
        document: The document.
        changes: A function of each list that changes, by the tokens of the list.
        predicted: Whether the document is a prediction, in which fields may be stored under an alias.
    """
    for tokens in sorted(
        changes, key=len, reverse=True
    ):  # nested lists first: their pointers are those of the original
        document = _changed(plan, plan.sites[0], document, tokens, changes[tokens], predicted=predicted)
    return document


def _changed(
    plan: Plan,
    site: Site,
    value: Json,
    tokens: Sequence[str | int],
    change: Callable[[list[Json]], list[Json]],
    *,
    predicted: bool,
) -> Json:
    if not tokens:
        return change(value)
    if predicted and isinstance(value, dict) and site.object.aliases:
        value = apply_aliases(value, site.object.aliases)
    head, *rest = tokens
    copy = value.copy()
    copy[head] = _changed(plan, plan.sites[site.child(head)], value[head], rest, change, predicted=predicted)
    return copy


def _is_joinable(site: Site) -> bool:
    """Return whether texts at a position may be joined."""
    if site.leaf is not None:
        return site.leaf.distance.name not in _UNITS
    branches = site.scalars[Kind.STRING]
    return all(branch.values is None and branch.leaf.distance.name not in _UNITS for branch in branches)
