"""Decisions files: how they are read, and errors with file and line."""

from __future__ import annotations

import csv
import json

import pytest

from arbitre.agreement.consensus.decisions import Decision, Decisions, fingerprint
from arbitre.agreement.consensus.disagreement import Disagreement, Reading
from arbitre.agreement.consensus.queue import Queue
from arbitre.errors import DataError
from arbitre.inputs.csv_table import cell_text, cell_value
from arbitre.tables.csv_text import FORMULA
from arbitre.values import ABSENT


def disagreement(*values, name="d#/name", items=()):
    readings = tuple(
        Reading(annotator, value, None if value is ABSENT else "/name")
        for annotator, value in zip(("ada", "bob", "cy"), values, strict=False)
    )
    document, _, place = name.partition("#")
    return Disagreement(
        name, document, place, place, "value", readings, values[0], 0.5, 0.0, "tie", 0.1, {}, items=items
    )


def lines(tmp_path, *records):
    path = tmp_path / "decisions.jsonl"
    texts = (record if isinstance(record, str) else json.dumps(record) for record in records)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def test_decisions_are_read_from_json_lines(tmp_path):
    path = lines(
        tmp_path,
        {"id": "d#/name", "value": 12345678901234567890, "by": "Zoé", "note": "see p. 3"},
        "",
        {"id": "d#/age", "absent": True, "by": "Zoé", "fingerprint": "abc"},
        {"id": "d#/null", "value": None, "by": "Zoé"},
    )
    assert list(Decisions.read(path).by_id.values()) == [
        Decision("d#/name", 12345678901234567890, "Zoé", "see p. 3", line=1),
        Decision("d#/age", ABSENT, "Zoé", fingerprint="abc", line=3),
        Decision("d#/null", None, "Zoé", line=4),
    ]
    for decision in Decisions.read(path).by_id.values():
        assert list(Decisions.read(lines(tmp_path, decision.to_dict())).by_id.values()) == [decision]


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_decisions_are_read_from_a_table(tmp_path, delimiter):
    path = tmp_path / "decisions.csv"
    rows = [
        "id,path,value,absent,by,note",
        'a,/x,Ada,,Zoé,"p. 3"',
        "b,/x,,,,",
        "c,/x,,TRUE,Zoé,",
        "d,/x,403,,Zoé,",
        'e,/x,"""403""",,Zoé,',
        "f,/x,TRUE,,Zoé,",
        'g,/x,"""TRUE""",,Zoé,',
        "h,/x,FAUX,,Zoé,",
        "i,/x,,VRAI,Zoé,",
    ]
    path.write_text("\n".join(row.replace(",", delimiter) for row in rows), encoding="utf-8")
    values = {name: decision.value for name, decision in Decisions.read(path).by_id.items()}
    assert values == {"a": "Ada", "c": ABSENT, "d": 403, "e": "403", "f": True, "g": "TRUE", "h": False, "i": ABSENT}
    assert Decisions.read(path).by_id["a"] == Decision("a", "Ada", "Zoé", "p. 3")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('{"id": "a", "value": ', "truncated text"),
        ('{"id": "a", "value": 1, "value": 2, "by": "Zoé"}', "each key once"),
        ([], "Expected an object"),
        ({"id": "a", "by": "Zoé"}, "got neither"),
        ({"id": "a", "value": 1, "absent": True, "by": "Zoé"}, "got both"),
        ({"id": "a", "absent": False, "by": "Zoé"}, "'absent' to be true"),
        ({"id": "a", "value": 1}, "name of the person"),
        ({"id": "a", "value": 1, "by": " "}, "name of the person"),
        ({"value": 1, "by": "Zoé"}, "id of a disagreement"),
        ({"id": 3, "value": 1, "by": "Zoé"}, "Expected a text, got 3"),
        ({"id": "a", "value": 1, "by": "Zoé", "notes": "p. 3"}, "Unknown key 'notes'"),
    ],
    ids=["cut", "repeated key", "list", "neither", "both", "false", "nobody", "blank", "no id", "number", "unknown"],
)
def test_an_invalid_decision_is_refused_with_its_line(tmp_path, record, message):
    path = lines(tmp_path, {"id": "first", "value": 1, "by": "Zoé"}, record)
    read = Decisions.read(path)
    assert read.by_id.keys() == {"first"}
    (refused,) = read.refused
    assert message in refused.problem.message
    assert (refused.problem.file, refused.problem.line) == (str(path), 2)
    assert refused.text == path.read_text(encoding="utf-8").splitlines()[1]
    assert refused.id == (record["id"] if isinstance(record, dict) and isinstance(record.get("id"), str) else None)


def test_if_every_line_is_invalid_the_file_is_refused(tmp_path):
    with pytest.raises(DataError) as refused:
        Decisions.read(lines(tmp_path, "{", {"id": "b"}))
    assert [problem.line for problem in refused.value.problems] == [1, 2]


@pytest.mark.parametrize(
    ("row", "message"),
    [("a,[1,,Zoé", "truncated text"), ("a,,yes,Zoé", "'absent' to be true"), ("a,1", "Expected 4 cells, got 2")],
    ids=["json", "yes", "short"],
)
def test_an_invalid_row_is_refused_with_its_line(tmp_path, row, message):
    path = tmp_path / "decisions.csv"
    path.write_text(f"id,value,absent,by\n{row}\nb,1,,Zoé\n", encoding="utf-8")
    read = Decisions.read(path)
    assert read.by_id.keys() == {"b"}
    (refused,) = read.refused
    assert message in refused.problem.message
    assert (refused.problem.file, refused.problem.line, refused.text) == (str(path), 2, row)


def test_two_decisions_with_one_id_must_be_equal(tmp_path):
    first, equal, other, absent, second = (
        {"id": "a", "value": 1, "by": "Zoé"},
        {"id": "a", "value": 1.0, "by": "Ada"},
        {"id": "a", "value": True, "by": "Ada"},
        {"id": "a", "absent": True, "by": "Ada"},
        {"id": "b", "value": 1, "by": "Zoé"},
    )
    assert Decisions.read(lines(tmp_path, first, equal)).by_id == {"a": Decision("a", 1, "Zoé")}
    read = Decisions.read(lines(tmp_path, first, other, second, absent))
    assert read.by_id.keys() == {"b"}
    assert [each.problem.line for each in read.refused] == [1, 2, 4]
    assert {each.problem.message for each in read.refused} == {"The decisions on 'a' differ: lines 1, 2, 4"}


def test_decisions_must_belong_to_a_disagreement(tmp_path):
    now, other = disagreement("Ada", "Ida"), disagreement("Ada", "Ida", name="d#/same")
    known = {"id": now.id, "value": "Ada", "by": "Zoé", "fingerprint": fingerprint(now)}
    assert not Decisions.read(lines(tmp_path, known)).on([now]).refused
    assert not Decisions.read(lines(tmp_path, {"id": now.id, "value": "Ada", "by": "Zoé"})).on([now]).refused
    same = {"id": other.id, "value": "Ada", "by": "Zoé"}
    path = lines(tmp_path, {"id": "d#/other", "value": 1, "by": "Zoé"}, known, same)
    applied = Decisions.read(path).on([disagreement("Ada", "Eda"), other])
    assert applied.by_id.keys() == {other.id}
    problems = [each.problem for each in applied.refused]
    assert [(problem.file, problem.line) for problem in problems] == [(str(path), 1), (str(path), 2)]
    assert "Expected the id of a disagreement, got 'd#/other'" in problems[0].message
    assert "have changed since the decision" in problems[1].message
    assert "annotations may have changed" in problems[0].hint


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_refused_lines_are_written_as_they_were_and_an_edited_file_is_kept(tmp_path, suffix):
    good = "b,1,Zoé" if suffix == "csv" else '{"id": "b", "value": 1, "by": "Zoé"}'
    bad = 'a,"[1,\n2]",' if suffix == "csv" else '{"id":  "a", "value": [1, 2]}'
    head = "id,value,by\n" if suffix == "csv" else ""
    path = tmp_path / f"decisions.{suffix}"
    path.write_text(f"{head}{good}\n{bad}\n", encoding="utf-8")
    read = Decisions.read(path)
    assert [each.problem.message for each in read.refused] == [
        "Expected the name of the person who decided under 'by', got none"
    ]
    written = read.write_refused(tmp_path / "gold.jsonl")
    assert written == tmp_path / f"gold.jsonl.refused.{suffix}"
    assert written.read_text(encoding="utf-8") == f"{head}{bad}\n"
    assert read.write_refused(tmp_path / "gold.jsonl") == written
    written.write_text("corrected by hand\n", encoding="utf-8")
    assert read.write_refused(tmp_path / "gold.jsonl") == tmp_path / f"gold.jsonl.refused-2.{suffix}"
    assert written.read_text(encoding="utf-8") == "corrected by hand\n"


def test_the_fingerprint_changes_with_the_readings():
    own = fingerprint(disagreement("Ada", "Ida", ABSENT))
    changed = [disagreement("Ada", "Ida", None), disagreement("Ada", "Ida"), disagreement("Ida", "Ada", ABSENT)]
    assert own == fingerprint(disagreement("Ada", "Ida", ABSENT))
    assert own not in map(fingerprint, changed)
    assert own != fingerprint(disagreement("Ada", "Ida", ABSENT, name="e#/name"))


def test_the_fingerprint_changes_with_the_list_items_around_the_place():
    def of(outer, inner):
        items = tuple((Reading("ada", each, "/"), Reading("bob", ABSENT, None)) for each in (outer, inner))
        return fingerprint(disagreement("left", "right", items=items))

    outer, inner = {"day": 1, "tags": ["a"], "speakers": [{"name": "Ada"}]}, {"name": "Ada", "pages": [1]}
    own = of(outer, inner)
    assert own == of(outer | {"speakers": [{"name": "Ada"}, {"name": "Ida"}]}, inner)
    changed = [
        (outer | {"day": 2}, inner),
        (outer | {"tags": []}, inner),
        (outer, inner | {"pages": [2]}),
        (outer, ABSENT),
    ]
    assert own not in [of(*each) for each in changed]


@pytest.mark.parametrize(
    "value",
    [
        "Ada",
        "403",
        "",
        " x",
        "[1",
        '"a',
        "=1+1",
        "-1",
        "@x",
        "true",
        "TRUE",
        "FALSE",
        "VRAI",
        "True",
        "null",
        "é\n",
        403,
        -1.5,
        None,
        True,
        [1],
        {"a": "b"},
    ],
    ids=repr,
)
def test_a_cell_reads_back_as_its_value(value):
    text = cell_text(value)
    assert cell_value(text) == value
    assert type(cell_value(text)) is type(value)
    assert not (isinstance(value, str) and text.startswith(("=", "@", "-", "+")))


def test_the_table_of_a_queue_has_no_formulas_and_its_decisions_are_read_back(tmp_path):
    formula, escaped = "=HYPERLINK(1)", "'=1"
    own = [disagreement("Ada", "Ida", name=f"{name}#/name") for name in (formula, escaped)]
    made = [Decision(each.id, formula, f"+{each.document}", "@note") for each in own]
    path = tmp_path / "queue.csv"
    Queue(["=ada", "-bob"], own, {each.id: each for each in made}, "0").write(path)
    with path.open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell.startswith(FORMULA)]
    read = Decisions.read(path)
    assert not read.on(own).refused
    assert [(each.id, each.value, each.by, each.note) for each in read.by_id.values()] == [
        (each.id, each.value, each.by, each.note) for each in made
    ]
