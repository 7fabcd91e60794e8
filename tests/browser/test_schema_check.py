"""Values that people type are checked in the browser as the command checks them."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from arbitre.language import Language, Translator
from arbitre.report.document_tree import shown_schema

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

PAGE = files("arbitre.report").joinpath("page", "shared")
USED = ("page", "text", "schema_check", "decisions")
PERSON = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "born": {"type": ["string", "null"], "format": "date"},
        "pages": {"type": "array", "items": {"type": "integer", "minimum": 1}},
    },
}
LARGE = 2**53 + 1
UNION = {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]}


@pytest.fixture
def script(visit, tmp_path):
    """Evaluates a call of the functions of the page."""

    def opened(language=Language.EN):
        data = {"language": language.value, "strings": Translator(language).catalogue, "glyphs": {}}
        code = "".join(PAGE.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in USED)
        names = "problemOf, typed, untyped, members, linesById, exact, text, isSame"
        (tmp_path / "report.html").write_text(
            f'<!doctype html><meta charset="utf-8"><script type="application/json" id="arbitre-data">{json.dumps(data)}'
            f'</script><script type="module">{code}Object.assign(globalThis, {{ {names} }});</script>',
            encoding="utf-8",
        )
        page = visit(tmp_path / "report.html")
        return lambda call, *values: page.evaluate(f"(values) => ({call})(...values)", list(values))

    return opened


MESSAGES = [
    ({}, '"Ada"', None),
    ({}, "[1,", "Not valid JSON. Put a text that looks like JSON in double quotes."),
    (None, "1", None),
    ({"type": "string"}, "403", "Expected a text, got a whole number."),
    ({"type": ["integer", "null"]}, '"x"', "Expected a whole number or null, got a text."),
    ({"type": "integer"}, "1.0", None),
    ({"type": "number"}, "true", "Expected a number, got a boolean."),
    ({"enum": ["left", "right"]}, '"center"', 'Not one of the allowed values: "left", "right".'),
    ({"enum": list(range(20))}, "99", "Not one of the allowed values: 0, 1, 2, 3, 4, 5, 6, 7, …."),
    ({"enum": [{"a": 1, "b": 2}]}, '{"b": 2, "a": 1}', None),
    ({"const": 1}, "2", "Not one of the allowed values: 1."),
    ({"const": LARGE}, f"{LARGE - 1}", f"Not one of the allowed values: {LARGE}."),
    ({"enum": [[LARGE]]}, f"[{LARGE}]", None),
    ({"maximum": LARGE}, f"{LARGE + 1}", f"Greater than the maximum, {LARGE}."),
    ({"type": ["string", "null"]}, f"{LARGE}", "Expected a text or null, got a whole number."),
    ({"type": "string", "maxLength": 2}, '"\ue0001"', None),
    ({"format": "date"}, '"not a date"', "Not a date such as 1918-11-03."),
    ({"format": "date"}, '"1900-02-29"', "Not a date such as 1918-11-03."),
    ({"format": "date"}, '"2000-02-29"', None),
    ({"format": "date"}, "3", None),
    ({"format": "date-time"}, '"1918-11-03"', "Not a date with a time such as 1918-11-03T11:00:00Z."),
    ({"format": "date-time"}, '"1918-11-03T11:00:00+01:00"', None),
    ({"format": "postal-code"}, '"x"', None),
    ({"minimum": 1}, "0", "Less than the minimum, 1."),
    ({"maxLength": 2}, '"😀😀"', None),
    ({"maxLength": 2}, '"abc"', "Too long: the maximum length is 2."),
    ({"pattern": "^[0-9]{4}$"}, '"193"', "Does not match the pattern ^[0-9]{4}$."),
    ({"pattern": "(?P<year>[0-9]+)"}, '"x"', None),
    (PERSON, '{"name": "Ada", "pages": [1, 2]}', None),
    (PERSON, '{"born": null}', "The key “name” is missing."),
    (PERSON, '{"name": "Ada", "born": "1931"}', "/born: Not a date such as 1918-11-03."),
    (PERSON, '{"name": "Ada", "pages": [1, 0]}', "/pages/1: Less than the minimum, 1."),
    (PERSON, '{"name": "Ada", "age": 3}', "/age: The schema allows no value here."),
    (UNION, "null", None),
    (UNION, "3", "Expected a text or null, got a whole number."),
    (UNION, '"long"', "Too long: the maximum length is 3."),
    ({"allOf": [{"type": "string"}, {"minLength": 2}]}, '"a"', "Too short: the minimum length is 2."),
]
"""Schemas, values as JSON, and the message on each."""


def test_the_message_says_what_is_wrong(script):
    call = script()
    made = [(schema, raw, call("problemOf", shown_schema(schema), raw)) for schema, raw, _ in MESSAGES]
    assert made == MESSAGES


def test_the_message_is_in_the_language_of_the_page(script):
    french = script(Language.FR)
    assert (
        french("problemOf", UNION, "3") == "Valeur attendue\u00a0: texte ou null. Valeur saisie\u00a0: nombre entier."
    )
    assert french("problemOf", {"format": "date"}, '"x"') == "Pas une date de la forme 1918-11-03."


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.integers(2**53, 2**53 + 2)
    | st.sampled_from([0.5, 1.0, "", "a", "bb", "1918-11-03", "1918"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=5,
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def keywords(inner):
    """Schemas with a few of the keywords that the browser checks."""
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
            "enum": st.lists(values, min_size=1, max_size=3),
            "const": values,
            "minimum": st.integers(-2, 2) | st.integers(2**53, 2**53 + 2),
            "exclusiveMaximum": st.integers(-2, 2),
            "minLength": st.integers(0, 2),
            "maxItems": st.integers(0, 2),
            "pattern": st.sampled_from(["^a", "b$", "^[0-9-]+$"]),
            "format": st.just("date"),
            "required": st.lists(st.sampled_from("ab"), unique=True),
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "additionalProperties": st.booleans() | inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "items": st.booleans() | inner,
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
        },
    )


def test_a_value_has_a_problem_exactly_if_it_violates_the_schema(script):
    call = script()

    @settings(max_examples=300, suppress_health_check=list(HealthCheck), deadline=None)
    @given(st.recursive(st.just({}), keywords, max_leaves=4), values)
    def check(schema, value):
        validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
        problem = call("problemOf", shown_schema(schema), json.dumps(value))
        assert (problem is None) == validator.is_valid(value), (problem, schema, value)

    check()


def test_what_is_typed_becomes_json(script):
    call = script()
    texts = {
        "Ada": '"Ada"',
        " 403 ": "403",
        '"403"': '"403"',
        "12345678901234567890": "12345678901234567890",
        "[1, 2": None,
        "": None,
    }
    assert {written: call("typed", written) for written in texts} == texts
    whole = [raw for raw in texts.values() if raw is not None]
    assert [call("typed", call("untyped", raw)) for raw in whole] == whole


def test_the_parts_of_a_json_text_are_kept_as_they_are_written(script):
    call = script()
    assert call("members", '{"a": 12345678901234567890, "b": {"c": [1.50, "},"]}, "d":[]}') == {
        "a": "12345678901234567890",
        "b": '{"c": [1.50, "},"]}',
        "d": "[]",
    }
    assert call("members", '[1.0, [2, 3], {"a": ","}]') == {"0": "1.0", "1": "[2, 3]", "2": '{"a": ","}'}
    assert call("members", "[ ]") == {}
    assert call("members", "{}") == {}


def test_the_text_of_a_value_has_all_digits(script):
    call = script()
    texts = [
        "12345678901234567890123",
        '{"a":[-9007199254740993,9007199254740991,1.5,null],"\ue0001":"\ue000\\"2","b\\\\":": 12345678901234567890"}',
        '"\ue0001"',
        '"12345678901234567890"',
    ]
    assert [call("(raw) => text(exact(raw), true)", raw) for raw in texts] == texts


def test_values_are_the_same_however_they_are_written(script):
    call = script()
    pairs = [
        ('{"a": 1, "b": [2]}', '{"b":[2],"a":1.0}', True),
        ("9007199254740993", "9007199254740992", False),
        ("9007199254740992", "9007199254740992.0", True),
        ("1e22", "10000000000000000000000", True),
        ("1e22", "10000000000000000000001", False),
        ("12345678901234567890", '"12345678901234567890"', False),
        ("12345678901234567890", '"\ue00012345678901234567890"', False),
        ("null", None, False),
        (None, None, True),
    ]
    assert [(left, right, call("isSame", left, right)) for left, right, _ in pairs] == pairs
