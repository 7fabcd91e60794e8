"""Distances between segmentations: notations, windows, and values that are not segmentations."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre import Comparator
from arbitre.distances import catalogue
from arbitre.distances.segmentations import Segmentation, half_segment, read_segmentation
from arbitre.errors import DataError, SchemaError
from arbitre.text import generalized_hamming, pk, window_diff

CHOICES = ["window-diff", {"window-diff": {"k": 3}}, "pk", {"pk": {"k": 3}}, "generalized-hamming"]
MARKS = st.integers(1, 30).flatmap(lambda size: st.tuples(*[st.text("01", min_size=size, max_size=size)] * 2))


@pytest.mark.parametrize(
    "value",
    [[[0, 3], [3, 7]], [{"start": 0, "end": 3, "label": "x"}, {"start": 3, "end": 7}], [3, 7], "001000", [[3, 7]]],
    ids=["pairs", "objects", "ends", "marks", "one span"],
)
def test_every_notation_gives_the_same_boundaries(value):
    assert read_segmentation(value) == Segmentation((3, 7), 7)


def test_a_gap_between_spans_has_two_boundaries():
    assert read_segmentation([[0, 3], [4, 7]]) == Segmentation((3, 4, 7), 7)


@pytest.mark.parametrize("measure", [window_diff, pk, generalized_hamming])
@pytest.mark.parametrize(
    "value", [(3, 7), ((0, 3), (3, 7)), [np.int64(3), 7], np.array([3, 7]), np.array([[0, 3], [3, 7]])], ids=repr
)
def test_tuples_and_arrays_are_segmentations_in_python(measure, value):
    assert measure(value, [2, 7]) == measure([3, 7], [2, 7])
    assert measure([2, 7], value) == measure([2, 7], [3, 7])


@pytest.mark.parametrize("value", [object(), {3, 7}, np.array([1.5])], ids=lambda value: type(value).__name__)
def test_any_other_object_is_shown_in_the_error(value):
    with pytest.raises(DataError, match="Expected gold to be a segmentation, got "):
        window_diff(value, [2, 7])


@pytest.mark.parametrize(
    "value",
    [
        [],
        [0],
        [0, 3],
        [3, 3],
        [3, 2],
        [-1, 3],
        [True],
        [1.5],
        ["1"],
        [[3, 7], [0, 3]],
        [[2, 2]],
        [[0, 3], 7],
        "012",
        [{"start": 0}],
    ],
    ids=str,
)
def test_other_values_are_not_segmentations(value):
    assert read_segmentation(value) is None
    for choice in CHOICES:
        distance = catalogue.build(choice)
        assert (distance(value, value), distance(value, [1, 5]), distance([1, 5], value)) == (0, 1, 1)


@given(MARKS, st.integers(1, 5))
def test_the_distances_are_those_of_nltk(marks, k):
    segmentation = pytest.importorskip("nltk.metrics.segmentation")
    gold, predicted = marks
    k = min(k, len(gold))
    assert catalogue.build({"window-diff": {"k": k}})(gold, predicted) == segmentation.windowdiff(gold, predicted, k)
    assert catalogue.build({"pk": {"k": k}})(gold, predicted) == segmentation.pk(gold, predicted, k)
    most = 2 * (gold + predicted).count("1")
    expected = segmentation.ghd(gold, predicted) / most if most else 0
    assert catalogue.build("generalized-hamming")(gold, predicted) == pytest.approx(expected, abs=1e-12)


def test_the_examples_of_the_publications_have_their_values():
    first, second, third = "000100000010", "000010000100", "100000010000"
    assert catalogue.build({"window-diff": {"k": 3}})(first, second) == pytest.approx(0.3)
    assert catalogue.build({"window-diff": {"k": 3}})(second, third) == pytest.approx(0.8)
    options = {"insertion": 1, "deletion": 1, "shift": 0.5}
    assert catalogue.build({"generalized-hamming": options})("1100100000", "1100010000") == 0.5 / 6


@pytest.mark.parametrize(
    ("ends", "k"), [([12], 6), ([6, 12], 3), ([3, 6, 12], 2), ([5, 10], 3), ([1, 2, 3], 2)], ids=str
)
def test_the_window_is_half_of_the_mean_gold_segment_and_at_least_two(ends, k):
    assert half_segment(read_segmentation(ends)) == k
    predicted = [ends[-1] // 2 or 1, ends[-1]]
    expected = catalogue.build({"pk": {"k": k}})(ends, predicted)
    assert catalogue.build("pk")(ends, predicted) == expected


def test_a_window_longer_than_the_text_is_the_whole_text():
    assert catalogue.build({"window-diff": {"k": 99}})([1, 3], [2, 3]) == 0  # one boundary each
    assert catalogue.build({"window-diff": {"k": 99}})([1, 2, 3], [2, 3]) == 1


def test_the_shorter_text_has_no_boundary_after_its_end():
    assert catalogue.build({"window-diff": {"k": 1}})([3, 6], [3]) == 0
    assert catalogue.build({"window-diff": {"k": 1}})([3, 6], [3, 5]) == 1 / 5


def test_a_text_of_one_unit_has_no_boundaries():
    for choice in CHOICES:
        assert catalogue.build(choice)([1], [[0, 1]]) == 0


def test_a_long_text_costs_no_more_than_its_boundaries():
    for choice in CHOICES:
        assert catalogue.build(choice)([5, 10**15], [6, 10**15]) < 0.3


def test_too_many_boundaries_for_the_generalised_hamming_distance_are_refused():
    many = [*range(1, 3000)]
    with pytest.raises(DataError, match="fewer boundaries for `generalized-hamming`, got 2999 and 2998") as caught:
        catalogue.build("generalized-hamming")(many, [*range(2, 3001)])
    assert "Use `window-diff` or `pk`" in caught.value.hint


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_the_distances_can_be_sent_to_another_process(choice):
    assert pickle.loads(pickle.dumps(catalogue.build(choice))) == catalogue.build(choice)  # noqa: S301


@pytest.mark.parametrize(
    ("choice", "pointer"),
    [({"pk": {"k": 0}}, "/d/pk/k"), ({"generalized-hamming": {"shift": 0}}, "/d/generalized-hamming/shift")],
)
def test_invalid_options_are_refused(choice, pointer):
    with pytest.raises(SchemaError) as caught:
        catalogue.build(choice, pointer="/d")
    assert caught.value.pointer == pointer


def test_a_list_of_segments_is_one_leaf():
    schema = {"type": "object", "properties": {"lines": {"type": "array", "x-arbitre": {"distance": "window-diff"}}}}
    comparison = Comparator(schema).compare(gold={"lines": [[0, 3], [3, 6]]}, predicted={"lines": [[0, 2], [2, 6]]})
    [leaf] = comparison.explain()
    assert (leaf.pointer, leaf.quality) == ("/lines", 1 - catalogue.build("window-diff")([3, 6], [2, 6]))
    assert "window-diff" in comparison.signature.long
