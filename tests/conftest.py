"""Settings of all tests: fixed random examples, and the marks of the slow and nightly tests."""

from __future__ import annotations

import gc
import importlib.util
import os
import random
from functools import cache
from importlib import import_module
from pathlib import Path

import hypothesis
import pytest
from hypothesis import HealthCheck, settings

os.environ["POT_BACKEND_DISABLE_PYTORCH"] = "1"  # arbitre gives POT arrays of NumPy, and PyTorch loads for seconds

settings.register_profile(
    "same examples",
    parent=settings(),
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "random examples", parent=settings.get_profile("same examples"), max_examples=1000, derandomize=False
)
settings.load_profile("same examples")

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
SLOW_FOLDERS = {"bench", "browser", "integration", "laws", "oracle"}


def pytest_addoption(parser):
    parser.addoption("--nightly", action="store_true", help="run the nightly tests too, all on random examples")


def pytest_configure(config):
    """Draw other examples every night, from a seed that the header prints."""
    if config.getoption("--nightly", default=False):
        settings.load_profile("random examples")
        if config.getoption("--hypothesis-seed", default=None) is None:
            config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))
        hypothesis.core.global_force_seed = int(config.option.hypothesis_seed)


def pytest_collection_finish():
    """Leave out what the collection has loaded from every garbage collection."""
    gc.collect()
    gc.freeze()


def pytest_report_header(config):
    """Print the seed of the random examples."""
    if config.getoption("--nightly", default=False):
        return f"random examples: repeat with --hypothesis-seed={config.option.hypothesis_seed}"
    return None


def pytest_terminal_summary(terminalreporter, config):
    """Print how many random pairs of documents the nightly tests compared, and their seed."""
    reports = terminalreporter.getreports("passed")
    pairs = [number for report in reports for name, number in report.user_properties if name == "random pairs"]
    if pairs:
        terminalreporter.write_line(f"{sum(pairs):,} random pairs compared, seed {config.option.hypothesis_seed}")


def in_slow_folder(path):
    """Return whether a file or folder belongs to the slow half because of its folder."""
    return HERE in path.parents and path.relative_to(HERE).parts[0] in SLOW_FOLDERS


def pytest_ignore_collect(collection_path, config):
    """Do not import the scripts of the benchmarks, nor the slow folders for `pytest -m "not slow"`."""
    script = collection_path.parent == HERE / "bench" and not collection_path.name.startswith("test_")
    slow = config.option.markexpr == "not slow" and in_slow_folder(collection_path)
    return True if script or slow else None


def pytest_collection_modifyitems(config, items):
    """Mark the slow folders, so that `pytest -m "not slow"` is the fast half; leave out what is nightly."""
    if not config.getoption("--nightly", default=False):
        nightly = [item for item in items if item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=nightly)
        items[:] = [item for item in items if item not in nightly]
    for item in items:
        if in_slow_folder(item.path):
            item.add_marker(pytest.mark.slow)


@cache
def _docs_script(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def docs_script():
    """A function that imports a script of `docs/` by its name."""
    return _docs_script


@pytest.fixture(scope="module")
def few_shuffles():
    """Let `agree` shuffle values at most 8 times instead of 50, for modules that do not check the precision."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arbitre.agreement.aligned_rows.MAX_DRAWN", 8)
        yield


@pytest.fixture(scope="class")
def without_standing():
    """Consensus without the comparison of every annotator with the consensus of the others, which takes most time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(import_module("arbitre.agreement.consensus.build"), "standing_of", lambda *_: None)
        yield


@pytest.fixture(scope="class")
def without_gamma():
    """Structural agreement without gamma of lists, whose expected disorder is sampled."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(import_module("arbitre.agreement.agree"), "gamma_of_lists", lambda *_, **__: None)
        yield
