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

from arbitre.agreement.aligning.exact_search import better_than
from arbitre.agreement.aligning.problem import NONE, SLACK, Matched, Problem
from arbitre.matching.assignment import hungarian, solve_assignment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.agreement.aligning.problem import Distances
    from arbitre.arrays import Indices, Mask
    from arbitre.matching.builtin_matchers import CouplingFunction

__all__ = ["NONE", "Alignment", "align"]

MAX_EXACT_ANNOTATORS: Final = 4
"""Maximum number of annotators for the exact search; with more, the star alignment is used."""

_PAIR: Final = 2
"""Minimum number of annotators whose units are matched."""


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


def align(
    distances: Distances,
    sizes: Sequence[int],
    unmatched: float,
    both_missing: float | None = None,
    *,
    search: bool = True,
    couple: CouplingFunction = hungarian,
) -> Alignment:
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
        return Alignment(np.arange(sum(sizes), dtype=np.intp).reshape(-1, len(sizes)), 0.0, exact=True)
    problem = Problem.of(distances, sizes, unmatched, couple, both_missing)
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
    return Alignment(unitary[np.lexsort(unitary.T[::-1])], cost, exact)


def _disorder(problem: Problem, unitary: Indices) -> float:
    return float(problem.disorders(unitary).sum())


def _matchings(
    problem: Problem, annotators: Sequence[int], left: Sequence[Indices]
) -> Mapping[tuple[int, int], Matched]:
    """Match the units in `left` of each pair of these annotators."""
    return {(i, j): problem.match((i, j), left[i], left[j]) for i, j in combinations(annotators, 2)}


def _star(
    problem: Problem,
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


def _alone(problem: Problem, annotator: int, units: Indices) -> Indices:
    """Return a unitary alignment of each of these units alone."""
    unitary = np.full((len(units), len(problem.sizes)), NONE, dtype=np.intp)
    unitary[:, annotator] = units
    return unitary


def _improved(problem: Problem, unitary: Indices, cost: float) -> tuple[Indices, float]:
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
