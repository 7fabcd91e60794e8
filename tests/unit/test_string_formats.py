"""Default distances of strings with a `format`, and decimal numbers written as texts."""

from decimal import Decimal
from typing import Annotated

import pytest
from pydantic import BaseModel

from arbitre import Comparator, Field

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
        ("uri", "http://a.org/b", "http://a.org/c", 0),
        ("iri", "http://a.org/é", "http://a.org/e\u0301", 1),
        ("email", "a@b.org", "a@B.org", 1),
        ("email", "a@b.org", "A@b.org", 0),
        ("iban", "GB33 BUKB 2020 1555 5555 55", "gb33bukb20201555555555", 1),
        ("iban", "GB33 BUKB 2020 1555 5555 55", "GB33 BUKB 2020 1555 5555 56", 0),
        ("isbn", "ISBN 0-306-40615-2", "978 0 306 40615 7", 1),
        ("isbn", "0-8044-2957-X", "080442957x", 1),
        ("isbn", "0-306-40615-3", "978-0-306-40615-7", 0),
        ("doi", "https://doi.org/10.1000/ABC", "doi:10.1000/abc", 1),
        ("doi", "10.1000/abc", "10.1000/abd", 0),
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
    assert [one.by for one in certificate.identifies if one.path == "" and one.by != "absent"] == ["nfc", "decimal"]


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


def test_amounts_of_a_decimal_field_are_read_and_correct_decimals_stay_correct():
    class Invoice(BaseModel):
        total: Annotated[Decimal, Field(normalize=["amount"])]

    comparator = Comparator(Invoice)
    read = [
        ("1234.50", "1.234,50 €"),
        ("1234.50", "1234.5"),
        ("1000", "1E+3"),
        ("-1234.50", "(1,234.50)"),
        (1234.5, "1 234,50"),
    ]
    for gold, predicted in read:
        assert comparator.compare(gold={"total": gold}, predicted={"total": predicted}).quality == 1.0
    assert comparator.compare(gold={"total": "1.234"}, predicted={"total": "1234"}).quality < 0.01
    assert comparator.compare(gold={"total": "12"}, predicted={"total": "1,234"}).quality == 0.0  # not readable
