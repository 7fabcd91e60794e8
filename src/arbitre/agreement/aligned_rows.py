"""Aligns the documents of several annotators at every level: finds the values that stand for the same thing.

`align_documents` aligns all values, by all of their fields. For an agreement coefficient, that is not enough: if the
alignment looks at the values of a path, even annotators who answer at random agree on them. `IndependentAlignments`
aligns the values of one path without looking at them. There are three cases:

* The schema says which items of a list belong together: by a key, or by position.
* The other fields identify the items: the items are aligned without the values of the path.
* Nothing identifies the items: the alignment looks at the values, and so does the agreement expected by chance. To
  compute it, the values of the path are shuffled among all items, and the items are aligned again. The coefficient is
  then a lower bound, because random values can be aligned in more ways than shared values.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, fields, replace
from itertools import chain
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.agreement.alignment import NONE, UnitAlignment
from arbitre.agreement.coefficient import Coefficient
from arbitre.agreement.list_alignment import align_lists, item_codes, keeps_order, list_disorders
from arbitre.arrays import exact_sum
from arbitre.engine.columns.build import build_columns
from arbitre.engine.columns.column import LeafColumn, ListColumn, MixedColumn
from arbitre.engine.independent_matching import (
    ITEMS_COMPARED,
    MAX_DISORDER,
    MIN_COMPARED,
    Identification,
    alone,
    ancestors,
    compared_lists,
    lists_to_compare,
    memorise,
    permuted,
    topmost,
)
from arbitre.errors import DataError
from arbitre.paths import wildcard
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arbitre.arrays import Indices
    from arbitre.engine.columns.column import Column
    from arbitre.engine.independent_matching import MatchedBy
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

VALUES_DRAWN: Final = 100
"""Approximate number of aligned values in each random shuffle."""

MIN_DRAWN: Final = 8
"""Minimum number of random shuffles."""

MAX_DRAWN: Final = 50
"""Maximum number of random shuffles."""

PRECISION: Final = 0.01
"""Relative standard error of the disagreement expected by chance at which no more shuffles are drawn."""


@dataclass(frozen=True, eq=False, slots=True)
class AlignedRows:
    """Values of one column, aligned: a unit contains the values of the annotators that stand for the same thing.

    Attributes:
        column: The column of the values. The documents of all annotators are in the same columns.
        rows: Row in `column` of the value of each annotator, or `NONE`; shape (units, annotators).
        document: Index of the document of each unit; shape (units,).
        alignments: Alignments of the items of each unit, if the units are lists.
    """

    column: Column
    rows: Indices
    document: Indices
    alignments: tuple[UnitAlignment, ...] = ()

    @property
    def path(self) -> str:
        """Wildcard path of the values."""
        return wildcard(self.column.path)


def align_documents(
    plan: Plan,
    annotations: Mapping[str, Mapping[str, Json]],
    *,
    names: Sequence[str] | None = None,
    identify: bool = False,
    again: bool = False,
) -> tuple[AlignedRows, ...]:
    """Align documents at every level, from the root down.

    List items are aligned by the matching that the schema specifies, by default with the least total disorder. Fields
    of objects are aligned by name.

    Args:
        plan: The compiled schema.
        annotations: Documents of each annotator, by id. An annotator may lack documents. Items with the same id are the
            same; see `arbitre.engine.with_common_ids`.
        names: The annotators in the order of their rows; by default, sorted.
        identify: Whether to align only list items that stand for the same thing; see `align_lists`.
        again: Whether the documents will be aligned again on copies of the columns; see `memorise`.

    Returns:
        The aligned documents, then all objects, lists and single values in them, parents first. The annotators and the
        documents are sorted by name and by id.

    Raises:
        DataError: A value is not JSON, there are fewer than two annotators, or no document has two annotators.
    """
    if len(annotations) < 2:  # noqa: PLR2004
        raise DataError.of(f"Expected at least two annotators, got {len(annotations)}")
    names = sorted(annotations) if names is None else names
    ids = sorted({name for documents in annotations.values() for name in documents})
    documents = [
        (at, number, annotations[name][each])
        for number, each in enumerate(ids)
        for at, name in enumerate(names)
        if annotations[name].get(each, ABSENT) is not ABSENT
    ]
    columns = build_columns(plan, [document for _, _, document in documents], [], same_ids=True)
    rows = np.full((len(ids), len(names)), NONE, dtype=np.intp)
    for row, (annotator, number, _) in enumerate(documents):
        rows[number, annotator] = row
    if not ((rows != NONE).sum(axis=1) > 1).any():
        raise DataError.of(
            "No document was annotated by at least two annotators", hint="Documents are joined by their ids."
        )
    root = columns[0]
    if again:
        memorise(root)
    aligned = []
    pending = deque([AlignedRows(root, _present(root, rows), np.arange(len(ids)))])
    while pending:
        part, below = _with_below(pending.popleft(), identify=identify)
        aligned.append(part)
        pending.extend(below)
    return tuple(aligned)


def aligned_at(documents: AlignedRows, target: Column, *, complete: bool = False) -> AlignedRows:
    """Align values down to one column only, without the exact search for the best alignment of several annotators.

    Args:
        documents: Rows of a column above `target`, or of a copy of it.
        target: The column.
        complete: See `align_lists`.

    Returns:
        The rows of the column; none if the documents have no rows of it.
    """
    lineage = ancestors(target)
    at = next(at for at, column in enumerate(lineage) if column.number == documents.column.number)
    part = AlignedRows(lineage[at], documents.rows, documents.document)
    for column in lineage[at + 1 :]:
        _, parts = _with_below(part, complete=complete, search=False)
        none = AlignedRows(column, part.rows[:0], part.document[:0])
        part = next((each for each in parts if each.column is column), none)
    return part


def _with_below(
    part: AlignedRows, *, identify: bool = False, complete: bool = False, search: bool = True
) -> tuple[AlignedRows, Iterable[AlignedRows]]:
    """Return the rows with their alignments, if they are lists, and the rows directly below them.

    Args:
        part: The rows.
        identify: See `align_lists`.
        complete: See `align_lists`.
        search: Whether to search for the best alignment of three or four annotators; see `alignment.align`.
    """
    if is_value(part.column):
        return part, ()
    items: Iterable[AlignedRows] = ()
    if isinstance(part.column, ListColumn) and part.column.items is not None:
        part, items = _aligned_items(part, part.column, identify=identify, complete=complete, search=search)
    return part, chain(items, _fields(part))


def is_value(column: Column) -> bool:
    """Return whether the rows are compared as single values: leaves, or leaves of several kinds."""
    return isinstance(column, LeafColumn) or (
        isinstance(column, MixedColumn) and all(isinstance(link.column, LeafColumn) for link in column.links)
    )


def leaf_values(parts: Iterable[AlignedRows]) -> dict[str, Sequence[Json]]:
    """Return the distinct values of each path whose values are compared as a whole."""
    return {part.path: part.column.values for part in parts if isinstance(part.column, LeafColumn)}


def _fields(part: AlignedRows) -> Iterable[AlignedRows]:
    """Yield the fields of objects, positions of `prefixItems`, entries of maps, and kinds of mixed values."""
    for link in part.column.links:  # from objects to one of their fields, or from values to those of one kind
        rows = np.where(part.rows == NONE, NONE, link.rows(part.rows))
        yield from _nonempty(link.column, rows, part.document)
    if isinstance(part.column, ListColumn):
        return
    for entries in part.column.slices:  # from maps to their entries, which are aligned by key
        keys: dict[tuple[int, int | str], list[int]] = {}
        for annotator in range(part.rows.shape[1]):
            present = (part.rows[:, annotator] != NONE).nonzero()[0]
            owners, below = entries.below(part.rows[present, annotator])
            for unit, row, key in zip(
                present[owners].tolist(), below.tolist(), entries.column.tokens_of(below), strict=True
            ):
                keys.setdefault((unit, key), [NONE] * part.rows.shape[1])[annotator] = row
        units = np.array([unit for unit, _ in keys], dtype=np.intp)
        rows = np.array(list(keys.values()), dtype=np.intp).reshape(len(keys), part.rows.shape[1])
        yield from _nonempty(entries.column, rows, part.document[units])


def _nonempty(column: Column, rows: Indices, document: Indices) -> Iterable[AlignedRows]:
    """Yield the units that at least one annotator has; nothing without such units.

    Args:
        column: The column of the values.
        rows: Row of each annotator, or `NONE`; shape (units, annotators).
        document: Index of the document of each unit; shape (units,).
    """
    held = (rows != NONE).any(axis=1)
    if held.any():
        yield AlignedRows(column, rows[held], document[held])


def _aligned_items(
    part: AlignedRows, column: ListColumn, *, identify: bool, complete: bool, search: bool
) -> tuple[AlignedRows, Iterable[AlignedRows]]:
    """Return the lists with their alignments, and their aligned items; for the arguments, see `_with_below`."""
    (items,) = column.slices
    alignments = align_lists(column, part.rows, identify=identify, complete=complete, search=search)
    if alignments and not keeps_order(column.matcher):
        alignments = _equal_in_order(alignments, column, part.rows, item_codes(column, items.column))
    units = [np.empty((0, part.rows.shape[1]), dtype=np.intp), *(alignment.unitary for alignment in alignments)]
    number = [len(unit) for unit in units[1:]]  # of aligned items in each unit of lists
    # Position of each item in its list, and of the first item of the list; shapes (aligned items, annotators).
    places, starts = np.concatenate(units), column.starts[part.rows].repeat(number, axis=0)
    rows = np.where(places == NONE, NONE, items.rows(np.where(places == NONE, 0, starts + places)))
    whole = AlignedRows(part.column, part.rows, part.document, tuple(alignments))
    return whole, _nonempty(items.column, rows, part.document.repeat(number))


def _equal_in_order(
    alignments: Sequence[UnitAlignment], column: ListColumn, lists: Indices, codes: Indices
) -> list[UnitAlignment]:
    """Return alignments with the equal items of each annotator exchanged so that they are in order.

    This does not change the disorder. Equal lists are aligned by position, even if different items have distance 0.

    Args:
        alignments: The alignment of the items of each unit.
        column: The column of the lists.
        lists: Row of the list of each annotator, or `NONE`; shape (units, annotators).
        codes: Code of each item of the column, the same for equal items.
    """
    starts, lengths = column.starts, np.append(column.lengths, 0)[lists]
    unitary = [
        alignment.unitary if (places := _by_position(codes, starts, own)) is None else places
        for own, alignment in zip(lists.tolist(), alignments, strict=True)
    ]
    number = np.array([len(own) for own in unitary])
    unit, places = np.arange(len(unitary)).repeat(number), np.concatenate(unitary)
    # Sort the unitary alignments of each unit by the mean relative position of their items. Then put the equal items of
    # each annotator into increasing order.
    held = places != NONE
    relative = np.where(held, places / np.maximum(lengths, 1)[unit], 0.0).sum(axis=1) / held.sum(axis=1)
    places = places[np.lexsort((relative, unit))]
    for annotator, own in enumerate(lists.T):
        here = (places[:, annotator] != NONE).nonzero()[0]
        first = starts[own[unit[here]]]
        items = first + places[here, annotator]
        target = here[np.lexsort((codes[items], unit[here]))]
        places[target, annotator] = (items - first)[np.lexsort((items, codes[items], unit[here]))]
    places = places[np.lexsort((*places.T[::-1], unit))]
    ends = number.cumsum()[:-1]
    return [replace(old, unitary=new) for old, new in zip(alignments, np.split(places, ends), strict=True)]


def _by_position(codes: Indices, starts: Indices, lists: Sequence[int]) -> Indices | None:
    """Return the alignment by position of equal lists; None if lists differ, or if there is only one with items.

    Args:
        codes: Code of each item of the column, the same for equal items.
        starts: First item of each list of the column, and the end of the last one.
        lists: Row of the list of each annotator, or `NONE`.
    """
    own = [codes[:0] if row == NONE else codes[starts[row] : starts[row + 1]] for row in lists]
    filled = [each for each in own if len(each)]
    if len(filled) < 2 or any(len(each) != len(filled[0]) or (each != filled[0]).any() for each in filled[1:]):  # noqa: PLR2004
        return None
    positions = np.arange(len(filled[0]), dtype=np.intp)
    return np.stack([positions if len(each) else np.full_like(positions, NONE) for each in own], axis=1)


def _present(column: Column, rows: Indices) -> Indices:
    """Return rows of a column, of any shape, with `NONE` instead of those whose value counts as absent."""
    if column.present is None:
        return rows
    absent = np.append(~column.present, True)
    return np.where(absent[rows], NONE, rows)


# Values of one path, aligned without looking at them.


@dataclass(frozen=True, slots=True)
class ShuffledChance:
    """Agreement of values that are shuffled among the items, which are then aligned again.

    Attributes:
        expected: Mean of the observed agreement.
        standard_error: Its standard error.
    """

    expected: float
    standard_error: float

    def applied(self, coefficient: Coefficient) -> Coefficient:
        """Return the coefficient with this expected agreement."""
        kept = {
            field.name: getattr(coefficient, field.name)
            for field in fields(coefficient)
            if field.name not in {"value", "observed", "expected", "reason", "chance_model", "standard_error"}
        }
        return Coefficient.corrected(
            coefficient.observed,
            self.expected,
            chance_model="values shuffled among all items, which are then aligned again",
            standard_error=self.standard_error,
            **kept,
        )


@dataclass(frozen=True, eq=False, slots=True)
class IndependentRows:
    """Aligned values of one path.

    Attributes:
        part: The values.
        aligned_by: What the items that contain them are aligned by; None if they are not in a list.
        anchor: Aligned values that contain the innermost list above, or the documents; their alignment did not look at
            the values.
        complete: Whether items at distance 1 are aligned too.
    """

    part: AlignedRows
    aligned_by: MatchedBy | None
    anchor: AlignedRows
    complete: bool = False

    def chance(self, observed: Callable[[AlignedRows], float | None], seed: int) -> ShuffledChance | None:
        """Compute the agreement expected by chance if the alignment looks at the values; None if it does not.

        Args:
            observed: Returns the observed agreement of aligned values; None without pairs.
            seed: Random seed of the shuffles, and of the samples of lists in them.
        """
        if self.aligned_by != "all fields":
            return None
        random, top = np.random.default_rng(seed), topmost(self.part.column)
        shared = ((self.anchor.rows != NONE).sum(axis=1) > 1).nonzero()[0]  # units of the anchor of two annotators
        # Shuffle the rows of `top` that are below such a unit: follow each row up to the column of the anchor.
        lineage = ancestors(top)
        above = next(each for each in lineage if each.number == self.anchor.column.number)
        held = top.origin
        for each in reversed(lineage[lineage.index(above) + 1 : -1]):
            held = each.origin[held]
        chosen = np.isin(held, self.anchor.rows[shared])
        # In each shuffle, align only as many units as contain about `VALUES_DRAWN` values.
        several = (self.part.rows != NONE).sum(axis=1) > 1
        values = max(1, int((self.part.rows[several] != NONE).sum()))
        size = min(len(shared), math.ceil(VALUES_DRAWN * len(shared) / values))
        drawn: list[float] = []
        for _ in range(MAX_DRAWN):
            columns = permuted(top, chosen, random)
            units = np.sort(random.choice(shared, size, replace=False))
            sample = AlignedRows(self.anchor.column, self.anchor.rows[units], self.anchor.document[units])
            again = aligned_at(sample, columns[self.part.column.number], complete=self.complete)
            value = observed(replace(again, column=self.part.column))
            if value is not None:
                drawn.append(value)
            if len(drawn) >= MIN_DRAWN and _error(drawn) <= PRECISION * (1.0 - fmean(drawn)):
                break
        return ShuffledChance(fmean(drawn), _error(drawn)) if len(drawn) > 1 else None


class IndependentAlignments:
    """Aligns the values of each path without looking at them, if something else identifies the items.

    Attributes:
        documents: The aligned documents.
    """

    def __init__(self, documents: AlignedRows) -> None:
        """Keep the documents, and the rows of those that two annotators have, which show what identifies items."""
        self.documents = documents
        shared = documents.rows[(documents.rows != NONE).sum(axis=1) > 1]
        self._roots = shared[shared != NONE]

    def of(self, part: AlignedRows) -> IndependentRows:
        """Return the values of a column, aligned without them; `part` is aligned by all fields."""
        top = topmost(part.column)
        anchor, lists = self._anchor(top)
        identification = Identification.of(top, self._roots, lists=lists)
        aligned_by = identification.matched_by
        if not identification.columns:
            return IndependentRows(part, aligned_by, self.documents)
        if aligned_by == "other fields" and not _alike(anchor, identification.columns[lists[-1].number]):
            aligned_by = "all fields"
        if aligned_by == "all fields":
            complete = alone(top)
            if complete or anchor is not self.documents:
                part = aligned_at(anchor, part.column, complete=complete)
            return IndependentRows(part, aligned_by, anchor, complete)
        part = aligned_at(aligned_at(anchor, identification.columns[_number_above(top)]), part.column)
        return IndependentRows(part, aligned_by, anchor)

    def _anchor(self, top: Column) -> tuple[AlignedRows, list[ListColumn]]:
        """Return the innermost lists above a column, aligned without it, and their column.

        If other fields do not identify the items of the outer lists, return the documents and the columns of all lists.
        """
        lists = compared_lists(top)
        if len(lists) < 2:  # noqa: PLR2004
            return self.documents, lists
        *outer, inner = lists
        identification = Identification.of(top, self._roots, lists=outer)
        if identification.matched_by != "other fields":
            return self.documents, lists
        return replace(aligned_at(self.documents, identification.columns[inner.number]), column=inner), [inner]


def _alike(anchor: AlignedRows, column: Column) -> bool:
    """Return whether lists of the same documents are more alike than lists of different documents.

    Otherwise, their items contain nothing that annotators have in common.

    Args:
        anchor: Aligned rows above the lists, or the lists.
        column: The column of the lists, in which the values that must not be looked at do not count.
    """
    lists = aligned_at(anchor, column)
    rows = lists.rows[(lists.rows != NONE).sum(axis=1) > 1]
    if not isinstance(column, ListColumn) or len(rows) < MIN_COMPARED:
        return True
    lengths = np.append(column.lengths, 0)  # 0 for a missing list
    chosen = lists_to_compare(len(rows), ITEMS_COMPARED * len(rows) / max(1, int(lengths[rows].sum())))
    same = rows[chosen]  # lists of the same documents; each annotator's column is then shifted by a different number
    shift = len(same) // same.shape[1]
    mixed = np.column_stack([np.roll(side, at * shift) for at, side in enumerate(same.T)])
    (disorder, items), (mixed_disorder, mixed_items) = (
        map(exact_sum, list_disorders(column, each, align_lists(column, each, search=False))) for each in (same, mixed)
    )
    return not mixed_items or disorder * mixed_items < MAX_DISORDER * mixed_disorder * items


def _number_above(column: Column) -> int:
    """Return the number of the column directly above a column; that of the root itself."""
    return column.number if column.parent is None else column.parent.number


def _error(values: Sequence[float]) -> float:
    """Return the standard error of the mean of at least two values."""
    return stdev(values) / math.sqrt(len(values))
