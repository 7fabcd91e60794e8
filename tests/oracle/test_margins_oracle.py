"""Margins of matched pairs compared with an enumeration of all matchings."""

import pickle
from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from arbitre import Comparator, Comparison, DataError
from arbitre.matching.assignment import hungarian, margins

slow = settings(deadline=None, suppress_health_check=list(HealthCheck))
NAME = {"type": "string", "x-arbitre": {"normalize": "lower"}}
TEXTS = st.lists(st.sampled_from(["a", "A", "ab", "abc", "abd", "xbd", "xyz", None]), max_size=4)
OBJECTS = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from(["a", "A", "ab", "xb"]), "n": st.integers(0, 2)}), max_size=4
)


def matchings(rows, columns):
    """All one-to-one matchings of some of the rows and columns."""
    for size in range(min(rows, columns) + 1):
        for some in combinations(range(rows), size):
            for others in permutations(range(columns), size):
                yield list(zip(some, others, strict=True))


def folded(item):
    return item.lower() if isinstance(item, str) else (item["name"].lower(), item["n"])


def enumerated(gold, predicted, quality, gate, pairs):
    """What is lost by the best matching with fewer pairs of the two values of each pair."""
    values = [[folded(item) for item in side] for side in (gold, predicted)]

    def of_values(matching):
        return Counter((values[0][i], values[1][j]) for i, j in matching)

    every = [
        (sum(quality[i][j] for i, j in matching), of_values(matching))
        for matching in matchings(len(gold), len(predicted))
        if all(quality[i][j] >= gate for i, j in matching)
    ]
    total, chosen = sum(quality[i][j] for i, j in pairs), of_values(pairs)
    assert total == pytest.approx(max((one for one, _ in every), default=0.0))
    kinds = [(values[0][i], values[1][j]) for i, j in pairs]
    return [total - max(one for one, counts in every if counts[kind] < chosen[kind]) for kind in kinds]


@slow
@given(
    sides=st.tuples(TEXTS, TEXTS) | st.tuples(OBJECTS, OBJECTS),
    gate=st.sampled_from([0.0, 0.0, 0.35, 0.7]),
    nested=st.booleans(),
)
def test_margins_are_those_of_the_best_matching_without_the_pair(sides, gate, nested):
    items = {"type": "object", "properties": {"name": NAME, "n": {"type": "number"}}}
    listed = any(isinstance(item, dict) for side in sides for item in side)
    match = {"hungarian": {"gate": gate}} if gate else "hungarian"
    schema = {"type": "array", "items": items if listed else NAME, "x-arbitre": {"match": match}}
    pointer = "/people" if nested else ""
    if nested:
        schema, documents = {"type": "object", "properties": {"people": schema}}, [{"people": side} for side in sides]
    gold, predicted = documents if nested else sides
    comparison = Comparator(schema).compare(gold=gold, predicted=predicted)
    alignment = comparison.alignment(pointer)
    assert comparison.at(pointer).margin is None
    present = [[at for at, item in enumerate(side) if item is not None] for side in sides]
    quality = [[1.0 - alignment.costs[i, j] for j in present[1]] for i in present[0]]
    pairs = [(present[0].index(pair.gold), present[1].index(pair.predicted)) for pair in alignment.pairs]
    own = ([side[at] for at in places] for side, places in zip(sides, present, strict=True))
    expected = enumerated(*own, quality, gate, pairs)
    assert [pair.margin for pair in alignment.pairs] == pytest.approx(expected, abs=1e-8)
    for pair in alignment.pairs[:1]:
        assert comparison.at(f"{pointer}/{pair.gold}").margin == pair.margin


@pytest.mark.parametrize("shape", [(12, 12), (12, 7), (7, 12)])
@pytest.mark.parametrize("gate", [None, 0.6])
def test_margins_of_long_lists_are_those_of_solving_again(shape, gate):
    quality = np.random.default_rng(0).random(shape)
    matching = hungarian(quality, gate=gate)
    allowed = np.where(quality >= (gate or 0.0), quality, 0.0)  # an unmatched item is worth nothing
    total, expected = allowed[matching.gold, matching.predicted].sum(), []
    for pair in zip(matching.gold, matching.predicted, strict=True):
        without = allowed.copy()
        without[pair] = 0.0
        expected.append(total - without[linear_sum_assignment(without, maximize=True)].sum())
    assert margins(quality, matching.gold, matching.predicted, gate=gate) == pytest.approx(expected, abs=1e-8)


def alignment_of(gold, predicted, match="hungarian", **schema):
    schema = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"match": match}} | schema
    return Comparator(schema).compare(gold=gold, predicted=predicted).alignment("")


def margins_of(*given, **schema):
    return [pair.margin for pair in alignment_of(*given, **schema).pairs]


def test_equal_items_are_certain_and_different_items_that_are_as_good_are_not():
    assert margins_of(["a", "a"], ["a", "a"]) == [1.0, 1.0]
    assert margins_of(["ab"], ["ac", "ad"]) == [0.0]
    assert margins_of(["ab"], ["ac", "ac"]) == [pytest.approx(0.6)]
    assert margins_of(["ab"], ["ac"]) == [pytest.approx(0.6)]


@pytest.mark.parametrize(
    "match", ["greedy", "ordered", "sequence", "set", {"keyed": {"key": "name"}}, {"transport": {}}], ids=str
)
def test_other_matchings_have_no_margin(match):
    items = {"items": {"type": "object", "properties": {"name": {"type": "string"}}}}
    people = [{"name": "a"}, {"name": "b"}]
    assert margins_of(people, people, match, **items) == [None, None]


def test_items_with_positions_of_their_own_have_no_margin():
    head = {"prefixItems": [{"type": "string"}]}
    assert margins_of(["a", "ab", "xy"], ["a", "xy", "ab"], **head) == [None, 1.0, 1.0]


def test_a_comparison_that_was_read_has_no_margins():
    comparison = Comparator({"type": "array"}).compare(gold=[1], predicted=[1])
    (pair,) = comparison.alignment("").pairs
    assert pair == (0, 0, 1.0, 1.0)
    unpickled = pickle.loads(pickle.dumps(pair))  # noqa: S301
    for known in (Comparison.from_dict(comparison.to_dict()).alignment("").pairs[0], unpickled):
        assert known == pair
        with pytest.raises(DataError, match="The margins of pairs are not available"):
            known.margin  # noqa: B018


def test_scores_and_explanations_compute_no_margins(monkeypatch):
    monkeypatch.setattr("arbitre.engine.batch_comparison.margins", None)
    comparison = Comparator({"type": "array"}).compare(gold=["a", "b"], predicted=["b", "c"])
    assert comparison.to_dict()
    assert comparison.explain()
    assert comparison.alignment("").pairs
