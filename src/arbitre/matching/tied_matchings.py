"""All optimal matchings of one problem, to choose among them by another criterion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.matching.assignment import TIE, solve_assignment

if TYPE_CHECKING:
    from arbitre.arrays import Floats, Indices, Mask

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
