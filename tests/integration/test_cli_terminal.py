"""The tables in the terminal at each width, for few and for many documents."""

from __future__ import annotations

import json
import re

import pytest
from tests.browser import corpora
from typer.testing import CliRunner

from arbitre.cli import app
from arbitre.tables.terminal import wrapped

LEVELS = ("google/gemini-2.5-pro-preview-06-05", "mistralai/mistral-small-3.2-24b-instruct")


def run(*arguments, width=80):
    env = {"COLUMNS": str(width), "NO_COLOR": "1"}
    result = CliRunner().invoke(app, [*map(str, arguments), "--workers", "1"], env=env)
    assert result.exit_code == 0, result.output
    return result


def evaluate(folder, *options, width=80):
    sources = (
        "--schema",
        folder / "schema.json",
        "--gold",
        folder / "gold.jsonl",
        "--predicted",
        folder / "hasty.jsonl",
    )
    return run("evaluate", *sources, *options, width=width)


@pytest.fixture
def corpus(tmp_path, request):
    corpora.write(tmp_path, getattr(request, "param", 10))
    return tmp_path


@pytest.mark.parametrize("corpus", [10, pytest.param(2000, marks=pytest.mark.slow)], indirect=True)
def test_evaluate_names_the_worst_documents_and_the_report(corpus):
    made = evaluate(corpus, "--out", corpus / "out", "--keep", "5")
    (line,) = re.findall(r"^worst documents: (.*)$", made.stdout, re.MULTILINE)
    named = [one.split(" ") for one in line.split(", ")]
    rows = json.loads((corpus / "out" / "alignments.json").read_text(encoding="utf-8"))["documents"]
    ranked = sorted((one for one in rows if not one["failed"]), key=lambda one: one["quality"])[:3]
    assert named == [[one["key"], f"{one['quality']:.4f}"] for one in ranked]
    path = (corpus / "out" / "report.html").as_posix()
    assert made.stderr.splitlines()[-1] == f"Open the report in a browser: {path}"
    assert "browser" not in evaluate(corpus, "--out", corpus / "bare", "--no-report").stderr


def test_no_document_is_named_worst_if_all_are_right_or_there_is_one(tmp_path):
    schema = {"type": "array", "items": {"type": "string"}}
    (tmp_path / "s.json").write_text(json.dumps(schema), encoding="utf-8")
    for predicted, count in ((["a"], 2), ([], 1)):
        pairs = [{"id": f"d{at}", "gold": ["a"], "predicted": predicted} for at in range(count)]
        corpora.lines(tmp_path / "p.jsonl", pairs)
        assert "worst" not in run("evaluate", "--schema", tmp_path / "s.json", "--pairs", tmp_path / "p.jsonl").stdout


def blocks(text):
    """The tables of an output: the rows under each rule."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if re.fullmatch("─+", line):
            rest = lines[at + 1 :]
            yield rest[: rest.index("")] if "" in rest else rest


def test_one_document_is_singular_and_no_table_is_only_dashes(tmp_path):
    corpora.write(tmp_path, 1)
    for command in (
        ("evaluate", "--predicted", tmp_path / "hasty.jsonl"),
        ("rank", f"careful={tmp_path / 'careful.jsonl'}", f"hasty={tmp_path / 'hasty.jsonl'}"),
    ):
        sources = ("--schema", tmp_path / "schema.json", "--gold", tmp_path / "gold.jsonl")
        made = run(*command, *sources, "--out", tmp_path / "out" / command[0])
        page = (tmp_path / "out" / command[0] / "report.html").read_text(encoding="utf-8")
        shown = re.sub("<(script|style)[^>]*>.*?</\\1>", "", page, flags=re.DOTALL)
        for text in (made.output, re.sub("<[^>]+>", "", shown)):
            assert not re.findall(r"\b1 (?:documents|systems|entries|pairs|predictions|comparisons)\b", text)
        assert "1 document" in made.stdout
        tables = list(blocks(made.stdout))
        assert len(tables) >= 3
        assert all(re.search(r"\d\.\d{4}", row) for table in tables for row in table[:1])
    assert "A single document: the uncertainty of the score cannot be estimated." in made.stdout.replace("\n", " ")


def test_without_entries_there_is_a_sentence_instead_of_scores(tmp_path):
    (tmp_path / "s.json").write_text('{"type": "array", "items": {"type": "object"}}', encoding="utf-8")
    corpora.lines(tmp_path / "p.jsonl", [{"id": "d", "gold": [], "predicted": []}])
    said = run("evaluate", "--schema", tmp_path / "s.json", "--pairs", tmp_path / "p.jsonl").stdout
    assert "survival" not in said.lower()
    assert not [table for table in blocks(said) if table and all(re.search("–.*–", row) for row in table)]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_columns_that_are_left_out_are_named(corpus, width):
    said = " ".join(evaluate(corpus, width=width).stdout.split())
    named = re.findall(r"Left out at this width: ([\w, ]+)\. Use", said)
    narrow = ["matched, amq", "exact, close, wrong", "what to do"] if width == 60 else []
    assert named == ["meaning"] * (width < 100) + narrow
    heads = re.search(r"By path: Pooled \(micro\) (.*?) ─", said)[1].split()
    shown = [
        name
        for name in ["path", "gold", "predicted", "matched", "imq", "irq", "f1q", "amq"]
        if name not in "".join(narrow)
    ]
    assert heads == shown


def test_names_of_factors_are_broken_between_words(corpus):
    people = [json.loads(line) for line in (corpus / "gold.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = ["id,run,gold,predicted,language_model_and_version"]
    for at, one in enumerate(people):
        (corpus / f"{at}.json").write_text(json.dumps(one), encoding="utf-8")
        rows += [f"{one['id']},{number},{at}.json,{at}.json,{name}" for number, name in enumerate(LEVELS)]
    (corpus / "m.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    options = (
        "--manifest",
        corpus / "m.csv",
        "--factor",
        "language_model_and_version",
        "--schema",
        corpus / "schema.json",
    )
    for width in (60, 80):
        said = run("rank", *options, width=width).stdout
        assert max(map(len, said.splitlines())) <= width
        words = {
            "language_",
            "model_",
            "and_",
            "version",
            "gemini-",
            "2.5-",
            "pro-",
            "preview-",
            "mistral-",
            "instruct",
        }
        parts = [part for line in said.splitlines() for part in line.split()]
        assert all(any(word in part for part in parts) for word in words)
        assert re.search(r"Left out at this width: [^.]*\bp\b", said)


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        ("mistral-small-3.2-24b", 9, ["mistral-", "small-", "3.2-24b"]),
        ("two words", 5, ["two", "words"]),
        ("indivisible", 4, ["indi", "visi", "ble"]),
        ("", 4, [""]),
    ],
)
def test_only_a_word_without_room_is_broken(text, room, lines):
    assert wrapped(text, room).split("\n") == lines


@pytest.mark.parametrize("command", ["perturb", "schema suggest-gate"])
def test_a_paragraph_of_the_help_fills_the_width(command):
    shown = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"}).stdout
    paragraph = [line.strip() for line in shown.splitlines() if line.startswith((" Writes", " Prints"))]
    assert len(paragraph) == 1
    assert paragraph[0].endswith(".")
