"""Lists are matched again with the quality bounds of an earlier comparison."""

import numpy as np
import pytest

from arbitre import Comparator
from arbitre.comparison.levels import at_path
from arbitre.engine import compare_batch

PEOPLE = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "acts": {"type": "array", "items": {"type": "string"}}},
    },
}
SIZE = 12


def person(generator):
    letters = generator.choice(list("abcd"), size=(4, 6))
    name, *acts = ("".join(row) for row in letters)
    return {"name": name, "acts": acts[: int(generator.integers(4))]}


def documents(seed):
    generator = np.random.default_rng(seed)
    return [[[person(generator) for _ in range(SIZE)] for _ in range(2)] for _ in range(2)], generator


def known_bounds(levels):
    return at_path(levels, "")[0].source.known_bounds


@pytest.mark.parametrize("seed", range(5))
def test_known_bounds_change_no_quality(seed):
    plan = Comparator(PEOPLE).plan
    (gold, predicted), generator = documents(seed)
    known = known_bounds(compare_batch(plan, gold, predicted).levels())
    changed = [[person(generator), *reversed(items[2:])] for items in gold[::-1]]
    alone, helped = (compare_batch(plan, changed, predicted[::-1], known=bounds).levels() for bounds in (None, known))
    assert at_path(helped, "")[0].mass == pytest.approx(at_path(alone, "")[0].mass, abs=1e-12)
    exact = compare_batch(plan, changed, predicted[::-1], exhaustive=True).levels()
    assert at_path(helped, "")[0].mass == pytest.approx(at_path(exact, "")[0].mass, abs=1e-12)


def test_known_bounds_replace_greater_ones():
    plan = Comparator(PEOPLE).plan
    (gold, predicted), _ = documents(seed=0)
    known = known_bounds(compare_batch(plan, gold, predicted).levels())
    again = known_bounds(compare_batch(plan, gold, predicted, known=known).levels())
    assert (again.quality <= known.quality).all()
    shuffled = [items[::-1] for items in gold]
    alone, helped = (
        known_bounds(compare_batch(plan, shuffled, predicted, known=bounds).levels()) for bounds in (None, known)
    )
    assert helped.quality.sum() <= alone.quality.sum()
    positions = known.positions(gold[1], gold=True), known.positions(predicted[1], gold=False)
    assert (known.table(*positions).ravel() == known.quality[SIZE * SIZE :]).all()


def test_bounds_are_known_only_for_identical_items_of_the_same_lists():
    plan = Comparator(PEOPLE).plan
    (gold, predicted), generator = documents(seed=0)
    known = known_bounds(compare_batch(plan, gold, predicted).levels())
    rows = known.positions([person(generator), gold[0][3], gold[1][0]], gold=True)
    columns = known.positions([predicted[0][5], person(generator)], gold=False)
    assert rows.tolist() == [-1, 3, SIZE]
    assert np.isfinite(known.table(rows, columns)).tolist() == [[False, False], [True, False], [False, False]]
