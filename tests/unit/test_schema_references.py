"""References: local, by name, into files, recursive, dynamic; never over a network."""

import json
import socket

import pytest

from arbitre import Comparator
from arbitre.errors import SchemaError

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def fail(*_, **__):
        pytest.fail("a socket was opened")

    monkeypatch.setattr(socket, "socket", fail)
    monkeypatch.setattr(socket, "getaddrinfo", fail)


@pytest.fixture
def write(tmp_path):
    def write(**files):
        for name, schema in files.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(schema))
        return tmp_path / f"{next(iter(files))}.json"

    return write


def quality(schema, gold, predicted, **options):
    return Comparator(schema, **options).compare(gold=gold, predicted=predicted).quality


def refused(schema):
    with pytest.raises(SchemaError) as caught:
        Comparator(schema)
    return caught.value.problems


def obj(**properties):
    return {"type": "object", "properties": properties}


class TestLocal:
    @pytest.mark.parametrize(
        ("reference", "definitions"),
        [
            ("#/$defs/n", {"n": NUMBER}),
            ("#n", {"n": {"$anchor": "n", **NUMBER}}),
            ("https://example.org/n", {"n": {"$id": "https://example.org/n", **NUMBER}}),
            ("n.json", {"n": {"$id": "n.json", **NUMBER}}),
            ("n.json#/$defs/m", {"n": {"$id": "n.json", "$defs": {"m": NUMBER}}}),
            ("#/$defs/a~1b", {"a/b": NUMBER}),
            ("#/$defs/a~0b", {"a~b": NUMBER}),
            ("#/$defs/a%20b", {"a b": NUMBER}),
            ("#/$defs/a%25b", {"a%b": NUMBER}),
            ("#/$defs/%C3%A9", {"é": NUMBER}),
            ("#/$defs/n/prefixItems/0/anyOf/0", {"n": {"prefixItems": [{"anyOf": [NUMBER]}]}}),
        ],
    )
    def test_a_local_reference_is_resolved(self, reference, definitions):
        assert quality({"$defs": definitions, "$ref": reference}, 10, 9) == 0.9

    def test_the_root_can_be_referenced_by_its_id(self):
        schema = {"$id": "https://example.org/s", **obj(n=NUMBER, s={"$ref": "https://example.org/s"})}
        assert quality(schema, {"s": {"n": 10}}, {"s": {"n": 9}}) == 0.9

    def test_draft_7_resolves_a_plain_name_id(self):
        schema = {
            "$schema": DRAFT_7,
            "definitions": {"n": {"$id": "#number", **NUMBER}},
            "properties": {"a": {"$ref": "#number"}},
        }
        assert quality(schema, {"a": 10}, {"a": 9}) == 0.9

    def test_references_inside_a_resource_resolve_against_its_id(self):
        inner = {"$id": "https://example.org/inner", "$defs": {"n": NUMBER}, **obj(n={"$ref": "#/$defs/n"})}
        schema = {"$defs": {"n": INTEGER, "inner": inner}, "$ref": "https://example.org/inner"}
        assert quality(schema, {"n": 10}, {"n": 9}) == 0.9

    def test_references_inside_a_property_with_an_id_resolve_against_it(self):
        inner = {"$id": "https://example.org/inner", "$defs": {"n": NUMBER}, **obj(n={"$ref": "#/$defs/n"})}
        schema = {"$defs": {"n": INTEGER}, **obj(inner=inner)}
        assert quality(schema, {"inner": {"n": 10}}, {"inner": {"n": 9}}) == 0.9

    def test_the_metaschema_can_be_referenced(self):
        comparator = Comparator({"$ref": DRAFT_2020})
        assert comparator.compare(gold={"type": "object"}, predicted={"type": "object"}).quality == 1.0
        assert comparator.compare(gold=STRING, predicted={"type": 5}).violations[0].pointer == "/type"

    @pytest.mark.parametrize(
        ("reference", "hint"),
        [
            ("#/$defs/persn", 'Did you mean "person"?'),
            ("#/$defs/zzz", "Write #/$defs/NAME"),
            ("#nowhere", "Write #/$defs/NAME"),
            ("#/title/x", "Write #/$defs/NAME"),
            ("other.json", "A relative reference needs a schema file"),
        ],
    )
    def test_an_unresolvable_reference_is_refused_with_a_hint(self, reference, hint):
        (problem,) = refused({"title": "a", "$defs": {"person": STRING}, "properties": {"a": {"$ref": reference}}})
        assert problem.message == f'Expected `$ref` to name a subschema, got "{reference}"'
        assert problem.pointer == "/properties/a/$ref"
        assert hint in problem.hint

    def test_a_reference_to_a_value_that_is_no_schema_is_refused(self):
        (problem,) = refused({"title": "a", "$ref": "#/title"})
        assert problem.message == 'Expected `$ref` to name a subschema, got "#/title", which is not a subschema'

    def test_referenced_schemas_outside_defs_are_checked(self):
        (problem,) = refused({"components": {"a": obj(b={"type": "strng"})}, "$ref": "#/components/a"})
        assert problem.pointer == "/components/a/properties/b/type"

    def test_all_unresolvable_references_are_listed(self):
        problems = refused(obj(a={"$ref": "#/a"}, b={"$ref": "#/b"}))
        assert [problem.pointer for problem in problems] == ["/properties/a/$ref", "/properties/b/$ref"]


class TestRecursion:
    def test_a_recursive_schema_compares_every_level(self):
        schema = obj(n=NUMBER, children={"type": "array", "items": {"$ref": "#"}})
        gold = {"n": 1, "children": [{"n": 10, "children": [{"n": 5}]}]}
        predicted = {"n": 1, "children": [{"n": 9, "children": [{"n": 5}]}]}
        assert quality(schema, gold, predicted) == pytest.approx((1 + (0.9 + 1) / 2) / 2)

    def test_mutually_recursive_definitions_are_resolved(self):
        schema = {
            "$defs": {"a": obj(n=NUMBER, b={"$ref": "#/$defs/b"}), "b": obj(s=STRING, a={"$ref": "#/$defs/a"})},
            "$ref": "#/$defs/a",
        }
        gold, predicted = ({"b": {"a": {"b": {"a": {"n": n}}}}} for n in (10, 9))
        assert quality(schema, gold, predicted) == 0.9

    @pytest.mark.parametrize(
        "schema",
        [
            {"$ref": "#"},
            {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
            {"$defs": {"a": {"anyOf": [STRING, {"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"},
            {"$defs": {"a": {"if": {"$ref": "#/$defs/a"}, "then": STRING}}, "$ref": "#/$defs/a"},
            {"$defs": {"a": {"not": {"anyOf": [STRING, {"$ref": "#/$defs/a"}]}}}, "$ref": "#/$defs/a"},
            {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}, "properties": {"x": {"$ref": "#/$defs/a"}}},
        ],
    )
    def test_a_reference_cycle_without_a_value_is_refused(self, schema):
        problems = refused(schema)
        assert {problem.message for problem in problems} == {"The references form a cycle that never reaches a value"}


TREE = {
    "$id": "https://example.org/tree",
    "$dynamicAnchor": "node",
    **obj(n=NUMBER, children={"type": "array", "items": {"$dynamicRef": "#node"}}),
}


class TestDynamic:
    def test_a_dynamic_reference_without_override_is_a_plain_reference(self):
        gold, predicted = ({"children": [{"children": [{"n": n}]}]} for n in (10, 9))
        assert quality(TREE, gold, predicted) == 0.9

    def test_a_dynamic_override_applies_on_every_level(self):
        schema = {
            "$id": "https://example.org/strict",
            "$dynamicAnchor": "node",
            "$ref": "tree",
            "properties": {"size": INTEGER},
            "$defs": {"tree": TREE},
        }
        gold, predicted = ({"children": [{"children": [{"n": 10, "size": n}]}]} for n in (10, 9))
        assert quality(schema, gold, predicted) == 0.5

    def test_a_generic_schema_can_have_two_dynamic_overrides(self):
        def of(name, item):
            return {
                "$id": f"https://example.org/{name}",
                "$ref": "list",
                "$defs": {"item": {"$dynamicAnchor": "item", **item}},
            }

        generic = {
            "$id": "https://example.org/list",
            "type": "array",
            "items": {"$dynamicRef": "#item"},
            "$defs": {"item": {"$dynamicAnchor": "item"}},
        }
        schema = {
            "$id": "https://example.org/root",
            "$defs": {"generic": generic, "i": of("integers", INTEGER), "n": of("numbers", NUMBER)},
            **obj(i={"$ref": "integers"}, n={"$ref": "numbers"}),
        }
        assert quality(schema, {"i": [10], "n": [10]}, {"i": [9], "n": [9]}) == pytest.approx(0.45)

    def test_recursive_references_of_draft_2019_09_are_resolved(self):
        tree = {
            "$id": "https://example.org/tree",
            "$recursiveAnchor": True,
            **obj(children={"type": "array", "items": {"$recursiveRef": "#"}}),
        }
        schema = {
            "$schema": DRAFT_2019,
            "$id": "https://example.org/strict",
            "$recursiveAnchor": True,
            "$ref": "tree",
            "properties": {"size": INTEGER},
            "$defs": {"tree": tree},
        }
        gold, predicted = ({"children": [{"children": [{"size": n}]}]} for n in (10, 9))
        assert quality(schema, gold, predicted) == 0.0


class TestFiles:
    def test_references_are_resolved_relative_to_their_file(self, write, tmp_path):
        (tmp_path / "below").mkdir()
        (tmp_path / "below" / "c.json").write_text(json.dumps({"$defs": {"n": NUMBER}, "$ref": "#/$defs/n"}))
        root = write(a=obj(b={"$ref": "b.json#/$defs/x"}), b={"$defs": {"x": obj(c={"$ref": "below/c.json"})}})
        assert quality(root, {"b": {"c": 10}}, {"b": {"c": 9}}) == 0.9
        assert quality(str(root), {"b": {"c": 10}}, {"b": {"c": 9}}) == 0.9

    def test_a_schema_path_is_relative_to_the_working_directory(self, write, tmp_path, monkeypatch):
        write(a={"$ref": "b.json"}, b=NUMBER)
        monkeypatch.chdir(tmp_path)
        assert quality("a.json", 10, 9) == 0.9

    def test_mutually_recursive_files_are_resolved(self, write):
        root = write(a=obj(n=NUMBER, b={"$ref": "b.json"}), b=obj(i=INTEGER, a={"$ref": "a.json"}))
        gold, predicted = ({"b": {"a": {"b": {"a": {"n": n}}}}} for n in (10, 9))
        assert quality(root, gold, predicted) == 0.9
        assert len(Comparator(root).explain()) == 5

    def test_a_file_referred_to_twice_is_read_once(self, write):
        root = write(
            a=obj(x={"$ref": "b.json"}, y={"$ref": "b.json"}), b=obj(n={"type": "integer", "x-arbitre": {"weigth": 1}})
        )
        assert len(refused(root)) == 1

    def test_file_names_with_special_characters_are_resolved(self, write, tmp_path):
        root = write(a={"$ref": "b%20c%23.json"})
        (tmp_path / "b c#.json").write_text(json.dumps(NUMBER))
        assert quality(root, 10, 9) == 0.9

    def test_a_file_keeps_its_draft(self, write):
        tuples = {
            "$schema": DRAFT_7,
            "items": [NUMBER, {"$ref": "#/definitions/i", "enum": [1]}],
            "definitions": {"i": STRING},
        }
        root = write(a={"$schema": DRAFT_2020, "properties": {"b": {"$ref": "b.json"}}}, b=tuples)
        gold, predicted = {"b": [10, "abcd"]}, {"b": [9, "abcx"]}
        assert quality(root, gold, predicted) == pytest.approx((0.9 + 7 / 9) / 2)

    def test_a_file_without_a_draft_has_that_of_the_root(self, write):
        root = write(a={"$schema": DRAFT_7, "properties": {"b": {"$ref": "b.json"}}}, b={"items": [NUMBER, INTEGER]})
        assert quality(root, {"b": [10, 1]}, {"b": [9, 1]}) == pytest.approx(0.95)

    def test_errors_name_the_file_and_the_pointer(self, write, tmp_path):
        definition = {"type": "string", "x-arbitre": {"distanse": "exact", "weight": -1}}
        root = write(a=obj(b={"$ref": "b.json#n"}), b={"$defs": {"n": {"$anchor": "n", **definition}}})
        problems = refused(root)
        assert {problem.file for problem in problems} == {str(tmp_path / "b.json")}
        assert [problem.pointer for problem in problems] == [
            "/$defs/n/x-arbitre/distanse",
            "/$defs/n/x-arbitre/weight",
        ]

    @pytest.mark.parametrize("text", ["{", '{"type": "strng"}', "[]", '{"properties": {"a": 5}}'])
    def test_a_referenced_file_that_is_no_schema_is_named(self, write, tmp_path, text):
        root = write(a={"$ref": "b.json"})
        (tmp_path / "b.json").write_text(text)
        assert {problem.file for problem in refused(root)} == {str(tmp_path / "b.json")}

    def test_a_missing_referenced_file_is_named(self, write, tmp_path):
        root = write(a=obj(b={"$ref": "none.json"}))
        (problem,) = refused(root)
        assert (problem.file, problem.pointer) == (str(root), "/properties/b/$ref")
        assert problem.hint == f"Cannot read {tmp_path / 'none.json'}: No such file or directory."

    def test_validation_resolves_references_to_files(self, write):
        root = write(a=obj(b={"$ref": "b.json#/$defs/x"}), b={"$defs": {"x": {"$ref": "#/$defs/n"}, "n": NUMBER}})
        comparison = Comparator(root).compare(gold={"b": 1}, predicted={"b": "one"})
        assert [(one.pointer, one.keyword) for one in comparison.violations] == [("/b", "type")]

    def test_a_relative_id_is_resolved_against_the_file(self, write):
        root = write(a={"$id": "sub/a.json", "$ref": "../b.json"}, b=NUMBER)
        assert quality(root, 10, 9) == 0.9


class TestNetwork:
    @pytest.mark.parametrize("url", ["https://example.org/a.json", "http://localhost:9/a.json", "ftp://example.org/a"])
    def test_references_to_the_network_are_not_fetched(self, url):
        (problem,) = refused(obj(a={"$ref": url}))
        assert problem.pointer == "/properties/a/$ref"
        assert (
            problem.hint
            == f"{url} is not fetched over the network. Copy the subschema into $defs, or reference a local file."
        )

    def test_a_relative_reference_below_a_url_id_is_not_fetched(self):
        (problem,) = refused({"$id": "https://example.org/a.json", "$ref": "b.json"})
        assert problem.hint.startswith("https://example.org/b.json is not fetched")
