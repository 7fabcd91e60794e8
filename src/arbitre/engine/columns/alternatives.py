"""Values of which gold accepts several forms: the best accepted form counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from arbitre.distances.base import Blocks, Pool, slot_bounds
from arbitre.engine.columns.ragged import counts_of, cross_slices, expand_slices, starts_of
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices, Mask


@dataclass(eq=False, slots=True)
class FormsPool(Pool):
    """The distance between values with several forms.

    It is the largest distance of a predicted form to its nearest gold form. A prediction usually has one form;
    the distance is then that of the best accepted form.

    Value v has the forms `members[starts[v]:starts[v + 1]]`. Each form belongs to a slot, an index of `pools`;
    forms in different slots have distance 1.
    """

    starts: Indices
    members: Indices
    kinds: npt.NDArray[np.int8]
    """`Kind` of each form."""
    slots: npt.NDArray[np.int16]
    local: Indices
    """Index of each form within its pool."""
    pools: tuple[Pool, ...]
    masks: npt.NDArray[np.int64] = field(init=False)
    """The kinds of the forms of each value, as a sum of 1 << kind."""

    def __post_init__(self) -> None:
        bits = np.int64(1) << self.kinds[self.members].astype(np.int64)
        self.masks = np.bitwise_or.reduceat(bits, self.starts[:-1]) if len(bits) else bits

    @property
    def exactly_bounded(self) -> Mask | None:
        """Mask of the values between which `lower_bounds_blockwise` is exact; None for all."""
        exact = np.ones(len(self.slots), dtype=np.bool_)
        for slot, pool in enumerate(self.pools):
            if pool.exactly_bounded is not None:
                in_slot = self.slots == slot
                exact[in_slot] = pool.exactly_bounded[self.local[in_slot]]
        if exact.all():
            return None
        bounded: Mask = np.logical_and.reduceat(exact[self.members], self.starts[:-1])
        return bounded

    def distances(self, left: Indices, right: Indices) -> Floats:
        """Return the distance of each pair of values; shapes (n,)."""
        gold, predicted, runs, starts = self._combined(left, right)
        return _worst_of_best(self.between(gold, predicted), runs, starts)

    def lower_bounds_pairwise(self, left: Indices, right: Indices) -> tuple[Floats, Mask | None]:
        """Return distances or lower bounds, and a mask of the exact ones; shapes (n,)."""
        gold, predicted, runs, starts = self._combined(left, right)
        bounds, exact = np.ones(len(gold)), np.ones(len(gold), dtype=np.bool_)
        for slot, pairs in self._by_slot(gold, predicted):
            bounds[pairs], known = self.pools[slot].lower_bounds_pairwise(
                self.local[gold[pairs]], self.local[predicted[pairs]]
            )
            exact[pairs] = True if known is None else known
        worst = _worst_of_best(bounds, runs, starts)
        if exact.all() or len(starts) == 0:
            return worst, None
        best = np.minimum.reduceat(bounds, runs)  # exact if an exact distance attains the lower bound
        attained = exact & (bounds == best.repeat(np.diff(np.append(runs, len(bounds)))))
        settled = np.logical_or.reduceat(attained, runs)
        return worst, np.logical_and.reduceat(settled, starts)

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        """Return lower bounds of the distance of every cell of the blocks; shape (cells,)."""
        tall, wide = starts_of(self._counts(left)), starts_of(self._counts(right))
        inner = Blocks(tall[blocks.left_starts], wide[blocks.right_starts])
        gold, predicted = (self.members[expand_slices(self.starts, values)[1]] for values in (left, right))
        bounds = slot_bounds(self.pools, self.slots, self.local, inner, gold=gold, predicted=predicted)
        if len(bounds) == int(blocks.starts[-1]):
            return bounds
        block = np.arange(len(blocks), dtype=np.intp).repeat(np.diff(blocks.starts))
        cell, column, row = cross_slices(self._counts(right[blocks.columns]), self._counts(left[blocks.rows]))
        block = block[cell]
        row += tall[blocks.rows][cell] - inner.left_starts[block]
        column += wide[blocks.columns][cell] - inner.right_starts[block]
        _, _, runs, starts = self._combined(left[blocks.rows], right[blocks.columns])
        return _worst_of_best(bounds[inner.starts[block] + row * inner.widths[block] + column], runs, starts)

    def between(self, gold: Indices, predicted: Indices) -> Floats:
        """Return the distance of each pair of single forms; shapes (n,)."""
        distances = np.ones(len(gold))
        for slot, pairs in self._by_slot(gold, predicted):
            distances[pairs] = self.pools[slot].distances(self.local[gold[pairs]], self.local[predicted[pairs]])
        return distances

    def _by_slot(self, gold: Indices, predicted: Indices) -> list[tuple[int, Indices]]:
        """Return the pairs of forms of each slot."""
        slots = np.where(self.slots[gold] == self.slots[predicted], self.slots[gold], -1)
        return [(slot, pairs) for slot in range(len(self.pools)) if len(pairs := (slots == slot).nonzero()[0])]

    def _counts(self, values: Indices) -> Indices:
        return counts_of(self.starts)[values]

    def _combined(self, left: Indices, right: Indices) -> tuple[Indices, Indices, Indices, Indices]:
        """Combine the forms of each pair of values.

        Returns:
            The gold and the predicted form of each combination, the first combination of each predicted form of
            a pair, and the first predicted form of each pair.
        """
        heights, widths = self._counts(left), self._counts(right)
        owner, column, row = cross_slices(widths, heights)
        gold, predicted = self.members[self.starts[left][owner] + row], self.members[self.starts[right][owner] + column]
        return gold, predicted, starts_of(heights.repeat(widths))[:-1], starts_of(widths)[:-1]


def _worst_of_best(distances: Floats, runs: Indices, starts: Indices) -> Floats:
    """Return the maximum over the predicted forms of the minimum over the gold forms; shape (pairs,)."""
    if len(starts) == 0:
        return np.empty(0)
    worst: Floats = np.maximum.reduceat(np.minimum.reduceat(distances, runs), starts)
    return worst


@dataclass(frozen=True, eq=False, slots=True)
class AcceptedForms:
    """The forms of the rows of a column. Row r has the forms `starts[r]:starts[r + 1]`."""

    pool: FormsPool
    starts: Indices
    raw: Sequence[Json]
    """Each form as it was read."""
    values: Sequence[Json]
    """Normalised form of each code in the pool."""
    codes: Indices
    """Code of each form in the pool; -1 if it counts as absent."""

    def of(self, row: int) -> Indices:
        """Return the forms of a row that are not absent."""
        forms = np.arange(self.starts[row], self.starts[row + 1], dtype=np.intp)
        return forms[self.codes[forms] >= 0]

    def normalized(self, row: int) -> Json:
        """Return the normalised form of a row; a list if it has several, ABSENT if it has none."""
        forms = [self.values[code] for code in self.codes[self.of(row)].tolist()]
        return forms[0] if len(forms) == 1 else forms or ABSENT

    def used(self, left: int, right: int) -> Json:
        """Return the accepted form that a pair of rows was compared with; ABSENT if gold has only one.

        This is the nearest to the prediction; among equally near ones the first of the same kind, else the first.
        """
        gold, predicted = self.of(left), self.of(right)
        if len(np.unique(self.codes[gold])) == 1:
            return ABSENT
        _, column, row = cross_slices(*np.array([[len(predicted)], [len(gold)]], dtype=np.intp))
        a, b = self.codes[gold[row]], self.codes[predicted[column]]
        shape = len(predicted), len(gold)
        distances = self.pool.between(a, b).reshape(shape)
        other_kind = (self.pool.kinds[a] != self.pool.kinds[b]).reshape(shape)
        worst = int(distances.min(axis=1).argmax())
        return self.raw[gold[np.lexsort((other_kind[worst], distances[worst]))[0]]]
