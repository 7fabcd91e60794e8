"""Splits and merges in more than 200 documents with planted faults, and none in undamaged documents."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.bench import joins

from arbitre.diagnosis.joins import find_joins
from arbitre.engine import compare_batch

pytestmark = pytest.mark.skipif(not joins.DATA.is_dir(), reason="the shared data are not here")


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


def test_undamaged_documents_have_no_splits_or_merges():
    for _, comparator, gold in joins.corpora():
        assert find_joins(comparator.plan, compare_batch(comparator.plan, gold, gold).levels()) == []
