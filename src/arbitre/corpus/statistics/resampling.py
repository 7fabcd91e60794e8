"""Bootstrap intervals of the scores of a corpus (Efron, 1979; 1987).

`scipy.stats.bootstrap` is held against this in the tests and draws the same resamples. It is not used because its
jackknife takes quadratic time, one undefined resample voids its interval, and it draws anew for each score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np
import scipy

from arbitre.corpus.statistics.sample import Statistic, one_of, portions
from arbitre.errors import DataError
from arbitre.tally import NAMES

if TYPE_CHECKING:
    from arbitre.corpus.statistics.sample import Average, Floats, Sample

Method: TypeAlias = Literal["percentile", "bca"]
"""percentile: quantiles of the resampled scores; bca: the same, corrected for bias and skewness."""

LEVEL: Final = 0.95
RESAMPLES: Final = 2000
FEW: Final = 10
"""With fewer units than this a note warns of the interval."""

TIE: Final = 1e-12
"""Scores this near are equal."""

CELLS: Final = 1 << 20
"""So many weights are drawn at once, or those of one resample where these are more."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A score of a corpus, and between which values it would lie over corpora of documents like these.

    `estimate` is None where the score is undefined; `low` and `high` are, where nothing can be said: too few units,
    or a score undefined in the corpus or in every resample. `method` is the one that gave the interval; `clusters`
    the number of clusters drawn, None where documents were; `notes` say what to be careful about.
    """

    estimate: float | None
    low: float | None
    high: float | None
    level: float
    method: Method
    resamples: int
    seed: int
    clusters: int | None
    notes: tuple[str, ...] = ()


def interval(
    sample: Sample,
    score: str,
    *,
    average: Average = "micro",
    level: float = LEVEL,
    method: Method = "percentile",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """The interval of one score: see `intervals`.

    >>> from arbitre.corpus.statistics import Sample
    >>> sample = Sample.of([f"{n:02}" for n in range(12)], [(4, 4, 4, 3 + n / 12, 2.5) for n in range(12)])
    >>> found = interval(sample, "irq")
    >>> round(found.low, 3), round(found.estimate, 3), round(found.high, 3)
    (0.825, 0.865, 0.905)
    """
    statistic = Statistic.scores(sample, [score], average)
    return bootstrap(statistic, sample, level=level, method=method, resamples=resamples, seed=seed)[0]


def intervals(
    sample: Sample,
    *,
    average: Average = "micro",
    level: float = LEVEL,
    method: Method = "percentile",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Interval]:
    """The interval of every score of `arbitre.tally.NAMES`, from the same resamples.

    Documents are drawn with replacement, or clusters with all their documents, as many as there are. Resamples in
    which a score is undefined are left out of its interval. Equal documents give an interval of width 0, a single
    document or cluster none. `percentile` after Efron (1979), `bca` after Efron (1987) with the acceleration of the
    jackknife; where `bca` does not exist the interval is the percentile one and says so. O(resamples x units) time,
    O(units) room: the weights of all resamples are never there at once.

    Raises DataError where an option is not one of its values.
    """
    statistic = Statistic.scores(sample, NAMES, average)
    found = bootstrap(statistic, sample, level=level, method=method, resamples=resamples, seed=seed)
    return dict(zip(NAMES, found, strict=True))


def _check(level: float, method: str, resamples: int) -> None:
    if not 0.0 < level < 1.0:
        raise DataError.of(f"Expected `level` to be between 0 and 1, got {level}", hint="95 % is 0.95.")
    one_of("method", method, get_args(Method))
    if resamples < 1:
        raise DataError.of(
            f"Expected `resamples` to be a positive integer, got {resamples}", hint=f"{RESAMPLES} is usual."
        )


def bootstrap(
    statistic: Statistic, sample: Sample, *, level: float, method: Method, resamples: int, seed: int
) -> list[Interval]:
    """The interval of each value of a statistic of the units of `sample`."""
    _check(level, method, resamples)
    estimates = statistic.of(statistic.total)
    drawn = np.empty((0, len(estimates)))
    if sample.units > 1:
        drawn = statistic.of(_resampled(statistic.units, resamples, seed))
    found = []
    for at, (estimate, values) in enumerate(zip(estimates.tolist(), drawn.T, strict=True)):
        others = _left_out(statistic, at) if method == "bca" and sample.units > 1 else np.empty(0)
        low, high, used, notes = _ends(estimate, values, others, level, method)
        center = None if np.isnan(estimate) else estimate
        notes = (*_few(sample), *notes)
        found.append(Interval(center, low, high, level, used, resamples, seed, sample.clusters, notes))
    return found


def _few(sample: Sample) -> tuple[str, ...]:
    what = "cluster" if sample.clustered else "document"
    if sample.units == 1:
        return (f"A single {what}: nothing says how far the score can be trusted.",)
    if sample.units < FEW:
        return (f"Fewer than {FEW} {what}s ({sample.units}): the interval is probably too narrow.",)
    return ()


def _resampled(units: Floats, resamples: int, seed: int) -> Floats:
    """The sums of resamples of the units, shape (resamples, columns)."""
    generator = np.random.default_rng(seed)
    size, rows = len(units), min(resamples, max(1, CELLS // len(units)))
    sums, weights = np.empty((resamples, units.shape[1])), np.empty((rows, size))
    for start in range(0, resamples, rows):
        part = sums[start : start + rows]
        block = weights[: len(part)]
        for row in block:
            row[:] = np.bincount(generator.integers(size, size=size), minlength=size)
        np.matmul(block, units, out=part)
    return sums


def _left_out(statistic: Statistic, at: int) -> Floats:
    """One of the values (units,) without each unit. All of them at once would take more room than the units do."""
    found = np.empty(len(statistic.units))
    for some in portions(len(found)):
        rest = statistic.total - statistic.units[some]
        rest[rest <= TIE * statistic.total] = 0.0  # a denominator is 0 or it is not: rounding must not decide
        found[some] = statistic.of(rest)[..., at]
    return found


def _ends(
    estimate: float, values: Floats, jackknife: Floats, level: float, method: Method
) -> tuple[float | None, float | None, Method, tuple[str, ...]]:
    """The ends of an interval, the method that gave them, and what to be careful about."""
    known = values[~np.isnan(values)]
    if np.isnan(estimate) or not known.size:
        return None, None, method, ()
    notes: tuple[str, ...] = ()
    if known.size < values.size:
        undefined = values.size - known.size
        notes = (f"The score is undefined in {undefined} of {values.size} resamples, which are left out.",)
    if np.ptp(known) <= TIE:
        return estimate, estimate, method, (*notes, "Every resample has the same score.")
    tails = np.array([0.5 - level / 2, 0.5 + level / 2])
    if method == "bca":
        corrected = _corrected(tails, estimate, known, jackknife[~np.isnan(jackknife)])
        if corrected is None:
            method = "percentile"
            notes = (*notes, "The bca interval does not exist for these documents: this is the percentile one.")
        else:
            tails = corrected
    low, high = np.quantile(known, tails).tolist()
    return low, high, method, notes


def _corrected(tails: Floats, estimate: float, values: Floats, jackknife: Floats) -> Floats | None:
    """The tails of the BCa interval (Efron, 1987), ties counted half; None where it does not exist."""
    below = np.count_nonzero(values < estimate - TIE)
    above = np.count_nonzero(values > estimate + TIE)
    bias = scipy.special.ndtri(0.5 + 0.5 * (below - above) / values.size)
    away = jackknife.mean() - jackknife if jackknife.size else jackknife
    spread = (away @ away) ** 1.5
    acceleration = (away**3).sum() / (6.0 * spread) if spread > 0.0 else 0.0
    shifted = bias + scipy.special.ndtri(tails)
    stretched = 1.0 - acceleration * shifted
    if not np.isfinite(bias) or (stretched <= 0.0).any():
        return None
    return np.asarray(scipy.special.ndtr(bias + shifted / stretched), dtype=np.float64)
