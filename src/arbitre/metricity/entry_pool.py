"""The pairwise distances of the entries of documents, as input for `metricity`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.engine import pairwise_qualities
from arbitre.engine.columns.build import build_columns
from arbitre.engine.columns.column import ListColumn
from arbitre.errors import DataError, check_integer
from arbitre.paths import STAR, wildcard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.engine.columns.column import Column
    from arbitre.schema import Plan
    from arbitre.values import Json

MAX_ENTRIES: Final = 4000
"""Maximum number of entries in a pool."""


@dataclass(frozen=True, eq=False, slots=True)
class EntryPool:
    """The gold entries, followed by the predicted entries, and the distances between all N of them.

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
        OptionError: `sample` or `seed` is not an integer or is out of range.
        DataError: A value is not JSON, or the pool has no entries or more than 4000.
    """
    check_integer("seed", seed)
    if sample is not None:
        check_integer("sample", sample, least=1)
    entries = EntryColumn.of(plan, gold, predicted)
    rows, total = sampled(entries.rows, sample, seed), len(entries.rows)
    if not total:
        raise DataError.of(
            "Expected at least one entry in gold or in the predictions, got none",
            pointer=wildcard(plan.entries),
            hint="Use documents with entries, or mark another list as `entries` in the schema.",
        )
    if len(rows) > MAX_ENTRIES:
        raise DataError.of(
            f"Expected a pool of at most {MAX_ENTRIES} entries, got {len(rows)}", hint="Draw a sample with `sample`."
        )
    documents = entries.column.root_rows(rows)
    first = int(np.count_nonzero(documents < len(gold)))
    return EntryPool(
        1.0 - pairwise_qualities(entries.column, rows, rows),
        np.where(documents < len(gold), documents, documents - len(gold)),
        tuple(entries.column.pointer(row) for row in rows.tolist()),
        first,
        total,
    )


def sampled(rows: Indices, sample: int | None, seed: int = 0) -> Indices:
    """Return at most `sample` rows in their order, drawn at random; all rows if it is None."""
    if sample is None or sample >= len(rows):
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, sample, replace=False))


@dataclass(frozen=True, eq=False, slots=True)
class EntryColumn:
    """The column of the entries, and the rows that are present."""

    column: Column
    rows: Indices

    @classmethod
    def of(cls, plan: Plan, gold: Sequence[Json], predicted: Sequence[Json]) -> EntryColumn:
        """Return the items of the list of entries, or the documents themselves if no document is a list.

        If some documents are not lists, such as the refusal of a model, only the lists have entries.
        """
        columns = build_columns(plan, gold, predicted)
        path = (*plan.entries, STAR)
        entry_columns = [
            candidate
            for candidate in columns
            if candidate.path == path and candidate.item and isinstance(candidate.parent, ListColumn)
        ]
        if not plan.entries and not any(isinstance(column, ListColumn) and not column.path for column in columns):
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
