"""Documents given as counterexamples are valid against the schema, and their distances break the stated axiom."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from tests.builders import NEITHER, parts
from tests.laws import test_distance_laws as distance_laws
from tests.laws import test_matcher_laws as matcher_laws

from arbitre import Comparator
from arbitre.schema.validate import find_violations

NEAR = 1e-9
TYPES = {str: "string", bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}
OVERLAPPING = {"span": {"overlap": "any"}}
"""Its known witness shows that it is not separating; the search has no spans for the triangle inequality."""
WORD = {"type": "string"}
PERSON = {
    "type": "object",
    "properties": {"name": WORD, "age": {"type": "integer", "minimum": 18, "maximum": 99}, "sex": {"enum": ["f", "m"]}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
PEOPLE = {"type": "object", "properties": {"people": {"type": "array", "items": PERSON, "minItems": 2}}}


def check(comparator, broken):
    """The witness, once it is seen to violate the fact; None where none was found."""
    documents = broken.witness
    if documents is None:
        return None
    assert not any(find_violations(comparator.plan.root, document) for document in documents)

    def distance(first, second):
        return 1.0 - comparator.compare(gold=documents[first], predicted=documents[second]).quality

    if len(documents) == 1:
        assert distance(0, 0) > NEAR
        violated = "identity"
    elif len(documents) == 3:
        assert distance(0, 2) > distance(0, 1) + distance(1, 2) + NEAR
        violated = "triangle"
    elif broken.fact == "separating":
        assert distance(0, 1) <= NEAR
        assert documents[0] != documents[1]
        violated = "separating"
    else:
        assert abs(distance(0, 1) - distance(1, 0)) > NEAR
        violated = "symmetric"
    assert violated == broken.fact or (broken.fact == "metric" and violated != "separating")
    return documents


@pytest.mark.parametrize(
    "law",
    [
        law
        for law in distance_laws.LAWS
        if not (law.distance.facts.metric or law.floor or law.name == "date" or law.choice == OVERLAPPING)
    ],
    ids=lambda law: str(law.choice)[:60],
)
def test_every_distance_that_breaks_has_a_witness_in_a_document(law):
    distance_laws.skip_without_library(law)
    leaf = {"type": TYPES[type(law.distance.facts.witness[0])], "x-arbitre": {"distance": law.choice}}
    entries = {"type": "array", "items": {"type": "object", "properties": {"b": leaf}, "required": ["b"]}}
    comparator = Comparator({"type": "object", "properties": {"a": entries}})
    (broken,) = comparator.certificate.breaks
    assert check(comparator, broken)


@pytest.mark.parametrize(
    "law",
    [law for law in matcher_laws.LAWS if not (law.metric and law.separating)],
    ids=lambda law: str(law.choice),
)
def test_every_matching_that_breaks_has_a_witness_in_a_document(law):
    lists = {"type": "array", "items": law.items, "x-arbitre": {"match": law.choice}}
    comparator = Comparator({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": lists}}}})
    (broken,) = comparator.certificate.breaks
    assert check(comparator, broken)


@pytest.mark.parametrize(
    "options",
    [
        {"distance": "levenshtein"},
        {"distance": "ratcliff-obershelp"},
        {"distance": "token-sort"},
        {"match": "greedy"},
        {"match": "sequence"},
        {"match": {"hungarian": {"gate": 0.7}}},
        {"match": "transport"},
        {"match": {"transport": {"solver": "sinkhorn"}}},
    ],
    ids=str,
)
@pytest.mark.parametrize("schema", [PEOPLE, {"type": "array"}, True, {"type": "object"}], ids=str)
def test_breaks_caused_by_overrides_have_witnesses(schema, options):
    comparator = Comparator(schema, **options)
    breaks = comparator.certificate.breaks
    assert breaks
    assert all(check(comparator, broken) for broken in breaks)


def test_no_witness_uses_values_that_the_schema_excludes():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
    (broken,) = Comparator(schema, distance="levenshtein").certificate.breaks
    assert broken.witness is None
    assert broken.reason.endswith("for values that the schema does not declare")


@settings(suppress_health_check=list(HealthCheck))
@given(part=parts(worst=NEITHER, depth=2))
def test_witnesses_of_generated_schemas_violate_their_distance(part):
    comparator = Comparator(part.schema)
    for broken in comparator.certificate.breaks:
        check(comparator, broken)
