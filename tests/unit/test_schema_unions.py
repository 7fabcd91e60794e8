"""Unions in schemas: the branch that a value takes, comparisons across branches, `allOf` and conditions."""

import enum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field
from tests.builders import refused

from arbitre import Comparator
from arbitre.errors import SchemaError

STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
NULL = {"type": "null"}
EXACT = {"type": "string", "x-arbitre": {"distance": "exact"}}


def quality(schema, gold, predicted, **options):
    return Comparator(schema, **options).compare(gold=gold, predicted=predicted).quality


def obj(**properties):
    return {"type": "object", "properties": properties}


def listed(items):
    return {"type": "array", "items": items}


@pytest.mark.parametrize("union", ["anyOf", "oneOf"])
class TestScalars:
    @pytest.mark.parametrize(
        ("branches", "gold", "predicted", "expected"),
        [
            ([STRING, INTEGER], "abcd", "abcx", 7 / 9),
            ([STRING, INTEGER], 10, 9, 0.0),
            ([STRING, INTEGER], "10", 10, 0.0),
            ([INTEGER, NUMBER], 10, 9, 0.0),
            ([NUMBER, INTEGER], 10, 9, 0.9),
            ([EXACT, STRING], "abcd", "abcx", 0.0),
            ([STRING, EXACT], "abcd", "abcx", 7 / 9),
            ([STRING, NULL], "abcd", "abcx", 7 / 9),
            ([{"enum": ["abcd", "abce"]}, STRING], "abcd", "abce", 0.0),
            ([{"enum": ["abcd", "abce"]}, STRING], "abcx", "abcy", 7 / 9),
            ([{"enum": ["abcd", "abce"]}, STRING], "abcd", "abcx", 0.0),
            ([STRING, {"enum": ["abcd", "abce"]}], "abcd", "abce", 0.0),
            ([STRING, {"enum": ["abcd", "abce"]}], "abcx", "abcy", 7 / 9),
            ([{"const": "abcd"}, {"const": "abce"}], "abcd", "abce", 0.0),
            ([{"const": 10}, NUMBER], 10, 9, 0.0),
            ([{"const": 10}, NUMBER], 8, 9, 8 / 9),
            ([{"anyOf": [STRING, {"oneOf": [INTEGER, NULL]}]}, {"type": "boolean"}], 10, 9, 0.0),
            ([False, NUMBER], 10, 9, 0.9),
            ([{"type": "string", "format": "date"}, STRING], "2024-01-01", "2024-03-14", 1 - 73 / 365),
        ],
    )
    def test_a_scalar_takes_the_branch_of_its_kind(self, union, branches, gold, predicted, expected):
        assert quality({union: branches}, gold, predicted) == pytest.approx(expected)

    def test_each_branch_has_its_normalisers(self, union):
        lower = {"type": "string", "x-arbitre": {"normalize": "lower"}}
        schema = {union: [{"const": "N/A"}, lower, INTEGER]}
        assert quality(schema, "Abc", "aBC") == 1.0
        assert quality(schema, "N/A", "n/a") == 0.0
        assert quality(schema, 3, 3) == 1.0

    def test_ordinal_accepts_a_union_of_constants(self, union):
        schema = {union: [{"const": name} for name in ("low", "mid", "high")], "x-arbitre": {"distance": "ordinal"}}
        assert quality(schema, "low", "mid") == 0.5
        assert quality(schema, "low", "high") == 0.0

    def test_ordinal_takes_its_order_from_the_enum_beside_null(self, union):
        schema = {union: [{"enum": ["low", "mid", "high"]}, NULL], "x-arbitre": {"distance": "ordinal"}}
        assert quality(schema, "low", "mid") == 0.5
        assert quality(schema, "low", None) == 0.0
        with pytest.raises(SchemaError, match="The required option `order` of `ordinal` is missing"):
            quality({union: [{"enum": ["low", "high"]}, NUMBER, NULL], "x-arbitre": {"distance": "ordinal"}}, 1, 1)


class TestObjects:
    def test_the_first_branch_with_matching_constants_is_taken(self):
        schema = {
            "oneOf": [
                obj(kind={"const": "a"}, x=NUMBER, y=NUMBER, z=NUMBER),
                obj(kind={"const": "b"}, x=INTEGER),
                obj(kind={"enum": ["b", "c"]}, x=NUMBER),
            ]
        }
        pair = ({"kind": kind, "x": x} for kind in "abc" for x in (10, 9))
        assert [quality(schema, gold, predicted) for gold, predicted in zip(pair, pair, strict=True)] == [
            0.95,
            0.5,
            0.95,
        ]

    def test_a_branch_requires_all_its_constants(self):
        schema = {"oneOf": [obj(k={"const": 1}, m={"const": 1}, x=INTEGER), obj(k={"const": 1}, x=NUMBER)]}
        assert quality(schema, {"k": 1, "x": 10}, {"k": 1, "x": 9}) == pytest.approx(0.95)
        assert quality(schema, {"k": 1, "m": 1, "x": 10}, {"k": 1, "m": 1, "x": 9}) == pytest.approx(2 / 3)

    def test_constants_distinguish_true_from_1(self):
        schema = {"oneOf": [obj(k={"const": True}, x=INTEGER), obj(k={"const": 1}, x=NUMBER)]}
        assert quality(schema, {"k": 1, "x": 10}, {"k": 1.0, "x": 9}) == pytest.approx(0.95)

    def test_without_constants_the_branch_sharing_most_keys_is_taken(self):
        schema = {"anyOf": [obj(a=STRING, x=INTEGER), obj(b=STRING, c=STRING, x=NUMBER)]}
        assert quality(schema, {"a": "v", "x": 10}, {"a": "v", "x": 9}) == 0.5
        assert quality(schema, {"b": "v", "x": 10}, {"b": "v", "x": 9}) == pytest.approx(0.95)
        assert quality(schema, {"x": 10}, {"x": 9}) == 0.0

    def test_absent_values_are_not_shared_keys(self):
        schema = {"anyOf": [obj(a=STRING, b=STRING, x=INTEGER), obj(c=STRING, x=NUMBER)]}
        full, bare = {"a": None, "b": None, "c": "v", "x": 10}, {"c": "v", "x": 10}
        assert quality(schema, full, bare) == 1.0
        assert quality(schema, full, {"c": "v", "x": 9}) == pytest.approx(0.95)
        kept = schema | {"x-arbitre": {"absent": []}}
        assert quality(kept, full, full | {"x": 9}) == pytest.approx(3 / 4)

    def test_branches_are_compared_field_by_field(self):
        schema = {
            "oneOf": [obj(kind={"const": "a"}, n=STRING, x=NUMBER), obj(kind={"const": "b"}, n=STRING, x=INTEGER)]
        }
        gold, predicted = {"kind": "a", "n": "abcd", "x": 10}, {"kind": "b", "n": "abcx", "x": 10}
        assert quality(schema, gold, predicted) == pytest.approx((0 + 7 / 9 + 0) / 3)

    def test_a_branch_applies_to_objects_below_it(self):
        schema = {
            "oneOf": [
                obj(kind={"const": "a"}, inner=obj(x=NUMBER), xs=listed(obj(x=NUMBER))),
                obj(kind={"const": "b"}, inner=obj(x=INTEGER), xs=listed(obj(x=INTEGER))),
            ]
        }

        def value(kind, x):
            return {"kind": kind, "inner": {"x": x}, "xs": [{"x": x}]}

        assert quality(schema, value("a", 10), value("a", 9)) == pytest.approx((1 + 0.9 + 0.9) / 3)
        assert quality(schema, value("b", 10), value("b", 9)) == pytest.approx(1 / 3)
        assert quality(schema, value("a", 10), value("b", 10)) == 0.0

    def test_a_map_can_be_a_branch_beside_an_object(self):
        schema = {"anyOf": [obj(a=STRING, b=STRING), {"type": "object", "additionalProperties": INTEGER}]}
        assert quality(schema, {"a": "abcd"}, {"a": "abcx"}) == pytest.approx(7 / 9)
        assert quality(schema, {"x": 10}, {"x": 9}) == 0.0

    def test_a_nullable_object_is_compared_or_missing(self):
        schema = obj(a={"anyOf": [obj(x=NUMBER), NULL], "x-arbitre": {"weight": 3}}, b=NUMBER)
        assert quality(schema, {"a": {"x": 10}, "b": 1}, {"a": {"x": 9}, "b": 1}) == pytest.approx((3 * 0.9 + 1) / 4)
        assert quality(schema, {"a": None, "b": 1}, {"b": 1}) == 1.0
        assert quality(schema, {"a": {"x": 10}, "b": 1}, {"a": None, "b": 1}) == 0.25

    def test_list_items_are_matched_within_their_branch(self):
        items = {"oneOf": [obj(kind={"const": "a"}, x=NUMBER), obj(kind={"const": "b"}, x=NUMBER, y=STRING)]}
        gold = [{"kind": "a", "x": 10}, {"kind": "b", "x": 10, "y": "abcd"}]
        predicted = [{"kind": "b", "x": 10, "y": "abcx"}, {"kind": "a", "x": 9}]
        comparison = Comparator(listed(items)).compare(gold=gold, predicted=predicted)
        assert [(pair.gold, pair.predicted) for pair in comparison.alignment("").pairs] == [(0, 1), (1, 0)]
        assert comparison.quality == pytest.approx((0.95 + (2 + 7 / 9) / 3) / 2)

    def test_a_discriminator_that_is_not_json_is_reported(self):
        schema = {"oneOf": [obj(kind={"const": "a"}, x=STRING), obj(kind={"const": "b"})]}
        with pytest.raises(Exception, match="Expected a JSON value") as caught:
            Comparator(schema).compare(gold={"kind": {1, 2}}, predicted={})
        assert caught.value.pointer == "/kind"


class TestOtherUnions:
    def test_different_kinds_are_at_distance_1(self):
        schema = {"anyOf": [STRING, listed(STRING), obj(a=STRING)]}
        values = ["abcd", ["abcd"], {"a": "abcd"}]
        assert [[quality(schema, gold, predicted) for predicted in values] for gold in values] == [
            [1, 0, 0],
            [0, 1, 0],
            [0, 0, 1],
        ]

    def test_a_list_takes_the_branch_of_its_items(self):
        schema = {"anyOf": [listed(INTEGER), listed(STRING)]}
        assert quality(schema, [10, 20], [20, 9]) == 0.5
        assert quality(schema, ["abcd"], ["abcx"]) == pytest.approx(7 / 9)

    def test_nested_unions_are_compared(self):
        schema = {
            "anyOf": [{"oneOf": [obj(a=NUMBER), {"anyOf": [INTEGER, NULL]}]}, listed({"anyOf": [STRING, INTEGER]})]
        }
        assert quality(schema, {"a": 10}, {"a": 9}) == 0.9
        assert quality(schema, 10, 9) == 0.0
        assert quality(schema, ["abcd", 1], [1, "abcx"]) == pytest.approx((1 + 7 / 9) / 2)

    def test_one_distance_can_apply_to_all_branches(self):
        schema = {
            "anyOf": [listed(INTEGER), STRING, NULL],
            "x-arbitre": {"normalize": ["numbers"], "distance": "jaccard"},
        }
        assert quality(schema, [1, 2, 3], "p. 2 and 3") == pytest.approx(2 / 3)
        assert Comparator(schema).explain()[0].kind == "null or string or array"
        assert len(Comparator(schema).explain()) == 1

    @pytest.mark.parametrize(
        ("gold", "predicted"), [(1, "1"), (True, 1), (None, ""), ("a", False), (["a"], "a"), ({}, [])]
    )
    def test_no_distance_compares_values_of_different_kinds(self, gold, predicted):
        types = {"type": ["number", "string", "boolean", "null", "array", "object"]}
        schema = obj(b=types | {"x-arbitre": {"distance": "same", "absent": []}}, z=STRING)
        comparator = Comparator(schema, distances={"same": lambda *_: 0.0})
        comparison = comparator.compare(gold={"b": gold, "z": "q"}, predicted={"b": predicted, "z": "q"})
        assert (comparison.quality, comparison.at("/b").quality, comparison.leaves.irq) == (0.5, 0.0, 0.5)
        assert comparison.by_path["/b"].irq == 0.0
        assert [leaf.verdict for leaf in comparison.explain()] == ["wrong type", "correct"]
        assert comparator.compare(gold={"b": 1}, predicted={"b": 1.5}).quality == 1.0


class TestAllOf:
    def test_all_of_merges_its_members(self):
        schema = {"allOf": [obj(a=NUMBER), obj(b=INTEGER)], "properties": {"c": STRING}}
        gold, predicted = {"a": 10, "b": 10, "c": "abcd"}, {"a": 9, "b": 9, "c": "abcx"}
        assert quality(schema, gold, predicted) == pytest.approx((0.9 + 0 + 7 / 9) / 3)

    def test_all_of_narrows_types_formats_and_enums(self):
        assert quality({"allOf": [{"type": ["number", "string"]}, INTEGER]}, 10, 9) == 0.0
        assert quality({"type": "string", "allOf": [{"format": "date"}]}, "2024-01-01", "2024-03-14") == pytest.approx(
            0.8
        )
        assert quality({"enum": ["abcd", "abcx"], "allOf": [STRING]}, "abcd", "abcx") == 0.0

    def test_all_of_intersects_enums(self):
        schema = {
            "oneOf": [
                {"allOf": [obj(k={"enum": ["a", "b"]}, x=NUMBER), obj(k={"enum": ["b", "c"]})]},
                obj(k={"enum": ["a", "c"]}, x=INTEGER),
            ]
        }
        found = [quality(schema, {"k": k, "x": 10}, {"k": k, "x": 9}) for k in "abc"]
        assert found == [0.5, pytest.approx(0.95), 0.5]

    def test_all_of_intersects_unions(self):
        schema = {"allOf": [{"anyOf": [STRING, NUMBER]}, {"anyOf": [NUMBER, {"type": "boolean"}]}]}
        assert quality(schema, 10, 9) == 0.9
        assert Comparator(schema).explain()[0].kind == "number"

    def test_all_of_merges_into_each_branch_of_a_union(self):
        schema = {
            "allOf": [
                obj(id=INTEGER),
                {"oneOf": [obj(kind={"const": "a"}, x=NUMBER), obj(kind={"const": "b"}, x=INTEGER)]},
            ]
        }
        gold, predicted = ({"id": 1, "kind": "a", "x": x} for x in (10, 9))
        assert quality(schema, gold, predicted) == pytest.approx(2.9 / 3)

    def test_a_field_declared_twice_keeps_its_annotations(self):
        schema = {"allOf": [obj(a=STRING), {"properties": {"a": {"x-arbitre": {"distance": "exact"}}}}]}
        assert quality(schema, {"a": "abcd"}, {"a": "abcx"}) == 0.0

    def test_the_annotation_nearest_to_the_use_wins(self):
        far = {"$defs": {"s": EXACT | {"x-arbitre": {"distance": "exact", "normalize": "lower"}}}}
        for near in ({"$ref": "#/$defs/s"}, {"allOf": [{"$ref": "#/$defs/s"}]}):
            schema = {**far, **near, "x-arbitre": {"distance": "yujian-bo"}}
            assert quality(schema, "ABCD", "abcx") == pytest.approx(7 / 9)

    def test_a_union_and_its_branch_may_not_differ(self):
        schema = {"anyOf": [EXACT, INTEGER], "x-arbitre": {"distance": "yujian-bo"}}
        (problem,) = refused(schema)
        assert problem.pointer == "/x-arbitre/distance"
        assert "/anyOf/0/x-arbitre/distance" in problem.message
        assert quality(schema | {"x-arbitre": {"distance": "exact"}}, "abcd", "abcx") == 0.0


CONDITIONAL = {
    **obj(kind=STRING),
    "if": {"properties": {"kind": {"const": "a"}}},
    "then": {"properties": {"x": NUMBER, "only": EXACT}},
    "else": {"properties": {"y": INTEGER}},
}


class TestConditions:
    def test_then_and_else_both_add_their_declarations(self):
        assert quality(CONDITIONAL, {"x": 10, "y": 10}, {"x": 9, "y": 9}) == pytest.approx(0.45)
        assert quality(CONDITIONAL, {"only": "abcd"}, {"only": "abcx"}) == 0.0

    def test_a_condition_narrows_nothing(self):
        schema = obj(kind=STRING, x=NUMBER) | {
            "if": {"properties": {"kind": {"const": "a"}}},
            "then": {"properties": {"kind": {"enum": ["a", "b"]}, "x": {"const": 5}}},
        }
        assert quality(schema, {"x": 10, "kind": "abcd"}, {"x": 9, "kind": "abcx"}) == pytest.approx((0.9 + 7 / 9) / 2)

    def test_a_field_in_then_and_else_is_a_union(self):
        schema = {"if": {"required": ["a"]}, "then": obj(v=NUMBER), "else": obj(v=STRING)}
        assert quality(schema, {"v": 10}, {"v": 9}) == 0.9
        assert quality(schema, {"v": "abcd"}, {"v": "abcx"}) == pytest.approx(7 / 9)

    def test_a_condition_declares_nested_fields(self):
        schema = obj(x=obj(a=STRING)) | {"if": {}, "then": {"properties": {"x": obj(a=INTEGER, b=INTEGER)}}}
        assert quality(schema, {"x": {"a": "abcd", "b": 10}}, {"x": {"a": "abcx", "b": 9}}) == pytest.approx(7 / 18)

    def test_a_condition_may_use_references(self):
        schema = {
            "$defs": {"x": obj(a=INTEGER)},
            **obj(x=obj(a=NUMBER)),
            "if": {},
            "then": obj(x={"$ref": "#/$defs/x"}),
        }
        assert quality(schema, {"x": {"a": 10}}, {"x": {"a": 9}}) == 0.9

    def test_a_condition_may_annotate_what_is_declared(self):
        schema = obj(x=STRING) | {"if": True, "then": {"properties": {"x": {"x-arbitre": {"distance": "exact"}}}}}
        assert quality(schema, {"x": "abcd"}, {"x": "abcx"}) == 0.0

    def test_then_without_if_is_ignored(self):
        schema = {"then": {"properties": {"x": INTEGER}}}
        assert quality(schema, {"x": 10}, {"x": 9}) == 0.9

    @pytest.mark.parametrize("keyword", ["dependentSchemas", "dependencies"])
    def test_dependent_schemas_add_their_declarations(self, keyword):
        schema = {"$schema": "http://json-schema.org/draft-07/schema#"} if keyword == "dependencies" else {}
        schema |= obj(a=STRING) | {keyword: {"a": {"properties": {"x": INTEGER}}}}
        assert quality(schema, {"x": 10}, {"x": 9}) == 0.0

    def test_a_condition_declares_items_patterns_and_maps(self):
        schema = {
            "if": {},
            "then": {"items": INTEGER, "patternProperties": {"^a": INTEGER}, "additionalProperties": NUMBER},
        }
        assert quality(schema, [10], [9]) == 0.0
        assert quality(schema, {"a": 10, "b": 10}, {"a": 9, "b": 9}) == pytest.approx(0.45)


class Colour(enum.Enum):
    RED = "red"
    REDDISH = "reddish"


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    lives: float


class Node(BaseModel):
    label: str
    children: list["Node"] = []


class Owner(BaseModel):
    name: str = Field(json_schema_extra={"x-arbitre": {"distance": "exact", "weight": 2}})
    nick: str | None = None
    colour: Colour = Colour.RED
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = []
    main: Cat | None = Field(default=None, alias="mainCat", json_schema_extra={"x-arbitre": {"weight": 3}})
    scores: dict[str, float] = {}
    point: tuple[int, float] | None = None
    tree: Node | None = None


class TestPydantic:
    def value(self, **fields):
        return {"name": "abcd", **fields}

    def test_pydantic_fields_carry_annotations(self):
        assert quality(Owner, {"name": "abcd", "nick": "abcd"}, {"name": "abcx", "nick": "abcx"}) == pytest.approx(
            7 / 27
        )

    @pytest.mark.parametrize(
        ("gold", "predicted", "expected"),
        [
            ({"nick": "abcd"}, {"nick": "abcx"}, (2 + 7 / 9) / 3),
            ({"nick": None}, {}, 1.0),
            ({"colour": "red"}, {"colour": "reddish"}, 2 / 3),
            ({"pets": [{"kind": "cat", "lives": 10}]}, {"pets": [{"kind": "cat", "lives": 9}]}, 2.5 / 3),
            ({"pets": [{"kind": "dog", "lives": 10}]}, {"pets": [{"kind": "dog", "lives": 9}]}, 2.95 / 3),
            ({"pets": [{"kind": "cat", "lives": 9}]}, {"pets": [{"kind": "dog", "lives": 9}]}, 2 / 3),
            ({"mainCat": {"lives": 10}}, {"mainCat": {"lives": 9}}, 2 / 5),
            ({"scores": {"a": 10, "b": 1}}, {"scores": {"a": 9, "b": 1}}, 2.95 / 3),
            ({"point": [1, 10]}, {"point": [1, 9]}, 2.95 / 3),
            (
                {"tree": {"label": "a", "children": [{"label": "abcd", "children": []}]}},
                {"tree": {"label": "a", "children": [{"label": "abcx", "children": []}]}},
                (2 + (1 + (7 / 9 + 1) / 2) / 2) / 3,
            ),
        ],
    )
    def test_pydantic_models_are_compared(self, gold, predicted, expected):
        assert quality(Owner, self.value(**gold), self.value(**predicted)) == pytest.approx(expected)

    def test_a_recursive_pydantic_model_is_compared(self):
        assert quality(Node, {"label": "abcd", "children": []}, {"label": "abcx", "children": []}) == pytest.approx(
            8 / 9
        )
        assert [row.path for row in Comparator(Node).explain()] == ["", "/label", "/children", "/children/*"]

    def test_a_wrong_annotation_is_reported_where_it_is(self):
        class Wrong(BaseModel):
            a: str = Field(json_schema_extra={"x-arbitre": {"distanse": "exact"}})

        (problem,) = refused(Wrong)
        assert problem.pointer == "/properties/a/x-arbitre/distanse"
        assert problem.hint.startswith('Did you mean "distance"? Also available: normalize, ')


class TestRecursiveUnions:
    """Branches that share recursive fields come to an end, however the references are written."""

    def expression(self, reference, children):
        names = ["sum", "product", "quotient", "power"]
        shared = {"left": reference, "right": reference, "all": children}
        branches = [obj(kind={"const": name}, **{key: dict(value) for key, value in shared.items()}) for name in names]
        return {
            "$defs": {"e": {"oneOf": [*branches, obj(kind={"const": "number"}, value=NUMBER)]}},
            "$ref": "#/$defs/e",
        }

    @pytest.mark.parametrize(
        "reference",
        [
            {"$ref": "#/$defs/e"},
            {"$ref": "#/$defs/e", "description": "An operand."},
            {"$ref": "#/$defs/e", "x-arbitre": {"weight": 2}},
            {"anyOf": [{"$ref": "#/$defs/e"}, NULL]},
            {"allOf": [{"$ref": "#/$defs/e"}]},
        ],
    )
    def test_recursive_expressions_compile_to_few_sites(self, reference):
        schema = self.expression(reference, listed({"anyOf": [{"$ref": "#/$defs/e"}, NULL]}))

        def value(number, kind="sum"):
            leaf = {"kind": "number", "value": number}
            return {"kind": kind, "left": {"kind": "power", "left": leaf}, "all": [{"kind": "product", "all": [leaf]}]}

        comparator = Comparator(schema)
        assert len(comparator.plan.sites) < 60
        deep = comparator.compare(gold=value(10), predicted=value(9))
        assert deep.by_path()["/left/left/value"].quality == 0.9
        assert deep.by_path()["/all/*/all/*/value"].quality == 0.9
        across = comparator.compare(gold=value(10), predicted=value(10, "quotient"))
        assert across.by_path()["/left/left/value"].quality == 1.0

    @pytest.mark.slow
    def test_definitions_that_all_refer_to_each_other_are_compared(self):
        names = [f"d{n}" for n in range(30)]
        definitions = {
            name: obj(n=NUMBER, **{other: listed({"$ref": f"#/$defs/{other}"}) for other in names}) for name in names
        }
        comparator = Comparator({"$defs": definitions, "$ref": "#/$defs/d0"})
        gold, predicted = ({"d1": [{"d2": [{"d3": [{"n": n}]}]}]} for n in (10, 9))
        assert comparator.compare(gold=gold, predicted=predicted).quality == 0.9

    def test_branches_with_equal_settings_share_one_site(self):
        one, other = obj(x=NUMBER), obj(x=INTEGER)
        branches = [
            obj(kind={"const": kind}, inner=dict(inner))
            for kind, inner in zip("abcd", (one, one, other, other), strict=True)
        ]
        schema = {"oneOf": branches}

        def value(kind, x):
            return {"kind": kind, "inner": {"x": x}}

        found = [quality(schema, value(kind, 10), value(kind, 9)) for kind in "abcd"]
        assert found == [pytest.approx(0.95), pytest.approx(0.95), 0.5, 0.5]
        assert quality(schema, value("a", 10), value("b", 9)) == pytest.approx(0.45)
        assert quality(schema, value("a", 10), value("c", 10)) == 0.0
