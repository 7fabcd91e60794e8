"""Alignment of the units of several annotators: which units stand for the same thing.

A cluster holds at most one unit of each annotator. Its disorder is the mean distance over pairs of annotators; a pair
without two units counts as `unmatched` (Mathet, Widlöcher and Métivier, 2015). An alignment is a partition of all units
into clusters; the best one has the least total disorder.
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
"""In a cluster: this annotator has no unit."""

MAX_EXACT_ANNOTATORS: Final = 4
"""Maximum number of annotators whose best alignment is searched; with more, the star alignment is used."""

MAX_CLUSTERS: Final = 3_000
"""Maximum number of candidate clusters of the exact search."""

_SLACK: Final = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class Alignment:
    """A partition of the units of n annotators into clusters.

    Attributes:
        clusters: Position of the unit of each annotator, or `NONE`; shape (clusters, annotators), sorted.
        disorder: Sum of the disorders of the clusters, in units of the distance.
        exact: Whether no alignment has less disorder.
    """

    clusters: Indices
    disorder: float
    exact: bool


def align(distances: Distances, sizes: Sequence[int], unmatched: float, *, search: bool = True) -> Alignment:
    """Return the best alignment for up to four annotators, else an improved star alignment.

    The star alignment matches every annotator with the medoid, the annotator closest to all others. It is improved by
    matching one annotator at a time with the clusters of the others, until nothing changes. It is also returned if the
    exact search would need too many clusters; `exact` says so.

    Args:
        distances: Distances between the units of each pair of annotators, not negative.
        sizes: Number of units of each annotator.
        unmatched: Distance that a missing unit counts as, above 0.
        search: Whether to search for the best alignment of three or four annotators.

    Raises:
        SolverError: The exact search failed.
    """
    star = _star(distances, range(len(sizes)), [np.arange(size) for size in sizes], unmatched)
    clusters = _improved(np.array(star, dtype=np.intp).reshape(-1, len(sizes)), distances, sizes, unmatched)
    cost = float(_disorders(clusters, distances, unmatched).sum())
    if len(sizes) == 2:  # noqa: PLR2004
        return Alignment(clusters, cost, exact=True)
    if len(sizes) > MAX_EXACT_ANNOTATORS or not search:
        return Alignment(clusters, cost, exact=False)
    return _exact(distances, sizes, unmatched, Alignment(clusters, cost, exact=False))


def _disorders(clusters: Indices, distances: Distances, unmatched: float) -> Floats:
    """Return the disorder of each cluster; shape (clusters,)."""
    count = clusters.shape[1]
    costs = [
        _pair_costs(distances[pair], clusters[:, pair[0]], clusters[:, pair[1]], unmatched) for pair in _pairs(count)
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
    """Return clusters of the units in `left`, by matching every annotator with the medoid, then those that remain."""
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
    clusters = [[int(unit) if at == medoid else NONE for at in range(width)] for unit in left[medoid]]
    remaining = list(left)
    for other in annotators:
        if other == medoid:
            continue
        matches, _ = pairs[min(medoid, other), max(medoid, other)]
        own, theirs = matches if medoid < other else matches[::-1]
        for at, unit in zip(own.tolist(), left[other][theirs].tolist(), strict=True):
            clusters[at][other] = unit
        remaining[other] = np.delete(left[other], theirs)
    rest = [annotator for annotator in annotators if annotator != medoid]
    return clusters + _star(distances, rest, remaining, unmatched)


def _matched(distances: Floats, unmatched: float) -> tuple[tuple[Indices, Indices], float]:
    """Return the best matching of two annotators, and its cost. Units at twice `unmatched` or more stay alone."""
    gains = np.minimum(distances - 2.0 * unmatched, 0.0)
    coupling = hungarian(-gains)
    first, second = coupling.gold, coupling.predicted
    kept = gains[first, second] < 0.0
    first, second = first[kept], second[kept]
    cost = float(gains[first, second].sum()) + unmatched * sum(distances.shape)
    return (first, second), cost


def _improved(clusters: Indices, distances: Distances, sizes: Sequence[int], unmatched: float) -> Indices:
    """Return the clusters, sorted, after matching single annotators again as long as the total disorder falls."""
    pairs, cost = len(_pairs(len(sizes))), np.inf
    while (current := float(_disorders(clusters, distances, unmatched).sum())) < cost - _SLACK:
        cost = current
        for annotator, size in enumerate(sizes):
            others = clusters.copy()
            others[:, annotator] = NONE
            others = others[(others != NONE).any(axis=1)]
            gains = np.full((size, len(others)), -unmatched)  # the unit is no cluster of its own
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
            clusters = np.concatenate([others, added])
    return clusters[np.lexsort(clusters.T[::-1])]


def _exact(distances: Distances, sizes: Sequence[int], unmatched: float, best: Alignment) -> Alignment:
    """Return the best alignment by integer programming; `best` is the best one known.

    The cost of a cluster is a sum over pairs of annotators. The linear programs of these pairs give dual prices of the
    units, hence a lower bound of every alignment. A cluster whose cost exceeds the prices of its units by more than the
    gap between the best known alignment and this bound cannot be part of a better one, and is left out.
    """
    excess, bound = _pairwise_bounds(distances, sizes, unmatched)
    gap = best.disorder - bound
    clusters = _candidates(excess, sizes, gap + _SLACK) if gap > _SLACK else None
    if clusters is None:
        return Alignment(best.clusters, best.disorder, exact=gap <= _SLACK)
    costs = _disorders(clusters, distances, unmatched)
    number = np.arange(len(clusters))
    holds = sparse.vstack([_indicator(units, number, size) for units, size in zip(clusters.T, sizes, strict=True)])
    result = milp(
        costs,
        constraints=LinearConstraint(holds, 1.0, 1.0),
        integrality=np.ones(len(costs), dtype=np.intp),
        bounds=Bounds(0.0, 1.0),
    )
    if result.x is None:
        raise SolverError.of(f"The alignment of annotators failed: {result.message}")
    chosen = clusters[result.x > 0.5]  # noqa: PLR2004
    disorder = float(_disorders(chosen, distances, unmatched).sum())
    if disorder >= best.disorder - _SLACK:
        return Alignment(best.clusters, best.disorder, exact=True)
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
    """Return the clusters that cost at most `gap` beyond the prices of their units; None if there are too many."""
    clusters, costs = np.empty((1, 0), dtype=np.intp), np.zeros(1)
    for annotator, size in enumerate(sizes):
        if len(clusters) * (size + 1) > 1_000 * MAX_CLUSTERS:
            return None
        units = np.tile(np.append(np.arange(size), NONE), len(clusters))
        clusters = np.column_stack([np.repeat(clusters, size + 1, axis=0), units])
        costs = np.repeat(costs, size + 1)
        for other in range(annotator):
            costs += excess[other, annotator][clusters[:, other], units]
        clusters, costs = clusters[costs <= gap], costs[costs <= gap]
    clusters = clusters[(clusters != NONE).any(axis=1)]
    return clusters if len(clusters) <= MAX_CLUSTERS else None
