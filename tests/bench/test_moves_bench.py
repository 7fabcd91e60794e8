"""Few unrelated documents have moved values, and swapped values are still found."""

from __future__ import annotations

from tests.bench.moves import false_alarms, recall


def test_few_unrelated_documents_have_moved_values():
    assert false_alarms(100) <= 0.05
    assert false_alarms(60, 50) <= 0.05


def test_swapped_values_among_wrong_values_are_found():
    assert recall(40, 2000, 0.1) >= 0.9
