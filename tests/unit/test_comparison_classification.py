"""The confusion matrix of the values at a path of a comparison."""

import json

import jsonschema
import pytest
from typer.testing import CliRunner

import arbitre
from arbitre import ABSENT, Comparator, DataError, bundled
from arbitre.cli import app
from arbitre.comparison import Comparison

ROLE = {"enum": ["author", "editor", "printer"]}
PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "role": ROLE, "dead": {"type": "boolean"}}}
PAGE = {"type": "object", "properties": {"people": {"type": "array", "items": PERSON}}}
GOLD = {
    "people": [
        {"name": "Ada", "role": "author", "dead": True},
        {"name": "Bo", "role": "editor", "dead": False},
        {"name": "Cy", "role": "printer"},
    ]
}
PREDICTED = {
    "people": [
        {"name": "Bo", "role": "author", "dead": False},
        {"name": "Ada", "role": "author"},
        {"name": "Cy", "dead": False},
    ]
}


def test_enum_values_are_classified_after_alignment():
    classes = Comparator(PAGE).compare(gold=GOLD, predicted=PREDICTED).classification("/people/*/role")
    assert classes.confusion.labels == ("author", "editor", "printer", None)
    assert classes.confusion.matrix.tolist() == [[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert (classes.per_class["author"].precision, classes.per_class["printer"].recall) == (0.5, 0.0)
    assert classes.accuracy == pytest.approx(1 / 3)


def test_booleans_have_a_row_and_a_column_for_nothing():
    classes = Comparator(PAGE).compare(gold=GOLD, predicted=PREDICTED).classification("/people/*/dead")
    assert classes.confusion.labels == (False, True, None)
    assert classes.confusion.matrix.tolist() == [[1, 0, 0], [0, 0, 1], [1, 0, 0]]


def test_a_missing_entry_counts_as_missing_values():
    classes = Comparator(PAGE).compare(gold=GOLD, predicted={"people": []}).classification("/people/*/role")
    assert classes.confusion.matrix[:, -1].tolist() == [1, 1, 1, 0]
    assert classes.micro.recall == 0.0


def test_a_spelling_that_equals_a_gold_value_counts_as_this_value():
    field = {"type": "string", "x-arbitre": {"normalize": ["casefold"], "distance": "exact"}}
    comparator = Comparator({"type": "array", "items": field, "x-arbitre": {"match": "ordered"}})
    classes = comparator.compare(gold=["Yes", "no", "no"], predicted=["YES", "YES", "no"]).classification("/*")
    assert classes.confusion.labels == ("Yes", "no", None)
    assert classes.confusion.matrix.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 0]]


def test_a_value_of_another_type_is_a_label_of_its_own():
    classes = Comparator(PERSON).compare(gold={"role": "author"}, predicted={"role": 3}).classification("/role")
    assert classes.confusion.labels == (3, "author", None)
    assert classes.confusion.matrix[1].tolist() == [1, 0, 0]


def test_the_matching_by_transport_gives_fractional_counts():
    schema = {"type": "array", "items": {"enum": ["a", "b"]}, "x-arbitre": {"match": "transport"}}
    classes = Comparator(schema).compare(gold=["a", "b"], predicted=["a"]).classification("/*")
    assert classes.confusion.matrix.sum() == pytest.approx(2)


def test_a_comparison_read_from_json_has_the_same_matrix():
    comparison = Comparator(PAGE).compare(gold=GOLD, predicted=PREDICTED)
    again = Comparison.from_dict(comparison.to_dict())
    read, compared = (each.classification("/people/*/role") for each in (again, comparison))
    assert read.confusion.to_dict() == compared.confusion.to_dict()
    assert (read.matched_by, compared.matched_by) == ("all fields", "other fields")  # it cannot be matched again


def test_a_path_without_single_values_is_refused():
    comparison = Comparator(PAGE).compare(gold=GOLD, predicted=PREDICTED)
    with pytest.raises(DataError, match="Expected the path of single values, got '/people/\\*/rôle'"):
        comparison.classification("/people/*/rôle")
    with pytest.raises(DataError, match="Expected the path of single values"):
        comparison.classification("/people/*")


def test_the_values_of_a_corpus_are_classified_together():
    triples = [("a", GOLD, PREDICTED), ("b", GOLD, GOLD), ("c", GOLD, ABSENT)]
    classes = Comparator(PAGE).evaluate(triples).classification("/people/*/role", labels=["printer", "author"])
    assert list(classes.per_class) == ["printer", "author"]
    assert classes.confusion.labels == ("printer", "author", "editor", None)
    assert classes.confusion.matrix.tolist() == [[1, 0, 0, 2], [0, 2, 0, 1], [0, 1, 1, 1], [0, 0, 0, 0]]


def test_a_corpus_whose_documents_are_unavailable_has_no_classes(tmp_path):
    comparator = Comparator(PAGE)
    with pytest.raises(DataError, match="no longer available") as raised:
        comparator.evaluate(iter([("a", GOLD, GOLD)])).classification("/people/*/role")
    assert raised.value.hint.startswith("Pass them as a list instead of an iterator")
    comparator.evaluate([("a", GOLD, GOLD)], out=tmp_path, no_report=True)
    loaded = arbitre.load(tmp_path)
    for compute in (loaded.classification, loaded.text, loaded.leaf_pairs):
        with pytest.raises(DataError, match="no longer available") as raised:
            compute("/people/*/role")
        assert raised.value.hint.startswith("Loaded results do not contain the documents.")


def test_the_command_prints_the_classes_of_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps(PAGE), encoding="utf-8")
    for name, document in {"gold": GOLD, "predicted": PREDICTED}.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "a", **document}), encoding="utf-8")
    arguments = ["evaluate", "--gold", "gold.jsonl", "--predicted", "predicted.jsonl", "--schema", "schema.json"]
    arguments += ["--classification", "/people/*/role"]
    result = CliRunner().invoke(app, [*arguments, "--format", "json"])
    assert result.exit_code == 0, result.output
    plain = json.loads(result.stdout)
    jsonschema.validate(plain, bundled.schema("evaluation.schema.json"))
    expected = Comparator(PAGE).compare(gold=GOLD, predicted=PREDICTED).classification("/people/*/role").to_dict()
    assert plain["classification"] == {"/people/*/role": expected}
    text = " ".join(CliRunner().invoke(app, arguments).stdout.split())
    assert "Classes at /people/*/role: accuracy 0.3333" in text
    assert "Confusion matrix: rows are gold, columns are predicted" in text
    assert "exact match, all compared fields right: 0.0000 of the documents, 0.0000 of the entries" in text
