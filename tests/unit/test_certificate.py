"""The certificate of a schema: its verdict, its reasons, the values treated as equal, and its assumptions."""

from __future__ import annotations

import json

import pytest

from arbitre import Comparator
from arbitre.distances import Facts, catalogue

WORD = {"type": "string"}
WORDS = {"type": "array", "items": WORD}


def annotated(schema, **settings):
    return schema | {"x-arbitre": settings}


def certificate(schema, **options):
    return Comparator(schema, **options).certificate


def identified(schema, **options):
    return [(one.path, one.by, one.values) for one in certificate(schema, **options).identifies]


NFC = ("", "nfc", "texts that differ in how a letter and its marks are encoded")
NULL = ("", "absent", "null and a missing value")


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (WORD, []),
        (WORDS, [("", "hungarian", "lists with the same items in a different order")]),
        (annotated(WORDS, match="ordered"), []),
        (annotated(WORDS, match="sequence"), []),
        (
            annotated(WORDS, match="set"),
            [("", "set", "lists with the same items in a different order, or with repeated items")],
        ),
        (
            annotated(WORD, normalize=["strip", "casefold"]),
            [
                ("", "strip", "texts that differ in white space at the ends"),
                ("", "casefold", "texts that differ in case (and ß and ss)"),
            ],
        ),
        ({"type": "string", "format": "date"}, [("", "date", "different notations of the same date")]),
        (
            {"type": "object", "properties": {"b": annotated(WORD, ignore=True), "a": annotated(WORD, ignore=True)}},
            [("/a", "ignore", "all values, and a missing field"), ("/b", "ignore", "all values, and a missing field")],
        ),
        (
            {"type": "object", "properties": {"day": annotated(WORD, aliases=["date", "when/day"])}},
            [("/day", "aliases", "the field under /date or /when/day in a prediction")],
        ),
    ],
)
def test_the_certificate_lists_values_it_does_not_separate(schema, expected):
    assert identified(schema) == [NFC, NULL, *expected]


def test_absence_is_listed_where_it_changes():
    schema = {
        "type": "object",
        "properties": {
            "same": {"type": "object", "properties": {"a": WORD}},
            "more": annotated({"type": "object", "properties": {"a": WORD}}, absent=[None, ""]),
            "none": annotated(WORD, absent=[]),
        },
    }
    assert identified(schema) == [
        NFC,
        NULL,
        ("/more", "absent", 'null, "" and a missing value'),
        ("/none", "absent", "nothing: null counts as a value"),
    ]
    assert identified(annotated(schema, absent=[]))[1] == ("", "absent", "nothing: null counts as a value")


@pytest.mark.parametrize(
    ("schema", "pair"),
    [
        (annotated(WORD, normalize="casefold"), ("Ada", "ADA")),
        (WORDS, (["a", "b"], ["b", "a"])),
        (annotated(WORDS, match="set"), (["a", "b"], ["a", "b", "a"])),
        ({"type": "string", "format": "date"}, ("1931-03-01", "1931-03-01T00:00:00")),
        ({"type": "object", "properties": {"a": WORD}}, ({"a": None}, {})),
        ({"type": "object", "properties": {"a": annotated(WORD, ignore=True)}}, ({"a": "x"}, {})),
        ({"type": "object", "properties": {"a": annotated(WORD, aliases=["b"])}}, ({"a": "x"}, {"b": "x"})),
    ],
)
def test_values_that_are_identified_are_equal(schema, pair):
    gold, predicted = pair
    assert Comparator(schema).compare(gold=gold, predicted=predicted).quality == 1.0


def test_a_recursive_schema_is_listed_once():
    schema = {"$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}, "$ref": "#/$defs/tree"}
    assert identified(schema) == [NFC, NULL, ("", "hungarian", "lists with the same items in a different order")]


def test_the_certificate_assumes_that_items_have_their_key():
    schema = annotated({"type": "array", "items": {"type": "object"}}, match={"keyed": {"key": ["id", "/a/b"]}})
    found = certificate(schema)
    assert found.verdict == "metric"
    assert [(one.path, one.condition) for one in found.assumes] == [
        ("", "every item has its key /id and /a/b (an item without it has distance 1 to itself)")
    ]
    assert Comparator(schema).compare(gold=[{"c": 1}], predicted=[{"c": 1}]).quality == 0.0


@pytest.mark.parametrize(
    ("name", "verdict", "witnesses"),
    [
        ("levenshtein", "not a metric", 3),
        ("ratcliff-obershelp", "not a metric", 2),
        ("jaccard-ngrams", "pseudo-metric", 2),
    ],
)
def test_a_break_has_documents_that_show_it(name, verdict, witnesses):
    people = {"type": "array", "items": {"type": "object", "properties": {"name": annotated(WORD, distance=name)}}}
    comparator = Comparator(people)
    assert comparator.certificate.verdict == verdict
    (one,) = comparator.certificate.breaks
    documents = one.witness
    assert len(documents) == witnesses
    assert documents == tuple([{"name": value}] for value in one.shown.values)
    table = [[1 - comparator.compare(gold=x, predicted=y).quality for y in documents] for x in documents]
    if one.fact == "triangle":
        assert table[0][2] > table[0][1] + table[1][2]
    elif one.fact == "symmetric":
        assert table[0][1] != table[1][0]
    else:
        assert table[0][1] == 0.0


def test_a_witness_shows_the_fact_of_its_break():
    (one,) = certificate(
        annotated({"type": "array"}, distance="dice")
    ).breaks  # its facts show that it does not separate
    assert (one.reason, one.fact) == ("dice violates the triangle inequality", "triangle")
    assert len(one.witness) == 3


def test_a_custom_distance_is_not_called_for_a_witness():
    def never(gold, predicted):
        raise AssertionError((gold, predicted))

    own = catalogue.with_distance("own", never, Facts(triangle=False))
    (one,) = certificate(annotated(WORD, distance="own"), distances=own).breaks
    assert one.witness is None


def test_a_certificate_is_written_as_plain_json():
    schema = {"type": "object", "properties": {"name": annotated(WORD, distance="levenshtein", normalize="strip")}}
    found = certificate(schema).to_dict()
    assert json.loads(json.dumps(found)) == found
    assert found == {
        "verdict": "not a metric",
        "breaks": [
            {
                "path": "/name",
                "reason": "levenshtein violates the triangle inequality",
                "remedy": "yujian-bo",
                "witness": [{"name": "ab"}, {"name": "aba"}, {"name": "ba"}],
                "values": ["ab", "aba", "ba"],
            }
        ],
        "identifies": [
            {"path": "", "by": "nfc", "values": NFC[2]},
            {"path": "", "by": "absent", "values": "null and a missing value"},
            {"path": "/name", "by": "strip", "values": "texts that differ in white space at the ends"},
        ],
        "assumes": [],
    }


def test_an_override_is_certified():
    people = {"type": "array", "items": {"type": "object", "properties": {"name": WORD}}}
    assert certificate(people).verdict == "metric"
    assert [one.path for one in certificate(people, distance="levenshtein").breaks] == ["/*/name"]
    assert certificate(people, match="transport").verdict == "pseudo-metric"
    assert certificate(people, match={"transport": {"solver": "dummy"}}).verdict == "not a metric"


def test_transport_with_items_compared_by_position_is_not_symmetric():
    number = {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 1}}}}
    schema = {"type": "array", "prefixItems": [number], "items": number, "x-arbitre": {"match": "transport"}}
    comparator = Comparator(schema)
    assert comparator.certificate.verdict == "not a metric"
    assert [one.reason for one in comparator.certificate.breaks] == [
        "transport with the solver exact is not symmetric in combination with `prefixItems`"
    ]
    there, back = ([1, 0], [0, 0, 0.5, 0.5]), ([0, 0, 0.5, 0.5], [1, 0])
    qualities = [comparator.compare(gold=gold, predicted=predicted).quality for gold, predicted in (there, back)]
    assert qualities == [pytest.approx(1 / 3), pytest.approx(1 / 2)]
