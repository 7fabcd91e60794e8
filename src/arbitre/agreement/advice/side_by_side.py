"""All coefficients on the categories of one path, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from arbitre.agreement.categorical import bennett_of, gwet_of, kappa_of, pi_of
from arbitre.agreement.leaf_ratings import LeafRatings, categories_of

if TYPE_CHECKING:
    from arbitre.agreement.categorical import Weights
    from arbitre.agreement.coefficient import Coefficient
    from arbitre.schema.plan import Plan

MAX_CATEGORIES: Final = 20
"""Maximum number of categories of a path whose coefficients are printed side by side."""

DIVERGENCE: Final = 0.05
"""Difference of kappa and pi above which the annotators use the categories with different frequencies."""


@dataclass(frozen=True, slots=True)
class CategoricalCoefficients:
    """Coefficients of one path with few categories, computed from the items that two annotators rated.

    On ordinal values, all coefficients but alpha weight disagreement by the squared distance between the positions.

    Attributes:
        alpha: Krippendorff's alpha, the default.
        pi: Scott's pi; Fleiss' kappa of more than two annotators.
        kappa: Cohen's kappa; Conger's kappa of more than two annotators.
        s: Bennett's S, for the categories that the schema lists, or else those that occur.
        ac1: Gwet's AC1, for the same categories; AC2 of ordinal values.
    """

    alpha: Coefficient
    pi: Coefficient
    kappa: Coefficient
    s: Coefficient
    ac1: Coefficient

    @property
    def kappa_minus_pi(self) -> float | None:
        """Kappa minus pi: how much kappa gains because the annotators use the categories with different frequencies."""
        kappa, pi = self.kappa.value, self.pi.value
        return None if kappa is None or pi is None else kappa - pi

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        coefficients = {name: getattr(self, name).to_dict() for name in self.__slots__}
        return coefficients | {"kappa_minus_pi": self.kappa_minus_pi}


def side_by_side(rated: LeafRatings, alpha: Coefficient, plan: Plan) -> CategoricalCoefficients | None:
    """Compute all coefficients of a path whose values are categories.

    They are if they are compared with `exact` or `ordinal`, and two to `MAX_CATEGORIES` categories occur, but not more
    than items.

    Args:
        rated: The ratings.
        alpha: Krippendorff's alpha of the ratings.
        plan: The compiled schema.

    Returns:
        The coefficients; None if the values are not categories.
    """
    ratings, _ = rated.shared()
    occurring = sum(any(margins) for margins in (alpha.margins or {}).values())
    if rated.level == "interval" or not 2 <= occurring <= min(MAX_CATEGORIES, alpha.items):  # noqa: PLR2004
        return None
    ratings = ratings.among(categories_of(rated, plan))
    weights: Weights | None = "quadratic" if rated.level == "ordinal" else None
    several = len(ratings.codes) > 2  # noqa: PLR2004
    return CategoricalCoefficients(
        alpha,
        pi_of(ratings, "fleiss_kappa" if several else "pi", weights),
        kappa_of(ratings, weights, ordered=True, name="conger_kappa" if several else "kappa"),
        bennett_of(ratings, len(ratings.categories), weights),
        gwet_of(ratings, weights, ordered=True),
    )
