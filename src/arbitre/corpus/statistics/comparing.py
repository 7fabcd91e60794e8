"""Two systems on the same documents, and several: differences, adjusted p, groups that cannot be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.corpus.statistics.resampling import CELLS, LEVEL, RESAMPLES, TIE, Interval, bootstrap
from arbitre.corpus.statistics.sample import Statistic
from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from arbitre.corpus.statistics.resampling import Method
    from arbitre.corpus.statistics.sample import Average, Floats, Sample

ENUMERATED: Final = 16
"""With at most so many units, every way of swapping the systems is tried (2^16 = 65536, half of them opposite)."""


@dataclass(frozen=True, slots=True)
class Difference(Interval):
    """The score of one system less that of another, its interval, and how often chance alone makes as much of it.

    `p` is two-sided, in (0, 1], None where the difference is undefined; `smallest_p` the smallest that so many
    documents (or clusters, or swaps tried) can give; `exact` says whether every way of swapping was tried.
    """

    p: float | None = None
    smallest_p: float = 1.0
    exact: bool = False


def paired(
    sample_a: Sample,
    sample_b: Sample,
    score: str,
    *,
    average: Average = "micro",
    level: float = LEVEL,
    method: Method = "percentile",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Difference:
    """The score of system a less that of system b on the same documents.

    The interval resamples both systems' documents (or clusters) together; p is that of approximate randomisation
    (Noreen, 1989): were the systems alike, their results on a unit could be swapped. Over every way of swapping, or
    `resamples` random ones, p is the share of differences at least as great in size, the observed one counted;
    a swap that leaves the difference undefined counts against it. (`scipy.stats.permutation_test` doubles the
    smaller tail instead, and makes a sample of every document.)

    Raises DataError where the samples differ in documents or clusters, or an option is not one of its values.

    >>> from arbitre.corpus.statistics import Sample
    >>> keys = list("abcde")
    >>> better = Sample.of(keys, [(4, 4, 4, 3.9, 3.8)] * 5)
    >>> worse = Sample.of(keys, [(4, 4, 4, 3.9 - n / 10, 3.5) for n in range(1, 6)])
    >>> found = paired(better, worse, "irq")
    >>> round(found.estimate, 3), found.p, found.smallest_p, found.exact
    (0.075, 0.0625, 0.0625, True)
    """
    if sample_a.keys != sample_b.keys or not np.array_equal(sample_a.starts, sample_b.starts):
        other = sorted(set(sample_a.keys) ^ set(sample_b.keys))
        raise DataError.of(
            "Expected both systems to have the same documents in the same clusters, got "
            + (f"{len(other)} that one lacks, such as {other[0]!r}" if other else "other clusters"),
            hint="Compare them on the documents that both have; one without a prediction is a failure.",
        )
    a, b = (Statistic.scores(sample, [score], average) for sample in (sample_a, sample_b))
    found = bootstrap(a.minus(b), sample_a, level=level, method=method, resamples=resamples, seed=seed)[0]
    exact = sample_a.units <= ENUMERATED
    tried = 2 ** max(sample_a.units - 1, 0) if exact else resamples  # a swap's complement has the opposite difference
    return Difference(
        found.estimate,
        found.low,
        found.high,
        found.level,
        found.method,
        found.resamples,
        found.seed,
        found.clusters,
        found.notes,
        p=None if found.estimate is None else _swapped(a, b, abs(found.estimate), tried, seed, exact=exact),
        smallest_p=1.0 / tried if exact else max(2.0 ** (1 - sample_a.units), 1.0 / (1.0 + tried)),
        exact=exact,
    )


def _swapped(a: Statistic, b: Statistic, observed: float, tried: int, seed: int, *, exact: bool) -> float:
    """The share of swaps that leave a difference at least as great as the observed one."""
    extreme = 0
    for swap in _every_swap(len(a.units), tried) if exact else _random_swaps(len(a.units), tried, seed):
        stay = 1.0 - swap
        difference = a.of(stay @ a.units + swap @ b.units) - b.of(swap @ a.units + stay @ b.units)
        extreme += int(np.count_nonzero(~(np.abs(difference) < observed - TIE)))  # nan is not smaller either
    return extreme / tried if exact else (1.0 + extreme) / (1.0 + tried)


def _every_swap(units: int, ways: int) -> Iterator[Floats]:
    yield (np.arange(ways)[:, None] >> np.arange(units) & 1).astype(np.float64)


def _random_swaps(units: int, tried: int, seed: int) -> Iterator[Floats]:
    generator = np.random.default_rng((seed, 1))  # not the draws of the interval again
    rows = max(1, CELLS // units)
    for start in range(0, tried, rows):
        yield generator.integers(2, size=(min(rows, tried - start), units), dtype=np.uint8).astype(np.float64)


def holm(pvalues: Sequence[float | None]) -> list[float | None]:
    """The p of several tests, adjusted so that the chance of any false finding is kept (Holm, 1979).

    In the order given; None stays None and does not count as a test. Raises DataError where a p is not in [0, 1].

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    places = [place for place, p in enumerate(pvalues) if p is not None]
    known = np.array([p for p in pvalues if p is not None], dtype=np.float64)
    if not ((known >= 0.0) & (known <= 1.0)).all():
        raise DataError.of(
            f"Expected every p to be in [0, 1], got {known.tolist()}", hint="Pass p as the tests give them."
        )
    order = np.argsort(known, kind="stable")
    raised = np.maximum.accumulate(known[order] * np.arange(len(known), 0, -1))
    adjusted: list[float | None] = [None] * len(pvalues)
    for place, p in zip(order.tolist(), np.minimum(raised, 1.0).tolist(), strict=True):
        adjusted[places[place]] = p
    return adjusted


def groups(adjusted: npt.ArrayLike, *, level: float = 0.05) -> tuple[tuple[int, ...], ...]:
    """The largest sets of systems in which no two differ: maximal cliques, by insertion and absorption (Piepho, 2004).

    `adjusted` (systems, systems) holds the adjusted p of every pair, on either side of the diagonal or on both; None
    or nan is no difference, p <= level is one. A system may stand in several groups. Groups list indices in order.

    Raises DataError where the matrix is not square.

    >>> groups([[None, 0.2, 0.01], [0.2, None, 0.3], [0.01, 0.3, None]])
    ((0, 1), (1, 2))
    """
    matrix = np.asarray(adjusted, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:  # noqa: PLR2004
        raise DataError.of(
            f"Expected a square matrix of p, got the shape {matrix.shape}", hint="One row and column for each system."
        )
    differ = np.triu((matrix <= level) | (matrix <= level).T, 1)
    found = {frozenset(range(len(matrix)))}
    for pair in map(frozenset, np.argwhere(differ).tolist()):
        parts = {group - {one} for group in found if pair <= group for one in pair}
        found = {group for group in found if not pair <= group}
        found |= {part for part in parts if not any(part <= group for group in found)}
    return tuple(sorted(tuple(sorted(group)) for group in found if group))
