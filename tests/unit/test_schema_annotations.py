"""The keyword `x-arbitre`: the effect of each key, and the errors for invalid ones."""

import pytest
from tests.builders import refused

from arbitre import Comparator, matching
from arbitre.errors import SchemaError, did_you_mean

STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
NULL = {"type": "null"}
KEYS = "distance, normalize, floor, weight, match, entries, absent, aliases, alternatives, id, ref, compare, scope, null, ignore, undeclared"


def quality(schema, gold, predicted, **options):
    return Comparator(schema, **options).compare(gold=gold, predicted=predicted).quality


def obj(**properties):
    return {"type": "object", "properties": properties}


def listed(items, **annotation):
    return {"type": "array", "items": items} | ({"x-arbitre": annotation} if annotation else {})


def said(schema, **annotation):
    return {**schema, "x-arbitre": annotation}


class TestKeys:
    @pytest.mark.parametrize(
        ("schema", "gold", "predicted", "expected"),
        [
            (said(STRING, distance="exact"), "abcd", "abcx", 0.0),
            (said(STRING, distance="levenshtein"), "abcd", "abcx", 0.75),
            (said(NUMBER, distance={"absolute": {"scale": 4}}), 10, 9, 0.75),
            (said(INTEGER, distance="relative"), 10, 9, 0.9),
            (said(STRING, distance="date"), "2024-01-01", "2024-03-14", 0.8),
            (said(STRING, distance={"date": {"scale": 73}}), "2024-01-01", "2024-03-14", 0.0),
            (said({"enum": ["low", "mid", "high"]}, distance="ordinal"), "low", "mid", 0.5),
            (said({"enum": ["low", None, "mid", "high"]}, distance="ordinal"), "low", "mid", 0.5),
            (said({"enum": ["Low", "MID", "high"]}, distance="ordinal", normalize="lower"), "low", "mid", 0.5),
            (said({"type": ["string", "null"]}, distance="exact"), "abcd", "abcx", 0.0),
            (said({"type": ["string", "number"]}, distance={"absolute": {"scale": 4}}), 10, 9, 0.75),
            (said({"type": ["string", "number"]}, distance={"absolute": {"scale": 4}}), "abcd", "abcx", 7 / 9),
            (said({"anyOf": [STRING, NUMBER]}, distance={"absolute": {"scale": 4}}), 10, 9, 0.75),
            (said({}, distance="levenshtein"), "abcd", "abcx", 0.75),
            (said({}, distance="levenshtein"), {"a": 1, "b": 2}, {"a": 1, "b": 3}, 0.0),
            (said(STRING, normalize="lower"), "ABCD", "abcd", 1.0),
            (said(STRING, normalize=["strip", "lower"]), " ABCD", "abcd", 1.0),
            (said(STRING, normalize=[]), "ABCD", "abcd", 1 - 8 / 12),
            (said(STRING, normalize={"number": {"decimal": ","}}), "1,5", "1,50", 1.0),
            (said(STRING, normalize="number"), "10", "9", 0.9),
            (said(STRING, normalize="number", distance={"absolute": {"scale": 4}}), "10", "9", 0.75),
            (said(STRING, normalize="number", distance={"absolute": {"scale": 4}}), "10", 9, 0.75),
            (said(STRING, normalize="number", distance={"absolute": {"scale": 4}}), "ten", "9", 0.0),
            (said(STRING, normalize="number", distance={"absolute": {"scale": 4}}), "abcd", "abcx", 7 / 9),
            (said(listed(INTEGER), distance="jaccard"), [1, 2, 3], [3, 2], 2 / 3),
            (said(listed(INTEGER), distance="exact"), [1, 2, 3], [1, 2], 0.0),
            (said(listed(STRING), distance="levenshtein", normalize={"concat": {}}), ["ab", "cd"], ["abc", "x"], 0.75),
            (said(obj(a=STRING), distance="exact"), {"a": "abcd"}, {"a": "abcx"}, 0.0),
            ({"anyOf": [said(listed(INTEGER), distance="jaccard"), NULL]}, [1, 2], [2], 0.5),
            (listed(INTEGER, match="ordered"), [1, 2], [2, 1], 0.0),
            (listed(NUMBER, match={"hungarian": {"gate": 0.95}}), [10], [9], 0.0),
            (
                listed(obj(k=STRING, v=INTEGER), match={"keyed": {"key": "k"}}),
                [{"k": "a", "v": 1}],
                [{"k": "b", "v": 1}],
                0.0,
            ),
            (listed(INTEGER, match="set"), [1, 1, 2], [2, 1], 1.0),
            ({"anyOf": [listed(INTEGER, match="ordered"), STRING]}, [1, 2], [2, 1], 0.0),
            (said({"anyOf": [listed(INTEGER), STRING]}, match="ordered"), [1, 2], [2, 1], 0.0),
            (said({"items": INTEGER}, match="ordered"), [1, 2], [2, 1], 0.0),
            (obj(a=said(INTEGER, weight=3), b=INTEGER), {"a": 1, "b": 1}, {"a": 2, "b": 1}, 0.25),
            (obj(a=said(INTEGER, weight=0.5), b=INTEGER), {"a": 1, "b": 1}, {"a": 2, "b": 1}, 2 / 3),
            (obj(a=said(INTEGER, ignore=True), b=INTEGER), {"a": 1, "b": 1}, {"a": 2, "b": 1}, 1.0),
            (obj(a=said(INTEGER, ignore=False), b=INTEGER), {"a": 1, "b": 1}, {"a": 2, "b": 1}, 0.5),
            (obj(a=said(STRING, absent=[""]), b=INTEGER), {"a": "", "b": 1}, {"b": 1}, 1.0),
            (obj(a=said(STRING, absent=[""], normalize="strip"), b=INTEGER), {"a": " ", "b": 1}, {"b": 1}, 1.0),
            (obj(a=said(STRING, absent=[]), b=INTEGER), {"a": None, "b": 1}, {"b": 1}, 0.5),
            (obj(a=said(listed(STRING), absent=[[], None]), b=INTEGER), {"a": [], "b": 1}, {"b": 1}, 1.0),
            (obj(a=said(obj(), absent=[{}]), b=INTEGER), {"a": {}, "b": 1}, {"b": 1}, 1.0),
        ],
    )
    def test_each_annotation_changes_the_quality_as_documented(self, schema, gold, predicted, expected):
        assert quality(schema, gold, predicted) == pytest.approx(expected)

    def test_absent_is_inherited_and_overridden_below(self):
        schema = said(obj(a=STRING, xs=listed(obj(b=STRING, c=said(STRING, absent=[])))), absent=["", None])
        assert quality(schema, {"a": "", "xs": [{"b": "", "c": "v"}]}, {"xs": [{"c": "v"}]}) == 1.0
        assert quality(schema, {"xs": [{"b": "v", "c": ""}]}, {"xs": [{"b": "v"}]}) == 0.5
        assert quality(schema, {"xs": [{"b": "v", "c": None}]}, {"xs": [{"b": "v"}]}) == 0.5
        assert quality(schema, {"z": "", "a": "v"}, {"a": "v"}) == 1.0

    def test_one_definition_can_have_different_annotations_at_each_use(self):
        schema = {
            "$defs": {"s": said(STRING, distance="levenshtein")},
            **obj(a={"$ref": "#/$defs/s"}, b=said({"$ref": "#/$defs/s"}, distance="exact")),
        }
        assert quality(schema, {"a": "abcd", "b": "abcd"}, {"a": "abcx", "b": "abcx"}) == pytest.approx(0.75 / 2)

    def test_a_weight_in_a_definition_applies_to_every_field_that_uses_it(self):
        schema = {"$defs": {"s": said(INTEGER, weight=3)}, **obj(a={"$ref": "#/$defs/s"}, b=INTEGER)}
        assert quality(schema, {"a": 1, "b": 1}, {"a": 2, "b": 1}) == 0.25

    def test_a_definition_may_be_annotated_for_other_uses(self):
        schema = {"$defs": {"s": said(STRING, normalize="lower")}, **listed({"$ref": "#/$defs/s"}, distance="jaccard")}
        assert quality(schema, ["A", "b"], ["a", "b"]) == pytest.approx(1 / 3)

    def test_a_list_compared_as_a_whole_is_one_row(self):
        schema = obj(pages=said(listed(INTEGER), distance="jaccard"))
        assert [row.path for row in Comparator(schema).explain()] == ["", "/pages"]
        assert list(Comparator(schema).compare(gold={"pages": [1]}, predicted={"pages": [1]}).by_path()) == ["/pages"]


class TestExtremeWeights:
    """A field whose share of its object is below 1e-12 is lost to rounding: a wrong one would leave the quality at 1."""

    @pytest.mark.parametrize(
        ("weights", "field", "got"),
        [
            ({"a": 1e16}, "a", "1 and 1e+16"),
            ({"a": 1e-13}, "a", "1e-13 and 1"),
            ({"a": 1e-7, "b": 1e7}, "a", "1e-07 and 1e+07"),
            ({"a": 1e13, "b": 1e13}, "a", "1 and 1e+13"),
            ({"a": 1e300}, "a", "1 and 1e+300"),
            ({"a": 10**308}, "a", "1 and 1e+308"),
            ({"a": 5e-324, "b": 1}, "a", "4.94066e-324 and 1"),
        ],
    )
    def test_extreme_weight_ratios_are_refused(self, weights, field, got):
        schema = obj(**{name: said(STRING, weight=weight) for name, weight in weights.items()})
        with pytest.raises(SchemaError) as caught:
            Comparator(schema)
        (problem,) = caught.value.problems
        assert problem.message == f"Expected the weights in an object to differ by a factor of at most 1e+12, got {got}"
        assert problem.pointer == f"/properties/{field}/x-arbitre/weight"
        assert "lost to rounding" in problem.hint

    def test_extreme_weight_ratios_in_an_overlay_are_refused(self):
        with pytest.raises(SchemaError, match="got 1 and 1e\\+13"):
            Comparator(obj(a=STRING), overlay={"/a": {"weight": 1e13}})

    @pytest.mark.parametrize("weight", [1e-12, 1e12])
    def test_a_weight_ratio_of_1e12_still_affects_the_quality(self, weight):
        found = Comparator(obj(a=said(STRING, weight=weight), b=STRING)).compare(
            gold={"a": "x", "b": "x"}, predicted={"a": "x", "b": "y"} if weight > 1 else {"a": "y", "b": "x"}
        )
        assert found.quality < 1.0

    @pytest.mark.parametrize("scale", [1e-6, 1e6])
    def test_the_unit_of_weights_does_not_matter(self, scale):
        gold, predicted = {"a": "abc", "b": "x"}, {"a": "abd", "b": "y"}
        found, same = (
            Comparator(obj(a=said(STRING, weight=2 * unit), b=said(STRING, weight=unit))).compare(
                gold=gold, predicted=predicted
            )
            for unit in (1, scale)
        )
        assert found.quality == pytest.approx(same.quality, rel=1e-12)


class TestWrongValues:
    @pytest.mark.parametrize(
        ("annotation", "pointer", "message"),
        [
            ([], "", "Expected `x-arbitre` to be an object, got []"),
            ("exact", "", 'Expected `x-arbitre` to be an object, got "exact"'),
            ({"weight": 0}, "/weight", "Expected `weight` to be a positive number of at most 1e12, got 0"),
            ({"weight": -1}, "/weight", "Expected `weight` to be a positive number of at most 1e12, got -1"),
            ({"weight": True}, "/weight", "Expected `weight` to be a positive number of at most 1e12, got true"),
            (
                {"weight": 10**309},
                "/weight",
                f"Expected `weight` to be a positive number of at most 1e12, got {'1' + '0' * 78}…",
            ),
            ({"weight": "2"}, "/weight", 'Expected `weight` to be a positive number of at most 1e12, got "2"'),
            ({"weight": None}, "/weight", "Expected `weight` to be a positive number of at most 1e12, got null"),
            ({"entries": 1}, "/entries", "Expected `entries` to be true or false, got 1"),
            ({"ignore": "yes"}, "/ignore", 'Expected `ignore` to be true or false, got "yes"'),
            (
                {"absent": "null"},
                "/absent",
                'Expected `absent` to be a list of null, texts such as "" or "n/a", [] and {}, got "null"',
            ),
            (
                {"absent": [None, 0]},
                "/absent/1",
                'Expected `absent` to be a list of null, texts such as "" or "n/a", [] and {}, got 0',
            ),
            (
                {"absent": [False]},
                "/absent/0",
                'Expected `absent` to be a list of null, texts such as "" or "n/a", [] and {}, got false',
            ),
            ({"aliases": "a"}, "/aliases", 'Expected `aliases` to be a list of relative JSON Pointers, got "a"'),
            ({"aliases": []}, "/aliases", "Expected `aliases` to be a list of relative JSON Pointers, got []"),
            ({"aliases": [""]}, "/aliases/0", 'Expected `aliases` to be a list of relative JSON Pointers, got ""'),
            ({"aliases": [5]}, "/aliases/0", "Expected `aliases` to be a list of relative JSON Pointers, got 5"),
            ({"distance": 5}, "/distance", "Expected `distance` to be a name or {name: {option: value}}, got 5"),
            ({"distance": {}}, "/distance", "Expected `distance` to be a name or {name: {option: value}}, got {}"),
            (
                {"distance": {"date": 5}},
                "/distance/date",
                "Expected `distance` to be a name or {name: {option: value}}, got 5",
            ),
            ({"match": None}, "/match", "Expected `match` to be a name or {name: {option: value}}, got null"),
            (
                {"normalize": 5},
                "/normalize",
                "Expected `normalize` to be a name, {name: {option: value}}, or a list of these, got 5",
            ),
            (
                {"distance": {"date": {"scale": 0}}},
                "/distance/date/scale",
                "Expected `scale` to be greater than 0, got 0",
            ),
            ({"distance": "absolute"}, "/distance", "The required option `scale` of `absolute` is missing"),
        ],
    )
    def test_a_wrong_annotation_is_refused_at_its_pointer(self, annotation, pointer, message):
        (problem,) = refused(obj(a={**STRING, "x-arbitre": annotation}))
        assert (problem.message, problem.pointer) == (message, "/properties/a/x-arbitre" + pointer)

    @pytest.mark.parametrize(
        ("annotation", "pointer", "hint"),
        [
            ({"wieght": 2}, "/wieght", 'Did you mean "weight"?'),
            ({"zzzzzz": 2}, "/zzzzzz", f"Available: {KEYS}."),
            ({"a/b": 2}, "/a~1b", f"Available: {KEYS}."),
            ({"distance": "levenstein"}, "/distance", 'Did you mean "levenshtein"?'),
            ({"distance": {"dates": {}}}, "/distance/dates", 'Did you mean "date"?'),
            ({"distance": {"date": {"scales": 3}}}, "/distance/date/scales", 'Did you mean "scale"?'),
            ({"normalize": ["strip", "lowr"]}, "/normalize/1", 'Did you mean "lower"?'),
            ({"normalize": "stripp"}, "/normalize", 'Did you mean "strip"'),
        ],
    )
    def test_a_misspelt_word_gets_a_hint(self, annotation, pointer, hint):
        (problem,) = refused(obj(a=said(STRING, **annotation)))
        assert problem.pointer == "/properties/a/x-arbitre" + pointer
        assert problem.hint.startswith(hint)

    def test_a_misspelt_matching_gets_a_hint(self):
        (problem,) = refused(listed(STRING, match="hungarain"))
        assert (problem.pointer, problem.hint) == (
            "/x-arbitre/match",
            did_you_mean("hungarain", matching.catalogue.names),
        )
        (problem,) = refused(listed(STRING, match={"hungarian": {"gates": 1}}))
        assert (problem.pointer, problem.hint) == ("/x-arbitre/match/hungarian/gates", 'Did you mean "gate"?')

    @pytest.mark.parametrize("key", ["x-arbiter", "x_arbitre", "X-Arbitre", "arbitre", "x-abitre", "xarbitre"])
    def test_a_misspelt_annotation_keyword_gets_a_hint(self, key):
        (problem,) = refused(obj(a={**STRING, key: {"weight": 2}}))
        assert problem.message == f'Unknown keyword "{key}"'
        assert (problem.pointer, problem.hint) == (f"/properties/a/{key}", 'Did you mean "x-arbitre"?')

    def test_a_property_may_be_named_like_a_misspelt_keyword(self):
        assert quality(obj(arbitre=INTEGER), {"arbitre": 1}, {"arbitre": 1}) == 1.0

    def test_all_problems_are_reported_at_once(self):
        schema = obj(
            a=said(STRING, distanse="exact", weight=-1),
            b=listed(said(STRING, weight=2)),
            c=said(STRING, match="ordered"),
            d={"$ref": "#/$defs/none"},
            e={"patternProperties": {"(": {}}},
            f=said(NUMBER, distance="jaro-winkler"),
            g=said(STRING, distance="nothing", normalize=["neither"]),
        )
        problems = refused(schema)
        assert sorted(problem.pointer for problem in problems) == [
            "/properties/a/x-arbitre/distanse",
            "/properties/a/x-arbitre/weight",
            "/properties/b/items/x-arbitre/weight",
            "/properties/c/x-arbitre/match",
            "/properties/d/$ref",
            "/properties/e/patternProperties/(",
            "/properties/f/x-arbitre/distance",
            "/properties/g/x-arbitre/distance",
            "/properties/g/x-arbitre/normalize/0",
        ]

    def test_one_mistake_in_a_definition_is_reported_once(self):
        schema = {"$defs": {"s": said(STRING, distanse=1)}, **obj(**{name: {"$ref": "#/$defs/s"} for name in "abc"})}
        assert [problem.pointer for problem in refused(schema)] == ["/$defs/s/x-arbitre/distanse"]


class TestMisplaced:
    @pytest.mark.parametrize(
        ("schema", "pointer", "message"),
        [
            (said(STRING, match="ordered"), "/x-arbitre/match", "`match` applies to lists"),
            (said(obj(a=STRING), entries=False), "/x-arbitre/entries", "`entries` applies to lists"),
            (obj(a=said(obj(b=STRING), entries=True)), "/properties/a/x-arbitre/entries", "`entries` applies to lists"),
            (said({"anyOf": [STRING, NULL]}, match="ordered"), "/x-arbitre/match", "`match` applies to lists"),
            (
                {"anyOf": [said(STRING, match="ordered"), listed(STRING)]},
                "/anyOf/0/x-arbitre/match",
                "`match` applies to lists",
            ),
            (said(STRING, weight=2), "/x-arbitre/weight", "this is the root of the schema"),
            (said(STRING, ignore=True), "/x-arbitre/ignore", "this is the root of the schema"),
            (said(STRING, aliases=["a"]), "/x-arbitre/aliases", "this is the root of the schema"),
            (listed(said(STRING, weight=2)), "/items/x-arbitre/weight", "this is an item of a list"),
            (
                {"prefixItems": [said(STRING, ignore=True)]},
                "/prefixItems/0/x-arbitre/ignore",
                "this is an item of a list",
            ),
            (
                {"additionalProperties": said(STRING, weight=2)},
                "/additionalProperties/x-arbitre/weight",
                "the values of a map",
            ),
            (
                {"patternProperties": {"a": said(STRING, aliases=["b"])}},
                "/patternProperties/a/x-arbitre/aliases",
                "the values of a map",
            ),
            (said(obj(a=STRING), normalize="strip"), "/x-arbitre/normalize", "`normalize` applies to single values"),
            (said(listed(STRING), normalize="strip"), "/x-arbitre/normalize", "`normalize` applies to single values"),
            (
                {"anyOf": [said(listed(STRING), normalize="strip"), STRING]},
                "/anyOf/0/x-arbitre/normalize",
                "applies to single values",
            ),
            (
                {"anyOf": [said(listed(STRING), distance="jaccard"), STRING]},
                "/anyOf/0/x-arbitre/distance",
                "is set on only one branch",
            ),
            (
                said({"anyOf": [listed(INTEGER), said(STRING, normalize="numbers")]}, distance="jaccard"),
                "/anyOf/1/x-arbitre/normalize",
                "on one branch, but the union is compared as one leaf",
            ),
            (
                {"anyOf": [said(STRING, absent=[""]), INTEGER]},
                "/anyOf/0/x-arbitre/absent",
                "`absent` differs between the branches",
            ),
            (said(listed(STRING), distance="jaccard", match="ordered"), "/x-arbitre/match", "makes the list a leaf"),
            (said(listed(STRING), distance="jaccard", entries=True), "/x-arbitre/entries", "makes the list a leaf"),
            (said(NUMBER, distance="jaro-winkler"), "/x-arbitre/distance", "`distance` for numbers, got jaro-winkler"),
            (
                said({"type": ["string", "null"]}, distance="relative"),
                "/x-arbitre/distance",
                "`distance` for strings, got relative",
            ),
            (
                said(STRING, distance="relative", normalize="strip"),
                "/x-arbitre/distance",
                "`distance` for strings, got relative",
            ),
            (said(listed(STRING), distance="yujian-bo"), "/x-arbitre/distance", "`distance` for lists, got yujian-bo"),
            (said(obj(a=STRING), distance="jaccard"), "/x-arbitre/distance", "`distance` for objects, got jaccard"),
            (
                listed(said(STRING, normalize="lower"), distance="jaccard"),
                "/items/x-arbitre",
                "has no effect inside a leaf",
            ),
            (
                said(obj(a=said(STRING, weight=2)), distance="exact"),
                "/properties/a/x-arbitre",
                "has no effect inside a leaf",
            ),
            (
                said({"anyOf": [listed(said(STRING, normalize="lower")), NULL]}, distance="jaccard"),
                "/anyOf/0/items/x-arbitre",
                "has no effect inside a leaf",
            ),
            (
                {"anyOf": [listed(STRING, match="ordered"), listed(INTEGER, match="set")]},
                "/anyOf/1/x-arbitre/match",
                "`match` differs between the branches",
            ),
            (
                {"anyOf": [listed(STRING, match="ordered"), listed(INTEGER)]},
                "/anyOf/0/x-arbitre/match",
                "`match` differs between the branches",
            ),
            (obj(**{"x-arbitre": {"weight": 2}}), "/properties/x-arbitre", "has no effect inside `properties`"),
            ({"not": said(STRING, weight=2)}, "/not/x-arbitre", "has no effect inside `not`"),
            ({"if": said(STRING, weight=2)}, "/if/x-arbitre", "has no effect inside `if`"),
            ({"contains": said(STRING, distance="exact")}, "/contains/x-arbitre", "has no effect inside `contains`"),
        ],
    )
    def test_a_misplaced_annotation_is_refused(self, schema, pointer, message):
        (problem,) = refused(schema)
        assert message in problem.message
        assert problem.pointer == pointer

    @pytest.mark.parametrize("key", ["weight", "ignore", "aliases"])
    def test_field_annotations_that_differ_between_branches_are_refused(self, key):
        values = {"weight": (2, 3), "ignore": (True, False), "aliases": (["b"], ["c"])}[key]
        one, other = (obj(k={"const": k}, a=said(STRING, **{key: value})) for k, value in enumerate(values))
        (problem,) = refused({"oneOf": [one, other]})
        assert problem.message.startswith(f"`{key}` differs between the branches")
