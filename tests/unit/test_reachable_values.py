"""Values possible at a place of the schema after normalisers and overrides: certificate and scores agree on them."""

from __future__ import annotations

import pytest

from arbitre import Comparator
from arbitre.normalizers import catalogue
from arbitre.values import Kind, kind_of

WORDS = ["aba", "ab"] * 32, ["aba", "ba"] * 32


def items(kind, **settings):
    return {"type": "array", "items": {"type": kind, "x-arbitre": settings}}


ESCAPES = [
    ({"type": "array"}, {"distance": "levenshtein"}, *WORDS),
    (True, {"distance": "levenshtein"}, *WORDS),
    (items("integer"), {"distance": "levenshtein"}, *WORDS),
    (
        items("string", normalize=["number"], distance={"tolerance": {"within": 1}}),
        {},
        ["0", "1"] * 32,
        ["1", "2"] * 32,
    ),
    (items("number", normalize=["text"], distance="levenshtein"), {}, [121, 12] * 32, [121, 21] * 32),
    (items("number", normalize=["digits"], distance="levenshtein"), {}, [121, 12] * 32, [121, 21] * 32),
    (items("integer", normalize=["text"], distance="levenshtein"), {}, [121, 12] * 32, [121, 21] * 32),
    (items("array", normalize=["concat"], distance="levenshtein"), {}, [[1, 21], [12]] * 32, [[12, 1], [21]] * 32),
    ({"type": "array"}, {"match": {"hungarian": {"gate": 0.6}}}, [["a", "b"], ["b"]] * 32, [["a"], ["b", "c"]] * 32),
    ({"type": "object"}, {"distance": "levenshtein"}, {"a": WORDS[0]}, {"a": WORDS[1]}),
    (
        {"type": "object", "additionalProperties": {}},
        {"distance": "levenshtein"},
        {"a": WORDS[0]},
        {"a": WORDS[1]},
    ),
]


@pytest.mark.parametrize(("schema", "options", "gold", "predicted"), ESCAPES)
def test_values_of_undeclared_kinds_are_certified_and_scored_exactly(schema, options, gold, predicted):
    comparator = Comparator(schema, **options)
    assert comparator.certificate.verdict == "not a metric"
    assert 0 not in comparator.plan.facts.match_equal_first
    scores = [
        comparator.compare(gold=gold, predicted=predicted, exhaustive=exhaustive).quality
        for exhaustive in (False, True)
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)


def test_an_untyped_array_is_scored_optimally_under_a_distance_that_is_no_metric():
    comparator = Comparator({"type": "array"}, distance="levenshtein")
    gold, predicted = WORDS
    assert comparator.compare(gold=gold, predicted=predicted).scores.f1q == pytest.approx(2 / 3)
    assert [(one.path, one.reason) for one in comparator.certificate.breaks] == [
        ("/*", "levenshtein violates the triangle inequality")
    ]


def test_breaks_by_undeclared_values_are_listed_once():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "m": items("integer")}}
    assert [(one.path, one.reason) for one in Comparator(schema, distance="levenshtein").certificate.breaks] == [
        ("", "levenshtein violates the triangle inequality, for values that the schema does not declare")
    ]
    schema["properties"]["name"] = {"type": "string"}
    assert [(one.path, one.reason) for one in Comparator(schema, distance="levenshtein").certificate.breaks] == [
        ("/name", "levenshtein violates the triangle inequality")
    ]


@pytest.mark.parametrize("schema", [True, {"type": "array"}, {"type": "object", "properties": {"a": items("string")}}])
def test_ordinary_schemas_keep_their_optimisations(schema):
    plan = Comparator(schema).plan
    assert plan.certificate.verdict == "metric"
    assert plan.facts.match_equal_first == frozenset(range(len(plan.sites)))


def test_a_set_only_requires_distance_zero_between_equal_items():
    text = {"type": "string", "x-arbitre": {"distance": "levenshtein"}}
    words = {"type": "array", "items": text, "x-arbitre": {"match": "set"}}
    lists = {"type": "array", "items": {"type": "object", "properties": {"words": words}}}
    comparator = Comparator(lists)
    assert comparator.certificate.breaks == ()
    assert 0 in comparator.plan.facts.match_equal_first
    assert Comparator(words | {"prefixItems": [text]}).certificate.verdict == "not a metric"
    inner = {"type": "array", "items": text, "x-arbitre": {"match": "greedy"}}
    assert Comparator(words | {"items": inner}).certificate.verdict == "not a metric"


def test_a_gate_of_0_forbids_nothing():
    gated = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"match": {"hungarian": {"gate": 0}}}}
    comparator = Comparator(gated)
    assert comparator.certificate.verdict == "metric"
    assert comparator.compare(gold=["a"], predicted=["b"]).scores.matched == 1


SAMPLES = [
    None,
    True,
    2,
    -0.5,
    "",
    "a",
    "12",
    " 1.5 ",
    "12-15",
    "3 1/2",
    "2 s. 6 d.",
    "IV",
    "2024-01-31",
    [],
    ["1", [2]],
    [True, None],
    {},
    {"a": 1},
]


@pytest.mark.parametrize("name", catalogue.entries)
def test_normalisers_yield_their_declared_kinds(name, tmp_path):
    file = tmp_path / "names.json"
    file.write_text('[{"name": "12", "variants": ["ab", "1"]}]', encoding="utf-8")
    options = {"authority": {"file": str(file)}, "mixed-units": {"units": {"s": 1, "d": 12}}}
    normalizer = catalogue.build({name: options.get(name, {})})
    made = {kind: set() for kind in Kind}
    for value in SAMPLES:
        made[kind_of(value)].add(kind_of(normalizer(value)))
    assert made == {kind: set(normalizer.kinds_of(kind)) for kind in Kind}
