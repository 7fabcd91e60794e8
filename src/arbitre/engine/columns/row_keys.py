"""Codes, hashes and keys that identify equal rows, and look-up of fields by their tokens."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from arbitre.engine.columns.column import (
    Column,
    LeafColumn,
    ListColumn,
    MixedColumn,
    MultisetKeys,
    by_kind,
    folded,
    leaf_columns,
)
from arbitre.engine.columns.ragged import rank_among_equal, take_or

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from arbitre.arrays import Indices


def row_codes(column: Column) -> Indices:
    """Return a code for each row, equal if and only if the rows are equal; shape (size,).

    Values are compared after normalisation and without absent values. The order of a list matters only if its matching
    depends on it. Absent rows have codes too.
    """
    return folded(column, lambda leaves: leaves.codes, _known_or_identities)


def _known_or_identities(column: Column, below: dict[int, Indices]) -> Indices:
    return _identities(column, below) if column.memo is None else column.memo.codes


def _identities(column: Column, below: dict[int, Indices]) -> Indices:
    """Return a code for each row of a container, from the codes of its fields and entries; shape (size,)."""
    rows = np.arange(column.size, dtype=np.intp)
    fields = [take_or(below[link.column.number], link.rows(rows), -1).tolist() for link in column.links]
    parts: list[Iterable[Hashable]] = [*fields]
    for entries in column.slices:
        values = below[entries.column.number][entries.rows(np.arange(entries.starts[-1], dtype=np.intp))].tolist()
        keys = entries.keys()
        if keys is not None:
            values = list(zip(keys.tolist(), values, strict=True))
        parts.append([tuple(sorted(values[start:stop])) for start, stop in pairwise(entries.starts.tolist())])
    return _codes_of(zip(*parts, strict=True) if parts else [()] * column.size)


def _codes_of(keys: Iterable[Hashable]) -> Indices:
    """Return a code for each key, in order of appearance."""
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.intp)


def key_codes(items: Column, key: tuple[tuple[str, ...], ...]) -> Indices:
    """Return a code for the key of each item, the same if all key fields are equal; -1 if a key field is absent."""
    parts = [_field(items, tokens) for tokens in key]
    codes = _codes_of(zip(*(part.tolist() for part in parts), strict=True))
    codes[np.any(np.stack(parts) < 0, axis=0)] = -1
    return codes


def _field(items: Column, tokens: tuple[str, ...]) -> Indices:
    """Return the code of the value at these tokens below each row, or -1."""
    field_codes = np.full(items.size, -1, dtype=np.intp)
    offset = 0
    for column, rows, owners in find_fields(items, tokens):
        present = np.ones(len(rows), dtype=np.bool_) if column.present is None else column.present[rows]
        codes = row_codes(column)
        field_codes[owners[present]] = codes[rows[present]] + offset
        offset += int(codes.max(initial=-1)) + 1
    return field_codes


def find_fields(items: Column, tokens: tuple[str, ...]) -> Iterator[tuple[Column, Indices, Indices]]:
    """Find the values at these tokens below the rows of a column.

    Yields:
        A column with such values, their rows in it, and the row of `items` that holds each.
    """
    all_rows: Indices = np.arange(items.size, dtype=np.intp)
    pending: list[tuple[Column, Indices, Indices, int]] = [(items, all_rows, all_rows, 0)]
    while pending:
        column, rows, owners, depth = pending.pop()
        mixed = isinstance(column, MixedColumn)
        if depth == len(tokens) and not mixed:
            yield column, rows, owners
            continue
        for link in column.links:
            if mixed or link.column.token == tokens[depth]:
                below = link.rows(rows)
                linked = below >= 0
                pending.append((link.column, below[linked], owners[linked], depth if mixed else depth + 1))
        for entries in column.slices:
            owner, below = entries.below(rows)
            hit = np.array([token == tokens[depth] for token in entries.column.tokens_of(below)], dtype=np.bool_)
            pending.append((entries.column, below[hit], owners[owner[hit]], depth + 1))


# 64-bit hashes of rows, to find equal items.


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
    """Return a hash for each row of a container, from the hashes of its fields and entries; shape (size,)."""
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


# Keys that identify equal items of lists of discrete values.


def multiset_keys(column: ListColumn) -> MultisetKeys | None:
    """Return the keys of the items of lists; None unless two items always have distance 0 or 1."""
    items = column.items
    if items is None or not column.is_multiset:
        return None
    slots = np.arange(int(column.starts[-1]), dtype=np.intp)
    keys = _codes(items)[column.rows(slots)]
    owner = np.arange(column.size, dtype=np.intp).repeat(column.lengths)
    has_uncountable = np.zeros(column.size, dtype=np.bool_)
    uncountable = (keys < 0).nonzero()[0]
    if len(uncountable):
        has_uncountable[owner[uncountable]] = True
        keys = keys.copy()
        keys[uncountable] = int(keys.max(initial=0)) + 1 + np.arange(len(uncountable), dtype=np.intp)
    width = int(keys.max(initial=0)) + 1
    table = owner * width + keys
    order = table.argsort(kind="stable")
    nth = rank_among_equal(table[order])
    if nth.any():  # the t-th occurrence of equal items in a list gets its own key
        keys = keys.copy()
        keys[order] += nth * width
        width *= int(nth.max()) + 1
        table = owner * width + keys
        order = table.argsort(kind="stable")
    return MultisetKeys(keys, width, table[order], order, has_uncountable)


def _codes(items: Column) -> Indices:
    """Return a code for each item, the same for equal items; -1 for undeclared kinds. Shape (items,)."""
    codes = np.full(items.size, -1, dtype=np.intp)
    for link in by_kind(items):
        for leaves in leaf_columns([link.column]):
            rows = link.rows(np.arange(items.size, dtype=np.intp))
            linked = (rows >= 0).nonzero()[0]
            codes[linked] = _exact_codes(leaves)[rows[linked]]
    return codes


def _exact_codes(column: LeafColumn) -> Indices:
    exact = np.array([leaf.distance.name == "exact" for leaf in column.leaves], dtype=np.bool_)
    if exact.all():
        return column.codes
    return np.where(exact[column.slots[column.codes]], column.codes, -1)
