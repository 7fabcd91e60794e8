"""Transport plans compared with linear programming (HiGHS), first-order conditions, replicas and matrix scaling."""

from __future__ import annotations

from math import lcm

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog, minimize
from scipy.special import rel_entr

from arbitre.matching import transport as solvers
from arbitre.matching.transport import transport, transport_all
from arbitre.matching.transport_options import (
    DummySolver,
    ExactSolver,
    MarginalPenalty,
    PartialSolver,
    SinkhornSolver,
    TransportOptions,
    UnbalancedSolver,
)

SHAPES = [(1, 1), (1, 4), (3, 1), (2, 2), (3, 2), (2, 5), (4, 4), (6, 5), (9, 12)]
SEEDS = range(6)


def drawn(shape, seed):
    """Qualities and masses: full of ties, or without any."""
    random = np.random.default_rng((seed, *shape))
    quality = random.integers(0, 5, shape) / 4 if seed % 2 else random.random(shape)
    if seed % 3:
        masses = tuple(random.integers(1, 5, side).astype(float) for side in shape)
    else:
        masses = tuple(random.random(side) + 0.01 for side in shape)
    return quality, masses if seed > 1 else tuple(map(np.ones, shape))


def rescaled(masses):
    return tuple(side * (len(side) / side.sum()) for side in masses)


def solved(quality, masses, solver, within=None):
    heights, widths = (np.array([side]) for side in quality.shape)
    return transport_all(quality.ravel(), heights, widths, *masses, TransportOptions(solver), name=str, within=within)


def dense(plans, shape):
    table = np.zeros(np.prod(shape))
    table[plans.cells] = plans.mass
    return table.reshape(shape)


def marginals(shape):
    """The matrix that takes a flat plan to its row sums and column sums."""
    n, m = shape
    return np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])


def programme(objective, **constraints):
    found = linprog(objective, method="highs", **constraints)
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_exact_is_the_optimum_of_the_linear_programme(shape, seed):
    quality, masses = drawn(shape, seed)
    gold, predicted = rescaled(masses)
    right = np.concatenate([gold, predicted * (shape[0] / shape[1])])
    best = -programme(-quality.ravel(), A_eq=marginals(shape), b_eq=right)
    plans = solved(quality, masses, ExactSolver())
    assert plans.total == pytest.approx([best], abs=1e-9)
    assert marginals(shape) @ dense(plans, shape).ravel() == pytest.approx(right, abs=1e-9)
    assert len(plans.cells) <= sum(shape) - 1


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("share", [0.3, 0.75, 1.0])
def test_partial_is_the_optimum_of_the_linear_programme(shape, seed, share):
    quality, masses = drawn(shape, seed)
    moved = share * min(shape)
    best = -programme(
        -quality.ravel(),
        A_ub=marginals(shape),
        b_ub=np.concatenate(rescaled(masses)),
        A_eq=np.ones((1, quality.size)),
        b_eq=[moved],
    )
    plans = solved(quality, masses, PartialSolver(mass=share))
    assert plans.total == pytest.approx([best], abs=1e-9)
    assert plans.matched == pytest.approx([moved])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("price", [0.1, 0.3, 0.5, 0.8])
def test_a_dummy_is_the_optimum_of_the_linear_programme(shape, seed, price):
    quality, masses = drawn(shape, seed)
    gold, predicted = rescaled(masses)
    cost = 1.0 - quality
    best = programme(cost.ravel() - 2 * price, A_ub=marginals(shape), b_ub=np.concatenate([gold, predicted]))
    plans = solved(quality, masses, DummySolver(lambda_=price))
    plan = dense(plans, shape)
    assert ((cost - 2 * price) * plan).sum() == pytest.approx(best, abs=1e-8)
    assert (plan.sum(axis=1) <= gold + 1e-9).all()
    assert (plan.sum(axis=0) <= predicted + 1e-9).all()
    assert (cost.ravel()[plans.cells] < 2 * price).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("price", [0.1, 0.3, 0.5, 0.8])
def test_total_variation_is_the_optimum_even_where_marginals_may_be_exceeded(shape, seed, price):
    quality, masses = drawn(shape, seed)
    right = np.concatenate(rescaled(masses))
    cost, slack = 1.0 - quality, np.eye(sum(shape))
    best = programme(
        np.concatenate([cost.ravel(), np.full(2 * sum(shape), price)]),
        A_eq=np.hstack([marginals(shape), slack, -slack]),
        b_eq=right,
    )
    plan = dense(solved(quality, masses, UnbalancedSolver(penalty=MarginalPenalty.TV, reg_m=price)), shape)
    missed = np.abs(marginals(shape) @ plan.ravel() - right).sum()
    assert (cost * plan).sum() + price * missed == pytest.approx(best, abs=1e-8)


@pytest.fixture
def relaxed(monkeypatch):
    """Solves under free marginals at the price of their divergence; also says the plan before it was capped."""
    kept = []
    gap = solvers._duality_gap
    monkeypatch.setattr(solvers, "_duality_gap", lambda plan, *more: kept.append(plan) or gap(plan, *more))

    def solve(quality, masses, price):
        plans = solved(quality, masses, UnbalancedSolver(reg_m=price, tolerance=1e-10))
        return plans, kept[-1]

    return solve


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (3, 2), (2, 5), (4, 4), (9, 12)])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("price", [0.1, 0.5, 2.0])
def test_kullback_leibler_meets_the_first_order_conditions(shape, seed, price, relaxed):
    quality, masses = drawn(shape, seed)
    gold, predicted = rescaled(masses)
    plans, plan = relaxed(quality, masses, price)
    rows, columns = plan.sum(axis=1), plan.sum(axis=0)
    slope = 1.0 - quality + price * (np.log(rows / gold)[:, None] + np.log(columns / predicted))
    assert slope.min() > -1e-3 * price
    assert (plan * np.abs(slope)).sum() < 1e-3
    capped = plan * np.minimum(np.minimum(1.0, gold / rows)[:, None], np.minimum(1.0, predicted / columns))
    assert dense(plans, shape) == pytest.approx(capped, abs=1e-10)
    assert plans.excess == pytest.approx([plan.sum() - capped.sum()], abs=1e-10)


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 4), (3, 3)])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("price", [0.05, 0.5])
def test_kullback_leibler_equals_a_general_minimiser(shape, seed, price, relaxed):
    quality, masses = drawn(shape, seed)
    (gold, predicted), cost = rescaled(masses), 1.0 - quality

    def objective(roots):
        plan = (roots**2).reshape(shape)
        rows, columns = plan.sum(axis=1), plan.sum(axis=0)
        divergence = (rel_entr(rows, gold) - rows + gold).sum() + (
            rel_entr(columns, predicted) - columns + predicted
        ).sum()
        slope = cost + price * (np.log(rows / gold)[:, None] + np.log(columns / predicted))
        return (cost * plan).sum() + price * divergence, 2.0 * roots * slope.ravel()

    start = np.sqrt(np.outer(gold, predicted) / max(shape)).ravel()
    found = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    plan = relaxed(quality, masses, price)[1]
    assert objective(np.sqrt(plan).ravel())[0] == pytest.approx(found.fun, abs=1e-8)


@pytest.mark.parametrize(("n", "m"), [(1, 3), (2, 3), (4, 6), (5, 3), (6, 4), (7, 5)])
@pytest.mark.parametrize("seed", SEEDS)
def test_exact_transport_of_unequal_lists_is_an_assignment_of_replicas(n, m, seed):
    quality = drawn((n, m), seed)[0]
    count = lcm(n, m)
    replicas = np.repeat(np.repeat(quality, count // n, axis=0), count // m, axis=1)
    best = replicas[linear_sum_assignment(replicas, maximize=True)].sum() / count
    plans = solved(quality, (np.ones(n), np.ones(m)), ExactSolver())
    assert 1.0 - plans.cost[0] == pytest.approx(best, abs=1e-12)
    whole = plans.mass * count / n
    assert whole == pytest.approx(np.round(whole), abs=1e-12)


def scaled(cost, gold, predicted, epsilon):
    """The entropic plan by plain matrix scaling, and its objective."""
    kernel, right = np.exp(-cost / epsilon), np.ones(len(predicted))
    for _ in range(20_000):
        left, before = gold / (kernel @ right), right
        right = predicted / (left @ kernel)
        if np.abs(right / before - 1.0).max() < 1e-14:
            break
    plan = left[:, None] * kernel * right
    return plan, (plan * cost).sum() + epsilon * rel_entr(plan, np.outer(gold, predicted)).sum()


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 5), (4, 4)])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_sinkhorn_equals_matrix_scaling(shape, seed, epsilon):
    random = np.random.default_rng(seed)
    quality, masses = drawn(shape, seed)
    inner = [random.random((side, side)) for side in shape]
    inner = [np.maximum(table, table.T) for table in inner]
    gold, predicted = (side / len(side) for side in rescaled(masses))
    plan, value = scaled(1.0 - quality, gold, predicted, epsilon)
    selves = [scaled(1.0 - table, side, side, epsilon)[1] for table, side in zip(inner, (gold, predicted), strict=True)]
    plain = solved(quality, masses, SinkhornSolver(epsilon=epsilon))
    assert dense(plain, shape) / shape[0] == pytest.approx(plan, abs=1e-7)
    debiased = solved(
        quality, masses, SinkhornSolver(epsilon=epsilon, debiased=True), tuple(table.ravel() for table in inner)
    )
    assert debiased.cost == pytest.approx([np.clip(value - sum(selves) / 2.0, 0.0, 1.0)], abs=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_sinkhorn_converges_to_exact_transport(seed):
    quality, masses = drawn((6, 5), seed)
    exact = solved(quality, masses, ExactSolver()).cost[0]
    costs = [
        solved(quality, masses, SinkhornSolver(epsilon=epsilon, tolerance=1e-7)).cost[0]
        for epsilon in (1.0, 0.3, 0.1, 0.03)
    ]
    assert costs == sorted(costs, reverse=True)
    for epsilon, cost in zip((1.0, 0.3, 0.1, 0.03), costs, strict=True):
        assert exact - 1e-6 <= cost <= exact + epsilon * np.log(6)
    assert costs[-1] == pytest.approx(exact, abs=0.02)


def test_the_single_table_agrees_with_the_batch():
    quality, masses = drawn((6, 5), 2)
    coupling = transport(quality, how=TransportOptions(DummySolver()), masses=masses)
    plans = solved(quality, masses, DummySolver())
    assert (coupling.gold * 5 + coupling.predicted).tolist() == plans.cells.tolist()
    assert coupling.mass.tolist() == plans.mass.tolist()
