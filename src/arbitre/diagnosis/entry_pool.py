"""The entries of documents, each measured against each: what `metricity` looks at, and the plainest transport."""

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
"""Pools of more entries are refused."""
CHUNK_CELLS: Final = 1 << 18
"""So many distances are measured at a time."""


@dataclass(frozen=True, eq=False, slots=True)
class EntryPool:
    """N entries, those of gold first, and the distance of each from each.

    `distances`, shape (N, N), in [0, 1], 0 is equal: d(row, column) as the plan measures an entry of gold against a
    predicted one, nothing made symmetric. `documents`, shape (N,), and `pointers` say where each entry stands; `gold`
    how many are of gold. `whole` is how many entries there were to draw from.
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
    """What two lists of entries differ by, with what is due to their lengths set apart.

    `w1` is the cost of the exact transport of one to the other, every entry of a side weighing the same; `ospa` that of
    the best one-to-one matching, an entry without partner costing 1. Both in [0, 1], 0 is equal, and w1 <= ospa.
    `w1` is None where one list is empty.
    """

    w1: float | None
    ospa: float

    @property
    def share(self) -> float | None:
        """What the lengths cost, ospa - w1: 0 where they are the same."""
        return None if self.w1 is None else max(0.0, self.ospa - self.w1)


def build_entry_pool(
    plan: Plan, gold: Sequence[Json], predicted: Sequence[Json], *, sample: int | None = None, seed: int = 0
) -> EntryPool:
    """The entries of all these documents, pooled; where there are more than `sample`, so many drawn with `seed`.

    Raises DataError for values that are not JSON, for a pool without entries, and for one of more than 4000.
    """
    entries = _Entries.of(plan, gold, predicted)
    rows, whole = entries.rows, len(entries.rows)
    if sample is not None and sample < whole:
        rows = np.sort(np.random.default_rng(seed).choice(rows, sample, replace=False))
    if not 0 < len(rows) <= MAX_ENTRIES:
        raise DataError.of(
            f"Expected a pool of 1 to {MAX_ENTRIES} entries, got {len(rows)}",
            pointer=wildcard(plan.entries) if not len(rows) else None,
            hint="Draw some of them with `sample`." if len(rows) else "Mark the list of the entries in the schema.",
        )
    documents = entries.column.root_rows(rows)
    first = int(np.count_nonzero(documents < len(gold)))
    return EntryPool(
        1.0 - entries.qualities(rows, rows),
        np.where(documents < len(gold), documents, documents - len(gold)),
        tuple(entries.column.pointer(row) for row in rows.tolist()),
        first,
        whole,
    )


def cardinality(plan: Plan, gold: Json, predicted: Json) -> Cardinality | None:
    """The cost of the entries as plain transport, and as a matching; None where they are not one list.

    Raises DataError for values that are not JSON.
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
    kept = [float(one.mass @ quality[one.gold, one.predicted]) for one in (moved, matched)]
    return Cardinality(1.0 - kept[0] / len(ours), 1.0 - kept[1] / max(quality.shape))


@dataclass(frozen=True, eq=False, slots=True)
class _Entries:
    """The column that holds all entries, and the rows that count."""

    column: Column
    rows: Indices

    @classmethod
    def of(cls, plan: Plan, gold: Sequence[Json], predicted: Sequence[Json]) -> _Entries:
        """The items of the list of entries; where the root is no list, the documents themselves."""
        columns = build_columns(plan, gold, predicted)
        path = (*plan.entries, STAR)
        found = [one for one in columns if one.path == path and one.item and isinstance(one.parent, ListColumn)]
        if not plan.entries and not isinstance(columns[0], ListColumn):
            found = columns[:1]
        if len(found) > 1:
            raise DataError.of(
                "Expected the entries to stand in lists of one kind, got several", pointer=wildcard(path)
            )
        if not found:
            return cls(columns[0], np.empty(0, dtype=np.intp))
        column = found[0]
        rows = np.arange(column.size, dtype=np.intp)
        return cls(column, rows if column.present is None else rows[column.present])

    def qualities(self, left: Indices, right: Indices) -> Floats:
        """The quality of each pair, shape (len(left), len(right))."""
        found = np.empty((len(left), len(right)))
        height = max(1, CHUNK_CELLS // max(1, len(right)))
        for begin in range(0, len(left), height):
            part = left[begin : begin + height]
            batch = QualitySolver().evaluate(self.column, np.repeat(part, len(right)), np.tile(right, len(part)))
            found[begin : begin + height] = batch.quality.reshape(len(part), len(right))
        return found
