"""Compressed files, Parquet tables, globs and several sources; and errors about missing libraries and files."""

import gzip
import io
import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arbitre.errors import DataError
from arbitre.inputs.corpus_sources import read_pairs
from arbitre.inputs.join import join, paired
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.reader import Reader
from arbitre.inputs.records import Failure, Record
from arbitre.values import ABSENT

LINES = b'{"id": "a", "x": 1}\n{"id": "b", "x": [2]}\n'
VALUES = [("a", {"x": 1}), ("b", {"x": [2]})]


def zstd(data):
    sink = pa.BufferOutputStream()
    with pa.output_stream(sink, compression="zstd") as file:
        file.write(data)
    return sink.getvalue().to_pybytes()


PACK = {".gz": gzip.compress, ".zst": zstd}


def read(sources, side="predicted", **options):
    return list(Reader.of(side, ReadOptions(**options)).records(sources))


def values(sources, **options):
    return [(record.id, record.value) for record in read(sources, **options)]


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def table(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


def refusal(sources, **options):
    with pytest.raises(DataError) as caught:
        read(sources, **options)
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("suffix", PACK)
class TestCompressed:
    def test_compressed_lines_are_read(self, tmp_path, suffix):
        path = write(tmp_path / f"p.jsonl{suffix}", PACK[suffix](LINES))
        assert values(path) == VALUES
        assert [(record.file, record.line) for record in read(path)] == [(str(path), 1), (str(path), 2)]

    def test_concatenated_members_are_read(self, tmp_path, suffix):
        path = write(tmp_path / f"p.ndjson{suffix}", PACK[suffix](LINES) + PACK[suffix](b'{"id": 3}'))
        assert [record.id for record in read(path)] == ["a", "b", "3"]

    def test_compressed_documents_arrays_and_folders_are_read(self, tmp_path, suffix):
        path = write(tmp_path / f"p.json{suffix}", PACK[suffix](b'{"x": 1}'))
        assert read(path) == [Record("p", None, {"x": 1}, str(path), named=False)]
        assert values(tmp_path) == [("p", {"x": 1})]
        path = write(tmp_path / f"p.json{suffix}", PACK[suffix](b'[{"id": 1}, {"id": 2, "x": 3}]'))
        assert values(path) == [("1", {}), ("2", {"x": 3})]

    def test_a_truncated_file_is_refused(self, tmp_path, suffix):
        whole = PACK[suffix](b"".join(b'{"id": "%d", "x": %d}\n' % (one, one**7) for one in range(5000)))
        path = write(tmp_path / f"p.jsonl{suffix}", whole[: len(whole) // 2])
        assert refusal(path).file == str(path)
        assert refusal(path).hint == "Check that the file is complete and has the format that its suffix states."
        assert refusal(tmp_path / f"none.jsonl{suffix}").hint == "Check the name and the permissions."

    def test_a_file_that_is_not_compressed_is_refused(self, tmp_path, suffix):
        assert refusal(write(tmp_path / f"p.jsonl{suffix}", LINES)).message.startswith("Cannot read the file")

    def test_compressed_and_plain_files_are_joined(self, tmp_path, suffix):
        gold = write(tmp_path / f"gold.jsonl{suffix}", PACK[suffix](LINES))
        predicted = write(tmp_path / "predicted.jsonl", b"".join(reversed(LINES.splitlines(keepends=True))))
        joined = join(read(gold, "gold"), read(predicted))
        assert [(pair.id, pair.gold == pair.predicted, pair.gold) for pair in joined] == [
            (name, True, value) for name, value in VALUES
        ]
        assert joined.pairs[1].origins == ((str(gold), 2), (str(predicted), 1))


class TestParquet:
    def test_parquet_columns_hold_texts_or_values(self, tmp_path):
        texts = table(tmp_path / "a.parquet", id=["a", "b"], predicted=['{"x": 1}', '{"x": [2]}'], other=[1, 2])
        assert values(texts) == VALUES
        nested = table(tmp_path / "b.parquet", id=[7, 8], run=["r", None], predicted=[{"x": [1]}, {"x": []}])
        assert read(nested) == [
            Record("7", "r", {"x": [1]}, str(nested), 1),
            Record("8", None, {"x": []}, str(nested), 2),
        ]

    def test_parquet_columns_can_be_named(self, tmp_path):
        path = table(tmp_path / "a.parquet", page=["a"], answer=["[1]"], truth=[[1.5]])
        options = {"id_key": "page", "predicted_key": "answer", "gold_key": "truth"}
        assert values(path, **options) == [("a", [1])]
        assert [record.value for record in read(path, "gold", **options)] == [[1.5]]

    def test_a_parquet_column_may_have_the_logical_type_json(self, tmp_path):
        texts = pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"x": 1}', None, "{"]))
        found = read(table(tmp_path / "a.parquet", id=["a", "b", "c"], predicted=texts))
        assert (found[0].value, [one.line for one in found[1:]]) == ({"x": 1}, [2, 3])

    def test_each_bad_parquet_row_is_one_failure(self, tmp_path):
        path = table(
            tmp_path / "a.parquet",
            id=["a", "b", None, "d", "e"],
            predicted=['{"x": [1, 2', "NaN", "1", None, "5"],
        )
        found = read(path)
        assert [(one.id, one.line, one.file) for one in found] == [
            (name, at, str(path)) for at, name in enumerate(["a", "b", None, "d", "e"], start=1)
        ]
        assert [one.pointer for one in found[:3]] == [None, "", "/id"]
        assert found[3].reason == "Expected a document in 'predicted', got null"
        assert found[4].value == 5

    def test_parquet_values_that_are_not_json_are_failures(self, tmp_path):
        path = table(tmp_path / "a.parquet", id=["a"], predicted=[{"x": [1.0, float("nan")]}])
        (failure,) = read(path)
        assert (failure.pointer, failure.reason) == ("/x/1", "Expected a finite number, got NaN")

    def test_parquet_rows_are_read_across_batches(self, tmp_path):
        path = table(tmp_path / "a.parquet", id=list(range(3000)), predicted=[[one] for one in range(3000)])
        assert [(one.id, one.value, one.line) for one in read(path)] == [(str(n), [n], n + 1) for n in range(3000)]

    @pytest.mark.parametrize(
        ("columns", "words"),
        [
            ({"id": ["a"], "prediction": ["1"]}, "Expected one column 'predicted', got none"),
            ({"predicted": ["1"]}, "Expected one column 'id'"),
            ({"id": ["a"], "predicted": [b"1"]}, "got the type binary"),
            ({"id": ["a"], "predicted": pa.array([{"x": [0]}], pa.struct([("x", pa.list_(pa.date32()))]))}, "date32"),
        ],
    )
    def test_a_parquet_file_with_wrong_columns_is_refused(self, tmp_path, columns, words):
        error = refusal(table(tmp_path / "a.parquet", **columns))
        assert words in error.message
        assert error.file == str(tmp_path / "a.parquet")

    def test_a_file_that_is_not_parquet_is_refused(self, tmp_path):
        assert "Parquet" in refusal(write(tmp_path / "a.parquet", b"x" * 100)).message
        assert "Parquet" in refusal(tmp_path / "none.parquet").message

    def test_parquet_rows_with_both_sides_are_paired(self, tmp_path):
        path = table(
            tmp_path / "a.parquet",
            id=["a", "b", "c", "d", "a"],
            gold=["[1]", "[2]", "[3", None, "[9]"],
            predicted=["[10]", None, "[30]", "[40]", "[90]"],
        )
        joined = paired(read_pairs(path, ReadOptions()))
        assert [(pair.id, pair.gold, pair.predicted) for pair in joined] == [("a", [1], [10]), ("b", [2], ABSENT)]
        assert [(one.side, one.id, one.line) for one in joined.failures] == [
            ("predicted", "b", 2),
            ("gold", "c", 3),
            ("gold", "d", 4),
            ("gold", "a", 5),
        ]

    def test_a_damaged_parquet_prediction_fails_its_pair(self, tmp_path):
        path = table(tmp_path / "a.parquet", id=["a"], gold=["[1]"], predicted=["[1"])
        (pair,) = paired(read_pairs(path, ReadOptions()))
        assert (pair.gold, pair.predicted, pair.failure.line) == ([1], ABSENT, 1)


@pytest.mark.usefixtures("corpus")
class TestSeveral:
    @pytest.fixture
    def corpus(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        write(tmp_path / "one" / "b.jsonl", '{"id": "b", "x": 2}')
        write(tmp_path / "one" / "a.jsonl", '{"id": "a", "x": 1}')
        write(tmp_path / "two" / "deep" / "c.json", '{"x": 3}')
        write(tmp_path / "[x].json", '{"x": 4}')

    def test_a_glob_finds_files_by_name(self):
        assert [one.id for one in read("one/*.jsonl")] == ["a", "b"]
        assert [one.id for one in read("**/*.json*")] == ["[x]", "a", "b", "c"]
        assert [one.id for one in read("[x].json")] == ["[x]"]

    def test_several_sources_are_read_in_the_given_order(self):
        assert [one.id for one in read(["two/deep", "one/b.jsonl", "one/a*"])] == ["c", "b", "a"]

    def test_a_glob_without_matches_is_refused(self):
        assert refusal("three/*.json").message == "Expected 'three/*.json' to match files, got none"

    def test_one_damaged_file_among_others_is_a_failure(self, tmp_path):
        write(tmp_path / "two" / "deep" / "d.json", '{"x": ')
        write(tmp_path / "two" / "deep" / "e.json", '[{"id": "e1", "x": 1}, {"x": 2}]')
        found = read("two/deep/*.json")
        assert [(one.id, type(one)) for one in found] == [("c", Record), ("d", Failure), ("e1", Record), ("e", Failure)]
        assert found[1].file.endswith("d.json")
        assert found[3].pointer == "/1"

    def test_several_gold_files_are_joined_with_several_predictions(self, tmp_path):
        write(tmp_path / "p1.jsonl", '{"id": "b", "x": 20}\n{"id": "c", "x": 30}')
        write(tmp_path / "p2.jsonl", '{"id": "a", "x": 10}\n{"id": "b", "x": 21}')
        joined = join(read(["one/*.jsonl", "two/deep"], "gold"), read("p?.jsonl"))
        assert [(pair.key, pair.gold["x"], pair.predicted["x"]) for pair in joined] == [
            ("a", 1, 10),
            ("b/1", 2, 20),
            ("b/2", 2, 21),
            ("c", 3, 30),
        ]


class TestStandardInput:
    def test_standard_input_is_read_line_by_line(self, monkeypatch):
        data = io.BytesIO(b'\n{"id": 1}\n\n{"id": 2}\n{"id": 3}\n')
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
        found = Reader.of("gold", ReadOptions()).records("-")
        assert [(next(found).id, next(found).line) for _ in range(1)] == [("1", 4)]
        assert data.tell() < len(data.getvalue())

    @pytest.mark.parametrize("text", [b'{"id": 1, "x": 2}', b'\n{"id": 1,\n"x": 2}\n\n', b'{"rows": [\n{"id": 1}\n]}'])
    def test_standard_input_can_be_one_document(self, monkeypatch, text):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        (record,) = read("-")
        assert (record.value, record.file) == (json.loads(text), "<stdin>")

    def test_empty_standard_input_is_refused(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n")))
        assert "got an empty text" in refusal("-").message


@pytest.mark.parametrize(
    ("module", "source", "options"),
    [
        ("pyarrow", "a.parquet", {}),
        ("pyarrow", "a.jsonl.zst", {}),
        ("json_repair", "a.json", {"lenient": True}),
        ("json_repair", "a.jsonl", {"lenient": True}),
        ("pyarrow", "folder/a.json.zst", {}),
    ],
)
def test_a_missing_extra_is_named(tmp_path, monkeypatch, module, source, options):
    monkeypatch.setitem(sys.modules, module, None)
    path = write(tmp_path / source, "[1")
    error = refusal(path.parent if "folder" in source else path, **options)
    assert error.hint == "Install it: pip install 'arbitre[corpus]'"
    assert "which cannot be imported" in error.message
