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

from arbitre.distances.base import Blocks
from arbitre.engine.columns.column import KnownBounds
from arbitre.engine.columns.ragged import (
    counts_of,
    expand_slices,
    find_sorted,
    first_of_equal,
    rank_among_equal,
    starts_of,
)
from arbitre.engine.columns.row_keys import Digests, mix_bits, row_hashes
from arbitre.engine.solve.batches import Batch, MatchedPairs
from arbitre.engine.solve.entry_ties import entry_worth
from arbitre.engine.solve.sparse_matching import LongLists
from arbitre.engine.solve.upper_bounds import BoundTightness, upper_bounds
from arbitre.errors import SolverError
from arbitre.matching.assignment import Ties

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.engine.columns.column import Column, ListColumn
    from arbitre.engine.solve.batches import CellLimits, Evaluate
    from arbitre.matching import Coupling
    from arbitre.paths import Path

DEEP_BOUND_MIN_CELLS: Final = 1 << 12
"""Number of cells from which bounds are tightened before more pairs are computed.

This halves the time on 100 and 300 nested entries.
"""

WIDENING_FACTOR: Final = 4
"""Growth factor per round of the number of rivals that are computed with a pair that was worse than its bound."""


class ProblemSide:
    """The items of one side of all problems; those of problem p are the rows `rows[starts[p]:starts[p + 1]]`."""

    __slots__ = ("rows", "starts")

    def __init__(self, rows: Indices, counts: Indices) -> None:
        self.rows = rows
        self.starts = starts_of(counts)

    @property
    def owner(self) -> Indices:
        """Problem of each item."""
        return np.arange(len(self.starts) - 1, dtype=np.intp).repeat(counts_of(self.starts))

    def without(self, places: Indices) -> ProblemSide:
        """Return the side without the items at these positions."""
        remaining = np.ones(len(self.rows), dtype=np.bool_)
        remaining[places] = False
        return ProblemSide(self.rows[remaining], np.bincount(self.owner[remaining], minlength=len(self.starts) - 1))


class MatchingProblems:
    """The tables of all problems, concatenated row by row.

    Attributes:
        heights: Number of gold items of each problem; shape (problems,).
        widths: Number of predicted items of each problem; shape (problems,).
        starts: First cell of each problem, then the number of cells; shape (problems + 1,).
        quality: Upper bound of the quality of each cell; shape (cells,).
        known: Mask of the cells whose quality is exact; shape (cells,).
    """

    def __init__(self, column: ListColumn, items: Column, left: Indices, right: Indices, limits: CellLimits) -> None:
        self.items, self.limits = items, limits
        self.gold, self.predicted = (
            ProblemSide(column.rows(expand_slices(column.starts, lists)[1]), column.lengths[lists])
            for lists in (left, right)
        )
        self.quality: Floats = np.empty(0)
        self.known: Mask = np.empty(0, dtype=np.bool_)
        self._set_sizes()

    def _set_sizes(self) -> None:
        self.heights, self.widths = counts_of(self.gold.starts), counts_of(self.predicted.starts)
        self.starts = starts_of(self.heights * self.widths)

    def match_equal_items(self, evaluate: Evaluate) -> MatchedPairs | None:
        """Match equal items and remove them from the problems; return None if there are none.

        If the distance of items is a pseudo-metric and the matching is optimal, the result stays optimal: by the
        triangle inequality, two equal items can always be partners. Pairs are found by hash and removed only if their
        quality is 1. This halves the time on lists of 300 flat objects and adds 10% on lists of 20.
        """
        codes = row_hashes(self.items)
        gold_keys, predicted_keys = (_ranked(codes[side.rows], side.owner) for side in (self.gold, self.predicted))
        _, gold, predicted = np.intersect1d(gold_keys, predicted_keys, assume_unique=True, return_indices=True)
        if len(gold) == 0:
            return None
        order = gold.argsort()
        gold, predicted = gold[order], predicted[order]
        batch = evaluate(self.items, self.gold.rows[gold], self.predicted.rows[predicted])
        equal = (batch.quality == 1.0).nonzero()[0]
        matched = MatchedPairs(batch, equal, self.gold.owner[gold[equal]])
        self.gold = self.gold.without(gold[equal])
        self.predicted = self.predicted.without(predicted[equal])
        self._set_sizes()
        return matched

    def compute(self, cells: Indices, evaluate: Evaluate) -> Batch:
        """Replace the bounds of these cells with their qualities; return the batch of their pairs."""
        batch = evaluate(self.items, *self.rows(cells))
        self.quality[cells], self.known[cells] = batch.quality, True
        return batch

    def bound(self) -> None:
        """Compute the upper bounds of several short problems, or of some rows of a long problem, at a time."""
        self.quality = np.empty(int(self.starts[-1]))
        self.known = np.zeros(int(self.starts[-1]), dtype=np.bool_)
        alone = len(self.starts) == 2 and int(self.starts[-1]) >= self.limits.large  # noqa: PLR2004  (one problem)
        tightness = BoundTightness.COUNTS if alone else BoundTightness.LENGTHS
        problem = 0
        while problem < len(self.heights):
            stop = int(self.starts.searchsorted(self.starts[problem] + self.limits.chunk, side="right")) - 1
            if stop > problem:
                gold = slice(int(self.gold.starts[problem]), int(self.gold.starts[stop]))
                self._fill(problem, stop, gold, self.gold.starts[problem : stop + 1] - gold.start, tightness)
            else:
                stop = problem + 1
                step = max(1, self.limits.chunk // int(self.widths[problem]))
                begin, end = int(self.gold.starts[problem]), int(self.gold.starts[stop])
                for row in range(begin, end, step):
                    gold = slice(row, min(row + step, end))
                    self._fill(problem, stop, gold, np.array([0, gold.stop - gold.start], dtype=np.intp), tightness)
            problem = stop

    def _fill(self, first: int, stop: int, gold: slice, gold_starts: Indices, tightness: BoundTightness) -> None:
        """Compute the bounds of the gold items at `gold` with all predicted items of the problems `first:stop`.

        `gold_starts` are the first of these gold items of each problem, counted from the first, then their number.
        """
        starts = self.predicted.starts[first : stop + 1]
        predicted = self.predicted.rows[starts[0] : starts[-1]]
        blocks = Blocks(gold_starts, starts - starts[0])
        skipped = gold.start - int(self.gold.starts[first])
        begin = int(self.starts[first]) + skipped * int(self.widths[first])
        cells = slice(begin, begin + int(blocks.starts[-1]))
        self.quality[cells] = upper_bounds(self.items, blocks, self.gold.rows[gold], predicted, tightness=tightness)

    def known_bounds(self) -> KnownBounds | None:
        """Return the bounds to keep; None if there are none."""
        if len(self.quality) == 0 or self.items.tags is not None:
            return None
        gold, predicted = (self.items.values_of(side.rows) for side in (self.gold, self.predicted))
        starts = self.gold.starts, self.predicted.starts, self.starts
        return KnownBounds(self.items.site, gold, predicted, *starts, self.quality)

    def lower_to(self, known: KnownBounds) -> None:
        """Lower the bounds of items to those that are known for them."""
        gold, predicted = (
            known.positions(self.items.values_of(side.rows), gold=side is self.gold)
            for side in (self.gold, self.predicted)
        )
        for problem in range(len(self.heights)):
            rows, columns = (
                positions[side.starts[problem] : side.starts[problem + 1]]
                for side, positions in ((self.gold, gold), (self.predicted, predicted))
            )
            table = self.table(problem)
            np.minimum(table, known.table(rows, columns), out=table)

    def table(self, problem: int) -> Floats:
        """Return the bounds of a problem; shape (height, width)."""
        cells = self.quality[self.starts[problem] : self.starts[problem + 1]]
        return cells.reshape(int(self.heights[problem]), int(self.widths[problem]))

    def rows(self, cells: Indices) -> tuple[Indices, Indices]:
        """Return the rows of the gold and predicted items of cells."""
        problem = self.problem_of(cells)
        row, column = np.divmod(cells - self.starts[problem], self.widths[problem])
        gold, predicted = self.gold.starts[problem] + row, self.predicted.starts[problem] + column
        return self.gold.rows[gold], self.predicted.rows[predicted]

    def problem_of(self, cells: Indices) -> Indices:
        """Return the problem of each cell."""
        problems: Indices = self.starts.searchsorted(cells, side="right") - 1
        return problems

    def tighten(self, cells: Indices) -> None:
        """Tighten the bounds in the rows and columns of these cells, using the nested lists of their items."""
        owner = self.problem_of(cells)
        rectangles: list[tuple[int, Indices, Indices]] = []
        for problem in np.unique(owner).tolist():
            height, width = int(self.heights[problem]), int(self.widths[problem])
            local = cells[owner == problem] - self.starts[problem]
            rows, columns = np.unique(local // width), np.unique(local % width)
            other_rows = np.setdiff1d(np.arange(height, dtype=np.intp), rows, assume_unique=True)
            all_columns = np.arange(width, dtype=np.intp)
            for tall, wide in ((rows, all_columns), (other_rows, columns)):
                step = max(1, self.limits.deep_chunk // len(wide))
                rectangles += [(problem, tall[begin : begin + step], wide) for begin in range(0, len(tall), step)]
        chunk: list[tuple[int, Indices, Indices]] = []
        size = 0
        for rectangle in rectangles:
            chunk.append(rectangle)
            size += len(rectangle[1]) * len(rectangle[2])
            if size >= self.limits.deep_chunk or rectangle is rectangles[-1]:
                self._lower(chunk)
                chunk, size = [], 0

    def _lower(self, rectangles: list[tuple[int, Indices, Indices]]) -> None:
        """Tighten the bounds of rectangles of cells, given by problem, rows and columns."""
        problems = np.array([problem for problem, _, _ in rectangles], dtype=np.intp)
        heights = np.array([len(rows) for _, rows, _ in rectangles], dtype=np.intp)
        widths = np.array([len(columns) for _, _, columns in rectangles], dtype=np.intp)
        row = np.concatenate([rows for _, rows, _ in rectangles])
        column = np.concatenate([columns for _, _, columns in rectangles])
        blocks = Blocks(starts_of(heights), starts_of(widths))
        gold = self.gold.rows[self.gold.starts[problems].repeat(heights) + row]
        predicted = self.predicted.rows[self.predicted.starts[problems].repeat(widths) + column]
        bounds = upper_bounds(self.items, blocks, gold, predicted, tightness=BoundTightness.PARTNERS)
        line = self.starts[problems].repeat(heights) + row * self.widths[problems].repeat(heights)
        cells = line[blocks.rows] + column[blocks.columns]
        inexact = ~self.known[cells]
        cells, bounds = cells[inexact], bounds[inexact]
        self.quality[cells] = np.minimum(self.quality[cells], bounds)


def _ranked(codes: Digests, owner: Indices) -> Digests:
    """Return a key for each item: the t-th items with the same code on both sides of a problem have the same key."""
    keys = mix_bits(codes ^ mix_bits(owner.astype(np.uint64), 1))
    order = keys.argsort(kind="stable")
    rank = np.empty(len(keys), dtype=np.uint64)
    rank[order] = rank_among_equal(keys[order])
    return keys ^ mix_bits(rank)


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
    if len(left) == 1 and int(problems.starts[-1]) > limits.sparse and column.matched_optimally:
        matches = [_match_long(problems, column, int(left[0]), evaluate)]
        return matches if equal_items is None else [equal_items, *matches]
    problems.bound()
    if known is not None and known.site is items.site and items.tags is None:
        problems.lower_to(known)
    chosen, evaluated = solve_lazily(problems, matcher.couple, evaluate, tighten=column.has_informative_lists)
    if column.entries is not None and column.matched_optimally:
        _break_ties(problems, column.entries, matcher.gate, evaluate, chosen=chosen, evaluated=evaluated)
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
        evaluated.append((problems.compute(computed, evaluate), computed))
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


def _break_ties(
    problems: MatchingProblems,
    entries: Path,
    gate: float | None,
    evaluate: Evaluate,
    *,
    chosen: dict[int, Indices],
    evaluated: list[tuple[Batch, Indices]],
) -> None:
    """Break the ties of lazily matched problems in place; evaluate the pairs that may be part of another optimum."""
    ties: dict[int, Ties] = {}
    missing = [np.empty(0, dtype=np.intp)]
    for problem in sorted(chosen):
        ties[problem] = _ties_of(problems, problem, chosen, gate)
        tied = problems.starts[problem] + np.flatnonzero(ties[problem].tied)
        missing.append(tied[~problems.known[tied]])
    cells = np.concatenate(missing)
    if len(cells):
        evaluated.append((problems.compute(cells, evaluate), cells))
    worth = np.zeros(len(problems.quality))
    for batch, computed in evaluated:
        worth[computed] = entry_worth(batch, entries)
    for problem in ties:
        table = _ties_of(problems, problem, chosen, gate)
        start, (height, width) = int(problems.starts[problem]), problems.table(problem).shape
        rows, columns = table.broken_by(worth[start : start + height * width].reshape(height, width))
        chosen[problem] = start + rows * width + columns


def _ties_of(problems: MatchingProblems, problem: int, chosen: dict[int, Indices], gate: float | None) -> Ties:
    table = problems.table(problem)
    rows, columns = np.divmod(chosen[problem] - int(problems.starts[problem]), table.shape[1])
    return Ties.of(table, rows, columns, gate)
