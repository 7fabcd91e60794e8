"""What the items of lists weigh where mass is moved between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.columns import Column, LeafColumn, ListColumn, MixedColumn, ObjectColumn, descendants
from arbitre.engine.identity import fields_at
from arbitre.engine.runs import gathered, spread
from arbitre.matching.catalog import Masses
from arbitre.values import Kind

if TYPE_CHECKING:
    from arbitre.engine.columns import Floats
    from arbitre.matching.catalog import Transport


def masses_of(items: Column, how: Transport) -> Floats:
    """The mass of every row of a column of items; NaN where the field that weighs it holds no number."""
    if how.masses is Masses.UNIFORM:
        return np.ones(items.size)
    if how.masses is Masses.SIZE:
        return leaf_counts(items)
    return _field(items, how.masses)


def leaf_counts(column: Column) -> Floats:
    """How many leaves every row holds; a value, or an object or list that is present but empty, is one itself."""
    counts: dict[int, Floats] = {}
    for one in reversed(descendants(column)):
        found = _held(one, counts)
        found[found == 0.0] = 1.0
        counts[one.number] = found
    return counts[column.number]


def _held(column: Column, below: dict[int, Floats]) -> Floats:
    """The leaves below every row; 0 where there are none."""
    total = np.zeros(column.size)
    rows = np.arange(column.size, dtype=np.intp)
    if isinstance(column, ObjectColumn):
        for link in column.links:
            total += gathered(below[link.column.number], link.rows(rows), 0)
        for entries in column.maps:
            owner, which = spread(entries.starts, rows)
            held = below[entries.column.number][entries.rows[which]]
            total += np.bincount(owner, weights=held, minlength=column.size)
    elif isinstance(column, ListColumn):
        for link in column.prefix:
            total += gathered(below[link.column.number], link.rows(rows), 0)
        if column.items is not None:
            owner, slots = spread(column.starts, rows)
            held = below[column.items.number][column.rows(slots)]
            total += np.bincount(owner, weights=held, minlength=column.size)
    elif isinstance(column, MixedColumn):
        for number, part in enumerate(column.parts):
            here = column.part == number
            total[here] = below[part.number][column.rows[here]]
    return total


def _field(items: Column, tokens: tuple[str, ...]) -> Floats:
    """The number under these tokens in every row, as it was read."""
    found = np.full(items.size, np.nan)
    for column, rows, owners in fields_at(items, tokens):
        if isinstance(column, LeafColumn):
            numbers = column.kinds_at(rows) == Kind.NUMBER
            found[owners[numbers]] = [float(value) for value in column.values_of(rows[numbers])]
    return found
