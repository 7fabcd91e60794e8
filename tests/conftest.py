"""Settings of all tests: no test depends on time, and the slow half is marked."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", parent=settings(), deadline=None)
settings.load_profile("untimed")

HERE = Path(__file__).parent
SLOW_FOLDERS = {"bench", "browser", "integration", "laws", "oracle"}


def pytest_addoption(parser):
    parser.addoption("--nightly", action="store_true", help="run the nightly tests, too")


def pytest_collection_modifyitems(config, items):
    """Mark the slow folders, so that `pytest -m "not slow"` is the fast half; leave out what is nightly."""
    if not config.getoption("--nightly", default=False):
        nightly = [item for item in items if item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=nightly)
        items[:] = [item for item in items if item not in nightly]
    for item in items:
        if HERE in item.path.parents and item.path.relative_to(HERE).parts[0] in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)
