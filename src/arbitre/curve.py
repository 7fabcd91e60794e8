"""Survival curve of pair qualities: the number of pairs with at least a given quality."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.arrays import exact_dot
from arbitre.tally import Scores, Tally

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arbitre.arrays import Floats


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Precision, recall, f1 and panoptic quality if only pairs with quality >= `threshold` count as matched."""

    threshold: float
    precision: float | None
    recall: float | None
    f1: float | None
    pq: float | None


@dataclass(frozen=True, eq=False, slots=True)
class Curve:
    """The step function #{q >= t}: the mass of the matched pairs whose quality is at least t.

    The area under the curve is the sum of the qualities S (layer-cake formula: the integral of 1{q >= t} over t is q).
    Divided by `gold`, it is irq; by `predicted`, imq; by their mean, f1q.

    Attributes:
        qualities: Distinct qualities in increasing order, shape (steps,), in [0, 1].
        counts: Mass of the pairs at each quality, shape (steps,).
        gold: Mass of the gold entries.
        predicted: Mass of the predicted entries.
    """

    qualities: Floats
    counts: Floats
    gold: float
    predicted: float

    @classmethod
    def of(
        cls, qualities: Iterable[float], gold: float, predicted: float, masses: Iterable[float] | None = None
    ) -> Curve:
        """Build the curve of matched pairs; their order does not matter.

        Args:
            qualities: Qualities of the pairs, in [0, 1].
            gold: Mass of the gold entries.
            predicted: Mass of the predicted entries.
            masses: Masses of the pairs; 1 each by default.

        >>> curve = Curve.of([0.7, 0.6, 0.93, 0.8], gold=4, predicted=5)
        >>> round(curve.at(0.7).f1, 6), round(curve.area / 4.5, 6)
        (0.666667, 0.673333)
        """
        values = np.fromiter(qualities, dtype=np.float64)
        weights = np.ones_like(values) if masses is None else np.fromiter(masses, dtype=np.float64)
        distinct, inverse = np.unique(values, return_inverse=True)
        counts = np.bincount(inverse, weights=weights, minlength=len(distinct)).astype(np.float64)
        if (weights % 1.0).any():  # integer masses add up exactly; fsum makes other sums independent of order
            ends = np.cumsum(np.bincount(inverse))
            parts = np.split(weights[np.argsort(inverse, kind="stable")], ends[:-1])
            counts = np.array([math.fsum(part) for part in parts])
        return cls(distinct, counts, float(gold), float(predicted))

    def surviving(self, threshold: float) -> float:
        """Return the mass of pairs with quality >= threshold."""
        return float(self.counts[np.searchsorted(self.qualities, threshold, side="left") :].sum())

    @property
    def area(self) -> float:
        """The integral of #{q >= t} over t in [0, 1]; equal to the sum of the qualities S."""
        steps = np.diff(self.qualities, prepend=0.0)
        surviving = np.cumsum(self.counts[::-1])[::-1]
        return exact_dot(steps, surviving)

    def at(self, threshold: float) -> CurvePoint:
        """Return the scores at one threshold. The matching does not change with the threshold."""
        start = int(np.searchsorted(self.qualities, threshold, side="left"))
        matched = float(self.counts[start:].sum())
        mass = exact_dot(self.counts[start:], self.qualities[start:])
        scores = Scores(Tally(self.gold, self.predicted, matched, mass, None))
        return CurvePoint(threshold, scores.precision, scores.recall, scores.f1, scores.f1q)

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as JSON."""
        return {
            "qualities": self.qualities.tolist(),
            "counts": self.counts.tolist(),
            "gold": self.gold,
            "predicted": self.predicted,
        }


MAX_BINS: Final = 10_000
"""Maximum number of distinct qualities; beyond it, they are grouped into this number of equal bins."""


MERGED_PAIRS: Final = 1 << 13
"""Number of pairs that are merged into the curve at once."""


class CurveAccumulator:
    """Builds a curve incrementally: exact up to MAX_BINS distinct qualities, binned beyond that.

    Each bin is placed at the mean of its qualities. The area under the curve and the scores at thresholds that are
    multiples of 1 / MAX_BINS therefore stay exact. The curve depends on the order of the pairs, but not on how many are
    added at once.
    """

    def __init__(self) -> None:
        self._qualities, self._masses = np.empty(0), np.empty(0)
        self._pending: list[tuple[Floats, Floats]] = []
        self._sums: Floats | None = None

    def add(self, qualities: Floats, masses: Floats) -> None:
        """Add pairs; both arrays have shape (pairs,)."""
        self._pending.append((qualities, masses))
        # For 100,000 documents, merging at each call takes 0.3 s; merging larger groups of pairs takes 0.1 s.
        if sum(len(part) for part, _ in self._pending) >= MERGED_PAIRS:
            qualities, masses = self._take_pending()
            whole = len(qualities) // MERGED_PAIRS * MERGED_PAIRS
            for begin in range(0, whole, MERGED_PAIRS):
                part = slice(begin, begin + MERGED_PAIRS)
                self._merge(qualities[part], masses[part])
            self._pending = [(qualities[whole:], masses[whole:])]

    def _take_pending(self) -> tuple[Floats, Floats]:
        parts, self._pending = self._pending, []
        return np.concatenate([part for part, _ in parts]), np.concatenate([part for _, part in parts])

    def _merge(self, qualities: Floats, masses: Floats) -> None:
        """Merge pairs into the curve."""
        if self._sums is None:
            merged = Curve.of(
                np.concatenate([self._qualities, qualities]), 0.0, 0.0, np.concatenate([self._masses, masses])
            )
            self._qualities, self._masses = merged.qualities, merged.counts
            if len(merged.qualities) <= MAX_BINS:
                return
            self._sums, qualities, masses = np.zeros(MAX_BINS + 1), self._qualities, self._masses
            self._masses = np.zeros(MAX_BINS + 1)
        bins = np.minimum((qualities * MAX_BINS).astype(np.intp), MAX_BINS)
        self._masses += np.bincount(bins, weights=masses, minlength=MAX_BINS + 1)
        self._sums += np.bincount(bins, weights=masses * qualities, minlength=MAX_BINS + 1)

    def curve(self, gold: float, predicted: float) -> Curve:
        """Return the curve of all pairs, given the masses of all gold and all predicted entries."""
        if self._pending:
            self._merge(*self._take_pending())
        if self._sums is None:
            return Curve(self._qualities, self._masses, gold, predicted)
        filled = self._masses > 0.0
        return Curve(self._sums[filled] / self._masses[filled], self._masses[filled], gold, predicted)
