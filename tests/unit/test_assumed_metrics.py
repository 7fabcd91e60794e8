"""Distances that are metrics only on the values that the schema allows: certified under that assumption."""

from __future__ import annotations

import pytest

from arbitre import Comparator
from arbitre.distances import Facts, catalogue

LISTED, WHOLE = "every value is in the enum", "every number is an integer"


def said(schema, distance, **settings):
    return schema | {"x-arbitre": {"distance": distance, **settings}}


@pytest.mark.parametrize(
    ("schema", "verdict", "assumed"),
    [
        (said({"type": "integer"}, {"tolerance": {"within": 0.5}}), "metric", WHOLE),
        (said({"type": ["integer", "null"]}, {"tolerance": {"within": 0.5}}), "metric", WHOLE),
        (said({"type": "integer"}, {"tolerance": {"within": 1}}), "not a metric", None),
        (said({"type": "number"}, {"tolerance": {"within": 0.5}}), "not a metric", None),
        (said({"type": "integer"}, {"rounded": {"grid": 1}}), "metric", WHOLE),
        (said({"type": "integer"}, {"rounded": {"grid": 1.5}}), "pseudo-metric", None),
        (said({"enum": ["aba", "ab"]}, "levenshtein"), "metric", LISTED),
        (said({"enum": ["aba", "ab", "ba"]}, "levenshtein"), "not a metric", None),
        (said({"enum": ["aa", "ab", "bb"]}, "levenshtein"), "metric", LISTED),
        (said({"enum": ["tide", "diet"]}, "ratcliff-obershelp"), "not a metric", None),
        (said({"enum": ["a b", "b a"]}, "token-sort"), "pseudo-metric", None),
        (said({"enum": ["ab", "AB", "aba", "ABA"]}, "levenshtein", normalize=["lower"]), "metric", LISTED),
        (said({"enum": [1, 2, 12]}, {"cycle": {"period": 12}}), "metric", LISTED),
        (said({"enum": [0, 12]}, {"cycle": {"period": 12}}), "pseudo-metric", None),
    ],
)
def test_the_values_a_schema_allows_decide_the_certificate(schema, verdict, assumed):
    comparator = Comparator({"type": "array", "items": schema})
    assert comparator.certificate.verdict == verdict
    assert [(one.path, one.condition) for one in comparator.certificate.assumes] == [("/*", assumed)] * bool(assumed)


def test_optimisations_do_not_rely_on_the_declared_values():
    comparator = Comparator({"type": "array", "items": said({"enum": ["aba", "ab"]}, "levenshtein")})
    assert comparator.certificate.verdict == "metric"
    gold, predicted = ["aba", "ab"] * 32, ["aba", "ba"] * 32  # not valid: but compared
    scores = [
        comparator.compare(gold=gold, predicted=predicted, exhaustive=exhaustive).quality
        for exhaustive in (False, True)
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)


def test_sites_with_equal_settings_are_certified_separately():
    text = said({"type": "string"}, "levenshtein")
    listed = said({"type": "string", "enum": ["a", "b"]}, "levenshtein")
    for names in (("a", "b"), ("b", "a")):
        schema = {"type": "object", "properties": dict(zip(names, (text, listed), strict=True))}
        certificate = Comparator(schema).certificate
        assert [one.path for one in certificate.breaks] == [f"/{names[0]}"]
        assert [one.path for one in certificate.assumes] == [f"/{names[1]}"]
    plain = {"type": "object", "properties": {"a": text, "b": text}}
    both = {"type": "object", "properties": {"a": text, "b": listed}}
    assert Comparator(plain).signature == Comparator(both).signature


def test_declared_facts_of_a_custom_distance_are_trusted():
    def never(gold, predicted):
        raise AssertionError((gold, predicted))

    own = catalogue.with_distance("own", never, Facts(triangle=False))
    assert Comparator(said({"enum": ["a", "b"]}, "own"), distances=own).certificate.verdict == "metric"
    assert Comparator(said({"enum": ["a", "b", "c"]}, "own"), distances=own).certificate.verdict == "not a metric"
