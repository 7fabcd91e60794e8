"""Moved objects: one fault with two ends and one cost, wherever in the document the prediction has the object."""

from __future__ import annotations

import copy
import math
import random

import pytest
from tests.bench import moves

from arbitre import Comparator, Moved

AUTHOR = {"type": "object", "properties": {"first": {"type": "string"}, "last": {"type": "string"}}}
PART = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "pages": {"type": "array", "items": {"type": "integer"}}},
}
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "author": AUTHOR,
        "editor": AUTHOR,
        "parts": {"type": "array", "items": PART},
    },
}
PEOPLE = Comparator({"type": "array", "items": PERSON})
GOLD = [
    {
        "name": "Barthou (Louis)",
        "author": {"first": "Jean", "last": "Cocteau"},
        "parts": [{"name": "Decrees", "pages": [12, 1204]}, {"name": "Treaties", "pages": [33, 951]}],
    },
    {
        "name": "Briand (Aristide)",
        "author": {"first": "Paul", "last": "Claudel"},
        "parts": [{"name": "Elections", "pages": [7, 811]}],
    },
    {
        "name": "Caillaux (Joseph)",
        "author": {"first": "Anna", "last": "Noailles"},
        "parts": [{"name": "Budget", "pages": [2, 720]}],
    },
]


def into_another_entry(people):
    people[1]["parts"].append(people[0]["parts"].pop())


def with_other_case_and_page(people):
    people[1]["parts"].append({"name": "TREATIES", "pages": [33, 951, 4]})
    people[0]["parts"].pop()


def out_of_the_entry(people):
    people.append(people[0]["parts"].pop())


def into_an_entry(people):
    people[2]["parts"].append(people.pop(1))


def exchanged(people):
    people[0]["author"], people[1]["author"] = people[1]["author"], people[0]["author"]


def another_field(people):
    people[0]["editor"] = people[0].pop("author")


def further_in(people):
    people[0]["parts"][0]["author"] = people[0].pop("author")


def a_list_of_values(people):
    people[0]["pages"] = people[2]["parts"][0].pop("pages")


CASES = [
    (into_another_entry, [("/*/parts/*", "/0/parts/1", "/1/parts/1")]),
    (with_other_case_and_page, [("/*/parts/*", "/0/parts/1", "/1/parts/1")]),
    (out_of_the_entry, [("/*/parts/*", "/0/parts/1", "/3")]),
    (into_an_entry, [("/*", "/1", "/1/parts/1")]),
    (exchanged, [("/*/author", "/0/author", "/1/author"), ("/*/author", "/1/author", "/0/author")]),
    (another_field, [("/*/author", "/0/author", "/0/editor")]),
    (further_in, [("/*/author", "/0/author", "/0/parts/0/author")]),
    (a_list_of_values, [("/*/parts/*/pages", "/2/parts/0/pages", "/0/pages")]),
]


@pytest.mark.parametrize(("change", "places"), CASES, ids=[change.__name__ for change, _ in CASES])
def test_an_object_in_another_place_is_one_fault_with_one_cost(change, places):
    predicted = copy.deepcopy(GOLD)
    change(predicted)
    comparison = PEOPLE.compare(gold=GOLD, predicted=predicted)
    diagnosis = comparison.diagnosis
    assert [(value.path, value.source, value.target) for value in diagnosis.moved] == places
    rows = [(fault.path, fault.gold_pointer, fault.predicted_pointer) for fault in diagnosis.faults]
    assert rows == places
    assert {fault.fault for fault in diagnosis.faults} == {"moved"}
    lost = 1.0 - comparison.scores.f1q
    assert math.fsum(fault.cost for fault in diagnosis.faults) == pytest.approx(lost)
    assert diagnosis.repair_gain["moved"] == pytest.approx(lost)
    assert diagnosis.repair_gain_by_path == {places[0][0]: pytest.approx(lost)}


def test_the_values_inside_a_moved_object_count_as_moved_on_both_sides():
    predicted = copy.deepcopy(GOLD)
    out_of_the_entry(predicted)
    verdicts = PEOPLE.compare(gold=GOLD, predicted=predicted).diagnosis.verdicts
    assert verdicts["/*/parts/*/name"]["gold"] == {"correct": 3.0, "moved": 1.0}
    assert verdicts["/*/pages/*"]["predicted"] == {"moved": 2.0}
    assert verdicts["/*"] == {"gold": {"matched": 3.0}, "predicted": {"matched": 3.0, "moved": 1.0}}


def renamed_list(people):
    for person in people:
        person["chapters"] = person.pop("parts")


def renamed_object(people):
    for person in people:
        person["writer"] = person.pop("author")


def small_values(people):
    people[1]["parts"][0]["pages"] = people[0]["parts"][0]["pages"] = []
    people[1]["author"] = {"first": "A", "last": "B"}
    people[0]["parts"].append({"name": "A", "pages": [2]})


@pytest.mark.parametrize("change", [renamed_list, renamed_object, small_values, list.reverse])
def test_renamed_fields_other_orders_and_short_values_are_not_moved_objects(change):
    predicted = copy.deepcopy(GOLD)
    change(predicted)
    assert PEOPLE.compare(gold=GOLD, predicted=predicted).diagnosis.moved == ()


def test_an_object_that_several_entries_share_has_not_moved():
    gold = [person | {"author": GOLD[number % 2]["author"]} for number, person in enumerate(GOLD * 2)]
    predicted = copy.deepcopy(gold)
    del predicted[0]["author"]
    predicted[1]["editor"] = gold[0]["author"]
    assert PEOPLE.compare(gold=gold, predicted=predicted).diagnosis.moved == ()


def test_items_whose_key_is_wrong_have_not_moved():
    people = {"type": "array", "items": PERSON, "x-arbitre": {"match": {"keyed": {"key": "name"}}}}
    predicted = [person | {"name": f"x{person['name']}"} for person in reversed(GOLD)]
    assert not [
        value
        for value in Comparator(people).compare(gold=GOLD, predicted=predicted).diagnosis.moved
        if isinstance(value.value, dict | list)
    ]


def test_merged_items_keep_their_class():
    predicted = copy.deepcopy(GOLD)
    predicted[1]["parts"] += predicted[0]["parts"]
    predicted[1]["name"] += f" {predicted[0]['name']}"
    del predicted[0]
    diagnosis = PEOPLE.compare(gold=GOLD, predicted=predicted).diagnosis
    assert [merge.gold for merge in diagnosis.merges] == [(0, 1)]
    assert {fault.fault for fault in diagnosis.faults if fault.path in {"/*", "/*/parts/*"}} == {"merged"}


def test_a_moved_object_is_read_from_json():
    predicted = copy.deepcopy(GOLD)
    out_of_the_entry(predicted)
    diagnosis = PEOPLE.compare(gold=GOLD, predicted=predicted).diagnosis
    assert type(diagnosis).from_dict(diagnosis.to_dict()).moved == (
        Moved("/*/parts/*", {"name": "Treaties", "pages": [33, 951]}, "/0/parts/1", "/3"),
    )


def works(rng):
    return [
        {"title": "".join(rng.choices("abcdefgh", k=8)), "page": rng.randrange(1, 2000)}
        for _ in range(rng.randint(0, 4))
    ]


@pytest.mark.parametrize("seed", range(8))
def test_costs_add_up_after_any_number_of_moves(seed):
    rng = random.Random(seed)  # noqa: S311
    gold = [{"name": "".join(rng.choices("ijklmnop", k=8)), "works": works(rng)} for _ in range(6)]
    predicted = copy.deepcopy(gold)
    for _ in range(6):
        source = rng.choice(predicted)
        if source.get("works"):
            value = source["works"].pop(rng.randrange(len(source["works"])))
            target = rng.choice([predicted, rng.choice(predicted).setdefault("works", [])])
            target.append(value)
    if seed % 2:
        predicted = {"data": predicted}
    for shape in (moves.AUTHORS, Comparator({"type": "array", "items": {}})):
        comparison = shape.compare(gold=gold, predicted=predicted)
        diagnosis = comparison.diagnosis
        assert math.fsum(fault.cost for fault in diagnosis.faults) == pytest.approx(1.0 - comparison.scores.f1q)
        if seed % 2 == 0 and shape is moves.AUTHORS:
            assert "moved" in {fault.fault for fault in diagnosis.faults}
