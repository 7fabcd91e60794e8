"""The adapters to other frameworks: with the frameworks that are installed, otherwise with fakes of their protocols."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any, Generic, TypeVar

import numpy as np
import pytest

import arbitre
from arbitre import Comparator, OptionError

LETTER = {
    "type": "object",
    "properties": {
        "sender": {"type": "string"},
        "people": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
    },
}
WHOLE = {"sender": "Ada Lovelace", "people": [{"name": "Charles Babbage"}, {"name": "Mary Somerville"}]}
GOLD = [WHOLE, WHOLE, WHOLE, {"sender": "Ada Lovelace"}]
TEXTS = [json.dumps(document) for document in GOLD]
PARTLY = {"sender": "Ada Lovelace", "people": [{"name": "Charles Babage"}]}
ANSWERS = [f"```json\n{json.dumps(PARTLY)[:-1]}\n```", TEXTS[1], "I cannot help with that.", TEXTS[3]]
PREDICTED = [PARTLY, WHOLE, arbitre.ABSENT, GOLD[3]]
NAMES = "/people/*/name"


@pytest.fixture(scope="module")
def evaluation():
    """What `arbitre evaluate` says about the same documents."""
    return Comparator(LETTER).evaluate([(str(at), *pair) for at, pair in enumerate(zip(GOLD, PREDICTED, strict=True))])


T = TypeVar("T")


class FakeEvaluator(Generic[T]):
    """`pydantic_evals.evaluators.Evaluator` has three parameters."""

    def __class_getitem__(cls, _):
        return cls


@dataclass
class FakeReason:
    value: float
    reason: str | None = None


@dataclass
class FakeScore:
    value: Any
    answer: str | None = None
    explanation: str | None = None
    reason: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class FakeFeedback:
    name: str
    value: float
    rationale: str | None = None


class FakeMetric:
    score = None
    threshold = 0.5

    def is_successful(self):
        self.success = self.score >= self.threshold
        return self.success


FAKES = {
    "inspect_ai": {
        "inspect_ai.scorer": {
            **dict.fromkeys(["Metric", "SampleScore", "Scorer", "Target"], object),
            "Score": FakeScore,
            "metric": lambda function: function,
            "scorer": lambda metrics: lambda function: function if metrics else None,
            "mean": lambda: "mean",
            "stderr": lambda: "stderr",
        },
    },
    "pydantic_evals": {
        "pydantic_evals.evaluators": {
            "EvaluationReason": FakeReason,
            "Evaluator": FakeEvaluator,
            "EvaluatorContext": FakeEvaluator,
        }
    },
    "dspy": {"dspy": {"Prediction": SimpleNamespace}},
    "deepeval": {
        "deepeval.errors": {"MissingTestCaseParamsError": type("MissingTestCaseParamsError", (Exception,), {})},
        "deepeval.metrics": {"BaseMetric": FakeMetric},
    },
    "mlflow": {
        "mlflow.entities": {"Feedback": FakeFeedback},
        "mlflow.genai.scorers": {"Scorer": object, "scorer": lambda name: lambda function: function if name else None},
    },
    "trl": {},
}


@pytest.fixture
def adapter(monkeypatch, request):
    """Imports `arbitre.integrations.NAME`, with a fake of its framework if that is not installed."""

    def load(name):
        try:
            return importlib.import_module(f"arbitre.integrations.{name}")
        except ImportError:
            for module, members in FAKES[name].items():
                parts = module.split(".")
                for end in range(1, len(parts) + 1):
                    monkeypatch.setitem(sys.modules, ".".join(parts[:end]), ModuleType(".".join(parts[:end])))
                vars(sys.modules[module]).update(members)
            loaded = importlib.import_module(f"arbitre.integrations.{name}")
            request.addfinalizer(lambda: sys.modules.pop(loaded.__name__))
            return loaded

    return load


@pytest.mark.parametrize("name", [name for name in FAKES if name != "trl"])
def test_a_missing_framework_is_an_error_that_says_what_to_install(name):
    code = f"import sys\nsys.modules[{name!r}] = None\nimport arbitre.integrations.{name}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    package = name.replace("_", "-")
    assert f"arbitre.integrations.{name} needs {package}, which cannot be imported" in result.stderr
    assert f"Install it: pip install {package}" in result.stderr
    assert issubclass(arbitre.errors.MissingLibraryError, ImportError)


def awaited(coroutine):
    """The result of a coroutine, also where an event loop runs in this thread, as that of a browser does."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def test_arbitre_imports_no_framework():
    code = "import sys, arbitre\narbitre.Grader({})\nprint(*sys.modules)"
    modules = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert modules & {*FAKES, "pytest"} == set()


def test_the_reward_of_trl(adapter, evaluation):
    logged = {}
    function = adapter("trl").reward(LETTER)
    chats = [[{"role": "assistant", "content": answer}] for answer in ANSWERS]
    columns = {"prompts": ["?"] * 4, "gold": TEXTS, "log_extra": None}
    for completions in (ANSWERS, chats):
        rewards = function(completions=completions, log_metric=logged.__setitem__, **columns)
        assert sum(rewards) / 4 == pytest.approx(evaluation.document_quality.mean, abs=1e-12)
    assert (function.__name__, logged) == ("arbitre_quality", {"arbitre/unreadable": 0.25})
    other = adapter("trl").reward(LETTER, gold="answer", score="f1q", unreadable=-1.0)
    assert other(ANSWERS[2:], answer=GOLD[2:]) == [-1.0, 1.0]


def test_the_reward_of_trl_reads_parts_and_messages_without_text(adapter):
    function = adapter("trl").reward(LETTER, unreadable=-1.0)
    parts = [{"type": "text", "text": TEXTS[1][:9]}, {"type": "image"}, {"type": "text", "text": TEXTS[1][9:]}]
    messages = [{"content": parts}, {"content": None}, {"content": []}, {"tool_calls": []}]
    completions = [*([{"role": "assistant"} | message] for message in messages), []]
    assert function(completions, gold=TEXTS[1:2] * 5) == [1.0, -1.0, -1.0, -1.0, -1.0]
    with pytest.raises(arbitre.OptionError, match="name a column of the data set, got 'gold'") as error:
        function(completions, golds=TEXTS)
    assert error.value.hint == 'Did you mean "golds"?'


def test_an_answer_that_does_not_exist_is_not_null(adapter):
    schema = {**LETTER, "type": ["object", "null"]}
    assert adapter("trl").reward(schema)([[{"content": None}], "null"], gold=["null"] * 2) == [0.0, 1.0]
    metric = adapter("dspy").metric(schema)
    assert [metric({"output": None}, prediction) for prediction in ({}, {"output": None})] == [0.0, 1.0]
    cases = [SimpleNamespace(actual_output=answer, expected_output="null") for answer in (None, "null")]
    assert list(map(adapter("deepeval").ArbitreMetric(schema).measure, cases)) == [0.0, 1.0]
    traces = [SimpleNamespace(info=SimpleNamespace(state=state)) for state in ("ERROR", "OK")]
    scorer = adapter("mlflow").arbitre_scorer(schema)
    scores = [scorer(outputs=None, expectations={"expected": None}, trace=trace)[0].value for trace in traces]
    assert scores == [0.0, 1.0]


def test_equal_completions_are_graded_once(adapter, monkeypatch):
    calls = []
    grade = arbitre.Grader.__call__
    monkeypatch.setattr(arbitre.Grader, "__call__", lambda *given: calls.append(given) or grade(*given))
    assert adapter("trl").reward(LETTER)(ANSWERS[1:2] * 4, gold=[*TEXTS[:3], TEXTS[3]])[:3] == [1.0] * 3
    assert len(calls) == 2


def test_equal_completions_with_different_gold_are_graded_separately(adapter):
    """NumPy abbreviates the text of a long array, so that both arrays look the same."""
    gold = [np.arange(2000), np.arange(2000)]
    gold[1][500:1500] += 100_000
    assert repr(gold[0]) == repr(gold[1])
    schema = {"type": "array", "items": {"type": "integer"}}
    completion = json.dumps(gold[0].tolist())
    assert adapter("trl").reward(schema)([completion] * 2, gold=gold) == [1.0, 0.5]


def test_the_reward_of_no_completions_is_an_empty_list(adapter):
    logged = {}
    assert adapter("trl").reward(LETTER)([], gold=[], log_metric=logged.__setitem__) == []
    assert logged == {}


def test_the_scorer_of_inspect(adapter, evaluation):
    module = adapter("inspect_ai")
    score = module.arbitre_scorer(LETTER, paths=[NAMES])
    states = [SimpleNamespace(output=SimpleNamespace(completion=answer)) for answer in ANSWERS]
    targets = [SimpleNamespace(text=text) for text in TEXTS]
    scores = [awaited(score(state, target)) for state, target in zip(states, targets, strict=True)]
    mean = sum(each.value["quality"] for each in scores) / 4
    assert mean == pytest.approx(evaluation.document_quality.mean, abs=1e-12)
    assert module.micro_f1q()([SimpleNamespace(score=each) for each in scores]) == evaluation.micro.f1q
    assert [each.value[NAMES] == each.value[NAMES] for each in scores] == [True, True, True, False]
    assert [each.reason for each in scores] == [None, None, "invalid_response_format", None]
    assert json.loads(scores[0].answer) == PARTLY
    assert scores[0].explanation.startswith("2 faults, worst first: ")


def test_the_evaluator_of_pydantic_evals(adapter, evaluation):
    evaluator = adapter("pydantic_evals").ArbitreEvaluator(LETTER, paths=(NAMES,))
    contexts = [SimpleNamespace(output=one, expected_output=other) for one, other in zip(ANSWERS, GOLD, strict=True)]
    found = [evaluator.evaluate(context) for context in contexts]
    mean = sum(each["quality"].value for each in found) / 4
    assert mean == pytest.approx(evaluation.document_quality.mean, abs=1e-12)
    assert found[1]["quality"].reason == "All 3 values match gold."
    assert [NAMES in each for each in found] == [True, True, True, False]


def test_the_metric_of_dspy(adapter, evaluation):
    metric = adapter("dspy").metric(LETTER)
    examples = [{"output": text} for text in TEXTS]
    scores = [metric(example, {"output": answer}) for example, answer in zip(examples, ANSWERS, strict=True)]
    assert sum(scores) / 4 == pytest.approx(evaluation.document_quality.mean, abs=1e-12)
    assert metric(examples[0], {"output": ANSWERS[0]}, []) is False
    assert metric(examples[1], {}, []) is False
    assert metric(examples[1], {"output": WHOLE}, []) is True
    feedback = metric(examples[0], {"output": ANSWERS[0]}, None, "predict", None)
    score, *faults = feedback.feedback.splitlines()
    assert (feedback.score, score, len(faults)) == (scores[0], f"Score: {scores[0]:.2f}.", 2)
    hidden = adapter("dspy").metric(LETTER, reveal=False)(examples[0], {"output": ANSWERS[0]}, None, "predict", None)
    assert "Somerville" in feedback.feedback
    assert "Somerville" not in hidden.feedback


def test_a_binary_metric_of_dspy_needs_no_trace(adapter):
    metric = adapter("dspy").metric(LETTER, binary=True)
    example = {"output": WHOLE}
    assert metric(example, {"output": PARTLY}, None) is False
    assert metric(example, {"output": WHOLE}, None) is True
    score = adapter("dspy").metric(LETTER)(example, {"output": PARTLY})
    assert metric(example, {"output": PARTLY}, None, "predict", None).score == score


def test_a_field_or_an_expectation_that_does_not_exist_is_refused(adapter):
    with pytest.raises(OptionError, match="name a field of the example, got 'output'") as caught:
        adapter("dspy").metric(LETTER)({"number": 1, "letter": WHOLE}, {"letter": WHOLE})
    assert caught.value.hint == "Available: number, letter."
    scorer = adapter("mlflow").arbitre_scorer(LETTER)
    with pytest.raises(OptionError, match="name an expectation of the record, got 'expected'") as caught:
        scorer(outputs=WHOLE, expectations={"expect": WHOLE})
    assert caught.value.hint == 'Did you mean "expect"?'
    with pytest.raises(OptionError, match="name an expectation") as caught:
        scorer(outputs=WHOLE, expectations={})
    assert caught.value.hint == "The record has no expectations."


def test_the_metric_of_deepeval(adapter, evaluation):
    metric = adapter("deepeval").ArbitreMetric(LETTER, threshold=0.7, paths=[NAMES])
    cases = [SimpleNamespace(actual_output=one, expected_output=text) for one, text in zip(ANSWERS, TEXTS, strict=True)]
    scores = [awaited(metric.a_measure(case)) for case in cases]
    assert sum(scores) / 4 == pytest.approx(evaluation.document_quality.mean, abs=1e-12)
    assert (metric.measure(cases[0]), metric.success, metric.score_breakdown.keys()) == (scores[0], True, {NAMES})
    metric.measure(cases[2])
    assert (metric.success, metric.reason[:29]) == (False, "The answer counts as missing:")
    parameters = {name: vars(metric)[name] for name in ("schema", "threshold", "score_name", "paths")}
    assert type(metric)(**parameters).measure(cases[0]) == scores[0]
    assert metric.__name__ == "arbitre quality"


def test_a_test_case_of_deepeval_without_expected_output_can_be_skipped(adapter):
    """DeepEval skips a test case with `skip_on_missing_params` if a metric raises this error."""
    module = adapter("deepeval")
    case = SimpleNamespace(actual_output=TEXTS[0], expected_output=None)
    with pytest.raises(
        module.MissingTestCaseParamsError, match="Expected `expected_output` for arbitre quality, got None"
    ):
        module.ArbitreMetric(LETTER).measure(case)


def test_the_scorer_of_mlflow(adapter, evaluation):
    scorer = adapter("mlflow").arbitre_scorer(LETTER, paths=[NAMES])
    found = [
        scorer(outputs=answer, expectations={"expected": gold}) for answer, gold in zip(ANSWERS, GOLD, strict=True)
    ]
    assert sum(each[0].value for each in found) / 4 == pytest.approx(evaluation.document_quality.mean, abs=1e-12)
    assert [[feedback.name for feedback in each] for each in found] == [["quality", "people/item/name"]] * 3 + [
        ["quality"]
    ]
    assert found[1][0].rationale == "All 3 values match gold."


@pytest.mark.parametrize(
    ("score", "name"),
    [("fq(2)", "fq_2_"), ("leaves.f1q", "leaves.f1q"), ("/people/*/name:irq", "people/item/name_irq")],
)
def test_the_names_of_mlflow_have_only_allowed_signs(adapter, score, name):
    schema = {**LETTER, "properties": {**LETTER["properties"], "amount (€)": {"type": "string"}}}
    gold = WHOLE | {"amount (€)": "1"}
    scorer = adapter("mlflow").arbitre_scorer(schema, score=score, paths="/amount (€)")
    names = [feedback.name for feedback in scorer(outputs=gold, expectations={"expected": gold})]
    assert names == [name, "amount ___"]


def test_scores_with_equal_names_in_mlflow_are_refused(adapter):
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in ("a€", "a$")}}
    with pytest.raises(OptionError, match="scores '/a€' and '/a\\$' would have the same name"):
        adapter("mlflow").arbitre_scorer(schema, paths=["/a€", "/a$"])


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("inspect_ai", "arbitre_scorer"),
        ("pydantic_evals", "ArbitreEvaluator"),
        ("deepeval", "ArbitreMetric"),
        ("mlflow", "arbitre_scorer"),
    ],
)
def test_a_path_that_the_schema_lacks_is_refused(adapter, name, function):
    with pytest.raises(OptionError, match="a path of the schema, got '/people/\\*/nam'"):
        getattr(adapter(name), function)(LETTER, paths=["/people/*/nam"])


# The frameworks themselves, where they are installed. They send nothing.


@pytest.fixture
def offline(monkeypatch, tmp_path):
    for name, value in {
        "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
        "DEEPEVAL_DISABLE_DOTENV": "1",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path / 'mlflow.db'}",
        "INSPECT_LOG_DIR": str(tmp_path),
        "INSPECT_DISPLAY": "none",
        "HF_HUB_OFFLINE": "1",
        "DSPY_CACHEDIR": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)


def run(code):
    """Run code in a process of its own, which imports a framework; return the JSON that it prints last."""
    head = f"import json\nLETTER, GOLD, TEXTS, ANSWERS = {LETTER!r}, {GOLD!r}, {TEXTS!r}, {ANSWERS!r}\n"
    result = subprocess.run(
        [sys.executable, "-c", head + code], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.usefixtures("offline")
class TestInstalled:
    def test_inspect(self, evaluation):
        pytest.importorskip("inspect_ai")
        metrics = run("""
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from arbitre.integrations.inspect_ai import arbitre_scorer
outputs = [ModelOutput.from_content("mockllm/model", answer) for answer in ANSWERS]
for output in outputs:
    output.usage = ModelUsage()  # otherwise a tokenizer is downloaded
task = Task(dataset=[Sample(input="?", target=text) for text in TEXTS], scorer=arbitre_scorer(LETTER, ["/people/*/name"]))
(log,) = eval(task, model=get_model("mockllm/model", custom_outputs=outputs), max_connections=1)
print(json.dumps({f"{score.name} {name}": metric.value for score in log.results.scores for name, metric in score.metrics.items()}))
""")
        assert metrics["quality mean"] == pytest.approx(evaluation.document_quality.mean, abs=1e-12)
        assert metrics["arbitre_scorer micro_f1q"] == pytest.approx(evaluation.micro.f1q, abs=1e-12)

    def test_pydantic_evals(self, evaluation):
        pytest.importorskip("pydantic_evals")
        averages = run("""
from pydantic_evals import Case, Dataset
from arbitre.integrations.pydantic_evals import ArbitreEvaluator
cases = [Case(name=str(at), inputs=at, expected_output=gold) for at, gold in enumerate(GOLD)]
report = Dataset(name="letters", cases=cases, evaluators=[ArbitreEvaluator(LETTER)]).evaluate_sync(ANSWERS.__getitem__, progress=False)
print(json.dumps(report.averages().scores))
""")
        assert averages["quality"] == pytest.approx(evaluation.document_quality.mean, abs=1e-12)

    def test_dspy(self, evaluation):
        pytest.importorskip("dspy")
        percent = run("""
import dspy
from arbitre.integrations.dspy import metric
class Program(dspy.Module):
    def forward(self, number):
        return dspy.Prediction(output=ANSWERS[number])
examples = [dspy.Example(number=at, output=text).with_inputs("number") for at, text in enumerate(TEXTS)]
print(dspy.Evaluate(devset=examples, metric=metric(LETTER), num_threads=2)(Program()).score)
""")
        assert percent == pytest.approx(100.0 * evaluation.document_quality.mean, abs=0.01)

    def test_deepeval(self, evaluation):
        pytest.importorskip("deepeval")
        scores = run("""
from deepeval import evaluate
from deepeval.evaluate import DisplayConfig
from deepeval.test_case import LLMTestCase
from arbitre.integrations.deepeval import ArbitreMetric
cases = [LLMTestCase(input="?", actual_output=answer, expected_output=text) for answer, text in zip(ANSWERS, TEXTS)]
display = DisplayConfig(show_indicator=False, print_results=False)
results = evaluate(cases, metrics=[ArbitreMetric(LETTER)], display_config=display)
print(json.dumps([result.metrics_data[0].score for result in results.test_results]))
""")
        assert sum(scores) / 4 == pytest.approx(evaluation.document_quality.mean, abs=1e-12)

    def test_mlflow(self, evaluation):
        pytest.importorskip("mlflow")
        metrics = run("""
import mlflow
from arbitre.integrations.mlflow import arbitre_scorer
data = [{"inputs": {"n": at}, "outputs": answer, "expectations": {"expected": gold}} for at, (answer, gold) in enumerate(zip(ANSWERS, GOLD))]
print(json.dumps(mlflow.genai.evaluate(data=data, scorers=[arbitre_scorer(LETTER)]).metrics))
""")
        assert metrics["quality/mean"] == pytest.approx(evaluation.document_quality.mean, abs=1e-12)
