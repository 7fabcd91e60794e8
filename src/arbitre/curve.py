"""The survival curve of matching qualities: how many pairs are at least this good."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.tally import Scores, Tally

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arbitre.arrays import Floats


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Precision, recall, f1 and panoptic quality when only pairs of quality >= `threshold` count as found."""

    threshold: float
    precision: float | None
    recall: float | None
    f1: float | None
    pq: float | None


@dataclass(frozen=True, eq=False, slots=True)
class Curve:
    """Exact steps of #{q >= t}, for the matching made.

    `qualities` are the distinct qualities in increasing order and `counts` the mass of pairs at each, both of shape
    (steps,); `gold` and `predicted` are the normalisers. Divided by gold, the area under the curve is irq; by
    predicted, imq; by their mean, f1q (layer cake: the integral over t of 1{q >= t} is q).
    """

    qualities: Floats
    counts: Floats
    gold: float
    predicted: float

    @classmethod
    def of(
        cls, qualities: Iterable[float], gold: float, predicted: float, masses: Iterable[float] | None = None
    ) -> Curve:
        """The curve of matched pairs; `masses` are 1 each where not given. The order of the pairs does not count.

        >>> curve = Curve.of([0.7, 0.6, 0.93, 0.8], gold=4, predicted=5)
        >>> round(curve.at(0.7).f1, 6), round(curve.area / 4.5, 6)
        (0.666667, 0.673333)
        """
        values = np.fromiter(qualities, dtype=np.float64)
        weights = np.ones_like(values) if masses is None else np.fromiter(masses, dtype=np.float64)
        distinct, inverse = np.unique(values, return_inverse=True)
        counts = np.bincount(inverse, weights=weights, minlength=len(distinct)).astype(np.float64)
        if (weights % 1.0).any():  # whole masses add up exactly; others are rounded once, whatever their order
            ends = np.cumsum(np.bincount(inverse))
            parts = np.split(weights[np.argsort(inverse, kind="stable")], ends[:-1])
            counts = np.array([math.fsum(part) for part in parts])
        return cls(distinct, counts, float(gold), float(predicted))

    @classmethod
    def merge(cls, curves: Iterable[Curve]) -> Curve:
        """The curve of all the pairs together."""
        parts = list(curves)
        if not parts:
            return cls.of([], 0.0, 0.0)
        return cls.of(
            np.concatenate([part.qualities for part in parts]),
            sum(part.gold for part in parts),
            sum(part.predicted for part in parts),
            np.concatenate([part.counts for part in parts]),
        )

    def surviving(self, threshold: float) -> float:
        """The mass of pairs with quality >= threshold."""
        return float(self.counts[np.searchsorted(self.qualities, threshold, side="left") :].sum())

    @property
    def area(self) -> float:
        """The integral of #{q >= t} over t in [0, 1], step by step: equals the quality mass S."""
        steps = np.diff(self.qualities, prepend=0.0)
        surviving = np.cumsum(self.counts[::-1])[::-1]
        return float(steps @ surviving)

    def at(self, threshold: float) -> CurvePoint:
        """The scores at one threshold, for the matching made (it is not matched anew)."""
        start = int(np.searchsorted(self.qualities, threshold, side="left"))
        matched = float(self.counts[start:].sum())
        mass = float(self.counts[start:] @ self.qualities[start:])
        scores = Scores(Tally(self.gold, self.predicted, matched, mass, None))
        return CurvePoint(threshold, scores.precision, scores.recall, scores.f1, scores.f1q)

    def to_dict(self) -> dict[str, Any]:
        return {
            "qualities": self.qualities.tolist(),
            "counts": self.counts.tolist(),
            "gold": self.gold,
            "predicted": self.predicted,
        }


MAX_BINS: Final = 10_000
"""Beyond so many distinct qualities a curve has as many equal bins at most."""


class CurveAccumulator:
    """The qualities of matched pairs gathered piece by piece: exact steps, or bins where there are too many.

    A bin stands at the mean of its qualities, so that the area under the curve is the quality mass all the same, and
    so are the scores at thresholds that are multiples of 1 / BINS.
    """

    def __init__(self) -> None:
        self._qualities, self._masses = np.empty(0), np.empty(0)
        self._sums: Floats | None = None

    def add(self, qualities: Floats, masses: Floats) -> None:
        """Take in more pairs; both of shape (pairs,)."""
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
        """The curve of all pairs, with the masses of all gold and all predicted entries."""
        if self._sums is None:
            return Curve(self._qualities, self._masses, gold, predicted)
        there = self._masses > 0.0
        return Curve(self._sums[there] / self._masses[there], self._masses[there], gold, predicted)
