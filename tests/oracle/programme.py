"""Reference for optimal transport: the linear program of each solver that has one, and all its optima.

>>> mass, unique = plan(np.array([[0.1, 0.9], [0.8, 0.3]]), np.ones(2), np.ones(2), {"solver": "exact"})
>>> mass.tolist(), unique
([[1.0, 0.0], [0.0, 1.0]], True)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linprog

if TYPE_CHECKING:
    from collections.abc import Mapping

NEAR = 1e-9  # reduced costs, prices and masses below this are none


@dataclass(frozen=True)
class Programme:
    """The x >= 0 with rows @ x <= limits, equal where `tight`, and 0 where not `free`."""

    rows: np.ndarray
    limits: np.ndarray
    tight: np.ndarray
    free: np.ndarray

    def least(self, objective: np.ndarray) -> tuple[np.ndarray, Programme]:
        """An x of least objective, and the programme of all of them, which complementary slackness tells."""
        loose = ~self.tight
        found = linprog(
            objective,
            A_ub=self.rows[loose],
            b_ub=self.limits[loose],
            A_eq=self.rows[self.tight],
            b_eq=self.limits[self.tight],
            bounds=[(0.0, None if free else 0.0) for free in self.free],
            method="highs",
        )
        assert found.status == 0, found.message
        tight = self.tight.copy()
        tight[loose] = np.abs(found.ineqlin.marginals) > NEAR
        return found.x, replace(self, tight=tight, free=self.free & (found.lower.marginals <= NEAR))


def plan(cost: np.ndarray, gold: np.ndarray, predicted: np.ndarray, how: Mapping[str, Any]) -> tuple[np.ndarray, bool]:
    """The optimal masses (n, m), of most mass in all where that is free, and whether no others are optimal.

    `gold` and `predicted` are the masses of the items, of one sum where all of them move; `how` are the options.
    """
    n, m = cost.shape
    solver = how.get("solver", "exact")
    rows = np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    limits, tight, objective = np.concatenate([gold, predicted]), np.full(n + m, solver == "exact"), cost.ravel()
    if solver == "partial":
        rows, limits = np.vstack([rows, np.ones(n * m)]), np.append(limits, how.get("mass", 1.0) * min(n, m))
        tight = np.append(tight, True)
    elif solver in ("dummy", "unbalanced"):  # a pair saves the price of leaving out, on both sides
        objective = objective - 2.0 * how.get("lambda" if solver == "dummy" else "reg_m", 0.5)
    mass, optima = Programme(rows, limits, tight, np.ones(n * m, dtype=bool)).least(objective)
    if solver in ("dummy", "unbalanced"):
        mass, optima = optima.least(-np.ones(n * m))
    any_way = np.random.default_rng(n * m).random(n * m)
    ends = [optima.least(sign * any_way)[0] for sign in (1.0, -1.0)]
    return np.where(mass < NEAR, 0.0, mass).reshape(n, m), bool(np.abs(ends[0] - ends[1]).max() < NEAR)
