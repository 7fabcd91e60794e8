"""Measures whether the predicted values of one field are the gold values of another."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

MIN_VALUES: Final = 3
"""Minimum number of equal values beyond chance."""

MIN_DEVIATIONS: Final = 3.0
"""Minimum number of equal values beyond chance, in standard deviations of their number by chance (Poisson)."""

MIN_AGREEMENT: Final = 0.5
"""Minimum share of the values that are equal, after correction for chance."""

Scope = tuple[int, str]
"""Number of a pair of documents, and the pointer of the owner in gold."""

Bag = dict["Hashable", float]
"""Values with their number; the words of a text are fractions of a value."""

Bags = dict[Scope, Bag]
"""The values of a field in each scope."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """How many predicted values are equal to a missing gold value of their own scope.

    Attributes:
        equal: Number of equal values.
        chance: Expected number if each prediction were compared with the gold values of the other scopes.
        missing: Number of missing gold values.
        unknown: Number of predicted values.
    """

    equal: float
    chance: float
    missing: float
    unknown: float

    @property
    def beyond_chance(self) -> float:
        """Number of equal values beyond chance."""
        return self.equal - self.chance

    @property
    def deviations(self) -> float:
        """Number of equal values beyond chance, in standard deviations, at least of one value."""
        return self.beyond_chance / math.sqrt(max(1.0, self.chance))

    @property
    def agreement(self) -> float:
        """Share of the values that are equal, corrected for chance: 1 if all are, 0 for chance."""
        most = (self.missing + self.unknown) / 2.0
        return self.beyond_chance / (most - self.chance) if most > self.chance else 0.0

    @property
    def sufficient(self) -> bool:
        """Whether all three minimum conditions hold."""
        return (
            self.beyond_chance >= MIN_VALUES and self.deviations >= MIN_DEVIATIONS and self.agreement >= MIN_AGREEMENT
        )


def evidence_of(missing: Bags, unknown: Bags, groups: Mapping[int, Hashable]) -> Evidence | None:
    """Compare the missing gold values and the unknown predicted values of each scope.

    Args:
        missing: The missing gold values of the field.
        unknown: The predicted values under an unknown key.
        groups: The gold document of each pair of documents; scopes of one gold value are not compared by chance.

    Returns:
        The evidence; None if there is no other scope to compare with.
    """
    everywhere: dict[Hashable, Counter[float]] = defaultdict(Counter)
    in_group: dict[Hashable, dict[Hashable, Counter[float]]] = defaultdict(lambda: defaultdict(Counter))
    sizes: Counter[Hashable] = Counter()
    for (pair, pointer), bag in missing.items():
        group = groups[pair], pointer
        sizes[group] += 1
        for value, count in bag.items():
            everywhere[value][count] += 1
            in_group[group][value][count] += 1
    equal, chance = 0.0, 0.0
    for scope, bag in unknown.items():
        group = groups[scope[0]], scope[1]
        others = len(missing) - sizes[group]
        if not others:
            return None
        own = missing.get(scope, {})
        equal += math.fsum(min(own[value], count) for value, count in bag.items() if value in own)
        chance += (_overlap(everywhere, bag) - _overlap(in_group.get(group, {}), bag)) / others
    return Evidence(equal, chance, _size(missing), _size(unknown))


def _overlap(scopes: Mapping[Hashable, Counter[float]], bag: Bag) -> float:
    """Return the number of equal values of a scope and of each of the others, which are grouped by value."""
    return math.fsum(
        min(other, count) * number for value, count in bag.items() for other, number in scopes.get(value, {}).items()
    )


def _size(bags: Bags) -> float:
    return math.fsum(count for bag in bags.values() for count in bag.values())
