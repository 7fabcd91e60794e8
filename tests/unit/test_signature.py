"""The signature of a measurement: its formats, and the settings that change it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre import Comparator, Signature

SIGNATURE = Signature.of({"close": "0.9", "/b|c": "exact", "/a": "weight 2: yes\n100%"}, "1.2.3")


def test_the_long_form_is_sorted_escaped_and_ends_with_the_version():
    assert SIGNATURE.long == "/a:weight 2%3A yes%0A100%25|/b%7Cc:exact|close:0.9|version:1.2.3"
    assert str(SIGNATURE) == SIGNATURE.long


def test_the_short_form_ends_with_a_digest():
    assert SIGNATURE.short == "e226930e164a|version:1.2.3"


@pytest.mark.slow
@given(st.dictionaries(st.text(), st.text()))
def test_every_form_survives_a_round_trip(entries):
    signature = Signature.of(entries, "0.1.0")
    assert Signature.parse(signature.long) == signature
    assert Signature.from_dict(signature.to_dict()) == signature


def test_the_order_of_the_parts_does_not_matter():
    assert (
        Signature.parse("b:2|a:1|version:1")
        == Signature.parse("a:1|b:2|version:1")
        == Signature.of({"b": "2", "a": "1"}, "1")
    )


@pytest.mark.parametrize("text", ["", "a", "a:1", "version:1|a:1", "a|version:1"])
def test_a_text_that_is_not_a_signature_is_refused(text):
    with pytest.raises(ValueError, match="the version last"):
        Signature.parse(text)


def schema(items=None, **options):
    item = {"type": "object", "properties": {"a": {"type": "string"} | (items or {}), "b": {"type": "number"}}}
    return {"type": "object", "properties": {"e": {"type": "array", "items": item} | options}}


def x(**options):
    return {"x-arbitre": options}


OTHERS = [
    schema(x(distance="levenshtein")),
    schema(x(distance={"ratcliff-obershelp": {"autojunk": True}})),
    schema(x(distance="ratcliff-obershelp")),
    schema(x(normalize=["strip"])),
    schema(x(normalize=["lower"])),
    schema(x(normalize=["strip", "lower"])),
    schema(x(normalize=["lower", "strip"])),
    schema(x(weight=2)),
    schema(x(weight=2.0000000000000004)),
    schema(x(ignore=True)),
    schema(x(absent=[None, ""])),
    schema(x(aliases=["c"])),
    schema({"type": "number"}),
    schema({"format": "date"}),
    schema({"enum": ["u", "v"]}),
    schema(**x(match="greedy")),
    schema(**x(match={"hungarian": {"gate": 0.5}})),
    schema(**x(match={"hungarian": {"gate": 0.6}})),
    schema(**x(match={"keyed": {"key": "a"}})),
    schema(**x(match={"keyed": {"key": ["a", "b"]}})),
    schema(**x(absent=[])),
    schema(**x(distance="jaccard")),
    schema(**x(entries=False)),
]


def test_every_setting_that_affects_scores_changes_the_signature():
    signatures = [Comparator(one).signature for one in (schema(), *OTHERS)]
    assert len({signature.long for signature in signatures}) == len(signatures)
    assert len({signature.short for signature in signatures}) == len(signatures)


@pytest.mark.parametrize(
    "other",
    [
        schema(x(distance="yujian-bo")),
        schema(x(weight=1)),
        schema(x(absent=[None])),
        schema(x(normalize=[])),
        schema({"description": "A name.", "minLength": 3, "title": "a"}),
        schema(**x(match="hungarian")),
        schema(**x(entries=True)),
    ],
    ids=lambda value: str(value)[60:],
)
def test_an_explicit_default_keeps_the_signature(other):
    assert Comparator(other).signature == Comparator(schema()).signature


def test_keys_of_any_text_have_a_digest():
    signature = Comparator({"properties": {"\ud800": {"type": "string", **x(weight=2)}}}).signature
    assert signature.to_dict()["short"] == signature.short
