"""The examples in docs/integrations.md, each in a process of its own, with the frameworks that are installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import arbitre

PAGE = Path(__file__).resolve().parents[2] / "docs" / "integrations.md"
FILES = dict(
    re.findall(r"^`([\w./-]+)`:\n\n^```\w*\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
)
NEEDS = {
    "reward_letters.py": (),
    "inspect_letters.py": ("inspect_ai",),
    "evals_letters.py": ("pydantic_evals",),
    "dspy_letters.py": ("dspy",),
    "deepeval_letters.py": ("deepeval",),
    "mlflow_letters.py": ("mlflow",),
    "langsmith_letters.py": ("langsmith",),
    "langfuse_letters.py": ("langfuse",),
    "braintrust_letters.py": ("braintrust",),
    "autoevals_letters.py": ("autoevals",),
    "hf_evaluate_letters.py": ("evaluate", "datasets"),
    "run_lm_eval.py": ("lm_eval",),
    "sklearn_letters.py": ("sklearn",),
    "weave_letters.py": ("weave",),
    "run_verifiers.py": ("verifiers", "verifiers.v1"),
    "verifiers_rubric_letters.py": ("verifiers", "verifiers.rubrics"),
}
"""The modules that each example imports. An example prints the mean quality, and the pooled f1q if it has it."""
LM_EVAL = {"lm_eval_letters.yaml", "lm_eval_letters.py"}
VERIFIERS = {"verifiers_letters.py"}
PROMPTFOO = {"promptfoo_letters.py", "promptfoo_tests.py", "promptfooconfig.yaml"}
OTHER = {"letter.schema.json", "letters.jsonl", "letters.py", "test_letters.py", *LM_EVAL, *PROMPTFOO, *VERIFIERS}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files of the page, and an environment in which no framework sends anything."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    offline = {
        "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
        "DEEPEVAL_DISABLE_DOTENV": "1",
        "DSPY_CACHEDIR": str(tmp_path),
        "HF_HOME": str(tmp_path),
        "HF_HUB_OFFLINE": "1",
        "INSPECT_DISPLAY": "none",
        "INSPECT_LOG_DIR": str(tmp_path),
        "LANGSMITH_ENDPOINT": "http://127.0.0.1:9",
        "LANGSMITH_TRACING": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path / 'mlflow.db'}",
        "PROMPTFOO_CONFIG_DIR": str(tmp_path / "promptfoo"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_PYTHON": sys.executable,
        "WANDB_MODE": "offline",
    }
    for name, value in offline.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def installed(module):
    """Whether a module can be imported, without importing it."""
    package, _, inner = module.partition(".")
    spec = find_spec(package)
    return spec is not None and (
        not inner or any((Path(each) / inner).is_dir() for each in spec.submodule_search_locations)
    )


def run(folder, *arguments):
    return subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)


def test_every_example_of_the_page_is_run():
    assert NEEDS.keys() | OTHER == FILES.keys()


@pytest.mark.parametrize("name", NEEDS)
def test_an_example_prints_the_figures_of_evaluate(folder, name):
    missing = [module for module in NEEDS[name] if not installed(module)]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    evaluation = arbitre.evaluate("letter.schema.json", "letters.jsonl", lenient=True)
    result = run(folder, name)
    assert result.returncode == 0, result.stderr
    figures = [float(figure) for figure in result.stdout.splitlines()[-1].split()]
    expected = [evaluation.document_quality.mean, evaluation.micro.f1q]
    assert figures == pytest.approx(expected[: len(figures)], abs=5e-5), result.stdout


def test_the_assertion_of_promptfoo(folder):
    code = """
from promptfoo_letters import get_assert
from promptfoo_tests import letters
found = [get_assert(test["vars"]["answer"], {"vars": test["vars"], "config": {"threshold": 0.8}}) for test in letters()]
print(*(each["pass"] for each in found), *(name for name in found[1]["namedScores"]))
print(sum(each["score"] for each in found) / len(found))
"""
    passed, mean = run(folder, "-c", code).stdout.splitlines()
    assert passed == "True True False /date /people /sender"
    assert float(mean) == arbitre.evaluate("letter.schema.json", "letters.jsonl", lenient=True).document_quality.mean


@pytest.mark.skipif(shutil.which("promptfoo") is None, reason="promptfoo is not installed")
def test_promptfoo_itself(folder):
    command = ["promptfoo", "eval", "-c", "promptfooconfig.yaml", "--no-cache", "--no-table", "-o", "out.json"]
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    results = json.loads((folder / "out.json").read_text(encoding="utf-8"))["results"]["results"]
    evaluation = arbitre.evaluate("letter.schema.json", "letters.jsonl", lenient=True)
    assert sum(result["score"] for result in results) / 3 == pytest.approx(evaluation.document_quality.mean, abs=1e-12)
    assert [result["success"] for result in results] == [True, True, False]


def test_the_test_of_the_page_fails_with_the_message_that_it_shows(folder):
    (shown,) = re.findall(r"^```text\n(E  .*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    result = run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_letters.py")
    assert result.returncode == pytest.ExitCode.TESTS_FAILED
    assert shown in result.stdout
