"""The built-in distances, on values with known results."""

import difflib
import importlib.util
import math
import pickle
import random
import sys
import time
from itertools import groupby
from types import SimpleNamespace

import numpy as np
import pytest
from rapidfuzz import process
from tests.builders import crossed

from arbitre.distances import catalogue, edit
from arbitre.distances.base import Blocks
from arbitre.distances.rouge import words
from arbitre.errors import SchemaError, SolverError, did_you_mean
from arbitre.values import SCALARS, Kind

CHOICES = [
    *("exact", "levenshtein", "yujian-bo", "indel", "jaro-winkler", "ratcliff-obershelp", "token-sort", "relative"),
    *("date", "jaccard", {"absolute": {"scale": 10}}, {"ordinal": {"order": ["low", "medium", "high"]}}),
    *("indel-yujian-bo", "osa", "damerau-levenshtein", "lcs", "jaro", "token-set", "jaccard-ngrams", "dice"),
    *("rouge-n", "rouge-1", "rouge-2", "rouge-l", "rouge-s"),
    *({"log": {"scale": 10}}, {"rounded": {"grid": 10}}, {"tolerance": {"within": 10}}, {"cycle": {"period": 12}}),
    {"taxonomy": {"parents": {"cat": "animal", "dog": "animal"}}},
    {"table": {"values": ["sailor", "mariner"], "costs": [[0, 0.1], [0.1, 0]]}},
]
SAMPLES = {Kind.ARRAY: [[1], [2], [3]], Kind.NUMBER: [1, 2, 3], Kind.STRING: ["1", "2", "3"]}
ANIMALS = {"taxonomy": {"parents": {"cat": "mammal", "dog": "mammal", "mammal": "animal", "trout": "animal"}}}
TRADES = {"table": {"values": ["sailor", "mariner", 3], "costs": [[0, 0.1, 1], [0.1, 0, 1], [1, 1, 0]]}}


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
        ("indel-yujian-bo", "a", "b", 1),
        ("indel-yujian-bo", "a", "ab", 2 / 4),
        ("osa", "CA", "ABC", 1),
        ("osa", "ab", "ba", 1 / 2),
        ("damerau-levenshtein", "CA", "ABC", 2 / 3),
        ("lcs", "abcdef", "acf", 1 / 2),
        ("lcs", "", "a", 1),
        ("jaro", "aba", "bab", 1),
        ("jaro", "", "a", 1),
        ("token-set", "jean dupont", "dupont  jean jean", 0),
        ("token-set", "jean", "dupont", 0.8),
        ("token-set", " ", "", 0),
        ("token-set", "", "a", 1),
        ("jaccard-ngrams", "ab", "ba", 1),
        ("jaccard-ngrams", "ab", "ab", 0),
        ("jaccard-ngrams", "ab", "abc", 1),
        ("jaccard-ngrams", "", "ab", 1),
        ("jaccard-ngrams", "abcd", "bcde", 2 / 3),
        ({"jaccard-ngrams": {"n": 2}}, "abab", "ab", 1 / 2),
        ({"log": {"scale": 1}}, 0, 0.0, 0),
        ({"log": {"scale": 1}}, 0, math.sinh(1), 1 / 2),
        ({"log": {"scale": 100}}, -100 * math.sinh(1), 100 * math.sinh(2), 3 / 4),
        ({"rounded": {"grid": 10}}, 14, 6, 0),
        ({"rounded": {"grid": 10}}, 14, 16, 1),
        ({"rounded": {"grid": 10}}, 5, -5, 0),
        ({"rounded": {"grid": 0.5}}, 10**400, 10**400 + 1, 1),
        ({"rounded": {"grid": 5}}, 10**400, 10**400 + 1, 0),
        ({"tolerance": {"within": 2}}, 10**400, 10**400 + 2, 0),
        ({"tolerance": {"within": 2}}, 10**400, 10**400 + 3, 1),
        ({"tolerance": {"within": 0.5}}, 1.5, 1, 0),
        ({"tolerance": {"within": 1}}, 1e308, -1e308, 1),
        ({"tolerance": {"within": 0.01}}, 20.00, 19.99, 0),
        ({"tolerance": {"within": 0.01}}, 20.00, 19.989999, 1),
        ({"tolerance": {"within": 0.1}}, 1.1, 1.0, 0),
        ({"tolerance": {"within": 5e-324}}, 5e-324, 1.5e-323, 1),
        ({"tolerance": {"relative": 0.05}}, 1.0, 0.95, 0),
        ({"tolerance": {"relative": 0.05}}, 1.0, 0.9499999999999999, 1),
        ({"tolerance": {"relative": 0.05}}, 100, 95, 0),
        ({"tolerance": {"relative": 0.05}}, 95, 100, 0),
        ({"tolerance": {"relative": 0.05}}, 100, 94, 1),
        ({"tolerance": {"relative": 0.05}}, 0, 1e-9, 1),
        ({"tolerance": {"relative": 0.29}}, 100, 71, 0),
        ({"tolerance": {"relative": 0.05, "within": 1}}, 0, 1, 0),
        ({"tolerance": {"relative": 0.05, "within": 1}}, 100, 105, 0),
        ({"tolerance": {"relative": 0.05}}, -100, 100, 1),
        ({"tolerance": {"relative": 0.5}}, 10**400, 10**400 // 2, 0),
        ({"cycle": {"period": 12}}, 12, 1, 1 / 6),
        ({"cycle": {"period": 12}}, 3, 9, 1),
        ({"cycle": {"period": 12}}, 12, 0, 0),
        ({"cycle": {"period": 7}}, 1, 5, 1),
        ({"cycle": {"period": 24.0}}, 23, 1.0, 2 / 12),
        ({"cycle": {"period": 12}}, 13, 1, 1),
        ({"cycle": {"period": 12}}, 13, 13.0, 0),
        ({"cycle": {"period": 24}}, 2.5, 2, 1),
        ({"cycle": {"period": 24}}, 2.5, 2.5, 0),
        ({"cycle": {"period": 24}}, -1, 23, 1),
        ({"cycle": {"period": 24}}, 10**400, 23, 1),
        ("dice", ["a"], ["a", "b"], 1 / 3),
        ("dice", ["a"], ["b"], 1),
        ("dice", [], [], 0),
        ("dice", [1, True, 1], [1.0], 1 / 3),
        (ANIMALS, "cat", "dog", 2 / 3),
        (ANIMALS, "cat", "mammal", 1 / 3),
        (ANIMALS, "cat", "trout", 1),
        (ANIMALS, "cat", "moss", 1),
        (ANIMALS, "moss", "moss", 0),
        (ANIMALS, "moss", "Cat", 1),
        (TRADES, "mariner", "sailor", 0.1),
        (TRADES, 3.0, "mariner", 1),
        (TRADES, "clerk", "sailor", 1),
        (TRADES, "clerk", "clerk", 0),
        (TRADES, "3", 3, 1),
        ("rouge-1", "Hello, world!", "hello WORLD", 0),
        ("rouge-1", "", "...", 0),
        ("rouge-1", "", "a", 1),
        ("rouge-1", "a a a", "a", 1 / 2),
        ("rouge-2", "yes", "yes", 0),
        ("rouge-2", "yes", "no", 1),
        ("rouge-2", "yes", "yes sir", 1),
        ("rouge-l", "police killed the gunman", "police kill the gunman", 1 / 4),
        ("rouge-l", "police killed the gunman", "the gunman kill police", 1 / 2),
        ("rouge-s", "police killed the gunman", "police kill the gunman", 1 / 2),
        ("rouge-s", "police killed the gunman", "the gunman kill police", 1 - 1 / 6),
        ("rouge-s", "a", "a", 0),
        ({"rouge-s": {"skip": 0}}, "a b c", "b c a", 1 / 2),
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
def test_each_distance_has_its_known_value(choice, gold, predicted, expected):
    assert distance(choice, gold, predicted) == expected


def test_jaro_winkler_has_its_published_values():
    assert distance("jaro-winkler", "aba", "abab") == pytest.approx(0.0583, abs=5e-5)
    assert distance("jaro-winkler", "abab", "bab") == pytest.approx(0.1944, abs=5e-5)
    assert 1 - distance("ratcliff-obershelp", "larcher (gérard)", "gérard larcher") == pytest.approx(0.467, abs=5e-4)


@pytest.mark.parametrize("choice", [choice for choice in CHOICES if Kind.STRING in catalogue.build(choice).kinds])
def test_two_empty_texts_are_equal(choice):
    pool = catalogue.build(choice).pool(["", ""])
    both = np.array([0, 1])
    assert crossed(pool, both, both).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_empty_pools_give_empty_results(choice):
    pool = catalogue.build(choice).pool([])
    none = np.array([], dtype=np.intp)
    assert pool.distances(none, none).shape == (0,)
    assert crossed(pool, none, none).shape == (0, 0)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_crossed_distances_have_the_shape_of_rows_by_columns(choice):
    built = catalogue.build(choice)
    pool = built.pool(next(values for kind, values in SAMPLES.items() if built.kinds in ({kind}, SCALARS, set(Kind))))
    assert crossed(pool, np.array([0]), np.array([1, 2])).shape == (1, 2)
    assert crossed(pool, np.array([0]), np.array([], dtype=np.intp)).shape == (1, 0)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_distances_can_be_pickled(choice):
    built = catalogue.build(choice)
    copy = pickle.loads(pickle.dumps(built))  # noqa: S301
    assert copy == built
    assert type(copy.pool([])) is type(built.pool([]))


def test_different_numbers_have_a_positive_distance_even_below_the_smallest_float():
    least = math.ulp(0.0)
    assert distance("relative", 10**400, 10**400 + 1) == least
    assert distance({"absolute": {"scale": 1e308}}, 0, 5e-324) == least


def test_the_distance_of_two_numbers_does_not_depend_on_the_others():
    floats, mixed = [0.1, 0.7, 1e-9], [0.1, 0.7, 1e-9, 10**400]
    three = np.arange(3)
    relative = catalogue.build("relative")
    assert np.array_equal(crossed(relative.pool(floats), three, three), crossed(relative.pool(mixed), three, three))


def test_options_include_defaults():
    assert catalogue.build("date").options == {"scale": 365}
    assert catalogue.build("ratcliff-obershelp").options == {"autojunk": False}
    assert catalogue.build({"absolute": {"scale": 2}}).options == {"scale": 2}
    assert catalogue.build("date") != catalogue.build({"date": {"scale": 30}})
    assert catalogue.build("date") == catalogue.build({"date": {"scale": 365}})


def test_options_of_parametrised_distances_are_normalised():
    assert catalogue.build("jaccard-ngrams").options == {"n": 3}
    assert catalogue.build("rouge-n").options == {"n": 1}
    assert catalogue.build("rouge-s").options == {"skip": 4}
    assert catalogue.build({"cycle": {"period": 12.0}}).options == {"period": 12}
    assert catalogue.build({"cycle": {"period": 12}}) != catalogue.build({"cycle": {"period": 24}})
    assert catalogue.build(TRADES).options == {"values": ["sailor", "mariner", 3], "costs": TRADES["table"]["costs"]}
    assert catalogue.build(TRADES).facts.metric
    assert catalogue.build("rouge-1") != catalogue.build("rouge-n")


def test_words_follow_unicode():
    assert words("L’Été 2024, à Paris-Nord !") == ["l", "été", "2024", "à", "paris", "nord"]
    assert words("STRASSE straße nai\u0308ve snake_case") == ["strasse", "strasse", "nai\u0308ve", "snake_case"]
    assert words("") == words(" …—!") == []


def test_bounds_of_long_texts_use_common_characters():
    pool = catalogue.build("damerau-levenshtein").pool(["ab" * 50, "ba" * 50, "b" * 100, "c" * 100])
    blocks = Blocks(np.array([0, 1]), np.array([0, 3]))
    bounds = pool.lower_bounds_blockwise(blocks, np.array([0]), np.array([1, 2, 3]))
    assert bounds.tolist() == [1 / 100, 50 / 100, 1]


@pytest.mark.parametrize("name", ["yujian-bo", "levenshtein", "osa", "damerau-levenshtein"])
def test_bounds_of_many_long_texts_use_the_numbers_of_their_characters(name, monkeypatch):
    monkeypatch.setattr(edit, "BOUND_MIN_CELLS", 0)
    monkeypatch.setattr(edit, "COUNTED_MIN_TEXTS", 0)
    draw = random.Random(5)  # noqa: S311
    texts = ["".join(draw.choices("abcé\ud800😀", k=draw.randrange(80, 120))) for _ in range(12)]
    texts += [text[:20] + "z" + text[30:] for text in texts] + ["ab" * 50, "ba" * 50]
    size = np.arange(len(texts))
    pool, blocks = catalogue.build(name).pool(texts), Blocks(np.array([0, len(texts)]), np.array([0, len(texts)]))
    exact = pool.distances(size.repeat(len(texts)), np.tile(size, len(texts)))
    bounds = pool.lower_bounds_blockwise(blocks, size, size)
    monkeypatch.setattr(edit, "MAX_COUNTED", 0)
    from_lengths = pool.lower_bounds_blockwise(blocks, size, size)
    assert (from_lengths <= bounds).all()
    assert (bounds <= exact).all()
    assert from_lengths.mean() < bounds.mean()


@pytest.mark.parametrize("overlap", ["iou", "half", "any", "equal"])
@pytest.mark.parametrize("label", [None, "type"])
def test_of_many_spans_only_those_that_overlap_are_compared(overlap, label, monkeypatch):
    draw = random.Random(5)  # noqa: S311
    places = [
        (0, 100),
        (0, 100),
        (10, 20),
        (12, 18),
        (20, 30),
        (20.5, 21),
        (99, 101),
        (100, 140),
    ]  # nested and touching
    places += [(start, start + draw.randrange(1, 9)) for start in draw.choices(range(900), k=80)]
    draw.shuffle(places)
    values = [{"start": start, "end": end, "type": draw.choice("ab")} for start, end in places]
    pool = catalogue.build({"span": {"overlap": overlap} | ({"label": label} if label else {})}).pool(values)
    everything, starts = np.arange(len(values)), np.array([0, 40, 40, len(values)])
    blocks = Blocks(starts, len(values) - starts[::-1])
    exact = pool.distances(everything[::-1][blocks.rows], blocks.columns)
    compared = []
    distances = type(pool).distances
    monkeypatch.setattr(type(pool), "distances", lambda *own: compared.append(len(own[1])) or distances(*own))
    assert np.array_equal(pool.lower_bounds_blockwise(blocks, everything[::-1], everything), exact)
    assert sum(compared) < len(exact) / 4


def test_bounds_of_sacrebleu_scores_use_common_ngrams():
    pytest.importorskip("sacrebleu")
    blocks = Blocks(np.array([0, 1]), np.array([0, 3]))
    pool = catalogue.build({"bleu": {"n": 2}}).pool(["a b c d", "a b c", "a x", "x y"])
    bounds = pool.lower_bounds_blockwise(blocks, np.array([0]), np.array([1, 2, 3]))
    assert bounds == pytest.approx([1 - math.exp(-1 / 3), 1 - math.exp(-1) * math.sqrt(1 / 2), 1], abs=1e-11)
    pool = catalogue.build("chrf").pool(["abcd", "ab", "xy"])
    assert pool.lower_bounds_blockwise(blocks, np.array([0]), np.array([0, 1, 2])) == pytest.approx(
        [0, 1 - 25 / 53, 1], abs=1e-11
    )


def test_a_run_of_words_is_counted_without_a_loop_over_pairs():
    values = [f"word {number % 7} of {number % 5}" for number in range(300)]
    everything = np.arange(300)
    distances = crossed(catalogue.build("rouge-2").pool(values), everything, everything)
    assert distances.shape == (300, 300)
    assert np.array_equal(distances[0, ::35], np.zeros(9))


def test_changing_the_given_order_afterwards_changes_no_distance():
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
            'Expected `distance` to be a known name, got "levenstein"',
            did_you_mean("levenstein", catalogue.names),
            "/d",
        ),
        (
            "absolute",
            "The required option `scale` of `absolute` is missing",
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
def test_an_invalid_choice_is_refused(choice, message, hint, pointer):
    with pytest.raises(SchemaError) as caught:
        catalogue.build(choice, pointer="/d")
    assert (caught.value.message, caught.value.hint, caught.value.pointer) == (message, hint, pointer)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (
            {"taxonomy": {"parents": {"a": "b", "b": "a"}}},
            [("Expected `parents` to lead to a root, got the cycle a, b, a", "/d/taxonomy/parents/a")],
        ),
        (
            {"taxonomy": {"parents": {"a/b": "a/b"}}},
            [("Expected `parents` to lead to a root, got the cycle a/b, a/b", "/d/taxonomy/parents/a~1b")],
        ),
        (
            {"taxonomy": {"parents": {"cat": "animal", "moss": "plant"}}},
            [("Expected `parents` to lead to one root, got animal, plant", "/d/taxonomy/parents")],
        ),
        (
            {"taxonomy": {"parents": {"cat": 1}}},
            [("Expected `parents` to be of type string, got 1", "/d/taxonomy/parents/cat")],
        ),
        (
            {"table": {"values": ["a", "b"], "costs": [[0, 0.5], [0.4, 0.1]]}},
            [
                ("Expected a symmetric cost of 0.5, got 0.4", "/d/table/costs/1/0"),
                ("Expected the cost between a value and itself to be 0, got 0.1", "/d/table/costs/1/1"),
            ],
        ),
        (
            {"table": {"values": ["1", 1], "costs": [[0, 0.1], [0.1, 0]]}},
            [
                (
                    'Expected a cost of 1 between "1" and 1, which are of different kinds, got 0.1',
                    "/d/table/costs/1/0",
                )
            ],
        ),
        (
            {"ordinal": {"order": [1, "2", 3]}},
            [('Expected all values of `order` to be of the same kind, got [1, "2", 3]', "/d/ordinal/order")],
        ),
        (
            {"table": {"values": ["a", "b"], "costs": [[0, 2], [2, 0]]}},
            [
                ("Expected `costs` to be at most 1, got 2", "/d/table/costs/0/1"),
                ("Expected `costs` to be at most 1, got 2", "/d/table/costs/1/0"),
            ],
        ),
        (
            {"table": {"values": ["a", "b"], "costs": [[0, 1]]}},
            [("Expected `costs` to have a row for each of 2 values, got 1 rows", "/d/table/costs")],
        ),
        (
            {"table": {"values": ["a", "b"], "costs": [[0, 1], [1]]}},
            [("Expected a row of `costs` to have 2 numbers, got 1", "/d/table/costs/1")],
        ),
        (
            "table",
            [
                ("The required option `values` of `table` is missing", "/d"),
                ("The required option `costs` of `table` is missing", "/d"),
            ],
        ),
        ({"cycle": {"period": 1}}, [("Expected `period` to be at least 2, got 1", "/d/cycle/period")]),
        ({"cycle": {"period": 2.5}}, [("Expected `period` to be of type integer, got 2.5", "/d/cycle/period")]),
        ({"jaccard-ngrams": {"n": 0}}, [("Expected `n` to be at least 1, got 0", "/d/jaccard-ngrams/n")]),
        ({"rouge-s": {"skip": -1}}, [("Expected `skip` to be at least 0, got -1", "/d/rouge-s/skip")]),
        (
            {"tolerance": {"relative": 1}},
            [("Expected `relative` to be at most 0.9999999999999999, got 1", "/d/tolerance/relative")],
        ),
        ("tolerance", [("Expected `tolerance` to have the option `within`, `relative` or both, got neither", "/d")]),
        ({"tolerance": {"within": 0}}, [("Expected `within` to be greater than 0, got 0", "/d/tolerance/within")]),
        (
            {"rounded": {"grid": 5e-324}},
            [(f"Expected `grid` to be at least {sys.float_info.min}, got 5e-324", "/d/rounded/grid")],
        ),
    ],
    ids=str,
)
def test_options_that_are_wrong_together_are_all_reported(choice, expected):
    with pytest.raises(SchemaError) as caught:
        catalogue.build(choice, pointer="/d")
    assert [(problem.message, problem.pointer) for problem in caught.value.problems] == expected


@pytest.mark.parametrize(
    ("name", "options", "library"),
    [
        ("bleu", {}, "sacrebleu"),
        ("bleu", {"weights": [1]}, "nltk"),
        ("chrf", {}, "sacrebleu"),
        ("rouge-lsum", {}, "rouge-score"),
    ],
)
def test_the_error_for_a_missing_library_names_its_extra(name, options, library, monkeypatch):
    package = library.replace("-", "_")
    pytest.importorskip(package)
    for module in [module for module in sys.modules if module.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SchemaError, match=f"`{name}`.* needs {library}, which cannot") as caught:
        catalogue.build({name: options}, pointer="/d")
    assert caught.value.hint == "Install it: pip install 'arbitre[text]'"
    assert caught.value.pointer == "/d"


def test_an_invalid_result_of_sacrebleu_is_an_error(monkeypatch):
    metrics = pytest.importorskip("sacrebleu.metrics")
    monkeypatch.setattr(metrics.CHRF, "sentence_score", lambda *_: SimpleNamespace(score=math.nan))
    with pytest.raises(SolverError, match="Expected `sacrebleu` to return finite distances within"):
        distance("chrf", "a", "b")


@pytest.mark.parametrize(
    ("choice", "gold", "predicted", "expected"),
    [
        ("bleu", "", "", 0),
        ("bleu", " ", "", 1),
        ("bleu", "a", "a", 0),
        ("bleu", "a b", "a  b", 0),
        ("bleu", "a", "b", 1),
        ("bleu", "a b c", "a b", 1 - math.exp(-1 / 2)),
        ("chrf", "", "", 0),
        ("chrf", "", "a", 1),
        ("chrf", "a b", "ab", 0),
        ("chrf", "abc", "abd", 1 - (2 / 3 + 1 / 2) / 3),
        ({"chrf": {"words": 2}}, "a b", "ab", 1 / 3),
    ],
)
def test_sacrebleu_distances_have_their_known_values(choice, gold, predicted, expected):
    pytest.importorskip("sacrebleu")
    assert distance(choice, gold, predicted) == pytest.approx(expected, abs=1e-15)
    assert pickle.loads(pickle.dumps(catalogue.build(choice))) == catalogue.build(choice)  # noqa: S301


@pytest.mark.parametrize("scale", [math.inf, math.nan, -1, 10**400])
def test_a_scale_is_a_positive_float(scale):
    with pytest.raises(SchemaError, match="Expected"):
        catalogue.build({"absolute": {"scale": scale}})


@pytest.mark.parametrize("scale", [5e-324, sys.float_info.max, 10**308])
def test_an_extreme_scale_gives_a_finite_distance(scale):
    assert 0 < distance({"date": {"scale": scale}}, "1931", "1932") <= 1
    assert 0 < distance({"absolute": {"scale": scale}}, 1, 2) <= 1


@pytest.mark.parametrize(
    "wrong",
    [np.array([[1.0]]), np.array([[0.5, np.nan]]), np.array([[-1, 0]]), np.array([[0, 9]]), np.array([[np.inf, 0]])],
    ids=["shape", "nan", "negative", "beyond", "infinite"],
)
def test_an_invalid_result_of_rapidfuzz_is_an_error(monkeypatch, wrong):
    monkeypatch.setattr(process, "cpdist", lambda *_, **__: wrong[0])
    pool = catalogue.build("levenshtein").pool(["abc", "abd"])
    with pytest.raises(SolverError, match="Expected `rapidfuzz` to return"):
        pool.distances(np.array([0, 0]), np.array([0, 1]))


def test_an_invalid_result_of_cydifflib_is_an_error(monkeypatch):
    class Broken(edit.SequenceMatcher):
        def ratio(self):
            return math.nan

    monkeypatch.setattr(edit, "SequenceMatcher", Broken)
    with pytest.raises(SolverError, match="Expected `cydifflib` to return finite distances within"):
        distance("ratcliff-obershelp", "a", "b")


def test_difflib_takes_the_place_of_cydifflib_where_it_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "cydifflib", None)
    spec = importlib.util.find_spec(edit.__name__)
    without = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, edit.__name__, without)  # dataclasses look for their module there
    spec.loader.exec_module(without)
    assert without.SequenceMatcher is difflib.SequenceMatcher
    texts = ["tide", "diet", "", "a" * 300 + "b"]
    pools = [module.ratcliff_obershelp().pool(texts) for module in (edit, without)]
    left, right = np.divmod(np.arange(16), 4)
    assert pools[0].distances(left, right).tolist() == pools[1].distances(left, right).tolist()


def test_each_prediction_is_indexed_once(monkeypatch):
    indexed = []

    class Recording(edit.SequenceMatcher):
        def set_seq2(self, b):
            indexed.append(b)
            super().set_seq2(b)

    monkeypatch.setattr(edit, "SequenceMatcher", Recording)
    pool = catalogue.build("ratcliff-obershelp").pool(["a", "ab", "abc", "abcd"])
    crossed(pool, np.array([0, 1, 2]), np.array([2, 3, 1]))
    assert [text for text, _ in groupby(indexed) if text] == ["ab", "abc", "abcd"]


def test_two_empty_texts_are_equal_regardless_of_rapidfuzz(monkeypatch):
    monkeypatch.setattr(process, "cpdist", lambda rows, _, **__: np.ones(len(rows)))
    pool = catalogue.build("jaro-winkler").pool(["", "a"])
    both = np.array([0, 1])
    assert crossed(pool, both, both).tolist() == [[0, 1], [1, 1]]


def test_long_texts_that_differ_little_are_compared_quickly():
    gold = "abcdefgh" * 30_000
    predicted = "".join("#" if at % 100 == 0 else character for at, character in enumerate(gold))
    began = time.process_time()
    assert distance("levenshtein", gold, predicted) == 0.01
    assert time.process_time() - began < 0.7
