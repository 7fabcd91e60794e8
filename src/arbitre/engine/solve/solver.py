"""Evaluate batches: compute the quality of pairs of rows from the pairs below them.

Opening a batch creates the batches of pairs below it; closing it computes its qualities from theirs. Batches are opened
parents first and closed children first, so there is no recursion and each column is compared in one call. Only lists
that are matched lazily evaluate batches of their own, at most `MAX_LAZY_DEPTH` lists deep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.engine.columns.column import (
    Column,
    LeafColumn,
    Link,
    ListColumn,
    MapLink,
    ObjectColumn,
    locate_failure,
)
from arbitre.engine.columns.ragged import add_one_by_one, expand_slices, find_sorted, ratio_or_one, starts_of
from arbitre.engine.solve.batches import DEFAULT_LIMITS, Batch, CellLimits, FieldPairs, MatchedPairs, require_short
from arbitre.engine.solve.dense_matching import DenseProblems
from arbitre.engine.solve.lazy_matching import match_lazily
from arbitre.engine.solve.multiset_matching import count_equal
from arbitre.engine.solve.upper_bounds import exactly_bounded_rows
from arbitre.errors import FunctionError

if TYPE_CHECKING:
    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.base import Pool
    from arbitre.engine.columns.column import KnownBounds, KnownQualities
    from arbitre.engine.solve.batches import CellLayout

MAX_LAZY_DEPTH: Final = 3
"""Maximum nesting depth of lists that are matched lazily; in deeper lists, all pairs of items are computed."""


@dataclass(eq=False, slots=True)
class QualitySolver:
    """Evaluates batches.

    Attributes:
        exhaustive: Whether to compute every candidate pair of every matching.
        limits: Sizes at which the method changes.
        depth: Number of lists around this solver that are matched lazily.
        known: Upper bounds that are known for lists that are not inside other lazily matched lists.
    """

    exhaustive: bool = False
    limits: CellLimits = DEFAULT_LIMITS
    depth: int = 0
    known: KnownBounds | None = None

    def evaluate(self, column: Column, left: Indices, right: Indices) -> Batch:
        """Return the closed batch of these pairs of rows, with all batches below it."""
        root = Batch(column, left, right)
        batches = [root]
        tables: dict[int, DenseProblems] = {}
        unknown: dict[int, tuple[Batch, Indices]] = {}
        for batch in batches:  # grows during iteration: parents before children
            known = _known_qualities(batch)
            if known is not None and not any(batch is rest for rest, _ in unknown.values()):
                batch.quality, found = known.find(batch.left, batch.right)
                rest = (~found).nonzero()[0]
                unknown[id(batch)] = Batch(batch.column, batch.left[rest], batch.right[rest]), rest
                batches += [unknown[id(batch)][0]] if len(rest) else []
            elif len(batch):
                table = self._open(batch)
                batches.extend(field_pairs.batch for field_pairs in batch.fields)
                batches.extend(match.batch for match in batch.matches if isinstance(batch.column, ObjectColumn))
                if table is not None:
                    tables[id(batch)] = table
                    batches.append(table.below)
        for batch in reversed(batches):
            if id(batch) in unknown:
                _complete(batch, *unknown[id(batch)])
            else:
                self._close(batch, tables.get(id(batch)))
        return root

    def _open(self, batch: Batch) -> DenseProblems | None:
        """Create the batches below a batch; return the tables to match after their pairs are evaluated."""
        column = batch.column
        for link in column.links:
            batch.fields.append(_fields(batch, link))
        if isinstance(column, ObjectColumn):
            batch.matches += [_entries(batch, entries) for entries in column.maps]
        elif isinstance(column, ListColumn) and column.items is not None:
            return self._match(batch, column, column.items)
        return None

    def _match(self, batch: Batch, column: ListColumn, items: Column) -> DenseProblems | None:
        """Match the items of each pair of lists by the cheapest exact method.

        Lists whose items always have distance 0 or 1 are matched by counting, long lists lazily, and all others by the
        returned tables.
        """
        if column.matcher.transport is not None:
            from arbitre.engine.solve.transport_matching import TransportSolver  # noqa: PLC0415  (few lists need it)

            batch.transports += TransportSolver(
                batch, column, items, column.matcher.transport, self.evaluate, self.limits
            ).solve()
            return None
        cells = column.lengths[batch.left] * column.lengths[batch.right]
        dense = np.ones(len(batch), dtype=np.bool_)
        if not self.exhaustive and column.multiset_keys is not None:
            dense = column.multiset_keys.has_uncountable[batch.left] & column.multiset_keys.has_uncountable[batch.right]
            batch.multiset_pairs = (~dense).nonzero()[0]
        elif not self.exhaustive and column.can_be_lazy and self.depth < MAX_LAZY_DEPTH:
            dense = (cells < self.limits.lazy) | _short_and_plain(batch, column, items, cells, self.limits)
            lists = (~dense).nonzero()[0]
            if not column.matched_optimally:
                sides = column.lengths[batch.left[lists]], column.lengths[batch.right[lists]]
                require_short(column, batch.left[lists], *sides, self.limits.stored)
            self._match_lazily(batch, column, lists, cells)
        return self._table(batch, column, items, dense.nonzero()[0], cells) if dense.any() else None

    def _match_lazily(self, batch: Batch, column: ListColumn, lists: Indices, cells: Indices) -> None:
        """Match these pairs of lists lazily: large ones one by one, the others together.

        The bounds of lists that are not large are kept: whether they are known must not depend on other documents.
        """
        evaluate = QualitySolver(limits=self.limits, depth=self.depth + 1).evaluate
        large = cells[lists] >= self.limits.large
        for chosen in (*lists[large, None], lists[~large]):
            if len(chosen):
                sides = batch.left[chosen], batch.right[chosen]
                keep = self.depth == 0 and cells[chosen[0]] < self.limits.large
                for match in match_lazily(column, *sides, evaluate, self.limits, known=self.known, keep=bool(keep)):
                    match.owner = chosen[match.owner]
                    batch.matches.append(match)

    def _table(self, batch: Batch, column: ListColumn, items: Column, lists: Indices, cells: Indices) -> DenseProblems:
        """Return the tables of these pairs of lists.

        Bounds are allowed, which defers expensive comparisons, if there are many pairs and the matching needs only the
        best of them. This saves 3% on single documents with nested entries, 6% on a corpus of them, and most calls to
        custom distances.
        """
        many = int(cells[lists].sum()) >= column.expensive_above
        allowed = many and column.matcher.full_matching and column.entries is None
        allowed = allowed and not column.has_informative_lists and not self.exhaustive
        return DenseProblems.of(batch, column, items, lists, allow_bounds=allowed, most=self.limits.stored)

    def _close(self, batch: Batch, table: DenseProblems | None) -> None:
        """Compute the results of a batch from the batches below it."""
        column = batch.column
        if isinstance(column, LeafColumn):
            try:
                batch.quality, batch.exact = _leaf_qualities(batch, column, self.limits.table)
            except FunctionError as error:
                raise locate_failure(error, column, batch.left, batch.right) from error.__cause__
            return
        if isinstance(column, ListColumn) and table is not None:
            batch.matches += table.match(batch, column, self.evaluate)
        settle(batch)
        if batch.allow_bounds:
            batch.exact = _exact(batch)


def _short_and_plain(batch: Batch, column: ListColumn, items: Column, cells: Indices, limits: CellLimits) -> Mask:
    """Return which pairs of lists are short and contain plain items only.

    Computing all their pairs of items saves 25 to 35% on lists of 20 to 60 objects with short texts.
    """
    short = (cells >= limits.lazy) & (cells < limits.plain_lazy)
    plain = exactly_bounded_rows(items) if short.any() else None
    if plain is not None:
        slots = np.arange(column.starts[-1], dtype=np.intp)
        expensive_before = starts_of(
            (~plain[column.rows(slots)]).astype(np.intp)
        )  # items before each that are not plain
        for lists in (batch.left, batch.right):
            short &= expensive_before[column.starts[lists]] == expensive_before[column.starts[lists + 1]]
    return short


def _known_qualities(batch: Batch) -> KnownQualities | None:
    """Return where the qualities of the pairs are kept; None if they are not."""
    memo = batch.column.memo
    return None if memo is None or batch.allow_bounds or not len(batch) else memo.qualities


def _complete(batch: Batch, unknown: Batch, at: Indices) -> None:
    """Set the qualities of the pairs at these positions, and keep them."""
    if len(at) == 0:
        return
    batch.quality[at] = unknown.quality
    known = _known_qualities(unknown)
    if known is not None:
        known.add(unknown.left, unknown.right, unknown.quality)


def _fields(batch: Batch, link: Link) -> FieldPairs:
    """Return the pairs of fields that both rows of a pair have."""
    left, right = link.rows(batch.left), link.rows(batch.right)
    owner = None
    if link.index is not None:
        both = (left >= 0) & (right >= 0)
        if not both.all():
            owner = both.nonzero()[0]
            left, right = left[owner], right[owner]
    grid = None if batch.layout is None else batch.layout.below(link, owner)
    return FieldPairs(Batch(link.column, left, right, batch.allow_bounds, grid), owner, link.weight)


def _entries(batch: Batch, link: MapLink) -> MatchedPairs:
    """Return the pairs of entries of maps that have the same key."""
    owner, entries = expand_slices(link.starts, batch.left)
    place = find_sorted(link.table, batch.right[owner] * link.width + link.codes[entries])
    hit = place >= 0
    below = Batch(link.column, link.rows(entries[hit]), link.rows(place[hit]), batch.allow_bounds)
    return MatchedPairs(below, np.arange(len(below), dtype=np.intp), owner[hit])


def _leaf_qualities(batch: Batch, column: LeafColumn, min_cells: int) -> tuple[Floats, Mask | None]:
    """Return 1 - distance of each pair of values, and a mask of the exact qualities (None: all); shapes (pairs,).

    Values in different slots have distance 1. If the batch allows bounds, expensive qualities may be upper bounds.
    Tables with a mean of at least `min_cells` cells are compared as tables.
    """
    if len(column.pools) == 1 and batch.layout is not None:
        quality = _leaf_cells(column.pools[0], column, batch.layout, min_cells)
        if quality is not None:
            return quality, None
    gold, predicted = column.codes[batch.left], column.codes[batch.right]
    if len(column.pools) == 1:
        return _leaf_pairs(column, gold, predicted, 0, allow_bounds=batch.allow_bounds)
    quality, exact = np.zeros(len(batch)), np.ones(len(batch), dtype=np.bool_)
    for slot in range(len(column.pools)):
        pairs = ((column.slots[gold] == slot) & (column.slots[predicted] == slot)).nonzero()[0]
        if len(pairs):
            quality[pairs], exact_pairs = _leaf_pairs(
                column, gold[pairs], predicted[pairs], slot, allow_bounds=batch.allow_bounds
            )
            if exact_pairs is not None:
                exact[pairs] = exact_pairs
    return quality, None if exact.all() else exact


def _leaf_cells(pool: Pool, column: LeafColumn, grid: CellLayout, min_cells: int) -> Floats | None:
    """Compare pairs as cells of tables; return None if single pairs are faster.

    This saves 20 to 45% on lists of 20 to 60 objects with short texts.
    """
    if int(grid.blocks.starts[-1]) < min_cells * len(grid.blocks):
        return None
    left, right = column.codes[grid.left], column.codes[grid.right]
    if pool.exactly_bounded is not None and not (
        pool.exactly_bounded[left].all() and pool.exactly_bounded[right].all()
    ):
        return None
    quality = 1.0 - pool.lower_bounds_blockwise(grid.blocks, column.local[left], column.local[right])
    return quality if grid.cells is None else quality[grid.cells]


def _leaf_pairs(
    column: LeafColumn, gold: Indices, predicted: Indices, slot: int, *, allow_bounds: bool
) -> tuple[Floats, Mask | None]:
    """Compare pairs of codes of one slot."""
    pool = column.pools[slot]
    a, b = column.local[gold], column.local[predicted]
    distances, exact = pool.lower_bounds_pairwise(a, b) if allow_bounds else (pool.distances(a, b), None)
    return 1.0 - distances, exact


def settle(batch: Batch) -> None:
    """Sum the matched mass and the quality mass over fields and items, and divide by the union."""
    column = batch.column
    batch.gold, batch.predicted = column.sizes[batch.left], column.sizes[batch.right]
    size = len(batch)
    matched, mass = np.zeros(size), np.zeros(size)
    named = [match for match in batch.matches if match.batch.column.key_ranks is not None]
    parts: list[FieldPairs | MatchedPairs] = [*batch.fields, *named]
    for field_pairs in sorted(parts, key=lambda pairs: pairs.batch.column.number):
        if isinstance(field_pairs, MatchedPairs):
            matched = add_one_by_one(matched, field_pairs.owner, np.ones(len(field_pairs.owner)))
            mass = add_one_by_one(mass, field_pairs.owner, field_pairs.batch.quality[field_pairs.at])
            continue
        quality = field_pairs.weight * field_pairs.batch.quality
        if field_pairs.owner is None:
            matched += field_pairs.weight
            mass += quality
        else:
            weights = np.full(len(quality), field_pairs.weight)
            matched += np.bincount(field_pairs.owner, weights=weights, minlength=size)
            mass += np.bincount(field_pairs.owner, weights=quality, minlength=size)
    if batch.multiset_pairs is not None and isinstance(column, ListColumn) and column.multiset_keys is not None:
        left, right = batch.left[batch.multiset_pairs], batch.right[batch.multiset_pairs]
        matched[batch.multiset_pairs] += np.minimum(column.lengths[left], column.lengths[right])
        mass[batch.multiset_pairs] += count_equal(column, column.multiset_keys, left, right)
    for match in batch.matches:
        if match.batch.column.key_ranks is not None:
            continue
        matched += np.bincount(match.owner, minlength=size)
        mass += np.bincount(match.owner, weights=match.batch.quality[match.at], minlength=size)
    for transport in batch.transports:
        batch.predicted[transport.which] += transport.shift
        matched[transport.which] += transport.matched
        mass[transport.which] += transport.total
    union = batch.gold + batch.predicted - matched
    batch.matched, batch.mass = matched, mass
    batch.quality = ratio_or_one(mass, union)


def _exact(batch: Batch) -> Mask | None:
    """Return a mask of the pairs whose parts are all exact; None for all."""
    exact = np.ones(len(batch), dtype=np.bool_)
    for field_pairs in batch.fields:
        if field_pairs.batch.exact is not None:
            inexact = (~field_pairs.batch.exact).nonzero()[0]
            exact[inexact if field_pairs.owner is None else field_pairs.owner[inexact]] = False
    for match in batch.matches:
        if match.batch.exact is not None:
            exact[match.owner[~match.batch.exact[match.at]]] = False
    return None if exact.all() else exact
