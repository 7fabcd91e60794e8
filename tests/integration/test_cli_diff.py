"""Two evaluations of one system: what got worse, in Python and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import arbitre
from arbitre.cli import app
from arbitre.corpus.running.checkpoints import Checkpoints
from arbitre.corpus.running.evaluate import ExecutionOptions, evaluate
from arbitre.corpus.systems.evaluation_diff import ScoreChange
from arbitre.errors import DataError

SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string", "x-arbitre": {"distance": "exact"}}, "age": {"type": "integer"}},
    },
}
GOLD = [{"name": "Ada", "age": 36}, {"name": "Bo", "age": 5}]
HALF = [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 6}]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def written(name, predictions, *, shards=True, close=0.8):
    """The results of an evaluation, by id."""
    plan = arbitre.Comparator(SCHEMA, close=close).plan
    folder = Path(name)
    folder.mkdir()
    how = ExecutionOptions(checkpoints=Checkpoints(folder, plan.signature)) if shards else None
    pairs = [(one, GOLD, predicted) for one, predicted in predictions.items()]
    plain = evaluate(plan, pairs, how).to_dict()
    path = folder / "evaluation.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    return path


def test_changes_are_listed_worst_first():
    before = written("before", {"a": GOLD, "b": GOLD, "c": HALF, "d": []})
    after = written("after", {"a": HALF, "b": [], "c": GOLD, "d": []})
    difference = arbitre.diff(before, after)
    assert [(change.name, change.difference) for change in difference.documents] == [
        ("b", -1.0),
        ("a", -0.5),
        ("c", 0.5),
    ]
    assert difference.macro == ScoreChange("macro", 0.625, 0.375)
    assert [change.name for change in difference.paths] == ["/*", "/*/age", "/*/name"]
    assert difference.worse
    assert (difference.only_before, difference.only_after, difference.settings) == ((), (), ())


def test_a_corpus_is_not_worse_than_itself():
    before = written("before", {"a": HALF, "b": GOLD})
    difference = arbitre.diff(before, before)
    assert not difference.worse
    assert (difference.documents, difference.paths) == ((), ())


def test_more_failures_are_worse_even_with_an_equal_score():
    before, after = written("before", {"a": [], "b": GOLD}), written("after", {"a": arbitre.ABSENT, "b": GOLD})
    difference = arbitre.diff(before, after)
    assert (difference.failed, difference.micro.difference, difference.worse) == ((0, 1), 0.0, True)


def test_a_failure_scores_zero_where_a_wrong_prediction_has_no_score():
    before, after = written("before", {"a": [], "b": GOLD}), written("after", {"a": arbitre.ABSENT, "b": GOLD})
    assert arbitre.diff(before, after, "imq").documents == (ScoreChange("a", None, 0.0),)


def test_documents_present_in_one_evaluation_only_are_named():
    difference = arbitre.diff(written("before", {"a": GOLD, "b": GOLD}), written("after", {"b": GOLD, "c": GOLD}))
    assert (difference.only_before, difference.only_after, difference.documents) == (("a",), ("c",), ())


def test_documents_are_not_compared_where_one_side_did_not_keep_them():
    difference = arbitre.diff(written("before", {"a": GOLD}), written("after", {"a": []}, shards=False))
    assert (difference.documents, difference.only_before, difference.micro.after) == ((), (), 0.0)


def test_changed_settings_are_named():
    difference = arbitre.diff(written("before", {"a": GOLD}), written("after", {"a": GOLD}, close=0.9))
    assert difference.settings == ("close",)


def test_a_rounding_difference_is_not_a_change():
    before, after = written("before", {"a": HALF}), written("after", {"a": HALF})
    plain = json.loads(after.read_text("utf-8"))
    for one in (plain["micro"], plain["macro"], *plain["by_path"].values()):
        one["f1q"] -= 1e-12
    after.write_text(json.dumps(plain), encoding="utf-8")
    difference = arbitre.diff(before, after)
    assert (difference.worse, difference.paths) == (False, ())


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ("f1qq", "Expected a score where higher is better, got 'f1qq'"),
        ("variance", "got 'variance'"),
        ("gold", "'gold'"),
    ],
)
def test_a_score_where_higher_is_not_better_is_refused(score, message):
    path = written("before", {"a": GOLD})
    with pytest.raises(DataError, match=message):
        arbitre.diff(path, path, score)


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["diff", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def test_the_exit_code_reports_a_regression_only_on_request():
    before, after = written("before", {"a": GOLD, "b": HALF}), written("after", {"a": HALF, "b": HALF})
    assert run(before, after).stdout.startswith("f1q: worse\n")
    assert (
        "worse: f1q or document quality fell, or more documents failed"
        in run(before, after, "--fail-if-worse", code=1).stderr
    )
    assert run(after, before, "--fail-if-worse").stdout.startswith("f1q: not worse\n")


def test_json_and_text_agree():
    before, after = written("before", {"a": GOLD, "b": GOLD}), written("after", {"a": HALF, "c": HALF}, close=0.9)
    plain = json.loads(run(before, after, "--score", "irq", "--format", "json").stdout)
    assert plain["documents"] == [{"name": "a", "before": 1.0, "after": 0.5, "difference": -0.5}]
    assert (plain["score"], plain["worse"], plain["only_after"], plain["settings"]) == ("irq", True, ["c"], ["close"])
    result = run(before, after, "--score", "irq")
    assert "a          1.0000   0.5000   -0.5000" in result.stdout
    assert "Documents only before (1)" in result.stdout
    assert "The evaluations differ in close" in result.stderr
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_only_the_first_ten_changes_are_shown():
    before = written("before", {f"d{at:02}": GOLD for at in range(12)})
    after = written("after", {f"d{at:02}": HALF for at in range(12)})
    text = run(before, after).stdout
    assert "Documents: 12 worse, 0 better (first 10)" in text
    assert "d09" in text
    assert "d10" not in text


def test_a_file_that_is_not_an_evaluation_is_refused():
    Path("other.json").write_text("[]", encoding="utf-8")
    assert "other.json: The file is not an evaluation" in run("other.json", "other.json", code=2).output
    assert "none.json" in run("none.json", "other.json", code=2).output
