"""Which rows of a column are equal as canonical values, and what their keys are."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.columns import Column, LeafColumn, ListColumn, MixedColumn, ObjectColumn, descendants
from arbitre.engine.runs import gathered, spread

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from arbitre.engine.columns import Indices


def identities(column: Column) -> Indices:
    """A code for each row, the same where two rows are equal: normalised, without what counts as absent.

    Lists are equal as the lists their matching makes of them: in any order, unless it looks at the order; as sets
    under `set`. Rows that count as absent have codes too.
    """
    codes: dict[int, Indices] = {}
    for one in reversed(descendants(column)):
        codes[one.number] = _codes(one, codes)
    return codes[column.number]


def _codes(column: Column, below: dict[int, Indices]) -> Indices:
    if isinstance(column, LeafColumn):
        return column.codes
    keys: list[Hashable]
    rows = np.arange(column.size, dtype=np.intp)
    if isinstance(column, MixedColumn):
        keys = [
            (part, int(below[column.parts[part].number][row]))
            for part, row in zip(column.part.tolist(), column.rows.tolist(), strict=True)
        ]
    elif isinstance(column, ObjectColumn):
        fields = [gathered(below[link.column.number], link.rows(rows), -1).tolist() for link in column.links]
        keys = list(zip(*fields, strict=True)) if fields else [()] * column.size
        for link in column.maps:
            values = below[link.column.number][link.rows].tolist()
            names, starts = link.keys.tolist(), link.starts.tolist()
            keys = [
                (key, *zip(names[start:stop], values[start:stop], strict=True))
                for key, start, stop in zip(keys, starts, starts[1:], strict=False)
            ]
    elif isinstance(column, ListColumn):
        prefix = [gathered(below[link.column.number], link.rows(rows), -1).tolist() for link in column.prefix]
        heads = list(zip(*prefix, strict=True)) if prefix else [()] * column.size
        items: list[int] = []
        if column.items is not None:
            items = below[column.items.number][column.rows(np.arange(column.starts[-1], dtype=np.intp))].tolist()
        starts = column.starts.tolist()
        slices = (items[start:stop] for start, stop in pairwise(starts))
        keys = [
            (head, tuple(inner if column.matcher.in_order else sorted(inner)))
            for head, inner in zip(heads, slices, strict=True)
        ]
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.intp)


def keys_of(items: Column, key: tuple[tuple[str, ...], ...]) -> Indices:
    """A code for the key of each item, the same where all its fields are equal; -1 where one is absent."""
    parts = [_field(items, tokens) for tokens in key]
    seen: dict[Hashable, int] = {}
    return np.array(
        [
            -1 if -1 in row else seen.setdefault(row, len(seen))
            for row in zip(*(p.tolist() for p in parts), strict=True)
        ],
        dtype=np.intp,
    )


def _field(items: Column, tokens: tuple[str, ...]) -> Indices:
    """The code of the value under these tokens in each row, or -1."""
    found = np.full(items.size, -1, dtype=np.intp)
    offset = 0
    for column, rows, owners in fields_at(items, tokens):
        alive = np.ones(len(rows), dtype=np.bool_) if column.alive is None else column.alive[rows]
        codes = identities(column)
        found[owners[alive]] = codes[rows[alive]] + offset
        offset += int(codes.max(initial=-1)) + 1
    return found


def fields_at(items: Column, tokens: tuple[str, ...]) -> Iterator[tuple[Column, Indices, Indices]]:
    """The values under these tokens below rows of a column: their columns, their rows there, and below which row."""
    every: Indices = np.arange(items.size, dtype=np.intp)
    pending: list[tuple[Column, Indices, Indices, int]] = [(items, every, every, 0)]
    while pending:
        column, rows, owners, depth = pending.pop()
        if isinstance(column, MixedColumn):
            for number, part in enumerate(column.parts):
                here = column.part[rows] == number
                pending.append((part, column.rows[rows[here]], owners[here], depth))
        elif depth == len(tokens):
            yield column, rows, owners
        elif isinstance(column, ObjectColumn):
            for link in column.links:
                if link.column.token == tokens[depth]:
                    inner = link.rows(rows)
                    pending.append((link.column, inner[inner >= 0], owners[inner >= 0], depth + 1))
            for entries in column.maps:
                owner, which = spread(entries.starts, rows)
                inner = entries.rows[which]
                here = np.array([token == tokens[depth] for token in entries.column.tokens_of(inner)], dtype=np.bool_)
                pending.append((entries.column, inner[here], owners[owner[here]], depth + 1))
