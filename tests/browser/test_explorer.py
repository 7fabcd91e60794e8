"""The explorer of the report in a browser: filters, fields outside the entries, failed documents, and addresses."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.unit.test_report_view import observed

import arbitre
from arbitre.inputs.join import JoinedCorpus
from arbitre.inputs.records import Failure, Pair
from arbitre.report.build_view import build_subject
from arbitre.report.report_files import view_of, write_page

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "town": {"type": "string"}},
}
SCHEMA = {
    "type": "object",
    "properties": {
        "date": {"type": "string"},
        "chair": {"type": "string"},
        "hall": {"type": "object", "properties": {"town": {"type": "string"}, "seats": {"type": "integer"}}},
        "people": {"type": "array", "x-arbitre": {"entries": True}, "items": PERSON},
    },
}
HALL = {"town": "Paris", "seats": 400}
GOLD = {"date": "1931-02-03", "chair": "Ada Quill", "hall": HALL, "people": [{"name": "Bob Crewe", "town": "Lyon"}]}
PAIRS = [
    ("right", GOLD, GOLD),
    ("date", GOLD, GOLD | {"date": "1931-03-02", "extra": "?"}),
    ("town", GOLD, GOLD | {"people": [{"name": "Bob Crewe", "town": "Tours"}], "hall": HALL | {"seats": 40}}),
    ("empty", {"people": []}, {"people": []}),
]
RAW = 'Sure! {"date": "1931-02-03", <b>"people": [' + "x" * 500


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    failure = Failure("predicted", "failed", reason="Expected JSON, got a text that ends early")
    pairs = [Pair(key, None, gold, predicted) for key, gold, predicted in PAIRS]
    joined = JoinedCorpus((*pairs, Pair("failed", None, GOLD, arbitre.ABSENT, failure)), (failure,))
    subject = build_subject(*observed(SCHEMA, joined))
    told = {"reason": failure.reason, "raw": {"text": RAW, "characters": 9000}}
    subject = replace(
        subject, explorer=[one | (told if one["failed"] else {"reason": None, "raw": None}) for one in subject.explorer]
    )
    file = tmp_path_factory.mktemp("explorer") / "report.html"
    write_page(file, view_of([subject]))
    return file


def choose(page, key):
    texts = page.locator("#x-document option").all_text_contents()
    page.locator("#x-document").select_option(index=[text.startswith(f"{key}:") for text in texts].index(True))


def chosen(page):
    return page.locator("#x-document option:checked").text_content().split(":")[0]


def hash_of(page):
    return page.evaluate("location.hash")


def test_filters_are_kept_when_the_document_changes(visit, report):
    page = visit(report, "#d=town")
    page.locator("#x-path").select_option("/people/*/town")
    page.locator("#x-order").select_option("worst")
    page.locator("#x-search").fill("tours")
    expect(page.locator("#x-list .row")).to_have_count(1)
    page.locator('input[value="exact"]').uncheck()
    choose(page, "right")
    assert page.locator("#x-path").input_value() == "/people/*/town"
    assert page.locator("#x-path option:checked").text_content() == "/people/*/town (0)"
    assert (page.locator("#x-order").input_value(), page.locator("#x-search").input_value()) == ("worst", "tours")
    assert page.locator('input[name="x-show"]:not(:checked)').count() == 1
    note = page.locator("#x-list .note")
    assert note.text_content() == "No entries match these filters. Clear the filters"
    assert page.locator("#x-elsewhere").text_content() == "Other documents with matches (1): town (1)"
    page.locator("#x-elsewhere a").click()
    expect(page.locator("#x-list .row")).to_have_count(1)
    assert (chosen(page), page.locator("#x-search").input_value()) == ("town", "tours")
    choose(page, "right")
    note.locator("button").click()
    assert page.locator("#x-list .row").count() == 2
    assert (page.locator("#x-search").input_value(), page.locator("#x-path").input_value()) == ("", "")
    assert (page.locator("#x-elsewhere").text_content(), hash_of(page)) == ("", "#d=right&order=worst")
    assert page.locator("#x-list .row:focus").count() == 1


def test_a_search_without_matches_anywhere_says_so(visit, report):
    page = visit(report, "#d=right&q=nobody")
    assert page.locator("#x-elsewhere").text_content() == "No other document on this page has matches."
    assert visit(report, "#d=empty").locator("#x-list .note").text_content() == "This document has no entries."


def test_fields_outside_the_entries_are_filtered_found_and_listed(visit, report):
    page = visit(report, "#d=date")
    outside = page.locator("#x-list .row.outside")
    assert outside.locator("h3").text_content() == "Outside the entries"
    assert outside.locator(".said").all_text_contents() == ["≈ close (1)", "+ spurious (1)"]
    marks = {
        row.locator(".name").text_content(): row.locator(".mark").text_content().split()[1]
        for row in outside.locator(".field").all()
    }
    assert marks == {"date": "close", "chair": "correct", "hall": "correct", "extra": "spurious"}
    assert page.locator("#x-path option").all_text_contents() == ["all paths", "/date (1)", "/extra (1)"]
    page.locator("#x-path").select_option("/date")
    assert (outside.count(), page.locator("#x-list .row").count()) == (1, 1)
    assert page.locator("#x-status").text_content() == "0 of 1 entry shown"
    page.locator("#x-path").select_option("")
    page.locator("#x-search").fill("1931-03-02")
    expect(page.locator("#x-list .row")).to_have_count(1)
    assert outside.count() == 1
    page.locator("#x-search").fill("crewe")
    expect(outside).to_have_count(0)
    page.locator("#x-search").fill("")
    page.locator('input[value="spurious"]').uncheck()
    assert outside.count() == 1
    for name in ("close", "low", "exact"):
        page.locator(f'input[value="{name}"]').uncheck()
    assert outside.count() == 0
    page = visit(report, "#d=town&outside=1")
    assert page.locator("#x-list .row:focus.outside .fields").is_visible()
    assert page.locator("#x-path option").all_text_contents()[1:] == ["/hall/seats (1)", "/people/*/town (1)"]
    right = visit(report, "#d=right").locator("#x-list .row.outside")
    assert (right.locator(".said").all_text_contents(), right.locator(".fields").count()) == (["= correct (3)"], 0)


def test_search_finds_values_and_field_names_only(visit, report):
    page = visit(report, "#d=town")
    for words, count in (("verdict", 0), ("quality", 0), ("seats", 1), ("tours", 1), ("town", 2)):
        page.locator("#x-search").fill(words)
        expect(page.locator("#x-list .row")).to_have_count(count)


def test_a_failed_document_shows_why_and_the_raw_answer(visit, report):
    page = visit(report, "#d=failed")
    failure = page.locator("#x-head .failure")
    assert failure.locator("p").first.text_content() == (
        "⊘ No usable prediction: Expected JSON, got a text that ends early"
    )
    assert failure.locator("pre").text_content().startswith('Sure! {"date": "1931-02-03", <b>"people": [xxx')
    assert failure.locator(".note").text_content() == "The beginning of the answer, which has 9000 characters"
    failure.locator("button").click()
    assert failure.locator("pre").text_content() == RAW
    assert failure.locator("b").count() == 0
    assert page.locator("#x-map svg").count() == 0  # there are no pairs
    choose(page, "right")
    assert failure.count() == 0


def test_back_returns_to_documents_and_opened_entries(visit_open, report):
    page = visit_open(report, "#read")
    choose(page, "date")
    choose(page, "town")
    page.locator("#x-search").fill("bob")
    expect(page.locator("#x-list .row")).to_have_count(1)
    page.locator("#x-list .row header").click()
    assert hash_of(page) == "#d=town&g=0&q=bob"
    page.locator("#x-list .row").press("Home")
    page.go_back()
    expect(page.locator("#x-search")).to_have_value("bob")
    assert hash_of(page) == "#d=town&q=bob"
    page.go_back()
    expect(page.locator("#x-search")).to_have_value("")
    assert (hash_of(page), chosen(page)) == ("#d=date", "date")
    page.go_back()
    page.wait_for_url("**#read")
    page.go_forward()
    page.go_forward()
    page.go_forward()
    expect(page.locator("#x-list .row:focus .where")).to_have_text("[0]")
    assert (chosen(page), hash_of(page)) == ("town", "#d=town&g=0&q=bob")


def test_filters_do_not_replace_the_address_of_another_part_of_the_page(visit_open, report):
    page = visit_open(report, "#cause=missing&i=3")
    page.locator('input[value="exact"]').uncheck()
    assert "show=" in hash_of(page)
    page.locator('input[value="close"]').uncheck()
    page.go_back()
    page.wait_for_url("**#cause=missing&i=3")


@pytest.mark.parametrize(
    ("anchor", "said"),
    [
        ("#d=nowhere&g=1", "The document nowhere is not on this page. "),
        ("#d=town&g=7", "The entry [7] is not on this page. "),
        ("#d=town&g=0", ""),
    ],
)
def test_addresses_of_what_is_not_kept_say_so(visit, report, anchor, said):
    page = visit(report, anchor)
    text = page.locator("#x-status").text_content()
    assert text.startswith(said)
    assert re.fullmatch(r"\d of \d entr(y|ies) shown", text.removeprefix(said))
