"""Memory: compact columns, temporary databases, and the documented maximum of bytes per document."""

from __future__ import annotations

import errno
import gc
import json
import math
import random
import subprocess
import sys
import tracemalloc
from collections import Counter
from operator import attrgetter
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.builders import read_records

import arbitre
from arbitre import ABSENT, Comparator, Scores, Tally
from arbitre.arrays import exact_parts
from arbitre.errors import DataError
from arbitre.inputs.join import join
from arbitre.statistics.sample import means
from arbitre.storage.columns import CompactTable, GrowingArray, StringArray
from arbitre.storage.temporary import Database
from arbitre.tally import COUNTS, NAMES

PEOPLE = Comparator(
    {
        "type": "object",
        "properties": {
            "people": {
                "type": "array",
                "items": {"type": "object", "properties": {"name": {"type": "string"}, "page": {"type": "integer"}}},
            }
        },
    }
)
STATED = 50
STATED_OF_A_PATH = 20
STATED_OF_INTERVALS = 250
TEXTS = ["", "page_02", "é", "\ud800", "\U0001f600", "nul\0", "page_02"]


def written(folder, size, *, clean=False):
    """A corpus of JSON lines: two runs of some documents, none of others, and damaged ones, unless it is `clean`."""
    rng = random.Random(size)  # noqa: S311
    names = ["".join(rng.choices("abcdefgh", k=6)) for _ in range(50)]
    with (folder / "gold.jsonl").open("w") as gold, (folder / "predicted.jsonl").open("w") as predicted:
        for number in range(size):
            people = [{"name": rng.choice(names), "page": rng.randrange(9)} for _ in range(rng.randrange(3))]
            print(json.dumps({"id": f"page{number:04}", "people": people}), file=gold)
            for run in ("a", "b")[: 1 if clean else number % 3]:
                found = [{"name": rng.choice(names), "page": 1} | one for one in people if rng.random() < 0.8]
                page = "NaN" if number % 50 == 1 and not clean else "3"
                record = {"id": f"page{number:04}", "run": run, "people": [*found, {"page": 0}]}
                print(json.dumps(record).replace('"page": 0', f'"page": {page}'), file=predicted)
    return folder


def evaluated(folder):
    joined = join(read_records(folder / "gold.jsonl", "gold"), read_records(folder / "predicted.jsonl", "predicted"))
    return PEOPLE.evaluate(joined, no_diagnose=True)  # the search for causes reads at most 400 documents


def test_an_array_holds_the_values_that_were_appended():
    found = GrowingArray(np.float64)
    assert found.view().shape == (0,)
    found.extend(np.arange(3.0))
    found.pad(5)
    assert found.view().sum() == 3.0
    found.write(np.arange(5.0, 7.0).tobytes())
    found.pad(2)
    assert len(found) == 7
    assert found.view().tolist() == [0.0, 1.0, 2.0, 0.0, 0.0, 5.0, 6.0]


def test_a_full_database_is_an_error_with_advice():
    database = Database("CREATE TABLE some (value BLOB); PRAGMA max_page_count = 10")
    with pytest.raises(DataError, match="Not enough space for temporary files: database or disk is full") as caught:
        database.insert("INSERT INTO some VALUES (?)", ([bytes(1000)] for _ in range(100)))
    assert "TMPDIR" in str(caught.value)


def test_other_read_errors_are_not_reported_as_a_full_disk():
    def broken():
        raise OSError(errno.EIO, "Input/output error")
        yield

    with pytest.raises(OSError, match="Input/output error"):
        join(broken(), [])


def test_a_string_array_is_a_sequence_of_any_texts():
    texts = StringArray()
    texts.extend(TEXTS)
    assert texts == TEXTS
    assert texts == tuple(TEXTS)
    assert texts != TEXTS[:-1]
    assert texts != [*TEXTS[:-1], "page_03"]
    assert (texts[0], texts[-1], texts[3]) == ("", "page_02", "\ud800")
    assert texts[1:6:2] == ("page_02", "\ud800", "nul\0")
    assert list(texts.at([2, 0, 2])) == ["é", "", "é"]
    assert list(StringArray()) == []
    with pytest.raises(IndexError):
        texts[len(TEXTS)]


def test_texts_beyond_one_chunk_keep_their_order():
    assert list(StringArray.of(map(str, range(3000)))) == [str(number) for number in range(3000)]


def test_documents_with_equal_ids_are_distinguished_by_run():
    ids = [*(text for text in TEXTS if text != "\ud800"), "a", "a/2", "a", "a", "é"]
    evaluation = PEOPLE.evaluate((one, {"people": []}, {"people": []}) for one in ids)
    assert list(evaluation.document_table.ids) == ids
    keys = list(evaluation.document_table.keys)
    assert len(set(keys)) == len(keys)
    assert keys[-4:] == ["a/2", "a/3", "a/4", "é/2"]


def test_equal_run_names_are_stored_once():
    evaluation = PEOPLE.evaluate([("a", {"people": []}, {"people": []})] * 3 + [("b", {"people": []}, None)] * 3)
    runs = evaluation.document_table.runs
    assert list(runs) == [None, "2", "3"] * 2
    assert runs[1] is runs[4]


masses = st.floats(0, 1e9) | st.sampled_from([0.0, 0.1, 1 / 3, 5e-324, 1e300])


@given(st.lists(st.lists(masses, max_size=20), max_size=5))
def test_sums_over_chunks_equal_the_sum_of_all(blocks):
    parts = []
    for block in blocks:
        parts = exact_parts([*parts, *block])
    assert math.fsum(parts) == math.fsum(mass for block in blocks for mass in block)


@st.composite
def tallies(draw):
    gold, predicted = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    matched = draw(st.integers(0, min(gold, predicted)))
    qualities = draw(st.lists(st.floats(0, 1), min_size=matched, max_size=matched))
    return Tally(gold, predicted, matched, math.fsum(qualities), math.fsum(one * one for one in qualities))


@given(st.lists(st.tuples(tallies(), st.booleans())))
def test_means_of_columns_equal_means_of_scores(documents):
    rows = np.array([attrgetter(*Tally.__slots__)(tally) for tally, _ in documents], dtype=np.float64).reshape(-1, 5)
    failed = np.array([lost for _, lost in documents], dtype=np.bool_)
    found = means(rows, failed)
    kept = [(Scores(tally), lost) for tally, lost in documents if lost or not tally.vacuous]
    assert (found.vacuous, found.failed) == (len(documents) - len(kept), int(failed.sum()))
    for name in (*COUNTS, *NAMES):
        values = [0.0 if lost and name in NAMES else getattr(scores, name) for scores, lost in kept]
        known = [value for value in values if value is not None]
        assert (name, found.documents[name]) == (name, len(known))
        assert (name, getattr(found, name)) == (name, fmean(known) if known else None)


def test_documents_are_created_on_access():
    evaluation = PEOPLE.evaluate([("a", {"people": []}, {"people": [{}]}), ("b", {"people": [{}]}, ABSENT)] * 2)
    assert [one.key for one in evaluation.documents] == ["a", "b", "a/2", "b/2"]
    assert (evaluation.documents[-1].failed, evaluation.documents[0].tally) == (True, Tally(0, 1))
    assert Counter(one.run for one in evaluation.documents) == {None: 2, "2": 2}


def resident(folder, size):
    """Bytes that are held once a corpus is evaluated, and the most that were while its results were worked out."""
    folder = folder / str(size)
    folder.mkdir()
    written(folder, size, clean=True)
    gc.collect()
    tracemalloc.start()
    try:
        evaluation = evaluated(folder)
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        evaluation.to_dict()
        return np.array([held, tracemalloc.get_traced_memory()[1], len(evaluation.document_table)]), evaluation
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_memory_per_document_stays_within_the_stated_bound(tmp_path):
    resident(tmp_path, 100)  # loads what is loaded on first use
    (few, _), (many, evaluation) = resident(tmp_path, 4200), resident(tmp_path, 5200)
    held, most, documents = (many - few).tolist()
    paths = len(evaluation.document_table.paths)
    assert held / documents <= STATED + STATED_OF_A_PATH * paths
    assert most / documents <= STATED + STATED_OF_A_PATH * paths + STATED_OF_INTERVALS


SCRIPT = """
import re, sys
from pathlib import Path
from statistics import fmean
from arbitre.corpus.evaluate import _paired
from arbitre.inputs.join import join
from arbitre.inputs.records import ByteRange, Record

def records(side):
    for at in range(int(sys.argv[2])):
        yield Record(f"a rather long name of a page {at}", None, None, side, at + 1, place=ByteRange(side, at * 99, 99))

def triples():
    return ((one.id, None, None) for one in records("gold"))

kept = join(records("gold"), records("predicted")) if sys.argv[1] == "join" else sum(1 for _ in _paired(triples(), []))
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("what", ["join", "triples"])
def test_ids_and_locations_stay_on_disk_beyond_a_cache(what):
    """Measured in processes of their own, as the system counts: SQLite does not allocate through Python."""
    path = {"PYTHONPATH": str(Path(arbitre.__file__).parents[1])}
    command = [sys.executable, "-c", SCRIPT, what]
    few, many = (
        int(subprocess.run([*command, str(size)], capture_output=True, check=True, env=path).stdout) * 1024
        for size in (40_000, 80_000)
    )
    assert (many - few) / 40_000 < 50


CELLS = st.floats() | st.integers(0, 70_000).map(float) | st.sampled_from([0.0, -0.0, 255.0, 256.0, 65535.0, 65536.0])
PARTS = st.lists(st.integers(0, 4).flatmap(lambda rows: arrays(np.float64, (rows, 3), elements=CELLS)), max_size=4)


@pytest.mark.slow
@given(parts=PARTS)
@example(parts=[np.array([[1.0, 2.0, 3.0]]), np.array([[256.0, -0.0, np.nan]]), np.array([[1e300, 0.5, -1.0]])])
def test_a_table_holds_its_rows_bit_for_bit(parts):
    table = CompactTable(3)
    for part in parts:
        table.extend(part)
    rows = np.concatenate([np.empty((0, 3)), *parts])
    assert table.floats().tobytes() == rows.tobytes()
    assert np.asarray(table).tobytes() == rows.tobytes()
    assert table.floats(2).tobytes() == np.ascontiguousarray(rows[:, :2]).tobytes()
    assert len(table) == len(rows)


def test_small_whole_numbers_take_one_byte():
    table = CompactTable(3)
    table.extend(np.array([[7.0, 300.0, 0.5]] * 10))
    assert [column.nbytes for column in table.columns()] == [10, 20, 80]


def test_a_column_changes_its_type_when_needed():
    table = CompactTable(1)
    for number in range(300):
        table.extend(np.array([[float(number)]]))
    table.pad(301)
    assert table.floats()[:, 0].tolist() == [*map(float, range(300)), 0.0]
