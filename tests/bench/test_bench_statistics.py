"""The simulation of coverage and error rates runs; its short form is already enough for clear statements."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import fmean

BENCH = Path(__file__).with_name("simulated_coverage.py")


def test_the_short_benchmark_simulates_every_kind_of_row(tmp_path):
    out, table = tmp_path / "bench.json", tmp_path / "table.md"
    command = [sys.executable, str(BENCH), "--short", "--json", str(out), "--markdown", str(table)]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    found = json.loads(out.read_text(encoding="utf-8"))
    assert {row["method"] for row in found["coverage"]} == {"adjusted-t", "t", "percentile", "bca"}
    assert all(row["coverage"] >= 0.9 for row in found["coverage"] if row["method"] == "adjusted-t")
    assert fmean(row["error"] for row in found["errors"]) <= 0.08  # of 480 corpora; 0.05 is the most that is due
    assert all(row["disagreeing"] == 0 for row in found["errors"])
    assert len(table.read_text(encoding="utf-8").splitlines()) > 10
