"""The qualities of pairs of rows: down along the columns for what is to be compared, up again for what comes of it.

A `Batch` is a column and the pairs of its rows that are compared at once. Opening a batch asks for the pairs below
it; closing it turns their qualities into its own. Batches are opened parents first and closed children first, so
there is no recursion and a column is measured in one call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.columns import (
    Column,
    Floats,
    Indices,
    LeafColumn,
    Link,
    ListColumn,
    MapLink,
    Mask,
    MixedColumn,
    ObjectColumn,
)
from arbitre.errors import SolverError
from arbitre.matching import Candidates, Coupling

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(eq=False, slots=True)
class Branch:
    """The pairs that a batch asks for in one column below it: pair s of `batch` belongs to pair `owner[s]` above.

    `owner` is None where every pair above has exactly one pair here, in the same order.
    """

    batch: Batch
    owner: Indices | None
    weight: float = 1.0


@dataclass(eq=False, slots=True)
class Batch:
    """Pairs of rows of one column: pair t compares row `left[t]` (gold) with row `right[t]` (predicted).

    Closed, `quality` holds the quality of each pair, in [0, 1], 1 is equal; shape (pairs,). `gold`, `predicted`,
    `matched` and `mass` are the tallies of objects and lists.
    """

    column: Column
    left: Indices
    right: Indices
    branches: list[Branch] = field(default_factory=list)
    quality: Floats = field(default_factory=lambda: np.empty(0))
    gold: Floats | None = None
    predicted: Floats | None = None
    matched: Floats | None = None
    mass: Floats | None = None
    problems: Problems | None = None

    def __len__(self) -> int:
        return len(self.left)


@dataclass(eq=False, slots=True)
class Problems:
    """The matching problems of a batch of lists: the candidate pairs of problem t are `starts[t]:starts[t + 1]`.

    Candidate c pairs item `rows[c]` of the gold list with item `columns[c]` of the predicted one (positions among the
    items that are matched); its quality is that of pair c of the branch below.
    """

    starts: Indices
    rows: Indices
    columns: Indices
    heights: Indices
    widths: Indices
    complete: bool
    owner: Indices


def evaluate(column: Column, left: Indices, right: Indices) -> Batch:
    """The closed batch of these pairs of rows, with all batches below it."""
    root = Batch(column, left, right)
    batches = [root]
    for batch in batches:  # grows while it is read: parents before children
        batches.extend(_open(batch))
    for batch in reversed(batches):
        _close(batch)
    return root


def _open(batch: Batch) -> Iterator[Batch]:
    """Ask for what a batch needs: its branches."""
    column = batch.column
    if len(batch) == 0 or isinstance(column, LeafColumn):
        return
    if isinstance(column, ObjectColumn):
        for link in column.links:
            _fields(batch, link)
        for map_link in column.maps:
            _keys(batch, map_link)
    elif isinstance(column, ListColumn):
        for link in column.prefix:
            _fields(batch, link)
        _items(batch, column)
    elif isinstance(column, MixedColumn):
        for number, part in enumerate(column.parts):
            same = np.flatnonzero((column.part[batch.left] == number) & (column.part[batch.right] == number))
            rows = Batch(part, column.rows[batch.left[same]], column.rows[batch.right[same]])
            batch.branches.append(Branch(rows, same))
    yield from (branch.batch for branch in batch.branches)


def _fields(batch: Batch, link: Link) -> None:
    left, right = link.rows(batch.left), link.rows(batch.right)
    owner = None
    if link.index is not None:
        both = (left >= 0) & (right >= 0)
        if not both.all():
            owner = np.flatnonzero(both)
            left, right = left[owner], right[owner]
    batch.branches.append(Branch(Batch(link.column, left, right), owner, link.weight))


def _keys(batch: Batch, link: MapLink) -> None:
    """The pairs of entries with the same key: those of the gold side are looked up on the predicted side."""
    width = int(link.keys.max(initial=-1)) + 1
    starts = link.starts
    owner, entries = _ranges(starts[batch.left], starts[batch.left + 1])
    of_row = np.repeat(np.arange(len(starts) - 1, dtype=np.intp), np.diff(starts))
    table = of_row * width + link.keys
    wanted = batch.right[owner] * width + link.keys[entries]
    found = np.searchsorted(table, wanted)
    hit = found < len(table)
    hit[hit] = table[found[hit]] == wanted[hit]
    below = Batch(link.column, link.rows[entries[hit]], link.rows[found[hit]])
    batch.branches.append(Branch(below, owner[hit]))


def _items(batch: Batch, column: ListColumn) -> None:
    """The candidate pairs of items of every pair of lists."""
    starts = column.starts
    heights, widths = column.lengths[batch.left], column.lengths[batch.right]
    candidates = column.matcher.candidates if column.matcher is not None else Candidates.ALL
    if candidates is Candidates.DIAGONAL:
        counts = np.minimum(heights, widths)
        owner, rows = _ranges(np.zeros_like(counts), counts)
        columns = rows
    else:
        owner, cells = _ranges(np.zeros_like(heights), heights * widths)
        rows, columns = np.divmod(cells, np.maximum(widths, 1)[owner])
    left, right = starts[batch.left][owner] + rows, starts[batch.right][owner] + columns
    if column.groups is not None:
        same = (column.groups[left] == column.groups[right]) & (column.groups[left] >= 0)
        owner, rows, columns, left, right = owner[same], rows[same], columns[same], left[same], right[same]
    ends = np.zeros(len(batch) + 1, dtype=np.intp)
    np.cumsum(np.bincount(owner, minlength=len(batch)), out=ends[1:])
    complete = candidates is Candidates.ALL
    batch.problems = Problems(ends, rows, columns, heights, widths, complete, owner)
    if column.items is not None:
        batch.branches.append(Branch(Batch(column.items, column.rows(left), column.rows(right)), owner))


def _ranges(starts: Indices, stops: Indices) -> tuple[Indices, Indices]:
    """All the numbers of many ranges, one range after the other, and which range each belongs to."""
    counts = stops - starts
    owner = np.repeat(np.arange(len(counts), dtype=np.intp), counts)
    ends = np.cumsum(counts)
    return owner, np.arange(ends[-1] if len(ends) else 0, dtype=np.intp) - (ends - counts - starts)[owner]


def _close(batch: Batch) -> None:
    """Turn the qualities below into those of the batch."""
    column = batch.column
    if isinstance(column, LeafColumn):
        batch.quality = _measure(column, batch.left, batch.right)
    elif isinstance(column, MixedColumn):
        batch.quality = np.zeros(len(batch))
        for branch in batch.branches:
            batch.quality[branch.owner] = branch.batch.quality
    elif isinstance(column, ObjectColumn):
        batch.gold, batch.predicted = column.weights[batch.left], column.weights[batch.right]
        _settle(batch, batch.branches)
    elif isinstance(column, ListColumn):
        _close_lists(batch, column)


def _settle(
    batch: Batch, branches: Sequence[Branch], matched: Floats | None = None, mass: Floats | None = None
) -> None:
    """Add up what is matched in `branches` (to what is given), and divide by the union."""
    matched = np.zeros(len(batch)) if matched is None else matched
    mass = np.zeros(len(batch)) if mass is None else mass
    for branch in branches:
        quality = branch.weight * branch.batch.quality
        if branch.owner is None:
            matched += branch.weight
            mass += quality
        else:
            weights = np.full(len(quality), branch.weight)
            matched += np.bincount(branch.owner, weights=weights, minlength=len(batch))
            mass += np.bincount(branch.owner, weights=quality, minlength=len(batch))
    union = (
        batch.gold + batch.predicted - matched if batch.gold is not None and batch.predicted is not None else matched
    )
    batch.matched, batch.mass = matched, mass
    empty = union <= 0.0
    batch.quality = np.minimum(np.where(empty, 1.0, mass / np.where(empty, 1.0, union)), 1.0)


def _measure(column: LeafColumn, left: Indices, right: Indices) -> Floats:
    """1 - distance of each pair; values that are not compared in the same way are at distance 1."""
    gold, predicted = column.codes[left], column.codes[right]
    quality = np.zeros(len(left))
    for slot, pool in enumerate(column.pools):
        here: Mask | slice = slice(None)
        if len(column.pools) > 1:
            here = (column.slots[gold] == slot) & (column.slots[predicted] == slot)
        pairs = column.local[gold[here]] * len(column.local) + column.local[predicted[here]]
        if len(pairs) == 0:
            continue
        distinct, back = np.unique(pairs, return_inverse=True)
        distance = pool.paired(*np.divmod(distinct, len(column.local)))
        quality[here] = (1.0 - distance)[back]
    return quality


def _close_lists(batch: Batch, column: ListColumn) -> None:
    problems = batch.problems
    fields = [branch for branch in batch.branches if branch.batch.column is not column.items]
    gold, predicted = column.lengths[batch.left].astype(np.float64), column.lengths[batch.right].astype(np.float64)
    rows = np.arange(column.size, dtype=np.intp)
    for link in column.prefix:
        present = link.rows(rows) >= 0
        gold += present[batch.left]
        predicted += present[batch.right]
    batch.gold, batch.predicted = gold, predicted
    matched, mass = np.zeros(len(batch)), np.zeros(len(batch))
    if problems is not None and len(problems.rows):
        quality = batch.branches[-1].batch.quality
        for number in np.unique(problems.owner).tolist():
            cells, _ = coupling(batch, number)
            matched[number] = len(cells)
            mass[number] = quality[cells].sum()
    _settle(batch, fields, matched, mass)


def coupling(batch: Batch, number: int) -> tuple[Indices, Coupling]:
    """The matching of one problem of a batch of lists: its pairs among the candidates of the branch, and as positions.

    Raises SolverError, naming the list, where a quality is not a finite number.
    """
    problems, column = batch.problems, batch.column
    if problems is None or not isinstance(column, ListColumn) or column.matcher is None:
        message = "Expected a batch of lists with a matching"
        raise TypeError(message)
    start, stop = int(problems.starts[number]), int(problems.starts[number + 1])
    shape = int(problems.heights[number]), int(problems.widths[number])
    quality = batch.branches[-1].batch.quality[start:stop]
    if not np.isfinite(quality).all():
        pointer = column.pointer(int(batch.left[number]))
        raise SolverError.of("A quality between two items is not a finite number", pointer=pointer)
    if problems.complete and stop - start == shape[0] * shape[1]:
        found = column.matcher.couple(quality.reshape(shape))
        return start + found.gold * shape[1] + found.predicted, found
    rows, columns = problems.rows[start:stop], problems.columns[start:stop]
    matrix, allowed = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    matrix[rows, columns], allowed[rows, columns] = quality, True
    found = column.matcher.couple(matrix, allowed)
    place = np.full(shape, -1, dtype=np.intp)
    place[rows, columns] = np.arange(start, stop, dtype=np.intp)
    return place[found.gold, found.predicted], found
