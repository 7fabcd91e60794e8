"""Schema violations of predictions."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from jsonschema.validators import extend

import arbitre
from arbitre import Comparator
from arbitre.errors import DataError, SchemaError
from arbitre.schema import load, validate
from arbitre.schema.validate import find_certain_violations
from arbitre.schema.validate import find_violations as check
from arbitre.values import ABSENT

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
SLOW = "^(a|a)*$"
LONG = "a" * 40 + "!"


@pytest.fixture
def few_steps(monkeypatch):
    """A 200th of the steps that a validation may take, so that reaching the limit takes little time."""
    monkeypatch.setattr(validate, "_STEPS", validate._STEPS // 200)


def violations(schema, document):
    return Comparator(schema).compare(gold=document, predicted=document).violations


def found(schema, document):
    return [(one.pointer, one.keyword) for one in violations(schema, document)]


def test_violations_have_a_pointer_a_keyword_and_a_message():
    schema = {"properties": {"a/b": {"type": "integer"}, "c": {"enum": [1, 2]}}, "required": ["d"]}
    assert [(one.pointer, one.keyword, one.message) for one in violations(schema, {"a/b": "x", "c": 3})] == [
        ("", "required", "'d' is a required property"),
        ("/a~1b", "type", "'x' is not of type 'integer'"),
        ("/c", "enum", "3 is not one of [1, 2]"),
    ]


def test_violations_are_sorted_in_document_order():
    schema = {"items": {"type": "integer"}}
    assert [pointer for pointer, _ in found(schema, ["x"] * 12)] == [f"/{n}" for n in range(12)]


def test_valid_and_absent_documents_have_no_violations():
    comparator = Comparator({"type": "integer"})
    assert comparator.compare(gold=1, predicted=1).violations == ()
    assert comparator.compare(gold=1, predicted=arbitre.ABSENT).violations == ()


def test_a_false_schema_forbids_its_property():
    assert found({"properties": {"a": False}}, {"a": 1}) == [("/a", "false")]


def test_a_long_value_is_truncated_in_messages():
    (one,) = violations({"type": "integer"}, "x" * 10_000)
    assert len(one.message) < 310


@pytest.mark.parametrize("draft", [DRAFT_7, DRAFT_2019, "https://json-schema.org/draft/2020-12/schema"])
class TestKeywords:
    """The keywords that search by regular expression do what the standard says."""

    def test_pattern_is_validated(self, draft):
        schema = {"$schema": draft, "items": {"pattern": "^a"}}
        assert found(schema, ["ab", "ba", 5]) == [("/1", "pattern")]

    def test_pattern_properties_are_validated(self, draft):
        schema = {"$schema": draft, "patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 3}}}
        assert found(schema, {"ab": "x", "b": 2, "c": 1}) == [("/ab", "type"), ("/b", "minimum")]
        assert found(schema, [1]) == []

    def test_additional_properties_are_validated(self, draft):
        base = {"$schema": draft, "properties": {"a": {}}, "patternProperties": {"^b": {}}}
        document = {"a": 1, "bx": 1, "c": 1}
        assert found({**base, "additionalProperties": False}, document) == [("", "additionalProperties")]
        assert found({**base, "additionalProperties": {"type": "string"}}, document) == [("/c", "type")]
        assert found({**base, "additionalProperties": True}, document) == []
        assert found({**base, "additionalProperties": False}, [1]) == []


@pytest.mark.parametrize("draft", [DRAFT_2019, "https://json-schema.org/draft/2020-12/schema"])
class TestUnevaluated:
    @pytest.mark.parametrize(
        ("beside", "expected"),
        [
            ({}, ["a", "b", "c"]),
            ({"properties": {"a": {}}}, ["b", "c"]),
            ({"patternProperties": {"^[ab]$": {}}}, ["c"]),
            ({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, ["c"]),
            ({"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {}}}]}, ["a", "c"]),
            ({"$ref": "#/$defs/ab"}, ["c"]),
            ({"additionalProperties": {}}, []),
            ({"allOf": [{"unevaluatedProperties": {}}]}, []),
            ({"if": {"properties": {"a": {"const": 1}}}, "then": {"properties": {"b": {}}}, "else": {}}, ["c"]),
            ({"if": {"properties": {"a": {"const": 2}}}, "else": {"properties": {"c": {}}}}, ["a", "b"]),
            ({"dependentSchemas": {"a": {"properties": {"b": {}}}, "z": {"properties": {"c": {}}}}}, ["a", "c"]),
            ({"allOf": [True]}, ["a", "b", "c"]),
        ],
    )
    def test_unevaluated_properties_are_those_no_keyword_evaluated(self, draft, beside, expected):
        schema = {"$schema": draft, "$defs": {"ab": {"properties": {"a": {}, "b": {}}}}, **beside}
        document = {"a": 1, "b": 1, "c": 1}
        messages = [one.message for one in violations({**schema, "unevaluatedProperties": False}, document)]
        assert messages == [f"the key {key!r} is not allowed here" for key in expected]
        typed = found({**schema, "unevaluatedProperties": {"type": "string"}}, document)
        assert typed == [(f"/{key}", "type") for key in expected]


class TestRegularExpressions:
    @pytest.fixture(autouse=True)
    def impatient(self, monkeypatch):
        monkeypatch.setattr("arbitre.schema.validate.PATTERN_SECONDS", 0.1)
        monkeypatch.setattr("arbitre.engine.columns.build.PATTERN_SECONDS", 0.1)

    @pytest.mark.parametrize("pattern", ["(a+)+$", "(a*)*b", "(x+x+)+y"])
    def test_backtracking_patterns_are_evaluated_quickly(self, pattern):
        start = time.monotonic()
        assert found({"pattern": pattern}, LONG) == [("", "pattern")]
        assert (
            Comparator({"patternProperties": {pattern: {}}}).compare(gold={LONG: 1}, predicted={LONG: 1}).quality == 1.0
        )
        assert time.monotonic() - start < 5

    @pytest.mark.parametrize(
        ("schema", "document"),
        [
            ({"pattern": SLOW}, LONG),
            ({"propertyNames": {"pattern": SLOW}}, {LONG: 1}),
            ({"anyOf": [{"pattern": SLOW}]}, LONG),
            (
                {
                    "$defs": {"p": {"$schema": DRAFT_7, "$id": "https://example.org/p", "pattern": SLOW}},
                    "$ref": "https://example.org/p",
                },
                LONG,
            ),
        ],
    )
    def test_a_slow_pattern_takes_bounded_time(self, schema, document):
        start = time.monotonic()
        (one,) = violations(schema, document)
        assert time.monotonic() - start < 5
        assert "takes more than 0.1 s" in one.message or "is not valid under any" in one.message

    def test_a_slow_pattern_is_tried_only_once(self):
        start = time.monotonic()
        messages = [one.message for one in violations({"items": {"pattern": SLOW}}, [LONG] * 50)]
        assert time.monotonic() - start < 5
        assert len(messages) == 50
        assert f"the pattern {SLOW!r} takes too long and was not tried here" in messages

    def test_a_slow_pattern_is_tried_again_in_the_next_document(self):
        root = load({"pattern": SLOW})
        messages = [check(root, LONG)[0].message for _ in range(2)]
        assert messages[0] == messages[1]
        assert "takes more than 0.1 s" in messages[1]

    def test_a_slow_pattern_in_a_referenced_file_takes_bounded_time(self, tmp_path):
        draft = "https://json-schema.org/draft/2020-12/schema"
        (tmp_path / "b.json").write_text(json.dumps({"$schema": draft, "pattern": SLOW}))
        (tmp_path / "a.json").write_text(json.dumps({"$schema": draft, "$ref": "b.json"}))
        start = time.monotonic()
        assert len(violations(tmp_path / "a.json", LONG)) == 1
        assert time.monotonic() - start < 5

    @pytest.mark.parametrize("keyword", ["additionalProperties", "unevaluatedProperties"])
    def test_a_slow_pattern_of_keys_is_a_violation(self, keyword):
        start = time.monotonic()
        found = check(load({"patternProperties": {SLOW: {"type": "integer"}}, keyword: False}), {LONG: 1, "b": 2})
        assert time.monotonic() - start < 5
        assert [one.keyword for one in found] == ["patternProperties"]

    def test_a_slow_pattern_of_keys_stops_a_comparison(self):
        start = time.monotonic()
        with pytest.raises(DataError) as caught:
            violations({"patternProperties": {SLOW: {"type": "integer"}}}, {LONG: 1})
        assert time.monotonic() - start < 5
        assert SLOW in str(caught.value)

    def test_an_invalid_pattern_is_a_violation(self):
        (one,) = violations({"pattern": "("}, "a")
        assert one.message.startswith("'(' is not a regular expression")


def test_deep_documents_are_validated():
    schema = {
        "$defs": {"n": {"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "string"}]}}}},
        "$ref": "#/$defs/n",
    }
    document = "abcd"
    for _ in range(500):
        document = {"a": document}
    assert found(schema, document) == []
    listed = 5
    for _ in range(500):
        listed = [listed]
    nested = {"$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"}
    assert found(nested, listed) == [("/0" * 500, "type")]


@pytest.mark.parametrize(
    "definition",
    [
        {"$ref": "#/$defs/a"},
        {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]},
        {"if": {"$ref": "#/$defs/a"}},
    ],
)
@pytest.mark.usefixtures("few_steps")
def test_a_reference_cycle_in_an_uncompared_part_is_an_error(definition):
    schema = {
        "$defs": {"a": definition},
        "properties": {"b": {"$ref": "#/$defs/a"}},
        "x-arbitre": {"distance": "exact"},
    }
    with pytest.raises(SchemaError, match="Schema validation of a document takes too many steps"):
        violations(schema, {"b": 1})


@pytest.mark.usefixtures("few_steps")
def test_exponential_alternatives_are_an_error():
    node = {"anyOf": [{"type": "object", "properties": {"a": {"$ref": "#"}}, "required": [name]} for name in "bcde"]}
    document = 1
    for _ in range(30):
        document = {"a": document}
    with pytest.raises(SchemaError, match="Schema validation of a document takes too many steps"):
        violations(node, document)


def test_a_large_document_is_validated():
    schema = {"items": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}
    assert found(schema, [{"a": n} for n in range(5_000)] + [{}]) == [("/5000", "required")]


@pytest.mark.parametrize(
    ("reference", "hint"),
    [
        ({"$ref": "#/nowhere"}, "Write #/$defs/NAME"),
        ({"$ref": "#/title/x"}, "Write #/$defs/NAME"),
        ({"$ref": "#/title"}, None),
        ({"$ref": "https://example.org/x"}, "is not fetched"),
        ({"$ref": "other.json"}, "A relative reference needs a schema file"),
        ({"$ref": "http://[bad"}, "Write #/$defs/NAME"),
        ({"$dynamicRef": "#nowhere"}, "Write #/$defs/NAME"),
    ],
)
@pytest.mark.parametrize("around", [lambda ref: ref, lambda ref: {"not": ref}, lambda ref: {"anyOf": [ref]}])
def test_a_broken_reference_in_an_uncompared_part_is_an_error(reference, hint, around):
    schema = {"title": "a", "properties": {"a": around(reference)}, "x-arbitre": {"distance": "exact"}}
    with pytest.raises(SchemaError) as caught:
        violations(schema, {"a": 1})
    (problem,) = caught.value.problems
    (keyword,) = reference
    assert problem.message.startswith(f'Expected `{keyword}` to name a subschema, got "{reference[keyword]}"')
    assert problem.pointer.startswith("/properties/a/")
    assert problem.pointer.endswith(keyword)
    assert hint is None or hint in problem.hint


@pytest.mark.parametrize("target", [{"type": "text"}, {"properties": 5}, {"type": 5}])
def test_a_reference_to_no_schema_in_an_uncompared_part_is_an_error(target):
    schema = {"other": target, "properties": {"a": {"$ref": "#/other"}}, "x-arbitre": {"distance": "exact"}}
    with pytest.raises(SchemaError, match="Not valid JSON Schema") as caught:
        violations(schema, {"a": {}})
    assert caught.value.problems[0].pointer.startswith("/other/")


def older(draft, **keywords):
    return {"$schema": f"http://json-schema.org/draft-0{draft}/schema#", **keywords}


@pytest.mark.parametrize("draft", [6, 7])
def test_boolean_subschemas_of_draft_6_and_7_are_validated_within_a_newer_draft(draft):
    inner = older(draft, properties={"b": True, "c": False})
    assert found({"properties": {"a": inner}}, {"a": {"b": "x"}}) == []
    schema = {"$defs": {"a": inner}, "properties": {"a": {"$ref": "#/$defs/a"}}}
    assert found(schema, {"a": {"b": "x", "c": 1}}) == [("/a/c", "false")]


@pytest.mark.parametrize("draft", [3, 4])
@pytest.mark.parametrize(
    ("place", "schema"),
    [
        ("/properties/a", lambda inner: {"properties": {"a": inner}}),
        ("/$defs/a", lambda inner: {"$defs": {"a": inner}, "$ref": "#/$defs/a"}),
        ("/$defs/a", lambda inner: {"$defs": {"a": {"id": "http://example.org/a", **inner}}, "type": "object"}),
    ],
)
def test_drafts_without_boolean_subschemas_refuse_them_within_a_newer_one(draft, place, schema):
    with pytest.raises(SchemaError, match="Not valid JSON Schema: True is not of type 'object'") as caught:
        Comparator(schema(older(draft, properties={"b": True})))
    assert [problem.pointer for problem in caught.value.problems] == [f"{place}/properties/b"]


def test_dependencies_of_draft_7_are_validated():
    schema = {"$schema": DRAFT_7, "dependencies": {"a": ["b"], "c": {"required": ["d"]}, "e": True}}
    assert found(schema, {"a": 1, "c": 1, "e": 1}) == [("", "dependencies"), ("", "required")]


@pytest.mark.usefixtures("few_steps")
def test_a_cycle_beside_unevaluated_properties_is_an_error():
    node = {"unevaluatedProperties": False, "$ref": "#/$defs/a"}
    schema = {"$defs": {"a": node}, "properties": {"a": node}, "x-arbitre": {"distance": "exact"}}
    with pytest.raises(SchemaError, match="Schema validation of a document takes too many steps"):
        violations(schema, {"a": {"x": 1}})


TREE = {
    "$defs": {"node": {"properties": {"a": {"$ref": "#/$defs/node"}, "b": {"type": "integer"}}}},
    "$ref": "#/$defs/node",
}


def test_documents_share_the_classes_of_their_validator(monkeypatch):
    created = []
    monkeypatch.setattr(validate, "_IDLE", {False: []})
    monkeypatch.setattr(validate, "extend", lambda *given: created.append(given) or extend(*given))
    roots = [load(TREE), load({"items": {"type": "integer"}})]
    for _ in range(10):
        assert [one.keyword for one in check(roots[0], {"b": "x"})] == ["type"]
        assert [one.pointer for one in check(roots[1], [1, "x"])] == ["/1"]
    assert len(created) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("few_steps")
def test_each_document_may_take_all_steps():
    root = load({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "integer"}}})
    cycle = load({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}})
    for _ in range(3):
        for _ in range(10):
            assert check(root, [1] * 400) == ()
        with pytest.raises(SchemaError, match="takes too many steps"):
            check(cycle, {"a": 1})


def test_a_broken_reference_is_an_error_in_every_document():
    root = load({"properties": {"a": {"$ref": "#/nowhere"}}})
    for _ in range(3):
        with pytest.raises(SchemaError, match="to name a subschema"):
            check(root, {"a": 1})


def test_documents_are_validated_in_several_threads():
    root, documents = load(TREE), [{"a": {"a": {"b": number if number % 3 else "x"}}} for number in range(300)]
    expected = [check(root, document) for document in documents]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda document: check(root, document), documents)) == expected


PEOPLE = {"people": [{"name": "Ada", "born": 1815}, {"name": "Bo", "born": 1820}]}


@pytest.mark.parametrize(
    ("schema", "path", "value", "keywords"),
    [
        ({"properties": {"born": {"type": "integer"}}}, ("people", "1", "born"), "x", ["type"]),
        ({"properties": {"born": {"minimum": 0}}}, ("people", "1", "born"), 5, []),
        ({"properties": {"born": {"anyOf": [{"type": "null"}, {"minimum": 0}]}}}, ("people", "0", "born"), -1, ["anyOf"]),
        ({"additionalProperties": {"type": "string", "maxLength": 9}}, ("people", "0", "new"), 5, ["type"]),
        ({"allOf": [{"properties": {"born": {"enum": [1]}}}], "properties": {"born": {"type": "integer"}}}, ("people", "0", "born"), "x", ["enum", "type"]),
        ({"$ref": "#/$defs/person"}, ("people", "0", "name"), ["x", 3], ["type"]),
        ({"required": ["name", "born"]}, ("people", "1", "name"), ABSENT, ["required"]),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, ("people", "0"), {"a": 1}, ["type"]),
    ],
)  # fmt: skip
def test_a_change_of_one_value_certainly_causes_these_violations(schema, path, value, keywords):
    whole = {
        "properties": {"people": {"type": "array", "items": schema}},
        "$defs": {"person": {"properties": {"name": {"type": "string"}}}},
    }
    after = json.loads(json.dumps(PEOPLE))
    within = after
    for token in path[:-1]:
        within = within[int(token)] if isinstance(within, list) else within[token]
    last = int(path[-1]) if isinstance(within, list) else path[-1]
    if value is ABSENT:
        del within[last]
    else:
        within[last] = value
    root = load(whole)
    certain = find_certain_violations(root, PEOPLE, path, value)
    assert [each.keyword for each in certain] == keywords
    assert set(certain) == set(check(root, after)) - set(check(root, PEOPLE))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"properties": {"born": {"type": "string"}}, "if": {"required": ["died"]}}, 5),
        ({"anyOf": [{"properties": {"born": {"type": "string"}}}, {"required": ["died"]}]}, 5),
        ({"patternProperties": {"^b": {"type": "string"}}}, 5),
        ({"properties": {"name": True}, "additionalProperties": False}, 5),
        ({"minProperties": 2, "required": ["born"]}, ABSENT),
        ({"dependentRequired": {"name": ["born"]}}, ABSENT),
    ],
)
def test_violations_that_depend_on_other_values_are_not_certain(schema, value):
    root = load({"properties": {"people": {"items": schema}}})
    assert find_certain_violations(root, PEOPLE, ("people", "0", "born"), value) == ()


def test_up_to_draft_7_keywords_next_to_a_reference_cause_no_violation():
    schema = {"$schema": DRAFT_7, "$ref": "#/definitions/a", "properties": {"born": {"type": "string"}}}
    root = load(schema | {"definitions": {"a": {"properties": {"born": {"minimum": 0}}}}})
    assert find_certain_violations(root, {"born": 1}, ("born",), 5) == ()
    assert [each.keyword for each in find_certain_violations(root, {"born": 1}, ("born",), -5)] == ["minimum"]
