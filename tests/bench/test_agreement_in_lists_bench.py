"""The simulation of agreement in lists runs, and its truth is that of the definition."""

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
