"""Input that would exhaust time or memory, or raise errors inside libraries, is refused."""

import json
import time
from contextlib import suppress

import pytest

from arbitre import Comparator
from arbitre.errors import DataError, SchemaError
from arbitre.storage.files import atomic_text_file

pytestmark = pytest.mark.slow

LISTS = {"$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"}
LEAF = {"x-arbitre": {"distance": "exact"}}
SET = {"type": "array", "items": {"type": "array"}, "x-arbitre": {"match": "set"}}


def shared(levels, part=0):
    for _ in range(levels):
        part = [part, part]
    return part


def within(seconds, call):
    start = time.perf_counter()
    result = call()
    assert time.perf_counter() - start < seconds
    return result


@pytest.mark.parametrize("schema", [{}, LISTS, LEAF, SET])
def test_parts_that_are_shared_at_every_level_are_refused(schema):
    comparator = Comparator(schema)
    with pytest.raises(DataError, match=r"Expected at most 1048576 values in the gold document, got more"):
        within(2.0, lambda: comparator.compare(gold=shared(40), predicted=[]))
    with pytest.raises(DataError, match=r"Expected at most 1048576 values in the predicted document, got more"):
        within(2.0, lambda: comparator.compare(gold=[], predicted=shared(40)))


def test_parts_that_are_shared_a_few_times_are_compared():
    entry = {"a": [1, 2], "b": {"c": "x"}}
    assert Comparator({}).compare(gold=[entry] * 1_000, predicted=[entry] * 1_000).quality == 1.0
    assert Comparator({}).compare(gold=shared(8), predicted=shared(8)).quality == 1.0


def test_a_long_list_that_contains_itself_is_refused_in_linear_time():
    cyclic = [1] * 200_000
    cyclic.append(cyclic)
    with pytest.raises(DataError, match="must not contain itself"):
        within(2.0, lambda: Comparator({}).compare(gold=cyclic, predicted=[]))


def test_a_gold_check_reports_a_document_that_contains_itself():
    cyclic = []
    cyclic.append(cyclic)
    (finding,) = Comparator({}).check_gold([cyclic]).findings
    assert (finding.check, finding.message[:40]) == ("unreadable", "Expected at most 512 nested lists and ob")


@pytest.mark.parametrize("keyword", ["anyOf", "allOf", "oneOf"])
def test_a_schema_of_shared_python_parts_is_refused_at_once(keyword):
    schema = {"type": "string"}
    for _ in range(18):
        schema = {keyword: [schema, schema]}
    with pytest.raises(SchemaError, match=r"in the schema, got more.*\n.*Move nested or repeated parts to \$defs"):
        within(1.0, lambda: Comparator(schema))


def combinations(keyword, levels):
    """A schema whose definitions apply together in 2^levels sets."""
    both = {name: {"$ref": "#/$defs/s0"} for name in "ab"}
    definitions = {"s0": {keyword: [{"properties": both}, {"properties": {"a": {"$ref": "#/$defs/s1"}}}]}}
    for number in range(1, levels):
        definitions[f"s{number}"] = {"properties": {name: {"$ref": f"#/$defs/s{number + 1}"} for name in "ab"}}
    return {"$defs": definitions | {f"s{levels}": {"type": "string"}}, "$ref": "#/$defs/s0"}


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_definitions_that_apply_in_too_many_sets_are_refused(keyword):
    with pytest.raises(SchemaError, match="apply together in too many different combinations"):
        within(5.0, lambda: Comparator(combinations(keyword, 18)))
    assert Comparator(combinations(keyword, 4)).compare(gold={"a": {}}, predicted={"a": {}}).quality == 1.0


@pytest.mark.parametrize("schema", [{}, {"items": {"type": "integer"}}, LEAF, SET])
@pytest.mark.parametrize("sign", [1, -1])
def test_integers_that_json_cannot_write_are_refused(schema, sign):
    comparator = Comparator(schema)
    with pytest.raises(DataError, match="Expected an integer of at most 4300 digits, got more"):
        comparator.compare(gold=[sign * 10**4300], predicted=[1])
    greatest = [sign * (10**4300 - 1)]
    assert json.dumps(comparator.compare(gold=greatest, predicted=greatest).to_dict())


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"unevaluatedItems": False, "$ref": "#/nowhere"}},
        {"contains": {"unevaluatedItems": False, "anyOf": [{"not": {"$ref": "#/nowhere"}}], "$ref": "#/nowhere"}},
    ],
)
def test_a_broken_reference_that_validation_meets_is_a_schema_error(schema):
    with pytest.raises(SchemaError, match="nowhere"):
        _ = Comparator(schema).compare(gold=[[1]], predicted=[[1]]).violations


@pytest.mark.parametrize("draft", [3, 4, 6, 7])
@pytest.mark.parametrize(
    "inner",
    [
        {"definitions": {"a": False}},
        {"items": True},
        {"dependencies": {"a": True}},
        {"type": ["string", {"type": "null"}]},
        {"additionalProperties": False},
        {"extends": {"$ref": "#"}},
    ],
)
def test_a_subschema_of_an_older_draft_compiles_or_is_refused(draft, inner):
    older = {"$schema": f"http://json-schema.org/draft-0{draft}/schema#", **inner}
    for schema in (older, {"properties": {"x": older}}):
        with suppress(SchemaError):
            assert Comparator(schema).compare(gold={"x": 1}, predicted={"x": 1}).quality == 1.0


@pytest.mark.parametrize("newer", [{"dependentSchemas": None}, {"prefixItems": 1}, {"if": 5}, {"const": 1, "then": []}])
@pytest.mark.parametrize("draft", [3, 4, 6])
def test_keywords_newer_than_the_draft_are_validated(draft, newer):
    with pytest.raises(SchemaError, match="Not valid JSON Schema"):
        Comparator({"$schema": f"http://json-schema.org/draft-0{draft}/schema#", **newer})


def test_a_file_for_text_with_a_lone_surrogate_is_refused(tmp_path):
    with (
        pytest.raises(DataError, match=r"got the lone surrogate '\\udcff' in 'a\\udcff.json'"),
        atomic_text_file(tmp_path / "result.csv") as file,
    ):
        file.write("a\udcff.json")
    assert list(tmp_path.iterdir()) == []


def test_a_text_with_too_many_skip_bigrams_is_refused():
    def quality(skip, text):
        schema = {"type": "string", "x-arbitre": {"distance": {"rouge-s": {"skip": skip}}}}
        return Comparator(schema).compare(gold=text, predicted=text + " more").quality

    text = " ".join(map(str, range(20_000)))
    assert 0.99 < quality(4, text) < 1.0
    with pytest.raises(DataError, match="Expected a text with fewer words for skip-bigrams, got 20000 words"):
        within(2.0, lambda: quality(20_000, text))


def test_each_node_of_a_long_list_is_written_in_constant_time(monkeypatch):
    from arbitre.engine.columns.column import Column

    calls = []
    kinds_at = Column.kinds_at
    monkeypatch.setattr(Column, "kinds_at", lambda self, rows: calls.append(len(rows)) or kinds_at(self, rows))
    for size in (50, 500):
        comparison = Comparator({}).compare(gold=[7] * size, predicted=[7] * size)
        assert comparison.diagnosis.flat.f1q == 1.0  # compared before the nodes are written
        calls.clear()
        assert len(comparison.to_dict()["nodes"]) == size + 1
        assert sum(calls) <= 20 * size
