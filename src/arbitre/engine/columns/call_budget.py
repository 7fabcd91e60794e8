"""Upper bounds on the number of calls to custom distance functions, known before any call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.distances.custom import CHEAPER, MemoPool
from arbitre.engine.columns.column import Column, descendants, leaf_columns
from arbitre.errors import SolverError
from arbitre.paths import wildcard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.arrays import Indices, Mask


def most_calls(columns: Sequence[Column], documents: Indices, first: int) -> Iterator[tuple[MemoPool, str, int]]:
    """Count the calls that one document may need at most.

    A value may meet every value of the other side of its document; each distinct pair is measured once.

    Args:
        columns: The columns of the documents.
        documents: The document of each row of the root column; shape (rows,).
        first: Number of gold rows of the root column, which come first.

    Yields:
        Each pool of a custom distance, its wildcard path, and the greatest number of calls of a document.
    """
    for column in leaf_columns(columns):
        for slot, pool in enumerate(column.pools):
            if isinstance(pool, MemoPool):
                here = ((column.codes >= 0) & (column.slots[column.codes] == slot)).nonzero()[0]
                root = column.root_rows(here)
                yield pool, wildcard(column.path), _crossings(documents[root], root >= first, column.codes[here])


def _crossings(documents: Indices, predicted: Mask, codes: Indices) -> int:
    """Return the greatest product, over documents, of the numbers of distinct values on the two sides."""
    if len(documents) == 0:
        return 0
    distinct = np.unique(np.stack([documents, predicted, codes]), axis=1)
    size = int(documents.max()) + 1
    gold, others = (np.bincount(distinct[0][distinct[1] == side], minlength=size) for side in (0, 1))
    return int((gold * others).max())


def limit_calls(columns: Sequence[Column], documents: Indices, first: int, limit: int) -> None:
    """Check that no document can need more than `limit` calls, and make pools count their calls.

    More are accepted where a bound of the function or another field of the items tells which pairs matter.

    Raises:
        SolverError: A document may need more calls.
    """
    for pool, path, most in most_calls(columns, documents, first):
        pool.limit = limit * max(1, len(np.unique(documents)))
        if most > limit and pool.has_no_bound and _alone(columns, pool):
            raise SolverError.of(
                f"Expected at most {limit} calls of `{pool.function.name}` for a document, got up to {most} at {path}",
                hint=CHEAPER,
            )


def _alone(columns: Sequence[Column], pool: MemoPool) -> bool:
    """Return whether nothing else distinguishes the items of the list around a pool without a call."""
    holder: Column | None = next(column for column in leaf_columns(columns) if any(one is pool for one in column.pools))
    while holder is not None and not holder.item:
        holder = holder.parent
    if holder is None:
        return True
    pools = (one for column in leaf_columns(descendants(holder)) for one in column.pools)
    return all(isinstance(one, MemoPool) and one.has_no_bound for one in pools)
