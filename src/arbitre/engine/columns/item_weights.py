"""Masses of the items of lists that are matched by optimal transport."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.columns.column import Column, folded, leaf_columns
from arbitre.engine.columns.fields import get_field
from arbitre.engine.columns.ragged import take_or
from arbitre.engine.columns.row_keys import find_fields
from arbitre.matching.transport_options import MassScheme
from arbitre.values import ABSENT, Kind, kind_of

if TYPE_CHECKING:
    from arbitre.arrays import Floats
    from arbitre.matching.transport_options import TransportOptions


def item_weights(items: Column, how: TransportOptions) -> Floats:
    """Return the mass of each item before normalisation; NaN if its mass field is not a number."""
    if how.masses is MassScheme.UNIFORM:
        return np.ones(items.size)
    if how.masses is MassScheme.SIZE:
        return leaf_counts(items)
    return _field(items, how.masses)


def leaf_counts(column: Column) -> Floats:
    """Return the number of leaves in each row; shape (size,). An empty object or list counts as one leaf."""
    return folded(column, lambda leaves: np.ones(leaves.size), _sum_leaves)


def _sum_leaves(column: Column, below: dict[int, Floats]) -> Floats:
    rows = np.arange(column.size, dtype=np.intp)
    total = np.zeros(column.size)
    for link in column.links:
        total += take_or(below[link.column.number], link.rows(rows), 0)
    for entries in column.slices:
        owner, inner = entries.below(rows)
        total += np.bincount(owner, weights=below[entries.column.number][inner], minlength=column.size)
    total[total == 0.0] = 1.0
    return total


def _field(items: Column, tokens: tuple[str, ...]) -> Floats:
    """Return the raw number at these tokens below each row, or NaN."""
    weights = np.full(items.size, np.nan)
    found = np.zeros(items.size, dtype=np.bool_)
    for column, rows, owners in find_fields(items, tokens):
        found[owners] = True
        for leaves in leaf_columns([column]):
            numbers = leaves.kinds_at(rows) == Kind.NUMBER
            values = leaves.values_of(rows[numbers])
            if leaves.readings is not None:  # the first reading is the mass
                values = [leaves.readings.raw[leaves.readings.of(row)[0]] for row in rows[numbers].tolist()]
            weights[owners[numbers]] = list(map(float, values))
    for row in (~found).nonzero()[0].tolist():  # ignored fields have no columns
        value = get_field(items.raw[row], tokens)
        if value is not ABSENT and kind_of(value) is Kind.NUMBER:
            weights[row] = float(value)
    return weights
