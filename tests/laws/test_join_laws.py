"""Gold and predictions are joined as by a dictionary of their ids, wherever the records are stored."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import read_records

from arbitre.errors import DataError
from arbitre.inputs.corpus_sources import read_pairs
from arbitre.inputs.join import join, paired
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.records import Failure, Record, RecordPair
from arbitre.values import ABSENT

IDS = st.sampled_from(["a", "b", "c", "é", "", "a\0"])
RUNS = st.sampled_from([None, None, "x", "1", "2"])


def documents(side, ids):
    good = st.builds(Record, ids, RUNS, st.integers(0, 9), st.just("file"), st.integers(1, 99))
    bad = st.builds(
        Failure, st.just(side), st.none() | ids, RUNS, st.just("file"), st.integers(1, 99), reason=st.just("bad")
    )
    return st.lists(good | bad, max_size=12)


def told_apart(items):
    """The predictions of one document by run, and those whose run was there before."""
    runs = [item.run for item in items]
    numbers = (str(number) for number in count(1) if str(number) not in runs)
    taken, repeated = {}, []
    for item in items:
        run = next(numbers) if item.run is None and runs.count(None) > 1 else item.run
        if run in taken:
            repeated.append(
                Failure(
                    "predicted",
                    item.id,
                    item.run,
                    item.file,
                    item.line,
                    reason="duplicate id and run: ignored, the first prediction with both is compared",
                )
            )
        else:
            taken[run] = item
    return taken, repeated


def textbook(gold, predicted, only=()):
    """Pairs as (id, run, gold, predicted, failure), failures, predictions without gold."""
    known, failures = {}, []
    for item in gold:
        if isinstance(item, Failure):
            failures.append(item)
        elif item.id in known:
            failures.append(
                Failure(
                    "gold",
                    item.id,
                    item.run,
                    item.file,
                    item.line,
                    reason="duplicate id: ignored, the first gold document with this id is compared",
                )
            )
        else:
            known[item.id] = item
    answers, without = {name: [] for name in known}, []
    for item in predicted:
        if item.id in known:
            answers[item.id].append(item)
            continue
        failures += [item] * isinstance(item, Failure)
        without += [(item.id, item.run)] * (item.id is not None)
    if not any(answers.values()):
        return None
    pairs = []
    for name, items in answers.items():
        taken, repeated = told_apart(items)
        failures += repeated
        for run, item in (taken or {None: Failure("predicted", name, reason="no prediction")}).items():
            failed = replace(item, run=run) if isinstance(item, Failure) else None
            pairs.append((name, run, known[name].value, ABSENT if failed else item.value, failed))
    pairs = [pair for pair in pairs if not only or pair[0] in only]
    failures = [one for one in failures if not only or one.id is None or one.id in only]
    return (
        pairs,
        [*failures, *(pair[4] for pair in pairs if pair[4])],
        [name if run is None else f"{name}/{run}" for name, run in without if not only or name in only],
    )


def seen(joined):
    pairs = [(pair.id, pair.run, pair.gold, pair.predicted, pair.failure) for pair in joined]
    return pairs, list(joined.failures), list(joined.without_gold)


@given(documents("gold", IDS), documents("predicted", IDS | st.just("z")), st.booleans())
def test_join_equals_the_textbook_join(gold, predicted, some):
    known = {item.id for item in gold if isinstance(item, Record)}
    only = sorted(known)[:2] if some else ()
    expected = textbook(gold, predicted, only)
    if expected is None:
        with pytest.raises(DataError):
            join(gold, predicted, only=only)
        return
    joined = join(gold, predicted, only=only)
    assert seen(joined) == expected
    assert seen(joined) == expected  # read a second time
    assert [pair for part in joined.parts(2) for pair in part] == list(joined.pairs)
    assert all(pair.failure is None or any(pair.failure is one for one in joined.failures) for pair in joined)


@given(documents("gold", st.sampled_from("abc")), documents("predicted", st.sampled_from("abcz")))
def test_joining_a_file_equals_joining_its_records(gold, predicted):
    with TemporaryDirectory() as folder:
        sides = []
        for side, items in (("gold", gold), ("predicted", predicted)):
            path = Path(folder) / f"{side}.jsonl"
            lines = [
                json.dumps({"id": item.id, "run": item.run, "x": getattr(item, "value", 0)})[
                    : -isinstance(item, Failure) or None
                ]
                for item in items
            ]
            path.write_text("\n".join(lines), encoding="utf-8")
            sides.append(list(read_records(path, side)))
        expected = textbook(*sides)
        if expected is not None:
            assert seen(join(*sides)) == expected


@given(documents("gold", st.sampled_from("abc")), st.data())
def test_rows_are_distinguished_by_id_and_run(gold, data):
    rows = [
        RecordPair(
            item, None if isinstance(item, Failure) else replace(item, value=data.draw(st.integers(0, 9))), (str(at),)
        )
        for at, item in enumerate(gold)
    ]
    first = {}
    for at, item in enumerate(gold):
        if isinstance(item, Record):
            first.setdefault((item.id, item.run), at)
    joined = paired(iter(rows), factors=["row"])
    assert [(pair.id, pair.run) for pair in joined] == list(first)
    assert [pair.predicted for pair in joined] == [rows[at].predicted.value for at in first.values()]
    assert joined.factors == {"row": tuple(map(str, first.values()))}
    assert len(joined.failures) == len(gold) - len(first)
    assert [one.reason for one in joined.failures] == [
        item.reason
        if isinstance(item, Failure)
        else "duplicate id and run: rows with the same id need different values of `run`"
        for at, item in enumerate(gold)
        if at not in first.values()
    ]


def test_joining_rows_keeps_only_the_requested_ids():
    rows = [RecordPair(Record(name, None, name, "file"), Record(name, None, 1, "file")) for name in "abc"]
    assert [pair.gold for pair in paired(rows, only=["c", "a"])] == ["a", "c"]
    with pytest.raises(DataError, match="Expected --only to name documents, got 'd'"):
        paired(rows, only=["d"])
    assert len(paired(read_pairs([], ReadOptions()))) == 0


def test_documents_with_fewer_predictions_than_others_have_a_note():
    pages = [Record(name, None, 1, "file") for name in "abc"]
    runs = [Record(name, run, 1, "file") for run in ("1", "2") for name in "abc"]
    assert join(pages, runs).notes == join(pages, runs[:2]).notes == ()
    (note,) = join([*pages, Record("d", None, 1, "file")], runs[:4]).notes
    assert note == "2 of 3 documents have fewer than 2 predictions. Missing runs are not counted as failures."
    whole = join(pages, [*runs[:4], *(Record(name, "2", None, "file") for name in "bc")])
    assert whole.notes == ()


def test_requested_ids_may_be_integers():
    pages = [Record(name, None, 1, "file") for name in "12"]
    assert [pair.id for pair in join(pages, pages, only=[2])] == ["2"]
