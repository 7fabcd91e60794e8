"""The matchings compared with exhaustive search over one-to-one pairings, on small matrices with many ties."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre.matching.assignment import TIE, assign_above, greedy, hungarian, keyed, ordered, sequence

VALUES = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 0.9, 1.0]) | st.floats(0, 1, allow_subnormal=False)
SIDES = st.integers(1, 4)


@st.composite
def matrices(draw):
    rows, columns = draw(SIDES), draw(SIDES)
    return np.array([[draw(VALUES) for _ in range(columns)] for _ in range(rows)])


@st.composite
def masked(draw):
    """A matrix, and which of its pairs may be made."""
    quality = draw(matrices())
    cells = draw(st.lists(st.booleans(), min_size=quality.size, max_size=quality.size))
    return quality, np.array(cells).reshape(quality.shape)


@st.composite
def grouped(draw):
    """A matrix, and the keys of its rows and columns."""
    quality = draw(matrices())
    return quality, *(np.array([draw(st.integers(0, 2)) for _ in range(size)]) for size in quality.shape)


def pairings(shape, *, in_order=False):
    """Every one-to-one pairing of two lists; or only those that keep the order of both."""
    rows, columns = (range(size) for size in shape)
    arrange = combinations if in_order else permutations
    for count in range(min(shape) + 1):
        for left in combinations(rows, count):
            for right in arrange(columns, count):
                yield [*zip(left, right, strict=True)]


def total(quality, pairs):
    return sum(float(quality[pair]) for pair in pairs)


def best(quality, allowed=None, *, in_order=False):
    """The greatest sum of qualities, and the most pairs with which it is reached."""
    found = [
        (total(quality, pairs), len(pairs))
        for pairs in pairings(quality.shape, in_order=in_order)
        if allowed is None or all(allowed[pair] for pair in pairs)
    ]
    greatest = max(mass for mass, _ in found)
    return greatest, max(count for mass, count in found if mass >= greatest - 1e-15)


def made(coupling, allowed=None):
    pairs = [*zip(coupling.gold.tolist(), coupling.predicted.tolist(), strict=True)]
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    assert allowed is None or all(allowed[pair] for pair in pairs)
    return pairs


def is_best(quality, coupling, allowed=None, *, in_order=False):
    """The sum is the greatest to within the tolerance of ties, and no pair less than could be had at that sum."""
    pairs = made(coupling, allowed)
    greatest, most = best(quality, allowed, in_order=in_order)
    assert greatest - TIE <= total(quality, pairs) <= greatest + 1e-12
    assert len(pairs) >= most
    if len(pairs) == most:
        assert total(quality, pairs) == pytest.approx(greatest, abs=1e-12)


@given(matrices())
def test_hungarian_finds_the_optimum_of_all_assignments(quality):
    is_best(quality, hungarian(quality))
    assert len(hungarian(quality).gold) == min(quality.shape)


@given(masked())
def test_hungarian_finds_the_optimum_of_the_allowed_pairs(case):
    quality, allowed = case
    is_best(quality, hungarian(quality, allowed), allowed)


@given(matrices(), VALUES)
def test_hungarian_finds_the_optimum_above_a_gate(quality, gate):
    is_best(quality, hungarian(quality, gate=gate), quality >= gate)


@given(masked(), VALUES)
def test_hungarian_finds_the_optimum_of_the_allowed_pairs_above_a_gate(case, gate):
    quality, allowed = case
    is_best(quality, hungarian(quality, allowed, gate=gate), allowed & (quality >= gate))


@given(matrices())
def test_sequence_finds_the_optimum_in_order(quality):
    is_best(quality, sequence(quality), in_order=True)
    pairs = made(sequence(quality))
    assert pairs == sorted(pairs, key=lambda pair: pair[1])


@given(masked())
def test_sequence_finds_the_optimum_of_the_allowed_pairs_in_order(case):
    quality, allowed = case
    is_best(quality, sequence(quality, allowed), allowed, in_order=True)


@given(grouped())
def test_keyed_makes_every_pair_that_equal_keys_allow(case):
    quality, ours, theirs = case
    allowed = ours[:, None] == theirs[None, :]
    pairs = made(keyed(quality, allowed), allowed)
    most = sum(min(int((ours == key).sum()), int((theirs == key).sum())) for key in range(3))
    assert len(pairs) == most
    assert total(quality, pairs) == pytest.approx(best(quality, allowed)[0], abs=1e-12)


@given(masked())
def test_greedy_takes_the_nearest_unmatched_item(case):
    quality, allowed = case
    pairs, free = [], [*range(quality.shape[1])]
    for row in range(quality.shape[0]):
        near = [(-quality[row, column], column) for column in free if allowed[row, column]]
        if near:
            column = min(near)[1]
            free.remove(column)
            pairs.append((row, column))
    assert made(greedy(quality, allowed)) == pairs
    assert total(quality, pairs) <= best(quality, allowed)[0] + 1e-12


@given(masked())
def test_ordered_pairs_equal_positions(case):
    quality, allowed = case
    positions = range(min(quality.shape))
    assert made(ordered(quality)) == [(position, position) for position in positions]
    assert made(ordered(quality, allowed)) == [
        (position, position) for position in positions if allowed[position, position]
    ]


@given(matrices())
def test_no_matching_beats_hungarian_and_ordered_is_a_sequence(quality):
    mass = {name: total(quality, made(name(quality))) for name in (hungarian, sequence, greedy, ordered)}
    assert max(mass.values()) <= mass[hungarian] + 1e-12
    assert mass[ordered] <= mass[sequence] + 1e-9


@given(
    st.lists(
        st.lists(st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]), min_size=3, max_size=3), max_size=5), max_size=5
    )
)
def test_matching_lists_with_a_gate_together_gives_as_much_as_each_alone(tables):
    tables = [np.array(table).reshape(-1, 3) for table in tables]
    heights, widths = np.array([len(table) for table in tables], dtype=np.intp), np.full(len(tables), 3, dtype=np.intp)
    quality = np.concatenate([np.empty(0), *(table.ravel() for table in tables)])
    cells, owner = assign_above(quality, heights, widths, 0.5)
    assert (quality[cells] >= 0.5).all()
    for number, table in enumerate(tables):
        alone = hungarian(table, gate=0.5)
        ours = cells[owner == number]
        assert len(ours) == len(alone.gold)
        assert quality[ours].sum() == pytest.approx(table[alone.gold, alone.predicted].sum())
