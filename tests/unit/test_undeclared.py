"""Keys that a schema does not declare: counted, or ignored."""

import pytest

from arbitre import Comparator, SchemaError

NESTED = {"type": "object", "properties": {"c": {"type": "integer"}}}
FIELDS = {"a": {"type": "string"}, "b": NESTED}
GOLD = {"a": "x", "b": {"c": 1, "z": 3}}
PREDICTED = {"a": "x", "b": {"c": 1, "z": 4}, "q": {"r": [1, 2]}}


def comparator(setting=None, **schema):
    options = {} if setting is None else {"x-arbitre": {"undeclared": setting}}
    return Comparator({"type": "object", "properties": FIELDS} | options | schema)


def test_undeclared_keys_are_counted_by_default():
    by_default, counted = comparator(), comparator("count")
    assert by_default.signature == counted.signature
    comparison = counted.compare(gold=GOLD, predicted=PREDICTED)
    assert comparison.quality == by_default.compare(gold=GOLD, predicted=PREDICTED).quality
    spurious = comparison.by_path()["/q/r/*"]
    assert (spurious.tally.gold, spurious.tally.predicted) == (0, 2)


def test_ignored_undeclared_keys_change_no_score_on_either_side():
    made = comparator("ignore")
    without = {"a": "x", "b": PREDICTED["b"]}
    comparison = made.compare(gold=GOLD, predicted=PREDICTED)
    assert comparison.quality == made.compare(gold=GOLD, predicted=without).quality
    assert comparison.leaves.tally == made.compare(gold=GOLD, predicted=without).leaves.tally
    assert "/q/r/*" not in comparison.by_path()
    assert made.compare(gold=GOLD | {"stray": 1}, predicted=GOLD).quality == 1.0


def test_the_setting_holds_for_its_object_only():
    assert "/b/z" in comparator("ignore").compare(gold=GOLD, predicted=PREDICTED).by_path()
    inner = NESTED | {"x-arbitre": {"undeclared": "ignore"}}
    made = comparator("ignore", properties=FIELDS | {"b": inner})
    assert made.compare(gold=GOLD, predicted=PREDICTED).quality == 1.0


def test_keys_of_patterns_are_declared():
    made = comparator("ignore", patternProperties={"^n": {"type": "integer"}})
    assert made.compare(gold={"n1": 1}, predicted={"n1": 2, "m1": 3}).quality == 0.0


def test_ignoring_undeclared_keys_is_signed_certified_and_explained():
    made = comparator("ignore")
    assert made.signature != comparator().signature
    assert made.certificate.verdict == "metric"
    assert [one.values for one in made.certificate.identifies if one.by == "undeclared"] == [
        "objects that differ only in keys that the schema does not declare"
    ]
    assert made.explain()[0].notes == "undeclared keys ignored"


def test_undeclared_keys_can_be_ignored_in_an_overlay_and_in_agreeing_unions():
    laid = Comparator({"type": "object", "properties": FIELDS}, overlay={"": {"undeclared": "ignore"}})
    assert laid.compare(gold={"a": "x"}, predicted={"a": "x", "q": 1}).quality == 1.0
    one, other = ({"type": "object", "properties": {name: {"type": "string"}}} for name in "ab")
    closed = {"x-arbitre": {"undeclared": "ignore"}}
    union = Comparator({"anyOf": [one | closed, other | closed]})
    assert union.compare(gold={"a": "x"}, predicted={"a": "x", "q": 1}).quality == 1.0
    with pytest.raises(SchemaError, match="`undeclared` differs between the branches of a union"):
        Comparator({"anyOf": [one | closed, other]})


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "string"}, "`undeclared` applies to objects, but no object is declared here"),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            "`undeclared` has no effect: `additionalProperties` declares all other keys",
        ),
    ],
)
def test_undeclared_is_refused_where_it_cannot_apply(schema, message):
    with pytest.raises(SchemaError, match=message):
        Comparator(schema | {"x-arbitre": {"undeclared": "ignore"}})


def test_undeclared_accepts_only_ignore_and_count():
    with pytest.raises(SchemaError, match='Expected `undeclared` to be "count" or "ignore", got "drop"'):
        comparator("drop")
