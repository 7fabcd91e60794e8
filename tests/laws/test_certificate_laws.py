"""Certified metrics satisfy the axioms on random documents, and certified list distances the triangle inequality."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.builders import METRIC, NEITHER, PSEUDO, VERDICTS, canonical, distances, edited, parts
from tests.laws import test_distance_laws as distance_laws
from tests.laws import test_matcher_laws as matcher_laws

import arbitre
from arbitre import Comparator
from arbitre.engine import compare_to_levels

NEAR = 1e-9
slow = settings(suppress_health_check=list(HealthCheck))


@st.composite
def chains(draw, worst):
    """A part, a document of it, and others each of which is the last one with a few edits."""
    part = draw(parts(worst=worst))
    documents = [draw(part.documents)]
    for _ in range(4):
        documents.append(draw(edited(part, documents[-1])))
    return part, documents


def measured(part, documents):
    comparator = Comparator(part.schema)
    return comparator.certificate.verdict, distances(comparator.plan, documents)


@slow
@given(case=chains(METRIC))
def test_a_certified_metric_satisfies_the_axioms(case):
    part, documents = case
    verdict, table = measured(part, documents)
    assert verdict == "metric"
    check_pseudometric(table)
    known = [canonical(part, document) for document in documents]
    assert (table <= NEAR).tolist() == [[one == other for other in known] for one in known]


@slow
@given(case=chains(PSEUDO))
def test_a_certified_pseudo_metric_satisfies_the_axioms(case):
    part, documents = case
    verdict, table = measured(part, documents)
    assert verdict == VERDICTS[part.verdict]
    check_pseudometric(table)


def check_pseudometric(table):
    assert table.diagonal() == pytest.approx(np.zeros(len(table)), abs=NEAR)
    assert table == pytest.approx(table.T, abs=NEAR)
    assert (table[:, None, :] <= table[:, :, None] + table[None, :, :] + NEAR).all()


@slow
@given(part=parts(worst=NEITHER))
def test_the_verdict_equals_that_of_the_worst_part(part):
    certificate = Comparator(part.schema).certificate
    assert certificate.verdict == VERDICTS[part.verdict]
    assert bool(certificate.breaks) == (part.verdict != METRIC)
    assert all(found.reason and found.remedy for found in certificate.breaks)


# every reason for which a certificate is refused, at work in whole documents

DENIED = [law for law in distance_laws.LAWS if not law.distance.facts.metric and law.name != "date"]
"""Days are apart however they are written: `date` keeps the certificate."""
TYPES = {str: "string", bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}


def violated(fact, table):
    """Whether the distances between the values of a witness break a fact."""
    if fact == "identity":
        return table[0, 0] > NEAR
    if fact == "separating":
        return table[0, 1] <= NEAR
    if fact in ("symmetric", "symmetry"):
        return abs(table[0, 1] - table[1, 0]) > NEAR
    return table[0, 2] > table[0, 1] + table[1, 2] + NEAR


@pytest.mark.parametrize("law", DENIED, ids=lambda law: str(law.choice)[:60])
def test_a_distance_that_costs_the_certificate_breaks_it_in_a_document(law):
    distance_laws.skip_without_library(law)
    facts, options = law.distance.facts, {"distance": law.choice}
    leaf = {
        "type": TYPES[type((facts.witness or law.values)[0])],
        "x-arbitre": options if law.floor is None else options | {"floor": law.floor},
    }
    entries = {"type": "array", "items": {"type": "object", "properties": {"b": leaf}}}
    comparator = Comparator({"type": "object", "properties": {"a": entries}})
    assert [found.path for found in comparator.certificate.breaks] == ["/a/*/b"]
    assert comparator.certificate.verdict == ("pseudo-metric" if facts.pseudometric else "not a metric")
    first = next(fact for fact in distance_laws.FACTS if not getattr(facts, fact))
    witnesses = [(fact, [{"a": [{"b": value}]} for value in witness]) for fact, witness in law.witnesses.items()]
    if law.floor is None:
        witnesses.append((first, [{"a": [{"b": value}]} for value in facts.witness]))
    else:  # the witness depends on the floor: it is searched for
        witnesses.append((first, comparator.certificate.breaks[0].witness))
    for fact, documents in witnesses:
        assert violated(fact, distances(comparator.plan, documents))


@pytest.mark.parametrize(
    "law",
    [law for law in matcher_laws.LAWS if not (law.metric and law.separating)],
    ids=lambda law: str(law.choice),
)
def test_a_matching_that_costs_the_certificate_breaks_it_in_a_document(law):
    lists = {"type": "array", "items": law.items, "x-arbitre": {"match": law.choice}}
    comparator = Comparator({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": lists}}}})
    assert [found.path for found in comparator.certificate.breaks] == ["/a/b"]
    assert comparator.certificate.verdict == ("pseudo-metric" if law.metric else "not a metric")
    facts = [fact for fact in ("identity", "symmetry", "triangle", "separating") if fact in law.witnesses]
    assert facts
    for fact in facts:
        witness = [{"a": {"b": value}} for value in law.witnesses[fact]]
        assert violated(fact, distances(comparator.plan, witness))


ITEM = {
    "type": "object",
    "properties": {"key": {"type": "string"}, "value": {"type": "string"}, "page": {"type": "number"}},
}
PAIR = [{"type": "string"}, {"type": "number"}]
MATCHINGS = ["hungarian", "ordered", "set", {"keyed": {"key": "key"}}]

TEXTS = st.text("ab", max_size=3)
ITEMS = st.fixed_dictionaries({"key": st.sampled_from("kl")}, optional={"value": TEXTS, "page": st.integers(0, 3)})
LISTS = st.lists(ITEMS, max_size=4)
PREFIXED = st.tuples(TEXTS | st.none(), st.integers(0, 3) | st.none(), LISTS).map(lambda one: [one[0], one[1], *one[2]])
TRIPLES = 6


def judge(match, *, prefixed):
    made = {"type": "array", "items": ITEM, "x-arbitre": {"match": match}}
    return Comparator(made | {"prefixItems": PAIR} if prefixed else made)


@pytest.mark.parametrize("prefixed", [False, True], ids=["items", "prefix"])
@pytest.mark.parametrize("match", MATCHINGS, ids=str)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_certified_list_distance_breaks_no_triangle_on_any_page(match, prefixed, data):
    """Three documents at a time; with two keys and up to four items, keys are often given twice."""
    comparator = judge(match, prefixed=prefixed)
    assert comparator.certificate.verdict == "metric"
    documents = data.draw(st.lists(PREFIXED if prefixed else LISTS, min_size=TRIPLES, max_size=TRIPLES))
    sides = zip(*itertools.product(documents, repeat=2), strict=True)
    quality = compare_to_levels(comparator.plan, *map(list, sides))[0].quality
    apart = 1.0 - quality.reshape(TRIPLES, TRIPLES)
    found = arbitre.metricity(apart)
    assert (found.metricity, found.triangle_rate, found.symmetry_defect, found.identity_defect) == (1.0, 0.0, 0.0, 0.0)
    worst = max(apart[x, z] - apart[x, y] - apart[y, z] for x, y, z in itertools.product(range(TRIPLES), repeat=3))
    assert worst < 1e-14


def test_a_gate_breaks_the_induction():
    """The composed matching holds a pair that the gate forbids."""
    item = {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 1}}}}
    gated = Comparator({"type": "array", "items": item, "x-arbitre": {"match": {"hungarian": {"gate": 0.7}}}})
    d = {(x, y): 1.0 - gated.compare(gold=[x], predicted=[y]).quality for x, y in [(0, 0.5), (0, 0.25), (0.25, 0.5)]}
    assert d[0, 0.5] > d[0, 0.25] + d[0.25, 0.5] + 0.4
