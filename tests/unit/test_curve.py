"""The survival curve of qualities, on the example of four pairs of 4 gold and 5 predicted entries."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from arbitre import Curve
from arbitre.curve import MAX_BINS, CurveAccumulator

CURVE = Curve.of([0.7, 0.6, 0.93, 0.8], gold=4, predicted=5)


@pytest.mark.parametrize(
    ("threshold", "surviving", "f1"),
    [
        (0.0, 4, 8 / 9),
        (0.6, 4, 8 / 9),
        (0.61, 3, 6 / 9),
        (0.7, 3, 6 / 9),
        (0.8, 2, 4 / 9),
        (0.93, 1, 2 / 9),
        (1.0, 0, 0),
    ],
)
def test_a_pair_counts_up_to_its_quality_inclusive(threshold, surviving, f1):
    point = CURVE.at(threshold)
    assert CURVE.surviving(threshold) == surviving
    assert (point.precision, point.recall, point.f1) == pytest.approx((surviving / 5, surviving / 4, f1))


def test_a_point_of_the_curve_has_its_panoptic_quality():
    point = CURVE.at(0.7)
    assert point.pq == pytest.approx(2 * (0.7 + 0.8 + 0.93) / 9)
    assert point.pq == pytest.approx((0.7 + 0.8 + 0.93) / 3 * point.f1)  # segmentation times recognition quality
    assert CURVE.at(0).pq == pytest.approx(0.673333, abs=5e-7)


def test_the_area_is_the_sum_of_the_qualities():
    assert CURVE.area == pytest.approx(3.03)
    assert Curve.of([0.5], 1, 1, masses=[3]).area == 1.5
    assert Curve.of([], 3, 2).area == 0.0


def test_equal_qualities_are_one_step():
    curve = Curve.of([1.0, 0.5, 1.0], 3, 3)
    assert (curve.qualities.tolist(), curve.counts.tolist()) == ([0.5, 1.0], [1, 2])


def test_an_empty_curve_has_undefined_scores():
    point = Curve.of([], 0, 0).at(0.5)
    assert (point.precision, point.recall, point.f1, point.pq) == (None, None, None, None)
    assert Curve.of([], 0, 2).at(0.5).precision == 0.0
    assert CurveAccumulator().curve(0.0, 0.0).to_dict() == {
        "qualities": [],
        "counts": [],
        "gold": 0.0,
        "predicted": 0.0,
    }


def test_as_many_qualities_as_bins_keep_their_steps():
    qualities = np.arange(MAX_BINS) / (2 * MAX_BINS)  # two per bin
    steps = CurveAccumulator()
    steps.add(qualities, np.ones(MAX_BINS))
    assert np.array_equal(steps.curve(1.0, 1.0).qualities, qualities)


def test_the_order_of_masses_changes_no_sum():
    masses = [0.1, 0.2, 0.3, 0.7] * 25
    forth, back = Curve.of([1.0] * 100, 1, 1, masses), Curve.of([1.0] * 100, 1, 1, masses[::-1])
    assert forth.counts.tolist() == back.counts.tolist() == [32.5]


def test_a_curve_is_built_from_any_iterable_and_written_as_plain_json():
    plain = Curve.of(iter(np.array([0.25, 0.25])), 2, 2).to_dict()
    assert json.loads(json.dumps(plain)) == {"qualities": [0.25], "counts": [2.0], "gold": 2.0, "predicted": 2.0}


def test_a_curve_of_many_qualities_is_binned_with_the_same_area():
    rng = random.Random(1)  # noqa: S311
    qualities = [rng.random() for _ in range(3 * MAX_BINS)]
    steps = CurveAccumulator()
    for begin in range(0, len(qualities), 1000):
        part = Curve.of(qualities[begin : begin + 1000], 0, 0)
        steps.add(part.qualities, part.counts)
    exact, binned = Curve.of(qualities, 40_000, 50_000), steps.curve(40_000, 50_000)
    assert len(exact.qualities) > MAX_BINS >= len(binned.qualities)
    assert binned.area == pytest.approx(exact.area, abs=1e-7)
    for threshold in (0.5, 0.7, 0.9):
        assert binned.surviving(threshold) == exact.surviving(threshold)


def test_a_curve_of_few_qualities_has_exact_steps():
    steps = CurveAccumulator()
    for part in ([0.5, 0.25, 0.5], [1.0], []):
        curve = Curve.of(part, 0, 0)
        steps.add(curve.qualities, curve.counts)
    curve = steps.curve(5.0, 6.0)
    assert (curve.qualities.tolist(), curve.counts.tolist(), curve.gold) == ([0.25, 0.5, 1.0], [1.0, 2.0, 1.0], 5.0)


@pytest.mark.parametrize("decimals", [2, 16])
def test_a_curve_does_not_depend_on_how_many_pairs_are_added_at_once(decimals):
    rng = np.random.default_rng(3)
    qualities, masses = rng.random(50_000).round(decimals), rng.random(50_000)
    curves = []
    for cuts in ([], range(1000, 50_000, 1000), np.sort(rng.integers(0, 50_000, 300))):
        steps = CurveAccumulator()
        for part in zip(np.split(qualities, cuts), np.split(masses, cuts), strict=True):
            steps.add(*part)
        curves.append(steps.curve(60_000, 60_000).to_dict())
    assert curves[0] == curves[1] == curves[2]
