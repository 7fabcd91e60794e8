"""Samples: corpora as columns, with scores as functions of column sums.

`Sample` holds the documents, `Statistic` computes scores of all resamples of a sample at once, `scored` computes every
score of many tallies, and `means` the mean scores of documents. Below are the clusters of documents that are resampled
together, and scores by name, including `fq(beta)`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import regex

from arbitre.arrays import exact_sum, exact_sums
from arbitre.errors import DataError, OptionError, did_you_mean
from arbitre.options import Average
from arbitre.refused_coefficients import check_not_agreement
from arbitre.storage.columns import LazySequence, StringArray
from arbitre.tally import COUNTS, NAMES, MacroScores
from arbitre.values import PATTERN_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.tally import Scores


COLUMNS: Final = ("gold", "predicted", "matched", "quality", "quality_sq")
"""Names of the columns of tallies."""

MASS_TOLERANCE: Final = 1e-6
"""Relative tolerance for rounding errors when a mass is compared with the mass that contains it."""

CHUNK_ROWS: Final = 1 << 12
"""Number of documents processed at once, which bounds memory. Computing the intervals of 100,000 documents takes
0.68 s; with chunks of a quarter of this size, it takes 1.06 s."""

SUMMED_ROWS: Final = 1 << 14
"""Number of documents whose contributions are summed at once."""


@dataclass(frozen=True, eq=False, slots=True)
class Sample:
    """The documents of one system, sorted by cluster and key so that results do not depend on the input order.

    A *unit* is resampled as a whole: a cluster or, without clusters, a document.

    Attributes:
        keys: Names of the documents.
        tallies: Gold, predicted and matched mass, quality mass and sum of squared qualities (NaN if unknown) of each
            document, shape (documents, 5).
        failed: Which documents failed, shape (documents,).
        starts: Index of the first document of each unit, shape (units,).
        clustered: Whether the units are clusters.
        runs: Whether the clusters are the runs of one document, which share an id.
    """

    keys: Sequence[str]
    tallies: Floats
    failed: Mask
    starts: Indices
    clustered: bool
    runs: bool = False

    @classmethod
    def of(
        cls,
        keys: Iterable[str],
        tallies: npt.ArrayLike,
        failed: Sequence[bool] | Mask | None = None,
        clusters: Sequence[str] | Sequence[int] | None = None,
        *,
        runs: bool = False,
    ) -> Sample:
        """Create a sample from documents in any order.

        Args:
            keys: Names of the documents.
            tallies: Tallies, shape (documents, 5). A row is `dataclasses.astuple` of a Tally.
            failed: Which documents failed, shape (documents,); by default none.
            clusters: Cluster label of each document; None if each document is a unit.
            runs: Whether the clusters are the runs of one document.

        Raises:
            DataError: A key is repeated, columns have different lengths, a label is missing, or a mass is negative, not
                finite or greater than a mass that contains it: `matched` is at most `gold` and `predicted`, and the
                sums of the qualities and of their squares are at most `matched`.

        >>> sample = Sample.of(["b", "a"], [(4, 5, 4, 3.03, 2.4), (1, 0, 0, 0, 0)], clusters=["page 1", "page 1"])
        >>> list(sample.keys), sample.clusters
        (['a', 'b'], 1)
        """
        names = keys if isinstance(keys, LazySequence) else list(keys)
        size, rows = len(names), np.asarray(tallies, dtype=np.float64)
        rows = rows if rows.size or size else rows.reshape(0, 5)
        flags = np.zeros(size, dtype=np.bool_) if failed is None else np.asarray(failed, dtype=np.bool_)
        _check(names, rows, flags, clusters)
        is_sorted, starts = is_increasing(names), np.arange(size, dtype=np.intp)
        if is_sorted and clusters is None:  # without a copy of the documents
            held = names if isinstance(names, StringArray) else StringArray.of(names)
            return cls(held, rows, flags, starts, clustered=False, runs=runs)
        names = list(names)
        order = np.array(sorted(range(size), key=names.__getitem__), dtype=np.intp)
        _check_keys([names[at] for at in order])
        if clusters is not None:
            codes = np.unique(np.asarray(clusters)[order], return_inverse=True)[1]
            by_cluster = np.argsort(codes, kind="stable")
            order, starts = order[by_cluster], np.flatnonzero(np.diff(codes[by_cluster], prepend=-1))
        held = StringArray.of(names[at] for at in order)
        return cls(held, rows[order], flags[order], starts, clusters is not None, runs)

    @property
    def units(self) -> int:
        """Number of units."""
        return len(self.starts)

    @property
    def clusters(self) -> int | None:
        """Number of clusters; None if each document is a unit."""
        return self.units if self.clustered else None


def _check(keys: Sequence[str], rows: Floats, flags: Mask, clusters: Sequence[str] | Sequence[int] | None) -> None:
    size = len(keys)
    if rows.shape != (size, 5):
        raise DataError.of(
            f"Expected `tallies` to have shape ({size}, 5), one row per key, got {rows.shape}",
            hint=f"A row is {', '.join(COLUMNS)}.",
        )
    for chunk in chunks(size):
        usable = np.isfinite(rows[chunk]) & (rows[chunk] >= 0.0)
        usable[:, 4] |= np.isnan(rows[chunk, 4])
        if not usable.all():
            document, column = np.argwhere(~usable)[0]
            at = chunk.start + document
            raise DataError.of(
                f"Expected masses to be finite and not negative, got {rows[at, column]} in {keys[at]!r}",
                hint="Only the sum of squares may be unknown (NaN).",
            )
        _check_order(keys, rows, chunk)
    for name, column in (("failed", flags), ("clusters", clusters)):
        if column is not None and len(column) != size:
            raise DataError.of(
                f"Expected `{name}` to have one value per key ({size}), got {len(column)}",
                hint="Pass one value per document.",
            )
    if clusters is not None and any(label is None for label in clusters):
        raise DataError.of(
            "Expected a cluster for every document, got None",
            hint="Give a document that belongs to no cluster a unique label.",
        )


def _check_order(keys: Sequence[str], rows: Floats, chunk: slice) -> None:
    """Raise DataError if a mass of a document is greater than a mass that contains it.

    The sum of squares may be greater than that of the qualities: the quality of a debiased transport plan is not the
    sum of the qualities of its pairs.
    """
    for part, whole in ((2, 0), (2, 1), (3, 2), (4, 2)):
        most = rows[chunk, whole] * (1.0 + MASS_TOLERANCE)
        beyond = np.flatnonzero(rows[chunk, part] > most)
        if len(beyond):
            row, key = rows[chunk][beyond[0]], keys[chunk.start + int(beyond[0])]
            raise DataError.of(
                f"Expected `{COLUMNS[part]}` to be at most `{COLUMNS[whole]}`, got {row[part]:g} and {row[whole]:g} in "
                f"{key!r}",
                hint=f"A row is {', '.join(COLUMNS)}.",
            )


def is_increasing(keys: Iterable[str]) -> bool:
    """Return whether each key is greater than the one before; then all are different."""
    return all(key < following for key, following in pairwise(keys))


def _check_keys(ordered: Sequence[str]) -> None:
    for key, following in pairwise(ordered):
        if key == following:
            raise DataError.of(
                f"Expected keys of documents to be unique, got {key!r} {ordered.count(key)} times",
                hint="The key of a document is its id or, if it has a run, `id/run`. Rename an id or a run.",
            )


_USED: Final = {
    "precision": (1, 2),
    "recall": (0, 2),
    "f1": (0, 1, 2),
    "imq": (1, 3),
    "irq": (0, 3),
    "f1q": (0, 1, 3),
    "amq": (2, 3),
    "omq": (0, 1, 2, 3),
    "omq_imq": (0, 1, 2, 3),
    "quality": (0, 1, 2, 3),
    "variance": (2, 3, 4),
}
"""Columns of a tally on which each score depends."""

_MASS: Final = {
    "precision": (0, 1, 0),
    "recall": (1, 0, 0),
    "imq": (0, 1, 0),
    "irq": (1, 0, 0),
    "amq": (0, 0, 1),
    "quality": (1, 1, -1),
    "variance": (0, 0, 1),
}
"""Weights of gold, predicted and matched in the mass of a unit in each score; (1, 1, 0) for other scores."""


@dataclass(frozen=True, eq=False, slots=True)
class Statistic:
    """Scores as a function of sums over units. The sums of many resamples are one matrix product.

    Attributes:
        size: Number of units.
        rows: Returns the contributions of a slice of the units, shape (units, columns).
        total: Correctly rounded sum over all documents, shape (columns,).
        of: Converts sums, shape (..., columns), to scores, shape (..., names); NaN if undefined.
        masses: Converts units, shape (units, columns), to their masses in each score, shape (units, names).
        used: Columns on which the scores depend.
    """

    size: int
    rows: Callable[[slice], Floats]
    total: Floats
    of: Callable[[Floats], Floats]
    masses: Callable[[Floats], Floats]
    used: Sequence[int]

    @property
    def units(self) -> Floats:
        """Contribution of each unit, shape (units, columns)."""
        return self.rows(slice(None))

    @classmethod
    def scores(cls, sample: Sample, names: Sequence[str], average: Average, *, held: bool = True) -> Statistic:
        """Create the statistic of the scores in `names`. Raises DataError if a name or `average` is unknown.

        If `held` is false and documents are not clustered, contributions to means are computed on access, which saves
        16 bytes of memory per document and score.
        """
        for name in names:
            check_option("score", name, NAMES)
        check_option("average", average, get_args(Average))
        width = len(names)
        used = sorted({column for name in names for column in _USED[name]})
        of: Callable[[Floats], Floats] = lambda sums: scored(sums, names)  # noqa: E731
        weights = np.array([_MASS.get(name, (1, 1, 0)) for name in names], dtype=np.float64)
        masses: Callable[[Floats], Floats] = lambda units: (units[:, None, :3] * weights).sum(axis=-1)  # noqa: E731
        rows: Callable[[slice], Floats] = lambda part: sample.tallies[part]  # noqa: E731
        if average == "macro":
            used = list(range(2 * width))
            rows = lambda part: contributions(sample.tallies[part], sample.failed[part], names)  # noqa: E731
            of = lambda sums: ratio(sums[..., :width], sums[..., width:])  # noqa: E731
            masses = lambda units: units[:, width:]  # noqa: E731
        parts = map(rows, chunks(len(sample.tallies), SUMMED_ROWS))
        total = exact_sums(parts, 2 * width if average == "macro" else sample.tallies.shape[1])
        if held or sample.clustered:
            columns = rows(slice(None))
            units = np.add.reduceat(columns, sample.starts, axis=0) if sample.clustered else columns
            rows = lambda part: units[part]  # noqa: E731
        return cls(sample.units, rows, total, of, masses, used)

    def minus(self, other: Statistic) -> Statistic:
        """Return the difference of two statistics of the same units, which are resampled together."""
        width = len(self.total)
        return Statistic(
            self.size,
            lambda part: np.hstack([self.rows(part), other.rows(part)]),
            np.hstack([self.total, other.total]),
            lambda sums: self.of(sums[..., :width]) - other.of(sums[..., width:]),
            lambda units: self.masses(units[:, :width]) + other.masses(units[:, width:]),
            [*self.used, *(width + column for column in other.used)],
        )


def check_option(option: str, value: str, known: Sequence[str]) -> None:
    """Raise OptionError if the value of an option is unknown."""
    if value not in known:
        raise OptionError.of(
            f"Expected `{option}` to be a known name, got {value!r}", hint=did_you_mean(str(value), known)
        )


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide elementwise, arrays of shape (...,). The result is NaN where the denominator is 0."""
    quotients: Floats = np.full(denominator.shape, np.nan)
    np.divide(numerator, denominator, out=quotients, where=denominator > 0.0)
    return quotients


def scored(tallies: Floats, names: Sequence[str] = NAMES) -> Floats:
    """Compute scores of many tallies.

    Args:
        tallies: Tallies, shape (..., 5), with the columns of a Sample.
        names: Names of the scores; by default all in `arbitre.tally.NAMES`.

    Returns:
        Scores, shape (..., names); NaN if undefined.

    >>> scored(np.array([[4, 5, 4, 3.03, 2.4], [0, 1, 0, 0, 0]]), ["irq"]).tolist()
    [[0.7575], [nan]]
    """
    columns = np.moveaxis(tallies, -1, 0)
    # one score after the other in memory: the layout decides in which order NumPy adds the scores of documents
    return np.moveaxis(np.stack([_FORMULAS[name](*columns) for name in names]), 0, -1)


def _quality(gold: Floats, predicted: Floats, matched: Floats, quality: Floats, _: Floats) -> Floats:
    union = gold + predicted - matched
    return np.where(union > 0.0, ratio(quality, union), 1.0)


def _variance(_gold: Floats, _predicted: Floats, matched: Floats, quality: Floats, squares: Floats) -> Floats:
    amq = ratio(quality, matched)
    return np.maximum(0.0, ratio(squares, matched) - amq * amq)


_FORMULAS: Final[Mapping[str, Callable[..., Floats]]] = {
    "precision": lambda _n, m, k, _q, _s: ratio(k, m),
    "recall": lambda n, _m, k, _q, _s: ratio(k, n),
    "f1": lambda n, m, k, _q, _s: ratio(2.0 * k, n + m),
    "imq": lambda _n, m, _k, q, _s: ratio(q, m),
    "irq": lambda n, _m, _k, q, _s: ratio(q, n),
    "f1q": lambda n, m, _k, q, _s: ratio(2.0 * q, n + m),
    "amq": lambda _n, _m, k, q, _s: ratio(q, k),
    "omq": lambda n, m, k, q, _s: _harmonic(ratio(k, m), ratio(k, n), ratio(q, k)),
    "omq_imq": lambda n, m, k, q, _s: _harmonic(ratio(q, m), ratio(k, n), ratio(q, k)),
    "quality": _quality,
    "variance": _variance,
}
"""Functions of gold (n), predicted (m), matched (k), quality (q) and the sum of squared qualities (s)."""


def contributions(tallies: Floats, failed: Mask, names: Sequence[str]) -> Floats:
    """Compute the contributions of documents to the macro scores.

    Every score of a failed document is 0. A document that is empty on both sides contributes to no mean.

    Args:
        tallies: Tallies, shape (documents, 5).
        failed: Which documents failed, shape (documents,).
        names: Names of the scores; w of them.

    Returns:
        Scores, with 0 for undefined scores, then 1 for each defined score and 0 for the others; shape (documents, 2w).
    """
    columns = np.empty((len(tallies), 2 * len(names)))
    for chunk in chunks(len(columns)):
        values = _document_scores(tallies[chunk], failed[chunk], names, "macro")
        known = ~np.isnan(values)
        columns[chunk] = np.hstack([np.where(known, values, 0.0), known])
    return columns


def _document_scores(tallies: Floats, failed: Mask, names: Sequence[str], average: Average) -> Floats:
    """Return the scores of documents, shape (documents, names); NaN if undefined, such as if both sides are empty."""
    values = scored(tallies, names)
    values[~tallies[:, :2].any(axis=1)] = np.nan
    if average == "macro":
        values[failed] = 0.0
    return values


@dataclass(frozen=True, slots=True)
class SampleSize:
    """Numbers of documents and clusters that an interval or a test is based on.

    Attributes:
        documents: Number of documents with a defined score.
        clusters: Number of clusters with such a document; None if each document is a unit.
        runs: Whether the clusters are the runs of one document.
    """

    documents: int
    clusters: int | None
    runs: bool

    @property
    def units(self) -> int:
        """Number of units with a defined score."""
        return self.documents if self.clusters is None else self.clusters


def sample_sizes(samples: Sequence[Sample], names: Sequence[str], average: Average) -> list[SampleSize]:
    """Count the documents and clusters in which a score is defined, for each score.

    Args:
        samples: Samples of the same documents, one or more. A score that is defined in any of them counts.
        names: Names of the scores.
        average: micro or macro. With macro, every score of a failed document is 0.

    >>> sample = Sample.of(["a", "b"], [(1, 0, 0, 0, 0), (0, 0, 0, 0, 0)])
    >>> [size.documents for size in sample_sizes([sample], ["irq", "imq"], "micro")]
    [1, 0]
    """
    first = samples[0]
    known = np.zeros((len(first.keys), len(names)), dtype=np.bool_)
    for sample in samples:
        for chunk in chunks(len(known)):
            known[chunk] |= ~np.isnan(_document_scores(sample.tallies[chunk], sample.failed[chunk], names, average))
    documents = known.sum(axis=0).tolist()
    if not first.clustered:
        return [SampleSize(number, None, first.runs) for number in documents]
    clusters = np.logical_or.reduceat(known, first.starts, axis=0).sum(axis=0).tolist()
    return [SampleSize(number, units, first.runs) for number, units in zip(documents, clusters, strict=True)]


SCORES_AT_ONCE: Final = 2
"""Number of scores whose moments are added at once.

NumPy adds a single column in another order than several: another number would change the last digit of `variance`.
"""


def score_groups() -> Iterator[tuple[str, ...]]:
    """Yield the names of all scores, a few at a time."""
    return (NAMES[start : start + SCORES_AT_ONCE] for start in range(0, len(NAMES), SCORES_AT_ONCE))


def chunks(size: int, rows: int = CHUNK_ROWS) -> Iterator[slice]:
    """Yield slices of at most this many rows, to bound the memory of intermediate arrays."""
    return (slice(start, start + rows) for start in range(0, size, rows))


def _harmonic(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return the harmonic mean, which is 0 if any term is 0, else NaN if any term is NaN."""
    with np.errstate(divide="ignore", over="ignore"):
        mean = 3.0 / (1.0 / a + 1.0 / b + 1.0 / c)
    return np.where((a == 0.0) | (b == 0.0) | (c == 0.0), 0.0, mean)


def means(tallies: Floats, failed: Mask) -> MacroScores:
    """Compute the mean scores of documents.

    Args:
        tallies: Tallies, shape (documents, 5).
        failed: Which documents failed, shape (documents,).

    >>> means(np.array([[2, 2, 2, 1, 0.5], [1, 0, 0, 0, 0]]), np.array([False, True])).f1q
    0.25
    """
    present = int(np.count_nonzero(tallies[:, :2].any(axis=1) | failed))
    sums = dict(zip(COUNTS, map(exact_sum, tallies.T), strict=False))  # without the sum of squares
    documents = dict.fromkeys(COUNTS, present)
    parts = (contributions(tallies[chunk], failed[chunk], NAMES) for chunk in chunks(len(tallies), SUMMED_ROWS))
    totals = exact_sums(parts, 2 * len(NAMES)).tolist()
    sums |= zip(NAMES, totals, strict=False)
    documents |= zip(NAMES, map(int, totals[len(NAMES) :]), strict=True)
    by_name = {name: sums[name] / number if number else None for name, number in documents.items()}
    return MacroScores(by_name, documents, len(tallies) - present, int(np.count_nonzero(failed)))


# Clusters: documents that are resampled together, such as one page read by three OCR engines.


Cluster: TypeAlias = str | Mapping[str, str] | Sequence[str] | None
"""Regular expression searched in ids, label by id, or label for every document in order; None clusters by id."""


def cluster_labels(ids: Sequence[str], cluster: Cluster) -> list[str] | None:
    r"""Return the cluster label of every document; None without clusters. Raises DataError if a document has none.

    >>> cluster_labels(["page_02", "page_03"], r"\d+"), cluster_labels(["a", "b"], {"a": "x", "b": "x"})
    (['02', '03'], ['x', 'x'])
    """
    if cluster is None:
        return None
    if isinstance(cluster, str):
        return list(_matched_labels(ids, cluster))
    if isinstance(cluster, Mapping):
        missing = [identity for identity in ids if identity not in cluster]
        if missing:
            raise DataError.of(f"Expected a cluster for every id, got no cluster for {missing[0]!r}")
        return [cluster[identity] for identity in ids]
    if len(cluster) != len(ids):
        raise DataError.of(f"Expected one cluster per document ({len(ids)}), got {len(cluster)}")
    return list(cluster)


def assign_clusters(ids: Sequence[str], cluster: Cluster) -> tuple[list[str] | None, bool]:
    """Return the cluster label of every document, and whether the clusters are the runs of one document.

    Without `cluster`, documents with the same id form a cluster. If all ids are unique, there are no labels (None).

    >>> assign_clusters(["a", "a", "b"], None), assign_clusters(["a", "b"], None)
    ((['a', 'a', 'b'], True), (None, False))
    """
    if cluster is None and not is_increasing(ids) and len(set(ids)) < len(ids):
        return list(ids), True
    return cluster_labels(ids, cluster), False


def _matched_labels(ids: Iterable[str], pattern: str) -> Iterable[str]:
    try:
        compiled = regex.compile(pattern)
    except regex.error as error:
        raise OptionError.of(
            f"Expected the cluster pattern to be a regular expression, got {pattern!r}: {error}",
            hint=r"Example: 'page_\d+'.",
        ) from error
    for identity in ids:
        try:
            match = compiled.search(identity, timeout=PATTERN_SECONDS)
        except TimeoutError as error:
            raise DataError.of(
                f"The cluster pattern {pattern!r} took more than {PATTERN_SECONDS:g} s on the id {identity!r}"
            ) from error
        if match is None:
            raise DataError.of(
                f"Expected the id to match the cluster pattern {pattern!r}, got {identity!r}",
                hint="The pattern must match every id.",
            )
        yield match[1] if compiled.groups else match[0]


# Scores by name. Only scores where higher is better can be selected.

HIGHER_IS_BETTER: Final = tuple(name for name in NAMES if name != "variance")
"""Names of scores where higher is better, except `fq(beta)`."""

_GRADED: Final = re.compile(r"fq\((\d+(?:\.\d+)?)\)")


def weigh_for_beta(sample: Sample, score: str) -> tuple[Sample, str]:
    """Express a score by one of `arbitre.tally.NAMES`.

    fq(beta) is the f1q of tallies in which gold has beta² times the weight of predicted.

    Returns:
        The sample, reweighted for fq(beta), and the name of the score.

    Raises:
        OptionError: The score is unknown or not one where higher is better.
    """
    beta = parse_beta(score)
    if beta is None:
        return sample, score
    weights = np.array([2.0 * beta * beta, 2.0, 1.0, 1.0, 1.0])
    weights[:2] /= 1.0 + beta * beta
    return replace(sample, tallies=sample.tallies * weights), "f1q"


def estimate(sample: Sample, score: str, average: Average) -> float | None:
    """Return one score of a sample; None if it is undefined."""
    chosen, name = weigh_for_beta(sample, score)
    statistic = Statistic.scores(chosen, [name], average)
    result = float(statistic.of(statistic.total)[0])
    return None if math.isnan(result) else result


def value(scores: Scores, score: str) -> float | None:
    """Return one of `scores` by its name; None if it is undefined."""
    beta = parse_beta(score)
    result: float | None = getattr(scores, score) if beta is None else scores.fq(beta)
    return result


def side_by_side(scores_by_name: Mapping[str, Mapping[str, Scores]], score: str) -> dict[str, dict[str, float | None]]:
    """Return one score by path and then by system or factor level.

    Args:
        scores_by_name: Scores by system or factor level, then by path.
        score: Name of the score.
    """
    paths = dict.fromkeys(path for scores in scores_by_name.values() for path in scores)
    return {
        path: {name: value(scores[path], score) for name, scores in scores_by_name.items() if path in scores}
        for path in paths
    }


def parse_beta(score: str) -> float | None:
    """Return the beta of `fq(beta)`; None for other scores where higher is better. Raises OptionError for others."""
    graded = _GRADED.fullmatch(score)
    if graded and (beta := float(graded[1])) > 0.0:
        return beta
    if score not in HIGHER_IS_BETTER:
        check_not_agreement(score, OptionError)
        raise OptionError.of(
            f"Expected a score where higher is better, got {score!r}",
            hint=did_you_mean(score, (*HIGHER_IS_BETTER, "fq(2)")),
        )
    return None
