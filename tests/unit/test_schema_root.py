"""The root of a schema: wrapped, at a pointer, or missing; and subschemas of another draft."""

import json
import pickle
import shlex

import pytest

from arbitre import Comparator
from arbitre.errors import SchemaError
from arbitre.schema import load

TITLE = {"type": "object", "properties": {"title": {"$ref": "#/$defs/text"}}, "$defs": {"text": {"type": "string"}}}
WRAPPED = {
    "/schema": {"name": "letters", "strict": True, "schema": TITLE},
    "/json_schema/schema": {"type": "json_schema", "json_schema": {"name": "letters", "schema": TITLE}},
    "/response_format/json_schema/schema": {
        "response_format": {"type": "json_schema", "json_schema": {"schema": TITLE}}
    },
    "/input_schema": {"name": "letters", "description": "Write letters.", "input_schema": TITLE},
    "/function/parameters": {"type": "function", "function": {"name": "letters", "parameters": TITLE}},
    "/schema_definition": {"version": 1, "schema_definition": TITLE},
    "/tools/0/input_schema": {"tools": [{"name": "letters", "input_schema": TITLE}]},
    "/$defs/a~1b": {"$defs": {"a/b": TITLE}},
}
API = {
    "openapi": "3.1.0",
    "components": {
        "schemas": {
            "Letter": {"type": "object", "properties": {"sent": {"$ref": "#/components/schemas/Day"}}},
            "Day": {"type": "string", "format": "date"},
        }
    },
}


def write(path, value):
    path.write_text(json.dumps(value))
    return str(path)


@pytest.mark.parametrize(("place", "wrapped"), WRAPPED.items())
def test_a_wrapped_schema_is_named_and_can_be_used(tmp_path, place, wrapped):
    file = write(tmp_path / "w.json", wrapped)
    with pytest.raises(SchemaError, match="Expected a JSON Schema, got an object that contains one at ") as caught:
        Comparator(file)
    assert caught.value.message.endswith(place)
    assert (caught.value.file, shlex.split(caught.value.hint)) == (file, ["Pass", f"{file}#{place}."])
    with pytest.raises(SchemaError) as caught:
        Comparator(wrapped)
    assert caught.value.hint == f"Pass the value at {place}."
    comparator, plain = Comparator(f"{file}#{place}"), Comparator(TITLE)
    assert comparator.signature == plain.signature
    assert [row.path for row in comparator.explain()] == ["", "/title"]
    again = pickle.loads(pickle.dumps(comparator.plan))  # noqa: S301  (as worker processes do)
    assert again.root.schema == TITLE
    violations = comparator.compare(gold={"title": "a"}, predicted={"title": 1}).violations
    assert [one.pointer for one in violations] == ["/title"]


def test_references_lead_into_the_file_if_they_do_not_lead_into_the_part(tmp_path):
    file = write(tmp_path / "api.json", API)
    assert [row.path for row in Comparator(f"{file}#/components/schemas/Letter").explain()] == ["", "/sent"]
    with pytest.raises(SchemaError, match="contains some at /components/schemas/Letter, /components/schemas/Day"):
        Comparator(file)
    whole = {"type": "array", "items": {"$ref": "#/$defs/one"}, "$defs": {"one": TITLE, "text": {"type": "integer"}}}
    file = write(tmp_path / "whole.json", whole)
    part = Comparator(f"{file}#/$defs/one")
    assert part.compare(gold={"title": 1}, predicted={"title": 1}).violations == ()
    assert part.compare(gold={"title": "a"}, predicted={"title": "a"}).violations != ()


def test_a_problem_in_a_part_is_located_in_the_file(tmp_path):
    file = write(
        tmp_path / "w.json", {"name": "letters", "schema": {"type": "object", "properties": {"a": {"type": 5}}}}
    )
    with pytest.raises(SchemaError) as caught:
        load(f"{file}#/schema")
    assert (caught.value.file, caught.value.pointer) == (file, "/schema/properties/a/type")


@pytest.mark.parametrize(
    ("fragment", "words"),
    [
        ("#/schma", 'Did you mean "schema"?'),
        ("#schema", "Did you mean "),
        ("#/name", 'Expected a schema to be an object or true, got "letters" at /name'),
        ("#/schema/properties/title/none", "got no 'none' at /schema/properties/title"),
        ("#/strict/0", "got no '0' at /strict"),
    ],
)
def test_a_pointer_to_no_schema_is_an_error(tmp_path, fragment, words):
    file = write(tmp_path / "w.json", WRAPPED["/schema"])
    with pytest.raises(SchemaError) as caught:
        load(file + fragment)
    assert words in str(caught.value)


def test_a_number_sign_in_a_file_name_is_part_of_the_name(tmp_path):
    file = write(tmp_path / "a#1.json", {"schema": TITLE, "name": "letters"})
    assert load(f"{file}#/schema").schema == TITLE
    assert load(write(tmp_path / "b#2.json", TITLE)).schema == TITLE


@pytest.mark.parametrize(
    "document",
    [
        {"title": "A letter", "entries": [{"name": "Ada"}]},
        {"type": "invoice", "number": "12", "items": [{"sku": 1}]},
        {"type": {"code": 1}, "number": "x"},
        {"title": "A letter"},
        {"format": "A4", "pages": 3},
        {"Type": "object", "Properties": {}},
    ],
)
def test_a_document_is_no_schema(tmp_path, document):
    for source in (document, write(tmp_path / "d.json", document)):
        with pytest.raises(SchemaError, match="Expected a JSON Schema, got an object without its keywords") as caught:
            load(source)
        assert "arbitre schema infer" in caught.value.hint


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://example.org/any",
            "$comment": "any",
        },
        {"minLength": 2},
        {"format": "date", "title": "A day"},
        {"const": "ab"},
        {"contains": {"type": "string"}},
        {"minContains": 1},
        {"maxContains": 2},
        {"contentEncoding": "base64"},
        {"contentMediaType": "application/json", "contentSchema": {"type": "object"}},
        {"contentSchema": {"type": "object"}, "description": "JSON in a text"},
        {"x-arbitre": {"distance": "exact"}},
    ],
)
def test_a_boolean_an_empty_object_or_any_keyword_is_a_schema(tmp_path, schema):
    for source in (schema, write(tmp_path / "s.json", schema)):
        assert Comparator(source).compare(gold="ab", predicted="ab").quality == 1.0


DRAFT = "http://json-schema.org/draft-0{}/schema#"


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": DRAFT.format(7), "dependencies": {"a": {"minProperties": 1}, "b": ["a"]}},
        {"$schema": DRAFT.format(7), "properties": {"a": {"dependencies": {"a": {}, "b": ["a"]}, "type": "string"}}},
        {"$schema": DRAFT.format(4), "dependencies": {"a": {"minProperties": 1}, "b": ["a"]}},
        {"properties": {"p": {"$schema": DRAFT.format(7), "dependencies": {"a": {"type": "object"}, "b": ["a"]}}}},
        {"properties": {"p": {"$schema": DRAFT.format(3), "definitions": {"a": True}}}},
        {"$schema": DRAFT.format(3), "type": ["string", {"type": "array"}, "object"]},
        {"$schema": DRAFT.format(3), "type": "any"},
    ],
)
def test_keywords_of_older_drafts_are_read(schema):
    documents = [{"a": 1, "b": [1], "p": {"b": "x"}}, {"a": "x"}]
    comparator = Comparator(schema)
    for document in documents:
        comparison = comparator.compare(gold=document, predicted=document)
        assert comparison.quality == 1.0
        assert isinstance(comparison.violations, tuple)


LONG = "x" * 500


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            {"$schema": DRAFT.format(4), "enum": [LONG, 1, LONG]},
            f'draft 4 requires `enum` to be a list of different values, got "{LONG}" 2 times',
        ),
        (
            {"$schema": DRAFT.format(4), "enum": []},
            "draft 4 requires `enum` to be a list of at least one value, got []",
        ),
        ({"$schema": DRAFT.format(7), "enum": {"a": 1}}, 'draft 7 requires `enum` to be a list, got {"a": 1}'),
        ({"enum": LONG}, "draft 2020-12 requires `enum` to be a list, got "),
        ({"properties": {"enum": []}}, "[] is not of type 'object', 'boolean'"),
        ({"$schema": DRAFT.format(4), "dependencies": {"enum": []}, "type": "object"}, "[] should be non-empty"),
        ({"type": [{"enum": LONG}]}, "is not one of"),
    ],
)
def test_a_message_on_a_wrong_keyword_states_the_whole_rule(schema, message):
    with pytest.raises(SchemaError) as caught:
        Comparator(schema)
    assert message in caught.value.message


@pytest.mark.parametrize(("draft", "keyword"), [(3, "dependencies"), (4, "definitions")])
def test_a_boolean_schema_in_an_older_draft_is_refused_at_its_place(draft, keyword):
    schema = {"properties": {"p": {"$schema": DRAFT.format(draft), keyword: {"a": True}}}}
    with pytest.raises(SchemaError, match="Not valid JSON Schema") as caught:
        Comparator(schema)
    assert caught.value.pointer == f"/properties/p/{keyword}/a"
