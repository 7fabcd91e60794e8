"""The results of a comparison: scores, paths, alignments, verdicts, explanation and JSON, on hand-solved examples."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from tests.oracle.strategies import cases

from arbitre import ABSENT, Comparator, Comparison, DataError, Match, SchemaError, Scores, Tally

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
SHARE = {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 1}}}}  # quality 1 - |a - b|


def who(alignment):
    """Who is matched to whom, who to nobody."""
    return alignment.pairs, alignment.missing, alignment.spurious


def listed(items, **options):
    return {"type": "array", "items": items, "x-arbitre": options}


def record(**properties):
    return {"type": "object", "properties": properties}


def compare(schema, gold, predicted):
    return Comparator(schema).compare(gold=gold, predicted=predicted)


def counts(scores):
    """(gold, predicted, matched, quality mass)."""
    return pytest.approx((scores.gold, scores.predicted, scores.matched, scores.quality_mass))


def paths(comparison):
    return {path: (one.gold, one.predicted, one.matched) for path, one in comparison.by_path().items()}


SPEECHES = record(
    page=WHOLE, speakers=listed(record(name=TEXT | {"x-arbitre": {"weight": 2}}, pages=listed(WHOLE)), entries=True)
)
GOLD = {"page": 7, "speakers": [{"name": "Ada", "pages": [1, 2]}, {"name": "Bob", "pages": [3]}]}
PREDICTED = {"page": 7, "speakers": [{"name": "Bob", "pages": [3, 4]}]}


def test_one_document_has_consistent_scores_in_every_view():
    comparison = compare(SPEECHES, GOLD, PREDICTED)
    bob = (2 * 1 + 1 * 1 / 2) / 3  # the name counts double; of the pages 3 and 4 one is right
    assert comparison.quality == pytest.approx((1 + bob / 2) / 2)
    assert counts(comparison.scores) == (2, 1, 1, bob)
    assert counts(comparison.leaves) == (6, 4, 3, 3)
    assert counts(comparison.at("").scores) == (2, 2, 2, 1 + bob / 2)
    assert counts(comparison.at("/speakers/1").scores) == (3, 3, 3, 2.5)
    assert counts(comparison.at("/speakers/1/pages").scores) == (1, 2, 1, 1)
    assert counts(comparison.at("/page").scores) == (1, 1, 1, 1)
    assert paths(comparison) == {
        "/page": (1, 1, 1),
        "/speakers/*": (2, 1, 1),
        "/speakers/*/name": (2, 1, 1),
        "/speakers/*/pages/*": (3, 2, 1),
    }
    assert who(comparison.alignment("/speakers")) == ((Match(1, 0, 1.0, bob),), (0,), ())
    assert who(comparison.alignment("/speakers/1/pages")) == ((Match(0, 0, 1.0, 1.0),), (), (1,))
    assert comparison.curve.area == pytest.approx(bob)
    assert [(row.pointer, row.predicted_pointer, row.verdict) for row in comparison.explain()] == [
        ("/page", "/page", "correct"),
        ("/speakers/0/name", None, "missing"),
        ("/speakers/0/pages/0", None, "missing"),
        ("/speakers/0/pages/1", None, "missing"),
        ("/speakers/1/name", "/speakers/0/name", "correct"),
        ("/speakers/1/pages/0", "/speakers/0/pages/0", "correct"),
        (None, "/speakers/0/pages/1", "spurious"),
    ]
    assert repr(comparison) == "Comparison(quality=0.7083, entries='/speakers')"


def test_a_node_holds_both_values_and_their_pointers():
    node = compare(SPEECHES, GOLD, PREDICTED).at("/speakers/1/name")
    assert (node.path, node.pointer, node.predicted_pointer) == (
        "/speakers/*/name",
        "/speakers/1/name",
        "/speakers/0/name",
    )
    assert (node.gold, node.predicted, node.quality, node.verdict) == ("Bob", "Bob", 1.0, "correct")
    missing = compare(SPEECHES, GOLD, PREDICTED).at("/speakers/0")
    assert (missing.predicted_pointer, missing.predicted, missing.verdict) == (None, ABSENT, "missing")


@pytest.mark.parametrize(
    ("gold", "predicted", "expected", "none"),
    [
        ([], [], {"gold": 0, "predicted": 0, "quality": 1}, {"imq", "irq", "f1q", "f1", "amq", "omq", "variance"}),
        ([], [1], {"imq": 0, "f1q": 0, "precision": 0, "f1": 0, "omq": 0, "quality": 0}, {"irq", "recall", "amq"}),
        ([1], [], {"irq": 0, "f1q": 0, "recall": 0, "f1": 0, "omq": 0, "quality": 0}, {"imq", "precision", "amq"}),
        ([1], [2], {"imq": 0, "irq": 0, "f1": 1, "f1q": 0, "amq": 0, "omq": 0, "omq_imq": 0, "variance": 0}, set()),
        ([1], [1], {"imq": 1, "irq": 1, "f1": 1, "f1q": 1, "amq": 1, "omq": 1, "omq_imq": 1, "quality": 1}, set()),
    ],
)
def test_a_score_without_denominator_is_none(gold, predicted, expected, none):
    scores = compare(listed(WHOLE), gold, predicted).scores
    assert {name: getattr(scores, name) for name in expected} == expected
    assert {name for name in none if getattr(scores, name) is not None} == set()
    assert scores.vacuous is (not gold and not predicted)


EMPTIES = (None, "", [], {})
OUTCOMES = {(0, 0, 0, 0): ".", (1, 0, 0, 0): "o", (0, 1, 0, 0): "o", (1, 1, 1, 1): "=", (1, 1, 1, 0): "x"}


@pytest.mark.parametrize(
    ("absent", "table"),
    [  # rows and columns: null "" [] {};  . nothing there, o one side only, = equal, x different kinds
        ([], ["=xxx", "x=xx", "xx=x", "xxx="]),
        ([None], [".ooo", "o=xx", "ox=x", "oxx="]),
        ([""], ["=oxx", "o.oo", "xo=x", "xox="]),
        ([None, ""], ["..oo", "..oo", "oo=x", "oox="]),
        ([None, [], {}], [".o..", "o=oo", ".o..", ".o.."]),
        ([None, "", [], {}], ["....", "....", "....", "...."]),
    ],
)
def test_the_absence_policy_decides_what_is_absent(absent, table):
    schema = record(a={}) | {"x-arbitre": {"absent": absent}}
    found = [
        "".join(OUTCOMES[tuple(compare(schema, {"a": g}, {"a": p}).scores.to_dict().values())[:4]] for p in EMPTIES)
        for g in EMPTIES
    ]
    assert found == table


@pytest.mark.parametrize(
    ("schema", "gold", "expected"),
    [
        (record(a=TEXT), {"a": None}, 0),
        (record(a=TEXT | {"x-arbitre": {"absent": [""], "normalize": ["strip"]}}), {"a": "  "}, 0),
        (record(a=TEXT | {"x-arbitre": {"normalize": ["strip"]}}), {"a": "  "}, 1),
        (record(a=listed(TEXT, absent=[None, "", []])), {"a": ["", None, ""]}, 0),
        (record(a=listed(TEXT, absent=[None, []])), {"a": ["", None]}, 1),
        (record(a=record(b=record(c=TEXT))) | {"x-arbitre": {"absent": [None, {}]}}, {"a": {"b": {"c": None}}}, 0),
        (record(a=record(b=TEXT)), {"a": {"b": None}}, 1),
    ],
)
def test_absence_is_decided_after_normalisation_from_the_leaves_up(schema, gold, expected):
    assert compare(schema, gold | {"z": 1}, {"z": 1}).leaves.gold == 1 + expected


ROWS = listed(record(x=WHOLE))
MARKED = listed(record(x=WHOLE), entries=True)
TREE = record(name=TEXT, kids=listed({"$ref": "#"}), parent={"anyOf": [{"$ref": "#"}, {"type": "null"}]})


@pytest.mark.parametrize(
    ("schema", "entries"),
    [
        pytest.param(record(a=ROWS, b=MARKED), "/b", id="the list that is marked"),
        pytest.param(record(a=ROWS, b=record(c=MARKED)), "/b/c", id="the list that is marked, though deeper"),
        pytest.param(record(a=record(b=listed(WHOLE, entries=True)), c=ROWS), "/a/b", id="marked, of any items"),
        pytest.param(record(b=ROWS), "/b", id="else the only list of objects"),
        pytest.param(record(a=record(b=ROWS)), "/a/b", id="in an object that holds nothing else"),
        pytest.param(record(a=TEXT, b=ROWS), "", id="a value outside the list: the root"),
        pytest.param(record(a=listed(WHOLE), b=ROWS), "", id="another list outside: the root"),
        pytest.param(record(a=TEXT | {"x-arbitre": {"ignore": True}}, b=ROWS), "/b", id="ignored values do not count"),
        pytest.param(record(b=ROWS) | {"additionalProperties": True}, "/b", id="nor keys that are not declared"),
        pytest.param(record(b=ROWS) | {"additionalProperties": TEXT}, "", id="keys of a declared map do"),
        pytest.param({"anyOf": [record(b=ROWS), {"type": "null"}]}, "/b", id="an object or null"),
        pytest.param({"anyOf": [record(b=ROWS), TEXT]}, "", id="an object or a text"),
        pytest.param({"anyOf": [record(b=ROWS), record(c=TEXT)]}, "", id="another object with other values"),
        pytest.param({"$defs": {"n": record(b=listed({"$ref": "#/$defs/n"}))}, "$ref": "#/$defs/n"}, "/b", id="a tree"),
        pytest.param(TREE, "", id="a tree with a name in each node"),
        pytest.param(record(b=ROWS) | {"x-arbitre": {"entries": True}}, "", id="the root, marked"),
        pytest.param(TREE | {"x-arbitre": {"entries": True}}, "", id="the root of a tree, marked"),
        pytest.param(record(a=listed(record(b=ROWS))), "/a", id="the shallowest of them"),
        pytest.param(record(a=record(b=ROWS), c=ROWS), "", id="two lists of objects: the root"),
        pytest.param(record(a=ROWS, b=ROWS), "", id="several as shallow: the root"),
        pytest.param(record(a=ROWS, b=listed(record(), entries=False)), "", id="a list marked false is still outside"),
        pytest.param(record(a=TEXT), "", id="no list: the root"),
        pytest.param(ROWS, "", id="the root is a list"),
        pytest.param(TEXT, "", id="the root is a leaf"),
        pytest.param({"type": "object", "additionalProperties": ROWS}, "", id="lists of a map are several"),
        pytest.param(listed(record(lines=MARKED)), "/*/lines", id="marked below another list"),
    ],
)
def test_entries_are_the_marked_list_or_the_only_list_of_objects(schema, entries):
    assert Comparator(schema).entries == entries


def test_an_overlay_marks_the_root():
    assert Comparator(record(b=ROWS), overlay={"": {"entries": True}}).entries == ""
    marked = record(a=TEXT, b=MARKED)
    assert Comparator(marked, overlay={"": {"entries": True}, "/b": {"entries": False}}).entries == ""
    with pytest.raises(SchemaError, match="Expected only one list to be marked as entries, got the root, /b"):
        Comparator(marked, overlay={"": {"entries": True}})


def test_a_redundant_mark_keeps_the_signature():
    plain = record(a=TEXT, b=ROWS)
    assert Comparator(plain, overlay={"": {"entries": True}}).signature == Comparator(plain).signature


def test_more_than_one_marked_list_is_refused():
    with pytest.raises(SchemaError, match="Expected only one list to be marked as entries, got /a, /b"):
        Comparator(record(a=MARKED, b=MARKED))


def test_entries_below_another_list_are_pooled():
    schema = record(pages=listed(record(id=WHOLE, lines=listed(WHOLE, entries=True))))
    gold = {"pages": [{"id": 1, "lines": [1, 2]}, {"id": 2, "lines": [3]}]}
    predicted = {"pages": [{"id": 1, "lines": [2, 5, 6]}]}
    comparison = compare(schema, gold, predicted)
    assert counts(comparison.scores) == (3, 3, 2, 1)
    assert comparison.curve.area == 1.0


def test_sums_do_not_depend_on_the_order_of_the_fields_in_the_schema():
    gold, predicted = dict.fromkeys("abcd", 0), {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.4}
    there, back = (
        compare(record(**dict.fromkeys(names, SHARE)), gold, predicted).leaves.quality_mass
        for names in ("abcd", "dcba")
    )
    assert there == back


def test_a_leaf_as_root_is_its_own_entry():
    comparison = compare(SHARE, 0, 0.25)
    assert comparison.scores == comparison.leaves == Scores(Tally(1, 1, 1, 0.75, 0.5625))
    assert comparison.curve.area == 0.75


# schema, gold, predicted, quality, (gold, predicted, matched) leaves, paths with (gold, predicted, matched)
CASES = {
    "items and leaves are counted apart": (
        listed(record(x=WHOLE, y=WHOLE)),
        [{"x": 1, "y": 2}, {"x": 3, "y": 4}],
        [{"x": 3, "y": 5}],
        0.25,
        (4, 2, 2),
        {"/*": (2, 1, 1), "/*/x": (2, 1, 1), "/*/y": (2, 1, 1)},
    ),
    "an empty object or list that is there is one leaf": (
        record(a=listed(WHOLE), b=record()),
        {"a": [], "b": {}},
        {"a": [], "b": {}},
        1.0,
        (2, 2, 2),
        {"/a": (1, 1, 1), "/b": (1, 1, 1)},
    ),
    "empty against full": (
        record(a=listed(WHOLE)),
        {"a": []},
        {"a": [1, 2]},
        0.0,
        (1, 2, 0),
        {"/a": (1, 0, 0), "/a/*": (0, 2, 0)},
    ),
    "kinds that differ share no leaf": (
        record(a={}, b=WHOLE),
        {"a": [1, 2], "b": 1},
        {"a": {"k": 1}, "b": 1},
        0.5,
        (3, 2, 1),
        {"/a/*": (2, 0, 0), "/a/k": (0, 1, 0), "/b": (1, 1, 1)},
    ),
    "positions of prefixItems are fields": (
        {"type": "array", "prefixItems": [TEXT, WHOLE], "items": WHOLE},
        ["a", 1, 2],
        ["a", 3],
        1 / 3,
        (3, 2, 2),
        {"/*": (1, 0, 0), "/0": (1, 1, 1), "/1": (1, 1, 1)},
    ),
    "the keys of a map are one path": (
        {"type": "object", "additionalProperties": WHOLE},
        {"x": 1, "y": 2},
        {"y": 2, "z": 3},
        1 / 3,
        (2, 2, 1),
        {"/*": (2, 2, 1)},
    ),
    "so are the keys of a pattern, and others have their own": (
        {"type": "object", "patternProperties": {"^p": WHOLE}},
        {"p1": 1, "p2": 2, "q": 1},
        {"p1": 1, "q": 1},
        2 / 3,
        (3, 2, 2),
        {"/*": (2, 1, 1), "/q": (1, 1, 1)},
    ),
    "undeclared keys are compared by kind, under their escaped name": (
        record(),
        {"x/y": [1, 2], "*": 1, "~": True},
        {"x/y": [2, 1], "*": 1},
        2 / 3,
        (4, 3, 3),
        {"/x~1y/*": (2, 2, 2), "/~0": (1, 0, 0), "/~2": (1, 1, 1)},
    ),
    "what is ignored is not there": (
        record(a=WHOLE, b=TEXT | {"x-arbitre": {"ignore": True}}),
        {"a": 1, "b": "x"},
        {"a": 1},
        1.0,
        (1, 1, 1),
        {"/a": (1, 1, 1)},
    ),
    "recursion repeats the path": (
        {"$defs": {"n": record(v=WHOLE, c=listed({"$ref": "#/$defs/n"}))}, "$ref": "#/$defs/n"},
        {"v": 1, "c": [{"v": 2, "c": [{"v": 3}]}]},
        {"v": 1, "c": [{"v": 2, "c": [{"v": 4}]}]},
        (1 + (1 + 0) / 2) / 2,
        (3, 3, 3),
        {"/v": (1, 1, 1), "/c/*": (1, 1, 1), "/c/*/v": (1, 1, 1), "/c/*/c/*": (1, 1, 1), "/c/*/c/*/v": (1, 1, 1)},
    ),
    "a list with a distance is one leaf": (
        record(a={"type": "array", "x-arbitre": {"distance": "jaccard"}}),
        {"a": [1, 2]},
        {"a": [2, 3]},
        1 / 3,
        (1, 1, 1),
        {"/a": (1, 1, 1)},
    ),
    "a field under its alias": (
        listed(record(inner=record(page=WHOLE | {"x-arbitre": {"aliases": ["pages"]}}))),
        [{"inner": {"page": 1}}],
        [{"pages": 1}],
        1.0,
        (1, 1, 1),
        {"/*": (1, 1, 1), "/*/inner/page": (1, 1, 1)},
    ),
    "true is not 1, and 1 is 1.0": (listed({}), [True, 1, 2], [1.0, True], 2 / 3, (3, 2, 2), {"/*": (3, 2, 2)}),
    "integers of any size": (record(a=WHOLE), {"a": 10**400}, {"a": 10**400}, 1.0, (1, 1, 1), {"/a": (1, 1, 1)}),
    "integers that no float tells apart": (WHOLE, 2**53, 2**53 + 1, 0.0, (1, 1, 1), {"": (1, 1, 1)}),
    "texts beyond the basic plane, and other normal forms": (
        listed(TEXT, match="ordered"),
        ["😀", "é", "ab"],
        ["😀", "e\u0301", "ac"],
        (1 + 1 + 3 / 5) / 3,
        (3, 3, 3),
        {"/*": (3, 3, 3)},
    ),
    "no prediction": (
        listed(record(x=WHOLE)),
        [{"x": 1}],
        ABSENT,
        0.0,
        (1, 0, 0),
        {"/*": (1, 0, 0), "/*/x": (1, 0, 0)},
    ),
    "no gold": (listed(record(x=WHOLE)), ABSENT, [{"x": 1}], 0.0, (0, 1, 0), {"/*": (0, 1, 0), "/*/x": (0, 1, 0)}),
    "neither": (listed(WHOLE), ABSENT, ABSENT, 1.0, (0, 0, 0), {}),
    "null against null is nothing": (record(a=WHOLE), None, None, 1.0, (0, 0, 0), {}),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@each_case
def test_each_case_has_its_quality_leaves_and_paths(case):
    schema, gold, predicted, quality, leaves, by_path = case
    comparison = compare(schema, gold, predicted)
    assert comparison.quality == pytest.approx(quality)
    assert (comparison.leaves.gold, comparison.leaves.predicted, comparison.leaves.matched) == leaves
    assert paths(comparison) == by_path


def round_trip(comparison):
    return Comparison.from_dict(json.loads(json.dumps(comparison.to_dict())))


def holds_together(comparison):
    """What is true of every comparison, whatever was compared."""
    rows = comparison.explain()
    assert sum(row.share * row.quality for row in rows) == pytest.approx(comparison.quality if rows else 0, abs=1e-12)
    assert sum(row.share for row in rows) == pytest.approx(1 if rows else 0)
    assert comparison.curve.area == pytest.approx(comparison.scores.quality_mass)
    assert comparison.curve.surviving(0) == pytest.approx(comparison.scores.matched)
    read = round_trip(comparison)
    assert read.to_dict() == comparison.to_dict()
    assert (read.explain(), read.by_path(), read.scores) == (rows, comparison.by_path(), comparison.scores)
    for row in rows:
        if row.pointer is not None:
            assert comparison.at(row.pointer) == read.at(row.pointer)


@each_case
def test_each_explanation_adds_up_and_survives_a_json_round_trip(case):
    holds_together(compare(*case[:3]))


@pytest.mark.slow
@given(cases())
def test_generated_explanations_add_up_and_survive_a_json_round_trip(case):
    holds_together(compare(*case))


TREE = {"$defs": {"n": {"additionalProperties": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"}


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [["k", "**"], ["k"] * 5 + ["**"] * 35], ids=len)
@pytest.mark.parametrize("schema", [{}, TREE, {"additionalProperties": {}}])
def test_explanations_of_deep_paths_add_up(schema, tokens):
    gold, predicted = 1, 2
    for token in tokens:
        gold, predicted = {token: gold, "x": [1]}, {token: predicted, "x": [1]}
    holds_together(compare(schema, gold, predicted))


@each_case
def test_comparing_changes_no_input_and_is_repeatable(case):
    before = copy.deepcopy(case)
    comparator = Comparator(case[0])
    first, second = (comparator.compare(gold=case[1], predicted=case[2]).to_dict() for _ in range(2))
    assert case == before
    assert json.dumps(first) == json.dumps(second)


@pytest.mark.parametrize("case", [case for name, case in CASES.items() if name != "a field under its alias"])
def test_exchanging_the_sides_exchanges_the_counts(case):
    schema, gold, predicted, quality, (mass, other, matched), _ = case
    comparison = compare(schema, predicted, gold)
    assert comparison.quality == pytest.approx(quality)
    assert (comparison.leaves.gold, comparison.leaves.predicted, comparison.leaves.matched) == (other, mass, matched)


@each_case
def test_two_empty_sides_of_any_schema_are_vacuous(case):
    comparison = compare(case[0], ABSENT, ABSENT)
    assert comparison.scores == comparison.leaves == Scores(Tally())
    assert (comparison.quality, comparison.explain(), comparison.by_path()) == (1.0, (), {})
    assert comparison.by_path == {}


ORDER = ["correct", "close", "wrong", "wrong type", "missing", "spurious"]


@pytest.mark.parametrize(
    ("gold", "predicted", "verdict", "above"),
    [
        (1, 1, "correct", "correct"),
        (1, 0.8, "close", "close"),
        (1, 0.79, "wrong", "wrong"),
        (1, "1", "wrong type", "wrong"),
        (True, 1, "wrong type", "wrong"),
        ([1], {"a": 1}, "wrong type", "wrong"),
        (1, None, "missing", "wrong"),
        (None, 1, "spurious", "wrong"),
        ([1, 1], [1, 0.9], "close", "close"),
        ([1, 1], [1], "wrong", "wrong"),
        ([], [], "correct", "correct"),
        ([], [1], "wrong", "wrong"),
    ],
)
def test_each_pair_has_its_verdict(gold, predicted, verdict, above):
    schema = record(a={"anyOf": [SHARE, {"type": "array", "items": SHARE}]})
    comparison = compare(schema, {"a": gold}, {"a": predicted})
    assert comparison.at("").verdict == above
    found = comparison.at("/a") if gold is not None else comparison.explain()[-1]
    assert found.verdict == verdict


def test_close_sets_the_quality_from_which_a_value_is_close():
    assert Comparator(SHARE, close=0.5).compare(gold=1, predicted=0.5).at("").verdict == "close"
    assert Comparator(SHARE, close=1.0).compare(gold=1, predicted=0.99).at("").verdict == "wrong"


@pytest.mark.slow
@given(cases())
def test_no_verdict_is_better_than_those_below_it(case):
    comparison = compare(*case)
    for row in comparison.explain():
        pointer = row.pointer
        while pointer:
            pointer = pointer.rpartition("/")[0]
            above = ORDER.index(comparison.at(pointer).verdict)
            assert above >= min(ORDER.index(row.verdict), ORDER.index("wrong"))


# The qualities of these are .95 .69 in the first row, .69 .33 in the second.
NEAR, FAR = [0, 0.36], [0.05, -0.31]
KEYED = record(id=WHOLE, v=SHARE)
BOTH_KEYS = record(a=WHOLE, b=WHOLE, v=WHOLE)


def keyed(*values):
    return [dict(zip(("id", "v"), value, strict=False)) for value in values]


def two_keys(*values):
    return [dict(zip("abv", value, strict=True)) for value in values]


@pytest.mark.parametrize(
    "case",
    [  # items, match, gold, predicted, pairs, their quality
        (SHARE, "hungarian", NEAR, FAR, [(0, 1), (1, 0)], 1.38),
        (SHARE, {"hungarian": {"gate": 0.7}}, NEAR, FAR, [(0, 0)], 0.95),
        (SHARE, {"hungarian": {"gate": 0.96}}, NEAR, FAR, [], 0),
        (SHARE, {"hungarian": {"gate": 0.5}}, [0, 0.5], [0, -0.5], [(0, 1), (1, 0)], 1),  # tied: two pairs before one
        (SHARE, "greedy", NEAR, FAR, [(0, 0), (1, 1)], 1.28),
        (SHARE, {"greedy": {"gate": 0.5}}, NEAR, FAR, [(0, 0)], 0.95),
        (WHOLE, "greedy", [7, 1], [1, 7, 7], [(0, 1), (1, 0)], 2),
        (SHARE, "ordered", NEAR, FAR, [(0, 0), (1, 1)], 1.28),
        (WHOLE, "ordered", [None, 1, 2], [1, None, 2, 3], [(1, 0), (2, 2)], 2),
        (WHOLE, "hungarian", [None, 1, 2], [2, None, 1], [(1, 2), (2, 0)], 2),
        (SHARE, "sequence", [0, 1, 0], [1, 0], [(1, 0), (2, 1)], 2),
        (SHARE, "sequence", NEAR, FAR, [(0, 0), (1, 1)], 1.28),
        (WHOLE, "sequence", [1, 2, None, 3], [None, 2, 3, 1], [(1, 1), (3, 2)], 2),
        (KEYED, {"keyed": {"key": "id"}}, keyed((1, 0), (2, 0)), keyed((2, 1), (3, 0)), [(1, 0)], 0.5),
        (KEYED, {"keyed": {"key": "id"}}, keyed((1, 0), (1, 1)), keyed((1, 1), (1, 0.5)), [(0, 1), (1, 0)], 1.75),
        (
            KEYED,
            {"keyed": {"key": "id"}},
            keyed((1, 0), (1, 1)),
            keyed(
                (1, 1),
            ),
            [(1, 0)],
            1,
        ),
        (KEYED, {"keyed": {"key": "id"}}, [{"v": 1}, *keyed((1,))], [{"v": 1}, *keyed((1,))], [(1, 1)], 1),
        (KEYED, {"keyed": {"key": "id"}}, [{"id": None, "v": 1}, 3], [{"id": None, "v": 1}, 3], [], 0),
        (BOTH_KEYS, {"keyed": {"key": ["a", "b"]}}, two_keys("112", "121"), two_keys("121", "131"), [(1, 0)], 1),
        (record(k=record(id=WHOLE)), {"keyed": {"key": "/k/id"}}, [{"k": {"id": 1}}], [{"k": {"id": 1}}], [(0, 0)], 1),
        (KEYED, {"keyed": {"key": "id"}}, [None, *keyed((1, 0))], [*keyed((1, 1)), None, None], [(1, 0)], 0.5),
        (KEYED, {"keyed": {"key": "id"}}, [None, None], [None, False], [], 0),
        (WHOLE, "set", [1, 1, 2, 3], [3, 3, 1, 4], [(0, 2), (3, 0)], 2),
        (WHOLE, "set", [None, 1], [1, None, 1], [(1, 0)], 1),
        (BOTH_KEYS, "set", two_keys("123", "124"), [{"v": "4", "b": "2", "a": "1"}], [(1, 0)], 1),
        (listed(WHOLE), "set", [[1, 2], [3]], [[2, 1], [3, 3]], [(0, 0)], 1),
        ({}, "set", [True, 1, 1.0, "1", {"a": []}], [{"a": []}, 1], [(1, 1), (4, 0)], 2),
    ],
)
def test_each_matching_makes_its_known_pairs(case):
    items, match, gold, predicted, pairs, mass = case
    comparison = compare(listed(items, match=match), gold, predicted)
    alignment = comparison.alignment("")
    assert [(one.gold, one.predicted) for one in alignment.pairs] == pairs
    assert sum(one.quality for one in alignment.pairs) == pytest.approx(mass)
    assert comparison.scores.quality_mass == pytest.approx(mass)
    assert comparison.scores.matched == len(pairs)
    assert len(alignment.missing) == comparison.scores.gold - len(pairs)
    assert len(alignment.spurious) == comparison.scores.predicted - len(pairs)
    assert not {*alignment.missing} & {one.gold for one in alignment.pairs}
    assert not {*alignment.spurious} & {one.predicted for one in alignment.pairs}


def test_positions_count_the_nulls_that_are_dropped():
    alignment = compare(listed(WHOLE, match="ordered"), [None, 1, None, 2, 3], [1, None, 2]).alignment("")
    assert who(alignment) == ((Match(1, 0, 1.0, 1.0), Match(3, 2, 1.0, 1.0)), (4,), ())


def test_items_of_a_list_against_another_kind_are_unmatched():
    schema = record(a=MARKED)
    comparison = compare(schema, {"a": [{"x": 1}, {"x": 2}]}, {"a": {"x": 1}})
    assert who(comparison.alignment("/a")) == ((), (0, 1), ())
    assert comparison.at("/a").tally == comparison.scores.tally == Tally(2, 1)
    comparison = compare(schema, {"a": {"x": 1}}, {"a": [{"x": 1}, None, {"x": 2}]})
    assert who(comparison.alignment("/a")) == ((), (), (0, 2))


@pytest.mark.parametrize(
    ("pointer", "message"),
    [
        ("/speaker", 'No value was compared at /speaker\n  Did you mean "/speakers"'),
        ("/speakers/5", "No value was compared at /speakers/5"),
        ("/speakers/*", "No value was compared at /speakers/\\*"),
        ("speakers", "Expected a JSON Pointer .* got 'speakers'\n  Did you mean \"/speakers\"?"),
    ],
)
def test_an_unknown_pointer_is_refused(pointer, message):
    comparison = compare(SPEECHES, GOLD, PREDICTED)
    for look in (comparison.at, comparison.alignment):
        with pytest.raises(DataError, match=message):
            look(pointer)


def test_an_alignment_requires_a_list():
    with pytest.raises(DataError, match="Expected a list at /page"):
        compare(SPEECHES, GOLD, PREDICTED).alignment("/page")


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (float("nan"), "a finite number, got nan"),
        (float("inf"), "a finite number, got inf"),
        (-float("inf"), "a finite number, got -inf"),
        (b"x", "a JSON value .* got bytes"),
        ({1: 2}, "every key to be text, got 1"),
        ({1}, "a JSON value .* got set"),
        (object, "a JSON value .* got type"),
        (ABSENT, "a JSON value .* got _Absent"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("schema", [{}, record(a=listed(WHOLE)), record(a=listed({}, match="set"))], ids=repr)
def test_values_that_are_not_json_are_refused_with_their_pointer(schema, value, what):
    good, bad = {"a": [1, 2]}, {"a": [1, value]}
    for side, documents in (("gold", (bad, good)), ("predicted", (good, bad))):
        with pytest.raises(DataError, match=f"Expected {what} in the {side} document at /a/1") as caught:
            compare(schema, *documents)
        assert caught.value.pointer == "/a/1"
        assert caught.value.hint


def test_violations_concern_the_prediction_and_change_no_score():
    schema = record(a=WHOLE | {"minimum": 0}) | {"required": ["a"]}
    comparison = compare(schema, {"a": -1}, {"a": -1})
    (violation,) = comparison.violations
    assert (violation.pointer, violation.keyword, comparison.quality) == ("/a", "minimum", 1.0)
    assert compare(schema, {"a": 1}, ABSENT).violations == ()
    with pytest.raises(DataError, match="The schema violations are not available"):
        _ = round_trip(comparison).violations


def test_plain_json_of_another_format_is_refused():
    plain = compare(WHOLE, 1, 1).to_dict()
    assert plain["format"] == "arbitre-comparison/1"
    with pytest.raises(DataError, match="Expected `format` to be \"arbitre-comparison/1\", got 'arbitre-comparison/9'"):
        Comparison.from_dict(plain | {"format": "arbitre-comparison/9"})


def test_plain_json_holds_the_signature():
    comparator = Comparator(SPEECHES)
    plain = comparator.compare(gold=GOLD, predicted=PREDICTED).to_dict()
    assert plain["signature"] == comparator.signature.to_dict()
    assert plain["scores"]["f1q"] == pytest.approx(2 * 2.5 / 3 / 3)
    assert plain["by_path"]["/speakers/*/name"]["recall"] == 0.5


def test_compare_takes_keyword_arguments_only():
    with pytest.raises(TypeError):
        Comparator(WHOLE).compare(1, 1)


def test_a_schema_can_be_inferred():
    comparator = Comparator.infer([GOLD])
    assert comparator.entries == ""  # values stand beside the speakers
    assert comparator.compare(gold=GOLD, predicted=GOLD).scores.f1q == 1.0
    assert Comparator.infer([GOLD], overlay={"/speakers": {"entries": True}}).entries == "/speakers"
    with pytest.raises(DataError, match="Expected at least one gold document"):
        Comparator.infer([])
