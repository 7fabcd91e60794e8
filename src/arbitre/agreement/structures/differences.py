"""Computes differences of many pairs of rows in bounded memory; keeps those of fields when comparing their objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from arbitre.engine.columns.item_weights import leaf_counts
from arbitre.engine.columns.ragged import chunks, find_sorted
from arbitre.engine.solve.solver import QualitySolver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.engine.columns.column import Column
    from arbitre.engine.solve.batches import Batch

Difference: TypeAlias = Literal["d", "d2"]
"""Difference of two values in alpha: their distance, or its square as for interval data."""

BLOCK_CELLS: Final = 1 << 22
"""Maximum number of pairs of single values in the rows that are compared at a time; limits memory."""


@dataclass(eq=False, slots=True)
class Differences:
    """Compares pairs of rows of columns.

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
        codes = left * column.size + right
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
        """Compare some pairs at a time, and keep the distances of their fields."""
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
        size = batches[0].column.size
        codes, distances = self._known.get(number, (np.empty(0, dtype=np.intp), np.empty(0)))
        codes = np.concatenate([codes, *(batch.left * size + batch.right for batch in batches)])
        distances = np.concatenate([distances, *(1.0 - batch.quality for batch in batches)])
        codes, first = np.unique(codes, return_index=True)
        self._known[number] = codes, distances[first]
