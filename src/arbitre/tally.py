"""Tallies and scores.

A tally holds the five sums from which every score is computed. Tallies are additive: the tally of a corpus is the sum
of the tallies of its documents. docs/measures.md documents the formulas, their meaning and edge cases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from arbitre.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from arbitre.arrays import Floats


@dataclass(frozen=True, slots=True)
class Tally:
    """The five non-negative sums from which scores are computed. Tallies can be added, with `Tally()` as zero.

    In a valid tally, `matched` is at most `gold` and `predicted`, and the sums of the qualities and of their squares
    are at most `matched`. The class does not check this. `arbitre.statistics.Sample.of` checks the tallies of a corpus.

    Attributes:
        gold: Number of items, or total weight of fields, in gold.
        predicted: Number of items, or total weight of fields, in the prediction.
        matched: Mass of the matched pairs.
        quality: Sum of the qualities of the pairs.
        quality_sq: Sum of the squared qualities, or None if unknown (`variance` is then None).
    """

    gold: float = 0.0
    predicted: float = 0.0
    matched: float = 0.0
    quality: float = 0.0
    quality_sq: float | None = 0.0

    def __add__(self, other: Tally) -> Tally:
        """Return the component-wise sum."""
        return Tally(
            self.gold + other.gold,
            self.predicted + other.predicted,
            self.matched + other.matched,
            self.quality + other.quality,
            None if self.quality_sq is None or other.quality_sq is None else self.quality_sq + other.quality_sq,
        )

    @classmethod
    def of(cls, masses: Floats) -> Tally:
        """Return the tally of five sums in an array, in the order of the attributes; shape (5,)."""
        return cls(*masses.tolist())

    @classmethod
    def sum(cls, tallies: Iterable[Tally]) -> Tally:
        """Return the sum, correctly rounded per component (`math.fsum`), hence independent of order.

        >>> Tally.sum([Tally(1, 1, 1, 0.1), Tally(1, 0), Tally(1, 2, 1, 0.2)]).quality == math.fsum([0.1, 0.2])
        True
        """
        parts = list(tallies)
        squares = [part.quality_sq for part in parts]
        return cls(
            math.fsum(part.gold for part in parts),
            math.fsum(part.predicted for part in parts),
            math.fsum(part.matched for part in parts),
            math.fsum(part.quality for part in parts),
            None if None in squares else math.fsum(square for square in squares if square is not None),
        )

    @property
    def vacuous(self) -> bool:
        """Whether gold and prediction are both empty."""
        return self.gold == 0.0 and self.predicted == 0.0

    @property
    def scores(self) -> Scores:
        """The scores of this tally."""
        return Scores(self)


def _ratio(numerator: float, denominator: float) -> float | None:
    return numerator / denominator if denominator > 0.0 else None


def _harmonic(a: float | None, b: float | None, c: float | None) -> float | None:
    """Return the harmonic mean: 0 if any term is 0, else None if any term is None."""
    if 0.0 in (a, b, c):
        return 0.0
    if a is None or b is None or c is None:
        return None
    return 3.0 / (1.0 / a + 1.0 / b + 1.0 / c)


COUNTS: Final = ("gold", "predicted", "matched", "quality_mass")
"""Names of the counts and masses from which scores are computed."""

NAMES: Final = ("precision", "recall", "f1", "imq", "irq", "f1q", "amq", "omq", "omq_imq", "quality", "variance")
"""Names of the scores, in display order."""


@dataclass(frozen=True, slots=True)
class Scores:
    """All scores that are computed from one tally. A score whose denominator is zero is None, never 0.

    In the formulas, n = `gold`, m = `predicted`, k = `matched` and S = `quality_mass`. Scores are in [0, 1] and higher
    is better, except `variance`, which is in [0, 1/4].

    >>> scores = Scores(Tally(4, 5, 4, 3.03))  # qualities .7, .6, .93, .8
    >>> round(scores.amq, 4), round(scores.f1, 6), round(scores.f1q, 6)
    (0.7575, 0.888889, 0.673333)
    """

    tally: Tally
    """The sums that all scores are computed from."""

    @property
    def gold(self) -> float:
        """n, the mass of gold: the number of gold entries, or the weights of the fields of an object."""
        return self.tally.gold

    @property
    def predicted(self) -> float:
        """m, the mass of the prediction."""
        return self.tally.predicted

    @property
    def matched(self) -> float:
        """k, the mass of the matched pairs."""
        return self.tally.matched

    @property
    def quality_mass(self) -> float:
        """S, the sum of the qualities of the matched pairs."""
        return self.tally.quality

    @property
    def precision(self) -> float | None:
        """k/m, ignoring qualities. Biased: max(precision, recall) is 1 for lists whose items must all be matched."""
        return _ratio(self.tally.matched, self.tally.predicted)

    @property
    def recall(self) -> float | None:
        """k/n, ignoring qualities. Biased like `precision`."""
        return _ratio(self.tally.matched, self.tally.gold)

    @property
    def f1(self) -> float | None:
        """2k/(n + m)."""
        return _ratio(2.0 * self.tally.matched, self.tally.gold + self.tally.predicted)

    @property
    def imq(self) -> float | None:
        """S/m, integrated matching quality: graded precision, lowered by spurious entries."""
        return _ratio(self.tally.quality, self.tally.predicted)

    @property
    def irq(self) -> float | None:
        """S/n, integrated recall quality: graded recall, lowered by missing entries."""
        return _ratio(self.tally.quality, self.tally.gold)

    @property
    def f1q(self) -> float | None:
        """2S/(n + m) = amq x f1, the headline score; analogous to panoptic quality (Kirillov et al., 2019)."""
        return self.fq(1.0)

    def fq(self, beta: float) -> float | None:
        """Return (1 + beta²)S/(beta² n + m).

        Args:
            beta: Weight of recall; above 1, missing entries are penalised more than spurious ones; below 1, less.

        Raises:
            OptionError: beta is not positive.
        """
        if not beta > 0.0:
            raise OptionError.of(f"Expected `beta` to be a positive number, got {beta}")
        square = beta * beta
        return _ratio((1.0 + square) * self.tally.quality, square * self.tally.gold + self.tally.predicted)

    @property
    def amq(self) -> float | None:
        """S/k, average matching quality: mean quality of the matched pairs, ignoring unmatched entries."""
        return _ratio(self.tally.quality, self.tally.matched)

    @property
    def omq(self) -> float | None:
        """Overall matching quality: harmonic mean of precision, recall and amq; never below f1q."""
        return _harmonic(self.precision, self.recall, self.amq)

    @property
    def omq_imq(self) -> float | None:
        """The harmonic mean of imq, recall and amq."""
        return _harmonic(self.imq, self.recall, self.amq)

    @property
    def quality(self) -> float:
        """S/(n + m - k): quality mass divided by pairs plus unmatched items; 1 if both sides are empty."""
        tally = self.tally
        union = tally.gold + tally.predicted - tally.matched
        return tally.quality / union if union > 0.0 else 1.0

    @property
    def variance(self) -> float | None:
        """S2/k - amq², clipped at 0: population variance of the pair qualities; S2 is the sum of their squares."""
        tally = self.tally
        if tally.quality_sq is None or tally.matched <= 0.0:
            return None
        amq = tally.quality / tally.matched
        return max(0.0, tally.quality_sq / tally.matched - amq * amq)

    @property
    def vacuous(self) -> bool:
        """Whether gold and prediction are both empty."""
        return self.tally.vacuous

    def to_dict(self) -> dict[str, float | None]:
        """Return counts and scores by name."""
        return {name: getattr(self, name) for name in (*COUNTS, *NAMES)}


def scores_from_counts(counts: Mapping[str, float | None]) -> Scores:
    """Return the scores for the values of `COUNTS` in the dictionary of scores; `variance` is None.

    >>> scores_from_counts(Scores(Tally(4, 5, 4, 3.03)).to_dict()).irq
    0.7575
    """
    gold, predicted, matched, quality = (counts[name] or 0.0 for name in COUNTS)
    return Scores(Tally(gold, predicted, matched, quality, quality_sq=None))


OUTCOMES: Final = ("exact", "close", "wrong", "wrong_type", "wrong_type_predicted", "missing", "spurious")
"""Names of the outcomes, in display order."""
ABSENCES: Final = ("absent", "true_negatives")
"""Names of the counts of fields that gold lacks."""
RATES: Final = ("exact_match_rate", "specificity")
"""Names of the rates of a path."""


@dataclass(frozen=True, slots=True)
class PathScores(Scores):
    """Scores of one path, with the number of values for each outcome.

    Lists that are matched by transport count masses. Up to rounding, exact + close + wrong + wrong_type + missing is
    `gold`, and exact + close + wrong + wrong_type_predicted + spurious is `predicted`.

    Attributes:
        exact: Pairs with quality 1.
        close: Pairs with a quality below 1, but at least `close`.
        wrong: Pairs with a quality below `close`.
        wrong_type: Gold values that are paired with a value of another kind, or are inside such a value.
        wrong_type_predicted: The same for predicted values. Differs from `wrong_type` only if an object or a list is
            paired with a value of another kind, because the object or list is then counted by its leaves, each at its
            own path.
        missing: Gold values without a partner.
        spurious: Predicted values without a partner.
        absent: Matched objects in which gold does not have this field; 0 for items of lists and maps.
        true_negatives: Matched objects in which the prediction does not have the field either.
    """

    exact: float = 0.0
    close: float = 0.0
    wrong: float = 0.0
    wrong_type: float = 0.0
    wrong_type_predicted: float = 0.0
    missing: float = 0.0
    spurious: float = 0.0
    absent: float = 0.0
    true_negatives: float = 0.0

    @classmethod
    def of(cls, sums: Sequence[float], absent: float = 0.0, true_negatives: float = 0.0) -> PathScores:
        """Return the scores for the five sums of a tally, followed by the numbers of values by outcome."""
        outcomes = dict(zip(OUTCOMES, sums[-len(OUTCOMES) :], strict=True))
        return cls(Tally(*sums[: -len(OUTCOMES)]), **outcomes, absent=absent, true_negatives=true_negatives)

    @property
    def specificity(self) -> float | None:
        """The share of the matched objects without this field in gold that do not have it in the prediction either.

        None if gold has the field in all of them. 1 - specificity is the rate of spurious values.
        """
        return _ratio(self.true_negatives, self.absent)

    @property
    def exact_match_rate(self) -> float | None:
        """The share of the gold values that have an exact partner; None without gold values."""
        return _ratio(self.exact, self.tally.gold)

    def to_dict(self) -> dict[str, float | None]:
        """Return counts, scores and outcomes by name."""
        return Scores.to_dict(self) | {name: getattr(self, name) for name in (*OUTCOMES, *ABSENCES, *RATES)}


class ScoresByPath(dict[str, PathScores]):
    """A mapping from wildcard paths to scores. A call returns the object itself: `by_path()` equals `by_path`."""

    def __call__(self) -> Self:
        """Return the scores."""
        return self


@dataclass(frozen=True, slots=True)
class MacroScores:
    """Per-document means of the scores, with the same attribute names as `Scores`.

    A failed document counts as 0 in every mean. A vacuous document (both sides empty) is excluded. A document whose
    score is None (zero denominator) is excluded from the mean of that score. A mean over no documents is None.
    `gold`, `predicted`, `matched` and `quality_mass` are means, too.

    Attributes:
        means: Mean by score name.
        documents: Number of documents in each mean, by score name.
        vacuous: Number of vacuous documents.
        failed: Number of failed documents.
    """

    means: Mapping[str, float | None]
    documents: Mapping[str, int]
    vacuous: int = 0
    failed: int = 0

    def __getattr__(self, name: str) -> float | None:
        try:
            return self.means[name]
        except KeyError:
            message = f"{type(self).__name__!r} has no score {name!r}"
            raise AttributeError(message) from None

    def to_dict(self) -> dict[str, float | None]:
        """Return the means by name."""
        return dict(self.means)
