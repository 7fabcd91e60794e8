"""Certificate, scores and optimisations agree with computed distances, for all types, normalisers and distances.

Each case compares a fixed pool of documents, most of them not valid, each with each, in three engine modes.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

from arbitre import Comparator
from arbitre.engine.columns.build import build_columns
from arbitre.engine.columns.row_keys import row_codes
from arbitre.engine.solve.batches import CellLimits
from arbitre.engine.solve.solver import QualitySolver
from arbitre.errors import SchemaError
from arbitre.schema.validate import find_violations

NEAR = 1e-9

TYPES = [
    {"type": "string"},
    {"type": "number"},
    {"type": "integer"},
    {"type": "boolean"},
    {"type": "array"},
    {"type": ["string", "number"]},
    {"type": ["string", "array"]},
    {"type": "string", "format": "date"},
    {"enum": ["ab", "aba", "ba"]},
    {"enum": ["1", "12"]},
    {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    {},
]
NORMALIZE = [["number"], ["numbers"], ["text"], ["digits"], ["concat"], ["lower"], ["text", "number"], ["date"]]
TEXTUAL = ["levenshtein", "yujian-bo", "osa", "jaro", "ratcliff-obershelp", "token-sort", "token-set", "rouge-1"]
NUMERIC = [{"tolerance": {"within": 0.5}}, {"tolerance": {"within": 1}}, {"rounded": {"grid": 5}}, "relative"]
DISTANCES = [*TEXTUAL, *NUMERIC, {"cycle": {"period": 12}}, "date", "jaccard", "dice", "exact"]
DISTANCES += [{"ordinal": {"order": ["ab", "ba", "1"]}}, {"absolute": {"scale": 10}}]
MATCHES = [
    "hungarian",
    {"hungarian": {"gate": 0}},
    {"hungarian": {"gate": 0.6}},
    "greedy",
    "ordered",
    "sequence",
    "set",
]
MATCHES += [{"transport": {}}, {"transport": {"solver": "dummy", "lambda": 0.2}}, {"keyed": {"key": "k"}}]

VALUES = ["ab", "aba", "ba", "1", "2", "12", 1, 2, 12, 0.25, True, "2024-01-31", "a b", ["ab"], ["aba"], [1, 2], [2, 1]]
VALUES += [{"k": "ab"}, {"k": "aba"}, {"k": "ba"}, [["ab"], ["aba"]], [["aba"], ["ba"]], "", [], {}]


def within(*items):
    return [*items, "ab", 12, "1"]


SHAPES = {
    "alone": (lambda leaf, _: leaf, lambda a, _: [a]),
    "list": (lambda leaf, match: {"type": "array", "items": leaf} | match, lambda a, b: [[a], [a, b], within(b, a)]),
    "object": (
        lambda leaf, _: {"type": "object", "properties": {"k": leaf, "l": {"type": "integer"}}},
        lambda a, b: [{"k": a}, {"k": a, "l": 1}, {"k": b, "other": a}],
    ),
    "map": (
        lambda leaf, _: {"type": "object", "additionalProperties": leaf},
        lambda a, b: [{"p": a}, {"p": a, "q": b}],
    ),
    "objects": (
        lambda leaf, match: {"type": "array", "items": {"type": "object", "properties": {"k": leaf}}} | match,
        lambda a, b: [[{"k": a}], [{"k": a}, {"k": b}], [{"k": b}, a]],
    ),
    "lists": (
        lambda leaf, match: {"type": "array", "items": {"type": "array", "items": leaf} | match},
        lambda a, b: [[[a]], [[a, b], [b]], [[b, a, "ab"]]],
    ),
    "tuple": (
        lambda leaf, match: {"type": "array", "prefixItems": [leaf], "items": leaf} | match,
        lambda a, b: [[a], [a, b], [b, a, "ab"]],
    ),
}


@st.composite
def cases(draw):
    """A schema, what is put in its place, and a pool of documents."""
    leaf = dict(draw(st.sampled_from(TYPES)))
    options = {}
    if draw(st.booleans()):
        options["distance"] = draw(st.sampled_from(DISTANCES))
    if draw(st.booleans()):
        options["normalize"] = draw(st.sampled_from(NORMALIZE))
    if options:
        leaf["x-arbitre"] = options
    match = {"x-arbitre": {"match": draw(st.sampled_from(MATCHES))}} if draw(st.booleans()) else {}
    schema, documents = SHAPES[draw(st.sampled_from(sorted(SHAPES)))]
    instead = {}
    if draw(st.integers(0, 2)) == 0:
        instead["distance"] = draw(st.sampled_from(DISTANCES))
    if draw(st.integers(0, 2)) == 0:
        instead["match"] = draw(st.sampled_from(MATCHES))
    pool = [made for a, b in zip(VALUES, VALUES[1:] + VALUES[:1], strict=True) for made in documents(a, b)]
    start = draw(st.integers(0, 5))
    return schema(leaf, match), instead, pool[start::2][:24]


def measured(plan, documents, how=QualitySolver()):  # noqa: B008  (solvers have no state)
    """The distance of every document to every one, and a code for each, the same for equal canonical values."""
    size = len(documents)
    root = build_columns(plan, documents, documents)[0]
    alive = np.ones(size, dtype=bool) if root.present is None else root.present[:size]
    rows = np.arange(size)
    batch = how.evaluate(root, rows.repeat(size), np.tile(rows, size) + size)
    table = 1.0 - batch.quality.reshape(size, size)
    return table[np.ix_(alive, alive)], row_codes(root)[:size][alive]


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_certified_facts_hold_for_computed_distances(case):
    schema, instead, documents = case
    try:
        comparator = Comparator(schema, **instead)
    except SchemaError:  # refused: the distance compares nothing here
        reject()
    plan, certificate = comparator.plan, comparator.certificate
    table, codes = measured(plan, documents)
    for exhaustive in (True, False):
        lazily = QualitySolver(exhaustive, CellLimits(lazy=1, plain_lazy=0))
        assert measured(plan, documents, lazily)[0] == pytest.approx(table, abs=NEAR)
    if certificate.assumes:
        keyed = any("key" in one.condition for one in certificate.assumes)
        assume(not keyed)  # where items have no key, nothing is promised
        kept = [not find_violations(plan.root, document) for document in documents]
        assume(len(kept) == len(codes))
        table, codes = table[np.ix_(kept, kept)], codes[np.array(kept, dtype=bool)]
    licensed = 0 in plan.facts.match_equal_first
    if certificate.verdict == "not a metric":
        assert not licensed
        return
    assert licensed or certificate.assumes
    assert table.diagonal() == pytest.approx(np.zeros(len(table)), abs=NEAR)
    assert table == pytest.approx(table.T, abs=NEAR)
    assert (table[:, None, :] <= table[:, :, None] + table[None, :, :] + NEAR).all()
    if certificate.verdict == "metric":
        apart = table > NEAR
        dates = "date" in str(case)  # days and instants are written in several ways
        assert dates or (apart == (codes[:, None] != codes)).all()
