"""How long the way from a call to its numbers is, in functions and files of arbitre."""

from __future__ import annotations

from tests.bench import calls


def test_the_way_to_a_number_stays_short():
    files = calls.evaluate()
    assert {"corpus/evaluate.py", "comparison/levels.py"} <= files.keys()
    assert not any(file.startswith(("cli/", "report/html/build", "report/report_files")) for file in files)
    assert len(files) <= 52
