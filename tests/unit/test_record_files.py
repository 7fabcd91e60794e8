"""Records in files: formats, ids, failures, and reading in several processes."""

import gzip
import io
import json
import os
import sys
import time
from pathlib import Path

import pytest
from tests.builders import read_records

import arbitre
from arbitre.corpus.executors import ProcessPool
from arbitre.errors import DataError, OptionError
from arbitre.inputs import blocks as blocks_module
from arbitre.inputs.blocks import BlockReader
from arbitre.inputs.corpus_sources import Sources
from arbitre.inputs.data_frames import ParquetTable
from arbitre.inputs.document_index import index_row
from arbitre.inputs.document_sources import source_records
from arbitre.inputs.open_files import split_lines
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.reader import Reader
from arbitre.inputs.records import Failure, Record


def read(source, **options):
    return list(read_records(source, "predicted", **options))


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(source, **options):
    with pytest.raises(DataError) as caught:
        read(source, **options)
    assert caught.value.hint
    return caught.value


@pytest.fixture
def stdin(monkeypatch):
    def give(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


class TestFolder:
    def test_documents_in_a_folder_are_named_by_their_files(self, tmp_path):
        write(tmp_path / "b.json", '{"id": 5, "run": "r"}')
        write(tmp_path / "a.json", "[1, 2]")
        write(tmp_path / "notes.txt", "{")
        (tmp_path / "c.json").mkdir()
        assert read(tmp_path) == [
            Record("a", None, [1, 2], str(tmp_path / "a.json")),
            Record("b", None, {"id": 5, "run": "r"}, str(tmp_path / "b.json")),
        ]

    def test_a_damaged_file_keeps_its_id(self, tmp_path):
        write(tmp_path / "a.json", "[1,\n2")
        write(tmp_path / "b.json", '{"x": [NaN]}')
        write(tmp_path / "c.json", "1")
        broken, refused, good = read(tmp_path)
        assert (broken.side, broken.id, broken.line, broken.file) == ("predicted", "a", 2, str(tmp_path / "a.json"))
        assert (refused.id, refused.pointer, refused.reason) == ("b", "/x/0", "Expected a finite number, got NaN")
        assert good.value == 1

    @pytest.mark.parametrize("name", ["b.json", "b.json.gz"])
    def test_a_link_to_a_missing_file_is_a_failure(self, tmp_path, name):
        write(tmp_path / "a.json", "1")
        (tmp_path / name).symlink_to(tmp_path / "missing")
        (tmp_path / "notes.txt").symlink_to(tmp_path / "missing")
        (tmp_path / "folder").mkdir()
        (tmp_path / "c.json").symlink_to(tmp_path / "folder")
        good, failure = read(tmp_path)
        assert (good.id, failure.id, failure.file) == ("a", "b", str(tmp_path / name))
        assert failure.reason.startswith("Cannot read the file")

    def test_a_folder_without_documents_is_refused(self, tmp_path):
        write(tmp_path / "a.txt", "1")
        assert refusal(tmp_path).file == str(tmp_path)

    @pytest.mark.parametrize(
        ("pattern", "labels"),
        [
            (None, ("page_02_01_vt", None)),
            (r"page_\d+", ("page_02", None)),
            (r"page_(\d+)_(\d+)", ("02", None)),
            (r"(\w)age_(?P<id>\d+)", ("02", None)),
            (r"(?P<id>page_\d+)_(?P<run>.*)", ("page_02", "01_vt")),
            (r"(page_\d+)_(?P<run>.*)", ("page_02", "01_vt")),
            (r"(?P<run>[a-z]+)_(\d+)", ("02", "page")),
            (r"(?P<id>page_\d+)(?P<run>x)?", ("page_02", None)),
            (r".*", ("page_02_01_vt", None)),
        ],
    )
    def test_an_id_pattern_splits_the_name_into_id_and_run(self, tmp_path, pattern, labels):
        write(tmp_path / "page_02_01_vt.json", "1")
        (record,) = read(tmp_path, id_pattern=pattern)
        assert (record.id, record.run, record.named) == (*labels, True)

    @pytest.mark.parametrize("pattern", [r"page_\d+", r"(page)?$", r"x*"])
    def test_a_name_that_does_not_match_the_id_pattern_is_a_failure(self, tmp_path, pattern):
        write(tmp_path / "cover.json", "1")
        (failure,) = read(tmp_path, id_pattern=pattern)
        assert (failure.id, failure.run, failure.file) == (None, None, str(tmp_path / "cover.json"))
        assert failure.reason == f"Expected the file name to match the id pattern {pattern!r}, got 'cover'"

    def test_a_damaged_file_keeps_its_run(self, tmp_path):
        write(tmp_path / "p1_x.json", "{")
        (failure,) = read(tmp_path, id_pattern=r"(p\d)_(?P<run>.)")
        assert (failure.id, failure.run) == ("p1", "x")

    def test_an_invalid_id_pattern_is_refused(self, tmp_path):
        write(tmp_path / "a.json", "1")
        with pytest.raises(OptionError, match=r"to be a regular expression, got '\(a': missing \)"):
            list(read_records(tmp_path, "gold", id_pattern="(a"))

    def test_a_slow_id_pattern_is_a_failure(self, tmp_path, monkeypatch):
        monkeypatch.setattr("arbitre.inputs.document_ids.PATTERN_SECONDS", 0.05)
        write(tmp_path / ("a" * 60 + "b.json"), "1")
        (failure,) = read(tmp_path, id_pattern=r"^(a|aa)+$|^(a|a|aa)+c$")
        assert "took more than 0.05 s" in failure.reason


GOOD = '{"id": "g%d", "x": 1}'
BAD = [
    (b'{"id": "b", "x": [1, 2', "truncated text", None),
    (b'{"id": "b", "x": NaN}', "got NaN", "/x"),
    (b'{"id": "b", "x": [1e999]}', "got 1e999", "/x/0"),
    (b'{"id": "b", "x": 1, "x": 2}', "got 'x' 2 times", ""),
    (b'{"id": "b", "x": "\xff"}', "byte 0xff", None),
    (rb'{"id": "b", "x": "\ud800"}', "lone surrogate", "/x"),
    (b'{"id": "b", "x": ' + b"[" * 600, "at most 512 nested", None),
    (b'{"id": "b", "x": ' + b"7" * 5000 + b"}", "got 5000 digits", "/x"),
    (b'{"id": "b"} {"id": "c"}', "more text after it", None),
    (b'{"id": "b", "x": 1,,}', "column 20", None),
    (b"oops", "Expecting value", None),
    (b"[1]", "an object with its id under 'id', got array", ""),
    (b'{"x": 1}', "an object with its id under 'id', got the keys 'x'", ""),
    (b"{}", "got the keys none", ""),
    (b'{"id": true}', "Expected 'id' to be text or an integer, got boolean", "/id"),
    (b'{"id": null}', "got null", "/id"),
    (b'{"id": 1.0}', "got number", "/id"),
    (b'{"id": "b", "run": ["x"]}', "Expected 'run' to be text or an integer, got array", "/run"),
]


class TestLines:
    def test_each_bad_line_is_one_failure(self, tmp_path):
        lines = [line for number, (bad, *_) in enumerate(BAD) for line in ((GOOD % number).encode(), bad)]
        path = write(tmp_path / "p.jsonl", b"\n".join(lines))
        found = read(path)
        assert len(found) == 2 * len(BAD)
        assert [record.id for record in found[::2]] == [f"g{number}" for number in range(len(BAD))]
        for index, (failure, (bad, words, pointer)) in enumerate(zip(found[1::2], BAD, strict=True)):
            assert isinstance(failure, Failure)
            assert (failure.line, failure.pointer, failure.file) == (2 * index + 2, pointer, str(path))
            assert words in failure.reason
            assert failure.id == ("b" if b'"b"' in bad else None)

    def test_labels_are_not_compared(self, tmp_path):
        path = write(tmp_path / "p.ndjson", '{"id": 7, "run": 2, "x": {"id": 1, "run": 3}}\n{"id": "a", "run": null}')
        assert read(path) == [
            Record("7", "2", {"x": {"id": 1, "run": 3}}, str(path), 1),
            Record("a", None, {}, str(path), 2),
        ]

    def test_another_key_can_hold_the_id(self, tmp_path):
        path = write(tmp_path / "p.JSONL", '{"id": 7, "doc/id": "a"}')
        assert read(path, id_key="doc/id") == [Record("a", None, {"id": 7}, str(path), 1)]

    def test_only_newlines_split_and_blank_lines_are_skipped(self, tmp_path):
        text = '{"id": "a", "x": "1\u2028\u00852"}'
        path = write(tmp_path / "p.jsonl", f'\ufeff{text}\r\n\n  \r\n{{"id":\r"b"}}\n')
        assert [(record.id, record.line) for record in read(path)] == [("a", 1), ("b", 4)]
        assert read(path)[0].value == {"x": "1\u2028\u00852"}

    def test_lines_deeper_than_the_limit_are_failures(self, tmp_path):
        path = write(tmp_path / "p.jsonl", '{"id": 1, "x": []}\n{"id": 2, "x": [[]]}')
        assert [type(item) for item in read(path, max_depth=2)] == [Record, Failure]

    def test_lines_are_read_lazily(self, tmp_path):
        path = write(tmp_path / "p.jsonl", '{"id": 1}\n{"id": 2}')
        stream = read_records(path, "gold")
        assert next(stream).id == "1"
        assert next(stream).line == 2


@pytest.mark.parametrize(
    ("line", "id_", "run"),
    [
        ('{"id": "a", "x": [', "a", None),
        ('{"id":12,"run" : "r1","x": "cut', "12", "r1"),
        ('{"x": {"id": "inner"}, "id": "outer", "y": [', "outer", None),
        ('{"x": [{"id": "inner"}, {"id": 2', None, None),
        ('{"id": 12', None, None),
        ('{"id": "tru', None, None),
        ('{"id": "l\'\\u00e9t\\u00e9 \\"1\\"", "x"', 'l\'été "1"', None),
        ('{"x": "\\"id\\": 5", "y": "id", "id": "z", !', "z", None),
        ('{"id": 1.5, "x"', None, None),
        ('{"id": "\\ud800", "x"', None, None),
        ('{"id": "a"}}', "a", None),
    ],
)
def test_a_damaged_line_keeps_its_readable_labels(tmp_path, line, id_, run):
    (failure,) = read(write(tmp_path / "p.jsonl", line))
    assert (failure.id, failure.run, failure.line) == (id_, run, 1)


def test_a_long_damaged_line_is_handled_quickly(tmp_path):
    path = write(tmp_path / "p.jsonl", '{"x": [' + '{"id": "a"},' * 20_000 + r'"\"id\": ' * 50_000)
    start = time.perf_counter()
    (failure,) = read(path)
    assert failure.id is None
    assert time.perf_counter() - start < 5


class TestDocument:
    def test_an_array_is_read_as_records(self, tmp_path):
        path = write(tmp_path / "p.json", '[{"id": "a", "x": 1}, {"id": [], "x": 1}, {"id": 3, "run": "r"}]')
        first, second, third = read(path)
        assert first == Record("a", None, {"x": 1}, str(path))
        assert (second.pointer, second.reason) == ("/1/id", "Expected 'id' to be text or an integer, got array")
        assert third == Record("3", "r", {}, str(path))

    def test_an_array_item_without_id_is_refused(self, tmp_path):
        error = refusal(write(tmp_path / "p.json", '[{"id": "a"}, {"x": 1}]'))
        assert (error.pointer, error.file) == ("/1", str(tmp_path / "p.json"))
        assert error.message == "Expected a record to be an object with its id under 'id', got the keys 'x'"

    def test_a_single_array_item_needs_no_id(self, tmp_path):
        path = write(tmp_path / "p.json", '[{"x": 1}]')
        assert read(path) == [Record("p", None, {"x": 1}, str(path), named=False)]

    @pytest.mark.parametrize("value", [{"x": 1}, "text", None, 3])
    def test_one_document_is_named_by_its_file(self, tmp_path, value):
        path = write(tmp_path / "p.q.json", json.dumps(value))
        assert read(path) == [Record("p.q", None, value, str(path), named=False)]

    def test_one_document_with_an_id_is_kept_whole(self, tmp_path):
        path = write(tmp_path / "p.json", '{"id": 7, "run": "r"}')
        assert read(path) == [Record("7", None, {"id": 7, "run": "r"}, str(path))]

    def test_an_id_pattern_applies_to_the_name_of_a_single_document(self, tmp_path):
        path = write(tmp_path / "p1_x.json", "{}")
        assert read(path, id_pattern=r"p\d") == [Record("p1", None, {}, str(path))]
        (failure,) = read(path, id_pattern="q")
        assert (failure.id, failure.file) == (None, str(path))

    def test_an_empty_array_holds_nothing(self, tmp_path):
        assert read(write(tmp_path / "p.json", "[]")) == []

    def test_a_damaged_file_is_refused_as_a_whole(self, tmp_path):
        assert refusal(write(tmp_path / "p.json", '[{"id": 1},\n{"id": 2}')).line == 2


class TestStandardInput:
    def test_standard_input_can_be_one_document(self, stdin):
        stdin(b'{\n"x": 1}\n')
        assert read("-", id_pattern="p") == [Record("stdin", None, {"x": 1}, "<stdin>", named=False)]

    def test_standard_input_can_be_an_array_of_records(self, stdin):
        stdin(b'[{"id": 1},\n{"id": 2}]')
        assert [record.id for record in read("-")] == ["1", "2"]

    def test_standard_input_can_be_lines_with_damage(self, stdin):
        stdin(b'{"id": 1, "x":\n\n{"id": 2}\n{"id": 3}')
        failure, *rest = read("-")
        assert (failure.line, failure.file) == (1, "<stdin>")
        assert [(record.id, record.line) for record in rest] == [("2", 3), ("3", 4)]

    @pytest.mark.parametrize(
        ("data", "line", "pointer"),
        [
            (b'{\n"x": 1,\n,}', 3, None),
            (b'{\n"x": NaN\n}', None, "/x"),
            (b'[{"id": 1},\n{"id": 2}', 2, None),
            (b'\xef\xbb\xbf[\n{"id": 1}\n', 3, None),
        ],
    )
    def test_a_damaged_document_on_standard_input_is_refused(self, stdin, data, line, pointer):
        stdin(data)
        error = refusal("-")
        assert (error.file, error.line, error.pointer) == ("<stdin>", line, pointer)


@pytest.mark.parametrize("name", ["none.json", "none.jsonl", "none.csv", "none"])
def test_a_missing_source_is_refused(tmp_path, name):
    assert refusal(tmp_path / name).file == str(tmp_path / name)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode")
def test_a_file_whose_name_is_not_unicode_is_refused(tmp_path):
    folder = tmp_path / os.fsdecode(b"f\xe9")
    folder.mkdir()
    write(folder / "a.json", "{}")
    names = write(folder / os.fsdecode(b"c\xff.json"), "{}"), write(tmp_path / os.fsdecode(b"c\xff.jsonl"), "")
    for source, name in ((folder, names[0]), (f"{folder}/*.json", names[0]), (names[0],) * 2, (names[1],) * 2):
        error = refusal(source)
        assert "name of the file is not valid UTF-8" in error.message
        assert error.file == os.fsencode(name).decode(errors="backslashreplace")
        assert error.file.isprintable()
    names[0].unlink()
    assert [record.id for record in read(folder)] == ["a"]
    write(folder / "b.json", "{")
    options = {"gold": folder, "predicted": folder}
    assert len(arbitre.evaluate({}, **options, out=tmp_path / "out").failures) == 2


def test_an_unsupported_source_is_refused(tmp_path):
    path = write(tmp_path / "p.ods", "a,b")
    assert refusal(str(path)).message.startswith(
        "Expected a folder, a .json, .jsonl, .ndjson, .csv, .tsv (plain, .gz or .zst), .parquet or .xlsx file"
    )


DAMAGED_LINES = ['{"id": "a", "v": 1}', "", '{"id": "b", "v": ', "  ", '{"v": 2}', '{"id": "c", "run": "r", "v": "é"}']


@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("size", [1, 7, 30, 1000])
def test_blocks_of_lines_give_the_records_of_the_file(tmp_path, size, end):
    source = tmp_path / "gold.jsonl"
    source.write_text("\ufeff" + "\n".join(DAMAGED_LINES) + end, encoding="utf-8")
    reader = Reader.of("gold", ReadOptions())
    whole = list(reader.line_file(source, str(source)))
    blocks = list(split_lines(str(source), size))
    read = BlockReader(reader, str(Path.cwd()), "")
    in_blocks = [item for block in blocks for item in read(block)]
    assert sum(block.length for block in blocks) == source.stat().st_size
    assert (len(blocks) > 1) == (size < 1000)
    assert in_blocks == [
        item if isinstance(item, Failure) else index_row(item, item.place, str(Path.cwd())) for item in whole
    ]


def name(item):
    """What is known of a record or a failure, without its value."""
    known = item.id, item.run, item.file, item.line
    return (*known, item.reason, item.pointer) if isinstance(item, Failure) else known


def test_processes_read_a_large_file_with_the_same_join(tmp_path):
    text = "x" * (1 << 20)
    lines = [json.dumps({"id": f"d{number}", "text": text}) for number in range(20)]
    source = write(tmp_path / "gold.jsonl", "\n".join([*lines, "{", *lines[:1]]) + "\n")
    shared = Sources(gold=source, predicted=source).joined(workers=ProcessPool(2))
    alone = Sources(gold=source, predicted=source).joined()
    assert list(shared) == list(alone)
    assert shared.failures == alone.failures


def folder_of_documents(folder):
    """Files of every kind that a folder may have: plain, compressed, damaged, without an id, with a repeated id."""
    folder.mkdir()
    for number in range(40):
        text = json.dumps({"name": f"n{number}"} if number % 7 else {"id": f"own{number % 2}", "name": "x"})
        if number % 5 == 4:
            (folder / f"d{number:02}.json.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (folder / f"d{number:02}.json").write_text(text[: -1 if number % 11 == 3 else None])
    return folder


def table_of_documents(file):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    texts = [json.dumps({"name": f"n{number}"}) for number in range(40)]
    texts[7], texts[20] = None, "{"
    table = pa.table({"id": [f"d{number % 38}" for number in range(40)], "gold": texts, "predicted": texts[::-1]})
    parquet.write_table(table, file, row_group_size=9)
    return file


def test_small_row_groups_are_read_together(tmp_path, monkeypatch):
    source = table_of_documents(tmp_path / "source.parquet")
    monkeypatch.setattr(blocks_module, "LARGE_FILE", 10)
    split = [(block.groups, block.row) for block in blocks_module.split(Reader.of("gold", ReadOptions()), str(source))]
    assert split == [(range(5), 1)]
    metadata, table = pytest.importorskip("pyarrow.parquet").read_metadata(source), ParquetTable(source)
    size = 1 + max(metadata.row_group(number).total_byte_size for number in range(5))
    blocks = list(table.blocks("id", ["gold"], size))
    assert blocks == [(range(2), 1), (range(2, 4), 19), (range(4, 5), 37)]
    read = [row for groups, first in blocks for row in table.rows("id", ["gold"], groups, first)]
    assert read == list(table.rows("id", ["gold"]))


@pytest.mark.parametrize("made", [folder_of_documents, table_of_documents])
@pytest.mark.parametrize("visible", [True, False], ids=["spool", "no spool"])
def test_blocks_of_files_and_rows_give_the_same_join(tmp_path, monkeypatch, made, visible):
    """Blocks are read here, one after the other, from another folder, as on another machine."""
    monkeypatch.setattr(blocks_module, "LARGE_FILE", 10)
    monkeypatch.setattr(blocks_module, "BLOCK_SIZE", 1)
    monkeypatch.setattr(blocks_module, "FILES", 6)
    monkeypatch.chdir(tmp_path)
    source = made(Path("source.parquet" if made is table_of_documents else "source"))
    (tmp_path / "elsewhere").mkdir()

    class Elsewhere:
        """Reads blocks as a worker with another current folder, which may not see the temporary files."""

        def prepare(self):
            self.blocks = 0

        def close(self):
            pass

        def map(self, function, items, **_):
            for item in items:
                self.blocks += 1
                monkeypatch.chdir(tmp_path / "elsewhere")
                here = function if visible else BlockReader(function.reader, function.home, "/nowhere")
                found = here(item)
                monkeypatch.chdir(tmp_path)
                yield found

    workers = Elsewhere()
    shared = Sources(gold=source, predicted=source).joined(workers=workers)
    alone = Sources(gold=source, predicted=source).joined()
    assert workers.blocks > 3
    assert list(shared) == list(alone)
    assert [pair.origins for pair in shared] == [pair.origins for pair in alone]
    assert len(shared.failures) > 1
    assert shared.failures == alone.failures
    assert shared.repaired == alone.repaired


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"id": "a", "gold": {"name": "Ada"}}', [("a", {"name": "Ada"})]),
        ('{"id": "a", "name": "Ada"}', [("a", {"id": "a", "name": "Ada"})]),
        ('{"name": "Ada"}', [("one", {"name": "Ada"})]),
        ('[{"name": "Ada"}]', [("one", [{"name": "Ada"}])]),
        ('[{"id": "a"}, {"id": "b"}]', [("a", {}), ("b", {})]),
    ],
)
def test_a_single_json_file_has_the_ids_of_its_records(tmp_path, text, expected):
    source = write(tmp_path / "one.json", text)
    assert [(record.id, record.value) for record in source_records(source, "id")] == expected
