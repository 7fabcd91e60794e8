"""Confidence intervals of corpus scores: in closed form (see `moments`) or by the bootstrap (Efron, 1979; 1987).

Tests check the bootstrap against `scipy.stats.bootstrap`, which draws the same resamples. SciPy's implementation is not
used because its jackknife takes quadratic time, a single undefined resample invalidates the interval, and it draws new
resamples for each score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import scipy

from arbitre.arrays import exact_dot, weighted_sums
from arbitre.errors import check_integer, check_level
from arbitre.options import Average
from arbitre.statistics.sample import Statistic, check_option, chunks, ratio, sample_sizes, score_groups
from arbitre.tally import NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.arrays import Floats
    from arbitre.statistics.sample import Sample, SampleSize


# Intervals in closed form, from the jackknife: Clopper-Pearson with an effective number of units, and Student's t.
#
# The jackknife linearises any function of sums (Efron and Stein, 1981). For a mean over documents, it gives the usual
# variance of the mean. For a ratio (a pooled score, or a mean over clusters of unequal size), it agrees with the
# delta method to first order and is slightly larger for few units.


PRIOR_UNITS: Final = 0.6
"""Number of units with the variance of scores 0 and 1 that the Clopper-Pearson interval adds to the observed ones.

More units cover rare failures better in small samples and widen every interval; `docs/statistics.md` shows both."""

SMALL: Final = 1e-12
"""Share of their sum below which masses count as rounding errors."""

TIE_TOLERANCE: Final = 1e-12
"""Maximum difference of scores that count as equal."""


class Moments(NamedTuple):
    """Sums over the units with a defined score, each of shape (names,)."""

    units: Floats
    """Number of units with a defined score."""
    variance: Floats
    """Jackknife variance of the estimate."""
    effective: Floats
    """Effective number of units, (sum of masses)² / sum of squared masses (Kish, 1965)."""
    graded: Floats
    """Number of units whose score is neither 0 nor the maximum; 0 if all units have the same score."""
    tied: Floats
    """1 if all units have the same score, else 0."""


def moments(statistic: Statistic, estimates: Floats, tops: Floats) -> Moments:
    """Compute the jackknife moments. O(units) time; memory does not grow with the number of units.

    Args:
        statistic: The statistic.
        estimates: Its value for the corpus, shape (names,).
        tops: Largest possible value of each score, shape (names,); the smallest is 0.
    """
    sums = np.zeros((5, len(estimates)))
    largest = np.zeros(len(estimates))
    for chunk in chunks(statistic.size):
        units = statistic.rows(chunk)
        scores = statistic.of(units)
        scored = ~np.isnan(scores) & np.any(units, axis=1, keepdims=True)
        deviations = estimates - statistic.of(left_out(statistic, units))
        deviations = np.where(scored & ~np.isnan(deviations), deviations, 0.0)
        masses = np.where(scored, statistic.masses(units), 0.0)
        graded = scored & (scores > TIE_TOLERANCE) & (scores < tops - TIE_TOLERANCE)
        parts = (scored, deviations**2, masses, masses**2, graded)
        sums += [part.sum(axis=0) for part in parts]
        largest = np.maximum(largest, np.abs(deviations).max(axis=0, initial=0.0))
    count, squares, mass, squared, between = sums
    effective = np.divide(mass**2, squared, out=count.copy(), where=squared > 0.0)
    variance = squares * (count - 1.0) / np.maximum(count, 1.0)
    tied = largest <= TIE_TOLERANCE
    return Moments(count, variance, effective, np.where(tied, 0.0, between), tied.astype(np.float64))


def left_out(statistic: Statistic, units: Floats) -> Floats:
    """Return the sums without each of some units in turn, shape (units, columns)."""
    rest: Floats = statistic.total - units
    rest[rest <= SMALL * statistic.total] = 0.0  # rounding errors must not make a denominator nonzero
    return rest


def t_ends(estimate: float, score_moments: Moments, at: int, level: float) -> tuple[float, float]:
    """Return the lower and upper end of Student's t interval of one score, which has at least two units."""
    if score_moments.tied[at]:
        return estimate, estimate
    quantile = scipy.special.stdtrit(score_moments.units[at] - 1.0, 0.5 + level / 2.0)
    half = quantile * np.sqrt(score_moments.variance[at])
    return float(estimate - half), float(estimate + half)


def binomial_ends(estimate: float, score_moments: Moments, at: int, level: float, top: float) -> tuple[float, float]:
    """Return the lower and upper end of the Clopper-Pearson interval with an effective number of units.

    Following Korn and Graubard (1998), the number of units is the number of scores of 0 and 1 that would have the same
    variance. With n units, of effective number k and mean m, the variance ratio is r = k variance / (m (1 - m)): 1 for
    scores 0 and 1, less if scores lie in between. Because the variance is estimated, r is multiplied by (t / z)², up to
    1. Then `PRIOR_UNITS` with ratio 1 are averaged with the g units whose score lies in between:
    r' = (g r + p) / (g + p). The effective number of units is k / r'. If all scores are 0 or 1, or all are equal,
    r' = 1.

    Args:
        estimate: The score of the corpus.
        score_moments: The moments of all scores. The score has at least two units.
        at: Index of the score in the moments.
        level: Confidence level, between 0 and 1.
        top: Largest possible value of the score; the smallest is 0.
    """
    units, effective = score_moments.units[at], score_moments.effective[at]
    graded, share = score_moments.graded[at], min(max(estimate / top, 0.0), 1.0)
    binary = share * (1.0 - share)
    ratio = effective * score_moments.variance[at] / (top * top * binary) if binary > 0.0 else 0.0
    observed = ratio * (units - 1.0) / units
    tail = 0.5 + level / 2.0
    widened = ratio * (scipy.special.stdtrit(max(effective - 1.0, 1.0), tail) / scipy.special.ndtri(tail)) ** 2
    ratio = max(observed, min(1.0, widened))
    ratio = max(observed, (graded * ratio + PRIOR_UNITS) / (graded + PRIOR_UNITS))
    size = effective / ratio
    right, wrong = share * size, (1.0 - share) * size
    low = scipy.special.betaincinv(right, wrong + 1.0, 1.0 - tail) if share > 0.0 else 0.0
    high = scipy.special.betaincinv(right + 1.0, wrong, tail) if share < 1.0 else 1.0
    return float(min(low * top, estimate)), float(max(high * top, estimate))


Method: TypeAlias = Literal["clopper-pearson", "t", "percentile", "bca"]
"""Method of a confidence interval.

- `clopper-pearson`: the exact interval of a share, for the number of scores 0 and 1 that have the same variance.
- `t`: Student's t with the jackknife variance.
- `percentile`: quantiles of the bootstrap distribution.
- `bca`: quantiles of the bootstrap distribution, corrected for bias and skewness.
"""

LEVEL: Final = 0.95
"""Default confidence level."""

METHOD: Final[Method] = "clopper-pearson"
"""Default method."""

RESAMPLES: Final = 2000
"""Default number of bootstrap resamples."""

FEW_UNITS: Final = 30
"""Minimum number of units for an interval without a warning."""

CHUNK_CELLS: Final = 1 << 20
"""Maximum number of weights drawn at once, unless a single resample needs more."""

DRAWN_CELLS: Final = 1 << 14
"""Maximum number of units drawn in one call, so that they fit in the cache. A single resample may need more."""

TOPS: Final = {"variance": 0.25}
"""Maximum of each score whose maximum is not 1."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Confidence interval of a score, with the corpus treated as a random sample of similar documents.

    Attributes:
        estimate: The score; None if it is undefined.
        low: Lower end; None if there is no interval, because there are too few units or because the score is undefined
            in the corpus or in every resample.
        high: Upper end, or None.
        level: Confidence level.
        method: Method that was used.
        resamples: Number of bootstrap resamples; 0 without the bootstrap.
        seed: Random seed.
        documents: Number of documents with a defined score.
        clusters: Number of clusters with such a document; None if each document is a unit.
        runs: Whether the clusters are the runs of one document.
        notes: Warnings.
    """

    estimate: float | None
    low: float | None
    high: float | None
    level: float
    method: Method
    resamples: int
    seed: int
    documents: int
    clusters: int | None
    runs: bool = False
    notes: tuple[str, ...] = ()


def interval(
    sample: Sample,
    score: str,
    *,
    average: Average = "micro",
    level: float = LEVEL,
    method: Method = METHOD,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """Compute the interval of one score. See `intervals` for the other arguments.

    >>> from arbitre.statistics import Sample
    >>> sample = Sample.of([f"{n:02}" for n in range(12)], [(4, 4, 4, 3 + n / 12, 2.5) for n in range(12)])
    >>> found = interval(sample, "irq")
    >>> round(found.low, 3), round(found.estimate, 3), round(found.high, 3)
    (0.788, 0.865, 0.922)
    """
    statistic = Statistic.scores(sample, [score], average)
    sizes = sample_sizes([sample], [score], average)
    return bounds(statistic, [score], sizes, level=level, method=method, resamples=resamples, seed=seed)[0]


def intervals(
    sample: Sample,
    *,
    average: Average = "micro",
    level: float = LEVEL,
    method: Method = METHOD,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Interval]:
    """Compute the interval of every score in `arbitre.tally.NAMES`.

    The units are documents or, if the sample has clusters, clusters. A single unit has no interval.

    `clopper-pearson` and `t` (see `moments`) do not resample. Intervals are clipped to the range of the score.

    The bootstrap draws as many units as there are, with replacement, and uses the same resamples for all scores. A
    resample in which a score is undefined is left out of the interval of that score. `percentile` follows Efron (1979).
    `bca` follows Efron (1987), with the acceleration from the jackknife. If the `bca` interval does not exist, the
    percentile interval is returned with a note.

    O(units) time and memory; O(resamples x units) time for the bootstrap.

    Args:
        sample: The documents.
        average: micro or macro.
        level: Confidence level.
        method: Method of the intervals.
        resamples: Number of bootstrap resamples.
        seed: Random seed of the bootstrap.

    Raises:
        OptionError: An option has an invalid value.
    """
    found: dict[str, Interval] = {}
    resampled = method not in {"clopper-pearson", "t"}
    for names in (NAMES,) if resampled else score_groups():  # resamples are drawn once
        statistic = Statistic.scores(sample, names, average, held=resampled)
        sizes = sample_sizes([sample], names, average)
        computed = bounds(statistic, names, sizes, level=level, method=method, resamples=resamples, seed=seed)
        found |= zip(names, computed, strict=True)
    return found


def intervals_to_dict(sample: Sample) -> dict[str, Any]:
    """Return the intervals of all scores with the default options, as a JSON-serialisable dictionary.

    The notes are those of `f1q`, and the numbers of units, documents and clusters those of its macro average. The same
    corpus always gives the same dictionary.
    """
    by_average = {average: intervals(sample, average=average) for average in get_args(Average)}
    first = by_average["macro"]["f1q"]
    return {
        "method": METHOD,
        "level": first.level,
        "resamples": first.resamples,
        "seed": first.seed,
        "units": first.documents if first.clusters is None else first.clusters,
        "documents": first.documents,
        "clusters": first.clusters,
        "runs": first.runs,
        "notes": list(dict.fromkeys(note for by_score in by_average.values() for note in by_score["f1q"].notes)),
        **{
            average: {name: {"low": one.low, "high": one.high} for name, one in by_score.items()}
            for average, by_score in by_average.items()
        },
    }


def check_bootstrap(level: float, method: str, resamples: int, seed: int) -> None:
    """Raise OptionError if an option of an interval is invalid."""
    check_level(level)
    check_option("method", method, get_args(Method))
    check_integer("resamples", resamples, least=1, hint=f"The default is {RESAMPLES}.")
    check_integer("seed", seed)


def bounds(
    statistic: Statistic,
    names: Sequence[str],
    sizes: Sequence[SampleSize],
    *,
    level: float,
    method: Method,
    resamples: int,
    seed: int,
) -> list[Interval]:
    """Compute the interval of each value of a statistic.

    Args:
        statistic: The statistic.
        names: Names of its scores.
        sizes: Number of documents and clusters in which each score is defined.
        level: Confidence level.
        method: Method of the intervals.
        resamples: Number of bootstrap resamples.
        seed: Random seed of the bootstrap.
    """
    check_bootstrap(level, method, resamples, seed)
    estimates = statistic.of(statistic.total)
    resampled = method in {"percentile", "bca"}
    results = (
        _bootstrapped(statistic, estimates, sizes, level=level, method=method, resamples=resamples, seed=seed)
        if resampled
        else _closed_form(statistic, estimates, names, sizes, level=level, method=method)
    )
    return [
        Interval(
            None if np.isnan(estimate) else estimate,
            low,
            high,
            level,
            used,
            resamples if resampled else 0,
            seed,
            size.documents,
            size.clusters,
            size.runs,
            (*_few_units_notes(size, statistic.size, used), *notes),
        )
        for estimate, size, (low, high, used, notes) in zip(estimates.tolist(), sizes, results, strict=True)
    ]


def _few_units_notes(size: SampleSize, units: int, method: Method) -> tuple[str, ...]:
    """Return a warning if the score is defined in few of the `units`."""
    what = "document" if size.clusters is None else "cluster"
    if size.units == 1:
        alone = f"A single {what}: the uncertainty of the score cannot be estimated."
        return (alone if units == 1 else f"The score is defined for only one of the {what}s: there is no interval.",)
    if not 0 < size.units < FEW_UNITS:
        return ()
    narrow = "take the interval as a rough guide" if method == METHOD else "the interval is probably too narrow"
    return (f"Fewer than {FEW_UNITS} {what}s ({size.units}): {narrow}.",)


_EndsAndNotes: TypeAlias = tuple[float | None, float | None, Method, tuple[str, ...]]


def _closed_form(
    statistic: Statistic,
    estimates: Floats,
    names: Sequence[str],
    sizes: Sequence[SampleSize],
    *,
    level: float,
    method: Method,
) -> Iterator[_EndsAndNotes]:
    tops = [TOPS.get(name, 1.0) for name in names]
    score_moments = moments(statistic, estimates, np.array(tops))
    for at, (top, estimate, size) in enumerate(zip(tops, estimates.tolist(), sizes, strict=True)):
        if np.isnan(estimate) or score_moments.units[at] < MIN_UNITS:
            yield None, None, method, ()
            continue
        what = "documents" if size.clusters is None else "clusters"
        if method == "t":
            low, high = t_ends(estimate, score_moments, at, level)
            seen = "the interval has no width"
        else:
            low, high = binomial_ends(estimate, score_moments, at, level, top)
            seen = "the interval is as wide as if all scores were 0 or 1"
        notes = (f"All {what} have the same score: {seen}.",) if score_moments.tied[at] else ()
        yield max(low, 0.0), min(high, top), method, notes


def _bootstrapped(
    statistic: Statistic,
    estimates: Floats,
    sizes: Sequence[SampleSize],
    *,
    level: float,
    method: Method,
    resamples: int,
    seed: int,
) -> Iterator[_EndsAndNotes]:
    resampled_scores = np.empty((0, len(estimates)))
    if statistic.size > 1:
        resampled_scores = statistic.of(_resampled(statistic.units, resamples, seed))
    for at, (estimate, values, size) in enumerate(zip(estimates.tolist(), resampled_scores.T, sizes, strict=True)):
        if size.units < MIN_UNITS:
            yield None, None, method, ()
            continue
        others = _left_out(statistic, at) if method == "bca" else np.empty(0)
        yield resampled_ends(estimate, values, others, level, method)


def _resampled(units: Floats, resamples: int, seed: int, cells: int = CHUNK_CELLS) -> Floats:
    """Return the sums of bootstrap resamples of the units, shape (resamples, columns), drawing `cells` at a time."""
    return np.concatenate([weighted_sums(weights, units) for weights in draws(len(units), resamples, seed, cells)])


def draws(size: int, resamples: int, seed: int, cells: int = CHUNK_CELLS) -> Iterator[Floats]:
    """Yield how often each unit occurs in each resample, in arrays of shape (resamples, size) of at most `cells` cells.

    The next array overwrites the one before.
    """
    generator = np.random.default_rng(seed)
    weights = np.empty((min(resamples, max(1, cells // size)), size))
    for start in range(0, resamples, len(weights)):
        block = weights[: resamples - start]
        for rows in np.array_split(block, min(len(block), -(-block.size // DRAWN_CELLS))):
            drawn = generator.integers(size, size=rows.shape)  # the same numbers as in a call for each row
            drawn += size * np.arange(len(rows))[:, None]
            rows[:] = np.bincount(drawn.ravel(), minlength=rows.size).reshape(rows.shape)
        yield block


def _left_out(statistic: Statistic, at: int) -> Floats:
    """Return one score without each unit in turn, shape (units,). Computed in chunks to save memory."""
    estimates = np.empty(statistic.size)
    for chunk in chunks(len(estimates)):
        estimates[chunk] = statistic.of(left_out(statistic, statistic.rows(chunk)))[..., at]
    return estimates


def resampled_ends(
    estimate: float, values: Floats, jackknife: Floats, level: float, method: Method, *, what: str = "score"
) -> _EndsAndNotes:
    """Return the ends of an interval, the method that was used, and notes.

    Args:
        estimate: The value in the corpus.
        values: The value in each resample; NaN if undefined. Shape (resamples,).
        jackknife: The value without each unit in turn, for `bca`; shape (units,).
        level: Confidence level.
        method: percentile or bca.
        what: What the notes call the value.
    """
    known = values[~np.isnan(values)]
    if np.isnan(estimate) or not known.size:
        return None, None, method, ()
    notes: tuple[str, ...] = ()
    if known.size < values.size:
        undefined = values.size - known.size
        notes = (f"The {what} is undefined in {undefined} of {values.size} resamples; these are left out.",)
    if np.ptp(known) <= TIE_TOLERANCE:
        return estimate, estimate, method, (*notes, f"Every resample has the same {what}.")
    tails = np.array([0.5 - level / 2, 0.5 + level / 2])
    if method == "bca":
        corrected = _corrected(tails, estimate, known, jackknife[~np.isnan(jackknife)])
        if corrected is None:
            method = "percentile"
            notes = (*notes, "The bca interval does not exist for these documents; this is the percentile interval.")
        else:
            tails = corrected
    low, high = np.quantile(known, tails).tolist()
    return low, high, method, notes


def _corrected(tails: Floats, estimate: float, values: Floats, jackknife: Floats) -> Floats | None:
    """Return the tails of the BCa interval (Efron, 1987), or None if it does not exist. Ties count half."""
    below = np.count_nonzero(values < estimate - TIE_TOLERANCE)
    above = np.count_nonzero(values > estimate + TIE_TOLERANCE)
    bias = scipy.special.ndtri(0.5 + 0.5 * (below - above) / values.size)
    away = jackknife.mean() - jackknife if jackknife.size else jackknife
    spread = exact_dot(away, away) ** 1.5
    acceleration = (away**3).sum() / (6.0 * spread) if spread > 0.0 else 0.0
    shifted = bias + scipy.special.ndtri(tails)
    stretched = 1.0 - acceleration * shifted
    if not np.isfinite(bias) or (stretched <= 0.0).any():
        return None
    return np.asarray(scipy.special.ndtr(bias + shifted / stretched), dtype=np.float64)


# Confidence intervals of single documents, whose units are entries: a ratio estimator (Cochran, 1977, ch. 6).


MIN_UNITS: Final = 2.0
"""Minimum number of units for an interval."""

VARIANCE_TOLERANCE: Final = 1e-12
"""Share of its terms below which a sum of squares counts as 0."""


def document_intervals(tallies: Floats, level: float = LEVEL, *, units: Floats | None = None) -> Floats:
    """Compute an interval for the f1q of each document, for other entries of the same kind.

    The *units* of a document are its matched pairs, which add 2q to the numerator of f1q and 2 to its denominator, and
    its unmatched entries, which add 0 and 1. Units are treated as independent. The variance is that of the linearised
    ratio; the quantile is that of Student's t with (number of units - 1) degrees of freedom.

    The interval does not apply to other documents. It is too narrow for few entries, especially if nearly all of them
    are correct. If all units have the same quality, both ends equal f1q.

    Args:
        tallies: Masses, shape (documents, 5): gold, predicted, matched, quality mass and sum of squared qualities, as
            in a Sample. A common factor does not change the interval.
        level: Confidence level.
        units: Number of units of each document, shape (documents,). By default gold + predicted - matched, which is
            correct if masses are counts, such as numbers of list items. Pass it if masses are not counts, such as sums
            of weights; all units of a document then have equal weight.

    Returns:
        Lower and upper ends, shape (documents, 2), in [0, 1]; NaN if there are fewer than two units or the sum of
        squares is unknown.

    >>> tallies = np.array([[4, 5, 4, 3.03, 2.3549], [2, 2, 2, 2, 2], [1, 1, 1, 0.5, 0.25]])
    >>> document_intervals(tallies).round(4).tolist()
    [[0.3638, 0.9829], [1.0, 1.0], [nan, nan]]
    >>> document_intervals(1e6 * tallies, units=np.array([5.0, 2.0, 1.0])).round(4).tolist()
    [[0.3638, 0.9829], [1.0, 1.0], [nan, nan]]
    """
    gold, predicted, matched, quality, squares = tallies.T
    both_sides, mass = gold + predicted, gold + predicted - matched
    count = mass if units is None else units
    f1q = ratio(2.0 * quality, both_sides)
    terms = 4.0 * squares + f1q * f1q * (both_sides + 2.0 * matched)
    residuals = terms - 8.0 * f1q * quality
    residuals[residuals <= VARIANCE_TOLERANCE * terms] = 0.0
    free = np.where(count >= MIN_UNITS, count - 1.0, np.nan)
    half = scipy.special.stdtrit(free, 0.5 + level / 2.0) * np.sqrt(residuals * mass / free) / both_sides
    ends: Floats = np.stack([f1q - half, f1q + half], axis=-1).clip(0.0, 1.0)
    return ends
