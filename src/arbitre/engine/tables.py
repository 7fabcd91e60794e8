"""Matching problems of short lists, many at once: every candidate pair is looked at, the selected ones exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.engine.batches import Batch, Matched
from arbitre.engine.runs import crossed, located, spread, starts_of
from arbitre.errors import SolverError
from arbitre.matching import Candidates
from arbitre.matching.many import assign_all

if TYPE_CHECKING:
    from arbitre.engine.batches import Evaluate
    from arbitre.engine.columns import Indices, ListColumn, Mask

GOOD: Final = 0.5
"""Items of at least this quality are good partners: what lies across from them need not be known exactly."""


@dataclass(eq=False, slots=True)
class Tables:
    """The candidate pairs of the problems of a batch of lists, end to end.

    Problem p (number `problems[p]` of the batch) has a table of `heights[p]` x `widths[p]`; its candidates are
    `starts[p]:starts[p + 1]`, of which candidate c compares items `rows[c]` and `columns[c]`, which are rows `left[c]`
    and `right[c]` of the column of items. `complete` says that all cells are candidates, in order.
    """

    problems: Indices
    heights: Indices
    widths: Indices
    owner: Indices
    rows: Indices
    columns: Indices
    left: Indices
    right: Indices
    complete: bool

    @classmethod
    def of(cls, batch: Batch, column: ListColumn, which: Indices) -> Tables:
        """The tables of these pairs of lists of a batch."""
        lefts, rights = batch.left[which], batch.right[which]
        heights, widths = column.lengths[lefts], column.lengths[rights]
        candidates = column.matcher.candidates
        if candidates is Candidates.DIAGONAL:
            owner, rows, _ = crossed(np.minimum(heights, widths), np.ones_like(widths))
            columns = rows
        else:
            owner, rows, columns = crossed(heights, widths)
        left, right = column.starts[lefts][owner] + rows, column.starts[rights][owner] + columns
        if column.groups is not None:
            same = (column.groups[left] == column.groups[right]) & (column.groups[left] >= 0)
            owner, rows, columns, left, right = owner[same], rows[same], columns[same], left[same], right[same]
        complete = candidates is Candidates.ALL
        return cls(which, heights, widths, owner, rows, columns, column.rows(left), column.rows(right), complete)

    @property
    def starts(self) -> Indices:
        return starts_of(np.bincount(self.owner, minlength=len(self.problems)))

    def match(self, batch: Batch, column: ListColumn, evaluate: Evaluate) -> list[Matched]:
        """The matchings, once the candidates are evaluated. Raises SolverError, naming the list."""
        below = batch.branches[-1].batch
        quality = below.quality
        if not np.isfinite(quality).all():
            wrong = int(self.owner[(~np.isfinite(quality)).nonzero()[0][0]])
            pointer = column.pointer(int(batch.left[self.problems[wrong]]))
            raise SolverError.of("A quality between two items is not a finite number", pointer=pointer)
        if not (column.matcher.forced and self.complete):
            return [self._one_by_one(below, column)]
        if below.exact is not None:
            return self._narrowed(below, below.exact.copy(), evaluate)
        at, owner = assign_all(quality, self.heights, self.widths)
        return [Matched(below, at, self.problems[owner])]

    def _one_by_one(self, below: Batch, column: ListColumn) -> Matched:
        found, of = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
        starts = self.starts.tolist()
        for number in np.unique(self.owner).tolist():
            cells = slice(starts[number], starts[number + 1])
            shape = int(self.heights[number]), int(self.widths[number])
            rows, columns = self.rows[cells], self.columns[cells]
            table, allowed = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
            place = np.zeros(shape, dtype=np.intp)
            table[rows, columns], allowed[rows, columns] = below.quality[cells], True
            place[rows, columns] = np.arange(cells.start, cells.stop, dtype=np.intp)
            coupling = column.matcher.couple(table, None if self.complete else allowed)
            found.append(place[coupling.gold, coupling.predicted])
            of.append(np.full(len(found[-1]), self.problems[number], dtype=np.intp))
        return Matched(below, np.concatenate(found), np.concatenate(of))

    def _narrowed(self, below: Batch, exact: Mask, evaluate: Evaluate) -> list[Matched]:
        """The optimal matchings where some qualities are upper bounds: those that matter are made exact.

        First those of two items that both have no good partner, or where no item of a table is known to have one,
        those that are selected. Then, where another bound is selected, all that is left of that table.
        """
        quality = below.quality.copy()
        settled = exact.nonzero()[0]
        evaluated = [(below, settled, settled)]

        def settle(asked: Indices) -> None:
            if len(asked):
                batch = evaluate(below.column, self.left[asked], self.right[asked])
                quality[asked], exact[asked] = batch.quality, True
                evaluated.append((batch, asked, np.arange(len(asked), dtype=np.intp)))

        good = exact & (quality >= GOOD)
        wanted = ~self._partnered(good)
        blind = np.bincount(self.owner[good], minlength=len(self.problems)) == 0
        if blind.any():
            wanted &= ~blind[self.owner]
            _, cells = spread(self.starts, blind.nonzero()[0])
            wanted[cells[assign_all(quality[cells], self.heights[blind], self.widths[blind])[0]]] = True
        settle((wanted & ~exact).nonzero()[0])
        chosen, owner = assign_all(quality, self.heights, self.widths)
        doubtful = np.unique(owner[~exact[chosen]])
        if len(doubtful):
            _, cells = spread(self.starts, doubtful)
            settle(cells[~exact[cells]])
            again, its = assign_all(quality[cells], self.heights[doubtful], self.widths[doubtful])
            kept = ~np.isin(owner, doubtful)
            chosen, owner = np.append(chosen[kept], cells[again]), np.append(owner[kept], doubtful[its])
            order = chosen.argsort()
            chosen, owner = chosen[order], owner[order]
        matches = []
        for batch, asked, at in evaluated:
            place = located(asked, chosen)
            here = place >= 0
            matches.append(Matched(batch, at[place[here]], self.problems[owner[here]]))
        return matches

    def _partnered(self, good: Mask) -> Mask:
        """Which candidates compare an item that has a good partner; shape (candidates,)."""
        found = np.zeros(len(good), dtype=np.bool_)
        for lengths, positions in ((self.heights, self.rows), (self.widths, self.columns)):
            item = starts_of(lengths)[self.owner] + positions
            found |= np.bincount(item[good], minlength=int(lengths.sum()))[item] > 0
        return found
