"""Properties of causes in random documents."""

import json
import math

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
                value_at(given, example.place.rpartition("/")[0])
    assert CauseAnalysis.from_dict(json.loads(json.dumps(analysis.to_dict()))) == analysis
    assert find_causes(comparator.plan, pairs) == analysis
