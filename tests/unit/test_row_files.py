"""Files of tables with many rows: CSV, or Parquet above a number of rows; and arrays that grow in memory maps."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import arbitre
from arbitre.errors import DataError, OptionError
from arbitre.storage import columns
from arbitre.storage.columns import GrowingArray, StringArray
from arbitre.tables import row_file
from arbitre.tables.csv_text import CsvDialect, csv_text, format_cells, format_numbers
from arbitre.tables.row_file import EncodedRows, RowFile, read_rows

TEXTS = [
    "Ada",
    "=1+1",
    "'=1",
    "'tis",
    "",
    "a,b;c",
    "x\ny",
    'q"q',
    "＝z",
    "\tx",
    "\rz",
    "'\n",
    "''@a",
    "é",
    "null",
    "1.5",
    "2,5",
    "-2,5e-07",
    "2,5 ",
]
NUMBERS = np.resize([0.5, np.nan, 1.0, 1 / 3], len(TEXTS))
WORDS = {"type": "array", "items": {"type": "string"}}


def write(stem, dialect, form=None, *, at_once=3):
    with RowFile(stem, ["id", "name.quality"], dialect, form) as file:
        for start in range(0, len(TEXTS), at_once):
            part = slice(start, start + at_once)
            cells = [format_cells(TEXTS[part], dialect), format_numbers(NUMBERS[part], dialect)]
            file.write(EncodedRows(csv_text(cells, dialect).encode(), len(cells[0])))
    return stem.with_name(file.name)


@pytest.mark.parametrize("name", ["standard", "excel-fr"])
@pytest.mark.parametrize("form", ["csv", "parquet", None])
def test_a_table_is_read_as_it_was_written(tmp_path, monkeypatch, name, form):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(row_file, "MAX_CSV_ROWS", 7)
    monkeypatch.setattr(row_file, "ROW_GROUP_BYTES", 20)
    file = write(tmp_path / "rows", CsvDialect.named(name), form)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    found = read_rows(file)
    assert list(found["id"]) == [text or None for text in TEXTS]
    np.testing.assert_array_equal(found["name.quality"], NUMBERS)


@pytest.mark.parametrize(("rows", "suffix"), [(len(TEXTS), ".csv"), (len(TEXTS) - 1, ".parquet")])
def test_the_number_of_rows_decides(tmp_path, monkeypatch, rows, suffix):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(row_file, "MAX_CSV_ROWS", rows)
    assert write(tmp_path / "rows", CsvDialect.named("standard")).suffix == suffix


def test_without_pyarrow_every_table_is_csv(tmp_path, monkeypatch):
    monkeypatch.setattr(row_file, "MAX_CSV_ROWS", 7)
    monkeypatch.setattr(row_file.arrow, "is_installed", lambda: False)
    assert write(tmp_path / "rows", CsvDialect.named("standard")).suffix == ".csv"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_error_leaves_no_file(tmp_path, form):
    pytest.importorskip("pyarrow")
    with pytest.raises(KeyError), RowFile(tmp_path / "rows", ["id"], form=form) as file:  # noqa: PT012
        file.write(EncodedRows(b"a\n", 1))
        raise KeyError
    assert not [*tmp_path.iterdir()]


class TestResults:
    @pytest.fixture
    def many(self, monkeypatch):
        pytest.importorskip("pyarrow")
        monkeypatch.setattr(row_file, "MAX_CSV_ROWS", 20)
        return [(f"d{at:03}", ["Ada", "Bo"], ["Ada", "Bob"]) for at in range(30)]

    def test_large_tables_are_parquet_and_small_ones_csv(self, tmp_path, many):
        found = arbitre.evaluate(WORDS, many, out=tmp_path / "out", diagnose=True, no_report=True)
        names = {path.name for path in (tmp_path / "out").iterdir()}
        assert {"matches.parquet", "faults.parquet", "documents.csv"} <= names
        assert not names & {"matches.csv", "faults.csv", "documents"}
        in_memory = arbitre.evaluate(WORDS, many, diagnose=True)
        for table in ("matches", "faults"):
            for loaded in (found, arbitre.load(tmp_path / "out")):
                assert loaded.to_arrow(table).equals(in_memory.to_arrow(table))
                assert loaded.scan(table).to_table().equals(in_memory.to_arrow(table))
                assert list(loaded.table(table)["id"]) == list(in_memory.table(table)["id"])

    def test_csv_on_request(self, tmp_path, many):
        arbitre.evaluate(WORDS, many, out=tmp_path, table="matches.csv", no_report=True)
        assert {path.name for path in tmp_path.glob("matches.*")} == {"matches.csv"}
        small = arbitre.evaluate(WORDS, many[:2], out=tmp_path, table="matches.parquet", no_report=True)
        assert {path.name for path in tmp_path.glob("matches.*")} == {"matches.parquet"}
        assert small.scan("matches").count_rows() == 4

    def test_no_matches(self, tmp_path, many):
        found = arbitre.evaluate(WORDS, many, out=tmp_path, no_matches=True, no_report=True)
        assert not [*tmp_path.glob("matches.*")]
        assert found.table("matches").size == 60  # the documents are compared again
        with pytest.raises(DataError, match="have no table of entries"):
            arbitre.load(tmp_path).table("matches")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"table": ["matches.csv", "matches.parquet"]}, "one format of the matches"),
            ({"table": "matches.csv", "no_matches": True}, "got both"),
            ({"table": "matches.md"}, "matches.csv or matches.parquet"),
            ({"table": "faults.csv"}, "requires"),
        ],
    )
    def test_refused(self, tmp_path, many, options, message):
        with pytest.raises(OptionError, match=message):
            arbitre.evaluate(WORDS, many, out=tmp_path / "out", **options)
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize("table", ["documents", "paths"])
    def test_every_table_can_be_scanned(self, many, table):
        found = arbitre.evaluate(WORDS, many)
        assert found.scan(table).to_table().equals(found.to_arrow(table))

    def test_checkpoints_are_kept_on_request(self, tmp_path, many):
        arbitre.evaluate(WORDS, many, out=tmp_path, keep_checkpoints=True)
        assert [path.name for path in (tmp_path / "documents").glob("*.jsonl")] == ["000000000.jsonl"]
        arbitre.evaluate(WORDS, many, out=tmp_path, resume=True)
        assert not (tmp_path / "documents").exists()


def test_a_large_array_equals_a_small_one(monkeypatch):
    monkeypatch.setattr(columns, "MAPPED", 100)
    array, texts = GrowingArray(np.float64), StringArray()
    for at in range(200):
        array.extend([at, -at])
        texts.extend([f"d{at}", "é"])
        if at % 50 == 0:
            assert array.view()[-2:].tolist() == [at, -at]
    array.pad(403)
    assert array.view().tolist() == [float(each) for at in range(200) for each in (at, -at)] + [0.0] * 3
    assert list(texts) == [text for at in range(200) for text in (f"d{at}", "é")]
    copy = pickle.loads(pickle.dumps((array, texts)))  # noqa: S301
    assert (copy[0].view() == array.view()).all()
    assert copy[1] == texts
    copy[0].extend([1, 2])
    assert len(copy[0]) == 405
