"""`arbitre consensus`: files that `arbitre evaluate` reads, the summary, and refused input."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from arbitre.cli import app

SCHEMA = {
    "type": "object",
    "properties": {
        "people": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "party": {"enum": ["left", "right"]}},
            },
        }
    },
}


def page(*people):
    return {"people": [{"name": name, "party": party} for name, party in people]}


ANNOTATORS = {
    "ada": [page(("Astor", "left"), ("Berg", "left")), page(("Cohen", "right"))],
    "bob": [page(("Astor", "left"), ("Berg", "right")), page(("Cohen", "right"))],
    "cy": [page(("Aster", "left"), ("Berg", "left"), ("Dahl", "left")), page(("Cohen", "right"))],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    write(tmp_path, ANNOTATORS)
    return tmp_path


def write(folder, annotators):
    for name, pages in annotators.items():
        lines = [json.dumps({"id": f"p{number}", **own}) + "\n" for number, own in enumerate(pages, 1)]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


def run(*arguments, names=("ada", "bob", "cy")):
    sources = [f"{name}={name}.jsonl" for name in names]
    return CliRunner().invoke(app, ["consensus", "--schema", "s.json", *arguments, *sources])


def test_the_written_gold_is_read_by_evaluate(folder):
    result = run("--out", "gold.jsonl")
    assert result.exit_code == 0
    assert "Wrote 2 documents to gold.jsonl, with their sidecar" in result.stderr
    first, second = map(json.loads, (folder / "gold.jsonl").read_text(encoding="utf-8").splitlines())
    assert first == {"id": "p1", **ANNOTATORS["ada"][0]}
    assert second == {"id": "p2", **ANNOTATORS["ada"][1]}
    evaluated = CliRunner().invoke(
        app, ["evaluate", "--schema", "s.json", "--gold", "gold.jsonl", "--predicted", "ada.jsonl", "--format", "json"]
    )
    assert evaluated.exit_code == 0, evaluated.stderr
    assert json.loads(evaluated.stdout)["micro"]["f1q"] == 1.0
    sidecar = json.loads((folder / "gold.jsonl.provenance.json").read_text(encoding="utf-8"))
    assert (sidecar["annotators"], sidecar["strategy"]) == (["ada", "bob", "cy"], "minimum-risk")
    assert sidecar["values"]["p1"]["/people/0/name"] == {"from": ["ada", "bob"], "by": "minimum-risk"}


def test_the_id_key_is_kept(folder):
    for name in ANNOTATORS:
        file = folder / f"{name}.jsonl"
        file.write_text(file.read_text(encoding="utf-8").replace('"id"', '"page"'), encoding="utf-8")
    assert run("--id-key", "page", "--out", "gold.jsonl").exit_code == 0
    assert (folder / "gold.jsonl").read_text(encoding="utf-8").startswith('{"page": "p1", ')


def test_an_existing_file_is_replaced_only_if_arbitre_wrote_it(folder):
    (folder / "gold.jsonl").write_text("old", encoding="utf-8")
    refused = run("--out", "gold.jsonl")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "gold.jsonl: The file exists, and arbitre did not write it" in refused.stderr
    forced = run("--out", "gold.jsonl", "--force")
    assert forced.exit_code == 0
    assert "Writing gold-2.jsonl instead." in forced.stderr
    assert (folder / "gold.jsonl").read_text(encoding="utf-8") == "old"
    assert run("--out", "gold-2.jsonl", "--strategy", "unanimity").exit_code == 0


@pytest.mark.usefixtures("folder")
def test_the_summary_counts_values_and_shows_disagreements():
    lines = [line.rstrip() for line in run().stdout.splitlines()]
    assert lines[0].startswith("Gold: minimum-risk consensus of 3 annotators (ada, bob, cy), alpha_d 0.")
    assert "2 documents, 8 values: 6 kept (4 unanimous, 2 by majority, 0 uncertain), 2 left out" in lines
    assert [line.split() for line in lines if line.lstrip().startswith("/")] == [
        ["/people/*", "4", "3", "0", "0", "1"],
        ["/name", "4", "2", "1", "0", "1"],
        ["/party", "4", "2", "1", "0", "1"],
    ]
    assert "3 disagreements, 0 flagged" in lines
    assert any('"Astor" (ada, bob); "Aster" (cy)' in line for line in lines)


def test_of_many_disagreements_the_heaviest_are_shown(folder):
    pages = {name: [page((name * 3, "left")) for _ in range(200)] for name in ANNOTATORS}
    write(folder, pages | {"bob": pages["ada"]})
    result = run().stdout
    assert "200 documents" in result
    assert result.count(" not unanimous ") == 10
    assert "190 more with lower weight" in result
    assert len(result.splitlines()) < 60


@pytest.mark.usefixtures("folder")
def test_json_has_the_documents_and_the_disagreements():
    plain = json.loads(run("--format", "json").stdout)
    assert plain["documents"]["p1"] == ANNOTATORS["ada"][0]
    assert {own["id"] for own in plain["disagreements"]} == {"p1#/people/0/name", "p1#/people/1/party", "p1#/people/2"}
    assert plain["by_path"]["/people/*"] == {"unanimous": 3, "majority": 0, "flagged": 0, "left_out": 1}


@pytest.mark.usefixtures("folder")
def test_a_weak_margin_flags_more():
    assert "0 flagged" in run().stdout
    assert "3 disagreements, 3 flagged" in run("--weak-margin", "0.5").stdout


@pytest.mark.usefixtures("folder")
def test_systems_are_scored_on_unanimous_and_contested_values():
    rows = [line.split() for line in run("--system", "own=bob.jsonl").stdout.splitlines() if line.startswith("own")]
    assert rows == [["own", "unanimous", "4", "1.0000", "1.0000"], ["own", "contested", "2", "0.5000", "0.5000"]]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strategy", "most"], "Invalid value for '--strategy'"),
        (["--weak-margin", "2"], "Invalid value for '--weak-margin'"),
        (["--out", "gold.json"], "Expected a .jsonl file or a folder"),
        (["--system", "bob.jsonl"], "Expected NAME=PATH"),
    ],
    ids=["strategy", "margin", "suffix", "system"],
)
def test_what_is_refused(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("command", ["consensus", "agree", "leave-one-out"])
def test_an_annotator_with_an_empty_file_is_refused(command, folder):
    (folder / "cy.jsonl").write_text("", encoding="utf-8")
    arguments = [f"{name}={name}.jsonl" for name in ANNOTATORS]
    result = CliRunner().invoke(app, [command, "--schema", "s.json", *arguments])
    assert result.exit_code == 2
    assert "Expected documents from each annotator, got none from 'cy'" in result.stderr


@pytest.mark.usefixtures("folder")
def test_dawid_skene_of_two_annotators_is_refused_with_the_option():
    result = run("--strategy", "dawid-skene", names=("ada", "bob"))
    assert result.exit_code == 2
    assert "--strategy dawid-skene requires at least 3 annotators, got 2." in result.stderr
