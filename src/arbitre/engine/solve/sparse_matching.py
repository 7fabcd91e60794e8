"""Exact optimal matching of two very long lists in bounded memory.

A table of all pairs would not fit into memory. The matching is solved on a few candidates for each item instead. The
prices of its dual solution (see `sparse_assignment`) show which other pairs could improve it: those with an upper bound
above the prices of both items. These become candidates, and the matching is solved again, until there are none. The
matching is then optimal among all pairs, within `TIE`.

Bounds are computed for a tile of the table at a time and not kept. All of them are computed once, to find the first
candidates. After that, an item is scanned again only if its price is below the greatest bound that it had among the
other pairs, and only with partners whose own price does not make up for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.distances.base import Blocks
from arbitre.engine.columns.ragged import expand_slices, rank_among_equal
from arbitre.engine.solve.batches import REMEDY
from arbitre.engine.solve.upper_bounds import BoundTightness, upper_bounds
from arbitre.errors import SolverError
from arbitre.matching.assignment import TIE, SparsePairs

if TYPE_CHECKING:
    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.engine.columns.column import Column
    from arbitre.engine.solve.batches import Batch, CellLimits, Evaluate

CANDIDATES: Final = 8
"""Maximum number of candidates of each item that the first scan finds; each later scan finds twice as many."""

MAX_CANDIDATES: Final = 128
"""Maximum number of candidates of each item that a scan finds."""

EVALUATED_TOGETHER: Final = 1 << 14
"""Maximum number of pairs that are evaluated at a time; limits memory."""

TILE_WIDTH: Final = 1 << 10
"""Maximum width of a tile."""


class LongLists:
    """The matching of two lists. Rows are the items of the shorter list, columns those of the longer one.

    Attributes:
        rows: Row of `items` of each item of the shorter list.
        columns: Row of `items` of each item of the longer list.
        swapped: Whether the predicted list is the shorter one.
        key: Row * number of columns + column of each candidate, increasing; shape (candidates,).
        quality: Quality of each candidate, or an upper bound.
        known: Mask of the candidates whose quality is exact.
        other: Upper bound of the worth of all pairs of each row that are not candidates.
    """

    def __init__(
        self, items: Column, gold: Indices, predicted: Indices, *, gate: float | None, limits: CellLimits, pointer: str
    ) -> None:
        self.items, self.gate, self.limits, self.pointer = items, gate, limits, pointer
        self.swapped = len(gold) > len(predicted)
        self.rows, self.columns = (predicted, gold) if self.swapped else (gold, predicted)
        self.key: Indices = np.empty(0, dtype=np.intp)
        self.quality: Floats = np.empty(0)
        self.known: Mask = np.empty(0, dtype=np.bool_)
        self.other: Floats = np.full(len(self.rows), np.inf)
        self._scanned, self._most_found = 0, CANDIDATES
        self._blocks = Blocks(np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp))

    def match(self, evaluate: Evaluate) -> Batch:
        """Return the matched pairs, evaluated.

        Raises:
            SolverError: Too many bounds are needed.
        """
        n, m = len(self.rows), len(self.columns)
        if n * m > self.limits.most:
            raise self._too_long()
        every = np.arange(n, dtype=np.intp)
        if self.gate is None:  # so that a matching of all rows exists
            self._add(every * m + every * m // n, np.ones(n))
            self._evaluate(every, evaluate)
        self.other = self._scan(every, np.full(n, -np.inf), np.zeros(m))
        tolerance = TIE / (4 * n)
        while True:
            chosen, row_prices, column_prices = self._solve(evaluate, tolerance)
            self._most_found = min(2 * self._most_found, MAX_CANDIDATES)
            unsure = (self.other > row_prices + tolerance).nonzero()[0]
            before = len(self.key)
            self._scan(unsure, row_prices[unsure] + tolerance, column_prices)
            if len(self.key) == before:
                break
        gold, predicted = self._sides(chosen)
        order = gold.argsort(kind="stable")
        return evaluate(self.items, gold[order], predicted[order])

    def _too_long(self) -> SolverError:
        return SolverError.of(
            f"Matching {len(self.rows)} with {len(self.columns)} items needs more than {self.limits.most} comparisons "
            "of two items",
            pointer=self.pointer,
            hint=REMEDY,
        )

    def _worth(self, quality: Floats) -> Floats:
        """Return what pairs add to the sum that is maximised: with a gate, the most pairs win a tie."""
        if self.gate is None:
            return quality
        return np.where(quality >= self.gate, quality + TIE / len(self.rows), -np.inf)

    def _sides(self, key: Indices) -> tuple[Indices, Indices]:
        """Return the gold and the predicted row of `items` of each pair."""
        row, column = np.divmod(key, len(self.columns))
        rows, columns = self.rows[row], self.columns[column]
        return (columns, rows) if self.swapped else (rows, columns)

    def _add(self, key: Indices, quality: Floats) -> None:
        """Add candidates, with upper bounds of their quality."""
        order = np.concatenate([self.key, key]).argsort(kind="stable")
        self.key = np.concatenate([self.key, key])[order]
        self.quality = np.concatenate([self.quality, quality])[order]
        self.known = np.concatenate([self.known, np.zeros(len(key), dtype=np.bool_)])[order]

    def _solve(self, evaluate: Evaluate, tolerance: float) -> tuple[Indices, Floats, Floats]:
        """Solve the matching on the candidates until the quality of every selected pair is exact.

        If a selected pair is worse than its bound, all candidates of its row are evaluated.

        Returns:
            The keys of the matched pairs, and the prices of rows and columns.
        """
        m = len(self.columns)
        whole_rows = False
        while True:
            usable, pairs = self._pairs()
            selected, row_prices, column_prices = pairs.solve(tolerance)
            chosen = usable[selected[pairs.columns[selected] < m]]
            unknown = chosen[~self.known[chosen]]
            if whole_rows:
                of_rows = np.isin(self.key // m, self.key[unknown] // m)
                unknown = (of_rows & ~self.known).nonzero()[0]
            if self._evaluate(unknown, evaluate):
                return self.key[chosen], row_prices, column_prices[:m]
            whole_rows = True

    def _pairs(self) -> tuple[Indices, SparsePairs]:
        """Return the pairs to select from, and the candidate of each: with a gate, rows may have no partner."""
        n, m = len(self.rows), len(self.columns)
        row, column = np.divmod(self.key, m)
        worth = self._worth(self.quality)
        if self.gate is None:
            return np.arange(len(self.key), dtype=np.intp), SparsePairs((n, m), row, column, worth)
        alone = np.arange(n, dtype=np.intp)  # a column of its own for each row, with a pair of no worth
        usable = (worth >= 0.0).nonzero()[0]
        candidate = np.concatenate([usable, np.full(n, -1, dtype=np.intp)])
        row, column = np.concatenate([row[usable], alone]), np.concatenate([column[usable], m + alone])
        worth = np.concatenate([worth[usable], np.zeros(n)])
        order = row.argsort(kind="stable")
        return candidate[order], SparsePairs((n, m + n), row[order], column[order], worth[order])

    def _evaluate(self, candidates: Indices, evaluate: Evaluate) -> bool:
        """Compute the quality of candidates; return whether all of them equal their bounds."""
        bounds = self.quality[candidates]
        for begin in range(0, len(candidates), EVALUATED_TOGETHER):
            some = candidates[begin : begin + EVALUATED_TOGETHER]
            self.quality[some] = evaluate(self.items, *self._sides(self.key[some])).quality
        self.known[candidates] = True
        return bool((self.quality[candidates] == bounds).all())

    def _scan(self, rows: Indices, least: Floats, prices: Floats) -> Floats:
        """Add the best pairs of some rows to the candidates: those whose worth exceeds their column's price most.

        Args:
            rows: The rows.
            least: What a pair must be worth more than the price of its column; shape (rows,).
            prices: Prices of the columns.

        Returns:
            Upper bound of the worth of all other pairs of each row, minus the price of their column, if this is more
            than `least`; shape (rows,).
        """
        others = least.copy()
        by_price = prices.argsort(kind="stable") if len(rows) else np.empty(0, dtype=np.intp)
        slack = self.other[rows] - least  # a pair with a column of a higher price cannot be worth enough
        order = (-slack).argsort(kind="stable")
        height = max(1, self.limits.tile // min(TILE_WIDTH, len(self.columns)))
        found: list[tuple[Indices, Floats]] = []
        for begin in range(0, len(rows), height):
            part = order[begin : begin + height]
            columns = by_price
            if np.isfinite(slack[part[0]]):
                columns = by_price[: prices[by_price].searchsorted(slack[part[0]])]
            else:  # the first scan: begin near the diagonal, so that rows with many equal partners differ in these
                columns = np.roll(columns, -int(rows[part[0]] * len(columns) // len(self.rows)))
            key, excess, others[part] = self._scan_rows(rows[part], columns, least[part], prices)
            found.append((key, excess))
        if found:
            key = np.concatenate([key for key, _ in found])
            self._add(key, np.concatenate([quality for _, quality in found]))
        return others

    def _scan_rows(
        self, rows: Indices, columns: Indices, least: Floats, prices: Floats
    ) -> tuple[Indices, Floats, Floats]:
        """Return the keys and the quality of the best pairs of some rows, and the limit of the worth of all others."""
        m, most = len(self.columns), self._most_found
        owner = np.empty(0, dtype=np.intp)
        key, quality, excess = np.empty(0, dtype=np.intp), np.empty(0), np.empty(0)
        place = np.full(m, -1, dtype=np.intp)
        place[columns] = np.arange(len(columns), dtype=np.intp)
        held_row, held = expand_slices(self.key.searchsorted(np.arange(len(self.rows) + 1, dtype=np.intp) * m), rows)
        held_place = place[self.key[held] % m]
        limit = least.copy()
        for begin in range(0, len(columns), TILE_WIDTH):
            some = columns[begin : begin + TILE_WIDTH]
            bounds = self._bounds(rows, some)
            table = self._worth(bounds)
            table = table - prices[some] if prices.any() else table
            inside = (held_place >= begin) & (held_place < begin + len(some))
            table[held_row[inside], held_place[inside] - begin] = -np.inf
            above = table > limit[:, None]
            count = np.count_nonzero(above)
            if count == 0:
                continue
            if count > 4 * most * len(rows) and len(some) > most:
                best = table.argpartition(len(some) - most - 1, axis=1)[:, -most - 1 :]
                few = np.zeros(table.shape, dtype=np.bool_)
                np.put_along_axis(few, best, values=True, axis=1)
                above &= few
            row, column = above.nonzero()
            owner = np.concatenate([owner, row])
            key = np.concatenate([key, rows[row] * m + some[column]])
            quality = np.concatenate([quality, bounds[row, column]])
            excess = np.concatenate([excess, table[row, column]])
            order = np.lexsort((-excess, owner))
            owner, key, quality, excess = owner[order], key[order], quality[order], excess[order]
            rank = rank_among_equal(owner)
            next_best = rank == most
            limit[owner[next_best]] = excess[next_best]
            kept = rank < most
            owner, key, quality, excess = owner[kept], key[kept], quality[kept], excess[kept]
        return key, quality, limit

    def _bounds(self, rows: Indices, columns: Indices) -> Floats:
        """Return upper bounds of the quality of each of these rows with each of these columns."""
        self._scanned += len(rows) * len(columns)
        if self._scanned > self.limits.most:
            raise self._too_long()
        sides = (columns, rows) if self.swapped else (rows, columns)
        heights, widths = ([0, len(side)] for side in sides)
        if self._blocks.left_starts.tolist() != heights or self._blocks.right_starts.tolist() != widths:
            self._blocks = Blocks(np.array(heights, dtype=np.intp), np.array(widths, dtype=np.intp))
        gold, predicted = (
            (self.columns[columns], self.rows[rows]) if self.swapped else (self.rows[rows], self.columns[columns])
        )
        bounds = upper_bounds(self.items, self._blocks, gold, predicted, tightness=BoundTightness.COUNTS)
        table = bounds.reshape(heights[1], widths[1])
        return table.T if self.swapped else table
