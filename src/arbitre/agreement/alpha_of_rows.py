"""Krippendorff's alpha of aligned rows, with the distance of the schema.

The observed disagreement is the mean difference of values of the same unit. The expected disagreement is that of all
values of units of at least two values. These are many pairs of nested documents: above a limit, a sample is compared
(`alpha_parts`). `PairSums` gives alpha on resamples of the documents, and `Differences` compares the pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from arbitre.agreement.aligned_rows import AlignedRows
from arbitre.agreement.alignment import NONE
from arbitre.agreement.by_document import cell_sums, summed
from arbitre.agreement.coefficient import Coefficient, if_several_items
from arbitre.arrays import exact_dot, exact_sum, weighted_sums
from arbitre.engine.columns.ragged import chunks, find_sorted
from arbitre.engine.solve.solver import QualitySolver
from arbitre.engine.solve.transport_matching import leaf_counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scipy import sparse

    from arbitre.agreement.aligned_rows import ShuffledChance
    from arbitre.agreement.by_document import ByDocument
    from arbitre.arrays import Floats, Indices
    from arbitre.engine.columns.column import Column
    from arbitre.engine.solve.batches import Batch

Difference: TypeAlias = Literal["d", "d2"]
"""Difference of two values in alpha: their distance, or its square as for interval data."""

BLOCK_CELLS: Final = 1 << 22
"""Maximum number of pairs of single values in the rows that are compared at a time; limits memory."""

MAX_PAIRS: Final = 2_000
"""Number of pairs of objects or lists above which the expected disagreement is estimated from a sample."""

MAX_VALUE_PAIRS: Final = 200_000
"""Number of pairs of single values above which the expected disagreement is estimated from a sample."""

MAX_WITHIN: Final = 20_000
"""Number of pairs of values within documents above which the local expected disagreement is estimated from a sample."""

MAX_CELLS: Final = 1 << 27
"""Maximum number of pairs of single values that are compared, over all pairs of objects or lists.

This takes about 7 s for nested documents. Above it, the expected disagreement is estimated from a sample.
"""

PRECISION: Final = 0.005
"""Relative standard error of the expected disagreement below which the sample is large enough.

The standard error of alpha from the sample is then at most 0.005 * (1 - alpha).
"""

MIN_PAIRS: Final = 32
"""Minimum number of pairs in the sample."""

MIN_CELLS: Final = 1 << 16
"""Number of pairs of single values in the pairs that are sampled first: this takes less than 0.1 s."""


@dataclass(frozen=True, eq=False, slots=True)
class AlphaParts:
    """Sums and pairs of values from which alpha is computed.

    Only values count whose unit has at least two values. The pairs are those within units, and those between units, or
    a sample of these.

    Attributes:
        ratings: Number of values of each document; shape (documents,).
        disagreement: Sum over the values of each document of their mean difference from the others of the same unit;
            shape (documents,).
        first: Document of the first value of each pair; shape (pairs,).
        second: Document of the second value of each pair; shape (pairs,).
        differences: Difference of the two values of each pair; shape (pairs,).
        weights: Number of pairs that each pair stands for: 1 if all pairs are compared, more for a sample.
        standard_error: Standard error of the weighted mean of the differences; None if all pairs are compared.
    """

    ratings: Floats
    disagreement: Floats
    first: Indices
    second: Indices
    differences: Floats
    weights: Floats
    standard_error: float | None


def alpha_of_rows(
    differences: Differences,
    part: AlignedRows,
    by_document: ByDocument | None,
    *,
    seed: int,
    most: int = MAX_PAIRS,
    chance: ShuffledChance | None = None,
) -> Coefficient:
    """Return alpha with the distance of the schema; for the other arguments, see `alpha_parts`.

    `by_document` adds the interval and the local expected agreement; None adds nothing. `chance` is the expected
    agreement, instead of that of pooled values; there is no local one then.
    """
    parts = alpha_parts(differences, part, seed=seed, most=most)
    number = float(parts.ratings.sum())
    observed = expected = None
    if number:
        observed = 1.0 - exact_sum(parts.disagreement) / number
        expected = 1.0 - exact_dot(parts.weights, parts.differences) / exact_sum(parts.weights)
    coefficient = Coefficient.corrected(
        observed,
        expected,
        name=f"alpha_{differences.difference}",
        chance_model="pooled values, without replacement",
        items=int(((part.rows != NONE).sum(axis=1) > 1).sum()),
        annotators=part.rows.shape[1],
        standard_error=parts.standard_error,
    )
    coefficient = if_several_items(coefficient if chance is None else chance.applied(coefficient))
    if not number or by_document is None:
        return coefficient
    raters = (part.rows != NONE).sum(axis=1)
    several = raters > 1
    shared = AlignedRows(part.column, part.rows[several], part.document[several])
    sums = PairSums.of(differences, shared, parts, most=min(most, MAX_WITHIN), seed=seed)
    if chance is not None:
        return by_document.with_interval(coefficient, sums, len(sums.values), expected=chance.expected)
    return by_document.added(coefficient, sums, shared.document, raters[several])


def observed_agreement(differences: Differences, part: AlignedRows) -> float | None:
    """Return 1 minus the mean difference of values of the same unit; None without units of two values."""
    raters = (part.rows != NONE).sum(axis=1)
    weighted = [2.0 * within / (raters[units] - 1.0) for units, within in _within_units(differences, part)]
    number = int(raters[raters > 1].sum())
    return 1.0 - math.fsum(np.concatenate([np.empty(0), *weighted]).tolist()) / number if number else None


def _within_units(differences: Differences, part: AlignedRows) -> Iterator[tuple[Indices, Floats]]:
    """Yield the units that each pair of annotators has in common, and the differences of their values."""
    for i, j in combinations(range(part.rows.shape[1]), 2):
        both = ((part.rows[:, i] != NONE) & (part.rows[:, j] != NONE)).nonzero()[0]
        yield both, differences.between(part.column, part.rows[both, i], part.rows[both, j])


def alpha_parts(differences: Differences, part: AlignedRows, *, seed: int, most: int = MAX_PAIRS) -> AlphaParts:
    """Compute the differences within units, and between values of different units: of all pairs, or of a sample.

    Args:
        differences: Compares the rows.
        part: The aligned rows.
        seed: Random seed of the sample.
        most: Number of pairs of values above which those of different units are sampled.
    """
    raters = (part.rows != NONE).sum(axis=1)
    several = raters > 1
    rows, raters, document = part.rows[several], raters[several], part.document[several]
    documents = int(part.document.max(initial=-1)) + 1
    within, owners, weighted = [np.empty(0)], [document[:0]], [np.empty(0)]  # of the pairs within units
    for both, each in _within_units(differences, AlignedRows(part.column, rows, document)):
        within.append(each)
        weighted.append(2.0 * each / (raters[both] - 1.0))
        owners.append(document[both])
    owner = np.concatenate(owners)
    unit, at = (rows != NONE).nonzero()  # unit and annotator of each value
    drawn, between, weight = _between_units(differences, part.column, rows[unit, at], unit, seed=seed, most=most)
    standard_error = None
    if weight != 1.0:
        share = len(between) * weight / (len(between) * weight + len(owner))
        standard_error = share * float(between.std(ddof=1)) / math.sqrt(len(between))
    first, second = document[unit][drawn]
    return AlphaParts(
        ratings=summed(document, raters, documents),
        disagreement=summed(owner, np.concatenate(weighted), documents),
        first=np.concatenate([owner, first]),
        second=np.concatenate([owner, second]),
        differences=np.concatenate([*within, between]),
        weights=np.repeat([1.0, weight], [len(owner), len(between)]),
        standard_error=standard_error,
    )


def _between_units(
    differences: Differences, column: Column, pooled: Indices, unit: Indices, *, seed: int, most: int
) -> tuple[Indices, Floats, float]:
    """Compare all pairs of rows of different units, or a random sample of them.

    A sample grows until the standard error of the mean difference is small enough (`PRECISION`).

    Args:
        differences: Compares the rows.
        column: The column of the rows.
        pooled: The rows; shape (values,).
        unit: Unit of each row; shape (values,).
        seed: Random seed of the sample.
        most: Number of pairs above which a sample is drawn.

    Returns:
        Positions of the rows of each pair in `pooled`, shape (2, pairs); their differences; and the number of pairs
        that each stands for, 1 if all pairs are compared.
    """
    number, values = len(pooled), leaf_counts(column)[pooled]  # single values in each row
    pairs = number * (number - 1) // 2
    cells = float(values.sum() ** 2 - exact_dot(values, values)) / 2.0  # pairs of single values, over all pairs of rows
    sizes = np.bincount(unit)
    different = pairs - int((sizes * (sizes - 1) // 2).sum())
    if different <= MIN_PAIRS or (pairs <= most and cells <= MAX_CELLS):
        drawn = np.array(np.triu_indices(number, 1))
        drawn = drawn[:, unit[drawn[0]] != unit[drawn[1]]]
        return drawn, differences.between(column, *pooled[drawn]), 1.0
    cells /= pairs  # mean of a pair of rows
    most = max(MIN_PAIRS, min(MAX_VALUE_PAIRS, int(MAX_CELLS / cells)))
    needed = max(MIN_PAIRS, int(MIN_CELLS / cells))
    random, drawn, between = np.random.default_rng(seed), np.empty((2, 0), dtype=np.intp), np.empty(0)
    while (more := min(needed, most) - len(between)) > 0:
        first = random.integers(number, size=more)
        fresh = np.array([first, (first + random.integers(1, number, size=more)) % number])
        fresh = fresh[:, unit[fresh[0]] != unit[fresh[1]]]
        between = np.concatenate([between, differences.between(column, *pooled[fresh])])
        drawn = np.concatenate([drawn, fresh], axis=1)
        mean = float(between.mean()) if len(between) >= MIN_PAIRS else 0.0
        needed = math.ceil((float(between.std(ddof=1)) / mean / PRECISION) ** 2) if mean else most
        needed = max(MIN_PAIRS, min(needed, 2 * len(between)))
    return drawn, between, different / len(between)


@dataclass(frozen=True, eq=False, slots=True)
class PairSums:
    """Alpha with any distance by document, from differences of pairs of values. See `by_document.DocumentSums`.

    Only documents count that have a unit of at least two values.

    Attributes:
        disagreed: Sum over the values of each document of their mean difference from the others of the same unit;
            shape (documents,).
        values: Number of values of each document; shape (documents,).
        pairs: Number of pairs of values by the documents of both, estimated from a sample if there are many; sparse, of
            shape (documents, documents).
        differences: Sum of the differences of these pairs; sparse, of the same shape.
        within: Position of the document of each pair of values of the same document; shape (pairs within,).
        differences_within: Difference of each of these pairs; shape (pairs within,).
    """

    disagreed: Floats
    values: Floats
    pairs: sparse.csr_array
    differences: sparse.csr_array
    within: Indices
    differences_within: Floats

    @classmethod
    def of(cls, differences: Differences, shared: AlignedRows, parts: AlphaParts, *, most: int, seed: int) -> PairSums:
        """Sum the pairs of values by document, and compare pairs within documents.

        Args:
            differences: Compares the rows.
            shared: The units with at least two values.
            parts: Their sums and pairs.
            most: Number of pairs within documents above which they are sampled.
            seed: Random seed of this sample.
        """
        pooled = shared.rows[shared.rows != NONE]
        owner = shared.document.repeat((shared.rows != NONE).sum(axis=1))  # document of each value
        first, second = pairs_within(owner, most, seed)
        used = parts.ratings.nonzero()[0]
        position = np.zeros(len(parts.ratings), dtype=np.intp)  # of each document in `used`
        position[used] = np.arange(len(used))
        documents, shape = (position[parts.first], position[parts.second]), (len(used), len(used))
        return cls(
            disagreed=parts.disagreement[used],
            values=parts.ratings[used],
            pairs=cell_sums(*documents, parts.weights, shape),
            differences=cell_sums(*documents, parts.weights * parts.differences, shape),
            within=position[owner[first]],
            differences_within=differences.between(shared.column, pooled[first], pooled[second]),
        )

    @property
    def width(self) -> int:
        """Number of cells that a resample needs besides its weights."""
        return 2 * len(self.values)

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the observed and the expected agreement in each resample; shapes (resamples,).

        Args:
            weights: How often each document was drawn; shape (resamples, documents).
        """
        pairs, sums = ((np.asarray(weights @ table) * weights).sum(axis=-1) for table in (self.pairs, self.differences))
        number = weighted_sums(weights, self.values)
        different = number * number - weighted_sums(weights * weights, self.values)
        with np.errstate(invalid="ignore", divide="ignore"):
            # Copies of a document are equal, so pairs of a value with its copies have no difference.
            expected = sums / pairs * different / (number * (number - 1.0))
            return 1.0 - weighted_sums(weights, self.disagreed) / number, 1.0 - expected

    def each(self) -> tuple[Floats, Floats]:
        """Return the observed and the expected agreement within each document; shapes (documents,)."""
        size = len(self.values)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = summed(self.within, self.differences_within, size) / np.bincount(self.within, minlength=size)
            return 1.0 - self.disagreed / self.values, 1.0 - mean


def pairs_within(document: Indices, most: int, seed: int) -> tuple[Indices, Indices]:
    """Return pairs of positions of values of the same document: all, or about `most` if there are more.

    Every document with two values has at least one pair; documents have the same number of sampled pairs.

    Args:
        document: Document of each value; shape (values,).
        most: Number of pairs above which a sample is drawn.
        seed: Random seed.
    """
    order = np.argsort(document, kind="stable")
    _, starts, counts = np.unique(document[order], return_index=True, return_counts=True)
    starts, counts = starts[counts > 1], counts[counts > 1]  # of the values of each document, in `order`
    none = np.empty(0, dtype=np.intp)
    if int((counts * (counts - 1) // 2).sum()) <= most:
        pairs = [np.triu_indices(count, 1) for count in counts.tolist()]
        first, second = (np.concatenate([none, *(pair[side] for pair in pairs)]) for side in (0, 1))
        begin = starts.repeat(counts * (counts - 1) // 2)
        return order[first + begin], order[second + begin]
    random = np.random.default_rng(seed)
    each = max(1, most // len(counts))
    size, begin = counts.repeat(each), starts.repeat(each)
    first = random.integers(size)
    second = (first + random.integers(1, size)) % size
    return order[first + begin], order[second + begin]


@dataclass(eq=False, slots=True)
class Differences:
    """Compares pairs of rows of columns, in blocks of bounded memory.

    Comparing objects or lists also computes the distances of their fields. These are kept until `forget`, because the
    same pairs of rows are often compared again for the path of the field.

    Attributes:
        difference: Difference of two values; see `Difference`.
        symmetric: Whether the distance is the same in both directions. If not, their mean is used.
        block_cells: Maximum number of pairs of single values in the rows that are compared at a time.
    """

    difference: Difference
    symmetric: bool
    block_cells: int = BLOCK_CELLS
    _known: dict[int, tuple[Indices, Floats]] = field(default_factory=dict)
    """By column number: the pairs of rows, as left row * size + right row, increasing; and their distances."""

    def between(self, column: Column, left: Indices, right: Indices) -> Floats:
        """Return the difference of each pair of rows; the mean of both directions if they may differ."""
        distances = self._distances(column, left, right)
        if not self.symmetric:
            distances = (distances + self._distances(column, right, left)) / 2.0
        squares: Floats = distances if self.difference == "d" else distances * distances
        return squares

    def forget(self, column: Column) -> None:
        """Drop the distances that were kept for a column."""
        self._known.pop(column.number, None)

    def _distances(self, column: Column, left: Indices, right: Indices) -> Floats:
        """Return the distances of pairs; those of the same rows are computed once.

        Reusing the distances known from the parent rows halves the time if documents are objects with one list.
        """
        codes = left * column.size + right  # one number for each pair of rows
        unique, inverse = np.unique(codes, return_inverse=True)
        distances = np.empty(len(unique))
        known, values = self._known.get(column.number, (codes[:0], distances[:0]))
        place = find_sorted(known, unique)
        distances[place >= 0] = values[place[place >= 0]]
        rest = (place < 0).nonzero()[0]
        first, second = np.divmod(unique[rest], max(column.size, 1))
        distances[rest] = self._computed(column, first, second)
        return distances[inverse]

    def _computed(self, column: Column, left: Indices, right: Indices) -> Floats:
        """Return the distances of pairs; compare some at a time, and keep the distances of their fields."""
        values = leaf_counts(column)
        blocks: list[Floats] = [np.empty(0)]
        kept: dict[int, list[Batch]] = {}
        for block in chunks((values[left] * values[right]).astype(np.intp), self.block_cells):
            batch = QualitySolver().evaluate(column, left[block], right[block])
            blocks.append(1.0 - batch.quality)
            fields = [pairs.batch for pairs in batch.fields]
            for each in fields:  # grows during iteration: fields of fields
                kept.setdefault(each.column.number, []).append(each)
                fields.extend(pairs.batch for pairs in each.fields)
        for number, batches in kept.items():
            self._keep(number, batches)
        return np.concatenate(blocks)

    def _keep(self, number: int, batches: Sequence[Batch]) -> None:
        """Keep the distances of compared pairs of rows of the column with this number."""
        size = batches[0].column.size
        codes, distances = self._known.get(number, (np.empty(0, dtype=np.intp), np.empty(0)))
        codes = np.concatenate([codes, *(batch.left * size + batch.right for batch in batches)])
        distances = np.concatenate([distances, *(1.0 - batch.quality for batch in batches)])
        codes, first = np.unique(codes, return_index=True)
        self._known[number] = codes, distances[first]
