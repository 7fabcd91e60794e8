"""Keys that the schema does not declare are counted or ignored."""

import json
import random
import time
import tracemalloc

import pytest

from arbitre import Comparator, Comparison, SchemaError
from arbitre.engine import batch_comparison
from arbitre.engine.solve.batches import CellLimits

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


def mixed_values(keys, seed):
    """An object with most of the keys; a few hold containers, and some keys need escapes in a pointer."""
    chance = random.Random(seed)  # noqa: S311
    scalars = [None, True, 0, 0.1, 1.7, "text", "texts", ""]
    values = {
        f"{chance.choice('ab~/* é')}{key}": chance.choice(scalars) for key in range(keys) if chance.random() < 0.8
    }
    return values | {f"b{key}": chance.choice([[1, "a"], {"x": 1}, {}, []]) for key in range(0, keys, 40)}


@pytest.mark.parametrize("listed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_keys_that_share_a_column_have_the_same_results_to_the_last_bit(listed, monkeypatch):
    weighted = {name: {"x-arbitre": {"weight": weight}} for name, weight in (("a1", 0.1), ("b2", 0.37))}
    items = {"type": "object", "properties": weighted}
    gold, predicted = ([mixed_values(60, seed + side) for seed in (0, 2)] for side in (0, 1))
    if not listed:
        gold, predicted = gold[0], predicted[0]
    compared = Comparator({"type": "array", "items": items} if listed else items)
    results = []
    for keys in (1, 32, 10**9):
        limits = CellLimits(keys=keys)
        defaults = batch_comparison.compare_batch.__kwdefaults__ | {"limits": limits}
        monkeypatch.setattr(batch_comparison.compare_batch, "__kwdefaults__", defaults)
        comparison = compared.compare(gold=gold, predicted=predicted)
        results.append((json.dumps(comparison.to_dict()), comparison.explain(), repr(comparison.curve)))
    assert results[0] == results[1] == results[2]
    plain, *_ = results[0]
    assert json.dumps(Comparison.from_dict(json.loads(plain)).to_dict()) == plain


def large_objects(keys):
    gold = {f"key{number}": number if number % 3 else f"text {number}" for number in range(keys)}
    return gold, {key: value if position % 2 else "other" for position, (key, value) in enumerate(gold.items())}


@pytest.mark.slow
def test_100_000_undeclared_keys_are_compared_in_seconds():
    gold, predicted = large_objects(100_000)
    began = time.process_time()
    comparison = comparator().compare(gold=gold, predicted=predicted)
    assert time.process_time() - began < 12
    assert comparison.scores.tally.gold == 100_000


@pytest.mark.slow
def test_many_undeclared_keys_take_less_than_2_kb_each():
    gold, predicted = large_objects(10_000)
    compared = comparator()
    tracemalloc.start()
    comparison = compared.compare(gold=gold, predicted=predicted)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 << 20
    assert comparison.scores.tally.gold == 10_000


def test_calls_of_a_custom_distance_are_counted_by_undeclared_key():
    values = {f"key{number}": str(number) for number in range(400)}
    compared = Comparator({"type": "object"}, distances={"mine": lambda a, b: float(a != b)}, distance="mine")
    assert compared.compare(gold=values, predicted=dict.fromkeys(values, "x")).scores.tally.matched == 400
