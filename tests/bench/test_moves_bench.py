"""Smoke test of `tests/bench/moves.py`, with its targets on few documents."""

import pytest
from tests.bench.moves import TOWNS, false_alarms, false_alarms_among_errors, recall


@pytest.mark.parametrize("alone", [True, False])
def test_noise_has_few_moved_values_and_swaps_are_found(alone):
    for fields in (None, TOWNS):
        given = {} if fields is None else {"fields": fields}
        assert false_alarms(10, 20, alone=alone, **given) <= 0.05
    assert false_alarms_among_errors(10, 20, alone=alone) <= 0.05
    assert recall(2, 2000, 0.0, alone=alone) >= 0.95
    assert recall(2, 20, 0.0, alone=alone) >= 0.6
