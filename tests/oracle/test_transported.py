"""Transport between lists in the engine, against the textbook recursion with linear programmes in it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from tests.oracle import textbook
from tests.oracle.strategies import transports

from arbitre import Comparator
from arbitre.comparison.levels import by_path, leaves, of_nodes
from arbitre.engine import run

NEAR = 1e-8
slow = settings(deadline=None, max_examples=200, suppress_health_check=list(HealthCheck))


def numbers(tally):
    return [tally.gold, tally.predicted, tally.matched, tally.quality, tally.quality_sq]


def check(schema, gold, predicted):
    """The engine says what the textbook says: all of it where no other plan is optimal."""
    expected = textbook.compare(textbook.spec(schema), gold, predicted)
    levels = run(Comparator(schema).plan, [gold], [predicted])
    assert (float(levels[0].quality[0]) if levels else 1.0) == pytest.approx(expected.quality, abs=NEAR)
    tally = numbers(of_nodes(levels, "", 1).tally(0))
    assert tally[:4] == pytest.approx(numbers(expected.tally)[:4], abs=NEAR)
    if not expected.unique:
        return
    assert tally == pytest.approx(numbers(expected.tally), abs=NEAR)
    found = {path: numbers(sums.tally(0)) for path, sums in by_path(levels, 1).items()}
    assert found.keys() == expected.by_path.keys()
    for path, sums in expected.by_path.items():
        assert found[path] == pytest.approx(numbers(sums), abs=NEAR), path
    assert numbers(leaves(levels, 1).tally(0)) == pytest.approx(numbers(expected.leaves), abs=NEAR)


@slow
@given(case=transports())
def test_documents_with_ties(case):
    check(*case)


@slow
@given(case=transports(ties=False))
def test_documents_without_ties(case):
    check(*case)
