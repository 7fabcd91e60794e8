"""Compare output with stored snapshots; `pytest tests/golden --update-golden` rewrites them."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write the snapshots of tests/golden anew")


@pytest.fixture
def golden(request):
    """Holds a text against the snapshot of this name; blanks at the ends of lines do not count."""

    def check(name, text):
        text = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
        path = HERE / name
        if request.config.getoption("--update-golden", default=False):
            path.write_text(text, encoding="utf-8", newline="\n")
        assert text == path.read_text(encoding="utf-8")

    return check
