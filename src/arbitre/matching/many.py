"""Many small assignment problems at once: most are solved by numpy, the others one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linear_sum_assignment

if TYPE_CHECKING:
    from arbitre.matching.coupling import Floats, Indices, Mask


def assign_all(quality: Floats, heights: Indices, widths: Indices) -> tuple[Indices, Indices]:
    """The optimal matching with min(n, m) pairs of each of many problems (see `hungarian`).

    Problem p has `heights[p]` gold and `widths[p]` predicted items; `quality` holds the tables of all problems, end to
    end, row by row. Returns the matched cells, by problem and row, and the problem of each; both of shape (pairs,).

    Where the best partners of the items of the shorter side are all different, they are the optimum; only the other
    problems go to the solver.

    >>> cells, problems = assign_all(np.array([0.9, 0.1, 0.2, 0.8, 0.5]), np.array([2, 1]), np.array([2, 1]))
    >>> cells, problems
    (array([0, 3, 4]), array([0, 0, 1]))
    """
    starts = (heights * widths).cumsum() - heights * widths
    tall = heights > widths
    cells, owner, solved = _distinct_best(quality, heights, widths, starts, ~tall, by_row=True)
    if tall.any():
        more, their, also = _distinct_best(quality, heights, widths, starts, tall, by_row=False)
        cells, owner, solved = np.concatenate([cells, more]), np.concatenate([owner, their]), solved | also
    rest = (~solved & (heights > 0) & (widths > 0)).nonzero()[0]
    if len(rest):
        found, of = [cells], [owner]
        for problem, start, height, width in zip(
            rest.tolist(), starts[rest].tolist(), heights[rest].tolist(), widths[rest].tolist(), strict=True
        ):
            table = quality[start : start + height * width].reshape(height, width)
            rows, columns = linear_sum_assignment(table, maximize=True)
            found.append(start + rows * width + columns)
            of.append(np.full(len(rows), problem, dtype=np.intp))
        cells, owner = np.concatenate(found), np.concatenate(of)
    order = cells.argsort(kind="stable")
    return cells[order], owner[order]


def _distinct_best(
    quality: Floats, heights: Indices, widths: Indices, starts: Indices, wanted: Mask, *, by_row: bool
) -> tuple[Indices, Indices, Mask]:
    """The problems among `wanted` in which the best partners along one side differ: cells, problems, which they are."""
    solved = np.zeros(len(heights), dtype=np.bool_)
    problems = (wanted & (heights > 0) & (widths > 0)).nonzero()[0]
    if len(problems) == 0:
        empty = np.empty(0, dtype=np.intp)
        return empty, empty, solved
    lines, length = (heights[problems], widths[problems]) if by_row else (widths[problems], heights[problems])
    owner = np.arange(len(problems), dtype=np.intp).repeat(lines)
    line_length = length[owner]
    ends = line_length.cumsum()
    begins = ends - line_length
    position = np.arange(ends[-1], dtype=np.intp) - begins.repeat(line_length)
    number = np.arange(len(owner), dtype=np.intp) - (lines.cumsum() - lines).repeat(lines)
    if by_row:
        first = starts[problems][owner] + number * line_length
        cell = first.repeat(line_length) + position
    else:
        first = starts[problems][owner] + number
        stride_of = lines[owner]
        cell = first.repeat(line_length) + position * stride_of.repeat(line_length)
    along = quality[cell]
    best = (along == np.maximum.reduceat(along, begins).repeat(line_length)).nonzero()[0]
    of_line = ends.searchsorted(best, side="right")
    keep = np.empty(len(best), dtype=np.bool_)
    keep[:1] = True
    np.not_equal(of_line[1:], of_line[:-1], out=keep[1:])
    best = best[keep]
    partner = position[best] + (length.cumsum() - length)[owner]
    clash = np.bincount(partner, minlength=int(length.sum()))[partner] > 1
    good = np.bincount(owner, weights=clash, minlength=len(problems)) == 0
    solved[problems[good]] = True
    kept = good[owner]
    return cell[best[kept]], problems[owner[kept]], solved
