"""Documents and manifests in CSV files."""

import gzip
import sys
import zipfile
from datetime import date, datetime

import openpyxl
import pytest
from typer.testing import CliRunner

import arbitre
from arbitre.cli import app
from arbitre.errors import DataError
from arbitre.inputs.corpus_sources import Sources
from arbitre.inputs.csv_table import CsvTable
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.reader import Reader
from arbitre.inputs.records import Failure
from arbitre.tables.row_file import read_rows

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "pages": {"type": "integer"},
        "price": {"type": ["number", "null"]},
        "paid": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "ref": {"type": ["string", "integer"]},
        "grade": {"enum": [1, 2]},
        "total": {"type": "number", "x-arbitre": {"aliases": ["sum"]}},
    },
}
COMPARATOR = arbitre.Comparator(SCHEMA)
READING = ReadOptions().for_plan(COMPARATOR.plan)


def read(path, text, reading=READING):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(Reader.of("predicted", reading).records(path))


def documents(path, text, reading=READING):
    return {record.id: record.value for record in read(path, text, reading)}


@pytest.mark.parametrize(
    ("name", "cell", "expected"),
    [
        ("name", "12", "12"),
        ("name", "true", "true"),
        ("name", "=1+1", "=1+1"),
        ("pages", "12", 12),
        ("pages", "-3", -3),
        ("pages", "twelve", "twelve"),
        ("pages", "007", "007"),
        ("price", "1.5", 1.5),
        ("price", "1 234", "1 234"),
        ("price", "null", None),
        ("price", "NaN", "NaN"),
        ("paid", "true", True),
        ("paid", "TRUE", True),
        ("paid", "False", False),
        ("paid", "VRAI", True),
        ("paid", "Falsch", False),
        ("name", "VRAI", "VRAI"),
        ("price", "VRAI", "VRAI"),
        ("paid", "yes", "yes"),
        ("paid", "1", "1"),
        ("tags", '["a"; 1]', '["a"; 1]'),
        ("ref", "12", "12"),
        ("grade", "2", 2),
        ("sum", "2.5", 2.5),
        ("unknown", "2", "2"),
    ],
)
def test_a_cell_is_read_as_the_kinds_of_its_field(tmp_path, name, cell, expected):
    assert documents(tmp_path / "p.csv", f"id,{name}\na,{cell}\n") == {"a": {name: expected}}


def test_a_cell_of_a_list_is_json(tmp_path):
    assert documents(tmp_path / "p.csv", 'id,tags\na,"[""x"",""y""]"\n') == {"a": {"tags": ["x", "y"]}}


def test_a_cell_may_be_longer_than_the_limit_of_the_csv_module(tmp_path):
    text = "a" * 131_073
    assert documents(tmp_path / "gold.csv", f"id,name\na,{text}\n") == {"a": {"name": text}}
    (tmp_path / "matches.csv").write_text(f"id,gold.name,name.quality\n'=a,{text},0.5\n", encoding="utf-8")
    table = read_rows(tmp_path / "matches.csv")
    assert (table["id"], table["gold.name"]) == (["=a"], [text])
    (tmp_path / "matches.csv").write_text("id,name\na\n", encoding="utf-8")
    with pytest.raises(DataError, match="Cannot read the file"):
        read_rows(tmp_path / "matches.csv")


def test_an_empty_cell_is_an_absent_field(tmp_path):
    assert documents(tmp_path / "p.csv", "id,name,pages\na,,3\nb,,\n") == {"a": {"pages": 3}, "b": {}}


def test_without_a_schema_all_cells_are_texts(tmp_path):
    assert documents(tmp_path / "p.csv", "id,pages\na,3\n", ReadOptions()) == {"a": {"pages": "3"}}


@pytest.mark.parametrize(
    "text",
    [
        "id,name,pages\na,Zoé,3\n",
        "id;name;pages\r\na;Zoé;3\r\n",
        "id\tname\tpages\na\tZoé\t3\n",
        "\ufeffid;name;pages\na;Zoé;3\n",
        '"id";"name";"pages"\n"a";"Zoé";"3"\n',
        "\ufeffid,name,pages\n\na,Zoé,3",
    ],
)
def test_delimiters_and_byte_order_marks_are_recognised(tmp_path, text):
    assert documents(tmp_path / "p.csv", text) == {"a": {"name": "Zoé", "pages": 3}}


def test_a_delimiter_in_the_name_of_a_column_does_not_mislead(tmp_path):
    assert documents(tmp_path / "p.csv", 'id;"name, first";b\na;x, y;z\n') == {"a": {"name, first": "x, y", "b": "z"}}


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize(
    "name", ["note\nx", "note\r\n(x, y; z)", "x, in m, or cm, or mm", 'a;b;c "d"; e', 'a\tb\tc"\td']
)
@pytest.mark.parametrize("start", ["", "\n", "\ufeff"])
def test_line_breaks_and_delimiters_in_quoted_names_do_not_mislead(tmp_path, mark, name, start):
    quoted = f'"{name.replace(chr(34), chr(34) * 2)}"'
    for names, cells in ((("id", "b", quoted), "a?y?x, z"), ((quoted, "id", "b"), "x, z?a?y")):
        text = f"{start}{mark.join(names)}\n{cells}\n".replace("x, z", '"x, z"').replace("?", mark)
        assert documents(tmp_path / "p.csv", text) == {"a": {name: "x, z", "b": "y"}}


@pytest.mark.parametrize("text", ['id,5" screen\na,x\n', 'id,x "y"\na,x\n', 'id, "x"\na,x\n'])
def test_a_name_may_contain_quotes_that_are_not_around_it(tmp_path, text):
    assert [list(value.values()) for value in documents(tmp_path / "p.csv", text).values()] == [["x"]]
    with pytest.raises(DataError, match="Cannot read the file as CSV"):
        read(tmp_path / "p.csv", 'id,"x\n')


def test_columns_at_the_end_without_names_and_values_are_left_out(tmp_path):
    first, second, third = read(tmp_path / "p.csv", "id;name;;\na;Bo;;\nb;Cy\nc;Di;;x\n")
    assert (first.value, second.value) == ({"name": "Bo"}, {"name": "Cy"})
    assert (third.line, third.reason) == (4, "Expected 2 cells, got 4")


def test_compressed_and_tab_separated_tables_are_read(tmp_path):
    assert documents(tmp_path / "p.csv.gz", gzip.compress(b"id,name\na,Bo\n")) == {"a": {"name": "Bo"}}
    assert documents(tmp_path / "p.tsv", "id\tname\na\tBo\n") == {"a": {"name": "Bo"}}


def test_rows_of_a_table_keep_their_run_and_line(tmp_path):
    records = read(tmp_path / "p.csv", "id,run,name\na,1,Bo\na,2,Cy\nb,,Di\n")
    assert [(record.id, record.run, record.line) for record in records] == [
        ("a", "1", 2),
        ("a", "2", 3),
        ("b", None, 4),
    ]


def test_a_broken_row_is_a_failure(tmp_path):
    first, second, third = read(tmp_path / "p.csv", "id,name\na\n,Bo\nb,Cy\n")
    assert isinstance(first, Failure)
    assert (first.line, first.reason) == (2, "Expected 2 cells, got 1")
    assert isinstance(second, Failure)
    assert (second.line, second.reason) == (3, "Expected an id in 'id', got an empty cell")
    assert third.value == {"name": "Cy"}


def test_rows_without_any_value_are_skipped_and_keep_their_lines(tmp_path):
    path = tmp_path / "p.csv"
    text = 'id;name;pages\n;;\na;Bo;1\n;"";\n;\n"";"";""\nb;Cy\n;;\n'
    first, second = read(path, text)
    assert (first.id, first.line) == ("a", 3)
    assert (second.line, second.reason) == (7, "Expected 3 cells, got 2")
    path.write_text(text.replace("b;Cy", "b;Cy;2"))
    evaluation = COMPARATOR.evaluate(gold=path, predicted=path, strict=True)
    assert (len(evaluation.documents), evaluation.failures) == (2, ())
    with pytest.raises(DataError) as caught:
        read(path, 'id;name\na;Bo\n;\n;\nb;"C')
    assert caught.value.hint == "Correct the row after line 4."


@pytest.mark.parametrize("name", ["p.tsv", "P.TSV", "p.tsv.gz"])
def test_a_tsv_file_is_split_at_tabs_if_its_first_row_has_one(tmp_path, name):
    text = "id\tname (last, first, middle, title)\na\tBo, Cy\n"
    data = gzip.compress(text.encode()) if name.endswith(".gz") else text
    assert read(tmp_path / name, data)[0].value == {"name (last, first, middle, title)": "Bo, Cy"}
    assert read(tmp_path / "comma.tsv", 'id,"x\ty"\na,Bo\n')[0].value == {"x\ty": "Bo"}


@pytest.mark.parametrize(
    ("data", "message", "hint"),
    [
        (
            "nr,name\na,Bo\n",
            "Expected one column 'id', got none",
            "Available: nr, name. Set the column of the id with --id-key",
        ),
        ("id,a,b,c,d,x,x\na,1,2\n", "Expected each column once, got several with the name 'x'", "Rename"),
        ("id,,,x\na,,,1\n", "got none for the columns 2, 3", "Name these columns"),
        (",id,x\n0,a,1\n", "Expected a name for the column 1, got none", "remove it"),
        ("", "Expected one column 'id', got none", "--id-key"),
        ('id,x\na,"b\n', "Cannot read the file as CSV", "Correct the row after line 1"),
        ("id;nom\na;Zoé\n".encode("cp1252"), "probably Windows-1252", "iconv -f CP1252 -t UTF-8"),
        ("id;nom\na;Zoé\n".encode("utf-16"), "probably UTF-16", "iconv -f UTF-16 -t UTF-8"),
    ],
)
def test_an_unreadable_table_names_the_cause_and_the_remedy(tmp_path, data, message, hint):
    with pytest.raises(DataError) as caught:
        read(tmp_path / "p.csv", data)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.file == str(tmp_path / "p.csv")


def test_a_compressed_table_in_another_encoding_gets_no_command(tmp_path):
    with pytest.raises(DataError) as caught:
        read(tmp_path / "p.csv.gz", gzip.compress("id;é\n".encode("cp1252")))
    assert caught.value.hint == "Save the table as CSV UTF-8"


def test_csv_documents_equal_the_json_documents_they_state(tmp_path):
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "name": "12", "pages": 3, "paid": true, "total": 1.5}\n')
    (tmp_path / "p.csv").write_text("id;name;pages;paid;sum\na;12;3;TRUE;1.5\n")
    joined = Sources(gold=tmp_path / "gold.jsonl", predicted=tmp_path / "p.csv").joined(READING)
    assert COMPARATOR.evaluate([(pair.id, pair.gold, pair.predicted) for pair in joined]).micro.f1q == 1.0


def test_gold_in_csv_is_checked_with_the_types_of_the_schema(tmp_path):
    (tmp_path / "gold.csv").write_text("id,pages\na,3\nb,many\n")
    (finding,) = COMPARATOR.check_gold(tmp_path / "gold.csv").findings
    assert (finding.id, finding.pointer) == ("b", "/pages")


def test_the_columns_of_a_manifest_may_be_separated_by_semicolons(tmp_path):
    for name in "gp":
        (tmp_path / f"{name}.json").write_text('{"name": "Bo"}')
    (tmp_path / "m.csv").write_text("\ufeffid;gold;predicted;modèle\na;g.json;p.json;petit\n", encoding="utf-8")
    joined = Sources(manifest=tmp_path / "m.csv").joined()
    assert [(pair.id, pair.predicted) for pair in joined] == [("a", {"name": "Bo"})]
    assert joined.factors == {"modèle": ("petit",)}


def test_a_csv_file_of_pairs_is_refused_with_the_options_to_use(tmp_path):
    (tmp_path / "m.csv").write_text("id,gold,predicted\na,g,p\n")
    with pytest.raises(DataError, match="got a CSV file") as caught:
        Sources(pairs=tmp_path / "m.csv").joined()
    assert "--manifest" in caught.value.hint


def test_a_table_can_be_read_several_times(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,x\na,1\n")
    table = CsvTable(path, ["id"], "")
    assert list(table.rows()) == list(table.rows()) == [(2, {"id": "a", "x": "1"})]


def test_a_schema_inferred_from_a_table_types_integers_and_dates_and_says_so(tmp_path):
    path = tmp_path / "gold.csv"
    path.write_text(
        "id,run,born,died,code,mixed,wrong,empty\n"
        "1,1,1865,1934-01-30,075,1,2020-02-30,\n"
        "2,1,-1,,751,x,2020-02-28,\n"
        "3,1,,1906-11-04,752,2,2020-02-28,\n"
    )
    inferred = arbitre.infer_schema(path)
    text, date = {"type": "string"}, {"type": "string", "format": "date"}
    expected = {"born": {"type": "integer"}, "died": date, "code": text, "mixed": text, "wrong": text}
    assert inferred.schema["properties"] == expected
    assert inferred.notes == (f"{path}: read as integers: born", f"{path}: read as dates: died")
    comparator = arbitre.Comparator.infer(path)
    assert comparator.schema == inferred.schema
    assert comparator.evaluate(gold=path, predicted=path).micro.f1q == 1.0
    assert arbitre.check_schema(inferred.schema, path, format_assertion=True).ok
    shown = CliRunner().invoke(app, ["schema", "infer", str(path)])
    assert f"{path}: read as integers: born" in shown.stderr.replace("\n", "")
    (tmp_path / "more.json").write_text('[{"id": "4", "died": "soon"}, {"id": "5"}]')
    both = arbitre.infer_schema([path, tmp_path / "more.json"])
    assert both.schema["properties"]["died"] == text


def test_an_excel_workbook_is_read_like_a_csv_file(tmp_path):
    path = tmp_path / "gold.xlsx"
    book = openpyxl.Workbook()
    rows = [
        ["id", "name", "pages", "price", "paid", "sent", None],
        [1, "12", 3.0, 1.5, True, date(1931, 3, 1)],
        [None, None],
        ["b", "=1+1", None, "1 234", False, datetime(1931, 3, 1, 10, 30)],  # noqa: DTZ001
        ["c", "Cy", 1, 2, True, None, "too many"],
    ]
    for row in rows:
        book.active.append(row)
    book.active["B4"].data_type = "s"
    book.create_sheet("other").append(["id"])
    book.save(path)
    first, second, third = Reader.of("gold", READING).records(path)
    assert (first.id, first.line) == ("1", 2)
    assert first.value == {"name": "12", "pages": 3, "price": 1.5, "paid": True, "sent": "1931-03-01"}
    assert (second.id, second.line) == ("b", 4)
    assert second.value == {"name": "=1+1", "price": "1 234", "paid": False, "sent": "1931-03-01T10:30:00"}
    assert (third.line, third.reason) == (5, "Expected 6 cells, got 7")
    assert COMPARATOR.evaluate(gold=path, predicted=path).micro.f1q == 1.0
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(DataError, match="Cannot read the file as an Excel workbook") as caught:
        list(Reader.of("gold", READING).records(path))
    assert caught.value.file == str(path)


def edit_workbook(path, member, before, after):
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    assert before in parts[member]
    parts[member] = parts[member].replace(before, after)
    with zipfile.ZipFile(path, "w") as book:
        for name, data in parts.items():
            book.writestr(name, data)


@pytest.mark.parametrize("stated", [b"A1:C2", b"A1:B3", b"A1", b"A1:F9"])
def test_all_cells_of_a_workbook_are_read_if_it_states_a_wrong_range(tmp_path, stated):
    path = tmp_path / "gold.xlsx"
    book = openpyxl.Workbook()
    for row in (["id", "name", "pages"], ["a", "Ada", 3], ["b", "Bo"]):
        book.active.append(row)
    book.save(path)
    edit_workbook(path, "xl/worksheets/sheet1.xml", b'ref="A1:C3"', b'ref="%s"' % stated)
    found = {record.id: record.value for record in Reader.of("gold", READING).records(path)}
    assert found == {"a": {"name": "Ada", "pages": 3}, "b": {"name": "Bo"}}


def test_a_workbook_with_an_empty_chart_sheet_is_refused(tmp_path):
    path = tmp_path / "gold.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["id"])
    book.create_chartsheet()  # openpyxl raises an AttributeError when it reads a chart sheet without a chart
    book.save(path)
    with pytest.raises(DataError, match="Cannot read the file as an Excel workbook") as caught:
        list(Reader.of("gold", READING).records(path))
    assert "CSV UTF-8" in caught.value.hint


def test_the_sheet_of_a_workbook_is_an_option_and_more_sheets_are_noted(tmp_path):
    path, schema = tmp_path / "book.xlsx", tmp_path / "schema.json"
    book = openpyxl.Workbook()
    book.active.title = "gold"
    for sheet, name in ((book.active, "Ada"), (book.create_sheet("answers"), "Bo")):
        sheet.append(["id", "name"])
        sheet.append(["a", name])
    book.save(path)
    schema.write_text('{"type": "object", "properties": {"name": {"type": "string"}}}')
    options = {"gold": path, "predicted": path, "predicted_sheet": "answers"}
    found = arbitre.evaluate(schema, **options)
    assert found.micro.f1q < 1.0 == arbitre.evaluate(schema, gold=path, predicted=path).micro.f1q
    assert found.notes == (f"{path} has 2 sheets; only the first, 'gold', is read. Set another with --gold-sheet.",)
    assert arbitre.evaluate(schema, **options, gold_sheet="gold").notes == ()
    with pytest.raises(DataError, match=r"""got 'answer'\n.*"answers"\? Also available: gold"""):
        arbitre.evaluate(schema, gold=path, predicted=path, predicted_sheet="answer")
    arguments = ["evaluate", "--schema", schema, "--gold", path, "--predicted", path, "--predicted-sheet", "answers"]
    shown = CliRunner().invoke(app, list(map(str, arguments)))
    assert "has 2 sheets" in shown.stderr
    sheets = arbitre.agreement.agree(schema, {"a": path, "b": path}, gold_sheet="answers")
    assert sheets.by_path["/name"].items == 1


def test_an_excel_workbook_without_openpyxl_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(DataError) as caught:
        list(Reader.of("gold", READING).records(tmp_path / "gold.xlsx"))
    assert "arbitre[excel]" in caught.value.hint
