"""Scores by name, those of which more is better: of a tally, of the documents of a corpus, for the statistics."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.corpus.statistics.sample import Statistic
from arbitre.errors import DataError, did_you_mean
from arbitre.tally import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.corpus.statistics import Average, Sample
    from arbitre.tally import Scores

HIGHER_IS_BETTER: Final = tuple(name for name in NAMES if name != "variance")
"""The scores that are better the higher they are, beside `fq(beta)`."""

_GRADED: Final = re.compile(r"fq\((\d+(?:\.\d+)?)\)")


def weigh_for_beta(sample: Sample, score: str) -> tuple[Sample, str]:
    """A sample and the score of it that is `score`: fq(beta) is f1q where gold weighs beta² times as much.

    Raises DataError where more is not better, or there is no such score.
    """
    beta = _beta(score)
    if beta is None:
        return sample, score
    weights = np.array([2.0 * beta * beta, 2.0, 1.0, 1.0, 1.0])
    weights[:2] /= 1.0 + beta * beta
    return replace(sample, tallies=sample.tallies * weights), "f1q"


def estimate(sample: Sample, score: str, average: Average) -> float | None:
    """One score of the documents; None where it is undefined."""
    chosen, name = weigh_for_beta(sample, score)
    statistic = Statistic.scores(chosen, [name], average)
    found = float(statistic.of(statistic.total)[0])
    return None if math.isnan(found) else found


def value(scores: Scores, score: str) -> float | None:
    """A score of one tally by its name."""
    beta = _beta(score)
    found: float | None = getattr(scores, score) if beta is None else scores.fq(beta)
    return found


def side_by_side(found: Mapping[str, Mapping[str, Scores]], score: str) -> dict[str, dict[str, float | None]]:
    """One score of every path, by what has it: `found` holds the scores by path of systems, or of levels."""
    paths = dict.fromkeys(path for scores in found.values() for path in scores)
    return {
        path: {name: value(scores[path], score) for name, scores in found.items() if path in scores} for path in paths
    }


def _beta(score: str) -> float | None:
    """The beta of `fq(beta)`; None for the other scores of which more is better. Raises DataError for what is none."""
    graded = _GRADED.fullmatch(score)
    if graded and (beta := float(graded[1])) > 0.0:
        return beta
    if score not in HIGHER_IS_BETTER:
        raise DataError.of(
            f"Expected a score of which more is better, got {score!r}",
            hint=did_you_mean(score, HIGHER_IS_BETTER) or f"There are: {', '.join(HIGHER_IS_BETTER)}, fq(2).",
        )
    return None
