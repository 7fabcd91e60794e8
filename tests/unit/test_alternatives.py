"""Accepted alternatives: gold holds several forms of a value, and the best one counts."""

import copy
import json

import pytest
from jsonschema import Draft202012Validator

from arbitre import ABSENT, Comparator, DataError, Facts, SchemaError, bundled, distances
from arbitre.comparison import Comparison
from arbitre.report.document_tree import align_documents

STRING = {"type": "string"}
TEXTS = {"type": "array", "items": STRING}


def obj(**properties):
    return {"type": "object", "properties": properties}


def listed(items, **options):
    return {"type": "array", "items": items} | ({"x-arbitre": options} if options else {})


def said(schema, **options):
    return {**schema, "x-arbitre": options}


PLACE = obj(name=said(STRING, alternatives="/variants"), variants=TEXTS, page={"type": "integer"})
EITHER = said(STRING, alternatives=True)
PARIS = {"name": "Paris", "variants": ["Lutèce", "Parisii"], "page": 3}


def compared(schema, gold, predicted, **options):
    before = copy.deepcopy((gold, predicted))
    comparison = Comparator(schema, **options).compare(gold=gold, predicted=predicted)
    assert (gold, predicted) == before
    return comparison


@pytest.mark.parametrize(
    ("schema", "gold", "predicted", "quality"),
    [
        (PLACE, PARIS, {"name": "Lutèce", "page": 3}, 1.0),
        (PLACE, PARIS, {"name": "Paris", "page": 3}, 1.0),
        (PLACE, PARIS, {"name": "Lutecf", "page": 3}, (1 + 1 - 4 / 14) / 2),
        (PLACE, PARIS | {"variants": "Lutèce"}, {"name": "Lutèce", "page": 3}, 1.0),
        (PLACE, PARIS | {"variants": None}, {"name": "Paris", "page": 3}, 1.0),
        (PLACE, PARIS | {"variants": []}, {"name": "Paris", "page": 3}, 1.0),
        (PLACE, PARIS | {"variants": ["Paris", "Paris", None]}, {"name": "Paris", "page": 3}, 1.0),
        # the forms of a prediction do not count, and are not compared
        (PLACE, {"name": "Paris"}, {"name": "Lyon", "variants": ["Paris"]}, 1 - 10 / 14),
        (PLACE, PARIS, PARIS | {"variants": ["Rome"]}, 1.0),
        # without the field itself, gold has no value
        (PLACE, {"variants": ["Paris"], "page": 3}, {"page": 3}, 1.0),
        (PLACE, {"variants": ["Paris"], "page": 3}, {"name": "Paris", "page": 3}, 0.5),
        (EITHER, ["a", "b"], "b", 1.0),
        (EITHER, ["a", "a"], "b", 1 - 2 / 3),
        (EITHER, ["a", None], "a", 1.0),
        (EITHER, "a", "a", 1.0),
        # no form: absent
        (listed(EITHER), [[], [None], "a"], ["a"], 1.0),
        # a prediction with several forms is as good as the worst of them
        (EITHER, ["a", "b"], ["b", "a"], 1.0),
        (EITHER, ["a", "b"], ["b", "c"], 1 - 2 / 3),
        (said(STRING, alternatives=True, absent=[]), ["a", None], None, 1.0),
        (said({"type": "number"}, alternatives=True), [10, 100], 90, 0.9),
        (
            said({"type": "string", "format": "date"}, alternatives=True),
            ["1918-11-03", "1919"],
            "1918-11-04",
            1 - 1 / 365,
        ),
        (said({"enum": ["A", "B", "C"]}, alternatives=True), ["A", "C"], "C", 1.0),
        (said({"type": ["string", "number"]}, alternatives=True), ["12", 3], 3, 1.0),
        (said({"type": ["string", "array"]}, alternatives=True), ["a", "b"], "b", 1.0),
        (said(STRING, alternatives=True, normalize=["casefold"], distance="exact"), ["A", "b"], "B", 1.0),
        ({"x-arbitre": {"alternatives": True}}, [{"a": 1}, 2], {"a": 1.0}, 1.0),
        (said(STRING, alternatives=False), ["a"], "a", 0.0),
        (obj(a=said(STRING, alternatives="x~1y")), {"a": "1", "x/y": "2"}, {"a": "2"}, 1.0),
    ],
)
def test_the_best_accepted_form_counts(schema, gold, predicted, quality):
    assert compared(schema, gold, predicted).quality == pytest.approx(quality)
    assert compared(schema, gold, gold).quality == 1.0


@pytest.mark.parametrize(
    "match",
    [
        *("hungarian", {"hungarian": {"gate": 0.5}}, "greedy", "ordered", "sequence"),
        *({"transport": {}}, {"transport": {"solver": "partial"}}, {"keyed": {"key": "page"}}),
    ],
    ids=str,
)
def test_alternatives_work_under_every_matching_of_items(match):
    gold = [PARIS, {"name": "Lyon", "variants": "Lugdunum", "page": 4}]
    predicted = [{"name": "Lutèce", "page": 3}, {"name": "Lugdunum", "page": 4}]
    comparison = compared(listed(PLACE, match=match), gold, predicted)
    assert comparison.quality == pytest.approx(1.0)
    assert comparison.by_path()["/*/name"].irq == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (listed(EITHER, match="set"), "`set` cannot match the items of the root: they have `alternatives`"),
        (listed(PLACE, match={"keyed": {"key": "name"}}), "`keyed` cannot use the key /name of the root"),
        (listed(said(STRING, alternatives="/x")), "`alternatives` applies to the fields of an object"),
        (said(TEXTS, alternatives=True), "`alternatives` needs the type of one form"),
        (said(TEXTS, alternatives=True, distance="jaccard"), "`alternatives` needs the type of one form"),
        (obj(a=said(TEXTS, alternatives="/b", distance="jaccard")), "`alternatives` applies to single values"),
        (said(obj(), alternatives=True), "`alternatives` applies to single values"),
        (obj(a=said(STRING, alternatives="/a")), 'Expected `alternatives` to name another field, got "/a"'),
        (obj(a=said(STRING, alternatives="/a/b")), "Expected `alternatives` to be the JSON Pointer of a sibling field"),
        ({"anyOf": [EITHER, {"type": "number"}]}, "`alternatives` differs between the branches of a union"),
        (
            {
                "type": ["string", "array"],
                "items": said(STRING, normalize="strip"),
                "x-arbitre": {"alternatives": True},
            },
            "`x-arbitre` has no effect inside a leaf",
        ),
    ],
)
def test_alternatives_that_cannot_be_used_are_refused(schema, message):
    with pytest.raises(SchemaError, match=r"(?s).*") as caught:
        Comparator(schema)
    assert any(problem.message.startswith(message) for problem in caught.value.problems)


def test_a_matching_forced_on_items_with_alternatives_is_refused():
    with pytest.raises(SchemaError, match="`set` cannot match"):
        Comparator(listed(EITHER), match="set")


def test_a_distance_that_replaces_another_keeps_the_alternatives():
    assert compared(EITHER, ["ab", "cd"], "cd", distance="levenshtein").quality == 1.0


def test_an_overlay_adds_and_removes_alternatives():
    plain = obj(name=STRING, variants=TEXTS)
    gold, predicted = {"name": "Paris", "variants": ["Lutèce"]}, {"name": "Lutèce"}
    overlay = {"/name": {"alternatives": "/variants"}}
    assert compared(plain, gold, predicted, overlay=overlay).quality == 1.0
    assert compared(PLACE, gold, predicted, overlay={"/name": {"alternatives": False}}).quality < 0.5


def test_a_sibling_is_compared_only_on_request():
    asked = obj(name=said(STRING, alternatives="variants"), variants=said(TEXTS, ignore=False))
    assert list(compared(asked, PARIS, {"name": "Lutèce"}).by_path()) == ["/name", "/page", "/variants/*"]
    assert list(compared(PLACE, PARIS, {"name": "Lutèce"}).by_path()) == ["/name", "/page"]
    rows = {row.path: row for row in Comparator(PLACE).explain()}
    assert (rows["/name"].alternatives, rows["/variants"].notes) == ("/variants", "ignored")


def test_the_form_that_was_used_is_stated_everywhere():
    comparator = Comparator(listed(PLACE))
    comparison = comparator.compare(gold=[PARIS], predicted=[{"name": "Lutece", "page": 3}])
    row = next(row for row in comparison.explain() if row.path == "/*/name")
    assert (row.gold, row.reading, row.verdict) == ("Paris", "Lutèce", "close")
    assert comparison.at("/0/name").reading == "Lutèce"
    assert comparison.at("/0/page").reading is ABSENT
    data = json.loads(json.dumps(comparison.to_dict()))
    Draft202012Validator(bundled.schema("comparison.schema.json")).validate(data)
    assert Comparison.from_dict(data).explain() == comparison.explain()
    (aligned,) = align_documents(comparator.plan, comparison.levels, [0]).values()
    assert aligned.rows[0]["entry"]["below"][0]["reading"] == "Lutèce"


def test_a_single_form_is_not_reported_as_a_choice():
    (row,) = compared(EITHER, ["a", "a", None], "b").explain()
    assert row.reading is ABSENT


@pytest.mark.parametrize(
    ("gold", "predicted", "verdict", "reading"),
    [
        (["a", 1], 1, "correct", 1),
        (["a", 1], 2, "wrong", 1),
        (["a", 1], "b", "wrong", "a"),
        (["a", 1], True, "wrong type", "a"),
    ],
)
def test_a_form_of_the_same_type_is_preferred(gold, predicted, verdict, reading):
    (row,) = compared(said({"type": ["string", "integer"]}, alternatives=True), gold, predicted).explain()
    assert (row.verdict, row.reading) == (verdict, reading)


def test_the_signature_names_the_alternatives():
    plain = Comparator(obj(name=STRING)).signature
    assert "alternatives /variants" in Comparator(PLACE).signature.long
    assert Comparator(EITHER).signature.short != Comparator(STRING).signature.short
    assert "alternatives" not in plain.long


def test_an_invalid_form_is_reported_at_its_place():
    with pytest.raises(DataError) as caught:
        compared(listed(PLACE), [{"name": "Paris", "variants": ["a", float("nan")]}], [])
    assert caught.value.pointer == "/0/variants/1"
    with pytest.raises(DataError) as caught:
        compared(listed(EITHER), [["a", float("nan")]], [])
    assert caught.value.pointer == "/0/1"


@pytest.mark.parametrize(("schema", "facts"), [(PLACE, ["symmetric", "triangle"]), (EITHER, ["symmetric"])])
def test_the_certificate_shows_what_alternatives_cost(schema, facts):
    comparator = Comparator(schema)
    certificate = comparator.certificate
    assert certificate.verdict == "not a metric"
    assert [broken.fact for broken in certificate.breaks] == facts

    def distance(x, y):
        return 1 - comparator.compare(gold=x, predicted=y).quality

    for broken in certificate.breaks:
        x, y, *z = broken.witness
        if broken.fact == "symmetric":
            assert abs(distance(x, y) - distance(y, x)) > 1e-9
        else:
            assert distance(x, z[0]) > distance(x, y) + distance(y, z[0]) + 1e-9


def test_lists_of_forms_keep_the_triangle_inequality():
    comparator = Comparator(EITHER)
    documents = ["a", "b", "ab", ["a", "b"], ["ab", "ba"], ["a", "ba"], ["b", "abab", "a"]]
    table = {
        (i, j): 1 - comparator.compare(gold=x, predicted=y).quality
        for i, x in enumerate(documents)
        for j, y in enumerate(documents)
    }
    size = range(len(documents))
    assert all(table[i, k] <= table[i, j] + table[j, k] + 1e-12 for i in size for j in size for k in size)


@pytest.mark.parametrize(
    ("document", "findings"),
    [
        ({"a": ["x", "y"]}, []),
        ({"a": ["x", 3, "y"]}, [("schema", "/a/1")]),
        ({"a": ["x", None]}, [("schema", "/a/1")]),
        ({"a": []}, [("schema", "/a")]),
        ({"a": ["x", "y"], "b": 3}, [("schema", "/b")]),
        ({"b": "x", "c": ["y"]}, []),
        ({"c": ["y"]}, [("alternatives", "/c")]),
        ({"c": []}, []),
    ],
)
def test_gold_checks_each_form(document, findings):
    schema = obj(a=EITHER, b=said(STRING, alternatives="c"), c=TEXTS)
    checked = Comparator(listed(schema)).check_gold([("one", [document])])
    assert [(finding.check, finding.pointer.removeprefix("/0")) for finding in checked.findings] == findings


def test_a_custom_distance_is_called_for_each_form_and_counted():
    calls = []

    def initial(a, b):
        calls.append((a, b))
        return float(a[:1] != b[:1])

    catalogue = distances.catalogue.with_distance("initial", initial, Facts(separating=False))
    comparator = Comparator(said(STRING, alternatives=True, distance="initial"), distances=catalogue)
    assert comparator.most_calls(gold=["ab", "cd"], predicted="cx") == {"": 2}
    assert comparator.compare(gold=["ab", "cd"], predicted="cx").quality == 1.0
    assert sorted(calls) == [("ab", "cx"), ("cd", "cx")]
