"""Ties between matchings of lists around the entries, broken by the tally of the entries.

Several matchings of an outer list can have the same greatest sum of qualities and leave different entries matched. Of
these, the one is selected whose entries have the greatest sum of qualities; then, the fewest entries on both sides
(their number depends on the matching under `transport`); then, the most matched entries. Without this, the scores of
the entries would depend on the order of the list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.engine.columns.column import Column, LeafColumn, ListColumn, folded, held_sums
from arbitre.engine.solve.multiset_matching import count_equal

if TYPE_CHECKING:
    from arbitre.arrays import Floats, Indices
    from arbitre.engine.solve.batches import Batch, TransportMatches
    from arbitre.paths import Path

_FEWER: Final = 2.0**-10
"""Worth of one entry less, relative to a quality of 1."""

_MATCHED: Final = 2.0**-20
"""Worth of one more matched entry, relative to a quality of 1."""


def entry_worth(batch: Batch, entries: Path) -> Floats:
    """Return what the matched entries below each pair of a closed batch are worth in a tie; shape (pairs,)."""
    quality, surplus, matched = _entry_sums(batch, entries)
    worth: Floats = quality - _FEWER * surplus + _MATCHED * matched
    return worth


def _entry_sums(batch: Batch, entries: Path) -> Floats:
    """Return sums over the matched entries below each pair; shape (3, pairs).

    They are the quality, the number of entries on both sides beyond those of the unmatched rows, and the matched
    entries.
    """
    column, size = batch.column, len(batch)
    if column.path == entries and isinstance(column, ListColumn):
        return _list_sums(batch, column)
    sums = np.zeros((3, size))
    for field_pairs in batch.fields:
        if _leads_to(field_pairs.batch.column, entries):
            below = _entry_sums(field_pairs.batch, entries)
            sums += below if field_pairs.owner is None else _by_owner(field_pairs.owner, below, size)
    for match in batch.matches:
        if _leads_to(match.batch.column, entries):
            sums += _by_owner(match.owner, _entry_sums(match.batch, entries)[:, match.at], size)
    for transport in batch.transports:
        if _leads_to(transport.batch.column, entries):
            sums += _transported_sums(batch, transport, entries)
    return sums


def _list_sums(batch: Batch, column: ListColumn) -> Floats:
    """Return the sums of pairs of lists of entries."""
    size = len(batch)
    sums = np.zeros((3, size))
    for match in batch.matches:
        quality = match.batch.quality[match.at]
        sums += _by_owner(match.owner, np.stack([quality, np.zeros_like(quality), np.ones_like(quality)]), size)
    if batch.multiset_pairs is not None and column.multiset_keys is not None:
        left, right = batch.left[batch.multiset_pairs], batch.right[batch.multiset_pairs]
        sums[0, batch.multiset_pairs] += count_equal(column, column.multiset_keys, left, right)
        sums[2, batch.multiset_pairs] += np.minimum(column.lengths[left], column.lengths[right])
    for transport in batch.transports:
        sums[:, transport.which] += np.stack([transport.total, transport.shift, transport.matched])
    return sums


def _transported_sums(batch: Batch, transport: TransportMatches, entries: Path) -> Floats:
    """Return the sums of pairs of lists around the entries between which mass moves."""
    size, items = len(batch), _entry_counts(transport.batch.column, entries)
    below = _entry_sums(transport.batch, entries)[:, transport.at]
    below[1] += items[transport.batch.left[transport.at]] + items[transport.batch.right[transport.at]]
    sums = _by_owner(transport.owner, below * transport.mass, size)
    for rest in (transport.gold, transport.predicted):
        sums[1] += np.bincount(rest.owner, rest.mass * items[rest.rows], minlength=size)
    lists = _entry_counts(batch.column, entries)
    sums[1, transport.which] -= (lists[batch.left] + lists[batch.right])[transport.which]
    return sums


def _by_owner(owner: Indices, values: Floats, size: int) -> Floats:
    """Return the sum of the values of each owner; shapes (3, n) and (3, size)."""
    return np.stack([np.bincount(owner, row, minlength=size) for row in values]).astype(np.float64)


def _leads_to(column: Column, entries: Path) -> bool:
    """Return whether the entries may be in the rows of a column."""
    return column.path == entries[: len(column.path)]


def _entry_counts(column: Column, entries: Path) -> Floats:
    """Return the number of entries below each row of a column; shape (rows,)."""

    def of_container(part: Column, below: dict[int, Floats]) -> Floats:
        if not _leads_to(part, entries):
            return np.zeros(part.size)
        if part.path == entries and isinstance(part, ListColumn):
            return part.lengths.astype(np.float64)
        return held_sums(part, below)

    return folded(column, _no_entries, of_container)


def _no_entries(column: LeafColumn) -> Floats:
    return np.zeros(column.size)
