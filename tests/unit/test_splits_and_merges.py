"""Splits, merges and the order of items in the diagnosis of a comparison."""

from __future__ import annotations

import numpy as np
import pytest
from tests.builders import PEOPLE

from arbitre import ABSENT, Comparator
from arbitre.diagnosis.joins import JoinResults, find_joins
from arbitre.diagnosis.list_pairs import kendall_tau
from arbitre.diagnosis.shared_values import SharedValues, TextWords
from arbitre.engine import compare_batch
from arbitre.engine.solve.batches import CellLimits

PAGES = {"type": "array", "items": {"type": "integer"}}
SPEAKERS = {
    "type": "array",
    "items": {"type": "object", "properties": {"name": {"type": "string"}, "pages": PAGES}},
}
BARTHOU = [
    {"name": "Barthou (Louis)", "pages": [2]},
    {"name": "Barthou (Louis)", "pages": [394, 396, 397, 399, 1211, 1237]},
    {"name": "Bazile (Gaston)", "pages": [1560, 1561]},
]
MERGED = [{"name": "Barthou (Louis)", "pages": [2, 394, 396, 397, 399, 1211, 1237]}, BARTHOU[2]]
OTHERS = [
    {"name": f"Member {letter}", "pages": list(range(start, start + 3))}
    for letter, start in zip("ABCDE", range(10, 60, 10), strict=True)
]


def diagnosed(gold, predicted, schema=SPEAKERS, **options):
    return Comparator(schema, **options).compare(gold=gold, predicted=predicted).diagnosis


def indices(joins):
    return [(join.list, join.gold, join.predicted) for join in joins]


def entry(name, *pages):
    return {"name": name, "pages": list(pages)}


def test_two_gold_items_predicted_as_one_are_a_merge():
    comparison = Comparator(SPEAKERS).compare(gold=BARTHOU, predicted=MERGED)
    (merge,) = comparison.diagnosis.merges
    assert (merge.list, merge.gold, merge.predicted) == ("", (0, 1), (0,))
    assert merge.gain == pytest.approx(0.0714, abs=5e-5)
    assert comparison.scores.f1q == pytest.approx(0.771, abs=5e-4)
    assert comparison.diagnosis.f1q_after_joins == 1.0
    assert comparison.diagnosis.splits == ()


def test_one_gold_item_predicted_as_two_is_a_split():
    diagnosis = diagnosed(MERGED, BARTHOU)
    (split,) = diagnosis.splits
    assert (split.list, split.gold, split.predicted) == ("", (0,), (0, 1))
    assert split.gain == pytest.approx(0.0714, abs=5e-5)
    assert (diagnosis.f1q_after_joins, diagnosis.merges) == (1.0, ())


def test_strict_scores_do_not_depend_on_joins():
    comparison = Comparator(SPEAKERS).compare(gold=BARTHOU, predicted=MERGED)
    before = comparison.scores, comparison.quality
    assert comparison.diagnosis.merges
    assert (comparison.scores, comparison.quality) == before


def test_one_fact_predicted_as_ten_rows_is_one_split():
    gold = [entry("Members present", *range(100, 110)), *OTHERS]
    rows = [entry("Members present", page) for page in range(100, 110)]
    diagnosis = diagnosed(gold, [*OTHERS[:3], *rows, *OTHERS[3:]])
    assert indices(diagnosis.splits) == [("", (0,), tuple(range(3, 13)))]
    assert (diagnosis.merges, diagnosis.f1q_after_joins) == ((), 1.0)


def test_a_hundred_rows_are_one_split():
    gold = [entry("Members present", *range(1000, 1100)), *OTHERS]
    diagnosis = diagnosed(gold, [*(entry("Members present", page) for page in range(1000, 1100)), *OTHERS])
    assert indices(diagnosis.splits) == [("", (0,), tuple(range(100)))]
    assert diagnosis.f1q_after_joins == 1.0


def test_an_undamaged_document_has_no_joins():
    diagnosis = diagnosed(BARTHOU + OTHERS, BARTHOU + OTHERS)
    assert (diagnosis.merges, diagnosis.splits, diagnosis.f1q_after_joins) == ((), (), 1.0)


def test_a_permuted_document_has_no_joins():
    diagnosis = diagnosed(BARTHOU + OTHERS, [*reversed(OTHERS), *reversed(BARTHOU)])
    assert (diagnosis.merges, diagnosis.splits, diagnosis.f1q_after_joins) == ((), (), 1.0)


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        (OTHERS, OTHERS[1:]),
        (OTHERS[1:], OTHERS),
        (OTHERS, [*OTHERS, OTHERS[2]]),
        (OTHERS, [*OTHERS, entry("Member C", 30, 31)]),
        (OTHERS, [*OTHERS[:4], entry("Nobody at all", 7, 8, 9)]),
        (OTHERS, [*OTHERS, entry("Member C")]),
        (OTHERS, [entry("Member B", 10, 11, 12), entry("Member A", 20, 21, 22), *OTHERS[2:]]),
    ],
    ids=["missing", "spurious", "duplicate", "incomplete duplicate", "replaced", "empty duplicate", "exchanged names"],
)
def test_other_faults_are_not_reported_as_joins(gold, predicted):
    for left, right in ((gold, predicted), (predicted, gold)):
        diagnosis = diagnosed(left, right)
        assert (diagnosis.merges, diagnosis.splits) == ((), ())
        assert diagnosis.f1q_after_joins == Comparator(SPEAKERS).compare(gold=left, predicted=right).scores.f1q


def test_a_merge_that_keeps_the_first_name_is_found():
    gold = [entry("Ada Lovelace", 1, 2), entry("Charles Babbage", 3, 4, 5), *OTHERS]
    diagnosis = diagnosed(gold, [entry("Ada Lovelace", 1, 2, 3, 4, 5), *OTHERS])
    assert indices(diagnosis.merges) == [("", (0, 1), (0,))]
    assert diagnosis.f1q_after_joins == 1.0


def test_a_merge_is_found_beside_a_spurious_item():
    diagnosis = diagnosed([*BARTHOU, *OTHERS], [*MERGED, entry("Quite unrelated", 7000), *OTHERS])
    assert indices(diagnosis.merges) == [("", (0, 1), (0,))]


def test_texts_are_joined_with_a_space_in_either_order():
    schema = {"type": "array", "items": {"type": "string"}}
    others = ["Oyster beds", "Salt tax"]
    gold = ["Votes for women in parish councils", *others]
    for parts in (["Votes for women", "in parish councils"], ["in parish councils", "Votes for women"]):
        diagnosis = diagnosed(gold, [*others, *parts], schema)
        assert indices(diagnosis.splits) == [("", (0,), (2, 3))]
        assert diagnosis.f1q_after_joins == 1.0


def test_both_orders_of_ordered_lists_are_tried():
    schema = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "pages": PAGES | {"x-arbitre": {"match": "ordered"}}},
        },
    }
    gold = [entry("Lovelace", 1, 2, 3, 4), *OTHERS]
    for parts in (
        [entry("Lovelace", 1, 2), entry("Lovelace", 3, 4)],
        [entry("Lovelace", 3, 4), entry("Lovelace", 1, 2)],
    ):
        diagnosis = diagnosed(gold, [*parts, *OTHERS], schema)
        assert indices(diagnosis.splits) == [("", (0,), (0, 1))]
        assert diagnosis.f1q_after_joins == 1.0


def test_dates_are_not_joined():
    schema = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"day": {"type": "string", "format": "date"}, "pages": PAGES, "name": {"type": "string"}},
        },
    }
    first, second = {"day": "1931-01-02", **entry("Ada", 1, 2)}, {"day": "1931-05-06", **entry("Ada", 3, 4)}
    diagnosis = diagnosed([first, second], [first | {"pages": [1, 2, 3, 4]}], schema)
    assert indices(diagnosis.merges) == [("", (0, 1), (0,))]
    assert diagnosis.f1q_after_joins == 1.0


NESTED = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "people": {
            "type": "array",
            "x-arbitre": {"entries": True},
            "items": {"type": "object", "properties": {"person": {"type": "string"}, "acts": SPEAKERS}},
        },
    },
}


def nested(*acts):
    names = ("Lovelace", "Babbage", "Hopper")
    return {
        "title": "t",
        "people": [{"person": name, "acts": list(own)} for name, own in zip(names, acts, strict=False)],
    }


def test_items_of_nested_lists_are_searched():
    gold, predicted = nested(OTHERS[:2], BARTHOU), nested(OTHERS[:2], MERGED)
    comparison = Comparator(NESTED).compare(gold=gold, predicted=predicted)
    assert indices(comparison.diagnosis.merges) == [("/people/1/acts", (0, 1), (0,))]
    assert comparison.scores.f1q < comparison.diagnosis.f1q_after_joins == 1.0


def test_lists_inside_joined_items_are_not_searched():
    acts = [entry("Speech on canals", 1), entry("Speech on canals", 2, 3, 4)]
    gold = nested([*acts, OTHERS[0]], OTHERS[3:], OTHERS[1:3])
    gold["people"][2]["person"] = "Lovelace"
    predicted = nested([entry("Speech on canals", 1, 2, 3, 4), *OTHERS[:3]], OTHERS[3:])
    assert indices(diagnosed(gold, predicted, NESTED).merges) == [("/people", (0, 2), (0,))]
    alone = nested([*acts, *OTHERS[:3]], OTHERS[3:])
    assert indices(diagnosed(alone, predicted, NESTED).merges) == [("/people/0/acts", (0, 1), (0,))]


def test_an_item_is_used_in_one_join_only():
    gold = [entry("Lovelace", 1, 2, 3, 4), entry("Lovelace", 5, 6), *OTHERS]
    predicted = [entry("Lovelace", 1, 2), entry("Lovelace", 3, 4, 5, 6), *OTHERS]
    diagnosis = diagnosed(gold, predicted)
    for side in ("gold", "predicted"):
        used = [position for join in diagnosis.merges + diagnosis.splits for position in getattr(join, side)]
        assert len(used) == len(set(used))


def test_the_score_after_joins_is_that_of_the_joined_documents():
    comparator = Comparator(SPEAKERS)
    gold = [entry("Lovelace", 1, 2), entry("Lovelace", 3, 4, 9), *OTHERS]
    predicted = [entry("Lovelacc", 1, 2, 3, 4, 8), *OTHERS[:-1], entry("Somebody else", 7)]
    joined = [entry("Lovelace", 1, 2, 3, 4, 9), *OTHERS]
    diagnosis = comparator.compare(gold=gold, predicted=predicted).diagnosis
    assert indices(diagnosis.merges) == [("", (0, 1), (0,))]
    assert diagnosis.f1q_after_joins == comparator.compare(gold=joined, predicted=predicted).scores.f1q


def test_predictions_under_an_alias_are_joined():
    schema = {
        "type": "object",
        "properties": {"people": SPEAKERS | {"x-arbitre": {"aliases": ["persons"], "entries": True}}},
    }
    diagnosis = diagnosed({"people": MERGED}, {"persons": BARTHOU}, schema)
    assert indices(diagnosis.splits) == [("/people", (0,), (0, 1))]
    assert diagnosis.f1q_after_joins == 1.0


def test_items_whose_site_depends_on_a_branch_are_joined():
    def branch(kind, field):
        rows = {"type": "array", "items": {"type": "object", "properties": {field: {"type": "string"}, "pages": PAGES}}}
        return {"type": "object", "properties": {"kind": {"const": kind}, "rows": rows}}

    schema = {"anyOf": [branch("a", "name"), branch("b", "label")]}
    rows = [{"label": item["name"], "pages": item["pages"]} for item in BARTHOU]
    merged = [{"label": item["name"], "pages": item["pages"]} for item in MERGED]
    diagnosis = diagnosed({"kind": "b", "rows": rows}, {"kind": "b", "rows": merged}, schema)
    assert indices(diagnosis.merges) == [("/rows", (0, 1), (0,))]


@pytest.mark.parametrize(
    "match",
    [
        "greedy",
        "sequence",
        {"hungarian": {"gate": 0.7}},
        {"keyed": {"key": "name"}},
        {"transport": {}},
        {"transport": {"masses": "size"}},
    ],
    ids=["greedy", "sequence", "gate", "keyed", "transport", "transport by size"],
)
def test_merges_are_found_under_every_matching(match):
    diagnosis = diagnosed([*BARTHOU, *OTHERS], [*MERGED, *OTHERS], SPEAKERS | {"x-arbitre": {"match": match}})
    assert indices(diagnosis.merges) == [("", (0, 1), (0,))]
    assert diagnosis.f1q_after_joins == pytest.approx(1.0)


def test_a_failed_prediction_has_no_joins():
    diagnosis = diagnosed(BARTHOU, ABSENT)
    assert (diagnosis.merges, diagnosis.splits, diagnosis.f1q_after_joins, diagnosis.order) == ((), (), 0.0, {})


def levels_of(gold, predicted):
    comparator = Comparator(SPEAKERS)
    return comparator.plan, compare_batch(comparator.plan, [gold], [predicted]).levels()


def test_a_join_must_gain_more_than_the_margin():
    plan, levels = levels_of(BARTHOU, MERGED)
    assert len(find_joins(plan, levels, margin=0.07)) == 1
    assert find_joins(plan, levels, margin=0.072) == []


def test_a_whole_of_many_parts_is_found():
    gold, predicted = [entry("Lovelace", *range(1, 41))], [entry("Lovelace", page) for page in range(1, 41)]
    plan, levels = levels_of([*gold, *OTHERS], [*predicted, *OTHERS])
    assert [join.predicted for join in find_joins(plan, levels)] == [tuple(range(40))]


def test_the_joins_of_a_document_do_not_depend_on_the_batch():
    plan = Comparator(SPEAKERS).plan
    gold = [BARTHOU, OTHERS, MERGED, ABSENT, BARTHOU + OTHERS]
    predicted = [MERGED, OTHERS, BARTHOU, BARTHOU, MERGED + OTHERS[::-1]]
    together = JoinResults.of(plan, gold, predicted, compare_batch(plan, gold, predicted).levels())
    for document, (gold_document, predicted_document) in enumerate(zip(gold, predicted, strict=True)):
        alone = JoinResults.of(
            plan,
            [gold_document],
            [predicted_document],
            compare_batch(plan, [gold_document], [predicted_document]).levels(),
        )
        assert alone.parts_of(0) == together.parts_of(document)
    assert [len(joins) for joins in together.joins] == [1, 0, 1, 0, 1]


@pytest.mark.parametrize("keys", [1, 256], ids=["in one column", "in columns of their own"])
def test_undeclared_keys_are_compared_by_key_when_they_share_a_column(keys):
    plan = Comparator({"type": "array", "items": {"type": "object"}}).plan
    gold = [{"author": "Ada Lovelace", "topic": "engines"}, {"author": "Charles", "topic": "Ada Lovelace"}]
    result = compare_batch(plan, [gold], [[gold[0]]], limits=CellLimits(keys=keys))
    items = result.columns[0].items
    rows = np.arange(items.size)
    values = SharedValues.of(items, rows, np.zeros_like(rows), TextWords())
    search = values.within(rows == 2)
    assert search.shares(np.array([0, 1]), np.array([2, 2])).tolist() == [1.0, 0.0]


def test_documents_are_not_modified():
    gold, predicted = [dict(item, pages=list(item["pages"])) for item in BARTHOU], [dict(item) for item in MERGED]
    assert diagnosed(gold, predicted).merges
    assert (gold, predicted) == (BARTHOU, MERGED)


@pytest.mark.parametrize(
    ("positions", "tau"),
    [([0, 1, 2], 1.0), ([2, 1, 0], -1.0), ([0, 2, 1], 1 / 3), ([4], None), ([], None)],
    ids=["kept", "reversed", "one exchanged", "one", "none"],
)
def test_kendall_tau_of_small_sequences(positions, tau):
    assert kendall_tau(positions) == (None if tau is None else pytest.approx(tau))


def test_the_order_of_the_entries_is_given():
    assert diagnosed(OTHERS, OTHERS).order == {"": 1.0}
    assert diagnosed(OTHERS, OTHERS[::-1]).order == {"": -1.0}
    assert diagnosed(OTHERS, OTHERS[:1]).order == {"": None}


@pytest.mark.parametrize("match", ["ordered", "sequence"])
def test_the_order_of_ordered_lists_is_that_of_their_best_pairs(match):
    schema = {
        "type": "object",
        "properties": {
            "people": SPEAKERS | {"x-arbitre": {"entries": True}},
            "steps": {"type": "array", "items": {"type": "string"}, "x-arbitre": {"match": match}},
        },
    }
    steps = ["wash", "peel", "slice", "fry"]
    gold = {"people": OTHERS, "steps": steps}
    kept = diagnosed(gold, {"people": OTHERS, "steps": steps[1:]}, schema)
    assert kept.order == {"/people": 1.0, "/steps": 1.0}
    changed = diagnosed(gold, {"people": OTHERS, "steps": ["peel", "wash", "slice", "fry"]}, schema)
    assert changed.order == {"/people": 1.0, "/steps": pytest.approx(2 / 3)}


def test_equal_items_are_in_order():
    gold = [entry("Ada", 1), entry("Ada", 1), entry("Bob", 2), entry("Ada", 1), entry("Cyd", 3)]
    assert diagnosed(gold, gold).order == {"": 1.0}


def test_people_without_nested_values_have_no_joins():
    gold = [{"name": "Ada", "age": 1}, {"name": "Bob", "age": 2}]
    assert PEOPLE.compare(gold=gold, predicted=gold[:1]).diagnosis.merges == ()


def test_maps_of_ids_have_no_joins_and_no_order():
    people = {"type": "object", "additionalProperties": SPEAKERS["items"], "x-arbitre": {"id": "person"}}
    gold = {"a0": MERGED[0], "a1": MERGED[1]}
    predicted = {"b0": BARTHOU[0], "b1": BARTHOU[1], "b2": BARTHOU[2]}
    for left, right in ((gold, predicted), (predicted, gold)):
        diagnosis = diagnosed({"people": left}, {"people": right}, {"properties": {"people": people}})
        assert (diagnosis.splits, diagnosis.merges, diagnosis.order) == ((), (), {})
        assert diagnosed(left, right, people).order == {}


def test_lists_in_maps_of_ids_are_searched():
    people = {"type": "object", "additionalProperties": SPEAKERS, "x-arbitre": {"id": "person"}}
    diagnosis = diagnosed({"a": BARTHOU}, {"b": MERGED}, people)
    assert indices(diagnosis.merges) == [("/a", (0, 1), (0,))]
    assert diagnosis.f1q_after_joins == 1.0
