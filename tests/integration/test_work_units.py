"""Work units are small, readable in any process, and join records in bounded memory."""

import gc
import gzip
import json
import pickle
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

import arbitre
from arbitre.errors import DataError
from arbitre.inputs.join import JoinedCorpus, join
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.projection import Projection
from arbitre.inputs.reader import Reader
from arbitre.inputs.records import Failure, Pair, Record
from arbitre.inputs.work_units import WorkUnit
from arbitre.values import ABSENT


def lines(count, **more):
    return "".join(json.dumps({"id": f"page_{at:06d}", "x": [at, "é"], **more}) + "\n" for at in range(count))


def sides(folder, reading=None, suffix=""):
    reading = reading or ReadOptions()
    return join(*(Reader.of(side, reading).records(folder / f"{side}.jsonl{suffix}") for side in ("gold", "predicted")))


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "gold.jsonl").write_text("\ufeff" + lines(10), encoding="utf-8")
    (tmp_path / "predicted.jsonl").write_text(lines(9, run="r"), encoding="utf-8")
    return tmp_path


def test_the_work_units_together_are_the_pairs(corpus):
    joined = sides(corpus)
    parts = list(joined.parts(4))
    assert [(part.start, len(part)) for part in parts] == [(0, 4), (4, 4), (8, 2)]
    assert [pair for part in parts for pair in part] == list(joined)
    assert [pair.gold["x"][0] for pair in joined] == list(range(10))
    assert joined.pairs[-1] == Pair("page_000009", None, {"x": [9, "é"]}, ABSENT, joined.failures[0])
    assert joined.pairs[2:4] == joined.pairs[:4][2:] == tuple(parts[0])[2:]
    with pytest.raises(IndexError):
        joined.pairs[10]


def test_pickled_work_units_hold_no_documents(corpus):
    (corpus / "gold.jsonl").write_text(lines(64, text="x" * 10_000))
    (corpus / "predicted.jsonl").write_text(lines(64, text="x" * 10_000))
    (part,) = sides(corpus).parts()
    assert len(pickle.dumps(part)) < 64 * 400


SCRIPT = """
import pickle, sys
part = pickle.load(sys.stdin.buffer)
sys.stdout.buffer.write(pickle.dumps([(pair.key, pair.gold, pair.predicted) for pair in part]))
"""


def elsewhere(part):
    """What another process reads."""
    command = [sys.executable, "-c", SCRIPT]
    path = {"PYTHONPATH": str(Path(arbitre.__file__).parents[1])}
    done = subprocess.run(command, input=pickle.dumps(part), capture_output=True, check=True, env=path)
    return pickle.loads(done.stdout)  # noqa: S301


def test_another_process_reads_plain_files_and_the_spool(corpus):
    for side in ("gold", "predicted"):
        (corpus / f"{side}.jsonl.gz").write_bytes(gzip.compress((corpus / f"{side}.jsonl").read_bytes()))
    plain, packed = sides(corpus), sides(corpus, suffix=".gz")
    built = sides(corpus, ReadOptions(project=Projection.from_expressions({"predicted": "{x: x}"})))
    expected = [(pair.key, pair.gold, pair.predicted) for pair in plain][:9]
    for joined in (plain, packed, built):
        (part,) = joined.parts(9 + 1)
        assert elsewhere(WorkUnit(0, part.items[:9])) == expected


def test_pairs_made_by_hand_can_be_split_into_work_units():
    pairs = tuple(Pair(str(at), None, at, at) for at in range(5))
    assert [tuple(part) for part in JoinedCorpus(pairs).parts(3)] == [pairs[:3], pairs[3:]]


@pytest.mark.parametrize("text", ["", '{"id": "other", "x": 1}\n' * 40, "[1, 2, 3, 4, 5, 6, 7]" * 40, "\0" * 2000])
def test_a_file_changed_during_the_run_is_an_error(corpus, text):
    joined = sides(corpus)
    (corpus / "gold.jsonl").write_text(text)
    with pytest.raises(DataError, match="The document 'page_000000' changed on disk") as caught:
        list(joined)
    assert caught.value.file == str(corpus / "gold.jsonl")


def test_a_file_removed_during_the_run_is_an_error(corpus):
    joined = sides(corpus)
    (corpus / "predicted.jsonl").unlink()
    with pytest.raises(DataError, match="changed on disk during the run"):
        list(joined)


def test_many_files_are_not_held_open(tmp_path):
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        for at in range(30):
            (tmp_path / side / f"{at:02d}.json").write_text(f"[{at}]")
    joined = join(*(Reader.of(side, ReadOptions()).records(tmp_path / side) for side in ("gold", "predicted")))
    assert [(pair.id, pair.gold, pair.predicted) for pair in joined] == [(f"{at:02d}", [at], [at]) for at in range(30)]
    assert joined.pairs[7].origins[0] == (str(tmp_path / "gold" / "07.json"), None)


def test_the_spool_is_deleted_with_the_join(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    joined = join([Record("a", None, {"x": 1}, "file")], [Record("a", None, 5, "file")])
    (spool,) = tmp_path.rglob("*.spool")
    assert spool.read_text() == '{"x": 1}5'
    assert list(joined) == [Pair("a", None, {"x": 1}, 5)]
    del joined
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_plain_files_need_no_spool(corpus, tmp_path_factory, monkeypatch):
    elsewhere = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    assert len(list(sides(corpus))) == 10
    assert list(elsewhere.iterdir()) == []


def test_a_join_holds_no_documents_in_memory(tmp_path):
    """Documents of 1 KB: Python holds next to nothing of them, and SQLite a cache (see test_memory)."""
    count = 4_000
    for side in ("gold", "predicted"):
        (tmp_path / f"{side}.jsonl").write_text(lines(count, text="x" * 1000))
    sides(tmp_path)  # allocates what is allocated once
    tracemalloc.start()
    joined = sides(tmp_path)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(joined) == count
    assert kept / count < 2
    assert (peak - 2**18) / count < 20


def test_many_records_with_one_id_are_joined():
    found = [Record("a", None, at, "file", at + 1) for at in range(5_000)]
    joined = join(found[:1], found)
    assert (len(joined), joined.pairs[-1].run, joined.pairs[-1].predicted) == (5_000, "5000", 4_999)
    joined = join(found[:1], [Record("a", "r", at, "file", at + 1) for at in range(5_000)])
    assert (len(joined), len(joined.failures)) == (1, 4_999)
    assert joined.failures[0] == Failure(
        "predicted",
        "a",
        "r",
        "file",
        2,
        reason="duplicate id and run: ignored, the first prediction with both is compared",
    )


def test_locations_do_not_depend_on_the_working_directory(corpus, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(corpus)
    (corpus / "gold").mkdir()
    (corpus / "gold" / "page_000003.json").write_text("[3]")
    joined = join(
        Reader.of("gold", ReadOptions()).records("gold"),
        Reader.of("predicted", ReadOptions()).records("predicted.jsonl"),
    )
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert list(joined) == [Pair("page_000003", "r", [3], {"x": [3, "é"]})]
    assert joined.pairs[0].origins == ((str(Path("gold", "page_000003.json")), None), ("predicted.jsonl", 4))
