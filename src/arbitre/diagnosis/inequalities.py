"""The inequalities of a table of dissimilarities: where they break, by how much, and what repairs them.

Tables hold finite numbers in [0, 1], scaled so beforehand; excesses of at most `slack` count as rounding.
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
"""Powers of dissimilarities are told apart down to this."""


class InequalityBlock(NamedTuple):
    """Inequalities direct <= detour, two arrays of one shape, and the points of each, broadcast to that shape.

    A detour through a point twice is infinite: it says nothing.
    """

    direct: Floats
    detour: Floats
    points: tuple[Indices | int, ...]


def draw_tuples(rng: np.random.Generator, size: int, number: int, samples: int) -> Indices:
    """`samples` tuples of `number` different points among `size`, uniform, with replacement; (number, samples)."""
    points = np.empty((0, samples), dtype=np.intp)
    for taken in range(number):
        fresh = rng.integers(size - taken, size=samples, dtype=np.intp)
        for earlier in np.sort(points, axis=0):
            fresh += fresh >= earlier
        points = np.vstack([points, fresh])
    return points


def triples(lengths: Floats, chosen: Indices | None = None) -> Iterator[InequalityBlock]:
    """S[i, k] <= S[i, j] + S[j, k] of a symmetric S, shape (n, n): `chosen`, shape (3, t), or all by middle point."""
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
    """C[i, j] <= C[i, h] + C[k, h] + C[k, j], shape (n, m): `chosen`, shape (4, t), as (i, k, j, h), or all of them."""
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
    """What is wrong with some inequalities direct <= detour.

    `count` of them are broken, by `total` in all, by `largest` at most; `relaxed` is the largest direct / detour, at
    most 1 where none is broken, inf for a detour of length 0, None where every one reads 0 <= 0; `witness` holds the
    points of the one broken most.
    """

    count: int
    total: float
    largest: float
    relaxed: float | None
    witness: tuple[int, ...] | None


def survey(blocks: Iterable[InequalityBlock], slack: float) -> InequalityViolations:
    """Look at every inequality of the blocks; memory is that of one block."""
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
    """The largest direct / detour, 0 of 0 left out."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.fmax.reduce(direct / detour, axis=None, initial=0.0))


def snowflake(lengths: Floats, slack: float, chosen: Indices | None = None) -> float:
    """The largest power in (0, 1] of the lengths that obeys the triangle inequality; 0 where none does.

    Each round solves a^x + b^x = c^x for the triple broken most under the power so far. Every smaller power obeys
    too, as x -> t^(y/x) is concave for y <= x.
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
    """The largest pseudo-metric that is nowhere above `lengths`: shortest paths between all points.

    `lengths`, shape (n, n), is symmetric with a zero diagonal; inf where nothing is known. O(n³), in n vectorised
    steps (Floyd, 1962). Decrease-only metric repair (Brickell, Dhillon, Sra and Tropp, 2008). The dense
    `scipy.sparse.csgraph.floyd_warshall` is not used: it takes lengths next to 0 for missing edges.

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
    """The same between two sides, shape (n, m), of which nothing but the costs across is known."""
    size, rows = sum(costs.shape), len(costs)
    lengths = np.full((size, size), np.inf)
    np.fill_diagonal(lengths, 0.0)
    lengths[:rows, rows:] = costs
    lengths[rows:, :rows] = costs.T
    return repair(lengths)[:rows, rows:]
