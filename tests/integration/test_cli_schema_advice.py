"""`arbitre schema infer` and `arbitre schema check`: the advice that they print and apply."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import arbitre
from arbitre.cli import app

ROWS = [{"id": f"d{day}", "sent": f"{day}/11/1918", "place": "" if day % 3 else "Lyon"} for day in range(10, 22)]
SETTINGS = {
    "/place": {"absent": [None, ""]},
    "/sent": {"normalize": [{"date": {"formats": ["%d/%m/%Y"]}}], "distance": "date"},
}
SCHEMA = {"type": "object", "properties": {"sent": {"type": "string"}, "place": {"type": "string"}}}
PLACE = (
    '"" (8 times in gold) probably stands for no value. Declare it as `absent`, so that it is equal to null and to a '
    "missing key."
)
SENT = (
    'All 12 texts are dates in DD/MM/YYYY, such as "10/11/1918", "11/11/1918" and "12/11/1918". '
    "Compare them as dates, in days."
)


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("gold.jsonl", "".join(f"{json.dumps(row)}\n" for row in ROWS))
    write("schema.json", json.dumps(SCHEMA))


def write(name, text):
    Path(name).write_text(text, encoding="utf-8")


def read(name):
    return json.loads(Path(name).read_text(encoding="utf-8"))


def run(*arguments, code=0, **given):
    result = CliRunner().invoke(app, ["schema", *arguments], **given)
    assert result.exit_code == code, result.output
    return result


def test_check_says_no_problems_only_without_advice():
    lines = run("check", "schema.json", "--gold", "gold.jsonl").stdout.splitlines()
    assert lines[0] == "schema.json: no errors; 2 pieces of advice; 3 paths, entries (whole document)"
    assert [line for line in lines if line.startswith("advice: ")] == [
        f"advice: /place: {PLACE}",
        f"advice: /sent: {SENT}",
    ]
    assert f"  {json.dumps({'/sent': SETTINGS['/sent']})}" in lines
    assert lines[-1] == "12 gold documents, 0 problems, 2 warnings, 2 pieces of advice"
    write("overlay.json", json.dumps(SETTINGS))
    lines = run("check", "schema.json", "--gold", "gold.jsonl", "--overlay", "overlay.json").stdout.splitlines()
    assert lines[0] == "schema.json: no problems; 3 paths, entries (whole document)"
    assert lines[-1] == "12 gold documents, 0 problems, 2 warnings"
    assert run("check", "schema.json").stdout.startswith("schema.json: no problems; ")


@pytest.mark.parametrize("overlay", [[], ["--overlay", "overlay.json"]])
def test_check_names_each_pattern_that_is_not_a_regular_expression(overlay):
    code = {"type": "string", "pattern": "ok)"}
    fields = {"a/b": {"items": {"type": "string", "pattern": "(["}}, "pattern": {"type": "string", "pattern": "^a"}}
    fields |= {"code": {"$ref": "#/$defs/code"}, "fixed": {"const": {"pattern": "(["}}}
    write("patterns.json", json.dumps({"type": "object", "properties": fields, "$defs": {"code": code}}))
    write("overlay.json", json.dumps({"/code": {"weight": 2}}))
    result = run("check", "patterns.json", *overlay)
    hint = "  Correct the pattern. When documents are validated, every text violates it."
    assert result.stderr.splitlines() == [
        'patterns.json: Expected a valid regular expression, got "ok)": unbalanced parenthesis at position 2 at /$defs/code/pattern',
        hint,
        'patterns.json: Expected a valid regular expression, got "([": unterminated character set at position 2 at /properties/a~1b/items/pattern',
        hint,
    ]
    assert result.stdout.startswith("patterns.json: no errors; ")


def test_advice_does_not_change_the_exit_code():
    write("bad.jsonl", '{"id": "x", "sent": 1}\n')
    run("check", "schema.json", "gold.jsonl", "--gold", "gold.jsonl")
    run("check", "schema.json", "bad.jsonl", "--gold", "gold.jsonl", code=1)
    run("check", "schema.json", "--gold", "gold.jsonl", "--gold", "bad.jsonl", code=2)


def test_apply_prints_or_writes_the_overlay_and_replaces_only_its_own_file():
    arguments = ("check", "schema.json", "--gold", "gold.jsonl", "--apply")
    result = run(*arguments)
    assert json.loads(result.stdout) == SETTINGS
    assert "no errors; 2 pieces of advice" in result.stderr
    assert result.stderr.endswith("Applied the settings of the advice.\n")
    for _ in range(2):
        assert "no errors; 2 pieces of advice" in run(*arguments, "--out", "new/overlay.json").stdout
        assert read("new/overlay.json") == SETTINGS
    write("mine.json", "{}")
    assert "arbitre did not write it" in run(*arguments, "--out", "mine.json", code=2).stderr
    run(*arguments, "--out", "mine.json", "--force")
    assert (read("mine.json"), read("mine-2.json")) == ({}, SETTINGS)
    run("infer", "gold.jsonl", "--out", "made.json")
    again = ("check", "made.json", "--gold", "gold.jsonl", "--apply", "--out", "made.json")
    assert "The output file is an input" in run(*again, code=2).stderr
    assert "--apply requires --gold" in run("check", "schema.json", "--apply", code=2).stderr


def test_json_contains_what_python_returns():
    write("predicted.jsonl", '{"id": "d1", "Sent": "x"}\n{"id": "d2", "Sent"\n{"id": "d3", "Sent": "x"}\n')
    arguments = ("check", "schema.json", "--gold", "gold.jsonl", "--predicted", "predicted.jsonl", "--format", "json")
    printed = json.loads(run(*arguments).stdout)
    check = arbitre.check_schema("schema.json", gold="gold.jsonl", predicted="predicted.jsonl")
    assert printed == {"schema": "schema.json"} | check.to_dict()
    assert printed["overlay"] == SETTINGS
    assert [one["kind"] for one in printed["advice"]] == ["absent-value", "date-format"]
    (reason,) = printed["unreadable"]
    assert reason.startswith("predicted.jsonl:2: ")
    assert f"not read: {reason}\n" in run(*arguments[:-2]).stdout


def test_predictions_that_are_texts_are_listed_and_left_out():
    check = arbitre.check_schema(SCHEMA, gold=ROWS, predicted=[("a", "none")] * 3)
    assert len(check.unreadable) == 3
    assert check.unreadable[0].startswith("a: Expected an object, but the prediction is a text")


def test_an_unused_field_is_reported_once():
    write("wide.json", json.dumps({**SCHEMA, "properties": SCHEMA["properties"] | {"note": {"type": "string"}}}))
    printed = run("check", "wide.json", "--gold", "gold.jsonl").stdout
    assert [line[:15] for line in printed.splitlines() if "/note" in line] == ["advice: /note: "]
    assert printed.endswith("12 gold documents, 0 problems, 2 warnings, 3 pieces of advice\n")
    checked = arbitre.check_schema("wide.json", gold="gold.jsonl").gold
    assert ("unused", "/note") in [(one.check, one.pointer) for one in checked.warnings]


def test_gold_can_come_from_standard_input():
    text = Path("gold.jsonl").read_text(encoding="utf-8")
    printed = run("check", "schema.json", "--gold", "-", "--apply", input=text).stdout
    assert json.loads(printed) == SETTINGS


def test_infer_prints_advice_beside_the_schema_and_applies_it():
    result = run("infer", "gold.jsonl")
    plain = json.loads(result.stdout)
    assert "x-arbitre" not in result.stdout
    assert result.stderr.count("advice: ") == 2
    assert result.stderr.endswith("--apply writes the settings of the advice into the schema.\n")
    run("infer", "gold.jsonl", "--apply", "--out", "made.json")
    made = read("made.json")
    assert made["properties"]["sent"] == plain["properties"]["sent"] | {"x-arbitre": SETTINGS["/sent"]}
    assert run("check", "made.json", "--gold", "gold.jsonl").stdout.startswith("made.json: no problems; ")
    assert run("infer", "gold.jsonl", "--quiet").stderr == ""


def test_documents_without_a_reason_get_no_advice():
    write("plain.json", '[{"sent": "today"}, {"sent": "yesterday"}]')
    assert run("infer", "plain.json").stderr == ""
