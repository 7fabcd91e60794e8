"""Optimal transport between two lists, solved by POT (Flamary et al., 2021), which no other module imports.

Items are masses, a pair costs 1 - quality, and a plan says how much of each gold item goes to each predicted item.
POT is not taken at its word: what goes in and what comes out is checked, and its warnings are errors here.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import scipy

from arbitre.errors import SolverError
from arbitre.matching.assignment import TIE
from arbitre.matching.closed_forms import cut_problems, permutation_plans
from arbitre.matching.coupling import (
    NEGLIGIBLE,
    BatchPlans,
    Coupling,
    costs_of,
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

    from arbitre.arrays import Floats, Indices, Mask

_CENTRED: Final = 1e-10
"""The square of Newton's decrement, per mass, at which a smoothed problem counts as solved."""
_DAMPING: Final = 1e-3
"""So much of its error damps a step of Newton's method, whose matrix is singular."""
_DESCENT: Final = 1000
"""So many steps a descent of `gromov` may take."""
_REMEDIES: Final[Mapping[str, str]] = {
    "sinkhorn": "Raise `max_iterations`, `epsilon` or `tolerance`, or take the exact solver.",
    "unbalanced": "Raise `max_iterations`, `tolerance` or `reg_m`.",
    "gromov": "Look at the tables: their values should be in [0, 1].",
}


class _SolvedPlan(NamedTuple):
    """The coupled masses of a problem (n, m), the mass in excess, and the divergence that scores a debiased plan."""

    mass: Floats
    excess: float = 0.0
    divergence: float = np.nan


class _Problem(NamedTuple):
    """A table of costs (n, m), the masses of the items, n and m in all, and the costs within either side."""

    cost: Floats
    gold: Floats
    predicted: Floats
    within: tuple[Floats, ...]


def transport_all(  # noqa: PLR0917  (in the order in which everything is laid out)
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
    """The transport plans of many problems, each independent of the others.

    Problem p has `heights[p]` gold and `widths[p]` predicted items; `quality` holds the tables of all problems, end to
    end, row by row, `gold_masses` and `predicted_masses` what the items weigh, in any unit. `name(p)` is the pointer of
    problem p for errors. A debiased transport needs `within`: the qualities of the gold items of each list among
    themselves, and of the predicted items, laid out likewise.

    With n and m items, a and b their shares of their side's weight: a balanced plan has the row sums n a and the column
    sums n b, and S = n (1 - cost). For the other solvers the items have the masses n a and m b, of which no more than
    there is counts, and S is the sum of mass times quality. A list that is empty on one side has no pairs.

    Raises SolverError where the input is not as said (NaN, a quality outside [0, 1], a mass that is not positive or is
    10^12 times another), or where a solver does not reach its optimum. A debiased cost below 0 counts as 0: call
    `arbitre.matching.kernel.require_positive` first, as a comparison does, to rule it out.

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
            raise SolverError.of("Expected the qualities within either side of a debiased transport, got none")
        inner = [(costs_of(table, side**2, name), side**2) for table, side in zip(within, sides, strict=True)]
    mass, excess, divergence = np.zeros(len(quality)), np.zeros(len(sizes)), np.full(len(sizes), np.nan)
    rest = sizes > 0
    if how.balanced and not how.debiased:
        rest &= ~single_row_or_column(mass, sides, (gold, predicted))
    if isinstance(how.solver, ExactSolver):
        rest &= ~permutation_plans(mass, quality, sides, (gold, predicted))
    parts = [cut_problems(*one) for one in ((cost, sizes), (gold, heights), (predicted, widths), *inner)]
    plan, known = cut_problems(mass, sizes), dict[tuple[bytes, ...], _SolvedPlan]()
    for p in np.flatnonzero(rest).tolist():
        table, rows, columns, *tables = (part(p) for part in parts)
        key = tuple(array.tobytes() for array in (table, rows, columns, *tables))
        if key not in known:
            shape = len(rows), len(columns)
            squares = tuple(square.reshape(side, side) for square, side in zip(tables, shape, strict=False))
            with _solver_errors(how.solver, name, p):
                known[key] = _solved(_Problem(table.reshape(shape), rows, columns, squares), how.solver)
        solved = known[key]
        plan(p)[:], excess[p], divergence[p] = solved.mass.ravel(), solved.excess, solved.divergence
    cells = np.flatnonzero(mass)
    problems = problem_of_cells(sizes, cells)
    matched = np.bincount(problems, mass[cells], minlength=len(sizes)).astype(np.float64)
    kept = mass[cells] > NEGLIGIBLE * matched[problems]
    cells, problems = cells[kept], problems[kept]
    total = np.bincount(problems, mass[cells] * quality[cells], minlength=len(sizes)).astype(np.float64)
    if how.balanced:
        matched = np.where(sizes > 0, heights, 0.0)
        total = np.where(np.isnan(divergence), total, matched * (1.0 - divergence))
    return BatchPlans(cells, problems, mass[cells], np.minimum(total, matched), matched, excess)


def transport(
    quality: Floats, allowed: Mask | None = None, *, how: TransportOptions, masses: tuple[Floats, Floats] | None = None
) -> Coupling:
    """The transport plan of one problem with the qualities (n, m), as `transport_all` makes it.

    `masses` are the weights of the items, (n,) and (m,), needed unless they are uniform. Raises SolverError as
    `transport_all` does, and where a pair is not `allowed`: a plan may send mass anywhere.
    """
    if allowed is not None and not allowed.all():
        raise SolverError.of("Expected every pair of a transport to be allowed, got some that are not")
    if masses is None and how.masses is not MassScheme.UNIFORM:
        raise SolverError.of("Expected the masses of the items for a transport that is not uniform, got none")
    rows, columns = quality.shape
    weights = masses or (np.ones(rows), np.ones(columns))
    height, width = np.array([rows], dtype=np.intp), np.array([columns], dtype=np.intp)
    biased = replace(how, solver=replace(how.solver, debiased=False)) if isinstance(how.solver, SinkhornSolver) else how
    plans = transport_all(quality.ravel(), height, width, weights[0], weights[1], biased, name=nowhere)
    scale = rows / max(columns, 1) if how.balanced else 1.0
    own = normalise_masses(weights[0], height, nowhere), normalise_masses(weights[1], width, nowhere) * scale
    return Coupling.of(plans.cells // max(columns, 1), plans.cells % max(columns, 1), (rows, columns), plans.mass, own)


@dataclass(frozen=True, eq=False, slots=True)
class Gromov:
    """How far two lists are from having the same inner distances: the least found, and the coupling (n, m) it is of.

    `distance` is the objective of `gromov`; `iterations` are those of the best start, `converged` says that they did
    not run out. The objective is not convex: a smaller one may exist.
    """

    distance: float
    coupling: Floats
    alpha: float
    iterations: int
    converged: bool


def gromov(
    gold_costs: Floats,
    predicted_costs: Floats,
    *,
    cost: Floats | None = None,
    alpha: float = 0.5,
    gold_masses: Floats | None = None,
    predicted_masses: Floats | None = None,
    starts: int = 8,
    seed: int = 0,
) -> Gromov:
    """Gromov-Wasserstein between the distances within either list, (n, n) and (m, m), where no pair can be compared.

    Minimises the sum of |gold_costs[i, k] - predicted_costs[j, l]|² T[i, j] T[k, l] over the couplings T, whose
    marginals are the shares of the masses; its square root is a metric up to isometry (Mémoli, 2011). With `cost`
    (n, m) it is fused (Vayer et al., 2020): (1 - alpha) times the cost of T, plus alpha times that sum. At least 0, 0
    is equal, at most 1 for distances in [0, 1].

    A diagnostic, never a score: it is the best of `starts` descents, from the product of the masses, from the coupling
    of like eccentricities, and from random ones drawn by `seed`. Raises SolverError where the input is not finite.

    >>> ring = np.array([[0.0, 0.2, 0.9], [0.2, 0.0, 0.5], [0.9, 0.5, 0.0]])
    >>> round(gromov(ring, ring[::-1, ::-1]).distance, 9)
    0.0
    """
    n, m = len(gold_costs), len(predicted_costs)
    share, between = (1.0, np.zeros((n, m))) if cost is None else (alpha, cost)
    for table, shape in ((gold_costs, (n, n)), (predicted_costs, (m, m)), (between, (n, m))):
        if table.shape != shape or not table.size or not np.isfinite(table).all():
            raise SolverError.of(f"Expected costs to be finite and of shape {shape}, got some of shape {table.shape}")
    if not (0.0 <= share <= 1.0 and starts >= 1):
        raise SolverError.of(f"Expected `alpha` in [0, 1] and `starts` at least 1, got {alpha} and {starts}")
    rows = normalise_masses(np.ones(n) if gold_masses is None else gold_masses, np.array([n]), nowhere) / n
    columns = normalise_masses(np.ones(m) if predicted_masses is None else predicted_masses, np.array([m]), nowhere) / m
    product, random = np.outer(rows, columns), np.random.default_rng(seed)
    found: list[Gromov] = []
    with _solver_errors("gromov", nowhere, 0):
        alike = np.abs((gold_costs @ rows)[:, None] - predicted_costs @ columns)
        drawn = [(product + _simplex(rows, columns, random.random((n, m)))[0]) / 2.0 for _ in range(starts - 2)]
        for start in (product, _simplex(rows, columns, alike)[0], *drawn)[:starts]:
            plan, log = _pot().gromov.fused_gromov_wasserstein(
                between, gold_costs, predicted_costs, rows, columns, alpha=share, G0=start, max_iter=_DESCENT, log=True
            )
            _trust(plan, rows, columns, NEGLIGIBLE)
            steps = len(log["loss"]) - 1
            found.append(Gromov(max(float(log["loss"][-1]), 0.0), plan, share, steps, steps < _DESCENT))
    return min(found, key=lambda one: one.distance)


def _pot() -> ModuleType:
    import ot  # noqa: PLC0415  (it loads slowly, and few comparisons need it)

    return ot  # type: ignore[no-any-return]


@contextmanager
def _solver_errors(what: SolverOptions | str, name: Callable[[int], str | None], problem: int) -> Iterator[None]:
    """Turns whatever goes wrong with a solver, warnings too, into a SolverError."""
    _pot()  # its loading is none of the solver's business
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except (ArithmeticError, AssertionError, ValueError, Warning) as error:
        solver = what if isinstance(what, str) else type(what).__name__.removesuffix("Solver").lower()
        raise SolverError.of(
            f"Expected the {solver} transport to reach its optimum, got: {' '.join(str(error).split())}",
            pointer=name(problem),
            hint=_REMEDIES.get(solver, "Raise `max_iterations` or `tolerance`."),
        ) from error


def _solved(problem: _Problem, solver: SolverOptions) -> _SolvedPlan:
    """The plan of one problem."""
    cost, gold, predicted, _ = problem
    n, m = cost.shape
    match solver:
        case ExactSolver():
            # multiplied crosswise, whole masses stay whole: the simplex then makes no rounding errors
            plan = _simplex(gold * m, predicted * n, cost, solver.max_iterations)[0] / m
            return _SolvedPlan(_trust(plan, gold, predicted * (n / m), solver.tolerance))
        case SinkhornSolver():
            return _smoothed(problem, solver)
        case PartialSolver():
            moved = solver.mass * min(n, m)
            # a pair of the two dummies would move more than asked for, which can only cost more
            plan = _with_dummies(problem, 0.0, 1.0, (m - moved, n - moved), solver.max_iterations)
            if abs(plan.sum() - moved) > solver.tolerance * moved:
                raise ArithmeticError(f"a mass of {plan.sum()} moved where {moved} had to")
            return _SolvedPlan(_trust(plan, gold, predicted, solver.tolerance, balanced=False))
        case DummySolver(lambda_=price) | UnbalancedSolver(penalty=MarginalPenalty.TV, reg_m=price):
            # of plans that cost the same, the one that couples most; pairs at twice the price or more are never made
            wanted = np.where(cost < 2.0 * price, cost - TIE / min(n, m), 2.0 * price + 1.0)
            plan = _with_dummies(problem._replace(cost=wanted), price, 0.0, (m, n), solver.max_iterations)
            return _SolvedPlan(_trust(plan, gold, predicted, solver.tolerance, balanced=False))
        case UnbalancedSolver():
            return _relaxed(problem, solver)


def _smoothed(problem: _Problem, solver: SinkhornSolver) -> _SolvedPlan:
    """The entropic plan, and with `debiased` its divergence."""
    cost, gold, predicted, within = problem
    rows, columns = gold / len(gold), predicted / len(predicted)
    plan, value = _entropic(cost, rows, columns, solver)
    if not solver.debiased:
        return _SolvedPlan(plan * len(gold))
    inner = [_entropic(table, side, side, solver)[1] for table, side in zip(within, (rows, columns), strict=True)]
    return _SolvedPlan(plan * len(gold), divergence=float(np.clip(value - sum(inner) / 2.0, 0.0, 1.0)))


def _entropic(cost: Floats, rows: Floats, columns: Floats, solver: SinkhornSolver) -> tuple[Floats, float]:
    """The plan of least cost plus epsilon times its divergence from the product of the marginals, and that least value.

    By Newton's method on the potentials of the columns (Brauer, Clason, Lorenz and Wirth, 2017) from those of the exact
    plan: a few steps where Sinkhorn's scaling takes 10^5 and more, as it does between lists that are alike.
    """
    _, left, right = _simplex(rows, columns, cost)
    kernel, potential = (left[:, None] + right - cost) / solver.epsilon, np.zeros(len(columns))
    for _ in range(solver.max_iterations):
        plan = scipy.special.softmax(kernel + potential, axis=1) * rows[:, None]
        miss = columns - plan.sum(axis=0)
        if np.abs(miss).max() <= solver.tolerance:
            _trust(plan, rows, columns, solver.tolerance)
            divergence = scipy.special.rel_entr(plan, np.outer(rows, columns)).sum()
            return plan, float(np.vdot(plan, cost) + solver.epsilon * divergence)
        slope = np.diag(plan.sum(axis=0) + _DAMPING * np.abs(miss).max()) - plan.T @ (plan / rows[:, None])
        step = np.linalg.solve(slope, miss)
        potential += step / max(1.0, np.abs(step).max())
    raise ArithmeticError(f"a marginal that is wrong by {np.abs(miss).max()} after {solver.max_iterations} steps")


def _relaxed(problem: _Problem, solver: UnbalancedSolver) -> _SolvedPlan:
    """The plan whose marginals are free, at the price of their Kullback-Leibler divergence.

    By Newton's method on the dual, smoothed by an entropy of which ever less is left: it follows the central path, so
    that of several optima it finds the most even one. A duality gap says when it is there.
    """
    cost, gold, predicted, _ = problem
    price = smoothing = solver.reg_m
    unit = gold.sum() + predicted.sum()
    left, right = cost.min(axis=1) / 2.0, cost.min(axis=0) / 2.0
    for _ in range(solver.max_iterations):
        plan = np.exp((left[:, None] + right - cost) / smoothing)
        rows, columns = gold * np.exp(-left / price), predicted * np.exp(-right / price)
        wanted, made = np.concatenate([rows, columns]), np.concatenate([plan.sum(axis=1), plan.sum(axis=0)])
        slope = np.diag(wanted / price + made / smoothing)
        slope[: len(rows), len(rows) :], slope[len(rows) :, : len(rows)] = plan / smoothing, plan.T / smoothing
        step = np.linalg.solve(slope, wanted - made)
        if (wanted - made) @ step <= _CENTRED * smoothing * unit:
            if _gap(plan, problem, right, price) <= solver.tolerance * price * unit:
                return _capped(plan, gold, predicted)
            smoothing /= 4.0
        up, along = np.split(step, [len(gold)])
        size = max(np.abs(up[:, None] + along).max() / smoothing, np.abs(step).max() / price)
        left, right = left + up / max(1.0, size / 2.0), right + along / max(1.0, size / 2.0)
    raise ArithmeticError(f"no plan that is proven optimal after {solver.max_iterations} steps")


def _gap(plan: Floats, problem: _Problem, right: Floats, price: float) -> float:
    """How far, at most, the objective of a plan is above its optimum: by the dual point next to these potentials."""
    cost, gold, predicted, _ = problem
    rows, columns = plan.sum(axis=1), plan.sum(axis=0)
    divergences = scipy.special.rel_entr(rows, gold).sum(), scipy.special.rel_entr(columns, predicted).sum()
    spent = divergences[0] - rows.sum() + divergences[1] - columns.sum()
    left = (cost - right).min(axis=1)
    right = (cost - left[:, None]).min(axis=0)
    lost = np.vdot(gold, np.exp(-left / price)) + np.vdot(predicted, np.exp(-right / price))
    return float(np.vdot(plan, cost) + price * (spent + lost))


def _capped(plan: Floats, gold: Floats, predicted: Floats) -> _SolvedPlan:
    """The plan scaled down where a row or column has more than its item."""
    by_row, by_column = gold / np.maximum(plan.sum(axis=1), gold), predicted / np.maximum(plan.sum(axis=0), predicted)
    capped = plan * np.minimum(by_row[:, None], by_column)
    return _SolvedPlan(_trust(capped, gold, predicted, NEGLIGIBLE, balanced=False), float((plan - capped).sum()))


def _with_dummies(
    problem: _Problem, outside: float, between: float, spare: tuple[float, float], max_iterations: int
) -> Floats:
    """The plan with a dummy item more on either side, of mass `spare`, to take what is left over of the other side."""
    table = np.full((len(problem.gold) + 1, len(problem.predicted) + 1), outside)
    table[:-1, :-1], table[-1, -1] = problem.cost, between
    rows, columns = np.append(problem.gold, spare[0]), np.append(problem.predicted, spare[1])
    return _simplex(rows, columns, table, max_iterations)[0][:-1, :-1]


def _simplex(
    rows: Floats, columns: Floats, cost: Floats, max_iterations: int = 1_000_000
) -> tuple[Floats, Floats, Floats]:
    """The plan of least cost with marginals of one sum, and its potentials (network simplex, Bonneel et al., 2011)."""
    plan, log = _pot().emd(rows, columns, cost, numItermax=max_iterations, log=True, check_marginals=False)
    if log["warning"] is not None:
        raise ArithmeticError(log["warning"])
    return plan, log["u"], log["v"]


def _trust(plan: Floats, rows: Floats, columns: Floats, tolerance: float, *, balanced: bool = True) -> Floats:
    """The plan, if its masses are numbers that sum to the marginals, or to no more where it is not balanced."""
    if not (np.isfinite(plan).all() and (plan >= 0.0).all()):
        raise ArithmeticError("masses that are negative or no numbers")
    miss = np.concatenate([plan.sum(axis=1) - rows, plan.sum(axis=0) - columns])
    error = np.abs(miss).max() if balanced else miss.max()
    if error > tolerance * rows.sum():
        raise ArithmeticError(f"marginals that are wrong by {error}")
    return plan
