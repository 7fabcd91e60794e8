"""Manifests name the files of every pair and its metadata."""

import pytest

from arbitre.errors import DataError
from arbitre.inputs.corpus_sources import Manifest
from arbitre.inputs.join import paired
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.projection import Projection
from arbitre.values import ABSENT


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "gold").mkdir()
    for name, text in {
        "gold/1.json": "[1]",
        "gold/2.json": "[2]",
        "a.txt": "[10]",
        "b.json": "[20",
        "c": "[30]",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def manifest(folder, *lines, **options):
    path = folder / "manifest.csv"
    path.write_bytes("\n".join(lines).encode())
    return Manifest(path, ReadOptions(**options))


def joined(table):
    return paired(table.rows(), factors=table.factors)


def test_a_manifest_gives_pairs_and_factors(folder):
    table = manifest(
        folder,
        "\ufeffocr,id,run,gold,predicted,prompt",
        'vt,page 1,x,gold/1.json,a.txt,"short, sharp"',
        "boxes,page 1,y,gold/1.json,b.json,long",
        "boxes,page 2,,gold/2.json,,long",
    )
    result = joined(table)
    assert table.factors == ("ocr", "prompt")
    assert [(pair.key, pair.gold, pair.predicted) for pair in result] == [
        ("page 1/x", [1], [10]),
        ("page 1/y", [1], ABSENT),
        ("page 2", [2], ABSENT),
    ]
    assert result.factors == {"ocr": ("vt", "boxes", "boxes"), "prompt": ("short, sharp", "long", "long")}
    damaged, missing = result.failures
    assert (damaged.id, damaged.run, damaged.file, damaged.line) == ("page 1", "y", str(folder / "b.json"), 1)
    assert (missing.id, missing.file, missing.line) == ("page 2", str(folder / "manifest.csv"), 4)
    assert missing.reason == "no prediction"


def test_factors_stay_with_their_pairs(folder):
    result = joined(
        manifest(
            folder,
            "id,gold,predicted,level",
            "a,gold/none.json,c,one",
            "b,gold/1.json,c,two",
            "b,gold/1.json,c,three",
            "c,,c,four",
            "d,gold/2.json,c,five",
        )
    )
    assert [pair.id for pair in result] == ["b", "d"]
    assert result.factors == {"level": ("two", "five")}
    assert [(one.side, one.id, one.line) for one in result.failures] == [
        ("gold", "a", None),
        ("gold", "b", None),
        ("gold", "c", 5),
    ]
    assert result.failures[1].reason == "duplicate id and run: rows with the same id need different values of `run`"


def test_a_bad_line_is_a_failure(folder):
    result = joined(manifest(folder, "id,gold,predicted", "a,gold/1.json", ",gold/1.json,c", "", "b,gold/1.json,c"))
    assert [pair.id for pair in result] == ["b"]
    assert [(one.line, one.reason) for one in result.failures] == [
        (2, "Expected 3 cells, got 2"),
        (3, "Expected an id, got an empty cell"),
    ]


def test_manifest_files_are_read_with_the_read_options(folder):
    result = joined(
        manifest(
            folder,
            "page,truth,answer",
            "1,gold/1.json,b.json",
            id_key="page",
            gold_key="truth",
            predicted_key="answer",
            lenient=True,
            project=Projection.from_expressions({"gold": "{x: @}"}),
        )
    )
    assert [(pair.gold, pair.predicted) for pair in result] == [({"x": [1]}, [20])]
    assert [one.id for one in result.repaired] == ["1"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (
            ("id,gold,prediction", "a,b,c"),
            "Expected one column 'predicted', got none",
        ),
        (("",), "Expected one column 'id', got none"),
        (("id,gold,predicted,x,x", "a,b,c,d,e"), "Expected each column once"),
        (("id,gold,predicted", 'a,"b,c'), "Cannot read the file as CSV"),
    ],
)
def test_a_malformed_manifest_is_refused(folder, lines, words):
    with pytest.raises(DataError) as caught:
        joined(manifest(folder, *lines))
    assert words in caught.value.message
    assert caught.value.file == str(folder / "manifest.csv")
    assert caught.value.hint


def test_a_missing_or_undecodable_manifest_is_refused(tmp_path):
    with pytest.raises(DataError, match="Cannot read the file"):
        Manifest(tmp_path / "none.csv", ReadOptions())
    (tmp_path / "bad.csv").write_bytes(b"id,gold,\xff")
    with pytest.raises(DataError, match="Expected CSV in UTF-8"):
        Manifest(tmp_path / "bad.csv", ReadOptions())


@pytest.mark.parametrize("columns", [("gold", "predicted"), ("truth", "answer")])
def test_records_in_the_files_of_a_manifest_are_unwrapped(folder, columns):
    (folder / "g.json").write_text('{"id": "1", "gold": {"name": "Ada"}}')
    (folder / "p.json").write_text('{"id": "1", "predicted": {"name": "Bo"}}')
    keys = dict(zip(("gold_key", "predicted_key"), columns, strict=True))
    result = joined(manifest(folder, f"id,{','.join(columns)}", "page,g.json,p.json", **keys))
    assert [(pair.id, pair.gold, pair.predicted) for pair in result] == [("page", {"name": "Ada"}, {"name": "Bo"})]
    again = joined(manifest(folder, f"id,{','.join(columns)}", "page,p.json,g.json", **keys))
    assert [pair.gold for pair in again] == [{"id": "1", "predicted": {"name": "Bo"}}]
