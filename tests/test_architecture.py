"""The structure of the package: layers, import cycles, adapters of libraries, and the length of modules."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

SOURCE = Path(__file__).resolve().parents[1] / "src" / "arbitre"

LAYERS = (
    (
        "arrays",
        "errors",
        "language",
        "paths",
        "values",
        "bundled",
        "interpreter",
        "demo",
        "options",
        "config",
        "version",
    ),
    ("tally", "curve", "signature", "catalogue", "refused_coefficients"),
    ("parsing",),
    ("storage",),
    ("tables",),
    ("classification",),
    ("distances", "authority", "normalizers", "matching"),
    ("statistics",),
    ("schema",),
    ("dialects",),
    ("comparison", "inputs"),
    ("engine",),
    ("metricity", "diagnosis", "text"),
    ("corpus",),
    ("gold", "suggestions", "systems"),
    ("causes",),
    ("report",),
    ("jobs",),
    ("comparator",),
    ("entities",),
    ("agreement",),
    ("confidence",),
    ("integrations",),
    ("cli",),
)
"""The modules and packages right below `arbitre`, lowest layer first.

A module may import from its own package, from a lower layer, and from what comes before it in its own layer.
Late imports and imports for types count. The root is below the command and above everything else.
"""
FOLDERS = {
    "engine": ("columns", "solve", "references"),
    "cli": ("output", "declarations", "commands"),
    "schema": ("loading", "compiling"),
}
"""The folders of a package, lowest first: a module imports from its own folder and from lower ones only."""
ROOT = len(LAYERS) - 1.5

EXACTLY_ONE = ("rapidfuzz", "cydifflib")
AT_MOST_ONE = (
    "ot",
    "dask",
    "distributed",
    "pandas",
    "polars",
    "pyarrow",
    "jmespath",
    "json_repair",
    "sacrebleu",
    "nltk",
    "rouge_score",
    "sklearn",
    "crowdkit",
    "dateparser",
    "vl_convert",
    "msgspec",
    "pydantic",
    "yaml",
)
"""So many modules import these libraries."""
LONGEST = 700
"""Maximum number of lines of a module."""


class Module:
    """One source file: its dotted name, and what it imports."""

    def __init__(self, file, root):
        parts = file.relative_to(root.parent).with_suffix("").parts
        self.package = parts[-1] == "__init__"
        self.name = ".".join(parts[:-1] if self.package else parts)
        self.lines = file.read_text(encoding="utf-8").splitlines()
        stub = file.with_suffix(".pyi")  # a package imports the names in its stub when they are first used
        names = stub.read_text(encoding="utf-8").splitlines() if stub.exists() else []
        self.tree = ast.parse("\n".join([*self.lines, *names]))
        self.root = root.name

    @property
    def top(self):
        """The module or package right below the root; empty for the root itself."""
        return self.name.partition(".")[2].partition(".")[0]

    @cache  # noqa: B019  (few modules, and read once)
    def imports(self, known):
        """The modules imported anywhere in this file, in functions and for types too, as dotted names."""
        found = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    above = self.name.split(".")
                    above = above[: len(above) - node.level + self.package]
                    base = ".".join([*above, base] if base else above)
                names = {f"{base}.{alias.name}" for alias in node.names}
                found |= (names & known) | ({base} if names - known else set())
        return found


def violations(root):
    """What breaks the architecture in the package at `root`, as sentences."""
    modules = [Module(file, root) for file in sorted(root.rglob("*.py"))]
    known = frozenset(module.name for module in modules)
    return [
        *misplaced(modules, known),
        *cycles(modules, known),
        *floors(modules, known),
        *adapters(modules, known),
        *(sentence for module in modules for sentence in habits(module)),
    ]


def rank(top):
    """The layer of a module or package right below the root, and its place there; None where it has none."""
    if top in {"", "__main__"}:
        return (len(LAYERS) if top else ROOT), 0
    places = ((number, names.index(top)) for number, names in enumerate(LAYERS) if top in names)
    return next(places, None)


def misplaced(modules, known):
    for module in modules:
        here = rank(module.top)
        if here is None:
            yield f"{module.name} belongs to no layer"
            continue
        for name in sorted(module.imports(known)):
            root, _, rest = name.partition(".")
            if root != module.root:
                continue
            there = rank(rest.partition(".")[0])
            if there is None or there > here:
                yield f"{module.name} imports {name}, which is above it"


def cycles(modules, known):
    """The modules that import themselves through others, late imports and imports for types included."""
    names = sorted(known)
    loads = [[names.index(name) for name in module.imports(known) & known - {module.name}] for module in modules]
    graph = np.zeros((len(names), len(names)))
    for module, needed in zip(modules, loads, strict=True):
        graph[names.index(module.name), needed] = 1.0
    component = connected_components(graph, connection="strong")[1]
    for name, size in zip(names, np.bincount(component)[component], strict=True):
        if size > 1:
            yield f"{name} is in a cycle of imports"


def floors(modules, known):
    """The imports from a higher folder of the same package."""
    for module in modules:
        _, top, folder, *_ = [*module.name.split("."), "", "", ""]
        order = FOLDERS.get(top, ())
        if folder not in order:
            continue
        for name in sorted(module.imports(known)):
            _, there, other, *_ = [*name.split("."), "", "", ""]
            if there == top and other in order and order.index(other) > order.index(folder):
                yield f"{module.name} imports {name}, which is in a higher folder"


def adapters(modules, known):
    for library in EXACTLY_ONE + AT_MOST_ONE:
        found = [one.name for one in modules if library in {name.split(".")[0] for name in one.imports(known)}]
        if len(found) > 1 or (not found and library in EXACTLY_ONE):
            yield f"{library} is imported by {', '.join(found) or 'none'}, not by one module"


def habits(module):
    if len(module.lines) > LONGEST:
        yield f"{module.name} has {len(module.lines)} lines, more than {LONGEST}"
    if any(part in {"util", "utils", "helpers", "misc"} for part in module.name.split(".")):
        yield f"{module.name} has a name that says nothing about its content"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            if module.top != "cli":
                yield f"{module.name} prints, at line {node.lineno}"
        elif isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv", "getenvb"}:
            if module.name == "arbitre.__main__":
                continue  # it sets variables of POT
            yield f"{module.name} reads an environment variable, at line {node.lineno}"
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            yield from (
                f"{module.name} reads an environment variable, at line {node.lineno}"
                for alias in node.names
                if alias.name in {"environ", "environb", "getenv", "getenvb"}
            )
        elif isinstance(node, ast.Assert):
            yield f"{module.name} asserts, at line {node.lineno}"


def test_the_package_follows_its_layers_and_limits():
    assert violations(SOURCE) == []


GOOD = {
    "__init__.py": "from arbitre.comparator import Comparator",
    "errors.py": "import json",
    "values.py": "from arbitre.errors import DataError",
    "distances/__init__.py": "from arbitre.distances.strings import LEVENSHTEIN",
    "distances/strings.py": "import rapidfuzz.distance\nfrom arbitre.values import Json",
    "distances/ratcliff.py": "from cydifflib import SequenceMatcher\nfrom arbitre.distances import strings",
    "engine/__init__.py": "from arbitre import distances",
    "comparator.py": "from arbitre.engine import run",
    "cli/__init__.py": "from arbitre import Comparator\nprint('done')",
}


def planted(folder, files):
    """The package of GOOD with some files more, or otherwise."""
    root = folder / "arbitre"
    for name, text in (GOOD | files).items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return violations(root)


def test_a_package_within_its_layers_and_limits_passes(tmp_path):
    assert planted(tmp_path, {}) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"values.py": "from arbitre.engine import run"}, "arbitre.values imports arbitre.engine, which is above it"),
        ({"values.py": "import arbitre.engine.run"}, "arbitre.values imports arbitre.engine.run, which is above it"),
        (
            {"distances/sets.py": "from ..engine import run"},
            "arbitre.distances.sets imports arbitre.engine, which is above it",
        ),
        (
            {"values.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from arbitre.engine import Level"},
            "arbitre.values imports arbitre.engine, which is above it",
        ),
        (
            {"engine/run.py": "def f():\n    from arbitre.cli import main"},
            "arbitre.engine.run imports arbitre.cli, which is above it",
        ),
        ({"engine/__init__.pyi": "from ..cli import main"}, "arbitre.engine imports arbitre.cli, which is above it"),
        ({"engine/run.py": "from arbitre import Tally"}, "arbitre.engine.run imports arbitre, which is above it"),
        ({"report/view.py": "from arbitre import Tally"}, "arbitre.report.view imports arbitre, which is above it"),
        ({"__init__.py": "from arbitre.cli import main"}, "arbitre imports arbitre.cli, which is above it"),
        ({"errors.py": "from arbitre.values import Json"}, "arbitre.errors imports arbitre.values, which is above it"),
        ({"strays.py": ""}, "arbitre.strays belongs to no layer"),
        (
            {"engine/a.py": "from arbitre.engine import b", "engine/b.py": "from arbitre.engine.a import x"},
            "arbitre.engine.a is in a cycle of imports",
        ),
        (
            {
                "engine/a.py": "from arbitre.engine import b",
                "engine/b.py": "def f():\n    from arbitre.engine import a",
            },
            "arbitre.engine.b is in a cycle of imports",
        ),
        (
            {
                "engine/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from arbitre.engine.b import B",
                "engine/b.py": "from arbitre.engine.a import A",
            },
            "arbitre.engine.a is in a cycle of imports",
        ),
        (
            {
                "paths.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from arbitre.values import Json",
                "values.py": "",
            },
            "arbitre.paths imports arbitre.values, which is above it",
        ),
        (
            {"engine/columns/a.py": "from arbitre.engine.solve import b", "engine/solve/b.py": ""},
            "arbitre.engine.columns.a imports arbitre.engine.solve.b, which is in a higher folder",
        ),
        (
            {"distances/more.py": "import rapidfuzz"},
            "rapidfuzz is imported by arbitre.distances.more, arbitre.distances.strings",
        ),
        ({"distances/ratcliff.py": ""}, "cydifflib is imported by none, not by one module"),
        (
            {"matching/a.py": "import ot", "matching/b.py": "from ot import emd"},
            "ot is imported by arbitre.matching.a, ",
        ),
        (
            {"corpus/a.py": "import dask.bag", "corpus/b.py": "from dask import delayed"},
            "dask is imported by arbitre.corpus.a, ",
        ),
        ({"engine/long.py": "\n" * 701}, "arbitre.engine.long has 701 lines, more than 700"),
        ({"engine/utils.py": ""}, "arbitre.engine.utils has a name that says nothing about its content"),
        ({"engine/run.py": "def f():\n    print(1)"}, "arbitre.engine.run prints, at line 2"),
        (
            {"engine/run.py": "import os\nos.environ['A']"},
            "arbitre.engine.run reads an environment variable, at line 2",
        ),
        ({"engine/run.py": "from os import getenv"}, "arbitre.engine.run reads an environment variable, at line 1"),
        ({"engine/run.py": "assert 1"}, "arbitre.engine.run asserts, at line 1"),
    ],
    ids=lambda value: "" if isinstance(value, str) else "+".join(value),
)
def test_a_planted_violation_is_reported(tmp_path, files, expected):
    found = planted(tmp_path, files)
    assert [sentence for sentence in found if sentence.startswith(expected)] != []


@pytest.mark.parametrize(
    "files",
    [
        {"engine/solve/b.py": "from arbitre.engine.columns import a", "engine/columns/a.py": ""},
        {"cli/shown.py": "print(1)"},
        {"matching/transport.py": "import ot"},
        {"engine/long.py": "\n" * 700},
    ],
    ids="+".join,
)
def test_allowed_imports_pass(tmp_path, files):
    assert planted(tmp_path, files) == []
