"""Renamed fields: one fault for a field that is missing at its key and spurious under another key."""

import math

import pytest

from arbitre import Comparator

WORK = {"type": "object", "properties": {
    "title": {"type": "string"}, "year": {"type": "integer"}, "kind": {"enum": ["book", "article"]},
    "author": {"type": "object", "properties": {"family": {"type": "string"}, "given": {"type": "string"}}},
    "tags": {"type": "array", "items": {"type": "string"}}}}  # fmt: skip
GOLD = {"title": "Les Corbeaux", "year": 1882, "kind": "book", "author": {"family": "Becque", "given": "Henry"},
        "tags": ["drama", "finance"]}  # fmt: skip


def renamed(**names):
    """Gold with other keys; None leaves a key out."""
    return {names.get(key, key): value for key, value in GOLD.items() if names.get(key, key) is not None}


def faults(predicted, gold=GOLD, schema=WORK):
    """The faults, after a test of their costs, their pointers, the verdicts and the patch."""
    comparison = Comparator(schema).compare(gold=gold, predicted=predicted)
    diagnosis = comparison.diagnosis
    assert math.fsum(fault.cost for fault in diagnosis.faults) == pytest.approx(1.0 - comparison.scores.f1q)
    for path, sides in diagnosis.verdicts.items():
        for side, counts in sides.items():
            assert math.fsum(counts.values()) == pytest.approx(getattr(comparison.by_path()[path], side))
    assert Comparator(schema).compare(gold=gold, predicted=comparison.patch().apply(predicted)).quality == 1.0
    return [(fault.fault, fault.path, fault.gold_pointer, fault.predicted_pointer) for fault in diagnosis.faults]


@pytest.mark.parametrize(
    ("key", "other"),
    [("title", "Title"), ("title", "titles"), ("title", "name"), ("year", "Year"), ("year", "published"),
     ("kind", "KIND"), ("tags", "keywords"), ("tags", "Tags"), ("author", "writer"), ("author", "Author")],
)  # fmt: skip
def test_a_field_under_another_key_is_one_fault(key, other):
    assert faults(renamed(**{key: other})) == [("renamed", f"/{key}", f"/{key}", f"/{other}")]


def test_the_cost_is_that_of_both_ends():
    diagnosis = Comparator(WORK).compare(gold=GOLD, predicted=renamed(tags="keywords")).diagnosis
    (fault,) = diagnosis.faults
    assert (fault.gold, fault.predicted) == (GOLD["tags"], GOLD["tags"])
    assert fault.cost == pytest.approx(0.2)  # 2 of 5 + 5
    assert diagnosis.repair_gain["renamed"] == diagnosis.repair_gain_by_path["/tags"] == pytest.approx(0.2)
    assert diagnosis.verdicts["/tags/*"]["gold"] == {"renamed": 2.0}
    assert diagnosis.verdicts["/keywords/*"]["predicted"] == {"renamed": 2.0}


def test_another_spelling_suffices_even_if_the_value_is_wrong():
    assert faults({**renamed(title=None), "TITLE": "La Parisienne"}) == [("renamed", "/title", "/title", "/TITLE")]


def test_values_that_agree_by_chance_are_two_faults():
    for value, kind in ((True, "boolean"), (7, "integer"), ("a", "string")):
        schema = {"type": "object", "properties": {"lent": {"type": kind}, "title": {"type": "string"}}}
        gold, predicted = {"lent": value, "title": "Les Corbeaux"}, {"borrowed": value, "title": "Les Corbeaux"}
        assert [fault[0] for fault in faults(predicted, gold, schema)] == ["missing", "spurious"]
    assert [fault[0] for fault in faults(renamed(year=None) | {"note": "1882"})] == ["missing", "spurious"]
    assert [fault[0] for fault in faults({**GOLD, "Title": "Les Corbeaux"})] == ["spurious"]


def test_the_renamed_fields_of_an_object_support_each_other():
    gold = {f"field{at}": at + 10 for at in range(4)}
    schema = {"type": "object", "properties": {key: {"type": "integer"} for key in gold}}
    predicted = {f"value{at}": at + 10 for at in range(4)}
    assert faults(predicted, gold, schema) == [
        ("renamed", f"/field{at}", f"/field{at}", f"/value{at}") for at in range(4)
    ]


def test_a_value_in_another_declared_field_moved():
    gold, predicted = {"title": "Les Corbeaux"}, {"kind": "Les Corbeaux"}
    schema = {"type": "object", "properties": {"title": {"type": "string"}, "kind": {"type": "string"}}}
    assert faults(predicted, gold, schema) == [("moved", "/title", "/title", "/kind")]


def test_a_list_of_entries_under_another_key_is_one_fault():
    schema = {
        "type": "object",
        "properties": {"works": {"type": "array", "items": WORK, "x-arbitre": {"entries": True}}},
    }
    gold = {"works": [GOLD, {**GOLD, "title": "La Parisienne"}]}
    comparison = Comparator(schema).compare(gold=gold, predicted={"Works": gold["works"]})
    (fault,) = comparison.diagnosis.faults
    assert (fault.fault, fault.gold_pointer, fault.predicted_pointer) == ("renamed", "/works", "/Works")
    assert fault.cost == pytest.approx(1.0 - comparison.scores.f1q)


def test_the_faults_of_a_corpus_have_one_row_for_a_renamed_field():
    pairs = [(str(at), {**GOLD, "year": 1880 + at}, {**renamed(title="Title"), "year": 1880 + at}) for at in range(4)]
    evaluation = Comparator(WORK).evaluate(pairs, diagnose=True)
    (group,) = evaluation.diagnosis.faults
    assert (group.path, group.fault, group.count) == ("/title", "renamed", 4)
    rows = evaluation.faults()
    assert list(rows["predicted_pointer"]) == ["/Title"] * 4
