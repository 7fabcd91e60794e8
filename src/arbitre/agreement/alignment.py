"""Alignment of the units of several annotators: which units stand for the same thing.

A unitary alignment contains at most one unit of each annotator. Its disorder is the mean distance over pairs of
annotators; a pair in which a unit is missing has the distance `unmatched` (Mathet, Widlöcher and Métivier, 2015). An
alignment is a partition of all units into unitary alignments; the best one has the least total disorder.

If pairs in which both units are missing cost nothing, the best alignment is a correlation clustering (Bansal, Blum and
Chawla, 2004): it joins two unitary alignments if the mean distance between their units is below twice `unmatched`,
however many annotators there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from arbitre.errors import SolverError
from arbitre.matching.assignment import hungarian, solve_assignment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.matching.builtin_matchers import CouplingFunction


# The units of several annotators and their distances, and the best matchings of two annotators alone.


if TYPE_CHECKING:
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
class AlignmentProblem:
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
    ) -> AlignmentProblem:
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


# The exact search for the alignment with the least disorder, by prices of units and integer programming.


MAX_CANDIDATES: Final = 3_000
"""Maximum number of candidate unitary alignments of the exact search, once prices are raised."""

MAX_STEPS: Final = 2_000
"""Maximum number of steps of the search by enumeration; after these, the integer program is solved."""

MAX_UNITS: Final = 500
"""Maximum number of units of the search by enumeration, which calls itself once per unitary alignment."""

ROUNDS: Final = 2
"""Number of times that the prices of the units are raised."""


def better_than(
    problem: AlignmentProblem, matchings: Mapping[tuple[int, int], Matched], known: float
) -> tuple[Indices | None, bool]:
    """Search for an alignment with less disorder than the best one known.

    The cost of a unitary alignment is a sum over pairs of annotators. The best matchings of these pairs give prices of
    the units, and their sum is a lower bound for every alignment. A unitary alignment whose cost exceeds the prices of
    its units by more than the gap between the best known alignment and this bound cannot be part of a better one, and
    is left out.

    Args:
        problem: The units.
        matchings: The best matching of each pair of annotators.
        known: Disorder of the best alignment known.

    Returns:
        The better alignment, or None; and whether no alignment is better than this or the known one. The second is
        False if there are too many candidates.

    Raises:
        SolverError: The integer program failed.
    """
    pairs = len(matchings)
    excess = {}
    for pair, matched in matchings.items():
        first, second = (np.append(prices, 0.0) for prices in problem.prices(pair, matched))
        excess[pair] = np.maximum((problem.tables[pair] - first[:, None] - second) / pairs, 0.0)
    gap = known - sum(matched.cost for matched in matchings.values()) / pairs
    unitary = _candidates(excess, problem.sizes, gap)
    if unitary is None:
        return None, False
    units = _numbered(unitary, problem.sizes)
    costs = np.sum([table[unitary[:, i], unitary[:, j]] for (i, j), table in excess.items()], axis=0)
    unitary, units, costs, gap = _raised(unitary, units, costs, gap, sum(problem.sizes))
    if gap <= SLACK:
        return None, True
    if len(unitary) > MAX_CANDIDATES:
        return None, False
    size = sum(problem.sizes)
    search = _Enumeration(units, costs, gap - SLACK, size)
    complete = size <= MAX_UNITS and search.complete()
    chosen = list(search.best) if complete else _programmed(units, costs, size)
    if not chosen or float(costs[chosen].sum()) >= gap - SLACK:
        return None, True
    return unitary[chosen], True


def _candidates(excess: Mapping[tuple[int, int], Floats], sizes: Sequence[int], gap: float) -> Indices | None:
    """Return the unitary alignments that cost at most `gap` beyond the prices of their units, or None for too many."""
    unitary, costs = np.empty((1, 0), dtype=np.intp), np.zeros(1)
    for annotator, size in enumerate(sizes):
        if len(unitary) * (size + 1) > 1_000 * MAX_CANDIDATES:
            return None
        totals = np.repeat(costs[:, None], size + 1, axis=1)
        for other in range(annotator):
            totals += excess[other, annotator][unitary[:, other]]
        rows, units = (totals <= gap + SLACK).nonzero()
        if len(rows) > 100 * MAX_CANDIDATES:
            return None
        costs = totals[rows, units]
        units[units == size] = NONE
        unitary = np.column_stack([unitary[rows], units])
    held: Indices = unitary[(unitary != NONE).any(axis=1)]
    return held


def _numbered(unitary: Indices, sizes: Sequence[int]) -> Indices:
    """Return the units numbered across annotators; a missing unit has the number after the last."""
    offsets = np.cumsum([0, *sizes[:-1]])
    return np.where(unitary == NONE, sum(sizes), unitary + offsets)


def _raised(
    unitary: Indices, units: Indices, costs: Floats, gap: float, size: int
) -> tuple[Indices, Indices, Floats, float]:
    """Raise the prices of units whose unitary alignments all cost more, and leave out what then costs too much.

    Each candidate divides its excess cost among its units; a price rises by the least share that its unit gets.
    """
    for _ in range(ROUNDS):
        held = units != size
        rises = np.full(size + 1, np.inf)
        np.minimum.at(rises, units.ravel(), np.where(held, costs[:, None] / held.sum(axis=1)[:, None], np.inf).ravel())
        rises[size] = 0.0
        if not rises.any():
            break
        gap -= float(rises[:-1].sum())
        costs = np.maximum(costs - rises[units].sum(axis=1), 0.0)
        kept = costs <= gap + SLACK
        unitary, units, costs = unitary[kept], units[kept], costs[kept]
    return unitary, units, costs, gap


class _Enumeration:
    """Search for the cheapest candidates that contain each unit once, by enumeration.

    Units with few candidates come first. Most lists have few candidates: this takes a tenth of the time of an integer
    program.

    Attributes:
        best: The cheapest candidates so far; empty if none cost less than `below`.
        below: Their cost, or the cost below which candidates are searched.
    """

    def __init__(self, units: Indices, costs: Floats, below: float, size: int) -> None:
        self.best: tuple[int, ...] = ()
        self.below = below
        self._steps = 0
        by_unit: list[list[tuple[float, int, int]]] = [[] for _ in range(size)]
        rows, prices = units.tolist(), costs.tolist()
        for candidate in costs.argsort(kind="stable").tolist():
            held = [unit for unit in rows[candidate] if unit < size]
            bits = sum(1 << unit for unit in held)
            for unit in held:
                by_unit[unit].append((prices[candidate], bits, candidate))
        self._units = sorted(((1 << unit, each) for unit, each in enumerate(by_unit)), key=lambda pair: len(pair[1]))

    def complete(self, at: int = 0, covered: int = 0, cost: float = 0.0, chosen: tuple[int, ...] = ()) -> bool:
        """Search from the unit at position `at`; return False if this needs more than `MAX_STEPS`."""
        while at < len(self._units) and covered & self._units[at][0]:
            at += 1
        if at == len(self._units):
            self.best, self.below = chosen, cost
            return True
        for more, bits, candidate in self._units[at][1]:
            if cost + more >= self.below:
                break
            self._steps += 1
            if self._steps > MAX_STEPS:
                return False
            if not bits & covered and not self.complete(at + 1, covered | bits, cost + more, (*chosen, candidate)):
                return False
        return True


def _programmed(units: Indices, costs: Floats, size: int) -> list[int]:
    """Return the cheapest candidates that contain each unit once, by integer programming.

    The linear program is solved first. Its solution is nearly always integral, in a fifth of the time.
    """
    candidate, place = (units != size).nonzero()
    held = units[candidate, place]
    holds = sparse.csr_array((np.ones(len(held)), (held, candidate)), shape=(size, len(units)))
    result = linprog(costs, A_eq=holds, b_eq=np.ones(size), bounds=(0.0, None), method="highs-ds")  # type: ignore[call-overload]
    if result.x is None or (np.abs(result.x - result.x.round()) > SLACK).any():
        result = milp(
            costs,
            constraints=LinearConstraint(holds, 1.0, 1.0),
            integrality=np.ones(len(costs), dtype=np.intp),
            bounds=Bounds(0.0, 1.0),
            options={"mip_rel_gap": 0.0},
        )
    if result.x is None:
        raise SolverError.of(f"The alignment of annotators failed: {result.message}")
    chosen: list[int] = (result.x > 0.5).nonzero()[0].tolist()  # noqa: PLR2004
    return chosen


MAX_EXACT_ANNOTATORS: Final = 4
"""Maximum number of annotators for the exact search; with more, the star alignment is used."""

_PAIR: Final = 2
"""Minimum number of annotators whose units are matched."""


@dataclass(frozen=True, eq=False, slots=True)
class UnitAlignment:
    """A partition of the units of n annotators into unitary alignments.

    Attributes:
        unitary: Position of the unit of each annotator, or `NONE`; shape (unitary alignments, annotators), sorted.
        disorder: Sum of the disorders of the unitary alignments, in units of the distance.
        exact: Whether the alignment is known to be optimal: no other has less disorder.
    """

    unitary: Indices
    disorder: float
    exact: bool


def align(
    distances: Distances,
    sizes: Sequence[int],
    unmatched: float,
    both_missing: float | None = None,
    *,
    search: bool = True,
    couple: CouplingFunction = hungarian,
) -> UnitAlignment:
    """Return the best alignment for up to four annotators, and an improved star alignment for more.

    The star alignment matches every annotator with the medoid, the annotator closest to all others. If it costs more
    than the best matchings of each pair of annotators, it is improved by matching one annotator at a time with the
    unitary alignments of the others, until nothing changes. It is also returned if the exact search would need too many
    candidates; `exact` says so.

    Args:
        distances: Distances between the units of each pair of annotators, at least 0.
        sizes: Number of units of each annotator.
        unmatched: Distance assigned to a missing unit, above 0.
        both_missing: Distance of two annotators who both miss a unit; None for `unmatched`.
        search: Whether to search for the best alignment of three or four annotators.
        couple: Matches the units of two annotators. For any other matching than the optimal one, the star alignment is
            returned as it is.

    Raises:
        SolverError: The exact search failed.

    >>> align({}, [2], 1.0).unitary.tolist()
    [[0], [1]]
    """
    if len(sizes) < _PAIR:
        return UnitAlignment(np.arange(sum(sizes), dtype=np.intp).reshape(-1, len(sizes)), 0.0, exact=True)
    problem = AlignmentProblem.of(distances, sizes, unmatched, couple, both_missing)
    every = [np.arange(size) for size in sizes]
    matchings = _matchings(problem, range(len(sizes)), every)
    bound = sum(matched.cost for matched in matchings.values()) / len(matchings)  # no alignment has less disorder
    unitary = np.concatenate(_star(problem, range(len(sizes)), every, matchings))
    cost = _disorder(problem, unitary)
    free = couple is hungarian
    if free and cost > bound + SLACK:
        unitary, cost = _improved(problem, unitary, cost)
    exact = cost <= bound + SLACK
    if search and free and not exact and len(sizes) <= MAX_EXACT_ANNOTATORS:
        better, exact = better_than(problem, matchings, cost)
        if better is not None:
            unitary, cost = better, _disorder(problem, better)
    return UnitAlignment(unitary[np.lexsort(unitary.T[::-1])], cost, exact)


def _disorder(problem: AlignmentProblem, unitary: Indices) -> float:
    return float(problem.disorders(unitary).sum())


def _matchings(
    problem: AlignmentProblem, annotators: Sequence[int], left: Sequence[Indices]
) -> Mapping[tuple[int, int], Matched]:
    """Match the units in `left` of each pair of these annotators."""
    return {(i, j): problem.match((i, j), left[i], left[j]) for i, j in combinations(annotators, 2)}


def _star(
    problem: AlignmentProblem,
    annotators: Sequence[int],
    left: Sequence[Indices],
    matchings: Mapping[tuple[int, int], Matched],
) -> list[Indices]:
    """Return unitary alignments of the units in `left`: match all annotators with the medoid, then the remaining."""
    if len(annotators) == 1:
        return [_alone(problem, annotators[0], left[annotators[0]])]
    costs = dict.fromkeys(annotators, 0.0)
    for (i, j), matched in matchings.items():
        costs[i] += matched.cost
        costs[j] += matched.cost
    medoid = min(annotators, key=lambda annotator: costs[annotator])
    unitary = _alone(problem, medoid, left[medoid])
    remaining, rest = list(left), [annotator for annotator in annotators if annotator != medoid]
    for other in rest:
        matched = matchings[min(medoid, other), max(medoid, other)]
        own, theirs = (matched.first, matched.second) if medoid < other else (matched.second, matched.first)
        unitary[own, other] = left[other][theirs]
        remaining[other] = left[other][_others(len(left[other]), theirs)]
    if not any(len(remaining[other]) for other in rest):
        return [unitary]
    return [unitary, *_star(problem, rest, remaining, _matchings(problem, rest, remaining))]


def _others(size: int, places: Indices) -> Mask:
    """Return a mask of the positions that are not among these."""
    mask = np.ones(size, dtype=np.bool_)
    mask[places] = False
    return mask


def _alone(problem: AlignmentProblem, annotator: int, units: Indices) -> Indices:
    """Return a unitary alignment of each of these units alone."""
    unitary = np.full((len(units), len(problem.sizes)), NONE, dtype=np.intp)
    unitary[:, annotator] = units
    return unitary


def _improved(problem: AlignmentProblem, unitary: Indices, cost: float) -> tuple[Indices, float]:
    """Match single annotators again as long as the total disorder falls; return the alignment and its disorder."""
    annotators, pairs = range(len(problem.sizes)), len(problem.tables)
    others_missing = (len(problem.sizes) - 1) * problem.unmatched
    alone = (others_missing + (pairs - len(problem.sizes) + 1) * problem.both_missing) / pairs
    before = np.inf
    while cost < before - SLACK:
        before = cost
        for annotator in annotators:
            others = unitary.copy()
            others[:, annotator] = NONE
            others = others[(others != NONE).any(axis=1)]
            tables = [
                problem.table(annotator, other)[:, others[:, other]] for other in annotators if other != annotator
            ]
            costs = reduce(np.add, tables) / pairs
            gains = costs[:-1] - costs[-1] - alone
            own, theirs = solve_assignment(-np.minimum(gains, 0.0))
            useful = gains[own, theirs] < 0.0
            others[theirs[useful], annotator] = own[useful]
            rest = _others(problem.sizes[annotator], own[useful]).nonzero()[0]
            unitary = np.concatenate([others, _alone(problem, annotator, rest)])
        cost = _disorder(problem, unitary)
    return unitary, cost
