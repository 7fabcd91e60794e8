"""`arbitre faults`: its tables, the reproducibility of its figures, and what they show."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from arbitre.cli import app


def run(*options, code=0):
    result = CliRunner().invoke(app, ["faults", *options], env={"COLUMNS": "100"})
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def found():
    data = json.loads(run("--format", "json").stdout)
    labels = ["hungarian", "gated", "greedy", "ordered", "sequence", "keyed", "set", "exact", "size", "sinkhorn"]
    labels += ["partial", "unbalanced", "dummy"]
    return dict(zip(labels, (row["faults"] for row in data["matchings"]), strict=True))


def test_the_tables_and_the_json_agree(found):
    lines = run("--score", "irq", "--match", "hungarian").stdout.splitlines()
    assert lines[:2] == ["Gold compared with copies that contain planted faults", "6 pages, 58 speakers"]
    assert lines[3] == "irq, pooled (micro)"
    assert lines[4].split() == ["matching", "none", "drop", "duplicate", "merge", "swap", "noise"]
    assert lines[6].split() == ["hungarian", *(f"{scores['irq']:.3f}" for scores in found["hungarian"].values())]
    assert len(lines) == 7


def test_all_four_scores_have_a_table():
    lines = run("--match", "set").stdout.splitlines()
    assert [line for line in lines if line.endswith(", pooled (micro)")] == [
        f"{score}, pooled (micro)" for score in ("f1q", "imq", "irq", "amq")
    ]


def test_the_seed_and_the_share_determine_the_faults():
    once = json.loads(run("--match", "hungarian", "--format", "json", "--seed", "7").stdout)
    assert once == json.loads(run("--match", "hungarian", "--format", "json", "--seed", "7").stdout)
    more = json.loads(run("--match", "hungarian", "--format", "json", "--seed", "7", "--share", "0.4").stdout)
    assert (once["seed"], once["share"], more["share"]) == (7, 0.2, 0.4)
    fewer = [result["matchings"][0]["faults"]["drop"]["predicted"] for result in (more, once)]
    assert fewer[0] < fewer[1] < 58


def test_gold_against_itself_has_full_scores(found):
    for name in set(found) - {"sinkhorn", "partial"}:
        assert found[name]["none"]["f1q"] == pytest.approx(1.0), name
    assert 0.99 < found["sinkhorn"]["none"]["f1q"] < 1.0  # smoothed, it is never quite
    assert found["partial"]["none"]["f1q"] == pytest.approx(0.8)  # no more than that may move


def test_omissions_cost_irq_and_duplicates_imq(found):
    for name in ("hungarian", "gated", "sequence", "keyed", "dummy"):
        faults = found[name]
        assert faults["drop"]["imq"] == pytest.approx(1.0), name
        assert faults["drop"]["irq"] == pytest.approx(47 / 58), name
        assert faults["duplicate"]["irq"] == pytest.approx(1.0), name
        assert faults["duplicate"]["imq"] == pytest.approx(58 / 69), name
        assert faults["drop"]["amq"] == pytest.approx(1.0), name


def test_balanced_transport_does_not_distinguish_omissions_from_duplicates(found):
    for name in ("exact", "size", "sinkhorn"):
        for fault in found[name].values():
            assert fault["imq"] == fault["irq"] == fault["f1q"] == fault["amq"], name
    assert found["exact"]["duplicate"]["f1q"] > found["hungarian"]["duplicate"]["f1q"]


def test_each_matching_is_weak_at_a_known_fault(found):
    assert found["set"]["duplicate"]["f1q"] == pytest.approx(1.0)  # each item counts once
    assert found["ordered"]["drop"]["f1q"] < 0.7  # all that follows has moved up
    assert found["greedy"]["drop"]["f1q"] < found["hungarian"]["drop"]["f1q"] - 0.1
    assert found["keyed"]["noise"]["f1q"] < found["hungarian"]["noise"]["f1q"] - 0.05
    assert found["size"]["merge"]["f1q"] > found["exact"]["merge"]["f1q"] > found["hungarian"]["merge"]["f1q"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--share", "0.7"], "Expected `share` to be above 0 and at most 0.5, got 0.7"),
        (["--match", "hungarain"], 'Did you mean "hungarian"?'),
        (["--score", "f2"], "'f2' is not one of"),
    ],
)
def test_invalid_options_are_refused(options, said):
    assert said in " ".join(run(*options, code=2).stderr.replace("│", " ").split())
