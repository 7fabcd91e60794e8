"""The exact search for the alignment with the least disorder, by prices of units and integer programming."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from arbitre.agreement.aligning.problem import NONE, SLACK
from arbitre.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.agreement.aligning.problem import Matched, Problem
    from arbitre.arrays import Floats, Indices

MAX_CANDIDATES: Final = 3_000
"""Maximum number of candidate unitary alignments of the exact search."""

MAX_STEPS: Final = 20_000
"""Maximum number of steps of the search by enumeration; after these, the integer program is solved."""

ROUNDS: Final = 4
"""Number of times that the prices of the units are raised."""


def better_than(
    problem: Problem, matchings: Mapping[tuple[int, int], Matched], known: float
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
    enumeration = _Enumeration(units, costs, gap - SLACK, sum(problem.sizes))
    chosen = enumeration.best if enumeration.complete() else _programmed(units, costs, sum(problem.sizes))
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

    Units with few candidates come first. Few candidates remain for most lists: this takes a tenth of the time of an
    integer program.

    Attributes:
        best: The cheapest candidates so far; empty if none cost less than `below`.
        below: Their cost, or the cost below which candidates are searched.
    """

    def __init__(self, units: Indices, costs: Floats, below: float, size: int) -> None:
        self.best: list[int] = []
        self.below = below
        self._size, self._steps = size, 0
        rows = [[unit for unit in row if unit < size] for row in units.tolist()]
        self._masks = [sum(1 << unit for unit in row) for row in rows]
        self._by_unit: list[list[tuple[float, int]]] = [[] for _ in range(size)]
        for candidate, cost in sorted(enumerate(costs.tolist()), key=lambda item: item[1]):
            for unit in rows[candidate]:
                self._by_unit[unit].append((cost, candidate))
        self._order = sorted(range(size), key=lambda unit: len(self._by_unit[unit]))

    def complete(self, at: int = 0, covered: int = 0, cost: float = 0.0, chosen: tuple[int, ...] = ()) -> bool:
        """Search from the unit at position `at` of the order; return False if this needs more than `MAX_STEPS`."""
        while at < self._size and covered >> self._order[at] & 1:
            at += 1
        if at == self._size:
            self.best, self.below = list(chosen), cost
            return True
        for more, candidate in self._by_unit[self._order[at]]:
            if cost + more >= self.below:
                break
            self._steps += 1
            mask = self._masks[candidate]
            if self._steps > MAX_STEPS:
                return False
            if not mask & covered and not self.complete(at + 1, covered | mask, cost + more, (*chosen, candidate)):
                return False
        return True


def _programmed(units: Indices, costs: Floats, size: int) -> list[int]:
    """Return the cheapest candidates that contain each unit once, by integer programming."""
    candidate, place = (units != size).nonzero()
    held = units[candidate, place]
    holds = sparse.csr_array((np.ones(len(held)), (held, candidate)), shape=(size, len(units)))
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
