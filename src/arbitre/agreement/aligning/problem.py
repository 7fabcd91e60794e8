"""The units of several annotators and their distances, and the best matchings of two annotators alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.matching.assignment import hungarian

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.matching.builtin_matchers import CouplingFunction

    Distances = Mapping[tuple[int, int], Floats]
    """Distances between the units of annotators i < j; each of shape (units of i, units of j)."""

NONE: Final = -1
"""Code of an annotator without a unit in a unitary alignment."""

SLACK: Final = 1e-9
"""Difference of disorders below which two alignments are equally good."""


@dataclass(frozen=True, eq=False, slots=True)
class Matched:
    """The matching of the units of two annotators with the least total distance.

    Attributes:
        first: Positions of the matched units of the first annotator, increasing.
        second: Position of the partner of each.
        cost: Total distance, including that of missing units.
    """

    first: Indices
    second: Indices
    cost: float


@dataclass(frozen=True, eq=False, slots=True)
class Problem:
    """Units to align.

    Attributes:
        tables: Distances between the units of annotators i < j. The last row and the last column are for a missing
            unit, so that the position `NONE` gives its distance.
        sizes: Number of units of each annotator.
        unmatched: Distance assigned to a missing unit.
        couple: Matches the units of two annotators.
        both_missing: Distance of two annotators who both miss a unit.
    """

    tables: Distances
    sizes: tuple[int, ...]
    unmatched: float
    couple: CouplingFunction
    both_missing: float

    @classmethod
    def of(
        cls,
        distances: Distances,
        sizes: Sequence[int],
        unmatched: float,
        couple: CouplingFunction = hungarian,
        both_missing: float | None = None,
    ) -> Problem:
        """Add the distance of a missing unit to the tables; `both_missing` is `unmatched` if it is None."""
        tables = {}
        both_missing = unmatched if both_missing is None else both_missing
        for pair in combinations(range(len(sizes)), 2):
            table = np.full((sizes[pair[0]] + 1, sizes[pair[1]] + 1), unmatched)
            table[:-1, :-1] = distances[pair]
            table[-1, -1] = both_missing
            tables[pair] = table
        return cls(tables, tuple(sizes), unmatched, couple, both_missing)

    def table(self, first: int, second: int) -> Floats:
        """Return the distances of the units of two annotators; shape (units of the first + 1, of the second + 1)."""
        return self.tables[first, second] if first < second else self.tables[second, first].T

    def disorders(self, unitary: Indices) -> Floats:
        """Return the disorder of each unitary alignment; shape (unitary alignments,)."""
        costs = [table[unitary[:, i], unitary[:, j]] for (i, j), table in self.tables.items()]
        total: Floats = reduce(np.add, costs) / len(costs)
        return total

    def match(self, pair: tuple[int, int], first: Indices, second: Indices) -> Matched:
        """Match these units of two annotators. Units at twice `unmatched` stay alone."""
        table, every = self.tables[pair], (len(first), len(second)) == (self.sizes[pair[0]], self.sizes[pair[1]])
        table = table[:-1, :-1] if every else table[first[:, None], second]
        gains = np.minimum(table - 2.0 * self.unmatched, 0.0)
        coupling = self.couple(-gains)
        rows, columns = coupling.gold, coupling.predicted
        values = gains[rows, columns]
        kept = values < 0.0
        cost = float(values[kept].sum()) + self.unmatched * sum(gains.shape)
        return Matched(rows[kept], columns[kept], cost)

    def prices(self, pair: tuple[int, int], matched: Matched) -> tuple[Floats, Floats]:
        """Return prices of the units of two annotators, as shares of the cost of their best matching.

        They solve the dual linear program: no two units cost less than their prices, matched units cost their prices,
        and no price exceeds `unmatched`. The greatest prices of one annotator are shortest paths (Bellman-Ford). The
        means of these and of the prices with the other annotator's at their greatest leave fewer candidates to the
        exact search than either.
        """
        table = self.tables[pair][:-1, :-1]
        greatest_first = self._greatest(table, matched.first, matched.second)
        greatest_second = self._greatest(table.T, matched.second, matched.first)
        first, second = np.full(table.shape[0], self.unmatched), np.full(table.shape[1], self.unmatched)
        distances = table[matched.first, matched.second]
        first[matched.first] = (greatest_first + distances - greatest_second) / 2.0
        second[matched.second] = distances - first[matched.first]
        return first, second

    def _greatest(self, table: Floats, rows: Indices, columns: Indices) -> Floats:
        """Return the greatest prices of the matched rows."""
        prices = np.full(len(rows), self.unmatched)
        if len(rows) < table.shape[1]:
            alone = np.ones(table.shape[1], dtype=np.bool_)
            alone[columns] = False
            prices = np.minimum(prices, table[rows][:, alone].min(axis=1) - self.unmatched)
        if len(rows):
            steps = table[rows][:, columns]
            steps = steps - steps.diagonal()
            for _ in range(len(rows)):
                shorter = np.minimum(prices, (steps + prices).min(axis=1))
                if (shorter >= prices).all():
                    break
                prices = shorter
        return prices
