"""`arbitre entities`: formats of files, options, JSON, and errors with line numbers."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

import arbitre
from arbitre import DataError
from arbitre.cli import app
from arbitre.entities import evaluate, read

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "entities.schema.json").read_text(encoding="utf-8"))
GOLD = "John\tB-person\nSmith\tI-person\nof\tO\nFrederick\tB-city\n\nForrest\tB-person\n"
PREDICTED = "John\tB-person\nSmith\tI-person\nof\tO\nFrederick\tB-person\n\nForrest\tB-city\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "90")
    monkeypatch.setenv("NO_COLOR", "1")


def file(name, text):
    Path(name).write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return name


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["entities", *arguments])
    assert result.exit_code == code, result.output
    return result


def plain(*arguments):
    return json.loads(run(*arguments, "--format", "json").stdout)


def spans(*values):
    return [{"start": start, "end": end, "label": label} for start, end, label in values]


def test_the_command_prints_what_the_function_returns():
    printed = plain(file("gold.conll", GOLD), file("predicted.conll", PREDICTED))
    jsonschema.validate(printed, SCHEMA)
    assert printed == evaluate(read("gold.conll"), read("predicted.conll")).summary()
    assert printed["per_class"]["person"]["tp"] == 1
    assert printed["micro"]["f1"] == pytest.approx(1 / 3)
    assert printed["confusion"]["labels"] == ["city", "person", None]
    assert printed["confusion"]["rows"].startswith("gold")
    assert printed["token_accuracy"] == {"accuracy": 0.6, "always_o": 0.2, "tokens": 5}


@pytest.mark.parametrize("scheme", ["strict", "exact", "partial", "type"])
def test_every_scheme_has_valid_json(scheme):
    printed = plain(file("gold.conll", GOLD), file("predicted.conll", PREDICTED), "--scheme", scheme)
    jsonschema.validate(printed, SCHEMA)
    assert printed["scheme"] == scheme


def test_all_formats_give_the_same_scores():
    tags = [["B-a", "I-a", "O"], ["O", "B-b"]]
    entities = [spans((0, 2, "a")), spans((1, 2, "b"))]
    tokens = [["x", "y", "z"], ["u", "v"]]
    files = [
        file("tags.json", tags),
        file("spans.json", entities),
        file("records.json", [{"tokens": words, "tags": marks} for words, marks in zip(tokens, tags, strict=True)]),
        file("tags.jsonl", "\n".join(map(json.dumps, tags))),
        file(
            "spans.jsonl",
            "\n\n".join(json.dumps({"id": str(n), "spans": sentence}) for n, sentence in enumerate(entities)),
        ),
        file(
            "entities.jsonl",
            "\n".join(
                json.dumps({"tokens": words, "entities": named}) for words, named in zip(tokens, entities, strict=True)
            ),
        ),
        file("spaces.conll", "x NN B-a\ny NN I-a\nz NN O\n\n# id 2\nu NN O\nv NN B-b\n"),
        file("iob1.txt", "-DOCSTART- O\n\nx I-a\ny I-a\nz O\n\n\nu O\r\nv I-b\r\n"),
        file("bioes.tsv", "x\tB-a\ny\tE-a\nz\tO\n\nu\tO\nv\tS-b\n"),
    ]
    for name in files:
        assert [list(map(dict, sentence)) for sentence in read(name).spans] == entities, name
        assert plain(name, name)["model"]["f1"] == 1.0
    assert plain("tags.json", "spans.jsonl")["model"]["f1"] == 1.0


def test_gold_and_predictions_may_be_columns_of_one_file():
    name = file("both.conll", "x B-a B-a\ny O B-b\n")
    assert plain(name, name, "--gold-column", "1")["model"]["f1"] == pytest.approx(2 / 3)


def test_the_text_shows_level_and_average():
    gold, predicted = file("gold.conll", GOLD), file("predicted.conll", PREDICTED)
    text = run(gold, predicted, "--level", "model", "--average", "macro").stdout
    assert "By label" not in text
    assert "macro" in text
    text = run(gold, predicted, "--average", "weighted").stdout
    assert "weighted average" in text
    assert "macro average" not in text
    assert "Confusion matrix: rows are gold, columns are predicted" in text
    assert "exact match: 0.0000 of all sentences (0 of 2; with gold entities: 0 of 2)" in text
    assert "token accuracy: 0.6000 (O for every token: 0.2000)" in text


def test_narrow_terminals_break_no_heading(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = run(file("gold.conll", GOLD), file("predicted.conll", PREDICTED)).stdout
    assert {"incorrect", "precision"} <= set(text.split())


def test_irregular_predicted_tags_are_noted():
    result = run(file("gold.conll", "x B-a\n"), file("predicted.conll", "x I-a\n"))
    assert "Predicted tags that do not follow BIO, read as conlleval does: 1" in result.stderr


def test_a_score_below_its_bound_fails():
    arguments = file("gold.conll", GOLD), file("predicted.conll", PREDICTED), "--fail-under", "f1q=0.9"
    assert "micro f1q is 0.3333" in run(*arguments, code=1).stderr


def test_results_are_written_to_a_folder():
    run(file("gold.conll", GOLD), file("predicted.conll", PREDICTED), "--out", "results")
    assert arbitre.load("results").micro.f1q == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.conll", "x B-a\ny X-a\n", "a.conll:2: Expected O, B-LABEL, I-LABEL, E-LABEL or S-LABEL, got 'X-a'"),
        ("a.conll", "x B-a\n\ny O\nz I-a\n", "a.conll:4: Expected BIO tags, got 'I-a'"),
        ("a.conll", "", "a.conll: Expected sentences, got an empty file"),
        ("a.json", [["B-a"], ["x"]], "a.json: Expected O, B-LABEL, I-LABEL, E-LABEL or S-LABEL, got 'x' at /1/0"),
        ("a.json", {}, "a.json: Expected a list of sentences at the root"),
        ("a.json", [["O"], spans((0, 1, "a"))], "a.json: Expected tags for every sentence or spans for every sentence"),
        ("a.json", [["O", {}]], "Expected tags or spans, got both at /0/1"),
        ("a.jsonl", '["O"]\n\n[]\n', "a.jsonl:3: Expected tags, got a sentence without tokens"),
        ("a.json", [{"tags": ["O"]}, {"tags": []}], "a.json: Expected tags, got a sentence without tokens at /1"),
        ("a.json", [{"tags": []}], "a.json: Expected tags, got a sentence without tokens at /0"),
        ("a.json", [{"tokens": [1], "spans": []}], "a.json: Expected `tokens` to be a list of texts at /0/tokens"),
        ("a.json", [{"tokens": "x", "spans": []}], "a.json: Expected `tokens` to be a list of texts at /0/tokens"),
        ("a.jsonl", '{"tokens": [], "spans": []}\n', "a.jsonl:1: Expected tokens, got a sentence without tokens"),
        ("a.jsonl", '{"tokens": ["x"], "tags": ["O", "O"]}\n', "a.jsonl:1: Expected a tag for each of 1 tokens, got 2"),
        ("a.jsonl", '{"x": 1}\n', "a.jsonl:1: Expected `tags` or `spans`, got the keys x"),
        ("a.jsonl", '["O"]\n["O"\n', "a.jsonl:2: "),
        (
            "a.jsonl",
            '[]\n{"text": "Ada", "spans": [{"start": 0, "end": 4, "label": "a"}]}\n',
            "a.jsonl:2: Expected a span within 3 characters, got one that ends at 4 at /0",
        ),
    ],
    ids=[
        *(
            "prefix",
            "sequence",
            "empty file",
            "tag in JSON",
            "no list",
            "tags and spans",
            "mixed",
            "no tags",
            "no tags in an object",
            "no tags in the only object",
            "tokens that are no texts",
            "no list of tokens",
            "no tokens",
        ),
        *("number of tags", "keys", "no JSON", "past the end"),
    ],
)
def test_errors_name_the_line(name, text, message):
    with pytest.raises(DataError) as caught:
        read(file(name, text))
    assert message in str(caught.value)


@pytest.mark.parametrize("gold", ["a\tB-X\nb\tI-X\nc\tB-X\n", "a\tI-X\nb\tI-X\nc\tB-X\n"], ids=["bio", "iob1"])
def test_predictions_in_bioes_need_options_if_gold_is_in_another_notation(gold):
    files = file("g.conll", gold), file("p.conll", "a\tB-X\nb\tE-X\nc\tS-X\n")
    result = run(*files, code=2)
    assert "p.conll:2: Expected O, B-LABEL or I-LABEL, got 'E-X'" in result.stderr
    assert "choose the notation `bioes` with `lenient_tags`" in " ".join(result.stderr.split())
    printed = plain(*files, "--tags", "bioes", "--lenient-tags")
    assert (printed["model"]["correct"], printed["model"]["f1"], printed["irregular_tags"]) == (2, 1, 0)
    assert evaluate(*map(read, files)).f1 == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("conll", "caf\u00e9\tB-\u00e9tat\n\U0001f600\tO\n"),
        ("json", [{"tokens": ["caf\u00e9", "x"], "tags": ["B-\u00e9tat", "O"]}]),
        ("json", [{"tokens": ["caf\u00e9", "x"], "spans": [{"start": 0, "end": 1, "label": "\u00e9tat"}]}]),
    ],
)
def test_labels_and_tokens_are_compared_in_nfc(name, content):
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    gold, predicted = file(f"g.{name}", text), file(f"p.{name}", text.replace("\u00e9", "e\u0301"))
    evaluation = evaluate(read(gold), read(predicted))
    assert (evaluation.f1, list(evaluation.per_class)) == (1.0, ["\u00e9tat"])


def test_nfc_does_not_shift_the_positions_in_a_text():
    spans = [{"start": 0, "end": 5, "label": "e\u0301tat"}]
    path = file("g.json", json.dumps([{"text": "cafe\u0301", "spans": spans}], ensure_ascii=False))
    assert read(path).spans == [[{"start": 0, "end": 5, "label": "\u00e9tat"}]]


def test_overlaps_are_refused_on_request_with_their_line():
    name = file("a.jsonl", "[]\n" + json.dumps(spans((0, 3, "a"), (2, 4, "b"))))
    assert len(read(name).spans[1]) == 2
    assert "a.jsonl:2: Expected spans that do not overlap" in run(name, name, "--flat", code=2).stderr


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        ("x O\n", "b.conll:1: Expected 2 sentences, as in gold, got 1"),
        ("x O\n\ny O\n\nz O\n", "b.conll:5: Expected 2 sentences, as in gold, got 3"),
        ("x O\n\ny O\ny O\n", "b.conll:3: Expected 1 tokens, as in sentence 2 of gold, at line 3, got 2"),
        ("x O\n\nz O\n", "b.conll:3: Expected the token 'y', as in gold, got 'z'"),
    ],
    ids=["fewer sentences", "more sentences", "more tokens", "other token"],
)
def test_files_that_do_not_correspond_are_refused(predicted, message):
    gold = file("a.conll", "x B-a\n\ny O\n")
    assert message in " ".join(run(gold, file("b.conll", predicted), code=2).stderr.split())


def test_sentences_with_ids_are_paired_by_id():
    rows = [{"id": 1, "tags": ["B-a", "O"]}, {"id": 2, "tags": ["O", "O", "B-b"]}, {"id": 3, "tags": ["B-c"]}]
    gold, other = (
        file(name, "\n".join(map(json.dumps, each)))
        for name, each in (("a.jsonl", rows), ("b.jsonl", [rows[2], rows[0], rows[1] | {"tags": ["O", "O", "B-c"]}]))
    )
    evaluation = evaluate(read(gold), read(other))
    assert (evaluation.counts.correct, evaluation.counts.incorrect, evaluation.token_accuracy.correct) == (2, 1, 5)
    assert plain(gold, other)["model"]["f1"] == evaluation.f1


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("yzx", "b.jsonl:2: Expected a sentence with the id 'w', as in gold at line 1, got 'z'"),
        ("wyzx", "b.jsonl:3: Expected only sentences that are in gold, got 'z'"),
        ("yx", "b.jsonl: Expected a sentence with the id 'w', as in gold at line 1, got none"),
        ("ywxy", "b.jsonl:4: Expected 3 sentences, as in gold, got 4"),
    ],
    ids=["other", "extra", "missing", "twice"],
)
def test_missing_and_extra_ids_are_named(ids, message):
    paths = [
        file(name, "\n".join(json.dumps({"id": each, "spans": []}) for each in letters))
        for name, letters in (("a.jsonl", "wxy"), ("b.jsonl", ids))
    ]
    assert message in " ".join(run(*paths, code=2).stderr.split())


def test_predicted_spans_end_within_the_tokens_of_gold():
    gold = file("a.conll", "x O\n\nx B-a\ny O\n")
    other = file("b.jsonl", "[]\n" + json.dumps(spans((0, 3, "a"))))
    assert "b.jsonl:2: Expected a span within 2 tokens, got one that ends at 3" in run(gold, other, code=2).stderr


TEXT = '{"text": "Ada met Bob", "spans": [{"start": 8, "end": 11, "label": "P"}]}'
WORDS = '{"tokens": ["Ada", "met", "Bob"], "spans": [{"start": 2, "end": 3, "label": "P"}]}'
TAGGED = "Ada\tO\nmet\tO\nBob\tB-P\n"


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (
            TEXT,
            WORDS,
            "b.jsonl:1: Expected positions in characters, as in sentence 1 of gold, at line 1, got tokens",
        ),
        (
            TAGGED,
            TEXT,
            "b.jsonl:1: Expected positions in tokens, as in sentence 1 of gold, at line 1, got characters",
        ),
        (
            TEXT,
            TEXT.replace("met ", "met  "),
            "b.jsonl:1: Expected 'Bob' at character 8, as in sentence 1 of gold, at ",
        ),
        (
            TEXT,
            TEXT.replace("Ada", "A\u0301da"),
            "b.jsonl:1: Expected 'da met Bob' at character 1, as in sentence 1 of",
        ),
        (TEXT, TEXT.replace("Bob", "Bob!"), "at character 11, as in sentence 1 of gold, at line 1, got '!'"),
        (TEXT, TEXT.replace("met ", "met\\n").replace('Bob"', 'Bob\\n"'), ""),
        (TEXT.replace("Bob", "\u00c5ke"), TEXT.replace("Bob", "\u212bke"), ""),
        (TAGGED, WORDS, ""),
        (TEXT, '[{"start": 8, "end": 11, "label": "P"}]', ""),
    ],
    ids=["tokens", "tags", "space", "accent", "end", "line break", "NFC", "tags and tokens", "unknown"],
)
def test_positions_of_different_units_and_texts_are_refused(gold, predicted, message):
    paths = file("a.conll" if gold == TAGGED else "a.jsonl", gold), file("b.jsonl", predicted)
    if not message:
        assert evaluate(*map(read, paths)).f1 == 1.0
        return
    with pytest.raises(DataError) as caught:
        evaluate(*map(read, paths))
    assert message in str(caught.value)


def test_the_written_files_are_named():
    arguments = file("gold.conll", GOLD), file("predicted.conll", PREDICTED), "--out", "results"
    assert "Wrote evaluation.json" in run(*arguments).stderr


def test_a_column_that_does_not_exist_is_refused():
    gold = file("a.conll", "x B-a\n")
    assert (
        "a.conll:1: Expected a tag in column 3, got 2 columns" in run(gold, gold, "--gold-column", "3", code=2).stderr
    )


def test_text_that_is_not_utf8_is_refused():
    Path("a.conll").write_bytes(b"x O\n\xff O\n")
    with pytest.raises(DataError, match=r"a\.conll:2: Expected UTF-8"):
        read("a.conll")
