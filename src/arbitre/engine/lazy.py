"""Exact optimal matchings of long lists, without computing what the optimum does not need.

Every cell starts at an upper bound of its quality. The matching is solved on the bounds; the pairs it selected are
evaluated exactly, and it is solved again, until every selected pair is exact. All other cells are at most their bounds,
so the matching is optimal for the true qualities. Where pairs disappoint, the bounds of their rivals are tightened;
those that still do are evaluated with ever more of their rivals, so that the number of rounds grows with the logarithm
of the size only, and no cell is evaluated twice.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.distances.base import Blocks
from arbitre.engine.batches import Batch, Matched
from arbitre.engine.bounds import bounds, deepens
from arbitre.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.engine.columns import Column, Floats, Indices, ListColumn, Mask
    from arbitre.matching import Matcher

    Evaluate = Callable[[Column, Indices, Indices], Batch]

CHUNK: Final = 1 << 18
"""Bounds are computed for so many cells at a time: memory beyond the one table of a problem stays small."""

DEEP_CHUNK: Final = 1 << 14
"""Tighter bounds are computed for so many cells at a time: each looks at all pairs of items inside."""

WIDEN: Final = 4
"""In each round after the second, so many times as many rivals of a disappointing pair are evaluated with it."""


def solve_lazily(column: ListColumn, left: Indices, right: Indices, evaluate: Evaluate) -> list[Matched]:
    """Match each gold list `left[p]` with the predicted list `right[p]` (rows of the column), all in rounds together.

    What is returned for one problem depends on that problem alone.
    """
    if column.items is None or column.matcher is None:
        return []
    problems = _Problems(column, left, right)
    deep = deepens(column.items)
    evaluated: list[tuple[Batch, Indices]] = []
    active = np.arange(len(left), dtype=np.intp)
    chosen: dict[int, Indices] = {}
    wide = 0
    for number in count():
        selected, owner = _select(problems, active, column.matcher, chosen)
        new = np.flatnonzero(~problems.known[selected])
        cells, owner = selected[new], owner[new]
        if len(cells) == 0:
            break
        if number == 1 and deep:
            active = _tighten(problems, cells, owner)
            continue
        before = problems.quality[cells]
        asked = np.union1d(cells, _rivals(problems, cells, owner, wide)) if wide else cells
        if number:
            wide = wide * WIDEN or 1
        batch = evaluate(column.items, *problems.rows(asked))
        problems.quality[asked] = batch.quality
        problems.known[asked] = True
        evaluated.append((batch, asked))
        active = np.unique(owner[problems.quality[cells] < before])
        if len(active) == 0:
            break
    return _collect(problems, chosen, evaluated)


def _tighten(problems: _Problems, cells: Indices, owner: Indices) -> Indices:
    """Look deep into the rows and columns of these cells, for tighter bounds; the problems that they are of."""
    active = np.unique(owner)
    rectangles: list[tuple[int, Indices, Indices]] = []
    for problem in active.tolist():
        shape = int(problems.heights[problem]), int(problems.widths[problem])
        here = cells[owner == problem] - problems.starts[problem]
        rows, columns = np.unique(here // shape[1]), np.unique(here % shape[1])
        others = np.ones(shape[0], dtype=np.bool_)
        others[rows] = False
        step = max(1, DEEP_CHUNK // shape[1])
        every = np.arange(shape[1], dtype=np.intp)
        rectangles += [(problem, rows[at : at + step], every) for at in range(0, len(rows), step)]
        step = max(1, DEEP_CHUNK // len(columns))
        rest = np.flatnonzero(others)
        rectangles += [(problem, rest[at : at + step], columns) for at in range(0, len(rest), step)]
    group: list[tuple[int, Indices, Indices]] = []
    size = 0
    for rectangle in rectangles:
        group.append(rectangle)
        size += len(rectangle[1]) * len(rectangle[2])
        if size >= DEEP_CHUNK:
            _lower(problems, group)
            group, size = [], 0
    if group:
        _lower(problems, group)
    return active


def _lower(problems: _Problems, rectangles: list[tuple[int, Indices, Indices]]) -> None:
    """Lower the bounds of these rectangles (problem, rows, columns) to what looking deep can tell."""
    column, items = problems.column, problems.column.items
    if items is None:
        return
    gold = np.concatenate([problems.gold[problem] + rows for problem, rows, _ in rectangles])
    predicted = np.concatenate([problems.predicted[problem] + columns for problem, _, columns in rectangles])
    left = np.array([len(rows) for _, rows, _ in rectangles], dtype=np.intp)
    right = np.array([len(columns) for _, _, columns in rectangles], dtype=np.intp)
    blocks = Blocks(_starts(left), _starts(right))
    tight = bounds(items, blocks, column.rows(gold), column.rows(predicted), deep=True)
    of = np.array([problem for problem, _, _ in rectangles], dtype=np.intp)
    width = problems.widths[of]
    row = np.concatenate([rows for _, rows, _ in rectangles])
    at = np.concatenate([columns for _, _, columns in rectangles])
    line = np.repeat(problems.starts[of], left) + row * np.repeat(width, left)
    cells = line[blocks.rows] + at[blocks.columns]
    open_cells = ~problems.known[cells]
    cells, tight = cells[open_cells], tight[open_cells]
    problems.quality[cells] = np.minimum(problems.quality[cells], tight)


class _Problems:
    """The tables of many problems end to end: the best known quality of each cell, and whether it is exact."""

    def __init__(self, column: ListColumn, left: Indices, right: Indices) -> None:
        lengths = column.lengths
        self.column = column
        self.gold, self.predicted = column.starts[left], column.starts[right]
        self.heights, self.widths = lengths[left], lengths[right]
        self.starts = np.zeros(len(left) + 1, dtype=np.intp)
        np.cumsum(self.heights * self.widths, out=self.starts[1:])
        self.quality: Floats = np.empty(int(self.starts[-1]))
        self.known: Mask = np.zeros(int(self.starts[-1]), dtype=np.bool_)
        self._bound()

    def _bound(self) -> None:
        """Fill in the upper bounds, some rows of a long problem or several short problems at a time."""
        problem = 0
        while problem < len(self.heights):
            stop = int(np.searchsorted(self.starts, self.starts[problem] + CHUNK, side="right")) - 1
            if stop > problem:
                self._fill(problem, stop, 0, None)
            else:
                stop = problem + 1
                step = max(1, CHUNK // int(self.widths[problem]))
                for row in range(0, int(self.heights[problem]), step):
                    self._fill(problem, stop, row, min(row + step, int(self.heights[problem])))
            problem = stop

    def _fill(self, first: int, stop: int, row: int, until: int | None) -> None:
        items = self.column.items
        if items is None:
            return
        heights = self.heights[first:stop] if until is None else np.array([until - row], dtype=np.intp)
        left = self.column.rows(_slots(self.gold[first:stop] + row, heights))
        right = self.column.rows(_slots(self.predicted[first:stop], self.widths[first:stop]))
        blocks = Blocks(_starts(heights), _starts(self.widths[first:stop]))
        begin = int(self.starts[first]) + row * int(self.widths[first] if until is not None else 0)
        size = int(blocks.starts[-1])
        self.quality[begin : begin + size] = bounds(items, blocks, left, right)

    def table(self, problem: int) -> Floats:
        cells = self.quality[self.starts[problem] : self.starts[problem + 1]]
        return cells.reshape(int(self.heights[problem]), int(self.widths[problem]))

    def rows(self, cells: Indices) -> tuple[Indices, Indices]:
        """The rows of the items that cells compare."""
        problem = np.searchsorted(self.starts, cells, side="right") - 1
        row, at = np.divmod(cells - self.starts[problem], self.widths[problem])
        return self.column.rows(self.gold[problem] + row), self.column.rows(self.predicted[problem] + at)


def _select(
    problems: _Problems, active: Indices, matcher: Matcher, chosen: dict[int, Indices]
) -> tuple[Indices, Indices]:
    """Solve the active problems on what is known; the selected cells, and the problem of each."""
    found, owner = [], []
    for problem in active.tolist():
        table = problems.table(problem)
        coupling = matcher.couple(table)
        cells = problems.starts[problem] + coupling.gold * table.shape[1] + coupling.predicted
        chosen[problem] = cells
        found.append(cells)
        owner.append(np.full(len(cells), problem, dtype=np.intp))
    return np.concatenate(found), np.concatenate(owner)


def _rivals(problems: _Problems, cells: Indices, owner: Indices, wide: int) -> Indices:
    """The best cells not yet exact in the rows and columns of the disappointing ones, `wide` of each."""
    found = []
    for problem in np.unique(owner).tolist():
        start = int(problems.starts[problem])
        table = problems.table(problem)
        known = problems.known[start : start + table.size].reshape(table.shape)
        mine = cells[owner == problem] - start
        row, at = np.divmod(mine, table.shape[1])
        for lines, exact, base, stride in (
            (table[row], known[row], row * table.shape[1], 1),
            (table[:, at].T, known[:, at].T, at, table.shape[1]),
        ):
            open_lines = np.where(exact, -1.0, lines)
            most = min(wide, open_lines.shape[1])
            best = np.argpartition(-open_lines, most - 1, axis=1)[:, :most]
            real = np.take_along_axis(open_lines, best, axis=1) >= 0.0
            found.append((start + base[:, None] + best * stride)[real])
    return np.concatenate(found)


def _collect(problems: _Problems, chosen: dict[int, Indices], evaluated: list[tuple[Batch, Indices]]) -> list[Matched]:
    """Where the chosen cells were evaluated."""
    if not evaluated:
        return []
    cells = np.concatenate([chosen[problem] for problem in sorted(chosen)])
    matches = []
    for batch, asked in evaluated:
        order = np.argsort(asked, kind="stable")
        place = np.searchsorted(asked, cells, sorter=order)
        place[place == len(asked)] = 0
        at = order[place]
        here = asked[at] == cells
        if here.any():
            owner = np.searchsorted(problems.starts, cells[here], side="right") - 1
            matches.append(Matched(batch, at[here], owner))
    if sum(len(match.at) for match in matches) != len(cells):
        raise SolverError.of("A matched pair was never evaluated", pointer=problems.column.pointer(0))
    return matches


def _starts(counts: Indices) -> Indices:
    starts = np.zeros(len(counts) + 1, dtype=np.intp)
    np.cumsum(counts, out=starts[1:])
    return starts


def _slots(begins: Indices, counts: Indices) -> Indices:
    """The numbers of many ranges of these lengths, one after the other."""
    ends = np.cumsum(counts)
    numbers: Indices = np.repeat(begins - (ends - counts), counts)
    numbers += np.arange(len(numbers), dtype=np.intp)
    return numbers
