"""Values of one path as ratings, if their distance fits a level of measurement: nominal, ordinal or interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.agreement.alignment import NONE
from arbitre.agreement.categorical import alpha_of
from arbitre.agreement.ratings import MISSING, Ratings
from arbitre.agreement.sums import AlphaSums, FixedChance
from arbitre.engine.columns.column import LeafColumn
from arbitre.normalizers import normalize
from arbitre.schema.compiling.branches import Expander, declared_children
from arbitre.values import Json, Kind, canonical

if TYPE_CHECKING:
    from arbitre.agreement.aligned_rows import AlignedRows, ExchangedChance
    from arbitre.agreement.by_document import ByDocument
    from arbitre.agreement.coefficient import Coefficient
    from arbitre.agreement.sums import Level
    from arbitre.arrays import Indices
    from arbitre.schema.compiling.branches import Subschemas
    from arbitre.schema.plan import Plan

MAX_CATEGORIES: Final = 20
"""Maximum number of categories of a path whose coefficients are computed side by side."""

INTERVAL_DISTANCES: Final = frozenset({"absolute", "relative", "log", "rounded", "tolerance"})
"""Distances of numbers whose agreement is measured with the squared difference."""


@dataclass(frozen=True, eq=False, slots=True)
class LeafRatings:
    """Ratings of the aligned values of one path.

    Attributes:
        ratings: The normalised values.
        level: Level of measurement.
        document: Index of the document of each item; shape (items,).
        column: The column of the values.
    """

    ratings: Ratings
    level: Level
    document: Indices
    column: LeafColumn

    @classmethod
    def of(cls, part: AlignedRows) -> LeafRatings | None:
        """Return the ratings of values that are compared with `exact`, with `ordinal` or as numbers, else None."""
        column = part.column
        if not (isinstance(column, LeafColumn) and column.readings is None and column.leaves):
            return None
        distances = [leaf.distance for leaf in column.leaves]
        names = {distance.name for distance in distances}
        ratings = Ratings(np.where(part.rows == NONE, NONE, column.codes[part.rows]).T, tuple(column.values))
        if names == {"exact"}:
            return cls(ratings, "nominal", part.document, column)
        if names == {"ordinal"}:
            order = distances[0].options["order"]
            if {canonical(value) for value in column.values} <= {canonical(value) for value in order}:
                return cls(ratings.among(order), "ordinal", part.document, column)
        if names <= INTERVAL_DISTANCES and all(kind == Kind.NUMBER for kind in column.kinds.tolist()):
            return cls(ratings, "interval", part.document, column)
        return None

    def alpha(self, by_document: ByDocument | None, chance: ExchangedChance | None = None) -> Coefficient:
        """Return Krippendorff's alpha.

        Args:
            by_document: Adds the interval and the local expected agreement; None adds nothing.
            chance: The expected agreement, instead of that of pooled ratings; there is no local one then.
        """
        coefficient = alpha_of(self.ratings, self.level, ordered=True)
        coefficient = coefficient if chance is None else chance.applied(coefficient)
        if by_document is None:
            return coefficient
        ratings, document = self.shared()
        used, group = np.unique(document, return_inverse=True)
        sums = AlphaSums.of(ratings, self.level, ordered=True, group=group, groups=len(used))
        if chance is not None:
            return by_document.with_interval(coefficient, FixedChance(sums, chance.expected), len(used))
        permuted = partial(sums.expected_in, ratings) if self.has_categories else None
        return by_document.added(coefficient, sums, document, ratings.rated.sum(axis=0), permuted)

    @property
    def has_categories(self) -> bool:
        """Whether the values are categories: not numbers on a scale, and few values that repeat.

        Two to `MAX_CATEGORIES` categories occur, but not more than there are items.
        """
        ratings, _ = self.shared()
        occurring = np.count_nonzero(ratings.totals())
        return self.level != "interval" and 2 <= occurring <= min(MAX_CATEGORIES, ratings.codes.shape[1])  # noqa: PLR2004

    def shared(self) -> tuple[Ratings, Indices]:
        """Return the ratings of the items that at least two annotators rated, and their documents."""
        several = self.ratings.rated.sum(axis=0) > 1
        return self.ratings.items(several), self.document[several]


def categories_of(rated: LeafRatings, plan: Plan) -> tuple[Json, ...]:
    """Return the categories that the schema lists for a path, then any others that occur.

    The values are normalised. If the schema does not list all values, the categories are those that occur.
    """
    ratings = rated.ratings
    if rated.level == "ordinal":
        return ratings.categories
    used = np.unique(ratings.codes[ratings.codes != MISSING])
    occurring = [ratings.categories[code] for code in used.tolist()]
    column = rated.column
    declared = {}
    for value in _declared(plan, rated) or ():
        normal = normalize((*column.site.normalizers, *column.leaves[0].normalizers), value)
        declared[canonical(normal)] = normal
    return tuple((declared | {canonical(value): value for value in occurring}).values())


def _declared(plan: Plan, rated: LeafRatings) -> list[Json] | None:
    """Return the values that the schema lists at the path of a column; None if it allows others."""
    expander = Expander([])
    positions: list[Subschemas] = [((plan.root,),)]
    for token in rated.column.path:
        positions = [
            below
            for position in positions
            for branch in expander.branches(position)
            for name, below in declared_children(branch)
            if name == token
        ]
    branches = [branch for position in positions for branch in expander.branches(position)]
    values: list[Json] = []
    for branch in branches:
        if branch.enum is not None:
            values += [value for value in branch.enum if value is not None]
        elif branch.kinds == frozenset({Kind.BOOLEAN}):
            values += [False, True]
        elif branch.kinds != frozenset({Kind.NULL}):
            return None
    return values or None
