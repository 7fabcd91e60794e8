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

from arbitre.engine.batches import Batch, Matched
from arbitre.engine.problems import Problems
from arbitre.engine.runs import counts_of, firsts
from arbitre.errors import SolverError

if TYPE_CHECKING:
    from arbitre.arrays import Indices
    from arbitre.engine.batches import Evaluate
    from arbitre.engine.columns import ListColumn
    from arbitre.matching import Matcher

LONG: Final = 1 << 12
"""In tables with so many cells it pays to look deep for tighter bounds before more pairs are evaluated."""

WIDEN: Final = 4
"""In each round after the second, so many times as many rivals of a disappointing pair are evaluated with it."""


def solve_lazily(column: ListColumn, left: Indices, right: Indices, evaluate: Evaluate) -> list[Matched]:
    """Match each gold list `left[p]` with the predicted list `right[p]` (rows of the column), all in rounds together.

    What is returned for one problem depends on that problem alone.
    """
    items, matcher = column.items, column.matcher
    if items is None:
        return []
    problems = Problems(column, items, left, right)
    peeled = problems.peel(evaluate) if column.peels else None
    problems.bound()
    evaluated: list[tuple[Batch, Indices]] = []
    active = counts_of(problems.starts).nonzero()[0]
    chosen: dict[int, Indices] = {}
    wide = 0
    for number in count():
        if len(active) == 0:
            break
        selected = _select(problems, active, matcher, chosen)
        cells = selected[~problems.known[selected]]
        if len(cells) == 0:
            break
        if number == 1 and column.deep:
            owner = problems.problem_of(cells)
            long = cells[counts_of(problems.starts)[owner] >= LONG]
            if len(long):
                problems.tighten(long)
                active = owner[firsts(owner)]
                continue
        before = problems.quality[cells]
        asked = np.union1d(cells, _rivals(problems, cells, wide)) if wide else cells
        if number:
            wide = wide * WIDEN or 1
        batch = evaluate(items, *problems.rows(asked))
        problems.settle(asked, batch)
        evaluated.append((batch, asked))
        owner = problems.problem_of(cells[problems.quality[cells] < before])
        active = owner[firsts(owner)]
    matches = _collect(problems, chosen, evaluated, column)
    return matches if peeled is None else [peeled, *matches]


def _select(problems: Problems, active: Indices, matcher: Matcher, chosen: dict[int, Indices]) -> Indices:
    """Solve the active problems on what is known; the selected cells of all."""
    found = []
    for problem in active.tolist():
        table = problems.table(problem)
        coupling = matcher.couple(table)
        cells = problems.starts[problem] + coupling.gold * table.shape[1] + coupling.predicted
        chosen[problem] = cells
        found.append(cells)
    return np.concatenate(found)


def _rivals(problems: Problems, cells: Indices, wide: int) -> Indices:
    """The best cells not yet exact in the rows and columns of the disappointing ones, `wide` of each."""
    owner = problems.problem_of(cells)
    found = []
    for problem in np.unique(owner).tolist():
        start = int(problems.starts[problem])
        table = problems.table(problem)
        known = problems.known[start : start + table.size].reshape(table.shape)
        row, at = np.divmod(cells[owner == problem] - start, table.shape[1])
        for lines, exact, base, stride in (
            (table[row], known[row], row * table.shape[1], 1),
            (table[:, at].T, known[:, at].T, at, table.shape[1]),
        ):
            free = np.where(exact, -1.0, lines)
            most = min(wide, free.shape[1])
            best = np.argpartition(-free, most - 1, axis=1)[:, :most]
            real = np.take_along_axis(free, best, axis=1) >= 0.0
            found.append((start + base[:, None] + best * stride)[real])
    return np.concatenate(found)


def _collect(
    problems: Problems, chosen: dict[int, Indices], evaluated: list[tuple[Batch, Indices]], column: ListColumn
) -> list[Matched]:
    """Where the chosen cells were evaluated."""
    if not evaluated:
        return []
    cells = np.concatenate([chosen[problem] for problem in sorted(chosen)])
    matches = []
    for batch, asked in evaluated:
        order = asked.argsort(kind="stable")
        place = asked.searchsorted(cells, sorter=order)
        place[place == len(asked)] = 0
        at = order[place]
        here = asked[at] == cells
        if here.any():
            matches.append(Matched(batch, at[here], problems.problem_of(cells[here])))
    if sum(len(match.at) for match in matches) != len(cells):
        raise SolverError.of("A matched pair was never evaluated", pointer=column.pointer(0))
    return matches
