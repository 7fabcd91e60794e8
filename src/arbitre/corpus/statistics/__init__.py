"""Statistics of corpus scores: confidence intervals, paired tests and groups of systems."""

from __future__ import annotations

from arbitre.corpus.statistics.bootstrap import Interval, Method, interval, intervals
from arbitre.corpus.statistics.document_intervals import document_intervals
from arbitre.corpus.statistics.means import means
from arbitre.corpus.statistics.paired_tests import (
    Contrasting,
    Correction,
    Difference,
    contrasts,
    groups,
    holm,
    paired_difference,
    threshold,
)
from arbitre.corpus.statistics.sample import Sample, scored
from arbitre.options import Average

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
