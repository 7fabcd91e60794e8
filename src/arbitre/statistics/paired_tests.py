"""Paired tests of systems on the same documents: differences, adjusted p, groups without significant differences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from arbitre.errors import DataError, check_integer, check_level
from arbitre.statistics.intervals import LEVEL, RESAMPLES, bounds
from arbitre.statistics.sample import Statistic, check_option, sample_sizes
from arbitre.statistics.swaps import p_for_holm, swapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from arbitre.options import Average
    from arbitre.statistics.sample import Sample
    from arbitre.statistics.swaps import Swaps

Contrasting: TypeAlias = Literal["swaps", "percentile", "bca"]
"""Method of the interval of a difference.

- `swaps`: the differences that the test does not reject. The interval excludes 0 if and only if adjusted p <= alpha.
- `percentile`, `bca`: the bootstrap. If interval and test disagree, the test decides.
"""

Correction: TypeAlias = Literal["max-T", "Holm"]
"""Method that adjusts p for the number of pairs.

- `max-T`: step-down maximum of the standardised differences (Westfall and Young, 1993), if all systems have the same
  documents.
- `Holm`: step-down Bonferroni (Holm, 1979), if pairs have different documents.
"""

ROUNDING: Final = 1e-12
"""Maximum difference of levels that count as equal."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference of the scores of two systems on the same documents.

    Attributes:
        estimate: Score of the first system minus score of the second; None if undefined.
        low: Lower end of the interval.
        high: Upper end of the interval.
        level: Confidence level of the interval. If several pairs were compared, it is the probability that the
            intervals of all pairs contain the true differences.
        method: Method of the interval.
        clusters: Number of clusters in which at least one system has a defined score; None if each document is a unit.
        p: Two-sided p; None if the difference is undefined.
        p_adjusted: p adjusted for all pairs, by `correction`.
        p_holm: p adjusted for all pairs by Holm (1979). With max-T, the number of swaps limits how small it is.
        correction: "max-T" or "Holm".
        significant: Whether `p_adjusted` is at most alpha.
        detectable: Smallest true difference that would be found significant with probability 0.8; None if none would.
        smallest_p: Smallest p that is possible with `differing` units.
        exact: Whether all swaps were enumerated.
        differing: Number of units (documents or clusters) on which the systems differ.
        swaps: Number of swaps.
        notes: Warnings.
    """

    estimate: float | None
    low: float | None
    high: float | None
    level: float
    method: Contrasting
    clusters: int | None
    p: float | None
    p_adjusted: float | None
    p_holm: float | None
    correction: Correction
    significant: bool
    detectable: float | None
    smallest_p: float
    exact: bool
    differing: int
    swaps: int
    notes: tuple[str, ...] = ()


def paired_difference(
    sample_a: Sample,
    sample_b: Sample,
    score: str,
    *,
    average: Average = "micro",
    level: float = LEVEL,
    method: Contrasting = "swaps",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Difference:
    """Compute the score of system a minus that of system b on the same documents, with the test of `contrasts`.

    Args:
        sample_a: Documents of system a.
        sample_b: Documents of system b.
        score: One of `arbitre.tally.NAMES`.
        average: micro or macro.
        level: Confidence level.
        method: Method of the interval.
        resamples: Number of bootstrap resamples, for `percentile` and `bca`.
        seed: Random seed.

    Raises:
        DataError: The samples differ in documents or clusters.
        OptionError: An option has an invalid value.

    >>> from arbitre.statistics import Sample
    >>> keys = list("abcde")
    >>> better = Sample.of(keys, [(4, 4, 4, 3.9, 3.8)] * 5)
    >>> worse = Sample.of(keys, [(4, 4, 4, 3.9 - n / 10, 3.5) for n in range(1, 6)])
    >>> found = paired_difference(better, worse, "irq")
    >>> round(found.estimate, 3), found.p, found.smallest_p, found.exact
    (0.075, 0.0625, 0.0625, True)
    """
    check_option("method", method, get_args(Contrasting))
    (difference,) = contrasts([[sample_a, sample_b]], [[(0, 1)]], score, average=average, level=level, seed=seed)
    if method == "swaps":
        return difference
    a, b = (Statistic.scores(sample, [score], average) for sample in (sample_a, sample_b))
    sizes = sample_sizes([sample_a, sample_b], [score], average)
    interval = bounds(a.minus(b), [score], sizes, level=level, method=method, resamples=resamples, seed=seed)[0]
    used: Contrasting = "bca" if interval.method == "bca" else "percentile"
    return replace(difference, low=interval.low, high=interval.high, method=used, notes=interval.notes)


def contrasts(
    families: Sequence[Sequence[Sample]],
    pairs: Sequence[Sequence[tuple[int, int]]],
    score: str,
    *,
    average: Average = "micro",
    level: float = LEVEL,
    seed: int = 0,
) -> list[Difference]:
    """Test pairs of systems within families, and adjust p for all pairs of all families.

    p comes from paired approximate randomisation (see `swaps`): the share of swaps whose absolute difference is at
    least the observed one. If the systems differ on at most 16 units, all swaps are enumerated. Otherwise 10,000 random
    swaps are drawn, or 10 / alpha if that is more; the observed difference is counted in addition. A swap that makes
    the difference undefined counts as at least as large.

    Within one family, p is adjusted by the step-down max-T procedure, which uses the joint distribution of all pairs.
    With several families, which have different documents, p is adjusted by Holm's correction, and at least
    10 x pairs / alpha swaps are drawn.

    The interval contains the shifts of the first system's scores that the test does not reject at the critical value of
    the pair's step (see `SwapSpread.ends`). It therefore excludes 0 if and only if the difference is `significant`. If
    all units have a difference of 0, the interval contains the differences for which such a sample is not unlikely (see
    `SwapSpread.unseen`).

    Args:
        families: For each family, samples of systems on the same units.
        pairs: For each family, pairs of indices of its samples.
        score: One of `arbitre.tally.NAMES`.
        average: micro or macro.
        level: Confidence level; alpha is 1 - `level`.
        seed: Random seed of the swaps.

    Raises:
        DataError: The samples of a family differ in documents or clusters.
        OptionError: An option has an invalid value.
    """
    alpha = threshold(level)
    check_integer("seed", seed)
    correction: Correction = "max-T" if len(families) == 1 else "Holm"
    tests = 1 if correction == "max-T" else sum(map(len, pairs))
    untested: list[tuple[float, int | None, Swaps]] = []
    for samples in families:
        for sample in samples[1:]:
            _check_same(samples[0], sample)
    scored = [[Statistic.scores(sample, [score], average) for sample in samples] for samples in families]
    found = swapped(scored, pairs, alpha=alpha, tests=tests, seed=seed)
    for samples, statistics, chosen, results in zip(families, scored, pairs, found, strict=True):
        estimates = [statistic.of(statistic.total)[0] for statistic in statistics]
        clusters = sample_sizes(samples, [score], average)[0].clusters
        untested += [
            (float(estimates[a] - estimates[b]), clusters, test) for (a, b), test in zip(chosen, results, strict=True)
        ]
    tests_of = [test for _, _, test in untested]
    by_holm, steps = _holm_with_levels([test.p for test in tests_of], alpha)
    adjusted = [test.p_max for test in tests_of] if correction == "max-T" else by_holm
    critical = [
        own if p is not None and p <= alpha + ROUNDING else test.attainable(own, step)
        for test, p, step in zip(tests_of, adjusted, steps, strict=True)
        for own in (test.critical_max if correction == "max-T" else test.critical(step),)
    ]
    return [
        _difference(contrast, (correction, p, p_holm), (alpha, step), room, tests=tests)
        for contrast, p, p_holm, step, room in zip(untested, adjusted, by_holm, steps, critical, strict=True)
    ]


def holm_of_pairs(pairs: Sequence[tuple[Sample, Sample]], score: str) -> list[float | None]:
    """Return the Holm-adjusted p-value of each pair of systems; None if a score is undefined.

    The result equals `p_holm` of `contrasts` with one family per pair, but is faster to compute for many pairs. The
    samples of a pair must have the same units.
    """
    statistics = [
        (Statistic.scores(first, [score], "micro"), Statistic.scores(second, [score], "micro"))
        for first, second in pairs
    ]
    return holm(p_for_holm(statistics, alpha=threshold(LEVEL), seed=0))


def _difference(
    contrast: tuple[float, int | None, Swaps],
    corrected: tuple[Correction, float | None, float | None],
    levels: tuple[float, float],
    critical: float,
    *,
    tests: int,
) -> Difference:
    """Return the result of a test, given alpha and the level of its step in Holm's correction.

    p is at least its smallest p times the number of `tests`.
    """
    estimate, clusters, test = contrast
    alpha, step = levels
    correction, p_adjusted, p_holm = corrected
    low = high = detectable = None
    significant = p_adjusted is not None and p_adjusted <= alpha + ROUNDING
    notes: tuple[str, ...] = ()
    if test.p is not None:
        if test.spread.equal:
            low, high = -test.spread.unseen(step), test.spread.unseen(step)
        else:
            low, high = test.spread.ends(estimate, critical)
        if not significant:  # rounding errors must not exclude 0
            low, high = (0.0 if abs(end) <= ROUNDING else end for end in (low, high))
            low, high = min(low, 0.0), max(high, 0.0)
        if test.differing and test.smallest_p * tests <= alpha + ROUNDING:
            detectable = test.spread.detectable(estimate, critical)
    if not test.differing:
        equal = "The systems have the same score on every document."
        notes = (equal if clusters is None else "The systems have the same score in every cluster.",)
    return Difference(
        estimate=None if np.isnan(estimate) else estimate,
        low=low,
        high=high,
        level=1.0 - alpha,
        method="swaps",
        clusters=clusters,
        p=test.p,
        p_adjusted=p_adjusted,
        p_holm=p_holm,
        correction=correction,
        significant=significant,
        detectable=detectable,
        smallest_p=test.smallest_p,
        exact=test.exact,
        differing=test.differing,
        swaps=test.tried,
        notes=notes,
    )


def _check_same(sample_a: Sample, sample_b: Sample) -> None:
    if sample_a.keys == sample_b.keys and np.array_equal(sample_a.starts, sample_b.starts):
        return
    other = sorted(set(sample_a.keys) ^ set(sample_b.keys))
    if not other:
        raise different_clusters("both systems")
    raise DataError.of(
        f"Expected both systems to have the same documents, got {len(other)} that only one system has, such as "
        f"{other[0]!r}",
        hint="Compare only documents that both systems include. Count documents without a prediction as failures.",
    )


def different_clusters(compared: str) -> DataError:
    """Return the error about the clusters of two systems or evaluations."""
    return DataError.of(
        f"Expected {compared} to have the same clusters of documents, got different ones",
        hint="Evaluate both with the same --cluster-by (`cluster_by` in Python), or both without it.",
    )


def threshold(level: float) -> float:
    """Return alpha for a confidence level. A difference is significant if its adjusted p is at most alpha.

    >>> threshold(0.95)
    0.05
    """
    check_level(level)
    return round(1.0 - level, 12)


def _holm_with_levels(pvalues: Sequence[float | None], alpha: float) -> tuple[list[float | None], list[float]]:
    """Return the p adjusted by Holm, and the level at which each test is decided.

    p <= level is equivalent to adjusted p <= alpha. The smallest of m p is compared with alpha / m, the next with
    alpha / (m - 1), and so on until one is not rejected; all others are compared with the level of that one.
    """
    known = sorted((p, place) for place, p in enumerate(pvalues) if p is not None)
    levels, left, failed = [alpha] * len(pvalues), len(known), False
    for p, place in known:
        levels[place] = alpha / left
        failed = failed or p > alpha / left + ROUNDING
        left = left if failed else max(left - 1, 1)
    return holm(pvalues), levels


def holm(pvalues: Sequence[float | None]) -> list[float | None]:
    """Adjust the p of several tests to control the family-wise error rate (Holm, 1979).

    Args:
        pvalues: The p of each test, in [0, 1]. None does not count as a test.

    Returns:
        Adjusted p in the same order; None stays None.

    Raises:
        DataError: A p is not in [0, 1].

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    places = [place for place, p in enumerate(pvalues) if p is not None]
    known = np.array([p for p in pvalues if p is not None], dtype=np.float64)
    if not ((known >= 0.0) & (known <= 1.0)).all():
        raise DataError.of(
            f"Expected every p to be in [0, 1], got {known.tolist()}", hint="Pass the unadjusted p of the tests."
        )
    order = np.argsort(known, kind="stable")
    raised = np.maximum.accumulate(known[order] * np.arange(len(known), 0, -1))
    adjusted: list[float | None] = [None] * len(pvalues)
    for place, p in zip(order.tolist(), np.minimum(raised, 1.0).tolist(), strict=True):
        adjusted[places[place]] = p
    return adjusted


def groups(adjusted: npt.ArrayLike, *, level: float = 0.05) -> tuple[tuple[int, ...], ...]:
    """Return the largest sets of systems in which no two differ significantly.

    These are the maximal cliques, found by insertion and absorption (Piepho, 2004). A system may be in several sets.

    Args:
        adjusted: Adjusted p of every pair, shape (systems, systems), on one or both sides of the diagonal. None and NaN
            count as no difference.
        level: Two systems differ if p <= `level`.

    Returns:
        Indices of the systems of each set, in ascending order.

    Raises:
        DataError: The matrix is not square.

    >>> groups([[None, 0.2, 0.01], [0.2, None, 0.3], [0.01, 0.3, None]])
    ((0, 1), (1, 2))
    """
    matrix = np.asarray(adjusted, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:  # noqa: PLR2004
        raise DataError.of(
            f"Expected a square matrix of p, got shape {matrix.shape}", hint="Pass one row and one column per system."
        )
    differ = np.triu((matrix <= level) | (matrix <= level).T, 1)
    sets = {frozenset(range(len(matrix)))}
    for pair in map(frozenset, np.argwhere(differ).tolist()):
        parts = {group - {member} for group in sets if pair <= group for member in pair}
        sets = {group for group in sets if not pair <= group}
        sets |= {part for part in parts if not any(part <= group for group in sets)}
    return tuple(sorted(tuple(sorted(group)) for group in sets if group))
