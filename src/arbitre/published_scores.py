"""The figures exactly as the published script computes them, faults included, for comparison with its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.arrays import Floats
    from arbitre.comparison import Comparison
    from arbitre.tally import Tally

STEPS: Final = 1000
EPSILON: Final = 0.001
_THRESHOLDS: Final = np.linspace(0.0, 1.0, STEPS)


def published(comparison: Comparison) -> dict[str, float]:
    """The published scores of the entries, under their names here (desireesdata, 2025).

    They differ from `comparison.scores`: the script's IMQ is divided by the *gold* entries, so it is its IRQ up to
    the error of adding up 1000 thresholds (0 and 1 included) and dividing by 1000; its F1Q and its IMQ-based OMQ are
    built on that IMQ; both concordances measure that error alone; its "Wasserstein 1D" is 1 - AMQ. Scores without a
    denominator are 0, as they are there.
    """
    curve = comparison.curve
    return figures(comparison.scores.tally, float(curve.counts @ quadrature(curve.qualities)))


def quadrature(qualities: Floats) -> Floats:
    """What each quality adds to the area under the survival curve as the script adds it up; shapes (pairs,)."""
    return np.searchsorted(_THRESHOLDS, qualities, side="right") / STEPS


def figures(tally: Tally, area: float) -> dict[str, float]:
    """The published scores, from the tally of the entries and the area under their curve (see `quadrature`)."""
    n, m, k = tally.gold, tally.predicted, tally.matched
    imq = _ratio(area, n)
    irq, amq = _ratio(tally.quality, n), _ratio(tally.quality, k)
    precision, recall = _ratio(k, m), _ratio(k, n)
    difference = abs(imq - irq)
    return {
        "precision": precision,
        "recall": recall,
        "f1": _harmonic(precision, recall),
        "amq": amq,
        "omq": _harmonic(precision, recall, amq),
        "imq": imq,
        "omq_imq": _harmonic(imq, recall, amq),
        "irq": irq,
        "f1q": _harmonic(imq, irq),
        "wasserstein_1d": 1.0 - amq,
        "concordance": 1.0 - difference,
        "concordance_expressive": 1.0 - difference / ((imq + irq) / 2.0 + EPSILON),
        "gold": n,
        "predicted": m,
        "matched": k,
    }


def means(found: Iterable[Mapping[str, float]]) -> dict[str, float] | None:
    """The means of the figures of several documents; None where there is none."""
    sums: dict[str, float] = {}
    count = 0
    for count, one in enumerate(found, start=1):  # noqa: B007  (how many there were)
        for name, value in one.items():
            sums[name] = sums.get(name, 0.0) + value
    return {name: value / count for name, value in sums.items()} or None


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else 0.0


def _harmonic(*terms: float) -> float:
    return len(terms) / sum(1.0 / term for term in terms) if all(terms) else 0.0
