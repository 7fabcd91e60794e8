"""Measures of texts compared with published tables, rouge-score, sacrebleu and nltk."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from arbitre import text
from arbitre.cli import app

pytest.importorskip("rouge_score")
pytest.importorskip("nltk")
pytest.importorskip("sacrebleu")

TABLE = Path(__file__).resolve().parents[2].parent / "shared" / "oracles" / "classification_and_text.json"
WORDS = st.lists(st.sampled_from(["a", "b", "c", "the", "The", "cat", "sat,", "x1"]), max_size=12).map(" ".join)
ASCII = st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="_"), max_size=40)
TEXTS = WORDS | ASCII
LINES = st.lists(WORDS, max_size=4).map("\n".join)
REFERENCES = st.lists(TEXTS, min_size=1, max_size=3)


@pytest.fixture
def table():
    if not TABLE.is_file():
        pytest.skip("needs the published table")
    return json.loads(TABLE.read_text("utf-8"))


def command(*arguments):
    result = CliRunner().invoke(app, ["text", *map(str, arguments), "--format", "json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


@pytest.mark.parametrize(
    ("key", "reference", "kind"),
    [("rouge1_vs_2", 2, "rouge1"), ("rouge2_vs_2", 2, "rouge2"), ("rouge1_vs_1", 1, "rouge1")],
)
def test_rouge_equals_the_published_table_with_its_bigrams_counted_correctly(table, key, reference, kind):
    candidate, expected = table["rouge"]["candidate"], table["rouge"][key]
    chosen = table["rouge"][f"reference_{reference}"]
    score, printed = text.rouge(candidate, chosen, kind=kind), command("rouge", candidate, chosen, "--kind", kind)
    for name, value in expected.items():
        assert getattr(score, name) == printed[name] == pytest.approx(value, abs=5e-7)


def test_the_second_reference_of_the_published_table_is_the_best(table):
    rouge = table["rouge"]
    score = text.rouge(rouge["candidate"], [rouge["reference_1"], rouge["reference_2"]])
    assert score.f1 == pytest.approx(rouge["rouge1_vs_2"]["f1"], abs=5e-7)
    assert score.reference == 1


def test_bleu_equals_the_published_table(table):
    bleu, rouge = table["bleu"], table["rouge"]
    first, second, candidate = rouge["reference_1"], rouge["reference_2"], rouge["candidate"]
    clipped = bleu["clipped_unigram"]
    cases = [
        (clipped["candidate"], [clipped["reference"]], [1.0], clipped["p1"]),
        (candidate, [first, second], [0.5, 0.5], bleu["bleu2_both_references"]),
        (candidate, [second], [0.5, 0.5], bleu["bleu2_reference_2"]),
    ]
    for words, references, weights, expected in cases:
        printed = command("bleu", words, *references, "--weights", ",".join(map(str, weights)))
        assert text.bleu(words, references, weights=weights) == printed["bleu"] == pytest.approx(expected, abs=5e-7)
    short = "a b c d", "a b c d e"
    expected = pytest.approx(bleu["brevity_penalty_c4_r5"], abs=5e-5)
    assert text.bleu_details(*short).brevity_penalty == command("bleu", *short)["brevity_penalty"] == expected


@given(candidate=TEXTS | LINES, references=REFERENCES | st.lists(LINES, min_size=1, max_size=2), stem=st.booleans())
def test_rouge_equals_rouge_score(candidate, references, stem):
    from rouge_score.rouge_scorer import RougeScorer

    kinds = ["rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum"]
    peer = RougeScorer(kinds, use_stemmer=stem).score_multi(references, candidate)
    for kind in kinds:
        score = text.rouge(candidate, references, kind, tokenizer="rouge-score", stem=stem)
        assert score[:3] == pytest.approx(tuple(peer[kind]), abs=1e-9)
        if not stem:  # the default tokenizer splits ASCII texts in the same way
            assert text.rouge(candidate, references, kind) == score


@given(candidate=WORDS, reference=WORDS, skip=st.integers(0, 5))
def test_skip_bigrams_equal_a_manual_count(candidate, reference, skip):
    from collections import Counter
    from itertools import combinations

    def pairs(words):
        places = combinations(range(len(words)), 2)
        return Counter((words[i], words[j]) for i, j in places if j - i <= skip + 1)

    ours, theirs = (pairs(words.lower().replace(",", "").split()) for words in (candidate, reference))
    common = sum((ours & theirs).values())
    expected = common / max(sum(ours.values()), 1), common / max(sum(theirs.values()), 1)
    assert text.rouge(candidate, reference, "rougeS", skip=skip)[:2] == pytest.approx(expected, abs=1e-9)


@given(candidate=TEXTS, references=REFERENCES, orders=st.integers(1, 5))
def test_bleu_with_equal_weights_equals_sacrebleu(candidate, references, orders):
    from sacrebleu.metrics import BLEU

    peer = BLEU(max_ngram_order=orders, smooth_method="none").sentence_score(candidate, references)
    score = text.bleu_details(candidate, references, [1 / orders] * orders)
    assert 100 * score.bleu == pytest.approx(peer.score, abs=1e-9)
    assert [100 * value for value in score.precisions] == pytest.approx(peer.precisions, abs=1e-9)
    assert (score.length, score.reference_length) == (peer.sys_len, peer.ref_len)


@given(
    candidate=WORDS.filter(bool),
    references=st.lists(WORDS.filter(bool), min_size=1, max_size=3),
    weights=st.lists(st.integers(0, 3), min_size=1, max_size=4).filter(any),
)
@pytest.mark.filterwarnings("ignore:\\nThe hypothesis contains")
def test_bleu_with_weights_equals_nltk(candidate, references, weights):
    from nltk.translate.bleu_score import sentence_bleu

    shares = [weight / math.fsum(weights) for weight in weights]
    peer = sentence_bleu([words.split() for words in references], candidate.split(), shares)
    score = text.bleu(candidate, references, shares, tokenize="none")
    if score:
        assert score == pytest.approx(peer, abs=1e-9)
    else:
        assert peer == pytest.approx(0, abs=1e-4)  # nltk replaces a precision of 0 by the least positive number
