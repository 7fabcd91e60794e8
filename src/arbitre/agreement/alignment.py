"""Alignment of the units of several annotators: which units stand for the same thing.

The units of an annotator are the spans of a text, or the items of a list. A *unitary alignment* contains at most one
unit of each annotator. Its *disorder* is the mean distance over the pairs of annotators; a pair in which a unit is
missing has the distance `unmatched` (Mathet, Widlöcher and Métivier, 2015). An *alignment* is a partition of all units
into unitary alignments; the best one has the least total disorder.

If pairs in which both units are missing cost nothing, the best alignment is a correlation clustering (Bansal, Blum and
Chawla, 2004): it joins two unitary alignments if the mean distance between their units is below twice `unmatched`,
however many annotators there are.

`align` works in three steps. It matches the units of each pair of annotators, which gives a lower bound of the
disorder. It puts these matchings together, and improves the result (`_star`, `_improved`). If the disorder is still
above the bound and there are few annotators, it searches for a better alignment (`_better_than`).

Arrays in this module:

* A unit is given by its position among the units of its annotator; `NONE` stands for a missing unit.
* `unitary` has a row for each unitary alignment and a column for each annotator, and contains these positions.
* A table of distances has a row for each unit of one annotator and a column for each unit of another, then a last row
  and a last column for a missing unit. `NONE` is -1, so it selects that row or column.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from arbitre.errors import SolverError
from arbitre.matching.assignment import hungarian, sequence, solve_assignment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.matching.builtin_matchers import CouplingFunction

    Pair = tuple[int, int]
    """Positions of two annotators i < j."""

    Distances = Mapping[Pair, Floats]
    """Distances between the units of each pair of annotators; each of shape (units of i, units of j)."""

NONE: Final = -1
"""Position of a missing unit: of an annotator without a unit in a unitary alignment."""

SLACK: Final = 1e-9
"""Difference of disorders below which two alignments are equally good."""

MAX_EXACT_ANNOTATORS: Final = 4
"""Maximum number of annotators for the exact search; with more, the star alignment is used."""

MAX_CANDIDATES: Final = 3_000
"""Maximum number of candidate unitary alignments of the exact search, once prices are raised."""

MAX_STEPS: Final = 2_000
"""Maximum number of steps of the search by enumeration; after these, the integer program is solved."""

MAX_UNITS: Final = 500
"""Maximum number of units of the search by enumeration, which calls itself once per unitary alignment."""

ROUNDS: Final = 2
"""Number of times that the prices of the units are raised."""

BLOCK_CELLS: Final = 1 << 16
"""Number of distances that are added at a time. Blocks that fit into the cache of a processor halve the time."""

_PAIR: Final = 2
"""Minimum number of annotators whose units are matched."""


@dataclass(frozen=True, eq=False, slots=True)
class UnitAlignment:
    """A partition of the units of n annotators into unitary alignments.

    Attributes:
        unitary: Position of the unit of each annotator, or `NONE`; shape (unitary alignments, annotators), sorted,
            or in the order of the units of every annotator if they were matched with `sequence`.
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

    If the matching is `sequence`, annotators are added one at a time to the medoid instead, in such a way that the
    unitary alignments keep the order of the units of every annotator. The result is improved in the same way.

    Args:
        distances: Distances between the units of each pair of annotators, at least 0.
        sizes: Number of units of each annotator.
        unmatched: Distance assigned to a missing unit, above 0.
        both_missing: Distance of two annotators who both miss a unit; None for `unmatched`.
        search: Whether to search for the best alignment of three or four annotators.
        couple: Matches the units of two annotators. With any matching other than the optimal one and `sequence`, the
            star alignment is returned unchanged.

    Raises:
        SolverError: The exact search failed.

    >>> align({}, [2], 1.0).unitary.tolist()
    [[0], [1]]
    """
    if len(sizes) < _PAIR:
        return UnitAlignment(np.arange(sum(sizes), dtype=np.intp).reshape(sum(sizes), len(sizes)), 0.0, exact=True)
    problem = AlignmentProblem.of(distances, sizes, unmatched, couple, both_missing)
    every = [np.arange(size) for size in sizes]
    matchings = _matchings(problem, range(len(sizes)), every)
    # In an alignment, no pair of annotators costs less than its best matching, so no alignment has less disorder.
    bound = math.fsum(matched.cost for matched in matchings.values()) / len(matchings)
    free, in_sequence = couple is hungarian, couple is sequence
    if in_sequence:
        unitary = _sequence(problem, matchings)
    else:
        unitary = np.concatenate(_star(problem, range(len(sizes)), every, matchings))
    cost = _disorder(problem, unitary)
    if (free or in_sequence) and cost > bound + SLACK:
        unitary, cost = _improved(problem, unitary, cost)
    exact = cost <= bound + SLACK
    if search and free and not exact and len(sizes) <= MAX_EXACT_ANNOTATORS:
        better, exact = _better_than(problem, matchings, cost)
        if better is not None:
            unitary, cost = better, _disorder(problem, better)
    return UnitAlignment(unitary if in_sequence else unitary[np.lexsort(unitary.T[::-1])], cost, exact)


@dataclass(frozen=True, eq=False, slots=True)
class Matched:
    """The matching of some units of two annotators with the least total distance.

    Units are given by their positions among those that were to be matched, which may be only some of an annotator.

    Attributes:
        first: Matched units of the first annotator, increasing; shape (pairs,).
        second: Unit of the second annotator that each is matched with; shape (pairs,).
        cost: Total distance, including that of units that stay alone.
    """

    first: Indices
    second: Indices
    cost: float


@dataclass(frozen=True, eq=False, slots=True)
class AlignmentProblem:
    """Units of several annotators that are to be aligned.

    Attributes:
        tables: Distances between the units of annotators i < j; shape (units of i + 1, units of j + 1). The last row is
            the distance of the units of j from a missing unit of i, the last column the reverse, and the last cell that
            of two missing units.
        sizes: Number of units of each annotator.
        unmatched: Distance of a unit from a missing unit.
        couple: Matches the units of two annotators: takes qualities, of shape (units of one, units of the other), and
            returns the matched rows and columns.
        both_missing: Distance of two missing units.
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
        """Return the problem for distances between units, to which those of missing units are added.

        Args:
            distances: Distances between the units of annotators i < j; shape (units of i, units of j).
            sizes: Number of units of each annotator.
            unmatched: Distance of a unit from a missing unit.
            couple: See `AlignmentProblem`.
            both_missing: Distance of two missing units; None for `unmatched`.
        """
        tables = {}
        unmatched = float(unmatched)  # an array of integers would truncate the distances
        both_missing = unmatched if both_missing is None else both_missing
        for pair in combinations(range(len(sizes)), 2):
            table = np.full((sizes[pair[0]] + 1, sizes[pair[1]] + 1), unmatched)
            table[:-1, :-1] = distances[pair]
            table[-1, -1] = both_missing
            tables[pair] = table
        return cls(tables, tuple(sizes), unmatched, couple, both_missing)

    def table(self, first: int, second: int) -> Floats:
        """Return the distances of the units of two annotators, in any order.

        Args:
            first: Position of an annotator.
            second: Position of another one.

        Returns:
            The distances; shape (units of the first + 1, units of the second + 1). See `tables`.
        """
        return self.tables[first, second] if first < second else self.tables[second, first].T

    def disorders(self, unitary: Indices) -> Floats:
        """Return the disorder of unitary alignments: the mean distance over the pairs of annotators.

        Args:
            unitary: Position of the unit of each annotator, or `NONE`; shape (unitary alignments, annotators).

        Returns:
            The disorders; shape (unitary alignments,).
        """
        costs = [table[unitary[:, i], unitary[:, j]] for (i, j), table in self.tables.items()]
        total: Floats = reduce(np.add, costs) / len(costs)
        return total

    def match(self, pair: Pair, first: Indices, second: Indices) -> Matched:
        """Match some units of two annotators.

        A unit that stays alone costs `unmatched`. Two units are therefore matched only if their distance is below twice
        that: matching them *gains* the difference.

        Args:
            pair: The annotators.
            first: Positions of the units of the first annotator that are matched, increasing.
            second: Positions of the units of the second annotator that are matched, increasing.

        Returns:
            The matching, by positions in `first` and in `second`.
        """
        table, every = self.tables[pair], (len(first), len(second)) == (self.sizes[pair[0]], self.sizes[pair[1]])
        table = table[:-1, :-1] if every else table[first[:, None], second]
        gains = np.minimum(table - 2.0 * self.unmatched, 0.0)  # negative; 0 for units that are better left alone
        rows, columns = self.cheapest(gains)
        values = gains[rows, columns]
        kept = values < 0.0
        cost = float(values[kept].sum()) + self.unmatched * sum(gains.shape)
        return Matched(rows[kept], columns[kept], cost)

    def cheapest(self, gains: Floats) -> tuple[Indices, Indices]:
        """Return the rows and columns that `couple` matches, given the negative of the qualities; shapes (pairs,)."""
        if self.couple is hungarian:
            return solve_assignment(gains, maximize=False)  # spares two copies of the gains
        coupling = self.couple(-gains)
        return coupling.gold, coupling.predicted

    def prices(self, pair: Pair, matched: Matched) -> tuple[Floats, Floats]:
        """Return prices of the units of two annotators: what each contributes to the cost of their best matching.

        The prices solve the dual linear program of the matching: no two units cost less than their prices together,
        matched units cost exactly their prices, and no price exceeds `unmatched`, which is the price of a unit that
        stays alone. The prices add up to the cost of the matching.

        There are many solutions. One has the greatest prices for the first annotator, and so the least for the second;
        another one the reverse. The mean of both leaves fewer candidates to the exact search than either.

        Args:
            pair: The annotators.
            matched: The best matching of all their units.

        Returns:
            The price of each unit of the first annotator, and of the second; shapes (units,).
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
        """Return the greatest prices that the matched units of one annotator can have.

        If a matched row has the price p, its column has the price distance - p. Any other row may then cost at most its
        distance from that column, minus this price: its price is at most p + its distance - the distance of the match.
        These are the steps of shortest paths (Bellman-Ford), which start at the prices that single units allow.

        Args:
            table: Distances of the units of the annotator (rows) from those of the other one (columns).
            rows: Matched rows; shape (pairs,).
            columns: Column of each; shape (pairs,).

        Returns:
            The price of each matched row; shape (pairs,).
        """
        prices = np.full(len(rows), self.unmatched)
        if len(rows) < table.shape[1]:  # columns that stay alone have the price `unmatched`
            prices = np.minimum(prices, table[rows][:, _others(table.shape[1], columns)].min(axis=1) - self.unmatched)
        if len(rows):
            steps = table[rows][:, columns]
            steps = steps - steps.diagonal()
            for _ in range(len(rows)):
                shorter = np.minimum(prices, (steps + prices).min(axis=1))
                if (shorter >= prices).all():
                    break
                prices = shorter
        return prices


def _disorder(problem: AlignmentProblem, unitary: Indices) -> float:
    """Return the total disorder of an alignment, given by its unitary alignments."""
    return float(problem.disorders(unitary).sum())


def _others(size: int, places: Indices) -> Mask:
    """Return a mask, of shape (size,), of the positions that are not among `places`."""
    mask = np.ones(size, dtype=np.bool_)
    mask[places] = False
    return mask


def _alone(problem: AlignmentProblem, annotator: int, units: Indices) -> Indices:
    """Return a unitary alignment of each of these units of an annotator alone; shape (units, annotators)."""
    unitary = np.full((len(units), len(problem.sizes)), NONE, dtype=np.intp)
    unitary[:, annotator] = units
    return unitary


# First alignment: matchings of pairs of annotators, put together and improved.


def _matchings(problem: AlignmentProblem, annotators: Sequence[int], left: Sequence[Indices]) -> Mapping[Pair, Matched]:
    """Match units of each pair of annotators.

    Args:
        problem: All units.
        annotators: Positions of the annotators whose units are matched, increasing.
        left: Positions of the units of each annotator that are matched; one array for every annotator of the problem.
    """
    return {(i, j): problem.match((i, j), left[i], left[j]) for i, j in combinations(annotators, 2)}


def _medoid(annotators: Sequence[int], matchings: Mapping[Pair, Matched]) -> int:
    """Return the annotator whose matchings with all others cost least."""
    costs = dict.fromkeys(annotators, 0.0)
    for (i, j), matched in matchings.items():
        costs[i] += matched.cost
        costs[j] += matched.cost
    return min(annotators, key=lambda annotator: costs[annotator])


def _sequence(problem: AlignmentProblem, matchings: Mapping[Pair, Matched]) -> Indices:
    """Return unitary alignments that keep the order of the units of every annotator; see `align`."""
    annotators = range(len(problem.sizes))
    medoid = _medoid(annotators, matchings)
    unitary = _alone(problem, medoid, np.arange(problem.sizes[medoid]))
    for annotator in annotators:
        if annotator != medoid:
            unitary = _added(problem, unitary, annotator)
    return unitary


def _star(
    problem: AlignmentProblem,
    annotators: Sequence[int],
    left: Sequence[Indices],
    matchings: Mapping[Pair, Matched],
) -> list[Indices]:
    """Return unitary alignments in which every annotator is matched with the medoid.

    The medoid is the annotator whose matchings with all others cost least. The units that are not matched with it are
    aligned in the same way among the other annotators.

    Args:
        problem: All units.
        annotators: Positions of the annotators whose units are aligned, increasing.
        left: Positions of the units of each annotator that are aligned; one array for every annotator of the problem.
        matchings: The best matching of these units for each pair of the annotators.

    Returns:
        Arrays of unitary alignments, each of shape (unitary alignments, annotators), that contain each unit in `left`
        of the annotators once.
    """
    if len(annotators) == 1:
        return [_alone(problem, annotators[0], left[annotators[0]])]
    medoid = _medoid(annotators, matchings)
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


def _improved(problem: AlignmentProblem, unitary: Indices, cost: float) -> tuple[Indices, float]:
    """Match single annotators again as long as the total disorder falls.

    The units of one annotator are taken out, and matched with the unitary alignments of the others as well as possible.

    Args:
        problem: The units.
        unitary: Unitary alignments of all units; shape (unitary alignments, annotators).
        cost: Their total disorder.

    Returns:
        The unitary alignments of the improved alignment, and their total disorder.
    """
    before = np.inf
    while cost < before - SLACK:
        before = cost
        for annotator in range(len(problem.sizes)):
            others = unitary.copy()
            others[:, annotator] = NONE
            unitary = _added(problem, others[(others != NONE).any(axis=1)], annotator)
        cost = _disorder(problem, unitary)
    return unitary, cost


def _added(problem: AlignmentProblem, others: Indices, annotator: int) -> Indices:
    """Add the units of an annotator to the unitary alignments of others, matched as well as possible.

    If the matching is `sequence`, a unit that stays alone is placed before the next unit that does not.

    Args:
        problem: The units.
        others: Unitary alignments of other annotators; shape (unitary alignments, annotators).
        annotator: The annotator.
    """
    annotators, pairs = range(len(problem.sizes)), len(problem.tables)
    # Disorder of a unit alone: it misses the unit of each other annotator, and all pairs of the others miss both units.
    others_missing = (len(problem.sizes) - 1) * problem.unmatched
    alone = (others_missing + (pairs - len(problem.sizes) + 1) * problem.both_missing) / pairs
    tables = [(problem.table(annotator, other), others[:, other]) for other in annotators if other != annotator]
    # Distance of a missing unit from each unitary alignment.
    missing = reduce(np.add, [table[NONE][units] for table, units in tables]) / pairs
    # Negative if the unit costs less in this unitary alignment than alone.
    gains = np.empty((problem.sizes[annotator], len(others)))
    step = max(1, BLOCK_CELLS // max(len(others), 1))
    for begin in range(0, len(gains), step):
        rows = slice(begin, min(begin + step, len(gains)))
        costs = reduce(np.add, [table[rows][:, units] for table, units in tables]) / pairs
        np.minimum(costs - missing - alone, 0.0, out=gains[rows])
    own, theirs = problem.cheapest(gains)
    useful = gains[own, theirs] < 0.0
    own, theirs = own[useful], theirs[useful]
    unitary = others.copy()
    unitary[theirs, annotator] = own
    rest = _others(problem.sizes[annotator], own).nonzero()[0]
    unitary = np.concatenate([unitary, _alone(problem, annotator, rest)])
    if problem.couple is not sequence:
        return unitary
    following = np.append(theirs, len(others))[np.searchsorted(own, rest)]
    return unitary[np.argsort(np.concatenate([2 * np.arange(len(others)) + 1, 2 * following]), kind="stable")]


# Exact search: few unitary alignments can be part of a better alignment, and the cheapest choice of these is found.


def _better_than(
    problem: AlignmentProblem, matchings: Mapping[Pair, Matched], known: float
) -> tuple[Indices | None, bool]:
    """Search for an alignment with less disorder than the best one known.

    The disorder of a unitary alignment is a mean over pairs of annotators. The best matching of each pair gives prices
    of its units, which add up to a lower bound for every alignment. The *excess* of a unitary alignment is its cost
    minus the prices of its units. The *gap* is the cost of the known alignment minus the bound. A unitary alignment
    whose excess is above the gap cannot be part of a better alignment; the others are the candidates.

    Args:
        problem: The units.
        matchings: The best matching of each pair of annotators.
        known: Disorder of the best alignment known.

    Returns:
        The unitary alignments of the better alignment, or None; and whether no alignment is better than this or the
        known one. The second is False if there are too many candidates.

    Raises:
        SolverError: The integer program failed.
    """
    pairs = len(matchings)
    excess = {}
    for pair, matched in matchings.items():
        first, second = (np.append(prices, 0.0) for prices in problem.prices(pair, matched))  # a missing unit costs 0
        excess[pair] = np.maximum((problem.tables[pair] - first[:, None] - second) / pairs, 0.0)
    gap = known - math.fsum(matched.cost for matched in matchings.values()) / pairs
    unitary = _candidates(excess, problem.sizes, gap)
    if unitary is None:
        return None, False
    units = _numbered(unitary, problem.sizes)
    costs = np.sum([table[unitary[:, i], unitary[:, j]] for (i, j), table in excess.items()], axis=0)
    size = sum(problem.sizes)
    kept, costs, gap = _raised(units, costs, gap, size)
    unitary, units = unitary[kept], units[kept]
    if gap <= SLACK:
        return None, True
    if len(unitary) > MAX_CANDIDATES:
        return None, False
    search = _Enumeration(units, costs, gap - SLACK, size)
    complete = size <= MAX_UNITS and search.complete()
    chosen = list(search.best) if complete else _programmed(units, costs, size)
    if not chosen or float(costs[chosen].sum()) >= gap - SLACK:
        return None, True
    return unitary[chosen], True


def _candidates(excess: Mapping[Pair, Floats], sizes: Sequence[int], gap: float) -> Indices | None:
    """Return the unitary alignments whose excess is at most the gap; None if there are too many.

    They are built one annotator at a time: each unit of the annotator, or none, is added to each of those so far, and
    combinations that cost too much are dropped immediately.

    Args:
        excess: What two units cost beyond their prices, for annotators i < j; shape (units of i + 1, units of j + 1),
            with a missing unit last.
        sizes: Number of units of each annotator.
        gap: Maximum excess.

    Returns:
        The position of the unit of each annotator, or `NONE`; shape (candidates, annotators).
    """
    unitary, costs = np.empty((1, 0), dtype=np.intp), np.zeros(1)  # of the annotators so far
    for annotator, size in enumerate(sizes):
        if len(unitary) * (size + 1) > 1_000 * MAX_CANDIDATES:
            return None
        totals = np.repeat(costs[:, None], size + 1, axis=1)  # shape (unitary alignments so far, units + 1)
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
    """Return unitary alignments with numbers that are different for the units of different annotators.

    Args:
        unitary: Position of the unit of each annotator, or `NONE`; shape (unitary alignments, annotators).
        sizes: Number of units of each annotator.

    Returns:
        The same with positions from 0 to the number of all units, which stands for a missing unit.
    """
    offsets = np.cumsum([0, *sizes[:-1]])
    return np.where(unitary == NONE, sum(sizes), unitary + offsets)


def _raised(units: Indices, costs: Floats, gap: float, size: int) -> tuple[Indices, Floats, float]:
    """Raise the prices of units whose candidates all cost more, and drop the candidates that then cost too much.

    Each candidate divides its excess equally among its units. The price of a unit rises by the least share it gets: no
    alignment can avoid paying at least this. The gap becomes smaller by all rises, and the excess of a candidate by
    those of its units.

    Args:
        units: Number of the unit of each annotator in each candidate, `size` for none; shape (candidates, annotators).
        costs: Excess of each candidate; shape (candidates,).
        gap: Maximum excess of an alignment that is better than the known one.
        size: Number of units of all annotators.

    Returns:
        The positions of the remaining candidates, their excess with the new prices, and the new gap.
    """
    left = np.arange(len(units))
    for _ in range(ROUNDS):
        held = units != size
        shares = np.where(held, costs[:, None] / held.sum(axis=1)[:, None], np.inf)
        rises = np.full(size + 1, np.inf)
        np.minimum.at(rises, units.ravel(), shares.ravel())
        rises[size] = 0.0
        if not rises.any():
            break
        gap -= float(rises[:-1].sum())
        costs = np.maximum(costs - rises[units].sum(axis=1), 0.0)
        kept = costs <= gap + SLACK
        left, units, costs = left[kept], units[kept], costs[kept]
    return left, costs, gap


class _Enumeration:
    """Search for the cheapest candidates that contain each unit once, by enumeration.

    Units with few candidates come first. Most lists have few candidates: this takes a tenth of the time of an integer
    program.

    Attributes:
        best: Positions of the cheapest candidates so far; empty if none cost less than `below`.
        below: Their cost, or the cost below which candidates are searched.
    """

    def __init__(self, units: Indices, costs: Floats, below: float, size: int) -> None:
        """Sort the candidates of each unit by their cost.

        Args:
            units: Number of the unit of each annotator in each candidate, `size` for none; shape (candidates,
                annotators).
            costs: Cost of each candidate; shape (candidates,).
            below: Cost below which candidates are searched.
            size: Number of units of all annotators.
        """
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
        """Bit of each unit, and its candidates as (cost, bits of their units, position)."""

    def complete(self, at: int = 0, covered: int = 0, cost: float = 0.0, chosen: tuple[int, ...] = ()) -> bool:
        """Extend a choice of candidates in all ways that may be cheaper than the best one, which is kept in `best`.

        Args:
            at: Position in `_units` of the next unit; those before it are covered.
            covered: Bits of the units that the chosen candidates contain.
            cost: Cost of the chosen candidates.
            chosen: Their positions.

        Returns:
            Whether the search is complete; False if it needs more than `MAX_STEPS` steps.
        """
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

    Args:
        units: Number of the unit of each annotator in each candidate, `size` for none; shape (candidates, annotators).
        costs: Cost of each candidate; shape (candidates,).
        size: Number of units of all annotators.

    Returns:
        The positions of the candidates.

    Raises:
        SolverError: The solver failed.
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
