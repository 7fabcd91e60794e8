"""Decisions on examples in the report: made by keyboard, exported, applied to the gold, and read back."""

from __future__ import annotations

import copy
import csv
import json
import random
from dataclasses import replace

import pytest
from tests.browser import corpora
from tests.browser.axe import violations
from tests.browser.test_report_corpus import run, sources
from typer.testing import CliRunner

import arbitre
from arbitre.cli import app
from arbitre.comparison.patch import PatchOperation, applied
from arbitre.gold.decisions import COLUMNS
from arbitre.inputs.provenance import Provenance

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect

SCHEMA = copy.deepcopy(corpora.SCHEMA)
PERSON = SCHEMA["properties"]["people"]["items"]["properties"]
PERSON["elected"] = {"type": "string", "format": "date"}
PERSON["role"]["enum"] = ["deputy", "senator"]
REFUSED = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('refused'); } })"
"""Makes a page like one of a browser that stores nothing."""
TRUTH = "truth.jsonl"
"""The documents without the errors that are planted in gold."""


def person(chosen):
    return corpora.person(chosen) | {"elected": f"19{chosen.randint(10, 40)}-0{chosen.randint(1, 9)}-11"}


def planted(documents):
    """A copy of documents with errors: wrong towns, an entry that is missing, one too many, and a missing field."""
    gold = copy.deepcopy(documents)
    for at in range(6):
        gold[at]["people"][0]["town"] = f"Xq{'abcdef'[at]}zw"
    gold[6]["people"].pop(1)
    gold[7]["people"].insert(1, {"name": "Zz Nobody", "code": 17, "town": "Qqq", "role": "deputy", "born": 1717})
    del gold[8]["people"][0]["town"]
    return gold


def write(folder, systems, lang="en"):
    """Write the corpus and the report of some systems: their predictions by name."""
    (folder / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    options = ["--out", folder / "report", "--workers", "1", "--lang", lang]
    for name, documents in systems.items():
        corpora.lines(folder / f"{name}.jsonl", documents)
    if len(systems) == 1:
        run("evaluate", *sources(folder), "--predicted", *(folder / f"{name}.jsonl" for name in systems), *options)
    else:
        run("rank", *(f"{name}={folder / name}.jsonl" for name in systems), *sources(folder), *options)
    return folder


def truth():
    chosen = random.Random(7)  # noqa: S311
    return [{"id": f"d{at:02}", "page": at, "people": [person(chosen) for _ in range(3)]} for at in range(12)]


@pytest.fixture(scope="session")
def single(tmp_path_factory):
    """One system that predicts the truth: all its faults are errors of the gold."""
    folder = tmp_path_factory.mktemp("report-single")
    corpora.lines(folder / "gold.jsonl", planted(truth()))
    return write(folder, {"careful": truth()})


@pytest.fixture(scope="session")
def several(tmp_path_factory):
    """Two systems with faults of their own, and errors of the gold that both do not have."""
    folder, chosen = tmp_path_factory.mktemp("report-several"), random.Random(3)  # noqa: S311
    corpora.lines(folder / "gold.jsonl", planted(truth()))
    wrong = copy.deepcopy(truth())
    for one in wrong[:5]:
        one["people"][1]["town"] = "Nowhere"
        one["people"][2]["name"] = chosen.choice(corpora.FIRST)
    return write(folder, {"careful": truth(), "hasty": wrong})


def evaluate(folder, schema, gold, predicted):
    """Evaluate predicted records and write the report."""
    (folder / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    for name, records in (("gold", gold), ("careful", predicted)):
        corpora.lines(folder / f"{name}.jsonl", records)
    sides = "--gold", folder / "gold.jsonl", "--predicted", folder / "careful.jsonl"
    run("evaluate", "--schema", folder / "schema.json", *sides, "--out", folder / "report", "--workers", "1")


def report(folder):
    return folder / "report" / "report.html"


def start_reviewing(page):
    """Enter a name, and focus the first cause."""
    page.get_by_label("Your name").fill("Zoé")
    page.locator("#c-list a").first.focus()


def decision(page):
    return page.locator(".decide")


def count(page):
    return page.locator(".decisions > span").first.text_content()


def examples(page):
    """Go through all examples of all causes with the keyboard, and yield the text of their place."""
    for number in range(page.locator("#c-list tbody tr").count()):
        if number:
            page.keyboard.press("]")
        total = int(page.locator(".turn > b").text_content().split(" of ")[1])
        for place in range(total):
            if place:
                page.keyboard.press("n")
            yield page.locator("#c-example .where").text_content()


def correct_gold(page):
    """Decide with the keyboard that gold is wrong in all examples."""
    start_reviewing(page)
    for _ in examples(page):
        page.keyboard.press("1")


def save(page, name, folder):
    """Export the decisions with the keyboard and return the file."""
    page.get_by_role("button", name=f"Export the decisions as {name}").focus()
    with page.expect_download(timeout=60_000) as download:  # browsers may start it late
        page.keyboard.press("Enter")
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def f1q(folder, gold):
    evaluation = arbitre.evaluate(SCHEMA, gold=gold, predicted=folder / "careful.jsonl")
    return evaluation.micro.f1q


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def people(documents):
    """The documents with the people in any order."""
    return [{**one, "people": sorted(json.dumps(each, sort_keys=True) for each in one["people"])} for one in documents]


@pytest.mark.parametrize("form", ["CSV", "JSON Patch"])
def test_a_review_by_keyboard_is_exported_applied_and_read_back(visit, single, tmp_path, form):
    page = visit(report(single))
    evaluation = json.loads((single / "report" / "evaluation.json").read_text(encoding="utf-8"))
    for _ in examples(page):
        page.keyboard.press("1")
    expect(decision(page)).to_contain_text("Decided. Enter your name before you export.")
    faults = sum(cause["count"] for cause in evaluation["causes"]["causes"])
    assert count(page).startswith(f"{faults} decisions: gold is wrong {faults},")
    page.get_by_label("Your name").focus()
    page.keyboard.type("Zoé")
    path = save(page, form, tmp_path)
    command = ["gold", "apply", path, "--gold", single / "gold.jsonl", "--out", tmp_path / "new.jsonl"]
    done = CliRunner().invoke(app, list(map(str, [*command, "--schema", single / "schema.json"])))
    assert done.exit_code == 0, done.output
    assert people(read(tmp_path / "new.jsonl")) == people(truth())
    provenance = Provenance.read(tmp_path / "new.jsonl")
    (correction,) = provenance.corrections
    assert (correction.values, dict(correction.by), correction.documents) == (faults, {"Zoé": faults}, 9)
    assert correction.report.startswith("Index of people")
    assert f1q(single, single / "gold.jsonl") < f1q(single, tmp_path / "new.jsonl") == 1.0
    run(
        *("evaluate", "--schema", single / "schema.json", "--gold", tmp_path / "new.jsonl", "--workers", "1"),
        *("--predicted", single / "careful.jsonl", "--out", tmp_path / "report"),
    )
    again = visit(tmp_path / "report" / "report.html")
    assert "1 value corrected" not in again.content()
    expect(again.locator("body")).to_contain_text(f"{faults} values corrected (Zoé)")
    assert again.locator("#c-list").count() == 0


def test_values_on_which_all_systems_agree_against_gold_come_first_and_correct_it(visit, several, tmp_path):
    page = visit(report(several))
    first = page.locator("#c-list tbody tr").first
    assert first.locator("th").text_content().startswith("All systems agree, gold differs")
    expect(page.locator("#c-example h3")).to_have_text("All systems agree, gold differs")
    agreed = json.loads((several / "report" / "ranking.json").read_text(encoding="utf-8"))["causes"]["agreed"]
    places = {(one["id"], one["place"]) for one in agreed["examples"]}
    assert {(f"d{at:02}", "/people/0/town") for at in range(6)} <= places
    assert ("d08", "/people/0/town") in places
    assert agreed["count"] == len(places)
    assert f"{agreed['count']} values: check the gold first" in first.text_content()
    start_reviewing(page)
    for at in range(agreed["count"]):
        if at:
            page.keyboard.press("n")
        page.keyboard.press("1")
    path = save(page, "JSON Patch", tmp_path)
    done = arbitre.apply_decisions(path, several / "gold.jsonl", out=tmp_path / "new.jsonl", schema=SCHEMA)
    assert (done.values, done.refused) == (agreed["count"], ())
    before, after = (f1q(several, file) for file in (several / "gold.jsonl", tmp_path / "new.jsonl"))
    assert before < after


def test_the_values_of_all_systems_are_shown_where_gold_has_null(visit, tmp_path):
    schema = {"type": "object", "properties": {"name": {"type": ["string", "null"]}, "town": {"type": "string"}}}
    (tmp_path / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    names = {"gold": [None] * 3, "careful": ["Ada", None, "Cy"], "hasty": ["Ada", "Bo", "Cy"]}
    for system, own in names.items():
        lines = [{"id": f"d{at}", "name": name, "town": "Paris"} for at, name in enumerate(own)]
        corpora.lines(tmp_path / f"{system}.jsonl", lines)
    systems = (f"{name}={tmp_path / name}.jsonl" for name in ("careful", "hasty"))
    out = ("--out", tmp_path / "report", "--workers", "1")
    run("rank", *systems, "--schema", tmp_path / "schema.json", "--gold", tmp_path / "gold.jsonl", *out)
    page = visit(report(tmp_path))
    page.locator("#c-list a").first.focus()
    shown = {}
    for place in examples(page):
        shown[place.split()[0]] = page.locator("table.compared tr").last.locator("td").all_inner_texts()
    assert set(shown) == {"d0", "d1", "d2"}
    for document, at in (("d0", 0), ("d1", 1), ("d2", 2)):
        assert shown[document][0].strip() == "nothing"
        for cell, system in zip(shown[document][1:], ("careful", "hasty"), strict=True):
            assert cell.split()[0] == (names[system][at] or "nothing")
            assert "missing" not in cell


def test_only_the_decided_gold_is_corrected_and_the_other_decisions_are_counted(visit, several, tmp_path):
    page = visit(report(several))
    start_reviewing(page)
    wrong = {f"d{at:02} /people/0/town" for at in range(6)}
    decided = {}
    for text in examples(page):
        place = " ".join(text.split()[:2])
        page.keyboard.press("1" if place in wrong else "2")
        decided[place] = place in wrong
        pressed = decision(page).locator("button[aria-pressed=true]")
        expect(pressed).to_contain_text("Gold is wrong" if place in wrong else "Prediction is wrong")
    path = save(page, "CSV", tmp_path)
    table = rows(path)
    assert list(table[0]) == list(COLUMNS)
    assert len(table) == len({(row["document"], row["pointer"], row["predicted"]) for row in table})
    golden = [row for row in table if row["decision"] == "gold is wrong"]
    assert {f"{row['document']} {row['pointer']}" for row in golden} == wrong
    assert {row["by"] for row in table} == {"Zoé"}
    done = arbitre.apply_decisions(path, several / "gold.jsonl", out=tmp_path / "new.jsonl", schema=SCHEMA)
    assert (done.values, done.predictions_wrong, done.refused) == (6, len(table) - 6, ())
    after = read(tmp_path / "new.jsonl")
    assert [one["people"][0].get("town") for one in after[:6]] == [one["people"][0]["town"] for one in truth()[:6]]
    results = json.loads((several / "report" / "careful" / "evaluation.json").read_text(encoding="utf-8"))
    (cause,) = [one for one in results["causes"]["causes"] if one["paths"] == ["/people/*/town"] and one["count"] == 6]
    rise = f1q(several, tmp_path / "new.jsonl") - f1q(several, several / "gold.jsonl")
    assert rise == pytest.approx(cause["gain"], abs=1e-9)
    assert rise > 0


def test_the_patches_are_those_of_the_gold_for_any_implementation(visit, single, tmp_path):
    page = visit(report(single))
    correct_gold(page)
    patches = json.loads(save(page, "JSON Patch", tmp_path).read_text(encoding="utf-8"))["patches"]
    after = []
    for one in read(single / "gold.jsonl"):
        document = {key: value for key, value in one.items() if key != "id"}
        for operation in patches.get(one["id"], ()):
            step = PatchOperation(operation["op"], operation["path"], operation.get("value"))
            if operation["op"] == "test":
                assert applied(document, [replace(step, op="replace")]) == document
            else:
                document = applied(document, [step])
        after.append({"id": one["id"], **document})
    assert people(after) == people(truth())


def to_example(page, place):
    for text in examples(page):
        if place in text:
            return
    pytest.fail(f"no example at {place}")


def test_a_value_that_the_schema_does_not_allow_is_not_taken(visit, several, tmp_path):
    page = visit(report(several))
    start_reviewing(page)
    to_example(page, "d03 /people/0/town")
    page.keyboard.press("e")
    page.keyboard.type("12")
    expect(decision(page).locator(".said")).to_have_text("Expected a text, got a whole number.")
    expect(decision(page).locator(".outcome")).to_have_text("Not decided: choose or enter the correct value.")
    assert count(page) == "No decisions yet."
    page.keyboard.press("Control+a")
    page.keyboard.type("Bern")
    expect(decision(page).locator(".said")).to_have_text("")
    page.keyboard.press("Enter")
    page.keyboard.press("r")
    page.keyboard.type("see p. 3, =1+1")
    page.keyboard.press("Enter")
    assert count(page).startswith("1 decision: gold is wrong 1,")
    (row,) = rows(save(page, "CSV", tmp_path))
    assert (row["value"], row["note"], row["by"], row["system"]) == ("Bern", "see p. 3, =1+1", "Zoé", "careful, hasty")
    page.keyboard.press("u")
    assert count(page) == "No decisions yet."
    expect(page.locator(".decisions .note")).to_have_text("Undone: d03.")
    page.keyboard.press("u")
    expect(page.locator(".decisions .note")).to_have_text("Nothing to undo.")


def test_a_value_that_is_not_complete_changes_neither_the_decision_nor_its_note(visit, several, tmp_path):
    page = visit(report(several))
    start_reviewing(page)
    to_example(page, "d03 /people/0/town")
    page.keyboard.press("1")
    page.keyboard.press("r")
    page.keyboard.type("see p. 3")
    page.keyboard.press("Enter")
    (before,) = rows(save(page, "CSV", tmp_path))
    page.keyboard.press("e")
    page.keyboard.type('{"half": ')
    expect(decision(page).locator(".said")).to_contain_text(f'The decision is still: "{before["value"]}".')
    expect(decision(page).locator(".outcome")).to_have_text("Decided by Zoé.")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.reload()
    page.keyboard.press("p")
    expect(decision(page).get_by_label("Another value").last).to_have_value('{"half": ')
    expect(decision(page).locator(".said")).to_contain_text("Not valid JSON.")
    expect(decision(page).get_by_label("Note")).to_have_value("see p. 3")
    assert count(page).startswith("1 decision: gold is wrong 1,")
    (after,) = rows(save(page, "CSV", tmp_path))
    assert after == before
    page.locator("#c-list a").first.focus()
    page.keyboard.press("e")
    page.keyboard.type("Bern")
    page.keyboard.press("Enter")
    (after,) = rows(save(page, "CSV", tmp_path))
    assert after == {**before, "value": "Bern"}
    page.reload()
    expect(decision(page).get_by_label("Another value").last).to_have_value("Bern")


def test_an_example_without_a_decision_keeps_what_was_typed(visit, several):
    page = visit(report(several))
    page.locator("#c-list a").first.focus()
    to_example(page, "d03 /people/0/town")
    page.keyboard.press("e")
    page.keyboard.type("12")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.press("p")
    typed = decision(page).get_by_label("Another value").last
    expect(typed).to_have_value("12")
    expect(decision(page).locator(".outcome")).to_have_text("Not decided: choose or enter the correct value.")
    page.keyboard.press("1")
    expect(typed).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    expect(typed).to_have_count(0)
    assert count(page).startswith("1 decision: gold is wrong 0, prediction is wrong 0, unsure 1")


def test_loading_a_file_without_notes_keeps_the_notes_of_the_examples(visit, several, tmp_path):
    page = visit(report(several))
    start_reviewing(page)
    page.keyboard.press("3")
    path = save(page, "CSV", tmp_path)
    later = visit(report(several))
    later.locator("#c-list a").first.focus()
    later.keyboard.press("r")
    later.keyboard.type("see the scan")
    later.locator(".decisions input[type=file]").set_input_files(path)
    expect(later.locator(".decisions > span").first).to_contain_text("1 decision")
    expect(decision(later).get_by_label("Note")).to_have_value("see the scan")
    assert [row["note"] for row in rows(save(later, "CSV", tmp_path))] == ["see the scan"]


def test_the_values_of_the_other_systems_can_be_chosen(visit, several):
    page = visit(report(several))
    to_example(page, "d01 /people/1/town")
    page.keyboard.press("1")
    texts = decision(page).locator("label.candidate").all_text_contents()
    assert [text.strip() for text in texts] == ["Nowhere hasty", "no value: leave out"]
    decision(page).get_by_label("no value: leave out").check()
    page.reload()
    expect(decision(page).get_by_label("no value: leave out")).to_be_checked()


def test_decisions_survive_a_reload_and_are_shared_by_tabs(visit, several):
    page = visit(report(several))
    start_reviewing(page)
    page.keyboard.press("3")
    other = page.context.new_page()
    other.goto(page.url)
    assert other.get_by_label("Your name").input_value() == "Zoé"
    expect(decision(other).locator("button[aria-pressed=true]")).to_contain_text("Unsure")
    other.keyboard.press("n")
    other.keyboard.press("2")
    expect(page.locator(".decisions > span").first).to_contain_text("2 decisions")
    expect(page.locator(".decisions .note")).to_have_text("Decisions taken over from another tab: 1.")
    page.keyboard.press("n")
    expect(decision(page).locator("button[aria-pressed=true]")).to_contain_text("Prediction")
    page.keyboard.press("u")
    assert count(page) == "1 decision: gold is wrong 0, prediction is wrong 1, unsure 0"
    other.reload()
    assert count(other) == "1 decision: gold is wrong 0, prediction is wrong 1, unsure 0"


def test_a_report_of_the_same_results_has_the_same_decisions(visit, several, single, tmp_path):
    page = visit(report(several))
    page.locator("#c-list a").first.focus()
    page.keyboard.press("3")
    own = count(page)
    for at, options in enumerate((["--keep", "5"], ["--keep", "1", "--lang", "fr"])):
        again = tmp_path / f"report-{at}.html"
        run("report", several / "report", "--out", again, *options)
        page.goto(again.as_uri())
        assert count(page)[:3] == own[:3] == "1 d"
    page.goto(report(single).as_uri())
    assert count(page) == "No decisions yet."


@pytest.mark.parametrize("form", ["CSV", "JSON Patch"])
def test_an_exported_file_is_loaded_in_another_browser(visit, several, tmp_path, form):
    page = visit(report(several))
    start_reviewing(page)
    for number, _ in enumerate(examples(page)):
        page.keyboard.press(str(1 + number % 3))
    path = save(page, form, tmp_path)
    text = path.read_text(encoding="utf-8")
    later = visit(report(several))
    later.locator(".decisions input[type=file]").set_input_files(path)
    expect(later.locator(".decisions > span").first).to_have_text(count(page))
    expect(later.locator(".decisions .note")).to_contain_text("Earlier decisions and notes replaced: 0.")
    assert save(later, form, tmp_path).read_text(encoding="utf-8") == text
    path.write_text(text.replace("Xqazw", "Xqaaa"), encoding="utf-8")
    third = visit(report(several))
    third.locator(".decisions input[type=file]").set_input_files(path)
    if "Xqazw" in text:
        expect(third.locator(".decisions .note")).to_contain_text("the gold value has changed")
    path.write_text("id,value\n1,2\n", encoding="utf-8")
    third.locator(".decisions input[type=file]").set_input_files(path)
    expect(third.locator(".decisions .note")).to_have_text("This is not a file of decisions that a report exported.")


@pytest.mark.parametrize("form", ["CSV", "JSON Patch"])
def test_decisions_on_runs_correct_the_document_of_their_id(visit, tmp_path, form):
    town = {"type": "object", "properties": {"town": {"type": "string"}}}
    gold = [{"id": "a", "town": "Paris"}, {"id": "a/1", "town": "Paris"}]
    evaluate(tmp_path, town, gold, [{"id": "a", "town": "Rome"}] * 2 + [gold[1]] * 2)
    page = visit(report(tmp_path))
    correct_gold(page)
    assert count(page).startswith("2 decisions")
    path = save(page, form, tmp_path)
    done = arbitre.apply_decisions(path, tmp_path / "gold.jsonl", out=tmp_path / "new.jsonl", schema=town)
    assert (done.values, done.refused) == (1, ())
    assert read(tmp_path / "new.jsonl") == [{"id": "a", "town": "Rome"}, gold[1]]
    later = visit(report(tmp_path))
    later.locator(".decisions input[type=file]").set_input_files(path)
    expect(later.locator(".decisions > span").first).to_have_text(count(page))
    assert save(later, form, tmp_path).read_text(encoding="utf-8") == path.read_text(encoding="utf-8")


def merging(folder):
    """Write a corpus and its report: two people have the same roles, which the prediction merges."""
    fields = {"name": {"type": "string"}, "roles": {"type": "array", "items": {"type": "string"}}}
    people = {"type": "array", "items": {"type": "object", "properties": fields}, "x-arbitre": {"entries": True}}
    schema = {"type": "object", "properties": {"people": people}}
    (folder / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    parts = ["deputy of Lyon", "mayor of Dijon"]
    for name, roles in (("gold", parts), ("careful", [" and ".join(parts)])):
        named = [{"name": one, "roles": roles} for one in ("Ada", "Zoltan")]
        corpora.lines(folder / f"{name}.jsonl", [{"id": "a", "people": named}])
    out = "--predicted", folder / "careful.jsonl", "--out", folder / "report", "--workers", "1"
    run("evaluate", "--schema", folder / "schema.json", "--gold", folder / "gold.jsonl", *out)
    return folder


@pytest.mark.parametrize("form", ["CSV", "JSON Patch"])
def test_equal_values_without_a_place_in_gold_have_decisions_of_their_own(visit, tmp_path, form):
    page = visit(report(merging(tmp_path)))
    start_reviewing(page)
    for number, _ in enumerate(examples(page)):
        expect(decision(page).locator("button[aria-pressed=true]")).to_have_count(0)
        page.keyboard.press(str(2 + number % 2))
    assert count(page) == "2 decisions: gold is wrong 0, prediction is wrong 1, unsure 1"
    path = save(page, form, tmp_path)
    later = visit(report(tmp_path))
    later.locator(".decisions input[type=file]").set_input_files(path)
    expect(later.locator(".decisions > span").first).to_have_text(count(page))
    assert save(later, form, tmp_path).read_text(encoding="utf-8") == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["CSV", "JSON Patch"])
def test_values_in_lists_that_gold_lacks_are_added(visit, tmp_path, form):
    schema = copy.deepcopy(SCHEMA)
    fields = schema["properties"]["people"]["items"]["properties"]
    fields["tags"] = {"type": "array", "items": {"type": "string"}}
    right = [{"id": "a", "people": [{"name": "Ada", "tags": ["q", "b"]}]}, {"id": "b", "people": [{"name": "Bo"}]}]
    evaluate(tmp_path, schema, [{"id": "a", "people": [{"name": "Ada"}]}, {"id": "b"}], right)
    page = visit(report(tmp_path))
    correct_gold(page)
    path = save(page, form, tmp_path)
    done = arbitre.apply_decisions(path, tmp_path / "gold.jsonl", out=tmp_path / "new.jsonl", schema=schema)
    assert (done.values, done.refused) == (3, ())
    assert read(tmp_path / "new.jsonl") == right
    if form == "JSON Patch":
        steps = json.loads(path.read_text(encoding="utf-8"))["patches"]
        operations = [PatchOperation(each["op"], each["path"], each["value"]) for each in steps["a"]]
        assert applied({"people": [{"name": "Ada"}]}, operations) == {"people": right[0]["people"]}
    later = visit(report(tmp_path))
    later.locator(".decisions input[type=file]").set_input_files(path)
    expect(later.locator(".decisions > span").first).to_have_text(count(page))
    assert save(later, form, tmp_path).read_text(encoding="utf-8") == path.read_text(encoding="utf-8")


def test_the_runs_of_an_earlier_file_are_found(visit, tmp_path):
    gold, predicted = {"id": "a", "page": 1, "people": []}, {"id": "a", "page": 2, "people": []}
    evaluate(tmp_path, SCHEMA, [gold], [predicted] * 2)
    path = tmp_path / "earlier.csv"
    lines = "a/2,/page,/page,gold is wrong,1,2,2,Zoé\nb/1,/page,/page,gold is wrong,1,2,2,Zoé\n"
    path.write_text(f"document,pointer,path,decision,gold,predicted,value,by\n{lines}", encoding="utf-8")
    page = visit(report(tmp_path))
    page.locator(".decisions input[type=file]").set_input_files(path)
    expect(page.locator(".decisions .note")).to_contain_text("its document is ambiguous): 1.")
    (row,) = rows(save(page, "CSV", tmp_path))
    assert (row["document"], row["run"]) == ("a", "2")


def test_booleans_that_a_spreadsheet_has_saved_are_loaded(visit, tmp_path):
    schema = {"type": "object", "properties": {"ok": {}}}
    evaluate(tmp_path, schema, [{"id": "a", "ok": True}], [{"id": "a", "ok": False}])
    path = tmp_path / "saved.csv"
    line = 'a,/ok,/ok,gold is wrong,TRUE,FAUX,"""VRAI""",Zoé\n'
    path.write_text(f"document,pointer,path,decision,gold,predicted,value,by\n{line}", encoding="utf-8")
    page = visit(report(tmp_path))
    page.locator(".decisions input[type=file]").set_input_files(path)
    (row,) = rows(save(page, "CSV", tmp_path))
    assert (row["gold"], row["predicted"], row["value"]) == ("true", "false", '"VRAI"')


@pytest.mark.parametrize("form", ["CSV", "JSON Patch"])
def test_nulls_are_corrected_to_values_and_values_to_nulls(visit, tmp_path, form):
    born = {"type": ["integer", "null"]}
    item = {"type": "object", "required": ["born"], "properties": {"name": {"type": "string"}, "born": born}}
    schema = {"type": "object", "properties": {"people": {"type": "array", "items": item}}}
    gold, predicted = (
        [{"name": "Ada", "born": one}, {"name": "Bo", "born": two}] for one, two in ((None, 1), (2, None))
    )
    evaluate(tmp_path, schema, [{"id": "d", "people": gold}], [{"id": "d", "people": predicted}])
    page = visit(report(tmp_path))
    start_reviewing(page)
    for one in examples(page):
        page.keyboard.press("1")
        expect(decision(page).get_by_text("no value: leave out")).to_have_count(int("/people/1" in one))
    path = save(page, form, tmp_path)
    done = arbitre.apply_decisions(path, tmp_path / "gold.jsonl", out=tmp_path / "new.jsonl", schema=schema)
    assert done.refused == ()
    (corrected,) = read(tmp_path / "new.jsonl")
    assert corrected["people"] == predicted
    if form == "CSV":  # an earlier version exported no value in place of null
        path.write_text(path.read_text(encoding="utf-8").replace("null,2,2", ",2,2"), encoding="utf-8")
        page.locator(".decisions input[type=file]").set_input_files(path)
        expect(page.locator(".decisions .note")).to_contain_text("2. Earlier decisions and notes replaced: 0.")
        assert [row["gold"] for row in rows(save(page, form, tmp_path))] == ["null", "1"]


def test_decisions_are_not_lost_if_the_browser_does_not_keep_them(visit, several, tmp_path):
    page = visit(report(several), script=REFUSED)
    start_reviewing(page)
    page.keyboard.press("2")
    expect(page.locator(".decisions")).to_contain_text("This browser does not keep your decisions and notes")
    assert len(rows(save(page, "CSV", tmp_path))) == 1


def test_a_note_without_a_decision_is_not_lost_if_the_browser_does_not_keep_it(visit, several):
    page = visit(report(several), script=REFUSED)
    page.locator("#c-list a").first.focus()
    page.keyboard.press("r")
    page.keyboard.type("see the minutes")
    page.keyboard.press("Escape")
    expect(page.locator(".decisions")).to_contain_text("This browser does not keep your decisions and notes")
    page.keyboard.press("n")
    page.keyboard.press("p")
    expect(decision(page).get_by_label("Note")).to_have_value("see the minutes")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_controls_are_accessible(visit, several, scheme):
    page = visit(report(several), scheme=scheme)
    page.keyboard.press("1")
    page.keyboard.press("e")
    page.keyboard.press("Control+a")
    page.keyboard.type("[")
    assert violations(page) == []


def test_the_controls_fit_a_phone(visit, several):
    page = visit(report(several), width=360)
    decision(page).get_by_role("button", name="Gold is wrong").click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_page_speaks_french(visit, tmp_path):
    corpora.lines(tmp_path / "gold.jsonl", planted(truth()))
    (folder := tmp_path / "report").mkdir()
    corpora.lines(folder / "gold.jsonl", planted(truth()))
    page = visit(report(write(folder, {"careful": truth()}, "fr")))
    page.keyboard.press("1")
    expect(decision(page)).to_contain_text("Référence fausse")
    expect(decision(page)).to_contain_text("Tranché. Indiquez votre nom avant d’exporter.")
