"""Schemas inferred from gold documents."""

import pandas as pd
import pytest

from arbitre import Comparator, infer_schema
from arbitre.errors import DataError
from arbitre.schema.loading.infer import infer
from arbitre.values import MAX_DEPTH

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def test_the_inferred_schema_covers_all_documents():
    assert infer([{"a": 1, "b": "x"}, {"a": 2.5, "c": [True, None]}]) == {
        "$schema": DRAFT,
        "type": "object",
        "properties": {
            "a": {"type": "number"},
            "b": {"type": "string"},
            "c": {"type": "array", "items": {"type": ["boolean", "null"]}},
        },
        "required": ["a"],
    }


@pytest.mark.parametrize(
    ("documents", "gold", "predicted", "quality"),
    [
        ([1, 2], 10, 9, 0.0),
        ([1, 2.5], 10, 9, 0.9),
        (["a"], "abcd", "abcx", 7 / 9),
        ([None, "a"], "abcd", "abcx", 7 / 9),
        ([1, "a"], "abcd", "abcx", 7 / 9),
        ([[], [1]], [1, 2], [2, 1], 1.0),
        ([{"a": 1}, [1], "x"], {"a": 1}, {"a": 1}, 1.0),
        ([{"a": 1}, {"a": "x"}, {"a": {"b": 1}}], {"a": {"b": 10}}, {"a": {"b": 10}}, 1.0),
        ([True], True, False, 0.0),
    ],
)
def test_an_inferred_schema_compares_documents(documents, gold, predicted, quality):
    comparison = Comparator.infer(documents).compare(gold=gold, predicted=predicted)
    assert comparison.quality == pytest.approx(quality)


def test_documents_satisfy_the_inferred_schema_and_equal_themselves():
    documents = [{"a": [1, "x", None, {"b": []}]}, {"a": [], "c": {"d": True}}]
    comparator = Comparator.infer(iter(documents))
    for document in documents:
        comparison = comparator.compare(gold=document, predicted=document)
        assert (comparison.quality, comparison.violations) == (1.0, ())


def test_infer_accepts_overlay_and_close():
    comparator = Comparator.infer([{"a": "x"}], overlay={"/a": {"distance": "exact"}}, close=0.5)
    assert comparator.compare(gold={"a": "abcd"}, predicted={"a": "abcx"}).quality == 0.0


def test_inferring_from_no_documents_is_an_error():
    with pytest.raises(DataError, match="Expected at least one gold document to infer a schema from, got none"):
        Comparator.infer([])


@pytest.mark.parametrize("read", [lambda gold: Comparator.infer(gold).schema, lambda gold: infer_schema(gold).schema])
def test_documents_are_taken_in_every_form_that_the_check_of_gold_takes(read):
    expected = read([{"x": 1}, {"x": 2}])
    assert expected["properties"] == {"x": {"type": "integer"}}
    for gold in (
        [("a", {"x": 1}), ("b", {"x": 2})],
        {"a": {"x": 1}, "b": {"x": 2}},
        iter([{"x": 1}, {"x": 2}]),
    ):
        assert read(gold) == expected
    with pytest.raises(DataError, match="Expected several documents, got a single one"):
        read({"name": "Ada", "born": 1815})
    with pytest.raises(DataError, match="Expected documents or paths, got a data frame"):
        read(pd.DataFrame({"id": ["a"], "x": [1]}))


@pytest.mark.parametrize("read", [lambda gold: Comparator.infer(gold).schema, lambda gold: infer_schema(gold).schema])
def test_a_field_that_is_null_in_a_struct_is_optional(tmp_path, read):
    gold = [{"x": 1, "y": [{"z": 1}, {"z": 2, "u": "a"}]}, {"x": 2}]
    path = tmp_path / "gold.parquet"
    pd.DataFrame({"id": ["a", "b"], "gold": gold}).to_parquet(path)
    assert read(path) == read(gold)


@pytest.mark.parametrize("document", [{1: 2}, {"a": {1, 2}}, [float("nan")], object()])
def test_a_value_that_is_not_json_is_an_error(document):
    with pytest.raises(DataError):
        Comparator.infer([document])


@pytest.mark.slow
def test_deep_documents_are_inferred_and_compared():
    document = 1
    for _ in range(400):
        document = {"a": document}
    assert Comparator.infer([document]).compare(gold=document, predicted=document).quality == 1.0


@pytest.mark.slow
def test_documents_of_the_maximum_depth_are_inferred_and_compared():
    lists = objects = 1
    for _ in range(MAX_DEPTH):
        lists, objects = [lists], {"a": objects}
    for document in (lists, objects):
        assert Comparator.infer([document]).compare(gold=document, predicted=document).quality == 1.0


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 200_000])
def test_documents_that_are_too_deep_are_refused(levels):
    document = 1
    for _ in range(levels):
        document = [document]
    with pytest.raises(DataError, match="Expected at most 512 nested lists and objects in the document, got more"):
        Comparator.infer([document])
