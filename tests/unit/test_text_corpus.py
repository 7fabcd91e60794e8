"""Scores of the texts and segmentations of a corpus."""

import json
import math

import pytest
from typer.testing import CliRunner

import arbitre
from arbitre import text
from arbitre.cli import app
from arbitre.errors import DataError

for library in ("rouge_score", "nltk", "sacrebleu"):
    pytest.importorskip(library)

SCHEMA = {
    "type": "object",
    "properties": {
        "summary": {"type": "string", "x-arbitre": {"distance": "rouge-1", "alternatives": "others"}},
        "notes": {"type": "array", "items": {"type": "string"}},
        "parts": {"type": "array", "x-arbitre": {"distance": "window-diff"}},
    },
}
GOLD = {
    "a": {"summary": "Hello world on this website", "others": ["Hello everyone on Blent"], "parts": [3, 6, 12]},
    "b": {"summary": "The cat sat on the mat", "notes": ["one two", "three"], "parts": [[0, 5], [5, 9]]},
    "c": {"summary": "Dogs bark", "parts": [2, 4]},
}
PREDICTED = {
    "a": {"summary": "Welcome everyone on Blent website", "parts": [4, 12]},
    "b": {"summary": "A cat sat on a mat", "notes": ["three", "one too", "four"], "parts": [5, 9]},
}
REFERENCES = [[GOLD["a"]["summary"], *GOLD["a"]["others"]], [GOLD["b"]["summary"]], [GOLD["c"]["summary"]]]
CANDIDATES = [PREDICTED["a"]["summary"], PREDICTED["b"]["summary"], ""]


@pytest.fixture
def evaluation():
    triples = [(name, gold, PREDICTED.get(name, arbitre.ABSENT)) for name, gold in GOLD.items()]
    return arbitre.Comparator(SCHEMA).evaluate(triples)


def test_bleu_and_chrf_are_the_corpus_scores_of_sacrebleu_with_its_signature(evaluation):
    from sacrebleu.metrics import BLEU, CHRF

    scores = evaluation.text("/summary")
    streams = [[row[at] if at < len(row) else None for row in REFERENCES] for at in range(2)]
    for score, peer in ((scores.bleu, BLEU()), (scores.chrf, CHRF())):
        assert 100 * score.score == pytest.approx(peer.corpus_score(CANDIDATES, streams).score, abs=1e-9)
        assert score.signature == str(peer.get_signature())
    assert scores.bleu.signature.startswith("nrefs:var|")


def test_rouge_is_the_mean_over_gold_texts_with_missing_ones_as_empty(evaluation):
    scores = evaluation.text("/summary", kinds=["rouge1", "rougeS"])
    assert (scores.texts, scores.missing, scores.spurious) == (3, 1, 0)
    for kind, score in scores.rouge.items():
        singles = [text.rouge(*pair, kind) for pair in zip(CANDIDATES, REFERENCES, strict=True)]
        assert score[:3] == tuple(math.fsum(single[at] for single in singles) / 3 for at in range(3))


def test_texts_of_lists_are_paired_as_the_schema_says(evaluation):
    scores = evaluation.text("/notes/*", kinds=["rouge1"])
    assert (scores.texts, scores.missing, scores.spurious) == (2, 0, 1)
    assert scores.rouge["rouge1"].f1 == (1 + 0.5) / 2


def test_segmentations_are_pooled_over_their_windows(evaluation):
    scores = evaluation.segmentation("/parts")
    assert (scores.segmentations, scores.missing, scores.spurious) == (3, 1, 0)
    # numbers of windows: 12 - 2, 9 - 2 and 4 - 2
    a = text.window_diff(GOLD["a"]["parts"], PREDICTED["a"]["parts"])
    assert scores.window_diff == pytest.approx((10 * a + 0 + 2) / (10 + 7 + 2), abs=1e-12)
    cost = text.generalized_hamming(GOLD["a"]["parts"], PREDICTED["a"]["parts"])
    assert scores.generalized_hamming == pytest.approx((cost + 0 + 2) / (6 + 4 + 2), abs=1e-12)
    assert evaluation.segmentation("/parts", k=1).pk == pytest.approx((3 + 0 + 3) / (11 + 8 + 3), abs=1e-12)


def test_a_path_without_texts_is_refused(evaluation):
    with pytest.raises(DataError, match="Expected texts in gold, got none"):
        evaluation.text("/summry")
    with pytest.raises(DataError, match="Expected segmentations in gold, got none"):
        evaluation.segmentation("/summary")


def test_unavailable_documents_raise_an_error(tmp_path):
    comparator = arbitre.Comparator(SCHEMA)
    evaluation = comparator.evaluate((name, gold, gold) for name, gold in GOLD.items())
    with pytest.raises(DataError, match="no longer available"):
        evaluation.text("/summary")
    stored = comparator.evaluate([("a", GOLD["a"], GOLD["a"])], out=tmp_path)
    assert stored.text("/summary").bleu.score == 1
    with pytest.raises(DataError, match="no longer available"):
        arbitre.load(tmp_path).text("/summary")


def test_the_command_prints_the_scores_of_the_python_function(tmp_path, monkeypatch, evaluation):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), "utf-8")
    for name, documents in (("gold", GOLD), ("predicted", PREDICTED)):
        lines = [json.dumps({"id": identity} | document) for identity, document in documents.items()]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), "utf-8")

    def run(*arguments):
        sources = ("gold.jsonl", "predicted.jsonl", "--schema", "schema.json")
        result = CliRunner().invoke(app, ["text", "corpus", *sources, *arguments])
        assert result.exit_code == 0, result.output
        return result.output

    plain = json.loads(run("--path", "/summary", "--format", "json"))
    scores = evaluation.text("/summary").to_dict()
    assert {name: plain[name] for name in scores} == scores
    assert plain["f1q"] == evaluation.by_path["/summary"].f1q
    plain = json.loads(run("--path", "/parts", "--segmentation", "--format", "json"))
    scores = evaluation.segmentation("/parts").to_dict()
    assert {name: plain[name] for name in scores} == scores
    assert "3 segmentations at /parts" in run("--path", "/parts", "--segmentation")
    assert "nrefs:var" in run("--path", "/summary", "--kind", "rouge2")


@pytest.mark.parametrize(
    ("setting", "gold", "predicted"),
    [
        ({}, {"t": "caf\u00e9 noir tr\u00e8s serr\u00e9"}, {"t": "cafe\u0301 noir tre\u0300s serre\u0301"}),
        (
            {"normalize": ["nfc", "casefold"]},
            {"t": "UN \u00c9T\u00c9 \u00c0 PARIS"},
            {"t": "un e\u0301te\u0301 \u00e0 paris"},
        ),
        (
            {"alternatives": True},
            {"t": ["x", "caf\u00e9 noir tr\u00e8s serr\u00e9"]},
            {"t": "cafe\u0301 noir tr\u00e8s serr\u00e9"},
        ),
        (
            {"alternatives": "u", "normalize": "casefold"},
            {"t": "x", "u": ["UN \u00c9T\u00c9 \u00c0 PARIS"]},
            {"t": "un e\u0301te\u0301 \u00e0 paris"},
        ),
    ],
)
def test_texts_are_normalised_as_in_the_comparison(setting, gold, predicted):
    schema = {"type": "object", "properties": {"t": {"type": "string", "x-arbitre": {"distance": "rouge-1"} | setting}}}
    evaluation = arbitre.Comparator(schema).evaluate([("1", gold, predicted)])
    scores = evaluation.text("/t")
    assert evaluation.by_path["/t"].f1q == scores.rouge["rouge1"].f1 == 1
    assert (scores.bleu.score, scores.chrf.score) == (pytest.approx(1), pytest.approx(1))


def test_segmentations_are_normalised_as_in_the_comparison():
    setting = {"distance": "window-diff", "normalize": "digits"}
    schema = {"type": "object", "properties": {"t": {"type": "string", "x-arbitre": setting}}}
    evaluation = arbitre.Comparator(schema).evaluate([("1", {"t": "00100 00100"}, {"t": "0010000100"})])
    assert evaluation.segmentation("/t").window_diff == 0


def test_empty_texts_have_distance_0_and_a_rouge_score_of_0():
    evaluation = arbitre.Comparator(SCHEMA).evaluate([("1", {"summary": ""}, {"summary": ""})])
    assert (evaluation.by_path["/summary"].f1q, evaluation.text("/summary").rouge["rouge1"].f1) == (1, 0)


def test_the_pairs_of_leaves_are_listed_document_by_document():
    triples = [(str(at), {"notes": ["one", "two"]}, {"notes": ["two", f"one {at}"]}) for at in range(200)]
    triples.append(("broken", {"notes": ["one"]}, "not an object"))
    pairs = arbitre.Comparator(SCHEMA).evaluate(triples).leaf_pairs("/notes/*")
    assert [pair.predicted for pair in pairs if pair.gold == "one"] == [
        *(f"one {at}" for at in range(200)),
        arbitre.ABSENT,
    ]
    assert (pairs[0].pointer, pairs[0].predicted_pointer) == ("/notes/0", "/notes/1")
    assert (pairs[-1].pointer, pairs[-1].predicted_pointer, pairs[-1].quality) == ("/notes/0", None, 0)
