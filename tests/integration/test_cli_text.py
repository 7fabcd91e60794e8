"""The command `arbitre text` on texts, files and log-probabilities."""

import json
import math
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from arbitre import bundled
from arbitre.cli import app

for library in ("rouge_score", "nltk", "sacrebleu"):
    pytest.importorskip(library)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["text", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.output


def test_texts_are_read_from_files_on_request():
    Path("candidate.txt").write_text("the cat\nsat", "utf-8")
    Path("reference.txt").write_text("the cat\nsat", "utf-8")
    plain = json.loads(
        run("rouge", "candidate.txt", "reference.txt", "--files", "--kind", "rougeLsum", "--format", "json")
    )
    assert plain == {"kind": "rougeLsum", "precision": 1, "recall": 1, "f1": 1, "reference": 0}
    assert "rouge1 against reference 2 of 2" in run("rouge", "candidate.txt", "other", "candidate.txt")
    assert "Cannot read the text: No such file" in run("bleu", "candidate.txt", "missing.txt", "--files", code=2)
    Path("latin.txt").write_bytes("été".encode("latin-1"))
    assert "Cannot read the text: not UTF-8" in run("bleu", "candidate.txt", "latin.txt", "--files", code=2)


def test_a_byte_order_mark_is_not_part_of_a_text():
    Path("candidate.txt").write_bytes(b"\xef\xbb\xbfthe cat\r\nsat")
    Path("reference.txt").write_bytes(b"the cat\nsat")
    for tokenize in ("13a", "none"):
        scores = run("bleu", "candidate.txt", "reference.txt", "--files", "--weights", 1, "--tokenize", tokenize)
        assert scores.split()[-3:] == ["1.0000", "1.0000", "1.0000"]


def test_invalid_options_are_refused():
    assert "Expected `kind` to be a kind" not in run("rouge", "a", "b", "--kind", "rouge2")
    assert "to be a kind of ROUGE" in run("rouge", "a", "b", "--kind", "rouge-2", code=2)
    assert "Expected numbers separated by commas" in run("bleu", "a", "b", "--weights", "0.5;0.5", code=2)
    assert "have the sum 1, got the sum 0.5" in " ".join(run("bleu", "a", "b", "--weights", "0.5", code=2).split())
    assert "--stride requires --window" in run("perplexity", "a.json", "--stride", 2, code=2)


def test_perplexity_of_files_is_weighted_by_tokens():
    Path("a.json").write_text("[-1]", "utf-8")
    Path("b.json").write_text('{"content": [{"token": "x", "logprob": -2}, {"token": "y", "logprob": -3}]}', "utf-8")
    plain = json.loads(run("perplexity", "a.json", "b.json", "--window", 1, "--format", "json"))
    assert plain["perplexity"] == pytest.approx(math.exp(2))
    assert [row["document"] for row in plain["documents"]] == ["a.json", "b.json"]
    assert [part["perplexity"] for part in plain["documents"][1]["windows"]] == [math.exp(2), math.exp(3)]
    Path("c.json").write_text("[-1, 2]", "utf-8")
    assert "c.json: Expected a log-probability" in run("perplexity", "c.json", code=2)


def test_perplexity_is_read_from_records():
    Path("r.jsonl").write_text('{"id": "a", "lp": [-1]}\n{"id": "b", "lp": [-1000000]}\n', "utf-8")
    plain = json.loads(run("perplexity", "r.jsonl", "--logprobs", "/lp", "--format", "json"))
    assert [(row["document"], row["tokens"]) for row in plain["documents"]] == [("a", 1), ("b", 1)]
    assert (plain["documents"][0]["perplexity"], plain["documents"][1]["perplexity"]) == (math.exp(1), None)
    assert "infinite" in run("perplexity", "r.jsonl", "--logprobs", "/lp")
    assert "r.jsonl:1: Expected log-probabilities, got none at /x" in run(
        "perplexity", "r.jsonl", "--logprobs", "/x", code=2
    )
    assert "With --logprobs, pass the JSON Pointer of the log-probabilities in each record" in run(
        "perplexity", "r.jsonl", code=2
    )


DOCUMENTS = {
    "gold.jsonl": '{"id": "1", "summary": "the cat sat", "parts": [2, 5]}\n{"id": "2", "summary": "", "parts": [1]}\n',
    "predicted.jsonl": '{"id": "1", "summary": "the cat", "parts": [3, 5]}\n{"id": "2", "parts": [1]}\n',
    "lp.json": "[-1, -2, -1000000]",
    "schema.json": json.dumps(
        {
            "type": "object",
            "properties": {
                "summary": {"type": "string"},
                "parts": {"type": "array", "items": {"type": "integer"}, "x-arbitre": {"distance": "window-diff"}},
            },
        }
    ),
}


@pytest.mark.parametrize(
    ("definition", "arguments"),
    [
        ("rouge", ["rouge", "the cat sat", "a cat", "the cat"]),
        ("bleu", ["bleu", "the cat sat", "the cat sat down"]),
        ("perplexity", ["perplexity", "lp.json", "--window", "1"]),
        ("corpus", ["corpus", "gold.jsonl", "predicted.jsonl", "--schema", "schema.json", "--path", "/summary"]),
        (
            "segmentation",
            [
                "corpus",
                "gold.jsonl",
                "predicted.jsonl",
                "--schema",
                "schema.json",
                "--path",
                "/parts",
                "--segmentation",
            ],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_json_output_is_valid_against_the_bundled_schema(definition, arguments):
    for name, text in DOCUMENTS.items():
        Path(name).write_text(text, "utf-8")
    printed = json.loads(run(*arguments, "--format", "json"))
    schema = bundled.schema("text.schema.json")
    jsonschema.validate(printed, schema)
    jsonschema.validate(printed, {"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]})
