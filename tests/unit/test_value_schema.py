"""The schema of the values at a path, as pages check what people type."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from arbitre.schema.loading.load_schema import load
from arbitre.schema.value_schema import MAX_SUBSCHEMAS, value_schemas

DATE = {"type": "string", "format": "date"}
PERSON = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "title": "Name"},
        "born": {"$ref": "#/$defs/date", "description": "Day of birth"},
        "party": {"anyOf": [{"enum": ["left", "right"]}, {"type": "null"}], "default": None},
        "children": {"type": "array", "items": {"$ref": "#/$defs/person"}},
        "pages": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
    },
}
SCHEMA = {
    "type": "object",
    "properties": {"people": {"type": "array", "items": {"$ref": "#/$defs/person"}}, "year": {"type": "integer"}},
    "additionalProperties": False,
    "$defs": {"person": PERSON, "date": DATE},
}


def at(path, schema=SCHEMA):
    """The schema of a path; True if any value is allowed."""
    return value_schemas(load(schema), [path]).get(path, True)


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("/year", {"type": "integer"}),
        ("/people/*/born", DATE),
        ("/people/*/party", {"anyOf": [{"enum": ["left", "right"]}, {"type": "null"}]}),
        ("/people/*/children/*/children/*/name", {"type": "string"}),
        ("/people/*/pages/*", {"type": "integer", "minimum": 1}),
        ("/people/*/nickname", True),
        ("/title", False),
    ],
)
def test_references_unions_and_maps_are_followed(path, schema):
    assert at(path) == schema


def test_a_recursive_schema_ends():
    person = at("/people/*")
    assert person["required"] == ["name"]
    assert person["properties"]["born"] == DATE
    assert person["properties"]["children"] == {"type": "array", "items": True}


@pytest.mark.parametrize(
    ("schema", "path", "found"),
    [
        ({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 1, "exclusiveMinimum": True}, "", {"type": "integer", "exclusiveMinimum": 1}),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "minimum": 9, "definitions": {"a": {"type": "integer"}}}, "", {"type": "integer"}),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": [{"type": "null"}], "additionalItems": False}, "", {"type": "array", "prefixItems": [{"type": "null"}], "items": False}),
        ({"type": "object", "patternProperties": {"^a": {"type": "null"}}, "additionalProperties": False}, "/ab", {"type": "null"}),
        ({"type": "object", "patternProperties": {"^a": {"type": "null"}}, "additionalProperties": False}, "", {"type": "object"}),
        ({"oneOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "null"}}}]}, "/a", {"type": "null"}),
        ({"anyOf": [{"type": "object"}, {"type": "object", "properties": {"a": {"type": "null"}}}]}, "/a", True),
        ({"allOf": [{"properties": {"a": {"type": "null"}}}, {"properties": {"a": {"const": None}}}]}, "/a", {"allOf": [{"type": "null"}, {"const": None}]}),
        ({"type": "array", "prefixItems": [{"type": "null"}, {"type": "string"}]}, "/1", {"type": "string"}),
        ({"items": {"type": "null"}}, "/0", True),
        ({"enum": list(range(MAX_SUBSCHEMAS))}, "", True),
        (True, "/a", True),
    ],
)  # fmt: skip
def test_keywords_of_every_draft_have_the_same_form(schema, path, found):
    assert at(path, schema) == found


values = st.recursive(
    st.none() | st.integers(0, 2) | st.sampled_from(["", "a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=5,
)


def keywords(inner):
    """Schemas of objects, lists and scalars, and combinations of schemas."""
    named = st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    return st.one_of(
        st.fixed_dictionaries({"type": st.just("object")}, optional={"properties": named, "additionalProperties": inner, "patternProperties": st.fixed_dictionaries({"^a": inner})}),
        st.fixed_dictionaries({"type": st.just("array")}, optional={"items": inner, "prefixItems": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({}, optional={"type": st.sampled_from(["null", "integer", "string"]), "minimum": st.integers(0, 2), "const": values}),
        st.dictionaries(st.sampled_from(["allOf", "anyOf", "oneOf"]), st.lists(inner, min_size=1, max_size=2), max_size=2),
    )  # fmt: skip


def parts(value, path=""):
    """The values in a value, each with its wildcard path."""
    yield path, value
    inside = (
        value.items() if isinstance(value, dict) else (("*", one) for one in value) if isinstance(value, list) else ()
    )
    for token, inner in inside:
        yield from parts(inner, f"{path}/{token}")


@given(st.recursive(st.just({}) | st.booleans(), keywords, max_leaves=6), values)
def test_what_the_schema_allows_is_never_refused(schema, value):
    if not Draft202012Validator(schema).is_valid(value):
        return
    for path, part in parts(value):
        assert Draft202012Validator(at(path, schema)).is_valid(part), (path, json.dumps(part))
