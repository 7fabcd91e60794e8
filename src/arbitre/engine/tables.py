"""Matching problems of short lists, many at once: every candidate pair is looked at, the selected ones exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.distances.base import Blocks
from arbitre.engine.batches import Batch, Grid, Matched
from arbitre.engine.runs import crossed, located, spread, starts_of
from arbitre.errors import SolverError
from arbitre.matching import Candidates
from arbitre.matching.many import Best, assign_all

if TYPE_CHECKING:
    from arbitre.engine.batches import Evaluate
    from arbitre.engine.columns import Column, Indices, ListColumn, Mask

TURNS: Final = 2
"""So many times the most promising pairs are made exact, before all of a table are."""


@dataclass(eq=False, slots=True)
class Tables:
    """The candidate pairs of the problems of a batch of lists, end to end.

    Problem p (number `problems[p]` of the batch) has a table of `heights[p]` x `widths[p]`; its candidates are
    `starts[p]:starts[p + 1]`. `cells` says which cell of its table each is, row by row: None where every cell is one.
    `below` are the pairs of items that the candidates compare.
    """

    problems: Indices
    heights: Indices
    widths: Indices
    owner: Indices
    cells: Indices | None
    below: Batch

    @classmethod
    def of(cls, batch: Batch, column: ListColumn, items: Column, which: Indices, *, loose: bool) -> Tables:
        """The tables of these pairs of lists of a batch."""
        lefts, rights = batch.left[which], batch.right[which]
        heights, widths = column.lengths[lefts], column.lengths[rights]
        if column.matcher.candidates is Candidates.ALL:
            gold, predicted = (column.rows(spread(column.starts, lists)[1]) for lists in (lefts, rights))
            grid = Grid(Blocks(starts_of(heights), starts_of(widths)), gold, predicted)
            below = Batch(items, gold[grid.blocks.rows], predicted[grid.blocks.columns], loose, grid)
            owner = np.arange(len(which), dtype=np.intp).repeat(heights * widths)
            return cls(which, heights, widths, owner, None, below)
        if column.matcher.candidates is Candidates.DIAGONAL:
            owner, rows, _ = crossed(np.minimum(heights, widths), np.ones_like(widths))
            columns = rows
        else:
            owner, rows, columns = crossed(heights, widths)
        left, right = column.starts[lefts][owner] + rows, column.starts[rights][owner] + columns
        if column.groups is not None:
            same = (column.groups[left] == column.groups[right]) & (column.groups[left] >= 0)
            owner, rows, columns, left, right = owner[same], rows[same], columns[same], left[same], right[same]
        below = Batch(items, column.rows(left), column.rows(right), loose)
        return cls(which, heights, widths, owner, rows * widths[owner] + columns, below)

    @property
    def starts(self) -> Indices:
        return starts_of(np.bincount(self.owner, minlength=len(self.problems)))

    def match(self, batch: Batch, column: ListColumn, evaluate: Evaluate) -> list[Matched]:
        """The matchings, once the candidates are evaluated. Raises SolverError, naming the list."""
        below, quality = self.below, self.below.quality
        if not np.isfinite(quality).all():
            wrong = int(self.owner[(~np.isfinite(quality)).nonzero()[0][0]])
            pointer = column.pointer(int(batch.left[self.problems[wrong]]))
            raise SolverError.of("A quality between two items is not a finite number", pointer=pointer)
        if not column.matcher.forced:
            return [self._one_by_one(column)]
        if below.exact is not None:
            return self._narrowed(below.exact.copy(), evaluate, always=column.dear <= 1)
        at, owner = assign_all(quality, self.heights, self.widths)
        return [Matched(below, at, self.problems[owner])]

    def _one_by_one(self, column: ListColumn) -> Matched:
        found, of = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
        starts = self.starts.tolist()
        for number in np.unique(self.owner).tolist():
            here = slice(starts[number], starts[number + 1])
            shape = int(self.heights[number]), int(self.widths[number])
            quality, place = self.below.quality[here], np.arange(here.start, here.stop, dtype=np.intp)
            if self.cells is None:
                coupling = column.matcher.couple(quality.reshape(shape), None)
                found.append(place.reshape(shape)[coupling.gold, coupling.predicted])
            else:
                cells = self.cells[here]
                table, allowed = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
                of_cell = np.zeros(shape, dtype=np.intp)
                table.flat[cells], allowed.flat[cells], of_cell.flat[cells] = quality, True, place
                coupling = column.matcher.couple(table, allowed)
                found.append(of_cell[coupling.gold, coupling.predicted])
            of.append(np.full(len(found[-1]), self.problems[number], dtype=np.intp))
        return Matched(self.below, np.concatenate(found), np.concatenate(of))

    def _narrowed(self, exact: Mask, evaluate: Evaluate, *, always: bool) -> list[Matched]:
        """The optimal matchings where some qualities are upper bounds: those that matter are made exact.

        First the best of each line, `TURNS` times. Where these are exact and not doubtful, they are the best of what
        is exact too; of the other tables all that is left is made exact. So what is found is the very matching that is
        found where all is exact. Unless tables are `always` narrowed, the pairs found are evaluated once more, all
        together: their order must not tell whether they were.
        """
        below, quality = self.below, self.below.quality.copy()
        settled = exact.nonzero()[0]
        evaluated = [(below, settled, settled)]
        found, of = [], []
        active, cells = np.arange(len(self.problems), dtype=np.intp), np.arange(len(quality), dtype=np.intp)
        for turn in range(TURNS + 1):
            best = Best.of(quality[cells], self.heights[active], self.widths[active])
            lines, owner = cells[best.cells], active[best.owner]
            unsure = best.problems_of(best.doubtful | ~exact[lines])
            sure = ~unsure[best.owner]
            found.append(lines[sure])
            of.append(owner[sure])
            active = active[unsure]
            _, cells = spread(self.starts, active)
            asked = lines if turn < TURNS else cells
            asked = asked[~exact[asked]]
            if len(asked):
                asked.sort()
                batch = evaluate(below.column, below.left[asked], below.right[asked])
                quality[asked], exact[asked] = batch.quality, True
                evaluated.append((batch, asked, np.arange(len(asked), dtype=np.intp)))
        at, owner = assign_all(quality[cells], self.heights[active], self.widths[active])
        chosen, owner = np.concatenate([*found, cells[at]]), np.concatenate([*of, active[owner]])
        order = chosen.argsort()
        chosen, owner = chosen[order], owner[order]
        if not always:
            batch = evaluate(below.column, below.left[chosen], below.right[chosen])
            return [Matched(batch, np.arange(len(chosen), dtype=np.intp), self.problems[owner])]
        matches = []
        for batch, asked, at in evaluated:
            place = located(asked, chosen)
            here = place >= 0
            matches.append(Matched(batch, at[place[here]], self.problems[owner[here]]))
        return matches
