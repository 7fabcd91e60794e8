"""Schemas of other tools as overlays: what is translated, what is listed, and the scores of the other tools."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import arbitre
from arbitre.cli import app
from arbitre.errors import DataError, OptionError, SchemaError

pytestmark = pytest.mark.slow

S = "x-aws-stickler-"
X = "x-eval-"


def config(name, **options):
    return {f"{S}comparator": name} | ({f"{S}comparator-config": options} if options else {})


def metric(name, **params):
    return {"evaluation_config": {"metrics": [{"metric_id": name, "params": params}]}}


def fields(**properties):
    return {"type": "object", "properties": properties}


DECIMAL = r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"
"""The pattern of a text that Pydantic writes for a field of type `Decimal`."""
TEXT, NUMBER, INTEGER = ({"type": name} for name in ("string", "number", "integer"))

STICKLER = [
    (TEXT, "Ada  Lovelace", "ada lovelac", 11 / 12),
    (TEXT, "Ada", "Bob", 0.0),
    (TEXT, "abcd", "abxx", 0.5),
    (TEXT, "abcd", "axxx", 0.0),
    (TEXT | {f"{S}threshold": 0.8}, "abcd", "abcx", 0.0),
    (TEXT | {f"{S}threshold": 0.8, f"{S}clip-under-threshold": False}, "abcd", "abcx", 0.75),
    (TEXT | {f"{S}comparator-config": {"normalize": False}, f"{S}threshold": 0}, "Ada", "ada", 2 / 3),
    (TEXT | config("ExactComparator"), "Ada", "ada", 0.0),
    (TEXT | config("ExactComparator", case_sensitive=False), "STRASSE", "straße", 1.0),
    (TEXT | config("FuzzyComparator"), "hello world", "help world", 6 / 7),
    (TEXT | config("FuzzyComparator", method="token_set_ratio"), "Dupont Jean", "jean dupont", 1.0),
    (TEXT | config("NormalizedComparator", ignore_whitespace=False, ignore_punctuation=False), "A-1", "a-1", 1.0),
    (NUMBER, 1, 1.0, 1.0),
    (NUMBER, 1, 1.01, 0.0),
    (NUMBER | config("NumericComparator", absolute_tolerance=0.5), 2.0, 2.4, 1.0),
    (INTEGER, 3, 4, 0.0),
    ({"type": "boolean"}, True, False, 0.0),
    (TEXT | {"enum": ["a", "b"]}, "a", "b", 0.0),
    (TEXT | {"format": "date"}, "2024-01-05", "2024-01-05", 1.0),
    (TEXT | {"format": "date"}, "2024-01-05", "2024-01-06", 0.0),
    (TEXT | {"format": "date"}, "2024-01", "2024-01-01", 0.0),
    (TEXT | {"format": "uuid"}, "AB", "ab", 0.0),
    (TEXT | {"format": "email"}, "a@b.org", "A@b.org", 1.0),
    ({"type": ["string", "integer"]}, "3", "3", 1.0),
    ({"type": ["string", "integer"]}, 3, "3", 1.0),
    ({"anyOf": [INTEGER, TEXT]} | config("ExactComparator", case_sensitive=False), 3, "3", 1.0),
    ({"enum": [1, "1"]}, 1, "1", 1.0),
    ({"type": ["boolean", "integer"]}, True, 1, 0.0),
    (TEXT | {"format": "decimal"} | config("ExactComparator"), "12.50", "12.5", 0.0),
    (TEXT | {"format": "decimal", "enum": ["12.50", "12.5"]}, "12.50", "12.5", 0.0),
    ({"anyOf": [TEXT, TEXT | {"format": "date"}]}, "2024-01-05", "2024-01-05T00:00:00", 0.0),
    ({"type": "array", "items": TEXT}, ["Ada", "Bo"], ["bo"], 0.5),
    ({"type": "array", "items": NUMBER}, [1, 2], [2, 3], 0.5),
    ({"type": "object"}, {"a": 1, "b": 2}, {"b": 2, "a": 1}, 1.0),
]
"""A property, two values and their score in Stickler: measured with stickler-eval 1.0.0 (`field_scores`)."""

EXTRACT_BENCH = [
    (TEXT | {"evaluation_config": "string_exact"}, "Ada", "ada", 0.0),
    (TEXT | {"evaluation_config": "string_case_insensitive"}, "STRASSE", "straße", 1.0),
    (TEXT | {"evaluation_config": "string_fuzzy"}, "Bank of America", "BANK OF AMERIKA", 14 / 15),
    (TEXT | {"evaluation_config": "string_fuzzy"}, "abcd", "wxyz", 0.0),
    (TEXT | metric("string_fuzzy", case_sensitive=True), "Ada", "ada", 2 / 3),
    (NUMBER | {"evaluation_config": "number_tolerance"}, 1.0, 1.0005, 1.0),
    (NUMBER | {"evaluation_config": "number_tolerance"}, 1.0, 1.002, 0.0),
    (NUMBER, 1.0, 1.0005, 1.0),
    (NUMBER | metric("number_tolerance"), 1.0, 1.0005, 0.0),
    (NUMBER | metric("number_tolerance", tolerance=2), 10, 12, 1.0),
    (NUMBER | {"evaluation_config": "number_exact"}, 3, 3.0, 1.0),
    (INTEGER, 3, 4, 0.0),
    ({"type": "boolean"}, True, True, 1.0),
    ({"anyOf": [INTEGER, TEXT], "evaluation_config": "string_exact"}, 3, "3", 1.0),
    (TEXT | {"format": "decimal", "evaluation_config": "string_exact"}, "12.50", "12.5", 0.0),
    (TEXT | {"pattern": DECIMAL, "evaluation_config": "string_exact"}, "12.50", "12.5", 0.0),
]
"""The same for extract-bench: measured with version 0.1.0."""

X_EVAL = [
    (TEXT, "Ada", "ada", 0.0),
    (TEXT | {f"{X}transform": ["lowercase", "normalize_whitespace"]}, " Ada  L", "ada l", 1.0),
    (TEXT | {f"{X}transform": ["lowercase", "sort_tokens"]}, "Dupont Jean", "jean dupont", 1.0),
    (TEXT | {f"{X}transform": ["sort_tokens"]}, "Dupont Jean", "Jean Dupond", 0.0),
    (NUMBER, 42, 42.0, 1.0),
    (NUMBER, 42, 42.1, 0.0),
    (NUMBER | {f"{X}compare": {"numeric": {"tolerance": {"abs": 0.5}}}}, 42, 42.5, 1.0),
    (NUMBER | {f"{X}compare": {"numeric": {"tolerance": {"abs": 0.5}}}}, 42, 42.6, 0.0),
    (NUMBER | {f"{X}compare": {"numeric": {"tolerance": {}}}}, 42, 43, 0.0),
    (TEXT | {"format": "decimal"}, "12.50", "12.5", 0.0),
    ({"anyOf": [NUMBER, TEXT | {"pattern": DECIMAL}]}, 12.5, "12.50", 0.0),
    (TEXT, None, None, 1.0),
    (TEXT, None, "Ada", 0.0),
    ({"type": ["string", "object"]}, {"a": 1}, {"a": 1}, 1.0),
    (fields(a=TEXT) | {f"{X}compare": "exact"}, {"a": "x"}, {"a": "y"}, 0.0),
]
"""The same for extract-eval: read from its source, FAIRmat-NFDI/extract-eval at 18ac1b4 (it is not on PyPI)."""
SCORED = [("stickler", *row) for row in STICKLER]
SCORED += [("extract-bench", *row) for row in EXTRACT_BENCH]
SCORED += [("x-eval", *row) for row in X_EVAL]
MARK = {
    "stickler": {f"{S}model-name": "Document"},
    "extract-bench": {"evaluation_config": {"metrics": []}},
    "x-eval": {f"{X}skip": False},
}
"""A keyword of each tool that changes nothing at the root."""


def imported(dialect, schema, **options):
    return arbitre.import_schema(schema | MARK[dialect], dialect, **options)


@pytest.mark.parametrize(("dialect", "declared", "gold", "predicted", "score"), SCORED)
def test_a_value_has_the_score_of_the_other_tool(dialect, declared, gold, predicted, score):
    schema = fields(a=declared)
    found = imported(dialect, schema)
    comparison = arbitre.Comparator(schema, overlay=found.overlay).compare(gold={"a": gold}, predicted={"a": predicted})
    assert comparison.quality == pytest.approx(score)
    assert found.untranslated == ()


UNTRANSLATED = [
    ("stickler", TEXT | config("LLMComparator"), f"/{S}comparator", "language model"),
    ("stickler", TEXT | config("FuzzyComparator", method="token_sort_ratio"), f"/{S}comparator", "token_sort_ratio"),
    ("stickler", TEXT | config("NormalizedComparator"), f"/{S}comparator", "white space"),
    ("stickler", TEXT | config("PhoneComparator"), f"/{S}comparator", "country"),
    ("stickler", TEXT | config("NumericComparator"), f"/{S}comparator", "drops all characters"),
    ("stickler", NUMBER | config("NumericComparator", relative_tolerance=0.1), f"/{S}comparator", "refers to gold"),
    ("stickler", NUMBER | config("LevenshteinComparator"), f"/{S}comparator", "as Python writes them"),
    ("stickler", TEXT | config("DateComparator", dayfirst=True), f"/{S}comparator", "any notation"),
    ("stickler", TEXT | config("DateComparator", tolerance=3), f"/{S}comparator", "graded"),
    ("stickler", TEXT | config("DateComparator", range_mode="strict"), f"/{S}comparator", "ranges"),
    ("stickler", TEXT | {"format": "date-time"}, "", "time of day"),
    ("stickler", NUMBER | config("DateComparator"), f"/{S}comparator", "only texts"),
    ("stickler", {"type": "boolean"} | config("NumericComparator"), f"/{S}comparator", "only numbers"),
    ("stickler", {"anyOf": [NUMBER, TEXT | {"pattern": DECIMAL}]}, "", "as Python writes them"),
    ("stickler", {"type": ["number", "string"]}, "", "as Python writes them"),
    ("stickler", {"type": ["boolean", "string"]}, "", "as Python writes them"),
    ("stickler", {"anyOf": [INTEGER, NUMBER]}, "", "as Python writes them"),
    ("stickler", NUMBER | {"enum": [1, 2.5]}, "", "as Python writes them"),
    ("stickler", {"type": ["number", "string"]} | config("ExactComparator"), f"/{S}comparator", "as Python writes"),
    ("stickler", TEXT | config("OwnComparator"), f"/{S}comparator", "of your own"),
    ("stickler", TEXT | config("auto"), f"/{S}comparator", "name of the field"),
    ("stickler", TEXT | {"x-stickler-weight": 2}, "/x-stickler-weight", 'Did you mean "weight"?'),
    ("stickler", TEXT | {f"{S}treshold": 2}, f"/{S}treshold", 'Did you mean "threshold"?'),
    ("stickler", TEXT | {f"{S}match-threshold": 0.5}, f"/{S}match-threshold", "on objects only"),
    ("stickler", fields(b=TEXT) | {f"{S}threshold": 0.5}, f"/{S}threshold", "no floor"),
    ("stickler", fields(b=TEXT) | {f"{S}infer-unspecified": True}, f"/{S}infer-unspecified", "names of the fields"),
    ("stickler", {"type": "array", "items": TEXT | {f"{S}weight": 2}}, f"/items/{S}weight", "only next to a property"),
    ("extract-bench", TEXT, "", "language model"),
    ("extract-bench", {"type": "array", "items": TEXT}, "", "language model"),
    ("extract-bench", {"type": ["string", "null"]}, "", "compares no union"),
    ("extract-bench", TEXT | {"evaluation_config": "own_metric"}, "/evaluation_config", "of your own"),
    ("extract-bench", NUMBER | {"evaluation_config": "integer_exact"}, "/evaluation_config", "decimal places"),
    ("extract-bench", TEXT | {"evaluation_config": "number_exact"}, "/evaluation_config", "not numbers are equal"),
    ("extract-bench", TEXT | {"evaluation_config": "boolean_exact"}, "/evaluation_config", "not booleans"),
    (
        "extract-bench",
        fields(b=INTEGER) | {"evaluation_config": "string_exact"},
        "/evaluation_config",
        "quality of its values",
    ),
    ("extract-bench", NUMBER | {"evaluation_config": "string_exact"}, "/evaluation_config", "as Python writes them"),
    (
        "extract-bench",
        {"type": ["boolean", "string"], "evaluation_config": "string_exact"},
        "/evaluation_config",
        "as Python writes them",
    ),
    ("x-eval", {"type": ["boolean", "number"]}, "", "true equals 1"),
    ("x-eval", TEXT | {f"{X}compare": "semantic"}, f"/{X}compare", "language model"),
    ("x-eval", TEXT | {f"{X}compare": {"oneof": {"values": ["a", "b"]}}}, f"/{X}compare", "whatever gold is"),
    ("x-eval", NUMBER | {f"{X}compare": {"numeric": {"tolerance": {"rel": 0.1}}}}, f"/{X}compare", "refers to gold"),
    ("x-eval", TEXT | {f"{X}compare": "numeric"}, f"/{X}compare", "float"),
    ("x-eval", TEXT | {f"{X}compare": "own"}, f"/{X}compare", "comparator of your own"),
    ("x-eval", NUMBER | {f"{X}transform": [{"round_digits": {"digits": 1}}]}, f"/{X}transform", "halves"),
    ("x-eval", NUMBER | {f"{X}transform": [{"round_digits": {"digits": -400}}]}, f"/{X}transform", "halves"),
    ("x-eval", NUMBER | {f"{X}transform": [{"type_convert": {"to": "str"}}]}, f"/{X}transform", "as Python does"),
    ("x-eval", TEXT | {f"{X}transform": ["sort_tokens", "own"]}, f"/{X}transform", "sorts the words"),
    ("x-eval", TEXT | {f"{X}transfrom": ["strip"]}, f"/{X}transfrom", 'Did you mean "transform"?'),
    ("x-eval", {"type": "array", "items": TEXT | {f"{X}skip": True}}, f"/items/{X}skip", "only a field"),
]


@pytest.mark.parametrize(("dialect", "declared", "place", "reason"), UNTRANSLATED)
def test_a_keyword_without_an_equivalent_is_listed_and_its_nearest_settings_are_valid(dialect, declared, place, reason):
    schema = fields(a=declared)
    first = imported(dialect, schema).untranslated[0]
    assert first.pointer == f"/properties/a{place}"
    assert reason in first.reason
    assert first.path in {"/a", "/a/*"}
    near = imported(dialect, schema, nearest=True)
    for path, settings in first.nearest.items():
        assert near.overlay[path].items() >= settings.items()
    arbitre.Comparator(schema, overlay=near.overlay)


def test_several_metrics_and_weights_of_extract_bench_are_listed():
    metrics = [{"metric_id": "string_fuzzy", "weight": 2}, {"metric_id": "string_exact"}]
    found = imported("extract-bench", fields(a=TEXT | {"evaluation_config": {"metrics": metrics}}))
    assert [one.reason.partition(":")[0] for one in found.untranslated] == [
        "extract-bench does not read weights",
        "a value has one distance in arbitre",
    ]
    assert found.untranslated[0].nearest == {"/a": {"weight": 2}}


def test_a_field_that_the_other_tool_skips_is_ignored():
    assert imported("extract-bench", fields(a=TEXT | {"evaluation_config": "skip"})).overlay["/a"] == {"ignore": True}
    assert imported("x-eval", fields(a=fields(b=TEXT) | {f"{X}skip": True})).overlay["/a"] == {"ignore": True}


def test_keys_that_the_other_tool_does_not_compare_are_ignored():
    schema = fields(a=INTEGER | {f"{S}weight": 2})
    overlay = arbitre.import_schema(schema, "stickler").overlay
    assert arbitre.Comparator(schema, overlay=overlay).compare(gold={"a": 1}, predicted={"a": 1, "b": 2}).quality == 1
    closed = schema | {"additionalProperties": {"type": "integer"}}
    assert "undeclared" not in arbitre.import_schema(closed, "stickler").overlay[""]


@pytest.mark.parametrize(
    ("align", "match"),
    [
        (None, "ordered"),
        ({"ordered": True}, "ordered"),
        ({"match_by": "hungarian"}, "hungarian"),
        ({"match_by": "key_field", "key": "id"}, {"keyed": {"key": "id"}}),
    ],
)
def test_the_alignment_of_a_list_is_its_matching(align, match):
    schema = fields(
        a={"type": "array", "items": fields(id=TEXT), f"{X}skip": False} | ({f"{X}align": align} if align else {})
    )
    assert arbitre.import_schema(schema, "x-eval").overlay["/a"] == {"match": match}


def test_weights_apply_to_fields_of_any_type_and_keywords_of_stickler_next_to_a_reference():
    party = {"type": "object", "properties": {"name": TEXT}}
    schema = {"$defs": {"party": party, "code": TEXT | {f"{S}weight": 9}}} | fields(
        seller={"anyOf": [{"$ref": "#/$defs/party"}, {"type": "null"}], f"{S}weight": 3},
        code={"$ref": "#/$defs/code"},
        lines={"type": "array", "items": {"$ref": "#/$defs/party"}, f"{S}weight": 0.5},
    )
    found = arbitre.import_schema(schema, "stickler")
    assert {path: one["weight"] for path, one in found.overlay.items() if "weight" in one} == {
        "/lines": 0.5,
        "/seller": 3,
    }
    assert [(one.pointer, one.path) for one in found.untranslated] == [(f"/$defs/code/{S}weight", "/code")]
    assert found.overlay["/lines/*/name"] == found.overlay["/seller/name"]


def test_a_match_threshold_suggests_a_gate_for_the_list():
    items = fields(name=TEXT) | {f"{S}match-threshold": 0.6}
    (one,) = arbitre.import_schema(fields(a={"type": "array", "items": items}), "stickler").untranslated
    assert one.pointer == f"/properties/a/items/{S}match-threshold"
    assert one.nearest == {"/a": {"match": {"hungarian": {"gate": 0.6}}}}


def test_a_recursive_schema_is_translated_to_its_first_level_and_listed():
    node = fields(name=TEXT | {f"{S}weight": 2}, child={"$ref": "#/$defs/node"})
    found = arbitre.import_schema({"$ref": "#/$defs/node", "$defs": {"node": node}}, "stickler")
    assert found.overlay["/name"]["weight"] == 2
    assert [(one.path, one.keyword) for one in found.untranslated] == [("/child", "(default)")]


def test_conflicting_branches_of_a_union_keep_the_first_settings():
    branches = [fields(a=TEXT | {f"{X}compare": name}) for name in ("exact", "semantic")]
    found = arbitre.import_schema({"anyOf": branches}, "x-eval", nearest=True)
    assert found.untranslated[0].pointer == f"/anyOf/1/properties/a/{X}compare"
    branches = [
        fields(a=declared | {f"{X}compare": "exact"}) for declared in (TEXT | {f"{X}transform": ["strip"]}, TEXT)
    ]
    (one,) = arbitre.import_schema(
        {"anyOf": [*branches[:1], fields(a=NUMBER | {f"{X}compare": {"numeric": {"tolerance": {"abs": 1}}}})]}, "x-eval"
    ).untranslated
    assert "another branch" in one.reason


INVALID = [
    ("stickler", TEXT | {f"{S}weight": 0}, "a positive number"),
    ("stickler", TEXT | {f"{S}threshold": 2}, "a number from 0 to 1"),
    ("stickler", TEXT | {f"{S}clip-under-threshold": "no"}, "true or false"),
    ("stickler", TEXT | {f"{S}comparator": 3}, "the name of a comparator"),
    ("stickler", TEXT | {f"{S}comparator-config": [1]}, "an object"),
    ("extract-bench", TEXT | {"evaluation_config": {"metrics": ["string_exact"]}}, "the name of a metric"),
    ("extract-bench", TEXT | {"evaluation_config": {"metrics": [{"metric_id": []}]}}, "the name of a metric"),
    ("extract-bench", {"allOf": [TEXT | {"evaluation_config": 5}]}, "the name of a metric"),
    ("stickler", fields(b=TEXT) | {f"{S}match-threshold": "a"}, "a number from 0 to 1"),
    ("x-eval", TEXT | {f"{X}compare": ["exact"]}, "a name or"),
    ("x-eval", TEXT | {f"{X}transform": [3]}, "a name or"),
    ("x-eval", TEXT | {f"{X}transform": "lowercase"}, "a list of transforms"),
    ("x-eval", TEXT | {f"{X}transform": 5}, "a list of transforms"),
    ("x-eval", {"allOf": [TEXT | {f"{X}transform": 5}]}, "a list of transforms"),
    ("x-eval", {"allOf": [TEXT | {f"{X}compare": 5}]}, "a name or"),
    ("x-eval", {"type": "array", "items": TEXT, f"{X}align": {"match_by": ["x"]}}, "match_by"),
    ("x-eval", {"allOf": [{"type": "array", "items": TEXT, f"{X}align": 5}]}, "match_by"),
    ("x-eval", TEXT | {f"{X}skip": "yes"}, "true or false"),
    ("x-eval", {"type": "array", "items": TEXT, f"{X}align": {"match_by": "x"}}, "match_by"),
    ("x-eval", {"type": "array", "items": fields(b=TEXT), f"{X}align": {"match_by": "key_field"}}, '"key"'),
]


@pytest.mark.parametrize(("dialect", "declared", "expected"), INVALID)
def test_a_value_that_the_other_tool_does_not_accept_is_an_error_with_its_place(dialect, declared, expected):
    with pytest.raises(SchemaError) as error:
        imported(dialect, fields(a=declared))
    assert expected in error.value.message
    assert error.value.pointer.startswith("/properties/a/")


PARAMETERS = [
    ("x-eval", NUMBER | {f"{X}compare": {"numeric": {"tolerance": 0.1}}}, "numeric/tolerance", "an object, got 0.1"),
    (
        "x-eval",
        NUMBER | {f"{X}compare": {"numeric": {"tolerance": {"abs": -1}}}},
        "numeric/tolerance/abs",
        "a number of at least 0, or null, got -1",
    ),
    (
        "x-eval",
        {"allOf": [NUMBER | {f"{X}compare": {"numeric": {"tolerance": {"rel": "a"}}}}]},
        "numeric/tolerance/rel",
        'a number of at least 0, or null, got "a"',
    ),
    ("x-eval", TEXT | {f"{X}compare": {"oneof": {"values": 5}}}, "oneof/values", "a list, got 5"),
    (
        "x-eval",
        NUMBER | {f"{X}transform": ["strip", {"round_digits": {"digits": "a"}}]},
        "1/round_digits/digits",
        'an integer, got "a"',
    ),
    (
        "x-eval",
        NUMBER | {f"{X}transform": [{"type_convert": {"to": 5}}]},
        "0/type_convert/to",
        "float or int or str or bool, got 5",
    ),
    (
        "extract-bench",
        NUMBER | {"evaluation_config": {"metrics": [{"metric_id": "number_tolerance", "params": 5}]}},
        "metrics/0/params",
        "an object, got 5",
    ),
    (
        "extract-bench",
        NUMBER | metric("number_tolerance", tolerance=-1),
        "metrics/0/params/tolerance",
        "a number of at least 0, got -1",
    ),
    (
        "stickler",
        NUMBER | config("NumericComparator", absolute_tolerance=-1),
        "absolute_tolerance",
        "a number of at least 0, got -1",
    ),
    (
        "stickler",
        {"type": "array", "items": NUMBER} | config("NumericComparator", absolute_tolerance="a"),
        "absolute_tolerance",
        'a number of at least 0, got "a"',
    ),
    ("stickler", TEXT | config("FuzzyComparator", method=["ratio"]), "method", 'a text, got ["ratio"]'),
    ("stickler", TEXT | config("DateComparator", tolerance="a"), "tolerance", 'a number of at least 0, got "a"'),
]


@pytest.mark.parametrize(("dialect", "declared", "place", "expected"), PARAMETERS)
def test_a_parameter_that_the_other_tool_does_not_accept_is_an_error_with_its_place(
    dialect, declared, place, expected, tmp_path
):
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(fields(a=declared) | MARK[dialect]), encoding="utf-8")
    with pytest.raises(SchemaError) as error:
        arbitre.import_schema(file, dialect)
    assert expected in error.value.message
    assert error.value.pointer.startswith("/properties/a/")
    assert error.value.pointer.endswith(f"/{place}")
    assert Path(error.value.file).name == "schema.json"


def test_a_schema_without_keywords_of_the_tool_names_the_tool_whose_keywords_it_has():
    with pytest.raises(SchemaError, match="It has keywords of x-eval"):
        arbitre.import_schema(fields(a=TEXT | {f"{X}compare": "exact"}), "stickler")
    with pytest.raises(SchemaError, match="Expected keywords of x-eval, got none"):
        arbitre.import_schema(fields(evaluation_config=TEXT), "x-eval")
    with pytest.raises(OptionError, match="stickler or extract-bench or x-eval"):
        arbitre.import_schema(fields(a=TEXT), "other")


# The command, and the note on a schema that is used directly.


@pytest.fixture
def schema(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    contents = fields(name=TEXT | {f"{S}weight": 2, f"{S}threshold": 0.7}, note=TEXT | config("LLMComparator"))
    Path("schema.json").write_text(json.dumps(contents), encoding="utf-8")
    Path("document.json").write_text('{"name": "Ada"}', encoding="utf-8")
    Path("gold.jsonl").write_text(
        '{"id": "a", "gold": {"name": "Ada"}, "predicted": {"name": "Ada"}}\n', encoding="utf-8"
    )
    return "schema.json"


def run(*given):
    return CliRunner().invoke(app, given)


def test_the_command_writes_the_overlay_and_lists_the_rest(schema):
    result = run("schema", "import", schema, "--from", "stickler", "-o", "overlay.json")
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads(Path("overlay.json").read_text(encoding="utf-8"))["/name"]["weight"] == 2
    lines = result.stderr.splitlines()
    assert lines[0] == "2 paths with settings; 1 keyword or default of stickler without an equivalent"
    assert lines[1:] == [
        f"  {S}comparator LLMComparator: it asks a language model",
        '    nearest: {"distance":"token-set","normalize":["lower","squash-space"]}',
        f"    at /properties/note/{S}comparator",
        "--nearest also writes the nearest settings.",
    ]
    printed = run("schema", "import", schema, "--from", "stickler")
    assert json.loads(printed.stdout) == arbitre.import_schema(schema, "stickler").overlay
    plain = json.loads(run("schema", "import", schema, "--from", "stickler", "--nearest", "--format", "json").stdout)
    assert plain == arbitre.import_schema(schema, "stickler", nearest=True).to_dict()
    assert plain["overlay"]["/note"]["distance"] == "token-set"


def test_a_file_of_yours_is_not_replaced(schema):
    with pytest.raises(DataError):
        arbitre.import_schema(schema, "stickler", out=schema)


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "document.json", "document.json", "--schema", "schema.json"),
        ("evaluate", "--pairs", "gold.jsonl", "--schema", "schema.json"),
        ("schema", "check", "schema.json"),
        ("schema", "explain", "schema.json"),
    ],
    ids=lambda words: words[0] + words[1][:5],
)
def test_a_schema_of_another_tool_that_is_used_directly_gets_a_note(schema, words):
    note = f"no effect here: {S}comparator, {S}threshold, {S}weight. `arbitre schema import schema.json --from stickler"
    assert note in run(*words).stderr
    arbitre.import_schema(schema, "stickler", out="overlay.json")
    assert "no effect" not in run(*words, "--overlay", "overlay.json").stderr


def test_the_note_is_among_those_of_an_evaluation(schema):
    found = arbitre.Comparator(schema).evaluate([("a", {"name": "Ada"}, {"name": "Ada"})])
    assert [note for note in found.notes if "--from stickler" in note]
    assert arbitre.Comparator(fields(evaluation_config=TEXT)).plan.notes == ()
