"""The files that an evaluation writes."""

from __future__ import annotations

import csv
import errno
import io
import json
import os

import pytest

import arbitre
from arbitre.corpus.archive import without_folders, write_archive
from arbitre.corpus.evaluate import ExecutionOptions
from arbitre.errors import DataError, OptionError
from arbitre.inputs.join import JoinedCorpus
from arbitre.inputs.records import Failure, Pair
from arbitre.jobs.evaluation_options import EvaluationOptions
from arbitre.jobs.result_files import evaluate_into
from arbitre.parsing.fast_json import json_text
from arbitre.report.entry_rows import EntryLayout
from arbitre.storage.files import atomic_text_file
from arbitre.tables.csv_text import CsvDialect, cell, csv_writer
from arbitre.tables.table import SCORE, Table, TableColumn
from arbitre.values import MAX_DEPTH

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "pages": {"type": "array", "items": {"type": "integer"}}},
}
PEOPLE = {"type": "object", "properties": {"people": {"type": "array", "items": PERSON}}}


STATUSES = ("matched", "missing", "spurious")


def plan(schema):
    return arbitre.Comparator(schema).plan


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def matches(tmp_path, schema, *pairs):
    """The rows of matches.csv for pairs of gold and predicted."""
    made = [Pair(f"d{number}", None, gold, predicted) for number, (gold, predicted) in enumerate(pairs)]
    evaluate_into(tmp_path, plan(schema), made)
    return table(tmp_path / "matches.csv")


def people(*items):
    return {"people": list(items)}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Zoé", "Zoé"),
        ("", ""),
        (None, ""),
        (arbitre.ABSENT, ""),
        (False, "false"),
        (3, "3"),
        (0.1, "0.1"),
        ([1, {"é": None}], '[1,{"é":null}]'),
    ],
)
def test_values_are_written_as_cells(value, text):
    assert cell(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0,5"), (1e-07, "1e-07"), (1.5e-07, "1,5e-07"), (3, "3"), ("0.5", "0.5"), ([0.5], "[0.5]"), (True, "true")],
)
def test_only_numbers_have_a_decimal_comma(value, text):
    assert cell(value, CsvDialect.named("excel-fr")) == text


def test_a_table_is_written_in_a_dialect():
    shown = Table.of("", (TableColumn("run"), TableColumn("f1q", SCORE)), (("a;b", 0.5),))
    assert shown.csv(CsvDialect.named("excel-fr")) == '\ufeffrun;f1q\n"a;b";0,5\n'


def test_an_unknown_dialect_is_refused():
    with pytest.raises(
        OptionError,
        match=r"""`csv_dialect` to be a known name, got 'excel'\n  Did you mean "excel-fr"\? Also available: standard""",
    ):
        EvaluationOptions(csv_dialect="excel")


@pytest.mark.parametrize("text", ["a\rb", "a\nb", "a\r\nb", "ends\r\n", "\r", 'a"b', "a,b"])
def test_no_line_break_in_a_cell_ends_a_row(tmp_path, text):
    item = {"name": text, "other": text}
    (row,) = matches(tmp_path, PEOPLE, (people(item), people(item)))
    expected = f"'{text}" if text.startswith("\r") else text
    assert row["name.gold"] == expected
    assert json.loads(row["undeclared"]) == {"gold": {"other": text}, "predicted": {"other": text}}
    file = io.StringIO()
    csv_writer(file).writerows([[text], [text, ""]])
    assert file.getvalue().count("\n") == 2 * (1 + text.count("\n"))
    assert list(csv.reader(io.StringIO(file.getvalue(), newline=""))) == [[text], [text, ""]]
    assert "\r" in text or "\r" not in file.getvalue()


def test_an_undeclared_field_that_is_null_on_one_side_is_listed_on_the_other(tmp_path):
    gold, predicted = {"name": "Ada", "born": 1815}, {"name": "Ada", "born": None}
    (row,) = matches(tmp_path, PEOPLE, (people(gold), people(predicted)))
    assert json.loads(row["undeclared"]) == {"gold": {"born": 1815}}


def test_a_value_of_the_maximum_depth_is_written():
    value = []
    for _ in range(MAX_DEPTH - 1):
        value = [value]
    assert cell(value) == "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert json.loads(json_text({"nodes": [{"gold": value}]})) == {"nodes": [{"gold": value}]}


def test_matches_has_a_row_for_each_entry_and_columns_for_each_field(tmp_path):
    gold = people({"name": "Ada", "pages": [1, 2]}, {"name": "Bob"})
    predicted = people({"name": "Cyd", "born": 1815}, {"name": "Zuzu"}, {"name": "Ada", "pages": [1], "born": 1815})
    rows = matches(tmp_path, PEOPLE, (gold, predicted))
    fields = [f"{name}.{part}" for name in ("name", "pages") for part in ("gold", "predicted", "distance", "quality")]
    head = ["id", "run", "gold_index", "predicted_index", "status", "mass"]
    assert list(rows[0]) == [*head, *fields, "undeclared", "distance", "quality", "signature"]
    assert [[row[name] for name in head] for row in rows] == [
        ["d0", "", "0", "2", "matched", "1"],
        ["d0", "", "1", "1", "matched", "1"],
        ["d0", "", "", "0", "spurious", "1"],
    ]
    ada, _, cyd = rows
    assert [ada[name] for name in fields] == ["Ada", "Ada", "0.0", "1.0", "[1,2]", "[1]", "0.5", "0.5"]
    assert json.loads(ada["undeclared"]) == {"predicted": {"born": 1815}}
    assert (ada["distance"], ada["quality"]) == ("0.5", "0.5")
    assert [cyd[name] for name in fields] == ["", "Cyd", "1.0", "0.0", "", "", "", ""]
    assert (cyd["undeclared"], cyd["distance"], cyd["quality"]) == ('{"predicted":{"born":1815}}', "1.0", "0.0")


@pytest.mark.parametrize(
    "match",
    [
        "hungarian",
        {"transport": {}},
        {"transport": {"solver": "partial", "mass": 0.6}},
        {"transport": {"solver": "unbalanced", "masses": "size"}},
    ],
    ids=str,
)
def test_the_masses_of_the_entries_add_up_to_the_counts(tmp_path, match):
    schema = {"type": "array", "items": {"type": ["string", "integer"]}, "x-arbitre": {"match": match}}
    documents = [(["x", "y"], ["x", "z", "x"]), (["ab", 3, "cd"], ["abc", "3"]), ([], ["x"]), (["x"], arbitre.ABSENT)]
    pairs = [Pair(f"d{at}", None, *sides) for at, sides in enumerate(documents)]
    evaluation, _ = evaluate_into(tmp_path, plan(schema), pairs)
    rows = table(tmp_path / "matches.csv")
    masses = {status: sum(float(row["mass"]) for row in rows if row["status"] == status) for status in STATUSES}
    scores = evaluation.micro
    assert masses["matched"] == pytest.approx(scores.matched)
    assert masses["missing"] == pytest.approx(scores.gold - scores.matched)
    assert masses["spurious"] == pytest.approx(scores.predicted - scores.matched)
    assert sum(float(row["mass"]) * float(row["quality"]) for row in rows) == pytest.approx(scores.quality_mass)
    if match == "hungarian":
        assert {row["mass"] for row in rows} == {"1"}


def test_the_mass_of_an_entry_is_part_of_the_mass_of_the_list_around_it(tmp_path):
    options = {"match": {"transport": {"solver": "partial", "mass": 0.6}}}
    words = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"entries": True, **options}}
    schema = {"type": "array", "items": words, "x-arbitre": options}
    pair = Pair("d", None, [["x", "y"], ["ab"]], [["x", "z", "x"], ["ac", "ab"], ["q"]])
    evaluation, _ = evaluate_into(tmp_path, plan(schema), [pair])
    masses = [float(row["mass"]) for row in table(tmp_path / "matches.csv") if row["status"] == "matched"]
    assert masses == pytest.approx([1.0, 0.2, 0.12])
    assert sum(masses) == pytest.approx(evaluation.micro.matched)


def test_a_missing_prediction_leaves_a_row_for_every_entry(tmp_path):
    gold = people({"name": "Ada"}, {"name": "Bob"})
    rows = matches(tmp_path, PEOPLE, (gold, arbitre.ABSENT), (people(), gold))
    assert [(row["id"], row["gold_index"], row["predicted_index"], row["status"]) for row in rows] == [
        ("d0", "0", "", "missing"),
        ("d0", "1", "", "missing"),
        ("d1", "", "0", "spurious"),
        ("d1", "", "1", "spurious"),
    ]


def test_entries_that_are_scalars_have_one_column(tmp_path):
    rows = matches(tmp_path, {"type": "array", "items": {"type": "string"}}, (["ab", "x"], ["ab"]))
    assert list(rows[0])[6:] == [
        *("value.gold", "value.predicted", "value.distance", "value.quality"),
        *("undeclared", "distance", "quality", "signature"),
    ]
    assert [row["value.gold"] for row in rows] == ["ab", "x"]
    assert [row["value.predicted"] for row in rows] == ["ab", ""]
    assert [row["undeclared"] for row in rows] == ["", ""]


def test_an_entry_of_another_kind_is_shown_as_undeclared(tmp_path):
    (row,) = matches(tmp_path, PEOPLE, (people({"name": "Ada"}), people("Ada")))
    assert (row["status"], row["name.gold"], row["name.predicted"]) == ("matched", "Ada", "")
    assert (row["undeclared"], row["quality"]) == ('{"predicted":"Ada"}', "0.0")


def test_entries_that_are_objects_or_scalars_have_both_columns(tmp_path):
    schema = {"type": "array", "items": {"anyOf": [PERSON, {"type": "string"}]}}
    rows = matches(tmp_path, schema, ([{"name": "Ada"}, "Bob"], [{"name": "Ada"}, "Bob"]))
    assert [(row["name.gold"], row["value.gold"]) for row in rows] == [("Ada", ""), ("", "Bob")]


def test_a_document_without_a_list_is_its_own_entry(tmp_path):
    rows = matches(tmp_path, PERSON, ({"name": "Ada"}, {"name": "Ada"}), ({"name": "Bob"}, arbitre.ABSENT))
    assert [(row["gold_index"], row["status"], row["name.gold"]) for row in rows] == [
        ("", "matched", "Ada"),
        ("", "missing", "Bob"),
    ]


def test_entries_below_another_list_have_both_positions(tmp_path):
    inner = {"type": "array", "items": PERSON, "x-arbitre": {"entries": True}}
    schema = {"type": "array", "items": {"type": "object", "properties": {"people": inner}}}
    assert EntryLayout.of(plan(schema)).names == ("name", "pages")
    gold = [people({"name": "Ada"}), people({"name": "Bob"}, {"name": "Cyd"})]
    rows = matches(tmp_path, schema, (gold, gold[::-1]))
    assert [(row["gold_index"], row["predicted_index"]) for row in rows] == [
        ("0/0", "1/0"),
        ("1/0", "0/0"),
        ("1/1", "0/1"),
    ]


def test_positions_are_sorted_as_numbers(tmp_path):
    names = [{"name": f"{number:02}"} for number in range(12)]
    rows = matches(tmp_path, PEOPLE, (people(*names), people(*names)))
    assert [row["gold_index"] for row in rows] == [str(number) for number in range(12)]


def test_documents_paths_and_failures_are_written(tmp_path):
    failure = Failure("predicted", "b", None, str(tmp_path / "some" / "b.json"), 3, reason="broken")
    pairs = (
        Pair("a", "1", people({"name": "Ada"}), people({"name": "Ada"})),
        Pair("b", None, people({"name": "Bob"}), arbitre.ABSENT, failure),
    )
    evaluation, files = evaluate_into(tmp_path, plan(PEOPLE), JoinedCorpus(pairs, (failure,)))
    assert files == (
        "evaluation.json",
        "documents.csv",
        "paths.csv",
        "matches.csv",
        *("failures.csv", "failures.jsonl", "results.npz"),
    )
    assert evaluation.failures == (failure,)
    first, second = table(tmp_path / "documents.csv")
    names = ("id", "run", "failed", "document_quality", "gold", "predicted", "matched", "f1q", "imq")
    assert [first[name] for name in names] == ["a", "1", "false", "1.0", "1", "1", "1", "1.0", "1.0"]
    assert [second[name] for name in names] == ["b", "", "true", "0.0", "1", "0", "0", "0.0", ""]
    paths = table(tmp_path / "paths.csv")
    assert [(row["path"], row["gold"], row["irq"]) for row in paths] == [
        ("/people/*", "2", "0.5"),
        ("/people/*/name", "2", "0.5"),
    ]
    assert (tmp_path / "failures.csv").read_bytes() == (
        b"side,id,run,file,line,pointer,reason\npredicted,b,,b.json,3,,broken\n"
    )
    kept = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    assert kept == without_folders(evaluation)
    assert str(tmp_path) not in json.dumps(kept)


def test_counts_of_absent_fields_are_whole_numbers(tmp_path):
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
    pairs = [Pair(key, None, gold, gold) for key, gold in {"a": {"name": "Ada"}, "b": {"age": 36}}.items()]
    evaluate_into(tmp_path, plan(schema), pairs)
    row = next(row for row in table(tmp_path / "paths.csv") if row["path"] == "/age")
    assert (row["absent"], row["true_negatives"], row["specificity"]) == ("1", "1", "1.0")


def test_the_same_corpus_gives_the_same_bytes_on_disk(tmp_path):
    pairs = [Pair(f"d{number}", None, people({"name": "é" * number}), people({"name": "e"})) for number in range(70)]
    for folder in ("one", "two"):
        evaluate_into(tmp_path / folder, plan(PEOPLE), pairs)
    for name in ("evaluation.json", "documents.csv", "paths.csv", "matches.csv"):
        data = (tmp_path / "one" / name).read_bytes()
        assert data == (tmp_path / "two" / name).read_bytes()
        assert b"\r" not in data
        assert data.endswith(b"\n")
    assert len(table(tmp_path / "one" / "matches.csv")) == 70


def test_results_of_a_version_without_violations_in_the_json_are_loaded(tmp_path):
    pairs = [("a", people({"name": "Ada"}), people({"name": 1}))]
    written = arbitre.Comparator(PEOPLE).evaluate(pairs, out=tmp_path, no_report=True, validate=True)
    plain = without_folders(written)
    assert len(plain.pop("violations")) == 1
    (tmp_path / "evaluation.json").write_text(json_text(plain), encoding="utf-8")
    write_archive(tmp_path / "results.npz", written)  # does not state its evaluation
    loaded = arbitre.load(tmp_path)
    assert len(loaded.table("matches").rows) == 1
    assert loaded.violations == written.violations


def test_failures_of_an_earlier_evaluation_are_removed(tmp_path):
    comparator, options = arbitre.Comparator(PEOPLE), {"out": tmp_path, "no_report": True}
    comparator.evaluate([("a", people(), arbitre.ABSENT)], validate=True, **options)
    assert {"failures.csv", "violations.csv"} <= {path.name for path in tmp_path.iterdir()}
    comparator.evaluate([("a", people(), people())], **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *(".arbitre-output", "documents.csv", "evaluation.json", "matches.csv", "paths.csv"),
        "results.npz",
    ]


def test_an_aborted_evaluation_keeps_the_earlier_files(tmp_path):
    evaluate_into(tmp_path, plan(PEOPLE), [Pair("a", None, people(), people())])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def stop(_pairs, _levels):
        raise DataError.of("enough")

    how = ExecutionOptions({"stop": stop})
    with pytest.raises(DataError, match="enough"):
        evaluate_into(tmp_path, plan(PEOPLE), [Pair("b", None, people({"name": "Ada"}), people())], how=how)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_that_cannot_be_replaced_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataError) as caught, atomic_text_file(tmp_path / "file" / "results.csv"):
        pass
    assert caught.value.file == str(tmp_path / "file" / "results.csv")
    assert caught.value.message.startswith("Cannot write the file: ")


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.ENOSPC, "Free some space"),
        (errno.EDQUOT, "Free some space"),
        (errno.EFBIG, "Raise the limit on the size of files"),
        (errno.EACCES, "Check the name and the permissions"),
    ],
)
def test_the_hint_for_a_file_that_cannot_be_written_suits_the_cause(tmp_path, number, hint):
    with pytest.raises(DataError) as caught, atomic_text_file(tmp_path / "results.csv"):
        raise OSError(number, os.strerror(number))
    assert caught.value.hint.startswith(hint)


def test_ignored_fields_have_no_columns(tmp_path):
    schema = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "note": {"type": "string", "x-arbitre": {"ignore": True}}},
        },
    }
    (row,) = matches(tmp_path, schema, ([{"name": "Ada", "note": "x"}], [{"name": "Ada", "note": "y"}]))
    assert [name for name in row if name.startswith("note")] == []
    assert (row["undeclared"], row["quality"]) == ("", "1.0")
