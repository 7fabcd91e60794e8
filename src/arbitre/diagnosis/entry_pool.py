"""The pairwise distances of the entries of documents, as input for `metricity`, and the cost of list lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.engine.columns.build import build_columns
from arbitre.engine.columns.column import ListColumn
from arbitre.engine.solve.solver import QualitySolver
from arbitre.errors import DataError
from arbitre.matching.assignment import hungarian
from arbitre.matching.transport import transport
from arbitre.matching.transport_options import TransportOptions
from arbitre.paths import STAR, wildcard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.engine.columns.column import Column
    from arbitre.schema import Plan
    from arbitre.values import Json

MAX_ENTRIES: Final = 4000
"""Maximum number of entries in a pool."""
CHUNK_CELLS: Final = 1 << 18
"""Maximum number of distances that are computed at once."""


@dataclass(frozen=True, eq=False, slots=True)
class EntryPool:
    """N entries, gold entries first, and their pairwise distances.

    Attributes:
        distances: d(row, column) with the row as gold and the column as predicted, not made symmetric; shape (N, N),
            in [0, 1], 0 for equal entries.
        documents: Index of the document of each entry; shape (N,).
        pointers: JSON Pointer of each entry in its document.
        gold: Number of gold entries.
        whole: Number of entries before sampling.
    """

    distances: Floats
    documents: Indices
    pointers: tuple[str, ...]
    gold: int
    whole: int

    def __len__(self) -> int:
        return len(self.pointers)


@dataclass(frozen=True, slots=True)
class Cardinality:
    """The cost of comparing two lists of entries, with and without the cost of their different lengths.

    Both costs are in [0, 1], 0 for equal lists, and w1 <= ospa.

    Attributes:
        w1: Cost of the exact transport with equal weights on each side; None if exactly one list is empty.
        ospa: Cost of the optimal assignment, where an entry without partner costs 1.
    """

    w1: float | None
    ospa: float

    @property
    def share(self) -> float | None:
        """The cost of different lengths, ospa - w1; 0 for lists of equal length."""
        return None if self.w1 is None else max(0.0, self.ospa - self.w1)


def build_entry_pool(
    plan: Plan, gold: Sequence[Json], predicted: Sequence[Json], *, sample: int | None = None, seed: int = 0
) -> EntryPool:
    """Pool the entries of documents and compute their pairwise distances.

    Args:
        plan: The compiled schema.
        gold: Gold documents.
        predicted: Predictions.
        sample: Maximum number of entries, drawn at random; None for all.
        seed: Random seed of the sample.

    Returns:
        The pool.

    Raises:
        DataError: A value is not JSON, or the pool has no entries or more than 4000.
    """
    entries = _Entries.of(plan, gold, predicted)
    rows, total = entries.rows, len(entries.rows)
    if sample is not None and sample < total:
        rows = np.sort(np.random.default_rng(seed).choice(rows, sample, replace=False))
    if not 0 < len(rows) <= MAX_ENTRIES:
        raise DataError.of(
            f"Expected a pool of 1 to {MAX_ENTRIES} entries, got {len(rows)}",
            pointer=wildcard(plan.entries) if not len(rows) else None,
            hint="Draw a sample with `sample`." if len(rows) else "Mark the list of the entries in the schema.",
        )
    documents = entries.column.root_rows(rows)
    first = int(np.count_nonzero(documents < len(gold)))
    return EntryPool(
        1.0 - entries.qualities(rows, rows),
        np.where(documents < len(gold), documents, documents - len(gold)),
        tuple(entries.column.pointer(row) for row in rows.tolist()),
        first,
        total,
    )


def cardinality(plan: Plan, gold: Json, predicted: Json) -> Cardinality | None:
    """Compute the cost of the entries as a transport and as an assignment; None if they are not a single list.

    Raises:
        DataError: A value is not JSON.
    """
    if STAR in plan.entries:
        return None
    entries = _Entries.of(plan, [gold], [predicted])
    if not isinstance(entries.column.parent, ListColumn):
        return None
    sides = entries.column.root_rows(entries.rows)
    ours, theirs = (entries.rows[sides == side] for side in (0, 1))
    if not (len(ours) and len(theirs)):
        return Cardinality(None, float(len(ours) != len(theirs)))
    quality = entries.qualities(ours, theirs)
    moved, matched = transport(quality, how=TransportOptions()), hungarian(quality)
    masses = [float(coupling.mass @ quality[coupling.gold, coupling.predicted]) for coupling in (moved, matched)]
    return Cardinality(1.0 - masses[0] / len(ours), 1.0 - masses[1] / max(quality.shape))


@dataclass(frozen=True, eq=False, slots=True)
class _Entries:
    """The column of the entries, and the rows that are present."""

    column: Column
    rows: Indices

    @classmethod
    def of(cls, plan: Plan, gold: Sequence[Json], predicted: Sequence[Json]) -> _Entries:
        """Return the items of the list of entries, or the documents themselves if the root is not a list."""
        columns = build_columns(plan, gold, predicted)
        path = (*plan.entries, STAR)
        entry_columns = [
            candidate
            for candidate in columns
            if candidate.path == path and candidate.item and isinstance(candidate.parent, ListColumn)
        ]
        if not plan.entries and not isinstance(columns[0], ListColumn):
            entry_columns = columns[:1]
        if len(entry_columns) > 1:
            raise DataError.of(
                "Expected all lists of entries to have the same type in the schema, got several", pointer=wildcard(path)
            )
        if not entry_columns:
            return cls(columns[0], np.empty(0, dtype=np.intp))
        column = entry_columns[0]
        rows = np.arange(column.size, dtype=np.intp)
        return cls(column, rows if column.present is None else rows[column.present])

    def qualities(self, left: Indices, right: Indices, chunk_cells: int = CHUNK_CELLS) -> Floats:
        """Return the quality of each pair; shape (len(left), len(right)), in [0, 1]. Chunks save memory."""
        table = np.empty((len(left), len(right)))
        height = max(1, chunk_cells // max(1, len(right)))
        for begin in range(0, len(left), height):
            part = left[begin : begin + height]
            batch = QualitySolver().evaluate(self.column, np.repeat(part, len(right)), np.tile(right, len(part)))
            table[begin : begin + height] = batch.quality.reshape(len(part), len(right))
        return table
