"""The alignment of a list: its distances, its plan, W1 and OSPA, for every matching."""

import json

import numpy as np
import pytest

from arbitre import Comparator, Comparison
from arbitre.errors import DataError
from arbitre.matching import catalogue

TEXT = {"type": "string"}
NEAR = {"type": "array", "items": {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 1}}}}}
PERSON = {
    "type": "object",
    "properties": {"name": TEXT, "pages": {"type": "array", "items": {"type": "integer"}}},
}
INDEX = {"type": "object", "properties": {"people": {"type": "array", "items": PERSON}, "year": {"type": "integer"}}}
MATCHINGS = [{"keyed": {"key": "name"}} if name == "keyed" else name for name in catalogue.names]


def people(count, seed):
    random = np.random.default_rng(seed)
    letters = [list(map(chr, random.integers(97, 105, 6))) for _ in range(count)]
    return [{"name": "".join(name), "pages": random.integers(1, 9, 3).tolist()} for name in letters]


def aligned(schema, gold, predicted, pointer="", **options):
    return Comparator(schema, **options).compare(gold=gold, predicted=predicted).alignment(pointer)


@pytest.mark.parametrize("match", MATCHINGS, ids=str)
@pytest.mark.parametrize(("n", "m"), [(3, 2), (14, 12)], ids=["short", "long enough for lazy matching"])
def test_costs_are_the_distances_of_all_pairs_under_every_matching(match, n, m):
    gold, predicted = people(n, 1), people(m, 2)
    options = {"overlay": {"/people": {"match": match}}}
    found = aligned(INDEX, {"people": gold}, {"people": predicted}, "/people", **options)
    alone = Comparator(PERSON)
    expected = [[1.0 - alone.compare(gold=one, predicted=other).quality for other in predicted] for one in gold]
    assert found.costs == pytest.approx(np.array(expected), abs=1e-12)
    assert [1.0 - found.costs[pair.gold, pair.predicted] for pair in found.pairs] == [
        pytest.approx(pair.quality, abs=1e-12) for pair in found.pairs
    ]
    assert found.plan.shape == found.costs.shape == (n, m)
    assert found.plan.sum() == pytest.approx(sum(pair.mass for pair in found.pairs))


def test_nested_lists_have_costs_of_their_own():
    gold = {"people": [{"name": "Ada", "pages": [1, 2]}, {"name": "Bob", "pages": [3]}]}
    predicted = {"people": [{"name": "Bob", "pages": [3, 4]}, {"name": "Ada", "pages": [2]}]}
    found = aligned(INDEX, gold, predicted, "/people/0/pages")
    assert found.costs.tolist() == [[1.0], [0.0]]
    assert found.plan.tolist() == [[0.0], [1.0]]
    assert (found.w1, found.ospa) == (0.5, 0.5)
    assert aligned(INDEX, gold, predicted, "/people/1/pages").costs.tolist() == [[0.0, 1.0]]


def test_items_of_different_kinds_have_distance_one():
    found = aligned({"type": "array", "items": PERSON}, [{"name": "Ada"}, "Ada"], ["Ada", {"name": "Ada"}])
    assert found.costs.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_items_that_count_as_absent_have_no_distance():
    found = aligned(NEAR, [0, None, 0.5], [None, 0.5])
    assert found.costs == pytest.approx(np.array([[np.nan, 0.5], [np.nan, np.nan], [np.nan, 0.0]]), nan_ok=True)
    assert (found.w1, found.ospa) == (0.25, 0.5)  # of [0, 0.5] and [0.5]


def test_positions_of_a_tuple_are_compared_with_themselves_only():
    found = aligned({"type": "array", "prefixItems": [TEXT, TEXT]}, ["a", "b"], ["a", "c"])
    assert np.isnan(found.costs).tolist() == [[False, True], [True, False]]
    assert (found.costs[0, 0], found.w1, found.ospa) == (0.0, None, None)


def test_a_list_opposite_another_kind_has_no_pairs():
    found = aligned(INDEX, {"people": [{"name": "Ada"}]}, {"people": "Ada"}, "/people")
    assert (found.costs.shape, found.plan.shape, found.w1, found.ospa) == ((1, 0), (1, 0), None, 1.0)


def test_a_comparison_read_from_json_has_a_plan_but_no_costs():
    comparison = Comparator(NEAR).compare(gold=[0, 1], predicted=[1])
    read = Comparison.from_dict(json.loads(json.dumps(comparison.to_dict()))).alignment("")
    assert read.plan.tolist() == comparison.alignment("").plan.tolist() == [[0.0], [1.0]]
    with pytest.raises(DataError, match="distances between items are not available"):
        _ = read.costs


@pytest.mark.parametrize(
    ("gold", "predicted", "w1", "ospa"),
    [
        ([0, 0.5], [0.5, 0], 0.0, 0.0),
        ([0, 0.5], [0.25, 0.5], 0.125, 0.125),  # as many on both sides: a matching is the best plan
        ([0], [0, 0], 0.0, 0.5),
        ([0, 1], [0.5], 0.5, 0.75),
        ([0, 0, 0], [0, 0, 1, 1], 0.5, 0.5),
        ([], [0], None, 1.0),
        ([0], [], None, 1.0),
        ([], [], None, 0.0),
    ],
)
@pytest.mark.parametrize("match", ["hungarian", "greedy", {"transport": {"solver": "dummy"}}], ids=str)
def test_w1_and_ospa_do_not_depend_on_the_matching(gold, predicted, w1, ospa, match):
    found = aligned(NEAR, gold, predicted, match=match)
    assert found.w1 == (None if w1 is None else pytest.approx(w1, abs=1e-12))
    assert found.ospa == pytest.approx(ospa)


def test_w1_and_ospa_are_the_distances_of_the_lists_under_transport_and_assignment():
    gold, predicted = {"people": people(5, 1)}, {"people": people(3, 2)}
    found = aligned(INDEX, gold, predicted, "/people")
    hungarian, transport = (
        Comparator(INDEX, overlay={"/people": {"match": match}}).compare(gold=gold, predicted=predicted)
        for match in ("hungarian", "transport")
    )
    assert found.ospa == pytest.approx(1.0 - hungarian.at("/people").quality)
    assert found.w1 == pytest.approx(1.0 - transport.at("/people").quality)
    plan = transport.alignment("/people")
    assert (plan.plan * plan.costs).sum() / plan.plan.sum() == pytest.approx(found.w1)


@pytest.mark.parametrize("count", [15, 16])
def test_numbers_below_a_floor_are_transported_at_the_least_cost(count):
    number = {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 100}}, "floor": 0.99}}
    gold, predicted = list(range(0, 2 * count, 2)), list(range(2, 2 * count + 2, 2))
    schema = {"type": "array", "items": number, "x-arbitre": {"match": "transport"}}
    compared = Comparator(schema).compare(gold=gold, predicted=predicted)
    assert compared.quality == pytest.approx((count - 1) / count)  # only the first and the last number are unequal
    assert compared.quality == pytest.approx(1.0 - compared.alignment("").w1)
