"""A corpus with one bad line in twenty, of ten kinds, is evaluated, and each bad line is reported as one failure."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arbitre.cli import app
from arbitre.inputs.join import join
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.reader import Reader

SIZE = 400
DEPTH = 200

KINDS = {
    "truncated": (lambda name: b'{"id": "%s", "run": "r", "people": [{"name": "A' % name, "truncated text", None, True),
    "not UTF-8": (lambda name: b'{"id": "%s", "run": "r", "x": "\xff\xfe"}' % name, "Expected UTF-8", None, True),
    "NaN": (lambda name: b'{"id": "%s", "run": "r", "x": [1, NaN]}' % name, "got NaN", "/x/1", True),
    "duplicate keys": (lambda name: b'{"id": "%s", "run": "r", "x": {"a": 1, "a": 2}}' % name, "2 times", "/x", True),
    "wrong root type": (lambda name: b'["%s", {"people": []}]' % name, "got array", "", False),
    "deep": (
        lambda name: b'{"id": "%s", "run": "r", "x": %s}' % (name, b"[" * 300 + b"]" * 300),
        "200 nested",
        None,
        True,
    ),
    "empty": (lambda _: b"{}", "got the keys none", "", False),
    "HTML": (lambda _: b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>", "Expecting value", None, False),
    "number as id": (
        lambda _: b'{"id": 12.5, "run": "r", "people": []}',
        "text or an integer, got number",
        "/id",
        False,
    ),
    "duplicate id": (
        lambda _: b'{"id": "page_0001", "run": "r", "people": []}',
        "duplicate id and run: ignored, the first prediction with both is compared",
        None,
        "page_0001",
    ),
}
"""The line, what is said of it, where; and whether it still shows its id."""


def name_of(at):
    return f"page_{at:04d}"


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """Gold and predictions; of these every twentieth line is bad, kind after kind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    good = [{"id": name_of(at), "people": [{"name": f"Name {at}"}]} for at in range(SIZE)]
    Path("gold.jsonl").write_text("\n".join(map(json.dumps, good)))
    predicted, bad = [], {}
    for at, document in enumerate(good):
        predicted.append(json.dumps(document | {"run": "r"}).encode())
        if at % 20 == 19:
            kind = list(KINDS)[at // 20 % len(KINDS)]
            predicted[at] = KINDS[kind][0](document["id"].encode())
            bad[at + 1] = kind
    Path("predicted.jsonl").write_bytes(b"\n".join(predicted))
    schema = {
        "type": "object",
        "properties": {"people": {"type": "array", "items": {"properties": {"name": {"type": "string"}}}}},
    }
    Path("schema.json").write_text(json.dumps(schema))
    return bad


def run(*options):
    sides = ("--gold", "gold.jsonl", "--predicted", "predicted.jsonl", "--schema", "schema.json")
    return CliRunner().invoke(app, ["evaluate", *sides, "--max-depth", str(DEPTH), *options])


def test_every_bad_line_is_one_failure(corpus):
    reading = ReadOptions(max_depth=DEPTH)
    joined = join(
        Reader.of("gold", reading).records("gold.jsonl"), Reader.of("predicted", reading).records("predicted.jsonl")
    )
    assert (len(corpus), set(corpus.values())) == (20, set(KINDS))
    by_line = {one.line: one for one in joined.failures if one.line is not None}
    assert len(by_line) == sum(one.line is not None for one in joined.failures)
    assert by_line.keys() == corpus.keys()
    for line, kind in corpus.items():
        _, words, pointer, shown = KINDS[kind]
        failure = by_line[line]
        assert words in failure.reason, kind
        assert (failure.side, failure.file, failure.pointer) == ("predicted", "predicted.jsonl", pointer)
        assert failure.id == (name_of(line - 1) if shown is True else shown or None), kind
        assert failure.run == ("r" if shown else None), kind
    assert [pair.id for pair in joined] == [name_of(at) for at in range(SIZE)]
    assert sum(pair.failure is None for pair in joined) == SIZE - len(corpus)


def test_a_line_without_readable_id_leaves_its_document_without_prediction(corpus):
    reading = ReadOptions(max_depth=DEPTH)
    joined = join(
        Reader.of("gold", reading).records("gold.jsonl"), Reader.of("predicted", reading).records("predicted.jsonl")
    )
    lost = [name_of(line - 1) for line, kind in corpus.items() if KINDS[kind][3] is not True]
    assert [one.id for one in joined.failures if one.reason == "no prediction"] == lost


def test_a_bad_corpus_is_evaluated_with_exit_code_0(corpus):
    result = run("--out", "out", "--format", "json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["documents"], data["failed"]) == (SIZE, len(corpus))
    assert len([one for one in data["failures"] if one["line"]]) == len(corpus)
    rows = Path("out", "failures.csv").read_text().splitlines()
    assert len(rows) == 1 + len(data["failures"])
    assert "Failures (" in run().stdout


def test_strict_stops_with_exit_code_2_and_the_first_failure(corpus):
    result = run("--strict")
    assert result.exit_code == 2
    first = min(line for line, kind in corpus.items() if KINDS[kind][3] is not True)
    assert f"predicted.jsonl:{first}: predicted document ? failed: " in result.stderr
    assert result.stdout == ""


def test_unreadable_gold_is_listed_and_not_scored(corpus):
    bad = Path("predicted.jsonl").read_bytes()
    Path("predicted.jsonl").write_bytes(Path("gold.jsonl").read_bytes())
    Path("gold.jsonl").write_bytes(bad)
    reading = ReadOptions(max_depth=DEPTH)
    joined = join(
        Reader.of("gold", reading).records("gold.jsonl"), Reader.of("predicted", reading).records("predicted.jsonl")
    )
    assert len(joined) == SIZE - len(corpus)
    assert [(one.side, one.line) for one in joined.failures] == [("gold", line) for line in corpus]
    assert joined.without_gold == tuple(name_of(line - 1) for line in corpus)
