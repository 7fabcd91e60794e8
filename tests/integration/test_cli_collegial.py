"""`arbitre consensus --strategy collegial`: the queue, the decisions, and the disagreements left undecided."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.test_collegial import ANNOTATIONS, SCHEMA
from typer.testing import CliRunner

from arbitre.agreement.consensus.decisions import Decisions
from arbitre.cli import app
from arbitre.inputs.provenance import Provenance


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the command in a folder with the documents of three annotators."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    for name, documents in ANNOTATIONS.items():
        lines = (json.dumps({"id": key, **document}) for key, document in documents.items())
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    sources = [f"{name}={name}.jsonl" for name in ANNOTATIONS]
    options = ["--schema", "schema.json"]
    return lambda *more, strategy="collegial": CliRunner().invoke(
        app, ["consensus", *options, "--strategy", strategy, *more, *sources]
    )


def decisions(tmp_path, *records):
    path = tmp_path / "decisions.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return str(path)


def test_the_terminal_says_what_is_undecided_and_where_the_queue_is(run):
    result = run("--queue", "queue")
    assert result.exit_code == 0
    assert "5 disagreements, 0 flagged, 5 undecided" in result.stdout
    assert "5 of 5 disagreements are undecided." in result.stdout
    assert "Wrote 5 disagreements to queue/queue.jsonl, queue/queue.csv, queue/queue.html" in result.stderr
    result = run("--queue", "queue", "--lang", "fr")
    assert "5 désaccords, 0 incertain, 5 non tranchés" in result.stdout
    assert "5 désaccords écrits dans queue/queue.jsonl, queue/queue.csv, queue/queue.html" in result.stderr
    assert '<html lang="fr">' in Path("queue/queue.html").read_text(encoding="utf-8")


def test_only_undecided_disagreements_are_listed(run, tmp_path):
    path = decisions(tmp_path, {"id": "p#/year", "value": 1932, "by": "Zoé"})
    result = run("--decisions", path, "--out", "gold.jsonl")
    assert "5 disagreements, 0 flagged, 4 undecided" in result.stdout
    assert "p#/year" not in result.stdout
    assert "p#/speakers/2" in result.stdout
    assert Provenance.read("gold.jsonl").disagreements.decided == 1
    assert json.loads(Path("gold.jsonl").read_text(encoding="utf-8"))["year"] == 1932


def test_the_json_output_names_the_undecided_disagreements(run, tmp_path):
    path = decisions(tmp_path, {"id": "p#/year", "value": 1932, "by": "Zoé"})
    plain = json.loads(run("--decisions", path, "--format", "json").stdout)
    assert set(plain["undecided"]) == {own["id"] for own in plain["disagreements"]} - {"p#/year"}


def test_when_everything_is_decided_no_disagreement_is_listed(run, tmp_path):
    run("--queue", "queue.jsonl")
    queue = [json.loads(line) for line in Path("queue.jsonl").read_text(encoding="utf-8").splitlines()]
    keys = ("id", "proposal", "absent", "fingerprint")
    made = [{key.replace("proposal", "value"): own[key] for key in keys if key in own} | {"by": "Zoé"} for own in queue]
    path = decisions(tmp_path, *made)
    assert len(Decisions.read(path).by_id) == 5
    result = run("--decisions", path)
    assert "5 disagreements, 0 flagged, 0 undecided" in result.stdout
    assert "Caveats" not in result.stdout


def test_a_refused_decision_is_named_and_kept_and_the_others_are_applied(run, tmp_path):
    wrong = {"id": "p#/speakers/1/party", "value": "green", "by": "Zoé"}
    path = decisions(tmp_path, {"id": "p#/year", "value": 1932, "by": "Zoé"}, wrong)
    result = run("--decisions", path, "--out", "gold.jsonl", "--quiet")
    assert result.exit_code == 1
    assert f"{path}:2: The schema does not allow the decision on 'p#/speakers/1/party'" in result.stderr
    assert "1 decision refused; all others were applied. Refused lines: gold.jsonl.refused.jsonl" in result.stderr
    assert json.loads(Path("gold.jsonl.refused.jsonl").read_text(encoding="utf-8")) == wrong
    assert json.loads(Path("gold.jsonl").read_text(encoding="utf-8"))["year"] == 1932
    plain = json.loads(run("--decisions", path, "--format", "json").stdout)
    assert [(each["line"], each["id"]) for each in plain["refused"]] == [(2, "p#/speakers/1/party")]
    wrong["value"] = "right"
    assert run("--decisions", decisions(tmp_path, wrong)).exit_code == 0


def test_if_every_decision_is_refused_nothing_is_written(run, tmp_path):
    path = decisions(
        tmp_path,
        {"id": "p#/year", "value": "1931", "by": "Zoé"},
        {"id": "p#/speakers/1/party", "value": "green", "by": "Zoé"},
    )
    result = run("--decisions", path, "--out", "gold.jsonl", "--queue", "queue")
    assert result.exit_code == 2
    assert f"{path}:1: The schema does not allow the decision on 'p#/year'" in result.stderr
    assert f"{path}:2: The schema does not allow the decision on 'p#/speakers/1/party'" in result.stderr
    assert not any((tmp_path / name).exists() for name in ("gold.jsonl", "gold.jsonl.provenance.json", "queue"))


def test_the_options_are_checked(run, tmp_path):
    unknown = run("--queue", "queue.txt")
    sourced = run("--source", "queue")
    assert (sourced.exit_code, "--source requires --queue" in sourced.stderr) == (2, True)
    majority = run("--decisions", decisions(tmp_path), strategy="majority")
    assert unknown.exit_code == majority.exit_code == 2
    unboxed = [" ".join(result.stderr.replace("│", " ").split()) for result in (unknown, majority)]
    assert "Expected --queue to be a folder or a file that ends in .jsonl, .csv, .html" in unboxed[0]
    assert "--decisions requires --strategy collegial" in unboxed[1]
