"""Matching of many pairs of short lists at once: the quality of every candidate pair of items is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arbitre.distances.base import Blocks
from arbitre.engine.columns.ragged import cross_slices, expand_slices, find_sorted, starts_of
from arbitre.engine.solve.batches import Batch, CellLayout, MatchedPairs
from arbitre.errors import SolverError
from arbitre.matching import Candidates
from arbitre.matching.batch_assignment import assign_above, assign_all, best_partners

if TYPE_CHECKING:
    from arbitre.arrays import Indices, Mask
    from arbitre.engine.columns.column import Column, ListColumn
    from arbitre.engine.solve.batches import Evaluate


@dataclass(eq=False, slots=True)
class DenseProblems:
    """The candidate pairs of items of some pairs of lists, concatenated."""

    problems: Indices
    """Position in the batch of each pair of lists; shape (problems,)."""
    heights: Indices
    """Number of gold items of each problem."""
    widths: Indices
    """Number of predicted items of each problem."""
    owner: Indices
    """Problem of each candidate, increasing; shape (candidates,)."""
    cells: Indices | None
    """Cell of each candidate in the table of its problem, row by row; None if every cell is a candidate."""
    below: Batch
    """The candidates as pairs of items."""

    @classmethod
    def of(
        cls, batch: Batch, column: ListColumn, items: Column, which: Indices, *, allow_bounds: bool
    ) -> DenseProblems:
        """Return the tables of the pairs of lists `which` of a batch."""
        lefts, rights = batch.left[which], batch.right[which]
        heights, widths = column.lengths[lefts], column.lengths[rights]
        if column.matcher.candidates is Candidates.ALL:
            gold, predicted = (column.rows(expand_slices(column.starts, lists)[1]) for lists in (lefts, rights))
            grid = CellLayout(Blocks(starts_of(heights), starts_of(widths)), gold, predicted)
            below = Batch(items, gold[grid.blocks.rows], predicted[grid.blocks.columns], allow_bounds, grid)
            owner = np.arange(len(which), dtype=np.intp).repeat(heights * widths)
            return cls(which, heights, widths, owner, None, below)
        if column.matcher.candidates is Candidates.DIAGONAL:
            owner, rows, _ = cross_slices(np.minimum(heights, widths), np.ones_like(widths))
            columns = rows
        else:
            owner, rows, columns = cross_slices(heights, widths)
        left, right = column.starts[lefts][owner] + rows, column.starts[rights][owner] + columns
        if column.match_keys is not None:
            same = (column.match_keys[left] == column.match_keys[right]) & (column.match_keys[left] >= 0)
            owner, rows, columns, left, right = owner[same], rows[same], columns[same], left[same], right[same]
        below = Batch(items, column.rows(left), column.rows(right), allow_bounds)
        return cls(which, heights, widths, owner, rows * widths[owner] + columns, below)

    def match(self, batch: Batch, column: ListColumn, evaluate: Evaluate) -> list[MatchedPairs]:
        """Match the items after `below` is evaluated.

        Raises:
            SolverError: A quality is not finite; with the pointer of the list.
        """
        quality = self.below.quality
        if not np.isfinite(quality).all():
            wrong = int(self.owner[(~np.isfinite(quality)).nonzero()[0][0]])
            pointer = column.pointer(int(batch.left[self.problems[wrong]]))
            raise SolverError.of("A quality between two items is not a finite number", pointer=pointer)
        gate = column.matcher.gate
        if gate is not None:
            chosen, owner = assign_above(quality, self.heights, self.widths, gate)
            return [MatchedPairs(self.below, chosen, self.problems[owner])]
        if not column.matcher.full_matching:
            return [self._one_by_one(column)]
        if self.below.exact is not None:
            return self._narrowed(self.below.exact.copy(), evaluate, always=column.expensive_above <= 1)
        chosen, owner = assign_all(quality, self.heights, self.widths)
        return [MatchedPairs(self.below, chosen, self.problems[owner])]

    def _one_by_one(self, column: ListColumn) -> MatchedPairs:
        """Match the items of each pair of lists separately."""
        matched, owners = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
        starts = starts_of(np.bincount(self.owner, minlength=len(self.problems))).tolist()
        for number in np.unique(self.owner).tolist():
            part = slice(starts[number], starts[number + 1])
            shape = int(self.heights[number]), int(self.widths[number])
            quality, candidates = self.below.quality[part], np.arange(part.start, part.stop, dtype=np.intp)
            if self.cells is None:
                coupling = column.matcher.couple(quality.reshape(shape), None)
                matched.append(candidates.reshape(shape)[coupling.gold, coupling.predicted])
            else:
                cells = self.cells[part]
                table, allowed = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
                candidate_of = np.zeros(shape, dtype=np.intp)
                table.flat[cells], allowed.flat[cells], candidate_of.flat[cells] = quality, True, candidates
                coupling = column.matcher.couple(table, allowed)
                matched.append(candidate_of[coupling.gold, coupling.predicted])
            owners.append(np.full(len(matched[-1]), self.problems[number], dtype=np.intp))
        return MatchedPairs(self.below, np.concatenate(matched), np.concatenate(owners))

    def _narrowed(self, exact: Mask, evaluate: Evaluate, *, always: bool) -> list[MatchedPairs]:
        """Match the items if some qualities are upper bounds, computing only the qualities that matter.

        First, the best candidate of each item is computed. If these are all different and still the best, they are the
        matching; in all other tables, every candidate is computed. The matching is the same as with all qualities.
        Computing the best candidates first saves 18 % on a corpus of documents with 20 nested entries.

        Unless tables are `always` narrowed, the matched pairs are evaluated again in one batch: whether tables are
        narrowed depends on the other documents, which must not change the order of the results.
        """
        below, quality = self.below, self.below.quality.copy()
        settled = exact.nonzero()[0]
        evaluated = [(below, settled, settled)]

        def compute(cells: Indices) -> None:
            inexact = np.sort(cells[~exact[cells]])
            if len(inexact):
                batch = evaluate(below.column, below.left[inexact], below.right[inexact])
                quality[inexact], exact[inexact] = batch.quality, True
                evaluated.append((batch, inexact, np.arange(len(inexact), dtype=np.intp)))

        compute(best_partners(quality, self.heights, self.widths).cells)
        best = best_partners(quality, self.heights, self.widths)
        unsure = np.zeros(len(self.problems), dtype=np.bool_)
        unsure[best.owner[best.doubtful | ~exact[best.cells]]] = True
        compute(unsure[self.owner].nonzero()[0])
        chosen, owner = assign_all(quality, self.heights, self.widths)
        if not always:
            batch = evaluate(below.column, below.left[chosen], below.right[chosen])
            return [MatchedPairs(batch, np.arange(len(chosen), dtype=np.intp), self.problems[owner])]
        matches = []
        for batch, candidates, pairs in evaluated:
            place = find_sorted(candidates, chosen)
            hit = place >= 0
            matches.append(MatchedPairs(batch, pairs[place[hit]], self.problems[owner[hit]]))
        return matches
