"""The exact search for the alignment with the least disorder, by prices of units and integer programming."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from arbitre.agreement.aligning.problem import NONE, SLACK
from arbitre.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.agreement.aligning.problem import Matched, Problem
    from arbitre.arrays import Floats, Indices

MAX_CANDIDATES: Final = 3_000
"""Maximum number of candidate unitary alignments of the exact search, once prices are raised."""

MAX_STEPS: Final = 2_000
"""Maximum number of steps of the search by enumeration; after these, the integer program is solved."""

MAX_UNITS: Final = 500
"""Maximum number of units of the search by enumeration, which calls itself once per unitary alignment."""

ROUNDS: Final = 2
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
