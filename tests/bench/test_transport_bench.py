"""The benchmark of transport runs on every corpus: nothing is said about time."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).with_name("transport.py")
DATA = BENCH.parents[2].parent / "shared" / "data"


@pytest.mark.nightly
@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not here")
def test_every_solver_runs_on_every_corpus(tmp_path):
    out = tmp_path / "bench.json"
    subprocess.run([sys.executable, str(BENCH), "--short", "--json", str(out)], check=True, capture_output=True)
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert {row["corpus"] for row in rows} == {"Senate, nested", "swimming", "credit_agreement"}
    assert len({row["matching"] for row in rows}) == 9
    assert len(rows) == 27
    assert all(0.5 < row["f1q"] < 1.0 for row in rows)
