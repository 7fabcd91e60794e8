"""Causes at the root of documents: wrapped and unwrapped documents, and predictions of other documents."""

import json
import random

import pytest

from arbitre import Comparator
from arbitre.causes.search import find_causes
from arbitre.inputs.projection import Projection
from arbitre.inputs.records import Pair

PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "born": {"type": "integer"}}}
PEOPLE = {"type": "array", "items": PERSON}
PAGE = {"type": "object", "properties": {"title": {"type": "string"}, "people": PEOPLE}}
REGISTER = {"type": "object", "properties": {"people": PEOPLE}}
NAMES = [
    "Barthe",
    "Barthou",
    "Briand",
    "Caillaux",
    "Clemenceau",
    "Doumergue",
    "Herriot",
    "Laval",
    "Painlevé",
    "Tardieu",
]


def people(rng):
    return [{"name": name, "born": rng.randrange(1840, 1900)} for name in rng.sample(NAMES, 3)]


def pages(number, seed=0):
    rng = random.Random(seed)  # noqa: S311
    return [{"title": f"Page {rng.randrange(10**6)}", "people": people(rng)} for _ in range(number)]


def analysed(schema, gold, predicted):
    """The causes that one explanation covers."""
    pairs = [Pair(f"page_{at}", None, *pair) for at, pair in enumerate(zip(gold, predicted, strict=True))]
    return [cause for cause in find_causes(Comparator(schema).plan, pairs).causes if cause.systematic]


def projected(cause, documents):
    """The documents after the projection that the advice names."""
    text = cause.advice[cause.advice.index("{") :].removesuffix(".")
    projection = Projection.from_expressions(json.loads(text))
    return [projection.predicted.apply(document) for document in documents]


@pytest.mark.parametrize("share", [1.0, 0.5])
@pytest.mark.parametrize(
    ("schema", "wrap"),
    [
        (PAGE, lambda one: {"data": one}),
        (PAGE, lambda one: {"the response": {"data": one}}),
        (PAGE, lambda one: {"status": "ok", "reasons": ["none"], "output": one}),
        (PAGE, lambda one: [one]),
        (PEOPLE, lambda one: {"people": one}),
        (PEOPLE, lambda one: [one]),
    ],
)
def test_wrapped_documents_are_unwrapped_by_the_projection_of_the_advice(schema, wrap, share):
    gold = pages(12) if schema is PAGE else [page["people"] for page in pages(12)]
    predicted = [wrap(one) if at < share * 12 else one for at, one in enumerate(gold)]
    (cause,) = analysed(schema, gold, predicted)
    assert (cause.kind, cause.side, cause.change, cause.documents) == ("wrapped-root", "prediction", None, share * 12)
    before = Comparator(schema).evaluate(list(zip(map(str, range(12)), gold, predicted, strict=True))).micro.f1q
    assert cause.gain == pytest.approx(1.0 - before)
    assert projected(cause, predicted) == gold


@pytest.mark.parametrize("share", [1.0, 0.5])
@pytest.mark.parametrize(
    ("schema", "gold", "unwrap"),
    [
        (REGISTER, [{"people": page["people"]} for page in pages(12)], lambda one: one["people"]),
        (PAGE, pages(12), lambda one: one["people"]),
        (
            {"type": "object", "properties": {"page": PAGE}},
            [{"page": one} for one in pages(12)],
            lambda one: one["page"],
        ),
        ({"type": "array", "items": PAGE}, [[one] for one in pages(12)], lambda one: one[0]),
    ],
)
def test_unwrapped_documents_are_wrapped_by_the_projection_of_the_advice(schema, gold, unwrap, share):
    predicted = [unwrap(one) if at < share * 12 else one for at, one in enumerate(gold)]
    (cause,) = analysed(schema, gold, predicted)
    assert (cause.kind, cause.side, cause.documents) == ("unwrapped-root", "prediction", share * 12)
    wrapped = projected(cause, predicted)
    assert wrapped == [{"people": one["people"]} if schema is PAGE and at < share * 12 else one
                       for at, one in enumerate(gold)]  # fmt: skip


def test_three_unwrapped_documents_are_a_cause_although_each_is_one_fault():
    gold = [{"people": page["people"]} for page in pages(12)]

    def found(number):
        return analysed(REGISTER, gold, [one["people"] if at < number else one for at, one in enumerate(gold)])

    assert found(2) == []
    (cause,) = found(3)
    assert (cause.kind, cause.count, cause.documents) == ("unwrapped-root", 3, 3)


def test_documents_are_unwrapped_before_their_keys_are_compared():
    gold = pages(12)
    predicted = [{"data": {"title": one["title"], "persons": one["people"]}} for one in gold]
    assert {cause.kind for cause in analysed(PAGE, gold, predicted)} == {"wrapped-root", "renamed-key"}


def test_documents_with_other_content_are_not_wrapped():
    gold = pages(12)
    other = [{"comment": "no such page", "metadata": {"tokens": 12}} for _ in gold]
    lists = [["Barthe", "Briand"] for _ in gold]
    extra = [{**one, "data": {"title": one["title"]}} for one in gold]
    for predicted in (other, lists, extra):
        assert analysed(PAGE, gold, predicted) == []


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("stretch", [(0, 12), (3, 9)])
def test_predictions_of_the_neighbouring_documents_are_exchanged(step, stretch):
    gold, (first, last) = pages(12), stretch
    moved = gold[first:last]
    predicted = [*gold[:first], *moved[step:], *moved[:step], *gold[last:]]
    (cause,) = analysed(PAGE, gold, predicted)
    name = "next" if step > 0 else "previous"
    assert (cause.kind, cause.side, cause.documents) == ("page-shifted", "prediction", last - first)
    assert f"belong to the {name} document" in cause.advice
    assert cause.gain == pytest.approx(1.0 - Comparator(PAGE).evaluate(
        list(zip(map(str, range(12)), gold, predicted, strict=True))).micro.f1q)  # fmt: skip


def test_unrelated_predictions_and_two_exchanged_documents_are_not_shifted():
    gold = pages(12)
    swapped = [*gold[:4], gold[5], gold[4], *gold[6:]]
    assert analysed(PAGE, gold, pages(12, seed=1)) == []
    assert analysed(PAGE, gold, swapped) == []


def test_a_run_of_a_single_document_has_no_neighbours():
    gold, other = pages(6), pages(6, seed=1)
    pairs = [(str(number), *pair) for number, pair in enumerate(zip(gold, other, strict=True))]
    evaluation = Comparator(PAGE).evaluate([*pairs, ("5", gold[5], other[0])])  # the second run of document 5
    assert [cause for cause in evaluation.causes if cause.kind == "page-shifted"] == []
