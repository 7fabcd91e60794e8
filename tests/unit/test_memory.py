"""What is kept of a document: columns that go to the disk, texts in them, and no more bytes than are stated."""

from __future__ import annotations

import errno
import gc
import json
import math
import random
import tempfile
import tracemalloc
from collections import Counter
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre import ABSENT, Comparator, Scores, Tally
from arbitre.corpus import column as module
from arbitre.corpus import frames
from arbitre.corpus.column import Column, table
from arbitre.corpus.join import join
from arbitre.corpus.read import records
from arbitre.corpus.seen import Seen
from arbitre.corpus.statistics import means
from arbitre.corpus.sums import Sums, total
from arbitre.corpus.texts import NONE, Named, Texts
from arbitre.errors import DataError
from arbitre.report.tables import write_frame
from arbitre.tally import MacroScores

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
STATED = 200
STATED_OF_A_PATH = 40
STATED_OF_INTERVALS = 300
TEXTS = ["", "page_02", "é", "\ud800", "\U0001f600", "nul\0", "page_02"]


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Columns go to the disk beyond 300 bytes; the folder that temporary files are made in."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(module, "LIMIT", 300)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


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
    joined = join(records(folder / "gold.jsonl", "gold"), records(folder / "predicted.jsonl", "predicted"))
    return PEOPLE.evaluate(joined)


@pytest.mark.parametrize("limit", [0, 1, 100, 1 << 26])
def test_a_column_is_the_same_wherever_it_stands(small, monkeypatch, limit):
    monkeypatch.setattr(module, "LIMIT", limit)
    found = Column(np.float64, 5)
    found.extend(np.arange(15.0).reshape(3, 5))
    found.pad(5)
    assert found.view().sum() == 105.0
    found.write(np.arange(5.0).tobytes())
    assert len(found) == 6
    assert found.view().tolist() == [*np.arange(15.0).reshape(3, 5).tolist(), [0.0] * 5, [0.0] * 5, [0, 1, 2, 3, 4]]
    assert list(small.iterdir()) == []


def test_an_empty_column_has_the_shape_of_its_rows():
    assert Column(np.float64, 5).view().shape == (0, 5)
    assert table(0, 3).shape == (0, 3)


@pytest.mark.usefixtures("small")
def test_a_table_on_the_disk_is_written_over():
    found = table(100, 3)
    found[7] = 1.5
    found[:, 2] += 1.0
    assert total(found[:, 0]) == 1.5
    assert total(found[:, 2]) == 101.5


def test_a_disk_without_room_is_an_error_with_a_way_out(small, monkeypatch):
    def full(**_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(DataError, match="Expected room for temporary files, got: No space left on device") as caught:
        Column(np.uint8).write(bytes(301))
    assert caught.value.file == str(small)
    assert "TMPDIR" in str(caught.value)


@pytest.mark.parametrize("limit", [0, 1 << 26])
def test_texts_are_a_sequence_of_any_texts(monkeypatch, limit):
    monkeypatch.setattr(module, "LIMIT", limit)
    texts = Texts.of(TEXTS)
    assert texts == TEXTS
    assert texts == tuple(TEXTS)
    assert texts != TEXTS[:-1]
    assert texts != [*TEXTS[:-1], "page_03"]
    assert (texts[0], texts[-1], texts[3]) == ("", "page_02", "\ud800")
    assert texts[1:6:2] == ("page_02", "\ud800", "nul\0")
    assert list(texts.at([2, 0, 2])) == ["é", "", "é"]
    assert list(Texts()) == []
    with pytest.raises(IndexError):
        texts[len(TEXTS)]


def test_texts_beyond_one_portion_follow_each_other():
    assert list(Texts.of(map(str, range(3000)))) == [str(number) for number in range(3000)]


def test_named_values_are_none_or_a_name():
    named = Named(np.array([1, NONE, 0, 1], dtype=np.int32), ["raw", "clean"])
    assert list(named) == ["clean", None, "raw", "clean"]
    assert (named[1], len(named)) == (None, 4)


def test_what_was_seen_is_no_longer_new():
    seen, known, rng = Seen(), set(), random.Random(0)  # noqa: S311
    for _ in range(6000):
        text = str(rng.randrange(4000))
        assert seen.add(text) is (text not in known)
        known.add(text)


masses = st.floats(0, 1e9) | st.sampled_from([0.0, 0.1, 1 / 3, 5e-324, 1e300])


@given(st.lists(st.lists(st.tuples(masses, masses), max_size=20), max_size=5))
def test_sums_are_those_of_all_at_once(parts):
    sums = Sums(2)
    for part in parts:
        sums.add(np.array(part, dtype=np.float64).reshape(-1, 2))
    rows = [row for part in parts for row in part]
    assert sums() == [math.fsum(column) for column in zip(*rows, strict=True)] if rows else [0.0, 0.0]


@st.composite
def tallies(draw):
    gold, predicted = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    matched = draw(st.integers(0, min(gold, predicted)))
    qualities = draw(st.lists(st.floats(0, 1), min_size=matched, max_size=matched))
    return Tally(gold, predicted, matched, math.fsum(qualities), math.fsum(one * one for one in qualities))


@given(st.lists(st.tuples(tallies(), st.booleans())))
def test_means_of_columns_are_those_of_scores(documents):
    rows = np.array([attrgetter(*Tally.__slots__)(tally) for tally, _ in documents], dtype=np.float64).reshape(-1, 5)
    failed = np.array([lost for _, lost in documents], dtype=np.bool_)
    expected = MacroScores.of(*([Scores(tally) for tally, lost in documents if lost is flag] for flag in (False, True)))
    assert means(rows, failed) == expected


def test_what_stands_on_the_disk_gives_the_same_bytes(small, monkeypatch, tmp_path):
    folder, texts = written(tmp_path, 300), []
    for limit in (1 << 26, 300):
        monkeypatch.setattr(module, "LIMIT", limit)
        evaluation = evaluated(folder)
        with (tmp_path / "documents.csv").open("w") as file:
            write_frame(file, frames.documents(evaluation))
        made = (tmp_path / "documents.csv").read_text()
        texts.append((json.dumps(evaluation.to_dict()), made, repr(evaluation.interval("irq", path="/people/*/name"))))
        assert list(small.iterdir()) == []  # it has no name while it is there
    assert texts[0] == texts[1]
    assert len(texts[0][1].splitlines()) == 401


def test_documents_are_made_when_they_are_asked_for():
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
        return np.array([held, tracemalloc.get_traced_memory()[1], len(evaluation.columns)]), evaluation
    finally:
        tracemalloc.stop()


def test_no_more_is_kept_of_a_document_than_is_stated(tmp_path):
    (few, _), (many, evaluation) = resident(tmp_path, 1500), resident(tmp_path, 4500)
    held, most, documents = (many - few).tolist()
    paths = len(evaluation.columns.paths)
    assert 40 * paths < held / documents <= STATED + STATED_OF_A_PATH * paths
    assert most / documents <= STATED + STATED_OF_A_PATH * paths + STATED_OF_INTERVALS


def test_the_keys_of_triples_are_kept_in_little_room():
    sizes = []
    for size in (4000, 12000):
        tracemalloc.start()
        seen = Seen()
        for number in range(size):
            seen.add(f"a rather long name of a page {number}")
        sizes.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
    assert (sizes[1] - sizes[0]) / 8000 < 40
