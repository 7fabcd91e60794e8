"""The simulation of the consensus runs, and its generator plants the errors that it says."""

import json

from tests.bench.planted_consensus import Faults, planted, simulate


def test_the_consensus_of_a_small_simulation_is_nearer_to_the_truth_than_the_medoid():
    results = simulate(5, 0.2, Faults(), documents=3, size=5)
    assert results["minimum-risk"].quality > results["medoid"].quality
    assert results["minimum-risk"].f1q > results["medoid"].f1q
    assert abs(results["minimum-risk"].kept - 1.0) <= 0.1


def test_without_errors_all_annotators_copy_the_truth():
    truth, annotations = planted(2, 0.0, Faults(), documents=2, size=3, seed=0)
    assert {json.dumps(own) for own in annotations.values()} == {json.dumps(truth)}


def test_annotators_leave_out_and_add_the_planted_share_of_items():
    truth, annotations = planted(1, 0.5, Faults(omitted=0.5, invented=0.0), documents=40, size=10, seed=0)
    (own,) = annotations.values()
    copied = sum(len(document["speakers"]) for document in own.values())
    assert abs(copied / sum(len(document["speakers"]) for document in truth.values()) - 0.75) < 0.05
