"""Optimal transport between two lists, solved by POT (Flamary et al., 2021). No other module imports POT.

Items have masses, a pair costs 1 - quality, and a plan states how much mass of each gold item moves to each predicted
item.
"""

from __future__ import annotations

import math
import sys
import threading
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import scipy

from arbitre.errors import OptionError, SolverError, check_integer, optional_library
from arbitre.interpreter import call_interruptibly
from arbitre.matching.assignment import TIE, assign_all
from arbitre.matching.coupling import (
    NEGLIGIBLE,
    BatchPlans,
    Coupling,
    costs_of,
    finite_array,
    normalise_masses,
    nowhere,
    problem_of_cells,
    single_row_or_column,
)
from arbitre.matching.transport_options import (
    DummySolver,
    ExactSolver,
    MarginalPenalty,
    MassScheme,
    PartialSolver,
    SinkhornSolver,
    SolverOptions,
    TransportOptions,
    UnbalancedSolver,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    import numpy.typing as npt

    from arbitre.arrays import Floats, Indices, Mask


FULL_TOLERANCE: Final = 1e-12
"""Share of a plan's mass below which the mass that it leaves out is a rounding error."""

_MAX_DESCENT_STEPS: Final = 1000
"""Maximum number of steps in one descent of `gromov`."""


def transport_all(  # noqa: PLR0917  (data of all problems)
    quality: Floats,
    heights: Indices,
    widths: Indices,
    gold_masses: Floats,
    predicted_masses: Floats,
    how: TransportOptions,
    *,
    name: Callable[[int], str | None],
    within: tuple[Floats, Floats] | None = None,
) -> BatchPlans:
    """Solve many transport problems, each independently of the others.

    Let a problem have n gold and m predicted items with the shares a and b of their side's mass. A balanced plan has
    the row sums n a and the column sums n b, and its quality mass is n (1 - cost). For the other solvers, the items
    have the masses n a and m b, which are upper limits, and the quality mass is the sum of mass * quality. A problem
    without items on one side has no pairs.

    A negative debiased cost counts as 0. Call `require_positive` first, as a comparison does, to rule it out.

    Args:
        quality: Qualities of all pairs, in [0, 1], concatenated row by row; shape (cells,).
        heights: Number of gold items of each problem; shape (problems,).
        widths: Number of predicted items of each problem; shape (problems,).
        gold_masses: Masses of all gold items, in any unit; shape (gold items,).
        predicted_masses: Masses of all predicted items, in any unit; shape (predicted items,).
        how: Options of the transport.
        name: Returns the JSON Pointer of a problem, for errors.
        within: Qualities among the gold items and among the predicted items of each problem, in the same layout; for
            debiased transport only.

    Raises:
        SolverError: A quality is NaN or outside [0, 1], a mass is not positive, two masses differ by a factor above
            10^12, or a solver does not reach its optimum.

    >>> two, one, weights = np.array([2]), np.array([1]), np.array([3.0, 1.0])
    >>> exact, name = TransportOptions(), "/{}".format
    >>> plans = transport_all(np.array([0.9, 0.2]), two, one, weights, weights[:1], exact, name=name)
    >>> plans.mass, plans.total, plans.matched
    (array([1.5, 0.5]), array([1.45]), array([2.]))
    """
    sizes, sides = heights * widths, (heights, widths)
    cost = costs_of(quality, sizes, name)
    gold, predicted = normalise_masses(gold_masses, heights, name), normalise_masses(predicted_masses, widths, name)
    inner: list[tuple[Floats, Indices]] = []
    if how.debiased:
        if within is None:
            raise SolverError.of("Debiased transport requires `within`, the qualities between the items of each side")
        inner = [(costs_of(table, side**2, name), side**2) for table, side in zip(within, sides, strict=True)]
    mass, excess, divergence = np.zeros(len(quality)), np.zeros(len(sizes)), np.full(len(sizes), np.nan)
    rest = sizes > 0
    if how.balanced and not how.debiased:
        rest &= ~single_row_or_column(mass, sides, (gold, predicted))
    if isinstance(how.solver, ExactSolver):
        rest &= ~permutation_plans(mass, quality, sides, (gold, predicted))
    parts = [cut_problems(*part) for part in ((cost, sizes), (gold, heights), (predicted, widths), *inner)]
    plan, known = cut_problems(mass, sizes), dict[tuple[bytes, ...], SolvedPlan]()
    for p in np.flatnonzero(rest).tolist():
        table, rows, columns, *tables = (part(p) for part in parts)
        key = tuple(array.tobytes() for array in (table, rows, columns, *tables))
        if key not in known:
            shape = len(rows), len(columns)
            squares = tuple(square.reshape(side, side) for square, side in zip(tables, shape, strict=False))
            with solver_errors(how.solver, name, p):
                known[key] = solve(TransportProblem(table.reshape(shape), rows, columns, squares), how.solver)
        solved = known[key]
        plan(p)[:], excess[p], divergence[p] = solved.mass.ravel(), solved.excess, solved.divergence
    cells = np.flatnonzero(mass)
    problems = problem_of_cells(sizes, cells)
    matched = np.bincount(problems, mass[cells], minlength=len(sizes)).astype(np.float64)
    significant = mass[cells] > NEGLIGIBLE * matched[problems]
    cells, problems = cells[significant], problems[significant]
    limit = np.minimum(heights, widths).astype(np.float64)
    matched = np.where(matched >= limit * (1.0 - FULL_TOLERANCE), limit, matched)
    if how.balanced:
        matched = np.where(sizes > 0, heights, 0.0)
    # equal lists lose nothing, so their quality is exactly 1 even if the masses of a plan do not add up exactly
    lost = np.bincount(problems, mass[cells] * (1.0 - quality[cells]), minlength=len(sizes))
    total = matched - np.where(np.isnan(divergence), lost, matched * divergence)
    return BatchPlans(cells, problems, mass[cells], np.clip(total, 0.0, matched), matched, excess)


def transport(
    quality: Floats, allowed: Mask | None = None, *, how: TransportOptions, masses: tuple[Floats, Floats] | None = None
) -> Coupling:
    """Solve one transport problem (see `transport_all`); debiased transport returns the biased plan.

    Args:
        quality: Qualities of all pairs, in [0, 1]; shape (n, m).
        allowed: Must be None or allow every pair.
        how: Options of the transport.
        masses: Masses of the gold and of the predicted items, in any unit; shapes (n,) and (m,). Required unless
            masses are uniform.

    Raises:
        SolverError: A pair is not allowed, the masses are missing, or `transport_all` fails.
    """
    if allowed is not None and not allowed.all():
        raise SolverError.of("Transport requires that every pair is allowed")
    if masses is None and how.masses is not MassScheme.UNIFORM:
        raise SolverError.of("Transport with masses that are not uniform requires `masses`")
    rows, columns = quality.shape
    weights = masses or (np.ones(rows), np.ones(columns))
    height, width = np.array([rows], dtype=np.intp), np.array([columns], dtype=np.intp)
    biased = replace(how, solver=replace(how.solver, debiased=False)) if isinstance(how.solver, SinkhornSolver) else how
    plans = transport_all(quality.ravel(), height, width, weights[0], weights[1], biased, name=nowhere)
    scale = rows / columns if how.balanced and rows and columns else 1.0  # no mass moves to or from an empty list
    own = normalise_masses(weights[0], height, nowhere), normalise_masses(weights[1], width, nowhere) * scale
    return Coupling.of(plans.cells // max(columns, 1), plans.cells % max(columns, 1), (rows, columns), plans.mass, own)


@dataclass(frozen=True, eq=False, slots=True)
class Gromov:
    """Result of `gromov`. The objective is not convex: a smaller value may exist."""

    objective: float
    """Smallest objective found."""
    coupling: Floats
    """Its coupling; shape (n, m)."""
    alpha: float
    """Weight of the structure: 1 without `cost`."""
    iterations: int
    """Number of steps of the best descent."""
    converged: bool
    """Whether the best descent ended before the maximum number of steps."""

    @property
    def distance(self) -> float:
        """The square root of the objective. Its minimum is a metric up to isometry, without `cost` (Mémoli, 2011)."""
        return math.sqrt(self.objective)


def gromov(
    gold_costs: npt.ArrayLike,
    predicted_costs: npt.ArrayLike,
    *,
    cost: npt.ArrayLike | None = None,
    alpha: float = 0.5,
    gold_masses: npt.ArrayLike | None = None,
    predicted_masses: npt.ArrayLike | None = None,
    starts: int = 8,
    seed: int = 0,
) -> Gromov:
    """Compute the Gromov-Wasserstein discrepancy between two lists from the distances within each list.

    Minimises the sum of |gold_costs[i, k] - predicted_costs[j, l]|² T[i, j] T[k, l] over the couplings T whose
    marginals are the shares of the masses; its square root, `distance`, is a metric up to isometry (Mémoli, 2011). With
    `cost`, minimises the fused objective (Vayer et al., 2020): (1 - alpha) times the cost of T plus alpha times that
    sum. The minimum is in [0, 1] for distances in [0, 1].

    This is a diagnostic, not a score: the result is the best of several descents, not a proven minimum. They start
    from the product of the masses, from the coupling of similar eccentricities, and from random couplings.

    Args:
        gold_costs: Distances between the gold items; shape (n, n).
        predicted_costs: Distances between the predicted items; shape (m, m).
        cost: Distances between gold and predicted items; shape (n, m).
        alpha: Weight of the structure if `cost` is given, in [0, 1].
        gold_masses: Masses of the gold items; shape (n,). Default: uniform.
        predicted_masses: Masses of the predicted items; shape (m,). Default: uniform.
        starts: Number of descents; at least 1.
        seed: Random seed.

    Raises:
        OptionError: The costs or the masses are not finite numbers, the costs have the wrong shape, or an option is out
            of range.
        SolverError: The masses have the wrong shape or are not positive, or a descent fails.

    >>> ring = np.array([[0.0, 0.2, 0.9], [0.2, 0.0, 0.5], [0.9, 0.5, 0.0]])
    >>> round(gromov(ring, ring[::-1, ::-1]).distance, 9)
    0.0
    """
    check_integer("starts", starts, least=1)
    check_integer("seed", seed)
    gold, predicted = _square(gold_costs, "gold_costs"), _square(predicted_costs, "predicted_costs")
    n, m = len(gold), len(predicted)
    share, between = (1.0, np.zeros((n, m))) if cost is None else (alpha, finite_array(cost, "cost"))
    if between.shape != (n, m):
        raise OptionError.of(f"Expected `cost` to have shape {(n, m)}, got {between.shape}")
    if not 0.0 <= share <= 1.0:
        raise OptionError.of(f"Expected `alpha` to be in [0, 1], got {alpha}")
    rows, columns = _shares(gold_masses, n, "gold_masses"), _shares(predicted_masses, m, "predicted_masses")
    product, random = np.outer(rows, columns), np.random.default_rng(seed)
    results: list[Gromov] = []
    with solver_errors("gromov", nowhere, 0):
        eccentricities = np.abs((gold @ rows)[:, None] - predicted @ columns)
        random_starts = [
            (product + solve_exactly(rows, columns, random.random((n, m)))[0]) / 2.0 for _ in range(starts - 2)
        ]
        for start in (product, solve_exactly(rows, columns, eccentricities)[0], *random_starts)[:starts]:
            plan, log = import_pot().gromov.fused_gromov_wasserstein(
                between,
                gold,
                predicted,
                rows,
                columns,
                alpha=share,
                G0=start,
                max_iter=_MAX_DESCENT_STEPS,
                log=True,
            )
            _check_log(log)
            checked_plan(plan, rows, columns, NEGLIGIBLE)
            steps = len(log["loss"]) - 1
            results.append(Gromov(max(float(log["loss"][-1]), 0.0), plan, share, steps, steps < _MAX_DESCENT_STEPS))
    return min(results, key=lambda result: result.objective)


def _square(costs: npt.ArrayLike, name: str) -> Floats:
    """Return the distances within a list as an array. Raises OptionError if they are not a square matrix of numbers."""
    table = finite_array(costs, name)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:  # noqa: PLR2004  (rows and columns)
        raise OptionError.of(f"Expected `{name}` to be a non-empty square matrix, got shape {table.shape}")
    return table


def _shares(masses: npt.ArrayLike | None, size: int, name: str) -> Floats:
    """Return the share of each of `size` items in the mass of their list; by default, all items have the same mass."""
    given = np.ones(size) if masses is None else finite_array(masses, name)
    return normalise_masses(given, np.array([size]), nowhere) / size


# Problems that need no solver, because their plan is a permutation.


def cut_problems(values: Floats, counts: Indices) -> Callable[[int], Floats]:
    """Return a function that returns the values of a problem; the values of all problems are concatenated."""
    ends = np.cumsum(counts)
    return lambda problem: values[ends[problem] - counts[problem] : ends[problem]]


def permutation_plans(
    mass: Floats, quality: Floats, sides: tuple[Indices, Indices], masses: tuple[Floats, Floats]
) -> Mask:
    """Solve the problems with equally many items on both sides, all of mass 1, and write their plans to `mass`.

    A square table with uniform marginals has an optimal plan that is a permutation (Birkhoff, 1946).

    Args:
        mass: Masses of the plans of all problems, modified in place; shape (cells,).
        quality: Qualities of all pairs; shape (cells,).
        sides: Number of gold and of predicted items of each problem; shapes (problems,).
        masses: Masses of the gold and of the predicted items, concatenated.

    Returns:
        Mask of the solved problems; shape (problems,).
    """
    heights, widths = sides
    square = np.equal(heights, widths) & (heights > 0)
    for counts, side_masses in zip(sides, masses, strict=True):
        owners = np.repeat(np.arange(len(counts)), counts)
        square &= np.bincount(owners, side_masses != 1.0, minlength=len(counts)) == 0
    inside = np.flatnonzero(np.repeat(square, heights * widths))
    mass[inside[assign_all(quality[inside], heights[square], widths[square])[0]]] = 1.0
    return square


# Solvers of one problem. The inputs and results of POT are checked, and warnings in its log are raised as errors.


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


_IMPORT_LOCK: Final = threading.Lock()


def import_pot() -> ModuleType:
    """Import POT and return it. Raises SolverError if it is not installed."""
    with optional_library("POT", None, "Transport", SolverError):
        if "ot" not in sys.modules:
            with _IMPORT_LOCK, warnings.catch_warnings():  # it changes the warning filters of all threads
                warnings.simplefilter("ignore")  # SyntaxWarning about an escape sequence, when POT is compiled
                import ot  # noqa: PLC0415  (it loads slowly, and few comparisons need it)
        import ot  # noqa: PLC0415
    return ot  # type: ignore[no-any-return]


@contextmanager
def solver_errors(what: SolverOptions | str, name: Callable[[int], str | None], problem: int) -> Iterator[None]:
    """Convert errors of a solver, and floating-point errors of NumPy, to SolverError.

    It does not use `warnings.catch_warnings`, which would affect all threads.
    """
    import_pot()  # import it first: floating-point errors of the import are not errors of the solver
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
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
    table = np.full((len(problem.gold) + 1, len(problem.predicted) + 1), outside, dtype=np.float64)
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
    _check_log(log)
    return plan, log["u"], log["v"]


def _check_log(log: Mapping[str, Any]) -> None:
    """Raise ArithmeticError if the (last) run of POT's network simplex did not reach the optimum."""
    if log["warning"] is not None:
        raise ArithmeticError(log["warning"])


def checked_plan(plan: Floats, rows: Floats, columns: Floats, tolerance: float, *, balanced: bool = True) -> Floats:
    """Return the plan; check that it is finite, non-negative and has these marginals (or less if not balanced)."""
    if not (np.isfinite(plan).all() and (plan >= 0.0).all()):
        raise ArithmeticError("the plan contains negative or non-finite masses")
    miss = np.concatenate([plan.sum(axis=1) - rows, plan.sum(axis=0) - columns])
    error = np.abs(miss).max() if balanced else miss.max()
    if error > tolerance * rows.sum():
        raise ArithmeticError(f"a marginal has an error of {error}")
    return plan


# The kernel exp(-cost / epsilon), whose positive semi-definiteness makes the Sinkhorn divergence non-negative.


_ROUNDING: Final = 1e-9
"""Tolerance for the eigenvalues of the kernel and for the symmetry of the costs."""


def require_positive(  # noqa: PLR0917  (the order of `transport_all`)
    quality: Floats,
    within: tuple[Floats, Floats],
    heights: Indices,
    widths: Indices,
    epsilon: float,
    name: Callable[[int], str | None],
) -> None:
    """Check that the Sinkhorn divergence is non-negative, and 0 for equal lists only (Feydy et al., 2019).

    This is not guaranteed if the kernel exp(-cost / epsilon) over the items of both lists has a negative eigenvalue.

    Args:
        quality: Qualities of the pairs of all problems, concatenated as for `transport_all`.
        within: Qualities among the gold items and among the predicted items, in the same layout.
        heights: Number of gold items of each problem; shape (problems,).
        widths: Number of predicted items of each problem; shape (problems,).
        epsilon: Weight of the entropy.
        name: Returns the JSON Pointer of a problem, for errors.

    Raises:
        SolverError: The costs are not symmetric, or the kernel is not positive semi-definite.
    """
    cells = heights * widths
    tables = [cut_problems(*part) for part in ((quality, cells), (within[0], heights**2), (within[1], widths**2))]
    for p in np.flatnonzero(cells).tolist():
        n, m = int(heights[p]), int(widths[p])
        cost, gold, predicted = (
            (1.0 - table(p)).reshape(shape) for table, shape in zip(tables, ((n, m), (n, n), (m, m)), strict=True)
        )
        _check_kernel(cost, gold, predicted, epsilon, name(p))


def _check_kernel(cost: Floats, gold: Floats, predicted: Floats, epsilon: float, pointer: str | None) -> None:
    """Raise SolverError if a distance is not symmetric, or the kernel of a problem not positive semi-definite."""
    if any(np.abs(side - side.T).max() > _ROUNDING for side in (gold, predicted)):
        raise SolverError.of(
            "Debiased transport requires a symmetric distance between items",
            pointer=pointer,
            hint="Remove `debiased`, or use a symmetric distance.",
        )
    kernel = np.exp(-np.block([[gold, cost], [cost.T, predicted]]) / epsilon)
    kernel[np.diag_indices_from(kernel)] += _ROUNDING * len(kernel)
    try:
        np.linalg.cholesky(kernel)
    except np.linalg.LinAlgError as error:
        raise SolverError.of(
            f"Debiased transport requires a positive semi-definite kernel exp(-cost / {epsilon:g}): otherwise "
            "different lists could have distance 0",
            pointer=pointer,
            hint="Lower `epsilon`, remove `debiased`, or use the exact solver.",
        ) from error
