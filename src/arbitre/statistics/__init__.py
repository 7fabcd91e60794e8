"""Statistics of corpus scores: confidence intervals, paired tests and groups of systems."""

from __future__ import annotations

from arbitre.options import Average
from arbitre.statistics.intervals import Interval, Method, document_intervals, interval, intervals
from arbitre.statistics.paired_tests import (
    Contrasting,
    Correction,
    Difference,
    contrasts,
    groups,
    holm,
    paired_difference,
    threshold,
)
from arbitre.statistics.sample import Sample, means, scored

__all__ = [
    "Average",
    "Contrasting",
    "Correction",
    "Difference",
    "Interval",
    "Method",
    "Sample",
    "contrasts",
    "document_intervals",
    "groups",
    "holm",
    "interval",
    "intervals",
    "means",
    "paired_difference",
    "scored",
    "threshold",
]
