"""The written results are valid against the published JSON Schemas."""

from __future__ import annotations

import copy
import json

import pytest
from jsonschema import Draft202012Validator

import arbitre
from arbitre import bundled

COMPARISON = bundled.schema("comparison.schema.json")
EVALUATION = bundled.schema("evaluation.schema.json")

TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
        }
    },
}
PEOPLE = {
    "type": "object",
    "properties": {
        "people": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "x-arbitre": {"weight": 2}},
                    "pages": {"type": "array", "items": {"type": "integer"}},
                },
            },
        }
    },
}
ADA = {"name": "Ada", "pages": [1, 2]}
DEEP = {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}

CASES = {
    "equal": (PEOPLE, {"people": [ADA]}, {"people": [ADA]}),
    "missing and spurious": (PEOPLE, {"people": [ADA, {"name": "Bob"}]}, {"people": [ADA, {"x": 1}, {"name": "Z"}]}),
    "no prediction": (PEOPLE, {"people": [ADA]}, arbitre.ABSENT),
    "no gold": (PEOPLE, arbitre.ABSENT, {"people": [ADA]}),
    "neither": (PEOPLE, arbitre.ABSENT, arbitre.ABSENT),
    "kinds that differ": (PEOPLE, {"people": [ADA, ADA]}, {"people": [{"name": {"first": "Ada"}}, "Ada"]}),
    "roots that differ": (PEOPLE, {"people": [ADA]}, ["Ada"]),
    "empty lists": (PEOPLE, {"people": []}, {"people": []}),
    "one empty list": (PEOPLE, {"people": [{"name": "Ada", "pages": []}]}, {"people": [ADA]}),
    "vacuous": (PEOPLE, {}, {}),
    "null roots": (PEOPLE, None, None),
    "recursion": (TREE, DEEP, {"name": "a", "children": [{"name": "B", "children": [{"name": "c"}, {}]}]}),
    "scalars": ({"type": "string"}, "Ada", "Adam"),
    "no types": ({}, [1, "a", {"b": None}], [1, {"b": [True]}]),
    "odd keys": ({"type": "object"}, {"a/b": 1, "*": 2, "~": 3, "": 4, "x\ny": 5}, {"a/b": 1.5, "*": 2}),
    "aliases": (
        {"properties": {"date": {"type": "string", "x-arbitre": {"aliases": ["when"]}}}},
        {"date": "1843"},
        {"when": {"year": 1843}},
    ),
    "a map": ({"additionalProperties": {"type": "number"}}, {"a": 1, "b": 2}, {"a": 2, "c": 3}),
}


def errors(schema, value):
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(value)]


def plain(value):
    return json.loads(json.dumps(value, allow_nan=False))


@pytest.mark.parametrize("schema", [COMPARISON, EVALUATION], ids=["comparison", "evaluation"])
def test_the_result_schemas_are_valid_schemas(schema):
    Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("case", CASES)
def test_comparisons_follow_their_schema(case):
    schema, gold, predicted = CASES[case]
    comparison = arbitre.Comparator(schema).compare(gold=gold, predicted=predicted)
    data = plain(comparison.to_dict())
    assert errors(COMPARISON, data) == []
    assert arbitre.Comparison.from_dict(data).to_dict() == data


@pytest.mark.parametrize("case", CASES)
def test_evaluations_follow_their_schema(case):
    schema, gold, predicted = CASES[case]
    pairs = [("a", gold, predicted), ("b", gold, arbitre.ABSENT), ("b", gold, gold)]
    data = plain(arbitre.Comparator(schema).evaluate(pairs).to_dict())
    assert errors(EVALUATION, data) == []


def test_an_empty_evaluation_follows_its_schema():
    data = plain(arbitre.Comparator(PEOPLE).evaluate([]).to_dict())
    assert errors(EVALUATION, data) == []
    assert (data["documents"], data["micro"]["f1q"], data["macro"]["f1q"]) == (0, None, None)


def test_published_figures_and_violations_follow_the_schema():
    comparison = arbitre.Comparator(PEOPLE).compare(gold={"people": [ADA]}, predicted={"people": [ADA]})
    found = [{"pointer": "/people/0", "keyword": "type", "message": "1 is not text"}]
    data = plain(comparison.to_dict()) | {"published": arbitre.published(comparison), "violations": found}
    assert errors(COMPARISON, data) == []


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"quality": 1.5}, "$.quality"),
        ({"format": "arbitre-comparison/2"}, "$.format"),
        ({"extra": 1}, "$"),
        ({"scores": {}}, "$.scores"),
        ({"entries": "people"}, "$.entries"),
        ({"close": 0}, "$.close"),
    ],
)
def test_the_comparison_schema_refuses_wrong_values(change, place):
    comparison = arbitre.Comparator(PEOPLE).compare(gold={"people": [ADA]}, predicted={"people": [ADA]})
    found = errors(COMPARISON, plain(comparison.to_dict()) | change)
    assert found
    assert all(one.startswith(f"{place}: ") for one in found)


@pytest.mark.parametrize(
    ("change", "count"),
    [
        ({"verdict": "fine"}, 1),
        ({"tally": {"gold": 1, "predicted": 1, "matched": 1, "quality_mass": 1}}, 1),
        ({"parent": -1}, 1),
    ],
)
def test_the_comparison_schema_refuses_wrong_leaves(change, count):
    data = plain(arbitre.Comparator(PEOPLE).compare(gold={"people": [ADA]}, predicted={"people": [ADA]}).to_dict())
    leaf = next(node for node in data["nodes"] if node["leaf"])
    changed = copy.deepcopy(data) | {"nodes": [leaf | change]}
    assert len(errors(COMPARISON, changed)) == count


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"documents": -1}, "$.documents"),
        ({"failed": 0.5}, "$.failed"),
        ({"failures": [{"side": "gold"}]}, "$.failures[0]"),
        ({"host": "here"}, "$"),
        ({"curve": {"qualities": [2.0], "counts": [1.0], "gold": 1.0, "predicted": 1.0}}, "$.curve.qualities[0]"),
    ],
)
def test_the_evaluation_schema_refuses_wrong_values(change, place):
    data = plain(arbitre.Comparator(PEOPLE).evaluate([("a", {"people": [ADA]}, {"people": [ADA]})]).to_dict())
    found = errors(EVALUATION, data | change)
    assert found
    assert all(one.startswith(f"{place}: ") for one in found)
