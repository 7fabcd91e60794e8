"""The number of calls of a custom distance: predicted, announced and limited."""

import json
import random
import sys
from pathlib import Path

import pytest
from rapidfuzz.distance import Levenshtein
from typer.testing import CliRunner

import arbitre
from arbitre import Comparator, Facts, SolverError
from arbitre.cli import app
from arbitre.distances import catalogue

FACTS = Facts(triangle=False, witness=("ab", "aba", "ba"))
TEXT = {"type": "string", "x-arbitre": {"distance": "judge"}}
NAMED = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "text": TEXT}}}
ALONE = {"type": "array", "items": TEXT}
SIZES = [3, 9, 10, 60]


class Judge:
    """A distance that counts how often it is asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, gold, predicted):
        self.asked.append((gold, predicted))
        return Levenshtein.normalized_distance(gold, predicted)


def a_little_less(gold, predicted):
    return max(0.0, Levenshtein.normalized_distance(gold, predicted) - 0.1)


@pytest.fixture
def judge():
    return Judge()


def comparator(schema, judge, *, bound=None, max_calls=100_000):
    return Comparator(
        schema, distances=catalogue.with_distance("judge", judge, FACTS, bound=bound), max_calls=max_calls
    )


def documents(size):
    rng = random.Random(size)  # noqa: S311
    letters = "abcdefghij "

    def damaged(text, times):
        places = set(rng.sample(range(len(text)), times))
        return "".join("#" if place in places else letter for place, letter in enumerate(text))

    gold = [
        {"name": "".join(rng.choices(letters, k=12)), "text": "".join(rng.choices(letters, k=80))} for _ in range(size)
    ]
    predicted = [{"name": damaged(item["name"], 2), "text": damaged(item["text"], 20)} for item in gold]
    rng.shuffle(predicted)
    return gold, predicted


def texts(items):
    return [item["text"] for item in items]


@pytest.mark.parametrize("size", SIZES)
def test_a_field_that_identifies_items_reduces_calls_to_one_for_each(judge, size):
    gold, predicted = documents(size)
    comparison = comparator(NAMED, judge).compare(gold=gold, predicted=predicted)
    assert size <= len(judge.asked) <= 2 * size
    assert len(set(judge.asked)) == len(judge.asked)
    assert comparison.quality == pytest.approx(0.5 * (1 - 0.25) + 0.5 * comparison.by_path()["/*/name"].amq, abs=1e-9)


@pytest.mark.parametrize("size", SIZES)
def test_a_bound_reduces_calls_to_one_for_each_item(judge, size):
    gold, predicted = documents(size)
    made = comparator(ALONE, judge, bound=a_little_less)
    assert made.compare(gold=texts(gold), predicted=texts(predicted)).quality == pytest.approx(0.75)
    assert size <= len(judge.asked) <= 2 * size


def test_the_number_of_possible_calls_is_reported_before_any_call(judge):
    gold, predicted = documents(20)
    assert comparator(ALONE, judge).most_calls(gold=texts(gold), predicted=texts(predicted)) == {"/*": 400}
    assert judge.asked == []


def test_too_many_possible_calls_are_refused_before_any_call(judge):
    gold, predicted = documents(20)
    with pytest.raises(SolverError, match=r"at most 399 calls to `judge` for a document, got up to 400 at /\*"):
        comparator(ALONE, judge, max_calls=399).compare(gold=texts(gold), predicted=texts(predicted))
    assert judge.asked == []
    assert comparator(ALONE, judge, max_calls=400).compare(gold=texts(gold), predicted=texts(predicted)).quality == 0.75


def test_a_comparison_stops_at_the_limit_of_calls(judge):
    gold, predicted = documents(20)
    for item in gold + predicted:
        item["name"] = "all the same"
    with pytest.raises(SolverError, match="Comparing needs more than 30 calls to the distance `judge`"):
        comparator(NAMED, judge, max_calls=30).compare(gold=gold, predicted=predicted)
    assert len(judge.asked) <= 30


def test_calls_are_limited_to_pairs_within_a_document(judge):
    pairs = [(str(number), *map(texts, documents(size))) for number, size in enumerate((3, 5))]
    made = comparator(ALONE, judge, max_calls=25)
    assert made.evaluate(pairs).micro.irq == pytest.approx(0.75)
    assert made.most_calls(gold="lone text", predicted=None) == {}


def test_a_missing_prediction_needs_no_calls(judge):
    """Neither on its own, nor in the search for causes, which counts the calls of each document."""
    own = comparator(ALONE, judge)
    assert own.most_calls(gold=["a"], predicted=arbitre.ABSENT) == {}
    found = own.evaluate([("1", ["abc"], ["abd"]), ("2", ["abc"], arbitre.ABSENT)])
    assert [failure.id for failure in found.failures] == ["2"]
    assert found.causes is not None


class TestCommand:
    @pytest.fixture(autouse=True)
    def module(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("judges.py").write_text(
            "from arbitre import Facts\n"
            "from arbitre.distances import catalogue\n"
            "own = catalogue.with_distance('judge', lambda a, b: float(a[:1] != b[:1]), Facts(separating=False))\n",
            encoding="utf-8",
        )
        monkeypatch.delitem(sys.modules, "judges", raising=False)
        Path("schema.json").write_text(json.dumps(ALONE), encoding="utf-8")
        Path("gold.json").write_text('["Ada", "Bob"]', encoding="utf-8")
        Path("predicted.json").write_text('["Alan", "Bill"]', encoding="utf-8")

    @staticmethod
    def run(*arguments):
        return CliRunner().invoke(
            app, ["compare", "gold.json", "predicted.json", "--schema", "schema.json", *arguments]
        )

    def test_a_custom_catalogue_is_loaded_and_its_calls_are_announced(self):
        result = self.run("--functions", "judges:own")
        assert result.exit_code == 0, result.output
        assert "The function at /* may be called up to 4 times." in result.output
        assert "quality 1.0000" in result.output

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], 'got "judge" at /items/x-arbitre/distance'),
            (["--functions", "judges:own", "--max-calls", "3"], "at most 3 calls to `judge`"),
            (["--functions", "nowhere:own"], "No module named 'nowhere'"),
            (["--functions", "judges:other"], "to contain 'other', got no such name"),
            (["--functions", "judges:Facts"], "got type for 'judges:Facts'"),
        ],
    )
    def test_wrong_catalogues_and_limits_are_refused(self, arguments, message):
        result = self.run(*arguments)
        assert result.exit_code == 2
        assert message in " ".join(result.output.replace("│", " ").split())
