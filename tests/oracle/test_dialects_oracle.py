"""Scores of translated schemas against the tools themselves, where they are installed."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path

import pytest
from tests.unit.test_dialects import EXTRACT_BENCH, STICKLER, S, config, fields

import arbitre

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "extract-bench"
WORDS = ["alpha", "beta", "Gamma", "delta", "epsilon", "Zeta", "éta", "theta", "iota", "Kappa", "lambda", "mu"]
PAIRS = 60


@pytest.fixture(scope="module")
def stickler():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of its dependencies
        return pytest.importorskip("stickler.structured_object_evaluator.models.structured_model").StructuredModel


@pytest.fixture(scope="module")
def extract_bench():
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no network
        module = pytest.importorskip("extract_bench.evaluation.structured_evaluator")
        from extract_bench.evaluation.metrics import array_metrics, llm_metrics
        from extract_bench.evaluation.metrics.base_metric import MetricResult

        async def unasked(metric, node, config=None):  # noqa: ARG001
            return MetricResult(metric_id=metric.metric_id, score=-1.0, passed=False, details={})

        patch.setattr(llm_metrics.LlmJudgeMetric, "evaluate", unasked)
        patch.setattr(array_metrics.ArrayLlmJudgeMetric, "evaluate", unasked)
        evaluator = module.StructuredEvaluator(module.StructuredEvaluatorConfig(metrics=[]))
        yield evaluator.evaluate


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("declared", "gold", "predicted", "score"), STICKLER)
def test_the_known_scores_are_those_of_stickler(stickler, declared, gold, predicted, score):
    model = stickler.from_json_schema(fields(a=declared) | {"required": ["a"]})
    assert model(a=gold).compare_with(model(a=predicted))["field_scores"]["a"] == pytest.approx(score)


@pytest.mark.parametrize(("declared", "gold", "predicted", "score"), EXTRACT_BENCH)
def test_the_known_scores_are_those_of_extract_bench(extract_bench, declared, gold, predicted, score):
    found = extract_bench(fields(a=declared), {"a": gold}, {"a": predicted})["results"]
    (result,) = found["$.properties.a"].values()
    assert result.score == pytest.approx(score)


PARTY = fields(name={"type": "string"}, code={"type": "string"} | config("ExactComparator"))
INVOICE = {"$defs": {"party": PARTY}} | fields(
    number={"type": "string", f"{S}weight": 3} | config("ExactComparator", case_sensitive=False),
    issued={"type": "string", "format": "date"},
    total={"type": "number"} | config("NumericComparator", absolute_tolerance=0.25),
    title={"type": "string", f"{S}threshold": 0.4} | config("FuzzyComparator"),
    words={"type": "string", f"{S}clip-under-threshold": False} | config("FuzzyComparator", method="token_set_ratio"),
    raw={"type": "string", f"{S}comparator-config": {"normalize": False}, f"{S}threshold": 0},
    kind={"enum": ["a", "b"]},
    note={"type": ["string", "null"]},
    tags={"type": "array", "items": {"type": "string"}, f"{S}weight": 0.5, f"{S}threshold": 0.6},
    lines={"type": "array", "items": fields(what={"type": "string"}, count={"type": "integer"})},
    seller={"$ref": "#/$defs/party", f"{S}weight": 2},
)


def drawn(schema, rng):
    """Return a random value of a schema of Stickler."""
    if "$ref" in schema:
        return drawn(PARTY, rng)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema["type"] if isinstance(schema["type"], str) else rng.choice(schema["type"])
    makers = {
        "null": lambda: None,
        "string": lambda: " ".join(rng.choices(WORDS, k=rng.randint(1, 3))),
        "number": lambda: rng.randint(0, 12) / 8,
        "integer": lambda: rng.randint(0, 3),
        "array": lambda: [drawn(schema["items"], rng) for _ in range(rng.randint(1, 4))],
        "object": lambda: {name: drawn(one, rng) for name, one in schema["properties"].items()},
    }
    if schema.get("format") == "date":
        return f"2024-0{rng.randint(1, 2)}-1{rng.randint(0, 3)}"
    return makers[kind]()


def edited(value, rng):
    """Return a copy with a few changed letters and numbers."""
    if isinstance(value, dict):
        return {key: one if key in {"kind", "issued"} else edited(one, rng) for key, one in value.items()}
    if isinstance(value, list):
        return [edited(one, rng) for one in value]
    if value is None or rng.random() > 0.3:
        return value
    if isinstance(value, bool):
        return not value
    at = rng.randrange(len(value)) if isinstance(value, str) else 0
    return value[:at] + rng.choice("xyz") + value[at + 1 :] if isinstance(value, str) else value + 1


@pytest.mark.filterwarnings("ignore")
def test_stickler_gives_every_scalar_field_the_same_score(stickler):
    model, rng = stickler.from_json_schema(INVOICE), random.Random(1)  # noqa: S311
    comparator = arbitre.Comparator(INVOICE, overlay=arbitre.import_schema(INVOICE, "stickler").overlay)
    compared = 0
    for number in range(PAIRS):
        gold = drawn(INVOICE, rng)
        predicted = edited(gold, rng) if number % 2 else drawn(INVOICE, rng)
        theirs = model(**gold).compare_with(model(**predicted))["field_scores"]
        ours = comparator.compare(gold=gold, predicted=predicted)
        for name, value in gold.items():
            if isinstance(value, (dict, list)) or (value is None and predicted[name] is None):
                continue
            mine = 0.0 if value is None else ours.at(f"/{name}").quality
            assert mine == pytest.approx(theirs[name]), name
            compared += 1
    assert compared > 7 * PAIRS


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("gold", "predicted", "theirs", "ours"),
    [
        ({"seller": {"name": "Ada", "code": "a"}}, {"seller": {"name": "Ada", "code": "b"}}, 0.0, 0.5),
        ({"seller": {"name": "abcdefghij", "code": "a"}}, {"seller": {"name": "abcdxxxxxx", "code": "a"}}, 0.7, 0.5),
        ({"note": None, "title": "a"}, {"note": None, "title": "b"}, 0.5, 0.0),
    ],
    ids=["an object below 0.7 counts as 0", "inside an object there is no floor", "absent on both sides counts as 1"],
)
def test_the_documented_differences_from_stickler(stickler, gold, predicted, theirs, ours):
    schema = fields(**{name: INVOICE["properties"][name] for name in gold}) | {"$defs": {"party": PARTY}}
    schema |= {f"{S}model-name": "Document"}
    model = stickler.from_json_schema(schema)
    assert model(**gold).compare_with(model(**predicted))["overall_score"] == pytest.approx(theirs)
    comparator = arbitre.Comparator(schema, overlay=arbitre.import_schema(schema, "stickler").overlay)
    assert comparator.compare(gold=gold, predicted=predicted).quality == pytest.approx(ours)


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not here")
@pytest.mark.parametrize("name", ["swimming", "credit_agreement"])
def test_extract_bench_gives_every_value_outside_lists_the_same_score(extract_bench, name):
    schema = json.loads((DATA / name / "schema.json").read_text(encoding="utf-8"))
    rng = random.Random(1)  # noqa: S311
    comparator = arbitre.Comparator(schema, overlay=arbitre.import_schema(schema, "extract-bench").overlay)
    documents = [json.loads(file.read_text(encoding="utf-8")) for file in sorted((DATA / name / "gold").iterdir())]
    compared = 0
    for gold in documents:
        for predicted in (edited(gold, rng), edited(gold, rng), rng.choice(documents)):
            ours = comparator.compare(gold=gold, predicted=predicted)
            for path, results in extract_bench(schema, gold, predicted)["results"].items():
                (result,) = results.values()
                keys = [key for key in path.split(".")[1:] if key != "properties"]
                if result.score < 0 or {"items", "anyOf"} & {key.partition("[")[0] for key in keys}:
                    continue
                values = [value_at(document, keys) for document in (gold, predicted)]
                if values == [None, None]:
                    assert result.score == 1.0  # not counted by arbitre
                    continue
                mine = 0.0 if values[0] is None else ours.at("/" + "/".join(keys)).quality
                assert mine == pytest.approx(result.score), path
                compared += 1
    assert compared > 3 * len(documents)


def value_at(document, keys):
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document
