"""Codes that identify equal rows, and look-up of fields by their tokens."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.columns.column import Column, MixedColumn, folded
from arbitre.engine.columns.ragged import take_or

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
