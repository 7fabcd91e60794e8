"""The pairs of a closed batch that are part of the optimal matching, and their results after some qualities changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.columns.column import LeafColumn
from arbitre.engine.solve.solver import settle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.arrays import Indices
    from arbitre.engine.columns.column import Column
    from arbitre.engine.solve.batches import Batch


def reached_pairs(root: Batch) -> list[tuple[Batch, Indices]]:
    """Return the batches below a closed batch, parents first, with the pairs that are part of the matching."""
    positions: dict[int, list[Indices]] = {id(root): [np.arange(len(root), dtype=np.intp)]}
    pending = [root]
    for batch in pending:  # grows during iteration; a batch is visited again when more of its pairs are reached
        at = np.unique(np.concatenate(positions[id(batch)]))
        for below, chosen in _below(batch, at):
            if len(chosen):
                positions.setdefault(id(below), []).append(chosen)
                pending.append(below)
    batches = sorted({id(batch): batch for batch in pending}.values(), key=lambda batch: batch.column.number)
    return [(batch, np.unique(np.concatenate(positions[id(batch)]))) for batch in batches]


def _below(batch: Batch, at: Indices) -> Iterator[tuple[Batch, Indices]]:
    """Yield the batches right below some pairs of a batch, with the pairs that belong to them."""
    selected = np.zeros(len(batch), dtype=np.bool_)
    selected[at] = True
    for fields in batch.fields:
        chosen = selected if fields.owner is None else selected[fields.owner]
        yield fields.batch, chosen.nonzero()[0]
    for match in batch.matches:
        yield match.batch, match.at[selected[match.owner]]
    for transport in batch.transports:
        yield transport.batch, transport.at[selected[transport.owner]]


def reached_matches(root: Batch) -> Iterator[tuple[Column, Batch, Indices]]:
    """Yield the column of each matched list or map, the batch of its items, and the positions of the matched pairs."""
    for batch, at in reached_pairs(root):
        selected = np.zeros(len(batch), dtype=np.bool_)
        selected[at] = True
        for match in batch.matches:
            yield batch.column, match.batch, match.at[selected[match.owner]]


def settle_reached(reached: Sequence[tuple[Batch, Indices]]) -> None:
    """Compute the qualities of objects and lists again, children first, after those of single values have changed."""
    for batch, _ in reversed(reached):
        if not isinstance(batch.column, LeafColumn):
            _sum_transported(batch)
            settle(batch)


def _sum_transported(batch: Batch) -> None:
    """Compute the quality mass of transported items again."""
    for transport in batch.transports:
        lists = np.searchsorted(transport.which, transport.owner)
        masses = transport.mass * transport.batch.quality[transport.at]
        transport.total = np.bincount(lists, weights=masses, minlength=len(transport.which)).astype(np.float64)
