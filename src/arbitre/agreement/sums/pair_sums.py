"""Sums over pairs of values and over combinations of lists, for alpha with any distance and for gamma."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from arbitre.arrays import weighted_sums

if TYPE_CHECKING:
    from arbitre.agreement.sums.alpha_sums import AlphaSums
    from arbitre.arrays import Floats, Indices


@dataclass(frozen=True, eq=False, slots=True)
class PairSums:
    """Alpha with any distance, from differences of pairs of values.

    Attributes:
        disagreed: Sum over the values of each document of their mean difference from the others of the same item;
            shape (documents,).
        values: Number of values of each document; shape (documents,).
        pairs: Number of pairs of values by their documents, estimated from a sample if there are many; sparse, of shape
            (documents, documents). See `pair_table`.
        differences: Sum of their differences; sparse, of the same shape.
        within: Position of the document of pairs of values of the same document; shape (pairs within,).
        differences_within: Their differences; shape (pairs within,).
    """

    disagreed: Floats
    values: Floats
    pairs: sparse.csr_array
    differences: sparse.csr_array
    within: Indices
    differences_within: Floats

    @property
    def width(self) -> int:
        """See `DocumentSums`."""
        return 2 * len(self.values)

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """See `DocumentSums`."""
        pairs, sums = ((np.asarray(weights @ table) * weights).sum(axis=-1) for table in (self.pairs, self.differences))
        number = weighted_sums(weights, self.values)
        different = number * number - weighted_sums(weights * weights, self.values)
        with np.errstate(invalid="ignore", divide="ignore"):
            # Copies of a document are equal, so pairs of a value with its copies have no difference.
            expected = sums / pairs * different / (number * (number - 1.0))
            return 1.0 - weighted_sums(weights, self.disagreed) / number, 1.0 - expected

    def each(self) -> tuple[Floats, Floats]:
        """See `DocumentSums`."""
        size = len(self.values)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = summed(self.within, self.differences_within, size) / np.bincount(self.within, minlength=size)
            return 1.0 - self.disagreed / self.values, 1.0 - mean


@dataclass(frozen=True, eq=False, slots=True)
class FixedChance:
    """A coefficient whose expected agreement does not depend on the documents that are drawn.

    Attributes:
        sums: Gives the observed agreement.
        expected: The expected agreement.
    """

    sums: AlphaSums | PairSums
    expected: float

    @property
    def width(self) -> int:
        """See `DocumentSums`."""
        return self.sums.width

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """See `DocumentSums`."""
        observed, _ = self.sums.weighted(weights)
        return observed, np.full_like(observed, self.expected)


@dataclass(frozen=True, eq=False, slots=True)
class ListSums:
    """Gamma of lists, from the disorders of their alignments and of those of lists of different documents.

    Attributes:
        disorders: Sum of the disorders of the lists of each document; shape (documents,).
        items: Number of their items; shape (documents,).
        drawn: Positions of the documents of each combination of lists of different documents; the number of documents
            for one without a list of two annotators. Shape (combinations, annotators).
        disorders_drawn: Disorder of each combination; shape (combinations,).
        items_drawn: Number of items of each combination; shape (combinations,).
    """

    disorders: Floats
    items: Floats
    drawn: Indices
    disorders_drawn: Floats
    items_drawn: Floats

    @property
    def width(self) -> int:
        """See `DocumentSums`."""
        return self.drawn.size

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """See `DocumentSums`."""
        padded = np.column_stack([weights, np.ones(len(weights))])
        drawn = padded[:, self.drawn].prod(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = 1.0 - weighted_sums(weights, self.disorders) / weighted_sums(weights, self.items)
            expected = weighted_sums(drawn, self.disorders_drawn) / weighted_sums(drawn, self.items_drawn)
            return observed, 1.0 - expected


def pair_table(first: Indices, second: Indices, values: Floats, documents: int) -> sparse.csr_array:
    """Return the sum of the values of pairs by the documents of both; sparse, of shape (documents, documents)."""
    return sparse.csr_array(sparse.coo_array((values, (first, second)), shape=(documents, documents)))


def summed(document: Indices, values: Floats | Indices, documents: int) -> Floats:
    """Return the sum of the values of each document; shape (documents,)."""
    return np.bincount(document, values, minlength=documents).astype(np.float64)


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
    starts, counts = starts[counts > 1], counts[counts > 1]
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
