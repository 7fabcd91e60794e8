"""Groups of values that are missing more often than others: by number of digits, length and position."""

import math
import random

import pytest
from scipy.stats import false_discovery_control, fisher_exact

import arbitre

ENTRY = {"type": "object", "properties": {"name": {"type": "string"}, "pages": {"type": "array"}}}
ENTRIES = {"type": "array", "items": ENTRY}


def document(seed):
    draw = random.Random(seed)  # noqa: S311
    pages = [sorted(draw.sample(range(1, 2000), 12)) for _ in range(6)]
    return [{"name": f"{'n' * draw.randint(1, 30)}{number}", "pages": one} for number, one in enumerate(pages)]


def groups(pairs, schema=ENTRIES, **options):
    evaluation = arbitre.evaluate(schema, pairs, diagnose=True, no_chance=True, **options)
    return {(row.path, row.property, row.group): row for row in evaluation.diagnosis.missing_groups}


def damaged(gold, keep):
    return [entry | {"pages": [page for at, page in enumerate(entry["pages"]) if keep(at, page)]} for entry in gold]


def test_each_group_counts_gold_and_missing_values_and_their_quality():
    gold = [{"name": "Ada", "pages": [7, 12, 1204, 1208]}, {"name": "x" * 12, "pages": [30]}, {"name": "", "pages": []}]
    rows = groups([("d", gold, damaged(gold, lambda _, page: page != 1204))])
    counts = {key[1:]: (row.gold, row.missing) for key, row in rows.items() if key[0] == "/*/pages/*"}
    assert counts == {
        ("digits", "1"): (1, 0),
        ("digits", "2"): (2, 0),
        ("digits", "4"): (2, 1),
        ("position", "only"): (1, 0),
        ("position", "first"): (1, 0),
        ("position", "middle"): (2, 1),
        ("position", "last"): (1, 0),
    }
    row = rows["/*/pages/*", "digits", "4"]
    assert (row.gold_share, row.missing_share, row.quality) == (0.4, 1.0, 0.5)
    assert [key[2] for key in rows if key[:2] == ("/*/name", "length")] == ["0", "1-9", "10-19"]


def test_dropped_four_digit_numbers_are_confirmed():
    documents = [(f"d{seed}", document(seed)) for seed in range(8)]
    rows = groups([(name, gold, damaged(gold, lambda at, page: page < 1000 or at % 3)) for name, gold in documents])
    four, others = rows["/*/pages/*", "digits", "4"], rows["/*/pages/*", "digits", "3"]
    assert four.missing_share == 1.0
    assert four.p_adjusted < 1e-6
    assert others.missing == 0
    assert rows["/*/pages/*", "digits", "4"].quality == 1.0 - four.missing / four.gold


def test_numbers_dropped_at_random_confirm_no_group():
    draw = random.Random(3)  # noqa: S311
    documents = [(f"d{seed}", document(seed)) for seed in range(8)]
    rows = groups([(name, gold, damaged(gold, lambda *_: draw.random() > 0.1)) for name, gold in documents])
    assert sum(row.missing for key, row in rows.items() if key[:2] == ("/*/pages/*", "digits")) > 20
    assert min(row.p_adjusted for row in rows.values() if row.p is not None) > 0.05


def test_the_last_items_that_are_missing_are_confirmed_by_position():
    documents = [(f"d{seed}", document(seed)) for seed in range(8)]
    rows = groups([(name, gold, damaged(gold, lambda at, _: at < 11)) for name, gold in documents])
    assert rows["/*/pages/*", "position", "last"].missing_share == 1.0
    assert rows["/*/pages/*", "position", "last"].p_adjusted < 1e-6


def test_p_is_fishers_exact_test_against_the_other_groups_adjusted_for_all_tests():
    gold = document(5)
    rows = groups([("d", gold, damaged(gold, lambda at, page: (page + at) % 7))])
    tested = [row for row in rows.values() if row.p is not None]
    for row in tested:
        alike = [one for key, one in rows.items() if key[:2] == (row.path, row.property)]
        missing, size = sum(one.missing for one in alike), sum(one.gold for one in alike)
        table = [
            [row.missing, row.gold - row.missing],
            [missing - row.missing, size - row.gold - missing + row.missing],
        ]
        assert row.p == pytest.approx(fisher_exact(table)[1])
        assert math.isclose(sum(one.gold_share for one in alike), 1.0)
    adjusted = false_discovery_control([row.p for row in tested])
    assert [row.p_adjusted for row in tested] == pytest.approx(adjusted.tolist())


def test_values_of_a_missing_item_are_not_counted():
    gold = document(1)
    rows = groups([("d", gold, gold[:-1])])
    assert sum(row.gold for key, row in rows.items() if key[:2] == ("/*/pages/*", "digits")) == 60
    assert rows["/*", "position", "last"].missing == 1
    assert rows["/*/pages/*", "digits", "3"].p is None  # no page is missing by itself


def test_lists_matched_by_transport_are_left_out():
    schema = ENTRIES | {"x-arbitre": {"match": {"transport": {"solver": "exact"}}}}
    gold = document(2)
    assert {key[0] for key in groups([("d", gold, gold[:-1])], schema)} == set()


@pytest.mark.slow
def test_groups_do_not_depend_on_the_number_of_workers():
    pairs = [(f"d{seed}", document(seed), damaged(document(seed), lambda at, _: at % 5)) for seed in range(150)]
    assert groups(pairs) == groups(pairs, workers=2)
