"""The solvers of one transport problem, by POT (Flamary et al., 2021). No other module imports POT.

The inputs and results of POT are checked, and its warnings raise errors.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import scipy

from arbitre.errors import SolverError
from arbitre.matching.assignment import TIE
from arbitre.matching.coupling import NEGLIGIBLE
from arbitre.matching.transport_options import (
    DummySolver,
    ExactSolver,
    MarginalPenalty,
    PartialSolver,
    SinkhornSolver,
    SolverOptions,
    UnbalancedSolver,
)
from arbitre.threads import call_interruptibly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    from arbitre.arrays import Floats

INTERRUPTIBLE_CELLS: Final = 1 << 18
"""Number of pairs from which a transport can be interrupted with Ctrl-C before it is solved."""
_CENTRED: Final = 1e-10
"""Squared Newton decrement, per unit of mass, below which a smoothed problem counts as solved."""
_DAMPING: Final = 1e-3
"""Share of the marginal error that is added to the diagonal of the singular matrix of Newton's method."""
_REMEDIES: Final[Mapping[str, str]] = {
    "sinkhorn": "Raise `max_iterations`, `epsilon` or `tolerance`, or use the exact solver.",
    "unbalanced": "Raise `max_iterations`, `tolerance` or `reg_m`.",
    "gromov": "Check the costs: they should be in [0, 1].",
}
"""Hint of the error for a solver that fails."""


class SolvedPlan(NamedTuple):
    """The plan of one problem."""

    mass: Floats
    """Mass of each pair; shape (n, m)."""
    excess: float = 0.0
    """Mass removed because it exceeded the mass of an item."""
    divergence: float = np.nan
    """Sinkhorn divergence of a debiased plan, in [0, 1]."""


class TransportProblem(NamedTuple):
    """One transport problem."""

    cost: Floats
    """Cost of each pair; shape (n, m)."""
    gold: Floats
    """Masses of the gold items, which sum to n; shape (n,)."""
    predicted: Floats
    """Masses of the predicted items, which sum to m; shape (m,)."""
    within: tuple[Floats, ...]
    """Costs among the gold items and among the predicted items, for a debiased plan; shapes (n, n) and (m, m)."""


def import_pot() -> ModuleType:
    """Import POT and return it."""
    import ot  # noqa: PLC0415  (it loads slowly, and few comparisons need it)

    return ot  # type: ignore[no-any-return]


@contextmanager
def solver_errors(what: SolverOptions | str, name: Callable[[int], str | None], problem: int) -> Iterator[None]:
    """Convert errors and warnings of a solver to SolverError."""
    import_pot()  # import it first: warnings of the import are not errors of the solver
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except (ArithmeticError, AssertionError, ValueError, Warning) as error:
        solver = what if isinstance(what, str) else type(what).__name__.removesuffix("Solver").lower()
        raise SolverError.of(
            f"The {solver} transport did not reach its optimum: {' '.join(str(error).split())}",
            pointer=name(problem),
            hint=_REMEDIES.get(solver, "Raise `max_iterations` or `tolerance`."),
        ) from error


def solve(problem: TransportProblem, solver: SolverOptions) -> SolvedPlan:
    """Solve one problem."""
    cost, gold, predicted, _ = problem
    n, m = cost.shape
    match solver:
        case ExactSolver():
            # gold masses * m and predicted masses * n keep integers integers, so the simplex has no rounding errors
            plan = solve_exactly(gold * m, predicted * n, cost, solver.max_iterations)[0] / m
            return SolvedPlan(checked_plan(plan, gold, predicted * (n / m), solver.tolerance))
        case SinkhornSolver():
            return _smoothed(problem, solver)
        case PartialSolver():
            moved = solver.mass * min(n, m)
            # cost 1 between the two dummies: mass between them would move more than `moved`, at a higher cost
            plan = _with_dummies(problem, 0.0, 1.0, (m - moved, n - moved), solver.max_iterations)
            if abs(plan.sum() - moved) > solver.tolerance * moved:
                raise ArithmeticError(f"the plan moves a mass of {plan.sum()} instead of {moved}")
            return SolvedPlan(checked_plan(plan, gold, predicted, solver.tolerance, balanced=False))
        case DummySolver(lambda_=price) | UnbalancedSolver(penalty=MarginalPenalty.TV, reg_m=price):
            # ties go to the plan that matches more; pairs that cost twice the price or more are never matched
            adjusted = np.where(cost < 2.0 * price, cost - TIE / min(n, m), 2.0 * price + 1.0)
            plan = _with_dummies(problem._replace(cost=adjusted), price, 0.0, (m, n), solver.max_iterations)
            return SolvedPlan(checked_plan(plan, gold, predicted, solver.tolerance, balanced=False))
        case UnbalancedSolver():
            return _relaxed(problem, solver)


def _smoothed(problem: TransportProblem, solver: SinkhornSolver) -> SolvedPlan:
    """Compute the entropic plan and, with `debiased`, its Sinkhorn divergence."""
    cost, gold, predicted, within = problem
    rows, columns = gold / len(gold), predicted / len(predicted)
    plan, value = _entropic(cost, rows, columns, solver)
    if not solver.debiased:
        return SolvedPlan(plan * len(gold))
    inner = [_entropic(table, side, side, solver)[1] for table, side in zip(within, (rows, columns), strict=True)]
    return SolvedPlan(plan * len(gold), divergence=float(np.clip(value - sum(inner) / 2.0, 0.0, 1.0)))


def _entropic(cost: Floats, rows: Floats, columns: Floats, solver: SinkhornSolver) -> tuple[Floats, float]:
    """Return the entropic plan and its objective: cost + epsilon * divergence from the product of the marginals.

    Uses Newton's method on the column potentials (Brauer, Clason, Lorenz and Wirth, 2017), starting from those of the
    exact plan. It needs a few steps where Sinkhorn's scaling needs more than 10^5, as for similar lists.
    """
    _, left, right = solve_exactly(rows, columns, cost)
    kernel, potential = (left[:, None] + right - cost) / solver.epsilon, np.zeros(len(columns))
    for _ in range(solver.max_iterations):
        plan = scipy.special.softmax(kernel + potential, axis=1) * rows[:, None]
        miss = columns - plan.sum(axis=0)
        if np.abs(miss).max() <= solver.tolerance:
            checked_plan(plan, rows, columns, solver.tolerance)
            divergence = scipy.special.rel_entr(plan, np.outer(rows, columns)).sum()
            return plan, float((plan * cost).sum() + solver.epsilon * divergence)
        slope = np.diag(plan.sum(axis=0) + _DAMPING * np.abs(miss).max()) - plan.T @ (plan / rows[:, None])
        step = np.linalg.solve(slope, miss)
        potential += step / max(1.0, np.abs(step).max())
    raise ArithmeticError(f"a marginal has an error of {np.abs(miss).max()} after {solver.max_iterations} steps")


def _relaxed(problem: TransportProblem, solver: UnbalancedSolver) -> SolvedPlan:
    """Compute the unbalanced plan, whose marginals are penalised by their Kullback-Leibler divergence.

    Uses Newton's method on the dual with decreasing entropic smoothing. It follows the central path, so among several
    optima it finds the most uniform one. It stops at the required duality gap.
    """
    cost, gold, predicted, _ = problem
    price = smoothing = solver.reg_m
    unit = gold.sum() + predicted.sum()
    left, right = cost.min(axis=1) / 2.0, cost.min(axis=0) / 2.0
    for _ in range(solver.max_iterations):
        plan = np.exp((left[:, None] + right - cost) / smoothing)
        rows, columns = gold * np.exp(-left / price), predicted * np.exp(-right / price)
        target, marginals = np.concatenate([rows, columns]), np.concatenate([plan.sum(axis=1), plan.sum(axis=0)])
        slope = np.diag(target / price + marginals / smoothing)
        slope[: len(rows), len(rows) :], slope[len(rows) :, : len(rows)] = plan / smoothing, plan.T / smoothing
        step = np.linalg.solve(slope, target - marginals)
        if (target - marginals) @ step <= _CENTRED * smoothing * unit:
            if _duality_gap(plan, problem, right, price) <= solver.tolerance * price * unit:
                return _capped(plan, gold, predicted)
            smoothing /= 4.0
        left_step, right_step = np.split(step, [len(gold)])
        size = max(np.abs(left_step[:, None] + right_step).max() / smoothing, np.abs(step).max() / price)
        left, right = left + left_step / max(1.0, size / 2.0), right + right_step / max(1.0, size / 2.0)
    raise ArithmeticError(f"the plan is not proven optimal after {solver.max_iterations} steps")


def _duality_gap(plan: Floats, problem: TransportProblem, right: Floats, price: float) -> float:
    """Return an upper bound of the objective's distance to its optimum, from a feasible dual point."""
    cost, gold, predicted, _ = problem
    rows, columns = plan.sum(axis=1), plan.sum(axis=0)
    divergences = scipy.special.rel_entr(rows, gold).sum(), scipy.special.rel_entr(columns, predicted).sum()
    spent = divergences[0] - rows.sum() + divergences[1] - columns.sum()
    left = (cost - right).min(axis=1)
    right = (cost - left[:, None]).min(axis=0)
    lost = (gold * np.exp(-left / price)).sum() + (predicted * np.exp(-right / price)).sum()
    return float((plan * cost).sum() + price * (spent + lost))


def _capped(plan: Floats, gold: Floats, predicted: Floats) -> SolvedPlan:
    """Scale the plan down so that no row or column exceeds the mass of its item."""
    by_row, by_column = gold / np.maximum(plan.sum(axis=1), gold), predicted / np.maximum(plan.sum(axis=0), predicted)
    capped = plan * np.minimum(by_row[:, None], by_column)
    return SolvedPlan(checked_plan(capped, gold, predicted, NEGLIGIBLE, balanced=False), float((plan - capped).sum()))


def _with_dummies(
    problem: TransportProblem, outside: float, between: float, spare: tuple[float, float], max_iterations: int
) -> Floats:
    """Solve a problem with a dummy item on each side, which receives the unmatched mass of the other side.

    Args:
        problem: The problem.
        outside: Cost between an item and a dummy.
        between: Cost between the two dummies.
        spare: Masses of the gold and of the predicted dummy.
        max_iterations: Maximum number of iterations.

    Returns:
        The plan without the dummies; shape (n, m).
    """
    table = np.full((len(problem.gold) + 1, len(problem.predicted) + 1), outside)
    table[:-1, :-1], table[-1, -1] = problem.cost, between
    rows, columns = np.append(problem.gold, spare[0]), np.append(problem.predicted, spare[1])
    return solve_exactly(rows, columns, table, max_iterations)[0][:-1, :-1]


def solve_exactly(
    rows: Floats, columns: Floats, cost: Floats, max_iterations: int = 1_000_000
) -> tuple[Floats, Floats, Floats]:
    """Return the balanced plan with the least cost and its potentials (network simplex, Bonneel et al., 2011)."""
    emd = partial(import_pot().emd, numItermax=max_iterations, log=True, check_marginals=False)
    if cost.size < INTERRUPTIBLE_CELLS:
        plan, log = emd(rows, columns, cost)
    else:
        plan, log = call_interruptibly(lambda: emd(rows, columns, cost))
    if log["warning"] is not None:
        raise ArithmeticError(log["warning"])
    return plan, log["u"], log["v"]


def checked_plan(plan: Floats, rows: Floats, columns: Floats, tolerance: float, *, balanced: bool = True) -> Floats:
    """Return the plan; check that it is finite, non-negative and has these marginals (or less if not balanced)."""
    if not (np.isfinite(plan).all() and (plan >= 0.0).all()):
        raise ArithmeticError("the plan contains negative or non-finite masses")
    miss = np.concatenate([plan.sum(axis=1) - rows, plan.sum(axis=0) - columns])
    error = np.abs(miss).max() if balanced else miss.max()
    if error > tolerance * rows.sum():
        raise ArithmeticError(f"a marginal has an error of {error}")
    return plan
