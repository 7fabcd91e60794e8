"""A corpus as columns, and its scores as functions of sums of columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from arbitre.corpus.storage.exact_sum import exact_sum
from arbitre.corpus.storage.spill_array import spill_zeros
from arbitre.corpus.storage.string_array import StringArray
from arbitre.errors import DataError, did_you_mean
from arbitre.tally import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from arbitre.arrays import Floats, Indices, Mask


CHUNK_ROWS: Final = 1 << 10
"""Number of documents scored together, which bounds the memory of their scores."""

Average: TypeAlias = Literal["micro", "macro"]
"""micro: the scores of the summed tallies; macro: the means of the documents' scores."""


@dataclass(frozen=True, eq=False, slots=True)
class Sample:
    """The documents of one system, ordered by cluster and key: what follows from them depends on no other order.

    `keys` (documents,) name the documents; `tallies` (documents, 5) hold the gold, predicted and matched mass, the
    quality mass and the sum of the squared qualities of each (nan where that is not known), `failed` (documents,)
    which of them are failures. A *unit* is what is drawn as one: a cluster, or else a document; `starts` (units,) says
    where each begins.
    """

    keys: Sequence[str]
    tallies: Floats
    failed: Mask
    starts: Indices
    clustered: bool
    runs: bool = False
    """Whether the clusters are the runs of one document, which share an id."""

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
        """The documents in any order; `clusters` gives the label of each one's cluster, `runs` says that it is an id.

        `dataclasses.astuple` of a Tally is a row of `tallies`.

        Raises DataError where a key is repeated, a column has another length, a label is missing, or a mass is
        negative or not finite.

        >>> sample = Sample.of(["b", "a"], [(4, 5, 4, 3.03, 2.4), (1, 0, 0, 0, 0)], clusters=["page 1", "page 1"])
        >>> list(sample.keys), sample.clusters
        (['a', 'b'], 1)
        """
        names, rows = list(keys), np.asarray(tallies, dtype=np.float64)
        size = len(names)
        rows = rows if rows.size or size else rows.reshape(0, 5)
        flags = np.zeros(size, dtype=np.bool_) if failed is None else np.asarray(failed, dtype=np.bool_)
        _check(names, rows, flags, clusters)
        order = np.array(sorted(range(size), key=names.__getitem__), dtype=np.intp)
        _check_keys([names[at] for at in order])
        starts = np.arange(size, dtype=np.intp)
        if clusters is not None:
            codes = np.unique(np.asarray(clusters)[order], return_inverse=True)[1]
            grouped = np.argsort(codes, kind="stable")
            order, starts = order[grouped], np.flatnonzero(np.diff(codes[grouped], prepend=-1))
        clustered = clusters is not None
        return cls(StringArray.of(names[at] for at in order), rows[order], flags[order], starts, clustered, runs)

    @property
    def units(self) -> int:
        """How many clusters there are, or documents where these are drawn."""
        return len(self.starts)

    @property
    def clusters(self) -> int | None:
        """How many clusters are drawn; None where documents are."""
        return self.units if self.clustered else None


def _check(keys: Sequence[str], rows: Floats, flags: Mask, clusters: Sequence[str] | Sequence[int] | None) -> None:
    size = len(keys)
    if rows.shape != (size, 5):
        raise DataError.of(
            f"Expected `tallies` to be of shape ({size}, 5), one row for each key, got {rows.shape}",
            hint="A row is gold, predicted, matched, quality, quality_sq.",
        )
    usable = np.isfinite(rows) & (rows >= 0.0)
    usable[:, 4] |= np.isnan(rows[:, 4])
    if not usable.all():
        document, column = np.argwhere(~usable)[0]
        raise DataError.of(
            f"Expected masses to be finite and not negative, got {rows[document, column]} in {keys[document]!r}",
            hint="Only the sum of squares may be unknown (nan).",
        )
    for name, column in (("failed", flags), ("clusters", clusters)):
        if column is not None and len(column) != size:
            raise DataError.of(
                f"Expected `{name}` to have {size} values, one for each key, got {len(column)}",
                hint="Columns go document by document.",
            )
    if clusters is not None and any(label is None for label in clusters):
        raise DataError.of(
            "Expected a cluster for every document, got None",
            hint="Give a document that stands alone a label of its own.",
        )


def _check_keys(ordered: Sequence[str]) -> None:
    for one, other in pairwise(ordered):
        if one == other:
            raise DataError.of(
                f"Expected the key of a document to be its own, got {one!r} {ordered.count(one)} times",
                hint="Add the run to the id.",
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
"""The columns of a tally on which each score depends."""


@dataclass(frozen=True, eq=False, slots=True)
class Statistic:
    """Scores as a function of sums over documents: a resample is a row of weights, many are one matrix product.

    `units` (units, columns) is what each unit adds; `total` (columns,) the sum over all documents, correctly rounded;
    `of` takes sums (..., columns) to scores (..., names), nan where undefined; `masses` takes units (units, columns) to
    their masses in each score, shape (units, names) or (units, 1). `used` lists the columns on which the scores depend.
    """

    units: Floats
    total: Floats
    of: Callable[[Floats], Floats]
    masses: Callable[[Floats], Floats]
    used: Sequence[int]

    @classmethod
    def scores(cls, sample: Sample, names: Sequence[str], average: Average) -> Statistic:
        """The scores of `names`, micro or macro. Raises DataError where a name is not known."""
        for name in names:
            check_option("score", name, NAMES)
        check_option("average", average, get_args(Average))
        picked, width = [NAMES.index(name) for name in names], len(names)
        if average == "micro":
            used = sorted({column for name in names for column in _USED[name]})
            tallies, of = sample.tallies, lambda sums: scored(sums)[..., picked]
            return cls._summed(sample, tallies, of, lambda units: units[:, :1] + units[:, 1:2], used)
        columns = spill_zeros(len(sample.tallies), 2 * width)
        for some in chunks(len(columns)):
            values, known = known_of(sample.tallies[some], sample.failed[some])
            columns[some] = np.hstack([values[:, picked], known[:, picked]])
        of = lambda sums: ratio(sums[..., :width], sums[..., width:])  # noqa: E731
        return cls._summed(sample, columns, of, lambda units: units[:, width:], range(2 * width))

    @classmethod
    def _summed(
        cls,
        sample: Sample,
        columns: Floats,
        of: Callable[[Floats], Floats],
        masses: Callable[[Floats], Floats],
        used: Sequence[int],
    ) -> Statistic:
        units = np.add.reduceat(columns, sample.starts, axis=0) if sample.clustered else columns
        return cls(units, np.array([exact_sum(column) for column in columns.T]), of, masses, used)

    def minus(self, other: Statistic) -> Statistic:
        """The difference of two statistics of the same units, drawn together."""
        width = len(self.total)
        return Statistic(
            np.hstack([self.units, other.units]),
            np.hstack([self.total, other.total]),
            lambda sums: self.of(sums[..., :width]) - other.of(sums[..., width:]),
            lambda units: self.masses(units[:, :width]) + other.masses(units[:, width:]),
            [*self.used, *(width + column for column in other.used)],
        )


def check_option(option: str, value: str, known: Sequence[str]) -> None:
    """Raises DataError where the value of an option is not among the known ones."""
    if value not in known:
        raise DataError.of(
            f"Expected `{option}` to be {', '.join(known[:-1])} or {known[-1]}, got {value!r}",
            hint=did_you_mean(value, known),
        )


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """The quotients, nan where the denominator is 0; shapes (...,)."""
    quotients: Floats = np.full(denominator.shape, np.nan)
    np.divide(numerator, denominator, out=quotients, where=denominator > 0.0)
    return quotients


def scored(tallies: Floats) -> Floats:
    """Every score of `arbitre.tally.NAMES` for many tallies at once, nan where `Scores` has None.

    `tallies` has shape (..., 5), its columns those of a Sample; the result (..., 11).

    >>> scored(np.array([[4, 5, 4, 3.03, 2.4], [0, 1, 0, 0, 0]]))[:, NAMES.index("irq")].tolist()
    [0.7575, nan]
    """
    gold, predicted, matched, quality, squares = np.moveaxis(tallies, -1, 0)
    precision, recall, amq = ratio(matched, predicted), ratio(matched, gold), ratio(quality, matched)
    imq, union = ratio(quality, predicted), gold + predicted - matched
    found = {
        "precision": precision,
        "recall": recall,
        "f1": ratio(2.0 * matched, gold + predicted),
        "imq": imq,
        "irq": ratio(quality, gold),
        "f1q": ratio(2.0 * quality, gold + predicted),
        "amq": amq,
        "omq": _harmonic(precision, recall, amq),
        "omq_imq": _harmonic(imq, recall, amq),
        "quality": np.where(union > 0.0, ratio(quality, union), 1.0),
        "variance": np.maximum(0.0, ratio(squares, matched) - amq * amq),
    }
    return np.stack([found[name] for name in NAMES], axis=-1)


def known_of(tallies: Floats, failed: Mask) -> tuple[Floats, Mask]:
    """What documents (n,) add to the means: their scores (n, 11), and which of these are known; all else is 0.

    Every score of a failed document is 0; a vacuous one is in no mean.
    """
    values = scored(tallies)
    values[~tallies[:, :2].any(axis=1)] = np.nan
    values[failed] = 0.0
    known = ~np.isnan(values)
    return np.where(known, values, 0.0), known


def chunks(size: int) -> Iterator[slice]:
    """So many rows, some of them at a time: what is worked out of all of them is never as large as they are."""
    return (slice(start, start + CHUNK_ROWS) for start in range(0, size, CHUNK_ROWS))


def _harmonic(one: Floats, two: Floats, three: Floats) -> Floats:
    """0 as soon as one term is 0, else nan where one is nan."""
    with np.errstate(divide="ignore", over="ignore"):
        mean = 3.0 / (1.0 / one + 1.0 / two + 1.0 / three)
    return np.where((one == 0.0) | (two == 0.0) | (three == 0.0), 0.0, mean)
