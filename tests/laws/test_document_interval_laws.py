"""Intervals of single documents: equal from the tally and from its units, with coverage near 95 %."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t
from tests.worst_documents import keeping

from arbitre import Comparator
from arbitre.statistics.intervals import document_intervals

QUALITIES = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0]), max_size=30)


def tally(qualities, missing, spurious):
    pairs = len(qualities)
    return [pairs + missing, pairs + spurious, pairs, math.fsum(qualities), math.fsum(q * q for q in qualities)]


def directly(qualities, alone, level):
    """The same from the units themselves: what each adds to the numerator and to the denominator of f1q."""
    units = np.array([(2.0 * q, 2.0) for q in qualities] + [(0.0, 1.0)] * alone).reshape(-1, 2)
    if len(units) < 2:
        return None
    numerators, denominators = units.T
    score = numerators.sum() / denominators.sum()
    residuals = numerators - score * denominators
    variance = len(units) * residuals.var(ddof=1) / denominators.sum() ** 2
    half = t.ppf(0.5 + level / 2, len(units) - 1) * math.sqrt(variance)
    return max(score - half, 0.0), min(score + half, 1.0)


@given(QUALITIES, st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.5, 0.95]))
def test_the_interval_from_a_tally_equals_that_of_its_units(qualities, missing, spurious, level):
    ((low, high),) = document_intervals(np.array([tally(qualities, missing, spurious)], dtype=np.float64), level)
    expected = directly(qualities, missing + spurious, level)
    if expected is None:
        assert math.isnan(low)
        assert math.isnan(high)
    else:
        assert (low, high) == pytest.approx(expected, abs=1e-5)  # a sum of squares of 1e-12 is taken for 0


@given(st.lists(st.tuples(QUALITIES, st.integers(0, 5), st.integers(0, 5)), max_size=6))
def test_the_interval_of_a_document_does_not_depend_on_the_others(documents):
    rows = np.array([tally(*one) for one in documents], dtype=np.float64).reshape(-1, 5)
    alone = np.array([document_intervals(row[None])[0] for row in rows]).reshape(-1, 2)
    assert np.array_equal(document_intervals(rows), alone, equal_nan=True)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ((5, 5, 5, 5, 5), (1.0, 1.0)),
        ((3, 3, 3, 0.7 + 0.7 + 0.7, 3 * 0.7 * 0.7), (0.7, 0.7)),
        ((4, 0, 0, 0, 0), (0.0, 0.0)),
        ((1, 1, 1, 0.5, 0.25), None),
        ((0, 0, 0, 0, 0), None),
        ((5, 5, 5, 4, math.nan), None),
        ((2, 2, 2, 1, 1), (0.0, 1.0)),
    ],
    ids=["right", "alike", "nothing found", "one", "vacuous", "squares unknown", "apart"],
)
def test_extreme_tallies_have_known_intervals(row, expected):
    ((low, high),) = document_intervals(np.array([row], dtype=np.float64))
    if expected is None:
        assert math.isnan(low)
        assert math.isnan(high)
    else:
        assert (low, high) == pytest.approx(expected, abs=1e-12)
        assert bool(low == high) is (expected[0] == expected[1])


@pytest.mark.parametrize(("units", "least", "most"), [(10, 0.92, 0.97), (100, 0.93, 0.97)])
def test_coverage_is_close_to_95_percent(units, least, most):
    """Documents of an extraction that loses one entry of four, makes up one of ten, and is half right on the others."""
    random = np.random.default_rng(1)
    kind, quality = random.random((4000, units)), random.beta(2, 2, (4000, units))
    paired, missing = kind < 0.65, (kind >= 0.65) & (kind < 0.9)
    matched, lost = paired.sum(axis=1), missing.sum(axis=1)
    masses = (matched + lost, units - lost, matched, (quality * paired).sum(axis=1), (quality**2 * paired).sum(axis=1))
    low, high = document_intervals(np.stack(masses, axis=1).astype(np.float64)).T
    truth = 2 * 0.65 * 0.5 / (2 * 0.65 + 0.35)
    assert least < ((low <= truth) & (truth <= high)).mean() < most


@given(
    st.lists(st.tuples(QUALITIES, st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=6),
    st.sampled_from([1e-9, 1e-6, 0.3, 2.0, 1e6, 1e9]),
)
def test_intervals_do_not_depend_on_the_unit_of_mass(documents, scale):
    """Two units of 1e-6 are still two, and two of 1e6 are not two million."""
    rows = np.array([tally(*one) for one in documents], dtype=np.float64).reshape(-1, 5)
    units = rows[:, 0] + rows[:, 1] - rows[:, 2]
    assert document_intervals(scale * rows, units=units) == pytest.approx(
        document_intervals(rows), abs=1e-5, nan_ok=True
    )  # a sum of squares of 1e-12 is taken for 0


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_reports_do_not_depend_on_the_unit_of_the_weights(scale):
    """Weights are within the entries, or the document is the entry and has no interval: its fields are no sample."""
    person = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "x-arbitre": {"weight": 2 * scale}},
            "age": {"type": "integer", "x-arbitre": {"weight": scale}},
        },
    }
    gold = [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 41}, {"name": "Cleo", "age": 7}] * 4
    predicted = [{"name": "Adam", "age": 36}, {"name": "Bob", "age": 40}, {"name": "Cle", "age": 7}] * 4
    found = interval({"type": "array", "items": person}, gold, predicted)
    expected = interval({"type": "array", "items": unit(person)}, gold, predicted)
    assert 0.0 < expected["low"] < expected["high"] < 1.0
    assert (found["low"], found["high"]) == pytest.approx((expected["low"], expected["high"]))
    assert interval(person, gold[0], predicted[0]) is None


def unit(person):
    """The schema with the same weights in the unit 1."""
    fields = {
        name: one | {"x-arbitre": {"weight": {"name": 2, "age": 1}[name]}} for name, one in person["properties"].items()
    }
    return person | {"properties": fields}


def interval(schema, gold, predicted):
    """The interval of one document in what is kept for the report."""
    kept, evaluation = keeping(Comparator(schema).plan, [("a", gold, predicted)])
    (row,) = kept.to_dict(evaluation, "")["documents"]
    return row["interval"]
