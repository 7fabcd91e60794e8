"""Find the items that contain the values of other items, from the words and numbers they share."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.sparse import csr_array

from arbitre.diagnosis.causes.join_values import words
from arbitre.engine.columns.column import Column, LeafColumn
from arbitre.engine.columns.ragged import first_of_equal, rank_among_equal
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.arrays import Indices

DIGITS: Final = 9
"""Decimal places to which shares are rounded, so that they do not depend on the order of summation."""


def containing_items(
    column: Column, parts: Indices, wholes: Indices, owner: Indices, *, share: float, nearest: int
) -> tuple[Indices, Indices]:
    """Find, for each part, the items that contain most of its values.

    The values of an item are the words of its texts and its other scalars, each at its path. A value weighs
    log(1 + n / k) if k of the n wholes of the same list contain it.

    Args:
        column: The column of the items.
        parts: Rows of the items to look for; shape (parts,).
        wholes: Rows of the items to search; shape (wholes,).
        owner: List of each row; a part is searched in the wholes with the same number. Shape (rows,).
        share: Minimum share of the part's values, by weight, that the whole contains, in [0, 1].
        nearest: Maximum number of wholes for each part.

    Returns:
        The part and the whole of each result, as rows; parts in order, the wholes of a part from best to worst.
    """
    none = np.empty(0, dtype=np.intp)
    if len(parts) == 0 or len(wholes) == 0:
        return none, none
    tokens = list(_tokens(column, np.concatenate([parts, wholes])))
    position = np.concatenate([none, *(at for at, _ in tokens)])
    code = np.concatenate([none, *(codes for _, codes in tokens)])
    if len(code) == 0:
        return none, none
    lists = owner[np.concatenate([parts, wholes])]
    keys = code * (int(lists.max()) + 1) + lists[position]
    in_parts = position < len(parts)
    known, code_of_part = np.unique(keys[in_parts], return_inverse=True)
    code_of_whole = known.searchsorted(keys[~in_parts])
    code_of_whole[code_of_whole == len(known)] = 0
    shared = known[code_of_whole] == keys[~in_parts] if len(known) else np.zeros(0, dtype=np.bool_)
    of_parts = _incidence(position[in_parts], code_of_part, len(parts), len(known))
    of_wholes = _incidence(position[~in_parts][shared] - len(parts), code_of_whole[shared], len(wholes), len(known))
    holders = np.maximum(of_wholes.sum(axis=0), 1.0)
    sizes = np.bincount(lists[len(parts) :], minlength=int(lists.max()) + 1)
    weights = np.log1p(sizes[known % (int(lists.max()) + 1)] / holders)
    total = of_parts @ weights
    table = (of_parts.multiply(weights[None, :]) @ of_wholes.T).tocoo()
    shares = np.round(table.data / total[table.row], DIGITS)
    best = np.lexsort((table.col, -shares, table.row))
    part, whole = table.row[best].astype(np.intp), table.col[best].astype(np.intp)
    keep = (shares[best] >= share) & (rank_among_equal(part) < nearest)
    return parts[part[keep]], wholes[whole[keep]]


def _incidence(rows: Indices, columns: Indices, height: int, width: int) -> csr_array:
    """Return a matrix with 1 in these cells, however often they occur."""
    cells = np.sort(rows * max(1, width) + columns)
    cells = cells[first_of_equal(cells)]
    return csr_array((np.ones(len(cells)), np.divmod(cells, max(1, width))), shape=(height, width))


def _tokens(column: Column, rows: Indices) -> Iterator[tuple[Indices, Indices]]:
    """Yield positions in `rows` and codes of values of these items; equal values at one path have the same code."""
    codes: defaultdict[object, int] = defaultdict(count().__next__)
    pending = [(column, np.arange(len(rows), dtype=np.intp), rows)]
    while pending:
        here, position, held = pending.pop()
        for link in here.links:
            below = link.rows(held)
            present = below >= 0
            pending.append((link.column, position[present], below[present]))
        for entries in here.slices:
            owner, below = entries.below(held)
            pending.append((entries.column, position[owner], below))
        if isinstance(here, LeafColumn):
            yield from _leaf_tokens(here, position, held, codes)


def _leaf_tokens(
    column: LeafColumn, position: Indices, rows: Indices, codes: defaultdict[object, int]
) -> Iterator[tuple[Indices, Indices]]:
    """Yield the tokens of single values: a list or an object that is one leaf has those of its parts."""
    present = column.codes[rows] >= 0
    position, rows = position[present], rows[present]
    numbers, inverse = np.unique(column.codes[rows], return_inverse=True)
    of_code = [[codes[column.number, word] for word in words(column.values[number])] for number in numbers.tolist()]
    containers = [at for at, row in enumerate(rows.tolist()) if isinstance(column.raw[row], (list, dict))]
    if not containers:
        lists = [of_code[number] for number in inverse.tolist()]
    else:
        lists = [of_code[number] for number in inverse.tolist()]
        for at in containers:
            lists[at] = [codes[column.number, word] for word in words(column.raw[int(rows[at])])]
    sizes = np.fromiter(map(len, lists), dtype=np.intp, count=len(lists))
    yield position.repeat(sizes), np.array([code for part in lists for code in part], dtype=np.intp)
