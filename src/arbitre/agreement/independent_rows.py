"""Aligns the values of one path without looking at them, so that their agreement is not a result of the alignment.

If the alignment looks at the values, even annotators who answer at random agree. There are three ways to avoid this:

* the schema says which items belong together: by a key, or by position;
* the other fields identify the items: the items are aligned without the values of the path;
* nothing identifies the items: the alignment looks at the values, and so does the agreement expected by chance. To
  compute it, the values of the path are exchanged at random between all items, and the items are aligned again. The
  coefficient is then a lower bound, because random values can be aligned in more ways than shared values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.agreement.aligned_rows import AlignedRows, aligned_at
from arbitre.agreement.aligning.lists import align_lists
from arbitre.agreement.alignment import NONE
from arbitre.agreement.coefficient import Coefficient
from arbitre.engine.columns.column import ListColumn
from arbitre.engine.columns.reduced import ancestors, permuted
from arbitre.engine.independent_matching import Identification, alone, compared_lists, topmost

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.engine.columns.column import Column
    from arbitre.engine.independent_matching import MatchedBy

VALUES_DRAWN: Final = 100
"""Approximate number of aligned values in each random exchange."""

MIN_DRAWN: Final = 8
"""Minimum number of random exchanges."""

MAX_DRAWN: Final = 50
"""Maximum number of random exchanges."""

PRECISION: Final = 0.01
"""Relative standard error of the disagreement expected by chance at which no more exchanges are drawn."""


MIN_COMPARED: Final = 6
"""Minimum number of lists for deciding whether the other fields of their items have anything in common."""

ITEMS_COMPARED: Final = 500
"""Approximate number of items of these lists."""

MAX_DISORDER: Final = 0.9
"""Maximum disorder of lists of the same documents, relative to that of lists of different documents, up to which the
other fields identify the items."""


@dataclass(frozen=True, slots=True)
class ExchangedChance:
    """Agreement of values that are exchanged at random between the items, which are then aligned again.

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
            chance_model="values exchanged at random between all items, which are then aligned again",
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

    def chance(self, observed: Callable[[AlignedRows], float | None], seed: int) -> ExchangedChance | None:
        """Compute the agreement expected by chance if the alignment looks at the values; None if it does not.

        Args:
            observed: Returns the observed agreement of aligned values; None without pairs.
            seed: Random seed of the exchanges, and of the samples of lists in them.
        """
        if self.aligned_by != "all fields":
            return None
        random, top = np.random.default_rng(seed), topmost(self.part.column)
        shared = ((self.anchor.rows != NONE).sum(axis=1) > 1).nonzero()[0]
        lineage = ancestors(top)
        above = next(each for each in lineage if each.number == self.anchor.column.number)
        held = top.origin
        for each in reversed(lineage[lineage.index(above) + 1 : -1]):
            held = each.origin[held]
        chosen = np.isin(held, self.anchor.rows[shared])
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
        return ExchangedChance(fmean(drawn), _error(drawn)) if len(drawn) > 1 else None


class IndependentAlignments:
    """Aligns the values of each path without looking at them, if something else identifies the items.

    Attributes:
        documents: The aligned documents.
    """

    def __init__(self, documents: AlignedRows) -> None:
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
    lengths = np.append(column.lengths, 0)
    number = math.ceil(ITEMS_COMPARED * len(rows) / max(1, int(lengths[rows].sum())))
    chosen = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), max(MIN_COMPARED, number))).astype(np.intp))
    same = rows[chosen]
    shift = len(same) // same.shape[1]
    mixed = np.column_stack([np.roll(side, at * shift) for at, side in enumerate(same.T)])
    disorders = [
        math.fsum(alignment.disorder for alignment in align_lists(column, each, search=False)) for each in (same, mixed)
    ]
    return disorders[0] < MAX_DISORDER * disorders[1]


def _number_above(column: Column) -> int:
    return column.number if column.parent is None else column.parent.number


def _error(values: Sequence[float]) -> float:
    return stdev(values) / math.sqrt(len(values))
