"""The statistical options for comparing systems or factor levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arbitre.corpus.statistics.bootstrap import LEVEL, METHOD

if TYPE_CHECKING:
    from arbitre.corpus.statistics import Method
    from arbitre.corpus.statistics.clusters import Cluster
    from arbitre.options import Average


@dataclass(frozen=True, kw_only=True)
class StatisticsOptions:
    """Statistical options for comparing systems or factor levels.

    Attributes:
        aggregate: micro or macro.
        level: Confidence level.
        method: Method of the intervals (see `arbitre.corpus.statistics.Method`).
        cluster: Documents to resample together (see `Evaluation.interval`). By default the predictions of one document
            form a cluster.
        seed: Random seed.
    """

    aggregate: Average = "macro"
    level: float = LEVEL
    method: Method = METHOD
    cluster: Cluster = None
    seed: int = 0
