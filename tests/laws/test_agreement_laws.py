"""Agreement is 1 for equal annotations, and does not depend on the order of annotators or the names of categories."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbitre import Comparator, agreement
from arbitre.agreement.alignment import NONE, align
from arbitre.matching.assignment import sequence

pytestmark = pytest.mark.usefixtures("few_shuffles")

CATEGORIES = st.sampled_from(["a", "b", "c", None])
TWO = {
    "observed": agreement.observed,
    "bennett_s": agreement.bennett_s,
    "scott_pi": agreement.scott_pi,
    "cohen_kappa": agreement.cohen_kappa,
    "gwet_ac1": agreement.gwet_ac1,
    "aickin_alpha": agreement.aickin_alpha,
}
SEVERAL = {
    "fleiss_kappa": agreement.fleiss_kappa,
    "conger_kappa": agreement.conger_kappa,
    "alpha": agreement.krippendorff_alpha,
    "gwet_ac2": lambda data: agreement.gwet_ac2(data, None),
}

SPEAKERS = Comparator(
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "party": {"enum": ["left", "right"]},
                "pages": {"type": "array", "items": {"type": "integer"}},
            },
        },
    }
)
PAGES = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.text("abcd", min_size=1, max_size=6),
            "party": st.sampled_from(["left", "right"]),
            "pages": st.lists(st.integers(1, 9), max_size=3),
        }
    ),
    min_size=1,
    max_size=4,
)


def data(annotators):
    rows = st.lists(st.lists(CATEGORIES, min_size=annotators, max_size=annotators), min_size=1, max_size=12)
    return rows.map(lambda items: [list(side) for side in zip(*items, strict=True)])


def same(first, second):
    assert (first.value is None) == (second.value is None)
    if first.value is not None:
        assert first.value == pytest.approx(second.value, abs=1e-9)


def rated_twice(ratings):
    """The ratings of the items that both annotators rated."""
    return [list(side) for side in zip(*((a, b) for a, b in zip(*ratings, strict=True) if a and b), strict=True)]


@pytest.mark.parametrize("name", TWO)
@given(data(2))
def test_two_annotators_can_be_exchanged(name, ratings):
    same(TWO[name](*ratings), TWO[name](*reversed(ratings)))


@pytest.mark.parametrize("name", SEVERAL)
@given(data(3), st.permutations(range(3)))
def test_the_order_of_annotators_does_not_matter(name, ratings, order):
    same(SEVERAL[name](ratings), SEVERAL[name]([ratings[at] for at in order]))


@pytest.mark.parametrize("name", SEVERAL)
@given(data(3), st.permutations(["x", "y", "z"]))
def test_the_names_of_categories_do_not_matter(name, ratings, names):
    renamed = dict(zip("abc", names, strict=True)) | {None: None}
    same(SEVERAL[name](ratings), SEVERAL[name]([[renamed[value] for value in row] for row in ratings]))


@pytest.mark.parametrize("name", [*TWO, *SEVERAL])
@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=10))
def test_identical_ratings_that_vary_agree_fully_and_equal_ratings_are_undefined(name, row):
    coefficient = TWO[name](row, row) if name in TWO else SEVERAL[name]([row, row, row])
    if len(set(row)) > 1 or name == "observed":
        assert coefficient.value == pytest.approx(1.0)
    else:
        assert coefficient.value is None
        assert coefficient.reason


@given(data(2))
def test_no_coefficient_exceeds_1_and_items_with_one_rating_change_only_shares_of_categories(ratings):
    shared = rated_twice(ratings)
    by_shares = (agreement.bennett_s, agreement.gwet_ac1, agreement.scott_pi)
    for compute in TWO.values():
        coefficient = compute(*ratings)
        assert coefficient.value is None or coefficient.value <= 1.0 + 1e-12
        if shared and compute not in by_shares:
            same(coefficient, compute(*shared))


@given(data(2))
def test_kappa_is_never_lower_than_pi_if_every_item_is_rated_twice(ratings):
    shared = rated_twice(ratings) or [["a"], ["a"]]
    kappa, pi = agreement.cohen_kappa(*shared), agreement.scott_pi(*shared)
    if pi.value is not None:
        assert kappa.value >= pi.value - 1e-9
    assert agreement.conger_kappa(shared).value == kappa.value


def cheapest(sizes, distances, unmatched):
    """The least disorder over all partitions, by enumeration."""
    annotators = len(sizes)
    units = [(annotator, unit) for annotator, size in enumerate(sizes) for unit in range(size)]

    def cost(cluster):
        pairs = [
            distances[i, j][cluster[i], cluster[j]] if i in cluster and j in cluster else unmatched
            for i in range(annotators)
            for j in range(i + 1, annotators)
        ]
        return sum(pairs) / len(pairs)

    def best(at, clusters):
        if at == len(units):
            return sum(map(cost, clusters))
        annotator, unit = units[at]
        options = [best(at + 1, [*clusters, {annotator: unit}])]
        for number, cluster in enumerate(clusters):
            if annotator not in cluster:
                options.append(best(at + 1, [*clusters[:number], cluster | {annotator: unit}, *clusters[number + 1 :]]))
        return min(options)

    return best(0, [])


@given(st.lists(st.integers(0, 2), min_size=2, max_size=4), st.sampled_from([0.1, 0.5, 1.0]), st.randoms())
def test_no_partition_has_less_disorder_than_the_exact_alignment(sizes, unmatched, source):
    np = pytest.importorskip("numpy")
    generator = np.random.default_rng(source.getrandbits(32))
    distances = {
        (i, j): generator.random((sizes[i], sizes[j])) for i in range(len(sizes)) for j in range(i + 1, len(sizes))
    }
    alignment = align(distances, sizes, unmatched)
    assert alignment.disorder >= cheapest(sizes, distances, unmatched) - 1e-9
    if alignment.exact:
        assert alignment.disorder == pytest.approx(cheapest(sizes, distances, unmatched), abs=1e-9)
    for annotator, size in enumerate(sizes):
        units = alignment.unitary[:, annotator]
        assert sorted(units[units != NONE].tolist()) == list(range(size))


@given(st.lists(st.integers(0, 5), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_a_sequence_keeps_the_order_of_the_units_of_every_annotator(sizes, source):
    distances = {
        (i, j): np.array([[source.randrange(3) / 2 for _ in range(sizes[j])] for _ in range(sizes[i])]).reshape(
            sizes[i], sizes[j]
        )
        for i, j in combinations(range(len(sizes)), 2)
    }
    unitary = align(distances, sizes, 0.5, couple=sequence).unitary
    for units, size in zip(unitary.T, sizes, strict=True):
        assert units[units != NONE].tolist() == list(range(size))


@given(st.lists(PAGES, min_size=2, max_size=4, unique_by=str), st.integers(0, 9))
@settings(max_examples=4, deadline=None)
def test_identical_annotations_in_any_order_agree_fully(pages, seed):
    source = random.Random(seed)  # noqa: S311
    annotations = {
        name: {str(number): source.sample(page, len(page)) for number, page in enumerate(pages)} for name in "xyz"
    }
    result = agreement.structural(SPEAKERS, annotations, resamples=10)
    for coefficient in (result.alpha, *result.by_path.values(), *result.gamma.values()):
        assert coefficient.value is None or coefficient.value == pytest.approx(1.0)
    twice = {name * 2: documents for name, documents in annotations.items()}
    renamed = agreement.structural(SPEAKERS, twice, resamples=10)
    assert renamed.alpha == result.alpha


@given(PAGES, PAGES)
@settings(max_examples=25, deadline=None)
def test_the_observed_agreement_of_two_annotators_on_a_list_is_f1q(first, second):
    result = agreement.structural(SPEAKERS, {"x": {"1": first}, "y": {"1": second}})
    f1q = SPEAKERS.compare(gold=first, predicted=second).scores.f1q
    assert result.gamma[""].observed == pytest.approx(f1q)


UNITS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8), st.sampled_from("AB")), max_size=4).map(
    lambda units: [(start, start + length, label) for start, length, label in units]
)


@given(st.lists(UNITS, min_size=2, max_size=3), st.permutations(range(3)))
@settings(max_examples=20, deadline=None)
def test_the_observed_disorder_of_spans_depends_neither_on_the_order_of_annotators_nor_on_labels(units, order):
    names = [name for name, _ in zip((str(at) for at in order), units, strict=False)]
    exchanged = [[(start, end, {"A": "B", "B": "A"}[label]) for start, end, label in row] for row in units]
    first, second, third = (
        agreement.gamma(dict(zip(keys, rows, strict=True)), samples=2, precision=1.0)
        for keys, rows in (("xyz"[: len(units)], units), (names, units), (names, exchanged))
    )
    assert (first.observed is None) == (not any(units))
    if first.observed is not None:
        assert first.observed == pytest.approx(second.observed, abs=1e-9)
        assert second.observed == pytest.approx(third.observed, abs=1e-9)


@given(UNITS.filter(lambda units: len(units) > 1))
@settings(max_examples=20, deadline=None)
def test_gamma_of_identical_spans_is_1(units):
    coefficient = agreement.gamma(
        [{"x": units, "y": units, "z": units}] * 2, samples=2, precision=1.0, expected="global"
    )
    assert coefficient.value is None or coefficient.value == pytest.approx(1.0)
    assert coefficient.observed == pytest.approx(1.0)
    assert coefficient.exchanged == ()
