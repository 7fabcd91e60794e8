"""The search for predicted values in the text given to the model."""

import pytest

from arbitre.diagnosis.evidence import SourceText, search_key, searchable_values

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


def test_an_empty_source_contains_nothing():
    assert 2 not in SourceText("")
    assert "a" not in SourceText("")


def test_only_texts_and_numbers_are_searched():
    value = {"a/b": ["x", "…", None, True, 2, {}, []], "c": {"d": 1.5}}
    assert list(searchable_values("/*", value)) == [("/*/a~1b/*", "x"), ("/*/a~1b/*", 2), ("/*/c/d", 1.5)]


def test_keys_of_texts_and_numbers_differ():
    assert search_key("2") != search_key(2)
    assert search_key(10**30) != search_key(10**30 + 1)
