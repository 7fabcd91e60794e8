"""The benchmark of the diagnosis runs: nothing is said about time."""

import pytest
from tests.bench.diagnosis_cost import BESIDE, measure


@pytest.mark.skipif(not BESIDE.is_dir(), reason="there is no workload beside the project")
def test_the_benchmark_of_the_diagnosis_times_every_part():
    found = measure(10, (0,), 1)
    assert found.keys() >= {"comparison", "flat comparison", "moved values", "splits and merges", "faults", "diagnosis"}
    assert all(seconds >= 0.0 for seconds in found.values())
