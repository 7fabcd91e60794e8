"""The benchmark runs: nothing is said about time."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bench.side_by_side import memory

BENCH = Path(__file__).with_name("side_by_side.py")
BESIDE = BENCH.parents[2].parent / "shared" / "bench"


@pytest.mark.skipif(not BESIDE.is_dir(), reason="there is no workload beside the project")
def test_the_short_benchmark_times_every_kind_of_row(tmp_path):
    out = tmp_path / "bench.json"
    subprocess.run([sys.executable, str(BENCH), "--short", "--json", str(out)], check=True, capture_output=True)
    found = json.loads(out.read_text(encoding="utf-8"))
    works = {row["work"] for row in found["rows"]}
    assert {"FLAT, Ratcliff", "FLAT, Levenshtein", "NESTED", "NESTED, heavy noise, blanked names"} <= works
    assert all(row["ours"] > 0 for row in found["rows"])


@pytest.mark.skipif(not BESIDE.is_dir(), reason="there is no workload beside the project")
@pytest.mark.parametrize(("size", "most"), [(1000, 250), pytest.param(5000, 650, marks=pytest.mark.nightly)])
def test_peak_memory_stays_below_its_bound(size, most):
    """A nested list against another: 9 bytes a cell, a copy for the solver, and some tables of a fixed size."""
    assert memory(BESIDE, size) < most
