"""Scores computed exactly as by the published script, including its errors, for comparison with its tables."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.arrays import exact_dot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arbitre.arrays import Floats
    from arbitre.comparison import Comparison

STEPS: Final = 1000
"""Number of thresholds of the survival curve."""

EPSILON: Final = 0.001
"""Added to the denominator of `concordance_expressive`."""

_THRESHOLDS: Final = np.linspace(0.0, 1.0, STEPS)


def published(comparison: Comparison) -> dict[str, float]:
    """Compute the scores of the entries in the same way as the published script (desireesdata, 2025).

    The scores have the names that arbitre uses, but differ from `comparison.scores`:

    - The script divides IMQ by the number of *gold* entries. It therefore equals IRQ, up to the error of summing 1000
      thresholds (including 0 and 1) and dividing by 1000.
    - F1Q and the IMQ-based OMQ use that IMQ.
    - Both concordances measure only that error.
    - "Wasserstein 1D" is 1 - AMQ.
    - Scores whose denominator is 0 are 0.
    """
    curve = comparison.curve
    area = exact_dot(curve.counts, quadrature(curve.qualities))
    return figures(np.array([astuple(comparison.scores.tally)]), np.array([area]))[0]


def quadrature(qualities: Floats) -> Floats:
    """Return the contribution of each quality to the area under the survival curve, as the script sums it.

    Args:
        qualities: Qualities of matched pairs, shape (pairs,), in [0, 1].

    Returns:
        Contributions, shape (pairs,).
    """
    return np.searchsorted(_THRESHOLDS, qualities, side="right") / STEPS


def figures(tallies: Floats, areas: Floats) -> list[dict[str, float]]:
    """Return the published scores of each document, by name.

    Args:
        tallies: Tallies of the entries of each document, in the order of the attributes of `Tally`; shape (n, 5).
        areas: Areas under the survival curves of the documents (see `quadrature`), shape (n,).
    """
    scores = _scores(tallies, areas)
    columns = (column.tolist() for column in scores.values())
    return [dict(zip(scores, row, strict=True)) for row in zip(*columns, strict=True)]


def means(parts: Iterable[Floats], areas: Floats) -> dict[str, float] | None:
    """Return the mean of each score over the documents that contain entries; None if there are none.

    Args:
        parts: Tallies of the entries of consecutive documents, in the order of the attributes of `Tally`; each of shape
            (n, 5).
        areas: Areas under the survival curves of all documents; shape (documents,).
    """
    totals: dict[str, float] = {}
    seen = number = 0
    for tallies in parts:
        held = (tallies[:, :2] != 0.0).any(axis=1)
        own = areas[seen : seen + len(tallies)][held]
        seen, number = seen + len(tallies), number + len(own)
        for name, scores in _scores(tallies[held], own).items():
            # added in order, so that the last digit does not depend on how the documents are split
            totals[name] = float(np.add.accumulate(np.concatenate([[totals.get(name, 0.0)], scores]))[-1])
    return {name: total / number for name, total in totals.items()} if number else None


def _scores(tallies: Floats, areas: Floats) -> dict[str, Floats]:
    """Return the published scores of documents; each of shape (documents,)."""
    n, m, k, quality = tallies.T[:4]
    imq = _ratio(areas, n)
    irq, amq = _ratio(quality, n), _ratio(quality, k)
    precision, recall = _ratio(k, m), _ratio(k, n)
    difference = np.abs(imq - irq)
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


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator != 0.0)


def _harmonic(*terms: Floats) -> Floats:
    positive = np.logical_and.reduce([term != 0.0 for term in terms])
    inverse = sum(np.divide(1.0, term, out=np.ones(len(term)), where=positive) for term in terms)
    means: Floats = np.where(positive, len(terms) / inverse, 0.0)
    return means
