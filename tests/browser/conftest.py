"""Start Chromium with Playwright; skip the browser tests if either is not installed."""

from __future__ import annotations

import shutil
from contextlib import suppress

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)

ACTIONS = ("click", "check", "uncheck", "fill", "press", "select_option", "set_input_files")
SETTLE = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"

STORING = ("test_queue.py", "test_decisions.py")
"""Modules whose pages store decisions. Chromium 150 loses some of the first writes of a file to localStorage while the
machine is busy: 2 to 6 % of the pages of a script with no other content, so such a test is repeated up to three times.
The others are repeated once, because a busy machine can exceed any time limit."""


def pytest_collection_modifyitems(config, items):
    if config.pluginmanager.hasplugin("rerunfailures"):
        for item in items:
            item.add_marker(pytest.mark.flaky(reruns=3 if item.path.name in STORING else 1))


@pytest.fixture(scope="session")
def chromium():
    """The browser, open for all the tests."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: pip install 'arbitre[browser]'"
    )
    if CHROMIUM is None:
        pytest.skip("no Chromium here: install the package chromium of the distribution")
    with api.sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        for name in ACTIONS:
            patch.setattr(api.Locator, name, settled(getattr(api.Locator, name), api.Error))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


def settled(action, error):
    """An action that ends when the page has handled it: browsers queue the events `toggle` and `hashchange`."""

    def settle(locator, *given, **options):
        result = action(locator, *given, **options)
        with suppress(error):  # the action opened another page
            locator.page.evaluate(SETTLE)
        return result

    return settle


@pytest.fixture
def visit(chromium):
    """Opens a file from disk; what it asks of the network, and what it complains of, is held against it at the end."""
    contexts, asked, said = [], [], []

    def opened(file, anchor="", *, width=1280, scheme="light"):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        context.set_default_timeout(10_000)
        context.set_default_navigation_timeout(30_000)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(file.as_uri() + anchor)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [url for url in asked if not url.startswith("file:///") or "report" not in url] == []
    assert said == []


@pytest.fixture
def visit_open(visit):
    """Opens a report as `visit` does, and then all of its sections."""

    def opened(*given, **options):
        page = visit(*given, **options)
        page.evaluate("for (const box of document.querySelectorAll('details.fold')) box.open = true")
        page.wait_for_selector("#app[hidden]", state="detached")
        return page

    return opened
