"""Values and results that cannot be measured are refused with their location, and never scored."""

from __future__ import annotations

import pytest

from arbitre import Comparator, Facts
from arbitre.distances import catalogue
from arbitre.errors import SolverError

POINT = {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 1}}}}
MATCHES = [
    "hungarian",
    {"hungarian": {"gate": 0.5}},
    "greedy",
    "ordered",
    "sequence",
    {"transport": {}},
    {"transport": {"solver": "sinkhorn"}},
    {"transport": {"solver": "sinkhorn", "debiased": True}},
    {"transport": {"solver": "partial", "mass": 0.5}},
    {"transport": {"solver": "unbalanced"}},
    {"transport": {"solver": "dummy"}},
]


def lists_of(items, match):
    """Two lists in a list, in an object."""
    return {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": "array", "items": items, "x-arbitre": {"match": match}}}
        },
    }


@pytest.mark.parametrize("match", MATCHES, ids=str)
@pytest.mark.parametrize("result", [float("nan"), float("inf"), -0.25, 1.5, None, "0"], ids=repr)
def test_an_invalid_result_of_a_custom_distance_is_refused(match, result):
    """Whatever the matching makes of it; both distances between lists and alone."""
    distances = catalogue.with_distance("mine", lambda *_: result, Facts())
    schema = lists_of({"type": "string", "x-arbitre": {"distance": "mine"}}, match)
    comparator = Comparator(schema, distances=distances)
    gold, predicted = {"a": [["x", "y"], ["z"]]}, {"a": [["u", "v"], ["w"]]}
    with pytest.raises(SolverError, match="Expected `mine` to return"):
        comparator.compare(gold=gold, predicted=predicted)
    with pytest.raises(SolverError, match="Expected `mine` to return"):
        comparator.evaluate([("one", gold, gold), ("two", gold, predicted)])


NOTHING = [{"w": 0}, {"w": -1.5}, {"w": None}, {"w": "3"}, {"w": True}, {"w": [3]}, {"v": 3}, 3]


@pytest.mark.parametrize("solver", ["exact", "sinkhorn", "partial", "unbalanced", "dummy"])
@pytest.mark.parametrize("item", NOTHING, ids=str)
def test_an_item_without_a_mass_is_refused(solver, item):
    how = {"transport": {"solver": solver, "masses": "w"}}
    comparator = Comparator(lists_of({"type": "object", "properties": {"w": {"type": "number"}}}, how))
    whole = [{"w": 2}, {"w": 0.5}]
    for gold, predicted in (([item], whole), (whole, [item]), (whole, [*whole, item]), ([item], [item]), ([item], [])):
        side = "gold" if item in gold else "predicted"
        with pytest.raises(SolverError, match=f"Expected the mass /w of a {side} item to be a positive") as caught:
            comparator.compare(gold={"a": [gold]}, predicted={"a": [predicted]})
        assert caught.value.pointer == f"/a/0/{(gold if item in gold else predicted).index(item)}"
        assert "positive in every item" in caught.value.hint


def test_the_mass_field_can_be_anywhere_in_an_item():
    """Declared, under an undeclared key, below another object, in a map, in a branch; normalised or not."""
    number, inner = {"type": "number"}, {"w": {"type": "number"}}
    places = [
        ({"properties": inner}, "w", lambda mass: {"w": mass}),
        ({}, "w", lambda mass: {"v": 1, "w": mass}),
        ({"properties": {"in": {"type": "object", "properties": inner}}}, "/in/w", lambda mass: {"in": {"w": mass}}),
        ({"additionalProperties": number}, "w", lambda mass: {"v": 1, "w": mass}),
        ({"patternProperties": {"^w": number}}, "w", lambda mass: {"v": 1, "w": mass}),
        ({"additionalProperties": {"additionalProperties": number}}, "/in/w", lambda mass: {"in": {"v": 9, "w": mass}}),
        ({"anyOf": [{"properties": inner}, {"type": "string"}]}, "w", lambda mass: {"w": mass}),
    ]
    for items, masses, item in places:
        how = {"match": {"transport": {"solver": "dummy", "masses": masses}}}
        schema = {"type": "array", "items": {"type": "object"} | items, "x-arbitre": how}
        alignment = Comparator(schema).compare(gold=[item(1), item(3)], predicted=[item(3)]).alignment("")
        assert alignment.coupling.masses[0].tolist() == pytest.approx([0.5, 1.5]), items
        assert alignment.coupling.masses[1].tolist() == [1.0]


LIMITED = [
    {"solver": "exact"},
    {"solver": "exact", "masses": "size"},
    {"solver": "sinkhorn", "epsilon": 0.01},
    {"solver": "sinkhorn", "epsilon": 0.01, "debiased": True},
    {"solver": "partial", "mass": 0.7},
    {"solver": "dummy", "lambda": 0.9},
    {"solver": "unbalanced", "reg_m": 0.3},
    {"solver": "unbalanced", "penalty": "tv", "reg_m": 0.9},
]


@pytest.mark.parametrize("options", LIMITED, ids=str)
def test_a_solver_at_its_iteration_limit_is_refused(options):
    gold, predicted = [0, 0.3, 0.9, 0.5], [0.1, 0.2, 0.8, 0.7, 1]
    enough, few = (Comparator(lists_of(POINT, {"transport": options | limit})) for limit in ({}, {"max_iterations": 1}))
    assert 0.0 < enough.compare(gold={"a": [gold]}, predicted={"a": [predicted]}).quality < 1.0
    with pytest.raises(SolverError, match="transport did not reach its optimum") as caught:
        few.compare(gold={"a": [[], gold]}, predicted={"a": [predicted]})
    assert caught.value.pointer == "/a/1"
    assert "Raise `max_iterations`" in caught.value.hint
    evaluation = few.evaluate([("one", {"a": []}, {"a": []}), ("two", {"a": [gold]}, {"a": [predicted]})])
    ((failed, pointer, reason),) = [(one.id, one.pointer, one.reason) for one in evaluation.failures]
    assert (failed, pointer) == ("two", "/a/0")
    assert "transport did not reach its optimum" in reason
