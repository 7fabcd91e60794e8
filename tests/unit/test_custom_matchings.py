"""Custom matchings: in schemas, through --functions and in Python, with checked results and claims."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from typer.testing import CliRunner

import arbitre
from arbitre import Comparator, FunctionError, SchemaError
from arbitre.cli import app
from arbitre.matching import CustomMatching, catalogue, with_matching

WORDS = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"match": "own"}}
NESTED = {"type": "array", "items": WORDS, "x-arbitre": {"match": "own"}}
OPTIMAL = CustomMatching(function=linear_sum_assignment, identity=True, metric=True, separating=True, in_order=False)
words = st.lists(st.text("ab", max_size=3), max_size=5)


def comparator(matching, schema=WORDS):
    return Comparator(schema, matchings={"own": matching})


@given(st.lists(words, max_size=3), st.lists(words, max_size=3))
def test_an_optimal_function_gives_the_results_of_hungarian(gold, predicted):
    own = comparator(OPTIMAL, NESTED).compare(gold=gold, predicted=predicted)
    builtin = Comparator(NESTED, matchings={"own": OPTIMAL}, match="hungarian").compare(gold=gold, predicted=predicted)
    assert own.quality == pytest.approx(builtin.quality, abs=1e-12)


def test_long_lists_are_matched_by_the_function_with_all_costs():
    seen = []

    def record(costs):
        seen.append(costs)
        return linear_sum_assignment(costs)

    gold, predicted = [f"{number:03}" for number in range(40)], [f"{number:03}x" for number in range(45)]
    found = comparator(record).compare(gold=gold, predicted=predicted)
    assert [costs.shape for costs in seen] == [(40, 45)]
    expected = Comparator({"type": "array", "items": {"type": "string"}}).compare(gold=gold, predicted=predicted)
    assert found.quality == pytest.approx(expected.quality, abs=1e-12)
    distances = arbitre.distances.catalogue.build("yujian-bo")
    assert seen[0][3, 5] == pytest.approx(distances(gold[3], predicted[5]))


def test_a_function_of_lists_gets_the_items():
    def same_initial(gold, predicted):
        return [(i, j) for i, a in enumerate(gold) for j, b in enumerate(predicted) if a["name"][0] == b["name"][0]]

    people = {
        "type": "array",
        "items": {"type": "object", "properties": {"name": {"type": "string"}}},
        "x-arbitre": {"match": "own"},
    }
    found = comparator(CustomMatching(function=same_initial, of="lists"), people).compare(
        gold=[{"name": "Ada"}, {"name": "Bob"}], predicted=[{"name": "Bab"}, {"name": "Zoe"}]
    )
    assert [(match.gold, match.predicted) for match in found.alignment("").pairs] == [(1, 0)]
    assert found.alignment("").missing == (0,)


@pytest.mark.parametrize(
    "result", [[(0, 1)], [[0, 1]], (np.array([0]), np.array([1])), ([0], [1]), arbitre.Coupling.of([0], [1], (2, 2))]
)
def test_every_form_of_a_result_is_accepted(result):
    found = comparator(lambda _: result).compare(gold=["a", "b"], predicted=["b", "a"])
    assert [(match.gold, match.predicted) for match in found.alignment("").pairs] == [(0, 1)]


@pytest.mark.parametrize("result", [[], (), ([], [])])
def test_no_pair_leaves_all_items_unmatched(result):
    assert comparator(lambda _: result).compare(gold=["a"], predicted=["a"]).quality == 0.0


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ([(0, 2)], "positions of predicted items from 0 to 1, got 2"),
        ([(-1, 0)], "positions of gold items from 0 to 1, got -1"),
        ([(0, 0), (1, 0)], r"each predicted position at most once, got \[0, 0\]"),
        ([(0.0, 1.0)], "pairs of positions"),
        ("ab", "pairs of positions"),
        (None, "pairs of positions"),
        ([1, 2, 3], "pairs of positions"),
        ([0, 1, 1, 0], "pairs of positions"),
        ([[0, 1, 2, 3], [3, 0, 1, 2]], "pairs of positions"),  # two arrays in a list instead of a tuple
        ([(0, 1, 1), (1, 0, 1)], "pairs of positions"),
        (([[0], [1]], [[1], [0]]), "pairs of positions"),
        (arbitre.Coupling.of([0], [1], (2, 2), mass=np.array([0.5])), "masses of 1"),
    ],
)
def test_wrong_results_are_errors_that_name_the_list(result, message):
    schema = {"type": "object", "properties": {"words": WORDS}}
    with pytest.raises(FunctionError, match=message) as caught:
        comparator(lambda _: result, schema).compare(gold={"words": ["a", "b"]}, predicted={"words": ["b", "a"]})
    assert caught.value.pointer == "/words"


def test_an_exception_is_reported_with_the_matching():
    def fail(_):
        raise ValueError("no")

    with pytest.raises(FunctionError, match="The matching `own` raised ValueError: no, for lists of 1 and 1 items"):
        comparator(fail).compare(gold=["a"], predicted=["b"])


def test_a_failing_function_stops_the_evaluation_and_names_the_document():
    def fail(costs):
        if len(costs) == 3:
            raise ValueError("three")
        return linear_sum_assignment(costs)

    with pytest.raises(FunctionError, match="`own` raised ValueError: three") as caught:
        comparator(fail).evaluate([("a", ["x"], ["x"]), ("b", ["x"] * 3, ["x"])])
    assert "b" in str(caught.value).replace("predicted", "")


class TestCertificate:
    def test_claims_are_assumptions(self):
        certificate = comparator(OPTIMAL).certificate
        assert certificate.verdict == "metric"
        (assumed,) = certificate.assumes
        assert assumed.condition == (
            "own gives equal lists the distance 0, preserves metrics, gives different lists a distance above 0 "
            "(claimed by its author)"
        )

    def test_without_claims_the_distance_is_not_certified(self):
        certificate = comparator(linear_sum_assignment).certificate
        assert certificate.verdict == "not a metric"
        assert "own is not claimed to preserve metrics" in {one.reason for one in certificate.breaks}

    def test_the_claim_of_a_pseudo_metric(self):
        claimed = CustomMatching(function=linear_sum_assignment, metric=True, identity=True)
        assert comparator(claimed).certificate.verdict == "pseudo-metric"


class TestNames:
    def test_a_taken_name_and_a_value_that_is_no_function_are_errors(self):
        with pytest.raises(SchemaError, match="already taken"):
            Comparator(WORDS, matchings={"hungarian": linear_sum_assignment})
        with pytest.raises(SchemaError, match="to be a function, got int"):
            Comparator(WORDS, matchings={"own": 3})

    def test_a_catalogue_and_the_option_match(self):
        known = with_matching("own", OPTIMAL, catalogue)
        assert Comparator(WORDS, matchings=known, match="own").compare(gold=["a"], predicted=["a"]).quality == 1.0

    def test_the_command_takes_matchings_of_a_module(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "path", ["", *sys.path])
        Path("pairing_module.py").write_text(
            "from arbitre.matching import CustomMatching, catalogue, with_matching\n"
            "first = CustomMatching(function=lambda costs: [(0, 0)])\n"
            "several = with_matching('last', lambda costs: [(len(costs) - 1, 0)], catalogue)\n",
            encoding="utf-8",
        )
        for name, value in (("gold", ["a", "b"]), ("predicted", ["b"])):
            Path(f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
        functions = ("--functions", "pairing_module:first", "--functions", "pairing_module:several")
        choices = ("--match", "first", "--match", "last", "--match", "hungarian", "--format", "json")
        result = CliRunner().invoke(app, ["compare", "gold.json", "predicted.json", *functions, *choices])
        assert result.exit_code == 0, result.stderr
        rows = json.loads(result.stdout)["choices"]
        assert [(row["match"], row["S"]) for row in rows] == [
            ("first", pytest.approx(1 / 3)),
            ("last", 1.0),
            ("hungarian", 1.0),
        ]
        wrong = CliRunner().invoke(app, ["compare", "gold.json", "predicted.json", *functions, "--match", "frist"])
        assert wrong.exit_code == 2
        assert 'Did you mean "first"' in " ".join(wrong.stderr.split())
