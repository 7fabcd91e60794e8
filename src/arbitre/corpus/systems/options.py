"""The statistical options for comparing systems or factor levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arbitre.corpus.statistics.bootstrap import METHOD

if TYPE_CHECKING:
    from arbitre.corpus.statistics import Method
    from arbitre.corpus.statistics.clusters import Cluster
    from arbitre.options import Average


@dataclass(frozen=True, kw_only=True)
class StatisticsOptions:
    """Statistical options for comparing systems or factor levels.

    `method` is the method of the intervals (see `arbitre.corpus.statistics.Method`). `cluster` are the documents to
    resample together (see `Evaluation.interval`); by default the predictions of one document form a cluster.
    """

    # from arbitre.options: Statistics
    aggregate: Average = "macro"
    """How to average scores: per document (macro) or pooled over entries (micro)."""
    level: float = 0.95
    """Confidence level; a difference is significant if p <= 1 - level."""
    seed: int = 0
    """Random seed of the bootstrap and the permutation tests."""
    # end of the options
    method: Method = METHOD
    cluster: Cluster = None
