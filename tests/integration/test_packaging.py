"""Wheel, source distribution and editable install contain the files they need."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from arbitre import __version__, bundled

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, MYPY = CONFIGURATION["project"], CONFIGURATION["tool"]["mypy"]
SCHEMAS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "schemas").rglob("*.json"))
DEMO = [f"demo/{name}.jsonl" for name in ("careful", "gold", "hasty")]

FOUND = """
import json, sys
from arbitre import bundled
schemas = bundled.schemas()
print(json.dumps({
    "place": str(schemas),
    "schemas": sorted(entry.name for entry in schemas.iterdir()),
    "examples": sorted(entry.name for entry in (schemas / "examples").iterdir()),
    "demo": sorted(entry.name for entry in bundled.demo().iterdir() if entry.name.endswith(".jsonl")),
    "title": bundled.schema("vocabulary.schema.json")["title"],
}))
"""
EXPECTED = {
    "schemas": sorted({name.split("/")[1] for name in SCHEMAS}),
    "examples": [Path(name).name for name in SCHEMAS if name.startswith("schemas/examples/")],
    "demo": [Path(name).name for name in DEMO],
    "title": "The x-arbitre keyword",
}


def run(*command, **options):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONIOENCODING": "utf-8", "COLUMNS": "90", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [str(part) for part in command],
        check=False,
        capture_output=True,
        encoding="utf-8",
        env=environment | options.pop("env", {}),
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def environment(folder, *install):
    """The Python of a fresh environment with one distribution in it; it borrows its dependencies from this one."""
    builder = venv.EnvBuilder(symlinks=os.name != "nt")
    python = builder.ensure_directories(folder).env_exe
    builder.create(folder)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
    borrowed = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    site.joinpath("borrowed.pth").write_text("\n".join(borrowed), encoding="utf-8")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    run(*pip, "--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed", *install)
    return python


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """The Python of an environment with the wheel."""
    return environment(tmp_path_factory.mktemp("installed"), built[1])


def test_the_wheel_holds_the_package_and_its_data(built):
    _, wheel = built
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
        metadata = archive.read(f"arbitre-{__version__}.dist-info/METADATA").decode()
    assert {f"arbitre/{name}" for name in (*SCHEMAS, *DEMO, "py.typed")} <= held
    sources = {path for path in (ROOT / "src" / "arbitre").rglob("*") if path.is_file() and path.suffix != ".pyc"}
    own = {name for name in held if name.startswith("arbitre/") and not name.startswith("arbitre/schemas/")}
    assert own == {path.relative_to(ROOT / "src").as_posix() for path in sources}
    assert {name.split("/")[0] for name in held} == {"arbitre", f"arbitre-{__version__}.dist-info"}
    assert "License-Expression: Apache-2.0\n" in metadata
    assert metadata.count("Requires-Dist: ") >= len(PROJECT["dependencies"])


def test_the_sdist_holds_the_sources_and_tests(built):
    sdist, _ = built
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    folders = (ROOT / name for name in ("src", "schemas", "tests", "docs"))
    files = {path for folder in folders for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    wanted = {path.relative_to(ROOT).as_posix() for path in files} | {"LICENSE", "README.md", "pyproject.toml"}
    assert held - wanted == {"PKG-INFO", ".gitignore"}
    assert wanted - held == set()


def test_the_wheel_of_the_sdist_is_the_wheel_of_the_checkout(built, tmp_path):
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT)
    with zipfile.ZipFile(built[1]) as of_sdist, zipfile.ZipFile(tmp_path / built[1].name) as of_checkout:
        assert sorted(of_sdist.namelist()) == sorted(of_checkout.namelist())
        differing = [name for name in of_sdist.namelist() if of_sdist.read(name) != of_checkout.read(name)]
    assert differing == []


def schemas_of(python, folder):
    """Where the schemas of an installed arbitre are, which finds all its files."""
    found = json.loads(run(python, "-c", FOUND, cwd=folder))
    place = found.pop("place")
    assert found == EXPECTED
    return Path(place).resolve()


def test_the_installed_wheel_runs(installed, tmp_path):
    assert schemas_of(installed, tmp_path).is_relative_to(Path(installed).parents[1])
    command = Path(installed).with_name("arbitre.exe" if os.name == "nt" else "arbitre")
    assert run(command, "--version") == f"arbitre {__version__}\n"
    said = run(installed, "-m", "arbitre", "demo", "--out", "out", cwd=tmp_path)
    assert said.startswith("Two systems on the same pages\n6 pages, 58 speakers in gold\n")
    evaluation = json.loads(tmp_path.joinpath("out", "careful", "evaluation.json").read_text(encoding="utf-8"))
    assert evaluation["micro"]["gold"] == 58
    assert evaluation["signature"]["version"] == __version__


def test_a_typed_script_of_a_user_runs_with_the_installed_wheel(installed, tmp_path):
    assert Path("tests/integration/typed_script.py") in map(
        Path, MYPY["files"]
    )  # its types are checked with the sources
    run(installed, "-W", "error", ROOT / "tests" / "integration" / "typed_script.py", cwd=tmp_path)


def test_an_editable_install_uses_the_schemas_of_the_checkout(tmp_path):
    assert schemas_of(environment(tmp_path / "venv", "--editable", ROOT), tmp_path) == ROOT / "schemas"


def test_the_unpacked_sdist_finds_its_data(built, tmp_path):
    with tarfile.open(built[0]) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    found = json.loads(run(sys.executable, "-c", FOUND, cwd=tmp_path, env={"PYTHONPATH": str(folder / "src")}))
    assert Path(found.pop("place")).resolve() == folder / "schemas"
    assert found == EXPECTED


def test_this_checkout_finds_its_data():
    assert sorted(entry.name for entry in bundled.schemas().iterdir()) == EXPECTED["schemas"]
    assert sorted(entry.name for entry in bundled.demo().iterdir() if entry.name.endswith(".jsonl")) == EXPECTED["demo"]


def requirements(group):
    return {re.match(r"[\w.-]+", line)[0].lower().replace("_", "-"): line for line in group}


def imported():
    """The distributions that the sources import, apart from the frameworks of the adapters."""
    modules = set()
    package = ROOT / "src" / "arbitre"
    for file in sorted(set(package.rglob("*.py")) - set((package / "integrations").glob("*.py"))):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                modules.add(node.module.partition(".")[0])
    known = packages_distributions()
    others = modules - set(sys.stdlib_module_names) - {"annotationlib", "arbitre"}  # annotationlib: from Python 3.14 on
    return {known[name][0].lower().replace("_", "-") for name in others}


def test_imports_and_requirements_agree():
    required = requirements(PROJECT["dependencies"])
    extras = PROJECT["optional-dependencies"]
    optional = {name for extra in extras if extra not in {"test", "lint"} for name in requirements(extras[extra])}
    assert required.keys() <= imported() <= required.keys() | optional


def test_every_requirement_has_both_bounds():
    for group in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        for name, line in requirements(group).items():
            assert name == "arbitre" or re.search(r">=[\d.]+,<[\d.]+(; .*)?$", line), line
