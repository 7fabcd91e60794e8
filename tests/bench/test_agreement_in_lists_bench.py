"""The simulations of agreement and of classes in lists run, and their truth is that of the definition."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("agreement_in_lists.py")


def test_the_simulation_runs(tmp_path):
    out, table = tmp_path / "rows.json", tmp_path / "table.md"
    command = [sys.executable, str(SCRIPT), "--short", "--beside", "names", "nothing"]
    subprocess.run([*command, "--json", str(out), "--markdown", str(table)], check=True, capture_output=True)
    names, nothing = json.loads(out.read_text(encoding="utf-8"))
    assert (names["aligned_by"], nothing["aligned_by"]) == ("other fields", "all fields")
    assert names["value"] == pytest.approx(names["true"], abs=1e-9)
    assert len(table.read_text(encoding="utf-8").splitlines()) == 4


def test_the_simulation_of_classes_runs(tmp_path):
    out, table = tmp_path / "rows.json", tmp_path / "table.md"
    command = [sys.executable, str(SCRIPT.with_name("classes_in_lists.py")), "--short", "--beside", "names", "nothing"]
    subprocess.run([*command, "--json", str(out), "--markdown", str(table)], check=True, capture_output=True)
    names, nothing = json.loads(out.read_text(encoding="utf-8"))
    assert (names["matched_by"], nothing["matched_by"]) == ("other fields", "all fields")
    assert names["largest"] == pytest.approx(0.0, abs=1e-12)
    assert names["all_fields"] > names["true"] + 0.1
    assert nothing["value"] == pytest.approx(nothing["all_fields"])
    assert len(table.read_text(encoding="utf-8").splitlines()) == 4
