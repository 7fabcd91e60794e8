"""The benchmark and the simulations of agreement, classes in lists and consensus run, and their results are plausible."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bench.planted_consensus import Faults, planted, simulate

SCRIPT = Path(__file__).with_name("agreement_in_lists.py")


def run(script, *arguments):
    """Run a script in this process, with the scripts beside it for it to import."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", [str(script), *map(str, arguments)])
        patched.syspath_prepend(script.parent)
        runpy.run_path(str(script), run_name="__main__")


def test_the_simulation_of_agreement_runs(tmp_path):
    out, table = tmp_path / "rows.json", tmp_path / "table.md"
    run(SCRIPT, "--short", "--beside", "names", "nothing", "--json", out, "--markdown", table)
    names, nothing = json.loads(out.read_text(encoding="utf-8"))
    assert (names["aligned_by"], nothing["aligned_by"]) == ("other fields", "all fields")
    assert names["value"] == pytest.approx(names["true"], abs=1e-9)
    assert len(table.read_text(encoding="utf-8").splitlines()) == 4


def test_the_simulation_of_classes_runs(tmp_path):
    out, table = tmp_path / "rows.json", tmp_path / "table.md"
    script = SCRIPT.with_name("classes_in_lists.py")
    run(script, "--short", "--beside", "names", "nothing", "--json", out, "--markdown", table)
    names, nothing = json.loads(out.read_text(encoding="utf-8"))
    assert (names["matched_by"], nothing["matched_by"]) == ("other fields", "all fields")
    assert names["largest"] == pytest.approx(0.0, abs=1e-12)
    assert names["all_fields"] > names["true"] + 0.1
    assert nothing["value"] == pytest.approx(nothing["all_fields"])
    assert len(table.read_text(encoding="utf-8").splitlines()) == 4


ANNOTATORS = Path(__file__).with_name("annotators.py")
WORKLOAD = ANNOTATORS.parents[2].parent / "shared" / "bench" / "workload.py"


@pytest.mark.nightly
@pytest.mark.skipif(not WORKLOAD.is_file(), reason="the shared workload is not here")
def test_the_benchmark_of_agreement_runs(tmp_path):
    out = tmp_path / "bench.json"
    subprocess.run([sys.executable, str(ANNOTATORS), "--short", "--json", str(out)], check=True, capture_output=True)
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert [row["corpus"] for row in rows] == ["nested/3/4/5", "flat/3/4/5"]
    assert all(0.0 < row["alpha"] < 1.0 for row in rows)
    assert all(row["seconds"] > 0.0 for row in rows)
    assert all(row["peak"] >= row["before"] for row in rows)


def test_the_consensus_of_a_small_simulation_is_nearer_to_the_truth_than_the_medoid():
    results = simulate(5, 0.2, Faults(), documents=3, size=5)
    assert results["minimum-risk"].quality > results["medoid"].quality
    assert results["minimum-risk"].f1q > results["medoid"].f1q
    assert abs(results["minimum-risk"].kept - 1.0) <= 0.1


def test_without_errors_all_annotators_copy_the_truth():
    truth, annotations = planted(2, 0.0, Faults(), documents=2, size=3, seed=0)
    assert {json.dumps(own) for own in annotations.values()} == {json.dumps(truth)}


def test_annotators_leave_out_and_add_the_planted_share_of_items():
    truth, annotations = planted(1, 0.5, Faults(omitted=0.5, invented=0.0), documents=40, size=10, seed=0)
    (own,) = annotations.values()
    copied = sum(len(document["speakers"]) for document in own.values())
    assert abs(copied / sum(len(document["speakers"]) for document in truth.values()) - 0.75) < 0.05
