"""Diagnostics of distance matrices: known values, edge cases and refused input."""

from __future__ import annotations

import json
import math
from dataclasses import fields

import numpy as np
import pytest
from scipy.sparse.csgraph import floyd_warshall

from arbitre.errors import ArbitreError, DataError
from arbitre.metricity.metricity import Distortion, Metricity, distortion, draw_tuples, metricity, repair

BROKEN = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
LINE = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))


def squares(size):
    """Squared distances of points: symmetric, 0 on the diagonal, many triangles broken, of snowflake 1/2."""
    points = np.random.default_rng(size).random((size, 2))
    return ((points[:, None] - points[None]) ** 2).sum(axis=-1)


def test_a_broken_triangle_has_known_figures():
    found = metricity(BROKEN)
    assert (found.triangle_rate, found.triangle_max, found.triangle_mean) == (1 / 3, 2.0, 2 / 3)
    assert (found.relaxed_triangle, found.snowflake, found.witness) == (2.0, 0.5, (0, 1, 2))
    assert (found.repair_mass, found.repaired, found.repair_size) == (1 / 3, 1, 3)
    assert (found.symmetry_defect, found.symmetry_max, found.identity_defect) == (0.0, 0.0, 0.0)
    assert found.metricity == 1 - 1 / 3
    assert (found.pool, found.size, found.exact, found.samples, found.triangle_interval) == (True, 3, True, None, None)


def test_a_metric_has_no_defects():
    found = metricity(LINE)
    assert (found.metricity, found.triangle_rate, found.relaxed_triangle, found.snowflake) == (1.0, 0.0, 1.0, 1.0)
    assert (found.repair_mass, found.repaired, found.witness, found.triangle_max) == (0.0, 0, None, 0.0)


def test_equal_distances_have_a_relaxed_triangle_constant_of_one_half():
    assert metricity(1 - np.eye(5)).relaxed_triangle == 0.5


def test_asymmetry_lowers_the_metricity():
    found = metricity([[0.0, 0.25], [0.5, 0.0]])
    assert (found.symmetry_defect, found.symmetry_max) == (1 / 3, 0.25)
    assert found.metricity == 1 - 1 / 3


def test_a_positive_self_distance_lowers_the_metricity():
    found = metricity([[0.25, 0.5], [0.5, 0.0]])
    assert (found.identity_defect, found.metricity) == (0.125, 0.875)
    assert metricity([[8.0, 9.0], [9.0, 0.0]]).metricity == 0.0  # never below


def test_the_three_defects_multiply():
    found = metricity([[0.0, 1.0, 4.0], [1.0, 0.5, 1.0], [2.0, 1.0, 0.0]])
    assert (found.symmetry_defect, found.identity_defect, found.repair_mass) == (4 / 21, 1 / 6, 0.2)
    assert found.metricity == pytest.approx(17 / 21 * 5 / 6 * 4 / 5)


def test_different_values_at_distance_zero_are_a_separation_defect():
    matrix = [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert metricity(matrix).separation_defect is None
    assert metricity(matrix, same=np.eye(3, dtype=bool)).separation_defect == 1 / 3
    equal = np.eye(3, dtype=bool)
    equal[0, 1] = equal[1, 0] = True
    assert metricity(matrix, same=equal).separation_defect == 0.0
    assert metricity(matrix, same=np.zeros((3, 3), dtype=bool)).separation_defect == 1 / 3  # a point is no pair
    assert metricity(matrix, same=np.ones((3, 3), dtype=bool)).separation_defect is None
    assert metricity(matrix).metricity == 1.0  # a pseudo-metric


def test_values_at_zero_that_differ_towards_a_third_have_no_finite_relaxation():
    found = metricity([[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    assert (found.relaxed_triangle, found.snowflake, found.repair_mass) == (math.inf, 0.0, 1.0)


def test_a_rectangular_table_has_quadrangle_figures():
    found = metricity([[0.125, 1.0], [0.125, 0.25]], pool=False)
    assert (found.quadrangle_rate, found.quadrangle_max, found.quadrangle_mean) == (0.25, 0.5, 0.125)
    assert (found.relaxed_quadrangle, found.witness, found.repaired) == (2.0, (0, 1, 1, 0), 1)
    assert found.repair_mass == 0.5 / 1.5
    assert (found.pool, found.size, found.repair_size, found.quadrangle_interval) == (False, 4, 4, None)
    undefined = ("metricity", "symmetry_defect", "symmetry_max", "identity_defect", "triangle_rate", "relaxed_triangle")
    assert {getattr(found, name) for name in undefined} == {None}


def test_a_square_is_read_as_a_table_where_asked():
    assert metricity(LINE, pool=False).quadrangle_rate == 0.0
    assert metricity(BROKEN, pool=False).relaxed_quadrangle == 2.0  # 4 > 1 + 0 + 1
    assert metricity([[0.25, 0.0], [0.0, 0.0]], pool=False).relaxed_quadrangle == math.inf


@pytest.mark.parametrize(
    ("matrix", "pool", "rate"),
    [
        ([[0.0]], True, None),
        ([[0.0, 0.5], [0.5, 0.0]], True, None),
        (np.zeros((4, 4)), True, 0.0),
        ([[0.5]], False, None),
        ([[0.5, 0.25, 0.0]], False, None),
        (np.zeros((2, 3)), False, 0.0),
    ],
)
def test_small_and_zero_matrices_have_no_defect(matrix, pool, rate):
    found = metricity(matrix, pool=pool)
    assert (found.triangle_rate if pool else found.quadrangle_rate) == rate
    assert (found.triangle_max if pool else found.quadrangle_max) == rate
    assert (found.relaxed_triangle, found.relaxed_quadrangle) == (None, None)  # every inequality reads 0 <= 0
    assert (found.repair_mass, found.repaired, found.exact, found.witness) == (0.0, 0, True, None)
    if pool:
        assert (found.metricity, found.symmetry_defect, found.identity_defect, found.snowflake) == (1.0, 0.0, 0.0, 1.0)


def test_only_differences_above_rounding_are_defects():
    noise = LINE / 5 + 1e-12 * np.random.default_rng(0).random(LINE.shape)
    assert metricity(noise).metricity == 1.0
    assert metricity(noise, tolerance=0).metricity < 1.0
    assert metricity([[0.0, 1.0], [1.0 - 1e-8, 0.0]]).metricity < 1.0
    assert metricity([[1e-8, 1.0], [1.0, 0.0]]).metricity < 1.0
    assert metricity([[0, 1.0, 2 + 1e-8], [1.0, 0, 1.0], [2 + 1e-8, 1.0, 0]]).metricity < 1.0


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e300, 1.7e308])
def test_extreme_magnitudes_are_handled(scale):
    found = metricity([[0, scale, scale], [scale, 0, 0], [scale, 0, 0]])
    assert (found.metricity, found.triangle_rate, found.relaxed_triangle) == (1.0, 0.0, 1.0)


def test_lengths_close_to_zero_are_not_missing_edges():
    near = np.array([[0.0, 1e-9, 0.5], [1e-9, 0.0, 0.4], [0.5, 0.4, 0.0]])
    assert repair(near)[0].tolist() == [0.0, 1e-9, 0.4 + 1e-9]
    assert floyd_warshall(near)[0, 1] == pytest.approx(0.9)  # the trap: 1e-9 is taken for no edge at all
    twins = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    assert repair(twins).tolist() == twins.tolist()


def test_a_sample_estimates_the_rate():
    matrix = squares(40)
    whole, part = metricity(matrix), metricity(matrix, exact_up_to=1000, samples=20_000, seed=3)
    low, high = part.triangle_interval
    assert 0 < low < whole.triangle_rate < high < 1
    assert high - low < 0.015
    assert part.triangle_rate == pytest.approx(whole.triangle_rate, abs=0.01)
    assert part.triangle_mean == pytest.approx(whole.triangle_mean, rel=0.1)
    assert 0 < part.triangle_max <= whole.triangle_max
    assert 1 < part.relaxed_triangle <= whole.relaxed_triangle
    assert whole.snowflake <= part.snowflake < 1
    assert part.repair_mass == pytest.approx(whole.repair_mass, rel=1e-12)  # worked out whole
    assert (part.exact, part.samples, part.seed, part.repair_size) == (False, 20_000, 3, 40)
    i, j, k = part.witness
    assert matrix[i, k] - matrix[i, j] - matrix[j, k] == pytest.approx(part.triangle_max)


def test_a_sample_of_a_table_estimates_the_quadrangle_rate():
    matrix = squares(40)[:20, 20:]
    whole, part = (metricity(matrix, pool=False, exact_up_to=limit, samples=20_000) for limit in (10**6, 0))
    low, high = part.quadrangle_interval
    assert 0 < low < whole.quadrangle_rate < high < 1
    assert 0 < part.quadrangle_max <= whole.quadrangle_max
    i, k, j, h = part.witness
    assert matrix[i, j] - matrix[i, h] - matrix[k, h] - matrix[k, j] == pytest.approx(part.quadrangle_max)


def test_the_seed_alone_determines_the_sample():
    matrix = squares(30)
    one, again, other = (metricity(matrix, exact_up_to=0, samples=500, seed=seed) for seed in (0, 0, 1))
    assert one == again
    assert one.triangle_rate != other.triangle_rate
    assert metricity(matrix, seed=0).triangle_rate == metricity(matrix, seed=1).triangle_rate


def test_a_sample_without_violations_bounds_the_rate():
    found = metricity(LINE, exact_up_to=0, samples=10_000)
    assert (found.triangle_rate, found.witness) == (0.0, None)
    assert found.triangle_interval == (0.0, pytest.approx(1 - 0.025 ** (1 / 10_000)))
    wider = metricity(LINE, exact_up_to=0, samples=10_000, level=0.99)
    assert wider.triangle_interval[1] > found.triangle_interval[1]


def test_sampled_tuples_are_distinct_and_uniform():
    i, j, k = draw_tuples(np.random.default_rng(0), 4, 3, 24_000)
    codes, counts = np.unique(i * 16 + j * 4 + k, return_counts=True)
    assert len(codes) == 4 * 3 * 2
    assert np.count_nonzero((i == j) | (j == k) | (i == k)) == 0
    assert counts.min() > 850
    assert counts.max() < 1150


def test_a_large_matrix_is_repaired_in_part():
    matrix = squares(40)
    part = metricity(matrix, exact_up_to=0, samples=100, repair_up_to=15)
    assert (part.size, part.repair_size) == (40, 15)
    assert 0 < part.repair_mass < metricity(matrix).repair_mass
    table = metricity(matrix[:10, 10:], pool=False, exact_up_to=0, samples=100, repair_up_to=15)
    assert (table.size, table.repair_size) == (40, 3 + 11)
    assert metricity(matrix, repair_up_to=15).repair_size == 40  # where all is looked at, all is repaired


def test_the_result_is_plain_json():
    plain = metricity(BROKEN, exact_up_to=0, samples=10).to_dict()
    assert list(plain) == [field.name for field in fields(Metricity)]
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["witness"] in ([0, 1, 2], [2, 1, 0])
    assert len(plain["triangle_interval"]) == 2
    assert plain["quadrangle_rate"] is None
    infinite = metricity([[0, 0, 1], [0, 0, 0], [1, 0, 0]]).to_dict()
    assert (infinite["relaxed_triangle"], float(infinite["relaxed_triangle"])) == ("Infinity", math.inf)


@pytest.mark.parametrize(
    ("matrix", "message", "pointer"),
    [
        (
            [[0, math.nan], [1, 0]],
            "Expected every entry of `matrix` to be a finite number, at least 0, got nan",
            "/0/1",
        ),
        (
            [[0, 1], [math.inf, 0]],
            "Expected every entry of `matrix` to be a finite number, at least 0, got inf",
            "/1/0",
        ),
        ([[0, 1], [-0.5, 0]], "Expected every entry of `matrix` to be a finite number, at least 0, got -0.5", "/1/0"),
        ([0.0, 1.0], "Expected `matrix` to be a table of numbers, got float64 of shape (2,)", None),
        ([], "Expected `matrix` to be a table of numbers, got float64 of shape (0,)", None),
        (np.zeros((0, 0)), "Expected `matrix` to be a table of numbers, got float64 of shape (0, 0)", None),
        ([["0"]], "Expected `matrix` to be a table of numbers, got <U1 of shape (1, 1)", None),
        ([[0j]], "Expected `matrix` to be a table of numbers, got complex128 of shape (1, 1)", None),
        ([[None]], "Expected `matrix` to be a table of numbers, got object of shape (1, 1)", None),
        ([[0, 1], [0]], "Expected `matrix` to have rows of equal length, got rows of different lengths", None),
        ([[0, 1]], "Expected `matrix` to be square, got shape (1, 2)", None),
    ],
)
def test_an_invalid_matrix_is_refused(matrix, message, pointer):
    with pytest.raises(DataError) as caught:
        metricity(matrix)
    assert (caught.value.message, caught.value.pointer) == (message, pointer)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 0}, "Expected `samples` to be an integer of at least 1, got 0"),
        ({"exact_up_to": -1}, "Expected `exact_up_to` to be an integer of at least 0, got -1"),
        ({"repair_up_to": 0}, "Expected `repair_up_to` to be an integer of at least 1, got 0"),
        ({"seed": -1}, "Expected `seed` to be an integer of at least 0, got -1"),
        ({"level": 1.0}, "Expected `level` to be between 0 and 1, got 1.0"),
        ({"tolerance": math.nan}, "Expected `tolerance` to be in [0, 1), got nan"),
        ({"tolerance": 1.0}, "Expected `tolerance` to be in [0, 1), got 1.0"),
        ({"same": [[True]]}, "Expected `same` to be a mask of shape (3, 3), got shape (1, 1) of bool"),
        ({"same": np.eye(3)}, "Expected `same` to be a mask of shape (3, 3), got shape (3, 3) of float64"),
        ({"same": np.eye(3, dtype=bool), "pool": False}, "Expected `same` only with a pool, got pool=False"),
    ],
)
def test_an_option_out_of_range_is_refused(options, message):
    with pytest.raises(ArbitreError) as caught:
        metricity(BROKEN, **options)
    assert caught.value.message == message


def test_the_matrix_is_not_changed():
    matrix = squares(10)
    before = matrix.copy()
    metricity(matrix)
    metricity(matrix, pool=False)
    repair(matrix)
    assert (matrix == before).all()


def test_distortion_compares_matched_costs_with_inner_distances():
    within = [[0.0, 1.0, 0.5], [1.0, 0.0, 0.75], [0.5, 0.75, 0.0]]
    costs = [[1.0, 0.25], [0.5, 0.75], [0.75, 0.25]]
    assert distortion(costs, within, [(1, 0), (2, 1)]) == Distortion(0.5, (0 + 0.5 + 0 + 0.25 + 0 + 0.25) / 6)
    assert distortion(costs, within, np.array([(0, 0)])) == Distortion(1.0, (1.0 + 0.5 + 0.25) / 3)
    assert distortion(within, within, [(0, 0), (1, 1), (2, 2)]) == Distortion(0.0, 0.0)
    assert distortion(costs, within, []) == Distortion(None, None)
    one_way = [[0.0, 1.0], [0.5, 0.0]]  # read in the direction of the costs
    assert distortion([[0.0, 1.0], [0.5, 0.0]], one_way, [(0, 0), (1, 1)]) == Distortion(0.0, 0.0)


@pytest.mark.parametrize("pairs", [[(2, 0)], [(0, -1)], [(0, 2)], [(0.0, 1.0)], [0, 1], [(0, 0), (1,)], [(0, 0, 0)]])
def test_pairs_outside_the_matrix_are_refused(pairs):
    with pytest.raises(DataError, match=r"Expected `pairs` to be positions .* of shape \(2, 2\)"):
        distortion(np.eye(2), np.eye(2), pairs)


def test_matrices_of_different_sizes_are_refused():
    with pytest.raises(DataError, match=r"Expected `gold_matrix` to have shape \(2, 2\), got \(3, 3\)"):
        distortion(np.eye(2), np.eye(3), [])
    with pytest.raises(DataError, match="Expected every entry of `gold_matrix`"):
        distortion(np.eye(2), -np.eye(2), [])
