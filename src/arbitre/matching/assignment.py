"""One-to-one matchings of two lists: optimal, greedy, by position.

All functions take `quality`, of shape (n, m) with values in [0, 1], and `allowed`, a mask of the same shape with the
pairs that may be matched (None: all).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import scipy

from arbitre.interpreter import call_interruptibly
from arbitre.matching.coupling import Coupling

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.arrays import Floats, Indices, Mask


TIE: Final = 1e-9
"""Difference in quality mass below which two matchings are tied; the matching with more pairs wins."""


INTERRUPTIBLE_CELLS: Final = 1 << 20
"""Number of pairs from which a matching can be interrupted with Ctrl-C before it is solved."""


def solve_assignment(table: Floats, *, maximize: bool = True) -> tuple[Indices, Indices]:
    """Return the rows, increasing, and the columns of the min(n, m) pairs of a table with the greatest sum.

    Args:
        table: Values of all pairs; shape (n, m).
        maximize: Whether the sum is the greatest; otherwise, it is the least. scipy copies the table to maximise it.
    """
    solve = scipy.optimize.linear_sum_assignment if "scipy.optimize" in sys.modules else _solver()
    if table.size < INTERRUPTIBLE_CELLS:
        return solve(table, maximize=maximize)
    return call_interruptibly(lambda: solve(table, maximize=maximize))


@cache
def _solver() -> Callable[..., tuple[Indices, Indices]]:
    """Return `scipy.optimize.linear_sum_assignment`.

    Loads only the extension module of this function if scipy has it in its own file (1.17 does). The whole of
    `scipy.optimize` takes 0.25 s to import, half of the first comparison of a process.
    """
    name = "scipy.optimize._lsap"
    folders = [str(Path(folder, "optimize")) for folder in scipy.__path__]
    spec = PathFinder.find_spec(name, folders)
    if spec is not None and spec.loader is not None:
        module: Any = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules.pop(name, None)  # `scipy.optimize` imports it again, as its own
        if hasattr(module, "linear_sum_assignment"):
            return module.linear_sum_assignment  # type: ignore[no-any-return]
    return scipy.optimize.linear_sum_assignment


def hungarian(quality: Floats, allowed: Mask | None = None, *, gate: float | None = None) -> Coupling:
    """Return the matching with the greatest sum of qualities; ties within 1e-9 go to the matching with more pairs.

    Every item of the shorter list gets a partner, unless its pairs are not `allowed` or below `gate`. These pairs are
    excluded before solving, not dropped afterwards. Worst case O(n² m) (Kuhn, 1955; Crouse, 2016, as in scipy).

    >>> hungarian(np.array([[0.95, 0.69], [0.69, 0.3]]), gate=0.7).gold
    array([0])
    """
    if gate is not None:
        above = quality >= gate
        allowed = above if allowed is None else allowed & above
    if allowed is None or allowed.all():
        rows, columns = solve_assignment(quality)
        return Coupling(rows, columns, quality.shape, np.ones(len(rows)))
    bonus = TIE / max(min(quality.shape), 1)
    rows, columns = solve_assignment(np.where(allowed, quality + bonus, 0.0))
    permitted = allowed[rows, columns]
    return Coupling.of(rows[permitted], columns[permitted], quality.shape)


def keyed(quality: Floats, allowed: Mask | None = None) -> Coupling:
    """Return the matching with the most allowed pairs; ties go to the greatest sum of qualities."""
    if allowed is None:
        return hungarian(quality)
    rows, columns = solve_assignment(np.where(allowed, quality + 2.0, 0.0))
    permitted = allowed[rows, columns]
    return Coupling.of(rows[permitted], columns[permitted], quality.shape)


def greedy(quality: Floats, allowed: Mask | None = None, *, gate: float | None = None) -> Coupling:
    """Match each gold item in turn to the best predicted item that is still free; ties go to the first.

    The result is not optimal: an early item can take the partner that a later one needs.
    """
    usable = quality.copy()
    if allowed is not None:
        usable[~allowed] = -1.0
    if gate is not None:
        usable[quality < gate] = -1.0
    gold: list[int] = []
    predicted: list[int] = []
    for row in range(usable.shape[0] if usable.shape[1] else 0):
        column = int(np.argmax(usable[row]))
        if usable[row, column] >= 0.0:
            gold.append(row)
            predicted.append(column)
            usable[:, column] = -1.0
    return Coupling.of(gold, predicted, quality.shape)


def ordered(quality: Floats, allowed: Mask | None = None) -> Coupling:
    """Match items at the same position."""
    positions = np.arange(min(quality.shape), dtype=np.intp)
    if allowed is not None:
        positions = positions[allowed[positions, positions]]
    return Coupling.of(positions, positions, quality.shape)


# Order-preserving matching of two lists.


def sequence(quality: Floats, allowed: Mask | None = None) -> Coupling:
    """Return the order-preserving matching with the greatest sum of qualities.

    Ties within 1e-9 go to the matching with more pairs. Dynamic programming without gap costs (Needleman and Wunsch,
    1970); O(n m).

    Args:
        quality: Qualities of all pairs, in [0, 1]; shape (n, m).
        allowed: Mask of the pairs that may be matched; None for all.

    >>> sequence(np.array([[0.1, 0.9], [0.8, 0.2]])).predicted
    array([1])
    """
    rows, columns = quality.shape
    gain = quality + TIE / max(min(rows, columns), 1)
    if allowed is not None:
        gain = np.where(allowed, gain, -1.0)
    best = np.zeros((rows + 1, columns + 1))
    for row in range(rows):
        candidates = np.maximum(best[row, 1:], best[row, :-1] + gain[row])
        np.maximum.accumulate(candidates, out=best[row + 1, 1:])
    gold: list[int] = []
    predicted: list[int] = []
    row, column = rows, columns
    while row and column:
        if best[row, column] == best[row - 1, column]:
            row -= 1
        elif best[row, column] == best[row, column - 1]:
            column -= 1
        else:
            row, column = row - 1, column - 1
            gold.append(row)
            predicted.append(column)
    return Coupling.of(gold[::-1], predicted[::-1], quality.shape)


# All optimal matchings of one problem, to choose among them by another criterion.


_ROUNDING: Final = 1e-13
"""Difference between two prices that counts as a rounding error."""


@dataclass(frozen=True, eq=False, slots=True)
class Ties:
    """The pairs of all optimal matchings of n gold and m predicted items.

    A matching is optimal if and only if it consists of `tied` pairs, has min(n, m) pairs, and pairs every `required`
    item of the longer list. This follows from complementary slackness: the prices of a dual solution equal the quality
    of every pair of an optimal matching, and the price of an item without partner is 0.
    """

    gold: Indices
    """Gold items of the pairs of one optimal matching; shape (pairs,)."""
    predicted: Indices
    """Their partners; shape (pairs,)."""
    tied: Mask
    """Mask of the pairs that belong to optimal matchings; shape (n, m)."""
    required: Mask
    """Mask of the items of the longer list that have a partner in every optimal matching; shape (max(n, m),)."""
    allowed: Mask
    """Mask of the pairs that a gate allows; shape (n, m)."""

    @classmethod
    def of(cls, quality: Floats, gold: Indices, predicted: Indices, gate: float | None = None) -> Ties:
        """Find the ties of an optimal matching (see `hungarian`), which has all pairs, or those above the gate."""
        n, m = quality.shape
        allowed = np.ones(quality.shape, dtype=np.bool_)
        gain = quality
        if gate is not None:
            allowed = quality >= gate
            gain = np.where(allowed, quality + TIE / max(min(n, m), 1), 0.0)
        table, rows, columns = (gain, gold, predicted) if n <= m else (gain.T, predicted, gold)
        partner = np.full(len(table), -1, dtype=np.intp)
        partner[rows] = columns
        free = np.setdiff1d(np.arange(table.shape[1], dtype=np.intp), columns, assume_unique=True)
        alone = (partner < 0).nonzero()[0]
        partner[alone] = free[: len(alone)]  # pairs below the gate gain nothing
        own = table[np.arange(len(table)), partner]
        prices = np.zeros(table.shape[1])
        for _ in range(len(table) + 1):  # Bellman-Ford
            least = (table - (own - prices[partner])[:, None]).max(axis=0, initial=0.0)
            raised = least > prices + _ROUNDING
            if not raised.any():
                break
            prices = np.where(raised, least, prices)
        tolerance = TIE / (4 * len(table) + 1)
        tied = table >= (own - prices[partner])[:, None] + prices - tolerance
        return cls(gold, predicted, tied if n <= m else tied.T, prices > tolerance, allowed)

    def broken_by(self, worth: Floats) -> tuple[Indices, Indices]:
        """Return the pairs of the optimal matching with the greatest sum of `worth`, of shape (n, m).

        >>> quality, worth = np.ones((2, 2)), np.array([[0.0, 1.0], [0.0, 0.0]])
        >>> Ties.of(quality, np.array([0, 1]), np.array([0, 1])).broken_by(worth)
        (array([0, 1]), array([1, 0]))
        """
        n, m = self.tied.shape
        value = np.where(self.allowed, worth, 0.0)
        least, most = (float(bound(value[self.tied])) if self.tied.any() else 0.0 for bound in (np.min, np.max))
        if most - least <= TIE:
            return self.gold, self.predicted
        pairs = min(n, m)
        gain = (value - least) / (most - least) + (pairs + 1) * (self.required if n <= m else self.required[:, None])
        rows, columns = solve_assignment(np.where(self.tied, gain, -float((pairs + 1) * (pairs + 2))))
        kept = self.allowed[rows, columns]
        return rows[kept], columns[kept]


# What an optimal matching loses without one of its pairs.
#
# The items of each side are grouped into classes of equal items, so that the matching is a flow between classes. A
# dummy class on each side takes the items without a partner. The best matching with one pair of two classes less is
# found by a shortest path in the residual network (Ahuja, Magnanti and Orlin, 1993): the gold item takes an item of
# another class, whose partner takes an item of yet another class, and so on, until one takes the predicted item.


def margins(
    quality: Floats,
    gold: Indices,
    predicted: Indices,
    *,
    classes: tuple[Indices, Indices] | None = None,
    gate: float | None = None,
) -> Floats:
    """Return how much quality an optimal matching loses if each of its pairs is forbidden; shape (pairs,).

    Items of one class are equal. Exchanging them does not change the result, so a pair of two classes is forbidden by
    allowing one such pair less than in the matching. O(pairs n m).

    Args:
        quality: Qualities of all pairs, in [0, 1]; shape (n, m).
        gold: Gold items of the pairs of an optimal matching (see `hungarian`); shape (pairs,).
        predicted: Their partners.
        classes: Class of each gold item, shape (n,), and of each predicted item, shape (m,); None if all items differ.
        gate: Minimum quality of a pair.

    >>> margins(np.array([[0.9, 0.6], [0.5, 0.4]]), np.array([0, 1]), np.array([0, 1])).round(2)
    array([0.2, 0.2])
    """
    sides = (
        np.unique(codes, return_index=True, return_inverse=True)
        for codes in (classes or tuple(np.arange(size, dtype=np.intp) for size in quality.shape))
    )
    (_, tall, row_of), (_, wide, column_of) = sides
    worth = np.zeros((len(tall) + 1, len(wide) + 1))  # the last row and column are the dummy classes
    worth[:-1, :-1] = quality[np.ix_(tall, wide)]
    if gate is not None:
        worth[:-1, :-1][worth[:-1, :-1] < gate] = -np.inf
    flow = np.zeros(worth.shape, dtype=np.intp)
    np.add.at(flow, (row_of[gold], column_of[predicted]), 1)
    flow[:-1, -1] = np.bincount(row_of, minlength=len(tall)) - flow[:-1, :-1].sum(axis=1)
    flow[-1, :-1] = np.bincount(column_of, minlength=len(wide)) - flow[:-1, :-1].sum(axis=0)
    flow[-1, -1] = len(gold)
    rows, columns = flow.nonzero()
    slack = _slack(worth, rows, columns)
    pairs = [*zip(row_of[gold].tolist(), column_of[predicted].tolist(), strict=True)]
    lost = {(row, column): _detour(slack, rows, columns, row, column) for row, column in set(pairs)}
    return np.array([lost[pair] for pair in pairs], dtype=np.float64)


def _slack(worth: Floats, rows: Indices, columns: Indices) -> Floats:
    """Return how much less each pair of classes is worth than its prices, at least 0; 0 for the pairs of the flow.

    The prices are the distances from the dummy row in the residual network (Bellman-Ford).

    Args:
        worth: What each pair is worth; -inf for pairs that are not allowed.
        rows: Rows of the pairs of an optimal flow.
        columns: Their columns.
    """
    row_price, column_price = np.full(worth.shape[0], np.inf), np.zeros(worth.shape[1])
    row_price[-1] = 0.0
    for _ in range(len(row_price) + 1):
        reached = row_price.copy()
        np.minimum.at(reached, rows, column_price[columns] + worth[rows, columns])
        if not (reached < row_price - _ROUNDING).any():
            break
        row_price = reached
        column_price = np.minimum(column_price, (row_price[:, None] - worth).min(axis=0))
    return np.maximum(row_price[:, None] - column_price - worth, 0.0)


def _detour(slack: Floats, rows: Indices, columns: Indices, row: int, column: int) -> float:
    """Return the length of the shortest path from a row to a column without their own pair.

    A pair of the flow leads from its column back to its row. Only paths that are shorter than the best one so far are
    followed.
    """
    other = columns != column
    rows, columns = rows[other], columns[other]
    to_row, to_column = np.full(slack.shape[0], np.inf), slack[row].copy()
    to_row[row], to_column[column] = 0.0, np.inf
    while True:
        reached = to_row.copy()
        np.minimum.at(reached, rows, to_column[columns])
        shorter = ((reached < to_row) & (reached < to_column[column])).nonzero()[0]
        if len(shorter) == 0:
            return float(to_column[column])
        to_row = reached
        to_column = np.minimum(to_column, (to_row[shorter, None] + slack[shorter]).min(axis=0))


# Optimal matchings of many small problems at once.
#
# The tables of all problems are concatenated, row by row. Problem p has `heights[p]` gold items and `widths[p]`
# predicted items.


SOLVER_MIN_CELLS: Final = 100
"""Number of cells from which a table always goes to the solver."""


def assign_all(quality: Floats, heights: Indices, widths: Indices) -> tuple[Indices, Indices]:
    """Return the optimal matching with min(n, m) pairs of each problem (see `hungarian`).

    In small tables, the best partners of the items of the shorter side are often all different; these pairs are then
    optimal. Only the other problems go to the solver.

    Args:
        quality: The qualities of all pairs, in [0, 1]; shape (cells,).
        heights: Number of gold items of each problem; shape (problems,).
        widths: Number of predicted items of each problem; shape (problems,).

    Returns:
        The matched cells, increasing, and the problem of each; shapes (pairs,).

    >>> cells, problems = assign_all(np.array([0.9, 0.1, 0.2, 0.8, 0.5]), np.array([2, 1]), np.array([2, 1]))
    >>> cells, problems
    (array([0, 3, 4]), array([0, 0, 1]))
    """
    sizes = heights * widths
    starts = sizes.cumsum() - sizes
    if len(sizes) and sizes.min() >= SOLVER_MIN_CELLS:
        return _solved(quality, heights, widths, starts, np.arange(len(sizes), dtype=np.intp))
    best = best_partners(quality, heights, widths)
    is_hard = np.zeros(len(sizes), dtype=np.bool_)
    is_hard[best.owner[best.doubtful]] = True
    easy = ~is_hard[best.owner]
    cells, owner = best.cells[easy], best.owner[easy]
    hard = is_hard.nonzero()[0]
    if len(hard):
        hard_cells, hard_owner = _solved(quality, heights[hard], widths[hard], starts[hard], hard)
        cells, owner = np.concatenate([cells, hard_cells]), np.concatenate([owner, hard_owner])
    order = cells.argsort(kind="stable")
    return cells[order], owner[order]


def assign_above(quality: Floats, heights: Indices, widths: Indices, gate: float) -> tuple[Indices, Indices]:
    """Return the optimal matching of each problem with pairs of at least the quality `gate` (see `hungarian`).

    Solving all problems together takes a third of the time of solving each alone, on lists of two items.

    Args:
        quality: The qualities of all pairs, in [0, 1]; shape (cells,).
        heights: Number of gold items of each problem; shape (problems,).
        widths: Number of predicted items of each problem; shape (problems,).
        gate: Minimum quality of a pair.

    Returns:
        The matched cells, increasing, and the problem of each; shapes (pairs,).

    >>> assign_above(np.array([0.95, 0.69, 0.69, 0.3]), np.array([2]), np.array([2]), 0.7)[0]
    array([0])
    """
    bonus = TIE / np.maximum(np.minimum(heights, widths), 1)
    allowed = quality >= gate
    cells, owner = assign_all(np.where(allowed, quality + bonus.repeat(heights * widths), 0.0), heights, widths)
    kept = allowed[cells]
    return cells[kept], owner[kept]


def _solved(
    quality: Floats, heights: Indices, widths: Indices, starts: Indices, problems: Indices
) -> tuple[Indices, Indices]:
    """Solve these problems one by one; return cells and problems like `assign_all`. Tables start at `starts`."""
    shapes = zip(starts.tolist(), heights.tolist(), widths.tolist(), strict=True)
    tables = [quality[start : start + height * width].reshape(height, width) for start, height, width in shapes]
    assignments = [solve_assignment(table) for table in tables]
    rows, columns = (np.concatenate(side) for side in zip(*assignments, strict=True))
    pairs = np.minimum(heights, widths)
    return starts.repeat(pairs) + rows * widths.repeat(pairs) + columns, problems.repeat(pairs)


class BestPartners(NamedTuple):
    """The best partner of each item of the shorter side of each problem (gold if both have the same length).

    All arrays have shape (items of the shorter sides,).
    """

    cells: Indices
    """Cell of each item and its best partner; ties go to the first."""
    owner: Indices
    """Problem of each item."""
    doubtful: Mask
    """Whether other items have the same best partner, or the table is not small."""


def best_partners(quality: Floats, heights: Indices, widths: Indices) -> BestPartners:
    """Find the best partner of each item of the shorter side of each problem (see `assign_all`)."""
    short, long = np.minimum(heights, widths), np.maximum(heights, widths)
    owner = np.arange(len(short), dtype=np.intp).repeat(short)
    if len(owner) == 0:
        return BestPartners(owner, owner, np.zeros(0, dtype=np.bool_))
    sizes = heights * widths
    # Each item of the shorter side is a line (row or column) of its table: concatenate the lines.
    line = np.arange(len(owner), dtype=np.intp) - (short.cumsum() - short)[owner]
    width, is_row = widths[owner], (heights <= widths)[owner]
    first, step = (sizes.cumsum() - sizes)[owner] + line * np.where(is_row, width, 1), np.where(is_row, 1, width)
    length = long[owner]
    begin = length.cumsum() - length
    place = np.arange(int(sizes.sum()), dtype=np.intp) - begin.repeat(length)
    lines = quality[first.repeat(length) + place * step.repeat(length)]
    best = (lines == np.maximum.reduceat(lines, begin).repeat(length)).nonzero()[0]
    place = place[best[best.searchsorted(begin)]]
    partner = (long.cumsum() - long)[owner] + place
    rivals = np.bincount(partner)[partner] > 1
    return BestPartners(first + place * step, owner, rivals | (sizes >= SOLVER_MIN_CELLS)[owner])


# Optimal one-to-one matchings that select from some of the pairs of two lists only, with a proof.
#
# The proof is a solution of the dual problem: prices of all rows and columns, such that no pair is worth more than
# the prices of its row and its column together. No matching is then worth more than the sum of all prices, which is
# what the optimal matching is worth.


_STEPS: Final = 2.0**24
"""Number of steps from 0 to 1 to which scipy's solver sees costs.

Its prices are raised by differences between costs. Without steps, these can be rounding errors, and it does not end.
"""


@dataclass(frozen=True, eq=False, slots=True)
class SparsePairs:
    """Some pairs of n rows and m columns that contain a matching of all rows. Shapes (pairs,), sorted by row.

    >>> rows, columns, worth = np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([0.9, 0.8, 0.5])
    >>> pairs = SparsePairs((2, 2), rows, columns, worth)
    >>> pairs.solve(1e-12)
    (array([1, 2]), array([0.8, 0.4]), array([0.1, 0. ]))
    """

    shape: tuple[int, int]
    """Number of rows and of columns, n <= m."""
    rows: Indices
    columns: Indices
    worth: Floats
    """What each pair adds to the sum that is maximised, in [0, 2]."""
    starts: Indices = field(init=False)
    """First pair of each row, then the number of pairs; shape (n + 1,)."""

    def __post_init__(self) -> None:
        starts = self.rows.searchsorted(np.arange(self.shape[0] + 1, dtype=np.intp))
        object.__setattr__(self, "starts", starts)

    def solve(self, tolerance: float) -> tuple[Indices, Floats, Floats]:
        """Find the matching of all rows with the greatest sum.

        Solves the problem with rounded costs (Jonker and Volgenant, 1987, as in scipy), then improves the matching
        along alternating cycles and paths until there are none.

        Args:
            tolerance: Amount by which a pair may be worth more than its prices.

        Returns:
            The selected pair of each row, shape (n,); prices of the rows, shape (n,); and the lowest prices of the
            columns, at least 0, and 0 for columns without partner, shape (m,).
        """
        selected = self._solve_rounded()
        while True:
            prices, improvement = self._prices(selected, tolerance)
            if improvement is None:
                return selected, self.worth[selected] - prices[self.columns[selected]], prices
            selected[self.rows[improvement]] = improvement

    def _solve_rounded(self) -> Indices:
        """Return the selected pair of each row if costs are rounded."""
        m = self.shape[1]
        costs = 1.0 + np.rint((2.0 - self.worth) * _STEPS)  # positive: zeros would be dropped
        graph = scipy.sparse.csr_array((costs, self.columns, self.starts), shape=self.shape)
        rows, columns = scipy.sparse.csgraph.min_weight_full_bipartite_matching(graph)
        selected: Indices = (self.rows * m + self.columns).searchsorted(np.sort(rows * m + columns))
        return selected

    def _prices(self, selected: Indices, tolerance: float) -> tuple[Floats, Indices | None]:
        """Raise the prices of columns from 0 until no pair is worth more than its prices (Bellman-Ford).

        Returns:
            The prices of the columns, and None; or unfinished prices, and pairs that improve the matching.
        """
        n, m = self.shape
        partner, own = self.columns[selected], self.worth[selected]
        owner = np.full(m, -1, dtype=np.intp)
        owner[partner] = np.arange(n, dtype=np.intp)
        price, raised_by = np.zeros(m), np.full(m, -1, dtype=np.intp)
        active = np.arange(n, dtype=np.intp)
        for step in count(1):
            sizes = self.starts[active + 1] - self.starts[active]
            position = np.arange(len(active), dtype=np.intp).repeat(sizes)
            first = (self.starts[active] - (sizes.cumsum() - sizes)).repeat(sizes)
            pairs = first + np.arange(len(position), dtype=np.intp)
            least = self.worth[pairs] - (own[active] - price[partner[active]])[position]
            raised = least > price[self.columns[pairs]] + tolerance
            pairs, least = pairs[raised], least[raised]
            columns = self.columns[pairs]
            if len(columns) == 0:
                break
            np.maximum.at(price, columns, least)
            highest = least == price[columns]
            raised_by[columns[highest]] = pairs[highest]
            owners = np.unique(owner[columns])
            if owners[0] < 0 or step & (step - 1) == 0:  # cycles are searched after 1, 2, 4, ... steps
                improvement = self._improvement(raised_by, partner, owner)
                if len(improvement):
                    return price, improvement
            active = owners
        return price, None

    def _improvement(self, raised_by: Indices, partner: Indices, owner: Indices) -> Indices:
        """Return pairs to select instead of those of their rows: cycles, and paths to columns without partner.

        The row that raised the price of a column gains by taking it, if another row takes the partner that it leaves.
        """
        source = raised_by.tolist()
        following = np.where(raised_by >= 0, partner[self.rows[raised_by]], -1).tolist()
        seen, taken = [0] * len(source), []
        begins = (raised_by >= 0).nonzero()[0]
        for number, begin in enumerate(begins[owner[begins].argsort(kind="stable")].tolist(), start=1):
            path, column = [], begin
            while column >= 0 and source[column] >= 0 and not seen[column]:
                seen[column] = number
                path.append(column)
                column = following[column]
            if column >= 0 and seen[column] == number:  # a cycle, perhaps after some columns that lead to it
                taken += path[path.index(column) :]
            elif owner[begin] < 0 and (source[column] < 0):
                taken += path
        return raised_by[np.array(taken, dtype=np.intp)]
