"""Distances between sets: of the items of an array, or of other parts of a value, such as n-grams.

Distances of sets and bags (multisets) are functions of the size of their intersection.

>>> JACCARD([1, 23], [23, 12, 1, 1])
0.3333333333333333
>>> DICE([1, 23], [23, 12, 1, 1])
0.2
>>> JACCARD([], [])
0.0
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import scipy

from arbitre.distances.base import Distance, Facts, Pool, ratio_or_zero, value_codes
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.distances.base import Blocks, Integers
    from arbitre.values import Json


# Pools of bags. One sparse matrix product computes the intersections of many pairs.


if TYPE_CHECKING:
    Formula = Callable[[Integers, Integers, Integers], Floats]


@dataclass(frozen=True, slots=True)
class BagPool(Pool):
    """A pool whose distance is a function of |A ∩ B|, |A| and |B|.

    Attributes:
        incidence: 0-1 matrix with a row for each bag and a column for each occurrence of an item (first, second, ...).
            The product of two rows is the size of the intersection.
        sizes: Sizes of the bags; shape (bags,).
        formula: Computes distances from |A ∩ B|, |A| and |B|; broadcasts.
    """

    incidence: scipy.sparse.csr_array
    sizes: Integers
    formula: Formula

    def distances(self, left: Indices, right: Indices) -> Floats:
        common = self.incidence[left].multiply(self.incidence[right]).sum(axis=1)
        return self.formula(common, self.sizes[left], self.sizes[right])

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        """Return exact distances, with one sparse product for each block."""
        common = np.empty(int(blocks.starts[-1]), dtype=np.int64)
        for rows, columns, cells in blocks:
            common[cells] = (self.incidence[left[rows]] @ self.incidence[right[columns]].T).toarray().ravel()
        return self.formula(common, self.sizes[left][blocks.rows], self.sizes[right][blocks.columns])


def jaccard(common: Integers, left: Integers, right: Integers) -> Floats:
    """Return 1 - |A ∩ B| / |A ∪ B|, or 0 for two empty bags; `common` is |A ∩ B|."""
    union = left + right - common
    return ratio_or_zero(union - common, union)


def dice(common: Integers, left: Integers, right: Integers) -> Floats:
    """Return 1 - 2 |A ∩ B| / (|A| + |B|), which is 1 - F1, or 0 for two empty bags; `common` is |A ∩ B|."""
    total = left + right
    return ratio_or_zero(total - 2 * common, total)


def build_bags(count: int, owner: Indices, items: Integers, formula: Formula, *, multiple: bool = False) -> BagPool:
    """Build the pool of `count` bags.

    Args:
        count: Number of bags.
        owner: Bag of each item; shape (items,).
        items: Code of each item; shape (items,).
        formula: Computes distances from |A ∩ B|, |A| and |B|.
        multiple: Whether repeated items count; otherwise each distinct item counts once.

    >>> pool = build_bags(2, np.array([0, 0, 1, 1, 1]), np.array([5, 5, 5, 5, 7]), dice, multiple=True)
    >>> pool.distances(np.array([0]), np.array([1]))  # 2 common items; sizes 2 and 3
    array([0.2])
    """
    order = np.lexsort((items, owner))
    row, column = owner[order], items[order]
    first = np.ones(len(column), dtype=np.bool_)
    first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    if multiple:
        place = np.arange(len(column))
        column = pair_codes(column, place - np.maximum.accumulate(np.where(first, place, 0)))
    else:
        row, column = row[first], column[first]
    shape = count, int(column.max(initial=-1)) + 1
    incidence = scipy.sparse.csr_array((np.ones(len(row), dtype=np.int64), (row, column)), shape=shape)
    return BagPool(incidence, np.bincount(row, minlength=count), formula)


def pair_codes(first: Integers, second: Integers) -> Integers:
    """Return one code from 0 up for each pair of codes, equal if and only if the pairs are equal; shapes (n,)."""
    codes: Integers = np.unique(first * (second.max(initial=0) + 1) + second, return_inverse=True)[1]
    return codes


_ARRAY = frozenset({Kind.ARRAY})


def _pool(formula: Formula, values: Sequence[list[Json]]) -> BagPool:
    owner = np.repeat(np.arange(len(values)), [len(value) for value in values])
    return build_bags(len(values), owner, value_codes(item for value in values for item in value), formula)


JACCARD: Final = Distance("jaccard", _ARRAY, Facts(separating=False, witness=([1, 2], [2, 1])), partial(_pool, jaccard))
"""1 - |A ∩ B| / |A ∪ B| for the sets A and B of items of two arrays; 0 for two empty arrays.

Items are equal if they are equal as JSON. A metric on sets and a pseudo-metric on arrays, because order and repetition
are ignored. Source: Jaccard, 1901.
"""

DICE: Final = Distance(
    "dice", _ARRAY, Facts(separating=False, triangle=False, witness=([1, 2], [2, 1])), partial(_pool, dice)
)
"""1 - 2 |A ∩ B| / (|A| + |B|), which is 1 - F1, for the sets A and B of items of two arrays; 0 for two empty arrays.

Items are equal if they are equal as JSON. Not a metric: [a] and [b] have distance 1, but each has distance 1/3 to
[a, b]. Source: Dice, 1945.
"""
