"""Advice on schemas: none on random corpora that need none, and most of the planted reasons."""

from statistics import mean

from tests.bench.schema_advice import PLANTED, false_advice, recall


def test_random_corpora_without_a_reason_get_no_advice():
    assert false_advice(80) == []


def test_planted_reasons_are_found_and_nothing_else():
    assert mean(recall(name, 4) for name in PLANTED) >= 0.95
