"""64-bit hashes of rows, to find equal items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from arbitre.engine.columns.column import Column, LeafColumn, folded
from arbitre.engine.columns.ragged import take_or

if TYPE_CHECKING:
    from arbitre.arrays import Indices

Digests = npt.NDArray[np.uint64]

_ABSENT: Final = np.uint64(0x9E3779B97F4A7C15)
"""Hash of an absent field."""


def row_hashes(column: Column) -> Digests:
    """Return a hash of each row, the same for equal normalised values; shape (size,).

    The order of a list matters only if its matching depends on it. Different values can have the same hash, with the
    probability of a 64-bit collision.
    """
    return folded(column, _of_leaves, _of_containers)


def mix_bits(values: Digests, salt: int = 0) -> Digests:
    """Mix the bits of 64-bit numbers with the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).

    Use different salts for numbers that are combined by XOR: otherwise swapped numbers give the same result.
    """
    mixed = values + np.uint64((salt + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    scattered: Digests = mixed ^ (mixed >> np.uint64(31))
    return scattered


def _of_leaves(column: LeafColumn) -> Digests:
    return mix_bits(column.codes.astype(np.uint64))


def _of_containers(column: Column, below: dict[int, Digests]) -> Digests:
    rows = np.arange(column.size, dtype=np.intp)
    total = np.zeros(column.size, dtype=np.uint64)
    for number, link in enumerate(column.links):
        total += mix_bits(take_or(below[link.column.number], link.rows(rows), _ABSENT), number)
    for number, entries in enumerate(column.slices, start=len(column.links)):
        values = below[entries.column.number][entries.rows(np.arange(entries.starts[-1], dtype=np.intp))]
        keys = entries.keys()
        if keys is not None:
            values = values ^ mix_bits(keys.astype(np.uint64), number + 1)
        total += _sums(mix_bits(values, number), entries.starts)
    return mix_bits(total)


def _sums(values: Digests, starts: Indices) -> Digests:
    """Return the sum of each row's values modulo 2^64, which does not depend on their order."""
    running = np.zeros(len(values) + 1, dtype=np.uint64)
    np.cumsum(values, out=running[1:])
    totals: Digests = running[starts[1:]] - running[starts[:-1]]
    return totals
