"""Matching of lists by optimal transport: masses, qualities of all pairs of items, one plan for each pair of lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.arrays import exact_dot
from arbitre.engine.columns.column import Column, LeafColumn, folded, held_sums, leaf_columns
from arbitre.engine.columns.fields import get_field
from arbitre.engine.columns.ragged import chunks, cross_slices, expand_slices, starts_of
from arbitre.engine.columns.row_keys import find_fields
from arbitre.engine.solve.batches import Batch, TransportMatches, Unmatched, require_short
from arbitre.errors import SolverError, shown
from arbitre.matching.coupling import normalise_masses, transport_1d
from arbitre.matching.transport import require_positive, transport_all
from arbitre.matching.transport_options import ExactSolver, MassScheme, SinkhornSolver
from arbitre.paths import pointer
from arbitre.values import ABSENT, MAX_EXACT_FLOAT, Json, Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.engine.columns.column import ListColumn
    from arbitre.engine.solve.batches import CellLimits, Evaluate
    from arbitre.matching.transport_options import TransportOptions


CHUNK_CELLS: Final = 1 << 18
"""Number of pairs of items that are compared at a time. For longer lists, only the matched pairs are kept."""

SORTED_MIN_CELLS: Final = 1 << 8
"""Number of pairs of items from which lists of numbers are matched by sorting, if that is optimal."""

SHARE_TOLERANCE: Final = 1e-9
"""Share of an item's mass below which a rest does not count as unmatched."""


class ItemSide(NamedTuple):
    """The items of one side of some problems, concatenated."""

    counts: Indices
    """Number of items of each problem; shape (problems,)."""
    rows: Indices
    """Row of each item; shape (items,)."""
    weights: Floats
    """Mass of each item before normalisation; shape (items,)."""


class ItemPairs(NamedTuple):
    """Pairs of items; all of shape (pairs,)."""

    gold: Indices
    """Position of each gold item in its `ItemSide`."""
    predicted: Indices
    """Position of each predicted item in its `ItemSide`."""
    owner: Indices
    """Problem of each pair."""


class SolvedPlans(NamedTuple):
    """The plans of some problems."""

    pairs: ItemPairs
    """The matched pairs."""
    mass: Floats
    """Mass of each pair; shape (pairs,)."""
    matched: Floats
    """Matched mass of each problem; shape (problems,)."""
    total: Floats
    """Quality mass of each problem; shape (problems,)."""


class TransportSolver:
    """The transport problems of a batch of lists: problem p is between its lists `left[p]` and `right[p]`."""

    def __init__(  # noqa: PLR0917  (the parts of the solver that calls it)
        self,
        batch: Batch,
        column: ListColumn,
        items: Column,
        how: TransportOptions,
        evaluate: Evaluate,
        limits: CellLimits,
    ) -> None:
        self.limits = limits
        self.batch, self.column, self.items, self.how, self.evaluate = batch, column, items, how, evaluate
        self.weights = item_weights(items, how)
        self.numbers, self.scale = _absolute_numbers(items) if isinstance(how.solver, ExactSolver) else (None, 0.0)

    def solve(self) -> Iterator[TransportMatches]:
        """Yield the matches, some problems at a time.

        Raises:
            SolverError: A problem cannot be solved; with the pointer of the list.
        """
        cells = self.column.lengths[self.batch.left] * self.column.lengths[self.batch.right]
        sortable = self._sortable(cells)
        if self.numbers is not None:
            for problem in sortable.nonzero()[0]:
                yield self._solve_sorted(np.array([problem], dtype=np.intp), self.numbers)
        others = (~sortable).nonzero()[0]
        sides = self.column.lengths[self.batch.left[others]], self.column.lengths[self.batch.right[others]]
        require_short(self.column, self.batch.left[others], *sides, self.limits.stored)
        for chunk in chunks(cells[others], CHUNK_CELLS):
            yield self._solve_dense(others[chunk])

    def _sides(self, which: Indices) -> tuple[ItemSide, ItemSide]:
        return self._side(self.batch.left[which], "gold"), self._side(self.batch.right[which], "predicted")

    def _side(self, lists: Indices, side: str) -> ItemSide:
        """Return the items of these lists; raise SolverError if the mass of one is not a positive number."""
        rows = self.column.rows(expand_slices(self.column.starts, lists)[1])
        weights = self.weights[rows]
        wrong = (~(np.isfinite(weights) & (weights > 0.0))).nonzero()[0]
        if len(wrong):
            row, mass = int(rows[wrong[0]]), weights[wrong[0]]
            tokens = () if isinstance(self.how.masses, MassScheme) else self.how.masses  # the others are positive
            value = get_field(self.items.raw[row], tokens)
            unreadable = "none" if value is ABSENT else shown(value)
            raise SolverError.of(
                f"Expected the mass {pointer(tokens)} of a {side} item to be a positive number, got "
                f"{unreadable if np.isnan(mass) else mass}",
                pointer=self.items.pointer(row),
                hint="Use a field that is positive in every item.",
            )
        return ItemSide(self.column.lengths[lists], rows, weights)

    def _solve_dense(self, which: Indices) -> TransportMatches:
        """Solve these problems from the qualities of all their pairs."""
        gold, predicted = self._sides(which)
        all_pairs = _all_pairs(gold, predicted)
        quality, batch = self._qualities(gold, predicted, all_pairs)
        within = None
        if isinstance(self.how.solver, SinkhornSolver) and self.how.solver.debiased:
            within_gold, within_predicted = (
                self._qualities(side, side, _all_pairs(side, side))[0] for side in (gold, predicted)
            )
            within = within_gold, within_predicted
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
        pairs = ItemPairs(*(indices[plans.cells] for indices in all_pairs))
        at = plans.cells
        if batch is None:
            batch = self.evaluate(self.items, gold.rows[pairs.gold], predicted.rows[pairs.predicted])
            at = np.arange(len(plans.cells), dtype=np.intp)
        plan = SolvedPlans(pairs, plans.mass, plans.matched, plans.total)
        return self._matches(which, (gold, predicted), plan, batch, at)

    def _qualities(self, gold: ItemSide, predicted: ItemSide, pairs: ItemPairs) -> tuple[Floats, Batch | None]:
        """Return the qualities of pairs, and the batch that holds them unless they need several batches."""
        left, right = gold.rows[pairs.gold], predicted.rows[pairs.predicted]
        if len(left) <= CHUNK_CELLS:
            batch = self.evaluate(self.items, left, right)
            return batch.quality, batch
        slices = (slice(begin, begin + CHUNK_CELLS) for begin in range(0, len(left), CHUNK_CELLS))
        return np.concatenate([self.evaluate(self.items, left[part], right[part]).quality for part in slices]), None

    def _sortable(self, cells: Indices) -> Mask:
        """Return which problems sorting solves: numbers with the cost |a - b| / scale and no larger difference."""
        sortable = np.zeros(len(cells), dtype=np.bool_)
        if self.numbers is None:
            return sortable
        for problem in (cells >= SORTED_MIN_CELLS).nonzero()[0]:
            gold, predicted = self._sides(np.array([problem], dtype=np.intp))
            sortable[problem] = np.ptp(self.numbers[np.concatenate([gold.rows, predicted.rows])]) <= self.scale
        return sortable

    def _solve_sorted(self, which: Indices, numbers: Floats) -> TransportMatches:
        """Solve one problem of numbers by sorting them."""
        gold, predicted = self._sides(which)
        coupling = transport_1d(numbers[gold.rows], numbers[predicted.rows], gold.weights, predicted.weights)
        pairs = ItemPairs(coupling.gold, coupling.predicted, np.zeros(len(coupling.gold), dtype=np.intp))
        batch = self.evaluate(self.items, gold.rows[pairs.gold], predicted.rows[pairs.predicted])
        matched = gold.counts.astype(np.float64)
        plan = SolvedPlans(pairs, coupling.mass, matched, matched - exact_dot(coupling.mass, 1.0 - batch.quality))
        return self._matches(which, (gold, predicted), plan, batch, np.arange(len(batch), dtype=np.intp))

    def _matches(
        self, which: Indices, sides: tuple[ItemSide, ItemSide], plan: SolvedPlans, batch: Batch, at: Indices
    ) -> TransportMatches:
        """Return the matched and the unmatched mass of solved problems."""
        gold, predicted = sides
        balanced = (gold.counts > 0) & (predicted.counts > 0) & self.how.balanced
        scale = np.where(balanced, gold.counts / np.maximum(predicted.counts, 1), 1.0)
        unmatched = []
        for side, positions, unit in (
            (gold, plan.pairs.gold, np.ones(len(which))),
            (predicted, plan.pairs.predicted, scale),
        ):
            masses = normalise_masses(side.weights, side.counts, lambda problem: self._name(which[problem]))
            masses *= unit.repeat(side.counts)
            rest = masses - np.bincount(positions, plan.mass, minlength=len(masses))
            positive = (rest > SHARE_TOLERANCE * masses).nonzero()[0]
            unmatched.append(Unmatched(side.rows[positive], rest[positive], which.repeat(side.counts)[positive]))
        shift = np.where(balanced, gold.counts - predicted.counts, 0.0)
        return TransportMatches(
            batch, at, which[plan.pairs.owner], plan.mass, which, plan.matched, plan.total, shift, *unmatched
        )

    def _name(self, problem: int) -> str:
        return self.column.pointer(int(self.batch.left[problem]))


def _absolute_numbers(items: Column) -> tuple[Floats | None, float]:
    """Return the items as numbers and the scale of their distance `absolute` without a floor, else None."""
    if not isinstance(items, LeafColumn) or items.forms is not None or len(items.leaves) != 1:
        return None, 0.0
    distance = items.leaves[0].distance
    if distance.name != "absolute" or distance.without_floor is not None:
        return None, 0.0
    if any(abs(value) > MAX_EXACT_FLOAT for value in items.values):
        return None, 0.0
    return np.array(items.values, dtype=np.float64)[items.codes], distance.options["scale"]


def _all_pairs(gold: ItemSide, predicted: ItemSide) -> ItemPairs:
    """Return all pairs of items of every problem, row by row."""
    owner, rows, columns = cross_slices(gold.counts, predicted.counts)
    return ItemPairs(starts_of(gold.counts)[owner] + rows, starts_of(predicted.counts)[owner] + columns, owner)


# Masses of items.


def item_weights(items: Column, how: TransportOptions) -> Floats:
    """Return the mass of each item before normalisation; NaN if its mass field is not a number."""
    if how.masses is MassScheme.UNIFORM:
        return np.ones(items.size)
    if how.masses is MassScheme.SIZE:
        return leaf_counts(items)
    return _mass_field(items, how.masses)


def leaf_counts(column: Column) -> Floats:
    """Return the number of leaves in each row; shape (size,). An empty object or list counts as one leaf."""
    return folded(column, lambda leaves: np.ones(leaves.size), _sum_leaves)


def _sum_leaves(column: Column, below: dict[int, Floats]) -> Floats:
    """Return the number of leaves in each row of a container; 1 for an empty one. Shape (size,)."""
    total = held_sums(column, below)
    total[total == 0.0] = 1.0
    return total


def _mass_field(items: Column, tokens: tuple[str, ...]) -> Floats:
    """Return the number at these tokens below each row, or NaN. Only texts are normalised first."""
    weights = np.full(items.size, np.nan)
    found = np.zeros(items.size, dtype=np.bool_)
    for column, rows, owners in find_fields(items, tokens):
        found[owners] = True
        for leaves in leaf_columns([column]):
            numbers = leaves.kinds_at(rows) == Kind.NUMBER
            read, normalized = leaves.values_of(rows[numbers]), leaves.normalized_values_of(rows[numbers])
            if leaves.forms is not None:  # the first form is the mass
                first = [int(leaves.forms.of(row)[0]) for row in rows[numbers].tolist()]
                read = [leaves.forms.raw[form] for form in first]
                normalized = [leaves.forms.values[leaves.forms.codes[form]] for form in first]
            weights[owners[numbers]] = [
                _mass(raw if kind_of(raw) is Kind.NUMBER else value)
                for raw, value in zip(read, normalized, strict=True)
            ]
    for row in (~found).nonzero()[0].tolist():  # ignored fields have no columns
        weights[row] = _mass(get_field(items.raw[row], tokens))
    return weights


def _mass(value: Json) -> float:
    """Return a number as a float, infinite if it is too large; NaN for other values."""
    if value is ABSENT or kind_of(value) is not Kind.NUMBER:
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf
