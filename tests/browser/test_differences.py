"""Differences of texts in the report: only what differs is marked, whatever the length and the script."""

from __future__ import annotations

import re

import pytest
from tests.unit.test_report_view import observed

from arbitre.report.build_view import build_subject
from arbitre.report.report_files import view_of, write_page

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect


@pytest.fixture
def visit(visit_open):
    return visit_open


WORDS = " ".join(f"word{number}" for number in range(800))
HEBREW = "שלום עולם הכנסת " * 60
ACCENTS = "cafe\u0301 " * 100
FAMILY = "👩\u200d👩\u200d👧 " * 60
CHINESE = "".join(chr(0x4E00 + number * 7 % 3000) for number in range(1000))
BOOK = " ".join(f"{number}th word" for number in range(9000))
TEXTS = {
    "one": (WORDS, WORDS.replace("word400 ", "word400 inserted ")),
    "two": (WORDS, WORDS.replace("word9 ", "ninth ").replace("word500 word501", "other")),
    "added": (WORDS, WORDS.replace("word9 ", "word9 first ").replace("word500 ", "word500 second ")),
    "unlike": (WORDS, "nothing of the kind " * 200),
    "hebrew": (HEBREW, HEBREW[:480] + "שונה " + HEBREW[480:]),
    "accents": (ACCENTS, ACCENTS[:299] + "\u0302" + ACCENTS[299:]),
    "family": (FAMILY, FAMILY[:270] + "👩\u200d👧 " + FAMILY[270:]),
    "signs": ("x" * 4000, "x" * 2000 + "y" + "x" * 1999),
    "many": (" ".join(f"a{n} b" for n in range(4000)), " ".join(f"c{n} b" for n in range(4000))),
    "inserted": (WORDS, WORDS.replace("word300 ", "word300 one ").replace("word500 ", "word500 two ")),
    "chinese": (CHINESE, f"{CHINESE[:500]}一{CHINESE[501:]}"),
    "cut": (WORDS, WORDS[: WORDS.index("word200 ")]),
    "spelt": (WORDS, WORDS.replace("ord", "ard")),
    "dense": (WORDS, re.sub(r"(\d)0 ", r"\1o ", WORDS)),
    "book": (BOOK, BOOK.replace("5th", "fifth")),
    "spaces": ("Ada  Crewe", "Ada Crewe"),
    "short": ("colour", "color"),
    "other": ("Vaudreine", "Quill"),
    "level": ("senator", "senators"),
    "joiner": ("a\u200db", "ab"),
    "narrow": ("10\u00a0€ and 5", "11\u202f€ and 5"),
    "heart": ("❤\ufe0f", "❤"),
    "blank": ("", " "),
    "forms": ("Étienne, née à Orléans", "E\u0301tienne, ne\u0301e a\u0300 Orle\u0301ams"),
    "written": ("née", "ne\u0301e"),
    "parents": ("the 👩\u200d👩\u200d👧 here", "the 👩\u200d👩\u200d👦 here"),
}
LISTS = {"towns": "string", "numbers": "integer", "joined": "string"}
LISTED = {
    "towns": (["Paris", "Nantes"], ["Paris", "Nant"]),
    "numbers": (list(range(100)), [number for number in range(100) if number != 50]),
    "joined": (["a\u200db"], ["ab"]),
}
MARKS = """field => [...field.querySelectorAll("del, ins")].map(one => `${one.tagName[0]} ${one.textContent.trim()}`)"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    level = {"enum": ["senator", "senators"], "x-arbitre": {"distance": "levenshtein"}}
    written = {"type": "string", "x-arbitre": {"normalize": "as-written"}}
    fields = {name: {"type": "string"} for name in TEXTS} | {"level": level, "written": written}
    fields |= {name: {"type": "array", "items": {"type": kind}} for name, kind in LISTS.items()}
    sides = ({name: pair[side] for name, pair in (TEXTS | LISTED).items()} for side in (0, 1))
    subject = build_subject(*observed({"type": "object", "properties": fields}, [("d", *sides)]))
    file = tmp_path_factory.mktemp("texts") / "report.html"
    write_page(file, view_of([subject]))
    return file


@pytest.fixture
def field(visit, report):
    page = visit(report)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    names = [*TEXTS, *LISTED]
    return lambda name: page.locator("#x-list .row").nth(names.index(name)).locator(".field")


def test_one_edit_in_a_long_text_marks_that_edit_only(field):
    assert field("one").evaluate(MARKS) == ["I inserted"]
    assert field("two").evaluate(MARKS) == ["D word9", "D word500 word501", "I ninth", "I other"]
    assert field("added").evaluate(MARKS) == ["I first", "I second"]
    assert field("hebrew").evaluate(MARKS) == ["I שונה"]
    assert field("signs").evaluate(MARKS) == ["D x", "I y"]
    assert field("inserted").evaluate(MARKS) == ["I one", "I two"]
    assert field("chinese").evaluate(MARKS) == [f"D {CHINESE[500]}", "I 一"]


def test_characters_are_never_cut_in_the_middle(field):
    assert field("accents").evaluate(MARKS) == ["D cafe\u0301", "I cafe\u0301\u0302"]
    assert field("family").evaluate(MARKS) == ["I 👩\u200d👧"]


def test_unicode_forms_that_count_as_equal_are_not_marked(field):
    assert field("forms").evaluate(MARKS) == ["D n", "I m"]
    assert field("forms").locator(".side").last.text_content() == TEXTS["forms"][1]
    assert field("written").evaluate(MARKS) == ["D é", "I e\u0301"]


def test_equal_stretches_are_folded_and_opened_on_both_sides(field):
    one = field("one")
    gold, predicted = one.locator(".side").all()
    folds = gold.locator("button.fold")
    assert folds.all_text_contents() == ["… 393 words …", "… 391 words …"]
    assert len(gold.inner_text()) < 300
    folds.first.focus()
    folds.first.press("Enter")
    expect(predicted.locator("button.fold")).to_have_count(1)
    assert "word0 word1" in predicted.inner_text()
    predicted.locator("button.cut").last.click()  # show all
    assert predicted.locator("bdi").first.text_content() == TEXTS["one"][1]
    assert one.evaluate(MARKS) == ["I inserted"]


def test_unlike_texts_and_listed_values_are_marked_whole(field):
    for name in ("unlike", "other", "level", "many"):
        assert field(name).locator("del.entire, ins.entire").count() == 2
        assert field(name).locator("del, ins").count() == 2
    assert field("short").evaluate(MARKS) == ["D u"]
    assert field("spaces").evaluate(MARKS) == ["D ␣"]


def test_what_cannot_be_seen_is_shown_as_a_code_where_texts_differ(field):
    assert field("joiner").evaluate(MARKS) == ["D aU+200D", "I a"]
    assert field("narrow").evaluate(MARKS) == ["D 0U+00A0", "I 1U+202F"]
    assert field("heart").evaluate(MARKS) == ["D ❤U+FE0F", "I ❤"]
    assert field("blank").locator(".side").last.text_content().strip() == "␣"
    assert field("joined").evaluate(MARKS) == ["D aU+200D", "I a"]
    assert field("parents").evaluate(MARKS) == ["D 👩\u200d👩\u200d👧", "I 👩\u200d👩\u200d👦"]


def test_texts_are_compared_by_letters_if_only_these_are_alike(field):
    assert set(field("spelt").evaluate(MARKS)) == {"D o", "I a"}


def test_a_text_that_is_cut_off_is_marked_from_there(field):
    (lost,) = field("cut").evaluate(MARKS)
    assert re.fullmatch(r"D word200 word201 .* word239", lost)


def test_many_differences_are_folded_after_the_first_ones(field):
    for name in ("dense", "book"):
        one = field(name)
        gold, predicted = one.locator(".side").all()
        assert len(gold.text_content()) < 1500
        fold = gold.locator("button.fold").last
        assert re.fullmatch(r"… \d+ more differences …", fold.text_content())
        before = gold.locator("del").count()
        fold.click()
        assert gold.locator("del").count() > before
        gold.locator("button.cut").last.click()
        assert one.locator("button").count() == 1  # that of the other side
        for side, tag, whole in ((gold, "del", TEXTS[name][0]), (predicted, "ins", TEXTS[name][1])):
            assert side.locator("bdi").first.text_content() == whole
            assert side.locator(tag).count() == one.locator("del").count()


def test_items_of_lists_are_marked_and_kept_in_sight(field):
    assert field("towns").evaluate(MARKS) == ["D es"]
    gold, predicted = field("numbers").locator(".side").all()
    assert gold.locator(".chip").all_text_contents() == ["49", "−50", "51"]
    assert gold.locator("button").all_text_contents() == ["… 49 more …", "… 48 more …"]
    gold.locator("button").first.click()
    assert gold.locator(".chip").first.text_content() == "0"
    assert predicted.locator(".chip", has_text="100").count() == 0
