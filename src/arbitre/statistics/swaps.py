"""Paired approximate randomisation tests (Noreen, 1989) of many pairs of systems at once.

Null hypothesis: on every unit (document or cluster), the results of the two systems are exchangeable. Then swapping the
two results on any set of units gives a difference that is as likely as the observed one.

All pairs share the same swaps. The joint distribution of their differences therefore adjusts p for the number of pairs
by the step-down max-T procedure (Westfall and Young, 1993; Romano and Wolf, 2005). Differences are divided by their
spread over all swaps, so that a pair with a small spread is not hidden by a pair with a large one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import ceil, log, sqrt
from typing import TYPE_CHECKING, Final

import numpy as np
import scipy

from arbitre.arrays import exact_dot, weighted_sums
from arbitre.statistics.intervals import CHUNK_CELLS, TIE_TOLERANCE
from arbitre.statistics.sample import chunks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.arrays import Floats, Mask
    from arbitre.statistics.sample import Statistic

ENUMERATED: Final = 16
"""Maximum number of differing units for which all swaps are enumerated (2^16 = 65536, half of them mirror images)."""

DRAWN: Final = 10_000
"""Minimum number of random swaps of a test that is not exact."""

BEYOND: Final = 10
"""Expected number of random swaps beyond the critical value at the strictest step of Holm's correction."""

SWAPS_PER_CHECK: Final = 1_000
"""Maximum number of swaps after which tests that need only Holm-adjusted p-values check whether they can stop early."""

SPREAD_TOLERANCE: Final = 1e-9
"""Maximum difference of standardised differences that count as equal."""

POWER: Final = 0.8
"""Probability with which a detectable difference is found significant."""

EQUAL_UNITS: Final = 0.5
"""Number of units without a difference that the interval of a difference adds to the observed ones."""

_WORD: Final = 64


@dataclass(frozen=True, slots=True)
class SwapSpread:
    """Spread of a difference over the swaps, as a function of a shift of the first system's scores.

    Unit i contributes d to the difference and has the share w of the mass of both systems. If the first system were
    worse by s, the unit would contribute d - s w.

    Attributes:
        squares: Sum of d². Its root is the standard deviation of the difference over all swaps.
        cross: Sum of d w.
        shares: Sum of w².
    """

    squares: float = 0.0
    cross: float = 0.0
    shares: float = 1.0

    @property
    def equal(self) -> bool:
        """Whether no unit contributes to the difference, apart from rounding errors."""
        return bool(self.squares <= TIE_TOLERANCE**2)

    def around(self, shift: float) -> float:
        """Return the sum of (d - shift w)²."""
        return max(0.0, self.squares - 2.0 * shift * self.cross + shift * shift * self.shares)

    def ends(self, difference: float, critical: float) -> tuple[float, float]:
        """Return the smallest and largest shift s that the test does not reject, in [-1, 1].

        These are the s with (difference - s)² <= critical² (sum of (d - s w)² + `EQUAL_UNITS` (s sum of w²)²). The
        added units bound the interval if all units have the same difference; they do not change the test of s = 0.
        """
        low, high = (self._end(difference, critical, side) for side in (-1.0, 1.0))
        return low, high

    def _end(self, difference: float, critical: float, side: float) -> float:
        """Return the end of the interval on one side of the difference: -1 is the lower end, 1 the upper end.

        At a distance x from the difference, the inequality is square x² - 2 linear x <= constant, with constant >= 0.
        It holds at x = 0. If it does not hold at 0 or at the limit of the scores, the end is the root between.
        """
        if not np.isfinite(critical):
            return side
        factor, more = critical * critical, EQUAL_UNITS * self.shares**2
        square = 1.0 - factor * (self.shares + more)
        linear = side * factor * (difference * (self.shares + more) - self.cross)
        constant = factor * (self.around(difference) + more * difference * difference)
        for stop in (0.0, side) if side * difference < 0.0 else (side,):
            x = abs(stop - difference)
            if square * x * x - 2.0 * linear * x > constant:
                root = sqrt(max(0.0, linear * linear + square * constant))
                # two forms of the same root; neither subtracts similar numbers
                found = (linear + root) / square if linear >= 0.0 else constant / (root - linear)
                return difference + side * min(found, x)
        return side

    def unseen(self, alpha: float) -> float:
        """Return the largest absolute difference that is not unlikely if all units are `equal`.

        A difference of s between scores in [0, 1] requires at least a share |s| of differing units. This is the upper
        end of the interval of this share by Clopper and Pearson, computed with Kish's effective number of units.
        """
        return 1.0 - float((alpha / 2.0) ** self.shares)

    def detectable(self, difference: float, critical: float) -> float | None:
        """Return the smallest true difference that is found significant with a probability of `POWER`.

        The number of documents and their variation are assumed to be those observed. None if no difference can be
        found.
        """
        square = 1.0 - critical * critical * self.shares
        if not square > TIE_TOLERANCE or not self.shares < 1.0:
            return None
        error = sqrt(self.around(difference) + EQUAL_UNITS * (difference * self.shares) ** 2)
        found = error * (critical / sqrt(square) + float(scipy.special.ndtri(POWER)) / sqrt(1.0 - self.shares))
        return found if found <= 1.0 else None


@dataclass(frozen=True, slots=True)
class Swaps:
    """Test of one pair of systems.

    Attributes:
        p: Two-sided p, in (0, 1]; None if the difference is undefined.
        smallest_p: Smallest possible p for this number of differing units and swaps.
        exact: Whether all swaps were enumerated.
        differing: Number of units on which the systems differ.
        tried: Number of swaps.
        spread: Spread of the difference.
        largest: Largest absolute differences of the swaps, divided by their spread, in descending order.
        p_max: p adjusted for all pairs by the step-down max-T procedure; None if the difference is undefined.
        critical_max: Standardised difference that the pair must exceed to have `p_max` <= alpha.
    """

    p: float | None
    smallest_p: float
    exact: bool
    differing: int
    tried: int
    spread: SwapSpread
    largest: Floats
    p_max: float | None
    critical_max: float

    def critical(self, alpha: float) -> float:
        """Return the standardised difference that a pair must exceed to have p <= alpha, at most that of the test."""
        return _critical(self.largest, alpha, self.tried, exact=self.exact)

    def attainable(self, critical: float, alpha: float) -> float:
        """Return the critical value; if no swap of the pair exceeds it, a bound that holds for all units and shifts.

        In that case the test cannot reject, unless the observed difference itself exceeds the critical value, which is
        possible with random swaps. The bound is that of Hoeffding (1963): for any set of units, a share of at most
        alpha of the swaps exceeds it.
        """
        if self.largest[0] > critical + SPREAD_TOLERANCE:
            return critical
        return max(critical, sqrt(2.0 * log(2.0 / alpha)))


def number(tests: int, alpha: float) -> int:
    """Return the number of random swaps that lets Holm's correction reject with this number of tests.

    >>> number(1, 0.05), number(105, 0.05)
    (10000, 21000)
    """
    return max(DRAWN, ceil(BEYOND * max(tests, 1) / alpha - TIE_TOLERANCE))


def p_for_holm(pairs: Sequence[tuple[Statistic, Statistic]], *, alpha: float, seed: int) -> list[float | None]:
    """Return the p-value of each pair of systems, as `swapped` does for families of one pair.

    The test of a pair stops early once its Holm-adjusted p-value is certain to be 1. Its p-value may then be too small,
    but Holm's correction gives the same results, and the time grows about linearly with the number of pairs. See
    `swapped` for the arguments.
    """
    drawn = number(len(pairs), alpha)
    tests = [
        _Test(_Family(pair, [(0, 1)]), alpha=alpha, drawn=drawn, enumerated=ENUMERATED, only_p=True) for pair in pairs
    ]
    _try(tests, seed, CHUNK_CELLS, for_holm=True)
    return [None if np.isnan(test.p) else test.p for test in tests]


def swapped(
    families: Sequence[Sequence[Statistic]],
    pairs: Sequence[Sequence[tuple[int, int]]],
    *,
    alpha: float,
    tests: int,
    seed: int,
    enumerated: int = ENUMERATED,
    chunk_cells: int = CHUNK_CELLS,
) -> list[list[Swaps]]:
    """Test pairs of systems of each family on the same units. Each statistic has one score.

    Args:
        families: For each family, one statistic per system.
        pairs: For each family, indices of two systems each.
        alpha: Level of the tests before correction.
        tests: Number of tests that Holm's correction decides together, which determines the number of random swaps; 1
            if max-T decides.
        seed: Random seed. All pairs of families with the same number of units use the same random swaps.
        enumerated: Maximum number of differing units for which all swaps are enumerated.
        chunk_cells: Maximum number of values computed at once; does not change the results.
    """
    made = [_Family(*each) if each[1] else None for each in zip(families, pairs, strict=True)]
    drawn = number(tests, alpha)
    joint = {
        at: _Test(family, alpha=alpha, drawn=drawn, enumerated=enumerated)
        for at, family in enumerate(made)
        if family is not None
    }
    _try(list(joint.values()), seed, chunk_cells)
    found: list[list[Swaps]] = []
    for at, family in enumerate(made):
        found.append([])
        if family is None:
            continue
        together = joint[at].tested()
        for place, pair in enumerate(pairs[at]):
            differing, own, column = int(np.count_nonzero(family.differing[:, place])), together, place
            if not together.exact and differing <= enumerated:
                alone = _Test(_Family(families[at], [pair]), alpha=alpha, drawn=0, enumerated=enumerated)
                _try([alone], seed, chunk_cells)
                own, column = alone.tested(), 0
            smallest = 2.0 ** (1 - max(differing, 1))
            defined = not np.isnan(family.observed[place])
            found[-1].append(
                Swaps(
                    float(own.p[column]) if defined else None,
                    smallest if own.exact else max(smallest, 1.0 / (1 + own.tried)),
                    own.exact,
                    differing,
                    own.tried,
                    family.spreads[place],
                    own.largest[column],
                    max(float(together.p_max[place]), float(own.p[column])) if defined else None,
                    float(together.critical_max[place]),
                )
            )
    return found


@dataclass(frozen=True, slots=True)
class _Tested:
    """Results of the tests of a family: p and adjusted p, critical values and largest values of each pair."""

    p: Floats
    p_max: Floats
    critical_max: Floats
    largest: Floats
    tried: int
    exact: bool


class _Family:
    """Pairs of systems on the same units, with their observed differences.

    Attributes:
        units: Contribution of each unit to the columns of each system, minus that to the columns of the first system;
            only the columns in which these differ; shape (units, differing columns).
    """

    def __init__(self, statistics: Sequence[Statistic], pairs: Sequence[tuple[int, int]]) -> None:
        self.statistics = statistics
        self.first, self.second = np.array(pairs, dtype=np.intp).T
        self.totals = np.stack([statistic.total for statistic in statistics])
        scores = statistics[0].of(self.totals)[:, 0]
        self.observed = scores[self.first] - scores[self.second]
        columns = [_differing(statistics[a], statistics[b]) for a, b in pairs]
        self.differing = np.stack(columns, axis=1)
        self.spreads = [
            _spread(statistics[a], statistics[b], difference)
            for (a, b), difference in zip(pairs, self.observed.tolist(), strict=True)
        ]
        self.scales = np.sqrt([1.0 if spread.equal else spread.squares for spread in self.spreads])
        relative = np.stack([statistic.units for statistic in statistics], axis=1)
        relative -= relative[:, :1].copy()
        # most differences are 0: the systems have the same gold
        used = np.isin(np.arange(self.totals.shape[1]), statistics[0].used)
        self._differing_columns = (relative != 0.0).any(axis=0) & used
        self.units = relative[:, self._differing_columns]

    def sizes(self, picked: Floats) -> Floats:
        """Return the absolute differences after swaps, divided by their spread; infinity if a score is undefined.

        For the units that it picks, a swap moves the sums of a to b and those of b to a.

        Args:
            picked: Sums of `units` over the units of each swap; shape (swaps, differing columns).
        """
        sums = np.zeros((len(picked), *self.totals.shape))
        sums[:, self._differing_columns] = picked
        moved = sums[:, self.first] - sums[:, self.second]
        of = self.statistics[0].of
        sizes: Floats = np.abs(of(self.totals[self.first] - moved) - of(self.totals[self.second] + moved))[..., 0]
        sizes[np.isnan(sizes)] = np.inf
        return sizes / self.scales


class _Test:
    """Counts the swaps whose differences are at least those of the pairs of a family.

    All swaps of the units that differ are tried or, if these are too many, random swaps.

    Attributes:
        exact: Whether all swaps are tried.
        tried: Number of swaps.
        every: Contributions of the units that are swapped, as in `_Family.units`.
        p: With `only_p`, the smallest possible p of the first pair, given the swaps counted so far; NaN if undefined.
    """

    def __init__(self, family: _Family, *, alpha: float, drawn: int, enumerated: int, only_p: bool = False) -> None:
        units = np.flatnonzero(family.differing.any(axis=1))
        self.every = family.units
        self.exact, self.tried = len(units) <= enumerated, drawn
        if self.exact:
            self.every, self.tried = self.every[units], 2 ** max(len(units) - 1, 0)
        self._family, self._alpha, self._only_p = family, alpha, only_p
        self.p = 0.0
        self._standard = np.abs(family.observed) / family.scales
        self._defined = ~np.isnan(self._standard)
        # ascending, undefined pairs first
        self._order = np.argsort(np.where(self._defined, self._standard, -1.0), kind="stable")
        kept = int(alpha * (1 + self.tried)) + 2
        self._counts, self._joint_counts = np.zeros((2, len(self._order)))
        self._largest, self._joint_largest = _Largest(len(self._order), kept), _Largest(len(self._order), kept)

    @property
    def cells(self) -> int:
        """Number of values that are computed for each swap."""
        return len(self._order) * int(self._family.totals.shape[1])

    def _p_of(self, found: Floats) -> Floats:
        return found / self.tried if self.exact else (1 + found) / (1 + self.tried)

    def add(self, picked: Floats) -> None:
        """Count swaps, given the sums over the units that they swap; shape (swaps, columns)."""
        sizes = self._family.sizes(picked)
        self._counts += np.count_nonzero(sizes >= self._standard - SPREAD_TOLERANCE, axis=0)
        if self._only_p:
            self.p = float(self._p_of(self._counts)[0]) if self._defined[0] else np.nan
            return
        self._largest.add(sizes)
        # the maximum over a pair and all pairs with a smaller standardised difference
        joint = np.empty_like(sizes)
        joint[:, self._order] = np.maximum.accumulate(np.where(self._defined, sizes, 0.0)[:, self._order], axis=1)
        self._joint_counts += np.count_nonzero(joint >= self._standard - SPREAD_TOLERANCE, axis=0)
        self._joint_largest.add(joint)

    def tested(self) -> _Tested:
        """Return the results when all swaps are counted."""
        p, p_max = map(self._p_of, (self._counts, self._joint_counts))
        steps, highest = self._joint_largest.sorted(), 0.0
        critical = np.full(len(self._order), np.inf)
        failed = None
        for at in self._order[::-1]:
            if not self._defined[at]:
                continue
            p_max[at] = highest = max(highest, p_max[at])
            own = _critical(steps[at], self._alpha, self.tried, exact=self.exact)
            critical[at] = own if failed is None else failed
            if highest > self._alpha + TIE_TOLERANCE and failed is None:
                failed = own
        return _Tested(p, p_max, critical, self._largest.sorted(), self.tried, self.exact)


def _try(tests: Sequence[_Test], seed: int, cells: int, *, for_holm: bool = False) -> None:
    """Try the swaps of tests. One matrix of random swaps serves all tests with the same number of units.

    With `for_holm`, tests whose Holm-adjusted p-value is certain to be 1 stop early.
    """
    together: dict[tuple[int, ...], list[_Test]] = {}
    for at, test in enumerate(tests):
        together.setdefault((at, 0, 0) if test.exact else (-1, len(test.every), test.tried), []).append(test)
    for group in together.values():
        units, tried, remaining = len(group[0].every), group[0].tried, group
        swaps = _all_swaps if group[0].exact else partial(_random, seed=seed)
        width = max(units, sum(test.every.shape[1] for test in group), *(test.cells for test in group))
        rows = max(1, cells // width)
        for swap in swaps(units, tried, min(rows, SWAPS_PER_CHECK) if for_holm else rows):
            every = np.hstack([test.every for test in remaining])
            ends = np.cumsum([test.every.shape[1] for test in remaining])[:-1]
            for test, picked in zip(remaining, np.split(weighted_sums(swap, every), ends, axis=1), strict=True):
                test.add(picked)
            if for_holm:
                undecided = _undecided(tests)
                remaining = [test for test in remaining if test in undecided]
                if not remaining:
                    break


def _undecided(tests: Sequence[_Test]) -> set[_Test]:
    """Return the tests whose Holm-adjusted p-value more swaps could change.

    More swaps can only raise `_Test.p`. If k tests have a p of at least 1 / k, their adjusted p is 1: only other tests
    can come before them in Holm's order, so Holm's correction multiplies the smallest of their p by at least k.
    """
    p = np.array([test.p for test in tests])
    falling = -np.sort(-p[~np.isnan(p)])
    enough = np.flatnonzero(falling * np.arange(1, len(falling) + 1) >= 1.0 + TIE_TOLERANCE)
    decided = falling[enough[-1]] if len(enough) else np.inf
    return {test for test, is_lower in zip(tests, (p < decided).tolist(), strict=True) if is_lower}


class _Largest:
    """The largest values of each column of arrays with the same columns."""

    def __init__(self, columns: int, kept: int) -> None:
        self.kept, self.blocks = kept, [np.empty((columns, 0))]

    def add(self, values: Floats) -> None:
        self.blocks.append(values.T)
        if sum(block.shape[1] for block in self.blocks) > 2 * self.kept:
            self.blocks = [self._few()]

    def sorted(self) -> Floats:
        """Return the values of each column in descending order, shape (columns, at most `kept`)."""
        return -np.sort(-self._few(), axis=1)

    def _few(self) -> Floats:
        every = np.hstack(self.blocks)
        return every if every.shape[1] <= self.kept else np.partition(every, -self.kept, axis=1)[:, -self.kept :]


def _critical(largest: Floats, alpha: float, tried: int, *, exact: bool) -> float:
    """Return the value that must be exceeded to have p <= alpha; the largest of all swaps if none is large enough."""
    beyond = alpha * tried if exact else alpha * (1 + tried) - 1.0
    at = max(0, int(beyond + TIE_TOLERANCE * tried))
    return float(largest[min(at, len(largest) - 1)]) if len(largest) else 0.0


def _differing(a: Statistic, b: Statistic) -> Mask:
    """Return which units differ in the columns that the score depends on, shape (units,)."""
    ours, theirs = (statistic.units[:, list(statistic.used)] for statistic in (a, b))
    equal = np.asarray(np.isclose(ours, theirs, rtol=TIE_TOLERANCE, atol=TIE_TOLERANCE, equal_nan=True))
    return np.asarray(~np.all(equal, axis=1), dtype=np.bool_)


def _spread(a: Statistic, b: Statistic, difference: float) -> SwapSpread:
    """Compute the spread of a difference. A unit contributes half of the change that swapping it alone makes."""
    mass = squares = cross = shares = 0.0
    for chunk in chunks(a.size):
        ours, theirs = a.rows(chunk), b.rows(chunk)
        moved = ours - theirs
        changed = (a.of(a.total - moved) - b.of(b.total + moved))[:, 0]
        own = (difference - np.where(np.isnan(changed), -difference, changed)) / 2.0
        masses = (a.masses(ours) + b.masses(theirs))[:, 0]
        mass += float(masses.sum())
        squares += exact_dot(own, own)
        cross += exact_dot(own, masses)
        shares += exact_dot(masses, masses)
    return SwapSpread(squares, cross / mass, shares / mass**2) if mass > 0.0 else SwapSpread()


def _all_swaps(units: int, tried: int, rows: int) -> Iterator[Floats]:
    """Yield all swaps, shape (rows, units). A swap and its complement have opposite differences: half suffice."""
    for start in range(0, tried, rows):
        numbers = np.arange(start, min(tried, start + rows))
        yield (numbers[:, None] >> np.arange(units) & 1).astype(np.float64)


def _random(units: int, tried: int, rows: int, seed: int) -> Iterator[Floats]:
    """Yield blocks of random swaps, shape (rows, units). The swaps do not depend on the block size."""
    generator = np.random.default_rng((seed, 1))  # independent of a bootstrap with the same seed
    width = ceil(units / _WORD) * _WORD // 8
    for start in range(0, tried, rows):
        count = min(rows, tried - start)
        random_bytes = np.frombuffer(generator.bytes(count * width), dtype=np.uint8).reshape(count, width)
        yield np.unpackbits(random_bytes, axis=1, count=units).astype(np.float64)
