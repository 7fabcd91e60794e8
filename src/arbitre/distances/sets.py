"""The distance of arrays read as sets.

>>> JACCARD([1, 23], [23, 12, 1, 1])
0.3333333333333333
>>> JACCARD([], [])
0.0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.sparse import csr_array

from arbitre.distances.base import Distance, Facts
from arbitre.distances.columns import codes, share
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.distances.base import Blocks, Floats, Indices
    from arbitre.distances.columns import Integers
    from arbitre.values import Json


@dataclass(frozen=True, slots=True)
class _Sets:
    """The incidence of distinct items in sets, shape (n, items), and the sizes of the sets, shape (n,)."""

    incidence: csr_array
    sizes: Integers

    def paired(self, left: Indices, right: Indices) -> Floats:
        common = self.incidence[left].multiply(self.incidence[right]).sum(axis=1)
        return _jaccard(common, self.sizes[left], self.sizes[right])

    def crossed(self, left: Indices, right: Indices) -> Floats:
        common = (self.incidence[left] @ self.incidence[right].T).toarray()
        return _jaccard(common, self.sizes[left][:, None], self.sizes[right][None, :])

    def bounded(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        """Exact: one sparse product of each block."""
        common = np.empty(int(blocks.starts[-1]), dtype=np.int64)
        for rows, columns, cells in blocks:
            common[cells] = (self.incidence[left[rows]] @ self.incidence[right[columns]].T).toarray().ravel()
        return _jaccard(common, self.sizes[left][blocks.rows], self.sizes[right][blocks.columns])


def _jaccard(common: Integers, left: Integers, right: Integers) -> Floats:
    union = left + right - common
    return share(union - common, union)


def _pool(values: Sequence[list[Json]]) -> _Sets:
    code = codes(item for value in values for item in value)
    owner = np.repeat(np.arange(len(values)), [len(value) for value in values])
    row, column = np.unique(np.stack([owner, code]), axis=1)  # an item counts once in its set
    shape = len(values), int(code.max(initial=-1)) + 1
    incidence = csr_array((np.ones(row.size, dtype=np.int64), (row, column)), shape=shape)
    return _Sets(incidence, np.bincount(row, minlength=len(values)))


JACCARD: Final = Distance(
    "jaccard",
    frozenset({Kind.ARRAY}),
    Facts(separating=False, witness=([1, 2], [2, 1])),
    _pool,
)
"""1 - |A ∩ B| / |A ∪ B| for the sets of items, equal as JSON, of two arrays; two empty ones are at 0.

A metric on sets, hence a pseudo-metric on arrays: order and repetition do not count. Source: Jaccard, 1901.
"""
