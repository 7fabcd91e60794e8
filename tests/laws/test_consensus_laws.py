"""Laws of the consensus: identical documents, an outlier, and the order of annotators and documents."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.oracle.strategies import accepting, cases, documents, floored, moved, schemas, with_readings

from arbitre import Comparator
from arbitre.agreement import build_consensus
from arbitre.values import canonical

STRATEGIES = ["majority", "unanimity"]
SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@st.composite
def any_schema(draw):
    """A schema with any kind of list, floors, positions, maps and alternatives."""
    schema = draw(schemas())
    change = draw(st.sampled_from([None, floored, moved, accepting]))
    return schema if change is None else draw(change(schema))


def build(schema, annotations, strategy="majority"):
    return build_consensus(Comparator(schema), annotations, strategy=strategy)


def text(value):
    return json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(data=st.data(), annotators=st.integers(2, 5))
@SLOW
def test_the_consensus_of_identical_documents_is_that_document(strategy, data, annotators):
    schema = data.draw(any_schema())
    pages = {name: data.draw(documents(schema).flatmap(lambda gold: with_readings(schema, gold))) for name in "pq"}
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


@given(case=cases(), name=st.sampled_from("abc"))
@example(case=(WITHOUT_KEY, [[], [], None, [{}, {}]], []), name="b")
@example(case=(WITHOUT_KEY, [[], [], None, [{}, {}]], [[{}], []]), name="b")
@SLOW
def test_the_consensus_with_one_outlier_is_the_document_of_the_two_others(case, name):
    schema, gold, outlier = case
    annotations = {other: {"p": gold} for other in "abc"} | {name: {"p": outlier}}
    assert canonical(build(schema, annotations).documents["p"]) == canonical(gold)


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(data=st.data())
@SLOW
def test_the_order_of_annotators_and_documents_does_not_matter(strategy, data):
    schema = data.draw(any_schema())
    pages = {name: {page: data.draw(documents(schema)) for page in "pqr"} for name in "abc"}
    names, ids = data.draw(st.permutations("abc")), data.draw(st.permutations("pqr"))
    others = {name: {page: pages[name][page] for page in ids} for name in names}
    results = [build(schema, annotations, strategy) for annotations in (pages, others)]
    assert text(results[0].to_dict()) == text(results[1].to_dict())


@given(data=st.data())
@SLOW
def test_the_consensus_of_valid_documents_is_valid(data):
    schema = data.draw(schemas())
    pages = [data.draw(documents(schema)) for _ in range(3)]
    assume(all(Draft202012Validator(schema).is_valid(page) for page in pages))
    result = build(schema, {name: {"p": page} for name, page in zip("abc", pages, strict=True)})
    assert Draft202012Validator(schema).is_valid(result.documents["p"])


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
