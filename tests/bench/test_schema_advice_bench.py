"""Advice on schemas: none on random corpora that need none, and most of the planted reasons."""

from statistics import mean

import pytest
from tests.bench.schema_advice import PLANTED, false_advice, recall


@pytest.mark.parametrize("corpora", [40, pytest.param(200, marks=pytest.mark.nightly)])
def test_random_corpora_without_a_reason_get_no_advice(corpora):
    assert false_advice(corpora) == []


@pytest.mark.parametrize("corpora", [2, pytest.param(16, marks=pytest.mark.nightly)])
def test_planted_reasons_are_found_and_nothing_else(corpora):
    assert mean(recall(name, corpora) for name in PLANTED) >= 0.95
