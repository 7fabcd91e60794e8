"""The page of disagreements in a browser: decide, export the decisions, and resume later."""

from __future__ import annotations

import json
import random
from urllib.parse import urlencode

import pytest
from tests.browser.axe import violations
from tests.browser.corpora import COMPOSED, SCHEMA, lines, person, spoilt
from tests.unit.test_queue_page import hostile
from typer.testing import CliRunner

from arbitre.agreement.consensus.build import consensus
from arbitre.cli import app
from arbitre.inputs.provenance import Provenance

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


def rows(page):
    """The rows of the list that are built; only those in view are."""
    return page.locator("#q-list a.row")


def status(page):
    return page.locator("#q-status").text_content()


def place(page):
    """The document and the pointer of the disagreement on the screen."""
    return page.locator("#q-title").text_content().split(" ", 1)


def current(page):
    return page.evaluate("new URLSearchParams(location.hash.slice(1)).get('id')")


def choices(page):
    return page.locator(".choices .choice")


def exported(page, folder):
    """Export the decisions with the keyboard and return the file."""
    with page.expect_download(timeout=60_000) as download:  # browsers may start it late
        page.keyboard.press("x")
    assert download.value.suggested_filename == "decisions.jsonl"
    download.value.save_as(folder / "decisions.jsonl")
    return folder / "decisions.jsonl"


def records(path):
    return {record["id"]: record for record in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def command(folder, *options):
    sources = [f"{name}={folder / name}.jsonl" for name in NAMES]
    schema = str(folder / "schema.json")
    return CliRunner().invoke(app, ["consensus", "--schema", schema, "--strategy", "collegial", *options, *sources])


def leave(page):
    """Go on, and back to the title, where all keys work."""
    page.keyboard.press("Escape")


def close(page):
    """Close the open dialog. Other keys work only after its event `close`, which browsers queue."""
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "show=" not in url)


def test_a_whole_review_with_the_keyboard_gives_the_final_gold(visit, queues, tmp_path):
    folder, proposed = queues(3)
    disagreements = {each.id: each for each in proposed.disagreements}
    page = visit(folder / "queue" / "queue.html")
    page.keyboard.press("Tab")  # the link to the disagreement
    page.keyboard.press("Tab")
    page.keyboard.type("Zoé")
    leave(page)
    values = {}
    while not page.locator("#q-said").text_content().endswith("Nothing here is left to decide."):
        own = disagreements[current(page)]
        assert own.id not in values
        assert place(page) == [own.document, own.pointer]
        reading = next(reading for reading in own.readings if reading.annotator == "bob")
        keys = page.locator(".choice", has_text="bob").locator(".pick")
        values[own.id] = {"absent": True} if reading.pointer is None else {"value": reading.value}
        page.keyboard.press(keys.get_attribute("data-key"))
    assert len(values) > 5
    assert status(page) == f"Decided: {len(disagreements)} of {len(disagreements)}."
    page.keyboard.press("r")
    page.keyboard.type("see p. 3")
    leave(page)
    path = exported(page, tmp_path)
    made = records(path)
    kept = {name: {key: record[key] for key in ("value", "absent") if key in record} for name, record in made.items()}
    assert kept == values
    assert {record["by"] for record in made.values()} == {"Zoé"}
    assert [record["note"] for record in made.values() if "note" in record] == ["see p. 3"]
    result = command(folder, "--decisions", str(path), "--out", str(tmp_path / "gold.jsonl"))
    assert result.exit_code == 0, result.output
    provenance = Provenance.read(tmp_path / "gold.jsonl")
    assert provenance.disagreements.decided == provenance.disagreements.total == len(disagreements)
    final = [json.loads(line) for line in (tmp_path / "gold.jsonl").read_text(encoding="utf-8").splitlines()]
    bob = [json.loads(line) for line in (folder / "bob.jsonl").read_text(encoding="utf-8").splitlines()]
    for ours, theirs in zip(final, bob, strict=True):
        assert sorted(map(json.dumps, ours.pop("people"))) == sorted(map(json.dumps, theirs.pop("people")))
        assert ours == theirs
    later = visit(folder / "queue" / "queue.html")
    later.locator("#q-file").set_input_files(path)
    expect(later.locator("#q-file-said")).to_contain_text(f"Decisions loaded: {len(values)}.")
    assert status(later) == f"Decided: {len(disagreements)} of {len(disagreements)}."


class TestTypedValues:
    @pytest.fixture
    def page(self, visit, queues):
        """The page at the disagreement on a number, or with the schema of a date."""
        _, proposed = queues(30)
        code = next(each for each in proposed.disagreements if each.path == "/people/*/code")
        page = visit(queues(30)[0] / "queue" / "queue.html", f"#{urlencode({'id': code.id})}")
        page.keyboard.press("e")
        return page

    def test_a_value_is_checked_while_it_is_typed_and_accepted_with_enter(self, page):
        own = current(page)
        written = page.locator(".editor input")
        written.fill("true")
        assert written.get_attribute("aria-invalid") == "true"
        assert "Expected a whole number or a text, got a boolean." in page.locator(".editor").text_content()
        page.keyboard.press("Enter")
        assert (current(page), status(page).startswith("Decided: 0")) == (own, True)
        written.fill("12345678901234567890")
        assert written.get_attribute("aria-invalid") == "false"
        page.keyboard.press("Enter")
        assert current(page) != own
        assert status(page).startswith("Decided: 1")

    @pytest.mark.parametrize(
        ("text", "value"), [("12345678901234567890", 12345678901234567890), ("Ada", "Ada"), ('"403"', "403")]
    )
    def test_the_value_is_exported_as_it_was_typed(self, page, tmp_path, text, value):
        own = current(page)
        page.locator(".editor input").fill(text)
        page.keyboard.press("Enter")
        page.locator("#q-name").fill("Zoé")
        leave(page)
        assert records(exported(page, tmp_path))[own]["value"] == value

    def test_a_value_that_was_typed_and_not_accepted_is_kept(self, page):
        own = current(page)
        page.locator(".editor input").fill("40")
        leave(page)
        page.keyboard.press("j")
        page.keyboard.press("k")
        assert page.locator(".editor input").input_value() == "40"
        page.reload()
        assert current(page) == own
        assert page.locator(".editor input").input_value() == "40"
        assert page.locator(".outcome").text_content() == "Typed, not accepted"
        page.keyboard.press("Enter")
        assert status(page).startswith("Decided: 0")


def small(tmp_path, schema, *documents, **options):
    """Write the queue of one document of annotators a, b, c, in a folder `report`."""
    for name, document in zip("abc", documents, strict=True):
        lines(tmp_path / f"{name}.jsonl", [{"id": "d", **document}])
    sources = {name: tmp_path / f"{name}.jsonl" for name in "abc"}
    consensus(schema, sources, strategy="collegial", queue=tmp_path / "report", **options)
    return tmp_path / "report" / "queue.html"


DATED = {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}, "required": ["day"]}
DAYS = [{"day": "1918-11-03"}, {"day": "1918-11-30"}, {"day": "3 Nov"}]


def test_a_text_is_not_a_date(visit, tmp_path):
    page = visit(small(tmp_path, DATED, *DAYS, format_assertion=True))
    page.keyboard.press("0")
    expect(page.locator("#q-said")).to_have_text("The schema requires this field: it cannot be left out.")
    page.keyboard.press("e")
    for _ in range(2):
        page.locator(".editor input").fill("not a date")
        page.keyboard.press("Enter")
        expect(page.locator("#q-problem")).to_have_text("Not a date such as 1918-11-03.")
    assert status(page) == "Decided: 0 of 1."
    page.locator(".editor input").fill("1918-11-13")
    page.keyboard.press("Enter")
    assert status(page) == "Decided: 1 of 1."


def test_a_value_of_an_annotator_can_be_chosen_and_entered(visit, tmp_path):
    amount = {"type": "number", "x-arbitre": {"normalize": [{"number": {"decimal": ","}}]}}
    amounts = [{"amount": value} for value in ("8,75", "87,5", "87,5")]
    page = visit(small(tmp_path, {"type": "object", "properties": {"amount": amount}}, *amounts))
    page.keyboard.press("2")
    assert status(page) == "Decided: 1 of 1."
    page.keyboard.press("e")
    page.locator(".editor input").fill("9,5")
    page.keyboard.press("Enter")
    expect(page.locator("#q-problem")).to_have_text("Expected a number, got a text.")
    page.locator(".editor input").fill("87,5")
    page.keyboard.press("Enter")
    page.locator("#q-name").fill("Zoé")
    leave(page)
    assert records(exported(page, tmp_path))["d#/amount"]["value"] == "87,5"


def test_a_format_that_the_command_does_not_check_is_a_warning(visit, tmp_path):
    page = visit(small(tmp_path, DATED, *DAYS))
    assert "Not a date" not in choices(page).nth(2).text_content()
    page.keyboard.press("e")
    page.locator(".editor input").fill("November")
    page.keyboard.press("Enter")
    expect(page.locator("#q-problem")).to_contain_text("To decide on it anyway, accept it again.")
    assert status(page) == "Decided: 0 of 1."
    page.keyboard.press("Enter")
    assert status(page) == "Decided: 1 of 1."


PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "party": {"enum": ["left", "right"]},
        "pages": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "string"}]},
        "born": {"type": "object", "properties": {"year": {"type": "integer"}}},
    },
    "required": ["name"],
    "additionalProperties": False,
}
PEOPLE = {"type": "object", "properties": {"people": {"type": "array", "items": PERSON}}}


def test_enter_that_ends_a_composition_accepts_no_value(visit, tmp_path):
    town = {"type": "object", "properties": {"town": {"type": "string"}}}
    page = visit(small(tmp_path, town, *({"town": name * 50} for name in ("A", "B", "C"))))
    page.keyboard.press("e")
    box = page.locator("#q-editor textarea")
    box.fill("D" * 50)
    box.evaluate(COMPOSED)
    assert status(page) == "Decided: 0 of 1."
    page.keyboard.press("Enter")
    assert status(page) == "Decided: 1 of 1."


def test_an_object_is_edited_as_a_form(visit, tmp_path):
    ada = {"name": "Ada", "party": "left", "pages": [12345678901234567890, 2]}
    page = visit(small(tmp_path, PEOPLE, {"people": [ada]}, {"people": [ada]}, {"people": []}))
    page.keyboard.press("e")
    form = page.locator(".editor")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "name"
    page.keyboard.type("Eda")
    form.get_by_label("party", exact=True).select_option(label="right")
    form.get_by_label("Remove pages, item 2").click()
    form.get_by_role("button", name="Add an item to pages").click()
    page.keyboard.type("x")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "pages, item 2"
    expect(page.locator("#q-problem")).to_have_text("/pages/1: Expected a whole number, got a text.")
    page.locator(":focus").fill("7")
    form.get_by_label("Name of a new field of people").fill("born")
    page.keyboard.press("Enter")
    form.get_by_label("Name of a new field of born").fill("year")
    page.keyboard.press("Enter")
    page.keyboard.type("1815")
    form.get_by_role("button", name="Edit as JSON").click()
    shown = json.loads(form.get_by_label("JSON").input_value())
    form.get_by_role("button", name="Edit as a form").click()
    page.locator("#q-name").fill("Zoé")
    form.get_by_role("button", name="Accept").click()
    made = records(exported(page, tmp_path))["d#/people/0"]["value"]
    assert made == shown
    assert made == {
        "name": "Eda",
        "party": "right",
        "pages": [12345678901234567890, 7],
        "born": {"year": 1815},
    }


def test_a_form_that_is_not_complete_is_kept_until_it_is_discarded(visit, tmp_path):
    ada = {"name": "Ada", "pages": [1]}
    page = visit(small(tmp_path, PEOPLE, {"people": [ada]}, {"people": [ada]}, {"people": []}))
    page.keyboard.press("e")
    page.locator(".editor").get_by_role("button", name="Add an item to pages").click()
    page.keyboard.type("x y")
    page.reload()
    assert page.get_by_label("pages, item 2", exact=True).input_value() == "x y"
    page.locator(".editor").get_by_role("button", name="Discard").click()
    assert page.locator(".editor").count() == 0
    page.reload()
    assert page.locator(".outcome").text_content() == "Undecided"


def test_the_parts_of_a_schema_make_one_form_and_any_key_is_kept(visit, tmp_path):
    base = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    more = {"properties": {"kind": {"enum": ["a", "b"]}}, "required": ["kind"]}
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": {"allOf": [base, more]}}}}
    item = json.loads('{"name": "x", "kind": "a", "__proto__": 1}')
    page = visit(small(tmp_path, schema, {"items": [item]}, {"items": [item]}, {"items": []}))
    page.keyboard.press("e")
    form = page.locator(".editor")
    assert form.get_by_label("kind", exact=True).locator("option").all_text_contents() == ["—", "a", "b"]
    assert form.get_by_role("button", name="Remove name").count() == 0
    form.get_by_label("kind", exact=True).select_option(label="b")
    page.locator("#q-name").fill("Zoé")
    form.get_by_role("button", name="Accept").click()
    assert records(exported(page, tmp_path))["d#/items/0"]["value"] == item | {"kind": "b"}


def test_decisions_that_the_schema_does_not_allow_are_loaded_as_typed_values(visit, tmp_path):
    page = visit(small(tmp_path, PEOPLE, {"people": []}, {"people": []}, {"people": [{"name": "Ada"}]}))
    line = json.dumps({"id": "d#/people/0", "value": {"name": 3}, "by": "Zoé"})
    (tmp_path / "refused.jsonl").write_text(f"{line}\n", encoding="utf-8")
    page.locator("#q-open-files").click()
    page.locator("#q-file").set_input_files(tmp_path / "refused.jsonl")
    assert page.locator("#q-stale li").all_text_contents() == [line]
    close(page)
    assert status(page) == "Decided: 0 of 1."
    page.get_by_label("name", exact=True).fill("Eda")
    page.keyboard.press("Enter")
    assert status(page) == "Decided: 1 of 1."


def test_digits_need_no_shift_key_on_french_keyboards(visit, queues):
    page = visit(queues(3)[0] / "queue" / "queue.html")
    press = "new KeyboardEvent('keydown', { key: '&', code: 'Digit1', bubbles: true })"
    page.evaluate(f"document.body.dispatchEvent({press})")
    assert status(page).startswith("Decided: 1 of")


def test_the_decision_on_an_item_covers_what_is_in_it(visit, queues):
    folder, proposed = queues(30)
    kept = next(
        each
        for each in proposed.disagreements
        if each.path == "/people/*"
        and each.context
        and any(other.id.startswith(f"{each.id}/") for other in proposed.disagreements)
    )
    inner = next(each for each in proposed.disagreements if each.id.startswith(f"{kept.id}/"))
    page = visit(folder / "queue" / "queue.html", f"#{urlencode({'id': kept.id})}")

    def outcome():
        page.goto(f"{page.url.partition('#')[0]}#{urlencode({'id': inner.id})}")
        said = page.locator(".outcome").text_content()
        page.goto(f"{page.url.partition('#')[0]}#{urlencode({'id': kept.id})}")
        return said

    page.keyboard.press("0")
    assert outcome() == f"Covered by the decision on {kept.pointer}"
    page.keyboard.press("1")
    assert outcome() == "Undecided"


def test_a_proposal_that_is_accepted_in_the_form_covers_nothing(visit, tmp_path):
    left, right = ({"name": "Eda", "party": party} for party in ("left", "right"))
    page = visit(small(tmp_path, PEOPLE, {"people": [left]}, {"people": [right]}, {"people": []}))
    assert place(page) == ["d", "/people/0"]
    page.keyboard.press("e")
    page.locator(".editor").get_by_role("button", name="Accept").click()
    assert status(page) == "Decided: 1 of 2."
    assert place(page) == ["d", "/people/0/party"]
    page.keyboard.press("k")
    assert "chosen" in choices(page).first.get_attribute("class").split()
    assert choices(page).first.locator(".pick").get_attribute("aria-pressed") == "true"
    assert page.locator(".own").count() == 0


def test_undo_takes_back_the_last_step_and_shows_it(visit, queues):
    page = visit(queues(3)[0] / "queue" / "queue.html")
    first = current(page)
    page.keyboard.press("1")
    second = current(page)
    page.keyboard.press("r")
    page.keyboard.type("look")
    leave(page)
    page.keyboard.press("1")
    page.keyboard.press("u")
    assert current(page) == second
    assert page.locator("#q-note").input_value() == "look"
    assert status(page).startswith("Decided: 1 of")
    page.keyboard.press("u")
    assert (current(page), status(page)[:12]) == (first, "Decided: 0 o")
    page.keyboard.press("u")
    expect(page.locator("#q-said")).to_have_text("There is nothing to undo.")
    page.keyboard.press("1")
    page.keyboard.press("k")
    page.keyboard.press("w")
    assert status(page).startswith("Decided: 0 of")
    page.keyboard.press("u")
    assert status(page).startswith("Decided: 1 of")


def test_proposals_of_one_kind_are_listed_accepted_and_undone_in_one_step(visit, queues, tmp_path):
    folder, proposed = queues(30)
    towns = [each for each in proposed.disagreements if each.path == "/people/*/town"]
    clear = [each for each in towns if each.support > 0.5]
    assert 1 < len(clear) < len(towns)
    page = visit(folder / "queue" / "queue.html", f"#{urlencode({'id': towns[0].id})}")
    page.keyboard.press("a")
    dialog = page.locator("#q-dialog-accept")
    boxes = dialog.locator("tbody input")
    assert boxes.count() == len(clear)
    boxes.first.uncheck()
    dialog.get_by_role("button", name=f"Accept {len(clear) - 1}").click()
    assert status(page).startswith(f"Decided: {len(clear) - 1} of")
    page.locator("#q-name").fill("Zoé")
    leave(page)
    made = records(exported(page, tmp_path))
    values = {each.id: each.proposal for each in clear[1:]}
    assert {name: record["value"] for name, record in made.items()} == values
    page.keyboard.press("u")
    assert status(page).startswith("Decided: 0 of")
    page.locator("#q-document").select_option(f"={clear[0].document}")
    leave(page)
    page.keyboard.press("a")
    page.locator("#q-scope").select_option("found")
    inside = [each for each in proposed.disagreements if each.document == clear[0].document and each.support > 0.5]
    assert boxes.count() == len(inside)
    close(page)
    assert not dialog.is_visible()


def test_every_state_has_an_address_and_back_works(visit, queues):
    folder, proposed = queues(30)
    page = visit(folder / "queue" / "queue.html")
    ids = [each.id for each in proposed.disagreements]
    assert current(page) == ids[0]
    page.keyboard.press("j")
    page.keyboard.press("n")
    assert current(page) == ids[2]
    page.go_back()
    assert current(page) == ids[1]
    assert place(page) == ids[1].split("#")
    page.locator("#q-path").select_option("=/people/*/town")
    towns = [each.id for each in proposed.disagreements if each.path == "/people/*/town"]
    assert current(page) == towns[0]
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#q-dialog-help").is_visible()
    other = visit(folder / "queue" / "queue.html", page.url[page.url.index("#") :])
    assert other.locator("#q-dialog-help").is_visible()
    assert (current(other), other.locator("#q-path").input_value()) == (towns[0], "=/people/*/town")
    page.go_back()
    expect(page.locator("#q-dialog-help")).to_be_hidden()
    page.go_back()
    assert (current(page), page.locator("#q-path").input_value()) == (ids[1], "")
    link = rows(page).nth(4)
    link.click()
    assert current(page) == ids[4]
    assert link.get_attribute("href") == f"#{urlencode({'id': ids[4]})}"


def test_a_thousand_disagreements_are_fast(visit, queues):
    folder, proposed = queues(200)
    total = len(proposed.disagreements)
    assert 900 < total < 1300
    assert (folder / "queue" / "queue.html").stat().st_size < 800_000
    page = visit(folder / "queue" / "queue.html")
    assert page.evaluate("document.querySelectorAll('*').length") < 2000
    press = """key => {
        const start = performance.now();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        document.body.offsetHeight;
        return performance.now() - start;
    }"""
    turns = [page.evaluate(press, key) for key in "jjk11212u1jj1"]
    assert sorted(turns)[len(turns) // 2] < 150
    assert rows(page).count() < 60
    page.locator(".frame").evaluate("frame => { frame.scrollTop = frame.scrollHeight; }")
    expect(page.locator("#q-list li").last).to_have_attribute("aria-posinset", str(total))
    rows(page).last.click()
    assert current(page) == proposed.disagreements[-1].id
    towns = [each for each in proposed.disagreements if each.path == "/people/*/town"]
    page.locator("#q-path").select_option("=/people/*/town")
    assert f"{len(towns)} of {total} match the filters." in status(page)


def test_filters_keep_what_was_decided_in_place_until_they_are_changed(visit, queues):
    folder, proposed = queues(30)
    page = visit(folder / "queue" / "queue.html", "#state=undecided&flagged=1")
    flagged = [each.id for each in proposed.disagreements if each.flagged]
    total = len(proposed.disagreements)
    assert status(page) == f"Decided: 0 of {total}. {len(flagged)} of {total} match the filters."
    page.keyboard.press("1")
    assert current(page) == flagged[1]
    assert status(page) == f"Decided: 1 of {total}. {len(flagged)} of {total} match the filters."
    page.locator("#q-state").select_option("decided")
    assert current(page) == flagged[0]
    assert rows(page).count() == 1
    page.locator("#q-state").select_option("undecided")
    assert status(page) == f"Decided: 1 of {total}. {len(flagged) - 1} of {total} match the filters."


def test_decisions_can_be_loaded_from_a_file_and_other_lines_are_listed(visit, queues, tmp_path):
    folder, proposed = queues(3)
    page = visit(folder / "queue" / "queue.html")
    page.keyboard.press("x")
    expect(page.locator("#q-said")).to_have_text("There are no decisions to export.")
    page.keyboard.press("1")
    page.keyboard.press("k")
    expect(page.locator(".outcome")).to_have_text("Decided. Enter your name before you export.")
    page.keyboard.press("x")
    expect(page.locator("#q-said")).to_have_text("Enter your name: it is recorded with your decisions.")
    assert page.evaluate("document.activeElement.id") == "q-name"
    page.keyboard.type("Zoé")
    leave(page)
    path = exported(page, tmp_path)
    page.reload()
    assert status(page).startswith("Decided: 1 of")
    expect(page.locator(".outcome")).to_have_text("Decided by Zoé")
    later = visit(folder / "queue" / "queue.html")
    assert status(later).startswith("Decided: 0 of")
    text = path.read_text(encoding="utf-8")
    stale = json.dumps({"id": proposed.disagreements[1].id, "value": 1, "by": "Zoé", "fingerprint": "other"})
    path.write_text(f"{text}{stale}\n{{\n", encoding="utf-8")
    later.locator("#q-open-files").click()
    later.locator("#q-file").set_input_files(path)
    expect(later.locator("#q-file-said")).to_have_text("Decisions loaded: 1. Earlier decisions and notes replaced: 0.")
    assert later.locator("#q-stale li").all_text_contents() == [stale, "{"]
    assert status(later).startswith("Decided: 1 of")
    close(later)
    assert exported(later, tmp_path).read_text(encoding="utf-8") == text


def test_a_decision_in_the_page_that_was_withdrawn_stays_withdrawn(visit, tmp_path):
    decision = {"id": "d#/day", "value": "1918-11-03", "by": "Zoé"}
    lines(tmp_path / "made.jsonl", [decision])
    page = visit(small(tmp_path, DATED, *DAYS, decisions=tmp_path / "made.jsonl"))
    assert status(page) == "Decided: 1 of 1."
    page.keyboard.press("w")
    page.reload()
    assert status(page) == "Decided: 0 of 1."


def test_decisions_of_a_file_replace_those_of_earlier_visits_and_these_are_listed(visit, tmp_path):
    page = visit(small(tmp_path, DATED, *DAYS))
    page.locator("#q-name").fill("Zoé")
    leave(page)
    page.keyboard.press("r")
    page.keyboard.type("see the scan")
    leave(page)
    page.keyboard.press("2")
    own = exported(page, tmp_path).read_text(encoding="utf-8").strip()
    made = json.loads(own) | {"value": "1918-11-13", "by": "Yann"}
    del made["note"]
    lines(tmp_path / "made.jsonl", [made])
    small(tmp_path, DATED, *DAYS, decisions=tmp_path / "made.jsonl", force=True)
    page.reload()
    expect(page.locator("#q-dialog-files")).to_be_visible()
    expect(page.locator("#q-file-said")).to_have_text("Decisions loaded: 1. Earlier decisions and notes replaced: 1.")
    assert page.locator("#q-stale li").all_text_contents() == [own]
    close(page)
    page.reload()
    expect(page.locator("#q-dialog-files")).to_be_hidden()
    expect(page.locator(".outcome")).to_have_text("Decided by Yann")
    assert json.loads(exported(page, tmp_path).read_text(encoding="utf-8")) == made
    page.keyboard.press("1")
    page.reload()
    expect(page.locator(".outcome")).to_have_text("Decided by Zoé")


def test_a_queue_that_is_written_again_has_the_decisions_that_still_apply(visit, tmp_path):
    text = {"type": "string"}
    schema = {"type": "object", "properties": dict.fromkeys(("day", "place", "title"), text)}
    values = [{name: f"{name} {at}" for name in ("day", "place", "title")} for at in range(3)]
    page = visit(small(tmp_path, schema, *values))
    page.locator("#q-name").fill("Zoé")
    leave(page)
    for _ in range(2):
        page.keyboard.press("1")
    last = current(page)
    page.keyboard.press("r")
    page.keyboard.type("see the scan")
    page.keyboard.press("Escape")
    made = records(exported(page, tmp_path))
    changed = next(iter(made))
    values[0][changed.partition("#/")[2]] = "another value"
    small(tmp_path, schema, *values, force=True)
    page.goto(page.url.partition("#")[0] + "#")
    page.reload()
    expect(page.locator("#q-dialog-files")).to_be_visible()
    expect(page.locator("#q-file-said")).to_have_text("Decisions loaded: 1. Earlier decisions and notes replaced: 0.")
    assert [json.loads(each) for each in page.locator("#q-stale li").all_text_contents()] == [made.pop(changed)]
    page.locator("#q-dialog-files .close").click()
    assert page.locator("#q-name").input_value() == "Zoé"
    assert records(exported(page, tmp_path)) == made
    page.goto(f"{page.url.partition('#')[0]}#{urlencode({'id': last})}")
    assert page.locator("#q-note").input_value() == "see the scan"
    page.reload()
    expect(page.locator("#q-dialog-files")).to_be_hidden()
    assert status(page) == "Decided: 1 of 3."


@pytest.mark.parametrize(("lang", "scheme"), [("en", "light"), ("fr", "dark")])
def test_the_page_is_accessible(visit, queues, lang, scheme):
    page = visit(queues(30, lang)[0] / "queue" / "queue.html", scheme=scheme)
    page.keyboard.press("1")
    page.keyboard.press("e")
    page.locator(".editor input").first.fill("[")
    assert violations(page) == []
    for name in ("accept", "files", "help"):
        leave(page)
        page.locator(f"#q-open-{name}").click()
        assert violations(page, least=15) == []
        close(page)


@pytest.mark.parametrize("width", [360, 390])
def test_the_page_fits_a_narrow_screen(visit, queues, width):
    page = visit(queues(3)[0] / "queue" / "queue.html", width=width)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#q-name").is_visible()
    assert not page.locator("#q-list").is_visible()
    page.locator("#q-side summary").click()
    rows(page).nth(2).click()
    assert page.locator("#q-place").text_content().startswith("3 of")
    page.keyboard.press("e")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_one_disagreement_fills_the_screen(visit, queues):
    page = visit(queues(30)[0] / "queue" / "queue.html")
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    for pane in ("#q-annotators", "#q-decision", ".frame"):
        box = page.locator(pane).bounding_box()
        assert box["y"] + box["height"] <= 900
        assert box["height"] > 500


def test_print_lists_the_disagreements_of_the_filters(visit, queues):
    _, proposed = queues(3)
    page = visit(queues(3)[0] / "queue" / "queue.html")
    page.keyboard.press("1")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#q-print tbody tr").count() == len(proposed.disagreements)
    assert page.locator("#q-print").is_visible()
    assert not page.locator("#q-panes").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#q-print tr").count() == 0


def test_decided_numbers_are_shown_with_all_digits(visit, tmp_path):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    page = visit(small(tmp_path, schema, {"n": 1}, {"n": 1}, {"n": 2}))
    page.keyboard.press("e")
    page.locator(".editor input").fill("12345678901234567890123")
    page.keyboard.press("Enter")
    expect(page.locator("#q-said")).to_contain_text("/n: 12345678901234567890123.")
    expect(page.locator(".own")).to_have_text("12345678901234567890123 whole number")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert "12345678901234567890123" in page.locator("#q-print tbody").text_content()


def test_large_integers_of_the_schema_are_chosen_and_exported_exactly(visit, tmp_path):
    fields = {"n": {"enum": [2**53 + 1, 2**53, 2**53 + 3]}, "kind": {"const": 2**60 + 1}}
    item = {"type": "object", "properties": fields, "required": ["n", "kind"]}
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": item}}}
    given = {"n": 2**53 + 3, "kind": 2**60 + 1}
    page = visit(small(tmp_path, schema, {"items": [given]}, {"items": [given]}, {"items": []}))
    page.keyboard.press("e")
    choice = page.locator(".editor").get_by_label("n", exact=True)
    assert choice.locator("option").all_text_contents() == ["—", *map(str, fields["n"]["enum"])]
    assert choice.evaluate("(select) => select.selectedOptions[0].textContent") == str(2**53 + 3)
    choice.select_option(label=str(2**53 + 1))
    page.locator(".editor").get_by_role("button", name="Accept").click()
    page.locator("#q-name").fill("Zoé")
    leave(page)
    assert records(exported(page, tmp_path))["d#/items/0"]["value"] == {"n": 2**53 + 1, "kind": 2**60 + 1}


def test_a_new_field_begins_with_the_exact_constant(visit, tmp_path):
    fields = {"n": {"type": "integer"}, "kind": {"const": 2**60 + 1}}
    item = {"type": "object", "properties": fields}
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": item}}}
    page = visit(small(tmp_path, schema, {"items": [{"n": 1}]}, {"items": [{"n": 1}]}, {"items": []}))
    page.keyboard.press("e")
    page.locator(".editor").get_by_label("Name of a new field of items").fill("kind")
    page.keyboard.press("Enter")
    page.locator(".editor").get_by_role("button", name="Accept").click()
    page.locator("#q-name").fill("Zoé")
    leave(page)
    assert records(exported(page, tmp_path))["d#/items/0"]["value"] == {"n": 1, "kind": 2**60 + 1}


def test_hostile_data_stay_text(visit, tmp_path):
    (tmp_path / "report.html").write_text(hostile(), encoding="utf-8")
    page = visit(tmp_path / "report.html")
    assert rows(page).count() > 5
    page.keyboard.press("1")
    page.keyboard.press("e")
    page.locator(".editor input, .editor textarea").first.fill("<script>window.pwned = 8</script>")
    page.keyboard.press("Enter")
    page.locator("#q-name").fill('"><img src=x onerror="window.pwned = 9">')
    leave(page)
    page.keyboard.press("a")
    close(page)
    exported(page, tmp_path)
    assert page.evaluate("window.pwned") is None
    assert page.locator("script").count() == 2


def test_differences_between_the_readings_are_marked(visit, queues):
    folder, proposed = queues(30)
    names = [each for each in proposed.disagreements if each.path == "/people/*/name"]
    own = next(each for each in names if all(reading.votes for reading in each.readings))
    page = visit(folder / "queue" / "queue.html", f"#{urlencode({'id': own.id})}")
    texts = choices(page).locator(".value bdi").all_text_contents()
    assert set(texts) == {reading.value for reading in own.readings}
    assert choices(page).locator("mark").count() >= 2
    row = page.locator("tr.here")
    assert "name" in row.locator("th").text_content()
    cells = dict(zip(page.locator(".compared thead th").all_text_contents()[1:], row.locator("td").all(), strict=True))
    for reading in own.readings:
        assert cells[reading.annotator].text_content() == reading.value
        assert cells[reading.annotator].locator("mark").count() > 0
    assert page.locator("tr.equal td[colspan]").count() > 0


@pytest.mark.parametrize(("one", "other", "marks"), [
    ("a\u200db", "ab", ["ab", "aU+200Db"]), ("❤\ufe0f", "❤", ["❤", "❤U+FE0F"]), ("10\u00a0€", "10 €", ["␣", "U+00A0"]),
])  # fmt: skip
def test_readings_that_look_the_same_are_marked_with_codes(visit, tmp_path, one, other, marks):
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    page = visit(small(tmp_path, schema, {"text": other}, {"text": one}, {"text": other}))
    assert choices(page).locator("mark").all_text_contents() == marks


def test_the_source_text_is_beside_the_decision_and_scrolled_to_the_values(visit, tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "d.txt").write_text(
        "Nothing here.\n" * 20 + "On 1918-11-30, <b>he</b> said.", encoding="utf-8"
    )
    (tmp_path / "source" / "d.png").write_bytes(b"")
    page = visit(small(tmp_path, DATED, *DAYS, source=tmp_path / "source"))
    source = page.locator("#q-source")
    assert source.locator("mark.other").text_content() == "1918-11-30"
    assert "<b>he</b>" in source.text_content()
    assert source.get_by_role("link").get_attribute("href") == "../source/d.png"
    assert violations(page) == []
    assert page.evaluate(
        "(({ top, bottom }, pane) => top >= pane.top && bottom <= pane.bottom)(document.querySelector('#q-source mark')"
        ".getBoundingClientRect(), document.querySelector('#q-source').getBoundingClientRect())"
    )


def test_two_tabs_keep_the_decisions_of_both(visit, queues):
    folder, _ = queues(3)
    page = visit(folder / "queue" / "queue.html")
    other = page.context.new_page()
    other.goto(page.url)
    first = current(page)
    page.keyboard.press("1")
    expect(other.locator("#q-said")).to_have_text("Decisions taken over from another tab: 1.")
    expect(other.locator(".choice.chosen")).to_have_count(1)
    other.keyboard.press("j")
    other.keyboard.press("1")
    page.keyboard.press("j")
    page.keyboard.press("1")
    for tab in (page, other):
        expect(tab.locator("#q-status")).to_contain_text("Decided: 3 of")
    other.goto(f"{page.url.partition('#')[0]}#{urlencode({'id': first})}")
    other.keyboard.press("w")
    for tab in (page, other):
        expect(tab.locator("#q-status")).to_contain_text("Decided: 2 of")
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
    page.keyboard.press("1")
    other.keyboard.press("j")
    other.keyboard.press("1")
    expect(other.locator("#q-status")).to_contain_text("Decided: 2 of")
    page.reload()
    assert status(page).startswith("Decided: 2 of")


def test_notes_without_a_decision_the_name_the_place_and_the_filters_survive_a_reload(visit, queues):
    folder, _ = queues(30)
    page = visit(folder / "queue" / "queue.html")
    page.locator("#q-name").fill("Zoé")
    page.locator("#q-state").select_option("undecided")
    leave(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    own = current(page)
    page.keyboard.press("r")
    page.keyboard.type("look at the scan")
    page.reload()
    assert page.locator("#q-name").input_value() == "Zoé"
    assert page.locator("#q-state").input_value() == "undecided"
    assert current(page) == own
    assert page.locator("#q-note").input_value() == "look at the scan"
    assert status(page).startswith("Decided: 0 of")
    page.keyboard.press("1")
    page.keyboard.press("k")
    expect(page.locator(".outcome")).to_have_text("Decided by Zoé")
    page.reload()
    assert page.locator("#q-note").input_value() == "look at the scan"
    page.keyboard.press("w")
    assert page.locator("#q-note").input_value() == "look at the scan"


REFUSING = {
    "blocked": "Object.defineProperty(window, 'localStorage', { get() { throw new Error('refused'); } })",
    "full": "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }",
}


@pytest.mark.parametrize("storage", REFUSING)
def test_notes_and_typed_values_are_not_lost_if_the_browser_does_not_keep_them(visit, tmp_path, storage):
    properties = {"day": {"type": "string"}, "place": {"type": "string"}}
    values = [{"day": f"day {at}", "place": f"place {at}"} for at in range(3)]
    page = visit(small(tmp_path, {"type": "object", "properties": properties}, *values), script=REFUSING[storage])
    first = current(page)
    page.keyboard.press("e")
    page.locator(".editor input").fill("another value")
    leave(page)
    page.keyboard.press("r")
    page.keyboard.type("see the minutes")
    leave(page)
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.locator(".editor input").input_value() == "another value"
    assert page.locator("#q-note").input_value() == "see the minutes"
    assert "does not keep your decisions and notes" in page.locator("#q-stored").text_content()
    page.keyboard.press("1")
    page.keyboard.press("k")
    assert page.locator("#q-note").input_value() == "see the minutes"
    page.locator("#q-name").fill("Zoé")
    leave(page)
    assert records(exported(page, tmp_path))[first]["note"] == "see the minutes"
