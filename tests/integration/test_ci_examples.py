"""The examples of docs/ci.md: all commands of arbitre in them run, and fail when they should."""

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arbitre import bundled
from arbitre.cli import app

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install 'arbitre[yaml]'")
PAGE = Path(__file__).parents[2] / "docs" / "ci.md"
BLOCKS = [
    yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
]
GITHUB, FORK, GITLAB, HOOKS = BLOCKS
STEPS = [step["run"] for step in GITHUB["jobs"]["evaluate"]["steps"] if "run" in step]
(HOOK,) = HOOKS["repos"][0]["hooks"]


def run(line):
    """Run a command of arbitre, with its redirection; other commands stand for the user's own."""
    command, _, file = line.partition(" > ")
    words = command.split()
    if words[0] != "arbitre":
        return 0
    result = CliRunner().invoke(app, words[1:])
    if file:
        Path(file).write_text(result.stdout, encoding="utf-8")
    return result.exit_code


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with the gold, the schema, the results of one system as baseline, and the answers of another."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(bundled.demo() / "gold.jsonl", "gold.jsonl")
    shutil.copy(bundled.schemas() / "examples" / "speakers.schema.json", "schema.json")

    def answers(baseline, predicted):
        shutil.copy(bundled.demo() / f"{baseline}.jsonl", "predicted.jsonl")
        assert run(STEPS[2].replace("results", "baseline")) == 0
        shutil.copy(bundled.demo() / f"{predicted}.jsonl", "predicted.jsonl")

    return answers


def test_equal_results_pass(repository):
    repository("careful", "careful")
    assert [run(step) for step in STEPS] == [0] * len(STEPS)
    assert [run(line) for line in GITLAB["extraction"]["script"]] == [0] * 5
    assert Path("results/report.html").exists()
    assert Path("changes.xml").read_text(encoding="utf-8").startswith("<?xml")
    assert "f1q" in Path("changes.md").read_text(encoding="utf-8")


def test_predictions_of_a_fork_are_evaluated_with_the_config_of_the_base(repository, monkeypatch):
    repository("careful", "careful")
    for folder, files in (("base", ("gold.jsonl", "schema.json")), ("change", ("predicted.jsonl",))):
        Path(folder).mkdir()
        for name in files:
            shutil.move(name, folder)
    Path("base/arbitre.toml").write_text('schema = "schema.json"\n', encoding="utf-8")
    Path("change/arbitre.toml").write_text('functions = ["missing:x"]\n', encoding="utf-8")
    (step,) = FORK
    monkeypatch.chdir(step["working-directory"])
    assert run(step["run"]) == 0
    assert Path("../results/report.html").exists()


def test_worse_results_fail_after_the_comment(repository):
    repository("careful", "hasty")
    codes = [run(step) for step in STEPS]
    assert codes[:-1] == [0] * (len(STEPS) - 1)
    assert codes[-1] == 1
    assert "f1q" in Path("changes.md").read_text(encoding="utf-8")
    assert [run(line) for line in GITLAB["extraction"]["script"]] == [0, 0, 0, 0, 1]
    assert "no evidence" in Path("changes.xml").read_text(encoding="utf-8")  # six documents prove little


def test_the_hook_checks_the_schema_and_the_gold(repository):
    repository("careful", "careful")
    assert run(HOOK["entry"]) == 0
    assert all(re.search(HOOK["files"], name) for name in ("schema.json", "gold.jsonl"))
    Path("gold.jsonl").write_text('{"id": "a", "speakers": [{"name": 3}]}', encoding="utf-8")
    assert run(HOOK["entry"]) == 1
