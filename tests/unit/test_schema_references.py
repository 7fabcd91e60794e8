"""References in schemas: local, by name, to files, recursive and dynamic, and never over a network."""

import json
import os
import pickle
import socket

import pytest
import yaml
from tests.builders import refused
from typer.testing import CliRunner

from arbitre import Comparator
from arbitre.cli import app
from arbitre.errors import OptionError, SchemaError
from arbitre.schema.loading.schema_store import MAX_BYTES, MAX_VALUES

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

    @pytest.mark.parametrize("form", ["{}", "file://{}", "../outside/b.json", "sub/../../outside/b.json", "link.json"])
    def test_a_file_outside_the_folder_is_read_only_if_its_folder_is_allowed(self, tmp_path, form):
        inside, outside = tmp_path / "inside", tmp_path / "outside"
        inside.mkdir()
        outside.mkdir()
        (outside / "b.json").write_text(json.dumps(NUMBER))
        (inside / "link.json").symlink_to(outside / "b.json")
        root = inside / "a.json"
        root.write_text(json.dumps(obj(b={"$ref": form.format(outside / "b.json")})))
        (problem,) = refused(root)
        assert (problem.file, problem.pointer) == (str(root), "/properties/b/$ref")
        assert problem.hint.startswith(
            f"{outside / 'b.json'} is outside the folder of the schema. Allow its folder with"
        )
        for allowed in (outside, [str(outside)], [tmp_path]):
            assert quality(root, {"b": 10}, {"b": 9}, allow_refs=allowed) == 0.9
        plan = pickle.loads(pickle.dumps(Comparator(root, allow_refs=outside).plan))  # noqa: S301  (as worker processes do)
        assert plan.root.schema["properties"].keys() == {"b"}
        with pytest.raises(OptionError, match="Expected `allow_refs` to be a folder"):
            Comparator(root, allow_refs=tmp_path / "none")

    def test_a_schema_without_a_file_has_no_folder(self, write, tmp_path):
        file = write(b=NUMBER)
        (problem,) = refused(obj(b={"$ref": file.as_uri()}))
        assert "is outside the folder of the schema" in problem.hint
        assert quality(obj(b={"$ref": file.as_uri()}), {"b": 10}, {"b": 9}, allow_refs=tmp_path) == 0.9

    def test_only_regular_files_are_read(self, write, tmp_path):
        os.mkfifo(tmp_path / "pipe.json")
        (tmp_path / "device.json").symlink_to("/dev/zero")
        for name, allowed in (("pipe.json", ()), ("device.json", "/dev"), ("below", ())):
            (tmp_path / "below").mkdir(exist_ok=True)
            with pytest.raises(SchemaError) as caught:
                Comparator(write(a=obj(b={"$ref": name})), allow_refs=allowed)
            assert caught.value.hint.endswith("is not a regular file.")

    def test_the_values_of_all_files_are_limited(self, write, tmp_path):
        half = {"examples": [0] * (MAX_VALUES // 2)}
        root = write(a={"$ref": "b.json", **half}, b={"type": "number", **half})
        with pytest.raises(
            SchemaError, match="schema with the files that it references to have at most 500,000 values"
        ):
            Comparator(root)
        (tmp_path / "c.json").write_text('{"examples": [' + "0," * MAX_VALUES + "0]}")
        (tmp_path / "d.json").write_text('{"title": "' + "a" * MAX_BYTES + '"}')
        for name, words in (("c.json", "500,000 values, got 500,00"), ("d.json", "33,554,432 bytes, got more")):
            with pytest.raises(SchemaError, match=words) as caught:
                Comparator(write(a={"$ref": name}))
            assert caught.value.file == str(tmp_path / name)
            with pytest.raises(SchemaError, match=words):
                Comparator({}, overlay=tmp_path / name)

    def test_the_aliases_of_yaml_are_counted_before_they_are_replaced(self, tmp_path, monkeypatch):
        path = tmp_path / "bomb.yaml"
        levels = (f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))
        path.write_text("\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x]", *levels]))
        assert len(path.read_text()) < 500
        monkeypatch.setattr(yaml.SafeLoader, "construct_document", lambda *_: pytest.fail("aliases were replaced"))
        with pytest.raises(SchemaError, match="at most 500,000 values, got 490,329,064") as caught:
            Comparator(path)
        assert caught.value.file == str(path)
        path.write_text("type: object\nx: &x [*x]")
        with pytest.raises(SchemaError, match="Circular reference in the schema: an anchor contains its own alias"):
            Comparator(path)
        path.write_text(f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 400)}]")
        with pytest.raises(SchemaError, match="at most 33,554,432 characters, got 40,100,002"):
            Comparator(path)

    def test_the_command_line_allows_folders(self, write, tmp_path):
        (tmp_path / "inside").mkdir()
        write(b=NUMBER)
        root = tmp_path / "inside" / "a.json"
        root.write_text(json.dumps({"$ref": "../b.json"}))
        refused, allowed = (
            CliRunner().invoke(app, ["schema", "explain", str(root), *options])
            for options in ([], ["--allow-refs", str(tmp_path)])
        )
        assert (refused.exit_code, allowed.exit_code) == (2, 0)
        assert "--allow-refs" in refused.stderr

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
