"""Metric diagnostics of the published distance on the index of the French Senate of 1931."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.builders import distances

from arbitre import Comparator, bundled
from arbitre.metricity.metricity import distortion, metricity

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "senat-1931"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not here")

LIST = "listes_des_intervenants"
VT, BOXES, RAW = "page_02_01_vt", "page_02_02_corpusense_boxes", "page_02_03_corpusense_raw"


def entries(*parts):
    return json.loads(DATA.joinpath(*parts).read_text(encoding="utf-8"))[LIST]


def judge(name):
    """The comparator of the published figures, with another distance where one is named."""
    overlay = {f"/{LIST}/*/{field}": {"distance": name} for field in ("nom", "references_pages")}
    return Comparator(bundled.schema("examples/senat-published.schema.json"), overlay=overlay if name else None)


@pytest.fixture(scope="module")
def pool():
    """The distances between all entries of gold and of one run, gold first; kept for the tests that share them."""
    known = {}

    def matrix(run, name=None):
        if (run, name) not in known:
            items = entries("gold", f"{run[:7]}.json") + entries("predicted", f"{run}.json")
            known[run, name] = distances(judge(name).plan, [{LIST: [item]} for item in items])
        return known[run, name]

    return matrix


@pytest.mark.parametrize(
    ("run", "broken", "expected"),
    [
        (VT, 2, (46, 0.0199, 0.1661, 1.011, 1.36e-5)),
        (BOXES, 28, (44, 0.0188, 0.1496, 1.133, 5.26e-4)),
        (RAW, 20, (45, 0.0187, 0.1496, 1.133, 3.43e-4)),
    ],
)
def test_ratcliff_obershelp_is_asymmetric_and_breaks_few_triangles(pool, run, broken, expected):
    matrix = pool(run)
    found = metricity(matrix)
    asymmetry = np.abs(matrix - matrix.T)
    figures = (found.size, asymmetry.mean(), found.symmetry_max, found.relaxed_triangle, found.repair_mass)
    assert figures == pytest.approx(expected, rel=4e-3)
    assert found.triangle_rate == broken / (found.size * (found.size - 1) * (found.size - 2))
    assert found.symmetry_defect == pytest.approx(asymmetry.sum() / (2 * matrix.sum()))
    assert (found.exact, found.identity_defect) == (True, 0.0)
    assert 0.98 < found.metricity < 0.99  # the asymmetry is what costs


def test_one_pool_has_its_published_figures(pool):
    found = metricity(pool(BOXES))
    assert f"{found.triangle_rate:.1e} {found.relaxed_triangle:.3f} {found.repair_mass:.1e}" == "3.5e-04 1.133 5.3e-04"
    table = metricity(pool(BOXES)[:23, 23:], pool=False)
    assert f"{table.quadrangle_rate:.1e}" == "3.8e-04"
    assert table.quadrangle_rate == 81 / (23 * 22 * 21 * 20)
    i, j, k = found.witness
    lengths = (pool(BOXES) + pool(BOXES).T) / 2
    assert lengths[i, k] - lengths[i, j] - lengths[j, k] == pytest.approx(found.triangle_max)


@pytest.mark.parametrize("run", [VT, BOXES, RAW])
@pytest.mark.parametrize("name", ["levenshtein", "yujian-bo"])
def test_levenshtein_and_yujian_bo_break_no_triangle_of_the_pools(pool, run, name):
    found = metricity(pool(run, name))
    assert (found.metricity, found.triangle_rate, found.symmetry_max, found.snowflake) == (1.0, 0.0, 0.0, 1.0)
    assert found.relaxed_triangle == pytest.approx(1.0)
    assert metricity(pool(run, name)[:23, 23:], pool=False).quadrangle_rate == 0.0


def test_indel_breaks_18_triangles_of_one_pool(pool):
    found = metricity(pool(BOXES, "indel"))
    assert (found.symmetry_max, found.triangle_rate) == (0.0, 18 / (44 * 43 * 42))
    assert found.relaxed_triangle == pytest.approx(1.026, abs=5e-4)


@pytest.mark.parametrize(("name", "distorted", "matched"), [(None, 0.1633, 0.0556), ("yujian-bo", 0.1, 0.1)])
def test_the_distortion_exceeds_the_matched_costs_without_a_metric(pool, name, distorted, matched):
    gold, predicted = entries("gold", "page_02.json"), entries("predicted", f"{BOXES}.json")
    made = judge(name).compare(gold={LIST: gold}, predicted={LIST: predicted}).alignment(f"/{LIST}")
    pairs = [(pair.gold, pair.predicted) for pair in made.pairs]
    matrix = pool(BOXES, name)
    costs, within = matrix[:23, 23:], matrix[:23, :23]
    found = distortion(costs, within, pairs)
    assert len(pairs) == 21
    assert max(costs[pair] for pair in pairs) == pytest.approx(matched, abs=5e-5)
    assert found.max == pytest.approx(distorted, abs=5e-5)  # above the matched costs under a distance that is no metric
    assert 0 < found.mean < 0.02
