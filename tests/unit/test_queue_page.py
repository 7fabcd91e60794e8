"""The page of disagreements is self-contained, in two languages, and safe with hostile data."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest
from tests.browser.hostile import TEXTS
from tests.unit.test_collegial import ANNOTATIONS, SCHEMA, built
from tests.unit.test_report_html import Read

from arbitre import Comparator
from arbitre.agreement import build_consensus
from arbitre.agreement.consensus.decisions import Decision
from arbitre.agreement.consensus.queue import add_sources, queue_view
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.source_texts import SourceTexts
from arbitre.language import Language
from arbitre.report.standalone import parts, render_queue

PAGE = files("arbitre.report").joinpath("page")


def page(language=Language.EN, annotations=ANNOTATIONS, schema=SCHEMA):
    result = build_consensus(Comparator(schema), annotations, strategy="collegial")
    return render_queue(queue_view(sorted(annotations), result.disagreements), "0.1", language)


def hostile():
    """A page with hostile texts as names of annotators, keys, ids and values."""
    annotations = {
        text[:99]: {TEXTS[0]: {text: number, "same": text}} for number, text in enumerate(dict.fromkeys(TEXTS)) if text
    }
    return page(annotations=annotations, schema={"type": "object", "additionalProperties": True})


def part(name):
    return PAGE.joinpath(*name.split("/")).read_text(encoding="utf-8")


@pytest.mark.parametrize("language", list(Language))
def test_the_page_has_the_disagreements_in_both_languages(language):
    text = page(language)
    read = Read(text)
    assert [each["id"] for each in read.data["disagreements"]] == [each.id for each in built().disagreements]
    title = {"en": "Disagreements between ada, bob, cy", "fr": "Désaccords entre ada, bob, cy"}[language]
    assert f"</span> {title}</h1>" in text
    assert f'<html lang="{language}">' in text
    assert page(language) == text


def test_a_choice_names_the_annotators_who_made_it_and_the_proposal_is_first():
    data = Read(page()).data
    by_id = {each["id"]: each for each in data["disagreements"]}
    assert [(each["raw"], each["annotators"], each["proposed"]) for each in by_id["p#/year"]["choices"]] == [
        ("1931", ["ada", "cy"], True),
        ("1932", ["bob"], False),
    ]
    item = by_id["p#/speakers/2"]
    assert [each["annotators"] for each in item["choices"]] == [["bob"]]
    assert item["absent"] == {"annotators": ["ada", "cy"], "without_vote": [], "proposed": True}
    entry = data["entries"][item["entry"]]
    assert entry["versions"].keys() == {"bob"}
    party = data["entries"][by_id["p#/speakers/1/party"]["entry"]]
    assert party["pointer"] == "/speakers/1"
    assert party["versions"]["cy"]["party"] == "right"


def test_the_json_of_a_choice_is_exact():
    annotations = {name: {"p": {"year": 2**60 + at}} for at, name in enumerate(("ada", "bob", "cy"))}
    (own,) = Read(page(annotations=annotations)).data["disagreements"]
    assert {each["raw"] for each in own["choices"]} == {str(2**60 + at) for at in range(3)}


def test_decisions_made_before_are_in_the_page():
    decision = Decision("p#/year", 1932, "Zoé", "sic")
    view = queue_view(["ada"], built().disagreements, [decision])
    assert json.loads(view["decisions"]) == decision.to_dict()
    assert view["key"] == queue_view(["ada"], built().disagreements)["key"]


def test_the_schemas_of_the_paths_and_required_fields_are_in_the_page():
    plan = Comparator(SCHEMA).plan
    data = queue_view(["ada"], built().disagreements, plan=plan)
    assert data["schemas"]["/year"] == {"type": "integer"}
    assert data["schemas"]["/speakers/*/party"] == {"enum": ["left", "right", "centre"]}
    assert not data["formats"]
    assert [each["id"] for each in data["disagreements"] if each.get("required")] == ["p#/speakers/1/name"]


@pytest.fixture
def sourced(tmp_path):
    """Returns the data of a page in a folder `queue`, with sources in a folder beside it."""

    def view(**files):
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text, encoding="utf-8")
        texts = SourceTexts.of(tmp_path, ReadOptions(), [("p", None)], pictures=True)
        data = queue_view(["ada", "bob", "cy"], built().disagreements)
        add_sources(data, built().disagreements, texts, tmp_path / "queue" / "queue.html")
        return data, {each["id"]: each for each in data["disagreements"]}

    return view


def test_the_readings_are_marked_in_the_source_text(sourced):
    far = "x " * 2000
    text = f"\U0001d538 In 1931 (or 1932), {far} Bergström, left, p. 7. {far} Cohen, p. 402"
    data, by_id = sourced(p_txt=text)
    assert [(part["file"], part["start"] == 0, part["end"]) for part in data["sources"]] == [
        ("p.txt", True, False),
        ("p.txt", False, False),
        ("p.txt", False, True),
    ]
    assert sum(len(part["text"]) for part in data["sources"]) < 2500

    def marked(name):
        own = by_id[name]
        units = data["sources"][own["source"]]["text"].encode("utf-16-le")
        return [(units[2 * start : 2 * end].decode("utf-16-le"), kind) for start, end, kind in own["marks"]]

    assert marked("p#/year") == [("1931", "proposal"), ("1932", "other")]
    assert ("Bergström", "other") in marked("p#/speakers/1/name")
    assert marked("p#/speakers/2") == [("Cohen", "other"), ("402", "other")]


def test_a_picture_of_the_source_is_linked_from_the_page(sourced):
    data, by_id = sourced(p_png="")
    assert data["sources"] == [{"file": "p.png", "image": "../p.png"}]
    assert {(each["source"], len(each["marks"])) for each in by_id.values()} == {(0, 0)}
    (part,) = sourced(p_txt="In 1931")[0]["sources"]
    assert part == {"file": "p.txt", "image": "../p.png", "text": "In 1931", "start": 0, "end": True}


def test_the_page_without_disagreements_says_so():
    same = dict.fromkeys(("ada", "bob"), ANNOTATIONS["ada"])
    assert "there is nothing to decide" in Read(page(annotations=same)).seen
    assert "il n’y a rien à trancher" in Read(page(Language.FR, annotations=same)).seen


@pytest.mark.slow
def test_hostile_data_stay_text_and_nothing_external_is_loaded():
    text = hostile()
    read = Read(text)
    assert len(read.scripts) == 2
    assert text.encode("utf-8")
    assert [name for _, name, _ in read.attributes if name.startswith("on") or name in {"style", "src", "action"}] == []
    assert not {"img", "iframe", "link", "object", "form", "base"} & set(read.tags)
    policy = next(value for tag, name, value in read.attributes if name == "content" and "default-src" in value)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/)", "".join(map(part, parts("queue", "js"))))
    for sign in "\u202e\u2066\u200b\x07\x1b\x00":
        assert sign not in text
