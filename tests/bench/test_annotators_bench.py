"""The benchmark of agreement runs: nothing is said about time."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).with_name("annotators.py")
WORKLOAD = BENCH.parents[2].parent / "shared" / "bench" / "workload.py"


@pytest.mark.skipif(not WORKLOAD.is_file(), reason="the shared workload is not here")
def test_the_benchmark_runs(tmp_path):
    out = tmp_path / "bench.json"
    subprocess.run([sys.executable, str(BENCH), "--short", "--json", str(out)], check=True, capture_output=True)
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert [row["corpus"] for row in rows] == ["nested/3/4/5", "flat/3/4/5"]
    assert all(0.0 < row["alpha"] < 1.0 for row in rows)
    assert all(row["seconds"] > 0.0 for row in rows)
    assert all(row["peak"] >= row["before"] for row in rows)
