"""Copies of columns in which the values at one path do not count, or are exchanged at random.

The rows of all columns stay the same, so that what is found on a copy is valid for the original.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.columns.column import (
    Column,
    KnownQualities,
    LeafColumn,
    ListColumn,
    Memo,
    ObjectColumn,
    descendants,
)
from arbitre.engine.columns.link import link_fields
from arbitre.engine.columns.multiset_keys import multiset_keys
from arbitre.engine.columns.row_codes import row_codes

if TYPE_CHECKING:
    from arbitre.arrays import Mask


def ancestors(column: Column) -> list[Column]:
    """Return the columns above a column, from the root down, then the column."""
    chain = [column]
    while chain[-1].parent is not None:
        chain.append(chain[-1].parent)
    return chain[::-1]


def without(column: Column, *, keep: bool = False) -> list[Column]:
    """Return copies of all columns in which the rows of `column` do not count when other rows are compared.

    Args:
        column: The column to leave out: a field, the items of lists or the entries of maps.
        keep: Whether a field stays in the copies, with weight 0, so that its rows are matched with those of the objects
            that contain it.

    Returns:
        The copies, by number. The columns below a column that was left out are copied too.
    """
    columns = _copied(column)
    parent = columns[column.number].parent
    if parent is None:
        return columns
    for link in parent.links:
        if link.column.number == column.number and keep:
            link.weight = 0.0
    if not keep:
        parent.links = [link for link in parent.links if link.column.number != column.number]
    if isinstance(parent, ObjectColumn):
        parent.maps = [entries for entries in parent.maps if entries.column.number != column.number]
    elif isinstance(parent, ListColumn) and parent.items is not None and parent.items.number == column.number:
        parent.items = parent.index = parent.match_keys = parent.multiset_keys = None
        parent.starts, parent.lengths = np.zeros_like(parent.starts), np.zeros_like(parent.lengths)
    link_fields(parent)
    if isinstance(parent, ListColumn):
        parent.sizes += parent.lengths
    for above in ancestors(parent):
        if isinstance(above, ListColumn):  # equal items are found by all their fields
            above.match_equal_first = above.match_equal_first and not keep
    return columns


def permuted(column: Column, chosen: Mask, random: np.random.Generator) -> list[Column]:
    """Return copies of all columns in which the chosen rows of `column` are exchanged at random.

    Args:
        column: A field, the items of lists or the entries of maps.
        chosen: Which rows are exchanged; shape (size,).
        random: Draws the permutation.
    """
    rows = chosen.nonzero()[0]
    exchanged = np.arange(column.size + 1, dtype=np.intp)
    exchanged[-1] = -1
    exchanged[rows] = random.permutation(rows)
    columns = _copied(column)
    parent = columns[column.number].parent
    if parent is None:
        return columns
    every = np.append(np.arange(parent.size, dtype=np.intp), -1)
    parent.links = [
        replace(link, index=exchanged[link.rows(every)]) if link.column.number == column.number else link
        for link in parent.links
    ]
    if isinstance(parent, ObjectColumn):
        parent.maps = [
            replace(entries, index=exchanged[entries.rows(np.arange(entries.starts[-1], dtype=np.intp))])
            if entries.column.number == column.number
            else entries
            for entries in parent.maps
        ]
    elif isinstance(parent, ListColumn) and parent.items is not None and parent.items.number == column.number:
        parent.index = exchanged[parent.rows(np.arange(parent.starts[-1], dtype=np.intp))]
        parent.multiset_keys = multiset_keys(parent)
    return columns


def _copied(column: Column) -> list[Column]:
    """Return copies of all columns of a tree, by number, that refer to each other."""
    originals = sorted(descendants(ancestors(column)[0]), key=lambda each: each.number)
    copies = [copy(original) for original in originals]
    for each in copies:
        each.parent = None if each.parent is None else copies[each.parent.number]
        each.links = [replace(link, column=copies[link.column.number]) for link in each.links]
        if isinstance(each, ObjectColumn):
            each.maps = [replace(entries, column=copies[entries.column.number]) for entries in each.maps]
        elif isinstance(each, ListColumn) and each.items is not None:
            each.items = copies[each.items.number]
    for each in ancestors(copies[column.number])[:-1]:
        each.memo = None
    return copies


def memorise(root: Column) -> None:
    """Keep what is computed about the rows of all columns below the root, for their copies.

    Kept are the qualities of fields that are lists or objects, and of long texts. This saves a quarter of the time of
    measuring the agreement on nested documents.
    """
    for column in sorted(descendants(root), key=lambda each: each.number, reverse=True):
        several = not (isinstance(column, LeafColumn) or column.item)
        slow = isinstance(column, LeafColumn) and any(pool.exactly_bounded is not None for pool in column.pools)
        column.memo = Memo(row_codes(column), KnownQualities(column.size) if several or slow else None)
