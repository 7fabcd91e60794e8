"""Entities: notations of tags, schemes, nested and repeated entities, exact matches, metrics for training."""

import types

import numpy as np
import pytest

import arbitre
import arbitre.classification
from arbitre import DataError, OptionError
from arbitre.entities import evaluate, from_tags, to_tags, trainer_metrics
from arbitre.inputs.join import UNIT_SIZE


def span(start, end, label="person"):
    return {"start": start, "end": end, "label": label}


def sentence(names):
    """The entities of the published example, in the order of the text."""
    starts = {"John Smith": 0, "Frederick": 20, "Forrest": 40, "Fannie Thomas": 60, "Colorado Springs": 80}
    return [span(starts[name], starts[name] + len(name), label) for name, label in names.items()]


GOLD = sentence(
    {
        "John Smith": "Personne",
        "Frederick": "City",
        "Forrest": "Personne",
        "Fannie Thomas": "Personne",
        "Colorado Springs": "City",
    }
)
PREDICTED = sentence(
    {
        "John Smith": "Personne",
        "Frederick": "Personne",
        "Forrest": "City",
        "Fannie Thomas": "Personne",
        "Colorado Springs": "City",
    }
)


def test_numbers_and_arrays_of_numpy_are_positions_and_tags():
    spans = [{"start": np.int64(0), "end": np.int32(2), "label": np.str_("p")}]
    assert evaluate([spans], [[{"start": 0, "end": 2, "label": "p"}]]).f1 == 1
    tags = np.array([["B-p", "I-p", "O"], ["O", "O", "B-q"]])
    assert evaluate(tags, tags.tolist()).f1 == evaluate(list(tags), tags.astype(object)).f1 == 1
    assert to_tags(["a", "b", "c"], spans) == tags[0].tolist()
    found = from_tags(["a", "b", "c"], tags[0])
    assert found == [{"start": 0, "end": 2, "label": "p"}]
    assert type(found[0]["label"]) is str
    with pytest.raises(DataError, match="Expected `start` and `end` to be integers, got True and 2"):
        evaluate([[{"start": np.True_, "end": 2, "label": "p"}]], [spans])


def test_the_published_example_is_reproduced():
    evaluation = evaluate([GOLD], [PREDICTED])
    person, city = evaluation.per_class["Personne"], evaluation.per_class["City"]
    assert (person.tp, person.fp, person.fn, person.f1) == (2, 1, 1, pytest.approx(2 / 3))
    assert (city.tp, city.fp, city.fn, city.f1) == (1, 1, 1, 0.5)
    assert (evaluation.counts.tp, evaluation.counts.fp, evaluation.counts.fn, evaluation.f1) == (3, 2, 2, 0.6)
    assert evaluation.micro.f1 == evaluation.micro.f1q == 0.6
    assert evaluation.classes.micro.f1 == 0.6
    assert evaluation.classes.macro.f1 == pytest.approx(0.5833333)
    assert evaluation.confusion.labels == ("City", "Personne", None)
    assert evaluation.confusion.matrix.tolist() == [[1, 1, 0], [1, 2, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("precision", "recall", "f1"), [(0.9962, 0.9212, 0.95723), (1.0, 0.9015, 0.94820), (1.0, 0.5, 2 / 3)]
)
def test_f1_is_the_harmonic_mean(precision, recall, f1):
    scores = arbitre.classification.ClassScores(precision * recall, recall * (1 - precision), precision * (1 - recall))
    assert scores.precision == pytest.approx(precision)
    assert scores.recall == pytest.approx(recall)
    assert scores.f1 == pytest.approx(f1, abs=5e-6)


@pytest.mark.parametrize(
    ("scheme", "counts"),
    [
        ("strict", (1, 3, 0, 1, 1)),
        ("exact", (2, 2, 0, 1, 1)),
        ("partial", (2, 0, 2, 1, 1)),
        ("type", (2, 2, 0, 1, 1)),
    ],
    ids=["strict", "exact", "partial", "type"],
)
def test_each_scheme_has_its_counts(scheme, counts):
    gold = [span(0, 2), span(3, 5), span(6, 8), span(10, 12), span(20, 21)]
    predicted = [span(0, 2), span(3, 5, "city"), span(6, 7), span(11, 14, "city"), span(30, 31)]
    evaluation = evaluate([gold], [predicted], scheme)
    outcomes = evaluation.counts
    assert (outcomes.correct, outcomes.incorrect, outcomes.partial, outcomes.missing, outcomes.spurious) == counts
    assert outcomes.f1 == pytest.approx((outcomes.correct + outcomes.partial / 2) / 5)


def test_partial_grades_overlaps_by_their_size_in_f1q():
    evaluation = evaluate([[span(0, 4)]], [[span(0, 3)]], "partial")
    assert (evaluation.f1, evaluation.micro.f1q) == (0.5, 0.875)


def test_equal_entities_count_each_time():
    evaluation = evaluate([[span(0, 1), span(0, 1)]], [[span(0, 1)]])
    assert (evaluation.precision, evaluation.recall) == (1.0, 0.5)
    assert evaluate([[span(0, 1)]], [[span(0, 1)] * 3]).counts.spurious == 2


def test_nested_and_overlapping_entities_are_compared():
    gold = [[span(0, 6, "org"), span(0, 2, "person"), span(1, 4, "city")]]
    assert evaluate(gold, gold).f1 == 1.0
    evaluation = evaluate(gold, [[span(0, 6, "org"), span(0, 2, "city"), span(1, 4, "city")]], "exact")
    assert evaluation.f1 == 1.0
    assert evaluation.per_class["person"].recall == 0.0
    assert evaluation.confusion.matrix[2].tolist() == [1, 0, 0, 0]


def test_only_entities_of_one_sentence_are_compared():
    """Sentences are compared in several batches; entities at the same positions of different sentences do not overlap."""
    empty = [[] for _ in range(2 * UNIT_SIZE)]
    evaluation = evaluate([[span(0, 2, "a")], *empty], [*empty, [span(0, 2, "b")]])
    assert (evaluation.counts.incorrect, evaluation.counts.missing, evaluation.counts.spurious) == (0, 1, 1)
    assert evaluation.confusion.matrix.tolist() == [[0, 0, 1], [0, 0, 0], [0, 1, 0]]


def test_a_boundary_error_counts_as_missing_and_spurious_in_the_matrix():
    evaluation = evaluate([[span(0, 3)]], [[span(0, 2)]])
    assert evaluation.confusion.matrix.tolist() == [[0, 1], [1, 0]]
    assert evaluation.counts.incorrect == 1


def test_results_are_evaluations_with_intervals_and_ranks():
    gold = [[span(0, 2), span(3, 4, "city")] for _ in range(12)]
    worse = [sentence[:1] if number % 3 else sentence for number, sentence in enumerate(gold)]
    evaluations = {name: evaluate(gold, sentences) for name, sentences in {"good": gold, "worse": worse}.items()}
    ranking = arbitre.rank(evaluations, "f1q")
    assert [system.name for system in ranking.systems] == ["good", "worse"]
    interval = evaluations["worse"].interval("f1q", aggregate="micro")
    assert interval.low < evaluations["worse"].f1 < interval.high


def test_exact_match_has_two_denominators():
    gold, predicted = [[span(0, 1)], [span(0, 1)], [], []], [[span(0, 1)], [], [], [span(2, 3)]]
    matches = evaluate(gold, predicted).exact_match
    assert (matches.rate, matches.exact, matches.sentences) == (0.5, 2, 4)
    other = evaluate(gold, predicted, exact_match="entities").exact_match
    assert (other.rate, other.exact_with_entities, other.sentences_with_entities) == (0.5, 1, 2)
    assert evaluate([[]], [[]], exact_match="entities").exact_match.rate is None


def test_token_accuracy_stands_beside_the_baseline():
    accuracy = evaluate([["O"] * 8 + ["B-a", "I-a"]], [["O"] * 10]).token_accuracy
    assert (accuracy.accuracy, accuracy.baseline) == (0.8, 0.8)
    assert evaluate([[span(0, 1)]], [[span(0, 1)]]).token_accuracy is None


def test_scores_without_entities_are_none():
    evaluation = evaluate([[], []], [[], []])
    assert (evaluation.precision, evaluation.recall, evaluation.f1, evaluation.classes.macro.f1) == (
        None,
        None,
        None,
        None,
    )
    assert evaluation.exact_match.rate == 1.0
    assert evaluate([], []).f1 is None
    assert evaluate([[]], [[span(0, 1)]]).f1 == 0.0


def test_files_of_an_evaluation_are_written(tmp_path):
    evaluation = evaluate([[span(0, 1)]], [[span(0, 2)]], out=tmp_path)
    assert arbitre.load(tmp_path).micro.f1q == evaluation.micro.f1q == 0.0
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("notation", "tags"),
    [
        ("bio", ["B-a", "I-a", "B-a", "O", "B-b"]),
        ("iob1", ["I-a", "I-a", "B-a", "O", "I-b"]),
        ("bioes", ["B-a", "E-a", "S-a", "O", "S-b"]),
        ("bioes", ["B-a", "L-a", "U-a", "O", "U-b"]),
    ],
    ids=["bio", "iob1", "bioes", "bilou"],
)
def test_every_notation_is_inferred(notation, tags):
    spans = [span(0, 2, "a"), span(2, 3, "a"), span(4, 5, "b")]
    assert from_tags(list("vwxyz"), tags) == from_tags(list("vwxyz"), tags, notation=notation) == spans
    assert to_tags(list("vwxyz"), spans, notation=notation)[:1] == tags[:1]
    assert to_tags(list("vwxyz"), spans, notation=notation) == to_tags(list("vwxyz"), spans[::-1], notation=notation)


@pytest.mark.parametrize(
    ("tags", "notation", "message", "pointer"),
    [
        (["B-a", "X-a"], "auto", "Expected O, B-LABEL, I-LABEL, E-LABEL or S-LABEL, got 'X-a'", "/1"),
        (["B"], "auto", "got 'B'", "/0"),
        (["o"], "auto", "got 'o'", "/0"),
        (["S-a"], "bio", "Expected O, B-LABEL or I-LABEL, got 'S-a'", "/0"),
        (["O", "I-a"], "bio", "Expected BIO tags, got 'I-a'", "/1"),
        (["B-a", "I-b"], "bio", "got 'I-b'", "/1"),
        (["B-a", "O"], "bioes", "got 'B-a'", "/0"),
        (["E-a"], "bioes", "got 'E-a'", "/0"),
    ],
    ids=["prefix", "label", "case", "other notation", "inside", "other label", "open", "close"],
)
def test_invalid_tags_are_refused(tags, notation, message, pointer):
    with pytest.raises(DataError, match=message) as caught:
        from_tags(tags, tags, notation=notation)
    assert caught.value.pointer == pointer


def test_tags_that_are_not_texts_are_refused():
    with pytest.raises(DataError, match="Expected a tag, got dict at /1/0"):
        evaluate([["O"], [{}]], [["O"], ["O"]])
    with pytest.raises(DataError, match="Expected a tag, got NoneType at /0"):
        from_tags(["x"], [None])


def test_a_different_number_of_tags_and_tokens_is_refused():
    with pytest.raises(DataError, match="a tag for each of 2 tokens, got 1 tags"):
        from_tags(["a", "b"], ["O"])


COMPOSED, DECOMPOSED = "\u00e9crivain", "e\u0301crivain"


@pytest.mark.parametrize("scheme", ["strict", "exact", "partial", "type"])
@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ([[span(0, 1, COMPOSED), span(2, 3)]], [[span(0, 1, DECOMPOSED), span(2, 3)]]),
        ([[f"B-{COMPOSED}", f"I-{DECOMPOSED}", "O"]], [[f"B-{DECOMPOSED}", f"I-{COMPOSED}", "O"]]),
    ],
)
def test_labels_that_differ_only_in_their_unicode_form_are_equal(gold, predicted, scheme):
    evaluation = evaluate(gold, predicted, scheme)
    assert {scores.f1 for scores in evaluation.per_class.values()} == {evaluation.f1} == {1.0}
    assert COMPOSED in evaluation.per_class
    assert evaluation.confusion.matrix.sum() == np.trace(evaluation.confusion.matrix) == len(evaluation.per_class)
    assert evaluation.token_accuracy is None or evaluation.token_accuracy.accuracy == 1.0


def test_conversions_return_labels_in_nfc():
    tokens, entity = ["Ada", "Lovelace"], span(0, 2, COMPOSED)
    assert from_tags(tokens, [f"B-{COMPOSED}", f"I-{DECOMPOSED}"]) == [entity]
    two = [span(0, 1, COMPOSED), span(1, 2, DECOMPOSED)]
    assert from_tags(tokens, to_tags(tokens, two, notation="iob1")) == [span(0, 1, COMPOSED), span(1, 2, COMPOSED)]


def test_irregular_predicted_tags_are_counted_and_not_refused():
    gold, predicted = [["B-a", "I-a", "O"]], [["I-a", "I-a", "O"]]
    evaluation = evaluate(gold, predicted)
    assert (evaluation.f1, evaluation.irregular) == (1.0, 1)
    with pytest.raises(DataError, match="Expected BIO tags"):
        evaluate(predicted, gold, tags="bio")
    assert evaluate(predicted, gold, tags="bio", lenient=True).f1 == 1.0


def test_tags_cannot_express_overlaps_or_spans_past_the_end():
    with pytest.raises(DataError, match="Expected spans that do not overlap"):
        to_tags(["a", "b", "c"], [span(0, 2), span(1, 3)])
    with pytest.raises(DataError, match="Expected spans that do not overlap"):
        to_tags(["a", "b", "c"], [span(1, 3), span(0, 2)])
    with pytest.raises(DataError, match="within 3 tokens, got one that ends at 4"):
        to_tags(["a", "b", "c"], [span(2, 4)])
    with pytest.raises(OptionError, match="got 'auto'"):
        to_tags([], [], notation="auto")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"start": 2, "end": 2, "label": "a"}, "at least 0 and below `end`, got 2 and 2"),
        ({"start": -1, "end": 2, "label": "a"}, "at least 0"),
        ({"start": 0.0, "end": 2, "label": "a"}, "to be integers"),
        ({"start": True, "end": 2, "label": "a"}, "to be integers"),
        ({"start": 0, "end": 2}, "`label` to be a text, got None"),
        ({"start": 0, "end": 2, "label": ""}, "`label` to be a text, got ''"),
        ({"start": 0, "end": 2, "label": 3}, "`label` to be a text, got 3"),
        (3, "Expected a span, got int"),
    ],
    ids=["empty", "negative", "float", "boolean", "no label", "empty label", "numeric label", "number"],
)
def test_invalid_spans_are_refused(bad, message):
    with pytest.raises(DataError, match=message) as caught:
        evaluate([[], [span(0, 1), bad]], [[], []])
    assert caught.value.pointer == "/1/1"


def test_gold_and_predictions_with_different_sentences_are_refused():
    with pytest.raises(DataError, match="Expected 2 sentences, as in gold, got 1"):
        evaluate([[], []], [[]])
    with pytest.raises(DataError, match="Expected 2 tokens, as in sentence 1 of gold, got 1"):
        evaluate([["O", "O"]], [["O"]])
    with pytest.raises(DataError, match="Gold and predictions must have the same sentences"):
        evaluate([[]], [[], []])
    with pytest.raises(DataError, match="Expected a list of sentences, got str"):
        evaluate("gold.conll", [])


def test_unknown_options_are_refused():
    with pytest.raises(OptionError, match="Expected a scheme, got 'strikt'"):
        evaluate([], [], "strikt")
    with pytest.raises(OptionError, match="Expected a notation of tags, got 'biose'"):
        evaluate([["O"]], [["O"]], tags="biose")
    with pytest.raises(OptionError, match=r"Expected `exact_match` to be a known name.*\n  Available: all, entities"):
        evaluate([], [], exact_match="some")


NAMES = {0: "O", 1: "B-DEPART", 2: "I-DEPART", 3: "B-ARRIVEE", 4: "I-ARRIVEE"}
IDS = np.array([[1, 2, 0, 3, -100], [0, 3, 4, -100, -100]])


def test_trainer_metrics_take_logits_and_ids():
    predicted = np.array([[1, 2, 0, 3, 4], [0, 3, 0, 1, 0]])
    logits = np.eye(5)[predicted]
    metrics = trainer_metrics(NAMES)
    scores = metrics((logits, IDS))
    assert scores == metrics(types.SimpleNamespace(predictions=predicted, label_ids=IDS))
    assert scores["f1_DEPART"] == 1.0
    assert scores["f1_ARRIVEE"] == 0.5
    assert scores["f1_macro"] == 0.75
    assert scores["exact_match"] == 0.5
    assert scores["accuracy"] == pytest.approx(6 / 7)
    assert all(type(score) is float for score in scores.values())


def test_trainer_metrics_are_zero_where_a_score_is_undefined():
    scores = trainer_metrics(NAMES)((np.zeros((1, 2), dtype=int), np.zeros((1, 2), dtype=int)))
    assert (scores["f1"], scores["f1_DEPART"], scores["exact_match"]) == (0.0, 0.0, 1.0)


def test_trainer_metrics_keep_the_unicode_form_of_labels_in_their_names():
    scores = trainer_metrics({0: "O", 1: f"B-{DECOMPOSED}"})((np.array([[1, 0]]), np.array([[1, 0]])))
    assert scores[f"f1_{DECOMPOSED}"] == 1.0


def test_trainer_metrics_refuse_other_shapes_and_ids():
    metrics = trainer_metrics(NAMES)
    with pytest.raises(DataError, match="for each label id"):
        metrics((np.zeros((1, 3), dtype=int), np.zeros((1, 2), dtype=int)))
    with pytest.raises(DataError, match="Expected ids of `id2label`, got 9"):
        metrics((np.array([[9]]), np.array([[0]])))
