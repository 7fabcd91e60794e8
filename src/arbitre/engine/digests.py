"""Numbers that are the same for rows that are equal as canonical values: quick to make, and almost never else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from arbitre.engine.columns import Column, LeafColumn, ListColumn, MixedColumn, ObjectColumn, descendants
from arbitre.engine.runs import gathered

if TYPE_CHECKING:
    from arbitre.engine.columns import Indices

Digests = npt.NDArray[np.uint64]

_ABSENT: Final = np.uint64(0x9E3779B97F4A7C15)


def digests(column: Column) -> Digests:
    """A digest of each row; shape (size,). Lists are read as their matching reads them: mostly in any order."""
    found: dict[int, Digests] = {}
    for one in reversed(descendants(column)):
        found[one.number] = _digest(one, found)
    return found[column.number]


def scatter(values: Digests, salt: int = 0) -> Digests:
    """Scatter 64-bit numbers (the finaliser of SplitMix64; Steele, Lea and Flood, 2014).

    What is combined by exclusive or needs different salts: else a with b and b with a come to the same.
    """
    mixed = values + np.uint64((salt + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    scattered: Digests = mixed ^ (mixed >> np.uint64(31))
    return scattered


def _sums(values: Digests, starts: Indices) -> Digests:
    """The sum of each row's values, wrapping around: the order of the values does not count."""
    running = np.zeros(len(values) + 1, dtype=np.uint64)
    np.cumsum(values, out=running[1:])
    totals: Digests = running[starts[1:]] - running[starts[:-1]]
    return totals


def _digest(column: Column, below: dict[int, Digests]) -> Digests:
    if isinstance(column, LeafColumn):
        return scatter(column.codes.astype(np.uint64))
    if isinstance(column, ObjectColumn):
        return _of_objects(column, below)
    if isinstance(column, ListColumn):
        return _of_lists(column, below)
    total = np.zeros(column.size, dtype=np.uint64)
    if isinstance(column, MixedColumn):
        for number, part in enumerate(column.parts):
            here = column.part == number
            total[here] = scatter(below[part.number][column.rows[here]], number)
    return total


def _of_objects(column: ObjectColumn, below: dict[int, Digests]) -> Digests:
    rows = np.arange(column.size, dtype=np.intp)
    total = np.zeros(column.size, dtype=np.uint64)
    for number, link in enumerate(column.links):
        total += scatter(gathered(below[link.column.number], link.rows(rows), _ABSENT), number)
    for number, entries in enumerate(column.maps, start=len(column.links)):
        keyed = scatter(entries.keys.astype(np.uint64), number + 1) ^ below[entries.column.number][entries.rows]
        total += _sums(scatter(keyed), entries.starts)
    return scatter(total)


def _of_lists(column: ListColumn, below: dict[int, Digests]) -> Digests:
    rows = np.arange(column.size, dtype=np.intp)
    total = column.lengths.astype(np.uint64)
    for number, link in enumerate(column.prefix, start=1):
        total += scatter(gathered(below[link.column.number], link.rows(rows), _ABSENT), number)
    if column.items is not None:
        slots = np.arange(int(column.starts[-1]), dtype=np.intp)
        items = below[column.items.number][column.rows(slots)]
        if column.matcher.in_order:
            place = slots - column.starts[:-1].repeat(column.lengths)
            items ^= scatter(place.astype(np.uint64), 1)
        total += _sums(scatter(items), column.starts)
    return scatter(total)
