"""Checks of a single gold document for values that may be mistakes: duplicate entries, repeated and unsorted values.

To add a check, write a function that yields the findings of one document and add it to `WARNINGS`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.diagnosis.gold_checks import GoldFinding, positions
from arbitre.diagnosis.metricity.entry_pool import build_entry_pool
from arbitre.errors import ArbitreError
from arbitre.paths import STAR, pointer
from arbitre.values import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from arbitre.schema.nodes import Site
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

NEAR: Final = 0.95
"""Minimum quality of two entries that are nearly identical."""

MAX_ENTRIES: Final = 500
"""Maximum number of entries of a document that are compared with each other; more are sampled."""

_SORTED: Final = ("date", "time")
"""Distances of texts that have an order."""


def warnings_of(plan: Plan, document: Json) -> tuple[GoldFinding, ...]:
    """Run every check on one gold document.

    Args:
        plan: The compiled schema.
        document: The gold document.

    Returns:
        The findings, grouped by check, in document order.
    """
    return tuple(finding for check_function in WARNINGS.values() for finding in check_function(plan, document))


def _duplicates(plan: Plan, document: Json) -> Iterator[GoldFinding]:
    """Yield the entries that are identical or nearly identical to an earlier one."""
    try:
        pool = build_entry_pool(plan, [document], [], sample=MAX_ENTRIES)
    except ArbitreError:  # no entries, or values that cannot be compared
        return
    alike = np.triu(pool.distances <= 1.0 - NEAR, 1)
    for later in np.flatnonzero(alike.any(axis=0)).tolist():
        earlier = int(np.argmax(alike[:, later]))
        degree = "Identical" if pool.distances[earlier, later] == 0.0 else "Nearly identical"
        yield GoldFinding(
            "duplicate",
            pool.pointers[later],
            f"{degree} to the entry at {pool.pointers[earlier]}",
            "Remove it if it is not in the source twice.",
        )


def _repeated(plan: Plan, document: Json) -> Iterator[GoldFinding]:
    """Yield the values that occur earlier in the same list, except for entries."""
    for _, value, tokens in positions(plan, document):
        if not isinstance(value, list) or _wildcard(tokens) == plan.entries:
            continue
        first: dict[Hashable, int] = {}
        for place, item in enumerate(value):
            earlier = first.setdefault(canonical(item), place)
            if earlier != place:
                yield GoldFinding(
                    "repeated",
                    pointer((*tokens, place)),
                    f"The same value as at {pointer((*tokens, earlier))}",
                    "Remove it if it is not in the source twice.",
                )


def _unsorted(plan: Plan, document: Json) -> Iterator[GoldFinding]:
    """Yield the lists of numbers, dates or times that are compared in order, but neither ascending nor descending."""
    for site, value, tokens in positions(plan, document):
        if not isinstance(value, list) or not site.list.matcher.in_order:
            continue
        if _numbers(value) or _dates(plan.sites[site.list.items], value):
            steps = list(pairwise(value))
            if any(before > after for before, after in steps) and any(before < after for before, after in steps):
                yield GoldFinding(
                    "unsorted",
                    pointer(tokens),
                    f"The list is compared in order ({site.list.matcher.name}), but it is not sorted",
                    "Sort it, or match it by hungarian if its order has no meaning.",
                )


def _numbers(items: list[Json]) -> bool:
    return all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in items)


def _dates(site: Site, items: list[Json]) -> bool:
    leaves = (
        [branch.leaf for branches in site.scalars.values() for branch in branches] if site.leaf is None else [site.leaf]
    )
    ordered = any(leaf.distance.name in _SORTED for leaf in leaves)
    return ordered and all(isinstance(item, str) for item in items)


def _wildcard(tokens: tuple[str | int, ...]) -> tuple[object, ...]:
    return tuple(STAR if isinstance(token, int) else token for token in tokens)


WARNINGS: Final[Mapping[str, Callable[[Plan, Json], Iterable[GoldFinding]]]] = {
    "duplicate": _duplicates,
    "repeated": _repeated,
    "unsorted": _unsorted,
}
"""The checks by name, in the order of execution."""
