"""Properties of transport plans: marginals, symmetries, bounds, and independence of the other plans of a batch."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from arbitre import Comparator
from arbitre.engine import compare_to_levels
from arbitre.matching.assignment import hungarian
from arbitre.matching.coupling import transport_1d
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

SOLVERS = [
    ExactSolver(),
    SinkhornSolver(),
    SinkhornSolver(debiased=True),
    PartialSolver(mass=0.6),
    UnbalancedSolver(),
    UnbalancedSolver(penalty=MarginalPenalty.TV, reg_m=0.3),
    DummySolver(lambda_=0.3),
]
BALANCED = [ExactSolver(), SinkhornSolver()]
QUALITIES = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1, allow_subnormal=False)
MASSES = st.sampled_from([1.0, 2.0, 7.0]) | st.floats(0.01, 100.0)
SIDES = st.integers(1, 5)


def tables(rows, columns):
    return st.lists(QUALITIES, min_size=rows * columns, max_size=rows * columns).map(
        lambda cells: np.array(cells, dtype=float).reshape(rows, columns)
    )


@st.composite
def problems(draw, *, uniform=False, square=False):
    """A table of qualities, the masses of both sides, and the qualities within them."""
    rows = draw(SIDES)
    columns = rows if square else draw(SIDES)
    sides = (rows, columns)
    masses = [
        np.ones(side) if uniform else np.array(draw(st.lists(MASSES, min_size=side, max_size=side))) for side in sides
    ]
    within = [draw(tables(side, side)) for side in sides]
    within = [np.maximum(np.maximum(table, table.T), np.eye(len(table))) for table in within]
    return draw(tables(rows, columns)), masses, within


def solve(cases, solver):
    how = TransportOptions(solver)
    flat = [
        np.concatenate([part(case).ravel() for case in cases])
        for part in (
            lambda case: case[0],
            lambda case: case[1][0],
            lambda case: case[1][1],
            lambda case: case[2][0],
            lambda case: case[2][1],
        )
    ]
    heights, widths = (np.array([case[0].shape[axis] for case in cases]) for axis in (0, 1))
    within = (flat[3], flat[4]) if how.debiased else None
    return transport_all(flat[0], heights, widths, flat[1], flat[2], how, name=str, within=within)


def plan(case, solver):
    return transport(case[0], how=TransportOptions(solver), masses=tuple(case[1])).matrix


def every(solvers):
    """Each of these solvers, which a failure names."""
    for solver in solvers:
        note(f"solver: {solver}")
        yield solver


def shares(masses):
    return masses / masses.sum()


@given(case=problems())
def test_a_balanced_plan_has_its_marginals(case):
    quality, (gold, predicted), _ = case
    n = len(gold)
    for solver in every(BALANCED):
        matrix, plans = plan(case, solver), solve([case], solver)
        assert matrix.sum(axis=1) == pytest.approx(n * shares(gold), abs=1e-8)
        assert matrix.sum(axis=0) == pytest.approx(n * shares(predicted), abs=1e-8)
        assert plans.matched.tolist() == [n]
        assert 0.0 <= plans.cost[0] <= 1.0
        assert plans.total == pytest.approx([n * (1.0 - plans.cost[0])])
        assert plans.total == pytest.approx([(matrix * quality).sum()], abs=1e-8)


@given(case=problems())
def test_no_item_is_coupled_beyond_its_mass(case):
    _, (gold, predicted), _ = case
    for solver in every(SOLVERS[3:]):
        coupling = transport(case[0], how=TransportOptions(solver), masses=(gold, predicted))
        assert (coupling.matrix.sum(axis=1) <= len(gold) * shares(gold) + 1e-8).all()
        assert (coupling.matrix.sum(axis=0) <= len(predicted) * shares(predicted) + 1e-8).all()
        assert coupling.unmatched_gold.sum() + coupling.mass.sum() == pytest.approx(len(gold))
        assert coupling.unmatched_predicted.sum() + coupling.mass.sum() == pytest.approx(len(predicted))


@given(cases=st.lists(problems(), min_size=2, max_size=4))
def test_a_plan_does_not_depend_on_its_neighbours(cases):
    starts = np.cumsum([0] + [case[0].size for case in cases])
    for solver in every(SOLVERS):
        together = solve(cases, solver)
        for p, case in enumerate(cases):
            alone, here = solve([case], solver), together.problems == p
            assert (together.cells[here] - starts[p]).tolist() == alone.cells.tolist()
            assert together.mass[here].tolist() == alone.mass.tolist()
            assert together.total[p] == alone.total[0]
            assert together.excess[p] == alone.excess[0]
            assert together.matched[p] == alone.matched[0]


@given(problems(uniform=True, square=True))
def test_exact_transport_of_uniform_lists_of_equal_length_is_hungarian(case):
    quality = case[0]
    best = hungarian(quality)
    assert solve([case], ExactSolver()).total == pytest.approx([quality[best.gold, best.predicted].sum()], abs=1e-9)


@given(problems(square=True))
def test_nearly_uniform_masses_give_the_hungarian_optimum(case):
    quality = case[0]
    n = len(quality)
    best = hungarian(quality)
    uneven = np.ones(n)
    uneven[0] += 1e-9  # enough to leave the shortcut for uniform masses
    total = solve([(quality, (uneven, np.ones(n)), case[2])], ExactSolver()).total
    assert total == pytest.approx([quality[best.gold, best.predicted].sum()], abs=1e-7)


@given(problems(uniform=True))
def test_w1_is_at_most_ospa(case):
    quality = case[0]
    best = hungarian(quality)
    ospa = 1.0 - quality[best.gold, best.predicted].sum() / max(quality.shape)
    assert solve([case], ExactSolver()).cost[0] <= ospa + 1e-12


@pytest.mark.parametrize(
    "solver",
    [PartialSolver(), DummySolver(lambda_=1.0), UnbalancedSolver(penalty=MarginalPenalty.TV, reg_m=1.0)],
    ids=str,
)
@given(case=problems(uniform=True))
def test_without_a_gain_from_leaving_out_transport_is_hungarian(solver, case):
    quality = case[0]
    best = hungarian(quality)
    plans = solve([case], solver)
    assert plans.total == pytest.approx([quality[best.gold, best.predicted].sum()], abs=1e-8)
    assert plans.matched == pytest.approx([min(quality.shape)])
    assert plans.mass == pytest.approx(np.ones(min(quality.shape)))


@given(problems(uniform=True), st.sampled_from([0.1, 0.25, 0.4]))
def test_a_dummy_makes_whole_pairs_and_more_of_them_at_a_higher_price(case, price):
    fewer, more = (solve([case], DummySolver(lambda_=each)) for each in (price, price + 0.1))
    assert fewer.mass == pytest.approx(np.ones(len(fewer.mass)))
    assert fewer.matched[0] <= more.matched[0] + 1e-9


@given(case=problems(), random=st.randoms(use_true_random=False))
def test_the_order_of_the_items_does_not_matter(case, random):
    quality, (gold, predicted), (above, left) = case
    rows, columns = (random.sample(range(size), size) for size in quality.shape)
    moved = (
        quality[np.ix_(rows, columns)],
        (gold[rows], predicted[columns]),
        (above[np.ix_(rows, rows)], left[np.ix_(columns, columns)]),
    )
    for solver in every(SOLVERS):
        assert solve([moved], solver).total == pytest.approx(solve([case], solver).total, abs=2e-4)


@given(case=problems())
def test_exchanging_the_sides_keeps_the_quality(case):
    quality, (gold, predicted), (above, left) = case
    for solver in every(SOLVERS):
        there = solve([case], solver)
        back = solve([(np.ascontiguousarray(quality.T), (predicted, gold), (left, above))], solver)
        scale = len(gold) / len(predicted) if TransportOptions(solver).balanced else 1.0
        assert back.total * scale == pytest.approx(there.total, abs=2e-4)


POINTS = st.lists(st.tuples(st.integers(0, 10), MASSES), min_size=1, max_size=5)


def apart(one, other):
    """W1 between weighted points of a line of length 10."""
    gaps = np.abs(np.array([x for x, _ in one])[:, None] - np.array([y for y, _ in other])) / 10.0
    masses = [np.array([mass for _, mass in side]) for side in (one, other)]
    return float(solve([(1.0 - gaps, masses, (gaps[:0], gaps[:0]))], ExactSolver()).cost[0])


@given(POINTS, POINTS, POINTS)
def test_w1_is_a_pseudo_metric(one, two, three):
    assert apart(one, one) == pytest.approx(0.0, abs=1e-12)
    assert apart(one, two) == pytest.approx(apart(two, one), abs=1e-12)
    assert apart(one, three) <= apart(one, two) + apart(two, three) + 1e-12


def test_w1_is_zero_between_a_list_and_its_duplicate():
    assert apart([(3, 1.0)], [(3, 1.0), (3, 1.0)]) == 0.0


@given(POINTS, POINTS)
def test_transport_1d_equals_w1_of_numbers(one, other):
    values = [np.array([float(x) for x, _ in side]) for side in (one, other)]
    masses = [np.array([mass for _, mass in side]) for side in (one, other)]
    coupling = transport_1d(*values, *masses)
    assert coupling.matrix.sum(axis=1) == pytest.approx(len(one) * shares(masses[0]), abs=1e-9)
    assert coupling.matrix.sum(axis=0) == pytest.approx(len(one) * shares(masses[1]), abs=1e-9)
    cost = (np.abs(values[0][coupling.gold] - values[1][coupling.predicted]) * coupling.mass).sum() / 10.0
    assert cost / len(one) == pytest.approx(apart(one, other), abs=1e-9)


@given(problems())
def test_the_shares_of_a_coupled_item_sum_to_one(case):
    coupling = transport(case[0], how=TransportOptions(DummySolver()), masses=tuple(case[1]))
    gold, predicted = coupling.partners
    for side, (table, axis, lone) in enumerate(
        ((coupling.row_shares, 1, coupling.missing), (coupling.column_shares, 0, coupling.spurious))
    ):
        total = np.ones(coupling.shape[side])
        total[lone] = 0.0
        assert table.sum(axis=axis) == pytest.approx(total)
    assume(len(coupling.mass))
    assert gold.max() <= coupling.shape[1] + 1e-9
    assert (gold[np.setdiff1d(np.arange(len(gold)), coupling.missing)] >= 1.0 - 1e-12).all()
    assert (predicted[coupling.spurious] == 0.0).all()


EQUAL = ["hungarian", "greedy", "ordered", "sequence", "set", {"keyed": {"key": "w"}}]
EQUAL += [
    {"transport": {"masses": masses, **solver}}
    for masses in ("uniform", "size", "/w")
    for solver in (
        {},
        {"solver": "sinkhorn", "debiased": True},
        {"solver": "dummy"},
        {"solver": "partial"},
        {"solver": "unbalanced", "penalty": "tv"},
    )
]


@pytest.mark.parametrize("match", EQUAL, ids=str)
def test_a_document_compared_with_itself_has_quality_exactly_one(match):
    part = {"type": "object", "properties": {"w": {"type": "number", "x-arbitre": {"weight": 0.3}}}}
    comparator = Comparator({"type": "array", "items": part, "x-arbitre": {"match": match}})
    draw = random.Random(7)  # noqa: S311  (not for cryptography)
    documents = [
        [
            {
                "w": draw.choice([1, 2, 3, 0.1, 0.7, 1 / 3, draw.random() + 0.01]),
                "l": [draw.random()] * draw.randrange(3),
            }
            for _ in range(draw.randrange(1, 9))
        ]
        for _ in range(60)
    ]
    assert compare_to_levels(comparator.plan, documents, documents)[0].quality.tolist() == [1.0] * 60
