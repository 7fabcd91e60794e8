"""Second pass over the columns, children first: find absent rows and link parents to the rows that are present."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.columns.column import Column, Link, ListColumn, MixedColumn, ObjectColumn
from arbitre.engine.columns.multiset_keys import multiset_keys
from arbitre.engine.columns.ragged import add_one_by_one, counts_of, starts_of
from arbitre.engine.columns.row_codes import key_codes, row_codes
from arbitre.matching import Candidates

if TYPE_CHECKING:
    from arbitre.arrays import Indices, Mask
    from arbitre.schema.nodes import Site


@singledispatch
def link_children(column: Column, site: Site) -> None:
    """Link a column to the present rows of its child columns, then find which of its own rows are absent.

    The child columns must be linked already.
    """


@link_children.register(ObjectColumn)
def _object(column: ObjectColumn, site: Site) -> None:
    for entries in column.maps:
        child = entries.column
        rows = np.arange(child.size, dtype=np.intp)
        if child.present is not None:
            rows = entries.index = child.present.nonzero()[0]
            entries.codes = entries.codes[rows]
        counts = np.bincount(child.origin[rows], minlength=column.size)
        entries.starts = starts_of(counts)
        entries.width = int(entries.codes.max(initial=-1)) + 1
        entries.table = child.origin[rows] * entries.width + entries.codes
    link_fields(column)
    if site.absent.object:
        column.present = _nonempty(column)


@link_children.register(MixedColumn)
def _mixed(column: MixedColumn, site: Site) -> None:  # noqa: ARG001  (its child columns know what is absent)
    link_fields(column)
    column.present = _nonempty(column)


@link_children.register(ListColumn)
def _list(column: ListColumn, site: Site) -> None:
    items = column.items
    if items is None:
        column.starts = np.zeros(column.size + 1, dtype=np.intp)
    else:
        matched_rows = _rows_to_match(column, items)
        if matched_rows is not None:
            column.index = matched_rows
            column.starts = starts_of(np.bincount(items.origin[matched_rows], minlength=column.size))
            if column.match_keys is not None:
                column.match_keys = column.match_keys[matched_rows]
    column.lengths = counts_of(column.starts)
    link_fields(column)
    column.sizes += column.lengths
    column.multiset_keys = multiset_keys(column)
    if site.absent.array:
        column.present = _nonempty(column)


def link_fields(column: Column) -> None:
    """Index the links and set `sizes` to the total weight of each row's fields, added in the order of the columns."""
    column.sizes = np.zeros(column.size)
    maps = column.maps if isinstance(column, ObjectColumn) else ()
    for link in sorted([*column.links, *maps], key=lambda link: link.column.number):
        if isinstance(link, Link):
            _index(link, column.size)
            column.sizes += link.weight if link.index is None else np.where(link.index[:-1] >= 0, link.weight, 0.0)
        elif link.column.key_ranks is None:
            column.sizes += link.counts()
        else:
            owner = link.column.origin[link.rows(np.arange(link.starts[-1], dtype=np.intp))]
            column.sizes = add_one_by_one(column.sizes, owner, np.ones(len(owner)))


def _index(link: Link, size: int) -> None:
    child = link.column
    if child.size == size and child.present is None:
        return
    link.index = np.full(size + 1, -1, dtype=np.intp)
    rows = np.arange(child.size, dtype=np.intp) if child.present is None else child.present.nonzero()[0]
    link.index[child.origin[rows]] = rows


def _nonempty(column: Column) -> Mask | None:
    mask = column.sizes > 0.0
    return None if mask.all() else mask


def _rows_to_match(column: ListColumn, items: Column) -> Indices | None:
    """Return the rows of `items` to match (None: all), and set the keys of keyed and set matchings."""
    matched_rows = None if items.present is None else items.present.nonzero()[0]
    matcher = column.matcher
    if matcher.candidates is Candidates.SAME_KEY:
        column.match_keys = key_codes(items, matcher.key)
    elif matcher.candidates is Candidates.SAME_VALUE:
        column.match_keys = row_codes(items)
        rows = np.arange(items.size, dtype=np.intp) if matched_rows is None else matched_rows
        _, first = np.unique(np.stack([items.origin[rows], column.match_keys[rows]]), axis=1, return_index=True)
        matched_rows = rows[np.sort(first)]
    return matched_rows
