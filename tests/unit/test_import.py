"""What is imported when: `import arbitre` and `arbitre --help` load no numerical library."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer

import arbitre
from arbitre.cli import COMMANDS, app

NUMERICAL = {"numpy", "scipy", "rapidfuzz", "cydifflib", "ot", "pandas", "pyarrow"}
SLOW = {
    "scipy.stats",
    "scipy.optimize",
    "scipy.sparse",
    "ot",
    "pyarrow",
    "typer",
    "rich",
    "jinja2",
    "dask",
    "sacrebleu",
    "nltk",
    "rouge_score",
    "sklearn",
}
MODULES = {"classification", "confidence", "entities", "text"}
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


def test_a_matching_loads_the_solver_when_it_needs_it():
    compare = "arbitre.Comparator({'type': 'array'}).compare(gold=['ab', 'ac'], predicted=['ad', 'ae']).scores"
    assert "scipy.optimize" in loaded(f"import arbitre\n{compare}")


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
