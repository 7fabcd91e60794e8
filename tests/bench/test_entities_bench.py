"""The benchmark of entities runs with every tool, and all compute the same strict F1. Times are not checked."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("seqeval")
pytest.importorskip("nervaluate")
BENCH = Path(__file__).with_name("entities.py")


@pytest.mark.slow
def test_every_tool_computes_the_same_strict_f1(tmp_path):
    out = tmp_path / "bench.json"
    subprocess.run([sys.executable, str(BENCH), "--short", "--json", str(out)], check=True, capture_output=True)
    rows = {row["tool"]: row for row in json.loads(out.read_text(encoding="utf-8"))}
    assert len(rows) == 6
    strict = [rows[tool]["f1"] for tool in ("arbitre strict", "seqeval", "nervaluate")]
    assert strict == pytest.approx([strict[0]] * 3, abs=1e-9)
    assert all(row["seconds"] > 0 for row in rows.values())
