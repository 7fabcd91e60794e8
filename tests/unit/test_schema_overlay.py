"""Overlays: annotations for wildcard paths in a separate file."""

import json

import pytest
from tests.builders import refused

from arbitre import Comparator

STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}


def quality(schema, gold, predicted, overlay):
    return Comparator(schema, overlay=overlay).compare(gold=gold, predicted=predicted).quality


def obj(**properties):
    return {"type": "object", "properties": properties}


TREE = obj(n=NUMBER, children={"type": "array", "items": {"$ref": "#"}})


@pytest.mark.parametrize(
    ("schema", "overlay", "gold", "predicted", "expected"),
    [
        (STRING, {"": {"distance": "exact"}}, "abcd", "abcx", 0.0),
        (obj(a=STRING), {"/a": {"distance": "exact"}}, {"a": "abcd"}, {"a": "abcx"}, 0.0),
        (obj(a=INTEGER, b=INTEGER), {"/a": {"weight": 3}}, {"a": 1, "b": 1}, {"a": 2, "b": 1}, 0.25),
        (obj(a=STRING, b=STRING), {"/a": {"ignore": True}}, {"a": "x", "b": "x"}, {"a": "y", "b": "x"}, 1.0),
        (obj(a=STRING), {"/a": {"aliases": ["b"]}}, {"a": "x"}, {"b": "x"}, 1.0),
        ({"type": "array", "items": NUMBER}, {"": {"match": "ordered"}}, [1, 2], [2, 1], 0.5),
        ({"type": "array", "items": NUMBER}, {"": {"distance": "jaccard"}}, [1, 2], [2], 0.5),
        ({"type": "array", "items": NUMBER}, {"/*": {"distance": "exact"}}, [10], [9], 0.0),
        ({"additionalProperties": NUMBER}, {"/*": {"distance": "exact"}}, {"a": 10}, {"a": 9}, 0.0),
        ({"patternProperties": {"^a": NUMBER}}, {"/*": {"distance": "exact"}}, {"a": 10}, {"a": 9}, 0.0),
        ({"prefixItems": [NUMBER, NUMBER]}, {"/1": {"distance": "exact"}}, [10, 10], [9, 9], 0.45),
        (obj(**{"a/b": NUMBER}), {"/a~1b": {"distance": "exact"}}, {"a/b": 10}, {"a/b": 9}, 0.0),
        (obj(**{"*": NUMBER}), {"/~2": {"distance": "exact"}}, {"*": 10}, {"*": 9}, 0.0),
        (
            {"$defs": {"p": obj(n=NUMBER)}, **obj(a={"$ref": "#/$defs/p"}, b={"$ref": "#/$defs/p"})},
            {"/a/n": {"distance": "exact"}},
            {"a": {"n": 10}, "b": {"n": 10}},
            {"a": {"n": 9}, "b": {"n": 9}},
            0.45,
        ),
        (TREE, {"/n": {"distance": "exact"}}, {"children": [{"n": 10}]}, {"children": [{"n": 9}]}, 0.9),
        (TREE, {"/children/*/n": {"distance": "exact"}}, {"children": [{"n": 10}]}, {"children": [{"n": 9}]}, 0.0),
        (
            TREE,
            {"/children/*/children/*/n": {"distance": "exact"}},
            {"children": [{"n": 10, "children": [{"n": 10}]}]},
            {"children": [{"n": 9, "children": [{"n": 9}]}]},
            0.45,
        ),
        ({"anyOf": [obj(a=NUMBER), {"type": "null"}]}, {"/a": {"distance": "exact"}}, {"a": 10}, {"a": 9}, 0.0),
        (obj(a=STRING, b=obj(c=STRING)), {"": {"absent": [""]}}, {"b": {"c": ""}, "a": "x"}, {"a": "x", "b": {}}, 1.0),
    ],
)
def test_each_overlay_setting_changes_the_quality_as_documented(schema, overlay, gold, predicted, expected):
    assert quality(schema, gold, predicted, overlay) == pytest.approx(expected)


def test_an_overlay_overrides_the_schema_key_by_key():
    schema = obj(a={**STRING, "x-arbitre": {"distance": "exact", "normalize": "lower", "weight": 3}}, b=STRING)
    overlay = {"/a": {"distance": "levenshtein", "weight": 1}}
    assert quality(schema, {"a": "ABCD", "b": "x"}, {"a": "abcx", "b": "x"}, overlay) == pytest.approx(1.75 / 2)


def test_an_overlay_overrides_differing_branches():
    one, other = (obj(k={"const": n}, a={**INTEGER, "x-arbitre": {"weight": n}}) for n in (1, 2))
    schema = {"oneOf": [one, other]}
    assert quality(schema, {"k": 1, "a": 1}, {"k": 1, "a": 2}, {"/a": {"weight": 3}}) == 0.25


def test_an_overlay_can_mark_the_entries():
    schema = obj(a={"type": "array", "items": STRING}, b={"type": "array", "items": STRING})
    assert Comparator(schema, overlay={"/b": {"entries": True}}).entries == "/b"


def test_an_overlay_gives_the_signature_of_the_same_annotation():
    annotated = obj(a={**STRING, "x-arbitre": {"distance": "exact"}})
    laid = Comparator(obj(a=STRING), overlay={"/a": {"distance": "exact"}})
    assert laid.signature == Comparator(annotated).signature
    assert laid.signature != Comparator(obj(a=STRING)).signature


def test_the_schema_is_not_changed():
    schema = obj(a=STRING)
    before = json.dumps(schema)
    Comparator(schema, overlay={"/a": {"weight": 2}})
    assert json.dumps(schema) == before


class TestRefused:
    SCHEMA = obj(entries={"type": "array", "items": obj(name=STRING, pages={"type": "array", "items": INTEGER})})

    def test_unknown_paths_are_refused_with_the_nearest_path(self):
        paths = ["/entries/*/nmae", "/entries/0/name", "/entries/*/pages/*/x", "/zzz"]
        problems = refused(self.SCHEMA, overlay={path: {"weight": 2} for path in paths})
        hints = {problem.message: problem.hint for problem in problems}
        assert sorted(hints) == sorted(f'The schema has no path "{path}"' for path in paths)
        for path in paths[:2]:
            assert hints[f'The schema has no path "{path}"'].startswith('Did you mean "/entries/*/name"')
        assert "explain" in hints['The schema has no path "/zzz"']

    @pytest.mark.parametrize("path", ["/entries/name", "/*", "/entries/*/*", "/entries/*/name/*"])
    def test_a_star_outside_lists_and_maps_is_refused(self, path):
        (problem,) = refused(self.SCHEMA, overlay={path: {"distance": "exact"}})
        assert problem.message == f'The schema has no path "{path}"'

    def test_a_list_made_a_leaf_drops_the_settings_of_its_items(self):
        schema = {"type": "array", "items": {**STRING, "x-arbitre": {"normalize": "lower"}}}
        assert quality(schema, ["A", "b"], ["a", "b"], {"": {"distance": "jaccard"}}) == pytest.approx(1 / 3)

    def test_a_path_below_a_leaf_is_refused(self):
        overlay = {"/entries/*/pages": {"distance": "jaccard"}, "/entries/*/pages/*": {"distance": "exact"}}
        (problem,) = refused(self.SCHEMA, overlay=overlay)
        assert problem.message == 'The schema has no path "/entries/*/pages/*"'

    def test_misplaced_and_wrong_settings_point_into_the_overlay(self, tmp_path):
        file = tmp_path / "overlay.json"
        file.write_text(json.dumps({"/entries/*": {"weight": 2}, "/entries/*/name": {"match": "ordered"}}))
        problems = refused(self.SCHEMA, overlay=file)
        assert {problem.file for problem in problems} == {str(file)}
        assert sorted(problem.pointer for problem in problems) == ["/~1entries~1*/weight", "/~1entries~1*~1name/match"]

    def test_wrong_keys_and_values_are_all_listed(self):
        overlay = {"/entries": {"entires": True}, "/entries/*/name": {"weight": -1}, "name": {}, "/entries/*/pages": 5}
        problems = refused(self.SCHEMA, overlay=overlay)
        assert [problem.pointer for problem in problems] == [
            "/~1entries/entires",
            "/~1entries~1*~1name/weight",
            "/name",
            "/~1entries~1*~1pages",
        ]

    def test_malformed_overlay_files_are_refused(self, tmp_path):
        file = tmp_path / "overlay.json"
        assert refused(STRING, overlay=file)[0].message == "Cannot read the overlay: No such file or directory"
        for text, words in (
            ("{", "Expected valid JSON, got truncated text"),
            ('{"": {}, "": {}}', "Expected each key once in an object, got '' 2 times"),
            ("\xff", "Expected UTF-8"),
        ):
            file.write_bytes(text.encode("latin-1"))
            (problem,) = refused(STRING, overlay=str(file))
            assert problem.message.startswith(words)
            assert problem.file == str(file)
        for text in ("[]", "null", "5"):
            file.write_text(text)
            assert refused(STRING, overlay=file)[0].message.startswith(
                "Expected an overlay to be an object with paths as keys"
            )
        file.write_text("{" * 100_000)
        assert refused(STRING, overlay=file)[0].file == str(file)

    @pytest.mark.parametrize("overlay", [[], 5, [("a", {})], {"": {"weight": float("nan")}}, {5: {}}])
    def test_a_value_that_is_not_an_overlay_is_refused(self, overlay):
        assert len(refused(obj(a=STRING), overlay=overlay)) == 1
