"""The report in a browser: opened from disk, used by mouse and keyboard, and safe with hostile predictions."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from importlib.resources import files

import pytest
from tests.browser.hostile import TEXTS
from tests.browser.hostile import view as hostile
from tests.builders import read_records
from tests.unit.test_report_transport import SPLIT, WEIGHED
from tests.unit.test_report_view import made_factor, observed
from tests.worst_documents import keeping

import arbitre
from arbitre import bundled
from arbitre.errors import show_hidden
from arbitre.inputs.join import join
from arbitre.language import Language
from arbitre.parsing.fast_json import json_text
from arbitre.report.build_view import build_subject
from arbitre.report.report_files import view_of, write_page
from arbitre.report.view import FlatView

PAGE = files("arbitre.report").joinpath("page")

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect


@pytest.fixture
def visit(visit_open):
    return visit_open


def demo_subject(system):
    plan = arbitre.Comparator(bundled.schema("examples/speakers.schema.json")).plan
    sides = (
        read_records(str(bundled.demo() / f"{name}.jsonl"), side)
        for name, side in (("gold", "gold"), (system, "predicted"))
    )
    kept, evaluation = keeping(plan, join(*sides))
    plain = evaluation.to_dict()
    return build_subject(plain, kept.to_dict(evaluation, json_text(plain)), name=system)


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """The pages, each written once."""
    folder = tmp_path_factory.mktemp("reports")
    systems = [demo_subject(name) for name in ("careful", "hasty")]
    views = {"hasty": view_of(systems[1:]), "both": view_of(systems), "hostile": hostile(), "large": view_of([large()])}
    views["moved"] = view_of(moved())
    views["one"] = view_of(moved()[:1])
    views["both"] = replace(views["both"], factors=[made_factor()])
    for name, view in views.items():
        write_page(folder / f"report-{name}.html", view)
    flat = FlatView(solidarity=0.9977, chance=0.7527, f1q=0.8771, exact=True)
    write_page(folder / "report-fr.html", view_of([replace(systems[1], flat=flat)]), Language.FR)
    return lambda name: folder / f"report-{name}.html"


def large():
    """A thousand entries, every third with a fault."""
    entry = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "pages": {"type": "array", "items": {"type": "integer"}}},
    }
    gold = [{"name": f"Speaker {number:04}", "pages": [number, number + 1]} for number in range(1000)]
    predicted = [
        {"name": one["name"], "pages": one["pages"][: 2 - (number % 3 == 0)]} for number, one in enumerate(gold)
    ]
    return build_subject(*observed({"type": "array", "items": entry}, [("d", gold, predicted[::-1])]))


def moved():
    """Entries that weigh as many words as they have: one that is split over two, and one of which some is left."""
    pairs = [("split", *SPLIT), ("right", SPLIT[0], SPLIT[0])]
    partial = {"transport": {"masses": "words", "solver": "partial", "mass": 0.75}}
    schema = WEIGHED | {"x-arbitre": {"match": partial}}
    return build_subject(*observed(WEIGHED, pairs), name="all"), build_subject(*observed(schema, pairs), name="part")


def rows(page):
    return page.locator("#x-list .row")


def entries(page):
    return page.locator("#x-list .row:not(.outside)")


def status(page):
    return page.locator("#x-status").text_content()


def titles(page):
    return [text.strip() for text in page.locator("#x-list .row h3").all_text_contents()]


def test_the_report_opens_from_disk_and_shows_every_section(visit, reports):
    page = visit(reports("both"))
    assert page.locator("h1").text_content() == "Index of speakers: 2 systems compared"
    for section in ("factors", "causes", "scores", "curve", "documents", "trust", "read"):
        assert page.locator(f"#{section} h2").first.is_visible()
    assert page.locator("#x-document option").count() == 12
    assert rows(page).count() > 5


def test_clicking_a_column_header_sorts_the_table(visit, reports):
    page = visit(reports("hasty"))
    table = page.locator("#paths table")
    head = table.locator("thead th").nth(1)

    def column():
        return [
            float(value)
            for value in table.locator("tbody tr td:nth-of-type(1) data").evaluate_all(
                "all => all.map(one => one.value)"
            )
        ]

    before = column()
    head.locator("button").click()
    assert (head.get_attribute("aria-sort"), column()) == ("ascending", sorted(before))
    head.locator("button").press("Enter")
    assert (head.get_attribute("aria-sort"), column()) == ("descending", sorted(before, reverse=True))
    table.locator("thead button").first.click()
    assert column() == before
    assert head.get_attribute("aria-sort") is None


def test_filters_and_search_narrow_the_entries(visit, reports):
    page = visit(reports("hasty"), "#d=page_02")
    assert status(page) == "10 of 10 entries shown"
    for name in ("exact", "close", "low"):
        page.locator(f'input[name="x-show"][value="{name}"]').uncheck()
    assert status(page) == "1 of 10 entries shown"
    assert rows(page).first.get_attribute("class") == "row missing"
    page.locator("#x-search").fill("nobody of this name")
    expect(page.locator("#x-list .note")).to_have_count(1)
    assert status(page) == "0 of 10 entries shown"
    page.locator("#x-search").press("Escape")
    for name in ("exact", "close", "low"):
        page.locator(f'input[name="x-show"][value="{name}"]').check()
    page.locator("#x-search").fill("CASTELNOIR agnes")  # neither case nor accents count
    expect(rows(page)).to_have_count(1)
    assert "Caste" in titles(page)[0]
    page.locator("#x-search").fill("")
    expect(entries(page)).to_have_count(10)
    page.locator("#x-path").select_option("/speakers/*/name")
    assert 0 < rows(page).count() < 10
    page.locator("#x-path").select_option("")
    page.locator("#x-order").select_option("worst")
    qualities = [
        float(value) for value in page.locator("#x-list data.quality").evaluate_all("all => all.map(one => one.value)")
    ]
    assert qualities == sorted(qualities)


def test_links_open_an_entry_and_update_the_address(visit, reports):
    page = visit(reports("hasty"), "#d=page_06&g=7")
    assert page.locator("#x-document option:checked").text_content().startswith("page_06")
    active = page.locator("#x-list .row:focus")
    assert "[7]" in active.locator(".where").text_content()
    assert active.locator(".fields").is_visible()
    assert active.evaluate(
        "node => { const box = node.getBoundingClientRect(); return box.top >= 0 && box.top < innerHeight; }"
    )
    page.keyboard.press("j")
    assert page.evaluate("location.hash") == "#d=page_06&g=8"
    again = visit(reports("hasty"), page.evaluate("location.hash") + "&show=low+missing&order=worst&q=zzz")
    assert again.locator("#x-order").input_value() == "worst"
    assert "[8]" in again.locator("#x-list .row:focus .where").text_content()  # filters that would hide it are dropped
    page.locator("#paths summary").first.click()
    link = page.locator("#paths ul.worst a").first
    target = link.get_attribute("href")
    link.click()
    key = re.search(r"d=(\w+)", target)[1]
    expect(page.locator("#x-document option:checked")).to_have_text(re.compile(f"^{key}:"))


def test_an_entry_of_several_systems_has_a_link_of_its_own(visit, reports):
    page = visit(reports("both"), "#s=hasty&d=page_03&g=2")
    assert page.locator("#x-document option:checked").text_content().startswith("hasty / page_03")
    page.locator("#d-table tbody td a").first.click()
    expect(page.locator("#x-document option:checked")).to_have_text(re.compile("^careful / page_"))


def test_the_explorer_can_be_used_with_the_keyboard_alone(visit, reports):
    page = visit(reports("hasty"), "#d=page_02")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "x-search"
    page.keyboard.press("Enter")
    places = [page.evaluate("document.activeElement.dataset.place")]
    for key in ("ArrowDown", "j", "ArrowUp", "End", "Home"):
        page.keyboard.press(key)
        places.append(page.evaluate("document.activeElement.dataset.place"))
    assert places == ["0", "1", "2", "1", "10", "0"]  # the fields outside the entries, then ten entries
    fields = page.locator("#x-list .row:focus .fields")
    before = fields.is_visible()
    page.keyboard.press("Enter")
    assert fields.is_visible() is not before
    page.keyboard.press(" ")
    assert fields.is_visible() is before
    page = visit(reports("hasty"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#causes"


def test_gold_and_predicted_are_shown_side_by_side_with_differences_marked(visit, reports):
    page = visit(reports("hasty"), "#d=page_06&g=7")
    row = page.locator("#x-list .row:focus")
    field = row.locator(".field", has=page.locator(".name", has_text=re.compile("^name$")))
    gold, predicted = field.locator(".side").all()
    assert (gold.text_content(), predicted.text_content()) == ("Vaudreine, Ambroise", "WESTONBIRT, Harold")
    assert [gold.locator("del.entire").count(), predicted.locator("ins.entire").count()] == [1, 1]  # quality 0.2
    near = page.locator("#x-list .field.close").filter(has=page.locator("del, ins")).first
    gold, predicted = near.locator(".side").all()
    kept = "node => [...node.querySelectorAll('bdi')].map(one => [...one.childNodes].filter(part => part.nodeType === 3).map(part => part.data).join('')).join('')"
    assert gold.evaluate(kept) == predicted.evaluate(kept) != ""
    boxes = [side.bounding_box() for side in (gold, predicted)]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    assert field.locator(".mark").text_content().startswith("≠ wrong")


@pytest.mark.parametrize("place", [0, 200, 201, 500])
def test_only_the_difference_of_long_texts_is_marked(visit, tmp_path, place):
    texts = ["a" * place + sign + "b" * 400 for sign in "xy"]
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    write_page(
        tmp_path / "report.html",
        view_of([build_subject(*observed(schema, [("d", *({"text": one} for one in texts))]))]),
    )
    field = visit(tmp_path / "report.html").locator("#x-list .field")
    assert [field.locator(tag).text_content() for tag in ("del", "ins")] == ["x", "y"]


def test_the_accepted_form_is_named(visit, tmp_path):
    town = {"type": "string", "x-arbitre": {"alternatives": "others"}}
    schema = {"type": "object", "properties": {"town": town, "others": {"type": "array", "items": {"type": "string"}}}}
    pairs = [("d", {"town": "Paris", "others": ["Lutèce"]}, {"town": "Lutece"})]
    view = view_of([build_subject(*observed(schema, pairs))])
    for lang, words in ((Language.EN, "accepted form: Lutèce"), (Language.FR, "forme acceptée\u00a0: Lutèce")):
        write_page(tmp_path / "report.html", view, lang)
        page = visit(tmp_path / "report.html")
        assert page.locator("#x-list .side").first.text_content() == f"Paris ({words})"
        assert page.locator("#paths .pair", has_text="Lutece").text_content().strip() == "Lutèce → Lutece"


def test_the_map_and_the_matrix_show_the_matching(visit, reports):
    page = visit(reports("hasty"), "#d=page_02")
    assert page.locator("#x-map .link").count() == 9
    assert page.locator("#x-map .lone.missing").count() == 1
    page.locator("#x-map rect.lone.missing").click()
    assert page.locator("#x-list .row:focus").get_attribute("class") == "row missing"
    assert page.locator("#x-matrix rect").count() == 90
    assert page.locator("#x-matrix circle").count() == 9
    page.locator("#x-matrix summary").click()
    expect(page.locator("#x-matrix table b")).to_have_count(9)


def test_the_theme_and_the_language_can_be_switched(visit, reports):
    def paper(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = visit(reports("hasty")), visit(reports("hasty"), scheme="dark")
    assert paper(light) != paper(dark)
    light.locator("#theme").click()
    assert light.locator("#theme").text_content() == "Theme: light"
    light.locator("#theme").click()
    assert paper(light) == paper(dark)
    french = visit(reports("fr"), "#d=page_02")
    assert french.locator("html").get_attribute("lang") == "fr"
    assert french.locator("#documents > summary h2").text_content() == "Documents"
    assert french.locator("#read > summary h2").text_content() == "Mode d’emploi"
    assert status(french) == "Entrées affichées\u00a0: 10 sur 10"
    assert re.search(r"≈ proche 0,\d\d", french.locator("#x-list .field.close .mark").first.text_content())


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_printed_report_is_black_on_white(visit, reports, scheme, theme):
    page = visit(reports("hasty"), scheme=scheme)
    while page.evaluate("document.documentElement.dataset.theme ?? 'auto'") != theme:
        page.locator("#theme").click()
    page.emulate_media(media="print")
    body = page.evaluate("(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))")
    assert body == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    lost = page.locator("#x-list del").first.evaluate("node => getComputedStyle(node).color")
    assert lost == "rgb(158, 61, 34)"


def test_a_split_entry_lists_its_shares_and_links_to_its_partners(visit, reports):
    page = visit(reports("moved"), "#s=all&d=split")
    assert status(page) == "3 of 3 partial matches shown"
    shares = [text.strip() for text in page.locator("#x-list .row .shares").all_text_contents()]
    assert shares == [
        "⊢ split [0] 67% → [0] · 33% → [1]",
        "⊢ split [0] 33% → [1] · 67% → [0]⊣ merged [1] 50% ← [0] · 50% ← [1]",
        "⊣ merged [1] 50% ← [1] · 50% ← [0]",
    ]
    page.locator("#x-list .row").first.locator(".share a").click()
    expect(page.locator("#x-list .row:focus")).to_have_attribute("data-place", "1")
    assert page.evaluate("location.hash") == "#s=all&d=split&g=0&p=1"
    again = visit(reports("moved"), "#s=all&d=split&g=0&p=1")
    assert again.locator("#x-list .row:focus .where").text_content() == "[0] → [1]"
    part = visit(reports("moved"), "#s=part&d=split")
    said = [text.strip() for text in part.locator("#x-list .row.missing, #x-list .row.spurious").all_text_contents()]
    assert len(said) == 2
    assert all("unmatched" in text for text in said)


def test_a_transport_plan_is_drawn_as_squares_scaled_by_share(visit, reports):
    page = visit(reports("moved"), "#s=all&d=split")
    squares = page.locator("#x-matrix rect.moved")
    sides = squares.evaluate_all("all => all.map(one => Number(one.getAttribute('width')))")
    assert [side * side / 121 for side in sides] == pytest.approx([2 / 3, 1 / 3, 1.0], abs=1e-3)
    assert page.locator("#x-matrix circle").count() == 0
    assert page.locator("#x-matrix rect.spare").count() == 0
    assert squares.nth(1).locator("title").text_content() == (
        "Arnoult / Crewe: 0.17. 33% of gold [0] matches 50% of predicted [1]"
    )
    page.locator("#x-matrix summary").click()
    expect(page.locator("#x-matrix table b")).to_have_text(["0.50 (67%)", "0.17 (33%)", "0.50 (100%)"])
    assert page.locator("#x-map rect:not(.frame)").count() == 2 * 3
    part = visit(reports("moved"), "#s=part&d=split")
    spare = part.locator("#x-matrix rect.spare")
    assert sorted(spare.evaluate_all("all => all.map(one => one.className.baseVal)")) == [
        "spare missing",
        "spare spurious",
    ]
    assert "is unmatched" in spare.first.locator("title").text_content()
    part.locator("#x-matrix summary").click()
    assert "unmatched" in part.locator("#x-matrix table").text_content()


def test_published_figures_are_shown_beside_the_scores_of_the_document(visit, reports):
    page = visit(reports("hasty"), "#d=page_02")
    page.locator("#x-head summary").click()
    assert "with their errors" in page.locator("#x-head").text_content()
    row = page.locator("#x-head tr", has=page.locator("th", has_text=re.compile(r"\(imq\)$"))).locator("td")
    irq = page.locator("#x-head tr", has=page.locator("th", has_text=re.compile(r"\(irq\)$"))).locator("td")
    here, published = (float(text) for text in row.all_text_contents())
    assert published == pytest.approx(float(irq.first.text_content()), abs=2e-3)  # it is divided by gold
    assert here > published
    assert page.locator("#x-head thead .tag").text_content() == "published"


def test_documents_have_whiskers_unless_their_interval_is_undefined(visit, reports):
    page = visit(reports("one"))
    table = page.locator("#d-table table")
    assert table.locator("tbody tr").count() == 2
    assert table.locator(".whisker circle").count() == 2
    assert table.locator(".whisker path").count() == 1
    split, right = table.locator("tbody tr").all()
    low, high = (float(text) for text in re.findall(r"\d\.\d+", split.locator("td").nth(3).text_content()))
    score = float(split.locator("td").nth(1).text_content())
    assert low < score < high
    assert right.locator("td").nth(3).text_content() == "no spread"
    start, width = map(float, re.findall(r"M([\d.]+) 1.*h([\d.]+)", split.locator("path").get_attribute("d"))[0])
    assert (start, width) == pytest.approx((2 + 200 * low, 200 * (high - low)), abs=0.1)


def test_levels_have_whiskers_and_are_sorted(visit, reports):
    page = visit(reports("both"), "#factors")
    levels, pairs, paths = page.locator("#factors table").all()
    assert levels.locator(".whisker circle").count() == 2
    drawn = levels.locator(".whisker path").evaluate_all("all => all.map(one => one.getAttribute('d'))")
    assert drawn == ["M82.0 1v12m0-6h40.0m0-6v12"]  # from 2 + 200 * 0.4, as long as 200 * 0.2
    assert pairs.locator("tbody tr").count() == 1
    head = levels.locator("thead th", has_text="f1q")
    head.locator("button").click()
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert levels.locator("tbody th").all_text_contents() == ["good", "(empty)"]
    assert paths.locator("thead th").count() == 3
    page.emulate_media(media="print")
    assert levels.is_visible()


@pytest.mark.parametrize("name", ["hasty", "fr", "both", "hostile", "large", "moved"])
def test_the_page_fits_the_width_of_a_phone(visit, reports, name):
    page = visit(reports(name), width=375)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_every_control_has_an_accessible_name(visit, reports):
    page = visit(reports("both"))
    nameless = """() => [...document.querySelectorAll('button, input, select, a[href], [role=region], [role=img]')]
        .filter(node => !(node.getAttribute('aria-label') || node.textContent.trim() || node.labels?.length))
        .map(node => node.outerHTML.slice(0, 80))"""
    assert page.evaluate(nameless) == []


CONTRAST = """() => {
    const parse = text => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(value => value / 255)
        .map(value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
        .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);
    const under = node => {
        for (let at = node; at; at = at.parentElement) {
            const colour = parse(getComputedStyle(at).backgroundColor);
            if (colour.length < 4 || colour[3] > 0) return colour;
        }
    };
    const poor = [];
    for (const node of document.querySelectorAll('main *:not(svg, svg *), header.top *')) {
        const own = [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
        if (!own || !node.checkVisibility()) continue;
        const [a, b] = [light(parse(getComputedStyle(node).color)), light(under(node))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) poor.push(`${node.tagName}.${node.className} ${ratio.toFixed(2)} ${node.textContent.slice(0, 30)}`);
    }
    return poor;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_sufficient_contrast(visit, reports, scheme):
    page = visit(reports("both"), "#s=hasty&d=page_02", scheme=scheme)
    assert page.evaluate(CONTRAST) == []


def test_without_scripts_everything_but_the_explorer_is_shown(chromium, reports):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(reports("hasty").as_uri())
    page.click("#documents > summary")  # Locator.click waits for events here, which never ends without scripts
    assert page.locator("#d-table noscript").text_content().strip().startswith("This section needs JavaScript.")
    page.click("#curve > summary")
    assert page.locator("#figure-survival + svg").is_visible()
    assert not page.locator("#app").is_visible()
    context.close()


@pytest.mark.parametrize(
    "anchor", ["", "#d=x&g=<script>", "#d=%00&show=%F0%9F", "#paths", "#d=plain&g=0&order=nonsense&path=/nowhere"]
)
def test_hostile_text_never_becomes_markup(visit, reports, anchor):
    page = visit(reports("hostile"), anchor)
    assert page.evaluate("'pwned' in window") is False
    assert page.locator("h1").text_content().startswith(show_hidden(TEXTS[1]))
    assert page.locator("main script, main img, main svg[onload], iframe").count() == 0


def test_hostile_values_are_shown_literally(visit, reports):
    page = visit(reports("hostile"))
    page.locator("#x-document").select_option(
        index=[text.startswith(TEXTS[1]) for text in page.locator("#x-document option").all_text_contents()].index(True)
    )
    page.evaluate("document.querySelectorAll('#x-list .toggle[aria-expanded=false]').forEach(one => one.click())")
    seen = page.locator("#x-list").text_content()
    for text in TEXTS[:8]:
        assert text in seen
    for code in ("U+202E", "U+2066", "U+200B", "U+FEFF", "U+0007", "U+001B", "U+0000", "U+2028", "U+D800"):
        assert code in seen
    assert not re.search("[\u202e\u2066\u200b\x07\x1b]", page.locator("body").text_content().split("arbitre-data")[0])
    assert len(seen) < 100_000
    button = page.locator("#x-list button.cut", has_text="1,000,000").first
    button.click()
    assert page.locator("#x-list .whole").first.text_content() == TEXTS[-1]
    assert page.evaluate("'pwned' in window") is False


def test_a_thousand_entries_render_at_once_and_respond(visit, reports):
    page = visit(reports("large"))
    assert status(page) == "1000 of 1000 entries shown"
    page.locator("#x-search").fill("speaker 0999")
    expect(rows(page)).to_have_count(1)
    page.locator("#x-search").fill("")
    expect(rows(page)).not_to_have_count(1)
    page.goto(page.url.split("#")[0] + "#d=d&g=999")
    page.locator("#x-list .row:focus .where", has_text="[999]").wait_for()
    assert rows(page).count() == 1000


def test_the_script_writes_numbers_as_python_does(visit, reports):
    """Groups of digits are also compared with those of `Intl`, which implements the same rules."""
    chosen = random.Random(5)  # noqa: S311
    values = [chosen.choice((1, -1)) * chosen.randint(0, 2**20) / 2 ** chosen.randint(0, 20) for _ in range(500)]
    values += [chosen.uniform(-1e9, 1e9) for _ in range(100)] + [0.125, 0.375, -0.125, -0.001, 0.0, 9999.995, 1e15]
    basics = PAGE.joinpath("shared", "page.js").read_text(encoding="utf-8")
    for name, language in (("hasty", Language.EN), ("fr", Language.FR)):
        page = visit(reports(name))
        for digits in (0, 1, 2, 4):
            written = (
                f"values => {{ {basics}; return values.map(one => {digits} ? number(one, {digits}) : amount(one)) }}"
            )
            assert page.evaluate(written, values) == [language.number(value, digits) for value in values]
        intl = f"values => values.map(one => one.toLocaleString('{language}', {{ useGrouping: 'min2' }}))"
        whole = [1234, 12345, 1234567, -123456, 0]
        assert page.evaluate(intl, whole) == [
            language.number(value, 0).replace("\N{MINUS SIGN}", "-") for value in whole
        ]
