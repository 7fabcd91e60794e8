"""Evaluations of a corpus: sums, means, failures, runs and paths, the same for every way of computing them."""

from __future__ import annotations

import gc
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.strategies import pairs, schemas

from arbitre import ABSENT, Comparator, Scores, Tally
from arbitre.corpus import evaluate as evaluate_module
from arbitre.corpus.evaluate import ExecutionOptions, evaluate, pair_up
from arbitre.corpus.worker import Worker
from arbitre.errors import DataError, SolverError
from arbitre.inputs.join import join
from arbitre.inputs.records import Failure, Pair, Record, key
from arbitre.interpreter import RARELY, collecting_rarely

WHOLE = {"type": "integer"}
NUMBERS = Comparator({"type": "array", "items": WHOLE})
SPEAKERS = Comparator(
    {
        "type": "object",
        "properties": {
            "page": WHOLE,
            "speakers": {
                "x-arbitre": {"entries": True},
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "pages": {"type": "array", "items": WHOLE}},
                },
            },
        },
    }
)
NAN = float("nan")


def masses(scores):
    return (scores.gold, scores.predicted, scores.matched, scores.quality_mass)


def test_micro_scores_pool_tallies_and_macro_scores_are_means():
    evaluation = NUMBERS.evaluate([("a", [1, 2], [1, 2]), ("b", [3, 4, 5, 6], [3])])
    assert masses(evaluation.micro) == (6, 3, 3, 3)
    assert evaluation.micro.f1q == pytest.approx(6 / 9)
    assert evaluation.macro.f1q == pytest.approx((1 + 2 / 5) / 2)
    assert masses(evaluation.by_document["b"]) == (4, 1, 1, 1)
    assert masses(evaluation.leaves) == (6, 3, 3, 3)
    assert evaluation.curve.area == 3.0
    assert [document.quality for document in evaluation.documents] == [1.0, 0.25]
    assert repr(evaluation) == "Evaluation(2 documents, macro f1q=0.7000)"


@pytest.mark.parametrize(
    ("gold", "predicted", "reason"),
    [
        ([1, 2], ABSENT, "no prediction"),
        ([1, 2], [1, NAN], "Expected a finite number, got nan in the predicted document"),
        ([1, 2], [1, b"2"], "Expected a JSON value (null, boolean, number, text, list or object), got bytes"),
        ([1, 2], {3: 4}, "Expected every key to be text, got 3"),
    ],
)
def test_a_failure_is_an_empty_prediction_in_the_sums_and_zero_in_the_means(gold, predicted, reason):
    evaluation = NUMBERS.evaluate([("good", [1, 2], [1, 2]), ("bad", gold, predicted)])
    (failure,) = evaluation.failures
    assert (failure.side, failure.id) == ("predicted", "bad")
    assert failure.reason.startswith(reason)
    assert masses(evaluation.micro) == (4, 2, 2, 2)
    assert (evaluation.macro.f1q, evaluation.macro.imq, evaluation.macro.quality) == (0.5, 0.5, 0.5)
    assert (evaluation.macro.failed, evaluation.macro.documents["imq"]) == (1, 2)
    assert [document.failed for document in evaluation.documents] == [False, True]
    assert masses(evaluation.by_path["/*"]) == (4, 2, 2, 2)


@pytest.mark.parametrize("gold", [[1, 2, 3], [], None])
def test_a_failure_is_zero_in_the_means_even_with_empty_gold(gold):
    evaluation = NUMBERS.evaluate([("good", [1], [1]), ("bad", gold, ABSENT)])
    assert (evaluation.macro.f1q, evaluation.macro.quality, evaluation.macro.vacuous) == (0.5, 0.5, 0)
    assert evaluation.documents[1].quality == 0.0


def test_a_vacuous_document_is_left_out_of_the_means_and_counted():
    evaluation = NUMBERS.evaluate([("a", [1], [1]), ("b", [1], [2]), ("empty", [], []), ("null", None, None)])
    assert (evaluation.macro.f1q, evaluation.macro.documents["f1q"], evaluation.macro.vacuous) == (0.5, 2, 2)
    assert evaluation.failures == ()
    assert evaluation.by_document["empty"] == Scores(Tally())


def test_an_invented_item_is_not_vacuous():
    evaluation = NUMBERS.evaluate([("a", [1], [1]), ("b", [], [2])])
    assert (evaluation.macro.f1q, evaluation.macro.irq, evaluation.macro.documents["irq"]) == (0.5, 1.0, 1)


PEOPLE = {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}
ADA = {"names": ["Ada"]}


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        (PEOPLE, "an object"),
        ({"properties": PEOPLE["properties"]}, "an object"),
        ({"type": "array"}, "a list"),
        ({"items": {"type": "string"}}, "a list"),
        ({"anyOf": [PEOPLE, {"type": "array"}, {"type": "null"}]}, "a list or an object"),
    ],
)
def test_a_text_where_an_object_or_a_list_is_expected_is_a_failure(schema, wanted):
    comparator, text = Comparator(schema), '```json\n{"names": ["Ada"]}```'
    reason = f"Expected {wanted}, but the prediction is a text; use --lenient to read the JSON in it"
    with pytest.raises(DataError, match=reason):
        comparator.compare(gold=ADA, predicted=text)
    with pytest.raises(DataError, match=f"Expected the gold document to be {wanted}, got a text"):
        comparator.compare(gold=text, predicted=text + " ")
    evaluation = comparator.evaluate([("a", ADA, ADA), ("b", ADA, text), ("c", text, text + " ")])
    assert [(one.side, one.id) for one in evaluation.failures] == [("predicted", "b"), ("gold", "c")]
    assert evaluation.failures[0].reason == reason
    assert [(one.id, one.quality) for one in evaluation.documents] == [("a", 1.0), ("b", 0.0)]
    empty = comparator.evaluate([("a", ADA, ADA), ("b", ADA, ABSENT)])
    assert masses(evaluation.micro) == masses(empty.micro)
    assert evaluation.chance.comparisons == empty.chance.comparisons


def test_a_document_that_cannot_be_solved_is_a_failure_and_the_others_are_compared():
    item = {"type": "object", "properties": {"name": {"type": "string"}, "w": {"type": "number"}}}
    comparator = Comparator({"type": "array", "items": item, "x-arbitre": {"match": {"transport": {"masses": "w"}}}})
    whole, lacking = [{"name": "a", "w": 1}, {"name": "b", "w": 2}], [{"name": "a", "w": 1}, {"name": "b"}]
    reason = "Expected the mass /w of a {} item to be a positive number, got none"
    with pytest.raises(SolverError, match=f"{reason.format('predicted')} at /1"):
        comparator.compare(gold=whole, predicted=lacking)
    evaluation = comparator.evaluate(
        [("a", whole, whole), ("b", whole, lacking), ("c", lacking, whole), ("d", whole, whole[:1])]
    )
    assert [(one.side, one.id, one.pointer, one.reason) for one in evaluation.failures] == [
        ("predicted", "b", "/1", reason.format("predicted")),
        ("gold", "c", "/1", reason.format("gold")),
    ]
    assert [document.id for document in evaluation.documents] == ["a", "b", "d"]
    empty = comparator.evaluate([("a", whole, whole), ("b", whole, ABSENT), ("d", whole, whole[:1])])
    assert masses(evaluation.micro) == masses(empty.micro)


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"type": ["object", "string"]},
        {"anyOf": [PEOPLE, True]},
        {"type": "array", "x-arbitre": {"distance": "jaccard", "normalize": "numbers"}},
    ],
)
def test_a_text_that_the_schema_allows_is_compared(schema):
    comparator = Comparator(schema)
    assert comparator.compare(gold="a text", predicted="a text").quality == 1.0
    assert comparator.evaluate([("a", "a text", "a text")]).failures == ()


def test_a_null_prediction_is_a_failure_unless_the_schema_allows_null():
    pairs = [("a", ADA, ADA), ("b", ADA, None), ("c", None, None)]
    evaluation = Comparator(PEOPLE).evaluate(pairs)
    assert [(one.id, one.reason) for one in evaluation.failures] == [("b", "Expected a prediction, got null")]
    assert (evaluation.macro.imq, evaluation.macro.failed, evaluation.macro.vacuous) == (0.5, 1, 1)
    assert Comparator({"anyOf": [PEOPLE, {"type": "null"}]}).evaluate(pairs).failures == ()
    assert Comparator({}).evaluate(pairs).failures == ()


@pytest.mark.parametrize("entry", [("a", ADA), ("a", ADA, ADA, ADA), ADA, "abc", None])
def test_an_entry_that_is_not_a_triple_is_an_error(entry):
    with pytest.raises(DataError, match=r"Expected \(id, gold, predicted\) triples, got a"):
        Comparator(PEOPLE).evaluate([("a", ADA, ADA), entry])


def test_one_bad_prediction_fails_alone():
    corpus = [(str(number), [number], [NAN if number == 5 else number]) for number in range(10)]
    evaluation = NUMBERS.evaluate(corpus)
    assert [failure.id for failure in evaluation.failures] == ["5"]
    assert evaluation.failures[0].pointer == "/0"
    assert masses(evaluation.micro) == (10, 9, 9, 9)
    assert [document.id for document in evaluation.documents] == [str(number) for number in range(10)]


def test_gold_that_is_not_json_is_listed_and_not_scored():
    evaluation = NUMBERS.evaluate([("a", [1], [1]), ("b", [NAN], [1]), ("c", [NAN], [NAN]), ("d", [NAN], ABSENT)])
    assert [(failure.side, failure.id) for failure in evaluation.failures if failure.side == "gold"] == [
        ("gold", "b"),
        ("gold", "c"),
        ("gold", "d"),
    ]
    assert list(evaluation.by_document) == ["a"]
    assert (evaluation.macro.f1q, evaluation.macro.failed) == (1.0, 0)


def test_a_schema_violation_is_not_a_failure():
    evaluation = NUMBERS.evaluate([("a", [1, 2], ["1", 2])])
    assert evaluation.failures == ()
    assert masses(evaluation.micro) == (2, 2, 2, 1)


def test_runs_of_a_document_are_separate_documents():
    evaluation = NUMBERS.evaluate([("a", [1], [1]), ("b", [1], [1]), ("a", [1], [2]), ("a", [1], ABSENT)])
    assert {key: scores.f1q for key, scores in evaluation.by_document.items()} == {"a": 1, "b": 1, "a/2": 0, "a/3": 0}
    assert [(document.id, document.run) for document in evaluation.documents] == [
        ("a", None),
        ("b", None),
        ("a", "2"),
        ("a", "3"),
    ]
    assert (evaluation.failures[0].id, evaluation.failures[0].run) == ("a", "3")


def test_a_run_key_never_collides_with_a_document_id():
    evaluation = NUMBERS.evaluate([("a", [1], [1]), ("a", [1], [2]), ("a/2", [1], [1]), (1, [1], [1]), ("1", [1], [2])])
    assert {key: scores.f1q for key, scores in evaluation.by_document.items()} == {
        "a": 1,
        "a/2": 0,
        "a/2/2": 1,
        "1": 1,
        "1/2": 0,
    }


DEEP = [[]]
for _ in range(600):
    DEEP = [DEEP]
PREDICTED = {"right": [1], "too deep": DEEP, "surrogate": ["\ud800"], "absent": ABSENT}


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "a/2", "a/2/2"]), st.sampled_from([*PREDICTED]))), st.integers(2, 9)
)
def test_runs_and_failures_do_not_depend_on_how_many_triples_are_checked_at_once(documents, size):
    triples = [(name, [1], PREDICTED[what]) for name, what in documents]
    found = []
    for at_once in (1, size):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(evaluate_module, "CHECKED_AT_ONCE", at_once)
            joined = pair_up(triples)
        found.append(([(pair.key, pair.predicted is ABSENT) for pair in joined.pairs], joined.failures))
    assert found[0] == found[1]
    assert len({pair.key for pair in joined.pairs}) == len(triples)
    assert [pair.predicted is ABSENT for pair in joined.pairs] == [what != "right" for _, what in documents]
    refused = [pair.key for pair in joined.pairs if pair.predicted is ABSENT]
    assert [key(failure.id, failure.run) for failure in joined.failures] == refused


def test_by_path_counts_missing_and_spurious_subtrees_and_failures():
    ada, bob = {"name": "Ada", "pages": [1, 2]}, {"name": "Bob", "pages": [3]}
    evaluation = SPEAKERS.evaluate(
        [
            ("missing", {"page": 1, "speakers": [ada, bob]}, {"page": 1, "speakers": [ada]}),
            ("spurious", {"page": 2, "speakers": [ada]}, {"page": 2, "speakers": [ada, bob]}),
            ("failed", {"page": 3, "speakers": [bob]}, ABSENT),
        ]
    )
    assert {path: masses(scores)[:3] for path, scores in evaluation.by_path.items()} == {
        "/page": (3, 2, 2),
        "/speakers/*": (4, 3, 2),
        "/speakers/*/name": (4, 3, 2),
        "/speakers/*/pages/*": (6, 5, 4),
    }
    assert evaluation.entries == "/speakers"
    assert masses(evaluation.micro) == (4, 3, 2, 2)


@pytest.mark.parametrize("chunk", [1, 64])
def test_items_of_lists_and_keys_of_maps_under_one_path_are_all_counted(chunk):
    comparator = Comparator({"type": ["array", "object"], "items": WHOLE, "additionalProperties": WHOLE})
    documents = [("list", [1, 2], [1]), ("map", {"k": 1}, {"k": 1})]
    evaluation = evaluate(comparator.plan, documents, ExecutionOptions(first_batch=chunk))
    assert {path: masses(scores) for path, scores in evaluation.by_path.items()} == {"/*": (3, 2, 2, 2)}


def test_evaluating_a_join_keeps_its_failures():
    gold = [Record(name, None, [1], "gold.jsonl") for name in "abc"]
    predicted = [
        Record("b", None, [1], "p.jsonl"),
        Failure("predicted", "a", file="p.jsonl", line=3, reason="broken"),
        Record("z", None, [1], "p.jsonl"),
    ]
    evaluation = evaluate(NUMBERS.plan, join(gold, predicted))
    assert {key: scores.irq for key, scores in evaluation.by_document.items()} == {"a": 0, "b": 1, "c": 0}
    assert [(failure.id, failure.line, failure.reason) for failure in evaluation.failures] == [
        ("a", 3, "broken"),
        ("c", None, "no prediction"),
    ]
    assert evaluation.without_gold == ("z",)
    assert evaluation.macro.failed == 2


def test_an_empty_corpus_has_undefined_means():
    evaluation = NUMBERS.evaluate([])
    assert (evaluation.micro, evaluation.macro.f1q, evaluation.by_path) == (Scores(Tally()), None, {})
    assert evaluation.by_path() is evaluation.by_path
    assert json.loads(json.dumps(evaluation.to_dict()))["documents"] == 0
    assert repr(evaluation) == "Evaluation(0 documents, macro f1q=none)"


def test_plain_json_holds_every_result():
    plain = NUMBERS.evaluate([("a", [1, 2], [1, 2]), ("b", [3], [NAN]), ("c", [], [])]).to_dict()
    assert (plain["format"], plain["documents"], plain["failed"], plain["vacuous"]) == ("arbitre-evaluation/1", 3, 1, 1)
    assert plain["signature"] == NUMBERS.signature.to_dict()
    assert (plain["micro"]["irq"], plain["macro"]["irq"], plain["macro_documents"]["irq"]) == (2 / 3, 0.5, 2)
    assert plain["by_path"]["/*"]["recall"] == 2 / 3
    assert [point["threshold"] for point in plain["thresholds"]] == [0.5, 0.7, 0.9]
    assert plain["thresholds"][2]["recall"] == 2 / 3
    assert plain["failures"] == [
        {
            "side": "predicted",
            "id": "b",
            "run": None,
            "file": None,
            "line": None,
            "pointer": "/0",
            "reason": "Expected a finite number, got nan in the predicted document",
        }
    ]


WEIGHED = Comparator(
    {
        "type": "object",
        "properties": {
            key: {"type": "number", "x-arbitre": {"weight": weight}}
            for key, weight in zip("abcd", (0.1, 0.2, 0.3, 0.7), strict=True)
        },
    }
)


def corpus(count):
    """Documents whose sums depend on the order in which floats are added, and one in seven that fails."""
    draw = random.Random(1931)  # noqa: S311

    def document():
        return {key: draw.randint(1, 4) for key in "abcd" if draw.random() < 0.8}

    return [(str(number), document(), [NAN] if number % 7 == 3 else document()) for number in range(count)]


def everything(evaluation):
    rows = [(one.key, one.tally, one.quality, one.failed) for one in evaluation.documents]
    return json.dumps(evaluation.to_dict()), rows


@pytest.mark.slow
def test_the_same_corpus_gives_the_same_bytes():
    first, second = (everything(WEIGHED.evaluate(iter(corpus(50)))) for _ in range(2))
    assert first == second


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [1, 3, 64, 1000])
def test_the_batch_size_changes_no_result(chunk):
    expected = everything(WEIGHED.evaluate(corpus(150), no_diagnose=True))
    assert everything(evaluate(WEIGHED.plan, corpus(150), ExecutionOptions(first_batch=chunk))) == expected


@pytest.mark.slow
@given(st.data(), schemas())
def test_the_batch_size_changes_no_result_for_generated_schemas(data, schema):
    documents = [(str(number), *data.draw(pairs(schema))) for number in range(data.draw(st.integers(1, 4)))]
    comparator = Comparator(schema)
    found = [
        everything(evaluate(comparator.plan, documents, ExecutionOptions(first_batch=chunk))) for chunk in (1, 2, 64)
    ]
    assert found[0] == found[1] == found[2]
    for row, (_, gold, predicted) in zip(found[0][1], documents, strict=True):
        comparison = comparator.compare(gold=gold, predicted=predicted)
        assert row[1:3] == (comparison.scores.tally, comparison.quality)


@pytest.mark.slow
def test_the_order_of_the_documents_does_not_change_a_sum():
    documents = corpus(150)
    forth, back = WEIGHED.evaluate(documents).to_dict(), WEIGHED.evaluate(documents[::-1]).to_dict()
    assert [failure["id"] for failure in forth["failures"]] == [failure["id"] for failure in back["failures"]][::-1]
    for name in ("micro", "macro", "leaves", "by_path", "curve", "thresholds", "macro_documents"):
        assert json.dumps(forth[name]) == json.dumps(back[name])


def test_evaluating_changes_no_input():
    documents = corpus(20)
    before = repr(documents)
    WEIGHED.evaluate(documents)
    assert repr(documents) == before


def test_an_observer_sees_every_document_once():
    seen = []
    observers = {"seen": lambda members, _: seen.extend(members) or []}
    evaluate(NUMBERS.plan, [("a", [1], [1]), ("b", [1], [NAN])], ExecutionOptions(observers))
    assert [(pair.id, pair.failure is not None) for pair in seen] == [("a", False), ("b", True)]


def test_progress_is_reported_for_each_document_in_any_batch_size():
    kinds = {"type": "array", "items": {"type": ["object", "array"], "properties": {"a": {"type": "string"}}}}
    plan = Comparator(kinds).plan
    documents = [[{"a": "ab"}, ["x", "y"]], [{"a": "abcd"}, ["x", "z", "w"]], [["x"], {"a": "abc"}]]
    found = [Pair(f"{at}", None, one, [{"a": "abx"}, ["x"]]) for at, one in enumerate(documents)]
    alone, together = (Worker(plan, size=size)(iter(found)).steps for size in (1, 3))
    assert [one.tolist() for one in alone] == [one.tolist() for one in together]


def test_compared_documents_are_freed_without_the_garbage_collector():
    def read():
        for number in range(99):
            yield Pair(f"d{number}", None, {"speakers": [{"name": str(page)} for page in range(20)]}, {"page": number})

    worker = Worker(SPEAKERS.plan)
    worker(read())  # loads what is loaded on first use
    gc.freeze()
    gc.disable()
    try:
        worker(read())
        assert gc.collect() < 99
    finally:
        gc.enable()
        gc.unfreeze()


def test_garbage_is_collected_rarely_while_documents_are_compared():
    before, seen = gc.get_threshold(), []
    how = ExecutionOptions(on_results=lambda _: seen.append(gc.get_threshold()))
    evaluate(Comparator({"type": "string"}).plan, [("a", "x", "x")], how)
    assert seen == [RARELY]
    assert gc.get_threshold() == before


def test_the_last_of_several_threads_restores_the_thresholds():
    before, first, second = gc.get_threshold(), collecting_rarely(), collecting_rarely()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold() == RARELY
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before
