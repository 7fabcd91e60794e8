"""Importing the package, showing help and running a command load only the modules that are needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

import arbitre
from arbitre.__main__ import UNUSED_BACKENDS
from arbitre.cli import COMMANDS, app

NUMERICAL = {"numpy", "scipy", "rapidfuzz", "cydifflib", "ot", "pandas", "pyarrow"}
SLOW = {
    "scipy.stats",
    "scipy.special",
    "scipy.optimize",
    "scipy.sparse",
    "ot",
    "pyarrow",
    "typer",
    "rich",
    "jinja2",
    "genson",
    "dask",
    "sacrebleu",
    "nltk",
    "rouge_score",
    "sklearn",
}
OPTIONAL = {
    "jinja2",
    "genson",
    "urllib.request",
    "arbitre.classification",
    "arbitre.comparison.comparison",
    "arbitre.suggestions.suggested_gate",
    "arbitre.gold.checks",
    "arbitre.diagnosis.faults",
    "arbitre.diagnosis.solidarity",
    "arbitre.suggestions.label_advice",
    "arbitre.metricity.witnesses",
    "arbitre.suggestions.aliases",
    "arbitre.engine.solve.transport_matching",
    "arbitre.matching.transport",
    "arbitre.report.view",
    "arbitre.report.report_files",
}
"""What an evaluation needs only for a report, a diagnosis, a classification or optimal transport."""
MODULES = {"agreement", "bundled", "classification", "confidence", "distances", "entities", "statistics", "text"}
"""Public names that are modules."""


def loaded(code):
    """The names of all modules that are loaded once the code has run in a new interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint('\\n', *sys.modules, sep='\\n')"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_importing_the_package_loads_no_numerical_library():
    assert loaded("import arbitre") & (NUMERICAL | SLOW) == set()


def test_help_loads_no_numerical_library():
    help_only = "from arbitre.cli import app\napp(['--help'], standalone_mode=False)"
    assert loaded(help_only) & NUMERICAL == set()


def test_the_comparator_loads_no_library_that_only_some_comparisons_need():
    assert loaded("import arbitre\narbitre.Comparator({'type': 'string'})") & SLOW == set()


def test_a_first_comparison_loads_no_library_that_it_does_not_need():
    compare = "arbitre.Comparator({'type': 'array'}).compare(gold=['ab', 'ac'], predicted=['ad', 'ae']).scores"
    found = loaded(f"import arbitre\n{compare}")
    assert "scipy" in found
    assert found & (SLOW | {"arbitre.report", "arbitre.corpus"}) == set()


def test_the_command_compare_loads_no_library_that_it_does_not_need(tmp_path):
    (tmp_path / "schema.json").write_text('{"type": "array", "items": {"type": "string"}}', encoding="utf-8")
    for name, value in (("gold", ["ab", "ac"]), ("predicted", ["ad", "ae"])):
        (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    schema, *documents = (str(tmp_path / f"{name}.json") for name in ("schema", "gold", "predicted"))
    found = loaded(
        f"from arbitre.cli import app\napp(['compare', '--schema', {schema!r}, *{documents}], standalone_mode=False)"
    )
    assert "arbitre.cli.commands.compare" in found
    assert found & (SLOW - {"typer", "rich"} | {"arbitre.report"}) == set()


def test_the_solver_finds_the_same_matchings_once_scipy_optimize_is_loaded():
    found = loaded(
        "import numpy as np\n"
        "from arbitre.matching.assignment import _solver, solve_assignment\n"
        "random = np.random.default_rng(0)\n"
        "tables = [random.integers(0, 4, shape) / 3 for shape in np.ndindex(6, 6)]\n"
        "alone = [solve_assignment(table) for table in tables]\n"
        "assert 'scipy.optimize' not in sys.modules\n"
        "import scipy.optimize\n"
        "np.testing.assert_equal([solve_assignment(table) for table in tables], alone)\n"
        "from importlib.machinery import PathFinder\n"
        "PathFinder.find_spec = lambda *_: None\n"
        "assert _solver.__wrapped__() is scipy.optimize.linear_sum_assignment"
    )
    assert "scipy.optimize" in found


def test_the_module_of_a_command_loads_no_library_that_only_the_command_needs():
    assert loaded("import arbitre.cli.commands.evaluate") & ((SLOW - {"typer", "rich"}) | {"pydantic"}) == set()


def test_a_command_leaves_out_the_backends_of_pot_unless_the_environment_says_otherwise():
    code = "import atexit, os\natexit.register(lambda: print(*map(os.environ.get, NAMES), sep='|'))\nimport arbitre.__main__\narbitre.__main__.main()"
    names = [f"POT_BACKEND_DISABLE_{name}" for name in UNUSED_BACKENDS]
    command = [sys.executable, "-c", code.replace("NAMES", str(names)), "--version"]
    env = {name: value for name, value in os.environ.items() if name not in names} | {names[0]: ""}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "|1|1|1"
    source = Path(find_spec("ot").origin).with_name("backend.py").read_text(encoding="utf-8")
    assert all(f'"{name}"' in source for name in names)


@pytest.fixture
def evaluation(tmp_path):
    """The code of an evaluation of three documents, with further options."""
    (tmp_path / "schema.json").write_text('{"type": "array", "items": {"type": "string"}}', encoding="utf-8")
    for name, value in (("gold", ["ab", "ac"]), ("predicted", ["ad", "ae"])):
        lines = [json.dumps({"id": str(number), "document": value}) + "\n" for number in range(3)]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    files = {name: str(tmp_path / name) for name in ("schema.json", "gold.jsonl", "predicted.jsonl", "out")}
    inputs = [f"--{name.partition('.')[0]}={file}" for name, file in files.items()]

    def code(*options):
        arguments = ["evaluate", "--quiet", "--workers=1", *inputs, *options]
        return f"from arbitre.cli import app\napp({arguments!r}, standalone_mode=False)"

    return code


def test_an_evaluation_without_report_loads_only_what_it_uses(evaluation):
    modules = loaded(evaluation("--no-report", "--no-diagnose"))
    assert "arbitre.jobs.evaluation_job" in modules
    assert modules & OPTIONAL == set()


@pytest.mark.slow
def test_an_evaluation_with_report_loads_the_report(evaluation):
    modules = loaded(evaluation())
    assert modules & OPTIONAL == {
        "arbitre.classification",
        "arbitre.diagnosis.faults",
        "arbitre.suggestions.aliases",
        "arbitre.report.report_files",
        "arbitre.report.view",
        "jinja2",
    }


@pytest.mark.parametrize("name", sorted(OPTIONAL | SLOW))
def test_an_optional_module_exists(name):
    assert find_spec(name) is not None


def test_a_public_module_is_loaded_when_it_is_first_used():
    assert "arbitre.matching.transport" in loaded("import arbitre\narbitre.transport.gromov")
    used = "; ".join(f"assert dir(arbitre.{name})" for name in sorted(MODULES))
    assert loaded(f"import arbitre\n{used}") >= {f"arbitre.{name}" for name in MODULES}


@pytest.mark.parametrize("name", arbitre.__all__)
def test_no_module_of_the_package_hides_a_public_name(name):
    hidden = getattr(getattr(arbitre, name), "__name__", None) == f"arbitre.{name}"
    assert hidden == (name in MODULES)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_with_the_first_line_of_its_help(name):
    group = typer.main.get_command(app)
    context = typer.Context(group)
    listed = group.get_command(context, name).help
    _, command, _ = group.resolve_command(context, [name])
    assert command.help.splitlines()[0] == listed
