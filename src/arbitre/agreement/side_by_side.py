"""All coefficients on the categories of one path, side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.stats import binom

from arbitre.agreement.categorical import agreement_of, bennett_of, gwet_of, kappa_of, pi_of
from arbitre.agreement.leaf_ratings import LeafRatings, categories_of
from arbitre.agreement.sums import ChanceSums, RatingSums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from arbitre.agreement.by_document import ByDocument
    from arbitre.agreement.categorical import Weights
    from arbitre.agreement.coefficient import Coefficient
    from arbitre.agreement.ratings import Ratings
    from arbitre.arrays import Floats, Indices
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

DIVERGENCE: Final = 0.05
"""Difference between kappa and pi above which a warning is given."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Two different categories that annotators gave to the same items.

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
    """Coefficients of one path with few categories.

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


def _exchanges(ratings: Ratings) -> Iterator[Exchange]:
    size = len(ratings.categories)
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
