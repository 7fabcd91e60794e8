"""`arbitre perturb`: the written pairs, their planted faults, and their evaluation."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from arbitre import bundled, perturb
from arbitre.cli import app

GOLD = str(bundled.demo() / "gold.jsonl")
SCHEMA = str(bundled.schemas() / "examples" / "speakers.schema.json")


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result


def pairs(text):
    return [json.loads(line) for line in text.splitlines()]


def test_the_pairs_are_those_of_the_python_function():
    result = run("perturb", GOLD, "--rate", "drop=0.2", "--rate", "noise=0.1", "--at", "/speakers", "--seed", 3)
    lines = pairs(result.stdout)
    assert len(lines) == 6
    for line in lines:
        copy = perturb(line["gold"], {"drop": 0.2, "noise": 0.1}, at="/speakers", seed=3, key=line["id"])
        assert line["predicted"] == copy.document
        assert line["planted"] == [fault.to_dict() for fault in copy.faults]
    dropped, noisy = (
        sum(fault["kind"] == kind for line in lines for fault in line["planted"]) for kind in ("drop", "noise")
    )
    assert f"6 documents; planted faults: {dropped} drop, {noisy} noise" in result.stderr


def test_the_pairs_can_be_evaluated(tmp_path):
    out = tmp_path / "pairs.jsonl"
    assert run("perturb", GOLD, "--rate", "drop=0.2", "--at", "/speakers", "--out", out).stdout == ""
    dropped = sum(len(line["planted"]) for line in pairs(out.read_text(encoding="utf-8")))
    result = json.loads(run("evaluate", "--schema", SCHEMA, "--pairs", out, "--format", "json").stdout)
    assert result["micro"]["predicted"] == result["micro"]["gold"] - dropped < 58
    assert result["micro"]["imq"] == 1.0


def test_the_default_plants_every_kind_but_rename():
    kinds = {fault["kind"] for line in pairs(run("perturb", GOLD).stdout) for fault in line["planted"]}
    assert kinds == {"split", "merge", "move", "swap", "duplicate", "drop", "invent", "noise"}


def test_a_folder_and_a_glob_are_read(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text('["Ada", "Bob"]', encoding="utf-8")
    for source in (tmp_path, tmp_path / "*.json"):
        lines = pairs(run("perturb", source, "--rate", "drop=0.5").stdout)
        assert [(line["id"], len(line["predicted"])) for line in lines] == [("a", 1), ("b", 1)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rate", "drops=0.1"], 'Did you mean "drop"?'),
        (["--rate", "drop"], "Expected KIND=RATE, such as drop=0.1, got 'drop'. The kinds are split, merge,"),
        (["--rate", "drop=lots"], "Expected KIND=RATE"),
        (["--rate", "drop=2"], 'Expected a rate from 0 to 1 for "drop", got 2.0'),
        (["--at", "people"], "Expected a JSON Pointer"),
    ],
    ids=["unknown", "no-rate", "no-number", "range", "path"],
)
def test_invalid_options_are_refused(options, said):
    assert said in " ".join(run("perturb", GOLD, *options, code=2).stderr.replace("│", " ").split())
