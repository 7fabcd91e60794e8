"""How often the functions that users bring may have to be called, before any of them is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.distances.custom import CHEAPER, Remembered
from arbitre.engine.columns import Column, LeafColumn, descendants
from arbitre.errors import SolverError
from arbitre.paths import wildcard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.engine.columns import Indices, Mask


def most_calls(columns: Sequence[Column], documents: Indices, first: int) -> Iterator[tuple[Remembered, str, int]]:
    """Every pool of a user's function, its path, and how many calls one document may need at most.

    `documents` says which document each row of the root is of; the first `first` rows are gold. A value may meet every
    value of the other side of its document, each distinct pair once.
    """
    if not any(isinstance(pool, Remembered) for one in columns if isinstance(one, LeafColumn) for pool in one.pools):
        return
    for column in columns:
        if not isinstance(column, LeafColumn):
            continue
        for slot, pool in enumerate(column.pools):
            if isinstance(pool, Remembered):
                here = ((column.codes >= 0) & (column.slots[column.codes] == slot)).nonzero()[0]
                root = column.root_rows(here)
                yield pool, wildcard(column.path), _crossings(documents[root], root >= first, column.codes[here])


def _crossings(documents: Indices, predicted: Mask, codes: Indices) -> int:
    """The most that the numbers of distinct values of the two sides of one document multiply to."""
    if len(documents) == 0:
        return 0
    distinct = np.unique(np.stack([documents, predicted, codes]), axis=1)
    size = int(documents.max()) + 1
    gold, others = (np.bincount(distinct[0][distinct[1] == side], minlength=size) for side in (0, 1))
    return int((gold * others).max())


def limit_calls(columns: Sequence[Column], documents: Indices, first: int, limit: int) -> None:
    """Refuse, before any call, what may need more than `limit` calls for a document; count the others while they run.

    What tells items apart without a call, a bound or another field, makes few calls enough. Raises SolverError.
    """
    for pool, path, most in most_calls(columns, documents, first):
        pool.limit = limit * max(1, len(np.unique(documents)))
        if most > limit and pool.blind and _alone(columns, pool):
            raise SolverError.of(
                f"Expected at most {limit} calls of `{pool.asked.name}` for a document, got up to {most} at {path}",
                hint=CHEAPER,
            )


def _alone(columns: Sequence[Column], pool: Remembered) -> bool:
    """Whether nothing else in the items of a list tells them apart."""
    holder: Column | None = next(
        column for column in columns if isinstance(column, LeafColumn) and any(one is pool for one in column.pools)
    )
    while holder is not None and not holder.item:
        holder = holder.parent
    if holder is None:
        return True
    found = (one for column in descendants(holder) if isinstance(column, LeafColumn) for one in column.pools)
    return all(isinstance(one, Remembered) and one.blind for one in found)
