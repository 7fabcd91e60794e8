"""One-to-one matchings of two lists: optimal, greedy, by position.

All functions take `quality`, of shape (n, m) with values in [0, 1], and `allowed`, a mask of the same shape with the
pairs that may be matched (None: all).
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import scipy

from arbitre.matching.coupling import Coupling
from arbitre.threads import call_interruptibly

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.arrays import Floats, Indices, Mask

TIE: Final = 1e-9
"""Difference in quality mass below which two matchings are tied; the matching with more pairs wins."""


INTERRUPTIBLE_CELLS: Final = 1 << 20
"""Number of pairs from which a matching can be interrupted with Ctrl-C before it is solved."""


def solve_assignment(table: Floats) -> tuple[Indices, Indices]:
    """Return the rows, increasing, and the columns of the min(n, m) pairs of a table with the greatest sum."""
    solve = scipy.optimize.linear_sum_assignment if "scipy.optimize" in sys.modules else _solver()
    if table.size < INTERRUPTIBLE_CELLS:
        return solve(table, maximize=True)
    return call_interruptibly(lambda: solve(table, maximize=True))


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
