"""Values of one path as ratings, if their distance fits a level of measurement, and the coefficients on them.

`LeafRatings` gives Krippendorff's alpha: for nominal values, ordinal values or numbers. If the values are categories,
`side_by_side` gives the other coefficients too, and the categories that annotators exchange.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.stats import binom

from arbitre.agreement.alignment import NONE
from arbitre.agreement.alpha_of_ratings import AlphaSums, alpha_of, largest_difference
from arbitre.agreement.categorical import (
    ChanceSums,
    RatingSums,
    agreement_of,
    bennett_of,
    gwet_of,
    kappa_of,
    pi_of,
)
from arbitre.agreement.ratings import MISSING, Ratings
from arbitre.engine.columns.column import LeafColumn
from arbitre.normalizers import normalize
from arbitre.schema.compiling.branches import Expander, declared_children
from arbitre.values import Json, Kind, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from arbitre.agreement.aligned_rows import AlignedRows, ShuffledChance
    from arbitre.agreement.alpha_of_ratings import Level
    from arbitre.agreement.by_document import ByDocument
    from arbitre.agreement.categorical import Weights
    from arbitre.agreement.coefficient import Coefficient
    from arbitre.arrays import Floats, Indices
    from arbitre.schema.compiling.branches import Subschemas
    from arbitre.schema.plan import Plan

MAX_CATEGORIES: Final = 20
"""Maximum number of categories of a path whose coefficients are computed side by side."""

INTERVAL_DISTANCES: Final = frozenset({"absolute", "relative", "log", "rounded", "tolerance"})
"""Distances of numbers whose agreement is measured with the squared difference."""

DIVERGENCE: Final = 0.05
"""Difference between kappa and pi above which a warning is given."""


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
        if not (isinstance(column, LeafColumn) and column.forms is None and column.leaves):
            return None
        level, outside = level_of(column)
        if level is None or outside:
            return None
        codes = np.where(part.rows == NONE, MISSING, column.codes[part.rows])  # shape (items, annotators)
        ratings = Ratings(codes.T, tuple(column.values))
        if level == "ordinal":
            ratings = ratings.among(column.leaves[0].distance.options["order"])
        return cls(ratings, level, part.document, column)

    def alpha(self, by_document: ByDocument | None, chance: ShuffledChance | None = None) -> Coefficient:
        """Return Krippendorff's alpha; disagreement is divided by the largest difference between two ratings.

        Args:
            by_document: Adds the interval and the local expected agreement; None adds nothing.
            chance: The expected agreement, instead of that of pooled ratings; there is no local one then.
        """
        coefficient = self._alpha(by_document, chance)
        return coefficient.scaled(largest_difference(self.ratings, self.level, ordered=True))

    def observed(self) -> float | None:
        """Return 1 minus the unscaled observed disagreement; None if no item was rated by two annotators."""
        return alpha_of(self.ratings, self.level, ordered=True).observed

    def _alpha(self, by_document: ByDocument | None, chance: ShuffledChance | None) -> Coefficient:
        """Return alpha with unscaled disagreement; see `alpha`."""
        coefficient = alpha_of(self.ratings, self.level, ordered=True)
        coefficient = coefficient if chance is None else chance.applied(coefficient)
        if by_document is None:
            return coefficient
        ratings, document = self.shared()
        used, group = np.unique(document, return_inverse=True)
        sums = AlphaSums.of(ratings, self.level, ordered=True, group=group, groups=len(used))
        if chance is not None:
            return by_document.with_interval(coefficient, sums, len(used), expected=chance.expected)
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


def level_of(column: LeafColumn) -> tuple[Level | None, list[Json]]:
    """Return the level of measurement that the distances of a column fit, if any, and the values outside this level."""
    distances = {leaf.distance.name: leaf.distance for leaf in column.leaves}
    if distances.keys() == {"exact"}:
        return "nominal", []
    if distances.keys() == {"ordinal"}:
        order = {canonical(value) for value in distances["ordinal"].options["order"]}
        return "ordinal", [value for value in column.values if canonical(value) not in order]
    if distances.keys() & INTERVAL_DISTANCES:
        kinds = zip(column.values, column.kinds.tolist(), strict=True)
        return "interval", [value for value, kind in kinds if kind != Kind.NUMBER]
    return None, []


@dataclass(frozen=True, slots=True)
class Exchange:
    """A pair of different categories that annotators gave to the same items.

    Attributes:
        values: The categories.
        items: Number of items to which one annotator gave the first category and another the second.
        expected: Number of these items if the disagreements occurred by chance: in proportion to the product of the
            numbers of ratings of both categories.
        p: Probability of at least this number by chance.
    """

    values: tuple[Json, Json]
    items: int
    expected: float
    p: float


@dataclass(frozen=True, slots=True)
class CategoricalCoefficients:
    """Agreement coefficients of a path whose values fall into few categories.

    For ordinal values, all coefficients except alpha weight disagreement by the squared distance between the positions.

    Attributes:
        alpha: Krippendorff's alpha, the default.
        pi: Scott's pi; Fleiss' kappa for more than two annotators.
        kappa: Cohen's kappa; Conger's kappa for more than two annotators.
        s: Bennett's S, for the categories that the schema lists, or else those that occur.
        ac1: Gwet's AC1, for the same categories; AC2 for ordinal values.
        exchanges: The pairs of categories that annotators gave to the same items, most frequent first.
    """

    alpha: Coefficient
    pi: Coefficient
    kappa: Coefficient
    s: Coefficient
    ac1: Coefficient
    exchanges: tuple[Exchange, ...]

    @property
    def kappa_minus_pi(self) -> float | None:
        """Kappa minus pi: how much kappa gains because the annotators use the categories with different frequencies."""
        kappa, pi = self.kappa.value, self.pi.value
        return None if kappa is None or pi is None else kappa - pi

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        coefficients = {name: getattr(self, name).to_dict() for name in ("alpha", "pi", "kappa", "s", "ac1")}
        exchanges = [asdict(exchange) for exchange in self.exchanges]
        return coefficients | {"kappa_minus_pi": self.kappa_minus_pi, "exchanges": exchanges}


def side_by_side(
    rated: LeafRatings, alpha: Coefficient, plan: Plan, by_document: ByDocument
) -> CategoricalCoefficients | None:
    """Compute all coefficients of a path whose values are categories (see `LeafRatings.has_categories`).

    Args:
        rated: The ratings.
        alpha: Krippendorff's alpha of the ratings.
        plan: The compiled schema.
        by_document: Adds the intervals and the local expected agreement.

    Returns:
        The coefficients; None if the values are not categories.
    """
    if not rated.has_categories:
        return None
    shared, document = rated.shared()
    categories = categories_of(rated, plan)
    shared, ratings = shared.among(categories), rated.ratings.among(categories)
    weights: Weights | None = "quadratic" if rated.level == "ordinal" else None
    several = len(ratings.codes) > 2  # noqa: PLR2004
    used = np.unique(document)
    agreement = agreement_of(ratings, weights, ordered=True)

    def sums_of(items: Ratings, documents: Indices) -> RatingSums:
        """Return sums by document, with a last group for the items of other documents than `used`."""
        group = np.where(np.isin(documents, used), used.searchsorted(documents), len(used))
        return RatingSums.of(items, agreement, group=group, groups=len(used) + 1)

    sums, raters = sums_of(ratings, rated.document), shared.rated.sum(axis=0)

    def added(coefficient: Coefficient, chance: Callable[[RatingSums], Floats], sums: RatingSums = sums) -> Coefficient:
        return by_document.added(coefficient, ChanceSums(sums, chance), document, raters)

    kappa = kappa_of(ratings, weights, ordered=True, name="conger_kappa" if several else "kappa")
    return CategoricalCoefficients(
        alpha,
        added(pi_of(ratings, "fleiss_kappa" if several else "pi", weights), RatingSums.by_pooled_ratings),
        added(kappa, RatingSums.by_own_ratings, sums if several else sums_of(shared, document)),
        added(bennett_of(ratings, len(ratings.categories), weights), RatingSums.by_equal_probabilities),
        added(gwet_of(ratings, weights, ordered=True), RatingSums.by_hard_items),
        tuple(_exchanges(shared)),
    )


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
    """Return the values that the schema lists at the path of a column; None if it allows others.

    The path is followed from the root of the schema. Unions and references make several branches of a position, and the
    values of all of them are allowed.
    """
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


def _exchanges(ratings: Ratings) -> Iterator[Exchange]:
    """Yield the pairs of different categories that were given to the same items, the most frequent first.

    If disagreements are spread by chance, each falls on a pair of categories with a probability in proportion to the
    product of their numbers of ratings; `p` is then a tail of the binomial distribution.
    """
    size = len(ratings.categories)
    # An item with a pair of categories is one number. It counts once, however many annotators exchange them.
    cells = [
        items * size * size + np.minimum(first, second) * size + np.maximum(first, second)
        for items, first, second in ratings.pairs()
    ]
    pairs, counts = np.unique(np.unique(np.concatenate(cells)) % (size * size), return_counts=True)
    first, second = np.divmod(pairs, size)
    first, second, counts = (side[first != second] for side in (first, second, counts))
    totals = ratings.totals()
    chances = totals[first] * totals[second] / ((totals.sum() ** 2 - (totals * totals).sum()) / 2.0)
    trials = int(counts.sum())
    tails = binom.sf(counts - 1, trials, chances)
    for at in np.argsort(-counts, kind="stable").tolist():
        values = ratings.categories[first[at]], ratings.categories[second[at]]
        yield Exchange(values, int(counts[at]), float(trials * chances[at]), float(tails[at]))
