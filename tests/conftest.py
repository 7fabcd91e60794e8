"""Settings of all tests: no test depends on time, and the slow half is marked."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", parent=settings(), deadline=None)
settings.load_profile("untimed")

HERE = Path(__file__).parent
SLOW_FOLDERS = {"bench", "browser", "integration", "laws", "oracle"}


def pytest_collection_modifyitems(items):
    """Mark the tests of the slow folders, so that `pytest -m "not slow"` is the fast half."""
    for item in items:
        if HERE in item.path.parents and item.path.relative_to(HERE).parts[0] in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)
