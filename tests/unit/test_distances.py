import math
import pickle
import sys
from itertools import groupby

import numpy as np
import pytest
from rapidfuzz import process

from arbitre.distances import catalogue, ratcliff
from arbitre.errors import SchemaError, SolverError
from arbitre.values import Kind

CHOICES = [
    *("exact", "levenshtein", "yujian-bo", "indel", "jaro-winkler", "ratcliff-obershelp", "token-sort", "relative"),
    *("date", "jaccard", {"absolute": {"scale": 10}}, {"ordinal": {"order": ["low", "medium", "high"]}}),
]


def distance(choice, gold, predicted):
    return catalogue.build(choice)(gold, predicted)


@pytest.mark.parametrize(
    ("choice", "gold", "predicted", "expected"),
    [
        ("levenshtein", "ab", "ba", 1),
        ("levenshtein", "ab", "aba", 1 / 3),
        ("levenshtein", "larcher (gérard)", "gérard larcher", 13 / 16),
        ("yujian-bo", "ab", "ba", 2 / 3),
        ("yujian-bo", "ab", "aba", 1 / 3),
        ("yujian-bo", "", "abc", 1),
        ("yujian-bo", "kitten", "sitting", 6 / 16),
        ("indel", "a", "b", 1),
        ("indel", "a", "ab", 1 / 3),
        ("jaro-winkler", "aba", "bab", 1),
        ("jaro-winkler", "", "a", 1),
        ("ratcliff-obershelp", "tide", "diet", 0.75),
        ("ratcliff-obershelp", "diet", "tide", 0.5),
        ("ratcliff-obershelp", "aaba", "baaa", 0.25),
        ("ratcliff-obershelp", "baaa", "aaba", 0.5),
        ("ratcliff-obershelp", "a", "b", 1),
        ("token-sort", "larcher (gérard)", "gérard larcher", 2 * 2 / (16 + 14 + 2)),
        ("token-sort", " Jean\tDupont ", "Dupont Jean", 0),
        ("relative", -1, 1, 1),
        ("relative", 0, 5e-324, 1),
        ("relative", 1000, 9000, 8 / 9),
        ("relative", 1, 1.0, 0),
        ("relative", 0.0, -0.0, 0),
        ("relative", 1e308, -1e308, 1),
        ("relative", 10**400, -(10**400), 1),
        ("relative", 10**400, 10**399, 0.9),
        ("relative", 2**53, 2**53 + 1, 1 / (2**53 + 1)),
        ({"absolute": {"scale": 10}}, 1931, 1934, 0.3),
        ({"absolute": {"scale": 10}}, 0, 11, 1),
        ({"absolute": {"scale": 10}}, 1e308, -1e308, 1),
        ({"absolute": {"scale": 10}}, 10**400, 1 - 10**400, 1),
        ({"absolute": {"scale": 10}}, 10**400, 10**400 + 1, 0.1),
        ({"absolute": {"scale": 10}}, 2**53, 2**53 + 1, 0.1),
        ({"absolute": {"scale": 1e308}}, 1e308, -1e308, 1),
        ("date", "1931-03-01", "1931-03-08", 7 / 365),
        ("date", "1931-03", "1931-03-11", 20 / 365),
        ("date", "1931", "1931-03", 275 / 365),
        ("date", "1931", "1932", 1),
        ("date", "1932", "1932-02", 306 / 365),
        ({"date": {"scale": 3650}}, "1931", "1932", 366 / 3650),
        ({"date": {"scale": 1}}, "1931-03-01T06:00:00", "1931-03-01T12:00:00Z", 0.25),
        ({"date": {"scale": 1}}, "1931-03-01T00:00:00+01:00", "1931-02-28T23:00:00Z", 0),
        ({"date": {"scale": 1}}, "1931-03-01 12:00", "1931-03-01", 0.5),
        ({"date": {"scale": 1}}, "0001-01-01T00:00:00+14:00", "0001-01-01T02:00Z", 16 / 24),
        ("date", "spring 1931", "spring 1931", 0),
        ("date", "spring 1931", "spring 1932", 1),
        ("date", "spring 1931", "1931-03", 1),
        ("date", "1931-02-29", "1931-02-28", 1),
        ("date", "19310301", "1931-03-01", 1),
        ("date", "1931-13", "1931-12", 1),
        ("date", "1931-03-01T24:00:00", "1931-03-02", 1),
        ("date", "0000", "0001", 1),
        ("jaccard", [1, 23], [12, 3], 1),
        ("jaccard", [1, 23], [23, 1, 1], 0),
        ("jaccard", ["a"], ["a", "b"], 1 / 2),
        ("jaccard", [], ["a"], 1),
        ("jaccard", [1, True, "1"], [1.0], 2 / 3),
        ("jaccard", [[1, 2], {"a": None}], [[1, 2]], 1 / 2),
        ({"ordinal": {"order": ["low", "medium", "high"]}}, "low", "medium", 1 / 2),
        ({"ordinal": {"order": ["low", "medium", "high"]}}, "high", "low", 1),
        ({"ordinal": {"order": ["low", "medium", "high"]}}, "none", "low", 1),
        ({"ordinal": {"order": ["low", "medium", "high"]}}, "none", "none", 0),
        ({"ordinal": {"order": ["low", "medium", "high"]}}, "none", "other", 1),
        ({"ordinal": {"order": ["only"]}}, "only", "only", 0),
        ({"ordinal": {"order": ["only"]}}, "only", "other", 1),
        ({"ordinal": {"order": [1, 2, 3]}}, True, 1, 1),
        ("exact", True, 1, 1),
        ("exact", 1, 1.0, 0),
        ("exact", 2**53 + 1, float(2**53), 1),
        ("exact", "1", 1, 1),
        ("exact", None, None, 0),
        ("exact", {"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, 0),
        ("exact", [1, 2], [2, 1], 1),
        ("exact", [], {}, 1),
    ],
)
def test_distance(choice, gold, predicted, expected):
    assert distance(choice, gold, predicted) == expected


def test_jaro_winkler_of_the_note():
    assert distance("jaro-winkler", "aba", "abab") == pytest.approx(0.0583, abs=5e-5)
    assert distance("jaro-winkler", "abab", "bab") == pytest.approx(0.1944, abs=5e-5)
    assert 1 - distance("ratcliff-obershelp", "larcher (gérard)", "gérard larcher") == pytest.approx(0.467, abs=5e-4)


@pytest.mark.parametrize("choice", [choice for choice in CHOICES if Kind.STRING in catalogue.build(choice).kinds])
def test_two_empty_texts_are_equal(choice):
    pool = catalogue.build(choice).pool(["", ""])
    both = np.array([0, 1])
    assert pool.crossed(both, both).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_empty_pools_give_empty_results(choice):
    pool = catalogue.build(choice).pool([])
    none = np.array([], dtype=np.intp)
    assert pool.paired(none, none).shape == (0,)
    assert pool.crossed(none, none).shape == (0, 0)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_tables_are_rectangular(choice):
    values = [[1], [2], [3]] if choice == "jaccard" else [1, 2, 3] if "absolute" in choice else ["1", "2", "3"]
    values = [1, 2, 3] if choice == "relative" else values
    pool = catalogue.build(choice).pool(values)
    assert pool.crossed(np.array([0]), np.array([1, 2])).shape == (1, 2)
    assert pool.crossed(np.array([0]), np.array([], dtype=np.intp)).shape == (1, 0)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_distances_travel_between_processes(choice):
    built = catalogue.build(choice)
    copy = pickle.loads(pickle.dumps(built))  # noqa: S301
    assert copy == built
    assert type(copy.pool([])) is type(built.pool([]))


def test_different_numbers_are_apart_where_their_distance_is_below_the_smallest_float():
    least = math.ulp(0.0)
    assert distance("relative", 10**400, 10**400 + 1) == least
    assert distance({"absolute": {"scale": 1e308}}, 0, 5e-324) == least


def test_the_distance_of_two_numbers_does_not_depend_on_the_others():
    floats, mixed = [0.1, 0.7, 1e-9], [0.1, 0.7, 1e-9, 10**400]
    three = np.arange(3)
    relative = catalogue.build("relative")
    assert np.array_equal(relative.pool(floats).crossed(three, three), relative.pool(mixed).crossed(three, three))


def test_options_hold_the_defaults():
    assert catalogue.build("date").options == {"scale": 365}
    assert catalogue.build("ratcliff-obershelp").options == {"autojunk": False}
    assert catalogue.build({"absolute": {"scale": 2}}).options == {"scale": 2}
    assert catalogue.build("date") != catalogue.build({"date": {"scale": 30}})
    assert catalogue.build("date") == catalogue.build({"date": {"scale": 365}})


def test_an_order_changed_by_its_owner_changes_no_distance():
    order = ["low", "medium", "high"]
    ordinal = catalogue.build({"ordinal": {"order": order}})
    order.reverse()
    order.append("higher")
    assert ordinal("low", "medium") == 1 / 2
    assert ordinal.options == {"order": ["low", "medium", "high"]}


@pytest.mark.parametrize(
    ("choice", "message", "hint", "pointer"),
    [
        (
            "levenstein",
            f'Expected `distance` to be one of {", ".join(catalogue.names)}, got "levenstein"',
            'Did you mean "levenshtein"?',
            "/d",
        ),
        (
            "absolute",
            "Expected `absolute` to state its option `scale`, got none",
            'Write {"absolute": {"scale": ...}}.',
            "/d",
        ),
        ({"absolute": {"scale": 0}}, "Expected `scale` to be greater than 0, got 0", None, "/d/absolute/scale"),
        ({"absolute": {"scale": "1"}}, 'Expected `scale` to be of type number, got "1"', None, "/d/absolute/scale"),
        ({"absolute": {"scale": True}}, "Expected `scale` to be of type number, got true", None, "/d/absolute/scale"),
        (
            {"ordinal": {"order": ["a", "a"]}},
            'Expected `order` to be a list without duplicates, got ["a", "a"]',
            None,
            "/d/ordinal/order",
        ),
        (
            {"ordinal": {"order": []}},
            "Expected `order` to be a list of at least 1 items, got []",
            None,
            "/d/ordinal/order",
        ),
    ],
)
def test_a_choice_that_cannot_be(choice, message, hint, pointer):
    with pytest.raises(SchemaError) as caught:
        catalogue.build(choice, pointer="/d")
    assert (caught.value.message, caught.value.hint, caught.value.pointer) == (message, hint, pointer)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("scale", [math.inf, math.nan, -1, 10**400])
def test_a_scale_is_a_positive_float(scale):
    with pytest.raises(SchemaError, match="Expected"):
        catalogue.build({"absolute": {"scale": scale}})


@pytest.mark.parametrize("scale", [5e-324, sys.float_info.max, 10**308])
def test_a_scale_may_be_extreme(scale):
    assert 0 < distance({"date": {"scale": scale}}, "1931", "1932") <= 1
    assert 0 < distance({"absolute": {"scale": scale}}, 1, 2) <= 1


@pytest.mark.parametrize(
    "wrong",
    [np.array([[1.0]]), np.array([[0.5, np.nan]]), np.array([[-1, 0]]), np.array([[0, 9]]), np.array([[np.inf, 0]])],
    ids=["shape", "nan", "negative", "beyond", "infinite"],
)
def test_what_rapidfuzz_returns_is_checked(monkeypatch, wrong):
    monkeypatch.setattr(process, "cdist", lambda *_, **__: wrong)
    pool = catalogue.build("levenshtein").pool(["abc", "abd"])
    with pytest.raises(SolverError, match="Expected `rapidfuzz` to return"):
        pool.crossed(np.array([0]), np.array([0, 1]))


def test_what_cydifflib_returns_is_checked(monkeypatch):
    class Broken(ratcliff.SequenceMatcher):
        def ratio(self):
            return math.nan

    monkeypatch.setattr(ratcliff, "SequenceMatcher", Broken)
    with pytest.raises(SolverError, match="Expected `cydifflib` to return finite distances within"):
        distance("ratcliff-obershelp", "a", "b")


def test_each_prediction_is_indexed_once(monkeypatch):
    indexed = []

    class Recording(ratcliff.SequenceMatcher):
        def set_seq2(self, b):
            indexed.append(b)
            super().set_seq2(b)

    monkeypatch.setattr(ratcliff, "SequenceMatcher", Recording)
    pool = catalogue.build("ratcliff-obershelp").pool(["a", "ab", "abc", "abcd"])
    pool.crossed(np.array([0, 1, 2]), np.array([2, 3, 1]))
    assert [text for text, _ in groupby(indexed) if text] == ["ab", "abc", "abcd"]


def test_two_empty_texts_are_equal_whatever_rapidfuzz_says(monkeypatch):
    monkeypatch.setattr(process, "cdist", lambda rows, columns, **_: np.ones((len(rows), len(columns))))
    pool = catalogue.build("jaro-winkler").pool(["", "a"])
    both = np.array([0, 1])
    assert pool.crossed(both, both).tolist() == [[0, 1], [1, 1]]
