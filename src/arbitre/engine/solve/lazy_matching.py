"""Exact optimal matching of long lists that computes few of the qualities.

Each cell starts at an upper bound of its quality. The matching is solved on the bounds, the selected pairs are
computed exactly, and it is solved again, until every selected pair is exact. All other cells are at most their bounds,
so the matching is optimal for the true qualities.

Where selected pairs turn out worse than their bounds, the bounds of their rivals (the other cells of their rows and
columns) are tightened; in later rounds ever more of their rivals are computed with them. So the number of rounds grows
with the logarithm of the size, and no cell is computed twice.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.engine.columns.ragged import counts_of, run_starts
from arbitre.engine.solve.batches import Batch, MatchedPairs
from arbitre.engine.solve.matching_problems import MatchingProblems
from arbitre.errors import SolverError

if TYPE_CHECKING:
    from arbitre.arrays import Indices
    from arbitre.engine.columns.column import ListColumn
    from arbitre.engine.solve.batches import Evaluate
    from arbitre.matching import Matcher

DEEP_BOUND_MIN_CELLS: Final = 1 << 12
"""Number of cells from which bounds are tightened before more pairs are computed.

This halves the time on 100 and 300 nested entries."""

WIDENING_FACTOR: Final = 4
"""Growth factor, per round, of the number of rivals computed with a pair that was worse than its bound."""


def match_lazily(column: ListColumn, left: Indices, right: Indices, evaluate: Evaluate) -> list[MatchedPairs]:
    """Match each gold list `left[p]` with the predicted list `right[p]`, given as rows of the column.

    All problems are solved in the same rounds; the matching of each depends on that problem only. The `owner` of the
    matched pairs is p.
    """
    items, matcher = column.items, column.matcher
    if items is None:
        return []
    problems = MatchingProblems(column, items, left, right)
    peeled = problems.match_equal_items(evaluate) if column.match_equal_first else None
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
        if number == 1 and column.has_informative_lists:
            owner = problems.problem_of(cells)
            long = cells[counts_of(problems.starts)[owner] >= DEEP_BOUND_MIN_CELLS]
            if len(long):
                problems.tighten(long)
                active = owner[run_starts(owner)]
                continue
        before = problems.quality[cells]
        asked = np.union1d(cells, _rivals(problems, cells, wide)) if wide else cells
        if number:
            wide = wide * WIDENING_FACTOR or 1
        batch = evaluate(items, *problems.rows(asked))
        problems.settle(asked, batch)
        evaluated.append((batch, asked))
        owner = problems.problem_of(cells[problems.quality[cells] < before])
        active = owner[run_starts(owner)]
    matches = _collect(problems, chosen, evaluated, column)
    return matches if peeled is None else [peeled, *matches]


def _select(problems: MatchingProblems, active: Indices, matcher: Matcher, chosen: dict[int, Indices]) -> Indices:
    """Solve the active problems on their bounds, store the cells of each in `chosen`, and return all of them."""
    found = []
    for problem in active.tolist():
        table = problems.table(problem)
        coupling = matcher.couple(table)
        cells = problems.starts[problem] + coupling.gold * table.shape[1] + coupling.predicted
        chosen[problem] = cells
        found.append(cells)
    return np.concatenate(found)


def _rivals(problems: MatchingProblems, cells: Indices, wide: int) -> Indices:
    """Return the `wide` best cells that are not exact in each row and column of these cells."""
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
    problems: MatchingProblems, chosen: dict[int, Indices], evaluated: list[tuple[Batch, Indices]], column: ListColumn
) -> list[MatchedPairs]:
    """Return the chosen cells as pairs of the batches in which they were computed."""
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
            matches.append(MatchedPairs(batch, at[here], problems.problem_of(cells[here])))
    if sum(len(match.at) for match in matches) != len(cells):
        raise SolverError.of("A matched pair was never evaluated", pointer=column.pointer(0))
    return matches
