"""Properties of the consensus: identical documents, one outlier, and the order of annotators and documents."""

from __future__ import annotations

import json
from statistics import fmean

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.oracle.strategies import accepting, cases, documents, floored, moved, schemas, with_forms

from arbitre import Comparator
from arbitre.agreement import build_consensus
from arbitre.values import canonical

STRATEGIES = ["minimum-risk", "majority", "unanimity"]
SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@st.composite
def any_schema(draw):
    """A schema with any kind of list, floors, positions, maps and alternatives."""
    schema = draw(schemas())
    change = draw(st.sampled_from([None, floored, moved, accepting]))
    return schema if change is None else draw(change(schema))


def build(schema, annotations, strategy="minimum-risk"):
    return build_consensus(Comparator(schema), annotations, strategy=strategy)


def text(value):
    return json.dumps(value, ensure_ascii=False)


@pytest.mark.usefixtures("without_standing")
@given(data=st.data(), annotators=st.integers(2, 5), strategy=st.sampled_from(STRATEGIES))
@SLOW
def test_the_consensus_of_identical_documents_is_that_document(data, annotators, strategy):
    schema = data.draw(any_schema())
    pages = {name: data.draw(documents(schema).flatmap(lambda gold: with_forms(schema, gold))) for name in "pq"}
    assume(any(page is not None for page in pages.values()))
    result = build(schema, {f"{number}": pages for number in range(annotators)}, strategy)
    assert text(result.documents) == text(pages)
    assert result.disagreements == ()
    assert all(counts.unanimous == counts.total for counts in result.by_path.values())


WITHOUT_KEY = {
    "type": "array",
    "items": {
        "type": ["array", "null"],
        "items": {"type": "object", "properties": {"k": {"type": "string"}}},
        "x-arbitre": {"match": {"keyed": {"key": "k"}}},
    },
}
"""Lists of items without their key, which have quality 0 even compared with themselves."""


@pytest.mark.usefixtures("without_standing")
@given(case=cases(), name=st.sampled_from("abc"), strategy=st.sampled_from(STRATEGIES[:2]))
@example(case=(WITHOUT_KEY, [[], [], None, [{}, {}]], []), name="b", strategy="majority")
@example(case=(WITHOUT_KEY, [[], [], None, [{}, {}]], [[{}], []]), name="b", strategy="minimum-risk")
@SLOW
def test_the_consensus_with_one_outlier_is_the_document_of_the_two_others(case, name, strategy):
    schema, gold, outlier = case
    annotations = {other: {"p": gold} for other in "abc"} | {name: {"p": outlier}}
    assert canonical(build(schema, annotations, strategy).documents["p"]) == canonical(gold)


@given(data=st.data(), strategy=st.sampled_from(STRATEGIES))
@SLOW
def test_the_order_of_annotators_and_documents_and_the_names_of_annotators_do_not_matter(data, strategy):
    schema = data.draw(any_schema())
    pages = {name: {page: data.draw(documents(schema)) for page in "pq"} for name in "abc"}
    names, ids, renamed = (data.draw(st.permutations(each)) for each in ("abc", "pq", "abc"))
    others = {name: {page: pages[name][page] for page in ids} for name in names}
    results = [build(schema, annotations, strategy) for annotations in (pages, others)]
    assert text(results[0].to_dict()) == text(results[1].to_dict())
    again = build(schema, dict(zip(renamed, pages.values(), strict=True)), strategy)
    assert text(results[0].documents) == text(again.documents)
    assert [own.id for own in results[0].disagreements] == [own.id for own in again.disagreements]


@pytest.mark.usefixtures("without_standing")
@given(data=st.data(), annotators=st.integers(2, 4))
@SLOW
def test_the_consensus_is_never_worse_than_the_medoid(data, annotators):
    """The f1q over the annotators, without that of an annotator with itself."""
    schema = data.draw(schemas())
    pages = [data.draw(documents(schema)) for _ in range(annotators)]
    assume(None not in pages)
    comparator = Comparator(schema)

    def expected(predicted, others):
        each = [comparator.compare(gold=gold, predicted=predicted).scores.f1q for gold in others]
        return fmean(1.0 if value is None else value for value in each)

    valid = Draft202012Validator(schema).is_valid
    agreed = build(schema, {name: {"p": page} for name, page in zip("abcd", pages, strict=False)}).documents["p"]
    medoids = [
        expected(page, [other for number, other in enumerate(pages) if number != at])
        for at, page in enumerate(pages)
        if valid(page) or not valid(agreed)
    ]
    assert not any(map(valid, pages)) or valid(agreed)
    if not medoids:  # no document is valid, but their consensus is
        return
    if agreed in pages:
        at = pages.index(agreed)
        assert expected(agreed, pages[:at] + pages[at + 1 :]) >= max(medoids) - 1e-8 or (
            expected(agreed, pages) >= max(medoids) - 1e-8
        )
    else:
        assert expected(agreed, pages) >= max(medoids) - 1e-8


@pytest.mark.usefixtures("without_standing")
@given(data=st.data())
@SLOW
def test_the_consensus_of_valid_documents_is_valid(data):
    schema = data.draw(schemas())
    pages = [data.draw(documents(schema)) for _ in range(3)]
    assume(all(Draft202012Validator(schema).is_valid(page) for page in pages))
    result = build(schema, {name: {"p": page} for name, page in zip("abc", pages, strict=True)})
    assert Draft202012Validator(schema).is_valid(result.documents["p"])


@pytest.mark.usefixtures("without_standing")
@given(data=st.data())
@SLOW
def test_disagreements_have_different_ids_and_weights_of_at_most_1(data):
    schema = data.draw(any_schema())
    pages = {name: {page: data.draw(documents(schema)) for page in "pq"} for name in "abc"}
    result = build(schema, pages)
    ids = [disagreement.id for disagreement in result.disagreements]
    assert len(set(ids)) == len(ids)
    for disagreement in result.disagreements:
        assert 0.0 <= disagreement.weight <= 1.0
        assert 0.0 <= disagreement.support <= 1.0
        assert len(disagreement.readings) == 3
