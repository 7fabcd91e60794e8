"""Warnings about gold: duplicate entries, repeated and unsorted values, and declared fields that never occur."""

from __future__ import annotations

import json

import pytest
from tests.oracle.senate import DATA, HERE

from arbitre import Comparator, bundled
from arbitre.schema.compiling.branches import Branch

NAME = {"type": "string"}
PAGES = {"type": "array", "items": {"type": "integer"}}
PEOPLE = {"type": "array", "items": {"type": "object", "properties": {"name": NAME, "pages": PAGES}}}
IN_ORDER = PAGES | {"x-arbitre": {"match": "ordered"}}


def warned(schema, *documents, checks=("duplicate", "repeated", "unsorted", "unused")):
    checked = Comparator(schema).check_gold(documents)
    assert checked.ok
    return [
        (finding.check, finding.pointer, finding.message) for finding in checked.warnings if finding.check in checks
    ]


def person(number, **more):
    return {"name": f"speaker number {number} of the index", "pages": [number, 100 + number]} | more


def test_identical_and_nearly_identical_entries_are_reported_once_each():
    people = [person(1), person(2), person(1), person(2, name="speaker number 2 of the indes"), person(3)]
    assert warned(PEOPLE, people) == [
        ("duplicate", "/2", "Identical to the entry at /0"),
        ("duplicate", "/3", "Nearly identical to the entry at /1"),
    ]


def test_entries_that_share_a_name_are_not_duplicates():
    assert warned(PEOPLE, [person(1), person(1, pages=[7])]) == []


def test_each_pair_of_entries_is_compared_once_and_a_single_entry_not_at_all():
    compared = []

    def distance(left, right):
        compared.append((left, right))
        return 1.0

    name = {"type": "string", "x-arbitre": {"distance": "mine"}}
    person = {"type": "object", "properties": {"name": name}}
    comparator = Comparator({"type": "array", "items": person}, distances={"mine": distance})
    comparator.check_gold([[{"name": "a"}, {"name": "b"}, {"name": "c"}]])
    assert sorted(compared) == [("a", "b"), ("a", "c"), ("b", "c")]
    compared.clear()
    comparator.check_gold([[{"name": "a"}]])
    Comparator(person, distances={"mine": distance}).check_gold([{"name": "a"}])
    assert compared == []


def test_a_sample_of_many_entries_is_compared(monkeypatch):
    monkeypatch.setattr("arbitre.gold.checks.MAX_ENTRIES", 20)
    found = warned(PEOPLE, [person(number % 40) for number in range(60)])
    assert 0 < len(found) <= 10
    for _, place, message in found:
        assert message == f"Identical to the entry at /{int(place[1:]) - 40}"


def test_a_repeated_value_of_a_list_is_reported():
    assert warned(PEOPLE, [person(1, pages=[8, 9, 8, 8])]) == [
        ("repeated", "/0/pages/2", "The same value as at /0/pages/0"),
        ("repeated", "/0/pages/3", "The same value as at /0/pages/0"),
    ]


@pytest.mark.parametrize(
    ("schema", "items", "expected"),
    [
        (IN_ORDER, [1, 2, 3], False),
        (IN_ORDER, [3, 2, 2], False),
        (IN_ORDER, [3, 1, 2], True),
        (PAGES, [3, 1, 2], False),
        (IN_ORDER | {"x-arbitre": {"match": "sequence"}}, [3, 1, 2], True),
        (IN_ORDER | {"items": NAME}, ["c", "a", "b"], False),
        (IN_ORDER | {"items": {"type": "string", "format": "date"}}, ["1931-02", "1930-01", "1931-01"], True),
    ],
    ids=["ascending", "descending", "unsorted", "no-order", "sequence", "texts", "dates"],
)
def test_an_unsorted_list_that_is_compared_in_order_is_reported(schema, items, expected):
    findings = warned(schema, items)
    assert ("unsorted" in [check for check, _, _ in findings]) is expected


def test_unused_paths_values_and_branches_are_reported():
    schema = {
        "type": "object",
        "properties": {
            "role": {"enum": ["senator", "minister", None]},
            "year": {"type": ["integer", "string", "null"]},
            "note": {"type": "string"},
            "skipped": {"type": "string", "x-arbitre": {"ignore": True}},
            "event": {
                "anyOf": [
                    {"type": "object", "properties": {"kind": {"const": "vote"}, "result": NAME}},
                    {"type": "object", "properties": {"kind": {"const": "speech"}, "subject": NAME}},
                ]
            },
        },
    }
    gold = {"role": "senator", "year": 1931, "event": {"kind": "speech", "subject": "salt"}}
    assert warned(schema, gold) == [
        ("unused", "/event", "Not evaluated: no gold value is an object with kind, result"),
        ("unused", "/event/result", "Not evaluated: no gold document has a value"),
        ("unused", "/note", "Not evaluated: no gold document has a value"),
        ("unused", "/role", 'Not evaluated: no gold value is "minister"'),
        ("unused", "/year", "Not evaluated: no gold value is of type string"),
    ]
    other = {"role": "minister", "year": "1931", "note": "x", "event": {"kind": "vote", "result": "lost"}}
    assert warned(schema, gold, other) == []


def test_paths_with_few_values_are_reported_with_their_number():
    documents = [[person(number, pages=[])] for number in range(14)]
    few = warned(PEOPLE, *documents, checks=("few", "unused"))
    assert few == [
        ("unused", "/*/pages/*", "Not evaluated: no gold document has a value"),
        ("few", "/*/name", "Fewer than 15 gold values (14)"),
    ]
    assert warned(PEOPLE, *documents, [person(14)], checks=("few",)) == [
        ("few", "/*/pages/*", "Fewer than 15 gold values (2)")
    ]


def test_values_in_maps_recursive_parts_and_prefixes_are_counted():
    tree = {"type": "object", "properties": {"name": NAME, "parts": {"type": "array", "items": {"$ref": "#"}}}}
    node = {"name": "a", "parts": [{"name": "b", "parts": [{"name": "c"}]}]}
    assert warned(tree, node) == []
    counts = {"type": "object", "additionalProperties": {"type": "integer"}, "patternProperties": {"^x": NAME}}
    assert warned(counts, {"a": 1, "xb": "y"}) == []
    pair = {"type": "array", "prefixItems": [NAME, {"type": "integer"}]}
    assert warned(pair, ["a", 1]) == []
    assert warned(pair, ["a"]) == [("unused", "/1", "Not evaluated: no gold document has a value")]


def test_enumerated_values_are_prepared_once_for_all_documents(monkeypatch):
    prepared, values = [], Branch.values.fget
    monkeypatch.setattr(Branch, "values", property(lambda branch: prepared.append(branch) or values(branch)))
    comparator = Comparator({"type": "object", "properties": {"role": {"enum": ["senator", "minister"]}}})
    prepared.clear()
    comparator.check_gold([{"role": "senator"}, {"role": "minister"}] * 10)
    assert len(prepared) == 1


def test_clean_gold_has_no_warnings():
    checked = Comparator(PEOPLE).check_gold([[person(number)] for number in range(15)])
    assert (checked.findings, checked.warnings) == ((), ())
    assert Comparator(PEOPLE).check_gold([]).warnings == ()


def test_unreadable_gold_is_not_searched():
    checked = Comparator(PEOPLE).check_gold([[{"name": float("nan")}]])
    assert [finding.check for finding in checked.findings] == ["unreadable"]
    assert checked.warnings == ()


def test_the_bundled_gold_has_few_values_at_two_paths_and_no_other_warnings():
    checked = Comparator(bundled.schema("examples/speakers.schema.json")).check_gold(bundled.demo() / "gold.jsonl")
    assert [(finding.check, finding.pointer) for finding in checked.warnings] == [
        ("few", "/page/volume"),
        ("few", "/page/printed_page"),
    ]


@HERE
def test_the_gold_of_the_senate_repeats_one_page_number():
    checked = Comparator(bundled.schema("examples/senat-published.schema.json")).check_gold(DATA / "gold")
    pointer = "/listes_des_intervenants/8/references_pages"
    assert [(finding.check, finding.id, finding.pointer) for finding in checked.warnings] == [
        ("repeated", "page_02", f"{pointer}/35")
    ]
    pages = json.loads((DATA / "gold" / "page_02.json").read_text(encoding="utf-8"))
    repeated = pages["listes_des_intervenants"][8]["references_pages"]
    assert repeated[35] == repeated[26]
