"""The consensus of three OCR runs of the index of the French Senate compared with its gold."""

from __future__ import annotations

import json
from functools import cache

import pytest
from tests.oracle.senate import DATA, HERE
from typer.testing import CliRunner

import arbitre
from arbitre import bundled
from arbitre.cli import app
from arbitre.inputs.provenance import Provenance

pytestmark = HERE

RUNS = ("01", "02", "03")
SCHEMA = str(bundled.schemas() / "examples" / "senat-published.schema.json")
ID = r"page_\d\d"


def sources(run):
    return [str(file) for file in sorted((DATA / "predicted").glob(f"page_*_{run}*.json"))]


def consensus(*arguments, runs=RUNS):
    names = [f"run{run}={file}" for run in runs for file in sources(run)]
    result = CliRunner().invoke(app, ["consensus", "--schema", SCHEMA, "--id-pattern", ID, *arguments, *names])
    assert result.exit_code == 0, result.stderr
    return result.stdout


@cache
def of_run(run, schema):
    return f1q(sources(run), schema)


def f1q(predicted, schema=SCHEMA):
    evaluation = arbitre.evaluate(schema, gold=DATA / "gold", predicted=predicted, id_pattern=ID, no_chance=True)
    return round(evaluation.micro.f1q, 4)


@pytest.mark.usefixtures("without_standing")
@pytest.mark.parametrize("strategy", ["minimum-risk", "majority"])
@pytest.mark.parametrize(
    ("schema", "runs", "agreed"),
    [
        ("senat-published", [0.9580, 0.9533, 0.9286], 0.9615),
        ("senat-iou", [0.9569, 0.9518, 0.9231], 0.9597),
        ("senat-name-only", [0.9230, 0.9298, 0.9358], 0.9391),
    ],
)
def test_the_consensus_of_three_runs_is_closer_to_gold_than_each_of_them(tmp_path, schema, runs, agreed, strategy):
    file = str(bundled.schemas() / "examples" / f"{schema}.schema.json")
    consensus("--schema", file, "--strategy", strategy, "--out", str(tmp_path / "gold"))
    assert [of_run(run, file) for run in RUNS] == runs
    assert f1q(tmp_path / "gold", file) == agreed
    assert agreed > max(runs)


def test_the_gold_of_a_folder_has_a_sidecar_and_is_read_back(tmp_path):
    consensus("--out", str(tmp_path / "gold"))
    provenance = Provenance.read(tmp_path / "gold")
    assert provenance.headline() == (
        "Gold: minimum-risk consensus of 3 annotators (run01, run02, run03), alpha_d 0.900 on 3 documents"
    )
    assert (provenance.disagreements.total, provenance.disagreements.flagged) == (24, 2)
    first = provenance.values["page_02"]["/listes_des_intervenants/8"]
    assert (first.annotators, first.by) == (("run01", "run03"), "minimum-risk")


def test_unanimity_keeps_less_and_says_how_much(tmp_path):
    result = json.loads(consensus("--strategy", "unanimity", "--format", "json", "--out", str(tmp_path / "gold")))
    assert result["values"] == {"unanimous": 103, "majority": 0, "flagged": 0, "left_out": 26}
    assert result["notes"][0].startswith("Unanimity left out 26 of 129 values (20.2%)")


@pytest.mark.parametrize("strategy", ["majority", "unanimity"])
def test_a_run_is_better_on_unanimous_than_on_contested_values(strategy):
    """Two runs are the annotators, the third one is the system."""
    system = [f"--system=raw={file}" for file in sources("03")]
    result = json.loads(consensus("--strategy", strategy, "--format", "json", *system, runs=RUNS[:2]))
    scores = result["systems"]["raw"]
    assert {name: part["values"] for name, part in scores.items()} == {"unanimous": 112, "contested": 10}
    assert scores["unanimous"]["exact"] == pytest.approx(103 / 112)
    assert scores["contested"]["exact"] == pytest.approx(5 / 10)
    assert scores["unanimous"]["quality"] == pytest.approx(0.9683, abs=5e-5)
    assert scores["contested"]["quality"] == pytest.approx(0.9630, abs=5e-5)
