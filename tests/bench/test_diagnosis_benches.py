"""The diagnosis finds planted faults, splits, merges and moved values, finds none in undamaged documents, and is fast."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.bench import diagnosis, joins
from tests.bench.detectors import DATA, Accuracy, available, measure, of_undamaged, same
from tests.bench.moves import (
    TOWNS,
    false_alarms,
    false_alarms_among_errors,
    false_objects,
    object_recall,
    recall,
)

from arbitre.diagnosis.joins import find_joins
from arbitre.engine import compare_batch

RECALL = {"rename": 0.9}
"""Minimum recall by kind of fault."""

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not here")


@needs_data
@pytest.mark.nightly
def test_nine_of_ten_findings_of_each_detector_are_correct():
    accuracies, copies = measure(detectors=available())
    assert copies >= 200
    assert set(accuracies) == {"rename", *available()}
    for kind, accuracy in accuracies.items():
        assert accuracy.findings >= 40, kind
        assert accuracy.precision >= 0.9, (kind, accuracy.precision, accuracy.wrong[:5])
        assert accuracy.recall >= RECALL.get(kind, 0.0), (kind, accuracy.recall, accuracy.missed[:5])


@needs_data
def test_undamaged_documents_have_no_findings():
    assert of_undamaged(available()) == []


def test_findings_and_faults_are_the_same_by_their_pointers():
    merge = (("/people/3", "/people/4"), ("/people/3",))
    assert same(merge, merge)
    assert not same((("/people/3", "/people/5"), ("/people/3",)), merge)
    assert not same((("/people/3",), ("/people/3",)), merge)
    assert same((("/people/3/pages/1",), ("/people/4/pages/7",)), (("/people/3/pages",), ("/people/4/pages",)))
    assert not same((("/people/30",), ()), (("/people/3",), ()))


def test_precision_and_recall_count_findings_and_faults():
    first, second, third = ((("/0",), ("/1",)), (("/2",), ("/3",)), (("/4",), ("/5",)))
    accuracy = Accuracy()
    assert (accuracy.precision, accuracy.recall) == (None, None)
    accuracy.add([first, third], [first, second])
    assert (accuracy.precision, accuracy.recall) == (0.5, 0.5)
    assert (accuracy.wrong, accuracy.missed) == ([third], [second])
    accuracy.add([third], [], allowed=[third])
    assert (accuracy.precision, accuracy.recall) == (2 / 3, 0.5)


MOST = 1.0
"""Maximum processor time of the list of faults with costs and repair gains, in comparisons."""


@pytest.mark.nightly
@pytest.mark.skipif(not diagnosis.BESIDE.is_dir(), reason="there is no workload beside the project")
def test_the_faults_cost_less_than_the_comparison():
    ratios = diagnosis.ratios(diagnosis.BESIDE, 100, 7)
    assert set(ratios) == {"comparison", "solidarity", "splits and merges", "moved values", "faults", "all"}
    assert 0.0 < ratios["faults"] < MOST


@pytest.mark.skipif(not joins.DATA.is_dir(), reason="the shared data are not available")
def test_undamaged_documents_have_no_faults():
    for _, comparator, gold in joins.corpora():
        evaluation = comparator.evaluate(
            [(number, document, document) for number, document in enumerate(gold)], diagnose=True
        )
        assert evaluation.diagnosis.faults == ()
        assert not any(evaluation.diagnosis.repair_gain.values())


@needs_data
def test_splits_and_merges_are_detected_with_high_precision():
    counts = Counter()
    for name, comparator, gold in joins.corpora():
        counts += joins.measured(name, comparator, gold, seeds=9)
    assert counts["documents"] >= 200
    for kind in ("split", "merge"):
        precision, recall = joins.precision_and_recall(counts, kind)
        assert counts[kind, "correct"] >= 100
        assert precision >= 0.9
        assert recall >= 0.8


@needs_data
def test_undamaged_documents_have_no_splits_or_merges():
    for _, comparator, gold in joins.corpora():
        assert find_joins(comparator.plan, compare_batch(comparator.plan, gold, gold).levels()) == []


@pytest.mark.parametrize("alone", [True, False])
def test_noise_has_few_moved_values_and_swaps_are_found(alone):
    for fields in (None, TOWNS):
        given = {} if fields is None else {"fields": fields}
        assert false_alarms(10, 20, alone=alone, **given) <= 0.05
    assert false_alarms_among_errors(10, 20, alone=alone) <= 0.05
    assert recall(2, 2000, 0.0, alone=alone) >= 0.95
    assert recall(2, 20, 0.0, alone=alone) >= 0.6


@pytest.mark.parametrize("alone", [True, False])
def test_noise_has_few_moved_objects_and_moved_objects_are_found(alone):
    for closed in (False, True):
        assert false_objects(2, 20, alone=alone, errors=True, closed=closed) <= 0.05
        assert object_recall(1, 200, alone=alone, out=closed, closed=closed) >= 0.9
    assert false_objects(2, 20, alone=alone) <= 0.05
