"""What a column knows only when the columns below it are done: what is present, what is absent, what is equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.columns import Column, Link, ListColumn, MixedColumn, ObjectColumn
from arbitre.engine.identity import identities, keys_of
from arbitre.engine.multisets import marks
from arbitre.engine.runs import counts_of, starts_of
from arbitre.matching import Candidates

if TYPE_CHECKING:
    from arbitre.engine.columns import Indices
    from arbitre.schema.nodes import Site


def finish(column: Column, site: Site) -> None:
    """Settle the links of a column to the columns below it, then which of its own rows are left."""
    if isinstance(column, ObjectColumn):
        _finish_object(column)
        if site.absent.object:
            column.alive = _unless_all(column.sizes > 0.0)
    elif isinstance(column, ListColumn):
        _finish_list(column)
        if site.absent.array:
            column.alive = _unless_all(column.sizes > 0.0)
    elif isinstance(column, MixedColumn) and any(part.alive is not None for part in column.parts):
        column.alive = np.ones(column.size, dtype=np.bool_)
        for number, part in enumerate(column.parts):
            if part.alive is not None:
                here = column.part == number
                column.alive[here] = part.alive[column.rows[here]]


def _unless_all(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> np.ndarray[tuple[int], np.dtype[np.bool_]] | None:
    return None if mask.all() else mask


def _finish_link(link: Link, size: int) -> None:
    child = link.column
    if child.size == size and child.alive is None:
        return
    index = np.full(size, -1, dtype=np.intp)
    rows = np.arange(child.size, dtype=np.intp) if child.alive is None else child.alive.nonzero()[0]
    index[child.origin[rows]] = rows
    link.index = index


def _finish_object(column: ObjectColumn) -> None:
    weights = np.zeros(column.size)
    for link in column.links:
        _finish_link(link, column.size)
        weights += link.weight if link.index is None else np.where(link.index >= 0, link.weight, 0.0)
    for entries in column.maps:
        child = entries.column
        if child.alive is not None:
            entries.rows, entries.keys = entries.rows[child.alive], entries.keys[child.alive]
        counts = np.bincount(child.origin[entries.rows], minlength=column.size)
        entries.starts = starts_of(counts)
        entries.width = int(entries.keys.max(initial=-1)) + 1
        entries.table = child.origin[entries.rows] * entries.width + entries.keys
        weights += counts
    column.sizes = weights


def _finish_list(column: ListColumn) -> None:
    items = column.items
    if items is None:
        column.starts = np.zeros(column.size + 1, dtype=np.intp)
    else:
        kept = _kept(column, items)
        if kept is not None and column.groups is not None:
            column.groups = column.groups[kept]
        if kept is not None:
            column.index = kept
            column.starts = starts_of(np.bincount(items.origin[kept], minlength=column.size))
    column.lengths = counts_of(column.starts)
    column.sizes = column.lengths.astype(np.float64)
    for link in column.prefix:
        _finish_link(link, column.size)
        column.sizes += link.rows(np.arange(column.size, dtype=np.intp)) >= 0
    column.marks = marks(column)


def _kept(column: ListColumn, items: Column) -> Indices | None:
    """The rows of the items that are matched, None where all are; their groups are settled on the way."""
    kept = None if items.alive is None else items.alive.nonzero()[0]
    matcher = column.matcher
    if matcher.candidates is Candidates.SAME_KEY:
        column.groups = keys_of(items, matcher.key)
    elif matcher.candidates is Candidates.SAME_VALUE:
        column.groups = identities(items)
        rows = np.arange(items.size, dtype=np.intp) if kept is None else kept
        _, first = np.unique(np.stack([items.origin[rows], column.groups[rows]]), axis=1, return_index=True)
        kept = rows[np.sort(first)]
    return kept
