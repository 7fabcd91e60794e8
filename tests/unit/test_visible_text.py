"""Texts of values: different values never look equal."""

from __future__ import annotations

from itertools import combinations

import pytest
from tests.unit.test_worst_documents import WORDS, document

from arbitre.report.document_tree import LITERAL, shown, spelled
from arbitre.report.render import _brief

DEEP = [[[[[[[[[[[[[["end"]]]]]]]]]]]]]]
VALUES = [403, "403", '"403"', 1.5, "1.5", True, "true", None, "null", 2**60, str(2**60), [1], "[1]", {}, "{}", "Ada",
          DEEP, str(DEEP).replace("'", '"'), f"{LITERAL}403", "NaN", " 403", "[" * 100_000]  # fmt: skip


def test_different_values_have_different_texts():
    texts = [spelled(shown(value)) for value in VALUES]
    assert [(a, b) for a, b in combinations(texts, 2) if a == b] == []


@pytest.mark.parametrize(
    ("gold", "predicted", "texts"),
    [
        ("403", 403, ['"403"', "403"]),
        ("Ada", {"name": "Ada"}, ["Ada", '{"name":"Ada"}']),
        ({"name": "Ada", "born": 1}, {"name": "Ada", "born": 2}, ["Ada"]),
        ({"name": "Ada"}, {"name": "Ida"}, ["Ada", "Ida"]),
    ],
)
def test_a_pair_is_named_by_both_values_unless_they_have_one_name(gold, predicted, texts):
    assert _brief({"gold": gold, "predicted": predicted}) == texts


def test_an_integer_that_a_browser_cannot_hold_differs_from_its_text():
    (row,) = document(WORDS, [str(2**60)], [2**60])["rows"]
    assert row["entry"]["gold"] != row["entry"]["predicted"]
