"""Finds the correspondence of the items of two graphs: which predicted item is the partner of each gold item.

The best correspondence maximises the quality of matched items plus the share of the references that agree: a
quadratic assignment. The refined colours find it if the graphs are the same. Otherwise the relaxed problem is solved
from several fixed starts by the method of Frank and Wolfe (Vogelstein et al., 2015), rounded, and improved by
exchanging partners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import perm, prod
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from arbitre.engine.references.refinement import isomorphism, refined_colours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.arrays import Floats, Indices
    from arbitre.engine.columns.row_keys import Digests
    from arbitre.engine.references.graph import Edges, ReferenceGraph

MAX_STEPS: Final = 30
"""Maximum number of steps from one start."""

MAX_EXCHANGES: Final = 20
"""Maximum number of improvements of an assignment by exchanging the partners of two items."""

MAX_EXCHANGED: Final = 3
"""Number of assignments that are improved by exchanges."""

MAX_TRIED: Final = 20
"""Maximum number of exchanges that are tried for one improvement."""

DENSE: Final = 64
"""Number of items up to which the edges are stored as dense matrices."""

TOLERANCE: Final = 1e-12
"""Difference below which two objectives are equal."""


TINY: Final = 1e-300

Matrices = Sequence[csr_array] | npt.NDArray[np.float64]
"""One matrix of edges for each label: sparse, or dense with the shape (labels, items, items)."""


@dataclass(eq=False, slots=True)
class _Problem:
    """A quadratic assignment: items in a canonical order, and one pair of matrices of edges for each label."""

    alike: Floats
    allowed: list[tuple[Indices, Indices]]
    """Rows and columns of each scope."""
    gold: Matrices
    predicted: Matrices

    @classmethod
    def of(cls, graph: ReferenceGraph, rows: Indices, columns: Indices) -> _Problem:
        """Return the problem of a graph with its items in this order."""
        labels = np.intersect1d(graph.edges[0].label, graph.edges[1].label)
        dense = max(len(rows), len(columns)) <= DENSE
        gold, predicted = (
            _matrices(edges, labels, order, dense=dense)
            for edges, order in zip(graph.edges, (rows, columns), strict=True)
        )
        allowed = graph.allowed[np.ix_(rows, columns)]
        scopes = {row.tobytes(): row.nonzero()[0] for row in allowed if row.any()}
        blocks = [((allowed[:, own[0]]).nonzero()[0], own) for own in scopes.values()]
        return cls(graph.alike[np.ix_(rows, columns)], blocks, gold, predicted)

    def agreement(self, matching: Floats) -> Floats:
        """Return by how much the agreeing references grow with each pair; the matrix of a symmetric operator."""
        if isinstance(self.gold, np.ndarray) and isinstance(self.predicted, np.ndarray):
            turned = self.gold.transpose(0, 2, 1), self.predicted.transpose(0, 2, 1)
            agreeing = self.gold @ matching @ turned[1] + turned[0] @ matching @ self.predicted
            total: Floats = agreeing.sum(axis=0)
            return total
        total = np.zeros_like(matching)
        for gold, predicted in zip(self.gold, self.predicted, strict=True):
            total += (predicted @ (gold @ matching).T).T + (predicted.T @ (gold.T @ matching).T).T
        return total

    def objective(self, partners: Indices) -> float:
        matching = self.matrix(partners)
        return float((self.alike * matching).sum() + (matching * self.agreement(matching)).sum() / 2.0)

    def matrix(self, partners: Indices) -> Floats:
        matching = np.zeros(self.alike.shape)
        rows = (partners >= 0).nonzero()[0]
        matching[rows, partners[rows]] = 1.0
        return matching

    def assigned(self, worth: Floats) -> Indices:
        """Return the partner of each row in an assignment of the greatest worth; -1 for none."""
        partners = np.full(len(worth), -1, dtype=np.intp)
        for rows, columns in self.allowed:
            left, right = linear_sum_assignment(worth[np.ix_(rows, columns)], maximize=True)
            partners[rows[left]] = columns[right]
        return partners

    def ranked(self, found: Sequence[Indices]) -> list[Indices]:
        """Return the distinct assignments, best first."""
        distinct = {partners.tobytes(): partners for partners in found}
        return sorted(distinct.values(), key=lambda one: -round(self.objective(one), 12))

    def improved(self, matching: Floats) -> Indices:
        """Return the partners found from a start by steps of Frank and Wolfe and rounding."""
        agreement = self.agreement(matching)
        for _ in range(MAX_STEPS):
            gradient = self.alike + agreement
            target = self.matrix(self.assigned(gradient))
            direction = target - matching
            slope = float((gradient * direction).sum())
            if slope <= TOLERANCE:
                break
            change = self.agreement(direction)
            curve = float((direction * change).sum()) / 2.0
            step = 1.0 if curve >= 0.0 else min(1.0, -slope / (2.0 * curve))
            matching = matching + step * direction
            agreement = agreement + step * change
        return self.settled(self.assigned(matching))

    def settled(self, partners: Indices) -> Indices:
        """Improve an assignment by assignments to its own gradient."""
        best = self.objective(partners)
        for _ in range(MAX_STEPS):
            other = self.assigned(self.alike + self.agreement(self.matrix(partners)))
            worth = self.objective(other)
            if worth <= best + TOLERANCE:
                break
            partners, best = other, worth
        return partners

    def exchanged(self, partners: Indices) -> Indices:
        """Exchange the partners of two items while this improves the objective."""
        best = self.objective(partners)
        for _ in range(MAX_EXCHANGES):
            matching = self.matrix(partners)
            gradient = self.alike + self.agreement(matching)
            found = False
            for left, right in self._promising(partners, gradient):
                other = partners.copy()
                other[left], other[right] = partners[right], partners[left]
                worth = self.objective(other)
                if worth > best + TOLERANCE:
                    partners, best, found = other, worth, True
                    break
            if not found:
                break
        return partners

    def _promising(self, partners: Indices, gradient: Floats) -> Iterator[tuple[int, int]]:
        """Yield pairs of rows whose exchange loses least to first order."""
        rows = (partners >= 0).nonzero()[0]
        if len(rows) < 2:  # noqa: PLR2004
            return
        own = gradient[np.ix_(rows, partners[rows])]
        gain = own + own.T - own.diagonal()[:, None] - own.diagonal()[None, :]
        scope = np.empty(len(partners), dtype=np.intp)
        for number, (members, _) in enumerate(self.allowed):
            scope[members] = number
        gain[~np.equal.outer(scope[rows], scope[rows])] = -np.inf
        left, right = np.triu_indices(len(rows), 1)
        order = np.argsort(-gain[left, right], kind="stable")[:MAX_TRIED]
        order = order[np.isfinite(gain[left[order], right[order]])]
        yield from zip(rows[left[order]].tolist(), rows[right[order]].tolist(), strict=True)


def _matrices(edges: Edges, labels: Digests, order: Indices, *, dense: bool) -> Matrices:
    """Return a matrix of the edges of each label; a weight is split evenly between gold and the prediction."""
    size = len(order)
    place = np.empty(size, dtype=np.intp)
    place[order] = np.arange(size)
    own = (np.isin(edges.label, labels) & (edges.source >= 0) & (edges.target >= 0)).nonzero()[0]
    at = labels.searchsorted(edges.label[own])
    source, target, weight = place[edges.source[own]], place[edges.target[own]], np.sqrt(edges.weight[own])
    if dense:
        every = np.zeros((len(labels), size, size))
        np.add.at(every, (at, source, target), weight)
        return every
    return [
        csr_array((weight[at == one], (source[at == one], target[at == one])), shape=(size, size))
        for one in range(len(labels))
    ]


def proposed_correspondences(graph: ReferenceGraph, first: Indices) -> list[Indices]:
    """Return correspondences that may be the best, the most promising first.

    Args:
        graph: The items and references.
        first: Position of the partner of each gold item in the matching without references, or -1.
    """
    exact = isomorphism(graph)
    colours = refined_colours(graph)
    rows, columns = colours.gold.argsort(kind="stable"), colours.predicted.argsort(kind="stable")
    problem = _Problem.of(graph, rows, columns)
    place = np.full(len(columns) + 1, -1, dtype=np.intp)
    place[columns] = np.arange(len(columns))
    alike, mentioned = problem.alike, graph.mentioned[np.ix_(rows, columns)]
    same = place[colours.partners[rows]]
    known = problem.matrix(same)
    found = [problem.settled(problem.assigned(alike + 2.0 * known + mentioned))]
    if (same >= 0).sum() < min(alike.shape):
        start = problem.matrix(place[first[rows]])
        level = np.zeros_like(alike)
        for left, right in problem.allowed:
            level[np.ix_(left, right)] = 1.0 / max(len(left), len(right))
        found += [problem.improved(start), problem.improved(level)]
        if len({partners.tobytes() for partners in found}) > 1:  # the simplest starts lead to different ones
            soft = _similarity(problem, alike + mentioned, level)
            starts = [soft, problem.matrix(problem.assigned(soft)), (start + level) / 2.0]
            found += [problem.improved(one) for one in starts]
    ranked = problem.ranked(found)
    if len(ranked) > 1:
        ranked = problem.ranked([*map(problem.exchanged, ranked[:MAX_EXCHANGED]), *ranked[MAX_EXCHANGED:]])
    every = [_in_order(partners, rows, columns) for partners in ranked]
    return every if exact is None else [exact, *every]


def _similarity(problem: _Problem, alike: Floats, level: Floats) -> Floats:
    """Return how alike items and the items around them are, after ten rounds; rows and columns sum to at most 1."""
    similar = level
    for _ in range(10):
        grown = alike + problem.agreement(similar)
        similar = grown / max(*(float(grown.sum(axis=axis).max(initial=0.0)) for axis in (0, 1)), TINY)
    return similar


def _in_order(partners: Indices, rows: Indices, columns: Indices) -> Indices:
    """Return the partners by the original positions."""
    found = np.full(len(partners), -1, dtype=np.intp)
    found[rows] = np.where(partners >= 0, columns[partners], -1)
    return found


def all_correspondences(graph: ReferenceGraph, most: int) -> list[Indices] | None:
    """Return all correspondences with as many pairs as possible; None if there are more than `most`."""
    scopes = {row.tobytes(): row.nonzero()[0] for row in graph.allowed if row.any()}
    blocks = [(graph.allowed[:, own[0]].nonzero()[0], own) for own in scopes.values()]
    if prod(perm(max(len(rows), len(own)), min(len(rows), len(own))) for rows, own in blocks) > most:
        return None
    choices = []
    for rows, own in blocks:
        size = min(len(rows), len(own))
        left = [rows.tolist()] if size == len(rows) else permutations(rows.tolist(), size)
        right = permutations(own.tolist(), size) if size == len(rows) else [own.tolist()]
        choices.append([list(zip(*both, strict=True)) for both in product(left, right)])
    found = []
    for several in product(*choices):
        partners = np.full(len(graph.gold), -1, dtype=np.intp)
        for row, column in (pair for pairs in several for pair in pairs):
            partners[row] = column
        found.append(partners)
    return found
