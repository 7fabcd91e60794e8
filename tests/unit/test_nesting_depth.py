"""Documents that are nested too deeply or contain themselves are refused with a clear error."""

import sys
import tracemalloc

import pytest

from arbitre import ABSENT, Comparator
from arbitre.errors import DataError
from arbitre.values import MAX_DEPTH

pytestmark = pytest.mark.slow

ANYTHING = {}
LISTS = {"$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"}
OBJECTS = {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"items": {"$ref": "#"}}}}
LEAF = {"x-arbitre": {"distance": "exact"}}
SET = {"type": "array", "items": {"type": "object"}, "x-arbitre": {"match": "set"}}
TUPLE = {"prefixItems": [{"$ref": "#"}], "items": {"$ref": "#"}}
MAP = {"type": "object", "additionalProperties": {"$ref": "#"}}
UNION = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#"}}, {"additionalProperties": {"$ref": "#"}}]
}
NORMALIZED = {"type": "array", "x-arbitre": {"distance": "exact", "normalize": ["strip", "concat"]}}
SCHEMAS = [ANYTHING, LISTS, OBJECTS, LEAF, SET, TUPLE, MAP, UNION, NORMALIZED]


def lists(levels):
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value


def objects(levels):
    value = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def mixed(levels):
    value = {}
    for level in range(levels - 1):
        value = {"a": 1, "b": value} if level % 2 else [1, value]
    return value


def cyclic_list():
    value = [1]
    value += [value, [value]]
    return value


def cyclic_object():
    value = {"a": 1}
    value["b"] = {"c": [value], "d": value}
    return value


@pytest.mark.parametrize(
    ("schema", "make"),
    [*((schema, lists) for schema in SCHEMAS), *((schema, mixed) for schema in (ANYTHING, OBJECTS, UNION))],
)
def test_documents_of_the_greatest_depth_are_compared(schema, make):
    comparator, document = Comparator(schema), make(MAX_DEPTH)
    limit = sys.getrecursionlimit()
    comparison = comparator.compare(gold=document, predicted=make(MAX_DEPTH))
    assert comparison.quality == 1.0
    assert comparison.to_dict()["quality"] == 1.0
    assert isinstance(comparison.violations, tuple)
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("schema", [ANYTHING, OBJECTS, NORMALIZED])
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, id=name)
        for name, make in {
            "513 lists": lambda: lists(MAX_DEPTH + 1),
            "513 objects": lambda: objects(MAX_DEPTH + 1),
            "513 of both": lambda: mixed(MAX_DEPTH + 1),
            "200000 lists": lambda: lists(200_000),
            "cyclic list": cyclic_list,
            "cyclic object": cyclic_object,
        }.items()
    ],
)
def test_deeper_and_cyclic_documents_are_refused(schema, make):
    comparator, document = Comparator(schema), make()
    for sides in ({"gold": document, "predicted": 1}, {"gold": [], "predicted": document}):
        tracemalloc.start()
        try:
            with pytest.raises(DataError, match="Expected at most 512 nested lists and objects in the"):
                comparator.compare(**sides)
            assert tracemalloc.get_traced_memory()[1] < 10e6
        finally:
            tracemalloc.stop()


def test_the_error_names_the_side():
    with pytest.raises(DataError) as caught:
        Comparator(OBJECTS).compare(gold={}, predicted=objects(MAX_DEPTH + 1))
    (problem,) = caught.value.problems
    assert problem.message == "Expected at most 512 nested lists and objects in the predicted document, got more"
    assert "must not contain itself" in problem.hint


@pytest.mark.parametrize("make", [lambda: lists(200_000), cyclic_list, cyclic_object])
def test_calls_of_custom_distances_do_not_count_as_depth(make):
    with pytest.raises(DataError, match="in the gold document"):
        Comparator(ANYTHING).most_calls(gold=make(), predicted=[])


def test_too_deep_documents_in_a_corpus_are_failures():
    deep = lists(MAX_DEPTH + 1)
    pairs = [("a", [], []), ("b", [[]], deep), ("c", [], cyclic_list()), ("d", deep, []), ("e", [[]], ABSENT)]
    evaluation = Comparator(LISTS).evaluate(pairs)
    assert sorted(evaluation.by_document) == ["a", "b", "c", "e"]
    assert evaluation.by_document["b"].quality == 0.0
    reasons = {failure.id: failure.reason for failure in evaluation.failures}
    assert sorted(reasons) == ["b", "c", "d", "e"]
    assert all("at most 512 nested lists and objects" in reasons[name] for name in "bcd")
