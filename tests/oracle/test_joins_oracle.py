"""Splits and merges in the index of the French Senate, and Kendall's tau compared with SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from tests.oracle.senate import HERE, read

from arbitre import Comparator, bundled
from arbitre.diagnosis.list_pairs import kendall_tau

ENTRIES = "/listes_des_intervenants"
GOLD = "page_02.json"


def senate(run, schema="senat-iou"):
    gold, predicted = read("gold", GOLD), read("predicted", f"page_02_{run}.json")
    comparator = Comparator(bundled.schema(f"examples/{schema}.schema.json")) if schema else Comparator.infer([gold])
    return comparator.compare(gold=gold, predicted=predicted)


@HERE
@pytest.mark.parametrize("schema", ["senat-iou", None], ids=["pages as sets", "inferred schema"])
@pytest.mark.parametrize("run", ["02_corpusense_boxes", "03_corpusense_raw"])
def test_the_merged_speaker_is_one_merge_with_both_gold_indices(run, schema):
    comparison = senate(run, schema)
    (merge,) = comparison.diagnosis.merges
    assert (merge.list, merge.gold, merge.predicted) == (ENTRIES, (2, 3), (2,))
    assert [comparison.gold[ENTRIES[1:]][position]["nom"] for position in merge.gold] == ["Barthou (Louis)"] * 2
    assert merge.gain == pytest.approx(0.0714, abs=5e-5)
    assert comparison.diagnosis.splits == ()
    assert comparison.diagnosis.f1q_after_joins > comparison.scores.f1q


@HERE
def test_the_scores_before_and_after_joining_the_merged_speaker():
    comparison = senate("02_corpusense_boxes")
    assert comparison.scores.f1q == pytest.approx(0.9427, abs=5e-5)
    assert comparison.diagnosis.f1q_after_joins == pytest.approx(0.9679, abs=5e-5)


@HERE
def test_a_page_that_divides_the_speaker_has_no_merge():
    diagnosis = senate("01_vt").diagnosis
    assert (diagnosis.merges, diagnosis.splits) == ((), ())


@HERE
def test_actions_that_were_run_together_are_merges_of_nested_lists():
    overlay = bundled.schemas() / "examples" / "senat-nested.overlay.json"
    comparator = Comparator(bundled.schema("examples/senat-nested.schema.json"), overlay=str(overlay))
    gold, predicted = read("nested", "gold.json"), read("nested", "predicted_03_corpusense_raw.json")
    comparison = comparator.compare(gold=gold, predicted=predicted)
    merges = {merge.list: merge for merge in comparison.diagnosis.merges}
    merge = merges[f"{ENTRIES}/8/actions_relatives_a_l_intervenant"]
    assert (merge.gold, merge.predicted) == (tuple(range(22)), (0,))
    assert comparison.scores.f1q == pytest.approx(0.796, abs=5e-4)
    assert comparison.diagnosis.f1q_after_joins == pytest.approx(0.901, abs=5e-4)


@pytest.mark.parametrize("size", [2, 3, 10, 100])
def test_kendall_tau_equals_that_of_scipy(size):
    rng = np.random.default_rng(size)
    for _ in range(20):
        positions = rng.permutation(3 * size)[:size]
        expected = scipy.stats.kendalltau(np.arange(size), positions).statistic
        assert kendall_tau(positions.tolist()) == pytest.approx(expected, abs=1e-12)
