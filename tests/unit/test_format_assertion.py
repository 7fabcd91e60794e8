"""The keyword `format`: an annotation by default, checked on request."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft7Validator, Draft202012Validator
from typer.testing import CliRunner

from arbitre import Comparator, SchemaError
from arbitre.cli import app

MAIL = {"type": "object", "properties": {"mail": {"type": "string", "format": "email"}}}
WRONG = {"mail": "nobody"}


def violations(schema, document, **options):
    found = Comparator(schema, **options).compare(gold=document, predicted=document).violations
    return [(one.pointer, one.keyword, one.message) for one in found]


def test_format_is_an_annotation_by_default_and_an_assertion_on_request():
    assert violations(MAIL, WRONG) == []
    assert violations(MAIL, WRONG, format_assertion=True) == [("/mail", "format", "'nobody' is not a 'email'")]
    assert violations(MAIL, {"mail": "a@b.example"}, format_assertion=True) == []


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("date", "2024-02-29", "2023-02-29"),
        ("email", "a@b.example", "a"),
        ("ipv4", "127.0.0.1", "256.0.0.1"),
        ("ipv6", "::1", "::g"),
        ("regex", "[a-z]", "[a"),
        ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08"),
    ],
)
@pytest.mark.parametrize("draft", ["http://json-schema.org/draft-07/schema#", None])
def test_common_formats_are_asserted_without_another_package(name, right, wrong, draft):
    """`uuid` is not in draft 7: it is checked as in 2020-12."""
    schema = {"format": name} | ({} if draft is None else {"$schema": draft})
    assert violations(schema, right, format_assertion=True) == []
    assert [keyword for _, keyword, _ in violations(schema, wrong, format_assertion=True)] == ["format"]
    assert violations(schema, 12, format_assertion=True) == []  # formats are those of texts


def test_format_assertion_changes_no_signature():
    one, other = Comparator(MAIL), Comparator(MAIL, format_assertion=True)
    assert one.signature == other.signature


def test_check_gold_asserts_formats_on_request():
    assert Comparator(MAIL).check_gold([WRONG]).ok
    (finding,) = Comparator(MAIL, format_assertion=True).check_gold([WRONG]).findings
    assert (finding.check, finding.pointer) == ("schema", "/mail")


def test_a_format_whose_package_is_missing_is_refused(monkeypatch):
    for draft in (Draft7Validator, Draft202012Validator):
        monkeypatch.delitem(draft.FORMAT_CHECKER.checkers, "uri", raising=False)
    with pytest.raises(SchemaError, match='The format "uri" cannot be checked: its package is not installed') as caught:
        violations({"format": "uri"}, "x", format_assertion=True)
    assert "pip install 'arbitre[formats]'" in caught.value.hint


@pytest.mark.parametrize(("name", "hint"), [("e-mail", 'Did you mean "email"'), ("invoice", "Available: date, ")])
def test_a_format_that_the_standard_does_not_define_is_refused(name, hint):
    with pytest.raises(SchemaError, match=f'The format "{name}" cannot be checked: JSON Schema does not') as caught:
        violations({"format": name}, "x", format_assertion=True)
    assert hint in caught.value.hint


class TestCommands:
    @pytest.fixture(autouse=True)
    def files(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        for name, value in {"schema": MAIL, "gold": {"mail": "a@b.example"}, "predicted": WRONG}.items():
            Path(f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
        for name, value in {"gold": {"mail": "a@b.example"}, "predicted": WRONG}.items():
            Path(f"{name}.jsonl").write_text(json.dumps({"id": "1"} | value), encoding="utf-8")

    @staticmethod
    def run(*arguments):
        return CliRunner().invoke(app, arguments)

    def test_compare_asserts_formats_on_request(self):
        call = ("compare", "gold.json", "predicted.json", "--schema", "schema.json", "--format", "json")
        assert json.loads(self.run(*call, "--validate").stdout)["violations"] == []
        (one,) = json.loads(self.run(*call, "--validate", "--format-assertion").stdout)["violations"]
        assert (one["pointer"], one["keyword"]) == ("/mail", "format")
        refused = self.run(*call, "--format-assertion")
        assert refused.exit_code == 2
        assert "--format-assertion requires --validate" in refused.output

    def test_evaluate_asserts_formats_on_request(self):
        call = ("evaluate", "--schema", "schema.json", "--gold", "gold.jsonl", "--predicted", "predicted.jsonl")
        call = (*call, "--validate", "--format", "json", "--workers", "1")
        assert json.loads(self.run(*call).stdout)["violations"] == []
        (one,) = json.loads(self.run(*call, "--format-assertion").stdout)["violations"]
        assert (one["id"], one["pointer"], one["keyword"]) == ("1", "/mail", "format")

    def test_schema_check_asserts_formats_on_request(self):
        assert self.run("schema", "check", "schema.json", "predicted.json").exit_code == 0
        result = self.run("schema", "check", "schema.json", "predicted.json", "--format-assertion")
        assert result.exit_code == 1
        assert "'nobody' is not a 'email' (format) at /mail" in result.output
