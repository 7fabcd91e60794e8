"""Lists between which mass is moved: every pair of items is compared, then each pair of lists is one plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.engine.columns.column import LeafColumn
from arbitre.engine.columns.item_weights import item_weights
from arbitre.engine.columns.ragged import cross_slices, expand_slices, starts_of
from arbitre.engine.solve.batches import Batch, TransportMatches, Unmatched
from arbitre.matching.coupling import normalise_masses, transport_1d
from arbitre.matching.kernel import require_positive
from arbitre.matching.transport import transport_all
from arbitre.matching.transport_options import ExactSolver, SinkhornSolver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.engine.columns.column import Column, ListColumn
    from arbitre.engine.solve.batches import Evaluate
    from arbitre.matching.transport_options import TransportOptions

CHUNK_CELLS: Final = 1 << 18
"""So many pairs of items are compared at a time; of longer lists only the pairs that are coupled are kept."""

SORTED_MIN_CELLS: Final = 1 << 8
"""Lists of numbers with so many pairs are coupled by sorting them, where that is optimal."""

SHARE_TOLERANCE: Final = 1e-9
"""Less than this share of an item is not left over."""


MAX_EXACT_FLOAT: Final = 2.0**53
"""Numbers that are larger need not be floats."""


class ItemSide(NamedTuple):
    """The items of one side of some problems, end to end: how many each has, their rows, and what they weigh."""

    counts: Indices
    rows: Indices
    weights: Floats


class ItemPairs(NamedTuple):
    """Pairs of items, by their positions among the items of either side, and the problem each is of."""

    gold: Indices
    predicted: Indices
    owner: Indices


class SolvedPlans(NamedTuple):
    """The pairs that are coupled and their mass; the matched mass and the quality mass of every problem."""

    pairs: ItemPairs
    mass: Floats
    matched: Floats
    total: Floats


class TransportSolver:
    """The transport problems of a batch of lists: problem p is between its lists `left[p]` and `right[p]`."""

    def __init__(
        self, batch: Batch, column: ListColumn, items: Column, how: TransportOptions, evaluate: Evaluate
    ) -> None:
        self.batch, self.column, self.items, self.how, self.evaluate = batch, column, items, how, evaluate
        self.weights = item_weights(items, how)
        self.numbers, self.scale = _on_a_line(items) if isinstance(how.solver, ExactSolver) else (None, 0.0)

    def moves(self) -> Iterator[TransportMatches]:
        """What is moved, some problems at a time. Raises SolverError, naming the list."""
        cells = self.column.lengths[self.batch.left] * self.column.lengths[self.batch.right]
        lined = self._lined(cells)
        if self.numbers is not None:
            for problem in lined.nonzero()[0]:
                yield self._sorted(np.array([problem], dtype=np.intp), self.numbers)
        rest = (~lined).nonzero()[0]
        for some in _chunks(cells[rest]):
            yield self._solved(rest[some])

    def _sides(self, which: Indices) -> tuple[ItemSide, ItemSide]:
        return self._side(self.batch.left[which]), self._side(self.batch.right[which])

    def _side(self, lists: Indices) -> ItemSide:
        rows = self.column.rows(expand_slices(self.column.starts, lists)[1])
        return ItemSide(self.column.lengths[lists], rows, self.weights[rows])

    def _solved(self, which: Indices) -> TransportMatches:
        """The plans of these problems, from the qualities of all their pairs."""
        gold, predicted = self._sides(which)
        every = _crossed(gold, predicted)
        quality, batch = self._qualities(gold, predicted, every)
        within = None
        if isinstance(self.how.solver, SinkhornSolver) and self.how.solver.debiased:
            ours, theirs = (self._qualities(side, side, _crossed(side, side))[0] for side in (gold, predicted))
            within = ours, theirs
            require_positive(
                quality, within, gold.counts, predicted.counts, self.how.solver.epsilon, lambda p: self._name(which[p])
            )
        plans = transport_all(
            quality,
            gold.counts,
            predicted.counts,
            gold.weights,
            predicted.weights,
            self.how,
            name=lambda problem: self._name(which[problem]),
            within=within,
        )
        pairs = ItemPairs(*(numbers[plans.cells] for numbers in every))
        at = plans.cells
        if batch is None:
            batch = self.evaluate(self.items, gold.rows[pairs.gold], predicted.rows[pairs.predicted])
            at = np.arange(len(plans.cells), dtype=np.intp)
        plan = SolvedPlans(pairs, plans.mass, plans.matched, plans.total)
        return self._moved(which, (gold, predicted), plan, batch, at)

    def _qualities(self, gold: ItemSide, predicted: ItemSide, pairs: ItemPairs) -> tuple[Floats, Batch | None]:
        """The qualities of pairs, and the batch that holds them where they are not too many."""
        left, right = gold.rows[pairs.gold], predicted.rows[pairs.predicted]
        if len(left) <= CHUNK_CELLS:
            batch = self.evaluate(self.items, left, right)
            return batch.quality, batch
        slices = (slice(begin, begin + CHUNK_CELLS) for begin in range(0, len(left), CHUNK_CELLS))
        return np.concatenate([self.evaluate(self.items, left[part], right[part]).quality for part in slices]), None

    def _lined(self, cells: Indices) -> Mask:
        """The problems that sorting solves: numbers whose cost is their difference over a scale that none exceeds."""
        lined = np.zeros(len(cells), dtype=np.bool_)
        if self.numbers is None:
            return lined
        for problem in (cells >= SORTED_MIN_CELLS).nonzero()[0]:
            gold, predicted = self._sides(np.array([problem], dtype=np.intp))
            lined[problem] = np.ptp(self.numbers[np.concatenate([gold.rows, predicted.rows])]) <= self.scale
        return lined

    def _sorted(self, which: Indices, numbers: Floats) -> TransportMatches:
        """The plan of one problem on a line."""
        gold, predicted = self._sides(which)
        coupling = transport_1d(numbers[gold.rows], numbers[predicted.rows], gold.weights, predicted.weights)
        pairs = ItemPairs(coupling.gold, coupling.predicted, np.zeros(len(coupling.gold), dtype=np.intp))
        batch = self.evaluate(self.items, gold.rows[pairs.gold], predicted.rows[pairs.predicted])
        plan = SolvedPlans(
            pairs, coupling.mass, gold.counts.astype(np.float64), np.array([coupling.mass @ batch.quality])
        )
        return self._moved(which, (gold, predicted), plan, batch, np.arange(len(batch), dtype=np.intp))

    def _moved(
        self, which: Indices, sides: tuple[ItemSide, ItemSide], plan: SolvedPlans, batch: Batch, at: Indices
    ) -> TransportMatches:
        """What is moved, and what is left over of the items."""
        gold, predicted = sides
        whole = (gold.counts > 0) & (predicted.counts > 0) & self.how.balanced
        scale = np.where(whole, gold.counts / np.maximum(predicted.counts, 1), 1.0)
        spare = []
        for side, positions, unit in (
            (gold, plan.pairs.gold, np.ones(len(which))),
            (predicted, plan.pairs.predicted, scale),
        ):
            own = normalise_masses(side.weights, side.counts, lambda problem: self._name(which[problem]))
            own *= unit.repeat(side.counts)
            left = own - np.bincount(positions, plan.mass, minlength=len(own))
            lone = (left > SHARE_TOLERANCE * own).nonzero()[0]
            spare.append(Unmatched(side.rows[lone], left[lone], which.repeat(side.counts)[lone]))
        shift = np.where(whole, gold.counts - predicted.counts, 0.0)
        return TransportMatches(
            batch, at, which[plan.pairs.owner], plan.mass, which, plan.matched, plan.total, shift, *spare
        )

    def _name(self, problem: int) -> str:
        return self.column.pointer(int(self.batch.left[problem]))


def _on_a_line(items: Column) -> tuple[Floats | None, float]:
    """The number that every item is, and the scale of their differences; None where these are not the cost."""
    if not isinstance(items, LeafColumn) or len(items.leaves) != 1 or items.leaves[0].distance.name != "absolute":
        return None, 0.0
    if any(abs(value) > MAX_EXACT_FLOAT for value in items.values):
        return None, 0.0
    return np.array(items.values, dtype=np.float64)[items.codes], items.leaves[0].distance.options["scale"]


def _crossed(gold: ItemSide, predicted: ItemSide) -> ItemPairs:
    """All pairs of items of every problem, row by row."""
    owner, rows, columns = cross_slices(gold.counts, predicted.counts)
    return ItemPairs(starts_of(gold.counts)[owner] + rows, starts_of(predicted.counts)[owner] + columns, owner)


def _chunks(cells: Indices) -> Iterator[slice]:
    """Some problems at a time, with so many cells; a long one alone."""
    begin, total = 0, 0
    for at, size in enumerate(cells.tolist()):
        if total and total + size > CHUNK_CELLS:
            yield slice(begin, at)
            begin, total = at, 0
        total += size
    if begin < len(cells):
        yield slice(begin, len(cells))
