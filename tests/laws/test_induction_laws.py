"""The induction of docs/metricity.md, on lists with items by position and on keyed lists with duplicates."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arbitre
from arbitre import Comparator

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
    apart = np.array([[1.0 - comparator.compare(gold=x, predicted=y).quality for y in documents] for x in documents])
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
