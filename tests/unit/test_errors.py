"""Errors: the same class for the same kind of mistake, and hints that list the valid names."""

import pytest
from typer.testing import CliRunner

import arbitre
from arbitre.cli import app
from arbitre.errors import LISTED, ROOM, OptionError, did_you_mean, shown
from arbitre.statistics import Sample

SAMPLE = Sample.of("ab", [(2, 2, 2, 1, 1)] * 2)
WORDS = {"type": "array", "items": {"type": "string"}}


def evaluation():
    return arbitre.evaluate(WORDS, [("a", ["x", "y"], ["x"]), ("b", ["z"], ["z"])])


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda: arbitre.Comparator(WORDS, close=2), id="close"),
        pytest.param(lambda: arbitre.Comparator(WORDS, match="hungarain"), id="match"),
        pytest.param(lambda: arbitre.Comparator(WORDS, distance={"absolute": {}}), id="distance"),
        pytest.param(lambda: evaluation().interval("f2"), id="score"),
        pytest.param(lambda: evaluation().interval("f1q", level=2), id="level"),
        pytest.param(lambda: evaluation().interval("f1q", level="0.9"), id="level as a text"),
        pytest.param(lambda: evaluation().interval("f1q", method="bca", seed=-1), id="seed"),
        pytest.param(lambda: evaluation().interval("f1q", method="bca", seed=1.5), id="seed of a fraction"),
        pytest.param(lambda: evaluation().interval("f1q", seed=True), id="seed of a truth value"),
        pytest.param(lambda: arbitre.rank({"a": evaluation(), "b": evaluation()}, seed=-1), id="rank seed"),
        pytest.param(lambda: arbitre.perturb(["a"], seed=-1), id="perturb seed"),
        pytest.param(lambda: arbitre.metricity([[0, 1], [1, 0]], seed=0.5), id="metricity seed"),
        pytest.param(lambda: arbitre.Comparator(WORDS).check_claims(gold=[["a"]], seed=-1), id="claims seed"),
        pytest.param(lambda: arbitre.suggest_gate(WORDS, [("a", ["x"], ["x"])], seed=-1), id="gate seed"),
        pytest.param(lambda: arbitre.advise({"a": 1, "b": 2}, {"a": 1}, seed=-1), id="advice seed"),
        pytest.param(
            lambda: arbitre.agreement.gamma({"a": [(0, 1, "x")], "b": [(0, 1, "x")]}, seed=-1), id="gamma seed"
        ),
        pytest.param(lambda: arbitre.statistics.interval(SAMPLE, "f1q", resamples=2.5), id="resamples"),
        pytest.param(lambda: arbitre.text.window_diff([2, 4], [2, 4], k=1.5), id="k"),
        pytest.param(lambda: arbitre.text.rolling_perplexity([-1.0], window=1.5), id="window"),
        pytest.param(lambda: evaluation().interval("f1q", method="bcs"), id="method"),
        pytest.param(lambda: evaluation().interval("f1q", aggregate="marco"), id="aggregate"),
        pytest.param(lambda: evaluation().interval("f1q", cluster="("), id="cluster"),
        pytest.param(lambda: arbitre.rank({"a": evaluation()}, "f2"), id="rank by"),
        pytest.param(lambda: arbitre.diff(evaluation(), evaluation(), "f2"), id="diff by"),
        pytest.param(lambda: arbitre.check_bounds(evaluation(), fail_under="f1p=1"), id="gate"),
        pytest.param(lambda: arbitre.check_bounds(evaluation(), fail_under="f1q=2"), id="bound"),
        pytest.param(lambda: evaluation().table("path"), id="table"),
        pytest.param(lambda: evaluation().micro.fq(0), id="beta"),
        pytest.param(lambda: evaluation().document_quality.at_least(float("nan")), id="at least"),
        pytest.param(lambda: arbitre.perturb(["a"], {"drops": 0.1}), id="fault"),
        pytest.param(lambda: arbitre.evaluate(WORDS, gold="g", predicted="p", id_pattern="("), id="id pattern"),
        pytest.param(lambda: arbitre.evaluate(WORDS, [], csv_dialect="excel"), id="dialect"),
    ],
)
def test_every_invalid_option_is_an_option_error(call):
    with pytest.raises(OptionError):
        call()


def test_every_object_can_be_shown_in_a_message():
    endless = []
    endless.append(endless)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    for value in (endless, deep, {1, 2}, b"x", {("a", 1): object()}, [1j] * 1000):
        assert 0 < len(shown(value)) <= ROOM
    assert shown(["é", None]) == '["é", null]'


def test_a_hint_names_the_nearest_first_and_then_the_others():
    names = ["bca", "percentile", "scores of both", ""]
    assert did_you_mean("bcs", names) == 'Did you mean "bca"? Also available: percentile, "scores of both", "".'
    assert did_you_mean("x", names[:2], "The default is bca.") == "Available: bca, percentile. The default is bca."
    assert did_you_mean("x", []) is None


def test_a_long_list_of_names_says_how_many_are_left_out():
    names = [f"/entries/*/field_{number}" for number in range(1000)]
    hint = did_you_mean("/nothing", names)
    listed = hint.removeprefix("Available: ").partition(" and ")[0]
    assert hint.endswith(f" and {1000 - len(listed.split(', '))} more.")
    assert LISTED - 30 < len(listed) <= LISTED


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["evalute"], "No such command 'evalute'. Did you mean \"evaluate\"? Also available: init, compare, rank,"),
        (["schema", "chek"], "No such command 'chek'. Did you mean \"check\"? Also available: "),
    ],
)
def test_an_unknown_command_is_answered_with_the_known_ones(arguments, said):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", " ").split())
