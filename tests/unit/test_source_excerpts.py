"""Excerpts of a source text: where values are found, which part is shown, and what is marked."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbitre.inputs.source_excerpts import LENGTH, SearchableText
from arbitre.values import ABSENT


def marked(text, gold=ABSENT, predicted=ABSENT, entry=(), **options):
    """The marked parts of an excerpt with their kinds."""
    found = SearchableText(text).excerpt(gold, predicted, entry, **options)
    units = found.text.encode("utf-16-le", "surrogatepass")
    assert text.encode("utf-16-le", "surrogatepass")[2 * found.start :].startswith(units)
    return [(units[2 * start : 2 * end].decode("utf-16-le", "surrogatepass"), kind) for start, end, kind in found.marks]


def only(text, value):
    """The only occurrence of a value in a text."""
    ((part, kind),) = marked(text, value)
    assert kind == "gold"
    return part


@pytest.mark.parametrize(
    ("text", "value", "part"),
    [
        ("M. BARTHOU parle", "Barthou", "BARTHOU"),
        ("Louis   \n\t Barthou", "Louis Barthou", "Louis   \n\t Barthou"),
        ("de l'ex-\n  ploitation des", "exploitation", "ex-\n  ploitation"),
        ("ex\u00adploitation", "exploitation", "ex\u00adploitation"),
        ("the \ufb01rst", "first", "\ufb01rst"),
        ("Pâ\u0302ques Poincaré", "Poincare\u0301", "Poincaré"),
        ("Poincare\u0301 parle", "Poincaré", "Poincare\u0301"),
        ("l\u2019armée \u2013 1918", "l'armée - 1918", "l\u2019armée \u2013 1918"),
        ("STRASSE", "Straße", "STRASSE"),
        ("pp. 1\u00a0211 et 39", 1211, "1\u00a0211"),
        ("3,50 francs", 3.5, "3,50"),
        ("-12 degrees", -12, "12"),
        ("rising-\nfalling", "rising-falling", "rising-\nfalling"),
        ("𝒜 😀 Ada", "Ada", "Ada"),
        ("Parle : discuss. dun projet dc loi relatif aux", "discuss. d'un projet de loi", "discuss. dun projet dc loi"),
    ],
)
def test_values_are_found_in_the_notation_of_the_text(text, value, part):
    assert only(text, value) == part


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("p. 394", 39),
        ("p. 394", 4),
        ("Barthouin", "Barthou"),
        ("cafés cafe\u0301", "cafe"),
        ("true null", True),
        ("true null", None),
        ("... !", "..."),
        ("", "Ada"),
        ("Ada", ""),
    ],
)
def test_a_part_of_a_word_or_number_is_not_an_occurrence(text, value):
    assert marked(text, value) == []


def test_the_occurrence_beside_the_other_values_of_the_entry_is_shown():
    filler = "nothing of note was said on that day\n" * 60
    text = f"{filler}Briand, p. 8\n{filler}Barthou (Louis), p. 8, 12\n{filler}Caillaux, p. 8\n{filler}"
    found = SearchableText(text).excerpt(8, 9, [{"name": "Barthou (Louis)", "pages": [8, 12]}])
    assert "Barthou (Louis), p. 8, 12" in found.text
    assert [mark.kind for mark in found.marks] == ["gold"]
    assert LENGTH - 80 <= len(found.text) <= LENGTH


def test_a_gold_value_decides_before_many_other_values():
    filler = "nothing of note was said on that day\n" * 60
    text = f"minister Louis Barthou 1931 finances\n{filler}twelve"
    assert marked(text, "twelve", entry=["minister", "Louis Barthou", 1931, "finances"]) == [("twelve", "gold")]


def test_the_values_of_both_sides_are_marked_once():
    text = "Discours de Louis Barthou, ministre"
    assert marked(text, "Louis Barthou", "Barthou") == [("Louis Barthou", "gold")]
    assert marked(text, "Barthou", "Louis Barthou") == [("Louis ", "predicted"), ("Barthou", "gold")]
    assert marked(text, "Briand", "ministre") == [("ministre", "predicted")]


def test_a_value_that_occurs_exactly_is_not_marked_as_a_similar_one():
    assert marked("on 1918-11-30", "1918-11-03", "1918-11-30") == [("1918-11-30", "predicted")]
    assert [kind for _, kind in marked("on 1918-11-30", "1918-11-03")] == ["gold"]


def test_other_values_of_the_entry_are_marked_if_the_value_does_not_occur():
    text = "Discours de Louis Barthou, ministre, p. 4"
    assert marked(text, "Briand", ABSENT, [{"name": "Barthou", "page": 4}]) == [("Barthou", "entry"), ("4", "entry")]
    assert marked(text, "Briand", ABSENT, ["Laval"]) == []
    assert SearchableText(text).excerpt("Briand").text == text


def test_the_beginning_is_shown_if_nothing_occurs():
    text = "word " * 1000
    found = SearchableText(text).excerpt("Briand")
    assert (found.start, found.marks) == (0, ())
    assert text.startswith(found.text)
    assert LENGTH - 30 <= len(found.text) <= LENGTH


def test_all_values_of_an_item_are_marked():
    text = "Barthou (Louis), ministre, p. 4, 12"
    item = {"name": "Barthou", "first": "Louis", "pages": [4, 12], "honorary": False, "note": None}
    assert [part for part, _ in marked(text, item)] == ["Barthou", "Louis", "4", "12"]


def test_a_value_longer_than_the_excerpt_is_cut():
    value = " ".join(f"word{number}" for number in range(200))
    found = SearchableText(f"start {value} end").excerpt(value, length=100)
    ((start, end, kind),) = found.marks
    assert (start, end, kind) == (0, len(found.text), "gold")


def test_an_excerpt_begins_and_ends_with_whole_words():
    text = " ".join(f"word{number:04}" for number in range(400))
    found = SearchableText(text).excerpt("word0200")
    assert found.text.split() == [word for word in text.split() if word in found.text]
    assert text[found.start - 1] == " "
    assert LENGTH - 60 <= len(found.text) <= LENGTH


def test_a_text_without_spaces_is_cut_anywhere():
    text = "漢字" * 1000 + "。市場。" + "仮名" * 1000
    found = SearchableText(text).excerpt("市場")
    assert [found.text[start:end] for start, end, _ in found.marks] == ["市場"]
    assert len(found.text) == LENGTH


def test_offsets_count_utf_16_code_units():
    text = "😀" * 700 + " Ada " + "𝒜" * 700
    assert only(text, "Ada") == "Ada"
    assert SearchableText(text).excerpt("Ada").start > LENGTH


@pytest.mark.slow
def test_a_value_that_occurs_often_takes_little_time():
    text = "12 and 7 " * 30_000
    begin = time.perf_counter()
    SearchableText(text).excerpt(12, 7, [12, 7, 5])
    assert time.perf_counter() - begin < 6.0


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@settings(deadline=None, max_examples=200)
@given(words, words, words, st.integers(1, 60))
def test_a_marked_part_is_the_value_whatever_is_around_it(before, value, after, length):
    searched = SearchableText(f"{before} {value} {after}")
    found = searched.excerpt(value, length=length)
    inner = SearchableText(value)
    for start, end in searched.find(value):
        part = SearchableText(searched.text[start:end])
        assert part.find(value) or not inner.find(value)
    units = len(found.text.encode("utf-16-le")) // 2
    ends = [0]
    for start, end, _ in found.marks:
        assert ends[-1] <= start < end <= units
        ends.append(end)
    assert len(found.text) <= length
    if any(map(str.isalnum, value.strip())) and inner.find(value) == [(0, len(value))]:
        assert searched.find(value)
