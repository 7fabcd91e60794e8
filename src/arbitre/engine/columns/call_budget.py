"""Upper bounds on the number of calls to custom distances, computed before any call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.distances.base import base_pool
from arbitre.distances.custom import CHEAPER, MemoPool
from arbitre.engine.columns.column import Column, LeafColumn, descendants, leaf_columns
from arbitre.errors import SolverError
from arbitre.paths import wildcard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from arbitre.arrays import Indices, Mask
    from arbitre.distances.base import Pool


def call_upper_bounds(columns: Sequence[Column], documents: Indices, first: int) -> Iterator[tuple[MemoPool, str, int]]:
    """Compute an upper bound on the number of calls that one document can need.

    Each distinct pair of a gold and a predicted value of the document needs at most one call.

    Args:
        columns: The columns of the documents.
        documents: Document of each row of the root column; shape (rows,).
        first: Number of gold rows of the root column, which come first.

    Yields:
        Each pool of a custom distance, its wildcard path, and the upper bound on the calls of one document.
    """
    for column in leaf_columns(columns):
        rows, codes, slots = _values(column)
        for slot, pool in enumerate(inner_pools(column)):
            if isinstance(pool, MemoPool):
                in_slot = ((codes >= 0) & (slots[codes] == slot)).nonzero()[0]
                root = column.root_rows(rows[in_slot])
                yield pool, wildcard(column.path), _most_pairs(documents[root], root >= first, codes[in_slot])


def inner_pools(column: LeafColumn) -> tuple[Pool, ...]:
    """Return the pools of the single values of a column, or of their readings, without floors."""
    pools = column.pools if column.readings is None else column.readings.pool.pools
    return tuple(map(base_pool, pools))


def _values(column: LeafColumn) -> tuple[Indices, Indices, npt.NDArray[np.int16]]:
    """Return the row and the code of each value or reading, and the slot of each code."""
    readings, rows = column.readings, np.arange(column.size, dtype=np.intp)
    if readings is None:
        return rows, column.codes, column.slots
    return rows.repeat(np.diff(readings.starts)), readings.codes, readings.pool.slots


def _most_pairs(documents: Indices, predicted: Mask, codes: Indices) -> int:
    """Return the maximum number of distinct pairs of a gold and a predicted value in one document."""
    if len(documents) == 0:
        return 0
    distinct = np.unique(np.stack([documents, predicted, codes]), axis=1)
    size = int(documents.max()) + 1
    gold, others = (np.bincount(distinct[0][distinct[1] == side], minlength=size) for side in (0, 1))
    return int((gold * others).max())


def limit_calls(columns: Sequence[Column], documents: Indices, first: int, limit: int) -> None:
    """Check that no document can need more than `limit` calls, and set the limit of each pool.

    More calls are accepted if a custom bound or another field of the items can show which pairs matter.

    Raises:
        SolverError: A document may need more calls.
    """
    for pool, path, bound in call_upper_bounds(columns, documents, first):
        pool.limit = limit * max(1, len(np.unique(documents)))
        if bound > limit and pool.has_no_bound and _is_only_information(columns, pool):
            raise SolverError.of(
                f"Expected at most {limit} calls to `{pool.function.name}` for a document, got up to {bound} at {path}",
                hint=CHEAPER,
            )


def _is_only_information(columns: Sequence[Column], pool: MemoPool) -> bool:
    """Return whether only calls can distinguish the items of the list that contains the values of a pool."""
    holder: Column | None = next(
        column for column in leaf_columns(columns) if any(candidate is pool for candidate in inner_pools(column))
    )
    while holder is not None and not holder.item:
        holder = holder.parent
    if holder is None:
        return True
    pools = (item_pool for column in leaf_columns(descendants(holder)) for item_pool in inner_pools(column))
    return all(isinstance(item_pool, MemoPool) and item_pool.has_no_bound for item_pool in pools)
