"""The simulation of coverage and error rates runs, and its short form confirms the coverage and the error rates."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SETTING = ("population", "design", "average", "units")
BENCH = Path(__file__).with_name("simulated_coverage.py")


@pytest.mark.nightly
def test_the_short_benchmark_simulates_every_kind_of_row(tmp_path):
    out, table = tmp_path / "bench.json", tmp_path / "table.md"
    command = [sys.executable, str(BENCH), "--short", "--json", str(out), "--markdown", str(table)]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    found = json.loads(out.read_text(encoding="utf-8"))
    assert {row["method"] for row in found["coverage"]} == {"clopper-pearson", "t", "percentile", "bca"}
    ours = [row for row in found["coverage"] if row["method"] == "clopper-pearson"]
    assert all(row["coverage"] >= (0.86 if row["units"] < 50 else 0.9) for row in ours)  # of 100 corpora
    setting = ("mild", "documents", "macro", 50)
    mild = [row for row in found["coverage"] if tuple(row[name] for name in SETTING) == setting]
    widths = {row["method"]: row["width"] for row in mild}
    assert widths["t"] < widths["clopper-pearson"] <= 1.1 * widths["t"]
    assert all(row["coverage"] >= 0.75 for row in found["differences"] if row["method"] == "swaps")  # of 50 corpora
    errors = {row["correction"]: row for row in found["errors"]}
    assert max(row["error"] for row in errors.values()) <= 0.2  # of 20 corpora
    assert errors["max-T"]["power"] >= errors["Holm"]["power"]
    assert errors["max-T"]["disagreeing"] == 0
    assert len(table.read_text(encoding="utf-8").splitlines()) > 10
