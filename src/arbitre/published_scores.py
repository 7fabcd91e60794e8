"""Scores computed exactly as by the published script, including its errors, for comparison with its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.arrays import Floats
    from arbitre.comparison import Comparison
    from arbitre.tally import Tally

STEPS: Final = 1000
"""Number of thresholds of the survival curve."""

EPSILON: Final = 0.001
"""Added to the denominator of `concordance_expressive`."""

_THRESHOLDS: Final = np.linspace(0.0, 1.0, STEPS)


def published(comparison: Comparison) -> dict[str, float]:
    """Compute the published scores of the entries (desireesdata, 2025), under the names that arbitre uses.

    They differ from `comparison.scores`:

    - The script divides IMQ by the number of *gold* entries. It therefore equals IRQ, up to the error of summing 1000
      thresholds (including 0 and 1) and dividing by 1000.
    - F1Q and the IMQ-based OMQ use that IMQ.
    - Both concordances measure only that error.
    - "Wasserstein 1D" is 1 - AMQ.
    - Scores whose denominator is 0 are 0.
    """
    curve = comparison.curve
    return figures(comparison.scores.tally, float(curve.counts @ quadrature(curve.qualities)))


def quadrature(qualities: Floats) -> Floats:
    """Return the contribution of each quality to the area under the survival curve, as the script sums it.

    Args:
        qualities: Qualities of matched pairs, shape (pairs,), in [0, 1].

    Returns:
        Contributions, shape (pairs,).
    """
    return np.searchsorted(_THRESHOLDS, qualities, side="right") / STEPS


def figures(tally: Tally, area: float) -> dict[str, float]:
    """Compute the published scores from the tally of the entries and the area under their curve.

    Args:
        tally: Tally of the entries.
        area: Area under the survival curve (see `quadrature`).
    """
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


def means(documents: Iterable[Mapping[str, float]]) -> dict[str, float] | None:
    """Return the mean of each score over several documents; None without documents."""
    sums: dict[str, float] = {}
    count = 0
    for count, scores in enumerate(documents, start=1):  # noqa: B007  (`count` is used below)
        for name, value in scores.items():
            sums[name] = sums.get(name, 0.0) + value
    return {name: value / count for name, value in sums.items()} or None


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else 0.0


def _harmonic(*terms: float) -> float:
    return len(terms) / sum(1.0 / term for term in terms) if all(terms) else 0.0
