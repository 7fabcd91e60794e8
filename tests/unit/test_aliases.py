"""Aliases: keys and paths under which predictions may contain a field."""

import copy
import json

import pytest

from arbitre import Comparator, Comparison
from arbitre.engine.columns.fields import in_schema_places
from arbitre.errors import SchemaError

STRING = {"type": "string"}
NUMBER = {"type": "number"}


def obj(**properties):
    return {"type": "object", "properties": properties}


def listed(items):
    return {"type": "array", "items": items}


def also(schema, *aliases, **more):
    return {**schema, "x-arbitre": {"aliases": list(aliases), **more}}


def quality(schema, gold, predicted, **options):
    before = copy.deepcopy((gold, predicted))
    found = Comparator(schema, **options).compare(gold=gold, predicted=predicted).quality
    assert (gold, predicted) == before
    return found


FLAT = obj(a=also(STRING, "b", "c"), z=STRING)
NESTED = listed(obj(name=STRING, action=obj(pages=also(listed(NUMBER), "references"), text=STRING)))


@pytest.mark.parametrize(
    ("schema", "gold", "predicted", "expected"),
    [
        (FLAT, {"a": "v"}, {"b": "v"}, 1.0),
        (FLAT, {"a": "v"}, {"c": "v"}, 1.0),
        (FLAT, {"a": "abcd"}, {"b": "abcx"}, 7 / 9),
        (FLAT, {"a": "v"}, {"b": "v", "c": "w"}, 0.5),
        (FLAT, {"a": "v"}, {"a": "v", "b": "v"}, 0.5),
        (FLAT, {"a": "v"}, {"a": "w", "b": "v"}, 1 / 6),
        (FLAT, {"a": "v"}, {"a": None, "b": "v"}, 1.0),
        (FLAT, {"a": "v"}, {"b": None, "c": "v"}, 1.0),
        (FLAT, {"b": "v"}, {"a": "v"}, 0.0),
        (FLAT, {"b": "v"}, {"b": "v"}, 0.0),
        (FLAT, {"a": "v"}, {"d": "v"}, 0.0),
        (obj(a=also(STRING, "b", absent=[]), z=STRING), {"a": "v"}, {"a": None, "b": "v"}, 0.0),
        (obj(a=also(STRING, "/b")), {"a": "v"}, {"b": "v"}, 1.0),
        (obj(a=also(STRING, "b/c")), {"a": "v"}, {"b": {"c": "v"}}, 1.0),
        (obj(a=also(STRING, "b/c")), {"a": "v"}, {"b": {"c": "v", "d": "v"}}, 0.5),
        (obj(a=also(STRING, "b~1c")), {"a": "v"}, {"b/c": "v"}, 1.0),
        (obj(a=also(STRING, "b/c")), {"a": "v"}, {"b": "v"}, 0.0),
        (NESTED, [{"action": {"pages": [1]}}], [{"references": [1]}], 1.0),
        (NESTED, [{"action": {"pages": [1]}}], [{"action": {"references": [1]}}], 1.0),
        (NESTED, [{"action": {"pages": [1]}}], [{"action": None, "references": [1]}], 1.0),
        (NESTED, [{"action": {"pages": [1], "text": "v"}}], [{"action": {"text": "v"}, "references": [1]}], 1.0),
        (NESTED, [{"action": {"pages": [1]}}], [{"action": {"references": [1]}, "references": [2]}], 0.5),
        (NESTED, [{"action": {"pages": [1]}}], [{"action": "v", "references": [1]}], 0.0),
        (
            NESTED,
            [{"name": "v", "action": {"pages": [1]}}, {"name": "w"}],
            [{"name": "w"}, {"name": "v", "references": [1]}],
            1.0,
        ),
        (obj(x=NESTED), {"x": [{"action": {"pages": [1]}}]}, {"x": [], "references": [1]}, 0.0),
        ({"additionalProperties": NESTED["items"]}, {"k": {"action": {"pages": [1]}}}, {"k": {"references": [1]}}, 1.0),
        ({"prefixItems": [NESTED["items"]]}, [{"action": {"pages": [1]}}], [{"references": [1]}], 1.0),
        (obj(one=NESTED["items"]), {"one": {"action": {"pages": [1]}}}, {"references": [1]}, 1.0),
        ({"anyOf": [FLAT, {"type": "null"}]}, {"a": "v"}, {"b": "v"}, 1.0),
    ],
)
def test_a_field_is_read_under_its_name_or_an_alias(schema, gold, predicted, expected):
    assert quality(schema, gold, predicted) == pytest.approx(expected)


def test_a_field_is_named_as_the_schema_has_it():
    comparison = Comparator(NESTED).compare(gold=[{"action": {"pages": [1]}}], predicted=[{"references": [1]}])
    assert list(comparison.by_path()) == ["/*", "/*/action/pages/*"]


def test_aliases_apply_on_every_level_of_a_recursive_schema():
    schema = obj(label=also(STRING, "name"), children=listed({"$ref": "#"}), next={"$ref": "#"})
    gold = {"label": "a", "children": [{"label": "b"}], "next": {"label": "c"}}
    predicted = {"name": "a", "children": [{"name": "b"}], "next": {"name": "c"}}
    assert quality(schema, gold, predicted) == 1.0


def test_an_alias_of_two_fields_goes_to_the_first_by_name():
    schema = obj(b=also(STRING, "x"), a=also(STRING, "x"))
    assert quality(schema, {"a": "v"}, {"x": "v"}) == 1.0
    assert quality(schema, {"b": "v"}, {"x": "v"}) == 0.0


class TestCollisions:
    def refused(self, schema):
        with pytest.raises(SchemaError) as caught:
            Comparator(schema)
        return caught.value.problems

    def test_an_alias_that_is_a_declared_field_is_refused(self):
        (problem,) = self.refused(obj(a=also(STRING, "b"), b=STRING))
        assert problem.message == 'Expected `aliases` to name no declared field, got "b"'
        assert problem.pointer == "/properties/a/x-arbitre/aliases"

    def test_an_alias_that_is_a_field_of_the_enclosing_item_is_refused(self):
        (problem,) = self.refused(listed(obj(name=STRING, action=obj(label=also(STRING, "name")))))
        assert problem.message == 'Expected `aliases` to name no declared field, got "name"'

    def test_an_alias_inside_a_declared_field_is_refused(self):
        (problem,) = self.refused(obj(a=also(STRING, "b/c"), b=obj(c=STRING)))
        assert problem.message == 'Expected `aliases` to name no declared field, got "b/c"'

    def test_an_ignored_field_can_be_an_alias(self):
        schema = obj(a=also(STRING, "b"), b={**STRING, "x-arbitre": {"ignore": True}})
        assert quality(schema, {"a": "v", "b": "old"}, {"b": "v"}) == 1.0

    def test_an_alias_equal_to_the_field_name_reads_the_enclosing_item(self):
        schema = listed(obj(action=obj(pages=also(STRING, "pages"))))
        assert quality(schema, [{"action": {"pages": "v"}}], [{"pages": "v"}]) == 1.0


def test_a_prediction_is_rewritten_with_its_fields_in_their_places():
    action = {"type": "object", "properties": {"what": {"type": "string"}, "pages": {"type": "array"}}}
    item = {"type": "object", "properties": {"name": {"type": "string"}, "action": action}}
    schema = {"type": "array", "items": item}
    overlay = {"/*/action/pages": {"aliases": ["numbers"]}, "/*/action/what": {"aliases": ["what"]}}
    plan = Comparator(schema, overlay=overlay).plan
    predicted = [{"name": "Ada", "numbers": [1], "what": "spoke", "more": 1}, {"name": "Bo"}]
    assert in_schema_places(plan, predicted) == [
        {"name": "Ada", "more": 1, "action": {"pages": [1], "what": "spoke"}},
        {"name": "Bo"},
    ]
    assert predicted[0].keys() == {"name", "numbers", "what", "more"}
    same = [{"name": "Bo", "action": {"pages": [2]}}]
    assert in_schema_places(plan, same) is same
    assert in_schema_places(Comparator(schema).plan, predicted) is predicted


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ({"date": "1843", "n": "x"}, {"when": {"y": 1}, "n": "x"}),
        ({"date": "1843"}, {"date": None, "when": {"y": [1]}}),
        ({"pages": [1]}, {"details": {"pages": "1-3"}}),
        ({"n": "x"}, {"n": "x", "details": {"pages": []}}),
        ({"n": "x"}, {"kind": {"k": {"m": []}}}),
        ({"action": {"kind": {}, "n": []}}, {"kind": {"k": {"m": []}}, "action": {"n": [{"o": [1]}]}}),
        ({"action": "none"}, {"kind": {"k": [1]}}),
    ],
)
def test_comparisons_read_from_json_keep_the_values_of_aliased_fields(gold, predicted):
    schema = obj(
        date=also(STRING, "when"), pages=also(listed(NUMBER), "details/pages"), action=obj(kind=also(obj(), "kind"))
    )
    comparison = Comparator(schema).compare(gold=gold, predicted=predicted)
    data = json.loads(json.dumps(comparison.to_dict()))
    read = Comparison.from_dict(data)
    assert (str(read), read.explain(), read.to_dict()) == (str(comparison), comparison.explain(), data)
    places = {node["gold"] for node in data["nodes"]} - {None}
    assert [read.at(place).predicted for place in places] == [comparison.at(place).predicted for place in places]
