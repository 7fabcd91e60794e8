"""Properties that the metric diagnostics have for every distance matrix."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment, linprog

from arbitre.metricity.metricity import distortion, metricity, repair

SIZES = st.integers(1, 6)
SHARES = ("metricity", "symmetry_defect", "triangle_rate", "relaxed_triangle", "snowflake", "repair_mass", "repaired")
LENGTHS = ("symmetry_max", "triangle_max", "triangle_mean")
TABLE = ("quadrangle_rate", "quadrangle_max", "quadrangle_mean", "relaxed_quadrangle", "repair_mass", "repaired")


def integers(shape, largest=4):
    return arrays(np.float64, shape, elements=st.integers(0, largest).map(float))


MATRICES = SIZES.flatmap(lambda size: integers((size, size)))
TABLES = st.tuples(SIZES, SIZES).flatmap(integers)
HOLLOW = MATRICES.map(lambda matrix: matrix * (1 - np.eye(len(matrix))))
SYMMETRIC = HOLLOW.map(lambda matrix: matrix + matrix.T)


@st.composite
def pools(draw, smallest=1):
    """City-block distances of points of a grid, some of them at the same place: a pseudo-metric."""
    points = draw(integers((draw(st.integers(smallest, 8)), 2)))
    return np.abs(points[:, None] - points[None]).sum(axis=-1)


@st.composite
def nearly(draw):
    """A pseudo-metric of which one entry may be another number: sometimes none any more."""
    matrix = draw(pools()).copy()
    row, column = (draw(st.integers(0, len(matrix) - 1)) for _ in range(2))
    matrix[row, column] = draw(st.integers(0, 9))
    if draw(st.booleans()):
        matrix[column, row] = matrix[row, column]
    return matrix


def near(found, names):
    return {
        name: None if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)
        for name, value in values(found, names).items()
    }


def values(found, names):
    return {name: getattr(found, name) for name in names}


def pseudo_metric(matrix):
    """By definition, entry by entry."""
    points = range(len(matrix))
    return all(
        matrix[i, i] == 0 and matrix[i, k] == matrix[k, i] and matrix[i, k] <= matrix[i, j] + matrix[j, k]
        for i, j, k in product(points, repeat=3)
    )


@given(st.one_of(MATRICES, HOLLOW, SYMMETRIC, pools(), nearly()))
def test_metricity_is_one_for_pseudo_metrics_and_below_for_all_others(matrix):
    found = metricity(matrix)
    assert 0 <= found.metricity <= 1
    assert (found.metricity == 1) == pseudo_metric(matrix)


@given(st.one_of(SYMMETRIC, pools()))
def test_triangle_figures_equal_a_count_over_all_triples(matrix):
    found, points = metricity(matrix), range(len(matrix))
    excess = {(i, j, k): matrix[i, k] - matrix[i, j] - matrix[j, k] for i, j, k in permutations(points, 3)}
    if not excess:
        assert found.triangle_rate is None
        return
    assert found.triangle_rate == sum(over > 0 for over in excess.values()) / len(excess)
    assert found.triangle_max == pytest.approx(max(0, *excess.values()))
    assert found.triangle_mean == pytest.approx(sum(max(0, over) for over in excess.values()) / len(excess))
    ratios = [
        matrix[i, k] / (matrix[i, j] + matrix[j, k]) if matrix[i, j] + matrix[j, k] else np.inf
        for i, j, k in excess
        if matrix[i, k] or matrix[i, j] or matrix[j, k]
    ]
    assert found.relaxed_triangle == (pytest.approx(max(ratios)) if ratios else None)
    assert found.witness is None or excess[found.witness] == max(excess.values()) > 0


@given(TABLES)
def test_quadrangle_figures_equal_a_count_over_all_quadruples(table):
    found = metricity(table, pool=False)
    rows, columns = (range(size) for size in table.shape)
    excess = {
        (i, k, j, h): table[i, j] - table[i, h] - table[k, h] - table[k, j]
        for (i, k), (j, h) in product(permutations(rows, 2), permutations(columns, 2))
    }
    if not excess:
        assert found.quadrangle_rate is None
        return
    assert found.quadrangle_rate == sum(over > 0 for over in excess.values()) / len(excess)
    assert found.quadrangle_max == pytest.approx(max(0, *excess.values()))
    assert found.witness is None or excess[found.witness] == max(excess.values()) > 0


@given(st.one_of(MATRICES, SYMMETRIC, nearly()), st.randoms(use_true_random=False))
def test_the_order_of_the_points_does_not_matter(matrix, random):
    order = random.sample(range(len(matrix)), len(matrix))
    names = (*SHARES, *LENGTHS, "identity_defect")
    assert values(metricity(matrix[np.ix_(order, order)]), names) == near(metricity(matrix), names)


@given(TABLES, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_does_not_matter(table, random):
    orders = (random.sample(range(size), size) for size in table.shape)
    assert values(metricity(table[np.ix_(*orders)], pool=False), TABLE) == near(metricity(table, pool=False), TABLE)


@given(st.one_of(MATRICES, nearly()))
def test_transposing_the_matrix_changes_nothing(matrix):
    names = (*SHARES, *LENGTHS, "identity_defect")
    assert values(metricity(matrix.T), names) == near(metricity(matrix), names)
    assert values(metricity(matrix.T, pool=False), TABLE) == near(metricity(matrix, pool=False), TABLE)


@given(st.one_of(HOLLOW, nearly().map(lambda matrix: matrix * (1 - np.eye(len(matrix))))), st.floats(1e-6, 1e6))
def test_the_unit_of_length_does_not_matter(matrix, factor):
    one, scaled = metricity(matrix), metricity(matrix * factor)
    assert values(scaled, SHARES) == near(one, SHARES)
    for name in LENGTHS:
        length = getattr(one, name)
        assert getattr(scaled, name) == (None if length is None else pytest.approx(length * factor))


@given(st.one_of(SYMMETRIC, pools()))
def test_a_repair_is_a_lower_pseudo_metric_and_idempotent(matrix):
    repaired = repair(matrix)
    assert (repaired <= matrix).all()
    assert pseudo_metric(repaired)
    assert (repair(repaired) == repaired).all()
    assert (repaired == matrix).all() == pseudo_metric(matrix)
    assert metricity(matrix).repair_mass == pytest.approx((matrix - repaired).sum() / (matrix.sum() or 1))


@given(pools(), st.data())
def test_the_repair_is_the_largest_pseudo_metric_below(pool, data):
    more = data.draw(integers(pool.shape))
    assert (repair(pool + (more + more.T) * (1 - np.eye(len(pool)))) >= pool).all()


@given(SYMMETRIC)
def test_the_snowflake_is_the_largest_power_that_repairs(matrix):
    found = metricity(matrix)
    lengths, exponent = matrix / (matrix.max() or 1), found.snowflake
    assert (exponent == 1) == (found.metricity == 1)
    if exponent:
        assert metricity(lengths**exponent, tolerance=1e-8).metricity == 1
        assert metricity(lengths ** (exponent / 2), tolerance=1e-8).metricity == 1
    if exponent < 1:
        assert metricity(lengths ** (exponent + 1e-3 * (1 - exponent))).metricity < 1
    assert (exponent == 0) == (found.relaxed_triangle == np.inf or zero_side(matrix))


def zero_side(matrix):
    """Whether values at 0 from each other differ towards a third."""
    points = range(len(matrix))
    return any(matrix[i, j] == 0 and matrix[i, k] != matrix[j, k] for i, j, k in permutations(points, 3))


@given(SYMMETRIC)
def test_the_relaxed_triangle_constant_is_the_smallest_that_holds(matrix):
    constant = metricity(matrix).relaxed_triangle
    if constant is None or constant == np.inf:
        return
    triples = list(permutations(range(len(matrix)), 3))
    gaps = [constant * (matrix[i, j] + matrix[j, k]) - matrix[i, k] for i, j, k in triples]
    assert min(gaps) == pytest.approx(0, abs=1e-9)
    assert constant >= 0.5 - 1e-12


def extends(table):
    """Whether the table is part of a pseudo-metric of its rows and columns: a linear programme of the other lengths."""
    rows, size = len(table), sum(table.shape)
    unknown = [
        pair for pair in product(range(size), repeat=2) if pair[0] < pair[1] and (pair[0] < rows) == (pair[1] < rows)
    ]
    left, right = [], []
    for i, j, k in permutations(range(size), 3):
        line, constant = np.zeros(len(unknown)), 0.0
        for (one, other), sign in (((i, k), 1), ((i, j), -1), ((j, k), -1)):
            pair = (min(one, other), max(one, other))
            if pair in unknown:
                line[unknown.index(pair)] += sign
            else:
                constant += sign * table[pair[0], pair[1] - rows]
        left.append(line)
        right.append(-constant)
    return linprog(np.zeros(len(unknown)), A_ub=np.array(left), b_ub=np.array(right)).status == 0


@given(st.tuples(st.integers(2, 4), st.integers(2, 3)).flatmap(integers))
def test_a_table_is_part_of_a_pseudo_metric_exactly_where_no_quadrangle_is_broken(table):
    found = metricity(table, pool=False)
    assert (found.quadrangle_rate == 0) == (found.repair_mass == 0) == extends(table)


@given(pools(smallest=2), st.data())
def test_a_part_of_a_pseudo_metric_breaks_no_quadrangle(pool, data):
    cut = data.draw(st.integers(1, len(pool) - 1))
    found = metricity(pool[:cut, cut:], pool=False)
    assert (found.quadrangle_rate or 0, found.repair_mass, found.witness) == (0, 0, None)
    assert found.relaxed_quadrangle is None or 1 / 3 - 1e-12 <= found.relaxed_quadrangle <= 1


@given(pools(smallest=2), st.data())
def test_under_a_metric_the_distortion_is_the_largest_matched_cost(pool, data):
    cut = data.draw(st.integers(1, len(pool) - 1))
    within, costs = pool[:cut, :cut], pool[:cut, cut:]
    pairs = np.column_stack(linear_sum_assignment(costs))
    found = distortion(costs, within, pairs)
    assert found.max == costs[tuple(pairs.T)].max()
    assert found.mean <= found.max


@given(st.integers(4, 6).flatmap(lambda size: integers((size, size))), st.integers(0, 100))
def test_a_sampled_maximum_never_exceeds_the_true_maximum(matrix, seed):
    whole, part = metricity(matrix), metricity(matrix, exact_up_to=0, samples=50, seed=seed)
    low, high = part.triangle_interval
    assert 0 <= low <= part.triangle_rate <= high <= 1
    assert part.triangle_max <= whole.triangle_max
    assert part.snowflake >= whole.snowflake - 1e-9
    assert values(part, ("symmetry_defect", "repair_mass", "metricity")) == near(
        whole, ("symmetry_defect", "repair_mass", "metricity")
    )
