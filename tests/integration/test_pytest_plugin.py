"""The plugin for pytest: the message of a failed assertion, the fixture, and the report of a session."""

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

import arbitre
from arbitre.errors import DataError, OptionError, QualityBoundError
from arbitre.integrations.pytest import assert_matches

MODULE = "arbitre.integrations.pytest"
PLUGIN = [] if MODULE in {point.value for point in entry_points(group="pytest11")} else ["-p", MODULE]
"""The argument that loads the plugin, if arbitre was installed before it had one."""
LETTER = {
    "type": "object",
    "properties": {
        "sender": {"type": "string"},
        "people": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
    },
}
GOLD = {"sender": "Ada Lovelace", "people": [{"name": "Charles Babbage"}, {"name": "Mary Somerville"}]}
PREDICTED = {"sender": "Ada Lovelace", "people": [{"name": "Charles Babage"}]}


def test_a_failure_names_each_score_and_each_value_that_differs():
    with pytest.raises(QualityBoundError) as raised:
        assert_matches(PREDICTED, GOLD, LETTER, paths={"/people/*/name": {"irq": 0.8}})
    assert str(raised.value).splitlines() == [
        "f1q is 0.7333, 0.1667 below 0.9",
        "/people/*/name:irq is 0.4667, 0.3333 below 0.8",
        '/people/1 is missing: {"name": "Mary Somerville"}',
        '/people/0/name should be "Charles Babbage", not "Charles Babage"',
    ]
    assert isinstance(raised.value, AssertionError)


def test_an_answer_that_cannot_be_read_fails_with_the_reason():
    with pytest.raises(QualityBoundError, match="The answer counts as missing: Expected valid JSON, got no JSON"):
        assert_matches("I cannot help with that.", GOLD, LETTER)


def test_a_close_document_passes_and_returns_its_grade():
    assert assert_matches(f"```json\n{PREDICTED}\n```", GOLD, LETTER, f1q=0.7, quality=0.7).score > 0.7
    comparator = arbitre.Comparator(LETTER)
    assert assert_matches(GOLD, GOLD, comparator, paths={"/people/*/name": 1.0}).grader.comparator is comparator
    empty = {"people": []}
    assert_matches(empty, empty, LETTER, paths={"/people/*/name": 1.0})


def test_a_wrong_use_is_an_error_not_a_failure():
    with pytest.raises(OptionError, match="a path of the schema"):
        assert_matches(GOLD, GOLD, LETTER, paths={"/persons/*": 1.0})
    with pytest.raises(DataError, match="Expected valid JSON"):
        assert_matches(GOLD, "not JSON", LETTER)


TESTS = f"""
import pytest
from arbitre.integrations import pytest as plugin

LETTER, GOLD, PREDICTED = {LETTER}, {GOLD}, {PREDICTED}

@pytest.mark.parametrize("least", [0.7, 0.9])
def test_letter(assert_matches, least):
    assert_matches(PREDICTED, GOLD, LETTER, f1q=least)
    assert_matches(GOLD, GOLD, LETTER)

def test_refusal():
    plugin.assert_matches("I cannot help with that.", GOLD, LETTER)

def test_names(assert_matches):
    assert_matches(["Ada"], ["Ada"], {{"type": "array", "items": {{"type": "string"}}}})
"""


@pytest.fixture
def session(tmp_path):
    (tmp_path / "test_letters.py").write_text(TESTS)

    def run(*arguments, **variables):
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *PLUGIN, *arguments]
        env = os.environ | {"PYTEST_ADDOPTS": ""} | variables
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    return run


def test_a_session_without_the_option_writes_nothing_and_shows_the_lines_of_the_test(session, tmp_path):
    result = session()
    assert "2 failed, 2 passed" in result.stdout
    assert re.search(r">\s+assert_matches\(PREDICTED, GOLD, LETTER, f1q=least\)\nE\s+.*f1q is 0.7333", result.stdout)
    assert "pytest.py" not in result.stdout.replace("integrations.pytest", "")
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".html"] == []


@pytest.mark.parametrize("processes", [[], ["-p", "xdist.plugin", "-n", "2"]], ids=["one process", "pytest-xdist"])
def test_the_report_has_the_documents_of_all_assertions(session, tmp_path, processes):
    """The other installed plugins are not loaded, to save time."""
    arguments = ("-p", MODULE, "--arbitre-report", "out/report.html", *processes)
    result = session(*arguments, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert "2 failed, 2 passed" in result.stdout
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"arbitre report of 4 documents: {tmp_path / 'out' / 'report.html'}" in result.stdout
    assert f"arbitre report of 1 document: {tmp_path / 'out' / 'report-2.html'}" in result.stdout
    for expected in (
        "test_letters.py::test_letter[0.9]",
        "test_letters.py::test_refusal",
        "got no JSON",
        "Charles Babage",
    ):
        assert expected in report, expected


OWN = """
import arbitre
from arbitre.integrations.pytest import assert_matches

SCHEMA = {"type": "object", "properties": {"a": {"type": "string", "x-arbitre": {"distance": "own"}}}}

def differ(one, other):
    return float(one != other)

def test_own():
    own = {function}
    assert_matches({"a": "x"}, {"a": "x"}, arbitre.Comparator(SCHEMA, distances={"own": own}))
"""


@pytest.mark.parametrize(
    ("function", "reason"),
    [("lambda one, other: differ(one, other)", "Can't pickle local object"), ("differ", "No module named 'test_own'")],
)
def test_documents_that_a_worker_cannot_send_are_an_error(session, tmp_path, function, reason):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "test_own.py").write_text(OWN.replace("{function}", function))
    arguments = ("folder", "-p", MODULE, "--arbitre-report", "report.html", "-p", "xdist.plugin", "-n", "1")
    result = session(*arguments, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert "1 passed" in result.stdout
    assert (
        "no arbitre report: a pytest-xdist worker could not send its documents to the main process (" in result.stdout
    )
    assert reason in result.stdout
    assert result.returncode == pytest.ExitCode.TESTS_FAILED
    assert not (tmp_path / "report.html").exists()


def test_a_file_of_the_user_is_refused_before_the_first_test(session, tmp_path):
    (tmp_path / "mine.html").write_text("mine")
    result = session("--arbitre-report", "mine.html")
    assert result.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--arbitre-report: mine.html: The file exists, and arbitre did not write it" in result.stderr
    assert "Choose another name.\n" in result.stderr
    assert "--force" not in result.stderr
    assert (tmp_path / "mine.html").read_text() == "mine"


def test_the_plugin_loads_nothing_heavy_at_the_start():
    code = f"import sys, time, pytest\nstart = time.perf_counter()\nimport {MODULE}\nprint(time.perf_counter() - start, *sys.modules)"
    seconds, *modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    loaded = {name for name in modules if name.startswith("arbitre")}
    assert loaded == {"arbitre", "arbitre.integrations", MODULE}
    assert "numpy" not in modules
    assert float(seconds) < 1.0
