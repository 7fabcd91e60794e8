"""Matches list items without looking at the values of one path, so that what is found about them does not depend on it.

If the matching uses the values of a path, they agree more often than they should: if names are correct and roles are
random, 70% of the roles agree instead of one third.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from arbitre.arrays import exact_dot, exact_sum
from arbitre.engine.columns.build import link_fields
from arbitre.engine.columns.column import (
    Column,
    KnownQualities,
    LeafColumn,
    ListColumn,
    Memo,
    MixedColumn,
    ObjectColumn,
    copied,
    descendants,
)
from arbitre.engine.columns.row_keys import find_fields, multiset_keys, row_codes
from arbitre.engine.solve.solver import QualitySolver
from arbitre.engine.trace import Tracer
from arbitre.matching import Candidates
from arbitre.paths import wildcard

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arbitre.arrays import Indices, Mask
    from arbitre.comparison.levels import Level


MatchedBy: TypeAlias = Literal["key", "position", "other fields", "all fields", "these values"]
"""What the items that contain the values of a path are matched by."""

MAX_TWINS: Final = 0.1
"""Maximum share of items with a twin up to which the other fields identify the items."""

MIN_COMPARED: Final = 6
"""Minimum number of lists for deciding whether the other fields of their items have anything in common."""

ITEMS_COMPARED: Final = 500
"""Approximate number of items of these lists that are compared at once."""

MAX_DISORDER: Final = 0.9
"""Maximum disorder of lists of the same documents, relative to that of lists of different documents, up to which the
other fields identify the items."""

NEARLY_EQUAL: Final = 0.1
"""Disorder of lists per item up to which the other fields identify the items, even if all documents have such lists."""


def lists_to_compare(lists: int, number: float) -> Indices:
    """Return the positions of about this number of lists, at least `MIN_COMPARED`, evenly spaced; of all if it is more.

    Args:
        lists: Number of all lists.
        number: Number of lists to compare, which is rounded up.
    """
    size = min(lists, max(MIN_COMPARED, math.ceil(number)))
    return np.unique(np.linspace(0, lists - 1, size).astype(np.intp))


@dataclass(frozen=True, slots=True)
class ListDisorders:
    """How different lists are whose items are matched without the values of a path.

    The disorder of two lists is 1 minus their quality, times their mean number of items.

    Attributes:
        lists: Number of pairs of lists of the same document, and of pairs of lists of different documents.
        items: Mean number of items of the pairs of the same document, summed.
        same: Disorder of the pairs of the same document, summed.
        different: Disorder of the pairs of different documents, summed.
    """

    lists: int = 0
    items: float = 0.0
    same: float = 0.0
    different: float = 0.0

    @classmethod
    def of(cls, column: ListColumn, left: Indices, right: Indices) -> ListDisorders:
        """Compare lists, and the same lists in other pairs. Of many lists, some are compared, evenly spaced.

        Args:
            column: The column of the lists, in which the values do not count.
            left: Rows of the gold lists; shape (pairs,).
            right: Row of the predicted list in the same place of each; shape (pairs,).
        """
        lengths = column.lengths[left] + column.lengths[right]
        left, right, lengths = left[lengths > 0], right[lengths > 0], lengths[lengths > 0]
        if len(left) < 2:  # noqa: PLR2004
            return cls()
        chosen = lists_to_compare(len(left), 2 * ITEMS_COMPARED * len(left) / int(lengths.sum()))
        left, right = left[chosen], right[chosen]

        def compared(others: Indices) -> tuple[float, float]:
            sizes = (column.lengths[left] + column.lengths[others]) / 2.0
            return exact_sum(sizes), exact_dot(1.0 - QualitySolver().evaluate(column, left, others).quality, sizes)

        items, same = compared(right)
        _, different = compared(np.roll(right, len(right) // 2))  # shifted by half of the lists
        return cls(len(left), items, same, different)

    @classmethod
    def sum(cls, parts: Iterable[ListDisorders]) -> ListDisorders:
        """Return the disorders of all parts."""
        every = list(parts)
        return cls(
            sum(part.lists for part in every),
            *(math.fsum(getattr(part, name) for part in every) for name in ("items", "same", "different")),
        )

    @property
    def by_chance(self) -> bool:
        """Whether lists of the same document have no more in common than lists of different documents."""
        return (
            self.lists >= MIN_COMPARED
            and self.same > NEARLY_EQUAL * self.items
            and self.same >= MAX_DISORDER * self.different
        )


@dataclass(frozen=True, eq=False, slots=True)
class Identification:
    """What identifies the items of the lists that contain the values of a path.

    Attributes:
        fixed: What the schema matches the items by, if it does not depend on the values; None if they are compared, or
            if there are no lists.
        items: Number of items of the compared lists with several items.
        twins: Number of these that are equal to another item of their list, except for the path.
        columns: Copies of the columns in which the values do not count, by number; empty if no list is compared.
        disorders: Disorders of lists of the same and of different documents, without the values.
    """

    fixed: MatchedBy | None
    items: int
    twins: int
    columns: Sequence[Column]
    disorders: ListDisorders = ListDisorders()

    @classmethod
    def of(
        cls, target: Column, roots: Indices, *, keep: bool = False, lists: Sequence[ListColumn] = ()
    ) -> Identification:
        """Count what identifies the items that contain the rows of a column.

        Args:
            target: The column of the values; see `topmost`.
            roots: Rows of the root column whose lists are counted.
            keep: See `without`.
            lists: The lists whose items are counted; by default, all of `compared_lists`.
        """
        above = lists_above(target)
        compared = {each.number for each in lists or compared_lists(target)}
        if any(_matched_by(each, target) for each in above):
            return cls("these values", 0, 0, ())
        if not compared:
            keyed = above and above[-1].matcher.candidates is Candidates.SAME_KEY
            return cls(("key" if keyed else "position") if above else None, 0, 0, ())
        columns = without(target, keep=keep)
        if target.item and target.parent is not None and target.parent.number in compared:
            return cls(None, 1, 1, columns)
        reduced = columns if not keep else without(target)
        twins, items = np.sum(
            [_twins(each, roots) for each in reduced if isinstance(each, ListColumn) and each.number in compared],
            axis=0,
        ).tolist()
        return cls(None, items, twins, columns)

    @property
    def in_list(self) -> bool:
        """Whether a list contains the values."""
        return self.fixed is not None or len(self.columns) > 0

    @property
    def matched_by(self) -> MatchedBy | None:
        """What the items should be matched by; None if there are no lists.

        The other fields identify the items unless too many items have twins, or the other fields of two sides have no
        more in common within a document than between documents.
        """
        if self.fixed is not None or not self.in_list:
            return self.fixed
        return "all fields" if self.twins > MAX_TWINS * self.items or self.disorders.by_chance else "other fields"

    @classmethod
    def over(cls, parts: Sequence[Identification]) -> Identification:
        """Return what identifies the items over all parts of a corpus, of which there is at least one."""
        return replace(
            parts[0],
            items=sum(part.items for part in parts),
            twins=sum(part.twins for part in parts),
            disorders=ListDisorders.sum(part.disorders for part in parts),
        )


def lists_above(column: Column) -> list[ListColumn]:
    """Return the columns of the lists whose items contain the rows of a column, from the root down."""
    lineage = ancestors(column)
    return [each for each in lineage if isinstance(each, ListColumn) and each.items in lineage]


def compared_lists(column: Column) -> list[ListColumn]:
    """Return those of `lists_above` whose items are matched by what they contain, not by a key or by position."""
    return [each for each in lists_above(column) if each.matcher.candidates is Candidates.ALL]


def alone(column: Column) -> bool:
    """Return whether the items that contain the rows of a column contain nothing else that is compared."""
    while not column.item and column.parent is not None and len(column.parent.links) + len(column.parent.slices) == 1:
        column = column.parent
    if not column.item:
        return False
    while len(column.links) + len(column.slices) == 1 and column.links:
        column = column.links[0].column
    return not (column.links or column.slices)


def topmost(column: Column) -> Column:
    """Return the column of all values at the path of a column: of all kinds, if there are several."""
    while isinstance(column.parent, MixedColumn):
        column = column.parent
    return column


def _matched_by(column: ListColumn, target: Column) -> bool:
    """Return whether the schema matches the items of a list by the values of a column, so that these always agree."""
    if column.matcher.candidates is Candidates.SAME_VALUE:
        return True
    if column.matcher.candidates is not Candidates.SAME_KEY or column.items is None:
        return False
    found = [each for key in column.matcher.key for each, _, _ in find_fields(column.items, key)]
    return target is not column.items and any(target in ancestors(each) for each in found)


def _twins(column: ListColumn, roots: Indices) -> tuple[int, int]:
    """Return the number of items with an equal item in their list, and of all items in lists of several items."""
    every = np.arange(column.size, dtype=np.intp)
    lists = every[np.isin(column.root_rows(every), roots) & (column.lengths > 1)]
    if column.items is None or len(lists) == 0:
        return 0, 0
    owner = lists.repeat(column.lengths[lists])
    inside = np.arange(len(owner), dtype=np.intp) - np.repeat(
        np.cumsum(column.lengths[lists]) - column.lengths[lists], column.lengths[lists]
    )
    codes = row_codes(column.items)[column.rows(column.starts[owner] + inside)]
    _, inverse, counts = np.unique(np.stack([owner, codes]), axis=1, return_inverse=True, return_counts=True)
    return int(np.count_nonzero(counts[inverse] > 1)), len(owner)


@dataclass(frozen=True, eq=False, slots=True)
class IndependentLevels:
    """Levels of a comparison that was repeated with a matching that does not look at one path.

    Attributes:
        identification: What identifies the items.
        levels: The levels; those of the comparison if the schema decides, or if nothing can be left out.
    """

    identification: Identification
    levels: tuple[Level, ...]

    @property
    def again(self) -> bool:
        """Whether the items were matched again, without the values."""
        return self.identification.fixed is None and len(self.identification.columns) > 0


def independent_levels(levels: tuple[Level, ...], path: str) -> IndependentLevels:
    """Match the items of compared documents again, without the values at a wildcard path.

    Args:
        levels: All levels of a comparison, from `BatchResult.levels`.
        path: The path.
    """
    nothing = IndependentLevels(Identification(None, 0, 0, ()), levels)
    sources = [level.source for level in levels if isinstance(level.source, Column) and wildcard(level.path) == path]
    if not sources:
        return nothing
    target = topmost(sources[0])
    root, roots = ancestors(target)[0], [level for level in levels if not level.inner and not level.path]
    sides = [np.concatenate([_root_rows(level, side) for level in roots]) for side in (0, 1)]
    document = np.concatenate([level.document for level in roots])
    held = np.concatenate(sides)
    identification = Identification.of(target, held[held >= 0], keep=True)
    parent = identification.columns and identification.columns[target.number].parent
    if not parent or target.number not in {link.column.number for link in parent.links}:
        return IndependentLevels(replace(identification, items=1, twins=1), levels)
    documents = np.zeros(root.size, dtype=np.intp)
    for side in sides:
        documents[side[side >= 0]] = document[side >= 0]
    left, right = sides
    both = (left >= 0) & (right >= 0)
    order = np.argsort(left[both], kind="stable")
    batch = QualitySolver().evaluate(identification.columns[0], left[both][order], right[both][order])
    missing, spurious = np.sort(left[~both & (left >= 0)]), np.sort(right[~both & (right >= 0)])
    traced = Tracer(identification.columns, documents).trace(batch, missing, spurious)
    lists = identification.columns[compared_lists(target)[-1].number]
    pairs = [
        np.stack([level.left, level.right])[:, (level.left >= 0) & (level.right >= 0)]
        for level in traced
        if isinstance(level.source, ListColumn) and level.source.number == lists.number
    ]
    if pairs and isinstance(lists, ListColumn):
        disorders = ListDisorders.of(lists, *np.concatenate(pairs, axis=1))
        identification = replace(identification, disorders=disorders)
    return IndependentLevels(identification, traced)


def rematched(levels: tuple[Level, ...], path: str) -> tuple[tuple[Level, ...], MatchedBy | None]:
    """Return the levels for a path, matched without its values if other fields identify the items, and by what."""
    independent = independent_levels(levels, path)
    matched_by = independent.identification.matched_by
    return (independent.levels if matched_by == "other fields" else levels), matched_by


def _root_rows(level: Level, side: int) -> Indices:
    """Return the rows of the root column on one side of a level of roots; -1 for none."""
    rows = (level.left, level.right)[side]
    column = level.source
    while isinstance(column, Column) and column.parent is not None:
        rows, column = np.where(rows >= 0, column.origin[rows], -1), column.parent
    return rows


# Copies of columns in which the values at one path are ignored or shuffled.
#
# The rows of all columns stay the same, so that what is found on a copy is valid for the original.


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
    """Return copies of all columns in which the chosen rows of `column` are shuffled.

    Args:
        column: A field, the items of lists or the entries of maps.
        chosen: Which rows are shuffled; shape (size,).
        random: Draws the permutation.
    """
    rows = chosen.nonzero()[0]
    shuffled = np.arange(column.size + 1, dtype=np.intp)
    shuffled[-1] = -1
    shuffled[rows] = random.permutation(rows)
    columns = _copied(column)
    parent = columns[column.number].parent
    if parent is None:
        return columns
    every = np.append(np.arange(parent.size, dtype=np.intp), -1)
    parent.links = [
        replace(link, index=shuffled[link.rows(every)]) if link.column.number == column.number else link
        for link in parent.links
    ]
    if isinstance(parent, ObjectColumn):
        parent.maps = [
            replace(entries, index=shuffled[entries.rows(np.arange(entries.starts[-1], dtype=np.intp))])
            if entries.column.number == column.number
            else entries
            for entries in parent.maps
        ]
    elif isinstance(parent, ListColumn) and parent.items is not None and parent.items.number == column.number:
        parent.index = shuffled[parent.rows(np.arange(parent.starts[-1], dtype=np.intp))]
        parent.multiset_keys = multiset_keys(parent)
    return columns


def _copied(column: Column) -> list[Column]:
    """Return copies of all columns of a tree, by number, that refer to each other."""
    copies = copied(sorted(descendants(ancestors(column)[0]), key=lambda each: each.number))
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
