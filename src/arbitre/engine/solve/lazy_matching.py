"""Exact optimal matching of long lists that computes few of the qualities.

Each cell starts at an upper bound of its quality. The matching is solved on the bounds, the selected pairs are
computed exactly, and the matching is solved again, until every selected pair is exact. All other cells are at most
their bounds, so the matching is optimal for the true qualities.

If selected pairs are worse than their bounds, the bounds of their rivals (the other cells of their rows and columns)
are tightened. In later rounds, a growing number of rivals is computed with them, so that the number of rounds grows
with the logarithm of the size. No cell is computed twice.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.engine.columns.ragged import counts_of, find_sorted, first_of_equal
from arbitre.engine.solve.batches import Batch, MatchedPairs
from arbitre.engine.solve.entry_ties import break_lazy_ties
from arbitre.engine.solve.matching_problems import MatchingProblems
from arbitre.engine.solve.sparse_matching import LongLists, is_optimal
from arbitre.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.arrays import Floats, Indices
    from arbitre.engine.columns.column import KnownBounds, ListColumn
    from arbitre.engine.solve.batches import CellLimits, Evaluate
    from arbitre.matching import Coupling

DEEP_BOUND_MIN_CELLS: Final = 1 << 12
"""Number of cells from which bounds are tightened before more pairs are computed.

This halves the time on 100 and 300 nested entries.
"""

WIDENING_FACTOR: Final = 4
"""Growth factor per round of the number of rivals that are computed with a pair that was worse than its bound."""


def match_lazily(
    column: ListColumn,
    left: Indices,
    right: Indices,
    evaluate: Evaluate,
    limits: CellLimits,
    *,
    known: KnownBounds | None = None,
    keep: bool = False,
) -> list[MatchedPairs]:
    """Match each gold list `left[p]` with the predicted list `right[p]`, given as rows of the column.

    All problems are solved in the same rounds; the matching of each depends on that problem only. The `owner` of the
    matched pairs is p. Bounds that are `known` replace greater ones; `keep` stores the final bounds in the column.
    """
    items, matcher = column.items, column.matcher
    if items is None:
        return []
    problems = MatchingProblems(column, items, left, right, limits)
    equal_items = problems.match_equal_items(evaluate) if column.match_equal_first else None
    if len(left) == 1 and int(problems.starts[-1]) > limits.sparse and is_optimal(matcher):
        matches = [_match_long(problems, column, int(left[0]), evaluate)]
        return matches if equal_items is None else [equal_items, *matches]
    problems.bound()
    if known is not None and known.site is items.site and items.tags is None:
        problems.lower_to(known)
    chosen, evaluated = solve_lazily(problems, matcher.couple, evaluate, tighten=column.has_informative_lists)
    if column.entries is not None and is_optimal(matcher):
        break_lazy_ties(problems, column.entries, matcher.gate, evaluate, chosen=chosen, evaluated=evaluated)
    if keep:
        column.known_bounds = problems.known_bounds()
    matches = _collect(problems, chosen, evaluated, column)
    return matches if equal_items is None else [equal_items, *matches]


def _match_long(problems: MatchingProblems, column: ListColumn, row: int, evaluate: Evaluate) -> MatchedPairs:
    """Match the items of two lists whose bounds are not kept."""
    gold, predicted, gate = problems.gold.rows, problems.predicted.rows, column.matcher.gate
    lists = LongLists(problems.items, gold, predicted, gate=gate, limits=problems.limits, pointer=column.pointer(row))
    batch = lists.match(evaluate)
    pairs = np.arange(len(batch), dtype=np.intp)
    return MatchedPairs(batch, pairs, np.zeros_like(pairs))


def solve_lazily(
    problems: MatchingProblems, couple: Callable[[Floats], Coupling], evaluate: Evaluate, *, tighten: bool
) -> tuple[dict[int, Indices], list[tuple[Batch, Indices]]]:
    """Solve problems on their bounds, and compute the selected pairs, until every selected pair is exact.

    Args:
        problems: The problems, with bounds. The computed qualities are stored in them.
        couple: Matches the items of a table of qualities.
        evaluate: Computes qualities.
        tighten: Whether the bounds of long lists may be tightened with their nested lists.

    Returns:
        The selected cells of each problem, and the computed batches with their cells.
    """
    evaluated: list[tuple[Batch, Indices]] = []
    active = counts_of(problems.starts).nonzero()[0]
    chosen: dict[int, Indices] = {}
    rival_count = 0
    for iteration in count():
        if len(active) == 0:
            break
        selected = _select(problems, active, couple, chosen)
        cells = selected[~problems.known[selected]]
        if len(cells) == 0:
            break
        if iteration == 1 and tighten:
            owner = problems.problem_of(cells)
            long = cells[counts_of(problems.starts)[owner] >= DEEP_BOUND_MIN_CELLS]
            if len(long):
                problems.tighten(long)
                active = owner[first_of_equal(owner)]
                continue
        bounds = problems.quality[cells]
        computed = np.union1d(cells, _rivals(problems, cells, rival_count)) if rival_count else cells
        if iteration:
            rival_count = rival_count * WIDENING_FACTOR or 1
        batch = evaluate(problems.items, *problems.rows(computed))
        problems.quality[computed], problems.known[computed] = batch.quality, True
        evaluated.append((batch, computed))
        owner = problems.problem_of(cells[problems.quality[cells] < bounds])
        active = owner[first_of_equal(owner)]
    return chosen, evaluated


def _select(
    problems: MatchingProblems,
    active: Indices,
    couple: Callable[[Floats], Coupling],
    chosen: dict[int, Indices],
) -> Indices:
    """Solve the active problems on their bounds, store the cells of each in `chosen`, and return all of them."""
    selected = []
    for problem in active.tolist():
        table = problems.table(problem)
        coupling = couple(table)
        cells = problems.starts[problem] + coupling.gold * table.shape[1] + coupling.predicted
        chosen[problem] = cells
        selected.append(cells)
    return np.concatenate(selected)


def _rivals(problems: MatchingProblems, cells: Indices, rival_count: int) -> Indices:
    """Return the `rival_count` best cells that are not exact in each row and column of these cells."""
    owner = problems.problem_of(cells)
    rivals = []
    for problem in np.unique(owner).tolist():
        start = int(problems.starts[problem])
        table = problems.table(problem)
        known = problems.known[start : start + table.size].reshape(table.shape)
        row, column = np.divmod(cells[owner == problem] - start, table.shape[1])
        for lines, exact, base, stride in (
            (table[row], known[row], row * table.shape[1], 1),
            (table[:, column].T, known[:, column].T, column, table.shape[1]),
        ):
            bounds = np.where(exact, -1.0, lines)
            size = min(rival_count, bounds.shape[1])
            best = np.argpartition(-bounds, size - 1, axis=1)[:, :size]
            inexact = np.take_along_axis(bounds, best, axis=1) >= 0.0
            rivals.append((start + base[:, None] + best * stride)[inexact])
    return np.concatenate(rivals)


def _collect(
    problems: MatchingProblems, chosen: dict[int, Indices], evaluated: list[tuple[Batch, Indices]], column: ListColumn
) -> list[MatchedPairs]:
    """Return the chosen cells as pairs of the batches in which they were computed."""
    if not evaluated:
        return []
    cells = np.concatenate([chosen[problem] for problem in sorted(chosen)])
    matches = []
    for batch, computed in evaluated:
        order = computed.argsort(kind="stable")
        place = find_sorted(computed[order], cells)
        hit = place >= 0
        if hit.any():
            matches.append(MatchedPairs(batch, order[place[hit]], problems.problem_of(cells[hit])))
    if sum(len(match.at) for match in matches) != len(cells):
        raise SolverError.of("A matched pair was never evaluated", pointer=column.pointer(0))
    return matches
