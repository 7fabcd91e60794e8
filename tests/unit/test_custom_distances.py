"""Distances defined by the user."""

import math
import pickle
import sys

import numpy as np
import pytest
from tests.builders import crossed

from arbitre import Comparator
from arbitre.distances import DistanceCatalogue, Facts, catalogue
from arbitre.distances.base import Blocks
from arbitre.errors import FunctionError, SchemaError, SolverError
from arbitre.values import Kind

WORDS = ["Paris", "Pau", "Lyon", "Paris"]


class Judge:
    """A distance that notes what it was asked."""

    def __init__(self, answer=lambda gold, predicted: abs(len(gold) - len(predicted)) / 10):
        self.answer, self.asked = answer, []

    def __call__(self, gold, predicted):
        self.asked.append((gold, predicted))
        return self.answer(gold, predicted)


def own(function, facts=Facts(separating=False), **options):  # noqa: B008  (facts are frozen)
    return catalogue.with_distance("judge", function, facts, **options).build("judge")


def all_pairs(size):
    return np.divmod(np.arange(size * size), size)


def whole(size):
    return Blocks(np.array([0, size]), np.array([0, size]))


def test_adding_a_distance_returns_a_new_catalogue():
    larger = catalogue.with_distance("judge", Judge(), Facts(separating=False))
    assert isinstance(larger, DistanceCatalogue)
    assert set(larger.names) - set(catalogue.names) == {"judge"}
    assert larger.build("judge").kinds == set(Kind)
    assert larger.build({"judge": {}}).options == {}
    again = larger.with_distance("other", Judge(), Facts(), kinds=[Kind.STRING])
    assert again.build("other").kinds == {Kind.STRING}
    assert "judge" in again.names


@pytest.mark.parametrize("name", ["exact", "judge"])
def test_a_name_cannot_be_redefined(name):
    larger = catalogue.with_distance("judge", Judge(), Facts())
    with pytest.raises(SchemaError, match=f'The name "{name}" is already taken by a distance'):
        larger.with_distance(name, Judge(), Facts())


def test_a_custom_distance_takes_no_options():
    larger = catalogue.with_distance("judge", Judge(), Facts())
    with pytest.raises(SchemaError, match="Expected no options, as `judge` has none") as caught:
        larger.build({"judge": {"model": "large"}}, pointer="/d")
    assert caught.value.pointer == "/d/judge/model"


def test_each_pair_is_computed_once():
    judge = Judge()
    pool = own(judge).pool(WORDS)
    assert pool.calls == 0
    assert crossed(pool, np.array([0, 1]), np.array([2, 3])).tolist() == [[0.1, 0.0], [0.1, 0.2]]
    assert judge.asked == [("Paris", "Pau"), ("Paris", "Lyon"), ("Pau", "Lyon")]
    assert pool.distances(np.array([2, 0, 3, 1]), np.array([0, 1, 1, 3])).tolist() == [0.1, 0.2, 0.2, 0.2]
    assert (pool.calls, len(judge.asked)) == (3, 3)


def test_an_asymmetric_distance_is_computed_in_both_directions():
    judge = Judge(lambda gold, predicted: 0.25 if gold < predicted else 0.5)
    pool = own(judge, Facts(symmetric=False)).pool(["a", "b"])
    assert crossed(pool, np.arange(2), np.arange(2)).tolist() == [[0, 0.25], [0.5, 0]]
    assert sorted(judge.asked) == [("a", "b"), ("b", "a")]
    assert pool.calls == 2


def test_equal_values_are_computed_where_identity_is_denied():
    judge = Judge(lambda *_: 0.3)
    pool = own(judge, Facts(identity=False, range=(0.1, 0.5))).pool(["a", "a", 1, True])
    assert pool.distances(np.array([0, 1, 2]), np.array([1, 1, 3])).tolist() == [0.3, 0.3, 0.3]
    assert judge.asked == [("a", "a"), (1, True)]
    assert pool.calls == 2


def test_values_equal_as_json_share_one_call():
    judge = Judge(lambda *_: 0.5)
    pool = own(judge).pool([{"a": 1, "b": []}, {"b": [], "a": 1.0}, 1, 1.0, True])
    assert crossed(pool, np.arange(5), np.arange(5))[0].tolist() == [0, 0, 0.5, 0.5, 0.5]
    assert pool.calls == 3


def test_lower_bounds_make_no_calls():
    judge = Judge(lambda *_: 0.5)
    pool = own(judge).pool(WORDS)
    rows, columns = all_pairs(4)
    assert pool.lower_bounds_blockwise(whole(4), np.arange(4), np.arange(4)).tolist() == [0] * 16
    distances, exact = pool.lower_bounds_pairwise(rows, columns)
    assert distances.tolist() == [0] * 16
    assert exact.reshape(4, 4)[0].tolist() == [True, False, False, True]
    assert (judge.asked, pool.calls) == ([], 0)


def test_an_unknown_property_cannot_be_claimed():
    assert Facts.only("identity", "symmetric") == Facts(separating=False, triangle=False)
    with pytest.raises(
        SchemaError, match='Expected the name of a property, got "symetric"\n  Did you mean "symmetric"'
    ):
        Facts.only("identity", "symetric")


def test_the_declared_range_bounds_uncomputed_distances():
    facts = Facts(identity=False, range=(0.25, 0.75))
    pool = own(Judge(lambda *_: 0.5), facts).pool(["a", "b"])
    assert pool.lower_bounds_blockwise(whole(2), np.arange(2), np.arange(2)).tolist() == [0.25] * 4


def test_a_declared_bound_is_used_and_stays_below_the_distance():
    judge = Judge(lambda gold, predicted: float(gold != predicted))
    bound = Judge(lambda gold, predicted: 0.5 if gold[0] != predicted[0] else 0.0)
    pool = own(judge, Facts(), bound=bound).pool(["Paris", "Pau", "Lyon"])
    bounds = pool.lower_bounds_blockwise(whole(3), np.arange(3), np.arange(3)).reshape(3, 3)
    assert bounds == pytest.approx(np.array([[0, 0, 0.5], [0, 0, 0.5], [0.5, 0.5, 0]]), abs=1e-11)
    assert sorted(bound.asked) == [("Paris", "Lyon"), ("Paris", "Pau"), ("Pau", "Lyon")]
    assert judge.asked == []
    assert np.all(bounds <= crossed(pool, np.arange(3), np.arange(3)))


def test_computed_distances_change_no_bound():
    pool = own(Judge(lambda *_: 0.5)).pool(["a", "b", "c"])
    before = pool.lower_bounds_blockwise(whole(3), np.arange(3), np.arange(3))
    pool.distances(*all_pairs(3))
    assert pool.calls == 3
    assert np.array_equal(pool.lower_bounds_blockwise(whole(3), np.arange(3), np.arange(3)), before)


def test_a_bound_above_the_distance_is_an_error():
    pool = own(Judge(lambda *_: 0.5), bound=lambda *_: 0.75).pool(["a", "b"])
    with pytest.raises(
        SolverError, match=r"Expected the bound of `judge` to be at most its distance, 0\.5, for 'a' and 'b'"
    ):
        pool.distances(np.array([0]), np.array([1]))


def test_a_batch_function_is_called_once_for_all_pairs():
    judge = Judge(lambda gold, predicted: np.array([len(a + b) / 20 for a, b in zip(gold, predicted, strict=True)]))
    pool = own(judge, batch=True).pool(WORDS)
    assert crossed(pool, np.arange(2), np.arange(3)).tolist() == [[0, 0.4, 0.45], [0.4, 0, 0.35]]
    assert judge.asked == [(["Paris", "Paris", "Pau"], ["Pau", "Lyon", "Lyon"])]
    assert crossed(pool, np.arange(2), np.arange(3)).shape == (2, 3)
    assert (len(judge.asked), pool.calls) == (1, 3)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (math.nan, r"a number from 0\.0 to 0\.5 for 'a' and 'b', got nan"),
        (math.inf, r"a number from 0\.0 to 0\.5 for 'a' and 'b', got inf"),
        (-0.1, r"a number from 0\.0 to 0\.5 for 'a' and 'b', got -0\.1"),
        (0.75, r"a number from 0\.0 to 0\.5 for 'a' and 'b', got 0\.75"),
        (None, r"a number from 0\.0 to 0\.5 for 'a' and 'b', got None"),
        ("0.5", r"a number from 0\.0 to 0\.5 for 'a' and 'b', got '0\.5'"),
        (True, r"a number from 0\.0 to 0\.5 for 'a' and 'b', got True"),
        ([0.1, 0.2], r"a number from 0\.0 to 0\.5 for 'a' and 'b', got \[0\.1, 0\.2\]"),
    ],
)
def test_a_result_outside_the_declared_range_is_an_error(answer, message):
    pool = own(lambda *_: answer, Facts(range=(0.0, 0.5))).pool(["a", "b"])
    with pytest.raises(SolverError, match=f"^Expected `judge` to return {message}"):
        pool.distances(np.array([0]), np.array([1]))


@pytest.mark.parametrize("answer", [[], [0.1], [0.1, 0.2, 0.3], 0.5, [[0.1], [0.2, 0.3]], None])
def test_a_batch_with_too_few_results_is_an_error(answer):
    pool = own(lambda *_: answer, batch=True).pool(["a", "b", "c"])
    with pytest.raises(SolverError, match=r"^Expected `judge` to return"):
        pool.distances(np.array([0, 0]), np.array([1, 2]))
    assert pool.calls == 0


@pytest.mark.parametrize("answer", [None, "0.5", [0.1]])
def test_the_first_result_that_is_not_a_number_is_named(answer):
    pool = own(lambda *_: [0.5, answer, None], batch=True).pool(["a", "b", "c"])
    with pytest.raises(FunctionError, match=r"for 'a' and 'c', got") as caught:
        pool.distances(np.array([0, 0, 1]), np.array([1, 2, 2]))
    assert caught.value.values == ("a", "c")


@pytest.mark.parametrize("answer", [np.float32(0.5), np.float64(0.5), np.array(0.5), 0.5])
def test_results_are_converted_to_float64(answer):
    distances = own(lambda *_: answer).pool(["a", "b"]).distances(np.array([0]), np.array([1]))
    assert distances.dtype == np.float64
    assert distances.tolist() == [0.5]


def test_an_exception_of_the_function_becomes_a_typed_error_with_both_values():
    def broken(gold, predicted):
        raise ZeroDivisionError(gold, predicted)

    with pytest.raises(
        FunctionError, match=r"^`judge` raised ZeroDivisionError: \('a', 'b'\), for 'a' and 'b'$"
    ) as caught:
        own(broken)("a", "b")
    assert caught.value.values == ("a", "b")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_empty_pool_makes_no_calls():
    pool = own(Judge()).pool([])
    none = np.array([], dtype=np.intp)
    assert pool.distances(none, none).shape == (0,)
    assert crossed(pool, none, none).shape == (0, 0)
    assert pool.calls == 0


def length(gold, predicted):
    return abs(len(gold) - len(predicted)) / 10


def test_a_distance_of_a_module_function_can_be_pickled(monkeypatch):
    module = type(sys)("of_the_user")
    module.length = length
    monkeypatch.setitem(sys.modules, "of_the_user", module)
    monkeypatch.setattr(length, "__module__", "of_the_user")
    distance = own(length, kinds=[Kind.STRING])
    copy = pickle.loads(pickle.dumps(distance))  # noqa: S301
    assert copy == distance
    assert copy("a", "abc") == 0.2


def test_a_long_column_computes_each_pair_once():
    values = [f"text {number}" for number in range(200)]
    judge = Judge(lambda *_: 0.5)
    pool = own(judge).pool(values)
    for start in range(0, 200, 50):
        pool.distances(np.arange(start, start + 50), np.arange(199 - start, 149 - start, -1))
    assert pool.calls == len(judge.asked) == len(set(judge.asked)) == 100


@pytest.mark.parametrize(("number", "expected"), [(-2e-16, 1.0), (1.0 + 1e-12, 0.0), (0.25, 0.75)])
def test_a_distance_that_rounding_moved_out_of_its_range_is_clipped(number, expected):
    comparator = Comparator({}, distances=catalogue.with_distance("own", lambda _, __: number), distance="own")
    assert comparator.compare(gold="a", predicted="b").quality == expected
