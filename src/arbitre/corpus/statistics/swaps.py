"""Paired approximate randomisation tests (Noreen, 1989) of many pairs of systems at once.

Null hypothesis: on every unit (document or cluster), the results of the two systems are exchangeable. Then swapping the
two results on any set of units gives a difference that is as likely as the observed one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.arrays import weighted_sums
from arbitre.corpus.statistics.bootstrap import CHUNK_CELLS, TIE_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from arbitre.arrays import Floats
    from arbitre.corpus.statistics.sample import Statistic

ENUMERATED: Final = 16
"""Maximum number of differing units for which all swaps are enumerated (2^16 = 65536, half of them mirror images)."""

DRAWN: Final = 10_000
"""Minimum number of random swaps of a test that is not exact."""

BEYOND: Final = 10
"""Expected number of random swaps beyond the critical value at the strictest step of Holm's correction."""

_WORD: Final = 64


@dataclass(frozen=True, slots=True)
class Swaps:
    """Test of one pair of systems.

    Attributes:
        p: Two-sided p, in (0, 1]; None if the difference is undefined.
        smallest_p: Smallest possible p for this number of differing units and swaps.
        exact: Whether all swaps were enumerated.
        differing: Number of units on which the systems differ.
        tried: Number of swaps.
        largest: Largest absolute differences of the swaps, in descending order.
    """

    p: float | None
    smallest_p: float
    exact: bool
    differing: int
    tried: int
    largest: Floats

    def critical(self, alpha: float) -> float:
        """Return the difference that a pair must exceed to have p <= alpha, for any alpha up to that of the test.

        If no difference is large enough, return the largest difference of all swaps.
        """
        beyond = alpha * self.tried if self.exact else alpha * (1 + self.tried) - 1.0
        at = max(0, int(beyond + TIE_TOLERANCE * self.tried))
        return float(self.largest[min(at, len(self.largest) - 1)]) if len(self.largest) else 0.0


def number(tests: int, alpha: float) -> int:
    """Return the number of random swaps that lets Holm's correction reject with this number of tests.

    >>> number(1, 0.05), number(105, 0.05)
    (10000, 21000)
    """
    return max(DRAWN, ceil(BEYOND * max(tests, 1) / alpha - TIE_TOLERANCE))


def swapped(
    statistics: Sequence[Statistic],
    pairs: Sequence[tuple[int, int]],
    *,
    alpha: float,
    tests: int,
    seed: int,
    enumerated: int = ENUMERATED,
    chunk_cells: int = CHUNK_CELLS,
) -> list[Swaps]:
    """Test pairs of systems on the same units. Each statistic has one score.

    Args:
        statistics: One per system.
        pairs: Indices of two systems each.
        alpha: Level of the tests before correction.
        tests: Number of tests that are corrected together, which determines the number of random swaps.
        seed: Random seed. All pairs use the same random swaps.
        enumerated: Maximum number of differing units for which all swaps are enumerated.
        chunk_cells: Maximum number of values computed at once; does not change the results.
    """
    scores = [float(statistic.of(statistic.total)[0]) for statistic in statistics]
    observed = [scores[a] - scores[b] for a, b in pairs]
    masks = [_differing(statistics[a], statistics[b]) for a, b in pairs]
    tests_by_pair: dict[int, Swaps] = {}
    sampled: list[int] = []
    for at, ((a, b), mask) in enumerate(zip(pairs, masks, strict=True)):
        if np.count_nonzero(mask) <= enumerated:
            tests_by_pair[at] = _enumerated(statistics[a], statistics[b], mask, observed[at])
        else:
            sampled.append(at)
    if sampled:
        tried = number(tests, alpha)
        chosen = np.array([pairs[at] for at in sampled], dtype=np.intp)
        sizes = np.abs([observed[at] for at in sampled])
        counts, largest = _sampled(statistics, chosen, sizes, tried=tried, alpha=alpha, seed=seed, cells=chunk_cells)
        for place, at in enumerate(sampled):
            differing = int(np.count_nonzero(masks[at]))
            p = None if np.isnan(sizes[place]) else float((1 + counts[place]) / (1 + tried))
            smallest = max(2.0 ** (1 - differing), 1.0 / (1 + tried))
            tests_by_pair[at] = Swaps(
                p, smallest, exact=False, differing=differing, tried=tried, largest=largest[place]
            )
    return [tests_by_pair[at] for at in range(len(pairs))]


def _differing(a: Statistic, b: Statistic) -> npt.NDArray[np.bool_]:
    """Return which units differ in the columns that the score depends on, shape (units,)."""
    ours, theirs = (statistic.units[:, list(statistic.used)] for statistic in (a, b))
    equal = np.asarray(np.isclose(ours, theirs, rtol=TIE_TOLERANCE, atol=TIE_TOLERANCE, equal_nan=True))
    return np.asarray(~np.all(equal, axis=1), dtype=np.bool_)


def _enumerated(a: Statistic, b: Statistic, mask: npt.NDArray[np.bool_], observed: float) -> Swaps:
    """Enumerate all swaps of the differing units. A swap and its complement have opposite differences: half suffice."""
    differing = int(np.count_nonzero(mask))
    tried = 2 ** max(differing - 1, 0)
    if np.isnan(observed):
        return Swaps(None, 1.0 / tried, exact=True, differing=differing, tried=tried, largest=np.empty(0))
    swap = (np.arange(tried)[:, None] >> np.arange(differing) & 1).astype(np.float64)
    moved = weighted_sums(swap, a.units[mask] - b.units[mask])
    sizes = _sizes(a, a.total - moved, b.total + moved)
    count = np.count_nonzero(sizes >= abs(observed) - TIE_TOLERANCE)
    largest = -np.sort(-sizes)
    return Swaps(float(count / tried), 1.0 / tried, exact=True, differing=differing, tried=tried, largest=largest)


def _sizes(statistic: Statistic, ours: Floats, theirs: Floats) -> Floats:
    """Return the absolute differences of scores; infinity if a score is undefined."""
    differences: Floats = np.abs(statistic.of(ours) - statistic.of(theirs))[..., 0]
    differences[np.isnan(differences)] = np.inf
    return differences


def _sampled(
    statistics: Sequence[Statistic],
    pairs: npt.NDArray[np.intp],
    sizes: Floats,
    *,
    tried: int,
    alpha: float,
    seed: int,
    cells: int,
) -> tuple[npt.NDArray[np.intp], Floats]:
    """Draw random swaps for several pairs.

    One matrix product per block of swaps serves all pairs: a swap moves from a to b the sums that it picks of a, minus
    those that it picks of b. Memory is bounded by `cells` and by the share of swaps that Holm's correction needs.

    Returns:
        Number of swaps whose absolute difference is at least the observed one, shape (pairs,), and the largest absolute
        differences, shape (pairs, kept).
    """
    units, columns = statistics[0].units.shape
    every = np.hstack([statistic.units for statistic in statistics])
    totals = np.stack([statistic.total for statistic in statistics])
    first, second = pairs.T
    rows = max(1, cells // max(units, len(pairs) * columns))
    n_largest = int(alpha * (1 + tried)) + 2
    counts, largest = np.zeros(len(pairs), dtype=np.intp), [np.empty((len(pairs), 0))]
    for swap in _random(units, tried, rows, seed):
        picked = weighted_sums(swap, every).reshape(len(swap), len(statistics), columns)
        moved = picked[:, first] - picked[:, second]
        found_sizes = _sizes(statistics[0], totals[first] - moved, totals[second] + moved)
        counts += np.count_nonzero(found_sizes >= sizes - TIE_TOLERANCE, axis=0)
        largest.append(found_sizes.T)
        if sum(block.shape[1] for block in largest) > 2 * n_largest:
            largest = [_largest(largest, n_largest)]
    return counts, -np.sort(-_largest(largest, n_largest), axis=1)


def _random(units: int, tried: int, rows: int, seed: int) -> Iterator[Floats]:
    """Yield blocks of random swaps, shape (rows, units). The swaps do not depend on the block size."""
    generator = np.random.default_rng((seed, 1))  # independent of a bootstrap with the same seed
    width = ceil(units / _WORD) * _WORD // 8
    for start in range(0, tried, rows):
        count = min(rows, tried - start)
        random_bytes = np.frombuffer(generator.bytes(count * width), dtype=np.uint8).reshape(count, width)
        yield np.unpackbits(random_bytes, axis=1, count=units).astype(np.float64)


def _largest(blocks: Sequence[Floats], n_largest: int) -> Floats:
    """Return the `n_largest` largest values of each row of arrays with the same rows, in any order."""
    every = np.hstack(blocks)
    return every if every.shape[1] <= n_largest else np.partition(every, -n_largest, axis=1)[:, -n_largest:]
