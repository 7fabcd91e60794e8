"""Confusion matrices with missing and spurious values, scores of classes, averages, undefined scores and errors."""

import numpy as np
import pytest

from arbitre.classification import Classification, class_table, confusion_table, report
from arbitre.errors import DataError

GOLD = {
    "John Smith": "Personne",
    "Frederick": "City",
    "Forrest": "Personne",
    "Fannie Thomas": "Personne",
    "Colorado Springs": "City",
}
PREDICTED = {
    "John Smith": "Personne",
    "Frederick": "Personne",
    "Forrest": "City",
    "Fannie Thomas": "Personne",
    "Colorado Springs": "City",
}


def test_the_published_entity_example_is_reproduced():
    classes = report(GOLD.values(), PREDICTED.values())
    person, city = classes.per_class["Personne"], classes.per_class["City"]
    assert (person.tp, person.fp, person.fn, person.f1) == (2, 1, 1, pytest.approx(2 / 3))
    assert (city.tp, city.fp, city.fn, city.f1) == (1, 1, 1, 0.5)
    assert (classes.micro.tp, classes.micro.fp, classes.micro.fn, classes.micro.f1) == (3, 2, 2, 0.6)
    assert classes.macro.f1 == pytest.approx(0.5833333)
    assert classes.accuracy == 0.6


def test_rows_are_gold_and_columns_are_predicted():
    confusion = report(["a", "a", "b"], ["b", "b", "b"]).confusion
    assert confusion.labels == ("a", "b", None)
    assert confusion.matrix.tolist() == [[0, 2, 0], [0, 1, 0], [0, 0, 0]]
    plain = confusion.to_dict()
    assert plain["rows"].startswith("gold")
    assert plain["columns"].startswith("predicted")


def test_missing_and_spurious_values_have_their_own_column_and_row():
    classes = report(["a", None, "a"], [None, "a", "a"])
    assert classes.confusion.matrix.tolist() == [[1, 1], [1, 0]]
    assert (classes.per_class["a"].fp, classes.per_class["a"].fn) == (1, 1)
    assert classes.accuracy == pytest.approx(1 / 3)
    assert classes.support == 2


def test_positions_without_any_value_do_not_count():
    gold, predicted = ["a", None, "b", None], ["a", None, None, "b"]
    found = report(gold, predicted)
    assert found.accuracy == 1 / 3
    assert found.confusion.matrix.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert found.to_dict() == report(["a", "b", None], ["a", None, "b"]).to_dict()
    assert report([None], [None]).accuracy is None


def test_a_score_without_denominator_is_none_and_left_out_of_the_macro_mean():
    classes = report(["a", "b"], ["a", "a"])
    assert classes.per_class["b"].precision is None
    assert classes.per_class["b"].f1 == 0.0
    assert classes.macro.precision == 0.5
    assert report([], []).macro.f1 is None
    assert report([], []).accuracy is None


def test_labels_are_reported_in_the_given_order_and_others_stay_in_the_matrix():
    classes = report(["a", "b", "c"], ["a", "c", "c"], labels=["c", "a", "d"])
    assert list(classes.per_class) == ["c", "a", "d"]
    assert classes.confusion.labels == ("c", "a", "d", "b", None)
    assert classes.micro.support == 2
    assert classes.per_class["d"].f1 is None
    assert classes.confusion.matrix.sum() == 3


def test_booleans_and_numbers_are_labels():
    classes = report([True, False, True], [True, True, True])
    assert classes.per_class[True].recall == 1.0
    assert list(classes.to_dict()["per_class"]) == ["false", "true"]
    assert report(np.array([0, 1, 2]), np.array([0, 1, 1])).per_class[2].recall == 0.0


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (["a"], [], r"as many predicted labels as gold labels \(1\), got 0"),
        ([["a"]], ["a"], "single value as a label, got a list"),
        ([True, 1], [True, 1], "a boolean and an equal number"),
    ],
    ids=["lengths", "list", "merged"],
)
def test_invalid_labels_are_refused(gold, predicted, message):
    with pytest.raises(DataError, match=message):
        report(gold, predicted)


@pytest.mark.parametrize(
    ("gold", "predicted", "reading"),
    [
        ("aaaaa", "aaaaa", "a: most of its values are found, and most predictions of it are right."),
        ("aaab", "abbb", "a: predictions of it are mostly right, but many of its values are missed or predicted as"),
        ("abbb", "aaab", "a: most of its values are found, but many other values are predicted as this class."),
        ("aabb", "abab", "a: many of its values are missed, and many predictions of it are wrong."),
        ("aaaaab", "aaaaba", "a: most of its values are found, and most predictions of it are right."),
        ("ab", "bb", "a: is never predicted."),
        ("bb", "ab", "a: does not occur in gold: every prediction is wrong."),
    ],
    ids=["both high", "low recall", "low precision", "both low", "just high", "never predicted", "not in gold"],
)
def test_each_class_has_a_sentence_on_precision_and_recall(gold, predicted, reading):
    assert report(gold, predicted).readings()[0].startswith(reading)


def test_fractional_numbers_of_values_are_not_rounded():
    classes = Classification.of([("a", "a", 0.5), ("a", "b", 0.25), ("b", "b", 1.0)])
    assert classes.confusion.matrix.tolist() == [[0.5, 0.25, 0], [0, 1, 0], [0, 0, 0]]
    assert Classification.of([("a", "a", 2.0)]).confusion.matrix.dtype == np.int64


def test_correct_values_stand_out_in_the_table_and_empty_cells_and_averages_do_not():
    classes = report("ab", "bb")
    assert class_table(classes, "").emphasis == {3: "weak", 4: "weak"}
    cells = confusion_table(classes.confusion).emphasis
    assert [[cells[row, column] for column in (1, 2, 3)] for row in range(3)] == [
        ["strong", "", "weak"],
        ["weak", "strong", "weak"],
        ["weak", "weak", "weak"],
    ]
