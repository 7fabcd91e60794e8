"""The benchmarks run and print every row, memory stays below its bound, and an evaluation runs code of few files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bench import calls
from tests.bench.side_by_side import memory

SIDE_BY_SIDE = Path(__file__).with_name("side_by_side.py")
BESIDE = SIDE_BY_SIDE.parents[2].parent / "shared" / "bench"
PAGE = SIDE_BY_SIDE.parents[2] / "docs" / "benchmarks.md"


@pytest.mark.nightly
@pytest.mark.skipif(not BESIDE.is_dir(), reason="there is no workload beside the project")
def test_the_short_comparison_with_other_scorers_times_every_kind_of_row(tmp_path):
    out, page = tmp_path / "bench.json", tmp_path / "benchmarks.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run(
        [sys.executable, str(SIDE_BY_SIDE), "--short", "--json", str(out), "--page", str(page)],
        check=True,
        capture_output=True,
    )
    found = json.loads(out.read_text(encoding="utf-8"))
    works = {row["work"] for row in found["rows"]}
    assert {"FLAT, Ratcliff", "FLAT, Levenshtein", "NESTED", "NESTED, heavy noise, blanked names"} <= works
    assert all(row["ours"] > 0 for row in found["rows"])
    before, after = (one.read_text(encoding="utf-8").partition("<!-- measured -->") for one in (PAGE, page))
    assert "| published script | FLAT, Ratcliff | 5 |" in after[2]
    assert after[0] == before[0]
    assert after[2].partition("<!-- end -->")[2] == before[2].partition("<!-- end -->")[2]


@pytest.mark.skipif(not BESIDE.is_dir(), reason="there is no workload beside the project")
@pytest.mark.parametrize(("size", "most"), [(1000, 250), pytest.param(5000, 650, marks=pytest.mark.nightly)])
def test_peak_memory_stays_below_its_bound(size, most):
    """A nested list against another: 9 bytes a cell, a copy for the solver, and some tables of a fixed size."""
    assert memory(BESIDE, size) < most


END_TO_END = Path(__file__).with_name("end_to_end.py")
WORKLOAD = END_TO_END.parents[2].parent / "shared" / "bench"


@pytest.mark.skipif(not WORKLOAD.is_dir(), reason="there is no workload beside the project")
@pytest.mark.nightly
def test_the_short_end_to_end_benchmark_times_every_row(tmp_path):
    out = tmp_path / "bench.json"
    command = [sys.executable, "-P", str(END_TO_END), "--short", "--kinds", "flat", "--json", str(out)]
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


TRANSPORT = Path(__file__).with_name("transport.py")
DATA = TRANSPORT.parents[2].parent / "shared" / "data"


@pytest.mark.nightly
@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not here")
def test_every_solver_runs_on_every_corpus(tmp_path):
    out = tmp_path / "bench.json"
    subprocess.run([sys.executable, str(TRANSPORT), "--short", "--json", str(out)], check=True, capture_output=True)
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert {row["corpus"] for row in rows} == {"Senate, nested", "swimming", "credit_agreement"}
    assert len({row["matching"] for row in rows}) == 9
    assert len(rows) == 27
    assert all(0.5 < row["f1q"] < 1.0 for row in rows)


ENTITIES = Path(__file__).with_name("entities.py")


def test_every_tool_computes_the_same_strict_f1(tmp_path):
    pytest.importorskip("seqeval")
    pytest.importorskip("nervaluate")
    out = tmp_path / "bench.json"
    subprocess.run([sys.executable, str(ENTITIES), "--short", "--json", str(out)], check=True, capture_output=True)
    rows = {row["tool"]: row for row in json.loads(out.read_text(encoding="utf-8"))}
    assert len(rows) == 6
    strict = [rows[tool]["f1"] for tool in ("arbitre strict", "seqeval", "nervaluate")]
    assert strict == pytest.approx([strict[0]] * 3, abs=1e-9)
    assert all(row["seconds"] > 0 for row in rows.values())


def test_the_way_to_a_number_stays_short():
    files = calls.evaluate()
    assert {"corpus/evaluate.py", "comparison/levels.py"} <= files.keys()
    assert not any(file.startswith(("cli/", "report/html/build", "report/report_files")) for file in files)
    assert len(files) <= 52


GRADER = Path(__file__).with_name("grader.py")


def test_a_grade_takes_hardly_longer_than_the_comparison(tmp_path):
    out = tmp_path / "bench.json"
    command = [sys.executable, "-P", str(GRADER), "--turns", "5", "--grades", "10", "--json", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert len(rows) == 10
    assert rows["quality of a fenced text"] < 2 * rows["comparison alone"]
