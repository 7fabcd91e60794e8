"""Many small assignment problems at once: most are solved by numpy, the others one by one.

Problem p has `heights[p]` gold and `widths[p]` predicted items; `quality` holds the tables of all problems, end to
end, row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import scipy

if TYPE_CHECKING:
    from arbitre.matching.coupling import Floats, Indices, Mask


SMALL: Final = 100
"""Tables of so many cells are always left to the solver."""


def assign_all(quality: Floats, heights: Indices, widths: Indices) -> tuple[Indices, Indices]:
    """The optimal matching with min(n, m) pairs of each of many problems (see `hungarian`).

    Returns the matched cells, by problem and row, and the problem of each; both of shape (pairs,).

    In small tables the best partners of the items of the shorter side are often all different: they are the optimum
    then. Only the other problems go to the solver.

    >>> cells, problems = assign_all(np.array([0.9, 0.1, 0.2, 0.8, 0.5]), np.array([2, 1]), np.array([2, 1]))
    >>> cells, problems
    (array([0, 3, 4]), array([0, 0, 1]))
    """
    sizes = heights * widths
    starts = sizes.cumsum() - sizes
    if len(sizes) and sizes.min() >= SMALL:
        return _solved(quality, heights, widths, starts, np.arange(len(sizes), dtype=np.intp))
    best = Best.of(quality, heights, widths)
    easy = ~best.problems_of(best.doubtful)
    kept = easy[best.owner]
    cells, owner = best.cells[kept], best.owner[kept]
    hard = (~easy).nonzero()[0]
    if len(hard):
        more = _solved(quality, heights[hard], widths[hard], starts[hard], hard)
        cells, owner = np.concatenate([cells, more[0]]), np.concatenate([owner, more[1]])
    order = cells.argsort(kind="stable")
    return cells[order], owner[order]


def _solved(
    quality: Floats, heights: Indices, widths: Indices, starts: Indices, problems: Indices
) -> tuple[Indices, Indices]:
    """The matchings of these problems, whose tables begin at `starts`, by the solver: cells and problems."""
    shapes = zip(starts.tolist(), heights.tolist(), widths.tolist(), strict=True)
    tables = [quality[start : start + height * width].reshape(height, width) for start, height, width in shapes]
    found = [scipy.optimize.linear_sum_assignment(table, maximize=True) for table in tables]
    rows, columns = (np.concatenate(side) for side in zip(*found, strict=True))
    pairs = np.minimum(heights, widths)
    return starts.repeat(pairs) + rows * widths.repeat(pairs) + columns, problems.repeat(pairs)


@dataclass(frozen=True, eq=False, slots=True)
class Best:
    """The best partner of every item of the shorter side of each problem; the gold side where both are as long.

    For each such item `cells` says which cell that is, the first of several; `owner` the problem; `doubtful` whether it
    is the best partner of another item too, or the table not small. Shape (items of the shorter sides,).
    """

    cells: Indices
    owner: Indices
    doubtful: Mask
    count: int

    @classmethod
    def of(cls, quality: Floats, heights: Indices, widths: Indices) -> Best:
        flat = heights <= widths
        lines, length = np.where(flat, heights, widths), np.where(flat, widths, heights)
        owner = np.arange(len(lines), dtype=np.intp).repeat(lines)
        if len(owner) == 0:
            return cls(owner, owner, np.zeros(0, dtype=np.bool_), len(lines))
        lengths = length[owner]
        ends = lengths.cumsum()
        begins = ends - lengths
        along = quality
        if not flat.all():
            starts = (heights * widths).cumsum() - heights * widths
            number = np.arange(len(owner), dtype=np.intp) - (lines.cumsum() - lines).repeat(lines)
            first, stride = starts[owner] + number * np.where(flat, widths, 1)[owner], np.where(flat, 1, widths)[owner]
            position = np.arange(ends[-1], dtype=np.intp) - begins.repeat(lengths)
            along = quality[first.repeat(lengths) + position * stride.repeat(lengths)]
        found = (along == np.maximum.reduceat(along, begins).repeat(lengths)).nonzero()[0]
        position = found[found.searchsorted(begins)] - begins
        partner = position + (length.cumsum() - length)[owner]
        doubtful = np.bincount(partner, minlength=int(length.sum()))[partner] > 1
        doubtful |= (heights * widths >= SMALL)[owner]
        cells = begins + position if along is quality else first + position * stride
        return cls(cells, owner, doubtful, len(lines))

    def problems_of(self, items: Mask) -> Mask:
        """The problems with such an item; shape (problems,)."""
        found = np.zeros(self.count, dtype=np.bool_)
        found[self.owner[items]] = True
        return found
