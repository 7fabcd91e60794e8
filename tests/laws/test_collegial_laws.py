"""Properties of decisions on disagreements: decide for one annotator, for the proposals, or only in part."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.laws.test_consensus_laws import SLOW, any_schema
from tests.oracle.strategies import documents

from arbitre import Comparator
from arbitre.agreement import build_consensus
from arbitre.agreement.consensus.decisions import Decision, Decisions
from arbitre.paths import parse
from arbitre.values import ABSENT

pytestmark = pytest.mark.usefixtures("without_standing")


def text(value):
    return json.dumps(value, ensure_ascii=False)


@st.composite
def annotated(draw):
    """A schema whose lists have no order, and the valid documents of three annotators."""
    schema = json.loads(re.sub('"(ordered|sequence)"', '"hungarian"', text(draw(any_schema()))))
    pages = {name: {"p": draw(documents(schema))} for name in "abc"}
    assume(all(Draft202012Validator(schema).is_valid(page["p"]) for page in pages.values()))
    return Comparator(schema), pages


def revised(comparator, annotations, values):
    """The consensus with the decisions of Zoé, by the id of the disagreement."""
    made = {name: Decision(name, value, "Zoé", line=line) for line, (name, value) in enumerate(values.items(), 1)}
    return build_consensus(comparator, annotations, strategy="collegial", decisions=Decisions("decisions.jsonl", made))


def proposed(comparator, annotations):
    return build_consensus(comparator, annotations, strategy="collegial")


@given(case=annotated(), name=st.sampled_from("abc"))
@SLOW
def test_choosing_one_annotator_everywhere_gives_the_document_of_that_annotator(case, name):
    comparator, annotations = case
    chosen = {
        each.id: next(reading.value for reading in each.readings if reading.annotator == name)
        for each in proposed(comparator, annotations).disagreements
    }
    result = revised(comparator, annotations, chosen)
    theirs, ours = annotations[name]["p"], result.documents["p"]
    itself, result_quality = (comparator.compare(gold=theirs, predicted=each).quality for each in (theirs, ours))
    assert result_quality == pytest.approx(itself)
    assert result.provenance.disagreements.decided == result.provenance.disagreements.total


@given(case=annotated())
@SLOW
def test_choosing_every_proposal_changes_nothing(case):
    comparator, annotations = case
    before = proposed(comparator, annotations)
    result = revised(comparator, annotations, {each.id: each.proposal for each in before.disagreements})
    assert text(result.documents) == text(before.documents)
    origins = [origin for values in result.provenance.values.values() for origin in values.values()]
    assert {origin.by for origin in origins} <= {"Zoé"}


@given(case=annotated(), data=st.data())
@SLOW
def test_every_value_in_the_provenance_is_in_the_documents(case, data):
    comparator, annotations = case
    disagreements = proposed(comparator, annotations).disagreements
    values = {}
    for each in disagreements:
        if data.draw(st.booleans()):
            readings = [reading.value for reading in each.readings if reading.value is not ABSENT]
            values[each.id] = data.draw(st.sampled_from([*readings, each.proposal]))
    try:
        result = revised(comparator, annotations, values)
    except Exception as error:  # a mixture of valid documents can be invalid
        assume("The schema does not allow" not in str(error))
        raise
    for name, origins in result.provenance.values.items():
        for pointer in origins:
            value = result.documents[name]
            for token in parse(pointer):
                value = value[int(token)] if isinstance(value, list) else value[token]
    counts = result.provenance.disagreements
    assert len(values) - len(result.refused) <= counts.decided <= counts.total == len(disagreements)
