"""The terminal output and JSON files of the commands on the demo corpus, compared with stored snapshots."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from arbitre import bundled
from arbitre.cli import app

SCHEMA = str(bundled.schemas() / "examples" / "speakers.schema.json")
PAGE = "page_03"


@pytest.fixture(autouse=True)
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for system in ("gold", "careful", "hasty"):
        text = (bundled.demo() / f"{system}.jsonl").read_text(encoding="utf-8")
        (tmp_path / f"{system}.jsonl").write_text(text, encoding="utf-8")
        record = next(one for one in map(json.loads, text.splitlines()) if one.pop("id") == PAGE)
        (tmp_path / f"{system}.json").write_text(json.dumps(record), encoding="utf-8")
        small = record | {"speakers": record["speakers"][:2]}
        (tmp_path / f"{system}-small.json").write_text(json.dumps(small), encoding="utf-8")
    return tmp_path


def run(*arguments, width=100):
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": str(width), "NO_COLOR": None})
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def shown(*arguments, width):
    """The output, in which no line but a command to copy is wider than the terminal."""
    text = run(*arguments, width=width)
    assert [line for line in text.splitlines() if len(line) > width and not line.startswith("  arbitre evaluate")] == []
    return text


def rounded(value):
    """Floats to twelve digits: the last ones may differ between processors."""
    if isinstance(value, float):
        return round(value, 12)
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return {key: rounded(item) for key, item in value.items()} if isinstance(value, dict) else value


def plain(text):
    return json.dumps(rounded(json.loads(text)), ensure_ascii=False, indent=1)


@pytest.mark.parametrize("width", [60, 100])
def test_demo_output_matches_the_golden_file(golden, width):
    golden(f"demo-{width}.txt", shown("demo", width=width))


@pytest.mark.parametrize("width", [60, 100])
def test_compare_output_matches_the_golden_file(golden, width):
    options = ("--schema", SCHEMA, "--validate", "--published")
    golden(f"compare-{width}.txt", shown("compare", "gold.json", "hasty.json", *options, width=width))


@pytest.mark.parametrize("width", [60, 100])
def test_evaluate_output_matches_the_golden_file(golden, width):
    options = ("--schema", SCHEMA, "--validate")
    text = shown("evaluate", "--gold", "gold.jsonl", "--predicted", "hasty.jsonl", *options, width=width)
    golden(f"evaluate-{width}.txt", text)


@pytest.mark.parametrize("width", [60, 100])
def test_explain_output_matches_the_golden_file(golden, width):
    golden(f"explain-{width}.txt", shown("schema", "explain", SCHEMA, width=width))


def test_the_json_of_a_comparison_matches_the_golden_file(golden):
    text = run("compare", "gold-small.json", "hasty-small.json", "--schema", SCHEMA, "--format", "json")
    golden("comparison.json", plain(text))


def test_the_json_of_an_evaluation_matches_the_golden_file(golden):
    sources = ("--gold", "gold.jsonl", "--predicted", "hasty.jsonl")
    golden("evaluation.json", plain(run("evaluate", *sources, "--schema", SCHEMA, "--format", "json")))
