"""Document quality: the quality of whole documents, including the fields outside the entries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.arrays import exact_sum
from arbitre.errors import OptionError

if TYPE_CHECKING:
    from arbitre.arrays import Floats

LEAST: Final = (0.5, 0.7, 0.9, 1.0)
"""Qualities for which results state the share of documents that reach them."""


@dataclass(frozen=True, eq=False, slots=True)
class DocumentQuality:
    """Qualities of the roots of all documents.

    Every field counts by its weight, inside and outside the entries. A failed document counts as 0. A document that is
    empty on both sides counts as 1, whereas macro scores exclude it.

    Attributes:
        qualities: Shape (documents,), in [0, 1].

    >>> found = DocumentQuality(np.array([1.0, 0.5, 0.0]))
    >>> found.mean, found.median, found.at_least(0.5)
    (0.5, 0.5, 0.6666666666666666)
    """

    qualities: Floats

    @property
    def documents(self) -> int:
        """Number of documents."""
        return len(self.qualities)

    @property
    def mean(self) -> float | None:
        """Mean quality; None without documents."""
        return exact_sum(np.ascontiguousarray(self.qualities)) / self.documents if self.documents else None

    @property
    def median(self) -> float | None:
        """Median quality; None without documents."""
        return float(np.median(self.qualities)) if self.documents else None

    def at_least(self, quality: float) -> float | None:
        """Return the share of documents with at least this quality, in [0, 1]; None without documents.

        Raises:
            OptionError: `quality` is NaN.
        """
        if math.isnan(quality):
            raise OptionError.of("Expected `quality` to be a number, got nan")
        return int(np.count_nonzero(self.qualities >= quality)) / self.documents if self.documents else None

    @property
    def exact_match_rate(self) -> float | None:
        """Share of documents with quality 1; None without documents."""
        return self.at_least(1.0)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary: mean, median, exact-match rate, and shares with at least a quality."""
        shares = [{"quality": least, "share": self.at_least(least)} for least in LEAST]
        return {
            "documents": self.documents,
            "mean": self.mean,
            "median": self.median,
            "exact_match_rate": self.exact_match_rate,
            "at_least": shares,
        }
