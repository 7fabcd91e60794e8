"""The faults of undamaged documents, and the benchmark of the diagnoses."""

from __future__ import annotations

import pytest
from tests.bench import diagnosis, joins

MOST = 1.0
"""Maximum processor time of the list of faults with costs and repair gains, in comparisons."""


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
