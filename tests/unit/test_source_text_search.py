"""The search for predicted values in the text given to the model."""

import random

import pytest

from arbitre.diagnosis.evidence import search_key, searchable_values
from arbitre.inputs.source_search import PlacedText, SourceText

PAGE = """Bourgeois (Général). — Parle: discuss. d'une
proposition de loi, p. 296. — = discuss.
d'un projet de loi portant ouverture de cré-
dits, p. 402,403. Crédits: 1 204 500 francs et 12,50 francs, A77."""


@pytest.mark.parametrize(
    "value",
    [
        "bourgeois, général",
        "GÉNÉRAL",
        "ouverture de crédits",
        "ouverture\u00a0de  cré-dits",
        "proposition de lol",  # 10 characters or more, one of which differs
        "296",
        296,
        296.0,
        402,
        403,
        1204500,
        12.5,
        -296,
    ],
)
def test_values_are_found_whatever_their_notation(value):
    assert value in SourceText(PAGE)


@pytest.mark.parametrize("value", ["Général Joffre", "loi de finances", "Bourge", "29", 29, 96, 77, 2.5, 1204501, 12.6])
def test_other_values_and_parts_of_words_and_numbers_are_not_found(value):
    assert value not in SourceText(PAGE)


def test_short_texts_have_no_tolerance_and_long_ones_one_error_in_ten_characters():
    assert "Poincari" not in SourceText("Poincaré")
    assert "Clémenceau" in SourceText("M. Clemenceau, p. 3")
    assert "Clémenteau" not in SourceText("M. Clemenceau, p. 3")


def test_a_text_longer_than_the_source_is_not_found():
    assert "Bourgeois, ministre de la guerre" not in SourceText("Bourgeois")


NOTATIONS = [
    ("en 1914-1918.", [1914, 1918, "1914", "1918", "1914-1918"], [19141918, "19141918"]),
    ("p. 394-395, 12\u2010\n13", [394, 395, 12, 13], [394395, 1213, "1213"]),
    ("ligne Paris-Lyon", ["Paris", "Lyon", "Paris-Lyon", "Paris Lyon"], ["Par"]),
    ("Jean-Paul, Saint\u2011Jean", ["Jean Paul", "Jeanpaul", "Jean", "Saint-Jean"], ["Saint Paul"]),
    ("Barthe- Louis", ["Barthe", "Louis", "Barthe Louis"], ["Bart"]),
    ("exploi- tation", ["exploitation"], ["tation exploi"]),
    ("hyphen-\nated", ["hyphenated", "hyphen-ated"], ["hyphen", "ated"]),
    ("hyphen\u00ad\n ated BAR-\r\nTHOU", ["hyphenated", "Barthou"], ["ated", "thou"]),
    ("Paris-\nLyon", ["Paris", "Lyon", "Paris-Lyon", "Paris Lyon"], ["aris"]),
    ("rising-\nfalling", ["rising-falling"], ["falling"]),
    ("le 1871/03/18", ["1871-03-18", "1871.03.18"], ["18710318", 18710318]),
    ("payé 1,204.50 fr.", [1204.5], [1.204, 120450, 204.5]),
    ("payé 1.204,50 fr.", [1204.5], [1.204, 120450]),
    ("payé 1 204,50 et 1\u202f234\u202f567,8 fr.", [1204.5, 1234567.8], [1204, 120450]),
    ("payé 1’204.50 fr.", [1204.5], [1204.05]),
    ("Barthou¹ parla en 1871² à Paris³⁴.", ["Barthou", 1871, "1871", "Paris"], [18712, "18712", "Barth"]),
    ("3½ francs, 5¾", [3, 5, "3", "francs"], [31, 53, "31"]),
    ("m², H₂O, 1ᵉʳ", ["m2", "m²", "H2O", "1er"], ["H"]),
    ("हिन्दी", ["हिन्दी"], ["ह", "द"]),
]


@pytest.mark.parametrize(("page", "present", "absent"), NOTATIONS)
def test_the_place_of_a_value_is_known_if_and_only_if_it_is_in_the_source(page, present, absent):
    text, placed = SourceText(page), PlacedText(page)
    assert [value for value in present if value not in text] == []
    assert [value for value in present if not placed.find(value, nearly=True)] == []
    assert [value for value in absent if value in text] == []
    assert [value for value in absent if placed.find(value, nearly=True)] == []


def test_the_whole_notation_of_a_value_is_its_place():
    page = "Barthou¹ paya 1.204,50 fr. pour la ligne Pa-\nris-Lyon\u00ad\nnais en 1871²."
    placed = PlacedText(page)
    values = ["Barthou", 1204.5, "Paris-Lyonnais", "Lyonnais", 1871, 2]
    parts = ["Barthou", "1.204,50", "Pa-\nris-Lyon\u00ad\nnais", "Lyon\u00ad\nnais", "1871", "²"]
    assert [[page[start:end] for start, end in placed.find(value)] for value in values] == [[part] for part in parts]


def test_both_searches_agree_on_random_pages():
    draw = random.Random(5)  # noqa: S311
    words = ["lo", "ré", "Ba", "THOU", "1", "204", "1871", "12", "²", "½", "e\u0301"]
    pieces = [*words, *"---\u00ad\u2011\u2013.,'_ \n"]
    for _ in range(2000):
        page = "".join(draw.choices(pieces, k=draw.randint(1, 20)))
        value = "".join(draw.choices(pieces, k=draw.randint(1, 4)))
        text, placed = SourceText(page), PlacedText(page)
        for one in (value, 1, 204, 1204, 1871, 1.204, 1204.12):
            assert (one in text) == bool(placed.find(one, nearly=True)), (page, one)


def test_an_empty_source_contains_nothing():
    assert 2 not in SourceText("")
    assert "a" not in SourceText("")


def test_only_texts_and_numbers_are_searched():
    value = {"a/b": ["x", "…", None, True, 2, {}, []], "c": {"d": 1.5}}
    assert list(searchable_values("/*", value)) == [("/*/a~1b/*", "x"), ("/*/a~1b/*", 2), ("/*/c/d", 1.5)]


def test_keys_of_texts_and_numbers_differ():
    assert search_key("2") != search_key(2)
    assert search_key(10**30) != search_key(10**30 + 1)
