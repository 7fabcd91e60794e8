"""Random schemas with random documents: only typed errors, and the invariants of the measures.

A fuzzer in the style of schemathesis. It draws every keyword, references within the schema, and annotations that are
right, wrong or mutated. Each example compares several pairs of documents and evaluates them as a corpus, in one process
and in two.
"""

from __future__ import annotations

import json
import math
import random
from contextlib import suppress
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from arbitre import Comparator
from arbitre.corpus.evaluate import ExecutionOptions, evaluate
from arbitre.corpus.executors import ProcessPool
from arbitre.errors import ArbitreError, SchemaError
from arbitre.matching import catalogue as matchers

DRAFTS = ["https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema"]
DRAFTS += [f"http://json-schema.org/draft-0{number}/schema#" for number in (3, 4, 6, 7)]
KEYS = st.sampled_from(["a", "b", "c", "x/y", "~", "*", ""])
NUMBERS = st.sampled_from([0, 1, -1, 0.5, 1.0, 1e300, -0.0, 2**63, 10**30])
SCALARS = st.none() | st.booleans() | NUMBERS | st.text("abé \ud800\U0001f600", max_size=4)
VALUES = st.recursive(
    SCALARS, lambda part: st.lists(part, max_size=4) | st.dictionaries(KEYS, part, max_size=4), max_leaves=12
)
ROGUES = st.sampled_from([float("nan"), float("inf"), (1,), {1: 2}, 10**5000, object])
DOCUMENTS = st.one_of(*[VALUES] * 15, st.tuples(VALUES, ROGUES).map(list))
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
REFERENCES = st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/definitions/a", "#/nowhere", "#anchor", "other.json"])
PATTERNS = st.sampled_from(["^a", "b$", "", "(", "[a-z]+"])
SETTINGS = {
    "match": st.sampled_from([*matchers.names, *({"transport": {"solver": name}} for name in ("dummy", "sinkhorn"))])
    | st.just({"hungarian": {"gate": 0.5}}),
    "distance": st.sampled_from(["exact", "levenshtein", "relative", "date", "jaccard", "rouge-s", "chrf", "nowhere"])
    | st.just({"absolute": {"scale": 2}}),
    "normalize": st.lists(st.sampled_from(["casefold", "strip", "number", "nowhere"]), max_size=2),
    "weight": st.sampled_from([1, 0.3, 2, 0, -1, 1e300]),
    "absent": st.lists(st.sampled_from([None, "", [], {}]), max_size=3),
    "entries": st.booleans(),
    "ignore": st.booleans(),
    "aliases": st.lists(st.sampled_from(["/a", "b", "a/b", ".."]), max_size=2),
}


def mutated(strategy):
    """Mostly the strategy, now and then any value."""
    return st.integers(0, 15).flatmap(lambda roll: VALUES if roll == 15 else strategy)


def keywords(part):
    parts, named = st.lists(part, max_size=3), st.dictionaries(KEYS, part, max_size=3)
    several = st.lists(part, min_size=1, max_size=3)
    table = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "properties": named,
        "patternProperties": st.dictionaries(PATTERNS, part, max_size=2),
        "dependentSchemas": named,
        "dependencies": st.dictionaries(KEYS, part | st.lists(KEYS, min_size=1, max_size=2, unique=True), max_size=2),
        "prefixItems": several,
        "items": part | parts,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "required": st.lists(KEYS, min_size=1, max_size=2, unique=True),
        "pattern": PATTERNS,
        "format": st.sampled_from(["date", "date-time", "uri", "nowhere"]),
        "minItems": NUMBERS,
        "uniqueItems": st.booleans(),
        "$ref": REFERENCES,
        "$dynamicRef": REFERENCES,
        "$recursiveRef": st.just("#"),
        "$anchor": st.just("anchor"),
        "$dynamicAnchor": st.just("anchor"),
        "$id": st.sampled_from(["http://example.com/a", "b.json"]),
        "$schema": st.sampled_from(DRAFTS),
        "$defs": st.fixed_dictionaries({}, optional={"a": part, "b": part}),
        "definitions": st.fixed_dictionaries({}, optional={"a": part}),
        "x-arbitre": st.lists(st.sampled_from(sorted(SETTINGS)), max_size=2).flatmap(
            lambda names: st.fixed_dictionaries({name: mutated(SETTINGS[name]) for name in names})
        ),
    }
    below = ("additionalProperties", "unevaluatedProperties", "unevaluatedItems", "additionalItems", "contains")
    table |= dict.fromkeys((*below, "propertyNames", "not", "if", "then", "else", "extends"), part)
    return st.lists(st.sampled_from(sorted(table)), max_size=4, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: mutated(table[name]) for name in names})
    )


SCHEMAS = st.recursive(st.booleans() | st.just({}) | st.fixed_dictionaries({"type": TYPES}), keywords, max_leaves=10)


NAMES = ("precision", "recall", "f1", "imq", "irq", "f1q", "amq", "omq", "omq_imq", "quality")


def hold(schema, pairs, processes=None):
    """Check what holds for any schema and documents; return the number of comparisons."""
    try:
        comparator = Comparator(schema)
    except SchemaError:
        return 0
    compared = {}
    for number, (gold, predicted) in enumerate(pairs):
        try:
            comparison = comparator.compare(gold=gold, predicted=predicted)
        except ArbitreError:
            continue
        compared[str(number)] = comparison
        written = json.dumps(comparison.to_dict())
        assert type(comparison).from_dict(json.loads(written)).quality == comparison.quality
        scores = comparison.scores.to_dict()
        assert 0.0 <= comparison.quality <= 1.0
        near = 1e-9 * (1.0 + scores["gold"] + scores["predicted"])
        assert scores["matched"] <= min(scores["gold"], scores["predicted"]) + near
        assert all(scores[name] is None or -near <= scores[name] <= 1.0 + near for name in NAMES)
        share = sum(leaf.share for leaf in comparison.explain())
        assert share == pytest.approx(1.0) or share == 0.0
        with suppress(SchemaError):
            assert isinstance(comparison.violations, tuple)
    triples = [(str(number), gold, predicted) for number, (gold, predicted) in enumerate(pairs)]
    try:
        evaluation = comparator.evaluate(triples)
    except ArbitreError:
        return len(compared)
    results = {result.key: result for result in evaluation.documents}
    for name, comparison in compared.items():
        assert results[name].quality == comparison.quality
        assert results[name].scores.to_dict() == comparison.scores.to_dict()
    if processes is not None:
        again = evaluate(comparator.plan, triples, ExecutionOptions(executor=processes))
        assert json.dumps(again.to_dict()) == json.dumps(replace(evaluation, cause_factory=None).to_dict())
    else:
        f1q, lost = evaluation.cause_analysis.f1q, math.fsum(cause.cost for cause in evaluation.causes)
        assert f1q is None or lost == pytest.approx(1.0 - f1q, abs=1e-9)
    return len(compared)


EXAMPLES = st.tuples(SCHEMAS, st.lists(st.tuples(DOCUMENTS, DOCUMENTS), min_size=1, max_size=8))
UNHURRIED = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@settings(UNHURRIED)
@given(EXAMPLES)
def test_any_schema_and_documents_give_results_within_the_rules_or_a_typed_error(example):
    hold(*example)


@pytest.mark.slow
def test_one_and_two_workers_give_the_same_bytes(monkeypatch):
    monkeypatch.setattr("arbitre.corpus.evaluate.UNIT_SIZE", 1)
    monkeypatch.setattr("arbitre.corpus.executors.MIN_PARTS", 1)

    @settings(UNHURRIED, max_examples=10)
    @given(st.tuples(SCHEMAS, st.lists(st.tuples(DOCUMENTS, DOCUMENTS), min_size=4, max_size=8)))
    def same(example):
        hold(*example, ProcessPool(2))

    same()


SHARDS, PAIRS_A_SHARD, PAIRS_A_SCHEMA = 10, 1_000_000, 2_000
ATOMS = (None, True, False, 0, 1, -1, 0.5, 1e300, -0.0, 2**63, 10**30)
TEXTS = ("", "a", "ab", "é", "1", "2020-01-01", "\U0001f600")


def random_value(draw, depth=0):
    """A random JSON value, drawn without Hypothesis, which would take 20 times as long."""
    kind = draw.random()
    if depth > 2 or kind < 0.45:
        return draw.choice(ATOMS + TEXTS)
    if kind < 0.7:
        return [random_value(draw, depth + 1) for _ in range(draw.randrange(5))]
    keys = draw.choices(("a", "b", "c", "x/y", "~", "*", ""), k=draw.randrange(5))
    return {key: random_value(draw, depth + 1) for key in keys}


def hold_corpus(schema, number_of_pairs, drawn):
    """Check what holds for every document of a random corpus; return the number of pairs compared."""
    try:
        comparator = Comparator(schema)
    except SchemaError:
        return 0
    draw = random.Random(drawn)  # noqa: S311  (no secrets here)
    pairs = [(random_value(draw), random_value(draw)) for _ in range(number_of_pairs)]
    pairs[: number_of_pairs // 10] = [(gold, gold) for gold, _ in pairs[: number_of_pairs // 10]]
    try:
        evaluation = comparator.evaluate([(str(number), *pair) for number, pair in enumerate(pairs)])
    except ArbitreError:
        return 0
    results = {result.key: result for result in evaluation.documents}
    for key, result in results.items():
        gold, predicted = pairs[int(key)]
        scores = result.scores
        assert 0.0 <= result.quality <= 1.0
        near = 1e-9 * (1.0 + scores.gold + scores.predicted)
        assert scores.matched <= min(scores.gold, scores.predicted) + near
        assert all((score := getattr(scores, name)) is None or -near <= score <= 1.0 + near for name in NAMES)
        if gold is predicted and comparator.certificate.verdict != "not a metric":
            assert result.quality == 1.0
    compared = sorted(results.keys() - {failure.id for failure in evaluation.failures})
    for key in draw.sample(compared, min(3, len(compared))):
        gold, predicted = pairs[int(key)]
        assert comparator.compare(gold=gold, predicted=predicted).quality == results[key].quality
    return len(results)


def search(shard, pairs, pairs_a_schema, start):
    """Compare at least this number of random pairs under random schemas; return their number."""
    compared = 0

    for number in count():
        if compared >= pairs:
            return compared

        @seed(f"{start}/{shard}/{number}")
        @settings(UNHURRIED, max_examples=10, phases=[Phase.generate])  # shrinking a corpus takes minutes
        @given(SCHEMAS, st.integers(0, 2**32))
        def batch(schema, drawn):
            nonlocal compared
            compared += hold_corpus(schema, pairs_a_schema, drawn)

        batch()
    return compared


@pytest.mark.slow
def test_a_random_corpus_gives_results_within_the_rules_or_a_typed_error():
    assert search(0, 500, 50, 0) >= 500


@pytest.mark.nightly
@pytest.mark.parametrize("shard", range(SHARDS))
def test_ten_million_random_pairs_give_results_within_the_rules_or_a_typed_error(shard, pytestconfig, record_property):
    """Hours in two processes (`-n 2`). What it finds becomes an example of a test that always runs."""
    compared = search(shard, PAIRS_A_SHARD, PAIRS_A_SCHEMA, pytestconfig.getoption("--hypothesis-seed"))
    record_property("random pairs", compared)
    assert compared >= PAIRS_A_SHARD
