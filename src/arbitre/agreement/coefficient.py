"""The value of an agreement coefficient, and the quantities that it was computed from."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TOLERANCE: Final = 1e-12
"""Tolerance for rounding errors."""


@dataclass(frozen=True, slots=True)
class CoefficientInterval:
    """Confidence interval of a coefficient, from bootstrap resamples of the documents or items.

    Attributes:
        low: Lower end; None if there is no interval.
        high: Upper end; None if there is no interval.
        level: Confidence level.
        method: "bca", or "percentile" if the bca interval does not exist.
        resamples: Number of resamples.
        seed: Random seed.
        units: Number of documents, or items, that were resampled.
        reason: Why there is no interval; None otherwise.
        notes: Warnings.
    """

    low: float | None
    high: float | None
    level: float
    method: str
    resamples: int
    seed: int
    units: int
    reason: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentAgreement:
    """Agreement within one document; see `Coefficient` for the attributes."""

    document: str
    value: float | None
    observed: float
    expected: float


@dataclass(frozen=True, slots=True)
class LocalChance:
    """An agreement coefficient for which chance agreement is computed within each document.

    Attributes:
        value: The coefficient with the local expected agreement; None if it is undefined.
        observed: Observed agreement in these documents.
        expected: Mean over the documents of the agreement expected by chance in each, weighted by the number of their
            ratings.
        documents: Number of documents with at least two items; the others are left out.
        lowest: The document with the lowest expected agreement.
        highest: The document with the highest expected agreement.
        homogeneous: Local expected agreement if the items are assigned to the documents at random; None if this was
            not computed.
        p: Share of random assignments with at least the local expected agreement.
    """

    value: float | None
    observed: float
    expected: float
    documents: int
    lowest: DocumentAgreement
    highest: DocumentAgreement
    homogeneous: float | None = None
    p: float | None = None

    def __float__(self) -> float:
        """Return the value; NaN if it is undefined."""
        return math.nan if self.value is None else self.value


@dataclass(frozen=True, slots=True)
class Coefficient:
    """An agreement coefficient: 1 is full agreement, 0 is the agreement expected by chance.

    Attributes:
        name: Name of the coefficient.
        value: Its value, at most 1; None if it is undefined.
        observed: Observed agreement, in [0, 1]; None if no item was rated by two annotators. For Krippendorff's alpha,
            1 minus the observed disagreement. With the levels "ordinal", "interval" and "ratio", this is the mean
            difference divided by the largest difference between two values that occur. With a function that returns
            differences above 1, the agreement can be negative.
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
        interval: Confidence interval; None if it was not computed.
        local: The coefficient with the agreement expected within each document; None if it was not computed, or if no
            document has several items.
        aligned_by: What the items of lists that contain the values were aligned by: "key", "position", "other fields"
            than those of the path, "all fields" or "these values". With "all fields", the values are shuffled and
            aligned again to compute the expected agreement, and the value is a lower bound. With "these values", they
            always agree, and the value is undefined. None if no list contains the values.
        exchanged: The pairs of different categories that annotators gave to the same items most often, with the number
            of pairs of ratings.
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
    interval: CoefficientInterval | None = None
    local: LocalChance | None = None
    exchanged: tuple[tuple[str, str, int], ...] = ()
    aligned_by: str | None = None

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
        below = _negative(rest.get("exchanged", ())) if value < -TOLERANCE else None
        return cls(value=value, observed=observed, expected=expected, reason=below, **rest)

    def scaled(self, largest: float) -> Coefficient:
        """Return the coefficient with all disagreements divided by `largest`, a positive number.

        The values and the interval stay the same.
        """
        if largest == 1.0:
            return self
        local, error = self.local, self.standard_error
        return replace(
            _scaled(self, largest),
            standard_error=None if error is None else error / largest,
            local=local
            and replace(
                _scaled(local, largest, "homogeneous"),
                lowest=_scaled(local.lowest, largest),
                highest=_scaled(local.highest, largest),
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        return asdict(self)

    def __float__(self) -> float:
        """Return the value; NaN if it is undefined."""
        return math.nan if self.value is None else self.value

    def __repr__(self) -> str:
        value = "undefined" if self.value is None else f"{self.value:.4f}"
        return f"Coefficient({self.name}={value})"


_Scaled = TypeVar("_Scaled", Coefficient, LocalChance, DocumentAgreement)


def if_several_items(alpha: Coefficient) -> Coefficient:
    """Return alpha; its value is None if only one item was used.

    With one item, observed and expected disagreement come from the same ratings, so alpha would always be 0.
    """
    if alpha.value is None or alpha.items != 1:
        return alpha
    reason = "Only one item was rated by two annotators, so observed and expected agreement are equal."
    return replace(alpha, value=None, reason=reason)


def _scaled(part: _Scaled, largest: float, *others: str) -> _Scaled:
    """Return a part with the disagreements in `observed`, `expected` and `others` divided by `largest`."""
    found: dict[str, float | None] = {name: getattr(part, name) for name in ("observed", "expected", *others)}
    changed: dict[str, Any] = {
        name: None if agreement is None else 1.0 - (1.0 - agreement) / largest for name, agreement in found.items()
    }
    return replace(part, **changed)


def _negative(exchanged: Sequence[tuple[str, str, int]]) -> str:
    """Return why a coefficient is negative, with the categories that were exchanged most often."""
    reason = "The annotators agree less often than the chance model expects: they disagree systematically."
    if not exchanged:
        return reason
    pairs = ", ".join(f"{first!r} and {second!r} ({count})" for first, second, count in exchanged)
    return f"{reason} Most frequently exchanged values, with counts: {pairs}."
