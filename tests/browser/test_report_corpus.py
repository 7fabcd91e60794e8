"""The report of a corpus of 10 and of 100 documents in a browser: classes, links, intervals and printing."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from tests.browser import corpora
from tests.browser.axe import violations
from typer.testing import CliRunner

from arbitre.cli import app
from arbitre.report.entry_rows import GLYPHS

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect


KEPT = 60
"""Number of documents that the report of the large corpus holds."""

PAPER = 697
"""Width of the printed area of an A4 page, in CSS pixels."""


@pytest.fixture(scope="session", params=[10, 100])
def corpus(request, tmp_path_factory):
    """A corpus with the report of its ranking; `out` is what the terminal said."""
    folder = tmp_path_factory.mktemp("corpus")
    corpora.write(folder, request.param)
    systems = [f"{name}={folder / name}.jsonl" for name in corpora.SYSTEMS]
    options = ("--out", folder / "report", "--workers", "1", *(("--keep", KEPT) if request.param > KEPT else ()))
    out = run("rank", *systems, *sources(folder), *options)
    return SimpleNamespace(
        size=request.param, folder=folder, report=folder / "report" / "report.html", out=out, single=single(folder)
    )


def sources(folder):
    return "--schema", folder / "schema.json", "--gold", folder / "gold.jsonl"


def single(folder):
    """Write the report of one system, from the evaluation of the ranking."""
    return made(folder, "single.html")


def made(folder, name, *options):
    file = folder / f"report-{name}"
    run("report", folder / "report" / "hasty" / "evaluation.json", "--out", file, *options)
    return file


def run(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "120", "NO_COLOR": "1"})
    assert result.exit_code == 0, result.output
    return result.output


def filters(page):
    """The count of each class filter."""
    boxes = page.locator('input[name="x-show"]').evaluate_all(
        "all => all.map(one => [one.value, one.closest('label').querySelector('.count').textContent])"
    )
    return {name: int(text) for name, text in boxes}


def headline(page):
    """The number of entries of each class, in the results."""
    keys = page.locator("#scores .made .key").evaluate_all("all => all.map(one => [one.className, one.textContent])")
    return {look.split()[1]: int(re.search(r"\d+", text)[0]) for look, text in keys}


def documents(page):
    return page.locator("#x-document option").count()


def choose(page, place):
    page.locator("#x-document").select_option(index=place)


def test_filters_add_up_to_the_results(visit_open, corpus):
    page = visit_open(corpus.single)
    table = page.locator("#d-table tbody tr")
    counts = {
        row[0]: row[1:]
        for row in table.evaluate_all(
            "all => all.map(row => [row.cells[0].textContent.replace('failed', '').trim(), ...[...row.cells].slice(-2).map(one => Number(one.textContent))])"
        )
    }
    sums = dict.fromkeys(GLYPHS, 0)
    for place in range(10):
        choose(page, place)
        found = filters(page)
        gold, predicted = counts[page.locator("#x-head b").first.text_content().rstrip(":")]
        matched = found["exact"] + found["close"] + found["low"]
        assert (matched + found["missing"], matched + found["spurious"]) == (gold, predicted)
        sums = {name: sums[name] + found[name] for name in sums}
    if corpus.size == 10:
        assert {name: count for name, count in sums.items() if count} == headline(page)


def test_the_map_the_rows_and_the_words_have_the_class_of_the_filters(visit_open, corpus):
    page = visit_open(corpus.single)
    for place in range(4 if corpus.size == 10 else 1):
        choose(page, place)
        for name, count in filters(page).items():
            rows = page.locator(f"#x-list .row.{name}")
            assert rows.count() == count
            if page.locator("#x-map svg").count():  # a document without pairs has no map
                bars = count if name in {"missing", "spurious"} else 2 * count
                assert page.locator(f"#x-map rect.{name}").count() == bars
            assert all(f"{GLYPHS[name]} {name}" in text for text in rows.locator("header").all_text_contents())
            box = page.locator(f'input[value="{name}"]')
            box.uncheck()
            assert rows.count() == 0
            box.check()


def test_the_class_close_follows_its_option(visit_open, corpus, tmp_path):
    if corpus.size > 10:
        pytest.skip("a second evaluation of the large corpus is slow")
    options = ("--predicted", corpus.folder / "hasty.jsonl", "--close", "0.97", "--out", tmp_path, "--workers", "1")
    run("evaluate", *sources(corpus.folder), *options)
    before, after = headline(visit_open(corpus.single)), headline(visit_open(tmp_path / "report.html"))
    assert (after["exact"], after.get("close", 0) < before["close"], after["low"] > before.get("low", 0)) == (
        before["exact"],
        True,
        True,
    )
    page = visit_open(tmp_path / "report.html")
    for place in range(documents(page)):
        choose(page, place)
        qualities = page.locator("#x-list .row.low data.quality").evaluate_all("all => all.map(one => one.value)")
        assert all(float(value) < 0.97 for value in qualities)
        assert page.locator("#x-map .low").count() == 2 * filters(page)["low"]


def test_wrong_fields_have_a_filter_of_their_own(visit_open, corpus):
    page = visit_open(corpus.single)
    seen = 0
    for place in range(10 if corpus.size == 10 else 2):
        choose(page, place)
        before = filters(page)
        box = page.locator("#x-wrong")
        count = int(page.locator("label", has=box).locator(".count").text_content())
        box.check()
        assert page.locator("#x-list .row:not(.outside)").count() == page.locator(".said.wrong").count() == count
        assert "wrong=1" in page.evaluate("location.hash")
        assert filters(page) == before
        seen += page.locator("#x-list .row.close").count()
        box.uncheck()
    assert seen > 0 or corpus.size > 10  # an entry can be close and have a wrong field


DEAD = """async () => {
    const dead = [];
    const causes = document.querySelectorAll('#c-list a').length;
    const links = [...document.querySelectorAll('main a[href^="#"]:not(#app a, #c-list a)')];
    for (const link of links) {
        const place = link.getAttribute('href').slice(1);
        const values = new URLSearchParams(place);
        if (!values.has('d')) {
            if (!document.getElementById(place)) dead.push(place);
            continue;
        }
        const changed = new Promise(done => addEventListener('hashchange', done, { once: true }));
        const same = location.hash === '#' + place;
        location.hash = place;
        if (!same) await changed;
        const chosen = document.querySelector('#x-document option:checked').textContent;
        const name = (values.has('s') ? values.get('s') + ' / ' : '') + values.get('d') + ':';
        const focused = document.querySelector('#x-list .row:focus .where')?.textContent ?? '';
        if (!chosen.startsWith(name)) dead.push(place);
        else if (values.has('g') && !focused.startsWith(`[${values.get('g')}]`)) dead.push(place);
    }
    return [links.length, dead];
}"""


def test_every_link_leads_somewhere(visit_open, corpus):
    page = visit_open(corpus.report)
    count, dead = page.evaluate(DEAD)
    assert dead == []
    assert count > 30
    differing = page.locator("#d-table tbody tr").first.locator("td a")
    assert differing.count() == 2  # of both systems, on the document on which they differ most
    page.evaluate("for (const box of document.querySelectorAll('details.lazy')) box.open = true")
    worst = page.locator("#paths ul.worst li")
    assert worst.locator("a").count() == worst.count() > 10


def test_the_page_says_how_many_documents_it_holds(visit_open, corpus):
    said = visit_open(corpus.single).locator("#explorer .holds").text_content()
    if corpus.size == 10:
        assert said == "This page contains all 10 documents."
        return
    assert said.startswith("This page contains 60 of 100 documents: first those that it links to, then the worst.")
    assert "--keep" in said
    assert documents(visit_open(corpus.single)) == KEPT


def test_keep_sets_the_number_of_documents_on_the_page(visit_open, corpus):
    file = made(corpus.folder, "fewer.html", "--keep", "7")
    page = visit_open(file)
    assert documents(page) == 7
    assert (
        page.locator("#explorer .holds").text_content().startswith(f"This page contains 7 of {corpus.size} documents")
    )
    linked = page.locator("#d-table tbody th a")
    assert 0 < linked.count() <= 7
    assert page.evaluate(DEAD)[1] == []
    if corpus.size > 10:
        out = run("report", corpus.folder / "report" / "hasty" / "evaluation.json", "--out", file, "--keep", "99")
        assert "Evaluate again with --keep 99 to show more." in out.replace("\n", " ")


def test_navigation_scrolls_to_its_target_and_stays_there(visit, corpus):
    page = visit(corpus.single)
    page.locator('header.top nav a[href="#documents"]').click()
    expect(page.locator("#x-list .row").first).to_be_visible()  # the list is filled when its section opens
    before = page.locator("#x-list .row").count()
    for name in ("read", "scores", "trust", "documents", "curve", "causes"):
        page.locator(f'header.top nav a[href="#{name}"]').click()
        page.wait_for_timeout(150)
        assert reached(page, name)
        assert page.locator("#x-list .row").count() == before
    assert reached(visit(corpus.single, "#trust"), "trust")


def reached(page, name):
    """Whether a section is at the top of the window, or the page ends in it."""
    top = page.locator(f"#{name}").evaluate("node => node.getBoundingClientRect().top")
    last = page.evaluate("innerHeight + scrollY >= document.documentElement.scrollHeight - 2")
    return 0 <= top < 120 or last


def test_a_long_list_grows_only_on_request(visit_open, tmp_path):
    people = [corpora.person(corpora.random.Random(at)) for at in range(130)]
    for name in ("gold", "hasty"):
        corpora.lines(tmp_path / f"{name}.jsonl", [{"id": "d", "page": 1, "people": people}])
    (tmp_path / "schema.json").write_text(corpora.json.dumps(corpora.SCHEMA), encoding="utf-8")
    out = ("--predicted", tmp_path / "hasty.jsonl", "--out", tmp_path / "report", "--workers", "1")
    run("evaluate", *sources(tmp_path), *out)
    page = visit_open(tmp_path / "report" / "report.html")
    rows = page.locator("#x-list .row:not(.outside)")
    page.evaluate("document.getElementById('x-more').scrollIntoView()")
    page.wait_for_timeout(200)
    assert rows.count() == 40
    assert page.locator("#x-more").text_content().startswith("The first 40 of 130 entries.")
    page.locator("#x-more button").first.click()
    assert rows.count() == 80
    assert "[40]" in page.locator("#x-list .row:focus .where").text_content()
    page.locator("#x-more button").last.click()
    assert rows.count() == 130
    assert page.locator("#x-more").text_content() == ""


def test_every_interval_has_its_basis_next_to_it(visit_open, corpus):
    page = visit_open(corpus.report)
    units = f"Units: {corpus.size} documents."
    said = page.locator("#verdict .basis").text_content()
    assert said.startswith("Intervals at 95%: Clopper-Pearson with an effective number of units")
    assert "no resampling" in said
    assert said.endswith(units)
    tests = page.locator("#scores .scroll").first
    said = tests.locator("xpath=following-sibling::p[1]").text_content()
    assert ("swaps" in said, said.endswith(units)) == (True, True)
    assert "the level of 95% holds for all pairs together" in said
    assert all(text.startswith("[") for text in tests.locator("tbody td:nth-of-type(2)").all_text_contents())
    said = page.locator("#scores > .note", has_text="Smallest true difference")
    assert said.text_content().startswith("Smallest true difference to the best system that would be detected")
    table = page.locator("#scores .scroll", has=page.locator("#t-macro"))
    assert table.locator("xpath=following-sibling::p[2]").text_content().endswith(units)
    ranged = r"""all => all.filter(table => [...table.querySelectorAll('td')]
        .some(cell => /\[[-0-9.]+, [-0-9.]+\]/.test(cell.textContent))).length"""
    assert page.locator("main > :not(#curve) table").evaluate_all(ranged) == 3  # the board, the tests, the scores


def test_the_warnings_of_the_terminal_are_on_the_page(visit_open, corpus):
    page = visit_open(corpus.report)
    said = " ".join(page.locator(".careful").all_text_contents())
    assert "Never in gold, so not evaluated: /people/*/never." in said
    notes = re.findall(r"^Fewer than .*$", corpus.out, re.MULTILINE)
    assert len(notes) == (corpus.size == 10)
    assert all(note in page.locator("#verdict .careful").text_content() for note in notes)
    assert ("Fewer than 30 documents (10)" in said) is (corpus.size == 10)
    failed = re.search(r"hasty: failed, counted as empty predictions \((\d+)\)", corpus.out)
    assert (f"{failed[1]} predictions failed." in said) if failed and int(failed[1]) > 1 else corpus.size == 10


def test_a_repaired_prediction_is_a_warning_on_the_page(visit_open, tmp_path):
    corpora.write(tmp_path, 3)
    broken = (tmp_path / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    answers = [{"id": f"d{at:04}", "predicted": f"```json\n{text}\n```"} for at, text in enumerate(broken)]
    pairs = [one | {"gold": corpora.json.loads(text)} for one, text in zip(answers, broken, strict=True)]
    corpora.lines(tmp_path / "pairs.jsonl", pairs)
    options = ("--pairs", tmp_path / "pairs.jsonl", "--lenient", "--out", tmp_path / "report", "--workers", "1")
    out = run("evaluate", "--schema", tmp_path / "schema.json", *options)
    assert "repaired (3)" in out
    assert (
        "3 predictions were not valid JSON and were repaired."
        in visit_open(tmp_path / "report" / "report.html").locator(".careful").text_content()
    )


def test_values_of_different_types_never_look_equal(visit_open, corpus):
    page = visit_open(corpus.single)
    row = page.locator("#paths tbody tr", has=page.locator("code", has_text=re.compile("^/code$")))
    assert re.match(r'^4\d\d → "4\d\d"$', row.locator("summary .pair").text_content().strip())
    row.locator("summary").click()
    row.locator("ul.worst a").first.click()
    field = page.locator("#x-list .row:focus .field", has=page.locator(".name", has_text=re.compile("^code$")))
    expect(field.locator(".side")).to_have_count(2)
    gold, predicted = field.locator(".side").all_text_contents()
    assert predicted == f'"{gold}"'


def test_the_document_menu_names_the_score(visit_open, corpus):
    page = visit_open(corpus.report)
    texts = page.locator("#x-document option").all_text_contents()
    assert all(re.search(r": (document quality [01]\.\d\d|failed)$", text) for text in texts)
    french = visit_open(made(corpus.folder, "fr.html", "--lang", "fr"))
    assert re.search(
        r"\xa0: (qualité du document [01],\d\d|en échec)$", french.locator("#x-document option").first.text_content()
    )


def test_the_report_prints_on_a4(visit_open, corpus):
    page = visit_open(corpus.report, width=PAPER)
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
    cut = """() => [...document.querySelectorAll('main table, main svg, main .row')]
        .filter(one => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1)
        .map(one => one.outerHTML.slice(0, 90))"""
    assert page.evaluate(cut) == []
    kept = "all => all.filter(one => getComputedStyle(one).breakAfter !== 'avoid').length"
    assert page.locator("#printed :is(h2, h3, caption)").evaluate_all(kept) == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("#printed > *").count() == 0


def test_the_printed_pages_are_few(visit_open, corpus):
    page = visit_open(corpus.report)
    pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))
    assert pages == 2


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_axe_finds_no_violation(visit_open, corpus, lang):
    if (corpus.size, lang) == (10, "fr"):
        page = visit_open(made(corpus.folder, "french.html", "--lang", "fr"))
    elif lang == "en":
        page = visit_open(corpus.report if corpus.size == 10 else corpus.single)
    else:
        pytest.skip("the large page is checked in English")
    assert violations(page) == []


def test_axe_finds_no_violation_with_everything_open(visit_open, corpus):
    if corpus.size > 10:
        pytest.skip("the large page has the same parts")
    page = visit_open(corpus.report, "#s=hasty&d=d0003", scheme="dark")
    page.locator('input[value="exact"]').uncheck()
    page.locator("#x-wrong").check()
    page.locator("#x-search").fill("a")
    page.locator("main details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    for row in page.locator("#x-list .row").all():
        row.evaluate("row => row.open()")
    assert violations(page) == []


def test_escape_clears_the_filters_anywhere(visit_open, corpus):
    page = visit_open(corpus.single)
    rows = page.locator("#x-list .row")
    every = rows.count()
    for focus in ("#x-path", "#theme", "#x-list .row", "body"):
        page.locator('input[value="exact"]').uncheck()
        page.locator("#x-wrong").check()
        assert 0 < rows.count() < every
        page.locator(focus).first.press("Escape")
        assert rows.count() == every
        assert page.locator('input[name="x-show"]:not(:checked), #x-wrong:checked').count() == 0
        assert "wrong=" not in page.evaluate("location.hash")
        assert page.locator("#x-list .row:focus").count() == (focus == "#x-list .row")
    page.locator("#x-path").select_option(index=1)
    page.locator("#x-search").fill("nobody")
    page.locator("#x-order").press("Escape")
    assert (rows.count(), page.locator("#x-path").input_value(), page.locator("#x-search").input_value()) == (
        *(every, "", ""),
    )


def test_fields_are_a_table_with_named_sides(visit_open, corpus):
    page = visit_open(corpus.single)
    close = page.locator("#x-list .row.close")
    for place in range(10):
        if close.count() == 0:
            choose(page, place)
    table = close.first.get_by_role("table")
    heads = table.get_by_role("columnheader")
    assert heads.all_text_contents() == ["Field", "Gold", "Prediction", "Verdict"]
    assert heads.evaluate_all("all => all.every(one => one.tagName === 'TH' && one.scope === 'col')")
    named = table.get_by_role("rowheader", name="town")
    assert named.get_attribute("scope") == "row"
    assert (
        table.get_by_role("row").filter(has=page.get_by_role("rowheader", name="town")).get_by_role("cell").count() == 3
    )


def test_the_faults_are_listed_most_costly_first(visit_open, corpus, tmp_path):
    predicted = ("--predicted", corpus.folder / "hasty.jsonl")
    run("evaluate", *sources(corpus.folder), *predicted, "--diagnose", "--out", tmp_path / "report", "--workers", "1")
    page = visit_open(tmp_path / "report" / "report.html", "#faults")
    rows = page.locator("#faults .scroll").first.locator("tbody tr")
    costs = rows.evaluate_all("all => all.map(one => Number(one.cells[3].dataset.sort))")
    assert len(costs) > 3
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > 0
    head = page.locator("#faults thead th").nth(2)
    head.locator("button").click()
    counts = rows.evaluate_all("all => all.map(one => Number(one.cells[2].dataset.sort))")
    assert counts == sorted(counts, reverse=head.get_attribute("aria-sort") == "descending")
    box = page.locator("#faults").bounding_box()
    assert box["x"] + box["width"] <= 1280
    if corpus.size == 10:
        assert violations(page) == []
