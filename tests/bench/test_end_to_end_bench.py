"""The end-to-end benchmark runs: nothing is said about time."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).with_name("end_to_end.py")
BESIDE = BENCH.parents[2].parent / "shared" / "bench"


@pytest.mark.skipif(not BESIDE.is_dir(), reason="there is no workload beside the project")
def test_the_short_mode_times_every_row(tmp_path):
    out = tmp_path / "bench.json"
    command = [sys.executable, "-P", str(BENCH), "--short", "--kinds", "flat", "--json", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert [row["work"] for row in rows] == [
        "all files",
        "without report",
        "without report, no chance scores",
        "two workers against one",
        "two workers against one, without report",
    ]
    assert all(ratio > 0 for row in rows for ratio in row["ratios"])
