"""The value of an agreement coefficient, with what it was computed from."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

TOLERANCE: Final = 1e-12
"""Tolerance for rounding errors."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """An agreement coefficient: 1 is full agreement, 0 is the agreement expected by chance.

    Attributes:
        name: Name of the coefficient.
        value: Its value, at most 1; None if it is undefined.
        observed: Observed agreement, in [0, 1]; None if no item was rated by two annotators. For Krippendorff's alpha
            with an unbounded difference (`interval`), 1 minus the observed disagreement, which may be negative.
        expected: Agreement expected by chance, on the same scale; None if it is undefined.
        chance_model: What the coefficient assumes about ratings by chance.
        reason: Why the value is undefined or negative; None otherwise.
        items: Number of items that were used.
        annotators: Number of annotators.
        margins: Share of each category among the ratings of each annotator, by category; None for an annotator without
            ratings.
        by_category: Specific agreement of each category (Dice, 1945; Cicchetti and Feinstein, 1990): the probability
            that another annotator gives the category to an item to which a random annotator gave it.
        standard_error: Standard error of `expected` if it was estimated from a sample; None if it is exact.
    """

    name: str
    value: float | None
    observed: float | None
    expected: float | None
    chance_model: str
    reason: str | None = None
    items: int = 0
    annotators: int = 0
    margins: Mapping[str, tuple[float | None, ...]] | None = None
    by_category: Mapping[str, float] | None = None
    standard_error: float | None = None

    @classmethod
    def corrected(cls, observed: float | None, expected: float | None, **rest: Any) -> Coefficient:  # noqa: ANN401
        """Create a coefficient (observed - expected) / (1 - expected).

        It is undefined if nothing was observed, or if chance alone would give full agreement.
        """
        if observed is None or expected is None:
            reason = "No item was rated by two annotators."
            return cls(value=None, observed=observed, expected=expected, reason=reason, **rest)
        if 1.0 - expected < TOLERANCE:
            reason = "All ratings are equal, so chance alone gives full agreement."
            return cls(value=None, observed=observed, expected=expected, reason=reason, **rest)
        value = (observed - expected) / (1.0 - expected)
        below = "The annotators agree less often than the chance model expects." if value < -TOLERANCE else None
        return cls(value=value, observed=observed, expected=expected, reason=below, **rest)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        return asdict(self)

    def __float__(self) -> float:
        """Return the value; NaN if it is undefined."""
        return math.nan if self.value is None else self.value

    def __repr__(self) -> str:
        value = "undefined" if self.value is None else f"{self.value:.4f}"
        return f"Coefficient({self.name}={value})"
