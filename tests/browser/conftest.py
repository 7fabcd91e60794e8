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

HEIGHT = 900
"""Height of the pages, in pixels."""
FAILED = pytest.StashKey[bool]()
"""Whether the last phase of a test failed."""

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


def pytest_runtest_makereport(item, call):
    item.stash[FAILED] = call.excinfo is not None


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


@pytest.fixture(scope="session")
def idle():
    """Pages that no test uses, each in a context of its own: making one costs four times as much as opening a file."""
    return []


def new_page(chromium):
    context = chromium.new_context(viewport={"width": 1280, "height": HEIGHT})
    context.set_default_timeout(10_000)
    context.set_default_navigation_timeout(30_000)
    return context.new_page()


def empty(page):
    """Make a page like a new one: it shows nothing, has stored nothing, and the mouse is in its corner."""
    page.goto("about:blank")
    session = page.context.new_cdp_session(page)
    session.send("Storage.clearDataForOrigin", {"origin": "file://", "storageTypes": "all"})
    session.detach()
    page.context.clear_permissions()
    page.mouse.move(0, 0)


@pytest.fixture
def visit(chromium, idle, request):
    """Opens a file from disk; what it asks of the network, and what it complains of, is held against it at the end.

    A script given runs before those of the file. Every page of a test has a context of its own. Where nothing failed
    the page is emptied, and a later test uses it.
    """
    used, asked, said = [], [], []
    handlers = {
        "request": lambda request: asked.append(request.url),
        "console": lambda message: said.append(message.text),
        "pageerror": lambda error: said.append(str(error)),
        "dialog": lambda dialog: said.append(dialog.message),
    }

    def opened(file, anchor="", *, width=1280, scheme="light", script=None):
        page = idle.pop() if idle and not script else new_page(chromium)
        used.append((page, script))
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.emulate_media(media="null", color_scheme=scheme)
        for event, handler in handlers.items():
            page.on(event, handler)
        if script:
            page.add_init_script(script)
        page.goto(file.as_uri() + anchor)
        return page

    yield opened
    for page, script in used:
        if script or said or request.node.stash[FAILED] or page.context.pages != [page]:
            page.context.close()
            continue
        empty(page)
        for event, handler in handlers.items():
            page.remove_listener(event, handler)
        idle.append(page)
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
