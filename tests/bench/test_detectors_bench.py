"""Nine of ten findings of the fault detectors are correct, and there are none in undamaged documents."""

from __future__ import annotations

import pytest
from tests.bench.detectors import DATA, Accuracy, available, measure, of_undamaged, same

RECALL = {"rename": 0.9}
"""Minimum recall by kind of fault."""

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not here")


@needs_data
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
