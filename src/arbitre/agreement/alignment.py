"""Alignment of the units of several annotators: which units stand for the same thing.

A unitary alignment contains at most one unit of each annotator. Its disorder is the mean distance over pairs of
annotators; a pair in which a unit is missing has the distance `unmatched` (Mathet, Widlöcher and Métivier, 2015). An
alignment is a partition of all units into unitary alignments; the best one has the least total disorder.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from arbitre.errors import SolverError
from arbitre.matching.assignment import hungarian

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.arrays import Floats, Indices

    Distances = Mapping[tuple[int, int], Floats]
    """Distances between the units of annotators i < j; each of shape (units of i, units of j)."""

NONE: Final = -1
"""Code of an annotator without a unit in a unitary alignment."""

MAX_EXACT_ANNOTATORS: Final = 4
"""Maximum number of annotators whose best alignment is searched; with more, the star alignment is used."""

MAX_CANDIDATES: Final = 3_000
"""Maximum number of candidate unitary alignments of the exact search."""

_SLACK: Final = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class Alignment:
    """A partition of the units of n annotators into unitary alignments.

    Attributes:
        unitary: Position of the unit of each annotator, or `NONE`; shape (unitary alignments, annotators), sorted.
        disorder: Sum of the disorders of the unitary alignments, in units of the distance.
        exact: Whether the alignment is known to be optimal: no other has less disorder.
    """

    unitary: Indices
    disorder: float
    exact: bool


def align(distances: Distances, sizes: Sequence[int], unmatched: float, *, search: bool = True) -> Alignment:
    """Return the best alignment for up to four annotators, and an improved star alignment for more.

    The star alignment matches every annotator with the medoid, the annotator closest to all others. It is improved by
    matching one annotator at a time with the unitary alignments of the others, until nothing changes. It is also
    returned if the exact search would need too many candidates; `exact` says so.

    Args:
        distances: Distances between the units of each pair of annotators, at least 0.
        sizes: Number of units of each annotator.
        unmatched: Distance assigned to a missing unit, above 0.
        search: Whether to search for the best alignment of three or four annotators.

    Raises:
        SolverError: The exact search failed.
    """
    star = _star(distances, range(len(sizes)), [np.arange(size) for size in sizes], unmatched)
    unitary = _improved(np.array(star, dtype=np.intp).reshape(-1, len(sizes)), distances, sizes, unmatched)
    cost = float(_disorders(unitary, distances, unmatched).sum())
    if len(sizes) == 2:  # noqa: PLR2004
        return Alignment(unitary, cost, exact=True)
    if len(sizes) > MAX_EXACT_ANNOTATORS or not search:
        return Alignment(unitary, cost, exact=False)
    return _exact(distances, sizes, unmatched, Alignment(unitary, cost, exact=False))


def _disorders(unitary: Indices, distances: Distances, unmatched: float) -> Floats:
    """Return the disorder of each unitary alignment; shape (unitary alignments,)."""
    count = unitary.shape[1]
    costs = [
        _pair_costs(distances[pair], unitary[:, pair[0]], unitary[:, pair[1]], unmatched) for pair in _pairs(count)
    ]
    total: Floats = np.sum(costs, axis=0) / len(costs)
    return total


def _pair_costs(distances: Floats, first: Indices, second: Indices, unmatched: float) -> Floats:
    padded = np.pad(distances, (0, 1), constant_values=unmatched)  # NONE is the last row and column
    costs: Floats = padded[first, second]
    return costs


def _pairs(annotators: int) -> list[tuple[int, int]]:
    return list(combinations(range(annotators), 2))


def _star(distances: Distances, annotators: Sequence[int], left: list[Indices], unmatched: float) -> list[list[int]]:
    """Return unitary alignments of the units in `left`: match all annotators with the medoid, then the remaining."""
    width = len(left)
    if len(annotators) == 1:
        return [[unit if at == annotators[0] else NONE for at in range(width)] for unit in left[annotators[0]].tolist()]
    pairs = {
        (i, j): _matched(distances[i, j][np.ix_(left[i], left[j])], unmatched) for i, j in combinations(annotators, 2)
    }
    costs = dict.fromkeys(annotators, 0.0)
    for (i, j), (_, cost) in pairs.items():
        costs[i] += cost
        costs[j] += cost
    medoid = min(annotators, key=lambda annotator: costs[annotator])
    unitary = [[int(unit) if at == medoid else NONE for at in range(width)] for unit in left[medoid]]
    remaining = list(left)
    for other in annotators:
        if other == medoid:
            continue
        matches, _ = pairs[min(medoid, other), max(medoid, other)]
        own, theirs = matches if medoid < other else matches[::-1]
        for at, unit in zip(own.tolist(), left[other][theirs].tolist(), strict=True):
            unitary[at][other] = unit
        remaining[other] = np.delete(left[other], theirs)
    rest = [annotator for annotator in annotators if annotator != medoid]
    return unitary + _star(distances, rest, remaining, unmatched)


def _matched(distances: Floats, unmatched: float) -> tuple[tuple[Indices, Indices], float]:
    """Return the best matching of two annotators, and its cost. Units at twice `unmatched` stay alone."""
    gains = np.minimum(distances - 2.0 * unmatched, 0.0)
    coupling = hungarian(-gains)
    first, second = coupling.gold, coupling.predicted
    kept = gains[first, second] < 0.0
    first, second = first[kept], second[kept]
    cost = float(gains[first, second].sum()) + unmatched * sum(distances.shape)
    return (first, second), cost


def _improved(unitary: Indices, distances: Distances, sizes: Sequence[int], unmatched: float) -> Indices:
    """Match single annotators again as long as the total disorder falls, and return the unitary alignments, sorted."""
    pairs, cost = len(_pairs(len(sizes))), np.inf
    while (current := float(_disorders(unitary, distances, unmatched).sum())) < cost - _SLACK:
        cost = current
        for annotator, size in enumerate(sizes):
            others = unitary.copy()
            others[:, annotator] = NONE
            others = others[(others != NONE).any(axis=1)]
            gains = np.full((size, len(others)), -unmatched)  # the unit does not stay alone
            for other in range(len(sizes)):
                present = others[:, other] != NONE
                if other != annotator:
                    table = distances[annotator, other] if annotator < other else distances[other, annotator].T
                    gains[:, present] += (table[:, others[present, other]] - unmatched) / pairs
            matches = hungarian(-np.minimum(gains, 0.0))
            useful = gains[matches.gold, matches.predicted] < 0.0
            others[matches.predicted[useful], annotator] = matches.gold[useful]
            alone = np.delete(np.arange(size), matches.gold[useful])
            added = np.full((len(alone), len(sizes)), NONE, dtype=np.intp)
            added[:, annotator] = alone
            unitary = np.concatenate([others, added])
    return unitary[np.lexsort(unitary.T[::-1])]


def _exact(distances: Distances, sizes: Sequence[int], unmatched: float, best: Alignment) -> Alignment:
    """Return the best alignment by integer programming; `best` is the best one known so far.

    The cost of a unitary alignment is a sum over pairs of annotators. The linear programs of these pairs give dual
    prices of the units, and hence a lower bound for every alignment. A unitary alignment whose cost exceeds the prices
    of its units by more than the gap between the best known alignment and this bound cannot be part of a better one,
    and is left out.
    """
    excess, bound = _pairwise_bounds(distances, sizes, unmatched)
    gap = best.disorder - bound
    unitary = _candidates(excess, sizes, gap + _SLACK) if gap > _SLACK else None
    if unitary is None:
        return Alignment(best.unitary, best.disorder, exact=gap <= _SLACK)
    costs = _disorders(unitary, distances, unmatched)
    number = np.arange(len(unitary))
    holds = sparse.vstack([_indicator(units, number, size) for units, size in zip(unitary.T, sizes, strict=True)])
    result = milp(
        costs,
        constraints=LinearConstraint(holds, 1.0, 1.0),
        integrality=np.ones(len(costs), dtype=np.intp),
        bounds=Bounds(0.0, 1.0),
    )
    if result.x is None:
        raise SolverError.of(f"The alignment of annotators failed: {result.message}")
    chosen = unitary[result.x > 0.5]  # noqa: PLR2004
    disorder = float(_disorders(chosen, distances, unmatched).sum())
    if disorder >= best.disorder - _SLACK:
        return Alignment(best.unitary, best.disorder, exact=True)
    return Alignment(chosen[np.lexsort(chosen.T[::-1])], disorder, exact=True)


def _pairwise_bounds(distances: Distances, sizes: Sequence[int], unmatched: float) -> tuple[Distances, float]:
    """Return how much each pair of units costs beyond its prices, by pair of annotators, and the sum of all prices.

    The tables have a last row and a last column for a missing unit. Their values are not negative.
    """
    pairs, tables, bound = _pairs(len(sizes)), {}, 0.0
    for i, j in pairs:
        rows, columns = sizes[i], sizes[j]
        table = np.pad(distances[i, j], (0, 1), constant_values=unmatched) / len(pairs)
        if rows + columns == 0:
            tables[i, j] = table
            continue
        first, second = (
            side[:-1] for side in np.indices(table.shape).reshape(2, -1)
        )  # without a pair of missing units
        number = np.arange(len(first))
        holds = sparse.vstack([_indicator(first, number, rows), _indicator(second, number, columns)])
        result = linprog(table[first, second], A_eq=holds, b_eq=np.ones(rows + columns), bounds=(0.0, None))  # type: ignore[call-overload]
        if result.x is None:
            raise SolverError.of(f"The alignment of annotators failed: {result.message}")
        prices = result.eqlin.marginals
        bound += float(prices.sum())
        tables[i, j] = table - np.add.outer(np.append(prices[:rows], 0.0), np.append(prices[rows:], 0.0))
    return tables, bound


def _indicator(units: Indices, columns: Indices, size: int) -> sparse.csr_array:
    """Return which columns contain each unit; shape (size, columns)."""
    present = (units != NONE) & (units < size)
    return sparse.csr_array(
        (np.ones(int(present.sum())), (units[present], columns[present])), shape=(size, len(columns))
    )


def _candidates(excess: Distances, sizes: Sequence[int], gap: float) -> Indices | None:
    """Return the unitary alignments that cost at most `gap` beyond the prices of their units, or None for too many."""
    unitary, costs = np.empty((1, 0), dtype=np.intp), np.zeros(1)
    for annotator, size in enumerate(sizes):
        if len(unitary) * (size + 1) > 1_000 * MAX_CANDIDATES:
            return None
        units = np.tile(np.append(np.arange(size), NONE), len(unitary))
        unitary = np.column_stack([np.repeat(unitary, size + 1, axis=0), units])
        costs = np.repeat(costs, size + 1)
        for other in range(annotator):
            costs += excess[other, annotator][unitary[:, other], units]
        unitary, costs = unitary[costs <= gap], costs[costs <= gap]
    unitary = unitary[(unitary != NONE).any(axis=1)]
    return unitary if len(unitary) <= MAX_CANDIDATES else None
