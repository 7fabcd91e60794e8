"""Known mistakes of other scorers that arbitre does not make, each on an example solved by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest
import scipy
from tests.oracle import textbook

from arbitre import ABSENT, Comparator, DataError, SchemaError
from arbitre.corpus.evaluate import evaluate
from arbitre.inputs.join import join
from arbitre.inputs.records import Record

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
SHARE = {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 1}}}}  # quality 1 - |a - b|


def listed(items, **options):
    return {"type": "array", "items": items, "x-arbitre": options}


def record(**properties):
    return {"type": "object", "properties": properties}


def compare(schema, gold, predicted):
    return Comparator(schema).compare(gold=gold, predicted=predicted)


def quality(schema, gold, predicted):
    return compare(schema, gold, predicted).quality


# The qualities of these are .95 .69 in the first row, .69 .33 in the second.
NEAR, FAR = [0, 0.36], [0.05, -0.31]


def test_fault_01_gate_is_inside_the_solver():
    ungated = compare(listed(SHARE), NEAR, FAR)
    assert [(match.gold, match.predicted) for match in ungated.alignment("").pairs] == [(0, 1), (1, 0)]
    assert ungated.scores.quality_mass == pytest.approx(1.38)

    gated = compare(listed(SHARE, match={"hungarian": {"gate": 0.7}}), NEAR, FAR)
    (match,) = gated.alignment("").pairs
    assert (match.gold, match.predicted, match.quality) == (0, 0, pytest.approx(0.95))
    assert (gated.alignment("").missing, gated.alignment("").spurious) == ((1,), (1,))
    assert gated.scores.f1q == pytest.approx(2 * 0.95 / 4)


def test_fault_02_fields_absent_on_both_sides_earn_nothing():
    schema = record(a=WHOLE, b=WHOLE, c=WHOLE, d=WHOLE, e=WHOLE)
    result = compare(schema, {"a": 1, "b": None, "c": None}, {"a": 2, "c": None, "d": None})
    assert result.quality == 0.0
    assert (result.leaves.gold, result.leaves.predicted, result.leaves.quality_mass) == (1, 1, 0)
    assert result.by_path().keys() == {"/a"}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ([None], {"null": 1.0, "text": 0.0, "list": 0.0, "object": 0.0}),
        ([None, ""], {"null": 1.0, "text": 1.0, "list": 0.0, "object": 0.0}),
        ([None, [], {}], {"null": 1.0, "text": 0.0, "list": 1.0, "object": 1.0}),
        ([], {"null": 0.0, "text": 0.0, "list": 0.0, "object": 0.0}),
    ],
)
def test_fault_03_one_policy_decides_what_is_absent(policy, expected):
    schema = record(a={}) | {"x-arbitre": {"absent": policy}}
    empties = {"null": None, "text": "", "list": [], "object": {}}
    assert {name: quality(schema, {"a": empty}, {}) for name, empty in empties.items()} == pytest.approx(expected)


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        None,
        "",
        0,
        False,
        [[]],
        [[], [[]]],
        [None],
        {"a": None},
        {"a": {}},
        {"": [[1, [2, "x"]], {"*": [True]}]},
        [[1, 2], [2, 1], [1, 2]],
        [1, 1.0, True, "1", None, [], {}],
        10**400,
    ],
    ids=repr,
)
def test_fault_04_a_document_equals_itself(document):
    result = compare({}, document, document)
    assert result.quality == 1.0
    assert all(leaf.verdict == "correct" for leaf in result.explain())


def test_fault_04_nan_is_refused():
    with pytest.raises(DataError, match="Expected a finite number, got nan"):
        compare({}, float("nan"), float("nan"))


def test_fault_05_reordering_an_inner_list_costs_nothing():
    schema = listed(record(name=TEXT, pages=listed(listed(WHOLE))))
    gold = [{"name": "Ada", "pages": [[1, 2], [3, 4], [5]]}, {"name": "Bob", "pages": [[6]]}]
    predicted = [{"name": "Bob", "pages": [[6]]}, {"name": "Ada", "pages": [[5], [4, 3], [2, 1]]}]
    assert quality(schema, gold, predicted) == 1.0


def test_fault_06_invented_items_and_keys_cost():
    schema = record(name=TEXT, pages=listed(WHOLE))
    gold = {"name": "Ada", "pages": [1]}
    assert quality(schema, gold, gold | {"pages": [1, 2, 3, 4]}) == pytest.approx((1 + 1 / 4) / 2)
    assert quality(schema, gold, gold | {"role": "senator"}) == pytest.approx(2 / 3)
    assert quality(schema, {"name": "Ada"}, gold) == 0.5
    assert compare(listed(WHOLE), [1], [1, 2, 3, 4]).scores.imq == 0.25


def test_fault_07_a_verdict_never_beats_its_children():
    schema = record(order=record(lines=listed(record(name=TEXT, price=WHOLE))))
    gold = {"order": {"lines": [{"name": "ink", "price": 3}, {"name": "quill", "price": 1}]}}
    predicted = {"order": {"lines": [{"name": "ink", "price": 4}, {"name": "quill", "price": 1}]}}
    result = compare(schema, gold, predicted)
    assert result.scores.f1 == 1.0  # every line has its partner, and yet
    assert result.at("/order/lines/0/price").verdict == "wrong"
    for pointer in ("/order/lines/0", "/order/lines", "/order", ""):
        assert result.at(pointer).verdict == "wrong"
    assert result.at("/order/lines/1").verdict == "correct"


def test_fault_08_paths_aggregate_and_count_what_was_not_matched():
    schema = record(speakers=listed(record(name=TEXT, pages=listed(WHOLE))))
    gold = {"speakers": [{"name": "Ada", "pages": [1, 2]}, {"name": "Bob", "pages": [3]}]}
    missing = compare(schema, gold, {"speakers": [{"name": "Ada", "pages": [1, 2]}]}).by_path()
    spurious = compare(schema, {"speakers": gold["speakers"][:1]}, gold).by_path()

    def masses(scores):
        return {path: (one.gold, one.predicted, one.matched) for path, one in scores.items()}

    assert masses(missing) == {
        "/speakers/*": (2, 1, 1),
        "/speakers/*/name": (2, 1, 1),
        "/speakers/*/pages/*": (3, 2, 2),
    }
    assert masses(spurious) == {
        "/speakers/*": (1, 2, 1),
        "/speakers/*/name": (1, 2, 1),
        "/speakers/*/pages/*": (2, 3, 2),
    }


def test_fault_09_a_failed_prediction_does_not_leave_the_mean():
    comparator = Comparator(listed(WHOLE))
    honest = comparator.evaluate([("a", [1, 2], [1, 2]), ("b", [3, 4], [5, 6])])
    silent = comparator.evaluate([("a", [1, 2], [1, 2]), ("b", [3, 4], ABSENT)])
    broken = comparator.evaluate([("a", [1, 2], [1, 2]), ("b", [3, 4], [float("nan")])])
    assert honest.macro.f1q == silent.macro.f1q == broken.macro.f1q == 0.5
    assert silent.micro.irq == broken.micro.irq == 0.5
    assert [failure.id for failure in silent.failures] == [failure.id for failure in broken.failures] == ["b"]


@pytest.mark.parametrize(
    ("schema", "gold", "predicted", "expected"),
    [
        (WHOLE, 1000, 9000, 0.0),
        ({"type": "number"}, 1000, 9000, 1 / 9),
        ({"type": "number"}, 1000, 1001, 1000 / 1001),
        (TEXT | {"format": "date"}, "1931-12-31", "1932-01-01", 364 / 365),
        (TEXT | {"format": "date"}, "1931-01-11", "1932-01-11", 0.0),
        ({}, True, 1, 0.0),
        ({}, "1.0", 1, 0.0),
        ({}, 1.0, 1, 1.0),
        ({}, 2**53, 2**53 + 1, 1.0 - 2.0**-53),
    ],
)
def test_fault_10_numbers_and_dates_are_not_texts(schema, gold, predicted, expected):
    assert quality(schema, gold, predicted) == pytest.approx(expected, rel=1e-12)


def test_fault_11_quality_has_no_jump_and_hides_no_wrong_value():
    steps = [quality(listed(SHARE), [0], [distance / 100]) for distance in range(101)]
    assert all(0.009 < left - right < 0.011 for left, right in pairwise(steps))

    schema = record(**{f"field{number}": WHOLE for number in range(20)})
    defaults = {f"field{number}": 0 for number in range(20)}
    result = compare(schema, defaults, defaults | {"field7": 1})
    assert result.quality == pytest.approx(19 / 20)
    assert result.at("").verdict == "wrong"
    assert [leaf.pointer for leaf in result.explain() if leaf.verdict != "correct"] == ["/field7"]


TREE = {
    "$defs": {"node": record(name=TEXT, children={"type": "array", "items": {"$ref": "#/$defs/node"}})},
    "$ref": "#/$defs/node",
}


@pytest.mark.parametrize(
    ("schema", "gold", "predicted", "expected"),
    [
        pytest.param(
            TREE,
            {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}, {"name": "d"}]},
            {"name": "a", "children": [{"name": "d"}, {"name": "b", "children": [{"name": "x"}]}]},
            (1 + (1 + (1 + 1 / 3) / 2) / 2) / 2,  # "c" and "x" are at 2/3
            id="recursive $ref",
        ),
        pytest.param(listed(WHOLE), [1, 2], [2], 1 / 2, id="root array"),
        pytest.param(
            record(v={"oneOf": [WHOLE, record(x=WHOLE, y=WHOLE)]}),
            {"v": {"x": 1, "y": 2}},
            {"v": {"x": 1, "y": 3}},
            1 / 2,
            id="oneOf, same branch",
        ),
        pytest.param(record(v={"oneOf": [WHOLE, record(x=WHOLE)]}), {"v": {"x": 1}}, {"v": 1}, 0.0, id="oneOf, two"),
        pytest.param(listed(listed(WHOLE)), [[1, 2], [3, 4]], [[4, 3], [2]], 3 / 4, id="arrays of arrays"),
        pytest.param(
            {"type": "array", "prefixItems": [TEXT, WHOLE], "items": WHOLE},
            ["a", 1, 2, 3],
            ["a", 2, 3, 1],
            2 / 4,  # by position "a" is right and 2 wrong; of the rest 3 is found and 2 is not
            id="prefixItems",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": WHOLE}, {"x": 1, "y": 2}, {"y": 2, "z": 1}, 1 / 3, id="map"
        ),
        pytest.param(record(), {"x": [1]}, {"x": [1]}, 1.0, id="undeclared keys"),
    ],
)
def test_fault_12_every_shape_of_document_is_compared(schema, gold, predicted, expected):
    assert quality(schema, gold, predicted) == pytest.approx(expected)


def test_fault_13_a_misspelt_option_is_refused_with_the_right_word():
    schema = record(
        a=TEXT | {"x-arbitre": {"distence": "exact"}},
        b=TEXT | {"x-arbitre": {"distance": "levenstein"}},
        c=listed(WHOLE, match={"hungarian": {"gaet": 0.5}}),
        d=TEXT | {"x_arbitre": {"distance": "exact"}},
    )
    with pytest.raises(SchemaError) as caught:
        Comparator(schema)
    found = {problem.pointer: problem.hint.partition("?")[0] + "?" for problem in caught.value.problems}
    assert found == {
        "/properties/a/x-arbitre/distence": 'Did you mean "distance"?',
        "/properties/b/x-arbitre/distance": 'Did you mean "levenshtein"?',
        "/properties/c/x-arbitre/match/hungarian/gaet": 'Did you mean "gate"?',
        "/properties/d/x_arbitre": 'Did you mean "x-arbitre"?',
    }


def test_fault_13_no_threshold_applies_by_default():
    assert compare(listed(TEXT), ["abcdefghij"], ["zyxwvutsrj"]).scores.matched == 1
    assert Comparator(TEXT).signature == Comparator(TEXT, close=0.8).signature != Comparator(TEXT, close=0.9).signature


@pytest.mark.parametrize("count", [20, 40])
def test_fault_15_lists_in_lists_are_solved_once_for_each_pair(count, monkeypatch):
    schema = listed(record(id=WHOLE, rows=listed(WHOLE | {"x-arbitre": {"distance": {"absolute": {"scale": 100}}}})))
    gold = [{"id": n, "rows": [7 * n % 100, (11 * n + 3) % 100, (29 * n + 5) % 100]} for n in range(count)]
    predicted = [
        {"id": item["id"] if item["id"] % 4 else -1, "rows": [row + item["id"] % 3 for row in reversed(item["rows"])]}
        for item in reversed(gold)
    ]
    solved = []
    solve = scipy.optimize.linear_sum_assignment
    monkeypatch.setattr(
        scipy.optimize, "linear_sum_assignment", lambda *args, **options: solved.append(args) or solve(*args, **options)
    )
    result = compare(schema, gold, predicted)
    by_the_book = textbook.compare(textbook.spec(schema), gold, predicted)
    assert (result.scores.gold, result.scores.predicted, result.scores.matched) == (count, count, count)
    assert result.scores.quality_mass == pytest.approx(by_the_book.tally.quality, rel=1e-12)
    assert len(result.alignment("").pairs) == count
    assert len(solved) <= count * count + count + 2  # every pair of items, the pairs made once more, the list itself


def test_fault_16_documents_are_joined_by_id():
    gold = [Record(name, None, [number], "gold.jsonl") for number, name in enumerate("abc")]
    predicted = [Record(name, None, [number], "p.jsonl") for number, name in enumerate("abc")]
    evaluation = evaluate(Comparator(listed(WHOLE)).plan, join(gold, [*reversed(predicted)]))
    assert {name: scores.f1q for name, scores in evaluation.by_document.items()} == {"a": 1.0, "b": 1.0, "c": 1.0}
