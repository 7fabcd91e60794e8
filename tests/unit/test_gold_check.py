"""Checks of gold: values under aliases, schema violations, and unreadable documents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arbitre import Comparator, DataError
from arbitre.cli import app

SENT = {"type": "string", "x-arbitre": {"aliases": ["date"]}}
LETTER = {"type": "object", "properties": {"sent": SENT, "to": {"type": "string"}}, "required": ["to"]}
LETTERS = {"type": "array", "items": LETTER}
PAGES = {"type": "integer", "x-arbitre": {"aliases": ["pages", "action/folios"]}}
NESTED = {
    "type": "object",
    "properties": {
        "speeches": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"action": {"type": "object", "properties": {"page": PAGES}}},
            },
        }
    },
}


def found(schema, *documents, **options):
    return [(one.check, one.id, one.pointer) for one in Comparator(schema, **options).check_gold(documents).findings]


@pytest.mark.parametrize(
    ("schema", "document", "pointers"),
    [
        (LETTER, {"to": "x", "sent": "1918"}, []),
        (LETTER, {"to": "x", "date": "1918"}, ["/date"]),
        (LETTER, {"to": "x", "date": "1918", "sent": "1918"}, ["/date"]),
        (LETTER, {"to": "x", "date": None}, []),
        (LETTERS, [{"to": "x"}, {"to": "y", "date": "1918"}], ["/1/date"]),
        ({"prefixItems": [LETTER]}, [{"to": "x", "date": "1918"}, {"date": "1918"}], ["/0/date"]),
        ({"additionalProperties": LETTER}, {"k/1": {"to": "x", "date": "1"}}, ["/k~11/date"]),
        ({"patternProperties": {"^a": LETTER}}, {"ab": {"to": "x", "date": "1"}, "b": {"date": "1"}}, ["/ab/date"]),
        ({"anyOf": [LETTER, {"type": "null"}]}, {"to": "x", "date": "1"}, ["/date"]),
        ({"type": "object", "properties": {"one": LETTER}}, {"date": "1", "one": {"to": "x"}}, ["/date"]),
        (NESTED, {"speeches": [{"action": {"page": 1}}]}, []),
        (
            NESTED,
            {"speeches": [{"pages": 1, "action": {"pages": 2, "folios": 3}}, {"folios": 4}]},
            ["/speeches/0/action/folios", "/speeches/0/action/pages", "/speeches/0/pages"],
        ),
        (
            {
                "$ref": "#/$defs/tree",
                "$defs": {
                    "tree": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string", "x-arbitre": {"aliases": ["title"]}},
                            "parts": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
                        },
                    }
                },
            },
            {"name": "a", "parts": [{"name": "b", "parts": [{"title": "c"}]}]},
            ["/parts/0/parts/0/title"],
        ),
    ],
)
def test_gold_values_under_an_alias_are_found(schema, document, pointers):
    assert found(schema, document) == [("alias", "0", one) for one in pointers]


def test_aliases_of_an_overlay_are_checked_and_ignored_fields_are_not():
    plain = {"type": "object", "properties": {"sent": {"type": "string"}, "note": LETTER}}
    overlay = {"/sent": {"aliases": ["date"]}, "/note": {"ignore": True}}
    assert found(plain, {"date": "1", "note": {"to": "x", "date": "1"}}, overlay=overlay) == [("alias", "0", "/date")]


def test_the_certificate_assumes_no_gold_under_an_alias():
    """Such a document is not at distance 0 from itself, and is the only kind of which the certificate does not speak."""
    comparator = Comparator(LETTER)
    assert ("/sent", "gold has no value under the alias /date") in [
        (one.path, one.condition) for one in comparator.certificate.assumes
    ]
    for document in ({"to": "x", "date": "1"}, {"to": "x", "sent": "1"}):
        equal = comparator.compare(gold=document, predicted=document).quality == 1.0
        assert equal is comparator.check_gold([document]).ok


def test_a_schema_without_aliases_assumes_nothing_of_them():
    assert Comparator({"type": "object", "properties": {"to": {"type": "string"}}}).certificate.assumes == ()


def test_schema_violations_and_values_that_are_not_json_are_found():
    assert found(LETTERS, [{"to": 1}], [{"sent": "1"}, {"to": "x"}]) == [
        ("schema", "0", "/0/to"),
        ("schema", "1", "/0"),
    ]
    assert found(LETTER, ("a", {"to": float("nan")}), ("b", {"to": "x"})) == [("unreadable", "a", "/to")]


def test_a_finding_has_advice():
    (one,) = Comparator(LETTERS).check_gold([("page_1", [{"to": "x", "date": "1"}])]).findings
    assert str(one) == (
        "page_1: Gold has a value under an alias of /0/sent at /0/date\n"
        "  Move it to /0/sent. Aliases are read in predictions only."
    )


def test_a_tuple_of_another_length_is_an_error():
    with pytest.raises(DataError, match=r"Expected \(id, document\) pairs, got a tuple of length 3"):
        Comparator({"type": "object"}).check_gold([("a", {}, {})])


def test_a_single_object_instead_of_a_list_is_refused():
    with pytest.raises(DataError, match="Put it in a list"):
        Comparator(LETTER).check_gold({"to": "x"})


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("schema.json").write_text(json.dumps(LETTER), encoding="utf-8")
    Path("gold").mkdir()
    Path("gold/a.json").write_text('{"to": "x", "date": "1918"}', encoding="utf-8")
    Path("gold/b.json").write_text('{"to": "x", "sent": "1918"}', encoding="utf-8")
    lines = ['{"id": "c", "to": "x"}', '{"id": "d", "to": 2, "date": "1"}', '{"id": "e", "to": NaN}']
    Path("gold.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with gzip.open("packed.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(lines[0])
    Path("array.json").write_text('[{"id": "f", "to": "x", "date": "1"}]', encoding="utf-8")


def check(*options, code):
    result = CliRunner().invoke(app, ["schema", "check", "schema.json", *options])
    assert result.exit_code == code, result.output
    return result.stdout


@pytest.mark.usefixtures("files")
def test_the_command_names_file_line_document_and_pointer():
    assert check("--gold", "gold", "--gold", "gold.jsonl", code=2).splitlines()[1:] == [
        "gold/a.json: Gold has a value under an alias of /sent in document 'a' at /date",
        "  Move it to /sent. Aliases are read in predictions only.",
        "gold.jsonl:2: 2 is not of type 'string' (type) in document 'd' at /to",
        "gold.jsonl:2: Gold has a value under an alias of /sent in document 'd' at /date",
        "  Move it to /sent. Aliases are read in predictions only.",
        "gold.jsonl:3: Expected a finite number, got NaN in document 'e' at /to",
        "warning: Fewer than 15 gold values at /sent, /to",
        "5 gold documents, 4 problems, 2 warnings",
    ]


@pytest.mark.usefixtures("files")
def test_clean_gold_passes_from_every_kind_of_file():
    assert check("--gold", "gold/b.json", "--gold", "packed.jsonl.gz", code=0).endswith(
        "2 gold documents, 0 problems, 2 warnings\n"
    )
    assert check("--gold", "gold/b*.json", code=0).endswith("\n1 gold document, 0 problems, 2 warnings\n")
    assert check("--gold", "array.json", code=2).endswith("1 gold document, 1 problem, 2 warnings\n")


@pytest.mark.usefixtures("files")
def test_the_json_lists_the_findings():
    plain = json.loads(check("--gold", "gold", "--format", "json", code=2))
    assert plain["gold"] == {
        "documents": 2,
        "findings": [
            {
                "check": "alias",
                "id": "a",
                "file": "gold/a.json",
                "line": None,
                "pointer": "/date",
                "message": "Gold has a value under an alias of /sent",
                "hint": "Move it to /sent. Aliases are read in predictions only.",
            }
        ],
        "warnings": [
            {
                "check": "few",
                "id": None,
                "file": None,
                "line": None,
                "pointer": pointer,
                "message": f"Fewer than 15 gold values ({count})",
                "hint": None,
            }
            for pointer, count in (("/sent", 1), ("/to", 2))
        ],
    }
    assert plain["gold"] == Comparator(LETTER).check_gold("gold").to_dict()
    assert "gold" not in json.loads(check("--format", "json", code=0))


@pytest.mark.usefixtures("files")
def test_the_exit_code_tells_violations_from_gold_problems():
    """1 where documents violate the schema, 2 where gold has a problem, 2 where both are so."""
    check("array.json", code=0)
    Path("bad.json").write_text('{"to": 1}', encoding="utf-8")
    check("bad.json", "--gold", "gold/b.json", code=1)
    check("bad.json", "--gold", "gold/a.json", code=2)
    check("--gold", "no.json", code=2)
