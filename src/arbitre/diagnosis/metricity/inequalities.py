"""Triangle and quadrangle inequalities of a table of distances: their violations and metric repair.

Tables hold finite numbers, scaled to [0, 1]. An excess of at most `slack` counts as a rounding error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import scipy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arbitre.arrays import Floats, Indices

RESOLUTION: Final = 1e-12
"""Minimum slack for comparing powers of distances."""


class InequalityBlock(NamedTuple):
    """A block of inequalities direct <= detour.

    Attributes:
        direct: Left sides.
        detour: Right sides, same shape as `direct`; infinite if a point occurs twice, which excludes the inequality.
        points: Indices of the points of each inequality, broadcastable to the same shape.
    """

    direct: Floats
    detour: Floats
    points: tuple[Indices | int, ...]


def draw_tuples(rng: np.random.Generator, size: int, number: int, samples: int) -> Indices:
    """Draw `samples` uniform tuples of `number` distinct points out of `size`; shape (number, samples), dtype intp."""
    points = np.empty((0, samples), dtype=np.intp)
    for drawn in range(number):
        fresh = rng.integers(size - drawn, size=samples, dtype=np.intp)
        for earlier in np.sort(points, axis=0):
            fresh += fresh >= earlier
        points = np.vstack([points, fresh])
    return points


def triples(lengths: Floats, chosen: Indices | None = None) -> Iterator[InequalityBlock]:
    """Yield the triangle inequalities S[i, k] <= S[i, j] + S[j, k].

    Args:
        lengths: The symmetric matrix S; shape (n, n).
        chosen: Triples (i, j, k); shape (3, t). None for all, one block per middle point j.
    """
    if chosen is not None:
        i, j, k = chosen
        yield InequalityBlock(lengths[i, k], lengths[i, j] + lengths[j, k], (i, j, k))
        return
    every = np.arange(len(lengths), dtype=np.intp)
    reach = lengths.copy()
    np.fill_diagonal(reach, np.inf)
    for j in range(len(lengths)):
        yield InequalityBlock(lengths, reach[:, j, None] + reach[j], (every[:, None], j, every))


def quadruples(costs: Floats, chosen: Indices | None = None) -> Iterator[InequalityBlock]:
    """Yield the quadrangle inequalities C[i, j] <= C[i, h] + C[k, h] + C[k, j].

    Args:
        costs: The matrix C; shape (n, m).
        chosen: Quadruples (i, k, j, h); shape (4, t). None for all.
    """
    if chosen is not None:
        i, k, j, h = chosen
        yield InequalityBlock(costs[i, j], costs[i, h] + costs[k, h] + costs[k, j], (i, k, j, h))
        return
    rows, columns = (np.arange(size, dtype=np.intp) for size in costs.shape)
    for k in range(len(rows)):
        back = np.tile(costs[k], (len(columns), 1))
        np.fill_diagonal(back, np.inf)
        for h in range(len(columns)):
            there = costs[:, h] + costs[k, h]
            there[k] = np.inf
            yield InequalityBlock(costs, there[:, None] + back[h], (rows[:, None], k, columns, h))


@dataclass(frozen=True, slots=True)
class InequalityViolations:
    """Statistics of violated inequalities direct <= detour.

    Attributes:
        count: Number of violated inequalities.
        total: Sum of the excesses direct - detour.
        largest: Largest excess.
        relaxed: Largest direct / detour: at most 1 without violations, inf for a detour of length 0, None if all
            inequalities are 0 <= 0.
        witness: Points of the inequality with the largest excess; None without violations.
    """

    count: int
    total: float
    largest: float
    relaxed: float | None
    witness: tuple[int, ...] | None


def survey(blocks: Iterable[InequalityBlock], slack: float) -> InequalityViolations:
    """Collect the violations of all blocks. Holds one block in memory at a time."""
    count, total, largest, relaxed = 0, 0.0, 0.0, 0.0
    witness = None
    for direct, detour, points in blocks:
        excess = direct - detour
        position = int(excess.argmax())
        worst = float(excess.flat[position])
        if worst > slack:
            broken = excess > slack
            count += int(np.count_nonzero(broken))
            total += float(excess[broken].sum())
            relaxed = max(relaxed, _ratio(direct[broken], detour[broken]))
            if worst > largest:
                largest = worst
                witness = tuple(int(np.broadcast_to(point, excess.shape).flat[position]) for point in points)
        elif relaxed <= 1.0:
            relaxed = max(relaxed, min(1.0, _ratio(direct, detour)))
    return InequalityViolations(count, total, largest, relaxed or None, witness)


def _ratio(direct: Floats, detour: Floats) -> float:
    """Return the largest direct / detour, ignoring 0 / 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.fmax.reduce(direct / detour, axis=None, initial=0.0))


def snowflake(lengths: Floats, slack: float, chosen: Indices | None = None) -> float:
    """Return the largest x in (0, 1] such that lengths^x satisfies the triangle inequality; 0 if there is none.

    Each iteration solves a^x + b^x = c^x for the triple with the largest excess at the current power. Every smaller
    power y satisfies the inequality too, as t -> t^(y/x) is concave for y <= x.
    """
    exponent, slack = 1.0, max(slack, RESOLUTION)
    while (worst := survey(triples(lengths**exponent, chosen), slack).witness) is not None:
        i, j, k = worst
        sides = lengths[[i, j], [j, k]] / lengths[i, k]
        if sides.min() <= slack:
            return 0.0
        exponent = float(
            scipy.optimize.brentq(lambda power, sides: (sides**power).sum() - 1.0, 0.0, exponent, (sides,), xtol=1e-15)
        )
    return exponent


def repair(lengths: Floats) -> Floats:
    """Return the largest pseudo-metric that is at most `lengths`: the shortest paths between all points.

    This is decrease-only metric repair (Brickell, Dhillon, Sra and Tropp, 2008) in O(n³), with n vectorised steps
    (Floyd, 1962). `scipy.sparse.csgraph.floyd_warshall` is not used because it treats lengths close to 0 as missing
    edges.

    Args:
        lengths: Symmetric matrix with a zero diagonal, inf for unknown lengths; shape (n, n).

    >>> repair(np.array([[0.0, 0.25, 1.0], [0.25, 0.0, 0.25], [1.0, 0.25, 0.0]]))[0]
    array([0.  , 0.25, 0.5 ])
    """
    paths = lengths.copy()
    detour = np.empty_like(paths)
    for middle in range(len(paths)):
        np.add(paths[:, middle, None], paths[middle], out=detour)
        np.minimum(paths, detour, out=paths)
    return paths


def repair_table(costs: Floats) -> Floats:
    """Repair a matrix of costs between two sets of points, as `repair`; shape (n, m)."""
    size, rows = sum(costs.shape), len(costs)
    lengths = np.full((size, size), np.inf)
    np.fill_diagonal(lengths, 0.0)
    lengths[:rows, rows:] = costs
    lengths[rows:, :rows] = costs.T
    return repair(lengths)[:rows, rows:]
