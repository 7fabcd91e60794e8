"""Locates the values for which a custom function failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.paths import wildcard
from arbitre.values import canonical

if TYPE_CHECKING:
    from arbitre.arrays import Indices, Mask
    from arbitre.engine.columns.column import LeafColumn
    from arbitre.errors import FunctionError
    from arbitre.values import Json


def located(error: FunctionError, column: LeafColumn, left: Indices, right: Indices) -> FunctionError:
    """Return an error with the path and the pointers of the values that it names.

    Args:
        error: The error of a pool of the column.
        column: The values that were compared.
        left: Gold rows of the compared pairs; shape (pairs,).
        right: Predicted rows of these pairs.
    """
    path = wildcard(column.path) or "the root"
    orders = (error.values, error.values[::-1]) if len(error.values) == 2 else ()  # noqa: PLR2004
    for gold, predicted in orders:  # a symmetric distance may have been called the other way round
        pairs = (_holding(column, left, gold) & _holding(column, right, predicted)).nonzero()[0]
        if len(pairs):
            row, other = int(left[pairs[0]]), int(right[pairs[0]])
            where = f" (path {path}; predicted: {column.pointer(other) or 'the root'})"
            placed = error.placed(where, pointer=column.pointer(row))
            placed.document = int(column.root_rows(left[pairs[:1]])[0])
            return placed
    return error.placed(f" (path {path})")


def _holding(column: LeafColumn, rows: Indices, value: Json) -> Mask:
    """Return a mask of the rows that hold a value, after normalisation."""
    key = canonical(value)
    codes = [code for code, known in enumerate(column.values) if canonical(known) == key]
    return np.isin(column.codes[rows], codes) & (rows >= 0)
