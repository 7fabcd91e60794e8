"""Coefficients of agreement, compared with published tables and with the packages krippendorff and scikit-learn."""

from __future__ import annotations

import json
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from arbitre import agreement

TABLES = Path(__file__).resolve().parents[3] / "shared" / "oracles" / "agreement.json"

HUMANS = ["ABCAAB", "ABCBBB", "ABCABA"]
"""Three annotators, and each of two systems (Mathet and Widlöcher, 2016, table 6)."""
SYSTEMS = {"none": [], "first": ["ABCAAC"], "second": ["ABCBBA"]}

CATEGORIES = st.sampled_from([1, 2, 3, 5, None])


@pytest.fixture(scope="module")
def tables():
    if not TABLES.exists():
        pytest.skip("the published tables are not here")
    return json.loads(TABLES.read_text(encoding="utf-8"))


def ratings(annotators, smallest=2):
    row = st.lists(CATEGORIES, min_size=annotators, max_size=annotators)
    return st.lists(row, min_size=smallest, max_size=12).map(
        lambda items: [list(side) for side in zip(*items, strict=True)]
    )


def test_the_coefficients_of_small_examples_are_the_published_ones(tables):
    for example in tables["table1"]["examples"]:
        a, b = example["a"], example["b"]
        computed = {
            "observed": agreement.observed(a, b),
            "S_K4": agreement.bennett_s(a, b, categories=4),
            "kappa": agreement.cohen_kappa(a, b),
            "pi": agreement.scott_pi(a, b),
            "alpha": agreement.krippendorff_alpha([a, b]),
        }
        assert {name: coefficient.value for name, coefficient in computed.items()} == pytest.approx(
            {name: example[name] for name in computed}, abs=1e-9
        )
        if "S_K2" in example:
            assert agreement.bennett_s(a, b, categories=2).value == pytest.approx(example["S_K2"], abs=1e-9)


def test_a_rare_category_lowers_kappa_but_not_s_and_ac1(tables):
    table = tables["table2"]
    cells = [
        (row, column, int(count)) for row, line in enumerate(table["contingency"]) for column, count in enumerate(line)
    ]
    a = [row for row, _, count in cells for _ in range(count)]
    b = [column for _, column, count in cells for _ in range(count)]
    observed = agreement.observed(a, b)
    assert observed.value == pytest.approx(table["observed"], abs=1e-12)
    assert observed.by_category["0"] == pytest.approx(table["specific_agreement_positive"], abs=1e-12)
    assert agreement.cohen_kappa(a, b).value == pytest.approx(table["kappa"], abs=1e-6)
    assert agreement.scott_pi(a, b).value == pytest.approx(table["pi"], abs=1e-6)
    assert agreement.krippendorff_alpha([a, b]).value == pytest.approx(table["alpha"], abs=1e-6)
    assert agreement.bennett_s(a, b).value == pytest.approx(table["S_K2"], abs=1e-6)
    assert agreement.gwet_ac1(a, b).value == pytest.approx(table["AC1"], abs=1e-6)


def test_a_constant_shift_lowers_nominal_alpha_but_not_interval_alpha(tables):
    for scale in tables["table4"]["scales"]:
        for level in ("nominal", "interval"):
            computed = agreement.krippendorff_alpha([scale["a"], scale["b"]], level).value
            assert computed == pytest.approx(scale[f"alpha_{level}"], abs=5e-5)


def test_the_baseline_of_a_system_depends_on_the_system(tables):
    table = tables["table5"]
    for system in ("system1", "system2"):
        kappa = agreement.cohen_kappa(table["reference"], table[system])
        assert (kappa.observed, kappa.expected) == (table[f"{system}_score"], table[f"{system}_expected"])
        assert kappa.value == pytest.approx(table[f"{system}_kappa"], abs=1e-6)


def test_homogeneous_pages_with_the_same_agreement_differ_after_correction(tables):
    table = tables["homogeneity"]
    for share, expected, corrected in zip(table["proportions"], table["expected"], table["corrected"], strict=True):
        swapped, size = 500, 10_000  # each annotator alone gives 5 % of the items the first category
        both = round(share * size) - swapped
        a = [0] * (both + swapped) + [1] * (size - both - swapped)
        b = [0] * both + [1] * swapped + [0] * swapped + [1] * (size - both - 2 * swapped)
        coefficient = agreement.scott_pi(a, b)
        assert coefficient.observed == pytest.approx(0.9)
        assert coefficient.expected == pytest.approx(expected)
        assert coefficient.value == pytest.approx(corrected, abs=5e-4)


@pytest.mark.parametrize(
    ("system", "alpha", "fleiss"), [("none", 0.4950, 0.4653), ("first", 0.5027, 0.4811), ("second", 0.5289, 0.5084)]
)
def test_a_system_added_to_the_annotators_raises_alpha(system, alpha, fleiss):
    data = HUMANS + SYSTEMS[system]
    assert agreement.krippendorff_alpha(data).value == pytest.approx(alpha, abs=5e-5)
    assert agreement.fleiss_kappa(data).value == pytest.approx(fleiss, abs=5e-5)


@pytest.mark.parametrize(
    ("a", "b", "used", "available"),
    [
        ("AAAAAB", "ABBBBB", -1 / 3, 0.2),
        ("ABABAB", "AABABB", -1 / 3, 0.2),
        ("ACCCCB", "ADDDDB", 0.1220, 0.1220),
        ("ACCDDB", "ADDCCB", 0.1220, 0.1220),
    ],
)
def test_ac1_depends_on_the_available_categories(a, b, used, available):
    assert agreement.gwet_ac1(a, b).value == pytest.approx(used, abs=5e-5)
    assert agreement.gwet_ac1(a, b, categories="ABCD").value == pytest.approx(available, abs=5e-5)


@given(ratings(4), st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
def test_alpha_agrees_with_the_package_krippendorff(data, level):
    computed = agreement.krippendorff_alpha(data, level)
    matrix = np.array([[np.nan if value is None else value for value in row] for row in data], dtype=float)
    pairable = matrix[:, (~np.isnan(matrix)).sum(axis=0) > 1]
    if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
        assert computed.value is None
        assert computed.reason
        return
    expected = krippendorff.alpha(reliability_data=pairable, level_of_measurement=level)
    assert computed.value == pytest.approx(expected, abs=1e-9)


@given(ratings(2), st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_agrees_with_scikit_learn(data, weights):
    kept = [(a, b) for a, b in zip(*data, strict=True) if a is not None and b is not None]
    computed = agreement.cohen_kappa(*data, weights=weights, categories=[1, 2, 3, 5])
    if len({value for pair in kept for value in pair}) < 2:
        assert computed.value is None
        return
    expected = cohen_kappa_score(*zip(*kept, strict=True), labels=[1, 2, 3, 5], weights=weights)
    assert computed.value == pytest.approx(expected, abs=1e-9)


def random_continuum(seed, names, labels, size, silent):
    """Spans that annotators shift, relabel or miss at random; the annotators in `silent` have none."""
    generator = np.random.default_rng(seed)
    starts = np.sort(generator.uniform(20.0, 20.0 + 16.0 * size, size))
    chosen = generator.choice(list(labels), size).tolist()
    return {
        name: []
        if name in silent
        else [
            (float(start + shift), float(start + shift + 8.0), label if generator.random() > 0.2 else labels[-1])
            for start, shift, label in zip(starts, generator.normal(0.0, 2.0, size), chosen, strict=True)
            if generator.random() > 0.15
        ]
        for name in names
    }


def without_neighbourhood(_, pivot, segments, distance):
    """The segments without [pivot - distance, pivot + distance].

    pygamma_agreement 0.5 enlarges the segments that lie outside, so that several shifts may be close to each other.
    """
    low, high = pivot - distance, pivot + distance
    parts = [(segment.start, min(segment.end, low)) for segment in segments]
    parts += [(max(segment.start, high), segment.end) for segment in segments]
    return [type(segments[0])(start, end) for start, end in parts if start < end]


CONTINUA = {
    "three annotators": (0, "xyz", "ABC", 6, ""),
    "another seed": (1, "xyz", "ABC", 6, ""),
    "long": (2, "xy", "ABC", 20, ""),
    "one category": (3, "xyz", "A", 9, ""),
    "empty annotator": (4, "xyz", "AB", 8, "z"),
    "four annotators": (5, "wxyz", "ABC", 8, ""),
    "short": (6, "xy", "AB", 3, ""),
    "one of two is empty": (7, "xy", "A", 2, "y"),
}
"""Seed, annotators, categories, number of spans and annotators without spans."""


PYGAMMA = {
    "three annotators": (0.686892, 1.66226, 0.2036403),
    "another seed": (0.6477544, 1.834424, 0.2087749),
    "long": (0.4626942, 1.389185, 0.1569098),
    "one category": (0.3564973, 1.27133, 0.1891142),
    "empty annotator": (1.127057, 2.088598, 0.6296005),
    "four annotators": (0.4791468, 1.690227, 0.1378617),
    "short": (1.029809, 1.544024, 0.4288427),
    "one of two is empty": (2, 1.888452, 0.3855169),
}
"""Disorder that pygamma-agreement 0.5.9 computes for each case: observed, and mean and deviation of 200 chance continua."""


@pytest.mark.nightly
@pytest.mark.parametrize("case", CONTINUA)
def test_pygamma_computes_these_disorders(monkeypatch, case):
    pygamma, segment = pytest.importorskip("pygamma_agreement"), pytest.importorskip("pyannote.core").Segment
    monkeypatch.setattr(pygamma.ShuffleContinuumSampler, "_remove_pivot_segment", without_neighbourhood)
    continuum = pygamma.Continuum()
    for name, row in random_continuum(*CONTINUA[case]).items():
        continuum.add_annotator(name)
        for start, end, label in row:
            continuum.add(name, segment(start, end), label)
    np.random.seed(1)  # noqa: NPY002  (pygamma draws from the global generator)
    result = continuum.compute_gamma(
        pygamma.CombinedCategoricalDissimilarity(),
        n_samples=200,
        sampler=pygamma.ShuffleContinuumSampler("float_pivot"),
    )
    drawn = [alignment.disorder for alignment in result.chance_alignments]
    assert len(drawn) == 200
    assert (result.observed_disorder, np.mean(drawn), np.std(drawn)) == pytest.approx(PYGAMMA[case], rel=1e-5)
    assert result.gamma == pytest.approx(1.0 - result.observed_disorder / np.mean(drawn), rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("case", CONTINUA)
def test_gamma_agrees_with_pygamma_within_the_sampling_error(case):
    observed, mean, deviation = PYGAMMA[case]
    ours = agreement.gamma(random_continuum(*CONTINUA[case]), samples=400, precision=1.0)
    assert 1.0 - ours.observed == pytest.approx(observed, rel=1e-5)
    error = np.hypot(deviation / 200**0.5, ours.standard_error)
    assert error < 0.03 * mean
    assert abs(1.0 - ours.expected - mean) < 3.5 * error
    assert abs(ours.value - (1.0 - observed / mean)) < 3.5 * error * (1.0 - ours.value) / mean * 1.1
