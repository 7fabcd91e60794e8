"""Properties of causes in random documents."""

import copy
import json
import math
import random
from collections import deque

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.oracle.strategies import cases

from arbitre import Comparator
from arbitre.causes.search import find_causes
from arbitre.comparison.cause import KINDS, CauseAnalysis
from arbitre.inputs.records import Pair
from arbitre.paths import value_at
from arbitre.values import equal

several = settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))


def renamed(value, rename):
    """A document in which all keys have other names."""
    if isinstance(value, dict):
        return {rename(key): renamed(inner, rename) for key, inner in value.items()}
    return [renamed(inner, rename) for inner in value] if isinstance(value, list) else value


def keyed(value):
    """A document whose list has keys, or whose keys are in a list."""
    if isinstance(value, list):
        return {str(at): item for at, item in enumerate(value)}
    return [{"key": key, "value": inner} for key, inner in value.items()] if isinstance(value, dict) else value


SHAPES = {
    "wrapped": lambda value: {"data": value},
    "in a list": lambda value: [value],
    "unwrapped": lambda value: next(iter(value.values()), value) if isinstance(value, dict) else value,
    "keyed": keyed,
    "spelt": lambda value: renamed(value, str.upper),
    "renamed": lambda value: renamed(value, lambda key: f"x{key}"),
    "nothing": lambda _: None,
}


@pytest.mark.slow
@several
@given(cases(), st.lists(st.sampled_from(sorted(SHAPES)), min_size=1, max_size=3))
def test_the_costs_of_causes_add_up_in_documents_of_another_shape(case, shapes):
    schema, gold, predicted = case
    sides = [(gold, SHAPES[shape](one)) for shape in shapes for one in (gold, predicted)]
    analysis = find_causes(Comparator(schema).plan, [Pair(str(at), None, *side) for at, side in enumerate(sides)])
    if analysis.f1q is not None:
        assert math.fsum(cause.cost for cause in analysis.causes) == pytest.approx(1.0 - analysis.f1q, abs=1e-9)


@pytest.mark.slow
@several
@given(cases(), st.integers(1, 4))
def test_the_costs_of_causes_add_up_in_random_documents(case, copies):
    schema, gold, predicted = case
    comparator = Comparator(schema)
    sides = [(gold, predicted), (predicted, gold), (gold, gold), (predicted, predicted)][:copies]
    pairs = [Pair(str(number), None, *side) for number, side in enumerate(sides)]
    sides_by_id = [(pair.id, pair.gold, pair.predicted) for pair in pairs]
    analysis = find_causes(comparator.plan, pairs)
    score = comparator.evaluate([(pair.id, pair.gold, pair.predicted) for pair in pairs], no_diagnose=True).micro.f1q
    assert (analysis.f1q is None) == (score is None)
    if score is not None:
        assert analysis.f1q == pytest.approx(score)
        assert math.fsum(cause.cost for cause in analysis.causes) == pytest.approx(1.0 - score, abs=1e-9)
    for cause in analysis.causes:
        assert cause.kind in KINDS
        assert 0 < cause.documents <= min(cause.count, len(pairs))
        assert 1 <= len(cause.examples) <= 20
        for example in cause.examples:
            _, given, answered = next(side for side in sides_by_id if side[0] == example.id)
            if example.gold_pointer is not None:
                assert example.place == example.gold_pointer
                assert equal(value_at(given, example.gold_pointer), example.gold)
            if example.predicted_pointer is not None:
                assert equal(value_at(answered, example.predicted_pointer), example.predicted)
            if example.place is not None:
                value_at(given, example.place.rsplit("/", 1 + len(example.creates))[0])  # what holds it exists
    assert CauseAnalysis.from_dict(json.loads(json.dumps(analysis.to_dict()))) == analysis
    assert find_causes(comparator.plan, pairs) == analysis


LEAF = {"string": {"type": "string"}, "integer": {"type": "integer"}, "enum": {"enum": ["red", "green", "blue"]}}
NODE = {
    "type": "object",
    "properties": {
        "name": LEAF["string"],
        "born": LEAF["integer"],
        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    },
}
KEYS = ("name", "year", "place", "a/b", "x~y", "*", "1", "Name")


def nested(rng, depth):
    """A schema with objects, lists, positions, maps, and references to a recursive part."""
    if depth == 0:
        return rng.choice(list(LEAF.values()))
    below = [nested(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    return rng.choice(
        [
            {"type": "object", "properties": dict(zip(rng.sample(KEYS, len(below)), below, strict=True))},
            {"type": "array", "items": below[0]},
            {"type": "array", "prefixItems": below, "items": below[0]},
            {"type": "object", "additionalProperties": below[0]},
            {"$ref": "#/$defs/node"},
        ]
    )


def document(rng, schema, depth=4):
    """A document that the schema describes; few values are equal."""
    schema = NODE if "$ref" in schema else schema
    if "properties" in schema:
        return {key: document(rng, part, depth - 1) for key, part in schema["properties"].items() if rng.random() < 0.9}
    if "additionalProperties" in schema:
        keys = {f"k{rng.randrange(99)}" for _ in range(rng.randint(0, 3))}
        return {key: document(rng, schema["additionalProperties"], depth - 1) for key in sorted(keys)}
    if schema.get("type") == "array":
        first = [document(rng, part, depth - 1) for part in schema.get("prefixItems", ())]
        return first + [document(rng, schema["items"], depth - 1) for _ in range(rng.randint(0, 3) if depth > 0 else 0)]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    return rng.randrange(3_000) if schema["type"] == "integer" else f"Ada {rng.randrange(999)} d'Arc"


CHANGES = {
    "renamed": lambda value: {f"x{key}": inner for key, inner in value.items()} if isinstance(value, dict) else value,
    "dropped": lambda value: type(value)() if isinstance(value, (dict, list)) else None,
    "wrapped": lambda value: [value],
    "unwrapped": lambda value: value[0] if isinstance(value, list) and value else value,
    "upper case": lambda value: value.upper() if isinstance(value, str) else value,
    "other type": lambda value: str(value) if isinstance(value, int) else len(str(value)),
    "offset": lambda value: value + 1 if isinstance(value, int) else value,
    "repeated": lambda value: [*value, copy.deepcopy(value[0])] if isinstance(value, list) and value else value,
    "truncated": lambda value: value[:-1] if isinstance(value, list) else value,
    "reversed": lambda value: value[::-1] if isinstance(value, (list, str)) else value,
    "keyed": keyed,
}


def places(value):
    """The paths of the parts of a value, with * for items of lists."""
    pending = deque([(value, ())])
    while pending:
        part, path = pending.popleft()
        yield path
        children = (
            part.items() if isinstance(part, dict) else [("*", item) for item in part] if isinstance(part, list) else []
        )
        pending.extend((inner, (*path, key)) for key, inner in children)


def changed(value, path, change, here=()):
    """A document in which all parts at a path are changed."""
    if isinstance(value, dict):
        value = {key: changed(inner, path, change, (*here, key)) for key, inner in value.items()}
    elif isinstance(value, list):
        value = [changed(inner, path, change, (*here, "*")) for inner in value]
    return change(value) if here == path else value


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(40), 187])
def test_the_causes_of_systematic_faults_in_nested_documents_add_up(seed):
    rng = random.Random(seed)  # noqa: S311
    schema = {"$defs": {"node": NODE}, "type": "object", "properties": {"a": nested(rng, 3), "b": nested(rng, 2)}}
    gold = [document(rng, schema) for _ in range(12)]
    predicted = copy.deepcopy(gold)
    for _ in range(3):
        path = rng.choice(sorted({path for one in predicted for path in places(one) if path}))
        change = rng.choice(list(CHANGES.values()))
        predicted = [changed(one, path, change) for one in predicted]
    pairs = [Pair(str(at), None, *sides) for at, sides in enumerate(zip(gold, predicted, strict=True))]
    analysis = find_causes(Comparator(schema).plan, pairs)
    assert math.fsum(cause.cost for cause in analysis.causes) == pytest.approx(1.0 - analysis.f1q, abs=1e-9)
