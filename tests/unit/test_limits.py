"""Documents beyond the size limits are failures, and are refused before much work is done."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import arbitre
from arbitre.errors import DataError
from arbitre.inputs.blocks import BlockReader
from arbitre.inputs.document_index import index_row
from arbitre.inputs.open_files import read_lines, split_lines
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.projection import Projection
from arbitre.inputs.reader import Reader
from arbitre.inputs.records import Failure
from arbitre.normalizers import catalogue
from arbitre.parsing import numerals, strict_json
from arbitre.values import MAX_BYTES, MAX_DIGITS, MAX_VALUES

ANY = arbitre.Comparator({})
NAME = {"name": "Ada"}
VALUES = {"name": [0] * MAX_VALUES}
DEEP = json.loads('{"name": ' + "[" * 512 + "]" * 512 + "}")
BYTES = {"name": "a" * MAX_BYTES}
SURROGATE = {"name": ["Ada", "\ud800"]}
BOMB = NAME
for _ in range(40):
    BOMB = {"a": BOMB, "b": BOMB}
REASONS = {
    "values": (VALUES, "Expected at most 4,194,304 values in the", ""),
    "depth": (DEEP, "Expected at most 512 nested", None),
    "bytes": (BYTES, "Expected a document of at most 67,108,864 bytes, got more", ""),
    "surrogate": (SURROGATE, "Expected text of whole Unicode characters, got the lone surrogate '\\ud800'", "/name/1"),
    "bomb": (BOMB, "Expected at most ", None),
}
NAMES = [pytest.param(name, marks=[pytest.mark.slow] * (name == "values")) for name in REASONS]


def conversions(monkeypatch, module, name):
    """Count the calls of a function of a module."""
    calls, function = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given: calls.append(1) or function(*given))
    return calls


@pytest.mark.parametrize("schema", [{"format": "decimal"}, {"x-arbitre": {"normalize": ["number"]}}])
@pytest.mark.parametrize("digits", [MAX_DIGITS + 1, 950_000])
def test_a_text_of_too_many_digits_stays_a_text(schema, digits, monkeypatch):
    calls = conversions(monkeypatch, numerals, "Decimal")
    gold, predicted = "1" * digits, "1" * (digits - 1) + "2"
    compared = arbitre.Comparator({"type": "string", **schema}).compare(gold=gold, predicted=predicted)
    assert 1 - 2 / digits < compared.quality < 1.0
    assert not calls
    longest = "1" * MAX_DIGITS
    assert catalogue.build("number")(longest) == 10**MAX_DIGITS // 9
    assert len(calls) == 1


@pytest.mark.parametrize("text", ["1" + ".111" * 300_000, "1" + ".111" * 300_000 + "x", "0." + "1" * 950_000])
def test_a_text_that_is_too_long_for_a_number_is_not_searched_for_one(text, monkeypatch):
    calls = conversions(monkeypatch, numerals, "_pattern")
    assert catalogue.build({"number": {"decimal": ",", "group": "."}})(text) == text
    assert catalogue.build({"number": {"decimal": "."}})(text) == text
    assert not calls


def test_too_many_digits_within_a_text_are_a_failure_of_the_document():
    comparator = arbitre.Comparator({"properties": {"n": {"type": "string", "x-arbitre": {"normalize": ["numbers"]}}}})
    long = {"n": "p. 12 and " + "1" * 4301}
    evaluation = comparator.evaluate([("a", {"n": "12"}, long), ("b", {"n": "12"}, {"n": "12"})])
    (failure,) = evaluation.failures
    assert (failure.side, failure.id, failure.pointer) == ("predicted", "a", "/n")
    assert failure.reason.startswith("Expected numbers of at most 4300 digits, got one of 4301 characters")
    assert evaluation.by_document["b"].imq == 1.0


@pytest.mark.parametrize("side", ["gold", "predicted"])
@pytest.mark.parametrize("name", NAMES)
def test_a_document_in_memory_that_no_file_could_contain_is_a_failure(name, side):
    document, reason, place = REASONS[name]
    with pytest.raises(DataError, match=reason.replace("\\", "\\\\")) as caught:
        ANY.compare(**({"gold": NAME, "predicted": NAME} | {side: document}))
    assert caught.value.pointer == place
    pair = ("a", document, NAME) if side == "gold" else ("a", NAME, document)
    evaluation = ANY.evaluate([pair, ("b", NAME, NAME)])
    (failure,) = evaluation.failures
    assert (failure.side, failure.id, failure.pointer) == (side, "a", place)
    assert failure.reason.startswith(reason)
    assert evaluation.by_document["b"].imq == 1.0


@pytest.mark.parametrize("name", NAMES)
def test_a_document_in_a_data_frame_that_no_file_could_contain_is_a_failure(name):
    document, reason, place = REASONS[name]
    frame = pd.DataFrame({"id": ["a", "b"], "gold": [NAME, NAME], "predicted": [document, NAME]})
    evaluation = ANY.evaluate(frame)
    (failure,) = evaluation.failures
    assert (failure.side, failure.id, failure.line, failure.pointer) == ("predicted", "a", 1, place)
    assert failure.reason.startswith(reason.partition(" in the")[0])


@pytest.mark.parametrize("size", ["values", "bytes"])
@pytest.mark.parametrize("suffix", ["jsonl", "json", "folder", "csv", "parquet"])
def test_a_document_in_a_file_that_is_too_large_is_a_failure(tmp_path, suffix, size):
    path = tmp_path / f"predicted.{suffix}"
    large = {"name": list(range(100))}
    if suffix == "jsonl":
        path.write_text("".join(json.dumps({"id": name, **one}) + "\n" for name, one in (("a", large), ("b", NAME))))
    elif suffix == "json":
        path.write_text(json.dumps([{"id": "a", **large}, {"id": "b", **NAME}]))
    elif suffix == "folder":
        path.mkdir()
        for name, one in (("a", large), ("b", NAME)):
            (path / f"{name}.json").write_text(json.dumps(one))
    elif suffix == "csv":
        path.write_text(f'id,name\na,"{large["name"]}"\nb,Ada\n')
    else:
        cells = [json.dumps(large), json.dumps(NAME)]
        pd.DataFrame({"id": ["a", "b"], "predicted": cells}).to_parquet(path)
    reader = replace(Reader.of("predicted", ReadOptions()), **SMALL[size])
    items = list(reader.source(str(path), alone=True))
    assert [getattr(item, "value", None) for item in items] == [None, NAME]
    assert items[0].reason.startswith(REASON[size])
    assert (items[0].side, items[0].id, items[0].pointer) == ("predicted", "a", "")


SMALL = {"values": {"max_values": 50}, "bytes": {"max_bytes": 200}}
REASON = {
    "values": "Expected at most 50 values in the document, got 10",
    "bytes": "Expected a document of at most 200 bytes, got more",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["values", "bytes"])
def test_a_file_of_one_document_beyond_the_limits_is_refused(tmp_path, name):
    path = tmp_path / "gold.json"
    path.write_text(json.dumps(REASONS[name][0]))
    with pytest.raises(DataError, match=REASONS[name][1].removesuffix(" in the")) as caught:
        arbitre.compare(gold=path, predicted=NAME)
    assert (caught.value.file, caught.value.pointer) == (str(path), "")


def test_brackets_and_commas_in_texts_do_not_count_as_values():
    text = json.dumps({"name": '[{,,,\\",[' * 20})
    strict_json.check_size(text, max_values=2)
    with pytest.raises(DataError, match="at most 1 values in the document, got 2"):
        strict_json.check_size(text, max_values=1)


def test_a_projection_that_repeats_its_document_is_a_failure(tmp_path):
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "name": "Ada"}\n')
    expression = " | ".join(["[@, @]"] * 40)
    reading = ReadOptions(project=Projection.from_expressions({"gold": expression}))
    (failure,) = Reader.of("gold", reading).records(tmp_path / "gold.jsonl")
    assert (failure.side, failure.id) == ("gold", "a")
    assert failure.reason.startswith("Expected at most 1048576 values")


def test_a_long_line_is_read_in_parts_and_its_place_is_kept(tmp_path):
    path = tmp_path / "gold.jsonl"
    long = json.dumps({"id": "long", "name": "a" * 5000})
    lines = [json.dumps({"id": str(number), **NAME}) for number in range(40)]
    path.write_text("\n".join([*lines[:20], long, *lines[20:]]))
    reader = replace(Reader.of("gold", ReadOptions()), max_bytes=1000)
    items = list(reader.source(str(path), alone=True))
    assert [item.id for item in items] == [*map(str, range(20)), "long", *map(str, range(20, 40))]
    blocks = list(split_lines(str(path), 300))
    assert sum(block.length for block in blocks) == path.stat().st_size
    read = BlockReader(reader, str(Path.cwd()), "")
    again = [item for block in blocks for item in read(block)]
    assert again == [
        item if isinstance(item, Failure) else index_row(item, item.place, str(Path.cwd())) for item in items
    ]
    with path.open("rb") as file:
        assert max(len(line) for line, _ in read_lines(file, 1000)) == 1001
