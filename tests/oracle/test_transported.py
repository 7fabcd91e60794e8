"""Transport in the engine compared with the reference recursion, which solves linear programs."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.oracle import textbook
from tests.oracle.strategies import floored, transports

from arbitre import Comparator
from arbitre.comparison.levels import by_path, leaves, of_nodes
from arbitre.engine import compare_to_levels
from arbitre.engine.solve.batches import DEFAULT_LIMITS, CellLimits
from arbitre.schema import CLOSE

NEAR = 1e-8
slow = settings(suppress_health_check=list(HealthCheck))


def numbers(tally):
    return [tally.gold, tally.predicted, tally.matched, tally.quality, tally.quality_sq]


def check(schema, gold, predicted, limits=DEFAULT_LIMITS):
    """The engine says what the textbook says: all of it where no other plan is optimal."""
    expected = textbook.compare(textbook.spec(schema), gold, predicted)
    levels = compare_to_levels(Comparator(schema).plan, [gold], [predicted], limits=limits)
    assert (float(levels[0].quality[0]) if levels else 1.0) == pytest.approx(expected.quality, abs=NEAR)
    tally = of_nodes(levels, "", 1)[0].tolist()
    assert tally[:4] == pytest.approx(numbers(expected.tally)[:4], abs=NEAR)
    if not expected.unique:
        return
    assert tally == pytest.approx(numbers(expected.tally), abs=NEAR)
    found = {path: sums[0, :5].tolist() for path, sums in by_path(levels, 1, CLOSE).items()}
    assert found.keys() == expected.by_path.keys()
    for path, sums in expected.by_path.items():
        assert found[path] == pytest.approx(numbers(sums), abs=NEAR), path
    assert leaves(levels, 1)[0].tolist() == pytest.approx(numbers(expected.leaves), abs=NEAR)


in_both_modes = pytest.mark.parametrize(
    "limits", [DEFAULT_LIMITS, CellLimits(lazy=1, plain_lazy=0)], ids=["default", "lazy"]
)


@in_both_modes
@slow
@given(case=transports())
def test_transported_documents_with_ties_equal_the_textbook(case, limits):
    check(*case, limits)


@in_both_modes
@slow
@given(case=transports(ties=False))
def test_transported_documents_without_ties_equal_the_textbook(case, limits):
    check(*case, limits)


@in_both_modes
@slow
@given(data=st.data())
def test_leaves_with_a_floor_equal_the_textbook(data, limits):
    schema, gold, predicted = data.draw(transports(ties=data.draw(st.booleans())))
    check(data.draw(floored(schema)), gold, predicted, limits)


@in_both_modes
def test_a_list_can_have_high_quality_with_a_much_shorter_one(limits):
    """Where mass is moved the numbers of items bound nothing: a pair that looks poor may be the best."""
    moving = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"match": {"transport": {}}}}
    check({"type": "array", "items": moving}, [["a", "a", "a"]], [["a", "a", "bc"], ["a"], ["bc", "bc", "a"]], limits)


# worked by hand

POINT = {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 1}}}}
RECORD = {"type": "object", "properties": {"u": POINT, "v": POINT}}
THIRD = 1 / 3
WORKED = {
    "a big and a small entry merged, by their sizes": (
        (RECORD, {"masses": "size"}, [{"v": 0}, {"v": 1, "u": 1}], [{"v": 0, "u": 1}]),
        (0.5, (2, 2, 2, 1, 0.5), (10 * THIRD, 4, 10 * THIRD, 2, 2)),
        {"/*": (2, 2, 2, 1, 0.5), "/*/v": (2, 2, 2, 2 * THIRD, 2 * THIRD), "/*/u": (4 * THIRD, 2, *[4 * THIRD] * 3)},
    ),
    "all of a longer list on a shorter one": (
        (POINT, {}, [0, 1, 1], [0]),
        (THIRD, (3, 3, 3, 1, 1), (3, 3, 3, 1, 1)),
        {"/*": (3, 3, 3, 1, 1)},
    ),
    "pairs that are too dear are not made": (
        (POINT, {"solver": "dummy", "lambda": 0.1}, [0, 0.5], [0.625]),
        (0.4375, (2, 1, 1, 0.875, 0.765625), (2, 1, 1, 0.875, 0.765625)),
        {"/*": (2, 1, 1, 0.875, 0.765625)},
    ),
    "half of what could move": (
        (POINT, {"solver": "partial", "mass": 0.5}, [0], [0, 1]),
        (0.2, (1, 2, 0.5, 0.5, 0.5), (1, 2, 0.5, 0.5, 0.5)),
        {"/*": (1, 2, 0.5, 0.5, 0.5)},
    ),
    "an empty side: what the other weighs is left over": (
        (RECORD, {"masses": "size"}, [{"v": 0}, {"v": 1, "u": 1}], []),
        (0, (2, 0, 0, 0, 0), (10 * THIRD, 1, 0, 0, 0)),
        {"": (0, 1, 0, 0, 0), "/*": (2, 0, 0, 0, 0), "/*/v": (2, 0, 0, 0, 0), "/*/u": (4 * THIRD, 0, 0, 0, 0)},
    ),
    "transport of lists that are transported": (
        ({"type": "array", "items": POINT, "x-arbitre": {"match": {"transport": {}}}}, {}, [[0, 1]], [[0], [1]]),
        (0.5, (1, 1, 1, 0.5, 0.25), (2, 2, 2, 1, 1)),
        {"/*": (1, 1, 1, 0.5, 0.25), "/*/*": (2, 2, 2, 1, 1)},
    ),
}


@pytest.mark.parametrize("name", WORKED)
def test_examples_have_the_scores_worked_by_hand(name):
    (items, how, gold, predicted), (quality, tally, below), paths = WORKED[name]
    schema = {"type": "array", "items": items, "x-arbitre": {"match": {"transport": how}}}
    check(schema, gold, predicted)
    expected = textbook.compare(textbook.spec(schema), gold, predicted)
    assert expected.quality == pytest.approx(quality)
    assert numbers(expected.tally) == pytest.approx(tally)
    assert numbers(expected.leaves) == pytest.approx(below)
    assert {path: pytest.approx(numbers(sums)) for path, sums in expected.by_path.items()} == paths
    assert expected.unique
