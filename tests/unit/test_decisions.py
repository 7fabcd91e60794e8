"""Decisions files: how they are read, and errors with file and line."""

from __future__ import annotations

import csv
import json

import pytest

from arbitre.agreement.consensus.decisions import Decision, Decisions, cell_text, cell_value, fingerprint
from arbitre.agreement.consensus.disagreement import Disagreement, Reading
from arbitre.agreement.consensus.queue import Queue
from arbitre.errors import DataError
from arbitre.tables.csv_text import FORMULA
from arbitre.values import ABSENT


def disagreement(*values, name="d#/name"):
    readings = tuple(
        Reading(annotator, value, None if value is ABSENT else "/name")
        for annotator, value in zip(("ada", "bob", "cy"), values, strict=False)
    )
    document, _, place = name.partition("#")
    return Disagreement(name, document, place, place, "value", readings, values[0], 0.5, 0.0, "tie", 0.1, {})


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
    ]
    path.write_text("\n".join(row.replace(",", delimiter) for row in rows), encoding="utf-8")
    values = {name: decision.value for name, decision in Decisions.read(path).by_id.items()}
    assert values == {"a": "Ada", "c": ABSENT, "d": 403, "e": "403"}
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
    with pytest.raises(DataError, match=message) as refused:
        Decisions.read(path)
    assert (refused.value.file, refused.value.line) == (str(path), 2)


@pytest.mark.parametrize(
    ("row", "message"),
    [("a,[1,,Zoé", "truncated text"), ("a,,yes,Zoé", "'absent' to be true"), ("a,1", "Expected 4 cells, got 2")],
    ids=["json", "yes", "short"],
)
def test_an_invalid_row_is_refused_with_its_line(tmp_path, row, message):
    path = tmp_path / "decisions.csv"
    path.write_text(f"id,value,absent,by\n{row}\n", encoding="utf-8")
    with pytest.raises(DataError, match=message) as refused:
        Decisions.read(path)
    assert (refused.value.file, refused.value.line) == (str(path), 2)


def test_two_decisions_with_one_id_must_be_equal(tmp_path):
    first, equal, other, absent = (
        {"id": "a", "value": 1, "by": "Zoé"},
        {"id": "a", "value": 1.0, "by": "Ada"},
        {"id": "a", "value": True, "by": "Ada"},
        {"id": "a", "absent": True, "by": "Ada"},
    )
    assert Decisions.read(lines(tmp_path, first, equal)).by_id == {"a": Decision("a", 1, "Zoé")}
    with pytest.raises(DataError, match="differs from the one in line 1") as refused:
        Decisions.read(lines(tmp_path, first, other, absent))
    assert [problem.line for problem in refused.value.problems] == [2, 3]


def test_every_problem_of_a_file_is_reported(tmp_path):
    with pytest.raises(DataError) as refused:
        Decisions.read(lines(tmp_path, "{", {"id": "a", "value": 1, "by": "Zoé"}, {"id": "b"}))
    assert [problem.line for problem in refused.value.problems] == [1, 3]


def test_decisions_must_belong_to_a_disagreement(tmp_path):
    now = disagreement("Ada", "Ida")
    known = {"id": now.id, "value": "Ada", "by": "Zoé", "fingerprint": fingerprint(now)}
    Decisions.read(lines(tmp_path, known)).check([now])
    Decisions.read(lines(tmp_path, {"id": now.id, "value": "Ada", "by": "Zoé"})).check([now])
    path = lines(tmp_path, {"id": "d#/other", "value": 1, "by": "Zoé"}, known)
    with pytest.raises(DataError) as refused:
        Decisions.read(path).check([disagreement("Ada", "Eda")])
    problems = refused.value.problems
    assert [(problem.file, problem.line) for problem in problems] == [(str(path), 1), (str(path), 2)]
    assert "Expected the id of a disagreement, got 'd#/other'" in problems[0].message
    assert "have changed since the decision" in problems[1].message
    assert "annotations may have changed" in problems[0].hint


def test_the_fingerprint_changes_with_the_readings_only():
    own = fingerprint(disagreement("Ada", "Ida", ABSENT))
    changed = [disagreement("Ada", "Ida", None), disagreement("Ada", "Ida"), disagreement("Ida", "Ada", ABSENT)]
    assert own == fingerprint(disagreement("Ada", "Ida", ABSENT))
    assert own not in map(fingerprint, changed)
    assert own != fingerprint(disagreement("Ada", "Ida", ABSENT, name="e#/name"))


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
    read.check(own)
    assert [(each.id, each.value, each.by, each.note) for each in read.by_id.values()] == [
        (each.id, each.value, each.by, each.note) for each in made
    ]
