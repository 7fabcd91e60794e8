"""The default distances of strings with a format, and decimal numbers as texts."""

import pytest

from arbitre import Comparator

DECIMAL = {"type": "string", "format": "decimal"}
PATTERN = {"type": "string", "pattern": r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"}


def quality(schema, gold, predicted):
    comparator = Comparator({"type": "object", "properties": {"x": schema}})
    return comparator.compare(gold={"x": gold}, predicted={"x": predicted}).quality


@pytest.mark.parametrize(
    ("form", "gold", "predicted", "expected"),
    [
        ("duration", "PT1H", "PT60M", 1),
        ("duration", "PT1H", "PT1H30M", 2 / 3),
        ("duration", "P1D", "-P1D", 0),
        ("duration", "PT1H", "an hour", 0),
        ("time", "12:00", "12:00:00Z", 1),
        ("time", "23:00", "02:00", 0.75),
        ("time", "10:00+02:00", "08:00", 1),
        ("uuid", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "6ba7b8109dad11d180b400c04fd430c8", 1),
        ("uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6ba7b810-9dad-11d1-80b4-00c04fd430c9", 0),
        ("uri", "http://example.org", "HTTP://EXAMPLE.org:80/", 1),
        ("uri", "http://a.org/b", "http://a.org/c", 1 - 2 / 29),
        ("email", "a@b.org", "A@B.org", 1 - 4 / 16),
    ],
)
def test_a_format_has_the_distance_of_its_kind(form, gold, predicted, expected):
    assert quality({"type": "string", "format": form}, gold, predicted) == pytest.approx(expected)


@pytest.mark.parametrize("text", [DECIMAL, PATTERN], ids=["format", "pattern"])
@pytest.mark.parametrize("union", [False, True])
def test_a_decimal_text_is_compared_as_a_number(text, union):
    schema = {"anyOf": [{"type": "number"}, text, {"type": "null"}]} if union else text
    assert [quality(schema, *pair) for pair in [("1.50", "1.5"), ("2", "1"), ("1000", "1E+3"), ("x", "1")]] == [
        1,
        0.5,
        1,
        0,
    ]
    assert quality(schema, "1.50", 1.5) == 1
    certificate = Comparator(schema).certificate
    assert certificate.verdict == "metric"
    assert [one.by for one in certificate.identifies if one.path == "" and one.by != "absent"] == ["decimal"]


def test_a_decimal_takes_a_distance_for_numbers_and_stays_a_text_for_one_for_texts():
    schema = {"anyOf": [{"type": "number"}, DECIMAL]}
    assert quality(schema | {"x-arbitre": {"distance": {"absolute": {"scale": 2}}}}, "1.0", "2.0") == 0.5
    assert quality(schema | {"x-arbitre": {"distance": "levenshtein"}}, "1.50", "1.5") == 0.75
    assert quality(schema | {"x-arbitre": {"normalize": []}}, "1.50", 1.5) == 0


def test_a_number_beside_a_free_text_is_not_a_decimal():
    assert quality({"anyOf": [{"type": "number"}, DECIMAL, {"type": "string"}]}, "1.50", 1.5) == 0


def test_the_format_decimal_can_be_asserted():
    comparator = Comparator(DECIMAL, format_assertion=True)
    assert not comparator.compare(gold="1", predicted="1.5e3").violations
    assert len(comparator.compare(gold="1", predicted="1,5").violations) == 1
