"""Compiled schemas: drafts, kinds, objects, maps, lists, limits, the explanation and the signature."""

import json
import time
from itertools import pairwise
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft201909Validator, Draft202012Validator
from tests.builders import refused

import arbitre
from arbitre import Comparator
from arbitre.errors import OptionError, SchemaError
from arbitre.schema.compiling import branches as branch_expansion
from arbitre.schema.loading.load_schema import Subschema
from arbitre.schema.loading.schema_store import metaschema

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def quality(schema, gold, predicted, **options):
    return Comparator(schema, **options).compare(gold=gold, predicted=predicted).quality


def rows(schema, **options):
    return {row.path: row for row in Comparator(schema, **options).explain()}


def obj(**properties):
    return {"type": "object", "properties": properties}


STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}


@pytest.mark.parametrize(
    ("schema", "gold", "predicted", "expected"),
    [
        (STRING, "abcd", "abcx", 7 / 9),
        (INTEGER, 10, 9, 0.0),
        (INTEGER, 10, 10.0, 1.0),
        (NUMBER, 10, 9, 0.9),
        ({"type": ["integer", "number"]}, 10, 9, 0.9),
        ({"type": "boolean"}, True, False, 0.0),
        ({"type": "boolean"}, True, 1, 0.0),
        ({"enum": ["abcd", "abcx"]}, "abcd", "abcx", 0.0),
        ({"const": "abcd"}, "abcd", "abcx", 0.0),
        ({"enum": [10, 9], "type": "number"}, 10, 9, 0.0),
        ({"type": "string", "format": "date"}, "2024-01-01", "2024-03-14", 1 - 73 / 365),
        ({"type": "string", "format": "date-time"}, "2024-01-01", "2024-03-14", 1 - 73 / 365),
        ({"type": "string", "format": "hostname"}, "abcd", "abcx", 7 / 9),
        ({"type": "string", "format": "email"}, "abcd", "abcx", 0.0),
        ({"type": ["string", "null"], "format": "date"}, "2024-01-01", "2024-03-14", 1 - 73 / 365),
        ({"type": "null"}, None, None, 1.0),
        ({"type": ["string", "integer"]}, "abcd", "abcx", 7 / 9),
        ({"type": ["string", "integer"]}, 10, 9, 0.0),
        ({"type": ["string", "integer"]}, "10", 10, 0.0),
        ({}, "abcd", "abcx", 7 / 9),
        ({}, 10, 9, 0.9),
        ({}, {"a": ["abcd"]}, {"a": ["abcx"]}, 7 / 9),
        (True, "abcd", "abcx", 7 / 9),
        (False, "abcd", "abcx", 7 / 9),
        (STRING, 10, 9, 0.9),
        (STRING, ["abcd"], ["abcx"], 7 / 9),
    ],
)
def test_each_kind_has_its_default_distance(schema, gold, predicted, expected):
    assert quality(schema, gold, predicted) == pytest.approx(expected)


def test_objects_are_compared_field_by_field():
    schema = obj(a=STRING, b=INTEGER) | {"required": ["a"], "additionalProperties": False}
    assert quality(schema, {"a": "x", "b": 1}, {"a": "x", "b": 2}) == 0.5
    assert quality(schema, {"a": "x", "b": 1}, {"a": "x"}) == 0.5
    assert quality(schema, {"a": "x"}, {"a": "x", "c": 2}) == 0.5


def test_undeclared_keys_have_their_own_path():
    found = Comparator(obj(a=STRING)).compare(gold={"a": "x", "z": 1}, predicted={"a": "x", "z": 1}).by_path()
    assert list(found) == ["/a", "/z"]


def test_the_keys_of_a_map_share_one_path():
    schema = {"type": "object", "additionalProperties": INTEGER}
    comparison = Comparator(schema).compare(gold={"a": 1, "b": 2}, predicted={"a": 1, "b": 3, "c": 4})
    assert list(comparison.by_path()) == ["/*"]
    assert comparison.by_path()["/*"].predicted == 3
    assert comparison.quality == pytest.approx(1 / 3)


def test_properties_win_over_patterns_and_earlier_patterns_over_later():
    schema = obj(ab=STRING) | {
        "patternProperties": {"^a": INTEGER, "b$": NUMBER},
        "additionalProperties": STRING,
    }
    assert quality(schema, {"ab": "abcd"}, {"ab": "abcx"}) == pytest.approx(7 / 9)
    assert quality(schema, {"axb": 10}, {"axb": 9}) == 0.0
    assert quality(schema, {"xb": 10}, {"xb": 9}) == 0.9
    assert quality(schema, {"c": "abcd"}, {"c": "abcx"}) == pytest.approx(7 / 9)


def test_nested_arrays_at_the_root_are_compared():
    schema = {"type": "array", "items": {"type": "array", "items": INTEGER}}
    comparison = Comparator(schema).compare(gold=[[1, 2], [3]], predicted=[[3], [2, 1]])
    assert comparison.quality == 1.0
    assert list(comparison.by_path()) == ["/*", "/*/*"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "prefixItems": [STRING, INTEGER], "items": NUMBER},
        {"$schema": DRAFT_7, "type": "array", "items": [STRING, INTEGER], "additionalItems": NUMBER},
        {"$schema": DRAFT_2019, "type": "array", "items": [STRING, INTEGER], "additionalItems": NUMBER},
    ],
)
def test_the_first_items_of_a_tuple_are_compared_by_position(schema):
    comparison = Comparator(schema).compare(gold=["a", 1, 10, 20], predicted=["a", 2, 20, 9])
    assert comparison.quality == pytest.approx(2.9 / 4)
    assert {path: scores.quality for path, scores in comparison.by_path().items()} == {
        "/0": 1.0,
        "/1": 0.0,
        "/*": pytest.approx(0.95),
    }


def test_items_beyond_a_closed_tuple_are_compared():
    schema = {"type": "array", "prefixItems": [INTEGER], "items": False}
    assert quality(schema, [1, "abcd"], [1, "abcx"]) == pytest.approx((1 + 7 / 9) / 2)


def test_draft_7_ignores_keywords_beside_a_reference_except_annotations():
    schema = {
        "$schema": DRAFT_7,
        "definitions": {"name": STRING},
        "properties": {
            "a": {"$ref": "#/definitions/name", "enum": ["abcd", "abcx"]},
            "b": {"$ref": "#/definitions/name", "x-arbitre": {"distance": "exact", "weight": 3}},
        },
    }
    assert quality(schema, {"a": "abcd"}, {"a": "abcx"}) == pytest.approx(7 / 9)
    assert quality(schema, {"b": "abcd"}, {"b": "abcx"}) == 0.0
    assert rows(schema)["/b"].weight == 3.0
    beside = {**schema, "$schema": DRAFT_2020}
    assert quality(beside, {"a": "abcd"}, {"a": "abcx"}) == 0.0


def test_properties_called_like_keywords_are_properties():
    schema = obj(**{"$ref": STRING, "$id": INTEGER, "properties": NUMBER, "type": STRING, "items": STRING})
    assert sorted(rows(schema)) == ["", "/$id", "/$ref", "/items", "/properties", "/type"]
    assert quality(schema, {"$id": 1, "properties": 10}, {"$id": 1, "properties": 9}) == pytest.approx(0.95)


def test_unknown_keywords_are_ignored():
    schema = {"type": "string", "x-other": {"distance": 1}, "x-array": True, "markdownDescription": "a"}
    assert quality(schema, "abcd", "abcx") == pytest.approx(7 / 9)


class TestEntries:
    def test_the_only_list_of_objects_at_the_least_depth_is_the_entries(self):
        xs = {"type": "array", "items": obj(a=STRING)}
        assert Comparator(obj(wrapper=obj(xs=xs))).entries == "/wrapper/xs"
        assert Comparator(obj(meta=obj(tags={"type": "array", "items": STRING}), xs=xs)).entries == ""

    def test_two_candidate_lists_make_the_root_the_entries(self):
        many = {"type": "array", "items": obj(a=STRING)}
        assert Comparator(obj(xs=many, ys=many)).entries == ""

    def test_a_list_marked_false_is_not_the_entries(self):
        ys = {"type": "array", "items": obj(a=STRING)}
        xs = {**ys, "x-arbitre": {"entries": False}}
        assert Comparator(obj(ys=ys)).entries == "/ys"
        assert Comparator(obj(xs=xs)).entries == ""

    def test_the_list_branch_of_a_union_can_be_marked(self):
        xs = {"anyOf": [{"type": "array", "items": STRING, "x-arbitre": {"entries": True}}, STRING]}
        ys = {"type": "array", "items": obj(a=STRING)}
        assert Comparator(obj(xs=xs, ys=ys)).entries == "/xs"

    def test_two_lists_marked_as_entries_are_refused(self):
        marked = {"type": "array", "items": STRING, "x-arbitre": {"entries": True}}
        (problem,) = refused(obj(xs=marked, ys=marked))
        assert problem.message == "Expected only one list to be marked as entries, got /xs, /ys"


class TestLimits:
    def nested(self, depth):
        schema = STRING
        for _ in range(depth):
            schema = obj(a=schema)
        return schema

    def test_400_levels_compile(self):
        comparator = Comparator(self.nested(400))
        gold = "abcd"
        predicted = "abcx"
        for _ in range(400):
            gold, predicted = {"a": gold}, {"a": predicted}
        assert comparator.compare(gold=gold, predicted=predicted).quality == pytest.approx(7 / 9)

    def test_10_000_levels_are_refused(self):
        (problem,) = refused(self.nested(10_000))
        assert problem.message == "Expected at most 2000 nested lists and objects in the schema, got more"

    def test_10_000_levels_in_a_file_are_refused(self, tmp_path):
        file = tmp_path / "deep.json"
        file.write_text('{"properties": {"a": ' * 10_000 + "{}" + "}}" * 10_000)
        (problem,) = refused(file)
        assert problem.file == str(file)

    def test_a_million_brackets_in_a_file_are_refused(self, tmp_path):
        file = tmp_path / "deep.json"
        file.write_text("[" * 1_000_000)
        assert len(refused(file)) == 1

    def test_a_schema_that_holds_itself_is_refused(self):
        schema = {"type": "object", "properties": {}}
        schema["properties"]["a"] = schema
        assert "2000" in refused(schema)[0].message

    def test_a_long_chain_of_references_is_followed(self):
        names = [f"d{n}" for n in range(1_500)]
        definitions = {name: {"$ref": f"#/$defs/{after}"} for name, after in pairwise(names)}
        schema = {"$defs": definitions | {names[-1]: NUMBER}, "$ref": "#/$defs/d0"}
        assert quality(schema, 10, 9) == 0.9

    def test_combinations_that_multiply_are_refused(self):
        branches = [{"anyOf": [obj(**{f"p{n}_{m}": STRING}) for m in range(4)]} for n in range(20)]
        start = time.monotonic()
        problems = refused({"allOf": branches})
        assert time.monotonic() - start < 10  # instead of hours
        assert [problem.message for problem in problems] == ["Expected at most 256 branches for one value, got more"]
        assert problems[0].hint == "Simplify the combinations of anyOf, oneOf and allOf."

    def test_too_many_nested_branches_are_refused(self):
        def field(number):
            return {"anyOf": [obj(**{f"f{number}_{n}": STRING}) for n in range(20)]}

        (problem,) = refused({"oneOf": [obj(kind={"const": n}, x=field(n)) for n in range(20)]})
        assert problem.message == "Expected at most 256 branches for one value, got more"
        assert problem.pointer == "/oneOf/0/properties/x"

    @pytest.mark.parametrize(
        "twice",
        [
            lambda ref: {"allOf": [ref, ref]},
            lambda ref: {"anyOf": [ref, ref]},
            lambda ref: {"oneOf": [ref, ref]},
            lambda ref: {"not": {"allOf": [ref, ref]}},
            lambda ref: {"not": ref, "if": ref},
            lambda ref: {"if": ref, "then": ref, "else": ref},
            lambda ref: {"dependentSchemas": {"a": ref, "b": ref}},
            lambda ref: {"dependencies": {"a": ref, "b": ref}},
            lambda ref: {**ref, "allOf": [ref]},
            lambda ref: {"anyOf": [{**ref, "title": "a"}, {**ref, "minimum": 3}]},
            lambda ref: {"allOf": [obj(x=ref), obj(x=ref)]},
        ],
    )
    @pytest.mark.parametrize("leaf", [NUMBER, obj(a=STRING)])
    def test_definitions_combined_twice_at_every_level_are_expanded_once(self, monkeypatch, twice, leaf):
        levels = 18
        definitions = {f"d{n}": twice({"$ref": f"#/$defs/d{n + 1}"}) for n in range(levels)} | {f"d{levels}": leaf}
        expanded, followed, combined = [], [], []
        own_branch, follow, both = branch_expansion.own_branch, Subschema.follow, branch_expansion.intersect
        monkeypatch.setattr(branch_expansion, "own_branch", lambda *given: expanded.append(given) or own_branch(*given))
        monkeypatch.setattr(Subschema, "follow", lambda *given: followed.append(given) or follow(*given))
        monkeypatch.setattr(branch_expansion, "intersect", lambda *given: combined.append(given) or both(*given))
        problems = ()
        try:
            Comparator({"$defs": definitions, "$ref": "#/$defs/d0"})
        except SchemaError as error:
            problems = error.problems
        too_many = {"Expected at most 256 branches for one value, got more"}
        assert {problem.message for problem in problems} == (
            too_many if {"anyOf", "oneOf"} & twice({}).keys() else set()
        )
        subschemas = 7 * (levels + 1)  # each counted as itself, and as one that only adds to others
        assert len(expanded) <= 2 * subschemas
        assert len(followed) <= 4 * subschemas
        assert len(combined) <= 5_000

    def test_positions_beyond_the_limit_are_refused(self, monkeypatch):
        monkeypatch.setattr("arbitre.schema.compiling.compiler.MAX_POSITIONS", 10)
        (problem,) = refused(obj(**{name: obj(a=STRING) for name in "abcdefgh"}))
        assert problem.message == "Expected a schema of at most 10 positions, got more"

    @pytest.mark.slow
    def test_many_constants_compile_to_one_enum(self):
        schema = {"oneOf": [{"const": f"code {n}", "title": str(n)} for n in range(5_000)]}
        assert quality(schema, "code 1", "code 2") == 0.0
        assert rows(schema)[""].distance == "exact"

    def test_definitions_used_many_times_over_do_not_multiply(self):
        definitions = {
            f"d{n}": obj(a={"$ref": f"#/$defs/d{n + 1}"}, b={"$ref": f"#/$defs/d{n + 1}"}) for n in range(40)
        }
        schema = {"$defs": definitions | {"d40": STRING}, "$ref": "#/$defs/d0"}
        assert len(Comparator(schema).explain()) < 12_000

    def test_a_field_declared_again_below_itself_terminates(self):
        child = {"$ref": "#/$defs/node"}
        node = {"properties": {"child": child, "n": INTEGER}, "allOf": [{"properties": {"child": dict(child)}}]}
        schema = {"$defs": {"node": node}, "$ref": "#/$defs/node"}
        assert quality(schema, {"child": {"child": {"n": 1}}}, {"child": {"child": {"n": 1}}}) == 1.0


class TestGarbage:
    @pytest.mark.parametrize("schema", [[], 5, None, 1.5, b"{}", object()])
    def test_a_value_that_is_not_a_schema_is_refused(self, schema):
        assert "Expected a schema as a dictionary, a file or a Python type" in refused(schema)[0].message

    @pytest.mark.parametrize(
        "text",
        ["", "{", "[]", "5", "null", '"a"', '{"type": "strng"}', '{"type": NaN}', '{"a": 1, "a": 2}', '{"$schema": 5}'],
    )
    def test_a_file_without_a_valid_schema_is_refused(self, tmp_path, text):
        file = tmp_path / "schema.json"
        file.write_text(text)
        assert {problem.file for problem in refused(file)} == {str(file)}
        assert {problem.file for problem in refused(str(file))} == {str(file)}

    def test_an_unreadable_file_is_refused(self, tmp_path):
        (tmp_path / "latin.json").write_bytes(b'{"title": "\xe9"}')
        assert refused(tmp_path / "latin.json")[0].message.startswith(
            "Expected UTF-8, got the byte 0xe9 at byte offset 11"
        )
        assert refused(tmp_path / "none.json")[0].message == "Cannot read the schema: No such file or directory"
        assert refused(tmp_path)[0].message == "Expected a file, got a folder"
        assert refused("\0")[0].message.startswith("Cannot read the schema")
        assert refused('{"type": "' + "a" * 9_000)[0].message.startswith("Cannot read the schema")

    def test_a_file_with_a_byte_order_mark_is_read(self, tmp_path):
        (tmp_path / "s.json").write_text('{"type": "integer"}', encoding="utf-8-sig")
        assert quality(tmp_path / "s.json", 10, 9) == 0.0

    def test_invalid_json_names_the_line(self, tmp_path):
        (tmp_path / "s.json").write_text('{\n"type": "string",\n,}')
        assert refused(tmp_path / "s.json")[0].line == 3

    def test_every_value_that_is_not_strict_json_is_listed_with_its_place(self, tmp_path):
        text = '{"properties": {"a": {"minimum": NaN, "maximum": 1e999}, "b": {"type": "string", "type": "null"}}}'
        (tmp_path / "s.json").write_text(text)
        assert [(problem.message, problem.file, problem.pointer) for problem in refused(tmp_path / "s.json")] == [
            ("Expected a finite number, got NaN", str(tmp_path / "s.json"), "/properties/a/minimum"),
            (
                "Expected a number within ±1.798e+308, got 1e999",
                str(tmp_path / "s.json"),
                "/properties/a/maximum",
            ),
            ("Expected each key once in an object, got 'type' 2 times", str(tmp_path / "s.json"), "/properties/b"),
        ]

    def test_an_overlay_with_a_number_that_is_not_json_names_its_place(self, tmp_path):
        (tmp_path / "overlay.json").write_text('{"/a": {"floor": NaN}}')
        problems = refused({"properties": {"a": {"type": "string"}}}, overlay=tmp_path / "overlay.json")
        assert [(problem.file, problem.pointer) for problem in problems] == [
            (str(tmp_path / "overlay.json"), "/~1a/floor")
        ]

    def test_every_problem_of_the_metaschema_is_listed(self):
        problems = refused({"properties": {"a": {"type": "strng"}, "b": {"enum": 5}, "c": 7}})
        assert [problem.pointer for problem in problems] == [
            "/properties/a/type",
            "/properties/b/enum",
            "/properties/c",
        ]
        assert problems[0].hint == 'Did you mean "string"?'

    @pytest.mark.slow
    @pytest.mark.parametrize("draft", [Draft7Validator, Draft201909Validator, Draft202012Validator])
    def test_the_metaschema_in_one_schema_accepts_the_same_schemas(self, draft):
        keywords = metaschema(draft).schema["properties"].keys()
        assert {"$ref", "items", "type", "format", "description"} <= keywords
        whole = draft(draft.META_SCHEMA)
        for keyword in keywords:
            for value in (
                None,
                True,
                -1,
                "string",
                "(",
                [],
                ["a"],
                ["a", "a"],
                [{}],
                {},
                {"a": 3},
                {"a": {}},
                {"a": ["b"]},
            ):
                schema = {"items": {keyword: value}}
                assert metaschema(draft).is_valid(schema) == whole.is_valid(schema), schema

    @pytest.mark.parametrize("value", [float("nan"), {1, 2}, (1, 2), {1: 2}, object()])
    def test_a_value_that_is_not_json_is_refused_at_its_pointer(self, value):
        (problem,) = refused({"properties": {"a": {"default": value}}})
        assert problem.pointer == "/properties/a/default"

    def test_an_invalid_pattern_is_refused(self):
        (problem,) = refused({"patternProperties": {"(": STRING}})
        assert problem.message.startswith('Expected a valid regular expression, got "("')
        assert problem.pointer == "/patternProperties/("

    def test_items_as_a_list_is_refused_in_draft_2020_12(self):
        (problem,) = refused({"items": [STRING]})
        assert problem.pointer == "/items"
        assert "prefixItems" in problem.hint

    @pytest.mark.parametrize("close", [0, -1, 1.5, float("nan"), True, "high"])
    def test_a_close_outside_its_range_is_refused(self, close):
        with pytest.raises(OptionError, match="`close`"):
            Comparator(STRING, close=close)


class TestExplain:
    SCHEMA = obj(
        name=STRING | {"x-arbitre": {"weight": 2, "normalize": ["strip", "casefold"]}},
        born={"type": ["string", "null"], "format": "date"},
        pages={"type": "array", "items": INTEGER, "x-arbitre": {"distance": "jaccard"}},
        works={"type": "array", "items": obj(title=STRING), "x-arbitre": {"match": {"hungarian": {"gate": 0.5}}}},
        hidden=STRING | {"x-arbitre": {"ignore": True}},
        anything={},
        either={"anyOf": [STRING, INTEGER]},
        parent={"$ref": "#"},
    )

    def test_explain_lists_every_path_with_its_settings(self):
        found = {path: row.to_dict() for path, row in rows(self.SCHEMA).items()}
        blank = {"weight": 1.0, "distance": "", "match": "", "normalize": "", "notes": "", "alternatives": ""}
        assert found == {
            path: {"path": path, **blank, **said}
            for path, said in {
                "": {"kind": "object"},
                "/name": {"kind": "string", "weight": 2.0, "distance": "yujian-bo", "normalize": "strip, casefold"},
                "/born": {"kind": "null or string", "distance": "date(scale=365)"},
                "/pages": {"kind": "array", "distance": "jaccard"},
                "/works": {"kind": "array", "match": "hungarian(gate=0.5)"},
                "/works/*": {"kind": "object"},
                "/works/*/title": {"kind": "string", "distance": "yujian-bo"},
                "/hidden": {"kind": "", "notes": "ignored"},
                "/anything": {"kind": "any", "distance": "by kind"},
                "/either": {"kind": "number or string", "distance": "exact, yujian-bo"},
                "/parent": {"kind": "object", "notes": "same as the root"},
            }.items()
        }

    def test_a_recursive_schema_is_listed_once(self):
        schema = {
            "$defs": {"node": obj(label=STRING, children={"type": "array", "items": {"$ref": "#/$defs/node"}})},
            **obj(tree={"$ref": "#/$defs/node"}),
        }
        assert {path: row.notes for path, row in rows(schema).items()} == {
            "": "",
            "/tree": "",
            "/tree/label": "",
            "/tree/children": "",
            "/tree/children/*": "same as /tree",
        }


class TestSignature:
    BASE = obj(
        name=STRING,
        size=NUMBER,
        pages={"type": "array", "items": obj(n=INTEGER, k=STRING)},
        others={"type": "array", "items": obj(n=INTEGER)},
        level={"enum": ["low", "mid", "high"]},
    )

    def changed(self, path, annotation):
        schema = json.loads(json.dumps(self.BASE))
        node = schema
        for token in path:
            node = node[token]
        node["x-arbitre"] = annotation
        return schema

    def test_every_annotation_changes_the_signature(self):
        name, size, pages = ("properties", "name"), ("properties", "size"), ("properties", "pages")
        variants = [
            ((), {"absent": []}),
            ((), {"absent": ["", None]}),
            ((), {"distance": "exact"}),
            (name, {"distance": "levenshtein"}),
            (name, {"distance": "ratcliff-obershelp"}),
            (name, {"distance": {"ratcliff-obershelp": {"autojunk": True}}}),
            (name, {"distance": "date"}),
            (name, {"distance": {"date": {"scale": 30}}}),
            (name, {"normalize": ["strip", "casefold"]}),
            (name, {"normalize": ["casefold", "strip"]}),
            (name, {"normalize": ["strip"]}),
            (name, {"normalize": [{"number": {"decimal": ","}}]}),
            (name, {"normalize": ["number"]}),
            (name, {"weight": 2}),
            (name, {"weight": 2.0000001}),
            (name, {"absent": ["", None]}),
            (name, {"aliases": ["nom"]}),
            (name, {"aliases": ["nom", "label"]}),
            (name, {"aliases": ["label", "nom"]}),
            (name, {"ignore": True}),
            (size, {"distance": {"absolute": {"scale": 1}}}),
            (size, {"distance": {"absolute": {"scale": 2}}}),
            (pages, {"match": "greedy"}),
            (pages, {"match": {"hungarian": {"gate": 0.5}}}),
            (pages, {"match": {"hungarian": {"gate": 0.6}}}),
            (pages, {"match": {"keyed": {"key": "n"}}}),
            (pages, {"match": {"keyed": {"key": ["n", "k"]}}}),
            (pages, {"match": "ordered"}),
            (pages, {"entries": True}),
            (pages, {"distance": "exact"}),
            (pages, {"absent": [[]]}),
            ((*pages, "items"), {"absent": [{}]}),
            ((*pages, "items", "properties", "n"), {"distance": "relative"}),
            (("properties", "level"), {"distance": "ordinal"}),
        ]
        schemas = [self.BASE, *(self.changed(path, annotation) for path, annotation in variants)]
        signatures = [Comparator(schema).signature for schema in schemas]
        signatures.append(Comparator(self.BASE, close=0.9).signature)
        assert len({signature.long for signature in signatures}) == len(variants) + 2
        assert len({signature.short for signature in signatures}) == len(variants) + 2

    def test_entries_false_changes_the_signature_only_if_it_changes_the_entries(self):
        pages = {"type": "array", "items": obj(n=INTEGER)}
        plain, marked = Comparator(obj(pages=pages)), Comparator(obj(pages={**pages, "x-arbitre": {"entries": False}}))
        assert (plain.entries, marked.entries) == ("/pages", "")
        assert plain.signature != marked.signature

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ({"enum": ["a", "b"]}, {"enum": ["a", "c"]}),
            ({"const": "a"}, {"const": "b"}),
        ],
    )
    def test_branch_conditions_change_the_signature(self, one, other):
        def union(kind):
            return {"anyOf": [obj(kind=kind, x=STRING), obj(kind={"const": "z"}, x=INTEGER)]}

        assert Comparator(union(one)).signature != Comparator(union(other)).signature

    def test_the_order_of_branches_and_patterns_changes_the_signature(self):
        branches = [obj(a=STRING, b=STRING), obj(b=INTEGER, c=STRING)]
        assert Comparator({"anyOf": branches}).signature != Comparator({"anyOf": branches[::-1]}).signature
        patterns = {"^a": STRING, "b$": NUMBER}
        other = dict(reversed(patterns.items()))
        assert (
            Comparator({"patternProperties": patterns}).signature != Comparator({"patternProperties": other}).signature
        )

    def test_settings_without_effect_on_scores_keep_the_signature(self):
        schema = json.loads(json.dumps(self.BASE))
        schema["title"] = "Things"
        schema["required"] = ["name"]
        schema["properties"]["name"] |= {"description": "A name.", "minLength": 1, "examples": ["a"]}
        schema["properties"] = dict(reversed(schema["properties"].items()))
        schema["properties"]["pages"]["items"]["properties"] = {"k": STRING, "n": INTEGER}
        schema["properties"]["size"] = {"$ref": "#/$defs/size"}
        schema["$defs"] = {"size": NUMBER}
        assert Comparator(schema).signature == Comparator(self.BASE).signature
        assert Comparator(self.BASE, close=0.8).signature == Comparator(self.BASE).signature

    def test_explicit_defaults_keep_the_signature(self):
        schema = self.changed(("properties", "name"), {"distance": "yujian-bo", "weight": 1, "absent": [None]})
        assert Comparator(schema).signature == Comparator(self.BASE).signature

    def test_the_signature_survives_a_round_trip(self):
        signature = Comparator(self.BASE).signature
        assert arbitre.Comparator(self.BASE).signature.parse(signature.long) == signature


class TestFields:
    SCHEMA: ClassVar = {
        "type": "object",
        "properties": {
            "date": {"type": "string"},
            "people": {
                "type": "array",
                "x-arbitre": {"match": {"keyed": {"key": "id"}}},
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string"},
                        "name": {"type": "string"},
                        "address": {"type": "object", "properties": {"city": {"type": "string"}}},
                    },
                },
            },
        },
    }
    GOLD: ClassVar = {"date": "1867", "people": [{"id": "1", "name": "Ada", "address": {"city": "Paris"}}]}
    PREDICTED: ClassVar = {
        "date": "1876",
        "more": 1,
        "people": [{"id": "1", "name": "Ada", "address": {"city": "x"}, "age": 3}],
    }

    def quality(self, fields):
        comparison = arbitre.Comparator(self.SCHEMA, fields=fields).compare(gold=self.GOLD, predicted=self.PREDICTED)
        return comparison.quality, {path for path in comparison.by_path if path}

    def test_only_the_values_at_the_paths_and_the_keys_of_their_lists_are_compared(self):
        assert self.quality("/people/*/name") == (1.0, {"/people/*", "/people/*/id", "/people/*/name"})
        quality, paths = self.quality(["/people/*/address", "/date"])
        assert quality < 1.0
        assert paths == {"/date", "/people/*", "/people/*/id", "/people/*/address", "/people/*/address/city"} - {
            "/people/*/address"
        }

    def test_the_signature_is_that_of_the_same_settings(self):
        whole, part = (arbitre.Comparator(self.SCHEMA, fields=fields).signature for fields in ((), "/date"))
        assert whole != part

    def test_a_path_that_the_schema_lacks_is_an_error(self):
        with pytest.raises(arbitre.OptionError, match=r"/people/\*/nam'") as caught:
            arbitre.Comparator(self.SCHEMA, fields=["/people/*/nam"])
        assert "/people/*/name" in caught.value.hint

    def test_a_key_that_is_ignored_is_an_error(self):
        with pytest.raises(arbitre.SchemaError, match="it is ignored"):
            arbitre.Comparator(self.SCHEMA, overlay={"/people/*/id": {"ignore": True}})


class TestNullCredit:
    VALUES: ClassVar = st.one_of(st.none(), st.sampled_from("ab"))
    PEOPLE: ClassVar = st.lists(st.dictionaries(st.sampled_from(["name", "mail", "other"]), VALUES), max_size=4)

    @staticmethod
    def schema(credit, distance):
        text = {"type": ["string", "null"], "x-arbitre": {"distance": distance}}
        field = {"type": ["string", "null"], "x-arbitre": {"distance": distance, "weight": 2, **credit}}
        return {"type": "array", "items": {"type": "object", "properties": {"name": text, "mail": field}}}

    @given(PEOPLE, PEOPLE)
    def test_missing_and_null_count_as_one_value(self, gold, predicted):
        """Against a schema without the setting, for documents in which a text stands for null and a missing key."""

        def written(people):
            return [
                {key: value for key, value in one.items() if key != "mail"}
                | {"mail": "none" if one.get("mail") is None else one["mail"]}
                for one in people
            ]

        credit = Comparator(self.schema({"null": "credit"}, "exact"))
        plain = Comparator(self.schema({}, "exact"))
        found = credit.compare(gold=gold, predicted=predicted)
        expected = plain.compare(gold=written(gold), predicted=written(predicted))
        assert found.quality == pytest.approx(expected.quality, abs=1e-12)
        assert found.scores.f1q == (None if expected.scores.f1q is None else pytest.approx(expected.scores.f1q))

    def test_a_repair_adds_the_missing_key(self):
        comparator = Comparator(self.schema({"null": "credit"}, "exact"))
        comparison = comparator.compare(gold=[{"name": "a", "mail": "b"}], predicted=[{"name": "a"}])
        (operation,) = comparison.patch()
        assert (operation.op, operation.path, operation.value) == ("add", "/0/mail", "b")

    def test_undeclared_keys_still_count(self):
        comparator = Comparator(self.schema({"null": "credit"}, "exact"))
        assert comparator.compare(gold=[{"name": "a"}], predicted=[{"name": "a", "x": 1}]).quality == 0.75

    def test_the_signature_and_the_certificate_state_it(self):
        credit, plain = (Comparator(self.schema(one, "yujian-bo")) for one in ({"null": "credit"}, {}))
        assert credit.signature != plain.signature
        assert credit.certificate.verdict == "metric"
        assert ("/*/mail", "null") in {(one.path, one.by) for one in credit.certificate.identifies}

    @pytest.mark.parametrize(
        ("field", "message"),
        [
            ({"type": "array", "x-arbitre": {"null": "credit"}}, "`null` applies to fields with single values"),
            ({"x-arbitre": {"null": "credit"}}, "`null` applies to fields with single values"),
            ({"type": "string", "x-arbitre": {"null": "credit", "absent": [""]}}, "`null` and `absent` contradict"),
            ({"type": "string", "x-arbitre": {"null": "keep"}}, 'Expected `null` to be "credit", got "keep"'),
        ],
    )
    def test_other_uses_are_errors(self, field, message):
        with pytest.raises(SchemaError, match=message):
            Comparator({"type": "object", "properties": {"a": field}})

    def test_an_overlay_may_set_it(self):
        schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
        comparator = Comparator(schema, overlay={"/a": {"null": "credit"}})
        assert comparator.compare(gold={"b": "x"}, predicted={}).quality == 0.5
