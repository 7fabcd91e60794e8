"""The page of disagreements in a browser: decide, export the decisions, and resume later."""

from __future__ import annotations

import json
import random

import pytest
from tests.browser.axe import violations
from tests.browser.corpora import SCHEMA, lines, person, spoilt
from tests.unit.test_queue_page import hostile
from typer.testing import CliRunner

from arbitre.agreement.consensus.build import consensus
from arbitre.cli import app
from arbitre.inputs.provenance import Provenance
from arbitre.values import ABSENT

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect

NAMES = ("ada", "bob", "cy")
ANNOTATED = json.loads(json.dumps(SCHEMA))
ANNOTATED["properties"]["people"]["items"]["properties"]["code"]["type"] = ["integer", "string"]
"""The schema of the corpora; annotators also write numbers as text."""


@pytest.fixture(scope="session")
def queues(tmp_path_factory):
    """Folders with the documents of three annotators, a schema and the queue, with about a number of disagreements."""

    def made(documents, lang="en"):
        folder = tmp_path_factory.mktemp(f"report-{documents}")
        chosen = random.Random(documents)  # noqa: S311
        gold = [
            {"id": f"d{at:04}", "page": at, "people": [person(chosen) for _ in range(3)]} for at in range(documents)
        ]
        (folder / "schema.json").write_text(json.dumps(ANNOTATED), encoding="utf-8")
        for name in NAMES:
            lines(folder / f"{name}.jsonl", [spoilt(chosen, document, 0.3) for document in gold])
        sources = {name: folder / f"{name}.jsonl" for name in NAMES}
        result = consensus(folder / "schema.json", sources, strategy="collegial", queue=folder / "queue", lang=lang)
        return folder, result

    known = {}

    def of(documents, lang="en"):
        if (documents, lang) not in known:
            known[documents, lang] = made(documents, lang)
        return known[documents, lang]

    return of


def cases(page):
    return page.locator("#q-list > li.case")


def status(page):
    return page.locator("#q-status").text_content()


def exported(page, folder):
    """Export the decisions and return the file."""
    with page.expect_download() as download:
        page.locator("#q-export").click()
    assert download.value.suggested_filename == "decisions.jsonl"
    download.value.save_as(folder / "decisions.jsonl")
    return folder / "decisions.jsonl"


def command(folder, *options):
    sources = [f"{name}={folder / name}.jsonl" for name in NAMES]
    schema = str(folder / "schema.json")
    return CliRunner().invoke(app, ["consensus", "--schema", schema, "--strategy", "collegial", *options, *sources])


def test_the_decisions_of_the_page_give_the_final_gold(visit, queues, tmp_path):
    folder, proposed = queues(3)
    page = visit(folder / "queue" / "queue.html")
    disagreements = {each.id: each for each in proposed.disagreements}
    assert cases(page).count() == len(disagreements) > 5
    assert status(page) == f"Decided: 0 of {len(disagreements)}."
    page.locator("#q-name").fill("Zoé")
    values = {}
    for case in cases(page).all():
        own = disagreements[case.get_attribute("data-id")]
        reading = next(reading for reading in own.readings if reading.annotator == "bob")
        choice = case.locator(".choice").filter(has_text="bob")
        choice.locator("input[type=radio]").check()
        values[own.id] = {"absent": True} if reading.pointer is None else {"value": reading.value}
        expect(case.locator(".outcome > span")).to_have_text("Decided by Zoé")
    assert status(page) == f"Decided: {len(disagreements)} of {len(disagreements)}."
    cases(page).first.locator(".remark input").fill("see p. 3")
    path = exported(page, tmp_path)
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {
        record["id"]: {key: record[key] for key in ("value", "absent") if key in record} for record in records
    } == values
    assert {record["by"] for record in records} == {"Zoé"}
    assert [record["note"] for record in records if "note" in record] == ["see p. 3"]
    result = command(folder, "--decisions", str(path), "--out", str(tmp_path / "gold.jsonl"))
    assert result.exit_code == 0, result.output
    provenance = Provenance.read(tmp_path / "gold.jsonl")
    assert provenance.disagreements.decided == provenance.disagreements.total == len(disagreements)
    final = [json.loads(line) for line in (tmp_path / "gold.jsonl").read_text(encoding="utf-8").splitlines()]
    bob = [json.loads(line) for line in (folder / "bob.jsonl").read_text(encoding="utf-8").splitlines()]
    for ours, theirs in zip(final, bob, strict=True):
        assert sorted(map(json.dumps, ours.pop("people"))) == sorted(map(json.dumps, theirs.pop("people")))
        assert ours == theirs


def test_a_typed_value_is_checked_and_a_value_can_be_left_out(visit, queues, tmp_path):
    folder, _ = queues(3)
    page = visit(folder / "queue" / "queue.html")
    page.locator("#q-name").fill("Zoé")
    first, second = cases(page).nth(0), cases(page).nth(1)
    written = first.locator("textarea")
    written.fill("[1, 2")
    assert first.locator("input[value=other]").is_checked()
    assert written.get_attribute("aria-invalid") == "true"
    assert first.locator(".outcome > span").text_content() == "Undecided"
    for text, kind, value in (
        ("12345678901234567890", "number", 12345678901234567890),
        ("Ada", "text", "Ada"),
        ('"403"', "text", "403"),
        ('{"name": "Ada"}', "object", {"name": "Ada"}),
        ("null", "null", None),
    ):
        written.fill(text)
        assert first.locator("small").first.text_content() == kind
        second.locator("input[value=absent]").check()
        records = [json.loads(line) for line in exported(page, tmp_path).read_text(encoding="utf-8").splitlines()]
        assert records[0]["value"] == value
        assert records[1]["absent"] is True
    cases(page).nth(0).locator("textarea").fill("")
    cases(page).nth(1).locator("button", has_text="Withdraw").click()
    assert status(page).startswith("Decided: 0 of")
    assert cases(page).nth(1).locator("input:checked").count() == 0


def test_decisions_survive_a_reload_and_can_be_loaded_from_a_file(visit, queues, tmp_path):
    folder, proposed = queues(3)
    page = visit(folder / "queue" / "queue.html")
    page.locator("#q-export").click()
    expect(page.locator("#q-said")).to_have_text("There are no decisions to export.")
    cases(page).first.locator("input[type=radio]").first.check()
    expect(cases(page).first.locator(".outcome > span")).to_have_text("Decided. Enter your name before you export.")
    page.locator("#q-export").click()
    expect(page.locator("#q-said")).to_have_text("Enter your name: it is recorded with your decisions.")
    assert page.evaluate("document.activeElement.id") == "q-name"
    page.keyboard.type("Zoé")
    path = exported(page, tmp_path)
    page.reload()
    assert status(page).startswith("Decided: 1 of")
    expect(cases(page).first.locator(".outcome > span")).to_have_text("Decided by Zoé")
    later = visit(folder / "queue" / "queue.html")
    assert status(later).startswith("Decided: 0 of")
    text = path.read_text(encoding="utf-8")
    stale = json.dumps({"id": proposed.disagreements[1].id, "value": 1, "by": "Zoé", "fingerprint": "other"})
    path.write_text(f"{text}{stale}\n", encoding="utf-8")
    later.locator("#q-file").set_input_files(path)
    expect(later.locator("#q-said")).to_have_text("Decisions loaded: 1. Earlier decisions replaced: 0.")
    assert later.locator("#q-stale li").all_text_contents() == [stale]
    assert status(later).startswith("Decided: 1 of")
    assert exported(later, tmp_path).read_text(encoding="utf-8") == text
    path.write_text(text + "{\n", encoding="utf-8")
    later.locator("#q-file").set_input_files(path)
    expect(later.locator("#q-said")).to_contain_text("line 2 is not a valid decision")


def test_the_decision_on_an_item_covers_what_is_in_it(visit, queues):
    folder, proposed = queues(30)
    kept = next(
        each
        for each in proposed.disagreements
        if each.path == "/people/*"
        and each.context
        and any(other.id.startswith(f"{each.id}/") for other in proposed.disagreements)
    )
    page = visit(folder / "queue" / "queue.html")
    page.locator("#q-document").select_option(f"={kept.document}")
    item = page.locator(f'li[data-id="{kept.id}"]')
    inner = page.locator(f'li[data-id^="{kept.id}/"]').first
    item.locator("input[value=absent]").check()
    expect(inner.locator(".outcome > span")).to_have_text(f"Covered by the decision on {kept.pointer}")
    item.locator("input[type=radio]").first.check()
    expect(inner.locator(".outcome > span")).to_have_text("Undecided")


def test_two_thousand_disagreements_are_listed_page_by_page(visit, queues):
    folder, proposed = queues(400)
    total = len(proposed.disagreements)
    assert 1800 < total < 2600
    page = visit(folder / "queue" / "queue.html")
    assert cases(page).count() == 20
    assert page.locator("#q-page").text_content() == f"Page 1 of {-(-total // 20)}"
    assert page.locator("#q-previous").is_disabled()
    page.locator("#q-next").click()
    expect(page.locator("#q-page")).to_have_text(f"Page 2 of {-(-total // 20)}")
    assert cases(page).first.get_attribute("data-id") == proposed.disagreements[20].id
    assert page.evaluate("document.activeElement.dataset.id") == proposed.disagreements[20].id
    towns = [each for each in proposed.disagreements if each.path == "/people/*/town"]
    page.locator("#q-path").select_option("=/people/*/town")
    assert status(page) == f"Decided: 0 of {total}. {len(towns)} of {total} match the filters."
    cases(page).first.locator("input[type=radio]").first.check()
    page.locator("#q-state").select_option("undecided")
    assert status(page) == f"Decided: 1 of {total}. {len(towns) - 1} of {total} match the filters."
    page.locator("#q-state").select_option("decided")
    assert cases(page).count() == 1


def test_the_page_can_be_used_with_the_keyboard_alone(visit, queues):
    page = visit(queues(30)[0] / "queue" / "queue.html")
    page.locator("#q-state").focus()
    page.keyboard.press("Tab")
    first, second = cases(page).nth(0), cases(page).nth(1)
    assert first.locator("input[type=radio]").first.evaluate("node => node === document.activeElement")
    page.keyboard.press("2")
    assert first.locator("input[type=radio]").nth(1).is_checked()
    page.keyboard.press("j")
    assert second.evaluate("node => node === document.activeElement")
    page.keyboard.press("1")
    assert second.locator("input[type=radio]").first.is_checked()
    page.keyboard.press("k")
    assert first.evaluate("node => node === document.activeElement")
    assert page.locator("#q-list input:checked").count() == 2
    second.locator("textarea").focus()
    page.keyboard.type("j1")
    assert second.locator("textarea").input_value() == "j1"
    cases(page).nth(19).focus()
    page.keyboard.press("j")
    assert page.locator("#q-page").text_content().startswith("Page 2 of")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("lang", ["en", "fr"])
def test_the_page_is_accessible(visit, queues, lang, scheme):
    page = visit(queues(30, lang)[0] / "queue" / "queue.html", scheme=scheme)
    cases(page).first.locator("input[type=radio]").first.check()
    cases(page).nth(1).locator("textarea").fill("[")
    assert violations(page) == []


def test_the_page_fits_a_narrow_screen(visit, queues):
    page = visit(queues(3)[0] / "queue" / "queue.html", width=360)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#q-name").is_visible()


def test_hostile_data_stay_text(visit, tmp_path):
    (tmp_path / "report.html").write_text(hostile(), encoding="utf-8")
    page = visit(tmp_path / "report.html")
    assert cases(page).count() > 5
    cases(page).first.locator("input[type=radio]").first.check()
    cases(page).first.locator("textarea").fill("<script>window.pwned = 8</script>")
    page.locator("#q-name").fill('"><img src=x onerror="window.pwned = 9">')
    exported(page, tmp_path)
    assert page.evaluate("window.pwned") is None
    assert page.locator("script").count() == 2


def test_differences_between_the_readings_are_marked(visit, queues):
    folder, proposed = queues(30)
    own = next(each for each in proposed.disagreements if each.path == "/people/*/name")
    page = visit(folder / "queue" / "queue.html")
    page.locator("#q-path").select_option("=/people/*/name")
    case = page.locator(f'li[data-id="{own.id}"]')
    texts = case.locator(".choice .value bdi").all_text_contents()
    assert set(texts) == {reading.value for reading in own.readings} - {ABSENT}
    assert case.locator(".choice mark").count() >= 2
    row = case.locator("tr.here")
    assert "/name" in row.locator("th").text_content()
    assert row.locator("mark").count() > 0


def test_two_tabs_keep_the_decisions_of_both(visit, queues):
    folder, _ = queues(3)
    page = visit(folder / "queue" / "queue.html")
    other = page.context.new_page()
    other.goto(page.url)

    def decide(tab, place):
        cases(tab).nth(place).locator("input[type=radio]").first.check()

    decide(page, 0)
    expect(other.locator("#q-said")).to_have_text("Decisions taken over from another tab: 1.")
    expect(cases(other).nth(0).locator("input:checked")).to_have_count(1)
    decide(other, 1)
    decide(page, 2)
    cases(other).nth(0).locator("button", has_text="Withdraw").click()
    for tab in (page, other):
        expect(tab.locator("#q-status")).to_contain_text("Decided: 2 of")
        expect(cases(tab).nth(0).locator("input:checked")).to_have_count(0)
    page.reload()
    assert status(page).startswith("Decided: 2 of")


def test_tabs_without_events_do_not_overwrite_each_other(visit, queues):
    folder, _ = queues(3)
    page = visit(folder / "queue" / "queue.html")
    other = page.context.new_page()
    other.add_init_script(
        "window.addEventListener = ((add) => (name, ...rest) => name !== 'storage' && add.call(window, name, ...rest))(window.addEventListener)"
    )
    other.goto(page.url)
    cases(page).nth(0).locator("input[type=radio]").first.check()
    cases(other).nth(1).locator("input[type=radio]").first.check()
    expect(other.locator("#q-status")).to_contain_text("Decided: 2 of")
    page.reload()
    assert status(page).startswith("Decided: 2 of")


def test_notes_without_a_decision_the_name_the_page_and_the_filters_survive_a_reload(visit, queues):
    folder, _ = queues(30)
    page = visit(folder / "queue" / "queue.html")
    page.locator("#q-name").fill("Zoé")
    page.locator("#q-state").select_option("undecided")
    page.locator("#q-next").click()
    title = cases(page).first.locator("h3").text_content()
    cases(page).first.locator(".remark input").fill("look at the scan")
    page.reload()
    assert page.locator("#q-name").input_value() == "Zoé"
    assert page.locator("#q-state").input_value() == "undecided"
    assert cases(page).first.locator("h3").text_content() == title
    assert cases(page).first.locator(".remark input").input_value() == "look at the scan"
    assert status(page).startswith("Decided: 0 of")
    cases(page).first.locator("input[type=radio]").first.check()
    expect(cases(page).first.locator(".outcome > span")).to_have_text("Decided by Zoé")
    page.reload()
    page.locator("#q-state").select_option("decided")
    assert cases(page).first.locator(".remark input").input_value() == "look at the scan"
