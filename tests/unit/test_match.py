"""`arbitre.match` on cost matrices: every matching, with the figures of SciPy, POT and of comparisons."""

import itertools

import numpy as np
import ot
import pytest
import scipy.optimize

import arbitre
from arbitre import OptionError, SchemaError, match
from arbitre.matching.builtin_matchers import catalogue

METHODS = {"greedy", "hungarian", "keyed", "ordered", "sequence", "set", "transport"}


def costs(seed, shape=(5, 4)):
    return np.random.default_rng(seed).random(shape)


def pairs(coupling):
    return list(zip(coupling.gold.tolist(), coupling.predicted.tolist(), strict=True))


def test_every_matching_of_a_schema_can_be_used():
    assert set(catalogue.names) == METHODS
    for method in METHODS:
        allowed = np.eye(5, 4) if method in {"keyed", "set"} else None
        coupling = match(costs(0), method, allowed=allowed)
        assert isinstance(coupling, arbitre.Coupling)
        assert coupling.shape == (5, 4)


@pytest.mark.parametrize("seed", range(8))
def test_hungarian_has_the_cost_of_scipy(seed):
    table = costs(seed, (4 + seed % 3, 5))
    coupling = match(table)
    rows, columns = scipy.optimize.linear_sum_assignment(table)
    assert table[coupling.gold, coupling.predicted].sum() == pytest.approx(table[rows, columns].sum(), abs=1e-12)
    assert (len(coupling.missing), len(coupling.spurious)) == (len(table) - len(rows), 5 - len(rows))


def test_transport_has_the_plan_of_pot_for_any_masses():
    table, rows, columns = costs(3), np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 2, 1, 1])
    coupling = match(table, "transport", masses=(rows, columns))
    expected = ot.emd2(rows / rows.sum(), columns / columns.sum(), table)
    assert (coupling.matrix * table).sum() / coupling.matrix.sum() == pytest.approx(expected, abs=1e-9)
    smooth = match(table, "transport", solver="sinkhorn", epsilon=0.5)
    assert np.count_nonzero(smooth.matrix > 1e-6) > np.count_nonzero(match(table, "transport").matrix > 1e-6)
    assert match(table, "transport", solver="dummy", lambda_=0.3).matrix.sum() > 0.0


@pytest.mark.parametrize("options", [{}, {"solver": "sinkhorn"}, {"solver": "dummy"}])
def test_all_mass_is_unmatched_if_one_side_is_empty(options):
    coupling = match(np.empty((0, 3)), "transport", masses=([], [2, 1, 1]), **options)
    assert coupling.spurious.tolist() == [0, 1, 2]
    assert coupling.unmatched_predicted.tolist() == [1.5, 0.75, 0.75]
    assert match(np.empty((2, 0)), "transport", **options).unmatched_gold.tolist() == [1.0, 1.0]


def test_a_mask_and_a_gate_exclude_pairs():
    table = np.array([[0.0, 0.1], [0.1, 1.0]])
    assert pairs(match(table)) == [(0, 1), (1, 0)]
    assert pairs(match(table, allowed=[[1, 1], [0, 1]])) == [(0, 0), (1, 1)]
    assert pairs(match(table, gate=0.95)) == [(0, 0)]
    assert pairs(match(table, "greedy")) == [(0, 0), (1, 1)]
    assert pairs(match(table, "keyed", allowed=[[0, 1], [1, 0]])) == [(0, 1), (1, 0)]
    assert match(np.empty((0, 3))).spurious.tolist() == [0, 1, 2]


@pytest.mark.parametrize("method", ["hungarian", "greedy", "ordered", "sequence"])
def test_the_pairs_are_those_of_a_comparison(method):
    schema = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"match": method}}
    comparator = arbitre.Comparator(schema)
    gold, predicted = ["ada", "bob", "cyd", "eve"], ["bab", "adam", "eva", "cy", "dan"]
    compared = comparator.compare(gold=gold, predicted=predicted).alignment("")
    table = [[1.0 - comparator.compare(gold=[one], predicted=[two]).quality for two in predicted] for one in gold]
    expected = [(one.gold, one.predicted) for one in compared.pairs]
    assert pairs(match(table, method)) == sorted(expected)


def test_equal_costs_in_another_order_give_the_same_cost():
    table = costs(9, (4, 4))
    for order in itertools.islice(itertools.permutations(range(4)), 10):
        moved = table[list(order)]
        coupling, other = match(table), match(moved)
        assert moved[other.gold, other.predicted].sum() == pytest.approx(table[coupling.gold, coupling.predicted].sum())


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0.1, 0.2],), {}, "Expected `cost` to be a matrix of numbers in [0, 1], got shape (2,)"),
        (([[0.5, 3.0]],), {}, "values from 0.5 to 3"),
        (([[0.5, float("nan")]],), {}, "Expected `cost` to have finite numbers only"),
        (([["a"]],), {}, "Expected `cost` to be an array of numbers, got list"),
        (([[0.5]],), {"allowed": [[1, 1]]}, "Expected `allowed` to have the shape (1, 1) of `cost`, got (1, 2)"),
        (([[0.5]], "set"), {}, "set requires `allowed`, the pairs with the same value"),
        (([[0.5]],), {"masses": ([1], [1])}, "`masses` is an option of transport, not of hungarian"),
        (([[0.5]], "transport"), {"masses": ([1, 2], [1])}, "Expected `masses` of shapes [(1,), (1,)]"),
    ],
)
def test_invalid_arguments_are_refused(arguments, options, message):
    with pytest.raises(OptionError) as caught:
        match(*arguments, **options)
    assert message in str(caught.value)


def test_a_matching_as_in_a_schema_is_accepted():
    table, masses = costs(3, (3, 2)), ([3, 1, 2], [1, 2])
    assert pairs(match(table, {"hungarian": {"gate": 0.5}})) == pairs(match(table, "hungarian", gate=0.5))
    given, named = (
        match(table, {"transport": {"solver": "dummy"}}, masses=masses),
        {"solver": "dummy", "masses": masses},
    )
    assert given.matrix.tolist() == match(table, "transport", **named).matrix.tolist()
    with pytest.raises(OptionError, match="options of hungarian in `method` or as keywords, got both"):
        match(table, {"hungarian": {"gate": 0.5}}, gate=0.1)
    with pytest.raises(OptionError, match="`masses` is an option of transport, not of hungarian"):
        match(table, {"hungarian": {}}, masses=masses)
    with pytest.raises(SchemaError, match="to be a name or"):
        match(table, ["hungarian"], gate=0.1)


def test_unknown_methods_and_options_are_refused():
    with pytest.raises(SchemaError, match="hungarain"):
        match([[0.5]], "hungarain")
    with pytest.raises(SchemaError, match="epsilon"):
        match([[0.5]], "hungarian", epsilon=1)
