"""Run the accessibility checks of axe-core on a page."""

from __future__ import annotations

import pytest

ROWS = "#d-table tbody tr:nth-child(n+30)"
"""Rows of the table of documents that are left out: they are made as those before, and checking them takes long."""


def violations(page, least=30):
    """Run all rules of axe-core, the best practices included. Return the rules broken and where.

    More than `least` rules must apply; in a modal dialog they are fewer.
    """
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed: pip install 'arbitre[browser]'"
    )
    left_out = {"exclude": [[ROWS]]} if page.locator(ROWS).count() else None
    response = axe.Axe().run(page, context=left_out, options={"resultTypes": ["violations"]}).response
    assert len(response["passes"]) > least
    return [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in response["violations"]]
