"""`arbitre schema check --certificate`: the verdict and its reasons, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import arbitre
from arbitre.cli import app

SCHEMA = {
    "type": "object",
    "properties": {
        "people": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {
                        "type": "string",
                        "x-arbitre": {"distance": "levenshtein", "normalize": ["strip", "casefold"]},
                    },
                    "id": {"type": "string"},
                },
            },
            "x-arbitre": {"match": {"keyed": {"key": "id"}}},
        }
    },
}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    Path("document.json").write_text('{"people": [{"name": 1}]}', encoding="utf-8")


def check(*options, code=0):
    result = CliRunner().invoke(app, ["schema", "check", "schema.json", *options])
    assert result.exit_code == code, result.output
    return result


def test_the_text_lists_breaks_with_examples_and_alternatives(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    lines = check("--certificate").stdout.splitlines()
    assert lines[0] == "schema.json: no problems; 5 paths, entries /people"
    assert lines[2] == "certificate of the distance 1 - quality between documents: not a metric"
    text = "\n".join(lines)
    broken = next(line for line in lines if "triangle" in line)
    assert broken.startswith("/people/*/name")
    assert 'levenshtein violates the triangle inequality, for example "ab", "aba", "ba"' in broken
    assert broken.rstrip().endswith("yujian-bo")
    assert "/people   every item has its key /id (an item without it has distance 1 to itself)" in text
    assert "(whole document)   nfc        texts that differ in how a letter and its marks are encoded" in text
    assert "                   absent     null and a missing value" in text
    assert "  /*/name          strip      texts that differ in white space at the ends" in text
    assert "                   casefold   texts that differ in case" in text  # the path is written once


def test_without_the_option_no_certificate_is_printed():
    assert check().stdout == "schema.json: no problems; 5 paths, entries /people\n"


def test_the_json_holds_the_certificate():
    data = json.loads(check("--certificate", "--format", "json").stdout)
    assert data == {
        "schema": "schema.json",
        "paths": 5,
        "entries": "/people",
        "certificate": arbitre.Comparator(SCHEMA).certificate.to_dict(),
        "documents": 0,
        "violations": [],
    }
    assert "certificate" not in json.loads(check("--format", "json").stdout)


def test_the_json_lists_the_schema_violations():
    data = json.loads(check("document.json", "--format", "json", code=1).stdout)
    assert data["documents"] == 1
    assert data["violations"] == [
        {
            "id": "document",
            "file": "document.json",
            "line": None,
            "pointer": "/people/0/name",
            "keyword": "type",
            "message": data["violations"][0]["message"],
        }
    ]
    assert "string" in data["violations"][0]["message"]


def test_the_json_is_the_result_in_python():
    for given, options, code in (([], {}, 1), (["--gold", "document.json"], {"gold": "document.json"}, 2)):
        printed = check("document.json", *given, "--format", "json", code=code).stdout
        assert json.loads(printed) == arbitre.check_schema("schema.json", "document.json", **options).to_dict()
    assert arbitre.check_schema(SCHEMA).to_dict()["schema"] is None


def test_a_metric_has_no_breaks():
    Path("schema.json").write_text('{"type": "array", "items": {"type": "string"}}', encoding="utf-8")
    text = check("--certificate").stdout
    assert "between documents: metric\n" in text
    assert "Where it is not a metric" not in text
    assert "Assumptions" not in text


def test_long_witnesses_are_omitted():
    costs = {"values": ["a" * 30, "b" * 30], "costs": [[0, 0], [0, 0]]}
    schema = {"enum": costs["values"], "x-arbitre": {"distance": {"table": costs}}}
    Path("schema.json").write_text(json.dumps(schema), encoding="utf-8")
    (broken,) = json.loads(check("--certificate", "--format", "json").stdout)["certificate"]["breaks"]
    assert len(broken["witness"]) == 2
    assert "show" not in check("--certificate").stdout


@pytest.mark.parametrize("width", [60, 80])
def test_no_line_exceeds_a_narrow_terminal(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    assert max(map(len, check("--certificate").stdout.splitlines()[2:])) <= width


def test_a_break_without_an_example_is_reported_as_such():
    schema = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"match": {"transport": {"solver": "dummy"}}}}
    Path("schema.json").write_text(json.dumps(schema), encoding="utf-8")
    assert json.loads(check("--certificate", "--format", "json").stdout)["certificate"]["breaks"][0]["witness"] is None
    assert "(no example found)" in " ".join(check("--certificate").stdout.split())
