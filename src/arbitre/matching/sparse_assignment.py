"""Optimal one-to-one matchings that select from some of the pairs of two lists only, with a proof.

The proof is a solution of the dual problem: prices of all rows and columns, such that no pair is worth more than the
prices of its row and its column together. No matching is then worth more than the sum of all prices, which is what the
optimal matching is worth.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np
import scipy

if TYPE_CHECKING:
    from arbitre.arrays import Floats, Indices

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
